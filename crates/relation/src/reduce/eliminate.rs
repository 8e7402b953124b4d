//! The elimination of `exists` variables from constraints.
//!
//! A variable is eliminated only if that is exact for integers, by the first rule that applies:
//!
//! | rule                                  | example                                              |
//! |---------------------------------------|------------------------------------------------------|
//! | an equality with factor 1 or -1       | `v = i + 1`: put in its place, inside calls too      |
//! | quotient and rest by a number         | `q = v floordiv 4`, `r = v mod 4`: `v = 4 * q + r`, where `0 <= r < 4` |
//! | bounds with factor 1                  | `i < v`, `v < j`: each lower bound below each upper bound |

use std::collections::BTreeSet;
use std::rc::Rc;

use super::{Link, speaks_of};
use crate::expression::{Comparison, Constraint, Expression, Rewrite, Variable};
use crate::facts::{atom, to_constraint};
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// The links without a variable; `None` if that would not be exact.
pub(super) fn eliminated(links: &[Rc<Link>], variable: Variable) -> Option<Vec<Rc<Link>>> {
    let (with, without): (Vec<Rc<Link>>, Vec<Rc<Link>>) = links
        .iter()
        .cloned()
        .partition(|link| speaks_of(link, variable));
    if with.is_empty() {
        return None;
    }
    by_equality(links, &with, variable)
        .or_else(|| by_division(links, &with, variable))
        .or_else(|| by_bounds(links, &with, without, variable))
}

fn by_equality(links: &[Rc<Link>], with: &[Rc<Link>], variable: Variable) -> Option<Vec<Rc<Link>>> {
    let alone = atom(variable);
    let (at, value) = with.iter().find_map(|link| {
        let row = link.row.as_ref().filter(|row| row.sign == Sign::Zero)?;
        let value = row
            .sum
            .solved_for(&alone)
            .filter(|value| !value.has(variable))?;
        // The text's own words, where it solves for the variable already.
        let (left, right) = (&link.constraint.first, &link.constraint.rest[0].1);
        let worded = match (left, right) {
            (Expression::Variable(v), e) | (e, Expression::Variable(v)) if *v == variable => {
                e.clone()
            }
            _ => value.to_expression(),
        };
        Some((link, worded))
    })?;
    let chain = at.chain;
    let others = links.iter().filter(|link| !Rc::ptr_eq(link, at));
    let rewrite = Replace(variable, value.clone());
    let mut lost = vec![Link::new(chain, at.constraint.rewritten(&rewrite))];
    let mut result: Vec<Rc<Link>> = Vec::new();
    for link in others {
        if !speaks_of(link, variable) {
            result.push(link.clone());
            continue;
        }
        let replaced = Link::new(link.chain, link.constraint.rewritten(&rewrite));
        let shorter = replaced.constraint.rewritten(&Shorter);
        result.push(match shorter == replaced.constraint {
            true => replaced,
            false => {
                lost.push(replaced);
                Link::new(link.chain, shorter)
            }
        });
    }
    keep_values(&mut result, &lost)?;
    Some(result)
}

/// `q = v floordiv n` and `r = v mod n` are `v = n * q + r`, where `0 <= r < n`.
fn by_division(links: &[Rc<Link>], with: &[Rc<Link>], variable: Variable) -> Option<Vec<Rc<Link>>> {
    let whole = Polynomial::atom(atom(variable));
    // The terms equal to the quotient by a number, or to the remainder.
    let terms = |link: &Rc<Link>, of_rest: bool| -> Vec<(i64, Expression)> {
        let row = link.row.as_ref().filter(|row| row.sign == Sign::Zero);
        let terms = row.into_iter().flat_map(|row| row.sum.terms());
        terms
            .filter_map(|(atoms, _)| {
                let (([term @ Atom::Modulo(a, by)], true)
                | ([term @ Atom::FloorDivide(a, by)], false)) = (atoms, of_rest)
                else {
                    return None;
                };
                let number = by.value().filter(|n| *n > 0 && **a == whole)?;
                let value = row?.sum.solved_for(term)?;
                (!value.has(variable)).then(|| (number, value.to_expression()))
            })
            .collect()
    };
    let all = |of_rest| {
        let each = with.iter();
        each.flat_map(move |link| terms(link, of_rest).into_iter().map(move |it| (link, it)))
    };
    let (first, second, division) = all(false).find_map(|(first, (number, quotient))| {
        let (second, (_, rest)) = all(true).find(|(_, (by, _))| *by == number)?;
        let division = Division {
            variable,
            number,
            quotient,
            rest,
        };
        Some((first, second, division))
    })?;
    let others = links.iter();
    let others = others.filter(|link| !Rc::ptr_eq(link, first) && !Rc::ptr_eq(link, second));
    let mut result: Vec<Rc<Link>> = others
        .map(|link| match speaks_of(link, variable) {
            true => Link::new(link.chain, link.constraint.rewritten(&division)),
            false => link.clone(),
        })
        .collect();
    let chain = links.iter().map(|link| link.chain).max()? + 1;
    let within = Constraint {
        first: Expression::Integer(0),
        rest: vec![
            (Comparison::LessEqual, division.rest.clone()),
            (Comparison::Less, Expression::Integer(division.number)),
        ],
    };
    result.extend(within.split().map(|link| Link::new(chain, link)));
    let solved = [first, second].map(|link| Link::new(chain, link.constraint.rewritten(&division)));
    keep_values(&mut result, &solved)?;
    Some(result)
}

