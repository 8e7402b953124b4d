//! What a dense result holds before anything is assigned: its fill, or the
//! identity of the operator that adds up into it.
//!
//! ```text
//! for i in 0..n {
//!   fill C.vals[i * m..(i + 1) * m], 0        row by row, shortly before use
//!   for pA in … { for j … { C.vals[i * m + j] += … } } }
//! ```
//!
//! Who assembles says at which level; above all levels, everything is filled at once. The bits
//! of a result with `bitmap` levels say which entries were assigned; they are unset before all
//! loops.

use std::rc::Rc;

use sparsec_base::Scalar;
use sparsec_format::Role;
use sparsec_loop::{Builder, Expr};

use super::target::Target;
use crate::cursor::Cursor;
use crate::level::dense::locate;
use crate::value::Update;

/// A result with a place for every coordinate.
#[derive(Clone, Debug)]
pub(crate) struct Located<'k> {
    target: Rc<Target<'k>>,
    /// The fill that all places hold first; `None` if the kernel writes each place.
    pub(crate) fill: Option<Fill>,
}

/// What a dense result holds before anything is assigned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    value: Scalar,
    /// The level at whose loop entries are filled; `None` is before all loops.
    level: Option<usize>,
}

impl<'k> Located<'k> {
    /// A result that nothing fills.
    pub(crate) fn new(target: Rc<Target<'k>>) -> Self {
        Self { target, fill: None }
    }

    /// The levels that have bits.
    fn bitmaps(&self) -> impl Iterator<Item = usize> {
        let arrays = self.target.format.arrays().into_iter();
        arrays.filter_map(|spec| match spec.role {
            Role::Bits(level) => Some(level),
            _ => None,
        })
    }

    /// Unsets the bits of every `bitmap` level; whether there is one.
    pub(crate) fn clear_bits(&self, b: &mut Builder) -> bool {
        for level in self.bitmaps() {
            let bits = self.target.arrays.index(Role::Bits(level));
            let len = self.target.product(0..level + 1, Expr::int(1));
            b.fill(bits, Expr::int(0)..len, 0);
        }
        self.bitmaps().next().is_some()
    }

    /// Fills entries with `value` in the loop over a level, or all of them here.
    pub(crate) fn begin_fill(&mut self, b: &mut Builder, value: Scalar, level: Option<usize>) {
        self.fill = Some(Fill { value, level });
        if level.is_none() {
            self.fill_below(b, value, Expr::int(0), 0);
        }
    }

    /// Fills the entries below a place of a level, if that is where they are
    /// filled.
    pub(crate) fn fill_at(&self, b: &mut Builder, level: usize, place: &Cursor) {
        if let Some(fill) = self.fill.filter(|fill| fill.level == Some(level)) {
            self.fill_below(b, fill.value, place.position().clone(), level + 1);
        }
    }

    /// Fills the entries below a position, of which the first `n_levels` levels are behind.
    fn fill_below(&self, b: &mut Builder, value: Scalar, position: Expr, n_levels: usize) {
        let all = self.target.extents.len();
        let vals = self.target.vals();
        if n_levels == all {
            return b.store(vals, position, value);
        }
        let product = |times: Expr| self.target.product(n_levels..all, times);
        let range = match n_levels {
            0 => Expr::int(0)..product(Expr::int(1)),
            _ => product(position.clone())..product(position.add(1)),
        };
        b.fill(vals, range, value);
    }

    /// Stores a value at a position, and that it is stored; `coordinate` is that of a level.
    pub(crate) fn store(
        &self,
        b: &mut Builder,
        position: Expr,
        update: Update<'_>,
        coordinate: impl Fn(usize) -> Expr,
    ) {
        update.store(b, self.target.vals(), position);
        for last in self.bitmaps() {
            let coordinates = (0..=last).map(&coordinate).zip(&self.target.extents);
            let position = coordinates.fold(Expr::int(0), |position, (coordinate, extent)| {
                locate(&position, extent.clone(), coordinate)
            });
            let bits = self.target.arrays.index(Role::Bits(last));
            b.store(bits, position, 1);
        }
    }
}
