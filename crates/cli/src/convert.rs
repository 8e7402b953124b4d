//! `sparsec convert`: a tensor from one file to another of any type, or from and to a
//! pipe.
//!
//! ```text
//! sparsec convert web.mtx web.npz
//! zcat web.mtx.gz | sparsec convert - web.npz
//! sparsec convert web.npz - | head
//! sparsec convert web.mtx web.npz --to 'bsr(4, 4)'
//! ```
//!
//! Values keep their bits, whatever the types of the files; a type of values
//! that would lose some is refused. The new file is complete before it takes
//! its name.

use std::path::Path;

use serde_json::json;
use sparsec::io::{self, ReadOptions, Structure, WriteOptions};
use sparsec::{
    Diagnostic, Entries, Format, FormatSpec, PackOptions, Result, Session, Tensor, code,
};

use crate::arguments::ConvertArguments;
use crate::call::Call;
use crate::derivation::derivation;
use crate::describe::DESCRIPTOR_ENDING;
use crate::files::{check_no_json, check_output, file_bytes, input_path};
use crate::operands::{default_format, list_format};
use crate::problem::suggest;
use crate::progress::Progress;
use crate::screen::{Screen, complain};
use crate::tensors::{STREAM, extents_note};

/// So many rows are never too many to have a position each.
const MANY_ROWS: u64 = 1 << 20;
/// What `--structure` takes.
const STRUCTURES: [(&str, bool); 2] = [("expand", false), ("keep", true)];

/// Reads one file and writes the other.
///
/// # Errors
/// `E00` for what is wrong with the call, `E0009` where both files are one, and
/// what is wrong with the files.
pub(crate) fn convert(
    call: &Call,
    screen: &mut Screen,
    arguments: &ConvertArguments,
) -> Result<u8> {
    let (Some(input), Some(to)) = (&arguments.input, arguments.output.as_deref()) else {
        return derivation(call, screen, arguments);
    };
    let from = input_path(input);
    let from_place = call.find_word(input).unwrap_or(call.end());
    let to_place = call.find_last_word(to).unwrap_or(call.end());
    let keep = keeps_structure(call, &arguments.structure)?;
    let element = call.element(arguments.element.as_deref())?;
    call.file_type(from, from_place)?;
    check_output(call, to, to_place)?;
    match to {
        STREAM => check_no_json(call, screen, to_place, "name a file to write")?,
        _ => call.check_apart((from, from_place), (to, to_place))?,
    }

    let n_steps = 2 + usize::from(arguments.to.is_some());
    let progress = Progress::new(n_steps, screen.is_json());
    progress.step(format!("read {from}"));
    let options = ReadOptions {
        element,
        ..progress.reading()
    };
    let file =
        io::read(Path::new(from), &options).map_err(|error| call.about_file(from_place, error))?;
    let structure = match keep {
        true => file.structure,
        false => Structure::General,
    };
    let of = |option: &str, text: &Option<String>, order: usize| {
        let text = text.as_deref();
        text.map(|text| format_of(call, option, text, order))
            .transpose()
    };
    let order = file.extents().len();
    let given = of("from", &arguments.from, order)?;
    let wanted = of("to", &arguments.to, order)?;
    let session = Session::default();
    let mut tensor = match (file.content, given) {
        (io::Content::Tensor(tensor), None) => tensor,
        (io::Content::Tensor(tensor), Some(format)) => session.convert(&tensor, &format)?,
        (io::Content::Entries(entries), format) => {
            let format = format.unwrap_or_else(|| packed_format(&entries));
            Tensor::pack_entries(&format, entries, PackOptions::default())?
        }
    };
    if let Some(format) = &wanted {
        progress.step(format!("convert to {format}"));
        tensor = session.convert(&tensor, format)?;
    }
    progress.step(format!("write {to}"));
    let options = WriteOptions {
        structure,
        states_extents: arguments.extents,
    };
    let written = match to {
        STREAM => io::write_to_stdout(&tensor, &options),
        _ => io::stage(Path::new(to), &tensor, &options).and_then(io::Staged::commit),
    };
    written.map_err(|error| call.about_file(to_place, error))?;
    drop(progress);
    if to == STREAM {
        return Ok(0);
    }
    if !screen.is_json()
        && let Some(note) = extents_note(to, &tensor, &options)
    {
        complain(&format!("note: {note}; `--extents` states them"));
    }
    screen.answer(String::new, || {
        json!({
            "from": from,
            "to": to,
            "element": tensor.element().name(),
            "extents": tensor.extents(),
            "n_stored": tensor.n_filled(),
            "structure": structure.name(),
            "bytes": file_bytes(Path::new(to)),
        })
    })?;
    Ok(0)
}

/// The format of levels that an option names, for tensors of an order.
fn format_of(call: &Call, option: &str, text: &str, order: usize) -> Result<Format> {
    let place = call.value_span(option, 0);
    if text.ends_with(DESCRIPTOR_ENDING) {
        let message = format!("`{text}` is a relation, in which no file is stored");
        return Err(Diagnostic::new(code::DOES_NOT_APPLY, message)
            .at(call.source(), place, "a relation")
            .help("name a preset or a map of levels; `--emit` shows conversions of relations"));
    }
    let spec = FormatSpec::parse(&call.option_text("format", text))?;
    spec.resolve(order)
        .map_err(|error| error.or_at(call.source(), place, "named here"))
}

/// The format that entries of a text file are packed in: the one that operands
/// get, but for matrices of which most rows are empty. Of those a list is
/// smaller, and there may be more rows than fit into memory.
fn packed_format(entries: &Entries) -> Format {
    let order = entries.order();
    let rows = entries.extents.first().copied().unwrap_or(0);
    let has_many_rows = order == 2 && rows > MANY_ROWS && rows / 8 > entries.len() as u64;
    match has_many_rows {
        true => list_format(order),
        false => default_format(order),
    }
}

/// Whether a structure that the one file states is stated by the other.
fn keeps_structure(call: &Call, wanted: &str) -> Result<bool> {
    let found = STRUCTURES.iter().find(|(name, _)| *name == wanted);
    found.map(|(_, keep)| *keep).ok_or_else(|| {
        let message = format!("`--structure` does not take `{wanted}`");
        let names = STRUCTURES.map(|(name, _)| name);
        suggest(call.bad_value("structure", message), wanted, &names)
    })
}
