//! Operations of `vector`, and `bufferization.materialize_in_destination`.

use sparsec_base::{Result, code};

use crate::attribute::Attribute;
use crate::module::Operation;
use crate::types::Type;

use super::Check;

fn order(ty: &Type) -> usize {
    ty.shape().map_or(0, |shape| shape.len())
}

impl Check<'_> {
    /// Checks that the map of a transfer leads from the modes of memory to those of the vector.
    pub(super) fn transfer(&self, op: Operation<'_>, vector: &Type) -> Result<()> {
        let (source, n_lanes) = (order(op.operand_type("source")), order(vector));
        let bad = |message: String, help: &str| {
            Err(self
                .of_op(op, code::BAD_ATTRIBUTE, message)
                .help(help.to_owned()))
        };
        if let Some(Attribute::Map(map)) = op.attribute("permutation_map") {
            if map.n_symbols > 0 {
                let message = "a map of a transfer with symbols".to_owned();
                return bad(message, "write a map of coordinates");
            }
            if map.n_dimensions != source || map.results.len() != n_lanes {
                let message = format!(
                    "a map of {} modes to {}, for memory of {source} and a vector of {n_lanes}",
                    map.n_dimensions,
                    map.results.len()
                );
                return bad(message, "give the map a result for each mode of the vector");
            }
        }
        match op.attribute("in_bounds") {
            Some(Attribute::Array(list)) if list.len() != n_lanes => bad(
                format!("`in_bounds` of {} for {n_lanes} modes", list.len()),
                "say it of each mode of the vector",
            ),
            _ => Ok(()),
        }
    }

    /// Checks that a vector that is loaded or stored has the entries of the memory.
    pub(super) fn accessed(&self, op: Operation<'_>, vector: &Type) -> Result<()> {
        let memory = op.operand_type("base");
        match memory.element() == vector.element() {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::TYPES_DIFFER,
                    format!("`{}` in `{}`", self.text(vector), self.text(memory)),
                )
                .help(format!(
                    "write a vector of `{}`",
                    self.text(memory.element())
                ))),
        }
    }

    /// Checks that a vector has as many bits as before, and the same modes but the last.
    pub(super) fn same_bits(&self, op: Operation<'_>) -> Result<()> {
        let bits = |ty: &Type| {
            let mut shape = ty.shape()?;
            let last = shape.pop().flatten().unwrap_or(1);
            let width = match ty.element() {
                Type::Index => return None,
                element => element.number()?.size() as u64,
            };
            Some((shape, last * width))
        };
        let (from, to) = (op.operand_type("source"), op.result_type("result"));
        match bits(from).is_some() && bits(from) == bits(to) {
            true => Ok(()),
            false => self.not_recast(op, "keep the modes but the last, and the bits of that one"),
        }
    }

    /// Checks that a vector has as many lanes as before.
    pub(super) fn same_lanes(&self, op: Operation<'_>) -> Result<()> {
        let lanes = |ty: &Type| {
            let shape = ty.shape().unwrap_or_default().into_iter();
            shape.map(|extent| extent.unwrap_or(1)).product::<u64>()
        };
        let (from, to) = (op.operand_type("source"), op.result_type("result"));
        match from.element() == to.element() && lanes(from) == lanes(to) {
            true => Ok(()),
            false => self.not_recast(op, "keep the type and the number of lanes"),
        }
    }

    fn not_recast(&self, op: Operation<'_>, help: &str) -> Result<()> {
        let (from, to) = (op.operand_type("source"), op.result_type("result"));
        let message = format!("`{}` becomes `{}`", self.text(from), self.text(to));
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help(help.to_owned()))
    }

    /// Checks that a vector that is reduced has one mode.
    pub(super) fn reduced(&self, op: Operation<'_>) -> Result<()> {
        match order(op.operand_type("vector")) {
            0 | 1 => Ok(()),
            n => Err(self
                .of_op(
                    op,
                    code::SHAPE_MISMATCH,
                    format!("a reduction of a vector of {n} modes"),
                )
                .help("reduce vectors of one mode, or use `vector.contract`")),
        }
    }

    /// Checks that a vector is stretched along its last modes.
    pub(super) fn spread(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("source"), op.result_type("vector"));
        let extents = |ty: &Type| ty.shape().unwrap_or_default();
        let (source, result) = (extents(from), extents(to));
        let fits = (source.len() <= result.len()) && {
            let last = &result[result.len() - source.len()..];
            let stretches =
                |(from, to): (&Option<u64>, &Option<u64>)| *from == Some(1) || from == to;
            source.iter().zip(last).all(stretches)
        };
        if fits && from.element() == to.element() {
            return Ok(());
        }
        let message = format!("`{}` becomes `{}`", self.text(from), self.text(to));
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("add modes in front, or stretch modes of extent 1"))
    }

    /// Checks the result of a copy to a destination: the tensor, or nothing for memory.
    pub(super) fn materialized(&self, op: Operation<'_>) -> Result<()> {
        let dest = op.operand_type("dest");
        let is_memory = matches!(dest, Type::MemRef(_) | Type::UnrankedMemRef(_));
        let results = op.result_types();
        let is_right = match is_memory {
            true => results.is_empty(),
            false => results.iter().eq([dest]),
        };
        if !is_right {
            let message = format!("a result that is not the destination `{}`", self.text(dest));
            return Err(self
                .of_op(op, code::TYPES_DIFFER, message)
                .help("give the tensor as the result, and nothing for a memref"));
        }
        match op.attribute("writable").is_some() == is_memory || self.is_before(18) {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::BAD_ATTRIBUTE,
                    "`writable` is said of memrefs, and of all",
                )
                .help("write `writable` in front of a memref alone")),
        }
    }
}
