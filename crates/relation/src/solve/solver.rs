//! Values of variables in terms of given variables.
//!
//! The solver tries these constraints in order:
//!
//! | constraint                                | solution                  |
//! |-------------------------------------------|---------------------------|
//! | `a + j = b`                               | `j = b - a`               |
//! | `f(j + a) = b`, `f` injective or strictly monotone | `j = f.inverse(b) - a` |
//! | `f(j + a) = b`, `g` declared as its inverse | `j = g(b) - a` |
//! | `f(j, l) = b`, `f` injective              | `j = f.inverse.0(b)`, `l = f.inverse.1(b)` |
//! | `a = B * j + e`, `0 <= e < B` (Euclid)     | `j = a floordiv B`, `e = a mod B` |
//! | `B * j <= a < B * j + B`, `0 < B` (strips) | `j = a floordiv B`        |
//! | `a = j floordiv B`, `b = j mod B`, `0 < B` | `j = B * a + b`           |
//!
//! `f.inverse(b)` is the argument at which `f` has the value `b`, if there is one. Equal values of
//! an injective function have equal arguments: `f(j) = f(i)` gives `j = i`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::declarations::Declarations;
use crate::expression::{Expression, Variable};
use crate::facts::{Facts, Solved, atom};
use crate::polynomial::{Atom, Polynomial, Row, Sign};

/// The most equalities that the solver derives from inverses.
const MOST_INVERTED: usize = 64;

/// Solves the rows `stated`, whose consequences are `facts`, for all variables that the variables
/// `given` determine. The result contains the given variables too.
pub(crate) fn solved(
    stated: &[Row],
    facts: &Facts,
    given: impl IntoIterator<Item = Variable>,
    declarations: &Declarations,
) -> Solved {
    facts.solved(stated, given.into_iter().collect(), |given| {
        let itself = |v: &Variable| (*v, Polynomial::atom(atom(*v)));
        let mut solver = Solver {
            stated,
            facts,
            declarations,
            known: given.iter().map(itself).collect(),
            given,
        };
        while solver.step() {}
        solver.known
    })
}

/// The given variables and the variables solved so far.
struct Solver<'a> {
    stated: &'a [Row],
    facts: &'a Facts,
    declarations: &'a Declarations,
    given: BTreeSet<Variable>,
    known: BTreeMap<Variable, Polynomial>,
}

