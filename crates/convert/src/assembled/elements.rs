//! The tuple of an entry in a format that states its assembly: which elements the stated statements
//! give.
//!
//! ```text
//! map        k = ptr(c) + C * s + r && i = perm(C * c + r) && j = col(k)
//! stated     to(n) = B_ptr(chunk(i)) + C * nth(n) + place(i) mod C
//!            B_col(to(n)) = j
//!
//! k          to(n)           B_col is written there, and the map reads col at k
//! c, s, r    chunk(i), nth(n), place(i) mod C      the terms of to(n) in the place of those of k
//! ```
//!
//! The certificate refers to this tuple, and its checker has to find that the map holds.

use sparsec_base::arena::Id;
use sparsec_computation::{Computation, Role, Statement, Update};
use sparsec_relation::{Comparison, Expression, Rewrite, Variable};

use super::NUMBER;
use crate::cases::{Case, CaseKind};
use crate::entries::Entries;
use crate::named::Named;

/// The elements of the destination's tuple at an entry, as far as the stated computation names them:
/// the place of the value, an array of one integer for each entry with the bounds of the
/// element, and elements that equations of the map determine from these.
pub(super) fn elements(named: &Named, computation: &Computation, entries: &Entries) -> Vec<Case> {
    let map = &named.map;
    let copies = computation.statements.iter();
    let copies = copies.filter(|it| it.target.space == "B" && it.update == Update::Assign);
    let copies: Vec<&Statement> = copies.filter(|it| !it.value.entries().is_empty()).collect();
    // Several statements, or one over some entries alone, do not give every entry its tuple.
    let [copy] = copies[..] else {
        return Vec::new();
    };
    let n_variables = copy.variables().len();
    if entries
        .coordinates
        .iter()
        .any(|it| it.index() >= n_variables)
    {
        return Vec::new();
    }
    let mut values: Vec<Option<Expression>> = vec![None; map.n_variables()];
    for (output, coordinate) in map.outputs().zip(&entries.coordinates) {
        values[output.index()] = Some(Expression::Variable(*coordinate));
    }
    if let (Some(element), Some(place)) = (place_of_values(named), copy.target.indices.first()) {
        values[element.index()] = Some(place.clone());
    }
    let n = Expression::Variable(Variable::from_index(0));
    for element in map.inputs().chain(map.exists()) {
        if values[element.index()].is_none() {
            let within = || array_within(named, computation, element);
            let at_entry = |array| Expression::Call(array, vec![n.clone()]);
            let written = written_at(named, (computation, copy), element);
            values[element.index()] = written.or_else(|| within().map(at_entry));
        }
    }
    let comparisons = named.comparisons();
    let equations = comparisons.iter().filter_map(|link| match &link.rest[..] {
        [(Comparison::Equal, right)] => Some((&link.first, right)),
        _ => None,
    });
    let equations: Vec<(&Expression, &Expression)> = equations.collect();
    for (a, b) in equations.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]) {
        if let Some(Expression::Call(array, _)) = at_values(a, &values)
            && let Some(id) = computation.writers(&array).last()
            && let Some(sum) = computation.statement(id).value.to_expression()
        {
            by_terms(b, &sum, &mut values);
        }
    }
    for _ in map.inputs() {
        for (a, b) in equations.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]) {
            if let Expression::Variable(element) = a
                && values[element.index()].is_none()
            {
                values[element.index()] = at_values(b, &values);
            }
        }
    }
    let found = map.inputs().chain(map.exists()).filter_map(|element| {
        let unknown = map.name(element).to_owned();
        let value = values[element.index()].as_ref()?;
        let value = copy.names().text_of(value);
        Some(Case {
            part: 0,
            kind: CaseKind::Stated,
            found: vec![format!("{unknown} = {value}")],
            unknown,
        })
    });
    found.collect()
}

