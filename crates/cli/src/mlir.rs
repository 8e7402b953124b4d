//! `sparsec mlir`: a program of the `sparse_tensor` dialect, read, verified, printed, run.

use std::io::Write;

use serde_json::{Map, Value, json};
use sparsec::internals::mlir::{Dialect, Module};
use sparsec::internals::mlir_host::{SessionHost, compiled, sparsified};
use sparsec::internals::{mlir_run, parallel, suggest};
use sparsec::io::FILE_TYPES;
use sparsec::{Diagnostic, Options, Result, Session, Stage, code};

use crate::arguments::MlirArguments;
use crate::call::Call;
use crate::compile::joined;
use crate::run::threads;
use crate::screen::{Pipe, Screen};
use crate::text_file::read_source;

/// What asks for the dialect that the words of a file tell.
const AUTO: &str = "auto";

/// What `--emit` takes.
const STAGES: [&str; 9] = [
    "mlir",
    "generic",
    "encodings",
    "index",
    "concrete",
    "schedule",
    "loop",
    "c",
    "sparsified",
];

/// Those that show the kernels of a program.
const KERNELS: [&str; 6] = ["index", "concrete", "schedule", "loop", "c", "sparsified"];

/// Runs a function of the program, or prints the stages that were asked for.
///
/// # Errors
/// Those of the file, the dialects and the stages' names; `E1050` where the program has no
/// words in the dialect that it is to be written in; those of a run.
pub(crate) fn mlir(call: &Call, screen: &mut Screen, arguments: &MlirArguments) -> Result<u8> {
    let stages = stages(call, arguments)?;
    let read_as = match arguments.dialect.as_str() {
        AUTO => None,
        name => Some(dialect(call, "dialect", name)?),
    };
    let write_as = match &arguments.to_dialect {
        Some(name) => Some(dialect(call, "to-dialect", name)?),
        None => None,
    };
    let place = call
        .find_word(&arguments.file)
        .unwrap_or_else(|| call.end());
    let mut endings = FILE_TYPES.iter().flat_map(|ty| ty.endings);
    if endings.any(|ending| arguments.file.ends_with(ending)) {
        let message = format!("`{}` is a file of a tensor, and no program", arguments.file);
        return Err(Diagnostic::new(code::BAD_CALL, message)
            .at(call.source(), place, "a tensor")
            .help("give it to a program: `TENSOR0=a.mtx sparsec mlir program.mlir --run main`"));
    }
    let source = read_source(call, &arguments.file, place)?;
    let mut module = Module::parse(&source, read_as)?;
    module.verify()?;
    if let Some(dialect) = write_as {
        let rewritten = module.rewritten(dialect)?;
        for note in module.changes_in(dialect) {
            screen.note(&note);
        }
        module = rewritten;
    }
    if let Some(threads) = threads(call, screen, arguments.threads.as_deref())? {
        parallel::set_threads(threads);
    }
    if let Some(function) = &arguments.run {
        return run(screen, &module, function, arguments.strict).map_err(|error| {
            // The program has no place of a function that it lacks.
            let span = call.value_span("run", 0);
            error.or_at(call.source(), span, "this function")
        });
    }
    if stages.iter().any(|name| KERNELS.contains(name)) {
        for (place, from, to) in mlir_run::conversions(&module)? {
            screen.note(&format!(
                "{place}: a conversion is no kernel; `sparsec convert --from '{from}' --to '{to}' --emit loop` shows its loops"
            ));
        }
        for place in mlir_run::evaluated(&module)? {
            screen.note(&format!(
                "{place}: this operation has no kernel; its body is evaluated at stored entries or at each point"
            ));
        }
    }
    let mut texts = Vec::new();
    for name in stages {
        let text = match name {
            "mlir" => module.to_string(),
            "generic" => module.generic(),
            "encodings" => module.encodings_text(),
            "sparsified" => sparsified(&module, arguments.strict)?,
            stage => kernels(&module, stage, arguments.strict)?,
        };
        texts.push((name, text));
    }
    let text = || joined(&texts);
    let value = || {
        let stages = texts.iter();
        let stages: Map<String, Value> = stages
            .map(|(name, text)| ((*name).to_owned(), json!(text)))
            .collect();
        json!({ "dialect": module.dialect().to_string(), "stages": stages })
    };
    screen.answer(text, value)?;
    Ok(0)
}

/// Runs a function. Text appears as the program prints it; JSON is one object at its end.
fn run(screen: &mut Screen, module: &Module, function: &str, strict: bool) -> Result<u8> {
    if !screen.is_json() {
        let mut pipe = Pipe::default();
        let outcome = run_into(&mut pipe, module, function, strict);
        let flushed = pipe.flush();
        return match pipe.has_no_reader {
            true => Ok(0),
            false => outcome.and_then(|()| screen.printed(flushed)).map(|()| 0),
        };
    }
    let mut output = Vec::new();
    let outcome = run_into(&mut output, module, function, strict);
    let text = String::from_utf8_lossy(&output);
    if outcome.is_ok() || !text.is_empty() {
        screen.print(&format!("{}\n", json!({ "output": text })))?;
    }
    outcome.map(|()| 0)
}

fn run_into(output: &mut dyn Write, module: &Module, function: &str, strict: bool) -> Result<()> {
    let session = Session::new(Options::from_env());
    let host = SessionHost::new(session, output).strict(strict);
    let mut host = host.with_variables(|name| std::env::var(name).ok());
    mlir_run::run(module, function, &mut host)
}

/// A stage of all kernels of a program, one below the other.
fn kernels(module: &Module, stage: &str, strict: bool) -> Result<String> {
    let mut texts = Vec::new();
    let kernels = mlir_run::kernels(module)?;
    let is_apart = stage == "c" && kernels.len() > 1;
    for kernel in kernels {
        if stage == "index" {
            texts.push(format!("{}\n", kernel.program));
            continue;
        }
        let compiled = compiled(&kernel, strict)?;
        let stage = Stage::parse(stage).unwrap_or(Stage::Concrete);
        let text = compiled.emit(&stage)?;
        texts.push(match is_apart {
            true => format!(
                "/* ==== {}: a file of its own ==== */\n{text}",
                mlir_run::place_of(module, kernel.span)
            ),
            false => text,
        });
    }
    Ok(texts.join("\n"))
}

fn stages(call: &Call, arguments: &MlirArguments) -> Result<Vec<&'static str>> {
    let find = |(n, name): (usize, &String)| {
        let known = STAGES.into_iter().find(|known| known == name);
        known.ok_or_else(|| {
            let place = call.value_span("emit", n);
            let error = Diagnostic::new(
                code::BAD_OPTION_VALUE,
                format!("`{name}` is no stage of a program"),
            )
            .at(call.source(), place, "unknown");
            error.help(match suggest::closest(name, STAGES) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("stages are {}", STAGES.join(", ")),
            })
        })
    };
    match &arguments.emit[..] {
        [] => Ok(vec![STAGES[0]]),
        names => names.iter().enumerate().map(find).collect(),
    }
}

fn dialect(call: &Call, option: &str, name: &str) -> Result<Dialect> {
    Dialect::parse(name).ok_or_else(|| {
        let message = format!("`{name}` is no dialect");
        let error = Diagnostic::new(code::BAD_OPTION_VALUE, message);
        let error = error.at(call.source(), call.value_span(option, 0), "unknown");
        error.help(format!(
            "dialects are those of releases {} to {}, and sparsec",
            Dialect::OLDEST,
            Dialect::NEWEST
        ))
    })
}
