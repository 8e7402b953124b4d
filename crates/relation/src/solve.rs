//! Questions to relations: is it empty, is it a function, what is its value.
//!
//! A proof may be out of reach, so there are three [`Answer`]s; yes and no are
//! always right. *Yes* holds for all functions and constants that are as
//! declared. *No* means that for some of them it does not hold, and is given
//! only where a small counterexample is found.
//!
//! An element of the second tuple is **solved** by, in this order:
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

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::budget::Budget;
use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::enumerate::Environment;
use crate::expression::{Comparison, Constraint, Expression, Rewrite, Variable};
use crate::facts::{Facts, atom};
use crate::polynomial::{Atom, Polynomial, Row, Sign};
use crate::relation::Relation;
use crate::set::Set;

/// Equalities for arguments of injective functions that are looked at.
const MOST_INVERTED: usize = 64;

/// What is known of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is so, whatever functions and constants are.
    Yes,
    /// It is not so for some functions and constants that are as declared.
    No,
    /// Neither is known.
    Unknown,
    /// Neither is known, and a budget of the proof ran out.
    GaveUp(Budget),
}

impl Answer {
    /// Whether all are so: *no* where one is not, and a budget that ran out before a
    /// plain *unknown*.
    ///
    /// ```
    /// use sparsec_relation::{Answer, Budget};
    /// assert_eq!(Answer::Yes.and(Answer::Unknown), Answer::Unknown);
    /// let gave_up = Answer::GaveUp(Budget::Rounds);
    /// assert_eq!(Answer::Unknown.and(gave_up), gave_up);
    /// assert_eq!(gave_up.and(Answer::No), Answer::No);
    /// ```
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, other) => other,
            (Self::Unknown, Self::Yes) => Self::Unknown,
            (Self::Unknown, other) => other,
            (gave_up, _) => gave_up,
        }
    }

    /// The budget that ran out before anything was known.
    pub fn budget(self) -> Option<Budget> {
        match self {
            Self::GaveUp(budget) => Some(budget),
            Self::Yes | Self::No | Self::Unknown => None,
        }
    }
}

impl Relation {
    /// Whether there are no pairs.
    ///
    /// ```
    /// use sparsec_relation::{Answer, Declarations, Relation};
    /// let known: Declarations = "function f : {[i]} -> {[x]} nondecreasing".parse()?;
    /// let r: Relation = "{[i] -> [j] : i < j && f(j) < f(i)}".parse()?;
    /// assert_eq!(r.is_empty(&known), Answer::Yes);
    /// assert_eq!(r.is_empty(&Declarations::new()), Answer::Unknown);
    /// let r: Relation = "{[i] -> [j] : i < j < N}".parse()?;
    /// assert_eq!(r.is_empty(&known), Answer::No);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn is_empty(&self, declarations: &Declarations) -> Answer {
        let answer = |part: &Conjunction| {
            let facts = Facts::of(part.constraints(), declarations);
            match facts.impossible() {
                true => Answer::Yes,
                false => facts.gave_up().map_or(Answer::Unknown, Answer::GaveUp),
            }
        };
        let answers = self.parts().iter().map(answer);
        let known = answers.fold(Answer::Yes, Answer::and);
        let is_shown = |part: &Conjunction| has_example(part, declarations);
        match known != Answer::Yes && self.parts().iter().any(is_shown) {
            true => Answer::No,
            false => known,
        }
    }

    /// Whether no first tuple has two second tuples.
    ///
    /// ```
    /// use sparsec_relation::{Answer, Declarations, Relation};
    /// let known = Declarations::new();
    /// let csr = "{[i, k] -> [i, j] : rowptr(i) <= k < rowptr(i + 1) && j = col(k)}";
    /// assert_eq!(csr.parse::<Relation>()?.is_function(&known), Answer::Yes);
    /// let next: Relation = "{[i] -> [j] : i < j}".parse()?;
    /// assert_eq!(next.is_function(&known), Answer::No);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn is_function(&self, declarations: &Declarations) -> Answer {
        let solved: Vec<bool> = self
            .parts()
            .iter()
            .map(|part| outputs(part, declarations).is_ok())
            .collect();
        let mut all = Answer::Yes;
        for (at, first) in self.parts().iter().enumerate() {
            for (to, second) in self.parts().iter().enumerate().skip(at) {
                if at == to && solved[at] {
                    continue;
                }
                for place in 0..self.n_outputs() {
                    let (Ok(less), Ok(more)) = (
                        differing(first, second, place, Comparison::Less),
                        differing(first, second, place, Comparison::Greater),
                    ) else {
                        return Answer::Unknown;
                    };
                    let mirrored = at == to;
                    all = all.and(less.is_empty(declarations));
                    if !mirrored || all != Answer::Yes {
                        all = all.and(more.is_empty(declarations));
                    }
                    if all == Answer::No {
                        return all;
                    }
                }
            }
        }
        all
    }

    /// The second tuple as expressions of the first, for each part. They speak
    /// of the variables of that part's inputs.
    ///
    /// # Errors
    /// `E0705` names an element that the constraints do not determine.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Relation};
    /// let blocks = "{[i] -> [b, e] : i = B * b + e && 0 <= e < B}".parse::<Relation>()?;
    /// let solved = blocks.solved(&Declarations::new())?;
    /// assert_eq!(solved.to_string(), "{[i] -> [b, e] : b = i floordiv B && e = i mod B}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn solve(&self, declarations: &Declarations) -> Result<Vec<Vec<Expression>>> {
        let mut solutions = Vec::new();
        for part in self.parts() {
            let outputs = outputs(part, declarations).map_err(|(unsolved, gave_up)| {
                let text = self.to_string();
                let name = part.name(unsolved).to_owned();
                let place = Span::new(0, text.len());
                let message = format!("nothing determines `{name}` from the first tuple");
                let error = Diagnostic::new(code::RELATION_NOT_SOLVED, message);
                let notes = gave_up.into_iter().map(Budget::note);
                notes
                    .fold(error, Diagnostic::note)
                    .at(&Source::new("relation", text), place, "not a function, as far as known")
                    .help(format!(
                        "add a constraint that gives `{name}`, or declare a function of it `injective`"
                    ))
            })?;
            solutions.push(outputs);
        }
        Ok(solutions)
    }

    /// The relation of the solutions of [`solve`](Self::solve): each part says
    /// what each element is, and nothing of where that is so.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn solved(&self, declarations: &Declarations) -> Result<Self> {
        let solutions = self.solve(declarations)?;
        let mut parts = Vec::new();
        for (part, values) in self.parts().iter().zip(solutions) {
            let equal = part.outputs().zip(values);
            let equal = equal.map(|(output, value)| Expression::Variable(output).equals(value));
            parts.push(part.without_exists(equal.collect()));
        }
        Self::new(parts)
    }
}

