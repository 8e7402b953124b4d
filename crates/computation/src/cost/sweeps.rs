//! The cost of each sweep of a computation.

use std::collections::BTreeSet;

use sparsec_relation::{Comparison, Constraint, Declarations, Expression, Rewrite, Variable};

use super::points::Replaced;
use super::{Cost, LOG2, Points, Random, Sweep, Work, difference, points, product, sum};
use crate::computation::{Computation, DataSpace, Role, Statement, StatementId};
use crate::value::{Access, Key, Operator, Update, Value, Window};

/// An index that goes on by up to so many entries in each iteration goes through its array in order.
const STRIDE: i64 = 8;

impl Computation {
    /// The cost of each sweep, and the arrays that are made; `None` if a set has no bound that
    /// is known.
    ///
    /// ```
    /// use sparsec_computation::Computation;
    /// let rows: Computation = "computation rows {
    ///   parameters N, M, NZ
    ///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
    ///   function crd : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < M}
    ///   assume pos(0) = 0
    ///   assume pos(N) = NZ
    ///   given pos : i32[N + 1], crd : i32[NZ], A : f64[NZ], x : f64[M]
    ///   out y : f64[N]
    ///   s0: y(i) += A(p) * x(crd(p)) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
    /// }".parse()?;
    /// let cost = rows.cost().expect("known bounds").to_string();
    /// assert!(cost.contains("s0: steps N + NZ, streams 20 * N + 12 * NZ, random NZ of 8 in 8 * M"), "{cost}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn cost(&self) -> Option<Cost> {
        let known = self.known();
        let mut groups: Vec<Vec<StatementId>> = Vec::new();
        let sweep = |id: StatementId| self.statement(id).schedule.first();
        for id in self.ids() {
            match groups.last_mut() {
                Some(group) if sweep(group[0]).is_some() && sweep(group[0]) == sweep(id) => {
                    group.push(id);
                }
                _ => groups.push(vec![id]),
            }
        }
        let sweeps = groups.iter().map(|group| {
            let names = group.iter().map(|id| self.statement(*id).name.clone());
            Some(Sweep {
                statements: names.collect(),
                work: self.work(group, &known)?,
            })
        });
        let made = self.spaces.iter().filter(|space| space.role != Role::Given);
        let made = made.filter(|space| !space.extents.is_empty());
        let mut cost = Cost {
            name: self.name.clone(),
            arrays: sum(made.map(bytes)),
            sweeps: sweeps.collect::<Option<_>>()?,
        };
        cost.replace(&Values::of(self));
        Some(cost)
    }

    /// What statements that go through their points together do.
    fn work(&self, group: &[StatementId], known: &Declarations) -> Option<Work> {
        let mut spaces = Vec::new();
        let mut work = Gathered::default();
        for id in group {
            let statement = self.statement(*id);
            let is_first = !spaces.contains(&&statement.space);
            if is_first {
                spaces.push(&statement.space);
            }
            for points in points(&statement.space, known)? {
                if is_first {
                    work.steps.push(points.steps());
                }
                let touched = self.accesses_of(*id, &points);
                for touch in touched {
                    work.touch(touch);
                }
                for (window, keys) in statement.value.windows() {
                    self.window(*id, (window, keys), &points, &mut work);
                }
            }
        }
        Some(work.finish())
    }

    /// What a statement reads and writes at its points.
    fn accesses_of(&self, id: StatementId, points: &Points) -> Vec<Touch> {
        let statement = self.statement(id);
        let mut touched = Vec::new();
        let mut add = |name: &str, indices: &[Expression], times: i64| {
            let space = self.space(name).filter(|it| !it.extents.is_empty());
            if let Some(space) = space {
                touched.push(self.touch(id, points, (space, indices), times));
            }
        };
        let times = match statement.update {
            Update::Assign => 1,
            _ => 2,
        };
        add(&statement.target.space, &statement.target.indices, times);
        for access in statement.value.entries() {
            // Counts go on from a copy of `f` in `f(k) + ordinal(k of n)`.
            if !is_start(&statement.value, access) {
                add(&access.space, &access.indices, 1);
            }
        }
        let constraints = statement.space.parts().iter().flat_map(|p| p.constraints());
        let indices = statement.value.entries().into_iter();
        let indices = indices
            .chain([&statement.target])
            .flat_map(|it| &it.indices);
        let all = constraints
            .flat_map(Constraint::expressions)
            .chain(indices)
            .chain(statement.value.expressions());
        for e in all {
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e {
                    add(name, arguments, 1);
                }
            });
        }
        touched
    }

    fn touch(
        &self,
        id: StatementId,
        points: &Points,
        (space, indices): (&DataSpace, &[Expression]),
        times: i64,
    ) -> Touch {
        let indices: Vec<Expression> = indices.iter().map(|e| points.resolved(e)).collect();
        let innermost = indices.iter().filter_map(|e| points.innermost(e)).max();
        let count = match innermost {
            Some(at) => points.loops[at].1.clone(),
            None => Expression::Integer(1),
        };
        let is_stream = match (&indices[..], innermost) {
            (_, None) => true,
            ([index], Some(at)) => is_affine(index, points.loops[at].0) || self.ascends(id, index),
            _ => false,
        };
        Touch {
            space: space.name.clone(),
            index: indices.into_iter().map(without_constant).collect(),
            count,
            bytes: times * size(space),
            array: (!is_stream).then(|| bytes(space)),
        }
    }

    /// Whether an index never falls from one point of a statement to the next.
    fn ascends(&self, id: StatementId, index: &Expression) -> bool {
        // An entry that counts points ascends, and no declaration says so.
        if let Expression::Call(name, arguments) = index
            && self.numbers_in_order(name, arguments, self.statement(id))
        {
            return true;
        }
        let key = Key {
            value: index.clone(),
            extent: Expression::Integer(0),
        };
        self.keys_ascend(id, &[key])
    }

    /// Whether an array holds numbers that a statement over the same points assigned in order.
    fn numbers_in_order(&self, array: &str, at: &[Expression], reader: &Statement) -> bool {
        let mut writers = self.writers(array).map(|id| (id, self.statement(id)));
        writers.any(|(id, writer)| {
            let windows = writer.value.windows();
            let is_number = matches!(writer.value, Value::Window(..));
            is_number
                && writer.space == reader.space
                && writer.target.indices == at
                && windows.iter().all(|it| self.is_running(id, *it))
        })
    }

    /// Whether a window only counts points as they come.
    fn is_running(&self, id: StatementId, (window, keys): (Window, &[Key])) -> bool {
        match (window, keys) {
            (Window::Slot, _) => false,
            (_, []) => true,
            (Window::Ordinal, _) => false,
            (_, keys) => self.keys_ascend(id, keys),
        }
    }

    /// The steps and bytes of numbering the points of a statement by a window.
    fn window(
        &self,
        id: StatementId,
        (window, keys): (Window, &[Key]),
        points: &Points,
        work: &mut Gathered,
    ) {
        let n = points.count();
        let times = |bytes: i64, e: &Expression| product(Expression::Integer(bytes), e.clone());
        let extent = |at: usize| keys[at].extent.clone();
        if self.is_running(id, (window, keys)) || keys.is_empty() {
            return;
        }
        if window != Window::Slot && self.keys_ascend(id, keys) {
            return;
        }
        let mut anywhere = |bytes: i64, array: Expression| {
            work.random.push(Random {
                count: n.clone(),
                bytes,
                array,
            });
        };
        match (window, keys) {
            (Window::Slot, _) => {
                anywhere(2, extent(1));
                work.streams.push(extent(1));
            }
            // A count for each value of the key.
            (Window::Ordinal, [_]) => {
                anywhere(16, times(8, &extent(0)));
                work.streams.push(times(16, &extent(0)));
            }
            // The keys are listed and counted, and their places numbered.
            (_, [_]) => {
                anywhere(8, times(4, &extent(0)));
                anywhere(8, times(4, &extent(0)));
                work.streams.push(times(8, &extent(0)));
                work.streams.push(times(28, &n));
                work.steps.push(times(3, &n));
                work.steps.push(extent(0));
            }
            // A table of the other key has a mark for each value, which every point looks up twice.
            (Window::DenseRank, [_, _]) if self.keys_ascend(id, &keys[..1]) => {
                anywhere(8, times(4, &extent(1)));
                anywhere(4, times(4, &extent(1)));
                work.streams.push(times(8, &extent(1)));
                work.streams.push(times(4, &n));
                work.steps.push(n.clone());
            }
            // Words are grouped by the first key, and sorted by the others in each group.
            _ => {
                anywhere(8, times(4, &extent(0)));
                anywhere(16, times(8, &n));
                work.streams.push(times(8, &extent(0)));
                work.streams.push(times(36, &n));
                let each = Expression::FloorDivide(
                    Box::new(sum([n.clone(), extent(0)])),
                    Box::new(extent(0)),
                );
                let sorted = Expression::Call(LOG2.to_owned(), vec![each]);
                work.steps.push(times(3, &n));
                work.steps.push(product(n.clone(), sorted));
                work.steps.push(extent(0));
            }
        }
    }
}

