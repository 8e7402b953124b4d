//! Operations of `sparse_tensor`: levels, extents, uses after release.

use sparsec_base::{Result, code};

use crate::attribute::Attribute;
use crate::encoding::Encoding;
use crate::module::{Block, Op, Operation, Origin, Value};
use crate::parse::counted;
use crate::release::Dialect;
use crate::types::{TensorType, Type};

use super::Check;

impl Check<'_> {
    /// Rule 5 for `sparse_tensor`.
    pub(super) fn sparse(&self, op: Operation<'_>, word: &str) -> Result<()> {
        match word {
            "new" => self.new_tensor(op),
            "init" => self.init(op),
            "convert" => self.convert(op),
            "reinterpret_map" => self.reinterpret(op),
            "concatenate" => self.concatenate(op),
            "insert" => self.insert(op),
            "lex_insert" => self.lex_insert(op),
            "lvl" => self.level_operand(op, "source", "index"),
            "slice.offset" | "slice.stride" => self.slice_number(op),
            "crd_translate" => self.translate(op),
            "sort" | "sort_coo" => self.sort(op),
            "push_back" => self.push_back(op),
            "storage_specifier.get" | "storage_specifier.set" => self.specifier(op),
            "reorder_coo" => self.reorder(op),
            "extract_iteration_space" => self.space(op),
            "extract_value" => self.value_at(op),
            "release" => self.released(op),
            "binary" | "unary" | "reduce" | "select" | "foreach" | "iterate" | "coiterate" => {
                self.bodies(op, word)
            }
            _ => self.arrays(op, word),
        }
    }

    /// The tensor type with its encoding, if a type has both.
    pub(super) fn tensor<'t>(&self, ty: &'t Type) -> Option<(&'t TensorType, &'t Encoding)> {
        match ty {
            Type::Tensor(tensor) => Some((tensor, tensor.encoding.as_deref()?)),
            _ => None,
        }
    }

    /// Only matrices have a mirror image.
    fn new_tensor(&self, op: Operation<'_>) -> Result<()> {
        let order = op
            .result_type("result")
            .shape()
            .map_or(0, |shape| shape.len());
        if op.attribute("expandSymmetry").is_none() || order == 2 {
            return Ok(());
        }
        let message = format!("`expand_symmetry` for a tensor of order {order}");
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("leave it out: files hold no symmetric tensors but matrices"))
    }

    fn init(&self, op: Operation<'_>) -> Result<()> {
        let ty = op.result_type("result");
        let order = ty.shape().unwrap_or_default().len();
        let n = op.operands("sizes").len();
        let sizes = op.operands("sizes").iter();
        let extents = sizes.zip(ty.shape().unwrap_or_default());
        for (mode, (size, extent)) in extents.enumerate() {
            let Some(extent) = extent else { continue };
            if self.constant_of(*size) != Some(i128::from(extent)) {
                let message = format!("mode {mode} has extent {extent} and a size that may differ");
                return Err(self
                    .of_op(op, code::SHAPE_MISMATCH, message)
                    .help(format!("give it the constant {extent}, or write `?`")));
            }
        }
        match n == order {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::SHAPE_MISMATCH,
                    format!("{n} extents for a tensor of order {order}"),
                )
                .help("give the extent of each mode, of those that the type states too")),
        }
    }

    /// Checks that a conversion keeps the extents, or makes them dynamic.
    fn convert(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("source"), op.result_type("dest"));
        let (Some(source), Some(dest)) = (from.shape(), to.shape()) else {
            let message = "a conversion of a tensor of unknown order";
            return Err(self
                .of_op(op, code::SHAPE_MISMATCH, message)
                .help("cast it to a known order first"));
        };
        let is_real = |ty: &Type| matches!(ty, Type::Integer(..) | Type::Float(_) | Type::Index);
        let (is, becomes) = (from.element(), to.element());
        if is != becomes && !(is_real(is) && is_real(becomes)) {
            let message = format!(
                "a conversion of `{}` to `{}`",
                self.text(from.element()),
                self.text(to.element())
            );
            return Err(self
                .of_op(op, code::TYPES_DIFFER, message)
                .help("convert between real numbers, or between tensors of one type of entries"));
        }
        if is != becomes && self.is_before(17) {
            let (is, becomes) = (self.text(is), self.text(becomes));
            return Err(self
                .of_op(
                    op,
                    code::TYPES_DIFFER,
                    format!("a conversion of `{is}` to `{becomes}`"),
                )
                .help("releases up to 16 keep the type of the entries"));
        }
        if to.encoding().is_some_and(|it| it.is_slice()) {
            return Err(self
                .of_op(op, code::CONVERT_EXTENTS, "a conversion to a slice")
                .help("a slice is a view of another tensor: `tensor.extract_slice`"));
        }
        if source.len() != dest.len() {
            let message = format!(
                "a conversion of a tensor of order {} to order {}",
                source.len(),
                dest.len()
            );
            return Err(self
                .of_op(op, code::SHAPE_MISMATCH, message)
                .help("`tensor.collapse_shape` and `expand_shape` change the order"));
        }
        for (mode, (from, to)) in source.iter().zip(&dest).enumerate() {
            match (from, to) {
                (_, None) => {}
                (Some(from), Some(to)) if from == to => {}
                (Some(from), Some(to)) => {
                    let message =
                        format!("mode {mode} has extent {from}, and is converted to {to}");
                    return Err(self
                        .of_op(op, code::CONVERT_EXTENTS, message)
                        .help(format!("write {from}, or `?`")));
                }
                (None, Some(to)) => {
                    let message = format!(
                        "mode {mode} has an extent that is computed, and is converted to {to}"
                    );
                    return Err(self
                        .of_op(op, code::CONVERT_EXTENTS, message)
                        .help("convert to `?`: whether the extent is right would have to be tested as the program runs"));
                }
            }
        }
        Ok(())
    }

    /// Checks that a reinterpretation keeps the levels. The modes may change.
    fn reinterpret(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("source"), op.result_type("dest"));
        let (Some((source, source_encoding)), Some((dest, dest_encoding))) =
            (self.tensor(from), self.tensor(to))
        else {
            let message =
                "`sparse_tensor.reinterpret_map` between tensors of which one has no encoding";
            return Err(self
                .of_op(op, code::NOT_SPARSE, message)
                .help("give both types an encoding"));
        };
        let kinds = |encoding: &Encoding| -> Vec<_> {
            let levels = encoding.levels.iter();
            levels
                .map(|level| (level.kind, level.nonunique, level.nonordered, level.soa))
                .collect()
        };
        let widths = |encoding: &Encoding| (encoding.pos_width, encoding.crd_width);
        let extents = (
            source_encoding.level_shape(&source.shape),
            dest_encoding.level_shape(&dest.shape),
        );
        let rules = [
            (
                kinds(source_encoding).len() == kinds(dest_encoding).len(),
                "numbers of levels",
            ),
            (
                kinds(source_encoding) == kinds(dest_encoding),
                "kinds of levels",
            ),
            (
                widths(source_encoding) == widths(dest_encoding),
                "widths of positions or coordinates",
            ),
            (source.element == dest.element, "types of entries"),
            (extents.0 == extents.1, "extents of levels"),
        ];
        match rules.into_iter().find(|(is_kept, _)| !is_kept) {
            None => Ok(()),
            Some((_, differing)) => Err(self
                .of_op(
                    op,
                    code::SHAPE_MISMATCH,
                    format!("another map of a tensor with other {differing}"),
                )
                .help("only the map changes: levels, their extents and entries stay as they are; `tensor.cast` forgets extents")),
        }
    }

    fn concatenate(&self, op: Operation<'_>) -> Result<()> {
        let bad = |message: String, help: String| {
            Err(self.of_op(op, code::NOT_CONCATENATED, message).help(help))
        };
        let inputs = op.operand_types("inputs");
        let result = op.result_type("result");
        let Some(shape) = result.shape() else {
            return bad(
                "a result of unknown order".to_owned(),
                "write its extents".to_owned(),
            );
        };
        let mode = op
            .attribute("dimension")
            .and_then(Attribute::natural)
            .unwrap_or(u64::MAX);
        if inputs.len() < 2 {
            return bad(
                format!("{} to concatenate", counted(inputs.len(), "tensor")),
                "give two tensors or more".to_owned(),
            );
        }
        if mode >= shape.len() as u64 {
            let message = format!("tensors of order {} along mode {mode}", shape.len());
            return bad(
                message,
                format!("modes are 0 to {}", shape.len().saturating_sub(1)),
            );
        }
        let mut sum = Some(0u64);
        for (n, input) in inputs.iter().enumerate() {
            let own = input.shape().unwrap_or_default();
            let is_open = own.iter().any(Option::is_none);
            if is_open && self.module.dialect() != Dialect::Sparsec {
                return bad(
                    format!("tensor {n} has extents that are computed"),
                    "write its extents, or read the text as `--dialect sparsec`".to_owned(),
                );
            }
            if own.len() != shape.len() || input.element() != result.element() {
                let message = format!(
                    "`{}` and a result of `{}`",
                    self.text(input),
                    self.text(result)
                );
                return bad(
                    message,
                    "use tensors of one order and one type of entries".to_owned(),
                );
            }
            for (other, (extent, wanted)) in own.iter().zip(&shape).enumerate() {
                if other as u64 == mode {
                    sum = sum
                        .zip(*extent)
                        .and_then(|(sum, extent)| sum.checked_add(extent));
                } else if let (Some(extent), Some(wanted)) = (extent, wanted)
                    && extent != wanted
                {
                    let message = format!(
                        "tensor {n} has extent {extent} in mode {other}, the result {wanted}"
                    );
                    return bad(message, "extents in other modes are the same".to_owned());
                }
            }
        }
        match (sum, shape[mode as usize]) {
            (Some(sum), Some(wanted)) if sum != wanted => bad(
                format!("extents that add up to {sum}, and a result of {wanted}"),
                format!("write {sum}, or `?`"),
            ),
            _ => Ok(()),
        }
    }

    /// From release 17 on, an insertion has coordinates of levels.
    fn insert(&self, op: Operation<'_>) -> Result<()> {
        let encoding = op.operand_type("tensor").encoding();
        let wanted = match encoding.filter(|_| op.data().definition.releases.from >= 17) {
            Some(encoding) => encoding.n_levels(),
            None => return self.n_indices(op, "tensor"),
        };
        let n = op.operands("indices").len();
        // The words of all releases have both.
        let is_of_modes = self.module.dialect() == Dialect::Sparsec
            && op
                .operand_type("tensor")
                .shape()
                .is_some_and(|shape| shape.len() == n);
        if n == wanted || is_of_modes {
            return Ok(());
        }
        let message = format!(
            "{} in `{}`, which has {}",
            counted(n, "coordinate"),
            self.text(op.operand_type("tensor")),
            counted(wanted, "level")
        );
        Err(self
            .of_op(op, code::SHAPE_MISMATCH, message)
            .help("write one index for each level, or insert by `tensor.insert` in release 18"))
    }

    fn lex_insert(&self, op: Operation<'_>) -> Result<()> {
        let wanted = op.operand_type("tensor").element();
        let found = op.operand_type("value");
        if found != wanted {
            let message = format!(
                "a value of type `{}` for entries of type `{}`",
                self.text(found),
                self.text(wanted)
            );
            return Err(self
                .fault(
                    code::TYPES_DIFFER,
                    message,
                    self.operand_span(op, "value"),
                    format!("`{}`", self.text(found)),
                )
                .help(format!("insert a value of type `{}`", self.text(wanted))));
        }
        self.buffer_of(op, op.operand("indices"), &Type::Index, "the coordinates")
    }

    /// The integer of a value, if it is a constant of the text.
    pub(super) fn constant_of(&self, value: Value) -> Option<i128> {
        let Origin::Result(op, _) = self.module.value(value).origin else {
            return None;
        };
        let op = self.module.op(op);
        match (op.meaning(), op.attribute("value")) {
            ("arith.constant", Some(Attribute::Integer(value, _))) => Some(*value),
            _ => None,
        }
    }

    /// Checks that a constant level exists in the tensor.
    pub(super) fn level_operand(&self, op: Operation<'_>, tensor: &str, level: &str) -> Result<()> {
        let Some(number) = self.constant_of(op.operand(level)) else {
            return Ok(());
        };
        let n_levels = op
            .operand_type(tensor)
            .encoding()
            .map_or(0, |encoding| encoding.n_levels());
        match (0..n_levels as i128).contains(&number) {
            true => Ok(()),
            false => Err(self
                .fault(
                    code::LEVEL_OUT_OF_RANGE,
                    format!("level {number} of a tensor of {n_levels} levels"),
                    self.operand_span(op, level),
                    format!("is {number}"),
                )
                .help(format!("levels are 0 to {}", n_levels.saturating_sub(1)))),
        }
    }

    fn slice_number(&self, op: Operation<'_>) -> Result<()> {
        let Some((_, encoding)) = self.tensor(op.operand_type("slice")) else {
            return Ok(());
        };
        if !encoding.is_slice() {
            let message = "a tensor that is no slice";
            return Err(self
                .fault(
                    code::NOT_SPARSE,
                    message,
                    self.operand_span(op, "slice"),
                    "not a slice",
                )
                .help("its encoding is to have `#sparse_tensor<slice(…)>` behind its modes"));
        }
        let mode = match op.attribute("dim") {
            Some(Attribute::Integer(mode, _)) => *mode,
            _ => i128::MAX,
        };
        match (0..encoding.n_modes as i128).contains(&mode) {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::LEVEL_OUT_OF_RANGE,
                    format!("mode {mode} of a slice of order {}", encoding.n_modes),
                )
                .help(format!("modes are 0 to {}", encoding.n_modes - 1))),
        }
    }

    fn translate(&self, op: Operation<'_>) -> Result<()> {
        let Some(Attribute::Encoding(encoding)) = op.attribute("encoder") else {
            return Ok(());
        };
        let (modes, levels) = (encoding.n_modes, encoding.n_levels());
        let wanted = match op.attribute("direction") {
            Some(Attribute::Word("dim_to_lvl")) => (modes, levels),
            _ => (levels, modes),
        };
        let found = (op.operands("in_crds").len(), op.results("out_crds").len());
        match found == wanted {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::BAD_COUNT,
                    format!(
                        "a translation of {} to {}",
                        counted(found.0, "coordinate"),
                        found.1
                    ),
                )
                .help(format!(
                    "this encoding has {modes} modes and {levels} levels"
                ))),
        }
    }

    fn reorder(&self, op: Operation<'_>) -> Result<()> {
        let (from, to) = (op.operand_type("input_coo"), op.result_type("result_coo"));
        let is_list = |ty: &Type| {
            ty.encoding()
                .is_some_and(|encoding| encoding.coo_start() == Some(0))
        };
        if !is_list(from) || !is_list(to) {
            let message = "`sparse_tensor.reorder_coo` of a tensor that is no coordinate list";
            return Err(self
                .of_op(op, code::NOT_SPARSE, message)
                .help("convert it to `(i : compressed(nonunique), j : singleton)` first"));
        }
        let map = |ty: &Type| ty.encoding().and_then(|it| it.map());
        if self.is_since(18) && map(from) != map(to) {
            return Err(self
                .of_op(op, code::TYPES_DIFFER, "a list in another map")
                .help("reorder within one map; `sparse_tensor.convert` changes it"));
        }
        match from.shape() == to.shape() && from.element() == to.element() {
            true => Ok(()),
            false => Err(self
                .of_op(
                    op,
                    code::TYPES_DIFFER,
                    format!("from `{}` to `{}`", self.text(from), self.text(to)),
                )
                .help("extents and entries stay as they are")),
        }
    }

    /// Checks that nothing uses the tensor after its release in the same block.
    pub(super) fn released(&self, op: Operation<'_>) -> Result<()> {
        let Some(block) = op.data().block else {
            return Ok(());
        };
        let tensor = op.operand("tensor");
        let uses = self.uses.of.get(&tensor).map_or(&[] as &[_], Vec::as_slice);
        let here = self.uses.order[&op.id()];
        let later = uses.partition_point(|(other, _)| self.uses.order[other] <= here);
        // The next use is in this block, if any is: uses in blocks around it come after.
        if let Some((other, n)) = uses.get(later)
            && self.is_in(*other, block)
        {
            let span = self.module.op(*other).data().operand_spans[*n];
            let message = format!("{} is used after its release", self.named(tensor));
            return Err(self
                .fault(code::RELEASED, message, span, "used here")
                .also(self.module.source(), op.data().span, "released here")
                .help("release it behind its last use"));
        }
        Ok(())
    }

    /// Whether an operation is in a block, or in a region of an operation in it.
    fn is_in(&self, mut op: Op, block: Block) -> bool {
        loop {
            let Some(own) = self.module.op(op).data().block else {
                return false;
            };
            if own == block {
                return true;
            }
            match self.module.region(self.module.block(own).region).op {
                Some(around) => op = around,
                None => return false,
            }
        }
    }
}
