//! Points that are a place each: those of segments that lie one behind the other, and those
//! whose other variables follow from the place.
//!
//! ```text
//! {[i, q, j] : 0 <= i < N && pos(i) <= q < pos(i + 1) && crd(q) = j && 0 <= j < M}
//!              q runs from pos(0) to pos(N), once each          j follows from q
//! ```

use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Monotone, Set, Variable,
};

use crate::computation::Statement;

/// Where a variable runs through all segments of a function: where they have to begin, and
/// where they end.
pub fn in_segments(
    statement: &Statement,
    place: Variable,
    known: &Declarations,
) -> Option<(Vec<Constraint>, Expression)> {
    let [part] = statement.space.parts() else {
        return None;
    };
    let at = Expression::Variable(place);
    let links: Vec<(&Expression, Comparison, &Expression)> = (part.constraints().iter())
        .flat_map(Constraint::links)
        .collect();
    let below = links.iter().find_map(|(left, comparison, right)| {
        (*comparison == Comparison::LessEqual && **right == at).then_some(*left)
    });
    let Some(Expression::Call(name, arguments)) = below else {
        return None;
    };
    let [Expression::Variable(parent)] = &arguments[..] else {
        return None;
    };
    let of = Expression::Variable(*parent);
    let one = Box::new(Expression::Integer(1));
    let next = Expression::Add(Box::new(of.clone()), one);
    let end = Expression::Call(name.clone(), vec![next]);
    let has = |left: &Expression, comparison, right: &Expression| {
        links.contains(&(left, comparison, right))
    };
    let zero = Expression::Integer(0);
    let last = links.iter().find_map(|(left, comparison, right)| {
        (*comparison == Comparison::Less && **left == of).then_some((*right).clone())
    })?;
    let is_monotone = known.function(name)?.monotone == Some(Monotone::Nondecreasing);
    let is_segment = has(&at, Comparison::Less, &end)
        && has(&zero, Comparison::LessEqual, &of)
        && !mentions(&last, part);
    if !is_monotone || !is_segment {
        return None;
    }
    let begin = below.expect("just found").clone();
    let bounds = [
        (begin, Comparison::LessEqual, at.clone()),
        (at, Comparison::Less, end),
        (zero.clone(), Comparison::LessEqual, of.clone()),
        (of, Comparison::Less, last.clone()),
    ];
    if !is_all_within(part, &[place, *parent], bounds, known) {
        return None;
    }
    let ends = |at: Expression| Expression::Call(name.clone(), vec![at]);
    Some((vec![ends(zero.clone()).equals(zero)], ends(last)))
}

/// How many points there are, each at a place of its own from 0 on, and what has to hold for
/// that: a variable runs through all segments of a function, or from 0 to an end, and the others
/// follow from it.
///
/// ```
/// use sparsec_computation::{Computation, segments::n_points};
/// let rows: Computation = "computation rows {
///   parameters N, NZ
///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
///   given pos : i32[N + 1], A : f64[NZ]
///   out y : f64[N], n : f64
///   s0: y(i) += A(p) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
///   s1: n += A(p) over {[p] : 0 <= p < NZ}
/// }".parse()?;
/// let counts = rows.ids().map(|id| n_points(rows.statement(id), &rows.declarations));
/// let [Some((conditions, in_segments)), Some((_, in_range))] = &counts.collect::<Vec<_>>()[..]
/// else { panic!("both are counted") };
/// assert_eq!(format!("{in_segments:?}"), r#"Call("pos", [Constant("N")])"#);
/// assert_eq!(conditions.len(), 1); // pos(0) = 0
/// assert_eq!(format!("{in_range:?}"), r#"Constant("NZ")"#);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn n_points(
    statement: &Statement,
    known: &Declarations,
) -> Option<(Vec<Constraint>, Expression)> {
    let [part] = statement.space.parts() else {
        return None;
    };
    let mut places = part.inputs();
    places.find_map(|place| points_at(statement, place, known))
}

/// As [`n_points`], where the place is the value of this variable.
pub fn points_at(
    statement: &Statement,
    place: Variable,
    known: &Declarations,
) -> Option<(Vec<Constraint>, Expression)> {
    let [part] = statement.space.parts() else {
        return None;
    };
    let in_turn = || Some((Vec::new(), in_range(part, place, known)?));
    in_segments(statement, place, known).or_else(in_turn)
}

/// The end of a variable that is each integer from 0 on once.
fn in_range(part: &Conjunction, place: Variable, known: &Declarations) -> Option<Expression> {
    let at = Expression::Variable(place);
    let mut links = part.constraints().iter().flat_map(Constraint::links);
    let end = links.find_map(|(left, comparison, right)| {
        let is_end = comparison == Comparison::Less && *left == at && !mentions(right, part);
        is_end.then(|| right.clone())
    })?;
    let bounds = [
        (Expression::Integer(0), Comparison::LessEqual, at.clone()),
        (at, Comparison::Less, end.clone()),
    ];
    is_all_within(part, &[place], bounds, known).then_some(end)
}

/// Whether a part holds all values of some variables within bounds: the others are defined by
/// them, and what else is said holds of all.
fn is_all_within(
    part: &Conjunction,
    variables: &[Variable],
    bounds: impl IntoIterator<Item = (Expression, Comparison, Expression)>,
    known: &Declarations,
) -> bool {
    let names = part.inputs().map(|v| part.name(v)).collect::<Vec<_>>();
    let mut free = Conjunction::new(names, []);
    for (left, comparison, right) in bounds {
        free.add(Constraint::new(left, comparison, right));
    }
    let Some(definitions) = are_defined(part, variables) else {
        return false;
    };
    for definition in definitions {
        free.add(definition);
    }
    let Ok(free) = Set::new(vec![free]) else {
        return false;
    };
    let mut others = part.constraints().iter();
    others.all(|constraint| free.implies(constraint, known))
}

/// Equations that say the values of all variables of a part but some, each once; `None` if
/// there are others.
pub fn are_defined(part: &Conjunction, free: &[Variable]) -> Option<Vec<Constraint>> {
    if part.exists().len() > 0 {
        return None;
    }
    let mut defined: Vec<Variable> = free.to_vec();
    let mut definitions = Vec::new();
    for (left, comparison, right) in part.constraints().iter().flat_map(Constraint::links) {
        for (side, other) in [(left, right), (right, left)] {
            if let Expression::Variable(variable) = side
                && comparison == Comparison::Equal
                && !defined.contains(variable)
                && variables(other).iter().all(|it| defined.contains(it))
            {
                defined.push(*variable);
                definitions.push(side.clone().equals(other.clone()));
            }
        }
    }
    let mut inputs = part.inputs();
    inputs.all(|v| defined.contains(&v)).then_some(definitions)
}

fn mentions(e: &Expression, part: &Conjunction) -> bool {
    let found = variables(e);
    part.inputs().any(|variable| found.contains(&variable))
}

fn variables(e: &Expression) -> Vec<Variable> {
    let mut found = Vec::new();
    e.visit(&mut |e| {
        if let Expression::Variable(variable) = e {
            found.push(*variable);
        }
    });
    found
}
