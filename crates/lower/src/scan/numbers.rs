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
    Computation, Operator, Role, Statement, StatementId, Update, Value, Window,
};
use sparsec_loop::Buffer;
use sparsec_relation::{Conjunction, Declarations, Expression, Function, Set};

use super::emit::Emitter;
use super::kept::{is_behind, touches};

impl Emitter<'_> {
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

    /// Whether a maximum over all numbers of a function says that they are in its range.
    pub(super) fn is_settled_by_maximum(&self, function: &Function) -> bool {
        is_below_maximum(self.computation, function, self.known).unwrap_or(false)
    }
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
