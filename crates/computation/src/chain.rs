//! The chain of a computation: stages, each given what the stages before computed.
//!
//! ```text
//! s0: n(row(p)) += 1        over {[p] : 0 <= p < NZ}            at [0, p]   ┐ stage 0
//! s1: pos(i + 1) = pos(i) + n(i)   over {[i] : 0 <= i < N}      at [1, i]   ┘ completes n, pos
//! s2: y(i) += A(p)          over {[i, p] : … pos(i) <= p < pos(i + 1)}  at [2, i, p]
//!                                          └─ stage 1 follows pos, which is given to it
//! ```
//!
//! Statements are cut where one **follows** data that earlier ones write: its set,
//! schedule, indices or keys speak of them, or an extent does. That can be seen where
//! all schedules begin with numbers, as they do where none is said; else there is
//! one stage.
//!
//! One stage holds a statement and another that follows it **at the point**: the one speaks,
//! in indices alone, of the entry that the other has just assigned at the same point of the
//! same space. Such an entry is [carried](Stage::carries) from one to the other, and what is
//! declared of it is established where it is assigned.
//!
//! ```text
//! s3: place(p) = pos(j) + ordinal(j of M)    over {[i, p, j] : …}    at [3, i, p, j, 0]
//! s4: rows(place(p)) = i                     over {[i, p, j] : …}    at [3, i, p, j, 1]
//! ```
//!
//! Within a stage, data that earlier stages completed have the role
//! [`Role::Given`], and later stages rely on what is declared of them. What that is, the
//! stage that completes them has to [establish](Stage::establishes):
//!
//! | declared of computed data                | later stages                              |
//! |------------------------------------------|-------------------------------------------|
//! | `function`, on a box, with values in one | rely on both, and on how values follow    |
//! | `assume` of integers without extents     | rely on it                                |
//! | `forall`, that arrays list keys in order | rely on it ([`ListOrder`])                |
//! | `injective`, other `forall`, and all else | do not                                   |

use std::collections::BTreeSet;

use sparsec_relation::{
    Conjunction, Constraint, Declarations, Expression, Function, ListOrder, Quantifier, Set,
};

use crate::computation::{Computation, Role, Statement, StatementId};
use crate::value::Update;

/// Statements that follow no data which one of them writes.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The statements, in terms of what is there when they begin: data that they
    /// touch, and what is known then.
    pub computation: Computation,
    /// The statements in the whole computation, in the same order.
    pub statements: Vec<StatementId>,
    /// The data that this stage touches first, which no stage before has.
    pub begins: Vec<String>,
    /// The data that are written here and in no later stage.
    pub completes: Vec<String>,
    /// What holds of these data from here on, as far as later stages rely on it.
    pub establishes: Declarations,
    /// The functions whose entries are carried from the statement that assigns them to
    /// others at the same point, with where they lie and what they hold.
    pub carries: Vec<Function>,
}

