//! `hashed`: coordinates stand where their hashes lead.
//!
//! ```text
//! walked                               located
//! for p in pos[p0]..pos[p0 + 1] {      var p = pos[p0] + slot(i)
//!   if crd[p] < N {                    while crd[p] is neither i nor N { p = the next }
//!     i = crd[p] … } }                 if crd[p] == i { … }
//! ```
//!
//! The slot is the upper half of the product with an odd constant as a fraction
//! of the table, for which no division is needed (Knuth, The Art of Computer
//! Programming, vol. 3, §6.4). Tables of tensors and of workspaces share it;
//! [`first_slot`](sparsec_format::level::hashed::first_slot) says the same of
//! numbers.

use sparsec_base::{ElementType, Scalar};
use sparsec_format::level::hashed::MULTIPLIER;
use sparsec_loop::{BinaryOp, Builder, Expr, Var};

use super::{Coordinates, Entries, Holes, LevelArrays, Segment, compressed};
use crate::cursor::Place;

/// The upper half of a hash is what is left of it over this.
const HALF: u64 = 1 << 32;

/// The slots below `parent`, empty ones included.
pub(crate) fn segment(level: &LevelArrays<'_>, parent: &Place) -> Segment {
    let Segment { lo, hi, .. } = compressed::segment(level, parent);
    let crd = level.arrays.crd(level.number);
    let mark = level.extent.clone();
    Segment {
        lo,
        hi,
        entries: Entries {
            crd: Coordinates::Hashed(crd),
            holes: Holes::Marked { crd, mark },
        },
    }
}

/// Where the search for a key of one or several words begins, in a table of so
/// many slots.
pub(crate) fn first_slot(keys: &[Expr], n_slots: impl Into<Expr>) -> Expr {
    let unsigned = |expr: Expr| Expr::Cast(ElementType::U64, Box::new(expr));
    let hash = keys.iter().fold(None, |so_far: Option<Expr>, key| {
        let key = unsigned(key.clone());
        let mixed = match so_far {
            Some(hash) => hash.add(key),
            None => key,
        };
        Some(mixed.mul(Scalar::U64(MULTIPLIER)))
    });
    let upper = |expr: Expr| expr.binary(BinaryOp::FloorDiv, Scalar::U64(HALF));
    let fraction = upper(hash.expect("a key has a word"));
    let slot = upper(fraction.mul(unsigned(n_slots.into())));
    Expr::Cast(ElementType::I64, Box::new(slot))
}

/// Goes to the slot behind; behind the last slot of the table is its first.
pub(crate) fn next_slot(b: &mut Builder, slot: Var, first: impl Into<Expr>, end: impl Into<Expr>) {
    b.assign(slot, Expr::Var(slot).add(1));
    let first = first.into();
    b.if_then(Expr::Var(slot).equals(end), |b| b.assign(slot, first));
}
