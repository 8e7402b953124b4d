//! Clauses as rows and patterns: all that their instances have in common.
//!
//! ```text
//! forall p, q : pos(p) <= q < pos(p + 1) => row(q) = p
//!
//! literals    pos(p) > q,  q >= pos(p + 1),  row(q) = p       as rows
//! patterns    pos(p)       p is the argument
//!             pos(p + 1)   p is the argument - 1
//!             row(q)       q is the argument
//! ```
//!
//! For the calls `pos(i)`, `pos(i + 1)` and `row(k)` the **candidates** of `p` are `i - 1`, `i` and
//! `i + 1`, of which only `i` has both of its calls. So `p = i` and `q = k` is the one instance.

use std::collections::BTreeSet;
use std::rc::Rc;

use sparsec_base::arena::Id;

use crate::declarations::{Clause, Declarations};
use crate::expression::{Constraint, Expression};
use crate::linear::{Linear, System};
use crate::polynomial::{Atom, Polynomial, Product, Row, Sign};

/// A clause whose literals are rows of its variables.
pub(super) struct Form {
    pub(super) n_variables: usize,
    /// Whether it comes from a quantifier.
    pub(super) is_stated: bool,
    pub(super) literals: Vec<Literal>,
    /// The calls in the literals, each once.
    pub(super) patterns: Vec<Pattern>,
}

/// One literal, with the numbers of its variables.
pub(super) struct Literal {
    pub(super) row: Row,
    pub(super) variables: Vec<usize>,
    /// Its terms with their factors, if each is one of these.
    terms: Option<Vec<(Term, i64)>>,
}

/// A term of a literal.
enum Term {
    One,
    Variable(usize),
    /// A product without variables.
    Fixed(Product),
    /// The call of a pattern.
    Call(usize),
}

/// The rows of the instances of one form.
pub(super) struct Instances<'a> {
    form: &'a Form,
    calls: &'a BTreeSet<Atom>,
    known: &'a Declarations,
    candidates: Vec<Vec<Polynomial>>,
    /// The candidates in numbers; `None` for one that contains a call or quotient without a value.
    linear: Vec<Vec<Option<Linear>>>,
    /// The numbers of calls, by pattern and by the candidates of its variables; `None` for a call
    /// that is new.
    numbers: Vec<Vec<Option<Option<usize>>>>,
}

/// A call of a clause.
#[derive(PartialEq)]
pub(super) struct Pattern {
    name: Rc<str>,
    arguments: Vec<Argument>,
    /// The variables of the arguments, each once.
    variables: Vec<usize>,
    /// Whether it is a key, which has a value without being called.
    is_key: bool,
}

#[derive(PartialEq)]
enum Argument {
    /// A variable and a number.
    Shifted(usize, Polynomial),
    /// No variable.
    Fixed(Polynomial),
    /// Anything else, which does not determine a variable.
    Other,
}

impl Form {
    /// The form of a clause; `None` if a factor in it is too large.
    pub(super) fn of(clause: &Clause, known: &Declarations) -> Option<Self> {
        let mut patterns: Vec<Pattern> = Vec::new();
        for e in clause.literals.iter().flat_map(Constraint::expressions) {
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e {
                    let pattern = Pattern::of(name, arguments, known);
                    if !patterns.contains(&pattern) {
                        patterns.push(pattern);
                    }
                }
            });
        }
        let literals = clause.literals.iter().map(|literal| {
            let (comparison, right) = &literal.rest[0];
            let row = Row::of(&literal.first, *comparison, right)?;
            let variables = row.sum.variables().into_iter().map(Id::index).collect();
            let terms = row.sum.products().map(|(product, factor)| {
                let term = Term::of(product, &patterns, known)?;
                Some((term, factor))
            });
            let terms = terms.collect();
            Some(Literal {
                row,
                variables,
                terms,
            })
        });
        let literals = literals.collect::<Option<Vec<Literal>>>()?;
        Some(Self {
            n_variables: clause.n_variables,
            is_stated: clause.is_stated,
            literals,
            patterns,
        })
    }

    /// How many of the calls are of functions in the clause.
    pub(super) fn n_calls(&self, calls: &BTreeSet<Atom>) -> usize {
        let is_of = |call: &&Atom| self.patterns.iter().any(|pattern| pattern.is_of(call));
        calls.iter().filter(is_of).count()
    }

    /// Whether each call has one variable, so that the calls of an instance are among those of its
    /// candidates.
    pub(super) fn has_single_calls(&self) -> bool {
        let mut patterns = self.patterns.iter();
        self.n_variables > 0
            && patterns.all(|pattern| pattern.is_key || pattern.only_variable().is_some())
    }

    /// The values of each variable for which the calls that it alone determines are among `calls`.
    fn candidates(&self, calls: &BTreeSet<Atom>) -> Vec<Vec<Polynomial>> {
        let mut candidates = vec![BTreeSet::new(); self.n_variables];
        for pattern in &self.patterns {
            for call in calls.iter().filter(|call| pattern.is_of(call)) {
                let Atom::Call(_, values) = call else {
                    continue;
                };
                for (argument, value) in pattern.arguments.iter().zip(&**values) {
                    // For `f(x + 1)` and `f(a)`, `x` may be `a - 1`.
                    if let Argument::Shifted(variable, offset) = argument {
                        candidates[*variable].extend(value.plus(-1, offset));
                    }
                }
            }
        }
        for pattern in &self.patterns {
            let Some(variable) = pattern.only_variable() else {
                continue;
            };
            candidates[variable].retain(|value| {
                let call = pattern.at(|_| value);
                call.is_some_and(|call| calls.contains(&call))
            });
        }
        let candidates = candidates.into_iter();
        candidates.map(|of| of.into_iter().collect()).collect()
    }
}