impl Computation {
    /// The stages, in the order in which they run; at least one.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let rows: Computation = "computation rows {
    ///   parameters N, NZ
    ///   function row : {[p] : 0 <= p < NZ} -> {[i] : 0 <= i < N}
    ///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
    ///   given row : i32[NZ]
    ///   temporary pos : i64[N + 1]
    ///   out y : i64[N]
    ///   s0: pos(row(p) + 1) += 1 over {[p] : 0 <= p < NZ}
    ///   s1: pos(i + 1) += pos(i) over {[i] : 0 <= i < N}
    ///   s2: y(i) += p over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
    /// }".parse()?;
    /// let [counts, sums] = &rows.chain()[..] else { panic!("two stages") };
    /// assert_eq!(counts.computation.statements.len(), 2);
    /// assert_eq!(counts.completes, ["pos"]);
    /// assert_eq!((&sums.begins[..], &sums.completes[..]), (&["y".to_owned()][..], &["y".to_owned()][..]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn chain(&self) -> Vec<Stage> {
        let groups = self.groups();
        let relied_on = self.relied_on();
        let is_given = |name: &String| self.writers(name).next().is_none();
        let is_computed = |name: &str| self.writers(name).next().is_some();
        let mut assumed = relied_on.assumptions().iter();
        let asserts = assumed.any(|it| it.expressions().any(|e| speaks(e, &is_computed)));
        let carries = |group| !self.carried(group, &relied_on, &is_given).is_empty();
        if groups.len() == 1 && !asserts && !carries(&groups[0]) {
            return vec![self.only_stage()];
        }
        let mut begun: BTreeSet<String> = BTreeSet::new();
        let mut stages = Vec::new();
        for (number, group) in groups.iter().enumerate() {
            let is_last = number + 1 == groups.len();
            let untouched = (self.spaces.iter().map(|space| &space.name))
                .filter(|name| is_last && !begun.contains(*name));
            let touched = self.touched(group, untouched.cloned());
            let followed = groups[number + 1..].iter().flatten();
            let followed = followed.map(|id| self.followed(*id));
            let followed: BTreeSet<String> = followed.flatten().collect();
            let followed = self.touched(&[], followed.into_iter());
            let later: BTreeSet<&String> = (groups[number + 1..].iter().flatten())
                .map(|id| &self.statement(*id).target.space)
                .collect();
            let written: BTreeSet<&String> = (group.iter())
                .map(|id| &self.statement(*id).target.space)
                .collect();
            let begins = self.spaces.iter().map(|space| &space.name);
            let begins = begins.filter(|name| touched.contains(*name) && !begun.contains(*name));
            let begins: Vec<String> = begins.cloned().collect();
            begun.extend(begins.iter().cloned());
            let completes = written.iter().filter(|name| !later.contains(**name));
            let completes: Vec<String> = completes.map(|name| (*name).clone()).collect();
            let is_there = |name: &String| !written.contains(name) && !later.contains(name);
            let carries = self.carried(group, &relied_on, &is_there);
            stages.push(Stage {
                computation: self.staged(group, &touched, (&relied_on, &carries), &is_there),
                carries,
                statements: group.clone(),
                establishes: established(
                    &relied_on,
                    &|name| completes.iter().any(|it| it == name),
                    &|name| later.iter().any(|it| *it == name),
                    &followed,
                ),
                begins,
                completes,
            });
        }
        stages
    }

    fn only_stage(&self) -> Stage {
        let names = self.spaces.iter().map(|space| space.name.clone());
        let is_written = |name: &String| self.writers(name).next().is_some();
        Stage {
            computation: self.clone(),
            statements: self.ids().collect(),
            completes: names.clone().filter(is_written).collect(),
            begins: names.collect(),
            establishes: Declarations::new(),
            carries: Vec::new(),
        }
    }

    /// The functions that statements of a stage follow at the point, of which all that
    /// their bounds speak of is there.
    fn carried(
        &self,
        group: &[StatementId],
        relied_on: &Declarations,
        is_there: &dyn Fn(&String) -> bool,
    ) -> Vec<Function> {
        let functions = relied_on.functions().iter().filter(|function| {
            let is_given = |name: &str| is_there(&name.to_owned()) || self.space(name).is_none();
            let is_followed = || {
                let mut group = group.iter();
                group.any(|id| self.followed(*id).contains(&function.name))
            };
            self.writer_at_point(&function.name).is_some()
                && !function
                    .bounds()
                    .any(|e| speaks(e, &|name: &str| !is_given(name)))
                && is_followed()
        });
        let carried = functions.map(|function| Function {
            monotone: None,
            ..function.clone()
        });
        carried.collect()
    }

    /// The statement that assigns data all of whose followers do so at its points.
    fn writer_at_point(&self, name: &str) -> Option<StatementId> {
        let mut writers = self.writers(name);
        let writer = writers.next().filter(|_| writers.next().is_none())?;
        let mut followers = self.ids().filter(|id| self.followed(*id).contains(name));
        let at_point = followers.all(|id| self.follows_at_point(id, writer));
        at_point.then_some(writer)
    }

    /// Whether a statement follows another at the point, and has the same loops.
    fn follows_at_point(&self, later: StatementId, earlier: StatementId) -> bool {
        let (later, earlier) = (self.statement(later), self.statement(earlier));
        let [Some((a, before)), Some((b, after))] =
            [&earlier.schedule, &later.schedule].map(|schedule| schedule.split_last())
        else {
            return false;
        };
        let in_turn = match (a, b) {
            (Expression::Integer(a), Expression::Integer(b)) => a < b,
            _ => false,
        };
        in_turn && before == after && later.is_within_points_of(earlier)
    }

    /// The declarations of given data, and those of computed data that hold when their stage ends:
    /// later stages rely on them.
    pub fn relied_on(&self) -> Declarations {
        let mut kept = self.declarations.clone();
        let is_computed = |name: &str| self.writers(name).next().is_some();
        for space in self.spaces.iter().filter(|space| is_computed(&space.name)) {
            kept.forget_quantifiers(&space.name);
        }
        for quantifier in self.declarations.quantifiers() {
            if !kept.quantifiers().contains(quantifier) && self.checked_order(quantifier).is_some()
            {
                let premises = quantifier.premises().clone();
                kept.forall(premises, quantifier.conclusions().to_vec());
            }
        }
        // What is said of given data is checked before the first stage, and cannot
        // speak of what is computed.
        let is_established = |function: &Function| match is_computed(&function.name) {
            true => {
                let boxes = [function.domain.as_box(), function.range.as_box()];
                boxes.iter().all(Option::is_some) && !function.bounds().any(calls)
            }
            false => !function.bounds().any(|e| speaks(e, &is_computed)),
        };
        kept.retain_functions(is_established);
        for function in kept.functions_mut() {
            function.injective &= !is_computed(&function.name);
        }
        kept.assumptions_mut().retain(|constraint| {
            let is_given = || !constraint.expressions().any(|e| speaks(e, &is_computed));
            !constraint.expressions().any(calls) || is_given()
        });
        kept
    }

    /// The order of a list that a quantifier states, if its keys are arrays with entries for all of
    /// the list, so that one pass over them checks it.
    pub fn checked_order(&self, quantifier: &Quantifier) -> Option<ListOrder> {
        let order = quantifier.list_order()?;
        let is_list = |key: &String| {
            let function = self.declarations.function(key);
            let domain = function.and_then(|function| function.domain.as_box());
            let whole = (order.begin.clone(), order.end.clone());
            self.space(key).is_some() && domain == Some(vec![whole])
        };
        order.keys.iter().all(is_list).then_some(order)
    }

    /// The statements of each stage.
    fn groups(&self) -> Vec<Vec<StatementId>> {
        let first = |id: &StatementId| match self.statement(*id).schedule.first() {
            Some(Expression::Integer(time)) => Some(*time),
            _ => None,
        };
        let mut timed: Vec<(i64, StatementId)> = Vec::new();
        for id in self.ids() {
            match first(&id) {
                Some(time) => timed.push((time, id)),
                None => return vec![self.ids().collect()],
            }
        }
        timed.sort_by_key(|(time, _)| *time);
        let mut groups: Vec<Vec<StatementId>> = vec![Vec::new()];
        let mut written: BTreeSet<&String> = BTreeSet::new();
        for step in timed.chunk_by(|(a, _), (b, _)| a == b) {
            let mut followed = BTreeSet::new();
            for (_, id) in step {
                followed.extend(self.followed(*id));
            }
            // What bounds an array that is followed has its value before, too.
            for name in followed.clone() {
                let function = self.declarations.function(&name);
                let bounds = function.into_iter().flat_map(|function| function.bounds());
                bounds.for_each(|e| self.add_names(e, &mut followed));
            }
            if followed.iter().any(|name| written.contains(name)) {
                groups.push(Vec::new());
                written.clear();
            }
            let group = groups.last_mut().expect("there is one");
            for (_, id) in step {
                group.push(*id);
                written.insert(&self.statement(*id).target.space);
            }
        }
        // Within a stage, statements stand in the order of the text.
        groups.iter_mut().for_each(|group| group.sort());
        groups
    }

    /// The data whose values a statement follows.
    fn followed(&self, id: StatementId) -> BTreeSet<String> {
        let mut names = self.index_arrays(id);
        let statement = self.statement(id);
        for access in statement.accesses() {
            for index in &access.indices {
                self.add_names(index, &mut names);
            }
        }
        names
    }

    /// The data that statements touch or follow, and those that say what is known of them.
    fn touched(
        &self,
        group: &[StatementId],
        besides: impl Iterator<Item = String>,
    ) -> BTreeSet<String> {
        let mut names: BTreeSet<String> = besides.collect();
        for id in group {
            names.extend(self.followed(*id));
            let accesses = self.statement(*id).accesses();
            names.extend(accesses.map(|access| access.space.clone()));
        }
        loop {
            let before = names.len();
            for name in names.clone() {
                let extents = self.space(&name).into_iter().flat_map(|it| &it.extents);
                let function = self.declarations.function(&name);
                let bounds = function.into_iter().flat_map(|function| function.bounds());
                for e in extents.chain(bounds) {
                    self.add_names(e, &mut names);
                }
            }
            if names.len() == before {
                return names;
            }
        }
    }

    /// The computation of one stage: `is_there` holds of data that no statement writes
    /// from this stage on.
    fn staged(
        &self,
        group: &[StatementId],
        touched: &BTreeSet<String>,
        (relied_on, carries): (&Declarations, &[Function]),
        is_there: &dyn Fn(&String) -> bool,
    ) -> Self {
        let mut stage = Self {
            statements: group.iter().map(|id| self.statement(*id).clone()).collect(),
            declarations: relied_on.clone(),
            ..self.clone()
        };
        for space in &self.spaces {
            let name = &space.name;
            let is_computed = self.writers(name).next().is_some();
            if is_computed && !(touched.contains(name) && is_there(name)) {
                stage.declarations.forget(name);
            }
        }
        for function in carries {
            stage.declarations.declare(function.clone());
        }
        let is_computed = |name: &str| self.writers(name).next().is_some();
        stage
            .spaces
            .retain(|space| touched.contains(&space.name) || !is_computed(&space.name));
        for space in &mut stage.spaces {
            let is_written = self.writers(&space.name).next().is_some();
            if is_there(&space.name) && (is_written || space.role.is_given()) {
                space.role = Role::Given;
            }
        }
        stage
    }
}