/// The element of the tuple that is the place of its value.
fn place_of_values(named: &Named) -> Option<Variable> {
    let [part] = named.data.parts() else {
        return None;
    };
    let place = Expression::Variable(part.outputs().next()?);
    let mut links = part.constraints().iter().flat_map(|it| it.links());
    links.find_map(|(a, comparison, b)| match (a, b) {
        _ if comparison != Comparison::Equal => None,
        (Expression::Variable(v), out) | (out, Expression::Variable(v)) if *out == place => {
            Some(*v)
        }
        _ => None,
    })
}

/// The index at which a statement over entries writes their coordinates into an array that the map
/// reads at an element.
fn written_at(
    named: &Named,
    (computation, copy): (&Computation, &Statement),
    element: Variable,
) -> Option<Expression> {
    let element = [Expression::Variable(element)];
    let comparisons = named.comparisons();
    let arrays = comparisons.iter().filter_map(|link| {
        let (comparison, right) = &link.rest[0];
        let mut sides = [&link.first, right].into_iter();
        let call = sides.find_map(|side| match side {
            Expression::Call(array, at) if at[..] == element => Some(array),
            _ => None,
        });
        call.filter(|_| *comparison == Comparison::Equal)
    });
    let mut indices = arrays.filter_map(|array| {
        let statements = computation.statements.iter();
        let mut writers = statements.filter(|it| it.target.space == *array);
        let writer = writers.find(|it| it.space == copy.space && it.update == Update::Assign)?;
        writer.target.indices.first().cloned()
    });
    indices.next()
}

/// Gives variables of an expression the values that stand in their place in another.
fn by_terms(e: &Expression, other: &Expression, values: &mut [Option<Expression>]) {
    use Expression::{Add, Call, Multiply, Subtract, Variable};
    match (e, other) {
        (Variable(v), value) => {
            values[v.index()].get_or_insert_with(|| value.clone());
        }
        (Add(a, b), Add(x, y))
        | (Subtract(a, b), Subtract(x, y))
        | (Multiply(a, b), Multiply(x, y)) => {
            by_terms(a, x, values);
            by_terms(b, y, values);
        }
        (Call(f, a), Call(g, x)) if f == g => {
            std::iter::zip(a, x).for_each(|(a, x)| by_terms(a, x, values));
        }
        _ => {}
    }
}

/// The only temporary array of one integer for each entry whose range are the bounds of an element.
fn array_within(named: &Named, computation: &Computation, element: Variable) -> Option<String> {
    let element = Expression::Variable(element);
    let (mut from, mut end) = (None, None);
    for link in named.comparisons() {
        let (comparison, right) = &link.rest[0];
        match comparison {
            Comparison::LessEqual if *right == element => from = Some(link.first.clone()),
            Comparison::Less if link.first == element => end = Some(right.clone()),
            _ => {}
        }
    }
    let bounds = from.zip(end)?;
    let of_entries = [Expression::Constant(format!("A_{NUMBER}"))];
    let mut arrays = computation.spaces.iter().filter(|space| {
        let function = computation.declarations.function(&space.name);
        let range = function.and_then(|it| it.range.as_box()?.pop());
        space.role == Role::Temporary
            && space.extents[..] == of_entries
            && range.as_ref() == Some(&bounds)
    });
    let array = arrays.next().filter(|_| arrays.next().is_none())?;
    Some(array.name.clone())
}

/// An expression of the map at an entry, if all variables in it have values.
fn at_values(e: &Expression, values: &[Option<Expression>]) -> Option<Expression> {
    let mut is_known = true;
    e.visit(&mut |e| {
        if let Expression::Variable(v) = e {
            is_known &= values[v.index()].is_some();
        }
    });
    is_known.then(|| e.rewritten(&Found(values)).simplified())
}

/// Values in place of variables that have one.
struct Found<'a>(&'a [Option<Expression>]);

impl Rewrite for Found<'_> {
    fn variable(&self, variable: Variable) -> Expression {
        let value = self.0[variable.index()].clone();
        value.unwrap_or(Expression::Variable(variable))
    }
}