impl Set {
    /// Whether there is a proof that there are no tuples. Unlike [`is_empty`](Self::is_empty),
    /// this looks for no counterexample.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Set};
    /// let known: Declarations = "function f : {[i]} -> {[x]} increasing".parse()?;
    /// let swapped: Set = "{[i, j] : i < j && f(j) <= f(i)}".parse()?;
    /// assert!(swapped.is_refuted(&known));
    /// assert!(!swapped.is_refuted(&Declarations::new()));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn is_refuted(&self, declarations: &Declarations) -> bool {
        let mut parts = self.parts().iter();
        parts.all(|part| Facts::of(part.constraints(), declarations).impossible())
    }

    /// As [`Relation::is_empty`].
    pub fn is_empty(&self, declarations: &Declarations) -> Answer {
        self.as_relation().is_empty(declarations)
    }
}

/// Pairs of second tuples of one first tuple that differ so at `place`, and not
/// before.
fn differing(
    first: &Conjunction,
    second: &Conjunction,
    place: usize,
    comparison: Comparison,
) -> Result<Relation> {
    let one = Relation::of_parts(vec![first.clone()]).inverse();
    let other = Relation::of_parts(vec![second.clone()]);
    let mut pairs = one.then(&other)?.parts().to_vec();
    for part in &mut pairs {
        let sides = part.inputs().zip(part.outputs()).take(place + 1);
        for (at, (left, right)) in sides.enumerate() {
            part.add(Constraint::new(
                Expression::Variable(left),
                if at == place {
                    comparison
                } else {
                    Comparison::Equal
                },
                Expression::Variable(right),
            ));
        }
    }
    Relation::new(pairs)
}

/// Whether small numbers for variables and constants satisfy a part without
/// calls, and all assumptions.
fn has_example(part: &Conjunction, declarations: &Declarations) -> bool {
    let uses = part.uses();
    if !uses.functions.is_empty() {
        return false;
    }
    let mut names: Vec<String> = uses.constants.iter().map(|n| (*n).to_owned()).collect();
    for constraint in &declarations.assumptions {
        for e in constraint.expressions() {
            e.visit(&mut |e| match e {
                Expression::Constant(name) => names.push(name.clone()),
                Expression::Call(..) => names.push(String::new()),
                _ => {}
            });
        }
    }
    if names.iter().any(String::is_empty) {
        return false;
    }
    names.sort();
    names.dedup();
    let mut closed = Conjunction::new::<String>([], []);
    let n_variables = part.n_variables();
    for number in 0..n_variables + names.len() {
        closed.add_exists(format!("v{number}"));
    }
    let free = Free {
        names: &names,
        n_variables,
    };
    closed.conjoin(part, &free);
    for constraint in &declarations.assumptions {
        closed.add(constraint.rewritten(&free));
    }
    Relation::of_parts(vec![closed])
        .has_pair(&Environment::new(), -4..17)
        .unwrap_or(false)
}

