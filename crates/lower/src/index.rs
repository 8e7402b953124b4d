//! Coordinates: what indices are worth where their variables are bound.
//!
//! ```text
//! A(2*i + r - 1)      2 * i + r + -1
//! A(i({4,1,7}))       set[i]              set = [4, 1, 7], written before all loops
//! ```
//!
//! Where a coordinate may be outside of its mode, a full level is looked at
//! only inside ([`crate::search`]).

use std::collections::BTreeMap;

use sparsec_base::{ElementType, Scalar};
use sparsec_index::index_expr::Term;
use sparsec_index::{IndexExpr, IndexVar};
use sparsec_loop::{Access as BufferAccess, BinaryOp, Expr, Stmt as Loop};

use crate::bits;
use crate::cursor::Bindings;
use crate::statement::Lowerer;

impl Lowerer<'_> {
    /// The coordinate that an index is; `None` where a variable of it is not
    /// bound yet.
    pub(crate) fn coordinate_of(
        &self,
        index: &IndexExpr,
        coordinates: &BTreeMap<IndexVar, Expr>,
    ) -> Option<Expr> {
        let mut sum: Option<Expr> = None;
        for (term, factor) in index.terms() {
            let value = match term {
                Term::Var(var) => coordinates.get(var)?.clone(),
                Term::FloorDiv(inner, by) => self
                    .coordinate_of(inner, coordinates)?
                    .binary(BinaryOp::FloorDiv, *by),
                Term::Mod(inner, by) => self
                    .coordinate_of(inner, coordinates)?
                    .binary(BinaryOp::Mod, *by),
                Term::Element(list, at) => {
                    Expr::load(self.lists[list], self.coordinate_of(at, coordinates)?)
                }
                Term::Place(curve, of) => {
                    let extent = |var: IndexVar| self.concrete.extent(var);
                    let most = of
                        .iter()
                        .map(|it| it.range(&extent).map(|(_, most)| most as u64));
                    let deal = curve.deal(&most.collect::<Option<Vec<u64>>>()?)?;
                    let of = of.iter().map(|it| self.coordinate_of(it, coordinates));
                    bits::place(&of.collect::<Option<Vec<Expr>>>()?, &deal)
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
    pub(crate) fn bound_coordinate(&self, bindings: &Bindings, index: &IndexExpr) -> Expr {
        let coordinate = self.coordinate_of(index, &bindings.coordinates);
        coordinate.expect("the variables of the index are bound")
    }

    /// Writes the arrays of all index sets, before all loops.
    pub(crate) fn write_lists(&mut self) {
        let mut wanted: Vec<Vec<u64>> = Vec::new();
        self.concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
            let mut look = |index: &IndexExpr| {
                index.for_each_set(&mut |list, _| {
                    if !wanted.iter().any(|known| known == list) {
                        wanted.push(list.to_vec());
                    }
                });
            };
            rhs.for_each_index(&mut look);
            lhs.indices.iter().for_each(look);
        });
        for list in wanted {
            let element = ElementType::I64;
            let access = BufferAccess::Workspace;
            let buffer = self.builder.buffer("set", element, element, access);
            self.builder.push(Loop::Alloc {
                buffer,
                len: Expr::int(list.len() as i64),
            });
            for (place, value) in list.iter().enumerate() {
                let value = Scalar::I64(*value as i64);
                self.builder.store(buffer, place as i64, value);
            }
            self.lists.insert(list, buffer);
        }
    }
}
