//! Answers of solvers.

use std::fmt::Write as _;

use sparsec_base::{Diagnostic, Result, Source, Span, code};

use super::expression::{self, Expression};
use super::{Model, System};

/// The answer of a solver to a [`System`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The constraints hold for this model.
    Sat(Model),
    /// They hold for none.
    Unsat,
    /// The solver gave up.
    Unknown,
}

impl Answer {
    /// Reads the output of a solver that was given [`System::smt2`]. After `unsat` and
    /// `unknown` the rest, the complaint that there is no model, is ignored.
    ///
    /// # Errors
    /// `E0907` if the text is none of the three answers, or if the model lacks a variable of
    /// the system, names another one, or gives something else than an integer.
    pub fn parse(system: &System, text: &str) -> Result<Self> {
        let source = Source::new("answer", text);
        let fault = |message: String, span: Span| {
            Diagnostic::new(code::NETWORK_MODEL, message).at(&source, span, "here")
        };
        let first = text.split_whitespace().next();
        match first {
            Some("unsat") => return Ok(Self::Unsat),
            Some("unknown") => return Ok(Self::Unknown),
            Some("sat") => {}
            _ => {
                let message = "neither `sat`, `unsat` nor `unknown`".to_owned();
                return Err(fault(message, Span::new(0, text.len().min(1))));
            }
        }
        let expressions = expression::read(&source)?;
        let [_, list] = expressions.as_slice() else {
            let message = "`sat` is followed by one model".to_owned();
            return Err(fault(message, Span::new(0, 3)));
        };
        let definitions = list.list().unwrap_or(&[]);
        // Older versions of z3 write the word `model`.
        let definitions = match definitions.first().and_then(Expression::atom) {
            Some("model") => &definitions[1..],
            _ => definitions,
        };
        let mut model = Model::new();
        for definition in definitions {
            let Some([word, name, _, _, value]) = definition.list() else {
                return Err(fault(
                    "no definition of a constant".to_owned(),
                    definition.span,
                ));
            };
            let (Some("define-fun"), Some(name)) = (word.atom(), name.atom()) else {
                return Err(fault(
                    "no definition of a constant".to_owned(),
                    definition.span,
                ));
            };
            if !system.variables().any(|known| known == name) {
                return Err(fault(
                    format!("the system has no variable `{name}`"),
                    definition.span,
                ));
            }
            let Some(value) = value.integer() else {
                return Err(fault("not an integer".to_owned(), value.span));
            };
            model.insert(name.to_owned(), value);
        }
        match system.variables().find(|name| !model.contains_key(*name)) {
            Some(name) => Err(fault(format!("the model lacks `{name}`"), list.span)),
            None => Ok(Self::Sat(model)),
        }
    }

    /// The answer as a solver would write it.
    pub fn print(&self) -> String {
        match self {
            Self::Unsat => "unsat\n".to_owned(),
            Self::Unknown => "unknown\n".to_owned(),
            Self::Sat(model) => {
                let mut text = "sat\n(\n".to_owned();
                for (name, value) in model {
                    let value = match *value < 0 {
                        true => format!("(- {})", value.unsigned_abs()),
                        false => value.to_string(),
                    };
                    let _ = writeln!(text, "  (define-fun {name} () Int {value})");
                }
                text + ")\n"
            }
        }
    }
}
