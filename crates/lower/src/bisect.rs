//! Where among ordered coordinates a value stands.
//!
//! ```text
//! var p = lo; var above = hi              the first position whose
//! while p < above {                       coordinate is at least i
//!   let middle = p + (above - p) // 2
//!   if crd[middle] < i { p = middle + 1 } else { above = middle } }
//! ```

use sparsec_base::ElementType;
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr, Stmt as Loop, Var};

use crate::level::{Coordinates, Entries};
use crate::statement::Lowerer;

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

impl Lowerer<'_> {
    /// The first of the positions from `lo` up to `hi` whose coordinate is at least
    /// `bound`; `hi` if there is none. Mutable, so that a walk may go on from there.
    ///
    /// Time: constant where coordinates are counted, else as [`Self::bisect`].
    pub(crate) fn first_from(
        &mut self,
        name: &str,
        entries: &Entries,
        lo: Expr,
        hi: Expr,
        bound: Expr,
    ) -> Var {
        match &entries.crd {
            Coordinates::Listed(crd) => self.bisect(name, *crd, lo, hi, &Wanted::AtLeast(bound)),
            Coordinates::Counted(zero) => {
                let p = zero.clone().add(bound).binary(BinaryOp::Max, lo);
                self.builder.var_(name, p.binary(BinaryOp::Min, hi))
            }
            Coordinates::Hashed(_) | Coordinates::Runs { .. } => {
                unreachable!("only levels in order are walked from within")
            }
        }
    }

    /// The first of the positions from `lo` up to `hi` at which `values` has
    /// what is wanted; `hi` if there is none. Mutable, so that a walk may go on
    /// from there.
    ///
    /// Time: the logarithm of `hi - lo`.
    pub(crate) fn bisect(
        &mut self,
        name: &str,
        values: Buffer,
        lo: Expr,
        hi: Expr,
        wanted: &Wanted,
    ) -> Var {
        bisect(&mut self.builder, name, values, lo, hi, wanted)
    }
}

/// As [`Lowerer::bisect`].
pub(crate) fn bisect(
    builder: &mut Builder,
    name: &str,
    values: Buffer,
    lo: Expr,
    hi: Expr,
    wanted: &Wanted,
) -> Var {
    let p = builder.var_(name, lo);
    let above = builder.var_(&format!("{name}_above"), hi);
    builder.while_loop(Expr::Var(p).less(above), |b| {
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
        let then = b.block(|b| b.assign(p, Expr::Var(middle).add(1)));
        let otherwise = b.block(|b| b.assign(above, middle));
        b.push(Loop::If {
            condition: is_before,
            then,
            otherwise,
        });
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
