//! Schedules of programs: which statement a command is for.
//!
//! ```text
//! C:                                           the commands for the statement of `C`
//!   reorder(i, k, j)
//!   precompute(A(i,k) * B(k,j), {j}, w)
//!
//! y: split(i, i0, i1, 32)                      those for the statement of `y`
//! ```
//!
//! A statement goes by the name of its result; of a name that is assigned again
//! each value has one (`A_0`, `A_1`, …, as `--emit index` prints them). Commands before
//! the first name are for the one statement that has what they name. Where several
//! have it, nobody guesses: that is an error, and the way out is to say the name.
//!
//! Statements that walk the same operands may be computed by the same loops: those of one
//! follow those of the other, until `loopfuse` makes one loop of two.
//!
//! ```text
//! r, c:                                        r(i) = A(i,j) * x(j)
//!   reorder(i1, j1)                            c(j) = A(i,j) * y(i)
//!   loopfuse(i)
//! ```
//!
//! Variables of later statements get names that earlier ones do not have: `i1` and `j1` here.
//!
//! Planning splits statements that no loops compute at once. A name that no
//! statement has yet says so, before the name of the statement that is split:
//!
//! ```text
//! t1: reorder(j, i)                            y(i) = sum{j}(A(i,j) * x(j)) + z(i)
//! y:                                           is t1(i) = …; y(i) = t1(i) + z(i)
//! ```
//!
//! A name without commands takes its statement as it is: planning orders its loops, and makes none of
//! them parallel or unrolled.
//! So the commands of every plan, printed, are a schedule that gives this plan.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Source, Span, code};
use sparsec_index::{Concrete, Program, TensorVar, UserFunction, concretize};
use sparsec_notation::{Parser, Word};

use super::parse::{name, next_command};
use super::{Command, Name, Schedule};

/// Commands for the statements of a program.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_schedule::ProgramSchedule;
/// let text = "C: reorder(i,k,j); unroll(j, 4)  y: split(i, i0, i1, 32)";
/// let schedule = ProgramSchedule::parse(&Source::new("schedule", text))?;
/// assert_eq!(
///     schedule.to_string(),
///     "C:\n  reorder(i, k, j)\n  unroll(j, 4)\n\ny:\n  split(i, i0, i1, 32)",
/// );
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProgramSchedule {
    /// Commands that no name comes before, each with its place.
    unnamed: Vec<(Command, Place)>,
    /// The others, in the order of the text.
    sections: Vec<Section>,
    /// The places of the commands of the sections, in their order.
    places: Vec<Place>,
}

/// The place of a command in the text of its schedule.
#[derive(Clone, Debug)]
pub struct Place {
    /// The text.
    pub source: Source,
    /// The command in it.
    pub span: Span,
}

/// Commands for one statement, or for several that the same loops compute.
#[derive(Clone, Debug)]
pub struct Section {
    /// The name of its result; of several statements that of the first.
    pub statement: Name,
    /// The results of the others.
    pub beside: Vec<Name>,
    /// The commands.
    pub commands: Schedule,
}

/// What a schedule says of one statement of a program.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// The commands for it.
    pub commands: Schedule,
    /// Whether a section has its name: then it has these commands alone, even if there are none.
    pub is_named: bool,
    /// Statements to split off it, in the order in which they are to come.
    pub parts: Vec<Section>,
}

impl ProgramSchedule {
    /// Reads a schedule of a program.
    ///
    /// # Errors
    /// As of [`Schedule::parse`].
    pub fn parse(source: &Source) -> Result<Self> {
        Self::parse_with(source, &[])
    }

    /// As [`parse`](Self::parse); expressions may call `functions` beside those
    /// that the text defines before its commands.
    ///
    /// # Errors
    /// As of [`Schedule::parse`].
    pub fn parse_with(source: &Source, functions: &[UserFunction]) -> Result<Self> {
        let mut parser = Parser::inside(source)?.knowing(functions);
        parser.definitions()?;
        let mut schedule = Self::default();
        loop {
            while parser.tokens.eat(";") {}
            let mut n = 1;
            while parser.tokens.at_nth(n, ",") {
                n += 2;
            }
            if parser.tokens.at_nth(n, ":") {
                let result = |parser: &mut Parser| {
                    name(parser, "the result of a statement").map_err(|error| {
                        error.or_help(
                            "commands for one statement follow its result: `y: unroll(i, 4)`",
                        )
                    })
                };
                let statement = result(&mut parser)?;
                let mut beside = Vec::new();
                while parser.tokens.eat(",") {
                    beside.push(result(&mut parser)?);
                }
                parser.tokens.expect(":")?;
                schedule.sections.push(Section {
                    statement,
                    beside,
                    commands: Schedule::default(),
                });
                continue;
            }
            let Some((command, span)) = next_command(&mut parser)? else {
                return Ok(schedule);
            };
            let source = source.clone();
            let place = Place { source, span };
            match schedule.sections.last_mut() {
                Some(section) => {
                    section.commands.0.push(command);
                    schedule.places.push(place);
                }
                None => schedule.unnamed.push((command, place)),
            }
        }
    }

