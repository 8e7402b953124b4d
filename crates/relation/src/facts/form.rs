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

use crate::declarations::Clause;
use crate::expression::{Constraint, Expression};
use crate::key;
use crate::polynomial::{Atom, Polynomial, Row};

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
}

/// A call of a clause.
#[derive(PartialEq)]
pub(super) struct Pattern {
    name: Rc<str>,
    arguments: Vec<Argument>,
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
    pub(super) fn of(clause: &Clause) -> Option<Self> {
        let mut patterns: Vec<Pattern> = Vec::new();
        for e in clause.literals.iter().flat_map(Constraint::expressions) {
            e.visit(&mut |e| {
                if let Expression::Call(name, arguments) = e {
                    let pattern = Pattern {
                        name: name.as_str().into(),
                        arguments: arguments.iter().map(Argument::of).collect(),
                    };
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
            Some(Literal { row, variables })
        });
        Some(Self {
            n_variables: clause.n_variables,
            is_stated: clause.is_stated,
            literals: literals.collect::<Option<_>>()?,
            patterns,
        })
    }

    /// How many of the calls are of functions in the clause.
    pub(super) fn n_calls(&self, calls: &BTreeSet<Atom>) -> usize {
        let is_of = |call: &&Atom| self.patterns.iter().any(|pattern| pattern.is_of(call));
        calls.iter().filter(is_of).count()
    }

    /// The values of each variable for which the calls that it alone determines are among `calls`.
    pub(super) fn candidates(&self, calls: &BTreeSet<Atom>) -> Vec<Vec<Polynomial>> {
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
                let call = pattern.at(value);
                call.is_some_and(|call| calls.contains(&call))
            });
        }
        let candidates = candidates.into_iter();
        candidates.map(|of| of.into_iter().collect()).collect()
    }
}

impl Pattern {
    fn is_of(&self, call: &Atom) -> bool {
        matches!(call, Atom::Call(name, values)
            if *name == self.name && values.len() == self.arguments.len())
    }

    /// The variable that determines the call; `None` if there are several or none, and for keys,
    /// which have values without being called.
    fn only_variable(&self) -> Option<usize> {
        let mut only = None;
        for argument in &self.arguments {
            match argument {
                Argument::Shifted(variable, _) if *only.get_or_insert(*variable) == *variable => {}
                Argument::Fixed(_) => {}
                Argument::Shifted(..) | Argument::Other => return None,
            }
        }
        only.filter(|_| !key::is_variadic(&self.name))
    }

    /// The call for a value of its only variable.
    fn at(&self, value: &Polynomial) -> Option<Atom> {
        let arguments = self.arguments.iter().map(|argument| match argument {
            Argument::Shifted(_, offset) => value.plus(1, offset),
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