/// Whether a name is one of those asked for.
type Wanted<'a> = &'a dyn Fn(&str) -> bool;

/// What is said of data, if a stage `completes` the last of those that it speaks of: of
/// arrays those that later stages follow. Others `wait`.
fn established(
    relied_on: &Declarations,
    completes: Wanted<'_>,
    wait: Wanted<'_>,
    followed: &BTreeSet<String>,
) -> Declarations {
    let mut established = Declarations::new();
    for function in relied_on.functions() {
        let any = |wanted: Wanted<'_>| {
            wanted(&function.name) || function.bounds().any(|e| speaks(e, &wanted))
        };
        if followed.contains(&function.name) && any(completes) && !any(wait) {
            established.declare(function.clone());
        }
    }
    for constraint in relied_on.assumptions() {
        let any = |wanted: Wanted<'_>| constraint.expressions().any(|e| speaks(e, &wanted));
        if any(completes) && !any(wait) {
            established.assume(constraint.clone());
        }
    }
    for quantifier in relied_on.quantifiers() {
        let premises = quantifier.premises().constraints().iter();
        let all = || premises.clone().chain(quantifier.conclusions());
        let any = |wanted: Wanted<'_>| {
            all().any(|constraint| constraint.expressions().any(|e| speaks(e, &wanted)))
        };
        if any(&|name| followed.contains(name)) && any(completes) && !any(wait) {
            established.forall(
                quantifier.premises().clone(),
                quantifier.conclusions().to_vec(),
            );
        }
    }
    established
}

