//! Operations on numbers, tensors and memory: widths, indices and extents.

use sparsec_base::{Result, code};

use crate::attribute::{Attribute, Number};
use crate::module::Operation;
use crate::parse::{OPEN, counted};
use crate::types::Type;

use super::Check;

impl Check<'_> {
    /// Rule 5 for dialects other than `sparse_tensor` and `linalg`.
    pub(super) fn shapes(&self, op: Operation<'_>) -> Result<()> {
        match op.meaning() {
            "arith.constant" => self.constant(op),
            "arith.extf" | "arith.extsi" | "arith.extui" => self.width(op, true),
            "arith.truncf" | "arith.trunci" => self.width(op, false),
            "arith.index_cast" | "arith.index_castui" => self.index_cast(op),
            "arith.sitofp" | "arith.uitofp" | "arith.fptosi" | "arith.fptoui" => self.is_sized(op),
            "arith.bitcast" => self.bitcast(op),
            "complex.constant" => self.complex_constant(op),
            "tensor.empty" => self.open_extents(op, op.operands("dynamicSizes").len(), "result"),
            "linalg.init_tensor" => {
                let order = op.result_type("result").shape().unwrap_or_default().len();
                self.list_fits(op, "sizes", "static_sizes", order)?;
                let sizes = super::extents::numbers(op, "static_sizes");
                match op.result_type("result").shape() {
                    Some(shape) if shape != sizes => {
                        let message = "a tensor of other extents than the sizes say";
                        Err(self
                            .of_op(op, code::SHAPE_MISMATCH, message)
                            .help("write the same extents in the type, `?` for those of values"))
                    }
                    _ => Ok(()),
                }
            }
            "scf.for" if self.is_before(17) => self.positive_step(op),
            "memref.dim" if self.is_before(17) => self.known_mode(op),
            "tensor.dim" if self.is_before(17) => self.known_mode(op),
            "tensor.dim" | "memref.dim" => self.has_modes(op),
            "tensor.reshape" => {
                self.shape_operand(op)?;
                self.same_count(op)
            }
            "tensor.bitcast" => self.same_widths(op),
            "tensor.splat" => {
                self.of_real_numbers(op)?;
                self.open_extents(op, op.data().operands.len() - 1, "aggregate")
            }
            "tensor.generate" => self.generate(op),
            "bufferization.alloc_tensor" => {
                let n_given = op.operands("dynamic_sizes").len();
                let is_copy = !op.operands("copy").is_empty();
                if is_copy && n_given > 0 {
                    return Err(self
                        .of_op(op, code::BAD_COUNT, "extents of a copy")
                        .help("leave them out: they are those of the tensor that is copied"));
                }
                let n_open = if is_copy {
                    op.result_type("result").n_dynamic()
                } else {
                    n_given
                };
                self.open_extents(op, n_open, "result")?;
                self.stays(op)
            }
            "memref.alloc" | "memref.alloca" => {
                self.aligned(op)?;
                self.symbols_of_layout(op)?;
                self.open_extents(op, op.operands("dynamicSizes").len(), "memref")
            }
            "tensor.extract" => self.n_indices(op, "tensor"),
            "tensor.insert" => self.n_indices(op, "dest"),
            "memref.load" | "memref.store" => self.n_indices(op, "memref"),
            "vector.transfer_read" => {
                self.n_indices(op, "source")?;
                self.padding(op)?;
                self.transfer(op, op.result_type("vector"))
            }
            "vector.transfer_write" => {
                self.n_indices(op, "source")?;
                self.transfer(op, op.operand_type("vector"))
            }
            "vector.print" => self.printed(op),
            "vector.fma" => self.of_floats(op),
            "vector.contract" => self.contracted(op),
            "vector.load" => {
                self.n_indices(op, "base")?;
                self.accessed(op, op.result_type("result"))
            }
            "vector.store" => {
                self.n_indices(op, "base")?;
                self.accessed(op, op.operand_type("valueToStore"))
            }
            "vector.bitcast" => self.same_bits(op),
            "vector.shape_cast" => self.same_lanes(op),
            "vector.reduction" => self.reduced(op),
            "vector.broadcast" => self.spread(op),
            "memref.realloc" => {
                self.aligned(op)?;
                self.contiguous(op)?;
                self.open_extents(op, op.operands("dynamicResultSize").len(), "result")
            }
            "bufferization.materialize_in_destination" => self.materialized(op),
            "tensor.from_elements" => {
                let order = op.result_type("result").shape().map_or(0, |it| it.len());
                if self.is_before(14) && order != 1 {
                    return Err(self
                        .of_op(
                            op,
                            code::SHAPE_MISMATCH,
                            format!("elements of order {order}"),
                        )
                        .help("release 13 makes tensors of one mode"));
                }
                self.elements(op)
            }
            "tensor.cast" => self.cast(op),
            "memref.cast" => {
                self.cast(op)?;
                self.cast_layout(op)
            }
            "tensor.collapse_shape" => self.reassociation(op, "src", "result"),
            "tensor.expand_shape" => {
                let order = op.result_type("result").shape().unwrap_or_default().len();
                self.list_fits(op, "output_shape", "static_output_shape", order)?;
                self.reassociation(op, "result", "src")
            }
            "tensor.extract_slice" | "tensor.insert_slice" => self.slice(op),
            "memref.subview" => {
                self.slice(op)?;
                self.view(op)
            }
            "tensor.pad" => self.pad(op),
            "bufferization.dealloc_tensor" => self.released(op),
            _ => Ok(()),
        }
    }

    /// Checks that no call takes a sparse allocation and no function gives it, which releases from
    /// 15 to 18 refuse.
    fn stays(&self, op: Operation<'_>) -> Result<()> {
        let is_sparse = op.result_type("result").encoding().is_some();
        if !is_sparse || !self.is_since(15) || !self.is_before(19) {
            return Ok(());
        }
        match self.leaving.get(&op.result("result")) {
            None => Ok(()),
            Some(user) => Err(self
                .fault(
                    code::ESCAPING_ALLOCATION,
                    "an allocation of a sparse tensor leaves its function",
                    self.module.op(*user).data().span,
                    "leaves here",
                )
                .help("load it first: `sparse_tensor.load`")),
        }
    }

    fn constant(&self, op: Operation<'_>) -> Result<()> {
        let ty = match op.attribute("value") {
            Some(Attribute::Bool(_)) => Type::BOOL,
            Some(Attribute::Integer(_, ty) | Attribute::Float(_, ty)) => ty.clone(),
            Some(Attribute::Dense(dense)) => dense.ty.clone(),
            Some(Attribute::Sparse(sparse)) => sparse.ty.clone(),
            _ => {
                return Err(self
                    .of_op(
                        op,
                        code::BAD_ATTRIBUTE,
                        "`value` of `arith.constant` is no constant",
                    )
                    .help("write `value = 1 : index`"));
            }
        };
        let result = op.result_type("result");
        // The generic form writes a Boolean as `true` or as a number of type `i1`.
        match *result == ty {
            true => Ok(()),
            false => {
                let message = format!(
                    "a constant of type `{}` is a result of type `{}`",
                    self.text(&ty),
                    self.text(result)
                );
                Err(self
                    .of_op(op, code::TYPES_DIFFER, message)
                    .help("give both one type"))
            }
        }
    }

    fn complex_constant(&self, op: Operation<'_>) -> Result<()> {
        let Type::Complex(part) = op.result_type("complex") else {
            return Ok(());
        };
        let is_part = |entry: &Attribute| matches!(entry, Attribute::Float(_, ty) | Attribute::Integer(_, ty) if *ty == **part);
        match op.attribute("value") {
            Some(Attribute::Array(parts)) if parts.len() == 2 && parts.iter().all(is_part) => {
                Ok(())
            }
            _ => {
                let message = format!(
                    "a complex constant is two numbers of type `{}`",
                    self.text(part)
                );
                Err(self
                    .of_op(op, code::BAD_ATTRIBUTE, message)
                    .help(format!("write `[1.0 : {0}, 0.0 : {0}]`", self.text(part))))
            }
        }
    }

    /// Checks that a conversion between floats and integers takes and gives no `index`.
    fn is_sized(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("in"), op.result_type("out"));
        if bits(from).is_some() && bits(to).is_some() {
            return Ok(());
        }
        Err(self
            .of_op(op, code::OPERAND_TYPE, self.cast_of(op))
            .help("convert between floats and integers of a width, and cast `index` to `i64`"))
    }

    /// Checks that the bits of a number are those of a number as wide.
    fn bitcast(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("in"), op.result_type("out"));
        if bits(from).is_some() && bits(from) == bits(to) {
            return Ok(());
        }
        Err(self
            .of_op(op, code::OPERAND_TYPE, self.cast_of(op))
            .help("use types of one width; `index` has none"))
    }

    /// A message with the types of a cast.
    fn cast_of(&self, op: Operation<'_>) -> String {
        format!(
            "`{}` from `{}` to `{}`",
            op.name(),
            self.text(op.operand_type("in")),
            self.text(op.result_type("out"))
        )
    }

    fn width(&self, op: Operation<'_>, is_wider: bool) -> Result<()> {
        let (from, to) = (op.operand_type("in"), op.result_type("out"));
        let fits = match (bits(from), bits(to)) {
            (Some(from), Some(to)) if is_wider => from < to,
            (Some(from), Some(to)) => from > to,
            _ => false,
        };
        if fits && from.shape() == to.shape() {
            return Ok(());
        }
        let message = format!(
            "`{}` goes to a {} type, not from `{}` to `{}`",
            op.name(),
            if is_wider { "wider" } else { "narrower" },
            self.text(from),
            self.text(to)
        );
        Err(self
            .of_op(op, code::OPERAND_TYPE, message)
            .help("`arith.extf` and `arith.extsi` widen, `arith.truncf` and `arith.trunci` narrow, `arith.index_cast` converts `index`"))
    }

    fn index_cast(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("in"), op.result_type("out"));
        let is_integer = |ty: &Type| matches!(ty.element(), Type::Integer(..));
        let is_index = |ty: &Type| *ty.element() == Type::Index;
        if (is_integer(from) && is_index(to)) || (is_index(from) && is_integer(to)) {
            return Ok(());
        }
        Err(self
            .of_op(op, code::OPERAND_TYPE, self.cast_of(op))
            .help("one of the types is `index`, the other an integer type"))
    }

    /// Checks that there is an operand for each dynamic extent of the result.
    fn open_extents(&self, op: Operation<'_>, n: usize, result: &str) -> Result<()> {
        let ty = op.result_type(result);
        let Some(_) = ty.shape() else {
            let message = format!(
                "`{}` makes a shape of known order, not `{}`",
                op.name(),
                self.text(ty)
            );
            return Err(self
                .of_op(op, code::OPERAND_TYPE, message)
                .help("write its extents: `?x?x…`"));
        };
        if n == ty.n_dynamic() {
            return Ok(());
        }
        let message = format!(
            "`{}` is given {}, and `{}` leaves {} open",
            op.name(),
            counted(n, "extent"),
            self.text(ty),
            ty.n_dynamic()
        );
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("give one value for each `?` of the type"))
    }

    fn generate(&self, op: Operation<'_>) -> Result<()> {
        self.open_extents(op, op.operands("dynamicExtents").len(), "result")?;
        let ty = op.result_type("result");
        let order = ty.shape().unwrap_or_default().len();
        let region = op.data().regions[0];
        self.arguments_are(op, region, &vec![Type::Index; order], "the body")?;
        self.yields_are(op, region, &[ty.element().clone()], "the body")
    }

    /// Checks that there is an index for each mode.
    pub(super) fn n_indices(&self, op: Operation<'_>, of: &str) -> Result<()> {
        let ty = op.operand_type(of);
        let Some(shape) = ty.shape() else {
            let message = format!("`{}` of a shape of unknown order", op.name());
            return Err(self
                .of_op(op, code::OPERAND_TYPE, message)
                .help("cast it to a known order first"));
        };
        let n = op.operands("indices").len();
        if n == shape.len() {
            return Ok(());
        }
        let message = format!(
            "{} in `{}`, which has {}",
            counted(n, "coordinate"),
            self.text(ty),
            counted(shape.len(), "mode")
        );
        Err(self
            .fault(
                code::SHAPE_MISMATCH,
                message,
                self.operand_span(op, of),
                counted(shape.len(), "mode"),
            )
            .help("write one index for each mode"))
    }

    fn elements(&self, op: Operation<'_>) -> Result<()> {
        let ty = op.result_type("result");
        let n = op.operands("elements").len() as u128;
        if ty.n_entries() == Some(n) {
            return Ok(());
        }
        let message = format!("{n} entries for `{}`", self.text(ty));
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("write as many as the extents multiply to"))
    }

    fn cast(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("source"), op.result_type("dest"));
        let fits = from.element() == to.element()
            && match (from.shape(), to.shape()) {
                (Some(from), Some(to)) => {
                    let same =
                        |(a, b): (&Option<u64>, &Option<u64>)| a.is_none() || b.is_none() || a == b;
                    from.len() == to.len() && from.iter().zip(&to).all(same)
                }
                _ => true,
            };
        match fits {
            true => Ok(()),
            false => Err(self
                .not_cast(op)
                .help("a cast forgets or states extents, and changes encodings")),
        }
    }

    /// A cast between types that do not fit.
    pub(super) fn not_cast(&self, op: Operation<'_>) -> sparsec_base::Diagnostic {
        let message = format!(
            "`{}` cannot become `{}` by a cast",
            self.text(op.operand_type("source")),
            self.text(op.result_type("dest"))
        );
        self.of_op(op, code::SHAPE_MISMATCH, message)
    }

    /// Checks the numbers of a slice: one for each mode, and a value for each dynamic one.
    fn slice(&self, op: Operation<'_>) -> Result<()> {
        let whole = match op.meaning() {
            "tensor.insert_slice" => op.operand_type("dest"),
            _ => op.operand_type("source"),
        };
        let order = whole.shape().unwrap_or_default().len();
        let lists = [
            ("offsets", "static_offsets"),
            ("sizes", "static_sizes"),
            ("strides", "static_strides"),
        ];
        for (values, numbers) in lists {
            self.list_fits(op, values, numbers, order)?;
        }
        self.part_of_slice(op)
    }

    fn list_fits(
        &self,
        op: Operation<'_>,
        values: &str,
        numbers: &str,
        order: usize,
    ) -> Result<()> {
        let Some(Attribute::Numbers(_, list)) = op.attribute(numbers) else {
            return Ok(());
        };
        let is_open = |number: &&Number| **number == Number::Integer(OPEN);
        let is_size = numbers.ends_with("sizes") || numbers.ends_with("shape");
        let is_negative =
            |number: &Number| matches!(number, Number::Integer(n) if *n < 0 && *n != OPEN);
        let has_negative = list.iter().any(is_negative);
        if is_size && has_negative {
            return Err(self
                .of_op(op, code::SHAPE_MISMATCH, "a negative size")
                .help("write a size from 0 on, or a value"));
        }
        if numbers.ends_with("offsets") && has_negative && !self.is_before(17) {
            return Err(self
                .of_op(op, code::SHAPE_MISMATCH, "a negative offset")
                .help("write an offset from 0 on, or a value"));
        }
        let n_open = list.iter().filter(is_open).count();
        let n = op.operands(values).len();
        if list.len() == order && n_open == n {
            return Ok(());
        }
        let message = match list.len() == order {
            false => format!("{} numbers in `{values}` for {order} modes", list.len()),
            true => format!("{n} values for {n_open} open numbers in `{values}`"),
        };
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("write a number or a value for each mode"))
    }

    fn pad(&self, op: Operation<'_>) -> Result<()> {
        let ty = op.operand_type("source");
        let order = ty.shape().unwrap_or_default().len();
        self.list_fits(op, "low", "static_low", order)?;
        self.list_fits(op, "high", "static_high", order)?;
        let region = op.data().regions[0];
        self.arguments_are(op, region, &vec![Type::Index; order], "the padding")?;
        let padding = op.result_type("result").element().clone();
        self.yields_are(op, region, &[padding], "the padding")?;
        self.padded(op)
    }
}

/// The bits of an integer or a float, alone or in a vector or tensor.
fn bits(ty: &Type) -> Option<u32> {
    match ty.element() {
        Type::Integer(width, _) => Some(*width),
        Type::Float(float) => Some(float.width()),
        _ => None,
    }
}
