//! Relations: unions of conjunctions of constraints.

use std::collections::BTreeMap;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::expression::{Constraint, Expression, Rewrite, Variable};
use crate::key::{LEX, is_variadic};

/// A set of pairs of integer tuples.
///
/// Equal relations have the same text; different texts may hold the same
/// pairs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation {
    parts: Vec<Conjunction>,
}

/// The pairs that satisfy all constraints of a list.
///
/// Variables are known by id; [`Relation::new`] gives them names that no other
/// variable, constant or function in the conjunction has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conjunction {
    names: Vec<String>,
    n_inputs: usize,
    n_outputs: usize,
    constraints: Vec<Constraint>,
}

/// Names with a meaning of their own in relation text.
pub(crate) const RESERVED: [&str; 8] = [
    "and", "or", "exists", "union", "floordiv", "mod", "forall", LEX,
];

impl Conjunction {
    /// All pairs of tuples of these variables.
    pub fn new<S: Into<String>>(
        inputs: impl IntoIterator<Item = S>,
        outputs: impl IntoIterator<Item = S>,
    ) -> Self {
        let mut names: Vec<String> = inputs.into_iter().map(Into::into).collect();
        let n_inputs = names.len();
        names.extend(outputs.into_iter().map(Into::into));
        Self {
            n_outputs: names.len() - n_inputs,
            n_inputs,
            names,
            constraints: Vec::new(),
        }
    }

    /// The variables of the first tuple.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Variable> + use<> {
        (0..self.n_inputs).map(Variable::from_index)
    }

    /// The variables of the second tuple.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = Variable> + use<> {
        (self.n_inputs..self.n_inputs + self.n_outputs).map(Variable::from_index)
    }

    /// The variables that have to have some value.
    pub fn exists(&self) -> impl ExactSizeIterator<Item = Variable> + use<> {
        (self.n_inputs + self.n_outputs..self.names.len()).map(Variable::from_index)
    }

    /// The constraints, all of which hold.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// The name of a variable.
    pub fn name(&self, variable: Variable) -> &str {
        &self.names[variable.index()]
    }

    /// How many variables there are.
    pub fn n_variables(&self) -> usize {
        self.names.len()
    }

    /// Adds a variable that has to have some value.
    pub fn add_exists(&mut self, name: impl Into<String>) -> Variable {
        self.names.push(name.into());
        Variable::from_index(self.names.len() - 1)
    }

    /// Adds a constraint on this conjunction's variables.
    pub fn add(&mut self, constraint: Constraint) {
        self.constraints.push(constraint);
    }

    /// Adds the constraints of `other` with `rewrite` applied. It gives every
    /// variable of `other` an expression over the variables here.
    pub fn conjoin(&mut self, other: &Self, rewrite: &impl Rewrite) {
        let constraints = other.constraints.iter();
        self.constraints
            .extend(constraints.map(|c| c.rewritten(rewrite)));
    }

    /// The conjunction with other constants and functions.
    #[must_use]
    pub fn rewritten(&self, names: &impl Rewrite) -> Self {
        let constraints = self.constraints.iter();
        Self {
            constraints: constraints.map(|c| c.rewritten(names)).collect(),
            ..self.clone()
        }
    }

    /// As [`conjoin`](Self::conjoin), for `other` with its tuples at these
    /// variables; what it says to exist exists here too.
    pub fn conjoin_at(&mut self, other: &Self, tuples: impl Iterator<Item = Variable>) {
        let mut renaming = Renaming(tuples.collect());
        for variable in other.exists() {
            renaming.0.push(self.add_exists(other.name(variable)));
        }
        self.conjoin(other, &renaming);
    }

    /// The same tuples with other constraints and nothing to exist.
    pub(crate) fn without_exists(&self, constraints: Vec<Constraint>) -> Self {
        self.keeping(&[], constraints)
    }

    /// The same tuples with other constraints, which speak of no variables that
    /// have to exist but these.
    pub(crate) fn keeping(&self, exists: &[Variable], constraints: Vec<Constraint>) -> Self {
        let n_tuples = self.n_inputs + self.n_outputs;
        let mut kept = Self {
            names: self.names[..n_tuples].to_vec(),
            n_inputs: self.n_inputs,
            n_outputs: self.n_outputs,
            constraints: Vec::new(),
        };
        let mut renaming: Vec<Variable> = (0..self.names.len()).map(Variable::from_index).collect();
        for variable in exists {
            renaming[variable.index()] = kept.add_exists(self.name(*variable));
        }
        let renaming = Renaming(renaming);
        let constraints = constraints.iter();
        kept.constraints = constraints.map(|c| c.rewritten(&renaming)).collect();
        kept
    }

    /// Renames variables so that no two names in the text are the same.
    fn with_distinct_names(mut self) -> Self {
        let uses = Uses::of(&self);
        let mut taken: Vec<String> = RESERVED.map(String::from).into();
        taken.extend(uses.constants.iter().map(|name| (*name).to_owned()));
        taken.extend(uses.functions.iter().map(|(name, _)| (*name).to_owned()));
        for name in &mut self.names {
            if taken.contains(name) {
                *name = (1..)
                    .map(|n| format!("{name}_{n}"))
                    .find(|fresh| !taken.contains(fresh))
                    .expect("there is always a further number");
            }
            taken.push(name.clone());
        }
        self
    }
}

