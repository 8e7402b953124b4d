//! Transformations: another computation with the same live-out data.
//!
//! A transformation changes schedules and iteration spaces, never what happens
//! at a point. Points keep their variables, a strip-mined statement has one more
//! that the others determine, so that the times before and after speak of the
//! same points and one check, of [`order`](crate::order), is enough for all
//! of them:
//!
//! ```text
//! s1 at [i, 1, p]   ── interchange(s1, 0, 2) ──►   s1 at [p, 1, i]
//! s1 at [0, i]      ── strip_mine(s1, 1, 32) ──►   s1 at [0, i0, i]  over { … && 32 * i0 <= i < 32 * i0 + 32}
//! s1 at [0, i]      ── unroll(s1, 1, 2) ──►        s1_0 at [0, i0, 0]  over { … && i = 2 * i0}
//!                                                  s1_1 at [0, i0, 1]  over { … && i = 2 * i0 + 1}
//! s0 at [0, i]      ── fuse(s0, s1, 2) ──►         s0 at [0, i]
//! s1 at [1, i, p]                                  s1 at [0, i, 1, p]
//! ```
//!
//! | module       | what it does                                                         |
//! |--------------|----------------------------------------------------------------------|
//! | here         | schedules                                                            |
//! | [`reschedule`] | any relation from old times to new ones                          |
//! | [`remove`]   | statements whose values nobody reads, or that others compute as well |
//! | [`shrink`]   | temporary data that do not need all their modes                      |
//! | [`substitute`] | temporary data whose values are known where they are read        |
//! | [`copies`]   | copies of arrays, each in a loop of its own                          |
//! | [`given_away`] | results that are given arrays                                      |
//! | [`growing`]  | assignments in place of maxima of values that never fall             |
//! | [`listed`]   | dense ranks along a list that is in the order of ranks               |
//! | [`recompute`] | numbers of points that are found again in each sweep                |
//! | [`spaces`]   | constraints that follow from others                                  |
//! | [`tables`]   | dense ranks from tables of the keys that there are                   |
//! | [`optimise`] | the script that the automatic pipeline finds                         |

use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Expression, Set, Variable, fresh_name,
};

use crate::computation::{Computation, Statement, StatementId};
use crate::order::Time;
use crate::script::Command;

pub mod copies;
mod gather;
pub mod given_away;
pub mod growing;
pub mod listed;
pub mod optimise;
pub mod recompute;
pub mod remove;
pub mod reschedule;
pub mod shrink;
pub mod spaces;
pub mod substitute;
pub mod tables;

