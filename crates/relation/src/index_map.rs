//! Index maps: functions of index variables in the notation of functions.
//!
//! ```text
//! (i, j) -> (i floordiv 2, j floordiv 3, i mod 2, j mod 3)      blocks
//! (i, j) -> (j - i, i)                                          diagonals
//! (i, j) -> (MORTON(i, j))                                      a curve
//! ```
//!
//! Levels of formats, and loops that `split` and `fuse` make, have such maps of modes and index
//! variables. A map is a relation whose second tuple has given expressions, so questions about
//! relations apply to it.

use std::fmt;
use std::str::FromStr;

use sparsec_base::lex::Tokens;
use sparsec_base::{Diagnostic, Result, Source};

use crate::conjunction::Conjunction;
use crate::declarations::Declarations;
use crate::enumerate::Environment;
use crate::expression::{Comparison, Constraint, Expression};
use crate::names::Uses;
use crate::parse::{Parser, SYMBOLS};
use crate::relation::Relation;
use crate::set::Set;
use crate::solve::Answer;

/// A function from tuples of integers to tuples of integers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexMap {
    /// One part without outputs or constraints, for the variables' names.
    variables: Conjunction,
    values: Vec<Expression>,
}

impl IndexMap {
    /// Reads a map from the whole of a source.
    ///
    /// # Errors
    /// As [`Relation::parse`].
    ///
    /// ```
    /// use sparsec_relation::IndexMap;
    /// let blocks: IndexMap = "(i, j) -> (i floordiv 2, j, i mod 2)".parse()?;
    /// assert_eq!(blocks.to_string(), "(i, j) -> (i floordiv 2, j, i mod 2)");
    /// assert_eq!(blocks.value(&[5, 7])?, Some(vec![2, 7, 1]));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser::new(Tokens::new(source, &SYMBOLS)?);
        let (names, values) = parser.map()?;
        Ok(Self::new(names, values))
    }

    /// A map of variables with these names. Variables are renamed if constants or functions in the
    /// values have their names.
    fn new(names: Vec<String>, values: Vec<Expression>) -> Self {
        let variables = Conjunction::over(names.into(), &Uses::in_expressions(&values));
        Self { variables, values }
    }

    /// The values, as expressions of the variables.
    pub fn values(&self) -> &[Expression] {
        &self.values
    }

    /// The map as a relation: all pairs of a tuple and its value.
    pub fn relation(&self) -> Relation {
        let variables = &self.variables;
        let inputs = variables.inputs().map(|v| variables.name(v).to_owned());
        let outputs = (0..self.values.len()).map(|k| format!("y{k}"));
        let mut part = Conjunction::new(inputs, outputs.collect::<Vec<String>>());
        for (output, value) in part.outputs().zip(&self.values) {
            part.add(Expression::Variable(output).equals(value.clone()));
        }
        Relation::new(vec![part]).expect("the text of a map uses names in one role")
    }

    /// The value of a tuple; `None` where it has none.
    ///
    /// # Errors
    /// As [`Relation::enumerate`]: for symbolic constants, for functions other
    /// than keys, and for values that do not fit in 64 bits.
    pub fn value(&self, tuple: &[i64]) -> Result<Option<Vec<i64>>> {
        let relation = self.relation();
        let at = relation.restricted_to(&Set::point(tuple))?;
        let pairs = at.enumerate(&Environment::new(), i64::MIN..i64::MAX)?;
        Ok(pairs.into_iter().next().map(|(_, value)| value))
    }

    /// The tuple of a value, where the map determines it.
    ///
    /// # Errors
    /// `E0705` names a variable that the values do not determine.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, IndexMap};
    /// let known = "assume 0 < B".parse()?;
    /// let blocks: IndexMap = "(i) -> (i floordiv B, i mod B)".parse()?;
    /// assert_eq!(blocks.inverse(&known)?.to_string(), "(y0, y1) -> (y0 * B + y1)");
    /// let diagonals: IndexMap = "(i, j) -> (j - i, i)".parse()?;
    /// assert_eq!(diagonals.inverse(&known)?.to_string(), "(y0, y1) -> (y1, y0 + y1)");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn inverse(&self, declarations: &Declarations) -> Result<Self> {
        let inverse = self.relation().inverse();
        let solved = inverse.solve(declarations)?;
        let part = &inverse.parts()[0];
        let names: Vec<String> = part.inputs().map(|v| part.name(v).to_owned()).collect();
        let values = solved.into_iter().next().expect("a map has one part");
        Ok(Self::new(names, values))
    }

    /// The values of the tuples in `set`.
    ///
    /// # Errors
    /// `E0130` if the tuples differ in length.
    pub fn image(&self, set: &Set) -> Result<Set> {
        self.relation().apply(set)
    }

    /// Whether a tuple of `set` that comes lexicographically before another has
    /// the value that comes before the other's: loops over the tuples then meet
    /// the values in their order.
    ///
    /// # Errors
    /// `E0130` if the tuples differ in length.
    ///
    /// ```
    /// use sparsec_relation::{Answer, Declarations, IndexMap};
    /// let known: Declarations = "assume 0 < N".parse()?;
    /// let within = "{[i, j] : 0 <= i && 0 <= j < N}".parse()?;
    /// let fused: IndexMap = "(i, j) -> (i * N + j)".parse()?;
    /// assert_eq!(fused.is_increasing(&within, &known)?, Answer::Yes);
    /// let turned: IndexMap = "(i, j) -> (j, i)".parse()?;
    /// assert_eq!(turned.is_increasing(&within, &known)?, Answer::No);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn is_increasing(&self, set: &Set, declarations: &Declarations) -> Result<Answer> {
        if self.values.is_empty() {
            return Ok(Answer::Unknown);
        }
        let within = self.relation().restricted_to(set)?;
        // Values of pairs of tuples, the tuples side by side.
        let mut broken = Vec::new();
        for first in within.parts() {
            for second in within.parts() {
                let (n, m) = (within.n_inputs(), within.n_outputs());
                let names = |k: usize| (0..k).map(|at| format!("v{at}")).collect::<Vec<_>>();
                let mut both = Conjunction::new(names(2 * n), names(2 * m));
                let inputs: Vec<_> = both.inputs().collect();
                let outputs: Vec<_> = both.outputs().collect();
                let side = |at: usize| {
                    let tuple = inputs[at * n..(at + 1) * n].iter();
                    tuple.chain(&outputs[at * m..(at + 1) * m]).copied()
                };
                both.conjoin_at(first, side(0));
                both.conjoin_at(second, side(1));
                let expressions = |ids: &[_]| -> Vec<Expression> {
                    ids.iter().map(|v| Expression::Variable(*v)).collect()
                };
                let before = compare(&expressions(&inputs), n, Comparison::Less);
                let not_before = compare(&expressions(&outputs), m, Comparison::GreaterEqual);
                for tuples in &before {
                    for values in &not_before {
                        let mut part = both.clone();
                        for constraint in tuples.iter().chain(values) {
                            part.add(constraint.clone());
                        }
                        broken.push(part);
                    }
                }
            }
        }
        if broken.is_empty() {
            return Ok(Answer::Yes);
        }
        Ok(Relation::new(broken)?.is_empty(declarations))
    }
}

fn compare(both: &[Expression], n: usize, comparison: Comparison) -> Vec<Vec<Constraint>> {
    if n == 0 {
        return Vec::new();
    }
    crate::parse::expression::compare_tuples(&both[..n], comparison, &both[n..])
}

impl FromStr for IndexMap {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("index map", text))
    }
}

impl fmt::Display for IndexMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables = &self.variables;
        let names: Vec<&str> = variables.inputs().map(|v| variables.name(v)).collect();
        write!(f, "({}) -> (", names.join(", "))?;
        for (number, value) in self.values.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { ", " })?;
            variables.write_expression(f, value)?;
        }
        f.write_str(")")
    }
}
