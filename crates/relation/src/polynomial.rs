//! Expressions in a form in which equal sums look equal.
//!
//! A polynomial is a sum of products of atoms with integer factors. An atom is
//! what arithmetic cannot take apart: a variable, a symbolic constant, a call,
//! a quotient or a rest; arguments of calls are polynomials again, so `f(i + 1)`
//! and `f(1 + i)` are one atom.
//!
//! ```text
//! 2 * (N * i + 1) - i     is     {} ↦ 2,  {i} ↦ -1,  {N, i} ↦ 2
//! ```
//!
//! Factors are 64-bit; an operation gives `None` rather than a wrong one.

use std::collections::{BTreeMap, BTreeSet};

use crate::expression::{Comparison, Expression, Variable};
use crate::simplify::floor_divide;

/// What arithmetic cannot take apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    Variable(Variable),
    Constant(String),
    Call(String, Vec<Polynomial>),
    FloorDivide(Box<Polynomial>, Box<Polynomial>),
    Modulo(Box<Polynomial>, Box<Polynomial>),
}

/// A sum of products; no factor is 0, and the atoms of a product are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Polynomial {
    terms: BTreeMap<Vec<Atom>, i64>,
}

impl Polynomial {
    pub(crate) fn integer(n: i64) -> Self {
        let mut sum = Self::default();
        if n != 0 {
            sum.terms.insert(Vec::new(), n);
        }
        sum
    }

    pub(crate) fn atom(atom: Atom) -> Self {
        Self {
            terms: BTreeMap::from([(vec![atom], 1)]),
        }
    }

    /// The value of an expression, as far as arithmetic tells.
    pub(crate) fn of(e: &Expression) -> Option<Self> {
        Some(match e {
            Expression::Integer(n) => Self::integer(*n),
            Expression::Variable(variable) => Self::atom(Atom::Variable(*variable)),
            Expression::Constant(name) => Self::atom(Atom::Constant(name.clone())),
            Expression::Call(name, arguments) => {
                let arguments: Option<Vec<Self>> = arguments.iter().map(Self::of).collect();
                Self::atom(Atom::Call(name.clone(), arguments?))
            }
            Expression::Negate(a) => Self::default().plus(-1, &Self::of(a)?)?,
            Expression::Add(a, b) => Self::of(a)?.plus(1, &Self::of(b)?)?,
            Expression::Subtract(a, b) => Self::of(a)?.plus(-1, &Self::of(b)?)?,
            Expression::Multiply(a, b) => Self::of(a)?.times(&Self::of(b)?)?,
            Expression::FloorDivide(a, b) => Self::of(a)?.floor_divide(Self::of(b)?),
            Expression::Modulo(a, b) => Self::of(a)?.modulo(Self::of(b)?)?,
        })
    }

    pub(crate) fn floor_divide(self, by: Self) -> Self {
        if let Some(by) = by.value().filter(|by| *by != 0) {
            if let Some(quotient) = self.value().and_then(|a| floor_divide(a, by)) {
                return Self::integer(quotient);
            }
            let exact = self
                .terms
                .values()
                .all(|factor| factor.checked_rem(by) == Some(0));
            if exact {
                let terms = self.terms.into_iter();
                return Self {
                    terms: terms.map(|(atoms, factor)| (atoms, factor / by)).collect(),
                };
            }
        }
        Self::atom(Atom::FloorDivide(Box::new(self), Box::new(by)))
    }

    fn modulo(self, by: Self) -> Option<Self> {
        let quotient = self.clone().floor_divide(by.clone());
        if matches!(quotient.as_atom(), Some(Atom::FloorDivide(..))) {
            return Some(Self::atom(Atom::Modulo(Box::new(self), Box::new(by))));
        }
        self.plus(-1, &by.times(&quotient)?)
    }

