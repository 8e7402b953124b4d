//! Copies of arrays, which need none of the loops that they stand in.
//!
//! ```text
//! s: y(q) = x(q)     over {[i, q, j] : 0 <= i < N && pos(i) <= q < pos(i + 1) && crd(q) = j}   at [0, i, q, j]
//! s: cols(q) = j                                                                              at [0, i, q, j]
//!
//! s: y(q) = x(q)         over {[q] : pos(0) <= q < pos(N)}    at [1, q]
//! s: cols(q) = crd(q)
//! ```
//!
//! A loop over one variable that loads and stores at it is what compilers copy blocks of
//! memory with, and its iterations may run at once.
//!
//! For one thread, copies join a sweep that is such a loop itself, and counts and stores little
//! else: while it waits for memory, it copies. Sorted coordinates of 500,000 entries to `csr`, of 32 bits:
//! 0.39 ms so, and 0.46 with copies apart.

use std::collections::BTreeMap;

use sparsec_base::arena::Id;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Rewrite, Set, Variable,
};

use crate::computation::{Computation, Role, Statement, StatementId};
use crate::segments::places_at;
use sparsec_base::Result;

use crate::value::{Access, Update, Value};

impl Computation {
    /// Moves statements that copy given data, place by place, behind their sweeps.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let mut rows: Computation = "computation rows {
    ///   parameters N, NZ
    ///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
    ///   given pos : i32[N + 1], x : f64[NZ]
    ///   out row : i32[NZ], y : f64[NZ]
    ///   s0: row(p) = i over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [0, i, p, 0]
    ///   s1: y(p) = x(p) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [0, i, p, 1]
    /// }".parse()?;
    /// rows.separate_copies();
    /// assert!(rows.to_string().contains("s1: y(p) = x(p)\n    over {[p] : pos(0) <= p < pos(N)}"), "{rows}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn separate_copies(&mut self) {
        let is_timed = |statement: &Statement| sweep(statement).is_some();
        if !self.statements.iter().all(is_timed) {
            return;
        }
        let checked = Self {
            declarations: self.relied_on(),
            ..self.clone()
        };
        let known = checked.known();
        let mut copies: BTreeMap<i64, Vec<(StatementId, Statement)>> = BTreeMap::new();
        for id in self.ids() {
            let time = sweep(self.statement(id)).unwrap_or_default();
            if let Some(copy) = self.as_copy(id, &known).filter(|_| self.is_apart(id)) {
                copies.entry(time).or_default().push((id, copy));
            }
        }
        for (time, copies) in copies.into_iter().rev() {
            let of_sweep = self.statements.iter();
            let n_of_sweep = of_sweep.filter(|it| sweep(it) == Some(time)).count();
            let new = match n_of_sweep == copies.len() {
                true => time,
                false => time + 1,
            };
            for statement in &mut self.statements {
                if let Some(Expression::Integer(at)) = statement.schedule.first_mut()
                    && *at >= new
                    && new > time
                {
                    *at += 1;
                }
            }
            for (place, (id, mut copy)) in copies.into_iter().enumerate() {
                let place = i64::try_from(place).expect("few statements");
                let q = Expression::Variable(Variable::from_index(0));
                copy.schedule = vec![Expression::Integer(new), q, Expression::Integer(place)];
                self.statements[id.index()] = copy;
            }
        }
        // In the text, sweeps stand one behind the other.
        self.statements.sort_by_key(sweep);
    }

    /// Moves sweeps that only copy into the ones before them, where these are loops over the same
    /// places that number nothing: the reverse of [`separate_copies`](Self::separate_copies), for
    /// loops of one thread.
    pub fn join_copies(&mut self) {
        let Some(mut times) = self
            .statements
            .iter()
            .map(sweep)
            .collect::<Option<Vec<i64>>>()
        else {
            return;
        };
        times.sort_unstable();
        times.dedup();
        let checked = Self {
            declarations: self.relied_on(),
            ..self.clone()
        };
        let known = checked.known();
        for pair in times.windows(2) {
            let ids = || self.ids().map(|id| (sweep(self.statement(id)), id));
            let of = |time| -> Vec<StatementId> {
                ids()
                    .filter(|(at, _)| *at == Some(time))
                    .map(|(_, id)| id)
                    .collect()
            };
            let (hosts, copies) = (of(pair[0]), of(pair[1]));
            if let Some(joined) = self.joined(&hosts, &copies, &known) {
                for (id, statement) in copies.into_iter().zip(joined) {
                    self.statements[id.index()] = statement;
                }
            }
        }
        self.statements.sort_by_key(sweep);
    }

    /// Copies as statements of a sweep, if they can join it.
    fn joined(
        &self,
        hosts: &[StatementId],
        copies: &[StatementId],
        known: &Declarations,
    ) -> Option<Vec<Statement>> {
        let host = self.statement(*hosts.first()?);
        let [Expression::Integer(_), Expression::Variable(place), ..] = host.schedule[..] else {
            return None;
        };
        let (_, loops) = host.schedule.split_last()?;
        let at = Expression::Variable(place);
        let places = places_at(host, place, known).filter(|_| is_flat(host, place))?;
        let is_light = |id: &StatementId| {
            let statement = self.statement(*id);
            statement.space == host.space
                && statement
                    .schedule
                    .split_last()
                    .is_some_and(|(_, own)| own == loops)
                && statement.value.windows().is_empty()
        };
        if !hosts.iter().all(is_light) {
            return None;
        }
        let written: Vec<&String> = hosts
            .iter()
            .map(|id| &self.statement(*id).target.space)
            .collect();
        let turns = hosts
            .iter()
            .map(|id| match self.statement(*id).schedule.last() {
                Some(Expression::Integer(turn)) => Some(*turn),
                _ => None,
            });
        let last = turns.collect::<Option<Vec<i64>>>()?.into_iter().max()?;
        let joined = copies.iter().zip(last + 1..).map(|(id, turn)| {
            let copy = self.statement(*id);
            let ([Expression::Variable(own)], Value::Entry(from)) =
                (&copy.target.indices[..], &copy.value)
            else {
                return None;
            };
            let same = self.as_copy(*id, known)?;
            let is_free = !self
                .index_arrays(*id)
                .iter()
                .any(|name| written.contains(&name));
            let is_whole = places_at(copy, *own, known)? == places;
            (is_free && is_whole && same.value == copy.value).then(|| Statement {
                space: host.space.clone(),
                schedule: [loops, &[Expression::Integer(turn)]].concat(),
                target: Access {
                    indices: vec![at.clone()],
                    ..copy.target.clone()
                },
                value: Value::Entry(Access {
                    indices: vec![at.clone()],
                    ..from.clone()
                }),
                ..copy.clone()
            })
        });
        joined.collect()
    }

    /// Takes out temporary arrays that are copies of given ones, which take their place.
    ///
    /// # Errors
    /// As [`checked`](Self::checked).
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let list: Computation = "computation list {
    ///   parameters NZ
    ///   given x : f64[NZ]
    ///   temporary y : f64[NZ]
    ///   out s : f64
    ///   s0: y(p) = x(p) over {[p] : 0 <= p < NZ} at [0, p]
    ///   s1: s += y(p) over {[p] : 0 <= p < NZ} at [1, p]
    /// }".parse()?;
    /// assert!(list.with_given_copies()?.to_string().contains("s1: s += x(p)"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn with_given_copies(&self) -> Result<Self> {
        let checked = Self {
            declarations: self.relied_on(),
            ..self.clone()
        };
        let known = checked.known();
        let mut given: BTreeMap<String, String> = BTreeMap::new();
        let mut new = self.clone();
        for id in self.ids() {
            let target = &self.statement(id).target.space;
            if let Some(source) = self.whole_copy(id, Role::Temporary, &known) {
                new.statements.retain(|it| it.target.space != *target);
                new.spaces.retain(|space| space.name != *target);
                new.declarations.retain_functions(|it| it.name != *target);
                given.insert(target.clone(), source);
            }
        }
        new.in_place_of(&given)
    }

    /// The given array that a statement copies as a whole to one of its type and of this role, which
    /// declares no order that the given one does not.
    pub(super) fn whole_copy(
        &self,
        id: StatementId,
        role: Role,
        known: &Declarations,
    ) -> Option<String> {
        let copy = self.as_copy(id, known).filter(|_| self.is_apart(id))?;
        let Value::Entry(from) = &copy.value else {
            return None;
        };
        let (made, given) = (self.space(&copy.target.space)?, self.space(&from.space)?);
        let order = |name: &str| self.declarations.function(name).map(|it| it.monotone);
        let is_ordered = order(&made.name).flatten().is_some();
        let is_like = made.element == given.element
            && made.role == role
            && (!is_ordered || order(&made.name) == order(&given.name));
        let sides = copy.space.as_box()?;
        let nowhere = Set::new(vec![Conjunction::new([""; 0], [])]).ok()?;
        let are_equal =
            |a: &Expression, b: &Expression| nowhere.implies(&a.clone().equals(b.clone()), known);
        let ([(begin, end)], [length], [of_given]) =
            (&sides[..], &made.extents[..], &given.extents[..])
        else {
            return None;
        };
        let is_whole = are_equal(begin, &Expression::Integer(0))
            && are_equal(end, length)
            && are_equal(end, of_given);
        (is_like && is_whole).then(|| given.name.clone())
    }

    /// Whether nothing else writes the target, or uses it in the same sweep.
    fn is_apart(&self, id: StatementId) -> bool {
        let statement = self.statement(id);
        let target = &statement.target.space;
        let is_result = self
            .space(target)
            .is_some_and(|space| matches!(space.role, Role::Out | Role::Temporary));
        let mut others = self.ids().filter(|other| *other != id);
        is_result
            && others.all(|other| {
                let user = self.statement(other);
                let later = sweep(user) > sweep(statement);
                let uses =
                    self.index_arrays(other).contains(target) || user.references_space(target);
                user.target.space != *target && (later || !uses)
            })
    }

    /// A statement over its places alone, if it copies what lies at them.
    fn as_copy(&self, id: StatementId, known: &Declarations) -> Option<Statement> {
        let statement = self.statement(id);
        let ([Expression::Variable(place)], [part]) =
            (&statement.target.indices[..], statement.space.parts())
        else {
            return None;
        };
        if statement.update != Update::Assign {
            return None;
        }
        let at = Expression::Variable(*place);
        let places = places_at(statement, *place, known)?;
        let is_given = |name: &str| {
            let given = self
                .space(name)
                .is_some_and(|space| space.role == Role::Given);
            given && self.writers(name).next().is_none()
        };
        let value = match &statement.value {
            Value::Entry(access) if access.indices == [at.clone()] => access.clone(),
            Value::Variable(variable) => {
                let defined = Expression::Variable(*variable);
                let links = part.constraints().iter().flat_map(Constraint::links);
                let mut sides = links.filter(|(_, it, _)| *it == Comparison::Equal);
                sides.find_map(|(a, _, b)| {
                    let other = [(a, b), (b, a)].into_iter().find(|(it, _)| **it == defined);
                    match other?.1 {
                        Expression::Call(space, indices) if *indices == [at.clone()] => {
                            Some(Access {
                                space: space.clone(),
                                indices: indices.clone(),
                            })
                        }
                        _ => None,
                    }
                })?
            }
            _ => return None,
        };
        if !is_given(&value.space) {
            return None;
        }
        let mut alone = Conjunction::new([part.name(*place)], []);
        let now = Now;
        alone.add(Constraint {
            first: places.begin,
            rest: vec![
                (Comparison::LessEqual, at.rewritten(&now)),
                (Comparison::Less, places.end),
            ],
        });
        Some(Statement {
            space: Set::new(vec![alone]).ok()?,
            target: statement.target.rewritten(&now),
            value: Value::Entry(value.rewritten(&now)),
            ..statement.clone()
        })
    }
}

