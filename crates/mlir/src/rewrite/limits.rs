//! Forms and types that a release lacks, although it knows the operation.

use sparsec_base::{Diagnostic, Result, code};

use crate::attribute::{Attribute, Dense, Number};
use crate::module::{Op, Operation, Value};
use crate::parse::OPEN;
use crate::types::{Layout, TensorType, Type};

use crate::verify::reduced_outputs;

use super::{Rewrite, coordinates, find};

/// Whether a slice begins in front of its tensor.
fn has_negative_offset(op: Operation<'_>) -> bool {
    let Some(Attribute::Numbers(_, offsets)) = op.attribute("static_offsets") else {
        return false;
    };
    let mut offsets = offsets.iter();
    offsets.any(|at| matches!(at, Number::Integer(at) if *at < 0 && *at != OPEN))
}

impl Rewrite {
    /// Checks the types of an operation that the release knows.
    pub(super) fn types(&mut self, op: Op) -> Result<()> {
        let release = self.dialect.release();
        if release >= 19 {
            self.infer_array(op)?;
        }
        self.drop_size_hint(op);
        if release < 15 {
            self.say_steps(op);
        }
        if let Some((what, help)) = self.form_lacks(op) {
            let message = format!("release {} has no {what}", self.dialect);
            return Err(self.refuse(op, message).help(help));
        }
        if self.module.op(op).name() == "tensor.insert"
            && self.module.op(op).operand_type("dest").encoding().is_some()
            && release < 18
        {
            if release < 16 {
                let message = format!(
                    "release {} inserts by an effect, without a result",
                    self.dialect
                );
                return Err(self
                    .refuse(op, message)
                    .help("choose release 16 or a later one"));
            }
            match release {
                16 => coordinates::sixteen_of_modes(self, op, find("sparse_tensor.insert", 16))?,
                _ => coordinates::levels_of_modes(self, op, find("sparse_tensor.insert", 17))?,
            }
        }
        if self.module.op(op).name() == "scf.for"
            && *self.module.op(op).operand_type("lowerBound") != Type::Index
            && release < 17
        {
            let message = format!("release {} counts loops by `index` alone", self.dialect);
            return Err(self
                .refuse(op, message)
                .help("count by `index`, and cast inside of the loop"));
        }
        if self.module.op(op).name() == "sparse_tensor.convert"
            && self.module.op(op).operand_type("source").element()
                != self.module.op(op).result_type("dest").element()
            && release < 17
        {
            let message = format!("release {} converts no types of entries", self.dialect);
            return Err(self
                .refuse(op, message)
                .help("choose release 17 or a later one"));
        }
        // The verifiers of these releases refuse allocations that calls take or functions give.
        if self.module.op(op).name() == "bufferization.alloc_tensor"
            && self
                .module
                .op(op)
                .result_type("result")
                .encoding()
                .is_some()
            && (15..19).contains(&release)
        {
            self.load_before_calls(op);
        }
        let n_yielded = match self.module.op(op).name() {
            "sparse_tensor.yield" => self.module.ops[op].operands.len(),
            _ => 0,
        };
        if n_yielded > 1 && release < 19 {
            let message = format!("release {} yields one value, not {n_yielded}", self.dialect);
            return Err(self
                .refuse(op, message)
                .help("choose release 19 or a later one"));
        }
        let mut parts = self.module.types_of(op).flat_map(Type::parts);
        match parts.find(|ty| is_new(ty, release)) {
            None => Ok(()),
            Some(ty) => Err(self.refuse(op, self.no_type(ty)).help(LATER)),
        }
    }

    /// Checks the types that have aliases.
    ///
    /// # Errors
    /// `E1050` for a type that the release lacks.
    pub(super) fn type_aliases(&self) -> Result<()> {
        let release = self.dialect.release();
        for (name, ty) in &self.module.aliases.types {
            let Some(part) = ty.parts().into_iter().find(|ty| is_new(ty, release)) else {
                continue;
            };
            let fault = Diagnostic::new(code::NOT_IN_RELEASE, self.no_type(part)).help(LATER);
            return Err(match self.definition_of(name) {
                Some(span) => fault.at(self.module.source(), span, "this type"),
                None => fault,
            });
        }
        Ok(())
    }

    fn no_type(&self, ty: &Type) -> String {
        let ty = self.module.spell().ty(ty);
        format!("release {} has no type `{ty}`", self.dialect)
    }

    /// Says the strides and dilations of a window, which releases up to 14 do not leave out.
    fn say_steps(&mut self, op: Op) {
        let operation = self.module.op(op);
        let Some(word) = operation.name().strip_prefix("linalg.") else {
            return;
        };
        let n_modes = ["1d", "2d", "3d"].iter().position(|it| word.contains(it));
        let of_pooling = ["_nwc_|_ncw_", "_nhwc_|_nchw_", "_ndhwc_"];
        let of_pooling = of_pooling.iter().position(|layouts| {
            let mut layouts = layouts.split('|');
            word.starts_with("pooling") && layouts.any(|it| word.contains(it))
        });
        let Some(n_modes) = n_modes.or(of_pooling) else {
            return;
        };
        for name in ["strides", "dilations"] {
            let definition = self.module.ops[op].definition;
            if definition.attribute(name).is_none() || self.attribute(op, name).is_some() {
                continue;
            }
            let ty = TensorType {
                shape: vec![Some(n_modes as u64 + 1)],
                element: Type::integer(64),
                encoding: None,
            };
            let ones = Dense {
                ty: Type::Tensor(ty.into()),
                entries: vec![Number::Integer(1)],
                is_splat: true,
            };
            let ones = (name.to_owned(), Attribute::Dense(ones.into()));
            self.module.ops[op].attributes.push(ones);
        }
    }