impl Term {
    fn of(product: &Product, patterns: &[Pattern], known: &Declarations) -> Option<Self> {
        let mut has_variable = false;
        product.visit(&mut |atom| has_variable |= matches!(atom, Atom::Variable(_)));
        match product {
            Product::One => Some(Self::One),
            Product::Alone(Atom::Variable(variable)) => Some(Self::Variable(variable.index())),
            product if !has_variable => Some(Self::Fixed(product.clone())),
            Product::Alone(Atom::Call(name, arguments)) => {
                let arguments: Vec<Expression> =
                    arguments.iter().map(Polynomial::to_expression).collect();
                let of = Pattern::of(name, &arguments, known);
                let is_plain = !of.is_key && !of.arguments.contains(&Argument::Other);
                let at = patterns.iter().position(|pattern| *pattern == of);
                at.filter(|_| is_plain).map(Self::Call)
            }
            _ => None,
        }
    }
}

impl<'a> Instances<'a> {
    /// The instances for the calls in the rows, all of which are in `calls`.
    pub(super) fn of(form: &'a Form, calls: &'a BTreeSet<Atom>, known: &'a Declarations) -> Self {
        Self {
            form,
            calls,
            known,
            candidates: form.candidates(calls),
            linear: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// The number of candidates of each variable.
    pub(super) fn counts(&self) -> Vec<usize> {
        self.candidates.iter().map(Vec::len).collect()
    }

    /// The candidates of each variable.
    pub(super) fn candidates(&self) -> &[Vec<Polynomial>] {
        &self.candidates
    }

    /// Which candidates of each variable are among others, both in order.
    pub(super) fn are_among(&self, others: &[Vec<Polynomial>]) -> Vec<Vec<bool>> {
        let all = self.candidates.iter().enumerate();
        let of = |variable: usize| others.get(variable).map_or(&[][..], Vec::as_slice);
        all.map(|(variable, candidates)| {
            let is_among = |it: &Polynomial| of(variable).binary_search(it).is_ok();
            candidates.iter().map(is_among).collect()
        })
        .collect()
    }

    /// Numbers the candidates.
    pub(super) fn number(&mut self, system: &mut System) {
        let (calls, known) = (self.calls, self.known);
        let mut number = |candidate: &Polynomial| {
            let row = Row {
                sum: candidate.clone(),
                sign: Sign::Zero,
            };
            speaks_of(&row, calls, known).then(|| system.linear(&row))
        };
        let candidates = self.candidates.iter();
        self.linear = candidates
            .map(|of| of.iter().map(&mut number).collect())
            .collect();
        let counts = self.counts();
        let numbers = self.form.patterns.iter().map(|pattern| {
            let n_calls: usize = pattern.variables.iter().map(|v| counts[*v]).product();
            vec![None; n_calls]
        });
        self.numbers = numbers.collect();
    }

    /// A literal for one candidate of each variable; `None` if it contains a new call, or a factor
    /// is too large.
    pub(super) fn row(
        &mut self,
        literal: &Literal,
        at: &[usize],
        system: &mut System,
    ) -> Option<Linear> {
        let Some(terms) = &literal.terms else {
            let values = self.candidates.iter().zip(at);
            let values: Vec<Polynomial> = values.map(|(of, at)| of[*at].clone()).collect();
            let row = literal.row.at(&values)?;
            return speaks_of(&row, self.calls, self.known).then(|| system.linear(&row));
        };
        let (mut sum, mut constant) = (Vec::with_capacity(8), 0i64);
        for (term, factor) in terms {
            let unknown = match term {
                Term::One => {
                    constant = constant.checked_add(*factor)?;
                    continue;
                }
                Term::Variable(variable) => {
                    let value = self.linear[*variable][at[*variable]].as_ref()?;
                    for (unknown, n) in value.terms() {
                        sum.push((*unknown, n.checked_mul(*factor)?));
                    }
                    let shift = value.constant().checked_mul(*factor)?;
                    constant = constant.checked_add(shift)?;
                    continue;
                }
                Term::Fixed(product) => {
                    let row = Row {
                        sum: Polynomial::sum(vec![(product.clone(), 1)])?,
                        sign: Sign::Zero,
                    };
                    speaks_of(&row, self.calls, self.known).then(|| system.unknown(product))?
                }
                Term::Call(pattern) => self.number_of(*pattern, at, system)?,
            };
            sum.push((unknown, *factor));
        }
        Linear::sum(sum, constant, literal.row.sign)
    }

    /// The number of a call; `None` if it is new.
    fn number_of(&mut self, pattern: usize, at: &[usize], system: &mut System) -> Option<usize> {
        let (of, candidates) = (&self.form.patterns[pattern], &self.candidates);
        let place = place(&of.variables, at, &self.counts());
        let calls = self.calls;
        *self.numbers[pattern][place].get_or_insert_with(|| {
            let call = of.at(|variable| &candidates[variable][at[variable]])?;
            calls
                .contains(&call)
                .then(|| system.unknown(&Product::Alone(call)))
        })
    }
}

/// The place of a choice of candidates of some variables among all such choices.
pub(super) fn place(variables: &[usize], at: &[usize], counts: &[usize]) -> usize {
    let digits = variables.iter();
    digits.fold(0, |place, v| place * counts[*v] + at[*v])
}

/// Whether all calls of a row are among these; keys have values by declaration.
fn speaks_of(row: &Row, calls: &BTreeSet<Atom>, known: &Declarations) -> bool {
    let mut speaks = true;
    row.sum.visit(&mut |atom| {
        speaks &= match atom {
            Atom::Call(name, _) => known.is_key(name) || calls.contains(atom),
            _ => !atom.is_partial(),
        }
    });
    speaks
}

impl Pattern {
    fn of(name: &str, arguments: &[Expression], known: &Declarations) -> Self {
        let arguments: Vec<Argument> = arguments.iter().map(Argument::of).collect();
        let mut variables = Vec::new();
        for argument in &arguments {
            if let Argument::Shifted(variable, _) = argument
                && !variables.contains(variable)
            {
                variables.push(*variable);
            }
        }
        Self {
            name: name.into(),
            arguments,
            variables,
            is_key: known.is_key(name),
        }
    }

    pub(super) fn is_of(&self, call: &Atom) -> bool {
        matches!(call, Atom::Call(name, values)
            if *name == self.name && values.len() == self.arguments.len())
    }

    /// The variable that determines the call; `None` if there are several or none, and for keys,
    /// which have values without being called.
    fn only_variable(&self) -> Option<usize> {
        match self.variables[..] {
            [only] if !self.arguments.contains(&Argument::Other) && !self.is_key => Some(only),
            _ => None,
        }
    }

    /// The call for values of its variables.
    fn at<'v>(&self, value: impl Fn(usize) -> &'v Polynomial) -> Option<Atom> {
        let arguments = self.arguments.iter().map(|argument| match argument {
            Argument::Shifted(variable, offset) => value(*variable).plus(1, offset),
            Argument::Fixed(fixed) => Some(fixed.clone()),
            Argument::Other => None,
        });
        let arguments: Option<Rc<[Polynomial]>> = arguments.collect();
        Some(Atom::Call(self.name.clone(), arguments?))
    }

    /// The values of the variables, if `call` is this call and determines all of them.
    pub(super) fn matched(&self, call: &Atom, n_variables: usize) -> Option<Vec<Polynomial>> {
        let Atom::Call(_, values) = call else {
            return None;
        };
        if !self.is_of(call) {
            return None;
        }
        let mut found: Vec<Option<Polynomial>> = vec![None; n_variables];
        for (argument, value) in self.arguments.iter().zip(&**values) {
            match argument {
                Argument::Fixed(fixed) if fixed == value => {}
                Argument::Shifted(variable, offset) => {
                    let here = value.plus(-1, offset)?;
                    match &mut found[*variable] {
                        Some(before) if *before != here => return None,
                        place => *place = Some(here),
                    }
                }
                Argument::Fixed(_) | Argument::Other => return None,
            }
        }
        found.into_iter().collect()
    }
}

impl Argument {
    fn of(e: &Expression) -> Self {
        let Some(sum) = Polynomial::of(e) else {
            return Self::Other;
        };
        let variables = sum.variables();
        let Some(variable) = variables.first() else {
            return Self::Fixed(sum);
        };
        let offset = sum.plus(-1, &Polynomial::atom(Atom::Variable(*variable)));
        match offset.filter(|offset| offset.value().is_some()) {
            Some(offset) => Self::Shifted(variable.index(), offset),
            None => Self::Other,
        }
    }
}
