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
//! Several statements are a sequence of their loops:
//!
//! ```text
//! r(i) = sum{j}(A(i,j) * x(j))          sequence(
//! c(j) = sum{i}(A(i,j) * y(i))            forall i: forall j: r(i) += A(i,j) * x(j),
//!                                         forall j1: forall i1: c(j1) += A(i1,j1) * y(i1))
//! ```
//!
//! This is what the statements mean, blind to formats; schedules change it.

use std::collections::BTreeMap;

use std::collections::BTreeSet;

use crate::concrete::{Concrete, Stmt};
use crate::expr::{Access, Expr};
use crate::operator::Operator;
use crate::program::{IndexVar, Program, Statement, TensorData, TensorRole};

/// The naive loops of one statement of a program, counted from 0.
///
/// # Panics
/// If the program has no such statement.
pub fn concretize(program: &Program, statement: usize) -> Concrete {
    let mut builder = Builder {
        names: Concrete {
            source: program.source.clone(),
            tensors: program.tensors.clone(),
            vars: program.vars.clone(),
            result: program.statements[statement].lhs.tensor,
            beside: Vec::new(),
            kinds: BTreeMap::new(),
            stmt: Stmt::Sequence(Vec::new()),
            clauses: Vec::new(),
        },
    };
    let stmt = builder.statement(&program.statements[statement]);
    Concrete {
        stmt,
        ..builder.names
    }
}

/// The naive loops of several statements, one after the other. None of them reads what another
/// one computes. Variables have names that differ: commands name them.
///
/// # Panics
/// If the program has no such statements, or they are none.
pub fn concretize_together(program: &Program, statements: &[usize]) -> Concrete {
    let mut together = concretize(program, statements[0]);
    let mut nests = Vec::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for number in statements {
        let statement = &program.statements[*number];
        let own: BTreeSet<IndexVar> = statement
            .lhs
            .vars()
            .into_iter()
            .chain(statement.rhs.vars())
            .collect();
        for var in &own {
            let name = together.vars[*var].name.clone();
            let numbered = (1..).map(|n| format!("{name}{n}"));
            let mut names = [name.clone()].into_iter().chain(numbered);
            let is_free =
                |name: &String| !taken.contains(name) && together.tensors.named(name).is_none();
            let free = names.find(is_free).expect("there are names without end");
            taken.insert(free.clone());
            together.vars[*var].name = free;
        }
        let mut builder = Builder {
            names: together.clone(),
        };
        nests.push(builder.statement(statement));
        together.tensors = builder.names.tensors;
    }
    let results = statements.iter().skip(1);
    together.beside = results
        .map(|number| program.statements[*number].lhs.tensor)
        .collect();
    together.stmt = Stmt::Sequence(nests);
    together
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
    /// The loops that compute a statement.
    fn statement(&mut self, statement: &Statement) -> Stmt {
        let (op, bound, body) = peel(&statement.rhs);
        let mut loops = statement.lhs.vars();
        loops.extend(bound);
        let target = Target {
            lhs: statement.lhs.clone(),
            reduce: op,
        };
        self.assign(target, &simplified(body), &loops)
    }

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
