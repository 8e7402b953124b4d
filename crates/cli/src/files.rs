//! What a path says: the type of a file, and which file it names, however spelled.
//!
//! Results replace files, so nothing may be lost by it: two results for one
//! file leave only one of them, and a result for an operand's file destroys
//! what was read. Both are refused before anything runs.
//!
//! ```text
//! y.tns   ./y.tns   dir/../y.tns   link -> y.tns   a hard link      one file
//! ```

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sparsec::{Diagnostic, Result, Span, code, io};

use crate::call::Call;
use crate::pairs::Pair;
use crate::screen::Screen;
use crate::spec::DESCRIPTOR_ENDING;
use crate::tensors::{MOST_VALUES, STREAM};

/// How files of computations over relations usually end.
const COMPUTATION_ENDING: &str = ".spf";

/// The file that `-` reads.
pub(crate) const STANDARD_INPUT: &str = "/dev/stdin";

/// The path of a file to read, of which `-` is standard input.
pub(crate) fn input_path(text: &str) -> &str {
    match text {
        STREAM => STANDARD_INPUT,
        path => path,
    }
}

impl Call {
    /// The type of a file, by its name.
    ///
    /// # Errors
    /// `E0421` where the name does not say, shown where it stands: the call is
    /// wrong, whatever the file holds.
    pub(crate) fn file_type(&self, path: &str, span: Span) -> Result<()> {
        let error = io::file_type(Path::new(path)).err();
        let error = error.map(|error| match other_command(path) {
            Some(help) => error.help(help),
            None => error,
        });
        self.has_type(path, span, error)
    }

    /// As [`Call::file_type`], of a file to be written.
    ///
    /// # Errors
    /// `E0421` as there, `E0428` for a type that is only read.
    fn written_type(&self, path: &str, span: Span) -> Result<()> {
        self.has_type(path, span, io::written_type(Path::new(path)).err())
    }

    fn has_type(&self, path: &str, span: Span, error: Option<Diagnostic>) -> Result<()> {
        let path = Path::new(path);
        let known = error
            .map_or(Ok(()), Err)
            .map_err(|error| match path.is_dir() {
                true => Diagnostic::new(
                    code::UNKNOWN_FILE_TYPE,
                    format!("`{}` is a directory", path.display()),
                )
                .help("name a file"),
                false => error,
            });
        known.map_err(|error| error.at(self.source(), span, "named here"))
    }
}

/// The command for a file of text that holds no tensor.
fn other_command(path: &str) -> Option<String> {
    match () {
        () if path.ends_with(DESCRIPTOR_ENDING) => {
            Some(format!("`sparsec formats {path}` describes a format"))
        }
        () if path.ends_with(COMPUTATION_ENDING) => {
            Some(format!("`sparsec relations {path}` shows a computation"))
        }
        () => None,
    }
}

/// What makes two paths name one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Device and number of a file that there is.
    Node(u64, u64),
    /// Where a file is going to be.
    Name(PathBuf),
}

/// The file that a path names; `None` for devices and pipes, which keep
/// nothing that could be lost. Two results on standard output would not be told apart.
pub(crate) fn identity(path: &Path) -> Option<Identity> {
    if path == Path::new(STREAM) {
        return Some(Identity::Name(path.to_owned()));
    }
    match path.metadata() {
        Ok(there) if there.is_file() => Some(Identity::Node(there.dev(), there.ino())),
        Ok(_) => None,
        Err(_) => {
            let folder = folder(path).unwrap_or(Path::new("."));
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            Some(Identity::Name(folder.join(path.file_name()?)))
        }
    }
}

/// The part of a path before the last name, if it has one.
fn folder(path: &Path) -> Option<&Path> {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
}

/// Bytes of a file; `None` for a stream, which has no length, and where the system does
/// not say.
pub(crate) fn file_bytes(path: &Path) -> Option<u64> {
    let there = path.metadata().ok().filter(std::fs::Metadata::is_file);
    there.map(|there| there.len())
}

