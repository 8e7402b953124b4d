//! Declarations about functions and symbolic constants.
//!
//! A format knows more about an index array than its name: the domain, the range and the order of
//! its values. Declarations state these facts, and proofs use them:
//!
//! ```text
//! assume 0 <= NR && 0 <= NNZ
//! function rowptr : {[i] : 0 <= i <= NR} -> {[q] : 0 <= q <= NNZ} nondecreasing
//! function col : {[k] : 0 <= k < NNZ} -> {[j] : 0 <= j < NC}
//! function perm : {[t] : 0 <= t < NR} -> {[i] : 0 <= i < NR} injective
//! function block : {[q] : 0 <= q < NB} -> {[b, c] : 0 <= b < MB && 0 <= c < KB} injective
//! function turn : {[i] : 0 <= i < NR} -> {[j] : 0 <= j < NR} inverse back
//! order DIAGONAL = {[i, j] -> [k, l] : i + j < k + l}
//! forall i, k1, k2 : rowptr(i) <= k1 < k2 < rowptr(i + 1) => col(k1) < col(k2)
//! forall n1, n2 : n1 < n2 <=> LEX(row(n1), col(n1)) < LEX(row(n2), col(n2))
//! ```
//!
//! `=>` is one implication and `<=>` two. A quantifier without either states that its constraints
//! always hold. Keys are compared with keys of the same name: `LEX`, `MORTON`, `ALTO` (see the
//! crate's page), or a name that `order` or `key` declares. An order relates each tuple to the
//! tuples that come after it. A key function computes a number from a tuple; its language has a
//! page of its own, `key_function`.
//!
//! The values of `block` are tuples. Calls name their elements `block(q)[0]` and `block(q)[1]`, or
//! `block.0(q)` and `block.1(q)`.
//!
//! `inverse back` declares a bijection between domain and range whose inverse is `back`. It stands
//! for `injective` and for
//!
//! ```text
//! function back : {[j] : 0 <= j < NR} -> {[i] : 0 <= i < NR} injective
//! forall i : 0 <= i < NR => back(turn(i)) = i
//! forall j : 0 <= j < NR => turn(back(j)) = j
//! ```
//!
//! The inverse of a function of several arguments has tuples for values, and the inverse of a
//! function with tuples for values has several arguments.
//!
//! Source: Popoola et al., "Code Synthesis for Sparse Tensor Format Conversion
//! and Optimization", CGO 2023, §3.1. Unlike there, a weakly monotone function
//! has one implication: two equal values do not determine the order of the arguments.

use crate::conjunction::Conjunction;
use crate::expression::{Constraint, Expression, Rewrite, Values, calls};
use crate::key_function::KeyFunction;
use crate::names::Uses;
use crate::polynomial::Polynomial;
use crate::relation::Relation;
use crate::set::Set;
use sparsec_base::Result;

mod check;
mod clauses;
mod inverse;
mod ordered;
mod parse;
mod print;
mod tuples;

pub use check::Broken;
pub(crate) use clauses::Clause;
pub use ordered::ListOrder;
pub use tuples::TupleFunction;

/// Declarations about functions and symbolic constants; see the module's page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declarations {
    pub(crate) assumptions: Vec<Constraint>,
    pub(crate) functions: Vec<Function>,
    pub(crate) tuples: Vec<TupleFunction>,
    pub(crate) orders: Vec<(String, Relation)>,
    pub(crate) keys: Vec<KeyFunction>,
    pub(crate) quantifiers: Vec<Quantifier>,
}

/// A declared function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name in calls.
    pub name: String,
    /// The arguments for which it has a value.
    pub domain: Set,
    /// A set of one element that holds its values.
    pub range: Set,
    /// Whether it is declared injective; see [`is_injective`](Self::is_injective).
    pub injective: bool,
    /// The order of the values, for a function of one argument.
    pub monotone: Option<Monotone>,
}

/// How the values of a function of one argument follow the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monotone {
    /// `a <= b` gives `f(a) <= f(b)`.
    Nondecreasing,
    /// `a < b` gives `f(a) < f(b)`.
    Increasing,
    /// `a <= b` gives `f(a) >= f(b)`.
    Nonincreasing,
    /// `a < b` gives `f(a) > f(b)`.
    Decreasing,
}

/// `forall variables : premises => conclusions`, or `forall variables : conclusions`; without
/// variables, `assume premises => conclusions`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantifier {
    /// The variables are its inputs, the premises its constraints.
    pub(crate) premises: Conjunction,
    pub(crate) conclusions: Vec<Constraint>,
}

impl Quantifier {
    /// A quantifier whose variables have names of their own in both halves.
    fn new(mut premises: Conjunction, conclusions: Vec<Constraint>) -> Self {
        premises.make_way_for(&Uses::of(&conclusions));
        Self {
            premises,
            conclusions,
        }
    }

    /// Its variables, and the constraints under which the conclusions hold.
    pub fn premises(&self) -> &Conjunction {
        &self.premises
    }

    /// The conclusions, as constraints on the variables of the premises.
    pub fn conclusions(&self) -> &[Constraint] {
        &self.conclusions
    }
}

