//! `precompute`: a reduction collected in a workspace.
//!
//! If `EXPR` is all that an assignment reduces, the `where` goes above the
//! outermost loop that reduces. The loops from there on that the left side has
//! are the modes of the workspace:
//!
//! ```text
//! forall i: forall k: forall j:           forall i: where(
//!   C(i,j) += A(i,k) * B(k,j)               forall j: C(i,j) = w(j),
//!                                           forall k: forall j: w(j) += A(i,k) * B(k,j))
//! ```
//!
//! Temporaries that the reduced expression reads stay with it, in the producer.
//!
//! If `EXPR` is what a scalar workspace collects, the `where` is lifted out of
//! the innermost loops around it, and these become modes of the workspace:
//!
//! ```text
//! forall i: forall j: where(              forall i: where(
//!   C(i,j) = D(i,j) + t,                    forall j: C(i,j) = D(i,j) + w(j),
//!   forall k: t += A(i,k) * B(k,j))         forall k: forall j: w(j) += A(i,k) * B(k,j))
//! ```

use sparsec_base::{Complex, Diagnostic, Result, Scalar, code};

use super::Name;
use super::apply::{distinct_vars, illegal};
use crate::concrete::{Concrete, Stmt};
use crate::expr::{Access, Expr};
use crate::index_expr::IndexExpr;
use crate::notation::{Index, Node, NodeKind, Number, Word};
use crate::program::{IndexVar, TensorData, TensorRole, TensorVar};
use crate::workspace::WorkspaceKind;

pub(super) fn apply(
    concrete: &Concrete,
    expr: &Node,
    names: &[Name],
    workspace: &Name,
    kind: Option<WorkspaceKind>,
) -> Result<Concrete> {
    let vars = distinct_vars(concrete, names)?;
    if concrete.tensor(&workspace.word.text).is_some() {
        let message = format!("there is a tensor called `{workspace}` already");
        return Err(
            illegal(workspace, workspace.word.span, message, "taken").help("choose another name")
        );
    }
    let mut rewrite = Rewrite {
        concrete: concrete.clone(),
        expr,
        vars,
        workspace,
        added: None,
        found: None,
    };
    let stmt = concrete.stmt.rewrite(&mut |stmt| rewrite.nest(stmt));
    match rewrite.found {
        Some(result) => result?,
        None => {
            let message = "no assignment reduces this expression";
            let error = Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, message);
            return Err(error
                .at(
                    &workspace.source,
                    expr.span,
                    "has to be all that an assignment reduces",
                )
                .note(format!("the statement is\n{concrete}")));
        }
    }
    let mut kinds = rewrite.concrete.kinds;
    if let (Some(kind), Some(added)) = (kind, rewrite.added) {
        kinds.insert(added, kind);
    }
    Ok(Concrete {
        stmt,
        kinds,
        ..rewrite.concrete
    })
}

struct Rewrite<'a> {
    /// The statement as it was; the workspace is added to its tensors.
    concrete: Concrete,
    expr: &'a Node,
    vars: Vec<IndexVar>,
    workspace: &'a Name,
    /// The workspace, once it is made.
    added: Option<TensorVar>,
    /// Whether the expression was found, and why it could not be rewritten.
    found: Option<Result<()>>,
}

