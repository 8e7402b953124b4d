//! What is assembled: a format, the arrays of a tensor in it, and the extents of its levels.
//!
//! Index arrays have widths. A kernel is compiled before extents are known, so it compares
//! them with what the widths hold and leaves where they do not fit.

use std::ops::Range;

use sparsec_base::{ElementType, IndexWidth, Scalar};
use sparsec_format::{Format, Level, Role};
use sparsec_loop::{BinaryOp, Buffer, Builder, Expr, Failure, Var};

use crate::arrays::{Arrays, crd_width, pos_width};
use crate::level::dense::n_positions;

/// A tensor to assemble.
#[derive(Clone, Debug)]
pub(crate) struct Target<'k> {
    pub(crate) name: &'k str,
    pub(crate) format: &'k Format,
    pub(crate) arrays: &'k Arrays,
    /// The extent of each level.
    pub(crate) extents: Vec<Expr>,
    /// The extent of each mode, where it is known.
    pub(crate) known: &'k [Option<u64>],
    pub(crate) fill: Scalar,
}

impl Target<'_> {
    pub(super) fn level(&self, level: usize) -> &Level {
        &self.format.levels()[level]
    }

    pub(super) fn pos(&self, level: usize) -> Buffer {
        self.arrays.pos(level)
    }

    pub(super) fn crd(&self, level: usize) -> Buffer {
        self.arrays.crd(level)
    }

    pub(super) fn vals(&self) -> Buffer {
        self.arrays.vals
    }

    /// `times` multiplied by the extents of some levels.
    pub(super) fn product(&self, levels: Range<usize>, times: Expr) -> Expr {
        let extents = self.extents[levels].iter().cloned();
        extents.fold(times, n_positions)
    }

    /// Leaves the kernel where the coordinates of a mode do not fit the width of
    /// `crd`: what is compiled before extents are known runs with any.
    pub(crate) fn check_coordinates(&self, b: &mut Builder) {
        let width = crd_width(self.format);
        if width == IndexWidth::W64 {
            return;
        }
        // Empty slots of tables have the extent for a coordinate.
        let largest = |level: &Level| match level.kind.capabilities().probing_insert {
            true => width.max(),
            false => width.max() + 1,
        };
        for spec in self.format.arrays() {
            let Role::Crd(level) = spec.role else {
                continue;
            };
            let level = self.level(level);
            let (mode, largest) = (level.mode(), largest(level));
            if self.known[mode].is_some_and(|extent| extent <= largest) {
                continue;
            }
            let extent = self.arrays.extents[mode];
            let too_large = Expr::Var(extent).binary(BinaryOp::Gt, largest as i64);
            b.if_then(too_large, |b| b.fail(Failure::WidthOverflow));
        }
    }

    /// Leaves the kernel where a position does not fit the width of `pos`.
    pub(super) fn check_width(&self, b: &mut Builder, counter: Var) {
        let width = pos_width(self.format);
        if width == IndexWidth::W64 {
            return;
        }
        let max = i64::try_from(width.max()).expect("widths are below 64 bits");
        let too_large = Expr::Var(counter).binary(BinaryOp::Gt, max);
        b.if_then(too_large, |b| b.fail(Failure::WidthOverflow));
    }

    /// Where segments may end before the next begins, says that they do not.
    pub(super) fn end_rooms(&self, b: &mut Builder, parents: Expr, level: usize) {
        let Some(end) = self.arrays.end(level) else {
            return;
        };
        let pos = self.pos(level);
        b.resize(end, parents.clone());
        let p = b.fixed("p", ElementType::I64);
        b.for_loop(p, 0, parents, |b| {
            let next = Expr::load(pos, Expr::Var(p).add(1));
            b.store(end, p, next);
        });
    }
}
