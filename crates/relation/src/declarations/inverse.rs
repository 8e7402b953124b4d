//! Bijections and their declared inverses.
//!
//! ```text
//! function c : {[i, j] : 0 <= i < N && 0 <= j < M} -> {[k] : 0 <= k < N * M} inverse d
//!
//! function d : {[k] : 0 <= k < N * M} -> {[i, j] : 0 <= i < N && 0 <= j < M} injective
//! forall i, j : 0 <= i < N && 0 <= j < M => d(c(i, j))[0] = i && d(c(i, j))[1] = j
//! forall k : 0 <= k < N * M => c(d(k)[0], d(k)[1]) = k
//! ```
//!
//! The quantifiers are all that declarations keep of the word `inverse`, so a bijection that is
//! declared by quantifiers is one too.

use sparsec_base::arena::Id;
use sparsec_base::{Result, Span};

use super::parse::Reader;
use super::tuples::elements;
use super::{Declarations, Function, TupleFunction};
use crate::conjunction::Conjunction;
use crate::expression::{Comparison, Constraint, Expression, Values};
use crate::set::Set;

impl Declarations {
    /// The declared inverse of a function: `g` if `g(f(x)) = x` on the domain of `f`, for
    /// functions of several arguments and functions with tuples for values too.
    ///
    /// ```
    /// use sparsec_relation::Declarations;
    /// let known: Declarations =
    ///     "function f : {[i] : 0 <= i < N} -> {[j] : 0 <= j < N} inverse g".parse()?;
    /// assert_eq!(known.inverse_of("f"), Some("g"));
    /// assert_eq!(known.inverse_of("g"), Some("f"));
    /// let known: Declarations =
    ///     "function c : {[i, j] : 0 <= i < N && 0 <= j < M} -> {[k] : 0 <= k < N * M} inverse d".parse()?;
    /// assert_eq!(known.inverse_of("c"), Some("d"));
    /// assert_eq!(known.inverse_of("d"), Some("c"));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn inverse_of(&self, name: &str) -> Option<&str> {
        let (domain, n) = match self.tuples.iter().find(|tuple| tuple.name == name) {
            Some(tuple) => (&tuple.domain, tuple.range.n_elements()),
            None => (&self.function(name)?.domain, 1),
        };
        let of_tuple =
            |e: &Expression, k: usize| matches!(e, Expression::Variable(x) if x.index() == k);
        let are_values = |values: &[Expression]| {
            let names = elements(name, n);
            let is_value = |(value, name): (&Expression, String)| match value {
                Expression::Call(f, tuple) => {
                    let mut tuple = tuple.iter().enumerate();
                    *f == name && tuple.all(|(k, e)| of_tuple(e, k))
                }
                _ => false,
            };
            values.len() == n && values.iter().zip(names).all(is_value)
        };
        let returns = |conclusion: &Constraint, k: usize| match &conclusion.first {
            Expression::Call(_, values) => {
                let is_element = |(comparison, e): &(Comparison, Expression)| {
                    *comparison == Comparison::Equal && of_tuple(e, k)
                };
                let [only] = &conclusion.rest[..] else {
                    return false;
                };
                is_element(only) && are_values(values)
            }
            _ => false,
        };
        self.quantifiers.iter().find_map(|quantifier| {
            let conclusions = &quantifier.conclusions;
            let names = conclusions
                .iter()
                .map(|conclusion| match &conclusion.first {
                    Expression::Call(name, _) => name.as_str(),
                    _ => "",
                });
            let first = names.clone().next()?;
            let inverse = match conclusions.len() {
                1 => first,
                _ => first.strip_suffix(".0")?,
            };
            let is_inverse = conclusions.len() == domain.n_elements()
                && names.eq(elements(inverse, conclusions.len()))
                && conclusions.iter().enumerate().all(|(k, it)| returns(it, k))
                && holds_within(&quantifier.premises, domain);
            is_inverse.then_some(inverse)
        })
    }
}

impl Reader<'_> {
    /// Reads the name of the inverse of a function, after the word `inverse` at `place`.
    pub(super) fn inverse(
        &mut self,
        of: &str,
        domain: &Set,
        range: &Set,
        has_one: bool,
        place: Span,
    ) -> Result<String> {
        if domain.n_elements() == 0 {
            return Err(self
                .does_not_fit("the inverse of a function without arguments", place)
                .help("leave `inverse` out"));
        }
        if has_one {
            return Err(self
                .does_not_fit("a function with two inverses", place)
                .help("keep one of them"));
        }
        let (name, place) = self.new_name("the inverse")?;
        if name == of {
            return Err(self
                .does_not_fit("a function that is its own inverse by name", place)
                .help("state it with `forall`"));
        }
        self.check_new_role(&name, range, domain, place)?;
        Ok(name)
    }

    /// Declares the inverse of the bijection `name` between two sets.
    pub(super) fn declare_inverse(&mut self, name: &str, domain: Set, range: Set, inverse: String) {
        self.returns(&domain, (name, range.n_elements()), &inverse);
        self.returns(&range, (&inverse, domain.n_elements()), name);
        let (domain, range) = (range, domain);
        match range.n_elements() {
            1 => self.declarations.functions.push(Function {
                name: inverse,
                domain,
                range,
                injective: true,
                monotone: None,
            }),
            _ => self.declarations.declare_tuple(TupleFunction {
                name: inverse,
                domain,
                range,
                injective: true,
            }),
        }
    }

    /// Declares `second(first(x)) = x` for each tuple `x` of a set. The values of `first` have `n`
    /// elements.
    fn returns(&mut self, set: &Set, (first, n): (&str, usize), second: &str) {
        for part in set.parts() {
            let names = part.inputs().chain(part.exists());
            let names = names.map(|v| part.name(v).to_owned());
            let mut premises = Conjunction::new(names, []);
            let same: Vec<Expression> = premises.inputs().map(Expression::Variable).collect();
            for constraint in part.constraints() {
                premises.add(constraint.rewritten(&Values(&same)));
            }
            let tuple = &same[..premises.n_variables() - part.exists().len()];
            let values = elements(first, n).map(|name| Expression::Call(name, tuple.to_vec()));
            let values: Vec<Expression> = values.collect();
            let returned = elements(second, tuple.len()).zip(tuple);
            let equal = returned.map(|(name, element)| {
                Expression::Call(name, values.clone()).equals(element.clone())
            });
            let equal = equal.collect();
            self.declarations.forall(premises, equal);
        }
    }
}

/// Whether all premises on the elements of a tuple are among the constraints of a set of such
/// tuples.
fn holds_within(premises: &Conjunction, set: &Set) -> bool {
    let [part] = set.parts() else { return false };
    let stated: Vec<Constraint> = part
        .constraints()
        .iter()
        .flat_map(Constraint::split)
        .collect();
    let premises_hold = premises.constraints().iter().flat_map(Constraint::split);
    premises.n_variables() == set.n_elements()
        && part.n_variables() == set.n_elements()
        && premises_hold
            .into_iter()
            .all(|premise| stated.contains(&premise))
}