    /// Leaves out a hint of a size, which release 15 does not take.
    fn drop_size_hint(&mut self, op: Op) {
        let operation = self.module.op(op);
        let is_old = self.dialect.release() < 16;
        if !is_old || operation.name() != "bufferization.alloc_tensor" {
            return;
        }
        if let [_] = operation.operands("size_hint") {
            let data = &mut self.module.ops[op];
            data.operands.pop();
            data.operand_spans.pop();
            data.operand_groups[2] = 0;
        }
    }

    /// A form of an operation that the release lacks, with the way out.
    fn form_lacks(&self, op: Op) -> Option<(&'static str, &'static str)> {
        let release = self.dialect.release();
        let op = self.module.op(op);
        let order = |ty: &Type| ty.shape().map_or(0, |shape| shape.len());
        let is_complex = |value: Value| matches!(self.module.ty(value), Type::Complex(_));
        match op.meaning() {
            "sparse_tensor.foreach" if op.attribute("order").is_some() => {
                let is_stored = op.operand_type("tensor").encoding().is_some();
                let since = if is_stored { 18 } else { 17 };
                let lacks = (
                    "order of the modes of `foreach` here",
                    "leave `order` out, and convert the tensor before",
                );
                (release < since).then_some(lacks)
            }
            "tensor.extract_slice" | "tensor.insert_slice" | "memref.subview"
                if has_negative_offset(op) =>
            {
                (release >= 17).then_some((
                    "slices that begin in front of a tensor",
                    "begin at 0, or compute the offset",
                ))
            }
            _ if matches!(op.attribute("cast"), Some(Attribute::Dialect(..))) && release < 15 => {
                Some((
                    "widening that an attribute chooses",
                    "convert the entries before",
                ))
            }
            "linalg.generic" if !reduced_outputs(op).is_empty() => (release < 16).then_some((
                "output at coordinates of a reduction",
                "make the iterator parallel if each entry is given once",
            )),
            "bufferization.alloc_tensor" if op.attribute("memory_space").is_some() => {
                (release < 16).then_some(("memory space of tensors", "leave `memory_space` out"))
            }
            "sparse_tensor.storage_specifier.init" if !op.operands("source").is_empty() => {
                (release < 17).then_some(("specifier made of another", "set the sizes one by one"))
            }
            "vector.print" if matches!(op.data().operands[..], [it] if is_complex(it)) => {
                let help = "print its parts, of `complex.re` and `complex.im`";
                (release >= 17).then_some(("`vector.print` of complex numbers", help))
            }
            "vector.print" if op.attribute("punctuation").is_some() => {
                (release < 17).then_some(("punctuation of `vector.print`", "leave it out"))
            }
            "tensor.collapse_shape" | "tensor.expand_shape"
                if op.operand_type("src").encoding().is_some() && release < 15 =>
            {
                Some((
                    "reshape of sparse tensors",
                    "convert the tensor to a dense one before",
                ))
            }
            "tensor.expand_shape" if self.has_open_group(op) => (release < 19).then_some((
                "two open extents of one mode",
                "write one of the extents in the type",
            )),
            "tensor.from_elements" if order(op.result_type("result")) != 1 => (release < 14)
                .then_some((
                    "`from_elements` of other than one mode",
                    "make a tensor of one mode, and expand it",
                )),
            _ => None,
        }
    }

    /// Whether two extents of the result that one mode becomes are open.
    fn has_open_group(&self, op: crate::module::Operation<'_>) -> bool {
        let shape = op.result_type("result").shape().unwrap_or_default();
        let Some(Attribute::Array(groups)) = op.attribute("reassociation") else {
            return false;
        };
        let open = |group: &Attribute| {
            let modes = group.integers().unwrap_or_default().into_iter();
            let is_open = |mode: &i128| shape.get(*mode as usize).is_some_and(Option::is_none);
            modes.filter(is_open).count() > 1
        };
        groups.iter().any(open)
    }
}

const LATER: &str = "choose a later release";

/// Whether a release lacks a type that later ones have.
fn is_new(ty: &Type, release: u8) -> bool {
    match ty {
        Type::Specifier(_) => release < 16,
        Type::MemRef(memref) => {
            matches!(memref.layout, Some(Layout::Strided { .. })) && release < 16
        }
        Type::Space(_) | Type::Iterator(_) => release < 19,
        Type::Vector(vector) => vector.shape.is_empty() && release < 14,
        _ => false,
    }
}
