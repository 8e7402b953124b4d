//! Points that are a place each: those of segments that lie one behind the other, and those
//! whose other variables follow from the place.
//!
//! ```text
//! {[i, q, j] : 0 <= i < N && pos(i) <= q < pos(i + 1) && crd(q) = j && 0 <= j < M}
//!              q runs from pos(0) to pos(N), once each          j follows from q
//! ```
//!
//! Segments may lie within segments: with `pos2(q) <= r < pos2(q + 1)` besides, `r` runs from
//! `pos2(pos(0))` to `pos2(pos(N))`.

use sparsec_base::arena::Id as _;
use sparsec_relation::{
    Comparison, Conjunction, Consequences, Constraint, Declarations, Expression, Function,
    Monotone, Rewrite, Set, Variable,
};

use crate::computation::Statement;

/// The places of a statement's points: each from the begin to the end belongs to one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The first place.
    pub begin: Expression,
    /// The place behind the last one.
    pub end: Expression,
}

impl Places {
    /// The constraint that the first place is 0, unless that is known.
    pub fn from_zero(&self, known: &Declarations) -> Option<Constraint> {
        let is_zero = self.begin.clone().equals(Expression::Integer(0));
        (!is_known(&is_zero, known)).then_some(is_zero)
    }
}

/// The places of a statement's points, if one of its variables is a place.
///
/// ```
/// use sparsec_computation::{Computation, segments::places};
/// let rows: Computation = "computation rows {
///   parameters N, NZ
///   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
///   given pos : i32[N + 1], A : f64[NZ]
///   out y : f64[N], n : f64
///   s0: y(i) += A(p) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
///   s1: n += A(p) over {[p] : 0 <= p < NZ}
/// }".parse()?;
/// let ends = rows.ids().map(|id| places(rows.statement(id), &rows.known()));
/// let ends: Vec<_> = ends.map(|it| format!("{:?}", it.expect("places").end)).collect();
/// assert_eq!(ends, [r#"Call("pos", [Constant("N")])"#, r#"Constant("NZ")"#]);
///
/// let tree: Computation = "computation tree {
///   parameters N, NF, NZ
///   function pos : {[i] : 0 <= i <= N} -> {[q] : 0 <= q <= NF} nondecreasing
///   function end : {[q] : 0 <= q <= NF} -> {[r] : 0 <= r <= NZ} nondecreasing
///   given pos : i32[N + 1], end : i32[NF + 1], A : f64[NZ]
///   out y : f64[N]
///   s0: y(i) += A(r) over {[i, q, r] : 0 <= i < N && pos(i) <= q < pos(i + 1) && 0 <= q < NF && end(q) <= r < end(q + 1)}
/// }".parse()?;
/// let end = places(&tree.statements[0], &tree.known()).expect("places").end;
/// assert_eq!(format!("{end:?}"), r#"Call("end", [Call("pos", [Constant("N")])])"#);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn places(statement: &Statement, known: &Declarations) -> Option<Places> {
    let mut variables = statement.variables();
    variables.find_map(|place| places_at(statement, place, known))
}

/// The places of a statement's points, which are the values of this variable: it runs through all
/// segments of a function, or from one bound to another.
pub fn places_at(statement: &Statement, place: Variable, known: &Declarations) -> Option<Places> {
    let [part] = statement.space.parts() else {
        return None;
    };
    in_segments(part, place, known).or_else(|| in_list(part, place, known))
}

fn in_segments(part: &Conjunction, place: Variable, known: &Declarations) -> Option<Places> {
    let mut chain = Chain::default();
    let places = chain.segments(part, place, known)?;
    is_all_within(part, &chain.variables, chain.bounds, known).then_some(places)
}

/// Segments that lie within segments, from the innermost variable on.
#[derive(Default)]
struct Chain {
    variables: Vec<Variable>,
    bounds: Vec<(Expression, Comparison, Expression)>,
}