/// Puts variables in place of variables, by their order.
struct Renaming(Vec<Variable>);

impl Rewrite for Renaming {
    fn variable(&self, variable: Variable) -> Expression {
        Expression::Variable(self.0[variable.index()])
    }
}

/// The symbolic names in a conjunction.
pub(crate) struct Uses<'a> {
    pub(crate) constants: Vec<&'a str>,
    /// Functions with their numbers of arguments.
    pub(crate) functions: Vec<(&'a str, usize)>,
}

impl<'a> Uses<'a> {
    pub(crate) fn of(part: &'a Conjunction) -> Self {
        let mut uses = Self {
            constants: Vec::new(),
            functions: Vec::new(),
        };
        for e in part.constraints.iter().flat_map(Constraint::expressions) {
            e.visit(&mut |e| match e {
                Expression::Constant(name) => uses.constants.push(name),
                Expression::Call(name, arguments) => uses.functions.push((name, arguments.len())),
                _ => {}
            });
        }
        uses
    }
}

impl Relation {
    /// The union of these conjunctions.
    ///
    /// # Errors
    /// `E0130` if there is none, if their tuples differ in length, or if a
    /// function has different numbers of arguments; `E0131` for a function
    /// that is also a constant.
    pub fn new(parts: Vec<Conjunction>) -> Result<Self> {
        let parts = parts.into_iter().map(Conjunction::with_distinct_names);
        let relation = Self {
            parts: parts.collect(),
        };
        let fault = match relation.fault() {
            None => return Ok(relation),
            Some(fault) => fault,
        };
        let text = relation.to_string();
        let whole = Span::new(0, text.len());
        let (code, message) = fault;
        Err(Diagnostic::new(code, message).at(&Source::new("relation", text), whole, "here"))
    }

    /// The union of parts of one shape whose names do not clash.
    pub(crate) fn of_parts(parts: Vec<Conjunction>) -> Self {
        Self { parts }
    }

    fn fault(&self) -> Option<(sparsec_base::Code, String)> {
        let arity = |message: &str| Some((code::RELATION_ARITY, message.to_owned()));
        let Some(first) = self.parts.first() else {
            return arity("a relation of no parts");
        };
        let lengths = (first.n_inputs, first.n_outputs);
        if self
            .parts
            .iter()
            .any(|part| (part.n_inputs, part.n_outputs) != lengths)
        {
            return arity("the parts of a union have tuples of different lengths");
        }
        let uses: Vec<Uses<'_>> = self.parts.iter().map(Uses::of).collect();
        let mut arguments = BTreeMap::new();
        for &(name, n) in uses.iter().flat_map(|uses| &uses.functions) {
            if *arguments.entry(name).or_insert(n) != n && !is_variadic(name) {
                return arity(&format!("`{name}` has different numbers of arguments"));
            }
        }
        let mut constants = uses.iter().flat_map(|uses| &uses.constants);
        let both = constants.find(|name| arguments.contains_key(*name))?;
        let message = format!("`{both}` is a function and a constant");
        Some((code::RELATION_NAME, message))
    }

    /// The parts of the union; at least one.
    pub fn parts(&self) -> &[Conjunction] {
        &self.parts
    }

