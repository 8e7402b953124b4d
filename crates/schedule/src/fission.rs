//! `fission` and `loopfuse`: a loop around a `where` becomes one around each
//! side, and back.
//!
//! ```text
//! forall i: where(y(i) = t, forall j: t += A(i,j) * x(j))
//!
//!   fission(i)       ▲
//!        ▼           loopfuse(i)
//!
//! where(forall i: y(i) = t(i), forall i: forall j: t(i) += A(i,j) * x(j))
//! ```
//!
//! Fission gives the temporaries a mode, in which each iteration has its own
//! entries; they keep a list of them, so that what no iteration wrote is still
//! not stored. Fusion takes the mode away, if neither side uses entries of
//! another iteration. Nests of a sequence are fused in `nests.rs`.

use sparsec_base::{Result, code};
use sparsec_index::{Access, Concrete, Expr, IndexExpr, IndexVar, Stmt, TensorVar, WorkspaceKind};

use super::Name;
use super::apply::{illegal, loop_to_derive};
use super::nests;

pub(super) fn fission(concrete: &Concrete, name: &Name) -> Result<Concrete> {
    let var = loop_to_derive(concrete, name)?;
    let mut divided = concrete.clone();
    let mut temporaries = Vec::new();
    divided.stmt = concrete.stmt.rewrite(&mut |stmt| {
        let Stmt::Forall { var: known, body } = stmt else {
            return None;
        };
        let (true, Stmt::Where { consumer, producer }) = (*known == var, &**body) else {
            return None;
        };
        let own = producer.temporaries();
        let widened = |stmt: &Stmt| {
            map_accesses(stmt, &|access| {
                let mut access = access.clone();
                if own.contains(&access.tensor) {
                    access.indices.insert(0, IndexExpr::from(var));
                }
                access
            })
        };
        let both = Stmt::Where {
            consumer: Box::new(widened(consumer).in_loops(&[var])),
            producer: Box::new(widened(producer).in_loops(&[var])),
        };
        temporaries.extend(own);
        Some(both)
    });
    if temporaries.is_empty() {
        let message = format!("the loop over `{name}` is not directly around a `where`");
        return Err(
            illegal(name, name.word.span, message, "has nothing to divide")
                .note(format!("the statement is\n{concrete}"))
                .help("precompute something inside of the loop first"),
        );
    }
    for tensor in temporaries {
        divided.tensors[tensor]
            .extents
            .insert(0, concrete.extent(var));
        divided.kinds.insert(tensor, WorkspaceKind::Listed);
    }
    Ok(divided)
}

pub(super) fn loopfuse(concrete: &Concrete, name: &Name) -> Result<Concrete> {
    let var = loop_to_derive(concrete, name)?;
    let mut fused = concrete.clone();
    let mut narrowed: Option<Vec<(TensorVar, usize)>> = None;
    let mut refused = None;
    fused.stmt = concrete.stmt.rewrite(&mut |stmt| {
        let (consumer, producer) = sides(stmt, var)?;
        let own = producer.temporaries();
        let modes: Option<Vec<(TensorVar, usize)>> = own
            .iter()
            .map(|tensor| {
                Some((
                    *tensor,
                    common_mode(stmt, *tensor, &consumer, &producer, var)?,
                ))
            })
            .collect();
        let Some(modes) = modes.filter(|_| narrowed.is_none()) else {
            refused = own.first().copied();
            return None;
        };
        let without = |stmt: &Stmt| {
            map_accesses(stmt, &|access| {
                let mut access = access.clone();
                if let Some((_, mode)) = modes.iter().find(|(own, _)| *own == access.tensor) {
                    access.indices.remove(*mode);
                }
                access
            })
        };
        let both = Stmt::Where {
            consumer: Box::new(without(&consumer)),
            producer: Box::new(without(&producer)),
        };
        narrowed = Some(modes.clone());
        Some(both.in_loops(&[var]))
    });
    let Some(narrowed) = narrowed else {
        if let Some(fused) = nests::fused(concrete, name, var)? {
            return Ok(fused);
        }
        return Err(match refused {
            Some(tensor) => {
                let workspace = &concrete.tensors[tensor].name;
                let message = format!(
                    "iterations over `{name}` read entries of `{workspace}` that others write"
                );
                sparsec_base::Diagnostic::new(code::SCHEDULE_DEPENDENCE, message)
                    .at(&name.source, name.word.span, "would be one loop")
                    .note(format!("the statement is\n{concrete}"))
                    .help(format!(
                        "fuse a loop that every access of `{workspace}` names alone"
                    ))
            }
            None => {
                let message = format!(
                    "no `where` has loops over `{name}` outermost on both sides, and no nest follows one over it"
                );
                illegal(name, name.word.span, message, "has nothing to fuse")
                    .note(format!("the statement is\n{concrete}"))
                    .help("reorder the loops of both sides first")
            }
        });
    };
    for (tensor, mode) in narrowed {
        fused.tensors[tensor].extents.remove(mode);
        if fused.tensors[tensor].extents.is_empty() {
            fused.kinds.remove(&tensor);
        }
    }
    Ok(fused)
}

