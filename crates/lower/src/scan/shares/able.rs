//! Which sweeps have shares, by proof.

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_computation::segments::places_at;
use sparsec_computation::{Key, Statement, StatementId, Update, Value, Window};
use sparsec_relation::{Expression, Monotone, Rewrite, Step, Variable};

use super::{Shared, Sweep, Table};
use crate::scan::emit::{Emitter, Point};
use crate::scan::filled::{before_next, counted, sums};
use crate::scan::kept::{is_behind, touches};
use crate::scan::window::Numbering;
use crate::scan::{first_name, for_each_expression};

impl Emitter<'_> {
    /// The counts that say where the numbers of a statement's points begin in each share, if its
    /// sweep has shares.
    pub(in crate::scan) fn counts_of_shares(&self, number: usize, starts: &str) -> Option<Table> {
        let counts = self.arrays.counts.get(starts)?;
        let sweep = self.loops.body.iter().filter_map(Sweep::of);
        let mut sweeps = sweep.filter(|sweep| {
            let visits = sweep.visits();
            visits.iter().any(|(visited, _)| *visited == number)
        });
        let (Some(sweep), None) = (sweeps.next(), sweeps.next()) else {
            return None;
        };
        let shared = self.shared(&sweep)?;
        (shared.numbering.as_deref() == Some(starts)).then_some(counts.table)
    }

    /// How a sweep runs in shares; `None` if its points need one another.
    pub(super) fn shared(&self, sweep: &Sweep<'_>) -> Option<Shared> {
        self.grain?;
        let visits = sweep.visits();
        let mut shared = Shared::default();
        for (at, (number, tuple)) in visits.iter().enumerate() {
            let statement = &self.computation.statements[*number];
            let is_alike = visits[..at].iter().all(|(other, at)| {
                let other_statement = &self.computation.statements[*other];
                other != number && writes_alike((statement, tuple), (other_statement, at))
            });
            if !is_alike || !self.reads_its_own(*number, &visits) {
                return None;
            }
            self.number_in_shares((*number, tuple), sweep, &mut shared)?;
            let target = &statement.target.space;
            if self.locals.contains(target) || self.in_variables.contains(target) {
                // Each point has a variable of its own.
            } else if self.is_one_entry(statement) {
                self.combines(*number, &visits).then_some(())?;
                shared.combining.push(*number);
            } else if self.is_apart((*number, tuple), sweep, &visits) {
            } else if self.counts_in_shares(*number, sweep) {
                shared.counting.push(*number);
            } else {
                let key = self.run_of((*number, tuple), sweep)?;
                if shared.run.as_ref().is_some_and(|run| *run != key) {
                    return None;
                }
                shared.run = Some(key);
            }
        }
        let is_cut_twice =
            shared.numbering.is_some() && (shared.run.is_some() || !shared.counting.is_empty());
        (!is_cut_twice && !visits.is_empty()).then_some(shared)
    }

    /// Whether a statement reads no entry that another point of the sweep writes.
    pub(super) fn reads_its_own(&self, number: usize, visits: &[(usize, &[Expression])]) -> bool {
        let statement = &self.computation.statements[number];
        let is_own = |space: &str, indices: &[Expression]| {
            let mut others = visits
                .iter()
                .map(|(other, _)| &self.computation.statements[*other]);
            let writes = |other: &&Statement| other.target.space == space;
            let mut is_written = others.clone().filter(writes).peekable();
            is_written.peek().is_none()
                || others.any(|other| {
                    writes(&other)
                        && other.target.indices == indices
                        && other.update == Update::Assign
                        && is_behind(statement, other)
                })
        };
        let entries = statement.value.entries();
        let mut reads = entries
            .iter()
            .all(|access| is_own(&access.space, &access.indices));
        for_each_expression(statement, &mut |e| {
            e.visit(&mut |e| match e {
                Expression::Call(name, indices) => reads &= is_own(name, indices),
                Expression::Constant(name) => reads &= is_own(name, &[]),
                _ => {}
            });
        });
        reads
    }

    /// Whether all points of a statement write one entry.
    fn is_one_entry(&self, statement: &Statement) -> bool {
        let mut is_one = true;
        for index in &statement.target.indices {
            index.visit(&mut |e| {
                is_one &= !matches!(e, Expression::Variable(_) | Expression::Call(..));
            });
        }
        is_one
    }

    /// Whether shares can combine the values that a statement writes to one entry: integers that
    /// the sweep does not read.
    fn combines(&self, number: usize, visits: &[(usize, &[Expression])]) -> bool {
        let statement = &self.computation.statements[number];
        let target = &statement.target;
        let reads = |(other, _): &(usize, &[Expression])| {
            let other = &self.computation.statements[*other];
            let mut others = other.value.entries().into_iter();
            let mut is_followed = others.any(|access| access.space == target.space);
            for_each_expression(other, &mut |e| {
                is_followed |= first_name(e, &|name| name == target.space).is_some();
            });
            is_followed
        };
        self.element(target) == ElementType::I64 && !visits.iter().any(reads)
    }

    /// Notes how the points of a statement are numbered; `None` if not in shares.
    pub(super) fn number_in_shares(
        &self,
        (number, tuple): (usize, &[Expression]),
        sweep: &Sweep<'_>,
        shared: &mut Shared,
    ) -> Option<()> {
        let statement = &self.computation.statements[number];
        for (place, (window, keys)) in statement.value.windows().into_iter().enumerate() {
            match (window, keys) {
                (Window::DenseRank, []) => {}
                (Window::Ordinal, [key]) if !self.is_at_place(number, place) => {
                    let starts = self.starts(statement, key)?;
                    let counts = self.arrays.counts.get(&starts)?;
                    let is_other = shared.numbering.as_ref().is_some_and(|it| *it != starts);
                    let is_same = self.is_counted(number)
                        && Some(&counts.shape) == sweep.shape(tuple).as_ref();
                    if is_other || !is_same {
                        return None;
                    }
                    shared.numbering = Some(starts);
                }
                _ if self.is_at_place(number, place) => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// Whether the number of a point follows from its place alone.
    fn is_at_place(&self, number: usize, place: usize) -> bool {
        let listed = || {
            let id = StatementId::from_index(number);
            let place = self.place(number);
            place.is_some_and(|(at, _)| self.computation.grows(id, &Expression::Variable(at)))
        };
        match self.windows.get(&(number, place)) {
            Some(Numbering::InPlace(_) | Numbering::InLoop(_)) => true,
            Some(Numbering::Listed(..)) => listed(),
            _ => false,
        }
    }

    /// Whether points at different values of the outermost variable write different entries.
    pub(super) fn is_apart(
        &self,
        (number, tuple): (usize, &[Expression]),
        sweep: &Sweep<'_>,
        visits: &[(usize, &[Expression])],
    ) -> bool {
        let statement = &self.computation.statements[number];
        let is_place = |e: &Expression| match e {
            Expression::Variable(at) => places_at(statement, *at, self.known).is_some(),
            _ => false,
        };
        let is_number = |e: &Expression| {
            let Expression::Call(name, arguments) = e else {
                return false;
            };
            let mut others = visits
                .iter()
                .map(|(other, _)| (*other, &self.computation.statements[*other]));
            let is_numbered = others.any(|(other, it)| {
                it.target.space == *name
                    && it.target.indices == *arguments
                    && self.is_counted(other)
            });
            let function = self.known.function(name);
            let is_injective = function.is_some_and(|function| {
                function.injective
                    || matches!(
                        function.monotone,
                        Some(Monotone::Increasing | Monotone::Decreasing)
                    )
            });
            matches!(&arguments[..], [at] if is_place(at)) && (is_numbered || is_injective)
        };
        let at = Expression::Variable(sweep.variable);
        let is_outermost = |e: &Expression| {
            let e = e.rewritten(&Point(tuple));
            e == at
                || matches!(&e, Expression::Add(a, b) if **a == at && matches!(**b, Expression::Integer(_)))
        };
        // Values from 0 to n, beside multiples of n.
        let is_remainder = |e: &Expression| {
            let Expression::Add(many, one) = e.rewritten(&Point(tuple)) else {
                return false;
            };
            let (zero, n) = (Expression::Integer(0), &sweep.upper);
            let is_multiple = match &*many {
                Expression::Multiply(a, b) => n
                    .iter()
                    .any(|n| n[..] == [(**a).clone()] || n[..] == [(**b).clone()]),
                _ => false,
            };
            let is_whole = sweep.lower == [[zero]] && n.len() == 1;
            *one == at && is_multiple && is_whole
        };
        let mut indices = statement.target.indices.iter();
        indices.any(|e| is_outermost(e) || is_place(e) || is_number(e) || is_remainder(e))
            || sweep.shape(tuple).is_some_and(|shape| {
                let id = StatementId::from_index(number);
                self.computation.writes_apart(id, shape.element)
            })
    }

    /// Whether a statement numbers points of each key from the starts that counts of the same points
    /// give, so no two of them have one number.
    fn is_counted(&self, number: usize) -> bool {
        let statement = &self.computation.statements[number];
        counted((self.whole, self.computation), statement, self.known).is_some()
    }

    /// Whether a statement counts points of keys that a loop of its own adds up, and nothing else
    /// of the stage reads.
    fn counts_in_shares(&self, number: usize, sweep: &Sweep<'_>) -> bool {
        let statement = &self.computation.statements[number];
        let name = &statement.target.space;
        let Some(sums) = sums(self.whole, name).filter(|_| self.totals.contains_key(name)) else {
            return false;
        };
        let buffer = self.arrays.spaces[name];
        let is_loaded = self.builder.function().buffers[buffer].compute == ElementType::I64;
        let mut statements = self.computation.statements.iter().enumerate();
        let is_alone = statements
            .all(|(other, it)| other == number || !touches(it, name) || self.is_sum(other, name));
        let mut sweeps = self.loops.body.iter().filter_map(Sweep::of);
        let is_added_up = sweeps.any(|other| match other.visits()[..] {
            [(sum, _)] => self.is_sum(sum, name),
            _ => false,
        });
        let visits = sweep.visits();
        let visit = visits.iter().find(|(visited, _)| *visited == number);
        let has_shape = visit.is_some_and(|(_, tuple)| sweep.shape(tuple).is_some());
        sums.count.name == statement.name && is_loaded && is_alone && is_added_up && has_shape
    }

    /// Whether a statement adds up the counts of data.
    pub(super) fn is_sum(&self, number: usize, name: &str) -> bool {
        let statement = &self.computation.statements[number];
        statement.target.space == name && matches!(statement.value, Value::Entry(_))
    }

    /// The key of a statement that writes at its key, if keys ascend.
    fn run_of(
        &self,
        (number, tuple): (usize, &[Expression]),
        sweep: &Sweep<'_>,
    ) -> Option<Expression> {
        let statement = &self.computation.statements[number];
        let [index] = &statement.target.indices[..] else {
            return None;
        };
        let value = before_next(std::slice::from_ref(index)).unwrap_or(index);
        let key = Key {
            value: value.clone(),
            extent: Expression::Integer(0),
        };
        let is_flat = sweep
            .body
            .iter()
            .all(|step| matches!(step, Step::Let { .. } | Step::Visit { .. }));
        let key_at = self.in_terms_of(&value.rewritten(&Point(tuple)), sweep)?;
        (is_flat && self.keys_ascend(number, &[key])).then_some(key_at)
    }

    /// An expression of the variables that a sweep defines, by its outermost variable alone.
    pub(super) fn in_terms_of(&self, e: &Expression, sweep: &Sweep<'_>) -> Option<Expression> {
        struct Definitions<'s>(&'s [Step]);
        impl Rewrite for Definitions<'_> {
            fn variable(&self, wanted: Variable) -> Expression {
                let value = self.0.iter().find_map(|step| match step {
                    Step::Let { variable, value } if *variable == wanted => Some(value),
                    _ => None,
                });
                match value {
                    Some(value) => value.rewritten(self),
                    None => Expression::Variable(wanted),
                }
            }
        }
        let e = e.rewritten(&Definitions(sweep.body));
        let mut is_of_variable = true;
        e.visit(&mut |e| {
            if let Expression::Variable(variable) = e {
                is_of_variable &= *variable == sweep.variable;
            }
        });
        is_of_variable.then_some(e)
    }
}

/// Whether two statements write different data, or the same entries in the same way.
pub(super) fn writes_alike(
    (a, at_a): (&Statement, &[Expression]),
    (b, at_b): (&Statement, &[Expression]),
) -> bool {
    let entry = |of: &Statement, at: &[Expression]| of.target.rewritten(&Point(at));
    a.target.space != b.target.space
        || entry(a, at_a) == entry(b, at_b) && a.space == b.space && a.update == b.update
}
