//! `split` and `divide`: a loop over blocks, and one within each.
//!
//! ```text
//! forall i: y(i) = 2 * x(i)
//!
//!   split(i, i0, i1, 32)         blocks of 32, as many as it takes
//!   divide(i, i0, i1, 4)         4 blocks, as large as it takes
//!
//! forall i0: forall i1: y(i) = 2 * x(i) suchthat(split(i, i0, i1, 32))
//! ```
//!
//! The last block may be smaller; the inner loop stops where `i` does.
//!
//! A coordinate that is one of the new variables, or one shifted, is named so: `A(i // 4, i % 4)` is
//! `A(i0,i1)` after `split(i, i0, i1, 4)`. A tensor that is stored in such blocks is
//! walked by these loops.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::concrete::Clause;
use sparsec_index::index_expr::{ExtentOf, Term};
use sparsec_index::{Access, Concrete, Expr, IndexExpr, IndexVar, Stmt};

use super::Name;
use super::apply::{loop_to_derive, new_vars, replace_loops};

/// The largest size: positions and coordinates are 64 bits with a sign, and
/// their sum with a block must be too.
const MAX_SIZE: u64 = 1 << 40;

pub(super) fn apply(
    concrete: &Concrete,
    clause: &Clause<Name, Name>,
) -> Result<(Concrete, Clause)> {
    let (Clause::Split {
        var: name,
        outer,
        inner,
        size,
    }
    | Clause::Divide {
        var: name,
        outer,
        inner,
        parts: size,
    }) = clause
    else {
        unreachable!("only these split");
    };
    let size = *size;
    let var = loop_to_derive(concrete, name)?;
    if !(1..=MAX_SIZE).contains(&size) {
        let message = format!("`{name}` cannot be split by {size}");
        let error = Diagnostic::new(code::SCHEDULE_SIZE, message);
        return Err(error
            .at(
                &name.source,
                name.word.span.to(inner.word.span),
                "this split",
            )
            .help("give a number from 1 to 2^40"));
    }
    let mut split = concrete.clone();
    let made = new_vars(&mut split, &[outer, inner])?;
    split.stmt = replace_loops(&concrete.stmt, var, &made);
    let (outer, inner) = (made[0], made[1]);
    let made = match clause {
        Clause::Split { .. } => {
            split.stmt = in_blocks(&split.stmt, var, outer, inner, size);
            let n_blocks = concrete.extent(var).map(|n| n.div_ceil(size));
            split.stmt = within_modes(&split, &[(outer, n_blocks), (inner, Some(size))]);
            Clause::Split {
                var,
                outer,
                inner,
                size,
            }
        }
        _ => Clause::Divide {
            var,
            outer,
            inner,
            parts: size,
        },
    };
    Ok((split, made))
}

/// The statement with every coordinate that is `outer` or `inner` named so,
/// where `var = size * outer + inner`.
fn in_blocks(stmt: &Stmt, var: IndexVar, outer: IndexVar, inner: IndexVar, size: u64) -> Stmt {
    let size = size as i64;
    let whole = IndexExpr::from(outer).times(size);
    let Some(whole) = whole.and_then(|blocks| blocks.plus(&inner.into())) else {
        return stmt.clone();
    };
    let extent = |known: IndexVar| (known == inner).then_some(size as u64);
    let replace = |known: IndexVar| (known == var).then(|| whole.clone());
    named(stmt, &replace, &extent)
}

/// The statement with variables kept apart from modes of operands that are not as long:
/// beyond a shorter one nothing is stored, and a longer one has entries where no loop
/// is to go.
fn within_modes(split: &Concrete, extents: &[(IndexVar, Option<u64>)]) -> Stmt {
    let within = |access: &Access| {
        let modes = &split.tensors[access.tensor].extents;
        let index = |(index, mode): (&IndexExpr, &Option<u64>)| {
            let made = extents.iter().find(|(var, _)| index.as_var() == Some(*var));
            match (made.and_then(|(_, extent)| *extent), mode) {
                (Some(extent), mode) if Some(extent) != *mode => index.clone().apart(),
                _ => index.clone(),
            }
        };
        Access {
            indices: access.indices.iter().zip(modes).map(index).collect(),
            ..access.clone()
        }
    };
    split.stmt.rewrite(&mut |stmt| match stmt {
        Stmt::Assign { lhs, reduce, rhs } => Some(Stmt::Assign {
            lhs: lhs.clone(),
            reduce: reduce.clone(),
            rhs: rhs.map_accesses(&mut |access| Some(Expr::Access(within(access)))),
        }),
        _ => None,
    })
}

/// The statement with every index named by a variable that is one where others
/// are replaced.
pub(super) fn named(
    stmt: &Stmt,
    replace: &dyn Fn(IndexVar) -> Option<IndexExpr>,
    extent: ExtentOf<'_>,
) -> Stmt {
    with_indices(stmt, &|index| one_named(index, replace, extent))
}

/// The statement with every index of an access replaced.
pub(super) fn with_indices(stmt: &Stmt, replace: &dyn Fn(&IndexExpr) -> IndexExpr) -> Stmt {
    let replaced = |access: &Access| Access {
        indices: access.indices.iter().map(replace).collect(),
        ..access.clone()
    };
    stmt.rewrite(&mut |stmt| match stmt {
        Stmt::Assign { lhs, reduce, rhs } => Some(Stmt::Assign {
            lhs: replaced(lhs),
            reduce: reduce.clone(),
            rhs: rhs.map_accesses(&mut |access| Some(Expr::Access(replaced(access)))),
        }),
        _ => None,
    })
}

/// An index, or each coordinate of a place on a curve, as the variable that it is.
fn one_named(
    index: &IndexExpr,
    replace: &dyn Fn(IndexVar) -> Option<IndexExpr>,
    extent: ExtentOf<'_>,
) -> IndexExpr {
    if let Some((curve, coordinates)) = index.as_place() {
        let coordinates = coordinates.iter();
        let coordinates = coordinates.map(|it| one_named(it, replace, extent));
        return IndexExpr::place(curve.clone(), coordinates.collect());
    }
    let within = index.substitute(replace, extent);
    let is_shifted = |index: &IndexExpr| matches!(index.terms(), [(Term::Var(_), 1)]);
    let made = within.filter(|index| is_shifted(index));
    made.unwrap_or_else(|| index.clone())
}
