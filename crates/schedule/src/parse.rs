//! Reading schedules.
//!
//! ```text
//! program  := { "def" definition } commands { NAME ":" commands }
//! schedule := { "def" definition } commands
//! commands := { command [","] [";"] }                  TACO's command line has commas
//! command  := "reorder" "(" NAME { "," NAME } ")"
//!           | "split" "(" NAME "," NAME "," NAME "," NUMBER ")"
//!           | "divide" "(" NAME "," NAME "," NAME "," NUMBER ")"
//!           | "fuse" "(" NAME "," NAME "," NAME ")"
//!           | "pos" "(" NAME "," NAME "," NAME [ "(" NAME { "," NAME } ")" ] ")"
//!           | "skew" "(" NAME "," NAME "," sum ")"
//!           | "deal" "(" NAME "," curve ")"
//!           | "bound" "(" NAME "," NAME "," NUMBER "," KIND ")"
//!           | "unroll" "(" NAME "," NUMBER ")"
//!           | "parallelize" "(" NAME "," UNIT "," RACES ")"
//!           | "mergeby" "(" NAME "," ( "Gallop" | "TwoFinger" | "Select" ) ")"
//!           | "prefetch" "(" NAME "," NAME "," NUMBER ")"
//!           | "assemble" "(" NAME "," ( "Append" | "Insert" ) [ "," BOOL ] ")"
//!           | "precompute" "(" expr "," names "," NAME [ ":" KIND ] ")"
//!           | "precompute" "(" expr "," names "," names [ "," NAME [ ":" KIND ] ] ")"
//!           | ( "fission" | "loopfuse" ) "(" NAME ")"
//!           | "store" "(" NAME "," KIND [ "," NAME ] ")"
//!           | "convert" "(" access "," format ")"
//!           | ( "levels" | "pieces" ) "(" NAME "," format ")"
//! sum      := [ "-" ] term { ( "+" | "-" ) term }      with two names, that of the loop once
//! term     := [ NUMBER "*" ] NAME | NUMBER
//! curve    := "morton" "(" NAME { "," NAME } ")"
//!           | "alto" "(" NAME "," NUMBER { "," NAME "," NUMBER } ")"
//! names    := NAME | "{" [ NAME { "," NAME } ] "}"
//! ```

use sparsec_base::mark::{Races, Unit};
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Source, Span, code};
use sparsec_format::parse_spec;
use sparsec_index::concrete::{AssembleStrategy, BoundKind, Clause, MergeStrategy};
use sparsec_index::{UserFunction, WorkspaceKind};
use sparsec_notation::Parser;

use super::{Command, Name, Schedule, deal, skew};

/// Each command, and how it is written.
const COMMANDS: [(&str, &str); 20] = [
    ("reorder", "reorder(i, k, j)"),
    ("split", "split(i, i0, i1, 32)"),
    ("divide", "divide(i, i0, i1, 4)"),
    ("fuse", "fuse(i, j, f)"),
    ("skew", "skew(j, d, j - i + 2)"),
    ("deal", "deal(m, morton(i, j))"),
    ("pos", "pos(j, jp, A(i,j))"),
    ("bound", "bound(i, i0, 1024, MaxExact)"),
    ("unroll", "unroll(i, 4)"),
    ("parallelize", "parallelize(i, CPUThread, NoRaces)"),
    ("mergeby", "mergeby(i, Gallop)"),
    ("prefetch", "prefetch(j, B, 4)"),
    ("assemble", "assemble(C, Insert)"),
    ("precompute", "precompute(B(i,k) * C(k,j), {j}, w)"),
    ("fission", "fission(i)"),
    ("loopfuse", "loopfuse(i)"),
    ("store", "store(w, listed, i)"),
    ("convert", "convert(B, csc)"),
    ("levels", "levels(A, bsr(4, 4))"),
    ("pieces", "pieces(A, hyb(8))"),
];

/// The noun for a unit in messages.
const UNIT: &str = "unit";

/// The most often that a loop is unrolled.
const MAX_UNROLL: u32 = 64;

/// The most turns of a loop that something is fetched early.
const MAX_AHEAD: u32 = 1 << 20;

