//! What a dense result holds before anything is assigned: its fill, or the
//! identity of the operator that adds up into it.
//!
//! ```text
//! for i in 0..n {
//!   fill C.vals[i * m..(i + 1) * m], 0        row by row, shortly before use
//!   for pA in … { for j … { C.vals[i * m + j] += … } } }
//! ```
//!
//! Where the outer loops do not visit each row once, all is filled before them;
//! where every place is assigned anyway, nothing is. Padding is assigned by no loop.
//! The bits of a result with `bitmap` levels say which entries were assigned; they are
//! unset before all loops.

use sparsec_base::Scalar;
use sparsec_format::Role;
use sparsec_graph::has_padding;
use sparsec_graph::operand::for_each_nested;
use sparsec_index::concrete::{Steps, Stmt};
use sparsec_index::{Access, TensorVar};
use sparsec_loop::{Expr, Stmt as Loop};

use crate::cursor::Bindings;
use crate::level::dense::locate;
use crate::statement::Lowerer;

/// What a dense result holds before anything is assigned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    pub(crate) value: Scalar,
    /// The level at whose loop entries are filled; `None` is before all loops.
    pub(crate) level: Option<usize>,
}

impl Lowerer<'_> {
    /// The result, if every entry of it is going to be assigned and so nothing
    /// is filled before.
    pub(crate) fn unfilled(&self) -> Option<TensorVar> {
        let is_filled = self.assembly.is_some() || self.fill.is_some();
        (!is_filled).then_some(self.concrete.result)
    }

    pub(crate) fn fill_dense_result(&mut self, access: &Access) {
        let mut reduce = None;
        let mut overwritten = false;
        for_each_nested(&self.concrete.stmt, &mut |nested| {
            if nested.lhs.tensor == access.tensor {
                reduce = nested.reduce;
                overwritten = reduce.is_none()
                    && (0..nested.loops.len()).all(|at| {
                        let (outer, var) = (&nested.loops[..at], nested.loops[at]);
                        let var = match self.concrete.steps(outer, var) {
                            Steps::Blocks => return true,
                            Steps::Stretch(original) => original,
                            Steps::Coordinates => var,
                            Steps::Positions(_) | Steps::Computed => return false,
                        };
                        self.result_lattice(var).is_some_and(|lattice| {
                            lattice.everything && lattice.operands().is_empty()
                        })
                    });
            }
        });
        let has_bits = self.clear_bits(access);
        let is_assigned = overwritten && !has_padding(self.concrete, access.tensor);
        if is_assigned && !has_bits && !self.searches(&self.concrete.stmt) {
            return;
        }
        self.fill = Some(Fill {
            value: self.identity(access.tensor, reduce),
            level: self.level_filled_at(access),
        });
        if self.fill.is_some_and(|fill| fill.level.is_none()) {
            self.fill_block(access, Expr::int(0), 0);
        }
    }

    /// Unsets the bits of every `bitmap` level of the result; whether there is one.
    fn clear_bits(&mut self, access: &Access) -> bool {
        let levels = self.bitmaps(access);
        for level in &levels {
            let buffer = self.tensors[&access.tensor].index(Role::Bits(*level));
            let hi = self.product(access, 0..level + 1, Expr::int(1));
            self.builder.push(Loop::Fill {
                buffer,
                lo: Expr::int(0),
                hi,
                value: Expr::int(0),
            });
        }
        !levels.is_empty()
    }

    /// Sets the bits of the entry of the result that is at the bound coordinates.
    pub(crate) fn set_bits(&mut self, access: &Access, bindings: &Bindings) {
        for last in self.bitmaps(access) {
            let mut position = Expr::int(0);
            for level in &self.formats.of(access.tensor).levels()[..=last] {
                let extent = self.mode_extent(access, level.mode());
                let index = &access.indices[level.mode()];
                position = locate(&position, extent, self.bound_coordinate(bindings, index));
            }
            let bits = self.tensors[&access.tensor].index(Role::Bits(last));
            self.builder.store(bits, position, 1);
        }
    }

    fn bitmaps(&self, access: &Access) -> Vec<usize> {
        let arrays = self.formats.of(access.tensor).arrays().into_iter();
        arrays
            .filter_map(|spec| match spec.role {
                Role::Bits(level) => Some(level),
                _ => None,
            })
            .collect()
    }

    /// The innermost level of a dense result at whose loop its entries below
    /// may be filled: the outermost loops are over everything of its outermost
    /// levels, so each entry is filled once, shortly before it is used.
    fn level_filled_at(&self, access: &Access) -> Option<usize> {
        let levels = self.formats.of(access.tensor).levels();
        let mut stmt = &self.concrete.stmt;
        // What is looked for before all loops may leave nothing of them, and nests of a
        // sequence come to an entry at different times.
        let mut is_sequence = false;
        stmt.for_each(&mut |part| is_sequence |= matches!(part, Stmt::Sequence(_)));
        if is_sequence || self.searches_before_loops() {
            return None;
        }
        let mut found = None;
        for (number, level) in levels.iter().enumerate() {
            let Stmt::Forall { var, body } = stmt else {
                break;
            };
            // In the last block a loop stops where the tensor does, and the level does not.
            if self.concrete.made_by(*var).is_some() {
                break;
            }
            let lattice = self.result_lattice(*var);
            let Some(lattice) = lattice.filter(|lattice| lattice.everything) else {
                break;
            };
            if access.var(level.mode()) != Some(*var) {
                break;
            }
            found = Some(number);
            // In some cases of a loop the loops inside may not run.
            if !lattice.operands().is_empty() || self.searches(body) {
                break;
            }
            stmt = body;
        }
        found
    }

    /// Fills the entries of a dense result below a position, of which the
    /// first `n_levels` levels are behind.
    pub(crate) fn fill_block(&mut self, access: &Access, position: Expr, n_levels: usize) {
        let all = self.formats.of(access.tensor).levels().len();
        let buffer = self.tensors[&access.tensor].vals;
        let value: Expr = self.fill.expect("a dense result is filled").value.into();
        if n_levels == all {
            self.builder.store(buffer, position, value);
            return;
        }
        let hi = match n_levels {
            0 => self.product(access, 0..all, Expr::int(1)),
            _ => self.product(access, n_levels..all, position.clone().add(1)),
        };
        let lo = self.product(access, n_levels..all, position);
        let lo = if n_levels == 0 { Expr::int(0) } else { lo };
        self.builder.push(Loop::Fill {
            buffer,
            lo,
            hi,
            value,
        });
    }
}
