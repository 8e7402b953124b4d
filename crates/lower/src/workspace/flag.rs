//! Whether anything was added to a temporary, where that matters.
//!
//! It matters where the result's pattern depends on it, and where a temporary that holds
//! nothing annihilates: `t * x(i)` is 0 then, even where `x(i)` is `NaN`.

use std::collections::BTreeSet;

use sparsec_base::{ElementType, Scalar};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Expr as Value, IndexVar, Operator, TensorVar};
use sparsec_loop::{Builder, Expr, Var};

use crate::context::Context;
use crate::presence::Presence;

/// How it is known whether anything was added to a temporary.
#[derive(Clone, Debug)]
pub(super) enum Flag {
    /// It does not matter.
    None,
    /// The producer says so when it adds something.
    Raised,
    /// Before the producer runs.
    Known(Expr),
}

impl Flag {
    /// Declares the flag of a temporary called `name`.
    pub(super) fn begin(self, b: &mut Builder, name: &str) -> Option<Var> {
        let name = format!("{name}.written");
        match self {
            Self::None => None,
            Self::Raised => Some(b.var_(&name, Expr::Const(Scalar::Bool(false)))),
            Self::Known(condition) => Some(b.let_(&name, condition)),
        }
    }
}

/// How to know whether the producer of a temporary without a list added anything to it.
pub(super) fn flag(
    at: &Context<'_>,
    (consumer, producer): (&Stmt, &Stmt),
    temporary: TensorVar,
) -> Flag {
    if at.certain.contains(&temporary) || !asks_for_flag(at, consumer, temporary) {
        return Flag::None;
    }
    let is_written = always_writes(at, producer, temporary) && !at.kernel.searches(producer);
    if !is_written && !lacks_fill(at, producer, temporary) {
        return Flag::Raised;
    }
    // Loops over everything add something unless there is nothing.
    let loops = producer.loops().into_iter();
    let originals: BTreeSet<IndexVar> = loops
        .flat_map(|var| at.kernel.concrete.originals(var))
        .collect();
    originals
        .into_iter()
        .map(|var| Expr::int(0).less(at.extent(var)))
        .reduce(Expr::and)
        .map_or(Flag::None, Flag::Known)
}

/// Whether what is added to a temporary fails where nothing is stored, as an integer
/// division by zero does. Then its value is looked at wherever it is read, and fails there.
fn lacks_fill(at: &Context<'_>, producer: &Stmt, temporary: TensorVar) -> bool {
    let concrete = at.kernel.concrete;
    let inner = temporaries_within(producer);
    let mut lacks = false;
    producer.for_each_assign(&mut |lhs, _, rhs| {
        if lhs.tensor == temporary && !lacks {
            let rhs = rhs.map_parts(&mut |part| match part {
                Value::Access(access) if inner.contains(&access.tensor) => {
                    lacks_fill(at, producer, access.tensor).then(no_value)
                }
                // A coordinate counts as stored wherever it is.
                Value::Index(_) => Some(Value::Literal(Scalar::I64(1))),
                _ => None,
            });
            lacks = rhs.fill(&concrete.tensors, &concrete.vars).is_none();
        }
    });
    lacks
}

/// An expression that fails: no integer is near `NaN`.
fn no_value() -> Value {
    let nan = Value::Literal(Scalar::F64(f64::NAN));
    Value::Cast(ElementType::I8, Box::new(nan))
}

/// What a temporary is where nothing that is stored was added to it: the
/// operator's identity if what is added is that too, else the fill as often
/// as the extents say, where they are known.
pub(super) fn unstored_after(
    at: &Context<'_>,
    producer: &Stmt,
    temporary: TensorVar,
    reduce: Option<&Operator>,
) -> Option<Scalar> {
    let concrete = at.kernel.concrete;
    let identity = at.kernel.identity(temporary, reduce);
    let mut stays = true;
    producer.for_each_assign(&mut |lhs, _, rhs| {
        stays &= lhs.tensor != temporary || at.where_absent(rhs) == Some(identity);
    });
    let loops = producer.loops().into_iter();
    let mut originals = loops.flat_map(|var| concrete.originals(var));
    let is_known = |var: IndexVar| concrete.vars[var].extent.is_some();
    match stays {
        true => Some(identity),
        false if originals.all(is_known) => Some(concrete.tensors[temporary].fill),
        false => None,
    }
}

/// Whether the consumer stores something else if nothing was added to a temporary. A
/// temporary of a `where` inside `consumer` has no workspace yet, so its own consumer
/// decides.
fn asks_for_flag(at: &Context<'_>, consumer: &Stmt, temporary: TensorVar) -> bool {
    let inner = temporaries_within(consumer);
    let mut asks = false;
    consumer.for_each_assign(&mut |lhs, _, rhs| {
        at.for_each_factor(rhs, &mut |access| asks |= access.tensor == temporary);
        let mut read = rhs.accesses().into_iter();
        if asks || !read.any(|access| access.tensor == temporary) {
            return;
        }
        asks = match at.workspaces.get(&lhs.tensor) {
            Some(workspace) if workspace.knows_entries() => true,
            _ if inner.contains(&lhs.tensor) => asks_for_flag(at, consumer, lhs.tensor),
            Some(workspace) => workspace.written().is_some(),
            None => !at.kernel.formats.of(lhs.tensor).is_all_dense(),
        };
    });
    asks
}

/// Whether every run of `producer` stores something in `temporary`, as it
/// does if its loops are over everything and nothing in them may be absent.
fn always_writes(at: &Context<'_>, producer: &Stmt, temporary: TensorVar) -> bool {
    match producer {
        Stmt::Assign { lhs, rhs, .. } => {
            lhs.tensor == temporary && matches!(at.presence(rhs), Presence::Always)
        }
        Stmt::Forall { var, body } => {
            at.kernel.is_over_everything(*var, body) && always_writes(at, body, temporary)
        }
        Stmt::Where {
            consumer,
            producer: inner,
        } => {
            let is_certain = |access: &Access| always_writes(at, inner, access.tensor);
            let mut own = own_temporaries(inner).into_iter();
            own.all(|(access, _)| is_certain(&access)) && always_writes(at, consumer, temporary)
        }
        Stmt::Sequence(stmts) => stmts.iter().any(|stmt| always_writes(at, stmt, temporary)),
    }
}

/// The temporaries of every `where` inside a statement.
fn temporaries_within(stmt: &Stmt) -> Vec<TensorVar> {
    let mut found = Vec::new();
    stmt.for_each(&mut |part| {
        if let Stmt::Where { producer, .. } = part {
            found.extend(
                own_temporaries(producer)
                    .iter()
                    .map(|(access, _)| access.tensor),
            );
        }
    });
    found
}

/// The temporaries that a producer computes for its consumer, with how:
/// those of a `where` inside it are its own.
pub(super) fn own_temporaries(producer: &Stmt) -> Vec<(Access, Option<Operator>)> {
    fn collect(stmt: &Stmt, found: &mut Vec<(Access, Option<Operator>)>) {
        match stmt {
            Stmt::Assign { lhs, reduce, .. } => {
                if !found.iter().any(|(known, _)| known.tensor == lhs.tensor) {
                    found.push((lhs.clone(), reduce.clone()));
                }
            }
            Stmt::Forall { body, .. } => collect(body, found),
            Stmt::Where { consumer, .. } => collect(consumer, found),
            Stmt::Sequence(stmts) => stmts.iter().for_each(|stmt| collect(stmt, found)),
        }
    }
    let mut found = Vec::new();
    collect(producer, &mut found);
    found
}
