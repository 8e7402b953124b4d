//! Polynomials: a normal form of expressions, in which equal sums are equal.
//!
//! A polynomial is a sum of products of atoms with integer factors. An atom is an expression
//! without further arithmetic: a variable, a symbolic constant, a call, a quotient or a remainder.
//! Arguments of calls are polynomials, so `f(i + 1)` and `f(1 + i)` are one atom.
//!
//! ```text
//! 2 * (N * i + 1) - i     is     {} ↦ 2,  {i} ↦ -1,  {N, i} ↦ 2
//! ```
//!
//! Factors have 64 bits; an operation that overflows gives `None`. Atoms share their parts, so
//! copies are cheap.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

use sparsec_base::arena::Id;

use crate::expression::{Comparison, Expression, Variable};

mod product;
mod quotient;

pub(crate) use product::Product;
pub(crate) use quotient::Division;

/// An expression without further arithmetic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Atom {
    Variable(Variable),
    Constant(Rc<str>),
    Call(Rc<str>, Rc<[Polynomial]>),
    FloorDivide(Rc<Polynomial>, Rc<Polynomial>),
    Modulo(Rc<Polynomial>, Rc<Polynomial>),
}

/// A sum of products, in their order; no factor is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Polynomial {
    terms: Rc<[(Product, i64)]>,
}

impl PartialOrd for Polynomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Polynomial {
    fn cmp(&self, other: &Self) -> Ordering {
        // Copies share their terms.
        match Rc::ptr_eq(&self.terms, &other.terms) {
            true => Ordering::Equal,
            false => self.terms.cmp(&other.terms),
        }
    }
}

impl Polynomial {
    pub(crate) fn integer(n: i64) -> Self {
        let terms: Rc<[(Product, i64)]> = match n {
            0 => Rc::default(),
            n => [(Product::One, n)].into(),
        };
        Self { terms }
    }

    pub(crate) fn atom(atom: Atom) -> Self {
        Self {
            terms: [(Product::Alone(atom), 1)].into(),
        }
    }

    /// The polynomial of an expression; `None` if a factor overflows.
    pub(crate) fn of(e: &Expression) -> Option<Self> {
        let mut terms = Vec::new();
        collect(e, 1, &mut terms)?;
        Self::sum(terms)
    }

    /// The sum of terms in any order; `None` if a factor overflows.
    pub(crate) fn sum(mut terms: Vec<(Product, i64)>) -> Option<Self> {
        terms.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut fits = true;
        terms.dedup_by(|(next, n), (product, sum)| {
            let same = next == product;
            if same {
                let total = sum.checked_add(*n);
                fits &= total.is_some();
                *sum = total.unwrap_or(0);
            }
            same
        });
        terms.retain(|(_, n)| *n != 0);
        let terms = terms.into();
        fits.then_some(Self { terms })
    }

