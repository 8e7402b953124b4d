//! The command line as a source with places. Its `NAME=VALUE` pairs are in `pairs.rs`.
//!
//! A fault in an option is shown where the user wrote it:
//!
//! ```text
//!  --> command line:1:40
//!   |
//! 1 | sparsec run 'y(i) = A(i,j) * x(j)' -f csr
//!   |                                       ^^^ of which tensor?
//! ```
//!
//! clap says which values an option has, not where they stand; the words are
//! walked once more to find that out. Values come in the same order both ways.
//!
//! Formats, generators and schedules are texts with a language of their own,
//! and are sources of their own ([`Call::option_text`]). The exit code follows
//! from where an error is: in one of these or on the line itself the call is
//! wrong ([`Call::is_at_fault`]), everywhere else the program or its data is.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use sparsec::{Diagnostic, ElementType, Result, Source, Span, code};

use crate::files;

/// A single quote inside of a word in single quotes.
const QUOTE: &str = r"'\''";

/// The most rounds that `--repeat` takes.
pub(crate) const MOST_ROUNDS: usize = 1_000_000;

/// The most threads that `--threads` takes.
pub(crate) const MOST_THREADS: usize = 1024;

/// One call of the program.
#[derive(Debug)]
pub(crate) struct Call {
    source: Source,
    /// The places of the values of each option, by its long name.
    values: HashMap<String, Vec<Place>>,
    words: Vec<Place>,
    /// The texts of options that are sources of their own.
    texts: RefCell<Vec<Source>>,
}

/// A word, or part of one, and where it stands in the source.
#[derive(Clone, Debug)]
struct Place {
    text: String,
    span: Span,
}

impl Call {
    /// The call with these words, the program's name first.
    pub(crate) fn new(words: &[String], definition: &clap::Command) -> Self {
        let mut text = String::new();
        let mut places = Vec::new();
        for (number, word) in words.iter().enumerate() {
            let shown = match number {
                0 => "sparsec".to_owned(),
                _ => quoted(word),
            };
            if number > 0 {
                text.push(' ');
            }
            let quotes = usize::from(shown.starts_with('\''));
            let start = text.len() + quotes;
            text.push_str(&shown);
            places.push(Place {
                text: if number == 0 { shown } else { word.clone() },
                span: Span::new(start, text.len() - quotes),
            });
        }
        Self {
            source: Source::new("command line", text),
            values: option_values(&places, definition),
            words: places,
            texts: RefCell::default(),
        }
    }

    /// The text of an option as a source of its own, which diagnostics call `name`.
    pub(crate) fn option_text(&self, name: impl Into<String>, text: impl Into<String>) -> Source {
        let source = Source::new(name, text);
        self.texts.borrow_mut().push(source.clone());
        source
    }

    /// Whether the call is to blame for an error: the place of the error is the
    /// line or the text of an option, not the expression or a file.
    pub(crate) fn is_at_fault(&self, error: &Diagnostic) -> bool {
        let place = error.labels().iter().find(|label| label.primary);
        place.is_some_and(|place| {
            place.source == self.source || self.texts.borrow().contains(&place.source)
        })
    }

    /// The line as text.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Whether `--json` is among the words, for calls that clap refuses too.
    pub(crate) fn asks_for_json(&self) -> bool {
        let options = self.words.iter().skip(1);
        options
            .take_while(|word| word.text != "--")
            .any(|word| word.text == "--json")
    }

