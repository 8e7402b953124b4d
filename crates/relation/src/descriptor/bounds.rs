//! Which variables of a conjunction have bounds.
//!
//! A variable has bounds if constraints put it between two expressions of variables that have
//! bounds. A search for all tuples then ends:
//!
//! ```text
//! pos(i) <= q < pos(i + 1)      q, once i has
//! i = B * b + e, 0 <= e < B     b, once i has, where B is not 0
//! j = crd(q)                    j, once q has
//! ```

use std::collections::BTreeSet;

use sparsec_base::arena::Id;

use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::expression::Variable;
use crate::facts::{Facts, atom};
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// The first variable of a conjunction without bounds, if there is one.
pub(super) fn unbounded(part: &Conjunction, declarations: &Declarations) -> Option<Variable> {
    let facts = Facts::of(part.constraints(), declarations);
    let all = (0..part.n_variables()).map(Variable::from_index);
    let mut open: BTreeSet<Variable> = all.collect();
    loop {
        let bounded = open.iter().copied().find(|&variable| {
            let others: BTreeSet<Variable> =
                open.iter().copied().filter(|&v| v != variable).collect();
            has_bounds(variable, &others, &facts)
        });
        match bounded {
            Some(variable) => open.remove(&variable),
            None => return open.into_iter().next(),
        };
    }
}

/// Whether a variable lies between values that do not depend on `open` ones.
fn has_bounds(variable: Variable, open: &BTreeSet<Variable>, facts: &Facts) -> bool {
    let (mut from_below, mut from_above) = (false, false);
    for row in facts.rows() {
        let Some(factor) = factor_of(variable, &row.sum) else {
            continue;
        };
        if row.sum.variables().iter().any(|v| open.contains(v)) {
            continue;
        }
        let is_sign = |times| {
            let sum = Polynomial::integer(-1).plus(times, &factor);
            let positive = |sum| Row {
                sum,
                sign: Sign::NonNegative,
            };
            sum.is_some_and(|sum| facts.entails(&positive(sum)))
        };
        let (positive, negative) = (is_sign(1), is_sign(-1));
        match row.sign {
            Sign::Zero if positive || negative => return true,
            Sign::NonNegative => {
                from_below |= positive;
                from_above |= negative;
            }
            Sign::Zero | Sign::NonZero => {}
        }
    }
    from_below && from_above
}

/// The factor of a variable that occurs in products with integers and constants only.
fn factor_of(variable: Variable, sum: &Polynomial) -> Option<Polynomial> {
    let this = atom(variable);
    let mut factor = Polynomial::default();
    for (atoms, n) in sum.terms() {
        let (own, others): (Vec<&Atom>, Vec<&Atom>) = atoms.iter().partition(|a| **a == this);
        let mut product = Polynomial::integer(n);
        for other in others {
            product = product.times(&Polynomial::atom(other.clone()))?;
        }
        if own.is_empty() {
            if product.has(variable) {
                return None;
            }
            continue;
        }
        if own.len() > 1 || !product.variables().is_empty() {
            return None;
        }
        factor = factor.plus(1, &product)?;
    }
    (factor != Polynomial::default()).then_some(factor)
}