    /// The plans of a program, each with the name of its statement, or with the names of those
    /// that its loops compute.
    ///
    /// # Panics
    /// If a plan has no name.
    pub fn of_plans<'a>(plans: impl IntoIterator<Item = (Vec<&'a str>, &'a Schedule)>) -> Self {
        let named = |name: &&str| Name {
            word: Word {
                text: (*name).to_owned(),
                span: Span::new(0, name.len()),
            },
            source: Source::new("schedule", *name),
        };
        let section = |(names, commands): (Vec<&str>, &Schedule)| Section {
            statement: named(&names[0]),
            beside: names[1..].iter().map(named).collect(),
            commands: commands.clone(),
        };
        Self {
            unnamed: Vec::new(),
            sections: plans.into_iter().map(section).collect(),
            places: Vec::new(),
        }
    }

    /// The commands that were read from a text, each with its place, in their order.
    pub fn placed(&self) -> Vec<(&Command, &Place)> {
        let named = self.sections.iter().flat_map(|section| &section.commands.0);
        let unnamed = self.unnamed.iter().map(|(command, place)| (command, place));
        unnamed.chain(named.zip(&self.places)).collect()
    }

    /// The schedule with `commands` in place of command `number` of [`placed`](Self::placed).
    ///
    /// # Panics
    /// If `number` is not below the number of commands.
    #[must_use]
    pub fn replaced(&self, number: usize, commands: &[Command]) -> Self {
        let mut changed = self.clone();
        let place = self.placed()[number].1.clone();
        let new = || commands.iter().cloned();
        if number < changed.unnamed.len() {
            let placed = new().map(|command| (command, place.clone()));
            changed.unnamed.splice(number..=number, placed);
            return changed;
        }
        let mut at = number - changed.unnamed.len();
        changed.places.splice(at..=at, vec![place; commands.len()]);
        for section in &mut changed.sections {
            let in_section = &mut section.commands.0;
            if at < in_section.len() {
                in_section.splice(at..=at, new());
                break;
            }
            at -= in_section.len();
        }
        changed
    }

    /// Whether it has a section for the statement of this result.
    pub fn names(&self, result: &str) -> bool {
        let mut names = self.sections.iter().flat_map(Section::results);
        names.any(|name| name.word.text == result)
    }

    /// The sections for several statements that the same loops compute.
    pub fn together(&self) -> impl Iterator<Item = &Section> {
        let sections = self.sections.iter();
        sections.filter(|section| !section.beside.is_empty())
    }

    /// Deals the commands to the statements of `program`, one answer a statement.
    ///
    /// Commands before the first name are tried on the naive statements, behind
    /// those that were dealt before, so that they may name what these have made.
    ///
    /// # Errors
    /// `E0360` for a command that several statements have the names for, `E0310` for
    /// one that none has, and for the name of a statement that there is not.
    pub fn deal(&self, program: &Program) -> Result<Vec<Said>> {
        let mut said = vec![Said::default(); program.statements.len()];
        match &mut said[..] {
            [only] => {
                let commands = self.unnamed.iter().map(|(command, _)| command.clone());
                only.commands.0.extend(commands);
            }
            _ => self.deal_unnamed(program, &mut said)?,
        }
        let results = program.statements.iter().enumerate();
        let numbers: BTreeMap<TensorVar, usize> = results
            .map(|(number, it)| (it.lhs.tensor, number))
            .collect();
        let mut parts: Vec<Section> = Vec::new();
        for section in &self.sections {
            let name = &section.statement.word.text;
            let result = program.tensors.named(name);
            match result.and_then(|result| numbers.get(&result).copied()) {
                // Each statement is planned before the loops of all are.
                Some(at) if !section.beside.is_empty() => said[at].parts.append(&mut parts),
                Some(at) => {
                    said[at]
                        .commands
                        .0
                        .extend(section.commands.0.iter().cloned());
                    said[at].is_named = true;
                    said[at].parts.append(&mut parts);
                }
                None => parts.push(section.clone()),
            }
        }
        match parts.first() {
            None => Ok(said),
            Some(part) => Err(part.unknown(program)),
        }
    }

    fn deal_unnamed(&self, program: &Program, said: &mut [Said]) -> Result<()> {
        let mut tried: Vec<Tried> = (0..said.len())
            .map(|number| Tried {
                concrete: concretize(program, number),
                is_behind: false,
            })
            .collect();
        for (command, place) in &self.unnamed {
            let mut having = Vec::new();
            let mut first_error = None;
            for (number, tried) in tried.iter().enumerate() {
                match command.apply(&tried.concrete) {
                    Err(error) if error.code() == code::UNKNOWN_TENSOR_IN_SCHEDULE => {
                        _ = first_error.get_or_insert(error);
                    }
                    applied => having.push((number, applied.ok())),
                }
            }
            if having.is_empty() {
                // Of what an earlier command would have made, had loops been planned.
                let behind = (0..tried.len()).filter(|number| tried[*number].is_behind);
                having.extend(behind.map(|number| (number, None)));
            }
            match (having.pop(), &having[..], first_error) {
                (Some((number, applied)), [], _) => {
                    said[number].commands.0.push(command.clone());
                    match applied {
                        Some(concrete) => tried[number].concrete = concrete,
                        None => tried[number].is_behind = true,
                    }
                }
                (Some((last, _)), others, _) => {
                    let numbers = others.iter().map(|(number, _)| *number).chain([last]);
                    return Err(ambiguous(
                        program,
                        command,
                        place,
                        &numbers.collect::<Vec<_>>(),
                    ));
                }
                (None, _, Some(error)) => {
                    return Err(error.note("no other statement of the program has it either"));
                }
                (None, _, None) => unreachable!("a program has statements, and each had an answer"),
            }
        }
        Ok(())
    }
}