    /// The words after the program's name.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().skip(1).map(|word| word.text.as_str())
    }

    /// The line that has `command` in place of the command `old`, or before all words
    /// where there is none: its words, and itself as a shell takes it.
    pub(crate) fn with_command(&self, old: Option<&str>, command: &str) -> (Vec<String>, String) {
        let mut words: Vec<String> = self.words().map(str::to_owned).collect();
        match old.and_then(|old| words.iter().position(|word| word == old)) {
            Some(at) => command.clone_into(&mut words[at]),
            None => words.insert(0, command.to_owned()),
        }
        words.insert(0, "sparsec".to_owned());
        let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        (words, line.join(" "))
    }

    /// The first word that is `text`, or an option's word with a value attached.
    pub(crate) fn find_word(&self, text: &str) -> Option<Span> {
        let attached = format!("{text}=");
        let word = self
            .words
            .iter()
            .skip(1)
            .find(|word| word.text == text || word.text.starts_with(&attached))?;
        Some(word.part(0, text.len().min(word.text.len())))
    }

    /// The last word that is `text`.
    pub(crate) fn find_last_word(&self, text: &str) -> Option<Span> {
        let words = self.words.iter().skip(1);
        let word = words.rev().find(|word| word.text == text)?;
        Some(word.span)
    }

    /// The place after the last word.
    pub(crate) fn end(&self) -> Span {
        let end = self.source.text().len();
        Span::new(end, end)
    }

    /// The place of bytes `from..to` of the `n`th value of an option, which is `text`.
    pub(crate) fn part_of_value(
        &self,
        long: &str,
        n: usize,
        text: &str,
        part: Range<usize>,
    ) -> Span {
        let place = self.values.get(long).and_then(|values| values.get(n));
        match place.filter(|place| place.text == *text) {
            Some(place) => place.part(part.start, part.end),
            None => self.end(),
        }
    }

    /// The place of the `n`th value of an option, given by its long name.
    pub(crate) fn value_span(&self, long: &str, n: usize) -> Span {
        match self.values.get(long).and_then(|values| values.get(n)) {
            Some(place) => place.span,
            None => self.end(),
        }
    }

    /// An option whose value is not one of those that it takes.
    pub(crate) fn bad_value(&self, long: &str, message: String) -> Diagnostic {
        let place = self.value_span(long, 0);
        Diagnostic::new(code::BAD_OPTION_VALUE, message).at(&self.source, place, "not taken")
    }

    /// The number that an option takes, from 1 to `most`.
    ///
    /// # Errors
    /// `E0004` for anything else.
    pub(crate) fn count(&self, long: &str, text: &str, most: usize) -> Result<usize> {
        let n = text.parse().ok().filter(|n| (1..=most).contains(n));
        n.ok_or_else(|| {
            self.bad_value(long, format!("`--{long}` does not take `{text}`"))
                .help(format!("it takes an integer from 1 to {most}"))
        })
    }

    /// The type of entries that `--type` asks for.
    ///
    /// # Errors
    /// `E0004` for what is no type.
    pub(crate) fn element(&self, wanted: Option<&str>) -> Result<Option<ElementType>> {
        let parse = |wanted: &str| {
            ElementType::parse(wanted).ok_or_else(|| {
                self.bad_value("type", format!("there is no type `{wanted}`"))
                    .help(ElementType::advice(wanted))
            })
        };
        wanted.map(parse).transpose()
    }

    /// Refuses to write to the file that is read.
    ///
    /// # Errors
    /// `E0009`.
    pub(crate) fn check_apart(
        &self,
        (input, read): (&str, Span),
        (output, place): (&str, Span),
    ) -> Result<()> {
        let known = |path: &str| files::identity(Path::new(path));
        match (known(input), known(output)) {
            (Some(input), Some(output)) if input == output => {}
            _ => return Ok(()),
        }
        let message = format!("`{output}` would replace the file that is read");
        Err(Diagnostic::new(code::REPLACES_INPUT, message)
            .at(&self.source, place, "the same file")
            .also(&self.source, read, "read from here")
            .help("write to another file, and rename it if the old one is not needed"))
    }

    /// An error about a file, with where the file is named if the error has no
    /// place in the file itself. The call is not to blame for what a file is.
    pub(crate) fn about_file(&self, span: Span, error: Diagnostic) -> Diagnostic {
        match error.labels().is_empty() {
            true => error.also(&self.source, span, "named here"),
            false => error,
        }
    }

    /// An error about one of `words`, shown where that word stands if the
    /// error has no place of its own.
    pub(crate) fn about_words(&self, words: &[String], error: Diagnostic) -> Diagnostic {
        let quoted = |word: &&String| error.message().contains(&format!("`{word}`"));
        let named = words.iter().find(quoted);
        match named.and_then(|word| self.find_word(word)) {
            Some(place) if error.labels().is_empty() => error.at(&self.source, place, "named here"),
            _ => error,
        }
    }
}

