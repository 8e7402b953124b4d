//! Iteration algebra: which coordinates a loop must visit.
//!
//! Take a loop over `i` and an expression below it. Outside some set of
//! coordinates the expression is known to be one value, its **fill**; the loop
//! need not go there if that value is what the left side holds anyway. The
//! set is made of the coordinates that operands store:
//!
//! | expression                              | space                | fill         |
//! |-----------------------------------------|----------------------|--------------|
//! | literal `c`                             | ∅                    | `c`          |
//! | `A(i,…)`, its level at `i` sparse       | `A`                  | that of `A`  |
//! | `A(i,…)`, its level at `i` full         | everything           | that of `A`  |
//! | `A(k,…)` without `i`                    | everything           | unknown      |
//! | an index as a number                    | everything           | unknown      |
//! | `f(a, b, …)`                            | for each decision of `f`, the union of the spaces of its arguments; of those ∩ | the value decided |
//! | the same, an argument `c` in no decision | … ∩ (space of `c` ∪ everything) |       |
//! | a temporary computed below the loop     | that of its producer | of its producer |
//!
//! What [decides](Operator::decisions) an operator follows from the fills: zeros
//! decide `a * b` one by one, so it is computed in `a ∩ b`; they decide `a + b`
//! together, so it is computed in `a ∪ b`; where `c` is `false` it decides
//! `select(c, a, b)` together with `b`. So `*` intersects because zero annihilates
//! it, not because it is called `*`; `or` intersects over operands whose fill is
//! `true`.
//!
//! An unknown fill always comes with the space of everything, in union with
//! what the operands store: the loop still asks which of them are present.

use std::collections::BTreeMap;
use std::fmt::Write;

use sparsec_base::Scalar;
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, Expr, IndexVar, Operator, TensorRole, TensorVar};

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

