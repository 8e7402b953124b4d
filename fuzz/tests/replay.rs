//! Runs every target once on each seed, each input of its corpus and each former finding.
//!
//! This needs no engine, so plain `cargo test` shows when a finding comes back. Each test has the
//! name of its target: `cargo test -p sparsec-fuzz --test replay hdf5`.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use sparsec_fuzz::{TARGETS, Target, packed, root};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = TARGETS
        .iter()
        .map(|target| Trial::test(target.name, || replay(target)))
        .collect();
    trials.push(Trial::test(
        "every folder is that of a target",
        known_folders,
    ));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs a target on all inputs that are kept for it.
fn replay(target: &Target) -> Result<(), Failed> {
    let mut inputs: Vec<(String, Vec<u8>)> = Vec::new();
    if let Ok(folder) = fs::read_dir(target.regressions()) {
        for path in folder.flatten().map(|entry| entry.path()) {
            inputs.push((path.display().to_string(), fs::read(&path)?));
        }
    }
    if let Ok(text) = fs::read_to_string(target.corpus()) {
        let corpus = packed::unpack(&text).ok_or("an escape that there is not")?;
        let lines = (2..).zip(corpus);
        inputs.extend(
            lines.map(|(line, input)| (format!("{}:{line}", target.corpus().display()), input)),
        );
    }
    let seeds = target.seeds();
    assert!(!seeds.is_empty(), "there is no seed");
    inputs.extend(seeds.into_iter().map(|seed| ("seed".to_owned(), seed)));
    for (name, input) in inputs {
        let ran = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        if let Err(panic) = ran {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            let text = text.unwrap_or_default();
            return Err(format!("{name}: {}\n{text}", input.escape_ascii()).into());
        }
    }
    Ok(())
}

/// Inputs in a folder that no target has would never run.
fn known_folders() -> Result<(), Failed> {
    for folder in ["fuzz/corpus", "fuzz/regressions"] {
        let Ok(entries) = fs::read_dir(root().join(folder)) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = name.trim_end_matches(".inputs");
            if Target::find(name).is_none() {
                return Err(format!("{folder}/{name}: there is no such target").into());
            }
        }
    }
    Ok(())
}
