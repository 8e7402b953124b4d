//! Transformations as text: what was done can be given, printed and replayed.
//!
//! ```text
//! script  := { command }
//! command := "interchange" "(" which "," PLACE "," PLACE ")"
//!          | "skew"        "(" which "," PLACE "," PLACE "," NUMBER ")"
//!          | "shift"       "(" which "," PLACE "," NUMBER ")"
//!          | "strip_mine"  "(" which "," PLACE "," NUMBER ")"
//!          | "unroll"      "(" which "," PLACE "," NUMBER ")"
//!          | "reschedule"  "(" which "," relation ")"
//!          | "fuse"        "(" NAME "," NAME "," PLACE ")"
//!          | "remove"      "(" NAME ")"
//!          | "shrink"      "(" NAME "," PLACE ")"
//!          | "substitute"  "(" NAME ")"
//! which   := NAME | "[" NAME { "," NAME } "]"
//! ```
//!
//! A place is one of the elements of schedules, counted from 0; elements that a
//! schedule does not have are zeros. Of `shrink` it is a mode of the data.
//!
//! | command               | schedules                            | iteration space                |
//! |-----------------------|--------------------------------------|--------------------------------|
//! | `interchange(s, a, b)` | elements `a` and `b` change places  | the same                       |
//! | `skew(s, a, b, n)`    | `n` times element `b` is added to `a` | the same                      |
//! | `shift(s, a, n)`      | `n` is added to element `a`          | the same                       |
//! | `strip_mine(s, a, n)` | `q` before element `a`, which is `e` | with `n * q <= e < n * q + n`  |
//! | `unroll(s, a, n)`     | `q, c` in place of element `e`       | `n` statements, `e = n * q + c` |
//! | `reschedule(s, r)`    | times are what `r` gives for them; see [`reschedule`](crate::transform::reschedule) | as `r` asks |
//! | `fuse(s, t, d)`       | `t` in the loops around `s`, `d` deep, behind `s` | the same          |
//! | `remove(s)`           | a statement without effect goes; see [`remove`](crate::transform) | |
//! | `shrink(T, m)`        | temporary data lose a mode           |                                |
//! | `substitute(T)`       | temporary data go; see [`substitute`](crate::transform::substitute) | |

use std::fmt;
use std::str::FromStr;

use sparsec_base::lex::Tokens;
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Source, Span, code};
use sparsec_relation::{Parser, Relation};

use crate::computation::Computation;

/// Transformations, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The commands in their order.
    pub commands: Vec<Command>,
}

/// One transformation; see the module's page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Two elements of schedules change places.
    Interchange(Vec<String>, usize, usize),
    /// A multiple of the second element is added to the first.
    Skew(Vec<String>, usize, usize, i64),
    /// A number is added to an element.
    Shift(Vec<String>, usize, i64),
    /// A loop becomes one over strips of so many steps, and one over steps.
    StripMine(Vec<String>, usize, i64),
    /// Statements are written out for so many steps of a loop.
    Unroll(Vec<String>, usize, i64),
    /// A relation gives new times for old ones.
    Reschedule(Vec<String>, Relation),
    /// The second statement joins that many loops around the first.
    Fuse(String, String, usize),
    /// A statement without effect is removed.
    Remove(String),
    /// Temporary data lose a mode.
    Shrink(String, usize),
    /// Reads of temporary data become the values that are written.
    Substitute(String),
}

/// The names of the commands.
const COMMANDS: [&str; 10] = [
    "interchange",
    "skew",
    "shift",
    "strip_mine",
    "unroll",
    "reschedule",
    "fuse",
    "remove",
    "shrink",
    "substitute",
];

impl Script {
    /// Reads a script from the whole of a source.
    ///
    /// # Errors
    /// `E0101` to `E0103` for what is not of the language.
    pub fn parse(source: &Source) -> Result<Self> {
        Ok(Self {
            commands: placed(source)?.into_iter().map(|(c, _)| c).collect(),
        })
    }

    /// Reads a script and applies it.
    ///
    /// # Errors
    /// As [`parse`](Self::parse) and [`Computation::transformed`]; the command
    /// at fault is shown.
    pub fn replay(source: &Source, computation: &Computation) -> Result<Computation> {
        let mut computation = computation.clone();
        for (command, place) in placed(source)? {
            computation = computation.transformed(&command).map_err(|error| {
                let here = "by this command";
                match error.labels().is_empty() {
                    true => error.at(source, place, here),
                    false => error.also(source, place, here),
                }
            })?;
        }
        Ok(computation)
    }
}

fn placed(source: &Source) -> Result<Vec<(Command, Span)>> {
    let mut reader = Reader {
        parser: Parser::new(Tokens::new(source, &Parser::SYMBOLS)?),
    };
    let mut commands = Vec::new();
    while !reader.parser.tokens.at_end() {
        let begin = reader.parser.tokens.peek().span;
        let command = reader.command()?;
        commands.push((command, begin.to(reader.parser.tokens.peek_before())));
    }
    Ok(commands)
}

