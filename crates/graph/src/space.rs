//! Iteration algebra: the coordinates that a loop must visit.
//!
//! The **space** of an expression in a loop over `i` is a set of coordinates, outside of which the
//! expression has one value, its fill. The loop skips those other coordinates if the left side
//! holds the fill there already. Spaces consist of the coordinates that operands store:
//!
//! | expression                           | space                | fill           |
//! |--------------------------------------|----------------------|----------------|
//! | `A(i,…)`, its level at `i` sparse    | `A`                  | that of `A`    |
//! | `A(i,…)`, its level at `i` full      | everything           | that of `A`    |
//! | `A(k,…)` without `i`                 | everything           | that of `A`    |
//! | a temporary computed below the loop  | that of its producer | of its producer |
//!
//! [`stored`](mod@sparsec_index::stored) derives the spaces of other expressions: `*` intersects,
//! since zero decides it, and `or` intersects over operands whose fill is `true`. An argument that
//! decides nothing narrows nothing, but the loop asks whether it is present. The space of an
//! expression without a known fill is everything, in union with the spaces of its operands.

use std::collections::BTreeMap;
use std::fmt::Write;

use sparsec_index::concrete::Stmt;
use sparsec_index::stored::{Answers, Found, stored};
use sparsec_index::{Access, Concrete, Expr, IndexVar, TensorRole, TensorVar};

use crate::operand::{Formats, Operand, Operands};

/// A set of coordinates along one index variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Space {
    /// No coordinate.
    Nothing,
    /// Every coordinate.
    Everything,
    /// The coordinates that an operand stores.
    Stored(Operand),
    /// The coordinates in either.
    Union(Box<Space>, Box<Space>),
    /// The coordinates in both.
    Intersection(Box<Space>, Box<Space>),
}

/// What spaces are derived in: a statement with its operands and formats.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Tensors and index variables.
    pub concrete: &'a Concrete,
    /// How each tensor is stored.
    pub formats: &'a Formats,
    /// The statement's operands.
    pub operands: &'a Operands,
}

/// The coordinates of `var` at which `stmt`, the body of a loop over it,
/// changes anything.
pub fn space<'a>(scope: Scope<'a>, stmt: &'a Stmt, var: IndexVar) -> Space {
    Derivation {
        scope,
        var,
        producers: BTreeMap::new(),
    }
    .of_stmt(stmt)
}

#[derive(Clone)]
struct Derivation<'a> {
    scope: Scope<'a>,
    var: IndexVar,
    /// The producers of temporaries below the loop.
    producers: BTreeMap<TensorVar, &'a Stmt>,
}

impl<'a> Derivation<'a> {
    fn of_stmt(&self, stmt: &'a Stmt) -> Space {
        match stmt {
            Stmt::Assign { lhs, reduce, rhs } => {
                let (space, fill) = self.of_expr(rhs);
                let tensor = &self.scope.concrete.tensors[lhs.tensor];
                let unchanged = match reduce {
                    Some(op) => op.identity(tensor.element),
                    None if tensor.role == TensorRole::Workspace => None,
                    None => Some(tensor.fill),
                };
                match fill.is_some() && fill == unchanged {
                    true => space,
                    false => space.union(Space::Everything),
                }
            }
            Stmt::Forall { body, .. } => self.of_stmt(body),
            Stmt::Where { consumer, producer } => {
                let mut inner = self.clone();
                inner.add_producer(producer);
                inner.of_stmt(consumer)
            }
            Stmt::Sequence(stmts) => stmts
                .iter()
                .map(|stmt| self.of_stmt(stmt))
                .reduce(Space::union)
                .unwrap_or(Space::Nothing),
        }
    }

    fn of_expr(&self, expr: &Expr) -> Found<Space> {
        let Concrete { tensors, vars, .. } = self.scope.concrete;
        stored(self, expr, tensors, vars)
    }

    /// A temporary is what its assignments leave in it. Where all of them add
    /// up the operator's identity, it stays that identity.
    fn of_temporary(&self, temporary: TensorVar, producer: &'a Stmt) -> Found<Space> {
        let data = &self.scope.concrete.tensors[temporary];
        let mut result: Option<Found<Space>> = None;
        // The producer may itself be a `where`, whose temporaries come first.
        let mut inner = self.clone();
        inner.add_producers_in(producer);
        inner.producers.remove(&temporary);
        producer.for_each_assign(&mut |lhs, reduce, rhs| {
            if lhs.tensor != temporary {
                return;
            }
            let (space, fill) = inner.of_expr(rhs);
            let stays = reduce.is_none_or(|op| fill == op.identity(data.element));
            let fill = fill.filter(|_| stays);
            result = Some(match result.take() {
                None => (space, fill),
                Some((before, known)) => (before.union(space), known.filter(|_| known == fill)),
            });
        });
        match result {
            Some((space, Some(fill))) => (space, Some(fill)),
            Some((space, None)) => (space.union(Space::Everything), Some(data.fill)),
            None => (Space::Everything, Some(data.fill)),
        }
    }

