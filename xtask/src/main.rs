//! Chores of the workspace, as `cargo xtask CHORE`.
//!
//! | chore  | does                                                            |
//! |--------|-----------------------------------------------------------------|
//! | `tidy` | checks the conventions that the compiler cannot; see [`tidy`]    |

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::Path;
use std::process::ExitCode;

mod rust;
mod tidy;

const USAGE: &str = "usage: cargo xtask tidy";

fn main() -> ExitCode {
    let chores: Vec<String> = std::env::args().skip(1).collect();
    match chores.iter().map(String::as_str).collect::<Vec<_>>()[..] {
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

/// The root of the workspace.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
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
