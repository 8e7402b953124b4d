//! Reading keys as values: `MORTON(i, j)`, and words of declared key functions, `K(i, j)[0]`.

use sparsec_base::{Diagnostic, Result, Span, code};
use sparsec_relation::Parser;

use super::Reader;
use super::types::Type;
use super::value::Typed;
use crate::value::Value;

/// The key that compares tuples, and is no number.
const LEX: &str = "LEX";

impl Reader {
    /// Whether a name is that of a key, or of all words of one.
    pub(super) fn is_key(&self, name: &str) -> bool {
        let declarations = &self.computation.declarations;
        declarations.is_key(name) || declarations.keys().iter().any(|key| key.name() == name)
    }

    pub(super) fn key(&mut self, name: String, begin: Span) -> Result<Typed> {
        self.parser.tokens.expect("(")?;
        let mut coordinates = vec![self.parser.expression()?];
        while self.parser.tokens.eat(",") {
            coordinates.push(self.parser.expression()?);
        }
        let mut end = self.parser.tokens.expect(")")?;
        let mut word = name.clone();
        if !Parser::is_key(&name) && self.parser.tokens.eat("[") {
            let (number, _) = self.parser.tokens.integer("the number of a word")?;
            end = self.parser.tokens.expect("]")?;
            word = format!("{name}.{number}");
        }
        let place = begin.to(end);
        let source = self.parser.tokens.source();
        if let Some((key, _)) = self.computation.declarations.key_of(&word) {
            let n = key.arguments().len();
            if n != coordinates.len() {
                let message = format!("`{name}` has different numbers of arguments");
                let found = format!("{} here", coordinates.len());
                return Err(Diagnostic::new(code::RELATION_ARITY, message)
                    .at(source, place, found)
                    .help(format!("give it {n}, as it is declared")));
            }
        } else if !Parser::is_key(&name) {
            return Err(self.not_a_word(&name, place));
        }
        if name == LEX || (name == "ALTO" && coordinates.len() % 2 == 1) {
            let message = format!("`{name}` of these is no number");
            return Err(Diagnostic::new(code::COMPUTATION_TYPES, message)
                .at(source, place, "no number")
                .help("write `MORTON(i, j)`, or `ALTO(i, n, j, m)` with an extent behind each coordinate"));
        }
        Ok(Typed {
            value: Value::Curve(word, coordinates),
            ty: Type::Integer,
            place,
        })
    }

    /// That something called by the name of a key is none of its words.
    pub(super) fn not_a_word(&self, name: &str, place: Span) -> Diagnostic {
        let mut keys = self.computation.declarations.keys().iter();
        let key = keys.find(|key| key.name() == name);
        let words = match key.map_or(1, |key| key.n_words()) {
            1 => format!("it has one word: `{name}(…)`"),
            n => format!(
                "take one of its words, the highest bits first: `{name}(…)[0]` to `{name}(…)[{}]`",
                n - 1
            ),
        };
        let message = format!("this is no word of the key function `{name}`");
        Diagnostic::new(code::COMPUTATION_NOT_INTEGER, message)
            .at(self.parser.tokens.source(), place, "must be an integer")
            .help(words)
    }
}
