//! `fuse`: one loop of two that are directly inside one another.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)
//!
//!   fuse(i, j, f)
//!
//! forall f: y(i) += A(i,j) * x(j) suchthat(fuse(i, j, f))
//! ```
//!
//! The fused loop can be split, or go over the positions of an operand; loops over
//! positions are not fused with others.

use sparsec_base::Result;
use sparsec_index::concrete::Clause;
use sparsec_index::{Concrete, IndexVar, Stmt};

use super::Name;
use super::apply::{illegal, loop_to_derive, new_vars};

pub(super) fn apply(
    concrete: &Concrete,
    clause: &Clause<Name, Name>,
) -> Result<(Concrete, Clause)> {
    let Clause::Fuse {
        outer: outer_name,
        inner: inner_name,
        fused: made,
    } = clause
    else {
        unreachable!("only this fuses");
    };
    let outer = loop_to_derive(concrete, outer_name)?;
    let inner = loop_to_derive(concrete, inner_name)?;
    let span = outer_name.word.span.to(inner_name.word.span);
    if outer == inner {
        let message = format!("`{outer_name}` is one loop, and two become one");
        return Err(illegal(outer_name, span, message, "the same loop twice")
            .help("name the outer loop, and then the one directly inside it"));
    }
    let refuse = |message: String| {
        Err(illegal(outer_name, span, message, "cannot become one loop")
            .note(format!("the statement is\n{concrete}"))
            .help("reorder the loops first, so that one is directly inside the other"))
    };
    for (var, name) in [(outer, outer_name), (inner, inner_name)] {
        if concrete.positions_above(var).is_some() {
            let message = format!("`{name}` counts positions, not coordinates");
            return Err(
                illegal(name, name.word.span, message, "cannot be fused").help(
                    "fuse the loops over coordinates first, then take positions of the fused loop",
                ),
            );
        }
    }
    let mut fused = concrete.clone();
    let made = new_vars(&mut fused, &[made])?[0];
    let mut n_fused = 0;
    fused.stmt = fuse(&concrete.stmt, outer, inner, made, &mut n_fused);
    let left = fused.stmt.loops();
    if n_fused == 0 || left.contains(&outer) || left.contains(&inner) {
        return refuse(format!(
            "the loop over `{inner_name}` is not everywhere directly inside that over `{outer_name}`"
        ));
    }
    let clause = Clause::Fuse {
        outer,
        inner,
        fused: made,
    };
    Ok((fused, clause))
}

fn fuse(
    stmt: &Stmt,
    outer: IndexVar,
    inner: IndexVar,
    made: IndexVar,
    n_fused: &mut usize,
) -> Stmt {
    stmt.rewrite(&mut |stmt| match stmt {
        Stmt::Forall { var, body } if *var == outer => match &**body {
            Stmt::Forall { var, body } if *var == inner => {
                *n_fused += 1;
                Some((**body).clone().in_loops(&[made]))
            }
            _ => None,
        },
        _ => None,
    })
}