impl Schedule {
    /// Reads a schedule.
    ///
    /// # Errors
    /// `E0101` to `E0103` for text that is not of the language, `E0361` for an
    /// unknown command, `E0337` and `E0346`
    /// for sizes and words that commands do not take; those of formats.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_schedule::Schedule;
    /// let text = "reorder(i,k,j) ; precompute(A(i,k)*B(k,j), {j}, w)";
    /// let schedule = Schedule::parse(&Source::new("schedule", text))?;
    /// assert_eq!(
    ///     schedule.to_string(),
    ///     "reorder(i, k, j)\nprecompute(A(i,k) * B(k,j), {j}, w)",
    /// );
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parse(source: &Source) -> Result<Self> {
        Self::parse_with(source, &[])
    }

    /// As [`parse`](Self::parse); expressions may call `functions` beside those
    /// that the text defines before its commands.
    ///
    /// # Errors
    /// As of [`parse`](Self::parse).
    pub fn parse_with(source: &Source, functions: &[UserFunction]) -> Result<Self> {
        let mut parser = Parser::inside(source)?.knowing(functions);
        parser.definitions()?;
        let mut commands = Vec::new();
        while let Some((command, _)) = next_command(&mut parser)? {
            commands.push(command);
        }
        Ok(Self(commands))
    }
}

/// The next command and its place; `None` where the text ends.
pub(super) fn next_command(parser: &mut Parser) -> Result<Option<(Command, Span)>> {
    while parser.tokens.eat(";") {}
    if parser.tokens.at_end() {
        return Ok(None);
    }
    parser.start_statement();
    let start = parser.tokens.peek().span;
    let command = parse_command(parser)?;
    let span = start.to(parser.tokens.peek_before());
    // TACO's command line has commas between commands.
    parser.tokens.eat(",");
    Ok(Some((command, span)))
}

/// Reads one command; [`Schedule::parse`] has its errors.
pub(super) fn parse_command(parser: &mut Parser) -> Result<Command> {
    let (word, span) = parser.tokens.name("a command").map_err(|error| {
        error.or_help("commands stand one behind the other: `reorder(i, k, j) unroll(j, 4)`")
    })?;
    let names = COMMANDS.map(|(name, _)| name);
    let Some((_, form)) = COMMANDS.iter().find(|(name, _)| *name == word) else {
        let source = parser.tokens.source();
        let message = format!("unknown schedule command `{word}`");
        let error = Diagnostic::new(code::UNKNOWN_COMMAND, message);
        let error = error.at(source, span, "no command has this name");
        return Err(match closest(&word, names) {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error.help(format!("these are: `{}`", names.join("`, `"))),
        });
    };
    behind_word(parser, &word, span)
        .map_err(|error| error.or_help(format!("write it like `{form}`")))
}

/// What stands behind the name of a command, which begins at `span`.
fn behind_word(parser: &mut Parser, word: &str, span: Span) -> Result<Command> {
    parser.tokens.expect("(")?;
    let mut command = match word {
        // Without a loop it would do nothing, in silence.
        "reorder" if parser.tokens.at(")") => return Err(parser.tokens.unexpected("a loop")),
        "reorder" => Command::Reorder {
            vars: names(parser, "a loop", ")")?,
        },
        "precompute" => precompute(parser)?,
        "fission" => Command::Fission {
            var: name(parser, "a loop")?,
        },
        "loopfuse" => Command::LoopFuse {
            var: name(parser, "a loop")?,
        },
        "store" => store(parser)?,
        "convert" => convert(parser)?,
        "levels" => Command::Levels {
            tensor: next_name(parser, "a tensor")?,
            format: parse_spec(&mut parser.tokens)?,
        },
        "pieces" => Command::Pieces {
            tensor: next_name(parser, "a tensor")?,
            format: parse_spec(&mut parser.tokens)?,
        },
        other => Command::Clause {
            clause: clause(parser, other)?,
            span,
        },
    };
    let end = parser.tokens.expect(")")?;
    if let Command::Clause { span, .. } = &mut command {
        *span = span.to(end);
    }
    Ok(command)
}