impl Chain {
    /// The places of all segments that a variable runs through: `pos(b) <= q < pos(e)`, where their
    /// parents run from `b` to `e`, in segments or between fixed bounds.
    fn segments(
        &mut self,
        part: &Conjunction,
        place: Variable,
        known: &Declarations,
    ) -> Option<Places> {
        let at = Expression::Variable(place);
        let links: Vec<(&Expression, Comparison, &Expression)> = (part.constraints().iter())
            .flat_map(Constraint::links)
            .collect();
        let mut below = links.iter().filter_map(|(left, comparison, right)| {
            let is_below = *comparison == Comparison::LessEqual && **right == at;
            match left {
                Expression::Call(name, arguments) if is_below => match &arguments[..] {
                    [Expression::Variable(parent)] => Some((name, *parent)),
                    _ => None,
                },
                _ => None,
            }
        });
        let (name, parent) = below.next()?;
        if parent == place || self.variables.contains(&place) {
            return None;
        }
        let of = Expression::Variable(parent);
        let call = |at: Expression| Expression::Call(name.clone(), vec![at]);
        let one = Box::new(Expression::Integer(1));
        let next = call(Expression::Add(Box::new(of.clone()), one));
        let function = known.function(name)?;
        let is_segment = function.monotone == Some(Monotone::Nondecreasing)
            && links.contains(&(&at, Comparison::Less, &next));
        if !is_segment {
            return None;
        }
        self.variables.push(place);
        self.bounds.extend([
            (call(of), Comparison::LessEqual, at.clone()),
            (at, Comparison::Less, next),
        ]);
        let parents = match self.segments(part, parent, known) {
            Some(parents) => parents,
            None => self.fixed(&links, parent)?,
        };
        let parents = Places {
            begin: named(parents.begin, known),
            end: named(parents.end, known),
        };
        // The ends are looked up also where there is no segment.
        let mut ends = [&parents.begin, &parents.end].into_iter();
        ends.all(|at| is_in_domain(function, at, known))
            .then(|| Places {
                begin: call(parents.begin.clone()),
                end: call(parents.end.clone()),
            })
    }

    /// The fixed bounds of a variable.
    fn fixed(
        &mut self,
        links: &[(&Expression, Comparison, &Expression)],
        variable: Variable,
    ) -> Option<Places> {
        let of = Expression::Variable(variable);
        let mut links = links.iter();
        let begin = links.clone().find_map(|(left, comparison, right)| {
            let is_bound = *comparison == Comparison::LessEqual && **right == of;
            (is_bound && is_fixed(left)).then(|| (*left).clone())
        })?;
        let end = links.find_map(|(left, comparison, right)| {
            let is_bound = *comparison == Comparison::Less && **left == of;
            (is_bound && is_fixed(right)).then(|| (*right).clone())
        })?;
        self.variables.push(variable);
        self.bounds.extend([
            (begin.clone(), Comparison::LessEqual, of.clone()),
            (of, Comparison::Less, end.clone()),
        ]);
        Some(Places { begin, end })
    }
}

/// The number or constant that an entry is assumed to be, or the entry.
pub(crate) fn named(entry: Expression, known: &Declarations) -> Expression {
    let has_no_call = |e: &Expression| {
        let mut has_call = false;
        e.visit(&mut |e| has_call |= matches!(e, Expression::Call(..)));
        !has_call
    };
    let links = known.assumptions().iter().flat_map(Constraint::links);
    let mut names = links.filter(|(_, comparison, _)| *comparison == Comparison::Equal);
    let name = names.find_map(|(left, _, right)| match (*left == entry, *right == entry) {
        (true, _) if has_no_call(right) => Some(right.clone()),
        (_, true) if has_no_call(left) => Some(left.clone()),
        _ => None,
    });
    name.unwrap_or(entry)
}