/// A statement with the commands that were dealt to it.
struct Tried {
    concrete: Concrete,
    /// Whether one of them needs what planning adds, and was not applied.
    is_behind: bool,
}

impl Section {
    /// The results of its statements.
    pub fn results(&self) -> impl Iterator<Item = &Name> {
        [&self.statement].into_iter().chain(&self.beside)
    }

    /// There is no statement of this name.
    pub fn unknown(&self, program: &Program) -> Diagnostic {
        self.statement.unknown_result(program)
    }
}

impl Name {
    /// There is no statement whose result has this name.
    pub fn unknown_result(&self, program: &Program) -> Diagnostic {
        let Self { word, source } = self;
        let names = || {
            let results = program.statements.iter().map(|it| it.lhs.tensor);
            results.map(|result| program.tensors[result].name.as_str())
        };
        let message = format!("no statement computes `{}`", word.text);
        let error = Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, message);
        let error = error.at(source, word.span, "commands for it");
        match closest(&word.text, names()) {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => {
                let names: Vec<&str> = names().collect();
                error.help(format!("these are computed: `{}`", names.join("`, `")))
            }
        }
    }
}

/// Several statements have what a command names.
fn ambiguous(program: &Program, command: &Command, place: &Place, numbers: &[usize]) -> Diagnostic {
    let message = format!("`{command}` may be for {} statements", numbers.len());
    let mut error = Diagnostic::new(code::AMBIGUOUS_COMMAND, message);
    error = error.at(&place.source, place.span, "for which of them?");
    for number in numbers {
        let statement = &program.statements[*number];
        error = error.also(
            &program.source,
            statement.span,
            "this one has what it names",
        );
    }
    let first = &program.tensors[program.statements[numbers[0]].lhs.tensor].name;
    error.help(format!("say for which: `{first}: {command}`"))
}

/// One command a line below the name of its statement, a blank line between
/// statements, behind the functions of the user that they call.
impl fmt::Display for ProgramSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unnamed = self.unnamed.iter().map(|(command, _)| command);
        let named = self.sections.iter().flat_map(|section| &section.commands.0);
        let mut functions = Vec::new();
        for command in unnamed.clone().chain(named) {
            command.for_each_function(&mut |function| functions.push(function.clone()));
        }
        f.write_str(&UserFunction::definitions(&functions))?;
        let mut lines: Vec<String> = unnamed.map(ToString::to_string).collect();
        for section in &self.sections {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let names: Vec<String> = section.results().map(ToString::to_string).collect();
            lines.push(format!("{}:", names.join(", ")));
            let commands = section.commands.0.iter();
            lines.extend(commands.map(|command| format!("  {command}")));
        }
        f.write_str(&lines.join("\n"))
    }
}
