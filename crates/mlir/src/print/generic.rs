//! Printing the generic form, which every operation has.

use crate::affine::AffineMap;
use crate::module::{Operation, Region, Value};
use crate::types::Type;

use super::Printer;

impl Printer<'_> {
    /// `"name"(operands) ({…}) {…} : (types) -> types`
    pub(super) fn generic_op(&mut self, operation: Operation<'_>) {
        let data = operation.data();
        let operands = self.values(&data.operands);
        let name = match data.definition.name {
            // Release 13 has these names without their dialect.
            "builtin.func" if self.spell.dialect.release() < 14 => "func",
            "builtin.module" if self.spell.dialect.release() < 14 => "module",
            name => name,
        };
        self.out.push_str(&format!("\"{name}\"({operands})"));
        if !data.regions.is_empty() {
            self.out.push_str(" (");
            for (n, region) in data.regions.iter().enumerate() {
                if n > 0 {
                    self.out.push_str(", ");
                }
                self.region(*region, data.definition, true);
            }
            self.out.push(')');
        }
        let attributes = data.attributes.iter();
        let mut entries: Vec<String> = attributes
            .map(|(name, value)| self.entry(operation, name, value))
            .collect();
        entries.extend(self.segments(operation));
        entries.extend(self.transfer(operation));
        if !entries.is_empty() {
            self.out.push_str(&format!(" {{{}}}", entries.join(", ")));
        }
        let inputs: Vec<_> = data
            .operands
            .iter()
            .map(|value| self.module.ty(*value).clone())
            .collect();
        let text = self.spell.function(&inputs, &operation.result_types());
        self.out.push_str(&format!(" : {text}"));
    }

    /// The defaults that the forms of `vector.transfer_read` and `transfer_write` omit: the last
    /// modes are read in order, and may be out of bounds.
    fn transfer(&self, operation: Operation<'_>) -> Vec<String> {
        let mut found = Vec::new();
        if !operation.name().starts_with("vector.transfer_") {
            return found;
        }
        let data = operation.data();
        let types = data
            .operands
            .iter()
            .chain(&data.results)
            .map(|value| self.module.ty(*value));
        let (mut order, mut n_lanes, mut n_of_entry) = (0, 0, 0);
        for ty in types {
            match ty {
                Type::Vector(vector) => n_lanes = vector.shape.len(),
                Type::Tensor(_) | Type::MemRef(_) => {
                    order = ty.shape().unwrap_or_default().len();
                    n_of_entry = match ty.element() {
                        Type::Vector(entry) => entry.shape.len(),
                        _ => 0,
                    };
                }
                _ => {}
            }
        }
        // Modes of entries that are vectors stay as they are.
        let n_lanes = n_lanes.saturating_sub(n_of_entry);
        if operation.attribute("permutation_map").is_none() {
            let mut map = AffineMap::identity(order);
            map.results.drain(..order.saturating_sub(n_lanes));
            found.push(format!("permutation_map = affine_map<{map}>"));
        }
        if operation.attribute("in_bounds").is_none() {
            found.push(format!(
                "in_bounds = [{}]",
                vec!["false"; n_lanes].join(", ")
            ));
        }
        found
    }

    /// The arguments of a body in the order of the release. Up to 19, the body of `iterate` has the
    /// iterator, the used coordinates and the carried values; from 20 on, those of `iterate` and
    /// `coiterate` have the carried values, the coordinates and the iterators.
    pub(super) fn order_of_arguments(&self, region: Region, arguments: &[Value]) -> Vec<Value> {
        let op = self.module.regions[region].op;
        let name = op.map_or("", |op| self.module.op(op).name());
        let mut found = arguments.to_vec();
        let is_now = self.spell.dialect.release() >= 20;
        match name {
            "sparse_tensor.iterate" if is_now => {}
            "sparse_tensor.coiterate" => {}
            _ => return found,
        }
        let is_iterator = |value: &&Value| matches!(self.module.ty(**value), Type::Iterator(_));
        let n_carried = op.map_or(0, |op| self.module.op(op).operands("initArgs").len());
        let n_iterators = arguments.iter().filter(is_iterator).count();
        let Some(n_coordinates) = arguments.len().checked_sub(n_carried + n_iterators) else {
            return found;
        };
        if name == "sparse_tensor.iterate" {
            found.rotate_left(n_iterators);
        }
        found[..n_coordinates + n_carried].rotate_left(n_coordinates);
        found
    }

    /// The sizes of the groups, if several have a variable size.
    fn segments(&self, operation: Operation<'_>) -> Vec<String> {
        let data = operation.data();
        let release = self.spell.dialect.release();
        let list = |counts: &[usize]| {
            let texts: Vec<String> = counts.iter().map(ToString::to_string).collect();
            match release {
                ..=15 => format!(
                    "dense<[{}]> : vector<{}xi32>",
                    texts.join(", "),
                    counts.len()
                ),
                _ => format!("array<i32: {}>", texts.join(", ")),
            }
        };
        let names = match release {
            ..=17 => ("operand_segment_sizes", "result_segment_sizes"),
            _ => ("operandSegmentSizes", "resultSegmentSizes"),
        };
        let mut found = Vec::new();
        if data.definition.is_segmented() {
            // The hint of a size came with release 16.
            let n = match (operation.name(), release) {
                ("bufferization.alloc_tensor", ..=15) => 2,
                _ => data.operand_groups.len(),
            };
            found.push(format!("{} = {}", names.0, list(&data.operand_groups[..n])));
        }
        if data.definition.has_segmented_results() {
            found.push(format!("{} = {}", names.1, list(&data.result_groups)));
        }
        found
    }
}
