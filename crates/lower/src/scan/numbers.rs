//! Arrays of numbers that are filled by what finds the numbers, and that need no check.
//!
//! ```text
//! s0: g(q) = dense_rank(i of N, j of M)   over {[i, q, j] : … each q from 0 to n once …}
//! s1: m max= g(q) + 1                     over the same points
//!
//! function g : {[q] : 0 <= q < n} -> {[r] : 0 <= r < m}
//! ```
//!
//! The points have the places `0, 1, …` in their order, so the list of their numbers is `g`. By
//! `s1` every number lies below `m`. Numbers fit in `g` if as many numbers as there are points do.

use sparsec_base::ElementType;
use sparsec_base::arena::Id;
use sparsec_computation::segments::places_at;
use sparsec_computation::{
    Access, Computation, Key, Operator, Role, Statement, StatementId, Update, Value, Window,
};
use sparsec_loop::Buffer;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Function, Set,
};

use super::emit::Emitter;
use super::kept::{is_behind, touches};

impl Emitter<'_> {
    /// Whether keys of a statement never fall from one of its points to a later one.
    pub(super) fn keys_ascend(&self, number: usize, keys: &[Key]) -> bool {
        let is_same = |(of, what, _): &&(usize, Vec<Key>, bool)| *of == number && what[..] == *keys;
        if let Some((.., answer)) = self.ascending.borrow().iter().find(is_same) {
            return *answer;
        }
        let id = StatementId::from_index(number);
        let answer = self.computation.keys_ascend(id, keys);
        let entry = (number, keys.to_vec(), answer);
        self.ascending.borrow_mut().push(entry);
        answer
    }

    /// The array of a statement that assigns a window, if the list of all numbers is this array.
    pub(super) fn filled_by_window(&self, number: usize) -> Option<Buffer> {
        let statement = &self.computation.statements[number];
        let target = &statement.target.space;
        let space = self.whole.space(target)?;
        let holds_numbers = [ElementType::I32, ElementType::I64].contains(&space.element);
        let is_own = space.role == Role::Temporary && holds_numbers;
        // Others of the stage see the array as the statement leaves it.
        let mut others = self.computation.statements.iter();
        let is_first = others.all(|other| {
            other.name == statement.name || !touches(other, target) || is_behind(other, statement)
        });
        let is_there = !self.in_variables.contains(target) && !self.locals.contains(target);
        let Value::Window(..) = statement.value else {
            return None;
        };
        let id = StatementId::from_index(number);
        let grows = || {
            let place = &statement.target.indices[0];
            self.computation.grows(id, place)
        };
        (is_own && is_first && is_there && assigns_all(statement, None, self.known) && grows())
            .then(|| self.arrays.spaces[target])
    }

    /// Whether all that is assigned to a function are numbers in its range, as the zeros are with which it
    /// begins.
    pub(super) fn is_settled_by_constants(&self, function: &Function) -> bool {
        let range = function.range.as_box();
        let Some([(Expression::Integer(least), Expression::Integer(above))]) = range.as_deref()
        else {
            return false;
        };
        let space = self.whole.space(&function.name);
        let begins_with_zeros = space.is_some_and(|space| space.role == Role::Temporary);
        let is_inside = |n: i64| (*least..*above).contains(&n);
        let mut writers = self.whole.writers(&function.name);
        let is_plain = function.monotone.is_none() && !function.injective;
        is_plain
            && begins_with_zeros
            && is_inside(0)
            && writers.all(|id| {
                let writer = self.whole.statement(id);
                let assigns = writer.update == Update::Assign;
                assigns && matches!(writer.value, Value::Integer(n) if is_inside(n))
            })
    }

    /// Whether a maximum over all numbers of a function says that they are in its range.
    pub(super) fn is_settled_by_maximum(&self, function: &Function) -> bool {
        is_below_maximum(self.computation, function, self.known).unwrap_or(false)
    }
}

