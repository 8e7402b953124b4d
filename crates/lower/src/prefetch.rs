//! What later turns of a loop read, fetched early.
//!
//! ```text
//! prefetch(j, A, 256)     A is walked: its arrays lie there in order, so that once
//!                         a segment is enough
//!
//!   prefetch A1.crd[pos[i] + 256..pos[i] + 257]
//!   prefetch A.vals[pos[i] + 256..pos[i] + 257]
//!   for p in pos[i]..pos[i + 1] { … }
//!
//! prefetch(j, B, 4)       B(j,k) is where the fourth coordinate from here leads to,
//!                         in this segment or behind it
//!
//!   for p in pos[i]..pos[i + 1] {
//!     let j_ahead = crd[min(p + 4, pos[n] - 1)]
//!     prefetch B.vals[j_ahead * m..(j_ahead + 1) * m]
//!     … }
//! ```
//!
//! Processors fetch on their own what lies in order, though not across the ends of
//! pages, and what the instructions ahead of them load, a few hundred of them: rows
//! that a few entries lead to are farther than that. Nothing is fetched for merges,
//! nor for operands whose place takes more than one array to find.
//!
//! Source: Ainsworth and Jones, "Software Prefetching for Indirect Memory Accesses",
//! CGO 2017, <https://doi.org/10.1109/CGO.2017.7863749>.

use sparsec_format::{Level, LevelKind};
use sparsec_graph::Operand;
use sparsec_index::{Access, IndexVar, TensorVar};
use sparsec_loop::{BinaryOp, Buffer, Expr, Stmt as Loop, Var};

use crate::cursor::{Bindings, Place};
use crate::level::{Coordinates, Holes};
use crate::statement::Lowerer;
use crate::walker::Walker;

impl Lowerer<'_> {
    /// Before a segment of a walked operand that begins at `lo`.
    pub(crate) fn prefetch_segment(
        &mut self,
        operand: Operand,
        level: usize,
        lo: &Expr,
        bindings: &Bindings,
    ) {
        let access = self.operands.access(operand).clone();
        for (tensor, ahead) in self.prefetched(bindings) {
            let Some(arrays) = self.tensors.get(&tensor) else {
                continue;
            };
            let levels = self.formats.of(tensor).levels();
            if access.tensor != tensor || levels[level].kind != LevelKind::Compressed {
                continue;
            }
            let is_last = level + 1 == levels.len();
            let streams = [Some(arrays.crd(level)), is_last.then_some(arrays.vals)];
            for buffer in streams.into_iter().flatten() {
                let at = lo.clone().add(i64::from(ahead));
                self.prefetch(buffer, at.clone(), at.add(1));
            }
        }
    }

    /// In a turn of a loop over the entries of `walker`, of which it is at one.
    pub(crate) fn prefetch_by(&mut self, var: IndexVar, walker: &Walker, bindings: &Bindings) {
        let is_listed = matches!(walker.entries.crd, Coordinates::Listed(_))
            && matches!(walker.entries.holes, Holes::None);
        if !is_listed {
            return;
        }
        let walked = self.operands.access(walker.operand).clone();
        for (tensor, ahead) in self.prefetched(bindings) {
            let Some(n_stored) = self.all_positions(&walked, walker.level) else {
                continue;
            };
            if tensor == walked.tensor {
                continue;
            }
            let last = n_stored.binary(BinaryOp::Sub, 1);
            let at = Expr::Var(walker.position).add(i64::from(ahead));
            let next = walker.coordinate(at.binary(BinaryOp::Min, last));
            self.prefetch_at(tensor, var, next, bindings);
        }
    }

    /// In a turn of a loop over all coordinates up to `hi`, of which it is at `i`.
    pub(crate) fn prefetch_from(&mut self, var: IndexVar, i: Var, hi: &Expr, bindings: &Bindings) {
        for (tensor, ahead) in self.prefetched(bindings) {
            let at = Expr::Var(i).add(i64::from(ahead));
            let last = hi.clone().binary(BinaryOp::Sub, 1);
            self.prefetch_at(tensor, var, at.binary(BinaryOp::Min, last), bindings);
        }
    }

    fn prefetched(&self, bindings: &Bindings) -> Vec<(TensorVar, u32)> {
        let innermost = bindings.loops.last();
        innermost.map_or_else(Vec::new, |var| self.concrete.prefetched(*var).collect())
    }

    /// Fetches what accesses of `tensor` come to where `var` is `next`.
    fn prefetch_at(&mut self, tensor: TensorVar, var: IndexVar, next: Expr, bindings: &Bindings) {
        let Some(arrays) = self.tensors.get(&tensor) else {
            return;
        };
        let vals = arrays.vals;
        let mut ahead = None;
        for operand in self.operands.ids() {
            let access = self.operands.access(operand).clone();
            let before = bindings.cursors[&operand].levels;
            if access.tensor != tensor || !access.uses(var) {
                continue;
            }
            // What the turn leads to, as if it were this one.
            let name = format!("{}_ahead", self.concrete.vars[var].name);
            let coordinate = *ahead.get_or_insert_with(|| self.builder.let_(&name, next.clone()));
            let mut then = bindings.clone();
            then.bind(var, Expr::Var(coordinate));
            self.advance(&mut then);
            let cursor = &then.cursors[&operand];
            let Place::At(position) = cursor.place.clone() else {
                continue;
            };
            if cursor.levels == before {
                continue;
            }
            let below = &self.formats.of(tensor).levels()[cursor.levels..];
            match below {
                [row] if row.kind == LevelKind::Compressed => {
                    let pos = self.tensors[&tensor].pos(cursor.levels);
                    let crd = self.tensors[&tensor].crd(cursor.levels);
                    let lo = Expr::load(pos, position.clone());
                    let hi = Expr::load(pos, position.add(1));
                    self.prefetch(crd, lo.clone(), hi.clone());
                    self.prefetch(vals, lo, hi);
                }
                rows if rows.iter().all(is_computed) => {
                    let modes = rows.iter().map(Level::mode);
                    let extents = modes.map(|mode| self.mode_extent(&access, mode));
                    let (lo, hi) = match extents.reduce(Expr::mul) {
                        Some(size) => (
                            position.clone().mul(size.clone()),
                            position.add(1).mul(size),
                        ),
                        None => (position.clone(), position.add(1)),
                    };
                    self.prefetch(vals, lo, hi);
                }
                _ => {}
            }
        }
    }

    /// How many positions a level of an operand has in all; `None` where that takes more
    /// than its `pos` arrays to say.
    pub(crate) fn all_positions(&self, access: &Access, level: usize) -> Option<Expr> {
        let arrays = self.tensors.get(&access.tensor)?;
        let levels = self.formats.of(access.tensor).levels();
        let mut count = Expr::int(1);
        for (number, level) in levels[..=level].iter().enumerate() {
            count = match level.kind {
                LevelKind::Dense if count == Expr::int(1) => self.mode_extent(access, level.mode()),
                LevelKind::Dense => count.mul(self.mode_extent(access, level.mode())),
                LevelKind::Compressed => Expr::load(arrays.pos(number), count),
                LevelKind::Singleton => count,
                _ => return None,
            };
        }
        Some(count)
    }

    fn prefetch(&mut self, buffer: Buffer, lo: Expr, hi: Expr) {
        self.builder.push(Loop::Prefetch { buffer, lo, hi });
    }
}

/// Whether a level stores everything, one coordinate behind the other.
fn is_computed(level: &Level) -> bool {
    level.kind == LevelKind::Dense
}