/// Entries and integers whose values are known: `A_pos1(N0)` is `A_pos1_end`.
struct Values(Vec<(Expression, Expression)>);

impl Values {
    fn of(computation: &Computation) -> Self {
        let mut values = Vec::new();
        for statement in &computation.statements {
            let Access { space, indices } = &statement.target;
            let is_only = computation.writers(space).count() == 1;
            let value = match &statement.value {
                Value::Parameter(name) => Expression::Constant(name.clone()),
                Value::Integer(n) => Expression::Integer(*n),
                _ => continue,
            };
            let is_once = statement.update == Update::Assign && statement.variables().len() == 0;
            if is_only && is_once && indices.is_empty() {
                values.push((Expression::Constant(space.clone()), value));
            }
        }
        let assumptions = computation.declarations.assumptions().iter();
        for (left, comparison, right) in assumptions.flat_map(Constraint::links) {
            let sides = [(left, right), (right, left)];
            let mut calls = sides.into_iter().filter(|(side, value)| {
                matches!(side, Expression::Call(..)) && !matches!(value, Expression::Call(..))
            });
            if comparison == Comparison::Equal
                && let Some((call, value)) = calls.next()
            {
                values.push((sum([call.clone()]), value.clone()));
            }
        }
        Self(values)
    }
}