    /// The relation with other constants and functions.
    #[must_use]
    pub fn rewritten(&self, names: &impl Rewrite) -> Self {
        let parts = self.parts.iter();
        Self::of_parts(parts.map(|part| part.rewritten(names)).collect())
    }

    /// The length of the first tuple.
    pub fn n_inputs(&self) -> usize {
        self.parts[0].n_inputs
    }

    /// The length of the second tuple.
    pub fn n_outputs(&self) -> usize {
        self.parts[0].n_outputs
    }

    /// The pairs the other way round.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let invert = |part: &Conjunction| {
            let names = |ids: &mut dyn Iterator<Item = Variable>| -> Vec<String> {
                ids.map(|v| part.name(v).to_owned()).collect()
            };
            let mut inverse =
                Conjunction::new(names(&mut part.outputs()), names(&mut part.inputs()));
            let (outputs, inputs) = (inverse.inputs(), inverse.outputs());
            inverse.conjoin_at(part, inputs.chain(outputs));
            inverse
        };
        Self {
            parts: self.parts.iter().map(invert).collect(),
        }
    }

    /// The same pairs with what is known already computed: `0 * N + i` is `i`.
    #[must_use]
    pub fn simplified(&self) -> Self {
        let simplify = |part: &Conjunction| Conjunction {
            constraints: part
                .constraints
                .iter()
                .filter_map(Constraint::simplified)
                .collect(),
            ..part.clone()
        };
        Self {
            parts: self.parts.iter().map(simplify).collect(),
        }
    }

    /// The pairs of both.
    ///
    /// # Errors
    /// As [`Relation::new`].
    pub fn union(&self, other: &Self) -> Result<Self> {
        Self::new([&self.parts[..], &other.parts[..]].concat())
    }

    /// `a → c` wherever there is a `b` with `a → b` here and `b → c` in
    /// `next`. One part for each pair of parts.
    ///
    /// # Errors
    /// `E0130` if the tuples in the middle differ in length, and as
    /// [`Relation::new`] where a name means different things in the two.
    ///
    /// ```
    /// use sparsec_relation::Relation;
    /// let halves: Relation = "{[i] -> [h] : i = 2 * h}".parse()?;
    /// let shifted: Relation = "{[h] -> [k] : k = h + N}".parse()?;
    /// assert_eq!(
    ///     halves.then(&shifted)?.to_string(),
    ///     "{[i] -> [k] : exists h : i = 2 * h && k = h + N}",
    /// );
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn then(&self, next: &Self) -> Result<Self> {
        if self.n_outputs() != next.n_inputs() {
            return Err(self.middle_differs(next));
        }
        let mut parts = Vec::new();
        for first in &self.parts {
            for second in &next.parts {
                parts.push(compose(first, second));
            }
        }
        Self::new(parts)
    }

    fn middle_differs(&self, next: &Self) -> Diagnostic {
        let (outputs, inputs) = (self.n_outputs(), next.n_inputs());
        let message = format!("tuples of {outputs} and of {inputs} integers do not compose");
        let whole = |text: &str| Span::new(0, text.len());
        let (first, second) = (self.to_string(), next.to_string());
        Diagnostic::new(code::RELATION_ARITY, message)
            .at(
                &Source::new("first relation", first.as_str()),
                whole(&first),
                format!("gives tuples of {outputs}"),
            )
            .at(
                &Source::new("second relation", second.as_str()),
                whole(&second),
                format!("takes tuples of {inputs}"),
            )
    }
}

fn compose(first: &Conjunction, second: &Conjunction) -> Conjunction {
    let names = |ids: &mut dyn Iterator<Item = Variable>, of: &Conjunction| -> Vec<String> {
        ids.map(|v| of.name(v).to_owned()).collect()
    };
    let mut composed = Conjunction::new(
        names(&mut first.inputs(), first),
        names(&mut second.outputs(), second),
    );
    let (inputs, outputs) = (composed.inputs(), composed.outputs());
    let middle: Vec<Variable> = first
        .outputs()
        .map(|v| composed.add_exists(first.name(v)))
        .collect();
    composed.conjoin_at(first, inputs.chain(middle.iter().copied()));
    composed.conjoin_at(second, middle.into_iter().chain(outputs));
    composed
}
