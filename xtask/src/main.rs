//! Chores of the workspace, as `cargo xtask CHORE`.
//!
//! | chore  | does                                                            |
//! |--------|-----------------------------------------------------------------|
//! | `chart` | draws the README's chart from the JSON of `sparsec bench`      |
//! | `dist` | makes a folder to distribute; see [`dist`]                      |
//! | `fuzz` | runs the fuzz targets; see [`fuzz`]                             |
//! | `soak` | runs random programs against the oracle until the time is up    |
//! | `tidy` | checks the conventions that the compiler cannot; see [`tidy`]    |

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::process::{Command, ExitCode};

mod chart;
mod dist;
mod fuzz;
mod rust;
mod tidy;

const USAGE: &str = "usage: cargo xtask tidy
       cargo xtask chart BENCH.json [SVG]
       cargo xtask dist
       cargo xtask fuzz [--minutes N | --seconds N] [--target T]... [--keep]
       cargo xtask soak [--minutes N] [--programs N] [--seed S]";

fn main() -> ExitCode {
    let chores: Vec<String> = std::env::args().skip(1).collect();
    match chores.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["chart", from] => done(chart::write(from.as_ref(), &root().join("docs/bench.svg"))),
        ["chart", from, to] => done(chart::write(from.as_ref(), to.as_ref())),
        ["dist"] => done(dist::make(root()).map(|line| println!("{line}"))),
        ["fuzz", ..] => fuzz::run(&chores[1..]),
        ["soak", ..] => soak(&chores[1..]),
        ["tidy"] => report(tidy::check(root())),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The exit code of a chore. Prints the error of one that failed.
fn done(ended: Result<(), String>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Runs the programs of `sparsec-testing`, which this crate does not depend on:
/// chores are to build fast.
fn soak(arguments: &[String]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = "run --quiet --package sparsec-testing --example soak --";
    let status = Command::new(cargo)
        .args(run.split(' '))
        .args(arguments)
        .current_dir(root())
        .status();
    match status.map(|status| status.code()) {
        Ok(Some(code)) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Ok(None) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: cargo does not start: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report(faults: Result<Vec<tidy::Fault>, String>) -> ExitCode {
    match faults {
        Ok(faults) if faults.is_empty() => ExitCode::SUCCESS,
        Ok(faults) => {
            for fault in &faults {
                eprintln!("{fault}");
            }
            eprintln!("tidy: {} to put right", faults.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tidy: {error}");
            ExitCode::FAILURE
        }
    }
}