impl Statement {
    /// Whether the value reads data, or an index speaks of them.
    fn references_space(&self, name: &str) -> bool {
        let mut found = false;
        let entries = self.value.entries();
        for access in entries.into_iter().chain([&self.target]) {
            found |= access.space == name && !std::ptr::eq(access, &self.target);
            for index in &access.indices {
                index.visit(&mut |e| {
                    found |= matches!(e, Expression::Call(it, _) | Expression::Constant(it) if it == name);
                });
            }
        }
        found
    }
}

/// The place is the only variable.
struct Now;

impl Rewrite for Now {
    fn variable(&self, _: Variable) -> Expression {
        Expression::Variable(Variable::from_index(0))
    }
}

/// Whether the other variables of a statement are entries at a place.
fn is_flat(statement: &Statement, place: Variable) -> bool {
    let [part] = statement.space.parts() else {
        return false;
    };
    let at = Expression::Variable(place);
    let is_entry =
        |e: &Expression| matches!(e, Expression::Call(_, at_place) if *at_place == [at.clone()]);
    let links: Vec<_> = part
        .constraints()
        .iter()
        .flat_map(Constraint::links)
        .collect();
    let follows = |variable: Variable| {
        let variable = Expression::Variable(variable);
        links.iter().any(|(a, comparison, b)| {
            *comparison == Comparison::Equal
                && (**a == variable && is_entry(b) || **b == variable && is_entry(a))
        })
    };
    statement
        .variables()
        .all(|variable| variable == place || follows(variable))
}

/// The number with which a statement's schedule begins.
fn sweep(statement: &Statement) -> Option<i64> {
    match statement.schedule.first() {
        Some(Expression::Integer(time)) => Some(*time),
        _ => None,
    }
}