impl Solver<'_> {
    /// The variables of a sum that are not solved yet.
    fn unknowns(&self, sum: &Polynomial) -> Vec<Variable> {
        let all = sum.variables().into_iter();
        all.filter(|v| !self.known.contains_key(v)).collect()
    }

    /// The sum in terms of the given variables.
    fn value(&self, sum: &Polynomial) -> Option<Polynomial> {
        let mut value = sum.clone();
        for variable in sum.variables() {
            if !self.given.contains(&variable) {
                value = value.substituted(variable, self.known.get(&variable)?)?;
            }
        }
        Some(value)
    }

    /// Solves for one more variable. Equalities of the text come first.
    fn step(&mut self) -> bool {
        let rows = self.stated.iter().chain(self.facts.rows());
        let zero = rows.filter(|row| row.sign == Sign::Zero);
        let rows = self.with_known_terms(zero.map(|row| row.sum.clone()).collect());
        let solve = [Self::directly, Self::by_euclid];
        // Inverses come last.
        let inverted = std::cell::LazyCell::new(|| self.inverted(&rows));
        for (way, is_inverted) in solve.iter().flat_map(|way| [(way, false), (way, true)]) {
            let rows = match is_inverted {
                true => &*inverted,
                false => &rows,
            };
            for row in rows {
                let found = way(self, row);
                if !found.is_empty() {
                    self.known.extend(found);
                    return true;
                }
            }
        }
        let found = self.by_strips();
        let is_found = found.is_some();
        self.known.extend(found);
        is_found
    }

    /// Solves `factor * strip <= whole < factor * strip + factor` for `strip`.
    fn by_strips(&self) -> Option<(Variable, Polynomial)> {
        let bounds = self.stated.iter().map(|row| {
            let is_bound = row.sign == Sign::NonNegative;
            let [strip] = self.unknowns(&row.sum)[..] else {
                return None;
            };
            is_bound.then_some((strip, &row.sum))
        });
        let bounds: Vec<(Variable, &Polynomial)> = bounds.flatten().collect();
        bounds
            .iter()
            .find_map(|(strip, lower)| self.strip(*strip, lower, &bounds))
    }

    fn strip(
        &self,
        strip: Variable,
        lower: &Polynomial,
        bounds: &[(Variable, &Polynomial)],
    ) -> Option<(Variable, Polynomial)> {
        // `lower = whole - factor * strip`
        let one = Polynomial::integer(1);
        let whole = lower.substituted(strip, &Polynomial::default())?;
        let factor = whole.plus(-1, &lower.substituted(strip, &one)?)?;
        let product = factor.times(&Polynomial::atom(atom(strip)))?;
        let width = factor.plus(-1, &one)?;
        let upper = width.plus(-1, lower)?;
        let is_positive = || {
            self.facts.entails(&Row {
                sum: width.clone(),
                sign: Sign::NonNegative,
            }) || width.value().is_some_and(|width| width >= 0)
        };
        let is_strip = !factor.has(strip)
            && whole.plus(-1, &product)? == *lower
            && bounds.contains(&(strip, &upper))
            && is_positive();
        let (whole, factor) = (self.value(&whole)?, self.value(&factor)?);
        is_strip.then(|| (strip, whole.floor_divide(factor)))
    }

    /// The sums that are 0. A sum with a quotient, a remainder or a call of unknown variables
    /// occurs once more with the term's value, if another sum gives this value.
    fn with_known_terms(&self, mut sums: Vec<Polynomial>) -> Vec<Polynomial> {
        let mut values = Vec::new();
        for sum in &sums {
            for (atoms, _) in sum.terms() {
                let [term] = atoms else { continue };
                let alone = Polynomial::atom(term.clone());
                if matches!(term, Atom::Variable(_)) || self.unknowns(&alone).is_empty() {
                    continue;
                }
                let value = sum.solved_for(term);
                let value = value.filter(|value| self.unknowns(value).is_empty());
                values.extend(value.map(|value| (term.clone(), value)));
            }
        }
        for at in 0..sums.len() {
            let replace =
                |sum: Polynomial, (term, value): &(Atom, Polynomial)| sum.replaced(term, value);
            let replaced = values.iter().try_fold(sums[at].clone(), replace);
            sums.extend(replaced.filter(|sum| *sum != sums[at]));
        }
        sums
    }

    /// The equalities that inverses give: for `c(i, j) = k`, `i = c.inverse.0(k)` and `j =
    /// c.inverse.1(k)`.
    fn inverted(&self, sums: &[Polynomial]) -> Vec<Polynomial> {
        let mut found: Vec<Polynomial> = Vec::new();
        // An argument may contain a call again.
        let mut at = 0;
        while at < sums.len() + found.len() && found.len() < MOST_INVERTED {
            let sum = sums.get(at).or_else(|| found.get(at - sums.len()));
            let sum = &sum.expect("it is one of the two").clone();
            let mut new = Vec::new();
            at += 1;
            for (atoms, _) in sum.terms() {
                let [call @ Atom::Call(name, arguments)] = atoms else {
                    continue;
                };
                if self.unknowns(&Polynomial::atom(call.clone())).is_empty() {
                    continue;
                }
                let value = |of: &Atom| {
                    let values = [sum].into_iter().chain(sums).chain(&found);
                    let mut values = values.filter_map(|sum| sum.solved_for(of));
                    values.find(|value| self.unknowns(value).is_empty())
                };
                let places = self.places(name, arguments, |of| match of == call {
                    true => sum.solved_for(call).filter(|v| self.unknowns(v).is_empty()),
                    false => value(of),
                });
                for (argument, place) in arguments.iter().zip(places.into_iter().flatten()) {
                    let equal = argument.plus(-1, &place);
                    new.extend(equal.filter(|sum| !self.unknowns(sum).is_empty()));
                }
            }
            found.extend(new);
        }
        found
    }

    /// The arguments at which an injective function has the value that `value` gives for its calls.
    /// If the function is an element of a tuple, the whole tuple counts.
    fn places(
        &self,
        name: &str,
        arguments: &Rc<[Polynomial]>,
        value: impl Fn(&Atom) -> Option<Polynomial>,
    ) -> Option<Vec<Polynomial>> {
        let (inverse, elements) = match self.declarations.tuple_of(name) {
            Some((tuple, 0)) => {
                let elements = tuple.elements().map(Rc::from).collect();
                (self.inverse(&tuple.name, tuple.injective)?, elements)
            }
            Some(_) => return None,
            None => {
                let function = self.declarations.function(name)?;
                let inverse = self.inverse(name, function.is_injective())?;
                (inverse, vec![Rc::from(name)])
            }
        };
        let elements: Vec<Rc<str>> = elements;
        let calls = elements.iter();
        let values = calls.map(|name| value(&Atom::Call(name.clone(), arguments.clone())));
        let values: Rc<[Polynomial]> = values.collect::<Option<Vec<_>>>()?.into();
        // Equal values have equal arguments.
        if let Some(Atom::Call(_, others)) = values[0].as_atom() {
            let same = elements.iter().zip(&*values).all(|(name, value)| {
                let call = Atom::Call(name.clone(), others.clone());
                value.as_atom() == Some(&call)
            });
            if same && others.len() == arguments.len() {
                return Some(others.to_vec());
            }
        }
        let call = |name: String| Polynomial::atom(Atom::Call(name.into(), values.clone()));
        Some(match arguments.len() {
            1 => vec![call(inverse)],
            n => (0..n).map(|k| call(format!("{inverse}.{k}"))).collect(),
        })
    }

    /// The name of the inverse of a function, if it has one.
    fn inverse(&self, name: &str, is_injective: bool) -> Option<String> {
        match self.declarations.inverse_of(name) {
            Some(inverse) => Some(inverse.to_owned()),
            None => is_injective.then(|| format!("{name}.inverse")),
        }
    }

    fn directly(&self, sum: &Polynomial) -> Vec<(Variable, Polynomial)> {
        let [unknown] = self.unknowns(sum)[..] else {
            return Vec::new();
        };
        let value = sum.solved_for(&atom(unknown));
        let value = value.filter(|value| !value.has(unknown));
        let value = value.and_then(|value| self.value(&value));
        value.map(|value| (unknown, value)).into_iter().collect()
    }

    fn by_euclid(&self, sum: &Polynomial) -> Vec<(Variable, Polynomial)> {
        let [a, b] = self.unknowns(sum)[..] else {
            return Vec::new();
        };
        self.split(sum, a, b)
            .or_else(|| self.split(sum, b, a))
            .unwrap_or_default()
    }

    /// Solves `whole = factor * quotient + rest` for `quotient` and `rest`.
    fn split(
        &self,
        sum: &Polynomial,
        quotient: Variable,
        rest: Variable,
    ) -> Option<Vec<(Variable, Polynomial)>> {
        // `rest = whole - factor * quotient`
        let solved = sum
            .solved_for(&atom(rest))
            .filter(|value| !value.has(rest))?;
        let zero = Polynomial::default();
        let whole = solved.substituted(quotient, &zero)?;
        let factor = whole.plus(-1, &solved.substituted(quotient, &Polynomial::integer(1))?)?;
        let product = factor.times(&Polynomial::atom(atom(quotient)))?;
        if factor.has(quotient) || whole.plus(-1, &product)? != solved {
            return None;
        }
        let rest_value = Polynomial::atom(atom(rest));
        let holds = |sum: Polynomial| {
            self.facts.entails(&Row {
                sum,
                sign: Sign::NonNegative,
            })
        };
        let below = factor
            .plus(-1, &rest_value)?
            .plus(-1, &Polynomial::integer(1))?;
        if !holds(rest_value) || !holds(below) {
            return None;
        }
        let (whole, factor) = (self.value(&whole)?, self.value(&factor)?);
        let e = |build: fn(Box<Expression>, Box<Expression>) -> Expression| {
            let (whole, factor) = (whole.to_expression(), factor.to_expression());
            Polynomial::of(&build(Box::new(whole), Box::new(factor)))
        };
        Some(vec![
            (quotient, e(Expression::FloorDivide)?),
            (rest, e(Expression::Modulo)?),
        ])
    }
}
