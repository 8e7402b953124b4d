//! Numbers of points that are found again in each sweep, in place of an array of them.
//!
//! A window whose keys ascend along the points takes a counter or two; dense ranks whose first key
//! ascends take a table of the others, if their extent `is_small`. An array that holds
//! its values for later sweeps costs a store and loads for each point:
//!
//! ```text
//! s0: g(q) = dense_rank(i of N)   at [0, i, q, 0]        s0: g(q) = dense_rank(i of N)     at [0, i, q, 0]
//! s1: n = g(q) + 1                at [0, i, q, 1]        s1: n = g(q) + 1                  at [0, i, q, 1]
//!                                                  ──►   s2: g_1(q) = dense_rank(i of N)   at [1, i, q, 0]
//! s2: y(g(q)) = i                 at [1, i, q, 0]        s3: y(g_1(q)) = i                 at [1, i, q, 1]
//! ```
//!
//! Each sweep has an array of its own, whose entries are used at the point alone, so that
//! lowering keeps them in variables. Values that read nothing but entries which an earlier
//! sweep completed are found again as well.

use std::collections::BTreeMap;

use sparsec_relation::{Expression, Function, Rewrite, fresh_name};

use crate::computation::{Computation, Role, Statement, StatementId};
use crate::value::{Access, Key, Update, Window};

impl Computation {
    /// Finds cheap values again in each sweep that uses them at its points. `is_small` says which
    /// extents tables of keys may have.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let mut rows: Computation = "computation rows {
    ///   parameters N, NZ
    ///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
    ///   function g : {[p] : 0 <= p < NZ} -> {[r] : 0 <= r < n}
    ///   given pos : i32[N + 1]
    ///   temporary n : i64, g : i64[NZ]
    ///   out y : i64[n]
    ///   s0: g(p) = dense_rank(i of N) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [0, i, p, 0]
    ///   s1: n max= g(p) + 1 over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [0, i, p, 1]
    ///   s2: y(g(p)) = i over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [1, i, p, 0]
    /// }".parse()?;
    /// rows.recompute_numbers(&|_| true);
    /// assert!(rows.to_string().contains("y(g_1(p)) = i"), "{rows}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn recompute_numbers(&mut self, is_small: &dyn Fn(&Expression) -> bool) {
        let names: Vec<String> = self.spaces.iter().map(|space| space.name.clone()).collect();
        for name in names {
            if let Some((writer, sweeps)) = self.found_again(&name, is_small) {
                for users in sweeps.into_values() {
                    self.recompute(&name, writer.clone(), &users);
                }
            }
        }
    }

    /// The statement that assigns data which are found again, and who uses them in which
    /// sweep but its own.
    fn found_again(
        &self,
        name: &str,
        is_small: &dyn Fn(&Expression) -> bool,
    ) -> Option<(Statement, BTreeMap<i64, Vec<String>>)> {
        let space = self.space(name)?;
        let mut writers = self.writers(name);
        let writer = writers.next().filter(|_| writers.next().is_none())?;
        let statement = self.statement(writer);
        let is_list = space.role == Role::Temporary && statement.target.indices.len() == 1;
        if !is_list || statement.update != Update::Assign || !self.is_cheap(writer, is_small) {
            return None;
        }
        let first = sweep(statement)?;
        let mut sweeps: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        for id in self.ids().filter(|id| *id != writer) {
            let user = self.statement(id);
            let reads = user.value.entries();
            let reads = reads.iter().any(|access| access.space == name);
            if !reads && !self.follows(id, name) {
                continue;
            }
            let entries = user.value.entries();
            let mut entries = entries.into_iter().filter(|access| access.space == name);
            let time = sweep(user)?;
            let same = times(user)?.len() == times(statement)?.len()
                && times(user)?[1..] == times(statement)?[1..];
            let is_at_point = user.is_within_points_of(statement)
                && entries.all(|access| *access == statement.target)
                && user.target.space != name
                && same
                && time >= first;
            if !is_at_point {
                return None;
            }
            if time > first {
                sweeps.entry(time).or_default().push(user.name.clone());
            }
        }
        // Extents and declarations of others may speak of it.
        let is_declared = self.spaces.iter().any(|space| {
            let mut extents = space.extents.iter();
            extents.any(|extent| mentions(extent, name))
        });
        (!sweeps.is_empty() && !is_declared).then(|| (statement.clone(), sweeps))
    }

    /// Whether a statement's value takes little where it is found again.
    fn is_cheap(&self, id: StatementId, is_small: &dyn Fn(&Expression) -> bool) -> bool {
        let statement = self.statement(id);
        let Some(now) = sweep(statement) else {
            return false;
        };
        let windows = statement.value.windows();
        let ascend = |keys: &[Key]| keys.is_empty() || self.keys_ascend(id, keys);
        // Runs of the first key have tables of the others.
        let has_runs = |window: Window, keys: &[Key]| {
            let is_ranked = window == Window::DenseRank && keys.len() == 2;
            is_ranked && is_small(&keys[1].extent) && ascend(&keys[..1])
        };
        let entries = statement.value.entries();
        let is_there = |access: &Access| {
            let mut writers = self.writers(&access.space);
            writers.all(|writer| {
                let writer = self.statement(writer);
                sweep(writer).is_some_and(|time| time < now)
            })
        };
        windows
            .iter()
            .all(|(window, keys)| ascend(keys) || has_runs(*window, keys))
            && entries.into_iter().all(is_there)
    }

    pub(super) fn follows(&self, id: StatementId, name: &str) -> bool {
        let statement = self.statement(id);
        let mut found = false;
        let mut note = |e: &Expression| found = found || mentions(e, name);
        for part in statement.space.parts() {
            let constraints = part.constraints().iter();
            constraints
                .flat_map(sparsec_relation::Constraint::expressions)
                .for_each(&mut note);
        }
        statement.schedule.iter().for_each(&mut note);
        for key in statement
            .value
            .windows()
            .into_iter()
            .flat_map(|(_, keys)| keys)
        {
            note(&key.value);
            note(&key.extent);
        }
        let entries = statement.value.entries();
        for access in entries.into_iter().chain([&statement.target]) {
            access.indices.iter().for_each(&mut note);
        }
        found
    }

    /// Puts a copy of `writer` in front of the statements `users` of one sweep.
    fn recompute(&mut self, name: &str, mut writer: Statement, users: &[String]) {
        let taken = |candidate: &str| {
            self.space(candidate).is_some()
                || self.declarations.function(candidate).is_some()
                || self.parameters.iter().any(|it| it == candidate)
        };
        let new = fresh_name(&format!("{name}_1"), taken);
        let at = self.spaces.iter().position(|space| space.name == name);
        let at = at.expect("it was found");
        let mut space = self.spaces[at].clone();
        space.name.clone_from(&new);
        self.spaces.insert(at + 1, space);
        if let Some(function) = self.declarations.function(name) {
            let copy = Function {
                name: new.clone(),
                ..function.clone()
            };
            self.declarations.declare(copy);
        }
        let renamed = Renamed { name, new: &new };
        let mut first: Option<usize> = None;
        for (at, statement) in self.statements.iter_mut().enumerate() {
            if users.contains(&statement.name) {
                first = first.or(Some(at));
                renamed.statement(statement);
            }
        }
        let first = first.expect("there is a user");
        let time = self.statements[first].schedule[0].clone();
        let place = self.statements[first].schedule.last().cloned();
        let around = times(&self.statements[first]).map(<[Expression]>::to_vec);
        // Room in front of the first user.
        for statement in &mut self.statements {
            let is_of_sweep = times(statement).map(<[Expression]>::to_vec) == around;
            if let Some(Expression::Integer(place)) = statement.schedule.last_mut()
                && is_of_sweep
            {
                *place += 1;
            }
        }
        writer.name = fresh_name(&writer.name, |it| self.find(it).is_some());
        writer.target.space = new;
        writer.schedule[0] = time;
        if let (Some(last), Some(place)) = (writer.schedule.last_mut(), place) {
            *last = place;
        }
        self.statements.insert(first, writer);
    }
}

