//! Options of the form `NAME=VALUE`, with their places.
//!
//! ```text
//! -i A=-          A from standard input
//! -o y=y.tns      y, y.tns
//! -o y=-          y on standard output
//! -o -            the only result there
//! ```

use std::collections::BTreeMap;

use sparsec::{Diagnostic, Result, Span, code};

use crate::call::Call;
use crate::files::{STANDARD_INPUT, input_path};
use crate::tensors::STREAM;

/// `NAME=VALUE`, as an option has it.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// Before the `=`.
    pub(crate) name: String,
    /// After it.
    pub(crate) value: String,
    /// The short name of the option, such as `-f`.
    pub(crate) option: &'static str,
    /// The place of the name.
    pub(crate) name_span: Span,
    /// The place of the value.
    pub(crate) value_span: Span,
}

impl Call {
    /// Cuts the values of an option into pairs; a name may stand once.
    ///
    /// # Errors
    /// `E0002` for a value that is no pair, `E0003` for a name that has one.
    pub(crate) fn pairs(
        &self,
        option: &'static str,
        long: &str,
        values: &[String],
    ) -> Result<Vec<Pair>> {
        self.pairs_or(option, long, values, &|_, _| Ok(None))
    }

    /// The pairs of `-i`. `-` is standard input, which holds one tensor.
    ///
    /// # Errors
    /// As [`Call::pairs`], and `E0004` for a second tensor from standard input.
    pub(crate) fn inputs(&self, values: &[String]) -> Result<Vec<Pair>> {
        let mut pairs = self.pairs("-i", "input", values)?;
        for pair in &mut pairs {
            pair.value = input_path(&pair.value).to_owned();
        }
        let mut streams = pairs.iter().filter(|pair| pair.value == STANDARD_INPUT);
        if let (Some(first), Some(second)) = (streams.next(), streams.next()) {
            let message = format!(
                "`{}` and `{}` are both read from standard input, which holds one tensor",
                first.name, second.name
            );
            return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
                .at(self.source(), second.value_span, "nothing is left here")
                .also(self.source(), first.value_span, "read from here")
                .help(format!(
                    "read one of them from a file: `-i {}=FILE`",
                    second.name
                )));
        }
        Ok(pairs)
    }

    /// The pairs of `-o`. In place of one, `-` sends the only of `results` to standard
    /// output.
    ///
    /// # Errors
    /// As [`Call::pairs`], and `E0004` for a `-` that may mean several.
    pub(crate) fn outputs(&self, values: &[String], results: &[&str]) -> Result<Vec<Pair>> {
        self.pairs_or("-o", "output", values, &|text, span| match results {
            _ if text != STREAM => Ok(None),
            [only] => Ok(Some(Pair {
                name: (*only).to_owned(),
                value: STREAM.to_owned(),
                option: "-o",
                name_span: span,
                value_span: span,
            })),
            several => {
                let message = "`-o -` writes the only result, and there are several";
                let (first, names) = (several.first().unwrap_or(&"NAME"), several.join("`, `"));
                Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
                    .at(self.source(), span, format!("`{names}`?"))
                    .help(format!("name one: `-o {first}=-`")))
            }
        })
    }

    /// As [`Call::pairs`]; `other` says which values that are no pairs stand for one.
    fn pairs_or(
        &self,
        option: &'static str,
        long: &str,
        values: &[String],
        other: &dyn Fn(&str, Span) -> Result<Option<Pair>>,
    ) -> Result<Vec<Pair>> {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (n, text) in values.iter().enumerate() {
            let part = |from, to| self.part_of_value(long, n, text, from..to);
            let at = text.find('=').filter(|at| *at > 0 && *at + 1 < text.len());
            let pair = match (other(text, part(0, text.len()))?, at) {
                (Some(pair), _) => pair,
                (None, Some(at)) => Pair {
                    name: text[..at].to_owned(),
                    value: text[at + 1..].to_owned(),
                    option,
                    name_span: part(0, at),
                    value_span: part(at + 1, text.len()),
                },
                (None, None) => return Err(self.not_a_pair(option, text, part(0, text.len()))),
            };
            if let Some(first) = places.insert(pair.name.clone(), pairs.len()) {
                return Err(self.said_twice(&pairs[first], &pair));
            }
            pairs.push(pair);
        }
        Ok(pairs)
    }

    fn not_a_pair(&self, option: &str, text: &str, span: Span) -> Diagnostic {
        let (wanted, label) = match option {
            "-d" => ("INDEX=EXTENT", "of which index variable?"),
            _ => ("NAME=VALUE", "of which tensor?"),
        };
        let example = match option {
            "-d" => "100",
            "-f" => "csr",
            "-g" => "dense:ones",
            "-t" => "f64",
            _ => "FILE",
        };
        // The empty side, or all of it.
        let (span, label, name, value) = match text.split_once('=') {
            Some(("", value)) => {
                let start = span.start as usize;
                (Span::new(start, start), label, None, value)
            }
            Some((name, _)) => {
                let end = span.end as usize;
                let label = "expected a value behind the `=`";
                (Span::new(end, end), label, Some(name), example)
            }
            None if option == "-d" && text.parse::<u64>().is_err() => {
                (span, label, Some(text), example)
            }
            None => (span, label, None, text),
        };
        let message = format!("`{option}` takes {wanted}, not `{text}`");
        let error = Diagnostic::new(code::NOT_A_PAIR, message).at(self.source(), span, label);
        let value = match value {
            "" => example,
            value => value,
        };
        match (name, option) {
            (Some(name), _) => error.help(format!("write for example `{option} {name}={value}`")),
            (None, "-d") => error.help(format!(
                "write `-d i={value}`, with an index variable of the expression for `i`"
            )),
            (None, _) => error.help(format!(
                "write `{option} NAME={value}`, with a tensor of the expression for NAME"
            )),
        }
    }

    /// Two pairs that say the same of one name.
    pub(crate) fn said_twice(&self, first: &Pair, second: &Pair) -> Diagnostic {
        let Pair { name, option, .. } = second;
        let message = if first.option == second.option {
            format!("`{option}` is given twice for `{name}`")
        } else {
            format!(
                "`{}` and `{option}` are both given for `{name}`",
                first.option
            )
        };
        Diagnostic::new(code::SAID_TWICE, message)
            .at(self.source(), second.name_span, "said again")
            .also(self.source(), first.name_span, "said here")
            .help("leave one of them out")
    }
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

    #[test]
    fn pairs_have_places() {
        let words = ["s", "run", "e", "-g", "x=dense:constant(2)"];
        let call = call(&words);
        let pairs = call
            .pairs("-g", "generate", &[words[4].to_owned()])
            .expect("a pair");
        assert_eq!(call.source().slice(pairs[0].name_span), "x");
        assert_eq!(
            call.source().slice(pairs[0].value_span),
            "dense:constant(2)"
        );
    }

    #[test]
    fn places_are_those_behind_quotes() {
        let words = ["s", "run", "e", "-o", "A=it's/b='c'.mtx"];
        let call = call(&words);
        let pairs = call.pairs("-o", "output", &[words[4].to_owned()]);
        let pair = &pairs.expect("a pair")[0];
        assert_eq!(call.source().slice(pair.name_span), "A");
        let shown = r"it'\''s/b='\''c'\''.mtx";
        assert_eq!(call.source().slice(pair.value_span), shown);
    }

    #[test]
    fn what_is_no_pair_is_refused() {
        for text in ["csr", "=csr", "A="] {
            let call = call(&["s", "run", "e", "-f", text]);
            let error = call
                .pairs("-f", "format", &[text.to_owned()])
                .expect_err(text);
            assert_eq!(error.code(), code::NOT_A_PAIR);
        }
    }

    #[test]
    fn a_name_stands_once() {
        let call = call(&["s", "run", "e", "-f", "A=csr", "-f", "A=csr"]);
        let texts = ["A=csr".to_owned(), "A=csr".to_owned()];
        let error = call.pairs("-f", "format", &texts).expect_err("twice");
        assert_eq!(error.code(), code::SAID_TWICE);
        assert_eq!(error.labels().len(), 2);
        assert_ne!(error.labels()[0].span, error.labels()[1].span);
    }
}
