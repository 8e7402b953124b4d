//! The conventions of this workspace that the compiler cannot check.
//!
//! | module           | rules                                                       |
//! |------------------|-------------------------------------------------------------|
//! | [`dependencies`] | who may use whom; a reason beside every outside dependency   |
//! | [`absences`]     | what the headers of crates say is not in them                |
//! | [`sources`]      | where unsafe code and files may be; headers, length, leftovers |
//! | [`codes`]        | every diagnostic code is shown by a filetest or a test       |
//! | [`grammar`]      | the grammar for editors knows the words of all parsers       |
//!
//! A fault names the file, the line and the rule, so that what to do is plain
//! without this page.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

mod absences;
mod codes;
mod dependencies;
mod grammar;
mod sources;

/// A convention that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The file, relative to the root of the workspace.
    pub(crate) file: String,
    /// The line, counted from 1, where the fault has one.
    pub(crate) line: Option<usize>,
    /// The rule, and what is against it.
    pub(crate) text: String,
}

impl Fault {
    fn new(file: &str, line: Option<usize>, text: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            text: text.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.text),
            None => write!(f, "{}: {}", self.file, self.text),
        }
    }
}

/// Everything that is against a rule, in the workspace at `root`.
///
/// # Errors
/// A file or folder that cannot be read, or a failing `cargo metadata`.
pub(crate) fn check(root: &Path) -> Result<Vec<Fault>, String> {
    let mut faults = dependencies::check(&dependencies::packages(root)?);
    faults.extend(dependencies::check_reasons(&read(root, "Cargo.toml")?));
    for file in files(root, &["crates", "fuzz", "xtask"], Some("rs"))? {
        let text = read(root, &file)?;
        faults.extend(sources::check(&file, &text));
        faults.extend(absences::check(&file, &text));
    }
    faults.extend(codes::check_workspace(root)?);
    faults.extend(grammar::check_workspace(root)?);
    Ok(faults)
}

/// The text of a file of the workspace.
fn read(root: &Path, file: &str) -> Result<String, String> {
    fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))
}

/// Every file below `folders`, or every one with the extension, in order,
/// relative to `root`.
fn files(root: &Path, folders: &[&str], extension: Option<&str>) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    while let Some(folder) = open.pop() {
        let failed = |error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(root.join(&folder)).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = folder.join(entry.file_name());
            if entry.file_type().map_err(failed)?.is_dir() {
                if entry.file_name() != "target" {
                    open.push(path);
                }
            } else if extension
                .is_none_or(|wanted| path.extension().is_some_and(|end| end == wanted))
            {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_line() {
        let fault = Fault::new("a.rs", Some(3), "too long");
        assert_eq!(fault.to_string(), "a.rs:3: too long");
        assert_eq!(Fault::new("a.rs", None, "b").to_string(), "a.rs: b");
    }
}
