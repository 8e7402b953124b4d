//! Reshapes: modes that become one, entries that are counted, bits that stay.

use sparsec_base::{Result, code};

use crate::attribute::Attribute;
use crate::module::Operation;
use crate::parse::counted;
use crate::types::{Sign, Type};

use super::Check;

impl Check<'_> {
    /// Checks that each mode of the smaller shape is a run of modes of the larger one.
    pub(super) fn reassociation(&self, op: Operation<'_>, many: &str, few: &str) -> Result<()> {
        let ty = |name: &str| match op
            .data()
            .definition
            .operands
            .iter()
            .any(|group| group.name == name)
        {
            true => op.operand_type(name),
            false => op.result_type(name),
        };
        let (many, few) = (ty(many), ty(few));
        let (Some(many_shape), Some(few_shape)) = (many.shape(), few.shape()) else {
            let message = format!("`{}` of a shape of unknown order", op.name());
            return Err(self
                .of_op(op, code::OPERAND_TYPE, message)
                .help("cast it to a known order first"));
        };
        let groups: Option<Vec<Vec<i128>>> = match op.attribute("reassociation") {
            Some(Attribute::Array(groups)) => groups.iter().map(Attribute::integers).collect(),
            _ => None,
        };
        let wrong = |why: String| {
            Err(self
                .of_op(op, code::SHAPE_MISMATCH, why)
                .help("write the modes that become one together: `[[0, 1], [2]]`"))
        };
        let Some(groups) = groups else {
            return wrong("`reassociation` is a list of lists of modes".to_owned());
        };
        if self.is_before(17) && many_shape.len() == few_shape.len() {
            return wrong(format!("`{}` of as many modes as before", op.name()));
        }
        // All modes become none: a scalar.
        if groups.is_empty() && few_shape.is_empty() {
            let is_one = |extent: &Option<u64>| *extent == Some(1);
            return match self.is_before(17) && !many_shape.iter().all(is_one) {
                true => wrong("a scalar of more than one entry".to_owned()),
                false => Ok(()),
            };
        }
        let flat: Vec<i128> = groups.iter().flatten().copied().collect();
        if groups.len() != few_shape.len()
            || flat != (0..many_shape.len() as i128).collect::<Vec<_>>()
        {
            return wrong(format!(
                "these groups do not lead from `{}` to `{}`",
                self.text(many),
                self.text(few)
            ));
        }
        for (group, extent) in groups.iter().zip(&few_shape) {
            let extents: Option<Vec<u64>> = group
                .iter()
                .map(|&mode| many_shape[mode as usize])
                .collect();
            let product = extents
                .and_then(|extents| extents.iter().try_fold(1u64, |all, n| all.checked_mul(*n)));
            let n_open = group
                .iter()
                .filter(|mode| many_shape[**mode as usize].is_none())
                .count();
            if n_open > 1 && self.is_before(19) && op.meaning() == "tensor.expand_shape" {
                return wrong("one mode becomes two of open extents".to_owned());
            }
            if product != *extent {
                let spelled =
                    |extent: Option<u64>| extent.map_or("?".to_owned(), |n| n.to_string());
                return wrong(format!(
                    "extents that multiply to {} become one of {}",
                    spelled(product),
                    spelled(*extent)
                ));
            }
        }
        Ok(())
    }

    /// Checks that a reshape keeps the number of entries, where all extents are known.
    pub(super) fn same_count(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("source"), op.result_type("result"));
        let count = |ty: &Type| {
            let extents: Vec<u64> = ty.shape()?.into_iter().collect::<Option<_>>()?;
            extents
                .iter()
                .try_fold(1u64, |n, extent| n.checked_mul(*extent))
        };
        match (count(from), count(to)) {
            (Some(a), Some(b)) if a != b => Err(self
                .of_op(op, code::SHAPE_MISMATCH, format!("{a} entries become {b}"))
                .help("keep the number of entries")),
            _ => Ok(()),
        }
    }

    /// Checks that the shape of `tensor.reshape` is a list of as many integers as the result has
    /// modes.
    pub(super) fn shape_operand(&self, op: Operation<'_>) -> Result<()> {
        let ty = op.operand_type("shape");
        let is_integer = matches!(ty.element(), Type::Index | Type::Integer(_, Sign::Signless));
        let modes = op.result_type("result").shape().map(|shape| shape.len());
        let (message, help) = match (ty.shape().as_deref(), modes) {
            (Some([_]), _) if !is_integer => (
                format!("a shape of `{}`", self.text(ty)),
                "give a tensor of `index` or of integers without a sign",
            ),
            (Some([None]), Some(_)) => (
                "a shape of open length for a known order".to_owned(),
                "write the length in the type of the shape",
            ),
            (Some([Some(n)]), Some(modes)) if *n != modes as u64 => (
                format!("a shape of {n} for {}", counted(modes, "mode")),
                "give an extent for each mode of the result",
            ),
            (Some([_]), _) => return Ok(()),
            _ => (
                format!("a shape of `{}`", self.text(ty)),
                "give a tensor of one mode",
            ),
        };
        Err(self
            .fault(
                code::SHAPE_MISMATCH,
                message,
                self.operand_span(op, "shape"),
                format!("`{}`", self.text(ty)),
            )
            .help(help))
    }

    /// Checks that entries are seen as numbers of the same width.
    pub(super) fn same_widths(&self, op: Operation<'_>) -> Result<()> {
        let width = |ty: &Type| match ty.element() {
            Type::Integer(width, _) => Some(*width),
            Type::Float(float) => Some(float.width()),
            _ => None,
        };
        let (from, to) = (op.operand_type("source"), op.result_type("dest"));
        let same = |(a, b): (&Option<u64>, &Option<u64>)| a.is_none() || b.is_none() || a == b;
        let is_one_shape = match (from.shape(), to.shape()) {
            (Some(from), Some(to)) => from.len() == to.len() && from.iter().zip(&to).all(same),
            _ => true,
        };
        if is_one_shape && width(from).is_some() && width(from) == width(to) {
            return Ok(());
        }
        let message = format!("`{}` becomes `{}`", self.text(from), self.text(to));
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("keep the shape, and the width of integers or floats"))
    }

    /// Checks that a tensor is filled with an integer, an index or a float.
    pub(super) fn of_real_numbers(&self, op: Operation<'_>) -> Result<()> {
        let ty = op.operand_type("input");
        match ty {
            Type::Index | Type::Integer(..) | Type::Float(_) => Ok(()),
            _ => Err(self
                .fault(
                    code::OPERAND_TYPE,
                    format!("a splat of `{}`", self.text(ty)),
                    self.operand_span(op, "input"),
                    "no real number",
                )
                .help("use `tensor.generate`, or `linalg.fill`")),
        }
    }

    /// Checks that a tensor or memref has a mode to ask for.
    pub(super) fn has_modes(&self, op: Operation<'_>) -> Result<()> {
        let order = op.operand_type("source").shape().map(|shape| shape.len());
        match order == Some(0) && !self.is_before(17) {
            false => Ok(()),
            true => Err(self
                .of_op(op, code::SHAPE_MISMATCH, "the extent of a mode of order 0")
                .help("an order of 0 has no modes")),
        }
    }
}