    /// `self + factor * other`.
    pub(crate) fn plus(&self, factor: i64, other: &Self) -> Option<Self> {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut here, mut there) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (here.peek(), there.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let own = here.next_if(|_| order.is_le());
            let added = match there.next_if(|_| order.is_ge()) {
                Some((product, n)) => Some((product, n.checked_mul(factor)?)),
                None => None,
            };
            let (product, n) = match (own, added) {
                (Some((product, n)), Some((_, m))) => (product, n.checked_add(m)?),
                (Some((product, n)), None) => (product, *n),
                (None, Some(added)) => added,
                (None, None) => break,
            };
            if n != 0 {
                terms.push((product.clone(), n));
            }
        }
        let terms = terms.into();
        Some(Self { terms })
    }

    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        let mut terms = Vec::with_capacity(self.terms.len() * other.terms.len());
        for (a, n) in &*self.terms {
            for (b, m) in &*other.terms {
                terms.push((a.times(b), n.checked_mul(*m)?));
            }
        }
        Self::sum(terms)
    }

    /// The products with their factors, as keys of maps.
    pub(crate) fn products(&self) -> impl Iterator<Item = (&Product, i64)> {
        self.terms.iter().map(|(product, n)| (product, *n))
    }

    /// The products with their factors.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        self.terms.iter().map(|(product, n)| (product.atoms(), *n))
    }

    /// The factor of a product.
    pub(crate) fn factor(&self, atoms: &[Atom]) -> i64 {
        let found = self.terms().find(|(product, _)| *product == atoms);
        found.map_or(0, |(_, factor)| factor)
    }

    /// The integer, if it is one.
    pub(crate) fn value(&self) -> Option<i64> {
        match self.terms[..] {
            [] => Some(0),
            [(Product::One, n)] => Some(n),
            _ => None,
        }
    }

    pub(crate) fn as_atom(&self) -> Option<&Atom> {
        match &self.terms[..] {
            [(Product::Alone(atom), 1)] => Some(atom),
            _ => None,
        }
    }

    /// `self` without its term of `atom` alone, if that has factor 1 or -1, as
    /// the value of `atom` where `self` is 0.
    pub(crate) fn solved_for(&self, atom: &Atom) -> Option<Self> {
        let alone = std::slice::from_ref(atom);
        let factor = self.factor(alone);
        if factor.unsigned_abs() != 1 {
            return None;
        }
        let rest = self.terms.iter();
        let rest = rest.filter(|(product, _)| product.atoms() != alone);
        let value = rest.map(|(product, n)| Some((product.clone(), n.checked_mul(-factor)?)));
        let terms = value.collect::<Option<_>>()?;
        Some(Self { terms })
    }

    /// Whether a variable is in it, arguments of calls included.
    pub(crate) fn has(&self, variable: Variable) -> bool {
        let mut found = false;
        self.visit(&mut |atom| found |= *atom == Atom::Variable(variable));
        found
    }

    /// The variables in it, arguments of calls included.
    pub(crate) fn variables(&self) -> BTreeSet<Variable> {
        let mut variables = BTreeSet::new();
        self.visit(&mut |atom| {
            if let Atom::Variable(variable) = atom {
                variables.insert(*variable);
            }
        });
        variables
    }

    /// Calls `visit` with every atom, arguments of calls included.
    pub(crate) fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Atom)) {
        for (product, _) in &*self.terms {
            product.visit(visit);
        }
    }

    /// With values in place of all variables, in arguments of calls too.
    pub(crate) fn at(&self, values: &[Self]) -> Option<Self> {
        let mut terms = Vec::with_capacity(self.terms.len());
        for (product, factor) in &*self.terms {
            let value = match product {
                Product::One => {
                    terms.push((Product::One, *factor));
                    continue;
                }
                Product::Alone(atom) => atom.at(values)?,
                Product::Several(atoms) => {
                    let mut atoms = atoms.iter();
                    atoms.try_fold(Self::integer(1), |product, atom| {
                        product.times(&atom.at(values)?)
                    })?
                }
            };
            for (product, n) in &*value.terms {
                terms.push((product.clone(), n.checked_mul(*factor)?));
            }
        }
        Self::sum(terms)
    }

    /// With the value of a variable in its place, in arguments of calls too.
    pub(crate) fn substituted(&self, variable: Variable, value: &Self) -> Option<Self> {
        if !self.has(variable) {
            return Some(self.clone());
        }
        let mut sum = Self::default();
        for (atoms, factor) in self.terms() {
            let mut product = Self::integer(factor);
            for atom in atoms {
                product = product.times(&atom.substituted(variable, value)?)?;
            }
            sum = sum.plus(1, &product)?;
        }
        Some(sum)
    }

    /// With a value in place of an atom, where that is not inside another one.
    pub(crate) fn replaced(&self, atom: &Atom, value: &Self) -> Option<Self> {
        if self.terms().all(|(atoms, _)| !atoms.contains(atom)) {
            return Some(self.clone());
        }
        let mut sum = Self::default();
        for (atoms, factor) in self.terms() {
            let mut product = Self::integer(factor);
            for factor in atoms {
                product = if factor == atom {
                    product.times(value)?
                } else {
                    product.times(&Self::atom(factor.clone()))?
                };
            }
            sum = sum.plus(1, &product)?;
        }
        Some(sum)
    }

    /// The polynomial as an expression: positive terms first.
    pub(crate) fn to_expression(&self) -> Expression {
        let (positive, negative): (Vec<_>, Vec<_>) =
            self.terms().partition(|(_, factor)| *factor > 0);
        let by_degree = |terms: Vec<_>| {
            let (constant, rest): (Vec<_>, Vec<_>) = terms
                .into_iter()
                .partition(|(atoms, _): &(&[Atom], i64)| atoms.is_empty());
            rest.into_iter().chain(constant)
        };
        let mut sum: Option<Expression> = None;
        for (atoms, factor) in by_degree(positive) {
            let term = product(factor, atoms);
            sum = Some(match sum {
                None => term,
                Some(sum) => Expression::Add(Box::new(sum), Box::new(term)),
            });
        }
        for (atoms, factor) in by_degree(negative) {
            sum = Some(match sum {
                None => product(factor, atoms),
                Some(sum) => match factor.checked_neg() {
                    Some(n) => Expression::Subtract(Box::new(sum), Box::new(product(n, atoms))),
                    None => Expression::Add(Box::new(sum), Box::new(product(factor, atoms))),
                },
            });
        }
        sum.unwrap_or(Expression::Integer(0))
    }
}

