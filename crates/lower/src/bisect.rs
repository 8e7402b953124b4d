//! Where among ordered coordinates a value stands.
//!
//! ```text
//! var p = lo; var above = hi              the first position whose
//! while p < above {                       coordinate is at least i
//!   let middle = p + (above - p) // 2
//!   if crd[middle] < i { p = middle + 1 } else { above = middle } }
//! ```

use std::ops::Range;

use sparsec_base::ElementType;
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr, Var};

use crate::level::{Coordinates, Entries};

/// What a search looks for among ordered values.
#[derive(Clone, Debug)]
pub(crate) enum Wanted {
    /// The first that is at least this.
    AtLeast(Expr),
    /// The first that is larger than this.
    Above(Expr),
    /// Among values that fall, the first that is at most this.
    AtMost(Expr),
}

/// The first of the positions of a range whose coordinate is at least `bound`; its end if
/// there is none. Mutable, so that a walk may go on from there.
///
/// Time: constant where coordinates are counted, else as [`bisect`].
pub(crate) fn first_from(
    b: &mut Builder,
    name: &str,
    entries: &Entries,
    range: Range<Expr>,
    bound: Expr,
) -> Var {
    match &entries.crd {
        Coordinates::Listed(crd) => bisect(b, name, *crd, range, &Wanted::AtLeast(bound)),
        Coordinates::Counted(zero) => {
            let p = zero.clone().add(bound).binary(BinaryOp::Max, range.start);
            b.var_(name, p.binary(BinaryOp::Min, range.end))
        }
        Coordinates::Hashed(_) | Coordinates::Runs { .. } => {
            unreachable!("only levels in order are walked from within")
        }
    }
}

/// The first of the positions of a range at which `values` has what is wanted; its end if
/// there is none. Mutable, so that a walk may go on from there.
///
/// Time: the logarithm of the length of the range.
pub(crate) fn bisect(
    b: &mut Builder,
    name: &str,
    values: Buffer,
    range: Range<Expr>,
    wanted: &Wanted,
) -> Var {
    let p = b.var_(name, range.start);
    let above = b.var_(&format!("{name}_above"), range.end);
    b.while_loop(Expr::Var(p).less(above), |b| {
        let half = Expr::Var(above).binary(BinaryOp::Sub, p);
        let half = half.binary(BinaryOp::FloorDiv, 2);
        let middle = format!("{name}_middle");
        let middle = b.let_(&middle, Expr::Var(p).add(half));
        let value = integer(b, values, middle);
        let is_before = match wanted {
            Wanted::AtLeast(bound) => value.less(bound.clone()),
            Wanted::Above(bound) => value.binary(BinaryOp::Le, bound.clone()),
            Wanted::AtMost(bound) => value.binary(BinaryOp::Gt, bound.clone()),
        };
        let behind = |b: &mut Builder| b.assign(p, Expr::Var(middle).add(1));
        b.if_else(is_before, behind, |b| b.assign(above, middle));
    });
    p
}

/// An entry of an array of integers in 64 bits, in which all of them are compared.
pub(crate) fn integer(builder: &Builder, buffer: Buffer, index: impl Into<Expr>) -> Expr {
    let entry = Expr::load(buffer, index);
    match builder.function().buffers[buffer].compute {
        ElementType::I64 => entry,
        _ => Expr::Cast(ElementType::I64, Box::new(entry)),
    }
}