/// Whether a table of ranks says that the numbers of a statement lie below `most`:
///
/// ```text
/// keys(k) = 1                         over the points of the statement
/// ranks(x + 1) = ranks(x) + keys(x)   for each x from 0 to K
/// most max= ranks(K)
/// number(p) = ranks(k)                less than ranks(k + 1), which is at most ranks(K)
/// ```
///
/// or the last one for each `x` with `keys(x) = 1`.
pub(super) fn is_below_table(
    whole: &Computation,
    statement: &Statement,
    function: &Function,
) -> Option<bool> {
    let [(Expression::Integer(0), Expression::Constant(most))] = &function.range.as_box()?[..]
    else {
        return None;
    };
    let only = |name: &str| {
        let mut writers = whole.writers(name);
        let writer = writers.next().filter(|_| writers.next().is_none())?;
        let is_own = whole.space(name)?.role == Role::Temporary;
        is_own.then(|| whole.statement(writer))
    };
    let time = |statement: &Statement| match statement.schedule.first() {
        Some(Expression::Integer(time)) => Some(*time),
        _ => None,
    };
    let Value::Entry(rank) = &statement.value else {
        return None;
    };
    let scan = only(&rank.space)?;
    let [x] = &scan.variables().collect::<Vec<_>>()[..] else {
        return None;
    };
    let x = Expression::Variable(*x);
    let Value::Binary(Operator::Add, before, mark) = &scan.value else {
        return None;
    };
    let (Value::Entry(before), Value::Entry(mark)) = (&**before, &**mark) else {
        return None;
    };
    let marks = only(&mark.space)?;
    let [(Expression::Integer(0), end)] = &scan.space.as_box()?[..] else {
        return None;
    };
    let one = Box::new(Expression::Integer(1));
    let is_scan = scan.update == Update::Assign
        && scan.target.indices == [Expression::Add(Box::new(x.clone()), one)]
        && before.space == rank.space
        && before.indices == [x.clone()]
        && mark.indices == [x];
    let is_marked = marks.update == Update::Assign
        && marks.value == Value::Integer(1)
        && (marks.target.indices == rank.indices && marks.space == statement.space
            || is_at_mark(statement, rank, mark, end))
        && whole.space(&mark.space)?.extents == [end.clone()];
    let count = only(most)?;
    let last = Access {
        space: rank.space.clone(),
        indices: vec![end.clone()],
    };
    let is_counted = count.update == Update::Maximum
        && count.value == Value::Entry(last)
        && count.variables().next().is_none();
    let times = [time(marks)?, time(scan)?, time(count)?, time(statement)?];
    let is_in_turn = times.is_sorted_by(|a, b| a < b);
    let is_plain = function.monotone.is_none() && !function.injective;
    Some(is_scan && is_marked && is_counted && is_in_turn && is_plain)
}

/// Whether a statement takes the ranks of all keys below `end` that are marked.
fn is_at_mark(statement: &Statement, rank: &Access, mark: &Access, end: &Expression) -> bool {
    let [x] = &statement.variables().collect::<Vec<_>>()[..] else {
        return false;
    };
    let x = Expression::Variable(*x);
    let zero = Expression::Integer(0);
    let marked = Expression::Call(mark.space.clone(), vec![x.clone()]);
    let wanted = [
        (zero, Comparison::LessEqual, x.clone()),
        (x.clone(), Comparison::Less, end.clone()),
        (marked, Comparison::Equal, Expression::Integer(1)),
    ];
    let [part] = statement.space.parts() else {
        return false;
    };
    let has = |(left, comparison, right): &(Expression, Comparison, Expression)| {
        let mut links = part.constraints().iter().flat_map(Constraint::links);
        links.any(|link| link == (left, *comparison, right))
    };
    rank.indices == [x] && wanted.iter().all(has)
}

/// Whether a statement assigns each entry from 0 on once: all entries below `end`, if it is given.
fn assigns_all(statement: &Statement, end: Option<&Expression>, known: &Declarations) -> bool {
    let [Expression::Variable(place)] = statement.target.indices[..] else {
        return false;
    };
    let places = places_at(statement, place, known);
    places.is_some_and(|places| {
        let anywhere = Set::new(vec![Conjunction::new([""; 0], [])]);
        let is_end = |end: &Expression| {
            let same = places.end.clone().equals(end.clone());
            places.end == *end || anywhere.as_ref().is_ok_and(|it| it.implies(&same, known))
        };
        statement.update == Update::Assign
            && places.from_zero(known).is_none()
            && end.is_none_or(is_end)
    })
}

fn is_below_maximum(
    computation: &Computation,
    function: &Function,
    known: &Declarations,
) -> Option<bool> {
    let (domain, range) = (function.domain.as_box()?, function.range.as_box()?);
    let [(Expression::Integer(0), end)] = &domain[..] else {
        return None;
    };
    let [(Expression::Integer(0), Expression::Constant(most))] = &range[..] else {
        return None;
    };
    let mut writers = computation.writers(&function.name);
    let writer = writers.next().filter(|_| writers.next().is_none())?;
    let numbering = computation.statement(writer);
    let is_number = matches!(
        numbering.value,
        Value::Window(Window::Rank | Window::DenseRank | Window::Ordinal, _)
    );
    let mut maxima = computation.writers(most);
    let maximum = maxima.next().filter(|_| maxima.next().is_none())?;
    let maximum = computation.statement(maximum);
    let is_next = match &maximum.value {
        Value::Binary(Operator::Add, number, one) => {
            **number == Value::Entry(numbering.target.clone()) && **one == Value::Integer(1)
        }
        _ => false,
    };
    let is_maximum = maximum.update == Update::Maximum && maximum.space == numbering.space;
    let is_plain = function.monotone.is_none() && !function.injective;
    Some(is_plain && is_number && is_next && is_maximum && assigns_all(numbering, Some(end), known))
}