/// The number with which a statement's schedule begins.
pub(super) fn sweep(statement: &Statement) -> Option<i64> {
    match statement.schedule.first() {
        Some(Expression::Integer(time)) => Some(*time),
        _ => None,
    }
}

/// A schedule without the place at a point, which is a number.
pub(super) fn times(statement: &Statement) -> Option<&[Expression]> {
    match statement.schedule.split_last() {
        Some((Expression::Integer(_), times)) => Some(times),
        _ => None,
    }
}

pub(super) fn mentions(e: &Expression, name: &str) -> bool {
    let mut found = false;
    e.visit(&mut |e| {
        found |= matches!(e, Expression::Call(it, _) | Expression::Constant(it) if it == name);
    });
    found
}

/// Another name for data.
struct Renamed<'a> {
    name: &'a str,
    new: &'a str,
}

impl Rewrite for Renamed<'_> {
    fn function(&self, name: &str) -> String {
        match name == self.name {
            true => self.new.to_owned(),
            false => name.to_owned(),
        }
    }
}

impl Renamed<'_> {
    fn statement(&self, statement: &mut Statement) {
        let space = statement.space.rewritten(self);
        statement.space = space.expect("it has the variables that it had");
        statement.target = self.access(&statement.target);
        statement.value = statement
            .value
            .with_entries(&mut |access| self.access(access));
    }

    fn access(&self, access: &Access) -> Access {
        let mut renamed = access.rewritten(self);
        renamed.space = self.function(&renamed.space);
        renamed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_whose_keys_do_not_ascend_stays_in_its_array() {
        let text = "computation columns {
  parameters N, NZ
  function col : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < N}
  function g : {[p] : 0 <= p < NZ} -> {[r] : 0 <= r < n}
  given col : i32[NZ]
  temporary n : i64, g : i64[NZ]
  out y : i64[n]
  s0: g(p) = dense_rank(j of N) over {[p, j] : 0 <= p < NZ && col(p) = j} at [0, p, j, 0]
  s1: n max= g(p) + 1 over {[p, j] : 0 <= p < NZ && col(p) = j} at [0, p, j, 1]
  s2: y(g(p)) = j over {[p, j] : 0 <= p < NZ && col(p) = j} at [1, p, j, 0]
}";
        let mut columns: Computation = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let before = columns.to_string();
        columns.recompute_numbers(&|_| true);
        assert_eq!(columns.to_string(), before);
    }
}
