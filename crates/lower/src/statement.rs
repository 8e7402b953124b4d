//! Statements to loops: the walk over a statement, from outside in.
//!
//! ```text
//! y(i) = …                  an entry, stored where operands make it so
//! forall i: S               loops, with S in them             (`forall`)
//! where(C, P)               the temporaries of P, P, C        (`workspace`)
//! sequence S; T             one nest after another
//! ```

use sparsec_graph::Formats;
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Concrete, TensorVar};
use sparsec_loop::{Builder, Function};

use crate::assembly::Assembly;
use crate::assign::assign;
use crate::context::{Body, Context, Loop};
use crate::forall::forall;
use crate::kernel::Kernel;
use crate::result;
use crate::search::found;
use crate::temporary::Workspace;
use crate::workspace::{allocate, where_};
use crate::zeros::Zeros;

/// The kernel called `name` that computes a statement.
pub(crate) fn kernel(name: &str, concrete: &Concrete, formats: &Formats) -> Function {
    let mut b = Builder::new(name);
    let zeros = Zeros::of(concrete, formats).map(|zeros| {
        let dense = zeros.formats(concrete, formats);
        (zeros, dense)
    });
    let mut kernel = Kernel::new(&mut b, concrete, formats);
    let workspaces = allocate(&mut b, &Context::root(&kernel));
    kernel.write_lists(&mut b);
    let mut at = Context::root(&kernel);
    at.workspaces = workspaces;
    let mut assembly = result::begin(&mut b, &at);
    at.output.assembly = Some(assembly.clone());
    at.advance();
    for access in others(&kernel, at.output.access.tensor) {
        let tensor = access.tensor;
        let begun = result::begin(&mut b, &at.at_result(access));
        at.beside.insert(tensor, begun);
    }
    let body = Body {
        stmt: &concrete.stmt,
        write: statement,
    };
    if let Some(chains) = assembly.chains_mut() {
        let values = at.workspaces.values().filter_map(Workspace::values);
        chains.count(&mut b, &values.collect(), |b, chains| {
            let mut at = at.clone();
            at.output.assembly = Some(Assembly::Chains(chains.clone()));
            found(b, body, &at);
        });
    }
    at.output.assembly = Some(assembly);
    match &zeros {
        Some((zeros, formats)) => {
            let dense = kernel.in_formats(formats);
            let mut zeroed = zeros.context(&dense, &at);
            zeroed.output.assembly.clone_from(&at.output.assembly);
            zeroed.beside.clone_from(&at.beside);
            zeroed.advance();
            match zeros.condition(&mut b, &at) {
                Some(condition) => b.if_else(
                    condition,
                    |b| found(b, body, &zeroed),
                    |b| found(b, body, &at),
                ),
                None => found(&mut b, body, &zeroed),
            }
        }
        None => found(&mut b, body, &at),
    }
    if let Some(Assembly::Chains(chains)) = &at.output.assembly {
        chains.end(&mut b);
    }
    b.finish()
}

/// Where the results beside `first` are assigned.
fn others(kernel: &Kernel<'_>, first: TensorVar) -> Vec<Access> {
    let mut found: Vec<Access> = Vec::new();
    kernel.concrete.stmt.for_each_assign(&mut |lhs, _, _| {
        let is_known = lhs.tensor == first || found.iter().any(|it| it.tensor == lhs.tensor);
        if kernel.concrete.is_result(lhs.tensor) && !is_known {
            found.push(lhs.clone());
        }
    });
    found
}

/// Writes a statement where every operand has been followed.
fn statement(b: &mut Builder, stmt: &Stmt, at: &Context<'_>) {
    match stmt {
        Stmt::Assign { lhs, reduce, rhs } => assign(b, at, lhs, reduce.as_ref(), rhs),
        Stmt::Forall { var, body } => {
            let (var, stmt) = (*var, &**body);
            let write = statement;
            let body = Body { stmt, write };
            forall(b, at, Loop { var, body });
        }
        Stmt::Where { consumer, producer } => where_(b, at, (consumer, producer), statement),
        Stmt::Sequence(stmts) => stmts.iter().for_each(|stmt| nest(b, stmt, at)),
    }
}

/// A nest of a sequence, which may have variables of its own on the left side.
fn nest(b: &mut Builder, stmt: &Stmt, at: &Context<'_>) {
    match at.kernel.assigned(stmt) {
        Some(own) if own != at.output.access => statement(b, stmt, &at.at_result(own)),
        _ => statement(b, stmt, at),
    }
}
