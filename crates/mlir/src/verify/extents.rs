//! Extents that follow from numbers: slices, padding, permutations, and dimensions of loops.

use sparsec_base::{Result, code};

use crate::attribute::{Attribute, Number};
use crate::definition::Trait;
use crate::module::Operation;
use crate::parse::{OPEN, counted};
use crate::types::Type;

use super::Check;

/// The numbers of a list from 0 on; `None` for one that the program computes.
pub(super) fn numbers(op: Operation<'_>, name: &str) -> Vec<Option<u64>> {
    let numbers = signed(op, name).into_iter();
    numbers.map(|number| u64::try_from(number?).ok()).collect()
}

impl Check<'_> {
    /// Checks that the part of a slice has its sizes, but for modes of size 1.
    pub(super) fn part_of_slice(&self, op: Operation<'_>) -> Result<()> {
        let part = match op.meaning() {
            "tensor.insert_slice" => op.operand_type("source"),
            _ => op.result_type("result"),
        };
        let sizes = numbers(op, "static_sizes");
        let Some(shape) = part.shape() else {
            return Ok(());
        };
        let mut left = shape.iter().peekable();
        let fits = sizes.iter().all(|size| match left.peek() {
            Some(extent) if *extent == size => left.next().is_some(),
            _ => *size == Some(1),
        });
        if fits && left.next().is_none() {
            return Ok(());
        }
        let size = |size: &Option<u64>| size.map_or("?".to_owned(), |size| size.to_string());
        let sizes: Vec<String> = sizes.iter().map(size).collect();
        let message = format!("`{}` for sizes [{}]", self.text(part), sizes.join(", "));
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("give the part the sizes as extents; modes of size 1 may be left out"))
    }

    /// Checks that the result of `tensor.pad` has the extents of the source and both paddings.
    pub(super) fn padded(&self, op: Operation<'_>) -> Result<()> {
        let (source, result) = (op.operand_type("source"), op.result_type("result"));
        let (from, to) = (
            source.shape().unwrap_or_default(),
            result.shape().unwrap_or_default(),
        );
        let (low, high) = (signed(op, "static_low"), signed(op, "static_high"));
        let fits = |mode: usize| match (from[mode], low[mode], high[mode]) {
            (Some(from), Some(low), Some(high)) => {
                let extent = from.checked_add_signed(low);
                let extent = extent.and_then(|it| it.checked_add_signed(high));
                extent.is_some() && to[mode] == extent
            }
            _ => true,
        };
        if from.len() == to.len() && (0..from.len()).all(fits) {
            return Ok(());
        }
        let message = format!(
            "`{}` is padded to `{}`",
            self.text(source),
            self.text(result)
        );
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("each extent is that of the source with both paddings"))
    }

    /// Checks that what is read outside of a tensor is an entry.
    pub(super) fn padding(&self, op: Operation<'_>) -> Result<()> {
        let (entry, padding) = (
            op.operand_type("source").element(),
            op.operand_type("padding"),
        );
        if entry == padding || matches!(entry, Type::Vector(_)) {
            return Ok(());
        }
        let message = format!(
            "a padding of type `{}` for entries of type `{}`",
            self.text(padding),
            self.text(entry)
        );
        Err(self
            .fault(
                code::TYPES_DIFFER,
                message,
                self.operand_span(op, "padding"),
                "this padding",
            )
            .help("pad with a value of the type of entries"))
    }

    /// Checks that `permutation` has each mode once.
    pub(super) fn permutation(&self, op: Operation<'_>) -> Result<()> {
        let order = op.operand_types("outputs").first().and_then(Type::shape);
        let order = order.map_or(0, |shape| shape.len());
        let mut found = op
            .attribute("permutation")
            .and_then(Attribute::integers)
            .unwrap_or_default();
        found.sort_unstable();
        if found.into_iter().eq(0..order as i128) {
            return Ok(());
        }
        let message = format!("`permutation` is none of {}", counted(order, "mode"));
        Err(self
            .of_op(op, code::BAD_INDEXING, message)
            .help("write each mode from 0 on once"))
    }

    /// Checks that strides and dilations have a number for each mode of a window.
    pub(super) fn windows(&self, op: Operation<'_>, word: &str) -> Result<()> {
        let spatial: [&[&str]; 3] = [
            &["_1d", "_nwc", "_ncw"],
            &["_2d", "_nhwc", "_nchw"],
            &["_3d", "_ndhwc", "_ncdhw"],
        ];
        let has = |names: &&[&str]| names.iter().any(|name| word.contains(name));
        let Some(n) = spatial.iter().position(has).map(|place| place + 1) else {
            return Ok(());
        };
        for name in ["strides", "dilations"] {
            let Some(numbers) = op.attribute(name).and_then(Attribute::integers) else {
                continue;
            };
            if numbers.len() == n && numbers.iter().all(|number| *number > 0) {
                continue;
            }
            let message = format!("`{name}` of `{}` is {numbers:?}", op.name());
            return Err(self
                .of_op(op, code::SHAPE_MISMATCH, message)
                .help(format!("write {} from 1 on", counted(n, "number"))));
        }
        Ok(())
    }

    /// Checks that a loop counts by `index` and goes up, as releases up to 16 do.
    pub(super) fn positive_step(&self, op: Operation<'_>) -> Result<()> {
        let counter = op.operand_type("lowerBound");
        if *counter != Type::Index {
            return Err(self
                .of_op(
                    op,
                    code::OPERAND_TYPE,
                    format!("a loop that counts by `{}`", self.text(counter)),
                )
                .help("count by `index`: other types came with release 17"));
        }
        match self.constant_of(op.operand("step")) {
            Some(step) if step <= 0 => Err(self
                .fault(
                    code::OPERAND_TYPE,
                    format!("a loop of step {step}"),
                    self.operand_span(op, "step"),
                    "not positive",
                )
                .help("write a step from 1 on")),
            _ => Ok(()),
        }
    }

    /// Checks that a constant mode is one of the operand, as releases up to 16 do.
    pub(super) fn known_mode(&self, op: Operation<'_>) -> Result<()> {
        let order = op.operand_type("source").shape().map(|shape| shape.len());
        match (self.constant_of(op.operand("index")), order) {
            // A negative mode of memory is not seen there.
            (Some(mode), Some(order))
                if mode >= order as i128 || mode < 0 && op.meaning() == "tensor.dim" =>
            {
                Err(self
                    .fault(
                        code::SHAPE_MISMATCH,
                        format!("mode {mode} of an order of {order}"),
                        self.operand_span(op, "index"),
                        "no mode",
                    )
                    .help("modes are counted from 0"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that `linalg.index` asks for a loop of the operation around it.
    pub(super) fn dimension(&self, op: Operation<'_>) -> Result<()> {
        let parent = self.module.parent(op.id()).map(|it| self.module.op(it));
        if !parent.is_some_and(|parent| parent.data().definition.has(Trait::Structured)) {
            return Err(self
                .of_op(op, code::BAD_INDEXING, "an index of no loop")
                .help("write it right in the body of a structured operation"));
        }
        let iterators = parent.and_then(|parent| parent.attribute("iterator_types"));
        let Some(Attribute::Array(iterators)) = iterators else {
            return Ok(());
        };
        let dim = op.attribute("dim").and_then(Attribute::natural);
        if dim.is_some_and(|dim| dim < iterators.len() as u64) {
            return Ok(());
        }
        let message = format!(
            "dimension {} of {}",
            dim.unwrap_or_default(),
            counted(iterators.len(), "iterator")
        );
        Err(self
            .of_op(op, code::BAD_INDEXING, message)
            .help("dimensions are counted from 0"))
    }
}

/// The numbers of a list, negative ones too; `None` for those of operands.
pub(super) fn signed(op: Operation<'_>, name: &str) -> Vec<Option<i64>> {
    let Some(Attribute::Numbers(_, list)) = op.attribute(name) else {
        return Vec::new();
    };
    let number = |number: &Number| match number {
        Number::Integer(n) if *n != OPEN => i64::try_from(*n).ok(),
        _ => None,
    };
    list.iter().map(number).collect()
}