/// The bodies of the outermost loops of a `where`, both over `var`.
fn sides(stmt: &Stmt, var: IndexVar) -> Option<(Stmt, Stmt)> {
    let Stmt::Where { consumer, producer } = stmt else {
        return None;
    };
    match (&**consumer, &**producer) {
        (
            Stmt::Forall {
                var: left,
                body: consumer,
            },
            Stmt::Forall {
                var: right,
                body: producer,
            },
        ) if *left == var && (*right == var || !uses(producer, var)) => Some((
            (**consumer).clone(),
            // The producer's loop may have a name of its own.
            producer.renamed(&|known| if known == *right { var } else { known }),
        )),
        _ => None,
    }
}

/// Whether a loop of `stmt` is over `var`, or an expression names it.
pub(super) fn uses(stmt: &Stmt, var: IndexVar) -> bool {
    let mut found = stmt.loops().contains(&var);
    stmt.for_each_assign(&mut |lhs, _, rhs| {
        found |= lhs.uses(var) || rhs.vars().contains(&var);
    });
    found
}

/// The mode at which every access of `tensor` has `var` alone, if no other
/// mode uses it and no access is outside of the two sides.
fn common_mode(
    whole: &Stmt,
    tensor: TensorVar,
    consumer: &Stmt,
    producer: &Stmt,
    var: IndexVar,
) -> Option<usize> {
    let mut mode = None;
    let mut agrees = true;
    let mut n_inside = 0;
    for side in [consumer, producer] {
        for_each_access(side, &mut |access| {
            if access.tensor != tensor {
                return;
            }
            n_inside += 1;
            let found = access.mode_of(var);
            let once = access
                .indices
                .iter()
                .filter(|index| index.uses(var))
                .count()
                == 1;
            agrees &= once && found.is_some() && (mode.is_none() || mode == found);
            mode = mode.or(found);
        });
    }
    let mut n_all = 0;
    for_each_access(whole, &mut |access| {
        n_all += usize::from(access.tensor == tensor)
    });
    mode.filter(|_| agrees && n_inside == n_all)
}

pub(super) fn for_each_access(stmt: &Stmt, visit: &mut dyn FnMut(&Access)) {
    stmt.for_each_assign(&mut |lhs, _, rhs| {
        visit(lhs);
        rhs.for_each_access(&mut |access| visit(access));
    });
}

/// The statement with every access, left sides too, mapped.
fn map_accesses(stmt: &Stmt, map: &dyn Fn(&Access) -> Access) -> Stmt {
    stmt.rewrite(&mut |stmt| match stmt {
        Stmt::Assign { lhs, reduce, rhs } => Some(Stmt::Assign {
            lhs: map(lhs),
            reduce: reduce.clone(),
            rhs: rhs.map_accesses(&mut |access| Some(Expr::Access(map(access)))),
        }),
        _ => None,
    })
}