/// Whether an expression speaks of an entry.
fn calls(e: &Expression) -> bool {
    speaks_of(e, &mut |e| matches!(e, Expression::Call(..)))
}

/// Whether an expression speaks of a name of which `wanted` holds.
fn speaks(e: &Expression, wanted: &impl Fn(&str) -> bool) -> bool {
    speaks_of(e, &mut |e| match e {
        Expression::Constant(name) | Expression::Call(name, _) => wanted(name),
        _ => false,
    })
}

fn speaks_of(e: &Expression, wanted: &mut dyn FnMut(&Expression) -> bool) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= wanted(e));
    found
}

/// The constraints of a space that another lacks; `None` if the space lacks one of the other.
fn further_constraints<'a>(space: &'a Set, of: &Set) -> Option<Vec<&'a Constraint>> {
    if space == of {
        return Some(Vec::new());
    }
    let ([own], [other]) = (space.parts(), of.parts()) else {
        return None;
    };
    let is_same = own.inputs().len() == other.inputs().len()
        && own.exists().len() == 0
        && other.exists().len() == 0;
    let says_all = || {
        let mut of_other = other.constraints().iter();
        of_other.all(|constraint| own.constraints().contains(constraint))
    };
    let more = own.constraints().iter();
    let more = more.filter(|constraint| !other.constraints().contains(constraint));
    (is_same && says_all()).then(|| more.collect())
}

impl Statement {
    /// Whether this statement runs over the same space as `earlier`, and follows no entry that
    /// `earlier` assigns but the one at the same point.
    pub fn is_at_point_of(&self, earlier: &Self) -> bool {
        self.space == earlier.space && self.is_within_points_of(earlier)
    }

    /// As [`is_at_point_of`](Self::is_at_point_of), for a statement that may run at some of the
    /// points only.
    pub fn is_within_points_of(&self, earlier: &Self) -> bool {
        let name = &earlier.target.space;
        let Some(more) = further_constraints(&self.space, &earlier.space) else {
            return false;
        };
        let says = |e: &Expression| speaks(e, &|it: &str| it == name);
        let of_points = earlier.space.parts().iter();
        let mut of_points = of_points.flat_map(Conjunction::constraints);
        let of_value = self.value.expressions();
        let indices = self.accesses().flat_map(|access| &access.indices);
        let more = more.into_iter().flat_map(Constraint::expressions);
        earlier.update == Update::Assign
            && !of_points.any(|it| it.expressions().any(says))
            && !of_value.into_iter().chain(&self.schedule).any(says)
            && indices.chain(more).all(|e| {
                let mut is_at_point = true;
                e.visit(&mut |e| match e {
                    Expression::Call(it, arguments) if it == name => {
                        is_at_point &= *arguments == earlier.target.indices;
                    }
                    Expression::Constant(it) if it == name => is_at_point = false,
                    _ => {}
                });
                is_at_point
            })
    }

    /// The target and the entries that are read, apart from those that indices read.
    fn accesses(&self) -> impl Iterator<Item = &crate::value::Access> {
        self.value.entries().into_iter().chain([&self.target])
    }
}
