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
//! | `f(j + a) = b`, `f` injective             | `j = f.inverse(b) - a`    |
//! | `a = B * j + e`, `0 <= e < B` (Euclid)     | `j = a floordiv B`, `e = a mod B` |
//! | `a = j floordiv B`, `b = j mod B`, `0 < B` | `j = B * a + b`           |

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::enumerate::Environment;
use crate::expression::{Comparison, Constraint, Expression, Rewrite, Variable};
use crate::facts::{Facts, atom};
use crate::polynomial::{Atom, Polynomial, Row, Sign};
use crate::relation::Relation;
use crate::set::Set;

/// What is known of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is so, whatever functions and constants are.
    Yes,
    /// It is not so for some functions and constants that are as declared.
    No,
    /// Neither is known.
    Unknown,
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
        let impossible =
            |part: &Conjunction| Facts::of(part.constraints(), declarations).impossible();
        if self.parts().iter().all(impossible) {
            return Answer::Yes;
        }
        match self
            .parts()
            .iter()
            .any(|part| has_example(part, declarations))
        {
            true => Answer::No,
            false => Answer::Unknown,
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
                    match (
                        less.is_empty(declarations),
                        mirrored || more.is_empty(declarations) == Answer::Yes,
                    ) {
                        (Answer::Yes, true) => {}
                        (Answer::No, _) => return Answer::No,
                        _ if more.is_empty(declarations) == Answer::No => return Answer::No,
                        _ => all = Answer::Unknown,
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
            let outputs = outputs(part, declarations).map_err(|unsolved| {
                let text = self.to_string();
                let name = part.name(unsolved).to_owned();
                let place = Span::new(0, text.len());
                let message = format!("nothing determines `{name}` from the first tuple");
                Diagnostic::new(code::RELATION_NOT_SOLVED, message)
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
/// is not known.
fn outputs(
    part: &Conjunction,
    declarations: &Declarations,
) -> std::result::Result<Vec<Expression>, Variable> {
    let facts = Facts::of(part.constraints(), declarations);
    let links = part.constraints().iter().flat_map(Constraint::links);
    let stated: Vec<Row> = links
        .filter_map(|(left, comparison, right)| Row::of(left, comparison, right))
        .collect();
    let known = solved(&stated, &facts, part.inputs(), declarations);
    let outputs = part.outputs();
    outputs
        .map(|v| known.get(&v).map(Polynomial::to_expression).ok_or(v))
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
        let solve = [Self::directly, Self::by_inverse, Self::by_euclid];
        for way in solve {
            for row in &rows {
                let found = way(self, row);
                if !found.is_empty() {
                    self.known.extend(found);
                    return true;
                }
            }
        }
        false
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

    fn directly(&self, sum: &Polynomial) -> Vec<(Variable, Polynomial)> {
        let [unknown] = self.unknowns(sum)[..] else {
            return Vec::new();
        };
        let value = sum.solved_for(&atom(unknown));
        let value = value.filter(|value| !value.has(unknown));
        let value = value.and_then(|value| self.value(&value));
        value.map(|value| (unknown, value)).into_iter().collect()
    }

    fn by_inverse(&self, sum: &Polynomial) -> Vec<(Variable, Polynomial)> {
        let [unknown] = self.unknowns(sum)[..] else {
            return Vec::new();
        };
        for (atoms, _) in sum.terms() {
            let [call @ Atom::Call(name, arguments)] = atoms else {
                continue;
            };
            let ([argument], Some(function)) = (&arguments[..], self.declarations.function(name))
            else {
                continue;
            };
            let value = sum.solved_for(call).filter(|value| !value.has(unknown));
            let Some(value) = value.filter(|_| function.injective) else {
                continue;
            };
            let inverse =
                Polynomial::atom(Atom::Call(format!("{name}.inverse").into(), [value].into()));
            let solution = argument
                .plus(-1, &inverse)
                .and_then(|sum| sum.solved_for(&atom(unknown)))
                .filter(|solution| !solution.has(unknown))
                .and_then(|solution| self.value(&solution));
            if let Some(solution) = solution {
                return vec![(unknown, solution)];
            }
        }
        Vec::new()
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
