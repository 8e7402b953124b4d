//! Coordinates: what indices are worth where their variables are bound, and the positions
//! that follow from them.
//!
//! ```text
//! A(2*i + r - 1)      2 * i + r + -1
//! A(i({4,1,7}))       set[i]              set = [4, 1, 7], written before all loops
//! ```
//!
//! Where a coordinate may be outside of its mode, a full level is looked at
//! only inside ([`crate::search`]).

use sparsec_format::Level;
use sparsec_graph::operand::is_inside;
use sparsec_index::index_expr::Term;
use sparsec_index::{Access, IndexExpr, IndexVar};
use sparsec_loop::{BinaryOp, Expr};

use crate::bits;
use crate::context::Context;
use crate::cursor::Cursor;
use crate::level::dense::locate;

impl Context<'_> {
    /// The coordinate that an index is; `None` where a variable of it is not
    /// bound yet.
    pub(crate) fn coordinate_of(&self, index: &IndexExpr) -> Option<Expr> {
        let mut sum: Option<Expr> = None;
        for (term, factor) in index.terms() {
            let value = match term {
                Term::Var(var) => self.coordinates.get(var)?.clone(),
                Term::FloorDiv(inner, by) => {
                    self.coordinate_of(inner)?.binary(BinaryOp::FloorDiv, *by)
                }
                Term::Mod(inner, by) => self.coordinate_of(inner)?.binary(BinaryOp::Mod, *by),
                Term::Element(list, at) => {
                    Expr::load(self.kernel.lists[list], self.coordinate_of(at)?)
                }
                Term::Place(curve, parts) => {
                    let extent = |var: IndexVar| self.kernel.concrete.extent(var);
                    let most = parts
                        .iter()
                        .map(|it| it.range(&extent).map(|(_, most)| most as u64));
                    let deal = curve.deal(&most.collect::<Option<Vec<u64>>>()?)?;
                    let parts = parts.iter().map(|it| self.coordinate_of(it));
                    bits::place(&parts.collect::<Option<Vec<Expr>>>()?, &deal)
                }
            };
            let value = match factor {
                1 => value,
                _ => value.mul(*factor),
            };
            sum = Some(match sum {
                None => value,
                Some(sum) => sum.add(value),
            });
        }
        Some(match (sum, index.offset()) {
            (None, offset) => Expr::int(offset),
            (Some(sum), 0) => sum,
            (Some(sum), offset) => sum.add(offset),
        })
    }

    /// The coordinate that an index is, all of whose variables are bound.
    pub(crate) fn bound_coordinate(&self, index: &IndexExpr) -> Expr {
        let coordinate = self.coordinate_of(index);
        coordinate.expect("the variables of the index are bound")
    }

    /// Moves every cursor below the levels whose coordinates are bound and
    /// positions computed.
    pub(crate) fn advance(&mut self) {
        for operand in self.kernel.operands.ids() {
            let cursor = &self.cursors[&operand];
            let access = self.kernel.access(operand);
            let cursor = self.advanced(access, cursor.clone(), Level::is_computed);
            self.cursors.insert(operand, cursor);
        }
        let is_computed = |level: &Level| level.kind.capabilities().random_insert;
        let (access, cursor) = (&self.output.access, self.output.cursor.clone());
        self.output.cursor = self.advanced(access, cursor, is_computed);
    }

    fn advanced(
        &self,
        access: &Access,
        mut cursor: Cursor,
        is_computed: fn(&Level) -> bool,
    ) -> Cursor {
        let levels = self.kernel.levels(access.tensor);
        while let Some(level) = levels.get(cursor.levels) {
            let mode = level.mode();
            let coordinate = self.coordinate_of(&access.indices[mode]);
            let (true, Some(coordinate)) = (is_computed(level), coordinate) else {
                break;
            };
            // Elsewhere it is looked at where the coordinate is.
            if !is_inside(access, mode, self.kernel.concrete) {
                break;
            }
            let extent = self.mode_extent(access, mode);
            let position = locate(cursor.position(), extent, coordinate);
            cursor = Cursor::at(cursor.levels + 1, position);
        }
        cursor
    }
}