impl Expression {
    /// The expression as a sum of products, in which equal sums look alike; `None` if a factor
    /// has more than 64 bits.
    ///
    /// ```
    /// use sparsec_base::Source;
    /// use sparsec_relation::{Conjunction, Expression};
    /// let e = Expression::parse(&Source::new("bytes", "4 * (N + 1) + 8 * NZ - 2 * NZ"))?;
    /// let sum = e.expanded().expect("a small factor");
    /// let nowhere = Conjunction::new([""; 0], []);
    /// assert_eq!(nowhere.text_of(&sum).to_string(), "4 * N + 6 * NZ + 4");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn expanded(&self) -> Option<Self> {
        Some(Polynomial::of(self)?.to_expression())
    }
}

/// Appends the terms of `factor` times an expression.
fn collect(e: &Expression, factor: i64, terms: &mut Vec<(Product, i64)>) -> Option<()> {
    let atom = match e {
        Expression::Integer(n) => {
            terms.push((Product::One, n.checked_mul(factor)?));
            return Some(());
        }
        Expression::Negate(a) => return collect(a, factor.checked_neg()?, terms),
        Expression::Add(a, b) => {
            collect(a, factor, terms)?;
            return collect(b, factor, terms);
        }
        Expression::Subtract(a, b) => {
            collect(a, factor, terms)?;
            return collect(b, factor.checked_neg()?, terms);
        }
        Expression::Variable(variable) => Polynomial::atom(Atom::Variable(*variable)),
        Expression::Constant(name) => Polynomial::atom(Atom::Constant(name.as_str().into())),
        Expression::Call(name, arguments) => {
            let arguments: Option<Rc<[Polynomial]>> =
                arguments.iter().map(Polynomial::of).collect();
            Polynomial::atom(Atom::Call(name.as_str().into(), arguments?))
        }
        Expression::Multiply(a, b) => Polynomial::of(a)?.times(&Polynomial::of(b)?)?,
        Expression::FloorDivide(a, b) => Polynomial::of(a)?.floor_divide(Polynomial::of(b)?),
        Expression::Modulo(a, b) => Polynomial::of(a)?.modulo(Polynomial::of(b)?)?,
    };
    for (product, n) in &*atom.terms {
        terms.push((product.clone(), n.checked_mul(factor)?));
    }
    Some(())
}

fn product(factor: i64, atoms: &[Atom]) -> Expression {
    let mut product = match factor {
        1 if !atoms.is_empty() => None,
        n => Some(Expression::Integer(n)),
    };
    for atom in atoms {
        let atom = atom.to_expression();
        product = Some(match product {
            None => atom,
            Some(Expression::Integer(-1)) => Expression::Negate(Box::new(atom)),
            Some(before) => Expression::Multiply(Box::new(before), Box::new(atom)),
        });
    }
    product.unwrap_or(Expression::Integer(factor))
}