/// What stands in the parentheses of a command that leaves a clause.
fn clause(parser: &mut Parser, command: &str) -> Result<Clause<Name, Name>> {
    let loop_name = "a loop";
    Ok(match command {
        "split" => {
            let (var, outer, inner) = derived(parser)?;
            let size = parser.tokens.integer("the size of a block")?.0;
            Clause::Split {
                var,
                outer,
                inner,
                size,
            }
        }
        "divide" => {
            let (var, outer, inner) = derived(parser)?;
            let parts = parser.tokens.integer("how many blocks")?.0;
            Clause::Divide {
                var,
                outer,
                inner,
                parts,
            }
        }
        "fuse" => {
            let outer = next_name(parser, loop_name)?;
            let inner = next_name(parser, loop_name)?;
            let fused = name(parser, "a name for the fused loop")?;
            Clause::Fuse {
                outer,
                inner,
                fused,
            }
        }
        "skew" => skew::parse(parser)?,
        "deal" => deal::parse(parser)?,
        "pos" => {
            let var = next_name(parser, loop_name)?;
            let pos = next_name(parser, "a name for the positions")?;
            let tensor = name(parser, "a tensor")?;
            let mut indices = Vec::new();
            if parser.tokens.eat("(") {
                indices = names(parser, "an index variable", ")")?;
                parser.tokens.expect(")")?;
            }
            Clause::Pos {
                var,
                pos,
                tensor,
                indices,
            }
        }
        "bound" => {
            let var = next_name(parser, loop_name)?;
            let bound = next_name(parser, "a name for the loop")?;
            let value = parser.tokens.integer("a bound")?.0;
            parser.tokens.expect(",")?;
            let kind = word(parser, "kind of bound", BoundKind::ALL, BoundKind::name)?;
            Clause::Bound {
                var,
                bound,
                value,
                kind,
            }
        }
        "unroll" => {
            let var = next_name(parser, loop_name)?;
            let factor = count(parser, "how often to unroll", MAX_UNROLL, |most| {
                format!("a loop is unrolled 1 to {most} times")
            })?;
            Clause::Unroll { var, factor }
        }
        "parallelize" => {
            let var = next_name(parser, loop_name)?;
            let unit = word(parser, UNIT, &Unit::ALL, Unit::name)?;
            parser.tokens.expect(",")?;
            let races = word(parser, "strategy", &Races::ALL, Races::name)?;
            Clause::Parallelize { var, unit, races }
        }
        "mergeby" => {
            let var = next_name(parser, loop_name)?;
            let strategy = word(
                parser,
                "way to merge",
                MergeStrategy::ALL,
                MergeStrategy::name,
            )?;
            Clause::MergeBy { var, strategy }
        }
        "prefetch" => {
            let var = next_name(parser, loop_name)?;
            let tensor = next_name(parser, "an operand")?;
            let ahead = count(parser, "how many turns early", MAX_AHEAD, |most| {
                format!("operands are fetched 1 to {most} turns early")
            })?;
            Clause::Prefetch { var, tensor, ahead }
        }
        "assemble" => {
            let tensor = next_name(parser, "a result")?;
            let all = AssembleStrategy::ALL;
            let strategy = word(parser, "way to assemble", all, AssembleStrategy::name)?;
            let separate = match parser.tokens.eat(",") {
                true => Some(word(
                    parser,
                    "choice",
                    &[true, false],
                    |choice| match choice {
                        true => "true",
                        false => "false",
                    },
                )?),
                false => None,
            };
            Clause::Assemble {
                tensor,
                strategy,
                separate,
            }
        }
        _ => unreachable!("every command of the list is read above"),
    })
}

/// A number from 1 to `most`; `refused` says what else is not.
fn count(parser: &mut Parser, what: &str, most: u32, refused: fn(u32) -> String) -> Result<u32> {
    let (number, span) = parser.tokens.integer(what)?;
    let number = u32::try_from(number).ok();
    number
        .filter(|number| (1..=most).contains(number))
        .ok_or_else(|| {
            Diagnostic::new(code::SCHEDULE_SIZE, refused(most))
                .at(parser.tokens.source(), span, "out of that range")
                .help(format!("give a number from 1 to {most}"))
        })
}

/// `NAME "," NAME "," NAME ","`
fn derived(parser: &mut Parser) -> Result<(Name, Name, Name)> {
    let var = next_name(parser, "a loop")?;
    let outer = next_name(parser, "a name for the loop over blocks")?;
    let inner = next_name(parser, "a name for the loop within a block")?;
    Ok((var, outer, inner))
}

/// `NAME ","`
pub(super) fn next_name(parser: &mut Parser, what: &str) -> Result<Name> {
    let name = name(parser, what)?;
    parser.tokens.expect(",")?;
    Ok(name)
}