impl Monotone {
    pub(crate) const ALL: [Self; 4] = [
        Self::Nondecreasing,
        Self::Increasing,
        Self::Nonincreasing,
        Self::Decreasing,
    ];

    /// The word in text.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nondecreasing => "nondecreasing",
            Self::Increasing => "increasing",
            Self::Nonincreasing => "nonincreasing",
            Self::Decreasing => "decreasing",
        }
    }
}

impl Declarations {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// All of these and of others.
    pub fn extend(&mut self, others: Self) {
        others
            .assumptions
            .into_iter()
            .for_each(|it| self.assume(it));
        self.functions.extend(others.functions);
        self.tuples.extend(others.tuples);
        self.orders.extend(others.orders);
        for key in others.keys {
            if !self.keys.contains(&key) {
                self.keys.push(key);
            }
        }
        self.quantifiers.extend(others.quantifiers);
    }

    /// Whether all of the others are among these, so that proofs from the others hold here.
    ///
    /// ```
    /// use sparsec_relation::Declarations;
    /// let few: Declarations = "assume 0 <= N".parse()?;
    /// let more: Declarations = "assume 0 <= N && 0 < M".parse()?;
    /// assert!(more.include(&few) && !few.include(&more));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn include(&self, others: &Self) -> bool {
        fn all<T: PartialEq>(here: &[T], others: &[T]) -> bool {
            others.iter().all(|it| here.contains(it))
        }
        all(&self.assumptions, &others.assumptions)
            && all(&self.functions, &others.functions)
            && all(&self.tuples, &others.tuples)
            && all(&self.orders, &others.orders)
            && all(&self.quantifiers, &others.quantifiers)
    }

    /// The assumptions about given constants: those without a call, in which each name is given.
    pub fn of_constants(&self, is_given: impl Fn(&str) -> bool) -> Self {
        let is_about_given = |constraint: &Constraint| {
            let mut is_about_given = true;
            for e in constraint.expressions() {
                e.visit(&mut |e| {
                    is_about_given &= match e {
                        Expression::Constant(name) => is_given(name),
                        Expression::Call(..) => false,
                        _ => true,
                    };
                });
            }
            is_about_given
        };
        let mut kept = Self::new();
        let assumptions = self.assumptions.iter().cloned();
        kept.assumptions = assumptions.filter(is_about_given).collect();
        let is_kept = |it: &&Quantifier| {
            let mut both = it.premises.constraints().iter().chain(&it.conclusions);
            it.premises.n_variables() == 0 && both.all(is_about_given)
        };
        let quantifiers = self.quantifiers.iter().filter(is_kept);
        kept.quantifiers = quantifiers.cloned().collect();
        kept
    }

    /// Declares that the conclusions hold for all variables that satisfy `premises`. Both are
    /// constraints on the variables of `premises`.
    pub fn forall(&mut self, premises: Conjunction, conclusions: Vec<Constraint>) {
        self.quantifiers
            .push(Quantifier::new(premises, conclusions));
    }

    /// The declarations under new names.
    ///
    /// # Errors
    /// As [`Relation::rewritten`].
    pub fn rewritten(&self, names: &impl Rewrite) -> Result<Self> {
        let all = |constraints: &[Constraint]| {
            let constraints = constraints.iter();
            constraints.map(|c| c.rewritten(names)).collect()
        };
        let mut rewritten = Self {
            assumptions: all(&self.assumptions),
            ..Self::default()
        };
        for function in &self.functions {
            rewritten.functions.push(Function {
                name: names.function(&function.name),
                domain: function.domain.rewritten(names)?,
                range: function.range.rewritten(names)?,
                ..function.clone()
            });
        }
        rewritten.tuples = self.tuples_rewritten(names)?;
        for (name, order) in &self.orders {
            let order = order.rewritten(names)?;
            rewritten.orders.push((names.function(name), order));
        }
        rewritten.keys = self.keys_rewritten(names);
        for quantifier in &self.quantifiers {
            let premises = quantifier.premises.rewritten(names);
            rewritten.forall(premises, all(&quantifier.conclusions));
        }
        Ok(rewritten)
    }

    /// The declared functions that are arrays.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The declared functions, for changes.
    pub fn functions_mut(&mut self) -> &mut [Function] {
        &mut self.functions
    }

    /// Keeps only some functions. A tuple function goes with any of its elements.
    pub fn retain_functions(&mut self, is_kept: impl Fn(&Function) -> bool) {
        self.functions.retain(is_kept);
        self.retain_tuples(None);
    }

    /// The function of a name, if it is declared: an array, or a word of a key function.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.all_functions().find(|f| f.name == name)
    }

    /// The declared functions, and those that are the words of keys.
    pub(crate) fn all_functions(&self) -> impl Iterator<Item = &Function> {
        let words = self.keys.iter().flat_map(KeyFunction::words);
        self.functions.iter().chain(words)
    }

    /// Adds a function.
    pub fn declare(&mut self, function: Function) {
        self.functions.push(function);
    }

    /// Adds an assumption on symbolic constants, unless it is there.
    pub fn assume(&mut self, constraint: Constraint) {
        if !self.assumptions.contains(&constraint) {
            self.assumptions.push(constraint);
        }
    }

    /// Drops all declarations that contain a function or a symbolic constant.
    pub fn forget(&mut self, name: &str) {
        let has_name = |constraints: &[Constraint]| contain(constraints, name);
        let in_parts = |parts: &[Conjunction]| parts.iter().any(|p| has_name(p.constraints()));
        self.assumptions
            .retain(|constraint| !has_name(std::slice::from_ref(constraint)));
        self.functions.retain(|function| {
            let sets = [&function.domain, &function.range];
            function.name != name && !sets.iter().any(|set| in_parts(set.parts()))
        });
        self.retain_tuples(Some(name));
        let mut gone = Vec::new();
        self.orders.retain(|(order, relation)| {
            let kept = order != name && !in_parts(relation.parts());
            if !kept && order != name {
                gone.push(order.clone());
            }
            kept
        });
        self.quantifiers
            .retain(|q| !has_name(q.premises.constraints()) && !has_name(&q.conclusions));
        for order in gone {
            self.forget(&order);
        }
    }

    /// The `forall` declarations.
    pub fn quantifiers(&self) -> &[Quantifier] {
        &self.quantifiers
    }

    /// Drops the quantifiers that contain a function or a symbolic constant, and the tuple
    /// functions with this element.
    pub fn forget_quantifiers(&mut self, name: &str) {
        self.retain_tuples(Some(name));
        self.quantifiers.retain(|quantifier| {
            let premises = quantifier.premises.constraints();
            !contain(premises, name) && !contain(&quantifier.conclusions, name)
        });
    }

    /// The assumptions on symbolic constants.
    pub fn assumptions(&self) -> &[Constraint] {
        &self.assumptions
    }

    /// The assumptions on symbolic constants, to be changed or dropped.
    pub fn assumptions_mut(&mut self) -> &mut Vec<Constraint> {
        &mut self.assumptions
    }

    /// The names of the declared orders.
    pub fn orders(&self) -> impl Iterator<Item = &str> {
        self.orders.iter().map(|(name, _)| name.as_str())
    }

    /// The functions that are in a quantifier, a domain or a range with another.
    pub(crate) fn tied_to(&self, name: &str) -> Vec<String> {
        let mut tied = vec![calls(&self.assumptions)];
        for quantifier in &self.quantifiers {
            let premises = quantifier.premises.constraints().iter();
            tied.push(calls(premises.chain(&quantifier.conclusions)));
        }
        tied.retain(|names| names.iter().any(|it| it == name));
        if let Some((tuple, _)) = self.tuple_of(name) {
            tied.push(tuple.elements().collect());
        }
        if let Some(function) = self.function(name) {
            let sets = [&function.domain, &function.range].into_iter();
            let parts = sets.flat_map(Set::parts);
            tied.push(calls(parts.flat_map(Conjunction::constraints)));
        }
        tied.concat()
    }
}