    fn add_producer(&mut self, producer: &'a Stmt) {
        producer.for_each_assign(&mut |lhs, _, _| {
            self.producers.insert(lhs.tensor, producer);
        });
    }

    fn add_producers_in(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign { .. } => {}
            Stmt::Forall { body, .. } => self.add_producers_in(body),
            Stmt::Where { consumer, producer } => {
                self.add_producer(producer);
                self.add_producers_in(consumer);
                self.add_producers_in(producer);
            }
            Stmt::Sequence(stmts) => stmts.iter().for_each(|stmt| self.add_producers_in(stmt)),
        }
    }
}

/// Where an expression changes anything along one variable.
impl Answers for Derivation<'_> {
    type Where = Space;

    fn nowhere(&self) -> Space {
        Space::Nothing
    }

    fn everywhere(&self) -> Space {
        Space::Everything
    }

    fn of_access(&self, access: &Access) -> Found<Space> {
        if let Some(producer) = self.producers.get(&access.tensor) {
            return self.of_temporary(access.tensor, producer);
        }
        let Scope {
            concrete,
            formats,
            operands,
        } = self.scope;
        let space = match operands.is_sparse_at(access, self.var, formats) {
            Some(true) => Space::Stored(operands.find(access).expect("operands hold every access")),
            _ => Space::Everything,
        };
        (space, Some(concrete.tensors[access.tensor].fill))
    }

    fn either(&self, one: Space, other: Space) -> Space {
        one.union(other)
    }

    fn both(&self, one: Space, other: Space) -> Space {
        one.intersection(other)
    }

    fn of_unknown(&self, any: Space) -> Space {
        any.union(Space::Everything)
    }

    fn of_other(&self, argument: Space) -> Option<Space> {
        // Every coordinate is visited, and the loop asks which are stored.
        Some(argument.union(Space::Everything))
    }
}

impl Space {
    /// The coordinates in either. Everything is kept apart from what it holds,
    /// for the loop over everything still asks which operands are present.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, space) | (space, Self::Nothing) => space,
            (left, right) if left == right => left,
            (left, right) => Self::Union(Box::new(left), Box::new(right)),
        }
    }

    /// The coordinates in both.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::Everything, space) | (space, Self::Everything) => space,
            (left, right) if left.implies(&right) => left,
            (left, right) if right.implies(&left) => right,
            (left, right) => Self::Intersection(Box::new(left), Box::new(right)),
        }
    }

    /// Whether every operand of `other` stores each coordinate in here, so that
    /// `other` neither leaves out a coordinate nor asks for an operand.
    fn implies(&self, other: &Self) -> bool {
        self == other
            || match other {
                Self::Nothing => false,
                Self::Everything => true,
                Self::Stored(operand) => self.has_all_of(*operand),
                Self::Union(left, right) | Self::Intersection(left, right) => {
                    self.implies(left) && self.implies(right)
                }
            }
    }

    /// Whether an operand stores every coordinate in here.
    fn has_all_of(&self, operand: Operand) -> bool {
        match self {
            Self::Stored(known) => *known == operand,
            Self::Intersection(left, right) => {
                left.has_all_of(operand) || right.has_all_of(operand)
            }
            _ => false,
        }
    }

    /// The space as text, with operands named by `name`.
    pub fn text(&self, name: &dyn Fn(Operand) -> String) -> String {
        let mut out = String::new();
        self.write(&mut out, name, false);
        out
    }

    fn write(&self, out: &mut String, name: &dyn Fn(Operand) -> String, inner: bool) {
        let (left, symbol, right) = match self {
            Self::Nothing => return out.push('∅'),
            Self::Everything => return out.push_str("all"),
            Self::Stored(operand) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "{}", name(*operand));
                return;
            }
            Self::Union(left, right) => (left, " ∪ ", right),
            Self::Intersection(left, right) => (left, " ∩ ", right),
        };
        if inner {
            out.push('(');
        }
        left.write(out, name, true);
        out.push_str(symbol);
        right.write(out, name, true);
        if inner {
            out.push(')');
        }
    }
}