impl FromStr for Script {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("script", text))
    }
}

struct Reader {
    /// Of the relations in commands; commands take their own tokens from it.
    parser: Parser,
}

impl Reader {
    fn command(&mut self) -> Result<Command> {
        let (name, place) = self.parser.tokens.name("a transformation")?;
        if !COMMANDS.contains(&name.as_str()) {
            let message = format!("`{name}` is not a transformation");
            return Err(Diagnostic::new(code::UNEXPECTED_TOKEN, message)
                .at(self.parser.tokens.source(), place, "unknown")
                .help(match closest(&name, COMMANDS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("transformations are {}", COMMANDS.join(", ")),
                }));
        }
        self.parser.tokens.expect("(")?;
        let command = match name.as_str() {
            "interchange" => Command::Interchange(self.which()?, self.place()?, self.place()?),
            "skew" => Command::Skew(self.which()?, self.place()?, self.place()?, self.number()?),
            "shift" => Command::Shift(self.which()?, self.place()?, self.number()?),
            "strip_mine" => Command::StripMine(self.which()?, self.place()?, self.number()?),
            "unroll" => Command::Unroll(self.which()?, self.place()?, self.number()?),
            "reschedule" => {
                let which = self.which()?;
                self.parser.tokens.expect(",")?;
                Command::Reschedule(which, self.parser.relation()?)
            }
            "fuse" => {
                let first = self.name()?;
                self.parser.tokens.expect(",")?;
                Command::Fuse(first, self.name()?, self.place()?)
            }
            "remove" => Command::Remove(self.name()?),
            "shrink" => Command::Shrink(self.name()?, self.place()?),
            _ => Command::Substitute(self.name()?),
        };
        self.parser.tokens.expect(")")?;
        Ok(command)
    }

    fn name(&mut self) -> Result<String> {
        Ok(self.parser.tokens.name("a name")?.0)
    }

    fn which(&mut self) -> Result<Vec<String>> {
        if !self.parser.tokens.eat("[") {
            return Ok(vec![
                self.parser
                    .tokens
                    .name("a statement, or several in brackets")?
                    .0,
            ]);
        }
        let mut names = vec![self.name()?];
        while self.parser.tokens.eat(",") {
            names.push(self.name()?);
        }
        self.parser.tokens.expect("]")?;
        Ok(names)
    }

    fn place(&mut self) -> Result<usize> {
        self.parser.tokens.expect(",")?;
        let (place, span) = self.parser.tokens.integer("a place")?;
        let fits = usize::try_from(place).ok().filter(|n| *n < MOST_ELEMENTS);
        fits.ok_or_else(|| too_long().at(self.parser.tokens.source(), span, "too large"))
    }

    fn number(&mut self) -> Result<i64> {
        self.parser.tokens.expect(",")?;
        let negative = self.parser.tokens.eat("-");
        let (number, span) = self.parser.tokens.integer("a number")?;
        let number = match negative {
            true => 0i64.checked_sub_unsigned(number),
            false => i64::try_from(number).ok(),
        };
        let fits = number.filter(|n| (-MOST_STEPS..=MOST_STEPS).contains(n));
        fits.ok_or_else(|| {
            let message = format!("a number beyond {MOST_STEPS}");
            Diagnostic::new(code::BAD_NUMBER, message).at(
                self.parser.tokens.source(),
                span,
                "too large",
            )
        })
    }
}

/// Elements of a schedule.
pub(crate) const MOST_ELEMENTS: usize = 64;

/// The refusal of a longer one.
pub(crate) fn too_long() -> Diagnostic {
    let message = format!("schedules have at most {MOST_ELEMENTS} elements");
    Diagnostic::new(code::BAD_NUMBER, message)
}

/// Numbers that commands may have.
const MOST_STEPS: i64 = 1 << 20;

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for command in &self.commands {
            writeln!(f, "{command}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = |names: &[String]| match names {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        match self {
            Self::Interchange(s, a, b) => write!(f, "interchange({}, {a}, {b})", which(s)),
            Self::Skew(s, a, b, n) => write!(f, "skew({}, {a}, {b}, {n})", which(s)),
            Self::Shift(s, a, n) => write!(f, "shift({}, {a}, {n})", which(s)),
            Self::StripMine(s, a, n) => write!(f, "strip_mine({}, {a}, {n})", which(s)),
            Self::Unroll(s, a, n) => write!(f, "unroll({}, {a}, {n})", which(s)),
            Self::Reschedule(s, map) => write!(f, "reschedule({}, {map})", which(s)),
            Self::Fuse(s, t, depth) => write!(f, "fuse({s}, {t}, {depth})"),
            Self::Remove(s) => write!(f, "remove({s})"),
            Self::Substitute(space) => write!(f, "substitute({space})"),
            Self::Shrink(space, mode) => write!(f, "shrink({space}, {mode})"),
        }
    }
}