/// Whether constraints contain a function or a symbolic constant.
fn contain(constraints: &[Constraint], name: &str) -> bool {
    let mut found = false;
    for e in constraints.iter().flat_map(Constraint::expressions) {
        e.visit(&mut |e| match e {
            Expression::Constant(n) | Expression::Call(n, _) => found |= n == name,
            _ => {}
        });
    }
    found
}

impl Function {
    /// Whether the function is injective: it is declared so, or strictly monotone.
    ///
    /// ```
    /// use sparsec_relation::Declarations;
    /// let known: Declarations = "function f : {[i]} -> {[x]} increasing".parse()?;
    /// assert!(known.function("f").is_some_and(|f| f.is_injective()));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn is_injective(&self) -> bool {
        self.injective || self.is_strict()
    }

    /// Whether the function is strictly monotone.
    fn is_strict(&self) -> bool {
        matches!(
            self.monotone,
            Some(Monotone::Increasing | Monotone::Decreasing)
        )
    }

    /// The comparisons under which a call has a value. `None` if the domain is a union or has
    /// `exists` variables, and for the wrong number of arguments.
    pub(crate) fn domain_at(&self, arguments: &[Polynomial]) -> Option<Vec<Constraint>> {
        let [part] = self.domain.parts() else {
            return None;
        };
        if part.exists().len() > 0 || arguments.len() != self.domain.n_elements() {
            return None;
        }
        let arguments: Vec<Expression> = arguments.iter().map(Polynomial::to_expression).collect();
        let links = part.constraints().iter().flat_map(Constraint::split);
        Some(
            links
                .map(|link| link.rewritten(&Values(&arguments)))
                .collect(),
        )
    }

    /// The expressions that bound its arguments and values.
    pub fn bounds(&self) -> impl Iterator<Item = &Expression> {
        let parts = [&self.domain, &self.range].into_iter().flat_map(Set::parts);
        let constraints = parts.flat_map(Conjunction::constraints);
        constraints.flat_map(Constraint::expressions)
    }
}
