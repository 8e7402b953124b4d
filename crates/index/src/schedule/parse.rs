//! Reading schedules.
//!
//! ```text
//! schedule := { command [";"] }
//! command  := "reorder" "(" NAME { "," NAME } ")"
//!           | "precompute" "(" expr "," "{" [ NAME { "," NAME } ] "}" "," NAME [ ":" KIND ] ")"
//!           | "convert" "(" access "," format ")"
//! ```

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Source, code};
use sparsec_format::parse_spec;

use super::{Command, Name, Schedule};
use crate::notation::Parser;
use crate::workspace::parse_kind;

const COMMANDS: [&str; 3] = ["reorder", "precompute", "convert"];

/// Commands of the language that this version does not have.
const LATER: [&str; 12] = [
    "pos",
    "fuse",
    "split",
    "divide",
    "mergeby",
    "bound",
    "unroll",
    "parallelize",
    "assemble",
    "loopfuse",
    "fission",
    "store",
];

impl Schedule {
    /// Reads a schedule.
    ///
    /// # Errors
    /// `E0101` to `E0103` for text that is not of the language, `E0311` for a
    /// command that there is not, or not in this version; those of formats.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_index::Schedule;
    /// let text = "reorder(i,k,j) ; precompute(A(i,k)*B(k,j), {j}, w)";
    /// let schedule = Schedule::parse(&Source::new("schedule", text))?;
    /// assert_eq!(
    ///     schedule.to_string(),
    ///     "reorder(i, k, j)\nprecompute(A(i,k) * B(k,j), {j}, w)",
    /// );
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser::inside(source)?;
        let mut commands = Vec::new();
        loop {
            while parser.tokens.eat(";") {}
            if parser.tokens.at_end() {
                return Ok(Self(commands));
            }
            commands.push(command(&mut parser)?);
        }
    }
}

fn command(parser: &mut Parser) -> Result<Command> {
    parser.start_statement();
    let (name, span) = parser.tokens.name("a command")?;
    if !COMMANDS.contains(&name.as_str()) {
        let source = parser.tokens.source();
        if LATER.contains(&name.as_str()) {
            let message = format!("the command `{name}` is not in this version");
            return Err(Diagnostic::new(code::ILLEGAL_COMMAND, message)
                .at(source, span, "not in this version")
                .help(format!("these are: `{}`", COMMANDS.join("`, `"))));
        }
        let message = format!("unknown command `{name}`");
        let error = Diagnostic::new(code::ILLEGAL_COMMAND, message);
        let error = error.at(source, span, "no command has this name");
        return Err(match closest(&name, COMMANDS) {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error.help(format!("these are: `{}`", COMMANDS.join("`, `"))),
        });
    }
    parser.tokens.expect("(")?;
    let command = match name.as_str() {
        "reorder" => Command::Reorder {
            vars: names(parser, "a loop", ")")?,
        },
        "precompute" => precompute(parser)?,
        _ => convert(parser)?,
    };
    parser.tokens.expect(")")?;
    Ok(command)
}

fn precompute(parser: &mut Parser) -> Result<Command> {
    let expr = parser.expr()?;
    parser.tokens.expect(",")?;
    parser.tokens.expect("{")?;
    let vars = names(parser, "an index variable", "}")?;
    parser.tokens.expect("}")?;
    parser.tokens.expect(",")?;
    Ok(Command::Precompute {
        expr,
        vars,
        workspace: name(parser, "a workspace")?,
        kind: parse_kind(parser)?,
    })
}

fn convert(parser: &mut Parser) -> Result<Command> {
    let tensor = name(parser, "a tensor")?;
    let mut indices = None;
    if parser.tokens.eat("(") {
        indices = Some(names(parser, "an index variable", ")")?);
        parser.tokens.expect(")")?;
    }
    parser.tokens.expect(",")?;
    Ok(Command::Convert {
        tensor,
        indices,
        format: parse_spec(&mut parser.tokens)?,
    })
}

fn name(parser: &mut Parser, what: &str) -> Result<Name> {
    Ok(Name {
        word: parser.word(what)?,
        source: parser.tokens.source().clone(),
    })
}

/// Names up to `close`, which is not taken.
fn names(parser: &mut Parser, what: &str, close: &str) -> Result<Vec<Name>> {
    let mut found = Vec::new();
    while !parser.tokens.at(close) {
        found.push(name(parser, what)?);
        if !parser.tokens.eat(",") {
            break;
        }
    }
    Ok(found)
}
