//! Statements of a program to naive concrete notation.
//!
//! The loops are those of the left side in its order; a reduction of the whole
//! right side adds its loops inside and assigns with its operator:
//!
//! ```text
//! C(i,j) = sum{k}(A(i,k) * B(k,j))      forall i: forall j: forall k:
//!                                         C(i,j) += A(i,k) * B(k,j)
//! ```
//!
//! Any other reduction gets a scalar workspace, computed outside every loop
//! that it does not depend on:
//!
//! ```text
//! y(i) = b(i) - sum{j}(A(i,j) * x(j))   forall i: where(
//!                                         y(i) = b(i) - t,
//!                                         forall j: t += A(i,j) * x(j))
//! ```
//!
//! This is what the statement means, blind to formats; schedules change it.

use std::collections::BTreeMap;

use std::collections::BTreeSet;

use crate::concrete::{Concrete, Stmt};
use crate::expr::{Access, Expr};
use crate::operator::Operator;
use crate::program::{IndexVar, Program, TensorData, TensorRole};

/// The naive loops of one statement of a program, counted from 0.
///
/// # Panics
/// If the program has no such statement.
pub fn concretize(program: &Program, statement: usize) -> Concrete {
    let statement = &program.statements[statement];
    let mut builder = Builder {
        names: Concrete {
            source: program.source.clone(),
            tensors: program.tensors.clone(),
            vars: program.vars.clone(),
            result: statement.lhs.tensor,
            kinds: BTreeMap::new(),
            stmt: Stmt::Sequence(Vec::new()),
            clauses: Vec::new(),
        },
    };
    let (op, bound, body) = peel(&statement.rhs);
    let mut loops = statement.lhs.vars();
    loops.extend(bound);
    let target = Target {
        lhs: statement.lhs.clone(),
        reduce: op,
    };
    let stmt = builder.assign(target, &simplified(body), &loops);
    Concrete {
        stmt,
        ..builder.names
    }
}

/// The loops that assign `rhs`, in which reductions may stand; their workspaces are
/// added to the statement, of which nothing else changes.
pub fn nest(
    concrete: &mut Concrete,
    lhs: Access,
    reduce: Option<Operator>,
    rhs: &Expr,
    loops: &[IndexVar],
) -> Stmt {
    let mut builder = Builder {
        names: concrete.clone(),
    };
    let stmt = builder.assign(Target { lhs, reduce }, rhs, loops);
    concrete.tensors = builder.names.tensors;
    stmt
}

/// The reductions at the root of an expression, as one.
fn peel(expr: &Expr) -> (Option<Operator>, Vec<IndexVar>, &Expr) {
    let mut found = None;
    let mut bound = Vec::new();
    let mut body = expr;
    while let Expr::Reduce {
        op,
        vars,
        body: inner,
    } = body
    {
        if found.get_or_insert(op) != &op {
            break;
        }
        bound.extend(vars.iter().copied());
        body = inner;
    }
    (found.cloned(), bound, body)
}

/// The expression simplified, unless that loses an index variable: the loop
/// over it would not know where to end.
fn simplified(expr: &Expr) -> Expr {
    let vars = |expr: &Expr| BTreeSet::from_iter(expr.vars());
    let simple = expr.simplify();
    if vars(&simple) == vars(expr) {
        simple
    } else {
        expr.clone()
    }
}

/// What an assignment assigns, and how.
struct Target {
    lhs: Access,
    reduce: Option<Operator>,
}

/// A reduction that a workspace stands for.
struct Temporary {
    access: Access,
    op: Operator,
    vars: Vec<IndexVar>,
    body: Expr,
    /// How many of the loops around it it is inside of.
    depth: usize,
}

struct Builder {
    /// The tensors so far; its statement is not used.
    names: Concrete,
}

impl Builder {
    /// `forall loops: target = rhs`
    fn assign(&mut self, target: Target, rhs: &Expr, loops: &[IndexVar]) -> Stmt {
        let (rhs, mut temporaries) = self.without_reductions(rhs, loops);
        let mut stmt = Stmt::Assign {
            lhs: target.lhs,
            reduce: target.reduce,
            rhs,
        };
        for depth in (0..=loops.len()).rev() {
            // The first temporary is outermost.
            while let Some(temporary) = temporaries.pop_if_at(depth) {
                let target = Target {
                    lhs: temporary.access,
                    reduce: Some(temporary.op),
                };
                stmt = Stmt::Where {
                    consumer: Box::new(stmt),
                    producer: Box::new(self.assign(target, &temporary.body, &temporary.vars)),
                };
            }
            if depth > 0 {
                stmt = stmt.in_loops(&loops[depth - 1..depth]);
            }
        }
        stmt
    }

    /// The expression with a workspace for each of its outermost reductions.
    fn without_reductions(&mut self, rhs: &Expr, loops: &[IndexVar]) -> (Expr, Temporaries) {
        let mut temporaries = Temporaries(Vec::new());
        let rhs = rhs.map_parts(&mut |part| {
            let Expr::Reduce { .. } = part else {
                return None;
            };
            let (op, vars, body) = peel(part);
            let access = self.workspace(part);
            let depth = depth(part, loops);
            temporaries.0.push(Temporary {
                access: access.clone(),
                op: op.expect("a reduction has an operator"),
                vars,
                body: body.clone(),
                depth,
            });
            Some(Expr::Access(access))
        });
        (rhs, temporaries)
    }

    /// A scalar workspace for the value of a reduction.
    fn workspace(&mut self, reduction: &Expr) -> Access {
        let element = reduction.element(&self.names.tensors);
        let span = reduction
            .accesses()
            .first()
            .map_or_else(Default::default, |access| access.span);
        let data = TensorData {
            name: self.names.fresh_name("t"),
            earlier_of: None,
            element,
            extents: Vec::new(),
            fill: reduction.fill_of_temporary(&self.names.tensors, &self.names.vars),
            role: TensorRole::Workspace,
            span,
            levels_of: None,
        };
        Access::plain(self.names.tensors.push(data), &[], span)
    }
}

struct Temporaries(Vec<Temporary>);

impl Temporaries {
    /// Takes the last one of this depth.
    fn pop_if_at(&mut self, depth: usize) -> Option<Temporary> {
        let found = self.0.iter().rposition(|one| one.depth == depth)?;
        Some(self.0.remove(found))
    }
}

/// How many of `loops` have to be around an expression.
fn depth(expr: &Expr, loops: &[IndexVar]) -> usize {
    let vars = expr.vars().into_iter();
    let places = vars.filter_map(|var| loops.iter().position(|known| *known == var));
    places.max().map_or(0, |innermost| innermost + 1)
}
