//! `sparsec bench`: kernels beside C written by hand, how long first results
//! take, and files and packing beside SciPy. What is measured, and how, stands
//! in `sparsec-bench`.

use serde_json::{Value, json};
use sparsec::Result;
use sparsec_bench::{Listed, Options, Size};

use crate::arguments::BenchArguments;
use crate::call::{Call, MOST_ROUNDS};
use crate::problem::suggest;
use crate::run::{backend, threads};
use crate::screen::{Pipe, Screen};
use crate::table::table;

/// Measures and prints, each line as soon as it is known.
///
/// # Errors
/// `E0004` for names that there are not, and what is wrong with a kernel.
pub(crate) fn bench(call: &Call, screen: &mut Screen, arguments: &BenchArguments) -> Result<u8> {
    if arguments.list {
        return list(screen);
    }
    let defaults = Options::default();
    let options = Options {
        size: chosen(call, "size", &arguments.size, &Size::NAMES)?,
        only: arguments.names.clone(),
        files: arguments.input.clone(),
        backend: backend(call, &arguments.backend)?,
        threads: threads(call, screen, arguments.threads.as_deref())?.unwrap_or(defaults.threads),
        repeat: match &arguments.repeat {
            None => defaults.repeat,
            Some(text) => call.count("repeat", text, MOST_ROUNDS)?,
        },
        program: std::env::current_exe().ok(),
        json: screen.is_json(),
    };
    let mut pipe = Pipe::default();
    match sparsec_bench::run(&options, &mut pipe) {
        // Nobody reads on, so nothing more is measured.
        Err(_) if pipe.has_no_reader => Ok(0),
        Err(error) => {
            let error = call.about_words(&arguments.names, error);
            // A file is at fault, not the call that names it.
            let files = arguments.input.iter().enumerate();
            let mut named = files.filter(|(_, file)| {
                let quoted = format!("`{}`", file.display());
                error.message().contains(&quoted)
            });
            Err(match named.next() {
                Some((n, _)) => call.about_file(call.value_span("input", n), error),
                None => error,
            })
        }
        Ok(_) => Ok(0),
    }
}

/// Prints a line for each thing that there is to measure.
fn list(screen: &mut Screen) -> Result<u8> {
    let items = sparsec_bench::list();
    screen.answer(
        || {
            let rows = items
                .iter()
                .map(|item| [item.name.clone(), item.measures.clone()]);
            table(&rows.collect::<Vec<_>>())
        },
        || {
            let item = |item: &Listed| json!({ "name": item.name, "measures": item.measures });
            json!({ "benchmarks": items.iter().map(item).collect::<Value>() })
        },
    )?;
    Ok(0)
}

/// The choice with this name.
fn chosen<T: Copy>(call: &Call, long: &str, wanted: &str, known: &[(&str, T)]) -> Result<T> {
    let found = known.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let message = format!("`--{long}` does not take `{wanted}`");
        suggest(call.bad_value(long, message), wanted, &names)
    })
}