/// Refuses a path into a folder that there is not.
///
/// # Errors
/// `E0427`.
pub(crate) fn check_folder(path: &Path) -> Result<()> {
    match folder(path) {
        Some(folder) if !folder.is_dir() => {
            let message = format!(
                "cannot write `{}`: there is no folder `{}`",
                path.display(),
                folder.display()
            );
            let help = format!("make it first: `mkdir -p {}`", folder.display());
            Err(Diagnostic::new(code::CANNOT_WRITE_FILE, message).help(help))
        }
        _ => Ok(()),
    }
}

/// Refuses an output that cannot be: of no type, or in a folder that there is not.
///
/// # Errors
/// Those of [`Call::written_type`] and [`check_folder`].
pub(crate) fn check_output(call: &Call, path: &str, place: Span) -> Result<()> {
    if path == STREAM {
        return Ok(());
    }
    call.written_type(path, place)?;
    check_folder(Path::new(path)).map_err(|error| call.about_file(place, error))
}

/// Whether a result goes to standard output; then all else that a call prints goes
/// elsewhere.
///
/// # Errors
/// `E0005` with `--json`, which answers there too.
pub(crate) fn takes_stdout(call: &Call, screen: &Screen, outputs: &[Pair]) -> Result<bool> {
    let Some(pair) = outputs.iter().find(|pair| pair.value == STREAM) else {
        return Ok(false);
    };
    let help = format!(
        "leave `-o` out: JSON has up to {MOST_VALUES} values of each result; or name a file"
    );
    check_no_json(call, screen, pair.value_span, &help).map(|()| true)
}

/// Refuses a tensor on standard output where JSON is printed.
///
/// # Errors
/// `E0005`.
pub(crate) fn check_no_json(call: &Call, screen: &Screen, place: Span, help: &str) -> Result<()> {
    if !screen.is_json() {
        return Ok(());
    }
    let message = "`--json` answers on standard output, where the tensor would go too";
    Err(Diagnostic::new(code::DOES_NOT_APPLY, message)
        .at(call.source(), place, "the same output")
        .help(help))
}

/// Refuses results that would replace each other or an operand.
///
/// # Errors
/// `E0006` for two results in one file, `E0009` for a result in the file of an
/// operand.
pub(crate) fn check_distinct(call: &Call, inputs: &[Pair], outputs: &[Pair]) -> Result<()> {
    let known = |pair: &Pair| identity(Path::new(&pair.value));
    let inputs: Vec<_> = inputs.iter().map(|pair| (pair, known(pair))).collect();
    let mut earlier: Vec<(&Pair, Option<Identity>)> = Vec::new();
    for pair in outputs {
        let file = known(pair);
        let same = |(_, other): &&(&Pair, Option<Identity>)| file.is_some() && *other == file;
        let (file_code, message, other, label, help) =
            if let Some((other, _)) = earlier.iter().find(same) {
                let to = match pair.value == STREAM {
                    true => "standard output",
                    false => "the same file",
                };
                let message = format!("`{}` and `{}` go to {to}", other.name, pair.name);
                let help = "give each result a file of its own";
                (code::SAME_OUTPUT, message, other, "goes here", help)
            } else if let Some((other, _)) = inputs.iter().find(same) {
                let message = format!(
                    "`{}` would replace the file that `{}` is read from",
                    pair.name, other.name
                );
                let help = "write to another file, and rename it if the old one is not needed";
                (code::REPLACES_INPUT, message, other, "read from here", help)
            } else {
                earlier.push((pair, file));
                continue;
            };
        return Err(Diagnostic::new(file_code, message)
            .at(call.source(), pair.value_span, "the same file")
            .also(call.source(), other.value_span, label)
            .help(help));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_identity() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "").expect("a file");
        std::fs::create_dir(at("d")).expect("a folder");
        std::os::unix::fs::symlink("a", at("soft")).expect("a link");
        std::fs::hard_link(at("a"), at("hard")).expect("a link");
        for same in ["./a", "d/../a", "soft", "hard"] {
            assert_eq!(identity(&at(same)), identity(&at("a")), "{same}");
        }
        assert_eq!(identity(&at("d/../new")), identity(&at("new")));
        assert_ne!(identity(&at("new")), identity(&at("other")));
        assert_eq!(identity(Path::new("/dev/null")), None);
    }
}
