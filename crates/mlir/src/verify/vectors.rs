//! Operations of `vector`, and `bufferization.materialize_in_destination`.

use sparsec_base::{Result, code};

use crate::affine::AffineExpr;
use crate::attribute::Attribute;
use crate::module::Operation;
use crate::parse::counted;
use crate::release::Dialect;
use crate::types::{Layout, Type};

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
        let flags = match op.attribute("in_bounds") {
            Some(Attribute::Array(list)) => list.as_slice(),
            _ => &[],
        };
        if op.attribute("in_bounds").is_some() && flags.len() != n_lanes {
            return bad(
                format!("`in_bounds` of {} for {n_lanes} modes", flags.len()),
                "say it of each mode of the vector",
            );
        }
        if flags.iter().any(|flag| !matches!(flag, Attribute::Bool(_))) {
            return bad(
                "`in_bounds` is a list of `true` and `false`".to_owned(),
                "say `true` of modes that never leave the memory",
            );
        }
        self.projected(op, source, vector)?;
        self.mask(op, vector)
    }

    /// Checks that a transfer takes each mode of memory once at most, and that modes which are
    /// stretched are in bounds.
    fn projected(&self, op: Operation<'_>, source: usize, vector: &Type) -> Result<()> {
        let bad = |message: String, help: &str| {
            Err(self
                .of_op(op, code::BAD_ATTRIBUTE, message)
                .help(help.to_owned()))
        };
        let entry = op.operand_type("source").element();
        if !matches!(entry, Type::Vector(_)) && entry != vector.element() {
            let message = format!(
                "lanes of `{}` for entries of `{}`",
                self.text(vector.element()),
                self.text(entry)
            );
            return Err(self
                .of_op(op, code::TYPES_DIFFER, message)
                .help("use a vector of the type of entries"));
        }
        let Some(Attribute::Map(map)) = op.attribute("permutation_map") else {
            let n_of_entry = order(entry);
            let n_lanes = order(vector).saturating_sub(n_of_entry);
            // A scalar in memory may become one lane.
            return match n_lanes > source.max(1) {
                true => bad(
                    format!("a vector of {n_lanes} modes of memory of {source}"),
                    "name the modes that are stretched: `permutation_map`",
                ),
                false => Ok(()),
            };
        };
        let mut taken = Vec::new();
        for (n, result) in map.results.iter().enumerate() {
            let is_stretched = *result == AffineExpr::Constant(0);
            match result.dimension() {
                Some(mode) if !taken.contains(&mode) => taken.push(mode),
                None if is_stretched => {}
                _ => {
                    return bad(
                        "a map of a transfer that is no choice of modes".to_owned(),
                        "write each mode once, and 0 for modes that are stretched",
                    );
                }
            }
            if !is_stretched {
                continue;
            }
            if op.name() == "vector.transfer_write" {
                return bad(
                    "a write of a mode that is stretched".to_owned(),
                    "leave the mode out of the vector",
                );
            }
            let flag = match op.attribute("in_bounds") {
                Some(Attribute::Array(list)) => list.get(n),
                _ => None,
            };
            let is_out = match flag {
                Some(flag) => *flag == Attribute::Bool(false),
                None => self.is_since(19),
            };
            if is_out {
                return bad(
                    "a mode that is stretched may leave the memory".to_owned(),
                    "write `in_bounds` with `true` for this mode",
                );
            }
        }
        Ok(())
    }

    /// Checks the mask of a transfer: a truth for each lane. From release 16 on, its modes are those
    /// of memory.
    fn mask(&self, op: Operation<'_>, vector: &Type) -> Result<()> {
        let [mask] = op.operands("mask") else {
            return Ok(());
        };
        let shape = vector.shape().unwrap_or_default();
        let wanted = match op.attribute("permutation_map") {
            Some(Attribute::Map(map)) if !self.is_before(16) => {
                let modes = map.results.iter().zip(&shape);
                let modes =
                    modes.filter_map(|(result, extent)| Some((result.dimension()?, *extent)));
                let mut modes: Vec<_> = modes.collect();
                modes.sort_unstable();
                modes.into_iter().map(|(_, extent)| extent).collect()
            }
            _ => shape,
        };
        let ty = self.module.ty(*mask);
        match *ty.element() == Type::BOOL && ty.shape() == Some(wanted) {
            true => Ok(()),
            false => Err(self
                .fault(
                    code::SHAPE_MISMATCH,
                    format!("a mask of `{}` for `{}`", self.text(ty), self.text(vector)),
                    self.operand_span(op, "mask"),
                    "this mask",
                )
                .help("give the mask an `i1` for each lane, in the order of the modes of memory")),
        }
    }

    /// Checks that a vector that is loaded or stored has the entries of the memory.
    pub(super) fn accessed(&self, op: Operation<'_>, vector: &Type) -> Result<()> {
        let memory = op.operand_type("base");
        if let Type::MemRef(memref) = memory
            && let Some(Layout::Strided { strides, .. }) = &memref.layout
            && strides.last().is_some_and(|stride| *stride != Some(1))
        {
            let message = format!("lanes that lie apart in `{}`", self.text(memory));
            return Err(self
                .of_op(op, code::SHAPE_MISMATCH, message)
                .help("give the last mode the stride 1"));
        }
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
            let last = shape.pop().flatten();
            let width = match ty.element() {
                Type::Index => 64,
                Type::Integer(width, _) => *width,
                Type::Float(float) => float.width(),
                _ => return None,
            };
            let last = last.map(|last| u128::from(last) * u128::from(width));
            Some((shape, last.unwrap_or(u128::from(width)), order(ty)))
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
            let mut extents = shape.map(|extent| u128::from(extent.unwrap_or(1)));
            extents.try_fold(1u128, u128::checked_mul)
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

    /// Checks that a vector or a number is printed.
    pub(super) fn printed(&self, op: Operation<'_>) -> Result<()> {
        let Some(value) = op.data().operands.first() else {
            return Ok(());
        };
        let ty = self.module.ty(*value);
        let (label, help) = match ty {
            Type::Vector(_) | Type::Integer(..) | Type::Index | Type::Float(_) => return Ok(()),
            Type::Complex(_) if self.is_before(17) => return Ok(()),
            Type::Complex(_) if self.module.dialect() == Dialect::Sparsec => return Ok(()),
            Type::Complex(_) => (
                "printed up to release 16",
                "print its parts, of `complex.re` and `complex.im`",
            ),
            _ => (
                "no vector and no number",
                "read it into a vector: `vector.transfer_read`",
            ),
        };
        let message = format!("a print of `{}`", self.text(ty));
        let place = op.data().operand_spans[0];
        Err(self
            .fault(code::OPERAND_TYPE, message, place, label)
            .help(help))
    }

    /// Checks that lanes are floats.
    pub(super) fn of_floats(&self, op: Operation<'_>) -> Result<()> {
        let ty = op.result_type("result");
        match ty.element() {
            Type::Float(_) => Ok(()),
            _ => Err(self
                .of_op(
                    op,
                    code::OPERAND_TYPE,
                    format!("`{}` of `{}`", op.name(), self.text(ty)),
                )
                .help("use `arith.muli` and `arith.addi` for integers")),
        }
    }

    /// Checks the maps of a contraction: one for each operand, over as many dimensions as there are
    /// iterators, with the extents of the operands.
    pub(super) fn contracted(&self, op: Operation<'_>) -> Result<()> {
        let bad = |message: String, help: &str| {
            Err(self
                .of_op(op, code::BAD_INDEXING, message)
                .help(help.to_owned()))
        };
        let maps = match op.attribute("indexing_maps") {
            Some(Attribute::Array(maps)) => maps.iter(),
            _ => [].iter(),
        };
        let maps: Vec<_> = maps
            .filter_map(|map| match map {
                Attribute::Map(map) => Some(map),
                _ => None,
            })
            .collect();
        let iterators = match op.attribute("iterator_types") {
            Some(Attribute::Array(list)) => list.as_slice(),
            _ => &[],
        };
        let is_reduction = |iterator: &Attribute| match iterator {
            Attribute::Text(word) | Attribute::Dialect(_, word) => match word.as_str() {
                "parallel" => Some(false),
                "reduction" => Some(true),
                _ => None,
            },
            _ => None,
        };
        let reductions: Option<Vec<bool>> = iterators.iter().map(is_reduction).collect();
        let Some(reductions) = reductions.filter(|it| it.contains(&true)) else {
            return bad(
                "iterators of which none is a reduction, or of another kind".to_owned(),
                "write `\"parallel\"` or `\"reduction\"` for each dimension of the maps, and one \
                 reduction at least",
            );
        };
        let n_iterators = reductions.len();
        if maps.len() != 3 {
            return bad(
                format!("{} for 3 operands", counted(maps.len(), "map")),
                "write a map for each operand",
            );
        }
        let operands = ["lhs", "rhs", "acc"].map(|name| op.operand_type(name));
        let mut extents = vec![None; n_iterators];
        for (map, ty) in maps.iter().zip(operands) {
            if map.n_dimensions != n_iterators || map.n_symbols > 0 {
                return bad(
                    format!(
                        "a map of {} dimensions and {} symbols for {n_iterators} iterators",
                        map.n_dimensions, map.n_symbols
                    ),
                    "give each map one dimension for each iterator, and no symbols",
                );
            }
            let shape = ty.shape().unwrap_or_default();
            if map.results.len() != shape.len() {
                return bad(
                    format!(
                        "a map to {} for `{}`",
                        counted(map.results.len(), "mode"),
                        self.text(ty)
                    ),
                    "give the map a result for each mode",
                );
            }
            for (result, extent) in map.results.iter().zip(shape) {
                let Some(n) = result.dimension() else {
                    return bad(
                        "a mode at no plain dimension".to_owned(),
                        "write one dimension for each mode",
                    );
                };
                if extents[n].is_some_and(|known| known != extent) {
                    return bad(
                        format!("dimension d{n} has two extents"),
                        "use operands of the same extent along this dimension",
                    );
                }
                extents[n] = Some(extent);
            }
        }
        if operands[0].element() != operands[1].element() {
            let message = format!(
                "factors of `{}` and `{}`",
                self.text(operands[0].element()),
                self.text(operands[1].element())
            );
            return Err(self
                .of_op(op, code::TYPES_DIFFER, message)
                .help("use factors of one type"));
        }
        self.kind_fits(op, operands[0].element())
    }

    /// Checks that a kind of reduction exists for a type of entries.
    fn kind_fits(&self, op: Operation<'_>, element: &Type) -> Result<()> {
        let kind = match op.attribute("kind") {
            Some(Attribute::Dialect(_, kind)) => kind.as_str(),
            _ => return Ok(()),
        };
        let fits = match kind {
            "add" | "mul" | "max" | "min" => true,
            "and" | "or" | "xor" => !matches!(element, Type::Float(_)),
            kind => kind.ends_with('f') == matches!(element, Type::Float(_)),
        };
        match fits {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::BAD_ATTRIBUTE,
                    format!("a reduction by `{kind}` of `{}`", self.text(element)),
                )
                .help("floats have `maxnumf` and the like, integers `maxsi`, `maxui` and `and`")),
        }
    }

    /// Checks that a vector that is reduced has one mode.
    pub(super) fn reduced(&self, op: Operation<'_>) -> Result<()> {
        match order(op.operand_type("vector")) {
            0 | 1 => self.kind_fits(op, op.operand_type("vector").element()),
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
