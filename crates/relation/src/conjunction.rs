//! Conjunctions: the pairs of tuples that satisfy all constraints of a list.
//!
//! Methods keep the invariant of a conjunction: no variable has the name of another, or of a
//! constant or function in the constraints. The text therefore has one meaning. See `names`.

use std::ops::Range;

use sparsec_base::arena::Id;

use crate::expression::{Constraint, Expression, Rewrite, Variable};
use crate::names::{Names, Uses};

/// The pairs that satisfy all constraints of a list.
///
/// Variables are known by id. A variable gets a number behind its name where another
/// variable, a constant or a function in the constraints has that name.
///
/// ```
/// use sparsec_relation::{Conjunction, Expression};
/// let mut pair = Conjunction::new(["N"], ["j"]);
/// let j = pair.outputs().next().expect("one element");
/// pair.add(Expression::Variable(j).equals(Expression::Constant("N".to_owned())));
/// assert_eq!(pair.to_string(), "{[N_1] -> [j] : j = N}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conjunction {
    names: Names,
    n_inputs: usize,
    n_outputs: usize,
    constraints: Vec<Constraint>,
}

impl Conjunction {
    /// All pairs of tuples of these variables.
    pub fn new<S: Into<String>>(
        inputs: impl IntoIterator<Item = S>,
        outputs: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut names = Names::default();
        for name in inputs {
            names.push(name);
        }
        let n_inputs = names.len();
        for name in outputs {
            names.push(name);
        }
        let n_outputs = names.len() - n_inputs;
        Self::settled(names, n_inputs, n_outputs, Vec::new())
    }

    /// All tuples of these variables, with which `others` are written.
    pub(crate) fn over(names: Names, others: &Uses<'_>) -> Self {
        let mut over = Self {
            n_inputs: names.len(),
            n_outputs: 0,
            names,
            constraints: Vec::new(),
        };
        over.make_way_for(others);
        over
    }

    /// A conjunction whose names are kept apart.
    fn settled(
        names: Names,
        n_inputs: usize,
        n_outputs: usize,
        constraints: Vec<Constraint>,
    ) -> Self {
        let mut settled = Self {
            names,
            n_inputs,
            n_outputs,
            constraints,
        };
        settled.keep_names_apart();
        settled
    }

    fn keep_names_apart(&mut self) {
        self.names.keep_apart(&Uses::of(&self.constraints).names());
    }

    /// The variables of the first tuple.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Variable> + use<> {
        variables(0..self.n_inputs)
    }

    /// The variables of the second tuple.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Variable> + use<> {
        variables(self.n_inputs..self.n_inputs + self.n_outputs)
    }

    /// The variables that have to have some value.
    pub fn exists(&self) -> impl ExactSizeIterator<Item = Variable> + use<> {
        variables(self.n_inputs + self.n_outputs..self.names.len())
    }

    /// The constraints, all of which hold.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// The name of a variable.
    pub fn name(&self, variable: Variable) -> &str {
        self.names.name(variable)
    }

    /// How many variables there are.
    pub fn n_variables(&self) -> usize {
        self.names.len()
    }

    /// The lengths of the tuples.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        (self.n_inputs, self.n_outputs)
    }

    /// The free names in the constraints.
    pub(crate) fn uses(&self) -> Uses<'_> {
        Uses::of(&self.constraints)
    }

    /// Adds a variable that has to have some value.
    pub fn add_exists(&mut self, name: impl Into<String>) -> Variable {
        let variable = self.names.push(name);
        self.keep_names_apart();
        variable
    }

    /// Adds a constraint on this conjunction's variables.
    pub fn add(&mut self, constraint: Constraint) {
        self.extend([constraint]);
    }

    fn extend(&mut self, constraints: impl IntoIterator<Item = Constraint>) {
        let from = self.constraints.len();
        self.constraints.extend(constraints);
        let new = Uses::of(&self.constraints[from..]).names();
        if self.names.have_any(&new) {
            self.keep_names_apart();
        }
    }

    /// Adds the constraints of `other` with `rewrite` applied. It gives every
    /// variable of `other` an expression over the variables here.
    pub fn conjoin(&mut self, other: &Self, rewrite: &impl Rewrite) {
        let constraints = other.constraints.iter();
        self.extend(constraints.map(|c| c.rewritten(rewrite)));
    }

    /// As [`conjoin`](Self::conjoin), for `other` with its tuples at these
    /// variables; its variables that have to exist are added here.
    pub fn conjoin_at(&mut self, other: &Self, tuples: impl Iterator<Item = Variable>) {
        let mut renaming = Renaming(tuples.collect());
        for variable in other.exists() {
            renaming.0.push(self.add_exists(other.name(variable)));
        }
        self.conjoin(other, &renaming);
    }

    /// The conjunction with other constants and functions.
    #[must_use]
    pub fn rewritten(&self, names: &impl Rewrite) -> Self {
        let constraints = self.constraints.iter();
        self.saying(constraints.map(|c| c.rewritten(names)).collect())
    }

    /// The same variables with other constraints.
    pub(crate) fn saying(&self, constraints: Vec<Constraint>) -> Self {
        Self::settled(
            self.names.clone(),
            self.n_inputs,
            self.n_outputs,
            constraints,
        )
    }

    /// The same tuples with other constraints and nothing to exist.
    pub(crate) fn without_exists(&self, constraints: Vec<Constraint>) -> Self {
        self.keeping(&[], constraints)
    }

    /// The same tuples with other constraints. Of the variables that have to exist,
    /// only these are in the constraints.
    pub(crate) fn keeping(&self, exists: &[Variable], constraints: Vec<Constraint>) -> Self {
        let mut names = self.names.first(self.n_inputs + self.n_outputs);
        let mut renaming: Vec<Variable> = variables(0..self.names.len()).collect();
        for variable in exists {
            renaming[variable.index()] = names.push(self.name(*variable));
        }
        let renaming = Renaming(renaming);
        let constraints = constraints.iter();
        let constraints = constraints.map(|c| c.rewritten(&renaming)).collect();
        Self::settled(names, self.n_inputs, self.n_outputs, constraints)
    }

    /// Renames variables whose name is free in `others`, expressions over these variables that are
    /// kept outside of the conjunction.
    pub(crate) fn make_way_for(&mut self, others: &Uses<'_>) {
        let mut free = Uses::of(&self.constraints).names();
        free.extend(others.names());
        self.names.keep_apart(&free);
    }
}

fn variables(ids: Range<usize>) -> impl ExactSizeIterator<Item = Variable> {
    ids.map(Variable::from_index)
}

/// Puts variables in place of variables, by their order.
struct Renaming(Vec<Variable>);

impl Rewrite for Renaming {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(self.0[variable.index()])
    }
}
