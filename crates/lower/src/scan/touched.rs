//! Tables of keys whose entries begin where their key is first marked.
//!
//! A minimum or a maximum for each key begins with one value. If the same sweep marks the keys that points
//! have, the first mark gives the entry its value. Those of other keys are never touched:
//!
//! ```text
//! for x in 0..K { first[x] = M }           for q in 0..n {
//! for q in 0..n {                            if keys[k] == 0 { keys[k] = 1; first[k] = M }
//!   keys[k] = 1                     ──►      first[k] min= i }
//!   first[k] min= i }
//! ```
//!
//! A table of a few keys of many takes a few pages so: to touch 16 MB of fresh memory took 5.6 ms, twice
//! as long as the sweep over 5,000,000 points on five diagonals.
//!
//! Others may read an entry only where its key is known to be marked.

use std::collections::BTreeMap;

use sparsec_computation::{Access, Role, Statement, Update, Value};
use sparsec_loop::{BinaryOp, Expr};
use sparsec_relation::{Comparison, Constraint, Expression, Step};

use super::emit::{Emitter, Point};
use super::for_each_expression;
use super::in_runs::{all_visits, visited};

impl Emitter<'_> {
    /// The statements that give all keys one value and may wait for the first mark, by the statement
    /// that marks keys.
    pub(super) fn touched_tables(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut touched: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (marking, mark) in self.computation.statements.iter().enumerate() {
            if !self.marks_keys(mark) {
                continue;
            }
            for (combining, combines) in self.computation.statements.iter().enumerate() {
                let is_combined = matches!(combines.update, Update::Minimum | Update::Maximum)
                    && combines.space == mark.space
                    && combines.target.indices == mark.target.indices
                    && are_neighbours(&self.loops.body, [marking, combining]);
                if is_combined && let Some(begins) = self.begins(mark, (combining, combines)) {
                    touched.entry(marking).or_default().push(begins);
                }
            }
        }
        touched
    }

    /// Whether a statement is the only one to mark entries of a table of zeros.
    fn marks_keys(&self, mark: &Statement) -> bool {
        let keys = &mark.target.space;
        let mut writers = self.whole.writers(keys);
        mark.update == Update::Assign
            && mark.value == Value::Integer(1)
            && mark.target.indices.len() == 1
            && (writers.next().is_some() && writers.next().is_none())
            && self.is_table(keys)
    }

    /// Whether data are a temporary array.
    fn is_table(&self, name: &str) -> bool {
        let space = self.whole.space(name);
        let is_temporary = space.is_some_and(|space| space.role == Role::Temporary);
        is_temporary && !self.in_variables.contains(name) && !self.locals.contains(name)
    }

    /// The statement that gives all entries of a table one value, before another one combines values
    /// for the keys that are marked.
    fn begins(
        &self,
        mark: &Statement,
        (combining, combines): (usize, &Statement),
    ) -> Option<usize> {
        let (keys, table) = (&mark.target.space, &combines.target.space);
        let mut all = self.computation.statements.iter().enumerate();
        let (number, begins) =
            all.find(|(number, it)| *number != combining && it.target.space == *table)?;
        let [extent] = &self.whole.space(table)?.extents[..] else {
            return None;
        };
        let [x] = &begins.target.indices[..] else {
            return None;
        };
        let whole = (Expression::Integer(0), extent.clone());
        let is_constant = matches!(
            begins.value.to_expression(),
            Some(Expression::Integer(_) | Expression::Constant(_))
        );
        let is_beginning = begins.update == Update::Assign
            && matches!(x, Expression::Variable(_))
            && begins.variables().len() == 1
            && begins.space.as_box().is_some_and(|sides| sides == [whole])
            && is_constant
            && self.whole.writers(table).count() == 2
            && self.whole.space(keys)?.extents == [extent.clone()]
            && self.is_table(table);
        let step = |number: usize| {
            let mut steps = self.loops.body.iter();
            steps.position(|step| visited(std::slice::from_ref(step), number).is_some())
        };
        let is_before = step(number)? < step(combining)?;
        let others = self.whole.statements.iter();
        let mut others = others.filter(|it| it.name != combines.name && it.name != begins.name);
        let reads_marked = others.all(|reader| self.reads_marked(reader, keys, table));
        (is_beginning && is_before && reads_marked).then_some(number)
    }

    /// Whether a statement reads entries of a table only where their keys are marked.
    fn reads_marked(&self, reader: &Statement, keys: &str, table: &str) -> bool {
        let mut follows = false;
        for_each_expression(reader, &mut |e| {
            e.visit(&mut |e| follows |= matches!(e, Expression::Call(name, _) if name == table));
        });
        let entries = reader.value.entries();
        let mut read = entries.iter().filter(|access| access.space == table);
        let is_marked = |access: &&Access| {
            let mark = Expression::Call(keys.to_owned(), access.indices.clone());
            let is_set = Constraint::new(mark, Comparison::Equal, Expression::Integer(1));
            reader.space.implies(&is_set, self.known)
        };
        !follows && read.all(is_marked)
    }

    /// Whether all statements of a loop wait for first marks.
    pub(super) fn is_all_touched(&self, step: &Step) -> bool {
        let mut visits = Vec::new();
        all_visits(std::slice::from_ref(step), &mut visits);
        !visits.is_empty()
            && visits
                .iter()
                .all(|(number, _)| self.waits_for_mark(*number))
    }

    fn waits_for_mark(&self, number: usize) -> bool {
        self.touched
            .values()
            .flatten()
            .any(|begins| *begins == number)
    }

    /// Marks a key, and gives entries of its tables their first value, if the statement does so or
    /// another one does it in its place.
    pub(super) fn is_touched(&mut self, number: usize, tuple: &[Expression]) -> bool {
        if self.waits_for_mark(number) {
            return true;
        }
        let Some(begins) = self.touched.get(&number).cloned() else {
            return false;
        };
        let mark = &self.computation.statements[number];
        let target = mark.target.rewritten(&Point(tuple));
        let key = self.index(&target.space, &target.indices);
        let key = Expr::Var(self.builder.let_("key", key));
        let marked = Expr::load(self.arrays.spaces[&target.space], key.clone());
        let first = self.written(|this| {
            this.store_entry(&target, key.clone(), Expr::int(1), None);
            for number in begins {
                let begins = &this.computation.statements[number];
                let element = this.element(&begins.target);
                // The value is the same at all points.
                let value = this.value_of(number, &[Expression::Integer(0)], element);
                this.store_entry(&begins.target, key.clone(), value, None);
            }
        });
        self.branch(marked.binary(BinaryOp::Eq, 0), first, true);
        true
    }
}

/// Whether steps visit two statements one behind the other, at the same points.
fn are_neighbours(steps: &[Step], [first, second]: [usize; 2]) -> bool {
    let visit = |number: usize| {
        steps
            .iter()
            .position(|step| matches!(step, Step::Visit { number: it, .. } if *it == number))
    };
    match [visit(first), visit(second)] {
        [Some(first), Some(second)] => first < second,
        _ => steps.iter().any(|step| match step {
            Step::For { body, .. } | Step::If { body, .. } => are_neighbours(body, [first, second]),
            _ => false,
        }),
    }
}