    /// `self + factor * other`.
    pub(crate) fn plus(&self, factor: i64, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (atoms, n) in &other.terms {
            let n = n.checked_mul(factor)?;
            let entry = sum.terms.entry(atoms.clone()).or_insert(0);
            *entry = entry.checked_add(n)?;
            if *entry == 0 {
                sum.terms.remove(atoms);
            }
        }
        Some(sum)
    }

    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        if let (Some((by, m)), 1) = (other.terms.first_key_value(), other.terms.len()) {
            // Products of different terms with one factor are different.
            let terms = self.terms.iter().map(|(atoms, n)| {
                let mut atoms = [&atoms[..], &by[..]].concat();
                atoms.sort();
                Some((atoms, n.checked_mul(*m)?))
            });
            return Some(Self {
                terms: terms.collect::<Option<_>>()?,
            });
        }
        let mut product = Self::default();
        for (a, n) in &self.terms {
            for (b, m) in &other.terms {
                let mut atoms = [&a[..], &b[..]].concat();
                atoms.sort();
                let term = Self {
                    terms: BTreeMap::from([(atoms, n.checked_mul(*m)?)]),
                };
                product = product.plus(1, &term)?;
            }
        }
        Some(product)
    }

    /// The products with their factors.
    pub(crate) fn terms(&self) -> impl Iterator<Item = (&[Atom], i64)> {
        self.terms.iter().map(|(atoms, n)| (&atoms[..], *n))
    }

    /// The factor of a product.
    pub(crate) fn factor(&self, atoms: &[Atom]) -> i64 {
        self.terms.get(atoms).copied().unwrap_or(0)
    }

    /// The integer, if it is one.
    pub(crate) fn value(&self) -> Option<i64> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&[][..]).copied(),
            _ => None,
        }
    }

    pub(crate) fn as_atom(&self) -> Option<&Atom> {
        match self.terms.first_key_value() {
            Some((atoms, 1)) if self.terms.len() == 1 && atoms.len() == 1 => atoms.first(),
            _ => None,
        }
    }

    /// `self` without its term of `atom` alone, if that has factor 1 or -1, as
    /// the value of `atom` where `self` is 0.
    pub(crate) fn solved_for(&self, atom: &Atom) -> Option<Self> {
        let alone = std::slice::from_ref(atom);
        let factor = self.factor(alone);
        if factor.abs() != 1 {
            return None;
        }
        let mut rest = self.clone();
        rest.terms.remove(alone);
        Self::default().plus(-factor, &rest)
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
        for atom in self.terms.keys().flatten() {
            visit(atom);
            match atom {
                Atom::Variable(_) | Atom::Constant(_) => {}
                Atom::Call(_, arguments) => arguments.iter().for_each(|a| a.visit(visit)),
                Atom::FloorDivide(a, b) | Atom::Modulo(a, b) => {
                    a.visit(visit);
                    b.visit(visit);
                }
            }
        }
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
            Self::Constant(name) => Expression::Constant(name.clone()),
            Self::Call(name, arguments) => {
                let arguments = arguments.iter().map(Polynomial::to_expression);
                Expression::Call(name.clone(), arguments.collect())
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

    fn substituted(&self, variable: Variable, value: &Polynomial) -> Option<Polynomial> {
        let inside = |a: &Polynomial| a.substituted(variable, value);
        Some(match self {
            Self::Variable(v) if *v == variable => value.clone(),
            Self::Variable(_) | Self::Constant(_) => Polynomial::atom(self.clone()),
            Self::Call(name, arguments) => {
                let arguments: Option<Vec<Polynomial>> = arguments.iter().map(inside).collect();
                Polynomial::atom(Self::Call(name.clone(), arguments?))
            }
            Self::FloorDivide(a, b) => inside(a)?.floor_divide(inside(b)?),
            Self::Modulo(a, b) => inside(a)?.modulo(inside(b)?)?,
        })
    }
}

/// How a polynomial compares to 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    Zero,
    NonNegative,
    NonZero,
}

/// A comparison with 0.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) sum: Polynomial,
    pub(crate) sign: Sign,
}

impl Row {
    /// The comparison of two expressions; `None` where a factor is too large.
    pub(crate) fn of(
        left: &Expression,
        comparison: Comparison,
        right: &Expression,
    ) -> Option<Self> {
        let (left, right) = (Polynomial::of(left)?, Polynomial::of(right)?);
        let one = Polynomial::integer(1);
        let (sum, sign) = match comparison {
            Comparison::Equal => (left.plus(-1, &right)?, Sign::Zero),
            Comparison::NotEqual => (left.plus(-1, &right)?, Sign::NonZero),
            Comparison::Less => (right.plus(-1, &left)?.plus(-1, &one)?, Sign::NonNegative),
            Comparison::LessEqual => (right.plus(-1, &left)?, Sign::NonNegative),
            Comparison::Greater => (left.plus(-1, &right)?.plus(-1, &one)?, Sign::NonNegative),
            Comparison::GreaterEqual => (left.plus(-1, &right)?, Sign::NonNegative),
        };
        Some(Self { sum, sign })
    }
}