/// A space, and the value outside of it where it is known.
#[derive(Clone, Debug)]
struct Support {
    space: Space,
    fill: Option<Scalar>,
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
                let support = self.of_expr(rhs);
                let tensor = &self.scope.concrete.tensors[lhs.tensor];
                let unchanged = match reduce {
                    Some(op) => op.identity(tensor.element),
                    None if tensor.role == TensorRole::Workspace => None,
                    None => Some(tensor.fill),
                };
                if support.fill.is_some() && support.fill == unchanged {
                    support.space
                } else {
                    support.space.union(Space::Everything)
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

    fn of_expr(&self, expr: &Expr) -> Support {
        self.with_fill(expr).0
    }

    /// The support of an expression and its fill, which has one only where all that is
    /// inside has: asked of each part anew, nested parts would be looked at again and again.
    fn with_fill(&self, expr: &Expr) -> (Support, Option<Scalar>) {
        let Concrete { tensors, vars, .. } = self.scope.concrete;
        let fill = || expr.fill(tensors, vars);
        match expr {
            Expr::Literal(value) => {
                let support = Support {
                    space: Space::Nothing,
                    fill: Some(*value),
                };
                (support, fill())
            }
            Expr::Access(access) => (self.of_access(access), fill()),
            Expr::Index(_) => (Support::unknown(Space::Nothing), fill()),
            Expr::Cast(element, body) => {
                let (body, fill) = self.with_fill(body);
                let support = match body.fill.and_then(|fill| fill.cast(*element)) {
                    Some(fill) => Support {
                        space: body.space,
                        fill: Some(fill),
                    },
                    None => Support::unknown(body.space),
                };
                (support, fill.and_then(|fill| fill.cast(*element)))
            }
            Expr::Apply { op, args } => {
                let parts = args.iter().map(|arg| self.with_fill(arg));
                let (supports, fills): (Vec<Support>, Vec<Option<Scalar>>) = parts.unzip();
                let Operator::Defined(function) = op else {
                    let decided = op.decisions(&fills).into_iter().next();
                    let fill = decided.map(|decision| decision.value);
                    return (apply(op, &fills, &supports), fill);
                };
                // What its body says, and what is declared beside that.
                let body = function.expand(args, tensors);
                (self.of_expr(&body).annihilated_by(op, &supports), fill())
            }
            Expr::Reduce { body, .. } => (Support::unknown(self.of_expr(body).space), fill()),
        }
    }

    fn of_access(&self, access: &Access) -> Support {
        if let Some(producer) = self.producers.get(&access.tensor) {
            return self.of_temporary(access.tensor, producer);
        }
        let Scope {
            concrete,
            formats,
            operands,
        } = self.scope;
        let fill = Some(concrete.tensors[access.tensor].fill);
        match operands.is_sparse_at(access, self.var, formats) {
            None => Support::unknown(Space::Nothing),
            Some(false) => Support {
                space: Space::Everything,
                fill,
            },
            Some(true) => Support {
                space: Space::Stored(operands.find(access).expect("operands hold every access")),
                fill,
            },
        }
    }

    /// A temporary is what its assignments leave in it. Where all of them add
    /// up the operator's identity, it stays that identity.
    fn of_temporary(&self, temporary: TensorVar, producer: &'a Stmt) -> Support {
        let element = self.scope.concrete.tensors[temporary].element;
        let mut result: Option<Support> = None;
        // The producer may itself be a `where`, whose temporaries come first.
        let mut inner = self.clone();
        inner.add_producers_in(producer);
        inner.producers.remove(&temporary);
        producer.for_each_assign(&mut |lhs, reduce, rhs| {
            if lhs.tensor != temporary {
                return;
            }
            let support = inner.of_expr(rhs);
            let stays = match reduce {
                Some(op) => support.fill.is_some() && support.fill == op.identity(element),
                None => support.fill.is_some(),
            };
            let support = if stays {
                support
            } else {
                Support::unknown(support.space)
            };
            result = Some(match result.take() {
                None => support,
                Some(before) if before.fill == support.fill => Support {
                    space: before.space.union(support.space),
                    fill: support.fill,
                },
                Some(before) => Support::unknown(before.space.union(support.space)),
            });
        });
        result.unwrap_or(Support::unknown(Space::Nothing))
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

impl Support {
    /// The same, where one of the arguments of a call annihilates it: only
    /// coordinates at which each that does is stored.
    fn annihilated_by(mut self, op: &Operator, args: &[Self]) -> Self {
        for (at, arg) in args.iter().enumerate() {
            let Some(fill) = arg.fill else { continue };
            if op.annihilator(at, fill.element()) == Some(fill) {
                self.space = self.space.intersection(arg.space.clone());
                self.fill = Some(fill);
            }
        }
        self
    }

    /// Every coordinate matters, and which of `space` are stored still does.
    fn unknown(space: Space) -> Self {
        Self {
            space: space.union(Space::Everything),
            fill: None,
        }
    }
}

/// An operator applied to arguments that have these fills: outside of the arguments of a decision, the result is
/// decided, so it has to be computed where every decision has an argument that
/// is stored.
fn apply(op: &Operator, fills: &[Option<Scalar>], args: &[Support]) -> Support {
    let decisions = op.decisions(fills);
    let union_of = |args: &mut dyn Iterator<Item = &Support>| {
        args.map(|arg| arg.space.clone())
            .reduce(Space::union)
            .unwrap_or(Space::Nothing)
    };
    let Some(first) = decisions.first() else {
        return Support::unknown(union_of(&mut args.iter()));
    };
    let needed = decisions
        .iter()
        .map(|decision| union_of(&mut decision.args.iter().map(|at| &args[*at])));
    let decides = |at: &usize| decisions.iter().any(|decision| decision.args.contains(at));
    let others = (0..args.len()).filter(|at| !decides(at));
    // Of the others any coordinate will do, but which are stored matters.
    let asked = others.map(|at| args[at].space.clone().union(Space::Everything));
    Support {
        space: needed
            .chain(asked)
            .reduce(Space::intersection)
            .expect("there is a decision"),
        fill: Some(first.value),
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