/// One of the words that `all` have.
fn word<T: Copy>(
    parser: &mut Parser,
    what: &str,
    all: &[T],
    text: impl Fn(T) -> &'static str,
) -> Result<T> {
    let (found, span) = parser.tokens.name(&format!("a {what}"))?;
    let words = || all.iter().map(|case| text(*case));
    if let Some(at) = words().position(|word| word == found) {
        return Ok(all[at]);
    }
    if what == UNIT && found.starts_with("GPU") {
        let message = format!("`{found}`: sparsec makes no kernels for graphics processors");
        return Err(Diagnostic::new(code::SCHEDULE_WORD, message)
            .at(parser.tokens.source(), span, "not a unit of a CPU")
            .help(
                "leave the command out: the planner chooses the loops that run on several threads",
            ));
    }
    let message = format!("there is no {what} `{found}`");
    let error = Diagnostic::new(code::SCHEDULE_WORD, message);
    let error = error.at(parser.tokens.source(), span, "not known");
    Err(match closest(&found, words()) {
        Some(meant) => error.help(format!("did you mean `{meant}`?")),
        None => {
            let known: Vec<&str> = words().collect();
            error.help(format!("these are: `{}`", known.join("`, `")))
        }
    })
}

fn precompute(parser: &mut Parser) -> Result<Command> {
    let expr = parser.expr()?;
    parser.tokens.expect(",")?;
    let is_list = parser.tokens.at("{");
    let vars = name_or_names(parser, "an index variable")?;
    parser.tokens.expect(",")?;
    let own = match is_list && !parser.tokens.at("{") {
        true => None,
        false => Some(name_or_names(parser, "a name for a loop")?),
    };
    let workspace = match own.is_none() || parser.tokens.eat(",") {
        true => Some(name(parser, "a workspace")?),
        false => None,
    };
    Ok(Command::Precompute {
        expr,
        vars,
        own,
        kind: match workspace {
            Some(_) => parse_kind(parser)?,
            None => None,
        },
        workspace,
    })
}

/// `NAME | "{" [ NAME { "," NAME } ] "}"`
fn name_or_names(parser: &mut Parser, what: &str) -> Result<Vec<Name>> {
    if !parser.tokens.eat("{") {
        return Ok(vec![name(parser, what)?]);
    }
    let found = names(parser, what, "}")?;
    parser.tokens.expect("}")?;
    Ok(found)
}

fn store(parser: &mut Parser) -> Result<Command> {
    let workspace = next_name(parser, "a workspace")?;
    let kind = kind_word(parser)?;
    let place = match parser.tokens.eat(",") {
        true => Some(name(parser, "a loop")?),
        false => None,
    };
    Ok(Command::Store {
        workspace,
        kind,
        place,
    })
}

fn convert(parser: &mut Parser) -> Result<Command> {
    let read = parser.tensor("a tensor")?;
    let tensor = Name {
        word: read.name,
        source: parser.tokens.source().clone(),
    };
    let indices = (!read.indices.is_empty()).then_some(read.indices);
    parser.tokens.expect(",")?;
    Ok(Command::Convert {
        tensor,
        indices,
        format: parse_spec(&mut parser.tokens)?,
    })
}

pub(super) fn name(parser: &mut Parser, what: &str) -> Result<Name> {
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

/// `":" KIND`, if it stands here.
pub(super) fn parse_kind(parser: &mut Parser) -> Result<Option<WorkspaceKind>> {
    if !parser.tokens.eat(":") {
        return Ok(None);
    }
    kind_word(parser).map(Some)
}

/// The word for a kind.
fn kind_word(parser: &mut Parser) -> Result<WorkspaceKind> {
    let word = parser.word("a kind of workspace")?;
    if let Some(kind) = WorkspaceKind::parse(&word.text) {
        return Ok(kind);
    }
    let names = WorkspaceKind::ALL.map(WorkspaceKind::name);
    let error = Diagnostic::new(
        code::UNKNOWN_WORKSPACE_KIND,
        format!("unknown kind of workspace `{}`", word.text),
    )
    .at(parser.tokens.source(), word.span, "no kind has this name");
    Err(error.help(match closest(&word.text, names) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("these are: `{}`", names.join("`, `")),
    }))
}