/// Variables in place of symbolic constants.
struct Free<'a> {
    names: &'a [String],
    n_variables: usize,
}

impl Rewrite for Free<'_> {
    fn constant(&self, name: &str) -> Expression {
        let at = self.names.iter().position(|known| known == name);
        let at = at.expect("all constants are listed");
        Expression::Variable(Variable::from_index(self.n_variables + at))
    }
}

/// The second tuple of a part as expressions of the first, or an element that
/// is not known, with the budget that ran out.
fn outputs(
    part: &Conjunction,
    declarations: &Declarations,
) -> std::result::Result<Vec<Expression>, (Variable, Option<Budget>)> {
    let facts = Facts::of(part.constraints(), declarations);
    let links = part.constraints().iter().flat_map(Constraint::links);
    let stated: Vec<Row> = links
        .filter_map(|(left, comparison, right)| Row::of(left, comparison, right))
        .collect();
    let known = solved(&stated, &facts, part.inputs(), declarations);
    let outputs = part.outputs();
    outputs
        .map(|v| {
            let value = known.get(&v).map(Polynomial::to_expression);
            value.ok_or_else(|| (v, facts.gave_up()))
        })
        .collect()
}

/// What variables are where the rows `stated` hold, of which `facts` are the
/// consequences, as far as the variables `given` tell; those among them.
pub(crate) fn solved(
    stated: &[Row],
    facts: &Facts<'_>,
    given: impl IntoIterator<Item = Variable>,
    declarations: &Declarations,
) -> BTreeMap<Variable, Polynomial> {
    let given: BTreeSet<Variable> = given.into_iter().collect();
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
}

/// What variables are, as far as those given tell.
struct Solver<'a> {
    stated: &'a [Row],
    facts: &'a Facts<'a>,
    declarations: &'a Declarations,
    given: BTreeSet<Variable>,
    known: BTreeMap<Variable, Polynomial>,
}

impl Solver<'_> {
    /// The variables in it of which the value is not known.
    fn unknowns(&self, sum: &Polynomial) -> Vec<Variable> {
        let all = sum.variables().into_iter();
        all.filter(|v| !self.known.contains_key(v)).collect()
    }

    /// The value in terms of what is given.
    fn value(&self, sum: &Polynomial) -> Option<Polynomial> {
        let mut value = sum.clone();
        for variable in sum.variables() {
            if !self.given.contains(&variable) {
                value = value.substituted(variable, self.known.get(&variable)?)?;
            }
        }
        Some(value)
    }

    /// Solves for one more variable; the equalities of the text first.
    fn step(&mut self) -> bool {
        let rows = self.stated.iter().chain(self.facts.rows());
        let zero = rows.filter(|row| row.sign == Sign::Zero);
        let rows = self.with_known_terms(zero.map(|row| row.sum.clone()).collect());
        let solve = [Self::directly, Self::by_euclid];
        // Inverses are looked at where nothing else helps.
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

    /// Solves `factor * strip <= whole < factor * strip + factor`.
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

    /// The sums that are 0, and again with the values of quotients, rests and
    /// calls of unknown variables, where an equality gives those.
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

    /// What follows for the arguments of injective functions from their values: for
    /// `c(i, j) = k` that `i = c.inverse.0(k)` and `j = c.inverse.1(k)`.
    fn inverted(&self, sums: &[Polynomial]) -> Vec<Polynomial> {
        let mut found: Vec<Polynomial> = Vec::new();
        // An argument may be a call again.
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

    /// The arguments at which a function, or the tuple that it is an element of, has the
    /// values that `value` gives, if it is injective.
    fn places(
        &self,
        name: &str,
        arguments: &Rc<[Polynomial]>,
        value: impl Fn(&Atom) -> Option<Polynomial>,
    ) -> Option<Vec<Polynomial>> {
        let (inverse, elements) = match self.declarations.tuple_of(name) {
            Some((tuple, 0)) if tuple.injective => {
                let elements = tuple.elements().map(Rc::from).collect();
                (format!("{}.inverse", tuple.name), elements)
            }
            Some(_) => return None,
            None => {
                let function = self.declarations.function(name)?;
                let inverse = match self.declarations.inverse_of(name) {
                    Some(inverse) => inverse.to_owned(),
                    None if function.is_injective() => format!("{name}.inverse"),
                    None => return None,
                };
                (inverse, vec![Rc::from(name)])
            }
        };
        let elements: Vec<Rc<str>> = elements;
        let calls = elements.iter();
        let values = calls.map(|name| value(&Atom::Call(name.clone(), arguments.clone())));
        let values: Rc<[Polynomial]> = values.collect::<Option<Vec<_>>>()?.into();
        // Equal values are of equal arguments.
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

    /// Solves `whole = factor * quotient + rest`.
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