fn in_list(part: &Conjunction, place: Variable, known: &Declarations) -> Option<Places> {
    let at = Expression::Variable(place);
    let (mut begin, mut end) = (None, None);
    for (left, comparison, right) in part.constraints().iter().flat_map(Constraint::links) {
        match comparison {
            Comparison::LessEqual if *right == at && is_fixed(left) => begin = Some(left.clone()),
            Comparison::Less if *left == at && is_fixed(right) => end = Some(right.clone()),
            _ => {}
        }
    }
    let (begin, end) = (begin?, end?);
    let bounds = [
        (begin.clone(), Comparison::LessEqual, at.clone()),
        (at, Comparison::Less, end.clone()),
    ];
    is_all_within(part, &[place], bounds, known).then_some(Places { begin, end })
}

/// Whether a part holds all values of some variables within bounds: the others are defined by
/// them, and each constraint holds of all these values.
fn is_all_within(
    part: &Conjunction,
    variables: &[Variable],
    bounds: impl IntoIterator<Item = (Expression, Comparison, Expression)>,
    known: &Declarations,
) -> bool {
    let names: Vec<&str> = part.inputs().map(|v| part.name(v)).collect();
    let mut free = Conjunction::new(names, []);
    for (left, comparison, right) in bounds {
        free.add(Constraint::new(left, comparison, right));
    }
    let stated = are_defined(part, variables);
    let solved = match stated {
        Some(_) => None,
        None => solved(part, variables, known),
    };
    let Some(definitions) = stated.or_else(|| solved.as_ref().map(Solved::equations)) else {
        return false;
    };
    for definition in definitions {
        free.add(definition);
    }
    let Ok(free) = Set::new(vec![free]) else {
        return false;
    };
    let free = Consequences::of(&free, known);
    let mut constraints = part.constraints().iter();
    constraints.all(|constraint| match &solved {
        None => free.implies(constraint),
        Some(values) => free.implies(&constraint.rewritten(values)),
    })
}

/// Whether an expression without variables is known to be an argument of a function.
pub fn is_in_domain(function: &Function, at: &Expression, known: &Declarations) -> bool {
    let domain = function.domain.as_box();
    let Some([(from, end)]) = domain.as_deref() else {
        return false;
    };
    is_known(
        &Constraint {
            first: from.clone(),
            rest: vec![
                (Comparison::LessEqual, at.clone()),
                (Comparison::Less, end.clone()),
            ],
        },
        known,
    )
}

/// Whether a constraint without variables is known to hold.
fn is_known(constraint: &Constraint, known: &Declarations) -> bool {
    let anywhere = Set::new(vec![Conjunction::new([""; 0], [])]);
    anywhere.is_ok_and(|anywhere| anywhere.implies(constraint, known))
}

/// Equations that say the values of all variables of a part but some, each once; `None` if
/// there are others.
fn are_defined(part: &Conjunction, free: &[Variable]) -> Option<Vec<Constraint>> {
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

/// The values of all variables of a part as expressions of some of them.
struct Solved(Vec<Expression>);

impl Rewrite for Solved {
    fn variable(&self, variable: Variable) -> Expression {
        self.0[variable.index()].clone()
    }
}

impl Solved {
    /// Equations that say the values.
    fn equations(&self) -> Vec<Constraint> {
        let values = self.0.iter().enumerate();
        let values = values.map(|(n, e)| (Expression::Variable(Variable::from_index(n)), e));
        let others = values.filter(|(variable, value)| variable != *value);
        others
            .map(|(variable, value)| variable.equals(value.clone()))
            .collect()
    }
}

/// The values that the constraints of a part determine, if they are those of all variables.
fn solved(part: &Conjunction, free: &[Variable], known: &Declarations) -> Option<Solved> {
    if part.exists().len() > 0 {
        return None;
    }
    let values = part.solved_for(free, known).into_iter();
    values.collect::<Option<_>>().map(Solved)
}

fn is_fixed(e: &Expression) -> bool {
    variables(e).is_empty()
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