impl Atom {
    pub(crate) fn to_expression(&self) -> Expression {
        let boxed = |a: &Polynomial| Box::new(a.to_expression());
        match self {
            Self::Variable(variable) => Expression::Variable(*variable),
            Self::Constant(name) => Expression::Constant(name.to_string()),
            Self::Call(name, arguments) => {
                let arguments = arguments.iter().map(Polynomial::to_expression);
                Expression::Call(name.to_string(), arguments.collect())
            }
            Self::FloorDivide(a, b) => Expression::FloorDivide(boxed(a), boxed(b)),
            Self::Modulo(a, b) => Expression::Modulo(boxed(a), boxed(b)),
        }
    }

    /// Whether it has no value for some values of its names.
    pub(crate) fn is_partial(&self) -> bool {
        match self {
            Self::Variable(_) | Self::Constant(_) => false,
            Self::Call(..) => true,
            Self::FloorDivide(_, b) | Self::Modulo(_, b) => b.value().is_none_or(|b| b == 0),
        }
    }

    /// With values in place of all variables.
    pub(crate) fn at(&self, values: &[Polynomial]) -> Option<Polynomial> {
        Some(match self {
            Self::Variable(variable) => values[variable.index()].clone(),
            Self::Constant(_) => Polynomial::atom(self.clone()),
            Self::Call(name, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.at(values));
                let arguments: Option<Rc<[Polynomial]>> = arguments.collect();
                Polynomial::atom(Self::Call(name.clone(), arguments?))
            }
            Self::FloorDivide(a, b) => a.at(values)?.floor_divide(b.at(values)?),
            Self::Modulo(a, b) => a.at(values)?.modulo(b.at(values)?)?,
        })
    }

    fn substituted(&self, variable: Variable, value: &Polynomial) -> Option<Polynomial> {
        let inside = |a: &Polynomial| a.substituted(variable, value);
        Some(match self {
            Self::Variable(v) if *v == variable => value.clone(),
            Self::Variable(_) | Self::Constant(_) => Polynomial::atom(self.clone()),
            Self::Call(name, arguments) => {
                let arguments: Option<Rc<[Polynomial]>> = arguments.iter().map(inside).collect();
                Polynomial::atom(Self::Call(name.clone(), arguments?))
            }
            Self::FloorDivide(a, b) => inside(a)?.floor_divide(inside(b)?),
            Self::Modulo(a, b) => inside(a)?.modulo(inside(b)?)?,
        })
    }
}

/// How a polynomial compares to 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Sign {
    Zero,
    NonNegative,
    NonZero,
}

/// A comparison with 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Row {
    pub(crate) sum: Polynomial,
    pub(crate) sign: Sign,
}

impl Row {
    /// With values in place of all variables.
    pub(crate) fn at(&self, values: &[Polynomial]) -> Option<Self> {
        let sum = self.sum.at(values)?;
        Some(Self {
            sum,
            sign: self.sign,
        })
    }

    /// The comparison of two expressions; `None` where a factor is too large.
    pub(crate) fn of(
        left: &Expression,
        comparison: Comparison,
        right: &Expression,
    ) -> Option<Self> {
        let (left, right, strict, sign) = match comparison {
            Comparison::Equal => (left, right, false, Sign::Zero),
            Comparison::NotEqual => (left, right, false, Sign::NonZero),
            Comparison::Less => (right, left, true, Sign::NonNegative),
            Comparison::LessEqual => (right, left, false, Sign::NonNegative),
            Comparison::Greater => (left, right, true, Sign::NonNegative),
            Comparison::GreaterEqual => (left, right, false, Sign::NonNegative),
        };
        let mut terms = Vec::new();
        collect(left, 1, &mut terms)?;
        collect(right, -1, &mut terms)?;
        if strict {
            terms.push((Product::One, -1));
        }
        let sum = Polynomial::sum(terms)?;
        Some(Self { sum, sign })
    }
}