impl Rewrite<'_> {
    /// Rewrites a nest of loops, if the expression is in its innermost part.
    fn nest(&mut self, stmt: &Stmt) -> Option<Stmt> {
        if self.found.is_some() {
            return None;
        }
        let (loops, inner) = stmt.nest();
        let result = match self.reduction(inner) {
            Some(reduction) => self.collect(&loops, inner, &reduction)?,
            None => {
                let Stmt::Where { consumer, producer } = inner else {
                    return None;
                };
                let (temporary, lifted) = self.producer_to_lift(consumer, producer)?;
                self.lift(&loops, temporary, lifted)
            }
        };
        match result {
            Ok(stmt) => {
                self.found = Some(Ok(()));
                Some(stmt)
            }
            Err(error) => {
                self.found = Some(Err(error));
                None
            }
        }
    }

    /// The assignment that `stmt` comes down to, if it reduces the expression.
    fn reduction(&self, stmt: &Stmt) -> Option<Reduction> {
        let mut loops = Vec::new();
        let mut inner = stmt;
        loop {
            let (more, next) = inner.nest();
            loops.extend(more);
            match next {
                // What a `where` computes first is no part of the assignment.
                Stmt::Where { consumer, .. } => inner = consumer,
                Stmt::Assign {
                    lhs,
                    reduce: Some(_),
                    rhs,
                } if self.is_expr(rhs) => {
                    let lhs = lhs.clone();
                    return Some(Reduction { loops, lhs });
                }
                _ => return None,
            }
        }
    }

    fn is_expr(&self, expr: &Expr) -> bool {
        matches(self.expr, expr, &self.concrete)
    }

    /// A workspace between the loops that reduce, of which the outermost is
    /// one of `loops`, and the left side; `None` if it is further inside.
    fn collect(
        &mut self,
        loops: &[IndexVar],
        inner: &Stmt,
        reduction: &Reduction,
    ) -> Option<Result<Stmt>> {
        let lhs = &reduction.lhs;
        if self.concrete.tensors[lhs.tensor].role == TensorRole::Workspace {
            return Some(Err(self.illegal("it is collected in a workspace already")));
        }
        let reduces = |var: &IndexVar| !lhs.uses(*var);
        let Some(first) = loops.iter().position(reduces) else {
            if reduction.loops.iter().any(reduces) {
                return None;
            }
            return Some(Err(self.illegal("no loop around this reduces it")));
        };
        let (outer, reducing) = loops.split_at(first);
        let inside = reducing.iter().chain(&reduction.loops);
        let kept: Vec<IndexVar> = inside.copied().filter(|var| !reduces(var)).collect();
        if let Err(error) = self.expect_modes(&kept, "the loops inside the first that reduces") {
            return Some(Err(error));
        }
        let access = self.new_workspace(lhs.tensor);
        let consumer = Stmt::Assign {
            lhs: lhs.clone(),
            reduce: None,
            rhs: Expr::Access(access.clone()),
        };
        let both = Stmt::Where {
            consumer: Box::new(consumer.in_loops(&self.vars)),
            producer: Box::new(assigned_to(inner, &access).in_loops(reducing)),
        };
        Some(Ok(both.in_loops(outer)))
    }

    /// The producer of a scalar workspace that collects the expression, with
    /// the `where` of which it is the outermost producer.
    fn producer_to_lift(&self, consumer: &Stmt, producer: &Stmt) -> Option<(TensorVar, Lifted)> {
        let (loops, assign) = producer.nest();
        if let Stmt::Assign {
            lhs,
            reduce: Some(_),
            rhs,
        } = assign
            && lhs.indices.is_empty()
            && self.concrete.tensors[lhs.tensor].role == TensorRole::Workspace
            && self.is_expr(rhs)
        {
            let lifted = Lifted {
                consumer: consumer.clone(),
                loops,
                assign: assign.clone(),
            };
            return Some((lhs.tensor, lifted));
        }
        // Of producers that do not read each other either may come first.
        let Stmt::Where {
            consumer: inner_consumer,
            producer: inner_producer,
        } = consumer
        else {
            return None;
        };
        let (temporary, lifted) = self.producer_to_lift(inner_consumer, inner_producer)?;
        let Stmt::Assign { rhs, .. } = &lifted.assign else {
            return None;
        };
        let mut assigned = Vec::new();
        producer.for_each_assign(&mut |lhs, _, _| assigned.push(lhs.tensor));
        if rhs
            .accesses()
            .iter()
            .any(|access| assigned.contains(&access.tensor))
        {
            return None;
        }
        let lifted = Lifted {
            consumer: Stmt::Where {
                consumer: Box::new(lifted.consumer),
                producer: Box::new(producer.clone()),
            },
            ..lifted
        };
        Some((temporary, lifted))
    }

    /// A scalar workspace gets the innermost loops around it as modes.
    fn lift(&mut self, loops: &[IndexVar], temporary: TensorVar, lifted: Lifted) -> Result<Stmt> {
        if self.vars.is_empty() {
            return Err(self.illegal("it is collected in a scalar already"));
        }
        let Some(outside) = loops.len().checked_sub(self.vars.len()) else {
            return Err(self.illegal("there are not so many loops around it"));
        };
        let (outer, inner) = loops.split_at(outside);
        self.expect_modes(inner, "the innermost loops around it")?;
        let access = self.new_workspace(temporary);
        let consumer = lifted.consumer.map_exprs(&mut |expr| {
            expr.map_accesses(&mut |read| {
                (read.tensor == temporary).then(|| Expr::Access(access.clone()))
            })
        });
        let Stmt::Assign { reduce, rhs, .. } = lifted.assign else {
            unreachable!("only assignments are lifted");
        };
        let producer = Stmt::Assign {
            lhs: access,
            reduce,
            rhs,
        };
        let both = Stmt::Where {
            consumer: Box::new(consumer.in_loops(inner)),
            producer: Box::new(producer.in_loops(inner).in_loops(&lifted.loops)),
        };
        Ok(both.in_loops(outer))
    }

    /// The modes that the command names have to be these, in any order.
    fn expect_modes(&self, wanted: &[IndexVar], what: &str) -> Result<()> {
        let same =
            wanted.len() == self.vars.len() && wanted.iter().all(|var| self.vars.contains(var));
        if same {
            return Ok(());
        }
        let names: Vec<&str> = wanted
            .iter()
            .map(|var| self.concrete.vars[*var].name.as_str())
            .collect();
        let names = names.join(", ");
        Err(self
            .illegal(&format!("the modes of the workspace have to be {what}"))
            .help(format!("write `{{{names}}}`")))
    }

    fn illegal(&self, message: &str) -> Diagnostic {
        illegal(self.workspace, self.expr.span, message, "computed here")
            .note(format!("the statement is\n{}", self.concrete))
    }

    /// The workspace, to collect what `like` did.
    fn new_workspace(&mut self, like: TensorVar) -> Access {
        let TensorData { element, fill, .. } = self.concrete.tensors[like];
        let extents = self.vars.iter().map(|var| self.concrete.vars[*var].extent);
        let span = self.concrete.tensors[self.concrete.result].span;
        let data = TensorData {
            name: self.workspace.word.text.clone(),
            element,
            extents: extents.collect(),
            fill,
            role: TensorRole::Workspace,
            span,
        };
        let added = self.concrete.tensors.push(data);
        self.added = Some(added);
        Access::plain(added, &self.vars, span)
    }
}

