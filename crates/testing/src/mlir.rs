//! Filetests of programs of MLIR.
//!
//! ```text
//! ; Compressed rows, by columns.
//! test mlir mlir encodings to-16
//! #CSC = #sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i : compressed) }>
//! func.func private @f(tensor<8x8xf64, #CSC>)
//! ---- mlir
//! …
//! ```
//!
//! | stage       | is                                                        |
//! |-------------|-----------------------------------------------------------|
//! | `mlir`      | the program, which reads back and prints alike            |
//! | `generic`   | the same in the generic form                              |
//! | `encodings` | its encodings in every spelling                           |
//! | `to-16`     | the program in the words of a release                     |
//! | `index`, `concrete`, … | a stage of its kernels                         |
//! | `sparsified` | the loops of its kernels as a module of `scf`            |
//! | `run`       | the output of `@main`, on the interpreter and in machine code |
//! | `error`     | the diagnostic that refuses it, or a stage that follows   |
//!
//! Each line of `run` has `> ` before it. It is written by hand or by the reference, and never
//! blessed. The variables `TENSOR0` and so on name files of the folder `samples`:
//! `tensor=matrix.mtx` on the line `test mlir …`, in order.
//! A program that is refused as it runs has the stages `error run`.
//!
//! `dialect=16` on the line `test mlir …` says how the text is read. A program that is to be
//! refused has the expectation of [`refuse`](crate::refuse) behind the line at fault.

use sparsec::internals::mlir::{Dialect, Module};
use sparsec::internals::mlir_host::{SessionHost, compiled, sparsified};
use sparsec::internals::mlir_run;
use sparsec::{Backend, Options, Result, Session, Source, Stage};

use crate::file::{Section, join, split};
use crate::refuse::{Expectation, diagnostic};
use crate::stages::{Check, compare_all};

const TEST: &str = "test mlir";

/// Whether a file is about a program of MLIR.
pub fn is_mlir(text: &str) -> bool {
    text.lines().any(|line| line.starts_with(TEST))
}

/// The program of a file and the dialect that its line names, each line in its place.
pub fn program(name: &str, text: &str) -> (Source, Option<Dialect>, Vec<String>) {
    let (head, _) = split(text);
    let mut program = String::new();
    let mut stages = Vec::new();
    let mut dialect = None;
    for line in head.lines() {
        if let Some(words) = line.strip_prefix(TEST) {
            for word in words.split_whitespace() {
                match word.split_once('=') {
                    Some(("dialect", name)) => dialect = Dialect::parse(name),
                    Some(_) => {}
                    None => stages.push(word.to_owned()),
                }
            }
        } else if !line.starts_with(';') {
            program += line;
        }
        program.push('\n');
    }
    (Source::new(name, program), dialect, stages)
}

/// Checks a file, or writes its sections anew if `bless`; gives the new text.
///
/// # Errors
/// What is not as expected.
pub fn check(name: &str, text: &str, bless: bool) -> Check<String> {
    let (head, sections) = split(text);
    let (source, dialect, stages) = program(name, text);
    let found = match stages.iter().position(|stage| stage == "error") {
        Some(_) => {
            let expected = Expectation::find(name, &head)?;
            // Places are those of the program, whose lines are those of the file.
            let Err(refusal) = refused(&source, dialect, &stages, &files(text)) else {
                return Err(format!("{name}: the program was not refused"));
            };
            expected.check(name, &refusal)?;
            if refusal.help_text().is_none() {
                return Err(format!(
                    "{name}: the diagnostic says no way out:\n{refusal}"
                ));
            }
            vec![diagnostic(&refusal)]
        }
        None => emitted(&source, dialect, &stages, &files(text))
            .map_err(|error| format!("{name}: {}", error.render(false)))?,
    };
    if !bless {
        compare_all(name, &sections, &found)?;
    }
    // The output of a program is no expectation of ours.
    let found: Vec<Section> = found
        .into_iter()
        .map(|found| {
            let mut written = sections.iter().filter(|it| it.title == found.title);
            let kept = written.next().filter(|_| found.title == "run");
            kept.cloned().unwrap_or(found)
        })
        .collect();
    Ok(join(&head, &found))
}

