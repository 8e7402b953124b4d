//! What a user wishes for the statements of a program while these are split.
//!
//! ```text
//! split(i, i0, i1, 4)                      for y(i) = a(i) + b(i) + c(i) + d(i)
//!
//!   t1(i) = a(i) + b(i) + c(i)             is given the command, as it has a loop i
//!   y(i) = t1(i) + d(i)                    is given it too
//!
//! t1: split(i, i0, i1, 4)  y:              asks for the same two statements, and says
//!                                            for which of them the command is
//! ```
//!
//! Commands of a statement that planning has to split go to those parts that have
//! a use for them; each has to be of use to one. Parts that a schedule names are
//! split off before anything is planned, and get what is said of them.

use std::collections::{BTreeSet, VecDeque};

use sparsec_base::{Diagnostic, Result};
use sparsec_index::Program;
use sparsec_schedule::Schedule;
use sparsec_schedule::{Said, Section};

/// The wishes for the statements of a program. Those that planning has come to are as many
/// as the program has at any time.
#[derive(Clone)]
pub(crate) struct Wishes {
    /// The lists of commands; parts of a statement share one.
    lists: Vec<List>,
    statements: Vec<Statement>,
    /// Those of statements that planning has not come to.
    to_come: VecDeque<Statement>,
}

/// Commands for a statement or its parts.
#[derive(Clone)]
struct List {
    commands: Schedule,
    /// Those that some part has had a use for.
    used: BTreeSet<usize>,
    /// Why the statement was split.
    error: Option<Diagnostic>,
}

#[derive(Clone)]
struct Statement {
    /// Its list, if anything is said of it.
    list: Option<usize>,
    /// Whether the list is for this statement alone.
    is_whole: bool,
    /// What is to be split off first, in this order.
    parts: VecDeque<Section>,
}

/// The commands for a statement.
pub(crate) struct Wish<'a> {
    pub(crate) commands: &'a Schedule,
    /// Whether they are all for it; else some may be for other parts.
    pub(crate) is_whole: bool,
}

impl Wishes {
    /// Nothing where nothing is said.
    pub(crate) fn new(program: &Program, said: Option<Vec<Said>>) -> Self {
        let none = || program.statements.iter().map(|_| Said::default()).collect();
        let mut wishes = Self {
            lists: Vec::new(),
            statements: Vec::new(),
            to_come: VecDeque::new(),
        };
        for said in said.unwrap_or_else(none) {
            let is_said = said.is_named || !said.commands.0.is_empty();
            let commands = is_said.then_some(said.commands);
            let statement = wishes.statement(commands, said.parts.into());
            wishes.to_come.push_back(statement);
        }
        wishes
    }

    /// Planning comes to the next statement of the program, which has another at the end
    /// from now on.
    pub(crate) fn begin_next(&mut self) {
        let next = self.to_come.pop_front();
        let next = next.expect("every statement of the program has wishes");
        self.statements.push(next);
    }

    /// A statement with the commands for it, if anything is said of it.
    fn statement(&mut self, commands: Option<Schedule>, parts: VecDeque<Section>) -> Statement {
        let list = commands.is_some().then_some(self.lists.len());
        self.lists.extend(commands.map(|commands| List {
            commands,
            used: BTreeSet::new(),
            error: None,
        }));
        Statement {
            list,
            is_whole: true,
            parts,
        }
    }

    /// The commands for statement `number`; `None` where nothing is said of it.
    pub(crate) fn commands(&self, number: usize) -> Option<Wish<'_>> {
        let Statement { list, is_whole, .. } = &self.statements[number];
        list.map(|list| Wish {
            commands: &self.lists[list].commands,
            is_whole: *is_whole,
        })
    }

    /// What is to be split off statement `number` first.
    pub(crate) fn part(&self, number: usize) -> Option<&Section> {
        self.statements[number].parts.front()
    }

    /// Statement `number` was split as the user said, which has put another before it.
    ///
    /// # Errors
    /// What is said of the part that was to come, if the other has a name of which nothing
    /// is said.
    pub(crate) fn split_as_said(
        &mut self,
        program: &Program,
        number: usize,
    ) -> std::result::Result<(), Section> {
        if program.statements.len() == self.statements.len() {
            // A sum was taken apart, and no statement added yet.
            return Ok(());
        }
        let added = program.statements[number].lhs.tensor;
        let added = program.tensors[added].name.as_str();
        let parts = &mut self.statements[number].parts;
        let at = parts
            .iter()
            .position(|part| part.statement.word.text == added);
        let Some(at) = at else {
            return Err(parts[0].clone());
        };
        let rest = parts.split_off(at + 1);
        let mut parts = std::mem::replace(parts, rest);
        let own = parts.pop_back().expect("the part that was found");
        let statement = self.statement(Some(own.commands), parts);
        self.statements.insert(number, statement);
        Ok(())
    }

    /// Statement `number` was split because it cannot be lowered: commands for it are
    /// for all of its parts.
    pub(crate) fn split(&mut self, program: &Program, number: usize) {
        if program.statements.len() == self.statements.len() {
            return;
        }
        let whole = &mut self.statements[number];
        whole.is_whole = false;
        let part = Statement {
            list: whole.list,
            is_whole: false,
            parts: VecDeque::new(),
        };
        self.statements.insert(number, part);
    }

    /// Statement `number` is planned with some of its commands, or with all.
    pub(crate) fn fulfilled(&mut self, number: usize, used: Option<BTreeSet<usize>>) {
        if let Some(list) = self.statements[number].list {
            let list = &mut self.lists[list];
            list.used
                .extend(used.unwrap_or((0..list.commands.0.len()).collect()));
        }
    }

    /// Statement `number` cannot be lowered with its commands; the first reason why a
    /// part of the written statement could not.
    pub(crate) fn refused(&mut self, number: usize, error: Diagnostic) -> Diagnostic {
        match self.statements[number].list {
            Some(list) => self.lists[list].error.get_or_insert(error).clone(),
            None => error,
        }
    }

    /// Whether every command was of use.
    ///
    /// # Errors
    /// Why the statement was split whose command was not.
    pub(crate) fn all_fulfilled(self) -> Result<()> {
        for List {
            commands,
            used,
            error,
        } in self.lists
        {
            if let Some(error) = error.filter(|_| used.len() < commands.0.len()) {
                return Err(error);
            }
        }
        Ok(())
    }
}
