//! Declarations as clauses. A **clause** is a disjunction of comparisons, its literals; it holds
//! for all values of its variables.
//!
//! ```text
//! f nondecreasing                  a > b         or  f(a) <= f(b)
//! f injective                      f(a) != f(b)  or  a = b
//! P injective, of pairs            P.0(a) != P.0(b)  or  P.1(a) != P.1(b)  or  a = b
//! forall x : a < x => b < f(x)     a >= x        or  b < f(x)
//! LEX(a, b) < LEX(c, d)            a <= c,  and  a != c  or  b < d
//! ```

use sparsec_base::arena::Id;

use super::{Declarations, Function, Monotone, Quantifier};
use crate::expression::{Comparison, Constraint, Expression, Values, Variable};
use crate::key::LEX;
use crate::parse::expression::Alternatives;
use crate::relation::Relation;

/// A disjunction of comparisons that holds for all values of its variables.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) n_variables: usize,
    /// Whether it comes from a quantifier.
    pub(crate) is_stated: bool,
    pub(crate) literals: Vec<Constraint>,
}

impl Monotone {
    /// Pairs of comparisons: if the arguments compare like the first, the values do like the
    /// second.
    fn implications(self) -> Vec<(Comparison, Comparison)> {
        use Comparison::{GreaterEqual, Less, LessEqual};
        match self {
            Self::Nondecreasing => vec![(LessEqual, LessEqual)],
            // The weak implication holds too, since equal arguments have equal values.
            Self::Increasing => vec![(LessEqual, LessEqual), (Less, Less)],
            Self::Nonincreasing => vec![(LessEqual, GreaterEqual)],
            Self::Decreasing => vec![(LessEqual, GreaterEqual), (Less, Comparison::Greater)],
        }
    }
}

impl Declarations {
    /// The clauses of monotone and injective functions and of quantifiers.
    pub(crate) fn clauses(&self) -> Vec<Clause> {
        let mut clauses = Vec::new();
        for function in &self.functions {
            clauses.extend(function.clauses());
        }
        for tuple in &self.tuples {
            clauses.extend(tuple.clauses());
        }
        for key in self.keys.iter().filter(|key| key.is_injective()) {
            clauses.extend(injective(key.words()));
        }
        for quantifier in &self.quantifiers {
            self.add_clauses(quantifier, &mut clauses);
        }
        clauses
    }

    fn add_clauses(&self, quantifier: &Quantifier, clauses: &mut Vec<Clause>) {
        let mut refuted = vec![Vec::new()];
        for premise in quantifier
            .premises
            .constraints()
            .iter()
            .flat_map(Constraint::split)
        {
            let (comparison, right) = &premise.rest[0];
            let choices = self.holding(&premise.first, comparison.negated(), right);
            let with = |before: &Vec<Constraint>| {
                let before = before.clone();
                choices
                    .iter()
                    .map(move |after| [&before[..], &after[..]].concat())
            };
            refuted = refuted.iter().flat_map(with).collect();
        }
        for conclusion in quantifier.conclusions.iter().flat_map(Constraint::split) {
            let (comparison, right) = &conclusion.rest[0];
            for choice in self.holding(&conclusion.first, *comparison, right) {
                clauses.extend(refuted.iter().map(|refuted| Clause {
                    n_variables: quantifier.premises.n_variables(),
                    is_stated: true,
                    literals: [&refuted[..], &choice[..]].concat(),
                }));
            }
        }
    }

    /// The clauses that together are equivalent to a comparison.
    fn holding(
        &self,
        left: &Expression,
        comparison: Comparison,
        right: &Expression,
    ) -> Alternatives {
        if let (Expression::Call(name, a), Expression::Call(_, b)) = (left, right) {
            if name == LEX {
                return lexicographic(a, comparison, b);
            }
            if let Some((_, order)) = self.orders.iter().find(|(order, _)| order == name) {
                return ordered(order, a, comparison, b);
            }
        }
        vec![vec![Constraint::new(
            left.clone(),
            comparison,
            right.clone(),
        )]]
    }
}

/// The clauses that together are equivalent to a lexicographic comparison of tuples.
fn lexicographic(a: &[Expression], comparison: Comparison, b: &[Expression]) -> Alternatives {
    let link = |k: usize, comparison| Constraint::new(a[k].clone(), comparison, b[k].clone());
    let weak = match comparison {
        Comparison::Equal => return (0..a.len()).map(|k| vec![link(k, comparison)]).collect(),
        Comparison::NotEqual => {
            return vec![(0..a.len()).map(|k| link(k, comparison)).collect()];
        }
        Comparison::Less | Comparison::LessEqual => Comparison::LessEqual,
        Comparison::Greater | Comparison::GreaterEqual => Comparison::GreaterEqual,
    };
    let up_to = |k| {
        let differ = (0..k).map(|before| link(before, Comparison::NotEqual));
        let last = k + 1 == a.len();
        differ
            .chain([link(k, if last { comparison } else { weak })])
            .collect()
    };
    (0..a.len()).map(up_to).collect()
}

/// As [`lexicographic`] for a declared order, if it is one conjunction. Only the claim that a tuple
/// comes first has clauses.
fn ordered(
    order: &Relation,
    a: &[Expression],
    comparison: Comparison,
    b: &[Expression],
) -> Alternatives {
    let tuples = match comparison {
        Comparison::Less => [a, b].concat(),
        Comparison::Greater => [b, a].concat(),
        _ => return vec![Vec::new()],
    };
    match order.parts() {
        [part] if part.exists().len() == 0 => {
            let values = Values(&tuples);
            let links = part.constraints().iter().flat_map(Constraint::split);
            links.map(|link| vec![link.rewritten(&values)]).collect()
        }
        _ => Vec::new(),
    }
}

/// That arguments for which all of these functions agree are the same.
fn injective(functions: &[Function]) -> Vec<Clause> {
    let n = functions.first().map_or(0, |it| it.domain.n_elements());
    let variable = |k: usize| Expression::Variable(Variable::from_index(k));
    let differ = functions.iter().map(|function| {
        let [a, b] = [0, n].map(|from| {
            Expression::Call(
                function.name.clone(),
                (from..from + n).map(variable).collect(),
            )
        });
        Constraint::new(a, Comparison::NotEqual, b)
    });
    let differ: Vec<Constraint> = differ.collect();
    let clauses = (0..n).map(|k| Clause {
        n_variables: 2 * n,
        is_stated: false,
        literals: [&differ[..], &[variable(k).equals(variable(n + k))]].concat(),
    });
    clauses.collect()
}

impl Function {
    pub(super) fn clauses(&self) -> Vec<Clause> {
        let n = self.domain.n_elements();
        let variable = |k: usize| Expression::Variable(Variable::from_index(k));
        let call = |from: usize| {
            Expression::Call(self.name.clone(), (from..from + n).map(variable).collect())
        };
        let mut clauses = Vec::new();
        for (arguments, values) in self.monotone.map_or(Vec::new(), Monotone::implications) {
            clauses.push(Clause {
                n_variables: 2,
                is_stated: false,
                literals: vec![
                    Constraint::new(variable(0), arguments.negated(), variable(1)),
                    Constraint::new(call(0), values, call(1)),
                ],
            });
        }
        // A strict order implies this already.
        if self.injective && !self.is_strict() {
            clauses.extend(injective(std::slice::from_ref(self)));
        }
        clauses
    }
}
