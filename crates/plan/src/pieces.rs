//! Operands read as the sums of their pieces, where that is how they are stored.
//!
//! ```text
//! y(i) = A(i,j) * x(j)             A : csr, symmetric
//!
//! pieces(A, csr, symmetric(i, j))  one nest for what is stored, one for mirror images
//!
//! C(i,j) = A(i,j) + B(i,j)         C : csr, so that no nest appends all of a row
//!
//! precompute(A(i,j) + B(i,j), {i, j}, w)
//! pieces(A, csr, symmetric(i, j))  both nests add to w
//! ```
//!
//! An operand is taken apart where what is computed is additive in it; that is for the
//! command to say. Others are converted, as are those whose pieces have places outside of
//! a region (`dense, lower(i, j)`) where the result is sparse. Sums of floats are taken apart unless their
//! order counts.
//!
//! Nests that follow one another and begin with a walk over the same arrays become one
//! (`loopfuse`) where the result takes entries in any order: a triangle comes from
//! memory once, and each row of it is walked for what is stored and then, from the cache,
//! for mirror images.

use sparsec_format::{Format, Piece, Way, Widths};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, IndexVar, TensorRole, TensorVar};
use sparsec_schedule::Command;

use crate::draft::Draft;
use crate::estimate::Estimate;
use crate::estimate::work::work;
use crate::search::Plan;
use crate::unplanned::Result;

/// Drafts in which operands are read as sums of pieces; the last is the one that is
/// given.
pub(crate) fn alternatives<'a>(naive: &Draft<'a>) -> Vec<Draft<'a>> {
    let mut found = Vec::new();
    let mut foreign: Vec<TensorVar> = Vec::new();
    naive.concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| {
            let way = naive.format(access.tensor).map(Format::read_by);
            if way == Some(Way::Pieces) && !foreign.contains(&access.tensor) {
                foreign.push(access.tensor);
            }
        });
    });
    if !foreign.is_empty() {
        found.extend(taken_apart(naive.clone(), &foreign));
        found.extend(collected(naive).and_then(|draft| taken_apart(draft, &foreign)));
    }
    found.push(naive.clone());
    found
}

/// The draft with as many of these tensors taken apart as can be.
fn taken_apart<'a>(mut draft: Draft<'a>, tensors: &[TensorVar]) -> Option<Draft<'a>> {
    let mut any = false;
    let is_dense = draft.format(draft.concrete.result)?.is_all_dense();
    for tensor in tensors {
        let name = draft.concrete.tensors[*tensor].name.clone();
        let format = draft
            .format(*tensor)?
            .clone()
            .with_widths(Widths::default());
        if !is_dense && has_outside(&format) {
            continue;
        }
        any |= draft.command(Command::pieces(&name, format)).is_ok();
    }
    let mut is_sum = false;
    (draft.concrete.stmt).for_each(&mut |stmt| is_sum |= matches!(stmt, Stmt::Sequence(_)));
    let element = draft.concrete.tensors[draft.concrete.result].element;
    let rounds = element.is_float() || element.is_complex();
    (any && !(is_sum && rounds && draft.facts().strict)).then_some(draft)
}

/// Whether loops over some piece come to places that are no entries, `j > i` of a lower
/// triangle in dense rows: a sparse result would store them.
fn has_outside(format: &Format) -> bool {
    let pieces = format.pieces().unwrap_or_default();
    let has_places = |piece: &Piece| piece.within.is_some() || piece.equal.is_some();
    pieces
        .iter()
        .any(|it| it.mirror.is_none() && has_places(it))
}

/// The draft with what it computes collected in a workspace, from where a sparse
/// result gets its entries in order.
fn collected<'a>(naive: &Draft<'a>) -> Option<Draft<'a>> {
    let mut draft = naive.clone();
    draft.convert_foreign_result().ok()?;
    let concrete = draft.concrete.clone();
    let (loops, Stmt::Assign { lhs, rhs, .. }) = concrete.stmt.nest() else {
        return None;
    };
    let format = draft.format(lhs.tensor)?;
    let is_result = concrete.tensors[lhs.tensor].role != TensorRole::Workspace;
    if !is_result || !format.is_plain() || format.is_scattered_to() {
        return None;
    }
    let levels = format.levels().iter();
    let modes: Vec<IndexVar> = levels
        .map(|level| lhs.var(level.mode()))
        .collect::<Option<_>>()?;
    let reduced = loops.iter().filter(|var| !modes.contains(var));
    let order: Vec<IndexVar> = reduced.copied().chain(modes.iter().copied()).collect();
    let used = draft.use_of(lhs, rhs, &loops, &modes);
    draft.reorder(&order).ok()?;
    draft.collect(rhs, &modes, used).ok()?;
    Some(draft)
}

/// The plan of a draft whose nests have been planned, those that walk the same arrays
/// made one unless that costs more.
pub(crate) fn finish_together(draft: Draft<'_>) -> Result<Plan> {
    let mut fused = draft.clone();
    while let Some(var) = followed(&fused) {
        let command = Command::loop_fuse(fused.name(var));
        if fused.command(command).is_err() {
            break;
        }
    }
    match fused.said().len() > draft.said().len() {
        true => {
            let facts = draft.facts();
            let [fused, apart] = [fused, draft].map(Draft::finish);
            let cost = |plan: &Plan| work(Estimate::of(plan, facts));
            match (fused, apart) {
                (Ok(fused), Ok(apart)) if cost(&apart).is_less_than(&cost(&fused)) => Ok(apart),
                (Ok(fused), _) => Ok(fused),
                (Err(_), apart) => apart,
            }
        }
        false => draft.finish(),
    }
}

/// The outermost loop of a nest behind which another begins with a walk over the same
/// arrays; none where entries of the result have an order.
fn followed(draft: &Draft<'_>) -> Option<IndexVar> {
    let mut results = draft.concrete.results();
    let is_dense = results.all(|it| draft.format(it).is_some_and(|it| !it.has_sparse()));
    let Stmt::Sequence(nests) = &draft.concrete.stmt else {
        return None;
    };
    let pairs = nests.windows(2).filter(|_| is_dense);
    let both = pairs.filter_map(|pair| match (&pair[0], &pair[1]) {
        (Stmt::Forall { var, .. }, Stmt::Forall { var: next, .. }) => {
            let walked = begun(draft, &pair[0], *var);
            let again = begun(draft, &pair[1], *next);
            walked.iter().any(|it| again.contains(it)).then_some(*var)
        }
        _ => None,
    });
    both.into_iter().next()
}

/// The tensors whose outermost level a loop over `var` goes over, but for dense vectors.
fn begun(draft: &Draft<'_>, nest: &Stmt, var: IndexVar) -> Vec<TensorVar> {
    let mut found = Vec::new();
    let begins = |access: &Access| {
        let format = draft
            .format(access.tensor)
            .filter(|format| format.has_sparse() || format.order() > 1);
        let outermost = format.and_then(|format| format.levels().first());
        outermost.is_some_and(|level| access.var(level.mode()) == Some(var))
    };
    nest.for_each_assign(&mut |_, _, rhs| {
        rhs.for_each_access(&mut |access| {
            if begins(access) {
                found.push(access.tensor);
            }
        });
    });
    found
}
