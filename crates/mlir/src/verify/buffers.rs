//! Buffers, their sizes, and iteration spaces of `sparse_tensor`.

use sparsec_base::{Result, code};

use crate::attribute::Attribute;
use crate::module::Operation;
use crate::types::Type;

use super::Check;

impl Check<'_> {
    pub(super) fn sort(&self, op: Operation<'_>) -> Result<()> {
        if let Some(Attribute::Map(map)) = op.attribute("perm_map")
            && map.permutation().is_none_or(|order| order.is_empty())
        {
            return Err(self
                .of_op(
                    op,
                    code::BAD_ATTRIBUTE,
                    "an order of coordinates that is no permutation",
                )
                .help("write each of them once: `affine_map<(i, j) -> (j, i)>`"));
        }
        let xs = match op.data().definition.operands[1].name {
            "xs" => "xs",
            _ => "xy",
        };
        for value in op.operands(xs) {
            let ty = self.module.ty(*value);
            if !matches!(ty.element(), Type::Index | Type::Integer(..)) {
                let message = format!("coordinates of type `{}`", self.text(ty.element()));
                return Err(self
                    .fault(
                        code::BUFFER_TYPE,
                        message,
                        self.operand_span(op, xs),
                        format!("`{}`", self.text(ty)),
                    )
                    .help("sort coordinates of `index` or of integers"));
            }
        }
        let types = op.operand_types(xs);
        if let Some(other) = types.iter().find(|ty| ty.element() != types[0].element()) {
            let (first, other) = (self.text(types[0].element()), self.text(other.element()));
            let message = format!("coordinates of type `{first}` beside others of type `{other}`");
            return Err(self
                .of_op(op, code::BUFFER_TYPE, message)
                .help("sort coordinates of one type"));
        }
        // The buffer must hold all tuples that are to be sorted.
        let n = self.constant_of(op.operand("n"));
        let width = match op.attribute("perm_map") {
            Some(Attribute::Map(map)) => map.results.len() as i128,
            _ => op
                .attribute("nx")
                .and_then(Attribute::natural)
                .map_or(1, i128::from),
        };
        let extra = op
            .attribute("ny")
            .and_then(Attribute::natural)
            .map_or(0, i128::from);
        for (group, width) in [(xs, width + extra), ("ys", 1)] {
            for (value, span) in op.operands(group).iter().zip(op.operand_spans(group)) {
                let extent = self
                    .module
                    .ty(*value)
                    .shape()
                    .and_then(|shape| shape.first().copied().flatten());
                if let (Some(n), Some(extent)) = (n, extent)
                    && n.checked_mul(width)
                        .is_none_or(|wanted| wanted > i128::from(extent))
                {
                    let message = format!("{n} tuples of {width} in a buffer of {extent}");
                    return Err(self
                        .fault(code::SHAPE_MISMATCH, message, *span, "too short")
                        .help("sort no more than the buffer holds"));
                }
            }
        }
        Ok(())
    }

    pub(super) fn push_back(&self, op: Operation<'_>) -> Result<()> {
        let (buffer, value) = (op.operand_type("inBuffer"), op.operand_type("value"));
        if buffer.element() != value {
            let message = format!(
                "a value of type `{}` for a buffer of `{}`",
                self.text(value),
                self.text(buffer.element())
            );
            return Err(self
                .fault(
                    code::TYPES_DIFFER,
                    message,
                    self.operand_span(op, "value"),
                    format!("`{}`", self.text(value)),
                )
                .help(format!(
                    "append a value of type `{}`",
                    self.text(buffer.element())
                )));
        }
        match op.operands("n").first().and_then(|n| self.constant_of(*n)) {
            Some(n) if n < 1 => Err(self
                .fault(
                    code::BAD_CONSTANT,
                    format!("a value that is appended {n} times"),
                    self.operand_span(op, "n"),
                    "below 1",
                )
                .help("append it once or more")),
            _ => Ok(()),
        }
    }

    pub(super) fn specifier(&self, op: Operation<'_>) -> Result<()> {
        let ty = op.operand_type("specifier");
        let (Type::Specifier(encoding), Some(Attribute::Word(word))) =
            (ty, op.attribute("specifierKind"))
        else {
            return Ok(());
        };
        // Release 16 says dimension for level, pointer for position and index for coordinate.
        let level = op.attribute("level").or(op.attribute("dim"));
        let level = level.and_then(Attribute::natural);
        let bad = |message: String, help: &str| {
            Err(self
                .of_op(op, code::LEVEL_OUT_OF_RANGE, message)
                .help(help.to_owned()))
        };
        if op.data().definition.attribute("dim").is_some() {
            let size = match op.name().ends_with("get") {
                true => op.result_type("result"),
                false => op.operand_type("value"),
            };
            let wanted = encoding.size_type();
            if *size != wanted {
                let (size, wanted) = (self.text(size), self.text(&wanted));
                let message = format!("a size of type `{size}`, where sizes are `{wanted}`");
                return Err(self
                    .of_op(op, code::OPERAND_TYPE, message)
                    .help("the wider of the two index widths is the type of sizes"));
            }
        }
        let is_slice_number = matches!(*word, "dim_offset" | "dim_stride");
        match level {
            Some(_) if *word == "val_mem_sz" => bad(
                "`val_mem_sz` of a level".to_owned(),
                "leave `at` out: all levels share the values",
            ),
            None if *word != "val_mem_sz" => {
                bad(format!("`{word}` without a level"), "write `at 0`")
            }
            _ if is_slice_number && !encoding.is_slice() => bad(
                format!("`{word}` of a tensor that is no slice"),
                "only slices have offsets and strides",
            ),
            Some(level) if level >= encoding.n_levels() as u64 => {
                let message = format!(
                    "level {level} of an encoding of {} levels",
                    encoding.n_levels()
                );
                bad(message, "levels are counted from 0")
            }
            Some(level) => {
                let of = &encoding.levels[level as usize];
                match *word {
                    "pos_mem_sz" | "ptr_mem_sz" if !of.has_positions() => bad(
                        format!(
                            "level {level} is `{}`, which has no positions",
                            of.kind.text()
                        ),
                        "ask for `lvl_sz`",
                    ),
                    "crd_mem_sz" | "idx_mem_sz" if !of.has_coordinates() => bad(
                        format!(
                            "level {level} is `{}`, which has no coordinates",
                            of.kind.text()
                        ),
                        "ask for `lvl_sz`",
                    ),
                    _ => Ok(()),
                }
            }
            None => Ok(()),
        }
    }

    /// A value is at an iterator over the last level of its tensor.
    pub(super) fn value_at(&self, op: Operation<'_>) -> Result<()> {
        let Type::Iterator(at) = op.operand_type("iterator") else {
            return Ok(());
        };
        let tensor = op.operand_type("tensor").encoding();
        if tensor != Some(&at.encoding) {
            return Err(self
                .of_op(
                    op,
                    code::TYPES_DIFFER,
                    "an iterator over a tensor of another encoding",
                )
                .help("write the tensor's encoding in the type of the iterator"));
        }
        let n_levels = at.encoding.n_levels() as u64;
        if at.to == n_levels {
            return Ok(());
        }
        let message = format!(
            "a value at level {}, and the last level is {}",
            at.to - 1,
            n_levels - 1
        );
        Err(self
            .of_op(op, code::LEVEL_OUT_OF_RANGE, message)
            .help("iterate over the last level inside of this loop"))
    }

    /// Checks that the levels of a space follow the levels of its iterator.
    pub(super) fn space(&self, op: Operation<'_>) -> Result<()> {
        let Type::Space(space) = op.result_type("extractedSpace") else {
            return Ok(());
        };
        let number = |name| {
            op.attribute(name)
                .and_then(Attribute::natural)
                .unwrap_or_default()
        };
        let (from, to) = (number("loLvl"), number("hiLvl"));
        let bad = |message: String, help: String| {
            Err(self.of_op(op, code::LEVEL_OUT_OF_RANGE, message).help(help))
        };
        let tensor = op.operand_type("tensor").encoding();
        if tensor != Some(&space.encoding) {
            return Err(self
                .of_op(
                    op,
                    code::TYPES_DIFFER,
                    "a space over a tensor of another encoding",
                )
                .help("write the tensor's encoding in the type of the space"));
        }
        if (from, to) != (space.from, space.to) {
            let message = format!(
                "levels {from} to {to}, and a space of levels {} to {}",
                space.from, space.to
            );
            return bad(message, "write the same levels in the type".to_owned());
        }
        match op
            .operands("parentIter")
            .first()
            .map(|parent| self.module.ty(*parent))
        {
            None if from > 0 => bad(
                format!(
                    "a space that begins at level {from} needs an iterator over the levels above"
                ),
                "write `at %iterator`".to_owned(),
            ),
            Some(Type::Iterator(parent)) if parent.to != from => bad(
                format!(
                    "a space that begins at level {from} below an iterator over levels {} to {}",
                    parent.from, parent.to
                ),
                format!("begin at level {}", parent.to),
            ),
            Some(Type::Iterator(parent)) if parent.encoding != space.encoding => Err(self
                .of_op(
                    op,
                    code::TYPES_DIFFER,
                    "an iterator over a tensor of another encoding",
                )
                .help("take an iterator over the same tensor")),
            _ => Ok(()),
        }
    }
}