/// The files that the line of stages names, in order.
pub fn files(text: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(TEST));
    let words = line.unwrap_or_default().split_whitespace();
    words
        .filter_map(|word| word.strip_prefix("tensor="))
        .map(|name| {
            let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
            format!("{samples}/{name}")
        })
        .collect()
}

/// The output of `@main`.
///
/// # Errors
/// That of the run.
pub fn printed(module: &Module, session: Session, files: &[String]) -> Result<String> {
    let mut output = Vec::new();
    let mut host = SessionHost::new(session, &mut output).with_variables(|name| {
        let number: usize = name.strip_prefix("TENSOR")?.parse().ok()?;
        files.get(number).cloned()
    });
    mlir_run::run(module, "main", &mut host)?;
    drop(host);
    Ok(String::from_utf8_lossy(&output).into_owned())
}

fn run(module: &Module, files: &[String]) -> Result<String> {
    let compiled = Session::new(Options::from_env().backend(Backend::Cranelift));
    let interpreted = printed(module, Session::interpreter(), files)?;
    let compiled = printed(module, compiled, files)?;
    assert_eq!(
        interpreted, compiled,
        "the interpreter and compiled kernels"
    );
    Ok(interpreted)
}

/// A stage of all kernels.
fn kernels(module: &Module, stage: &Stage) -> Result<String> {
    let mut text = String::new();
    for kernel in mlir_run::kernels(module)? {
        if *stage == Stage::Index {
            text += &format!("{}\n", kernel.program);
            continue;
        }
        text += &compiled(&kernel, false)?.emit(stage)?;
    }
    Ok(text)
}

fn refused(
    source: &Source,
    dialect: Option<Dialect>,
    stages: &[String],
    files: &[String],
) -> Result<()> {
    let module = Module::parse(source, dialect)?;
    module.verify()?;
    for stage in stages.iter().filter_map(|stage| release(stage)) {
        module.rewritten(stage)?;
    }
    if stages.iter().any(|stage| stage == "run") {
        return run(&module, files).map(drop);
    }
    for (_, encoding) in module.encodings() {
        encoding.to_format()?;
    }
    Ok(())
}

/// The release of a stage `to-16`.
fn release(stage: &str) -> Option<Dialect> {
    Dialect::parse(stage.strip_prefix("to-")?)
}

fn emitted(
    source: &Source,
    dialect: Option<Dialect>,
    stages: &[String],
    files: &[String],
) -> Result<Vec<Section>> {
    let module = Module::parse(source, dialect)?;
    module.verify()?;
    reads_back(&module)?;
    let section = |stage: &String| {
        let text = match (stage.as_str(), release(stage)) {
            (_, Some(release)) => {
                let rewritten = module.rewritten(release)?;
                rewritten.verify()?;
                reads_back(&rewritten)?;
                rewritten.to_string()
            }
            ("mlir", _) => module.to_string(),
            ("generic", _) => module.generic(),
            ("encodings", _) => module.encodings_text(),
            ("run", _) => {
                // Programs print lines that look like headers.
                let printed = run(&module, files)?;
                printed.lines().map(|line| format!("> {line}\n")).collect()
            }
            ("sparsified", _) => sparsified(&module, false)?,
            (other, _) => match Stage::parse(other) {
                Some(stage) => kernels(&module, &stage)?,
                None => panic!("there is no stage `{other}` of a program"),
            },
        };
        Ok(Section {
            title: stage.clone(),
            line: 0,
            text,
        })
    };
    stages.iter().map(section).collect()
}

/// Both forms of a module read back, and print alike.
fn reads_back(module: &Module) -> Result<()> {
    let (text, generic) = (module.to_string(), module.generic());
    for printed in [&text, &generic] {
        let again = Module::parse(
            &Source::new("printed", printed.as_str()),
            Some(module.dialect()),
        )?;
        again.verify()?;
        assert_eq!(again.to_string(), text, "read back from\n{printed}");
        assert_eq!(again.generic(), generic, "read back from\n{printed}");
        // A text reads without its release, which some words leave open.
        if module.dialect() != Dialect::Sparsec {
            Module::parse(&Source::new("printed", printed.as_str()), None)?;
        }
    }
    Ok(())
}