/// `stmt` with another left side of the assignment that it comes down to.
fn assigned_to(stmt: &Stmt, access: &Access) -> Stmt {
    match stmt {
        Stmt::Assign { reduce, rhs, .. } => Stmt::Assign {
            lhs: access.clone(),
            reduce: reduce.clone(),
            rhs: rhs.clone(),
        },
        Stmt::Forall { var, body } => Stmt::Forall {
            var: *var,
            body: Box::new(assigned_to(body, access)),
        },
        Stmt::Where { consumer, producer } => Stmt::Where {
            consumer: Box::new(assigned_to(consumer, access)),
            producer: producer.clone(),
        },
        Stmt::Sequence(_) => unreachable!("a reduction is no sequence"),
    }
}

/// An assignment that reduces, and the loops around it.
struct Reduction {
    loops: Vec<IndexVar>,
    lhs: Access,
}

/// The producer of a scalar workspace, and what reads it.
struct Lifted {
    consumer: Stmt,
    /// The loops that reduce.
    loops: Vec<IndexVar>,
    assign: Stmt,
}

/// Whether `node` says what `expr` is. Conversions that typing inserted need
/// not be written.
fn matches(node: &Node, expr: &Expr, concrete: &Concrete) -> bool {
    match (&node.kind, expr) {
        (NodeKind::Cast(element, node), Expr::Cast(to, body)) => {
            element == to && matches(node, body, concrete)
        }
        (_, Expr::Cast(_, body)) => matches(node, body, concrete),
        (NodeKind::Number(number), Expr::Literal(value)) => same_number(*number, *value),
        (NodeKind::Access(tensor), Expr::Access(access)) => {
            concrete.tensors[access.tensor].name == tensor.name.text
                && access.indices.len() == tensor.indices.len()
                && std::iter::zip(&access.indices, &tensor.indices)
                    .all(|(index, written)| same_index(index, written, concrete))
        }
        (
            NodeKind::Apply { op, args, .. },
            Expr::Apply {
                op: of,
                args: parts,
            },
        ) => {
            op == of
                && args.len() == parts.len()
                && args
                    .iter()
                    .zip(parts)
                    .all(|(arg, part)| matches(arg, part, concrete))
        }
        _ => false,
    }
}

/// Whether `written` is `index`, with variables known by their names.
fn same_index(index: &IndexExpr, written: &Index, concrete: &Concrete) -> bool {
    let var = |word: &Word| {
        let mut vars = index.vars().into_iter();
        let found = vars.find(|var| concrete.vars[*var].name == word.text);
        found.ok_or_else(|| Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, "another index"))
    };
    written
        .expr(&concrete.source, &var)
        .is_ok_and(|expr| expr == *index)
}

fn same_number(number: Number, value: Scalar) -> bool {
    let number = match number {
        Number::Bool(number) => return value == Scalar::Bool(number),
        Number::Integer(number) => match i64::try_from(number) {
            Ok(number) => Scalar::I64(number),
            Err(_) => Scalar::U64(number as u64),
        },
        Number::Float(number) => Scalar::F64(number),
        Number::Imaginary(number) => Scalar::C128(Complex::new(0.0, number)),
    };
    number.cast(value.element()) == Some(value)
}
