//! `sparse_tensor.sort` and `sort_coo`: tuples of keys in buffers, sorted with other buffers.
//!
//! ```text
//! xy   2 0 | 0 1 | 0 0        keys of 2 numbers, sorted:   0 0 | 0 1 | 2 0
//! ys   5   | 6   | 7                                        7   | 6   | 5
//! ```
//!
//! Keys are compared without a sign. The algorithms of the dialect differ only in the order of equal
//! keys; ours is stable.

use sparsec_base::{Result, Scalar};
use sparsec_mlir::{Attribute, Operation};

use crate::machine::{Frame, Machine};
use crate::memory::MemRef;

impl<'a> Machine<'a> {
    pub(super) fn sort(&mut self, frame: &Frame, op: Operation<'a>) -> Result<()> {
        let n = self.integer(frame, op, op.operand("n"))?;
        let n = usize::try_from(n).map_err(|_| {
            self.outside(op, "a negative number of keys")
                .help("sort no keys, or some")
        })?;
        let is_joint = op
            .data()
            .definition
            .operands
            .iter()
            .any(|group| group.name == "xs");
        let group = if is_joint { "xs" } else { "xy" };
        let keys: Vec<MemRef> = op
            .operands(group)
            .iter()
            .map(|value| self.memref(frame, op, *value))
            .collect::<Result<_>>()?;
        let others: Vec<MemRef> = op
            .operands("ys")
            .iter()
            .map(|value| self.memref(frame, op, *value))
            .collect::<Result<_>>()?;
        let natural = |name: &str| {
            let attribute = op.attribute(name).and_then(Attribute::natural);
            attribute.map(|value| value as usize)
        };
        let own = match op.attribute("perm_map") {
            Some(Attribute::Map(map)) => map.results.len(),
            _ => natural("nx").unwrap_or(1),
        };
        // Several arrays of keys are one tuple of each.
        let width = match is_joint {
            true => 1,
            false => own.saturating_add(natural("ny").unwrap_or(0)),
        };
        let too_short = || {
            let message = format!("{n} keys of {width} numbers in a shorter buffer");
            self.outside(op, message)
                .help("sort no more than the buffer holds")
        };
        let length = |memref: &MemRef| memref.sizes.first().copied().unwrap_or(0);
        let n_numbers = (n as u64).checked_mul(width as u64);
        if n_numbers.is_none_or(|numbers| keys.iter().any(|memref| length(memref) < numbers)) {
            return Err(too_short());
        }
        let order: Vec<usize> = match op.attribute("perm_map") {
            _ if is_joint || n == 0 => vec![0],
            Some(Attribute::Map(map)) => {
                map.results.iter().filter_map(|it| it.dimension()).collect()
            }
            _ => (0..own).collect(),
        };
        let value = |memref: &MemRef, at: usize| memref.get(&[at as i64]).ok_or_else(too_short);
        let without_sign = |number: Scalar| {
            let bits = 8 * number.element().size();
            number.to_integer().unwrap_or(0) & ((1 << bits) - 1)
        };
        let mut rows: Vec<(Vec<i128>, usize)> = Vec::new();
        for row in 0..n {
            let mut key = Vec::new();
            for memref in &keys {
                for part in &order {
                    let number = value(memref, row * width + part)?;
                    key.push(without_sign(number));
                }
            }
            rows.push((key, row));
        }
        rows.sort();
        let moved = keys
            .iter()
            .map(|memref| (memref, width))
            .chain(others.iter().map(|memref| (memref, 1)));
        for (memref, width) in moved {
            let mut sorted: Vec<Scalar> = Vec::new();
            for (_, row) in &rows {
                for part in 0..width {
                    sorted.push(value(memref, row * width + part)?);
                }
            }
            for (at, number) in sorted.into_iter().enumerate() {
                memref.set(&[at as i64], number);
            }
        }
        Ok(())
    }
}
