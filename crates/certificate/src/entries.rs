//! The entries of the source: the points over which statements run.
//!
//! The source's map relates places to coordinates. The variables of a point are some of the
//! elements of both tuples. The map equates each other element with one of them:
//!
//! ```text
//! map     {[q0, q1] -> [i, j] : q0 = i && A_pos1(q0) <= q1 < A_pos1(q0 + 1) && A_crd1(q1) = j && …}
//! points  {[i, q1, j]         :           A_pos1(i) <= q1 < A_pos1(i + 1)   && A_crd1(q1) = j && …}
//! ```
//!
//! Points and pairs of the map are therefore in bijection. Names only select the variables: if a
//! name selects the wrong element, an element has no equation and the check fails, or a later proof
//! does.

use sparsec_base::arena::Id;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Expression, Function, Rewrite, Set, Values,
    Variable,
};

use crate::Refusal;
use crate::side::Side;

/// The entries of a tensor in the source's format.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    /// The constraints on the variables of a point, then on those that exist beside them.
    pub(crate) part: Conjunction,
    /// How many variables exist beside those of a point.
    pub(crate) n_hidden: usize,
    /// The coordinates of the entry at a point.
    pub(crate) coordinates: Vec<Expression>,
    /// The place of the entry's value.
    pub(crate) place: Expression,
    /// How many places there are.
    pub(crate) n_places: Expression,
}

/// Shifts the variables of a point, so that they begin at this number.
pub(crate) struct At(pub(crate) usize);

impl Rewrite for At {
    fn variable(&self, variable: Variable) -> Expression {
        self::variable(self.0 + variable.index())
    }
}

pub(crate) fn variable(index: usize) -> Expression {
    Expression::Variable(Variable::from_index(index))
}

pub(crate) fn zero() -> Expression {
    Expression::Integer(0)
}

pub(crate) fn sum(a: Expression, b: Expression) -> Expression {
    Expression::Add(Box::new(a), Box::new(b))
}

pub(crate) fn minus(a: Expression, b: Expression) -> Expression {
    Expression::Subtract(Box::new(a), Box::new(b))
}

/// The entry of an array at an index.
pub(crate) fn entry(array: &str, index: Expression) -> Expression {
    Expression::Call(array.to_owned(), vec![index])
}

/// `0 <= x`
pub(crate) fn natural(x: Expression) -> Constraint {
    Constraint::new(zero(), Comparison::LessEqual, x)
}

/// `from <= x < end`
pub(crate) fn within(from: Expression, x: Expression, end: Expression) -> Constraint {
    Constraint {
        first: from,
        rest: vec![(Comparison::LessEqual, x), (Comparison::Less, end)],
    }
}

/// Whether an expression has the same value at all points.
pub(crate) fn is_constant(e: &Expression) -> bool {
    let mut is_constant = true;
    e.visit(&mut |e| is_constant &= !matches!(e, Expression::Variable(_)));
    is_constant
}

impl Entries {
    /// The entries as points over variables with these names.
    pub(crate) fn of(
        source: &Side,
        names: &[String],
        known: &Declarations,
    ) -> Result<Self, Refusal> {
        let map = &source.map;
        let elements: Vec<Variable> = map.inputs().chain(map.outputs()).collect();
        let named = |v: Variable| names.iter().position(|name| name == map.name(v));
        let mut values: Vec<Option<usize>> = elements.iter().map(|v| named(*v)).collect();
        let taken = |at: usize| values.contains(&Some(at));
        if let Some(other) = (0..names.len()).find(|at| !taken(*at)) {
            let name = &names[other];
            return Err(Refusal::of(format!(
                "`{name}` is no element of the source's map"
            )));
        }
        // Elements without a name take the variable that the map equates them with.
        let links: Vec<Constraint> = map
            .constraints()
            .iter()
            .flat_map(Constraint::split)
            .collect();
        for _ in 0..elements.len() {
            for link in &links {
                if let (Expression::Variable(a), [(Comparison::Equal, Expression::Variable(b))]) =
                    (&link.first, &link.rest[..])
                {
                    let [a, b] = [a.index(), b.index()];
                    // What exists beside a point does not follow from it.
                    if a.max(b) < values.len() {
                        values[a] = values[a].or(values[b]);
                        values[b] = values[b].or(values[a]);
                    }
                }
            }
        }
        let values: Option<Vec<Expression>> =
            values.into_iter().map(|at| Some(variable(at?))).collect();
        let mut values = values.ok_or_else(|| {
            Refusal::of("the variables of the points do not determine the source's tuple")
        })?;
        let hidden = map.exists().map(|v| map.name(v).to_owned());
        let all: Vec<String> = names.iter().cloned().chain(hidden).collect();
        values.extend((names.len()..all.len()).map(variable));
        let n_hidden = all.len() - names.len();
        let mut part = Conjunction::new(all, []);
        for constraint in map.constraints() {
            let constraint = constraint.rewritten(&Values(&values));
            let mut rest = constraint.rest.iter();
            let is_trivial = rest.all(|(c, e)| *c == Comparison::Equal && *e == constraint.first);
            if !is_trivial && !part.constraints().contains(&constraint) {
                part.add(constraint);
            }
        }
        let n_places = source.n_values()?;
        Ok(Self {
            part,
            n_hidden,
            coordinates: map.outputs().map(|v| values[v.index()].clone()).collect(),
            place: source.place(known)?.rewritten(&Values(&values)),
            n_places,
        })
    }

    /// Keeps to places at which the array `mask` has this value, and declares the array.
    pub(crate) fn mask(&mut self, mask: &str, value: i64) -> Result<Function, Refusal> {
        let stored = entry(mask, self.place.clone());
        self.part.add(stored.equals(Expression::Integer(value)));
        let below = |name: &str, end: Expression| {
            let mut part = Conjunction::new([name], []);
            part.add(within(Expression::Integer(0), variable(0), end));
            Set::new(vec![part]).map_err(|_| Refusal::of("a name has two roles"))
        };
        Ok(Function {
            name: mask.to_owned(),
            domain: below("p", self.n_places.clone())?,
            range: below("b", Expression::Integer(2))?,
            injective: false,
            monotone: None,
        })
    }

    /// Whether a constraint speaks of a variable that exists beside those of a point.
    pub(crate) fn hides(&self, constraint: &Constraint) -> bool {
        let mut hides = false;
        for e in constraint.expressions() {
            e.visit(&mut |e| {
                hides |= matches!(e, Expression::Variable(v) if v.index() >= self.n_visited());
            });
        }
        hides
    }

    /// How many variables a point has, with those that exist beside it.
    pub(crate) fn n(&self) -> usize {
        self.part.n_variables()
    }

    /// How many variables a point has.
    fn n_visited(&self) -> usize {
        self.n() - self.n_hidden
    }

    /// The variables of a point. Their lexicographic order is the order of visits.
    pub(crate) fn tuple(&self) -> Vec<Expression> {
        (0..self.n_visited()).map(variable).collect()
    }

    /// The names of the variables.
    pub(crate) fn names(&self) -> Vec<String> {
        let part = &self.part;
        let names = part.inputs().take(self.n_visited());
        names.map(|v| part.name(v).to_owned()).collect()
    }
}
