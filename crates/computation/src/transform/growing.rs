//! Maxima of values that never fall become assignments.
//!
//! ```text
//! s: pos(i + 1) max= q + 1   over {[i, q] : … pos_A(i) <= q < pos_A(i + 1)}   at [0, i, q]
//! s: pos(i + 1)  =   q + 1   q + 1 grows along the points: the last value is the largest
//! ```
//!
//! The target begins with zeros, is written nowhere before, and the values are not negative,
//! so that the first of them is no less than what is there.

use sparsec_base::arena::Id;
use sparsec_relation::{Comparison, Constraint, Expression};

use crate::computation::{Computation, Role, StatementId};
use crate::value::{Key, Operator, Update, Value, Window};

impl Computation {
    /// Assigns where a maximum of values that never fall is taken.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let mut rows: Computation = "computation rows {
    ///   parameters N, NZ
    ///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
    ///   given pos : i32[N + 1]
    ///   out end : i32[N]
    ///   s0: end(i) max= p + 1 over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [i, p]
    /// }".parse()?;
    /// rows.assign_growing_maxima();
    /// assert!(rows.to_string().contains("s0: end(i) = p + 1"), "{rows}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn assign_growing_maxima(&mut self) {
        let ids: Vec<StatementId> = self.ids().collect();
        for id in ids {
            if self.statement(id).update == Update::Maximum && self.is_growing_maximum(id) {
                self.statements[id.index()].update = Update::Assign;
            }
        }
    }

    fn is_growing_maximum(&self, id: StatementId) -> bool {
        let statement = self.statement(id);
        let target = &statement.target.space;
        let space = self.space(target);
        let is_fresh = space.is_some_and(|space| matches!(space.role, Role::Out | Role::Temporary));
        is_fresh && self.is_first_writer(id) && self.never_falls(id, &statement.value)
    }

    /// Whether no other statement writes or reads the target before, by the numbers with
    /// which schedules begin.
    fn is_first_writer(&self, id: StatementId) -> bool {
        let target = &self.statement(id).target.space;
        let time = |id: StatementId| match self.statement(id).schedule.first() {
            Some(Expression::Integer(time)) => Some(*time),
            _ => None,
        };
        let Some(now) = time(id) else {
            return self.statements.len() == 1;
        };
        let mut others = self.ids().filter(|other| *other != id);
        others.all(|other| {
            let statement = self.statement(other);
            let entries = statement.value.entries();
            let touches = statement.target.space == *target
                || entries.iter().any(|access| access.space == *target);
            !touches || time(other).is_some_and(|other| other > now)
        })
    }

    /// Whether a value is not negative, and never less than at an earlier point.
    fn never_falls(&self, id: StatementId, value: &Value) -> bool {
        match value {
            // The number of a group, plus something.
            Value::Binary(Operator::Add, number, more) => match (&**number, &**more) {
                (Value::Entry(access), Value::Integer(more)) if *more >= 0 => {
                    self.is_group_number(id, access)
                }
                _ => self.grows_from_zero(id, value),
            },
            Value::Entry(access) => self.is_group_number(id, access),
            _ => self.grows_from_zero(id, value),
        }
    }

    fn grows_from_zero(&self, id: StatementId, value: &Value) -> bool {
        let is_plain = value.entries().is_empty();
        let Some(value) = value.to_expression().filter(|_| is_plain) else {
            return false;
        };
        let key = Key {
            value: value.clone(),
            extent: Expression::Integer(0),
        };
        let zero = Expression::Integer(0);
        let known = self.known();
        let is_natural = Constraint::new(value, Comparison::GreaterEqual, zero);
        let statement = self.statement(id);
        statement.space.implies(&is_natural, &known)
            && self.keys_ascend(id, std::slice::from_ref(&key))
    }

    /// Whether an entry is what a statement at the same point has just assigned: the number
    /// of a group of keys that ascend.
    fn is_group_number(&self, id: StatementId, access: &crate::value::Access) -> bool {
        let mut writers = self.writers(&access.space);
        let (Some(writer), None) = (writers.next(), writers.next()) else {
            return false;
        };
        let statement = self.statement(id);
        let numbering = self.statement(writer);
        let in_turn = match (
            numbering.schedule.split_last(),
            statement.schedule.split_last(),
        ) {
            (Some((Expression::Integer(a), before)), Some((Expression::Integer(b), after))) => {
                a < b && before == after
            }
            _ => false,
        };
        let Value::Window(Window::DenseRank | Window::Rank, keys) = &numbering.value else {
            return false;
        };
        in_turn
            && numbering.target == *access
            && numbering.space == statement.space
            && self.keys_ascend(writer, keys)
    }
}
