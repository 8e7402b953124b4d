//! Questions about relations: whether one is empty, whether it is a function, its values.
//!
//! Not every question has a proof within reach, so there are more [`Answer`]s than yes and no.
//! *Yes* is proved for all functions and constants that meet the declarations. *No* comes with a
//! small counterexample: for some of them it does not hold.
//!
//! The module `solver` computes elements of the second tuple from the first.

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::budget::Budget;
use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::enumerate::Environment;
use crate::expression::{Comparison, Constraint, Expression, Rewrite, Variable};
use crate::facts::Facts;
use crate::polynomial::{Polynomial, Row};
use crate::relation::Relation;
use crate::set::Set;

mod solver;

pub(crate) use solver::solved;

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It holds for all functions and constants that meet the declarations.
    Yes,
    /// It fails for some functions and constants that meet the declarations.
    No,
    /// Neither is known.
    Unknown,
    /// Neither is known: a budget of the proof ran out.
    GaveUp(Budget),
}

impl Answer {
    /// The conjunction of two answers. *No* wins, then a budget that ran out, then *unknown*.
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

    /// The budget that ran out, if it left the question open.
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

    /// The second tuple of each part as expressions of the variables of its first tuple.
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

    /// The relation of the solutions of [`solve`](Self::solve): equations for each element, without
    /// other constraints.
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

    /// Whether there is a proof that there are no pairs. Unlike [`is_empty`](Self::is_empty), this
    /// looks for no counterexample, and ends at the first part that may have pairs.
    pub fn is_refuted(&self, declarations: &Declarations) -> bool {
        let mut parts = self.parts().iter();
        parts.all(|part| Facts::of(part.constraints(), declarations).impossible())
    }
}

impl Set {
    /// As [`Relation::is_refuted`].
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
        self.as_relation().is_refuted(declarations)
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

/// The second tuple of a part as expressions of the first. An error names an element that is not
/// determined, and the budget that ran out.
fn outputs(
    part: &Conjunction,
    declarations: &Declarations,
) -> std::result::Result<Vec<Expression>, (Variable, Option<Budget>)> {
    let (mut values, gave_up) = part.values(part.inputs(), declarations);
    let outputs = part.outputs();
    outputs
        .map(|v| values[v.index()].take().ok_or((v, gave_up)))
        .collect()
}

impl Conjunction {
    /// The value of each variable as an expression of the given ones; `None` for those that the
    /// constraints do not determine.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Set};
    /// let blocks: Set = "{[b, e, i] : i floordiv 4 = b && i mod 4 = e}".parse()?;
    /// let part = &blocks.parts()[0];
    /// let given: Vec<_> = part.inputs().take(2).collect();
    /// let values = part.solved_for(&given, &Declarations::new());
    /// let i = values[2].as_ref().expect("blocks determine it");
    /// assert_eq!(part.text_of(i).to_string(), "4 * b + e");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn solved_for(
        &self,
        given: &[Variable],
        declarations: &Declarations,
    ) -> Vec<Option<Expression>> {
        self.values(given.iter().copied(), declarations).0
    }

    /// As [`solved_for`](Self::solved_for), with the budget that ran out.
    fn values(
        &self,
        given: impl IntoIterator<Item = Variable>,
        declarations: &Declarations,
    ) -> (Vec<Option<Expression>>, Option<Budget>) {
        let facts = Facts::of(self.constraints(), declarations);
        let links = self.constraints().iter().flat_map(Constraint::links);
        let stated: Vec<Row> = links
            .filter_map(|(left, comparison, right)| Row::of(left, comparison, right))
            .collect();
        let known = solved(&stated, &facts, given, declarations);
        let all = (0..self.n_variables()).map(Variable::from_index);
        let values = all.map(|v| known.get(&v).map(Polynomial::to_expression));
        (values.collect(), facts.gave_up())
    }
}
