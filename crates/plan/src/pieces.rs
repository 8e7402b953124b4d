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
//! command to say. Others are converted. Sums of floats are taken apart unless their
//! order counts.

use sparsec_format::{Format, Way, Widths};
use sparsec_index::concrete::Stmt;
use sparsec_index::{IndexVar, TensorRole, TensorVar};

use crate::draft::Draft;

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
    for tensor in tensors {
        let name = draft.concrete.tensors[*tensor].name.clone();
        let format = draft
            .format(*tensor)?
            .clone()
            .with_widths(Widths::default());
        any |= draft.say(format!("pieces({name}, {format})")).is_ok();
    }
    let mut is_sum = false;
    (draft.concrete.stmt).for_each(&mut |stmt| is_sum |= matches!(stmt, Stmt::Sequence(_)));
    let element = draft.concrete.tensors[draft.concrete.result].element;
    let rounds = element.is_float() || element.is_complex();
    (any && !(is_sum && rounds && draft.facts().strict)).then_some(draft)
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
