//! One entry that is not stored is enough for a reduction that is idempotent.
//!
//! The largest of a sparse row counts the zeros that are not stored, but one of
//! them is as good as many. So the loop visits what is stored, counts it, and
//! where that is not all of the row takes the fill once more:
//!
//! ```text
//! m(i) = max{j}(A(i,j))                      A : csr with fill 0, j < 100
//!
//! m(i) = max(stored_max{j}(A(i,j)),
//!            select(sum{j}(i64(isstored(A(i,j)))) < 100, 0, -inf))
//! ```
//!
//! Of more coordinates than 64 bits count, some are left whatever is stored.
//!
//! Invariants: values, fills and patterns are those of the statement as it was.
//! Nothing is changed where a fill is the identity of its reduction, so that the
//! loop skips it anyway, where an extent is not known, and where every entry is
//! stored.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{ElementType, Scalar};
use sparsec_graph::{Formats, Lattice, Operands, Scope, space};
use sparsec_index::{
    Access, Concrete, Expr, IndexVar, Operator, Program, Stmt, TensorData, TensorRole,
};

use crate::draft::walked;

/// Rewrites the reductions of statement `number` that the module is about.
pub(crate) fn take_fills_once(program: &mut Program, number: usize, formats: &Formats) {
    let statement = &program.statements[number];
    let rhs = statement.rhs.map_parts(&mut |part| match part {
        Expr::Reduce { op, vars, body } => taken_once(program, formats, op, vars, body),
        _ => None,
    });
    program.statements[number].rhs = rhs;
}

/// The reduction with its fill taken once, where that is worth it.
fn taken_once(
    program: &Program,
    formats: &Formats,
    op: &Operator,
    vars: &[IndexVar],
    body: &Expr,
) -> Option<Expr> {
    let element = body.element(&program.tensors);
    let identity = op.identity(element)?;
    let fill = body.fill(&program.tensors, &program.vars)?;
    if !op.is_idempotent(element) || fill == identity || has_reduction(body) {
        return None;
    }
    let extents = vars.iter().map(|var| program.vars[*var].extent);
    let extents: Vec<u64> = extents.collect::<Option<_>>()?;
    if extents.is_empty() || extents.contains(&0) {
        return None;
    }
    // None are more coordinates than any tensor stores.
    let n = extents.into_iter().try_fold(1, u64::checked_mul);
    let n = n.and_then(|n| i64::try_from(n).ok());
    let of_stored = body.clone().where_stored(identity);
    if !skips(program, formats, op, &of_stored) {
        return None;
    }
    let reduced = |op: &Operator, body: Expr| Expr::Reduce {
        op: op.clone(),
        vars: vars.to_vec(),
        body: Box::new(body),
    };
    let apply = |op: &Operator, args: Vec<Expr>| Expr::Apply {
        op: op.clone(),
        args,
    };
    let Some(n) = n else {
        return Some(apply(op, vec![reduced(op, of_stored), Expr::Literal(fill)]));
    };
    let is_stored = apply(&Operator::IsStored, vec![body.clone()]);
    let n_stored = reduced(
        &Operator::Add,
        Expr::Cast(ElementType::I64, Box::new(is_stored)),
    );
    let is_left = apply(&Operator::Lt, vec![n_stored, Expr::Literal(Scalar::I64(n))]);
    let once = [is_left, Expr::Literal(fill), Expr::Literal(identity)];
    let once = apply(&Operator::Select, once.to_vec());
    Some(apply(op, vec![reduced(op, of_stored), once]))
}

fn has_reduction(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => false,
        Expr::Cast(_, body) => has_reduction(body),
        Expr::Apply { args, .. } => args.iter().any(has_reduction),
        Expr::Reduce { .. } => true,
    }
}

/// Whether a loop over some variable of `body` leaves out coordinates when `op`
/// reduces it.
fn skips(program: &Program, formats: &Formats, op: &Operator, body: &Expr) -> bool {
    let Program {
        source,
        tensors,
        vars,
        ..
    } = program;
    let mut tensors = tensors.clone();
    let reduced = tensors.push(TensorData {
        name: String::new(),
        element: body.element(&tensors),
        extents: Vec::new(),
        fill: body.element(&tensors).zero(),
        role: TensorRole::Workspace,
        earlier_of: None,
        span: Default::default(),
    });
    let concrete = Concrete {
        source: source.clone(),
        tensors,
        vars: vars.clone(),
        result: reduced,
        kinds: BTreeMap::new(),
        stmt: Stmt::Assign {
            lhs: Access::plain(reduced, &[], Default::default()),
            reduce: Some(op.clone()),
            rhs: body.clone(),
        },
        clauses: Vec::new(),
    };
    let mut as_walked = Formats::new();
    for access in body.accesses() {
        as_walked.set(access.tensor, walked(formats, access).clone());
    }
    let operands = Operands::of(&concrete);
    let scope = Scope {
        concrete: &concrete,
        formats: &as_walked,
        operands: &operands,
    };
    let used = body.accesses().into_iter().flat_map(Access::vars);
    let mut used = used.collect::<BTreeSet<IndexVar>>().into_iter();
    used.any(|var| !Lattice::of(&space(scope, &concrete.stmt, var)).everything)
}