impl Rewrite for Values {
    fn whole(&self, e: &Expression) -> Option<Expression> {
        let known = self.0.iter().find(|(known, _)| known == e);
        known.map(|(_, value)| value.clone())
    }
}

/// Whether a value is `f(k) + ordinal(k of n)`, and the access its `f(k)`.
fn is_start(value: &Value, access: &Access) -> bool {
    let Value::Binary(Operator::Add, start, number) = value else {
        return false;
    };
    let (Value::Entry(start), Value::Window(Window::Ordinal, keys)) = (&**start, &**number) else {
        return false;
    };
    let [key] = &keys[..] else { return false };
    start == access && start.indices == [key.value.clone()]
}

/// An array as it is touched at the points of a sweep.
struct Touch {
    space: String,
    index: Vec<Expression>,
    count: Expression,
    bytes: i64,
    /// The bytes of the array, if it is not gone through in order.
    array: Option<Expression>,
}

/// The parts of a sweep's work.
#[derive(Default)]
struct Gathered {
    steps: Vec<Expression>,
    streams: Vec<Expression>,
    random: Vec<Random>,
    touched: Vec<Touch>,
}

impl Gathered {
    /// Adds what is touched, once for each entry: a value that is read and written moves twice.
    fn touch(&mut self, touch: Touch) {
        let mut touched = self.touched.iter_mut();
        let like = |it: &&mut Touch| {
            it.space == touch.space && it.index == touch.index && it.count == touch.count
        };
        match touched.find(like) {
            Some(found) => found.bytes = found.bytes.max(touch.bytes),
            None => self.touched.push(touch),
        }
    }

    fn finish(mut self) -> Work {
        for touch in self.touched {
            match touch.array {
                None => {
                    let moved = product(Expression::Integer(touch.bytes), touch.count);
                    self.streams.push(moved);
                }
                Some(array) => self.random.push(Random {
                    count: touch.count,
                    bytes: touch.bytes,
                    array,
                }),
            }
        }
        Work {
            steps: sum(self.steps),
            streams: sum(self.streams),
            random: self.random,
        }
    }
}

impl Cost {
    /// Replaces entries and names by their values, twice: a value may have another in it.
    fn replace(&mut self, values: &Values) {
        let put = |e: &mut Expression| {
            for _ in 0..2 {
                *e = sum([e.rewritten(values)]);
            }
        };
        put(&mut self.arrays);
        for Sweep { work, .. } in &mut self.sweeps {
            put(&mut work.steps);
            put(&mut work.streams);
            for random in &mut work.random {
                put(&mut random.count);
                put(&mut random.array);
            }
        }
    }
}

/// The variables of an expression.
pub(super) fn variables(e: &Expression) -> Vec<Variable> {
    let mut found = BTreeSet::new();
    e.visit(&mut |e| {
        if let Expression::Variable(variable) = e {
            found.insert(*variable);
        }
    });
    found.into_iter().collect()
}

/// Whether an index goes on by some entries with each iteration of its innermost loop.
fn is_affine(index: &Expression, innermost: Variable) -> bool {
    let mut has_call = false;
    index.visit(&mut |e| {
        has_call |= matches!(
            e,
            Expression::Call(..) | Expression::FloorDivide(..) | Expression::Modulo(..)
        );
    });
    let next = sum([Expression::Variable(innermost), Expression::Integer(1)]);
    let later = index.rewritten(&Replaced(innermost, &next));
    let step = difference(later, index.clone());
    !has_call && matches!(step, Expression::Integer(n) if n.abs() <= STRIDE)
}

/// An index without what is added to it, so that neighbours are alike.
fn without_constant(index: Expression) -> Expression {
    struct Zero;
    impl Rewrite for Zero {
        fn variable(&self, _: Variable) -> Expression {
            Expression::Integer(0)
        }
    }
    match sum([index.rewritten(&Zero)]) {
        Expression::Integer(n) => difference(index, Expression::Integer(n)),
        _ => sum([index]),
    }
}

/// The bytes of one entry.
fn size(space: &DataSpace) -> i64 {
    i64::try_from(space.element.size()).expect("a few bytes")
}

/// The bytes of an array.
fn bytes(space: &DataSpace) -> Expression {
    let extents = space.extents.iter().cloned();
    extents.fold(Expression::Integer(size(space)), product)
}