fn by_bounds(
    links: &[Rc<Link>],
    with: &[Rc<Link>],
    without: Vec<Rc<Link>>,
    variable: Variable,
) -> Option<Vec<Rc<Link>>> {
    let alone = atom(variable);
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    for link in with {
        let row = link
            .row
            .as_ref()
            .filter(|row| row.sign == Sign::NonNegative)?;
        let bound = row
            .sum
            .solved_for(&alone)
            .filter(|bound| !bound.has(variable))?;
        match row.sum.factor(std::slice::from_ref(&alone)) {
            1 => lower.push(bound),
            _ => upper.push(bound),
        }
    }
    if lower.len() * upper.len() > with.len() {
        return None;
    }
    let mut chain = links.iter().map(|link| link.chain).max()? + 1;
    let mut result = without;
    for low in &lower {
        for high in &upper {
            let sum = high.plus(-1, low)?;
            let row = Row {
                sum,
                sign: Sign::NonNegative,
            };
            result.push(Link::new(chain, to_constraint(&row)));
            chain += 1;
        }
    }
    keep_values(&mut result, with)?;
    Some(result)
}

/// Adds `f(i) = f(i)` for each call that the lost links have and these do not.
fn keep_values(links: &mut Vec<Rc<Link>>, lost: &[Rc<Link>]) -> Option<()> {
    let here: Option<Vec<_>> = links.iter().map(|link| link.partial.as_ref()).collect();
    let here = here?;
    let mut missing = BTreeSet::new();
    for link in lost {
        let absent = |atom: &&Atom| !here.iter().any(|partial| partial.contains(*atom));
        missing.extend(link.partial.as_ref()?.iter().filter(absent));
    }
    let chains = links.iter().chain(lost).map(|link| link.chain);
    let fresh = chains.max()? + 1..;
    for (chain, atom) in fresh.zip(missing) {
        let e = atom.to_expression();
        links.push(Link::new(chain, e.clone().equals(e)));
    }
    Some(())
}

struct Replace(Variable, Expression);

impl Rewrite for Replace {
    fn variable(&self, variable: Variable) -> Expression {
        if variable == self.0 {
            self.1.clone()
        } else {
            Expression::Variable(variable)
        }
    }
}

/// Sums whose terms cancel or come together, so that there are fewer.
struct Shorter;

impl Rewrite for Shorter {
    fn whole(&self, expression: &Expression) -> Option<Expression> {
        let (Expression::Add(..) | Expression::Subtract(..)) = expression else {
            return None;
        };
        let length = |e: &Expression| {
            let mut n = 0;
            e.visit(&mut |_| n += 1);
            n
        };
        let sum = Polynomial::of(expression)?.to_expression();
        (length(&sum) < length(expression)).then_some(sum)
    }
}

/// The expressions that replace a variable and its division by a number.
struct Division {
    variable: Variable,
    number: i64,
    quotient: Expression,
    rest: Expression,
}

impl Rewrite for Division {
    fn whole(&self, expression: &Expression) -> Option<Expression> {
        let is = |a: &Expression, b: &Expression| {
            *a == Expression::Variable(self.variable) && *b == Expression::Integer(self.number)
        };
        match expression {
            Expression::FloorDivide(a, b) if is(a, b) => Some(self.quotient.clone()),
            Expression::Modulo(a, b) if is(a, b) => Some(self.rest.clone()),
            _ => None,
        }
    }

    fn variable(&self, variable: Variable) -> Expression {
        if variable != self.variable {
            return Expression::Variable(variable);
        }
        let number = Box::new(Expression::Integer(self.number));
        let product = Expression::Multiply(number, Box::new(self.quotient.clone()));
        Expression::Add(Box::new(product), Box::new(self.rest.clone()))
    }
}
