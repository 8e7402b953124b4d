//! A folder to distribute: the stripped program with its manual page, completions,
//! samples, documentation and licences.
//!
//! ```text
//! target/dist/sparsec-0.1.0-x86_64-linux/
//!   bin/sparsec      share/man/man1/sparsec.1      share/completions/sparsec.{bash,zsh,fish}
//!   samples/  docs/  README.md  LICENSE-MIT  LICENSE-APACHE
//! ```
//!
//! The folder stays below [`MOST_BYTES`]; a larger one is an error.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most bytes that the folder may have.
const MOST_BYTES: u64 = 25_000_000;

/// Builds the folder; a line that says where it is and how large.
///
/// # Errors
/// Text that says which step failed.
pub(crate) fn make(root: &Path) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--profile", "dist", "--package", "sparsec-cli"])
        .current_dir(root)
        .status();
    match built {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("cargo ended with {status}")),
        Err(error) => return Err(format!("cargo does not start: {error}")),
    }
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root.join("target"), PathBuf::from);
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    let name = format!("sparsec-{}-{arch}-{os}", env!("CARGO_PKG_VERSION"));
    let folder = target.join("dist").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(at(&folder))?;
    }
    let program = folder.join("bin/sparsec");
    copy(&target.join("dist/sparsec"), &program)?;
    strip(&program)?;
    for page in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&root.join(page), &folder.join(page))?;
    }
    for name in ["samples", "docs"] {
        let from = root.join(name);
        for file in fs::read_dir(&from).map_err(at(&from))? {
            let file = file.map_err(at(&from))?;
            if file.path().is_file() {
                copy(&file.path(), &folder.join(name).join(file.file_name()))?;
            }
        }
    }
    say(&program, &["man"], &folder.join("share/man/man1/sparsec.1"))?;
    for shell in ["bash", "zsh", "fish"] {
        let to = folder.join(format!("share/completions/sparsec.{shell}"));
        say(&program, &["completions", shell], &to)?;
    }
    let bytes = size(&folder)?;
    let line = format!("{}: {:.1} MB", folder.display(), bytes as f64 / 1e6);
    match bytes <= MOST_BYTES {
        true => Ok(line),
        false => Err(format!(
            "{line}, and {:.1} MB are the most",
            MOST_BYTES as f64 / 1e6
        )),
    }
}

fn at(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(at(folder))?;
    }
    fs::copy(from, to).map(|_| ()).map_err(at(from))
}

/// Removes the symbols of a program with `strip`, which comes with gcc. Cargo's own
/// option would build every crate again.
fn strip(program: &Path) -> Result<(), String> {
    match Command::new("strip").arg(program).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`strip` ended with {status}")),
        Err(error) => Err(format!("`strip` does not start: {error}")),
    }
}

/// Writes the output of the program for these arguments to a file.
fn say(program: &Path, arguments: &[&str], to: &Path) -> Result<(), String> {
    let said = Command::new(program).args(arguments).output();
    let said = said.map_err(at(program))?;
    if !said.status.success() {
        return Err(format!("`sparsec {}` fails", arguments.join(" ")));
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(at(folder))?;
    }
    fs::write(to, said.stdout).map_err(at(to))
}

/// The bytes of all files below a folder.
fn size(folder: &Path) -> Result<u64, String> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let entry = entry.map_err(at(folder))?;
        let about = entry.metadata().map_err(at(folder))?;
        bytes += match about.is_dir() {
            true => size(&entry.path())?,
            false => about.len(),
        };
    }
    Ok(bytes)
}
