//! What is printed: answers on stdout, diagnostics on stderr, as text or JSON.
//!
//! A reader that closes the pipe, as `head` does, ends the printing and is no
//! error. Colours are for terminals, and not where `NO_COLOR` is set.

use std::io::{self, IsTerminal as _, Write};

use console::Term;
use serde_json::{Value, json};
use sparsec::{Diagnostic, Result, code};

/// Letters on a line of a terminal that does not say.
const USUAL_WIDTH: usize = 80;

/// Names of the Rust library, each with its words on the command line.
const WORDS: &[(&str, &str)] = &[
    ("`Options::memory`", "`--memory`"),
    ("`Backend::Cranelift`", "`--backend cranelift`"),
    ("`Backend::C`", "`--backend c`"),
    ("`Backend::Interpreter`", "`--backend interp`"),
    ("`Program::strict`", "`--strict`"),
    ("`Stage::Mlir`", "`--emit mlir`"),
    ("`Structure::General`", "`--structure expand`"),
    ("`ReadOptions::extents`", "`-d i=10`"),
    ("`.extent(\"{}\", {})`", "`-d {}={}`"),
    ("`.format(\"{}\", \"{}\")`", "`-f {}={}`"),
];

/// Standard output that is written as text comes, and whether its reader left.
#[derive(Debug, Default)]
pub(crate) struct Pipe {
    pub(crate) has_no_reader: bool,
}

impl Pipe {
    fn seen<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        let left = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
        self.has_no_reader |= outcome.as_ref().is_err_and(left);
        outcome
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = io::stdout().write(bytes);
        self.seen(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = io::stdout().flush();
        self.seen(flushed)
    }
}

/// Where answers and diagnostics go.
#[derive(Debug)]
pub(crate) struct Screen {
    json: bool,
}

impl Screen {
    /// A screen for text, or for JSON.
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints a note on stderr: one line, or one JSON object with `--json`.
    pub(crate) fn note(&self, text: &str) {
        complain(&match self.json {
            true => json!({ "severity": "note", "message": text }).to_string(),
            false => format!("note: {text}"),
        });
    }

    /// Prints text as it is.
    ///
    /// # Errors
    /// `E0008` if the system refuses, other than because nobody reads.
    pub(crate) fn print(&mut self, text: &str) -> Result<()> {
        let mut stdout = io::stdout().lock();
        let written = stdout.write_all(text.as_bytes());
        self.printed(written.and_then(|()| stdout.flush()))
    }

    /// The outcome of printing.
    ///
    /// # Errors
    /// As [`Screen::print`].
    pub(crate) fn printed(&self, outcome: io::Result<()>) -> Result<()> {
        match outcome {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Diagnostic::new(
                code::CANNOT_PRINT,
                format!("standard output cannot be written: {error}"),
            )),
            _ => Ok(()),
        }
    }

    /// Prints an answer: `text`, or `value` where JSON is wanted.
    ///
    /// # Errors
    /// As [`Screen::print`].
    pub(crate) fn answer(
        &mut self,
        text: impl FnOnce() -> String,
        value: impl FnOnce() -> Value,
    ) -> Result<()> {
        match self.json {
            true => self.print(&format!("{}\n", value())),
            false => self.print(&text()),
        }
    }

    /// Prints a diagnostic.
    pub(crate) fn show(&mut self, error: &Diagnostic) {
        let error = &error.clone().in_words(WORDS);
        match self.json {
            true => complain(&diagnostic_value(error).to_string()),
            false => complain(&error.render(colours())),
        }
    }
}

/// Prints a line on stderr; nobody can be told if that fails.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints lines on stderr, none where there is no text.
pub(crate) fn complain_lines(text: &str) {
    let _ = write!(io::stderr().lock(), "{text}");
}

/// Letters that fit on a line: those that `COLUMNS` says, else those of the terminal,
/// else those of a usual one.
pub(crate) fn width() -> usize {
    let stated = std::env::var("COLUMNS").ok();
    let stated = stated.and_then(|text| text.parse().ok());
    let terminal = || Some(usize::from(Term::stdout().size_checked()?.1));
    let width = stated.or_else(terminal);
    width.filter(|width| *width > 0).unwrap_or(USUAL_WIDTH)
}

fn colours() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stderr().is_terminal() && !refused
}

/// A diagnostic as JSON; lines and columns count from 1.
fn diagnostic_value(error: &Diagnostic) -> Value {
    let labels: Vec<Value> = error
        .labels()
        .iter()
        .map(|label| {
            let (line, column) = label.source.line_column(label.span.start);
            let (end_line, end_column) = label.source.line_column(label.span.end);
            json!({
                "file": label.source.name(),
                "line": line,
                "column": column,
                "end_line": end_line,
                "end_column": end_column,
                "text": label.text,
                "primary": label.primary,
            })
        })
        .collect();
    json!({
        "code": error.code().as_str(),
        "message": error.message(),
        "labels": labels,
        "notes": error.notes(),
        "help": error.help_text(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsec::{Source, Span};

    #[test]
    fn diagnostics_are_whole_in_json() {
        let source = Source::new("a.mtx", "one\ntwo x\n");
        let error = Diagnostic::new(code::BAD_ENTRY, "no number")
            .at(&source, Span::new(8, 9), "here")
            .note("a note")
            .help("a help");
        let value = diagnostic_value(&error);
        assert_eq!(value["code"], "E0424");
        assert_eq!(value["labels"][0]["line"], 2);
        assert_eq!(value["labels"][0]["column"], 5);
        assert_eq!(value["labels"][0]["end_column"], 6);
        assert_eq!(value["notes"][0], "a note");
        assert_eq!(value["help"], "a help");
    }
}
