//! Arrays of coordinates, as one array in which those of an entry follow one another.
//!
//! Releases 16 and 17 sort several arrays together, later ones one array:
//!
//! ```text
//! sparse_tensor.sort %n, %x, %y jointly %v      %all = memref.alloc(2 * %n)
//!                                               for %i: %all[2 * %i] = %x[%i]; %all[2 * %i + 1] = %y[%i]
//!                                               sparse_tensor.sort %n, %all jointly %v {perm_map = (a, b) -> (a, b)}
//!                                               for %i: %x[%i] = %all[2 * %i]; %y[%i] = %all[2 * %i + 1]
//!                                               memref.dealloc %all
//! ```

use std::sync::Arc;

use sparsec_base::Result;

use crate::affine::AffineMap;
use crate::attribute::Attribute;
use crate::definition::Definition;
use crate::module::{BlockData, Op, Origin, RegionData, Value};
use crate::release::Dialect;
use crate::types::{MemRefType, Type};

use super::{Rewrite, find};

/// The array of all coordinates, and the numbers that its places are made of.
struct Interleaved {
    all: Value,
    arrays: Vec<Value>,
    n: Value,
    zero: Value,
    one: Value,
    width: Value,
}

/// Release 18 sorts coordinates of one array.
pub(super) fn one_array(rewrite: &mut Rewrite, op: Op, to: &'static Definition) -> Result<()> {
    let n_arrays = rewrite.module.ops[op].operand_groups[1];
    if n_arrays != 1 {
        rewrite.interleaved(op, n_arrays)?;
    }
    let map = Attribute::Map(AffineMap::identity(n_arrays));
    rewrite.module.ops[op]
        .attributes
        .push(("perm_map".to_owned(), map));
    rewrite.rename(op, to);
    Ok(())
}

impl Rewrite {
    /// Gives the operation one array in place of several.
    fn interleaved(&mut self, op: Op, n_arrays: usize) -> Result<()> {
        let n = self.module.ops[op].operands[0];
        let arrays = self.module.ops[op].operands[1..=n_arrays].to_vec();
        let elements: Vec<Type> = arrays
            .iter()
            .map(|array| self.module.ty(*array).element().clone())
            .collect();
        let Some(element) = elements
            .first()
            .filter(|first| elements.iter().all(|it| it == *first))
        else {
            let message = "coordinates of several types, or none, as one array".to_owned();
            return Err(self.refuse(op, message).help("sort arrays of one type"));
        };
        let ty = MemRefType {
            shape: vec![None],
            element: element.clone(),
            layout: None,
            space: None,
        };
        let [zero, one, width] =
            [0, 1, n_arrays as u64].map(|number| self.new_constant(op, number));
        let size = self.computed("arith.muli", &[n, width], Type::Index, op);
        let alloc = find("memref.alloc", Dialect::OLDEST);
        let alloc = self.new_op(alloc, vec![size], Vec::new(), op, false);
        self.module.ops[alloc].operand_groups = vec![1, 0];
        let all = self.new_result(alloc, Type::MemRef(Arc::new(ty)));
        self.module.ops[alloc].results.push(all);
        let dealloc = find("memref.dealloc", Dialect::OLDEST);
        let dealloc = self.new_op(dealloc, vec![all], Vec::new(), op, true);
        self.module.ops[dealloc].result_groups.clear();
        let arrays = Interleaved {
            all,
            arrays,
            n,
            zero,
            one,
            width,
        };
        self.copies(op, &arrays, false);
        self.copies(op, &arrays, true);
        let data = &mut self.module.ops[op];
        data.operands.splice(1..=n_arrays, [all]);
        data.operand_spans.drain(1..n_arrays);
        data.operand_groups[1] = 1;
        Ok(())
    }

    /// The result of an operation on numbers.
    pub(super) fn computed(
        &mut self,
        name: &str,
        operands: &[Value],
        ty: Type,
        before: Op,
    ) -> Value {
        let definition = Definition::find(name)[0];
        let op = self.new_op(definition, operands.to_vec(), Vec::new(), before, false);
        let value = self.new_result(op, ty);
        self.module.ops[op].results.push(value);
        value
    }

    /// A loop that copies the arrays into the one before an operation, or back behind it.
    fn copies(&mut self, at: Op, arrays: &Interleaved, is_back: bool) {
        let span = self.module.ops[at].span;
        let bounds = vec![arrays.zero, arrays.n, arrays.one];
        let definition = find("scf.for", Dialect::OLDEST);
        let turns = self.new_op(definition, bounds, Vec::new(), at, is_back);
        let region = self.module.regions.push(RegionData {
            block: None,
            op: Some(turns),
            span,
        });
        let data = &mut self.module.ops[turns];
        data.operand_groups.push(0);
        data.result_groups = vec![0];
        data.regions = vec![region];
        let block = self.new_branch(turns, region);
        let origin = Origin::Argument(block, 0);
        let entry = self
            .module
            .add_value(String::new(), Type::Index, origin, span);
        let BlockData { arguments, ops, .. } = &mut self.module.blocks[block];
        arguments.push(entry);
        let end = ops[0];
        let first = self.computed("arith.muli", &[entry, arrays.width], Type::Index, end);
        for (number, array) in arrays.arrays.iter().enumerate() {
            let place = match number {
                0 => first,
                _ => {
                    let offset = self.new_constant(end, number as u64);
                    self.computed("arith.addi", &[first, offset], Type::Index, end)
                }
            };
            let (from, to) = match is_back {
                false => ((*array, entry), (arrays.all, place)),
                true => ((arrays.all, place), (*array, entry)),
            };
            let ty = self.module.ty(from.0).element().clone();
            let load = find("memref.load", Dialect::OLDEST);
            let load = self.new_op(load, vec![from.0, from.1], Vec::new(), end, false);
            let value = self.new_result(load, ty);
            self.module.ops[load].results.push(value);
            let store = find("memref.store", Dialect::OLDEST);
            let store = self.new_op(store, vec![value, to.0, to.1], Vec::new(), end, false);
            self.module.ops[store].result_groups.clear();
        }
    }
}
