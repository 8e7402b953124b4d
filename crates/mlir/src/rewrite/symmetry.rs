//! Symmetric files, of which releases read one triangle or both.
//!
//! | release    | `sparse_tensor.new` reads                                    |
//! |------------|--------------------------------------------------------------|
//! | up to 16   | both triangles                                               |
//! | 17         | the stored triangle; both with `expand_symmetry`             |
//! | from 18 on | the stored triangle                                          |

use crate::attribute::Attribute;
use crate::module::{Module, Op};
use crate::release::Dialect;

use super::Rewrite;

/// The release whose operation says how many triangles it reads.
const EXPANDS: Dialect = Dialect::Release(17);

impl Module {
    /// A message, with its line, for each `sparse_tensor.new` that reads symmetric files otherwise
    /// once the module is rewritten for `dialect`.
    pub(super) fn files_read_otherwise(&self, dialect: Dialect) -> Vec<String> {
        let (before, after) = (self.dialect(), dialect);
        let (had_both, has_both) = (before.reads_both_triangles(), after.reads_both_triangles());
        if had_both == has_both || had_both && after == EXPANDS {
            return Vec::new();
        }
        let ops = self.walk().into_iter().map(|op| self.op(op));
        let reads = ops.filter(|op| {
            let is_expanded = op.attribute("expandSymmetry").is_some();
            let order = op
                .data()
                .results
                .first()
                .and_then(|it| self.ty(*it).shape());
            let is_matrix = order.is_none_or(|shape| shape.len() == 2);
            op.name() == "sparse_tensor.new" && !is_expanded && is_matrix
        });
        let messages = reads.map(|op| {
            let place = self.place_of(op);
            match had_both {
                true => format!(
                    "{place}: `sparse_tensor.new` read both triangles of a symmetric file, and reads \
                     the stored one in dialect {after}; to read both, store the file as `general`, \
                     with `sparsec convert`"
                ),
                false => format!(
                    "{place}: `sparse_tensor.new` read the stored triangle of a symmetric file, and \
                     reads both in dialect {after}; to read one, store that triangle in a file that \
                     is marked `general`"
                ),
            }
        });
        messages.collect()
    }
}

impl Rewrite {
    /// Asks for both triangles where the release has a word for it.
    pub(super) fn symmetry(&mut self) {
        if self.dialect != EXPANDS || !self.module.dialect().reads_both_triangles() {
            return;
        }
        let is_read = |op: &Op| {
            let new = self.module.op(*op);
            // Files hold no other symmetric tensors than matrices.
            let result = new.data().results.first();
            let shape = result.and_then(|it| self.module.ty(*it).shape());
            new.name() == "sparse_tensor.new"
                && new.attribute("expandSymmetry").is_none()
                && shape.is_some_and(|shape| shape.len() == 2)
        };
        let reads: Vec<Op> = self.module.walk().into_iter().filter(is_read).collect();
        for op in reads {
            let expanded = ("expandSymmetry".to_owned(), Attribute::Unit);
            self.module.ops[op].attributes.push(expanded);
        }
    }
}