impl Computation {
    /// The computation after a transformation, which is proved to keep what is
    /// live out.
    ///
    /// # Errors
    /// `E0807` where a dependence is not proved to be kept, `E0809` where the
    /// transformation does not apply, `E0801` for unknown statements.
    ///
    /// ```
    /// use sparsec_computation::{Command, Computation};
    /// let nest: Computation = "computation nest {
    ///   parameters N
    ///   out y : f64[N, N]
    ///   s0: y(i, j) = 1 over {[i, j] : 0 <= i < N && 0 <= j < N}
    /// }".parse()?;
    /// let turned = nest.transformed(&Command::Interchange(vec!["s0".to_owned()], 1, 2))?;
    /// assert!(turned.to_string().contains("at [0, j, i]"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn transformed(&self, command: &Command) -> Result<Self> {
        let new = match command {
            Command::Remove(name) => self.without(self.named(name)?)?,
            Command::Shrink(space, mode) => self.shrunk(space, *mode)?,
            Command::Substitute(space) => self.substituted(space)?,
            Command::Interchange(which, a, b) => self.rescheduled(which, |mut s| {
                pad(&mut s, *a.max(b));
                s.schedule.swap(*a, *b);
                vec![s]
            })?,
            Command::Skew(which, a, b, _) if a == b => {
                let message = format!("element {a} cannot be skewed by itself");
                return Err(self
                    .does_not_apply(which, message)
                    .help("name two elements"));
            }
            Command::Skew(which, a, b, factor) => self.rescheduled(which, |mut s| {
                pad(&mut s, *a.max(b));
                let by = scaled(*factor, s.schedule[*b].clone());
                s.schedule[*a] = plus(s.schedule[*a].clone(), by);
                vec![s]
            })?,
            Command::Shift(which, a, by) => self.rescheduled(which, |mut s| {
                pad(&mut s, *a);
                s.schedule[*a] = plus(s.schedule[*a].clone(), Expression::Integer(*by));
                vec![s]
            })?,
            Command::StripMine(which, _, n) | Command::Unroll(which, _, n)
                if *n < 1 || *n > MOST_COPIES && matches!(command, Command::Unroll(..)) =>
            {
                let message = format!("{n} steps are not between 1 and what can be written out");
                return Err(self.does_not_apply(which, message).help(format!(
                    "take 1 or more; unroll at most {MOST_COPIES} times"
                )));
            }
            Command::StripMine(which, a, n) => {
                self.rescheduled(which, |s| vec![self.strip_mined(s, *a, *n)])?
            }
            Command::Unroll(which, a, n) => {
                self.check_without_windows(which)?;
                // Copies run in the order of one statement whose points have the number
                // of their copy as a time, so the proof does not grow with the copies.
                self.rescheduled(which, |s| vec![self.stepped(s, *a, *n)])?;
                self.changed(which, |s| self.unrolled(&s, *a, *n))?.0
            }
            Command::Reschedule(which, map) => self.mapped(which, map)?,
            Command::Fuse(first, second, depth) => self.fused(first, second, *depth)?,
        };
        new.checked()
    }

    /// The statement of a name.
    fn named(&self, name: &str) -> Result<StatementId> {
        self.find(name).ok_or_else(|| {
            let names = self.statements.iter().map(|s| s.name.as_str());
            let message = format!("there is no statement `{name}`");
            Diagnostic::new(code::COMPUTATION_UNKNOWN, message).help(match closest(name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "name one of the statements".to_owned(),
            })
        })
    }

    /// The computation with statements changed, if that keeps the order of
    /// points that conflict.
    fn rescheduled(
        &self,
        which: &[String],
        change: impl Fn(Statement) -> Vec<Statement>,
    ) -> Result<Self> {
        let (new, before) = self.changed(which, change)?;
        new.check_order(&before)?;
        Ok(new)
    }

    /// The computation with statements changed, and the times of its points before.
    fn changed(
        &self,
        which: &[String],
        change: impl Fn(Statement) -> Vec<Statement>,
    ) -> Result<(Self, Vec<Time>)> {
        let mut chosen = BTreeSet::new();
        for name in which {
            chosen.insert(self.named(name)?);
        }
        let times = self.times();
        let mut before: Vec<Time> = Vec::new();
        let mut new = self.clone();
        new.statements.clear();
        for id in self.ids() {
            let statement = self.statement(id).clone();
            let changed = match chosen.contains(&id) {
                true => change(statement),
                false => vec![statement],
            };
            before.extend(changed.iter().map(|_| times[id.index()].clone()));
            new.statements.extend(changed);
        }
        if new.statements.len() > MOST_STATEMENTS {
            let n = new.statements.len();
            let message = format!("{n} statements are more than {MOST_STATEMENTS}");
            return Err(self.does_not_apply(which, message).help("unroll less"));
        }
        Ok((new, before))
    }

    /// Refuses to make several statements of one that counts its own points.
    fn check_without_windows(&self, which: &[String]) -> Result<()> {
        for name in which {
            let value = &self.statement(self.named(name)?).value;
            if let [(window, _), ..] = value.windows()[..] {
                let word = window.word();
                let message = format!("`{word}` counts the points of `{name}`, which stays one");
                return Err(self
                    .does_not_apply(std::slice::from_ref(name), message)
                    .help(format!("compute `{word}` in a statement of its own")));
            }
        }
        Ok(())
    }

    fn strip_mined(&self, statement: Statement, at: usize, n: i64) -> Statement {
        let (mut statement, strip) = self.with_strip(statement, at, n);
        statement.schedule.insert(at, strip);
        statement
    }

    /// The statement with strips as times, and in each strip the number of the step.
    fn stepped(&self, statement: Statement, at: usize, n: i64) -> Statement {
        let (mut statement, strip) = self.with_strip(statement, at, n);
        let begin = Box::new(scaled(n, strip.clone()));
        let e = std::mem::replace(&mut statement.schedule[at], strip);
        let step = Expression::Subtract(Box::new(e), begin);
        statement.schedule.insert(at + 1, step);
        statement
    }

    /// The statement with a variable for the strip of `n` in which a time is.
    fn with_strip(&self, statement: Statement, at: usize, n: i64) -> (Statement, Expression) {
        let mut statement = statement;
        pad(&mut statement, at);
        let e = statement.schedule[at].clone();
        self.with_variable(&statement, &e, |strip| Constraint {
            first: scaled(n, strip.clone()),
            rest: vec![
                (Comparison::LessEqual, e.clone()),
                (
                    Comparison::Less,
                    plus(scaled(n, strip), Expression::Integer(n)),
                ),
            ],
        })
    }

    fn unrolled(&self, statement: &Statement, at: usize, n: i64) -> Vec<Statement> {
        let mut padded = statement.clone();
        pad(&mut padded, at);
        let e = padded.schedule[at].clone();
        let copy = |c: i64| {
            let (mut copy, step) = self.with_variable(&padded, &e, |step| {
                e.clone()
                    .equals(plus(scaled(n, step), Expression::Integer(c)))
            });
            copy.name = self.fresh(&format!("{}_{c}", statement.name));
            copy.schedule[at] = step;
            copy.schedule.insert(at + 1, Expression::Integer(c));
            copy
        };
        (0..n).map(copy).collect()
    }

    /// The statement with one more variable, named after that of `e`, which a
    /// constraint gives its value.
    fn with_variable(
        &self,
        statement: &Statement,
        e: &Expression,
        constraint: impl Fn(Expression) -> Constraint,
    ) -> (Statement, Expression) {
        let named_after = match e {
            Expression::Variable(v) => format!("{}0", statement.names().name(*v)),
            _ => "t0".to_owned(),
        };
        let name = self.fresh(&named_after);
        let variable = Expression::Variable(Variable::from_index(statement.variables().len()));
        let parts = statement.space.parts().iter().map(|part| {
            let names = part.inputs().map(|v| part.name(v).to_owned());
            let mut wider = Conjunction::new(names.chain([name.clone()]), []);
            let inputs = wider.inputs().take(part.inputs().len());
            wider.conjoin_at(part, inputs);
            wider.add(constraint(variable.clone()));
            wider
        });
        let space = Set::new(parts.collect()).expect("a fresh name has one role");
        let statement = Statement {
            space,
            ..statement.clone()
        };
        (statement, variable)
    }

    /// A name like this one that nothing in the computation has.
    pub(crate) fn fresh(&self, name: &str) -> String {
        let mut taken = self.data_names();
        for statement in &self.statements {
            taken.insert(&statement.name);
            for part in statement.space.parts() {
                taken.extend(part.inputs().chain(part.exists()).map(|v| part.name(v)));
            }
        }
        fresh_name(name, |name| taken.contains(name))
    }

    /// A name that no data have, and no parameter.
    pub(crate) fn fresh_data(&self, name: &str) -> String {
        let taken = self.data_names();
        fresh_name(name, |name| taken.contains(name))
    }

    fn data_names(&self) -> BTreeSet<&str> {
        let mut taken: BTreeSet<&str> = self.parameters.iter().map(String::as_str).collect();
        taken.extend(self.spaces.iter().map(|space| space.name.as_str()));
        taken.extend(self.declarations.orders());
        taken
    }

    /// The second statement in the loops around the first.
    fn fused(&self, first: &str, second: &str, depth: usize) -> Result<Self> {
        let (s, t) = (self.named(first)?, self.named(second)?);
        let both = [first.to_owned(), second.to_owned()];
        if s == t {
            let message = format!("`{first}` is in its own loops already");
            return Err(self
                .does_not_apply(&both, message)
                .help("name two statements"));
        }
        let element = |id: StatementId, k: usize| {
            let schedule = &self.statement(id).schedule;
            schedule.get(k).cloned().unwrap_or(Expression::Integer(0))
        };
        let is_number = |e: &Expression| matches!(e, Expression::Integer(_));
        for k in 0..depth {
            let (a, b) = (element(s, k), element(t, k));
            if is_number(&a) != is_number(&b) {
                let which = if is_number(&a) { first } else { second };
                let message = format!("only `{which}` has a number for element {k}");
                return Err(self
                    .does_not_apply(&both, message)
                    .help("fuse less deeply, or interchange first, so that loops meet loops"));
            }
        }
        // All that is in these loops already, the first statement included.
        let shares = |id: &StatementId| {
            *id != t
                && (0..depth).all(|k| match (element(s, k), element(*id, k)) {
                    (Expression::Integer(a), Expression::Integer(b)) => a == b,
                    (a, b) => !is_number(&a) && !is_number(&b),
                })
        };
        let inside: Vec<StatementId> = self.ids().filter(shares).collect();
        let last = inside.iter().map(|id| match element(*id, depth) {
            Expression::Integer(at) => Some(at),
            _ => None,
        });
        let last: Option<Vec<i64>> = last.collect();

        let mut new = self.clone();
        let statement = &mut new.statements[t.index()];
        pad(statement, depth);
        for k in 0..depth {
            if let Expression::Integer(at) = element(s, k) {
                statement.schedule[k] = Expression::Integer(at);
            }
        }
        let next = last
            .as_ref()
            .and_then(|last| last.iter().max())
            .map_or(1, |at| at.saturating_add(1));
        match is_number(&statement.schedule[depth]) && last.is_some() {
            true => statement.schedule[depth] = Expression::Integer(next),
            false => statement.schedule.insert(depth, Expression::Integer(next)),
        }
        if last.is_none() {
            for id in inside {
                let statement = &mut new.statements[id.index()];
                pad(statement, depth);
                statement.schedule.insert(depth, Expression::Integer(0));
            }
        }
        new.check_order(&self.times())?;
        Ok(new)
    }

    /// That a transformation of these statements cannot be made.
    fn does_not_apply(&self, which: &[String], message: String) -> Diagnostic {
        let found = Diagnostic::new(code::TRANSFORMATION, message);
        match which.first().and_then(|name| self.find(name)) {
            Some(id) => {
                let (source, place) = self.place_of(id);
                found.at(&source, place, "this statement")
            }
            None => found,
        }
    }
}

/// Statements that unrolling may make of one.
const MOST_COPIES: i64 = 64;

/// Statements that a computation may come to have; proofs are about pairs.
const MOST_STATEMENTS: usize = 128;

/// Gives a schedule an element at this place.
fn pad(statement: &mut Statement, at: usize) {
    let length = statement.schedule.len().max(at + 1);
    statement.schedule.resize(length, Expression::Integer(0));
}

fn plus(a: Expression, b: Expression) -> Expression {
    match (a, b) {
        (a, Expression::Integer(0)) => a,
        (Expression::Integer(0), b) => b,
        (Expression::Integer(a), Expression::Integer(b)) if a.checked_add(b).is_some() => {
            Expression::Integer(a + b)
        }
        (a, b) => Expression::Add(Box::new(a), Box::new(b)),
    }
}

fn scaled(factor: i64, e: Expression) -> Expression {
    match (factor, e) {
        (0, _) => Expression::Integer(0),
        (1, e) => e,
        (factor, Expression::Integer(n)) if n.checked_mul(factor).is_some() => {
            Expression::Integer(n * factor)
        }
        (factor, e) => Expression::Multiply(Box::new(Expression::Integer(factor)), Box::new(e)),
    }
}
