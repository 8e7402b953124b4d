//! Whether what is declared holds of given arrays, by trying all values.

use std::ops::Range;

use sparsec_base::Result;
use sparsec_base::arena::Id;

use super::{Clause, Declarations, Function};
use crate::enumerate::Environment;
use crate::expression::{Comparison, Constraint, Expression, Variable};
use crate::relation::{Conjunction, Relation};

impl Declarations {
    /// What does not hold of these constants and functions, in words; `None` if all does.
    ///
    /// Tries all values `within` a range, so it is for small tensors: time is that of
    /// [`Relation::enumerate`] for each declaration.
    ///
    /// # Errors
    /// `E0132` for a constant or function without a value.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Environment};
    /// let known: Declarations =
    ///     "function pos : {[i] : 0 <= i <= 2} -> {[q] : 0 <= q <= 3} nondecreasing".parse()?;
    /// let right = Environment::new().table("pos", vec![0, 2, 3]);
    /// assert_eq!(known.broken_by(&right, -1..5)?, None);
    /// let wrong = Environment::new().table("pos", vec![0, 3, 2]);
    /// let why = known.broken_by(&wrong, -1..5)?.expect("it decreases");
    /// assert!(why.contains("pos"), "{why}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn broken_by(
        &self,
        environment: &Environment<'_>,
        within: Range<i64>,
    ) -> Result<Option<String>> {
        for constraint in self.assumptions.iter().flat_map(Constraint::split) {
            let clause = Clause {
                n_variables: 0,
                literals: vec![constraint],
            };
            if let Some(why) = clause.broken_by(environment, &within)? {
                return Ok(Some(why));
            }
        }
        for function in &self.functions {
            if let Some(why) = function.broken_by(environment, &within)? {
                return Ok(Some(why));
            }
        }
        for clause in self.clauses() {
            if let Some(why) = clause.broken_by(environment, &within)? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }
}

impl Function {
    fn broken_by(
        &self,
        environment: &Environment<'_>,
        within: &Range<i64>,
    ) -> Result<Option<String>> {
        for arguments in self.domain.enumerate(environment, within.clone())? {
            let call = Expression::Call(
                self.name.clone(),
                arguments.iter().map(|&a| Expression::Integer(a)).collect(),
            );
            let mut value = Conjunction::new(["value"], []);
            value.add(Expression::Variable(Variable::from_index(0)).equals(call));
            let value = Relation::new(vec![value])?.domain();
            if value
                .enumerate(environment, i64::MIN / 4..i64::MAX / 4)?
                .is_empty()
            {
                return Ok(Some(format!(
                    "`{}` has no value for {arguments:?}",
                    self.name
                )));
            }
            let value = value.intersect(&self.range)?;
            if value
                .enumerate(environment, i64::MIN / 4..i64::MAX / 4)?
                .is_empty()
            {
                return Ok(Some(format!(
                    "the value of `{}` for {arguments:?} is not in {}",
                    self.name, self.range
                )));
            }
        }
        Ok(None)
    }
}

impl Clause {
    fn broken_by(
        &self,
        environment: &Environment<'_>,
        within: &Range<i64>,
    ) -> Result<Option<String>> {
        let mut against = Conjunction::new((0..self.n_variables).map(|k| format!("x{k}")), []);
        for literal in &self.literals {
            let (comparison, right): &(Comparison, Expression) = &literal.rest[0];
            against.add(Constraint::new(
                literal.first.clone(),
                comparison.negated(),
                right.clone(),
            ));
        }
        let against = Relation::new(vec![against])?.domain();
        let examples = against.enumerate(environment, within.clone())?;
        let Some(example) = examples.first() else {
            return Ok(None);
        };
        Ok(Some(format!(
            "{example:?} is in {against}, where nothing should be"
        )))
    }
}
