//! Relations: unions of conjunctions of constraints.

use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::conjunction::Conjunction;
use crate::expression::{Constraint, Rewrite, Variable};
use crate::names::{Clash, Roles};

/// A set of pairs of integer tuples.
///
/// Equal relations have the same text; different texts may hold the same
/// pairs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relation {
    parts: Vec<Conjunction>,
}

impl Relation {
    /// The union of these conjunctions.
    ///
    /// # Errors
    /// `E0130` if there are none, if their tuples differ in length, or if a function has different
    /// numbers of arguments; `E0131` for a function that is also a constant.
    pub fn new(parts: Vec<Conjunction>) -> Result<Self> {
        let relation = Self::of_parts(parts);
        let Some((code, message)) = relation.fault() else {
            return Ok(relation);
        };
        let text = relation.to_string();
        let whole = Span::new(0, text.len());
        Err(Diagnostic::new(code, message).at(&Source::new("relation", text), whole, "here"))
    }

    /// The union of parts with tuples of equal lengths, in which each name has one role.
    pub(crate) fn of_parts(parts: Vec<Conjunction>) -> Self {
        Self { parts }
    }

    fn fault(&self) -> Option<(sparsec_base::Code, String)> {
        let arity = |message: &str| Some((code::RELATION_ARITY, message.to_owned()));
        let Some(first) = self.parts.first() else {
            return arity("a relation of no parts");
        };
        let lengths = first.lengths();
        if self.parts.iter().any(|part| part.lengths() != lengths) {
            return arity("the parts of a union have tuples of different lengths");
        }
        match self.roles() {
            Ok(_) => None,
            Err(Clash::Arity(name)) => {
                arity(&format!("`{name}` has different numbers of arguments"))
            }
            Err(Clash::Kind(name)) => {
                let message = format!("`{name}` is a function and a constant");
                Some((code::RELATION_NAME, message))
            }
        }
    }

    /// The roles of the free names.
    pub(crate) fn roles(&self) -> std::result::Result<Roles<'_>, Clash<'_>> {
        let mut roles = Roles::default();
        for part in &self.parts {
            roles.note(&part.uses())?;
        }
        Ok(roles)
    }

    /// The parts of the union; at least one.
    pub fn parts(&self) -> &[Conjunction] {
        &self.parts
    }

    /// The relation with other constants and functions.
    ///
    /// # Errors
    /// As [`Relation::new`], where a new name has two roles.
    ///
    /// ```
    /// use sparsec_relation::{Expression, Relation, Rewrite};
    /// struct IForN;
    /// impl Rewrite for IForN {
    ///     fn constant(&self, _: &str) -> Expression {
    ///         Expression::Constant("i".to_owned())
    ///     }
    /// }
    /// let below: Relation = "{[i] -> [j] : 0 <= i < N}".parse()?;
    /// assert_eq!(below.rewritten(&IForN)?.to_string(), "{[i_1] -> [j] : 0 <= i_1 < i}");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn rewritten(&self, names: &impl Rewrite) -> Result<Self> {
        let parts = self.parts.iter();
        Self::new(parts.map(|part| part.rewritten(names)).collect())
    }

    /// The length of the first tuple.
    pub fn n_inputs(&self) -> usize {
        self.parts[0].lengths().0
    }

    /// The length of the second tuple.
    pub fn n_outputs(&self) -> usize {
        self.parts[0].lengths().1
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
        Self::of_parts(self.parts.iter().map(invert).collect())
    }

    /// The same pairs with constant arithmetic evaluated: `0 * N + i` is `i`.
    #[must_use]
    pub fn simplified(&self) -> Self {
        let simplify = |part: &Conjunction| {
            let constraints = part.constraints().iter();
            part.saying(constraints.filter_map(Constraint::simplified).collect())
        };
        Self::of_parts(self.parts.iter().map(simplify).collect())
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