impl Place {
    /// The place of bytes `from..to` of the text.
    fn part(&self, from: usize, to: usize) -> Span {
        let start = self.span.start as usize;
        // A quote takes more characters in the source.
        let shown = |at: usize| {
            let n_quotes = self.text[..at].matches('\'').count();
            start + at + n_quotes * (QUOTE.len() - 1)
        };
        Span::new(shown(from), shown(to))
    }
}

/// The places of option values, found as clap finds the values.
fn option_values(words: &[Place], definition: &clap::Command) -> HashMap<String, Vec<Place>> {
    let mut values: HashMap<String, Vec<Place>> = HashMap::new();
    let mut command = definition;
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        if word.text == "--" {
            break;
        }
        if let Some(inner) = command.find_subcommand(&word.text) {
            command = inner;
            continue;
        }
        let Some((long, taken)) = option_of(command, &word.text) else {
            continue;
        };
        let value = match taken {
            // `-fA=csr`, `--format=A=csr`
            Some(from) => Place {
                text: word.text[from..].to_owned(),
                span: word.part(from, word.text.len()),
            },
            None => match words.get(at) {
                Some(next) => {
                    at += 1;
                    next.clone()
                }
                None => break,
            },
        };
        values.entry(long).or_default().push(value);
    }
    values
}

/// The long name of the option that a word names, if it takes a value, and
/// where in the word the value begins if it does there.
fn option_of(command: &clap::Command, word: &str) -> Option<(String, Option<usize>)> {
    let takes_value = |arg: &&clap::Arg| arg.get_action().takes_values();
    let mut options = command.get_opts().filter(takes_value);
    if let Some(rest) = word.strip_prefix("--") {
        let (name, value) = match rest.split_once('=') {
            Some((name, _)) => (name, Some(2 + name.len() + 1)),
            None => (rest, None),
        };
        let option = options.find(|arg| arg.get_long() == Some(name))?;
        return Some((option.get_long()?.to_owned(), value));
    }
    let mut rest = word.strip_prefix('-')?.chars();
    let short = rest.next()?;
    let option = options.find(|arg| arg.get_short() == Some(short))?;
    let from = 1 + short.len_utf8();
    let value = match rest.as_str() {
        "" => None,
        rest => Some(from + usize::from(rest.starts_with('='))),
    };
    Some((option.get_long()?.to_owned(), value))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', QUOTE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Cli;
    use clap::CommandFactory as _;

    fn call(words: &[&str]) -> Call {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        Call::new(&words, &Cli::command())
    }

    fn check_values(words: &[&str], long: &str, expect: &[&str]) {
        let call = call(words);
        let found: Vec<&str> = (0..expect.len())
            .map(|n| call.source().slice(call.value_span(long, n)))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn values_are_found_where_they_stand() {
        check_values(&["s", "run", "x", "-f", "A=csr"], "format", &["A=csr"]);
        check_values(
            &["s", "run", "-fA=csr", "x", "-f=B=coo"],
            "format",
            &["A=csr", "B=coo"],
        );
        check_values(
            &["s", "run", "--format=A=csr", "--format", "B=coo"],
            "format",
            &["A=csr", "B=coo"],
        );
        check_values(
            &["s", "run", "-gx='=3", "-f", "A='=csr"],
            "format",
            &[r"A='\''=csr"],
        );
        check_values(
            &["s", "run", "-g", "x=random(nnz=3)"],
            "generate",
            &["x=random(nnz=3)"],
        );
        check_values(
            &["s", "--json", "run", "-i", "A=-f", "-f", "A=csr"],
            "format",
            &["A=csr"],
        );
    }

    #[test]
    fn words_are_shown_as_a_shell_takes_them() {
        let call = call(&["/usr/bin/sparsec", "run", "y = x", "it's", ""]);
        assert_eq!(call.source().text(), r"sparsec run 'y = x' 'it'\''s' ''");
    }
}
