//! Reading types.

use std::sync::Arc;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Span, code};

use crate::attribute::Attribute;
use crate::encoding::Encoding;
use crate::lex::Kind;
use crate::release::Releases;
use crate::types::{
    Float, FunctionType, Layout, Levels, MemRefType, Shape, Sign, TensorType, Type, VectorType,
};

use super::Parser;

/// The widest integer.
const WIDEST: u32 = 128;

/// Types that have parameters, for suggestions.
const NAMES: [&str; 12] = [
    "index", "none", "bf16", "f16", "f32", "f64", "i32", "complex", "tensor", "memref", "vector",
    "tuple",
];

impl Parser {
    /// Reads one type; `(` begins a function type.
    pub(super) fn ty(&mut self) -> Result<Type> {
        self.deeper(|parser| match parser.cursor.kind() {
            Kind::Name => parser.named_type(),
            Kind::Bang => parser.dialect_type(),
            _ if parser.cursor.at("(") => parser
                .function_type()
                .map(|ty| Type::Function(Arc::new(ty))),
            _ => Err(parser
                .cursor
                .unexpected("a type")
                .or_help("types are `f64`, `tensor<4x?xf64>` and the like")),
        })
    }

    /// `(f64) -> (f64, f64)`
    pub(super) fn function_type(&mut self) -> Result<FunctionType> {
        self.cursor.expect("(")?;
        let inputs = self.list(")", Self::ty)?;
        self.cursor.expect("->")?;
        let results = self.result_types()?;
        Ok(FunctionType { inputs, results })
    }

    /// Reads one type, or several in parentheses.
    pub(super) fn result_types(&mut self) -> Result<Vec<Type>> {
        match self.cursor.eat("(") {
            true => self.list(")", Self::ty),
            false => Ok(vec![self.ty()?]),
        }
    }

    /// Reads one or more types with commas between them.
    pub(super) fn types(&mut self) -> Result<Vec<Type>> {
        let mut found = vec![self.ty()?];
        while self.cursor.eat(",") {
            found.push(self.ty()?);
        }
        Ok(found)
    }

    fn named_type(&mut self) -> Result<Type> {
        let token = self.cursor.take();
        let name = self.cursor.slice(token.span).to_owned();
        if let Some(float) = Float::ALL.into_iter().find(|float| float.name() == name) {
            return Ok(Type::Float(float));
        }
        match name.as_str() {
            "index" => Ok(Type::Index),
            "none" => Ok(Type::None),
            "complex" => {
                self.cursor.expect("<")?;
                let part = self.ty()?;
                self.cursor.expect(">")?;
                match part {
                    Type::Float(_) | Type::Integer(..) => Ok(Type::Complex(Arc::new(part))),
                    _ => Err(self
                        .fault(
                            code::UNKNOWN_TYPE,
                            "a complex number of parts that are no numbers",
                            token.span,
                            "not a type",
                        )
                        .help("write `complex<f64>`")),
                }
            }
            "tensor" => self.tensor_type(),
            "memref" => self.memref_type(),
            "vector" => self.vector_type(token.span),
            "tuple" => {
                self.cursor.expect("<")?;
                let parts = self.list(">", Self::ty)?;
                Ok(Type::Tuple(Arc::new(parts)))
            }
            _ => self.integer_type(&name, token.span),
        }
    }

    fn integer_type(&mut self, name: &str, span: Span) -> Result<Type> {
        let signs = [
            ("si", Sign::Signed),
            ("ui", Sign::Unsigned),
            ("i", Sign::Signless),
        ];
        let width = |prefix: &str| {
            name.strip_prefix(prefix).and_then(|digits| {
                let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                is_number.then_some(digits)
            })
        };
        let found = signs
            .into_iter()
            .find_map(|(prefix, sign)| Some((width(prefix)?, sign)));
        let Some((digits, sign)) = found else {
            return Err(self.unknown_type(name, span));
        };
        match digits.parse::<u32>() {
            Ok(width) if (1..=WIDEST).contains(&width) => Ok(Type::Integer(width, sign)),
            _ => Err(self
                .fault(
                    code::UNKNOWN_TYPE,
                    format!("an integer of {digits} bits"),
                    span,
                    "too wide",
                )
                .help(format!("integers have 1 to {WIDEST} bits"))),
        }
    }

    fn unknown_type(&self, name: &str, span: Span) -> Diagnostic {
        let error = self.fault(
            code::UNKNOWN_TYPE,
            format!("no type is named `{name}`"),
            span,
            "not a type",
        );
        error.help(match closest(name, NAMES) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!(
                "types are {}, and aliases such as `!Filename`",
                NAMES.join(", ")
            ),
        })
    }

    /// Reads extents up to the element type, each with an `x` after it.
    fn shape(&mut self) -> Result<Shape> {
        let mut shape = Vec::new();
        loop {
            let token = self.cursor.peek();
            let text = self.cursor.slice(token.span).to_owned();
            let start = token.span.start as usize;
            let extent = match token.kind {
                // `0x8xf32`: a zero extent and an `x`, not a hexadecimal number.
                Kind::Integer if text.starts_with("0x") => {
                    self.cursor.reset(start + 1);
                    Some(0)
                }
                Kind::Integer => {
                    let value = text
                        .parse::<u64>()
                        .ok()
                        .filter(|value| i64::try_from(*value).is_ok());
                    let value =
                        value.ok_or_else(|| self.cursor.too_large(token.span, i64::MAX as u64))?;
                    self.cursor.reset(token.span.end as usize);
                    Some(value)
                }
                Kind::Symbol if text == "?" => {
                    self.cursor.reset(token.span.end as usize);
                    None
                }
                _ => return Ok(shape),
            };
            let rest = self.cursor.peek();
            if rest.kind != Kind::Name || !self.cursor.word().starts_with('x') {
                return Err(self
                    .cursor
                    .unexpected("`x`")
                    .or_help("an `x` stands behind each extent: `4x?xf64`"));
            }
            self.cursor.reset(rest.span.start as usize + 1);
            shape.push(extent);
        }
    }

    /// Takes `*x`, the shape of unknown order.
    fn eat_unranked(&mut self) -> Result<bool> {
        if !self.cursor.at("*") {
            return Ok(false);
        }
        self.cursor.take();
        let rest = self.cursor.peek();
        if rest.kind != Kind::Name || !self.cursor.word().starts_with('x') {
            return Err(self
                .cursor
                .unexpected("`x`")
                .or_help("write `tensor<*xf64>`"));
        }
        self.cursor.reset(rest.span.start as usize + 1);
        Ok(true)
    }

    fn tensor_type(&mut self) -> Result<Type> {
        self.cursor.expect("<")?;
        if self.eat_unranked()? {
            let element = self.entry_type()?;
            self.cursor.expect(">")?;
            return Ok(Type::UnrankedTensor(Arc::new(element)));
        }
        let shape = self.shape()?;
        let element = self.entry_type()?;
        let mut encoding = None;
        if self.cursor.eat(",") {
            let start = self.cursor.peek().span;
            if self.cursor.at("<") {
                return Err(self.cursor.unexpected("an encoding"));
            }
            let found = self.encoding_attribute()?;
            let span = start.to(self.cursor.before());
            self.check_encoding_fits(&found, &shape, &element, span)?;
            encoding = Some(found);
        }
        self.cursor.expect(">")?;
        Ok(Type::Tensor(Arc::new(TensorType {
            shape,
            element,
            encoding,
        })))
    }

    /// Reads an attribute that has to be an encoding.
    pub(super) fn encoding_attribute(&mut self) -> Result<Arc<Encoding>> {
        let start = self.cursor.peek().span;
        // MLIR leaves the name out inside of its own types, unless an alias stands there.
        if self.cursor.at("<") {
            return match self.encoding()? {
                Attribute::Encoding(encoding) => Ok(encoding),
                _ => Err(self.cursor.unexpected("an encoding")),
            };
        }
        match self.attribute()? {
            Attribute::Encoding(encoding) => Ok(encoding),
            _ => Err(self
                .fault(
                    code::UNKNOWN_ATTRIBUTE,
                    "an encoding is expected here",
                    start.to(self.cursor.before()),
                    "not an encoding",
                )
                .help("write `#sparse_tensor.encoding<{ … }>`, or the name of one")),
        }
    }

    fn check_encoding_fits(
        &self,
        encoding: &Encoding,
        shape: &Shape,
        element: &Type,
        span: Span,
    ) -> Result<()> {
        if encoding.n_modes != shape.len() {
            let message = format!(
                "an encoding of {} modes for a tensor of {}",
                encoding.n_modes,
                shape.len()
            );
            return Err(self
                .fault(
                    code::ENCODING_ORDER,
                    message,
                    span,
                    format!("{} modes", encoding.n_modes),
                )
                .help("give the tensor an encoding of its own order"));
        }
        let values = [
            ("explicitVal", &encoding.explicit_value),
            ("implicitVal", &encoding.implicit_value),
        ];
        for (name, value) in values {
            let ty = match value {
                Some(
                    Attribute::Integer(_, ty)
                    | Attribute::Float(_, ty)
                    | Attribute::Complex(ty, ..),
                ) => ty,
                Some(Attribute::Bool(_)) => &Type::BOOL,
                _ => continue,
            };
            if ty != element {
                let spell = self.module.spell();
                let message = format!(
                    "`{name}` has type `{}`, the tensor's entries have `{}`",
                    spell.ty(ty),
                    spell.ty(element)
                );
                return Err(self
                    .fault(code::ENCODING_VALUE, message, span, "of this encoding")
                    .help("write the value in the type of the entries"));
            }
        }
        Ok(())
    }

    /// Reads the element type of a shape.
    fn entry_type(&mut self) -> Result<Type> {
        let start = self.cursor.peek().span;
        let ty = self.ty()?;
        match ty {
            Type::Function(_)
            | Type::Tuple(_)
            | Type::None
            | Type::Tensor(_)
            | Type::UnrankedTensor(_) => Err(self
                .fault(
                    code::UNKNOWN_TYPE,
                    "entries of a type that is no number",
                    start.to(self.cursor.before()),
                    "no type of entries",
                )
                .help("entries are numbers, such as `f64`")),
            ty => Ok(ty),
        }
    }

    fn memref_type(&mut self) -> Result<Type> {
        self.cursor.expect("<")?;
        if self.eat_unranked()? {
            let element = self.entry_type()?;
            self.cursor.expect(">")?;
            return Ok(Type::UnrankedMemRef(Arc::new(element)));
        }
        let shape = self.shape()?;
        let element = self.entry_type()?;
        let (mut layout, mut space) = (None, None);
        while self.cursor.eat(",") {
            let start = self.cursor.peek().span;
            match self.attribute()? {
                Attribute::Map(map) => {
                    if map.n_dimensions != shape.len() {
                        return Err(self
                            .fault(
                                code::SHAPE_MISMATCH,
                                format!(
                                    "a layout of {} modes for a memref of {}",
                                    map.n_dimensions,
                                    shape.len()
                                ),
                                start.to(self.cursor.before()),
                                "another order",
                            )
                            .help("a layout has a dimension for each mode"));
                    }
                    // The default layout is stored as `None`.
                    layout = (!map.is_identity()).then_some(Layout::Map(map));
                }
                Attribute::Strided(strides, offset) => {
                    if strides.len() != shape.len() {
                        return Err(self
                            .fault(
                                code::SHAPE_MISMATCH,
                                format!(
                                    "{} strides for a memref of {} modes",
                                    strides.len(),
                                    shape.len()
                                ),
                                start.to(self.cursor.before()),
                                "another order",
                            )
                            .help("write a stride for each mode"));
                    }
                    layout = Some(Layout::Strided { strides, offset });
                }
                other => space = Some(other),
            }
        }
        self.cursor.expect(">")?;
        Ok(Type::MemRef(Arc::new(MemRefType {
            shape,
            element,
            layout,
            space,
        })))
    }

    fn vector_type(&mut self, span: Span) -> Result<Type> {
        self.cursor.expect("<")?;
        let shape = self.shape()?;
        let start = self.cursor.peek().span;
        let element = self.entry_type()?;
        if !matches!(element, Type::Integer(..) | Type::Float(_) | Type::Index) {
            let message = "a vector of other entries than integers, floats and `index`";
            let place = start.to(self.cursor.before());
            return Err(self
                .fault(code::UNKNOWN_TYPE, message, place, "not in a vector")
                .help("use vectors of the parts of complex numbers"));
        }
        self.cursor.expect(">")?;
        let shape: Option<Vec<u64>> = shape.into_iter().collect();
        let shape = shape.filter(|shape| !shape.contains(&0)).ok_or_else(|| {
            let span = span.to(self.cursor.before());
            self.fault(
                code::UNKNOWN_TYPE,
                "a vector has extents from 1 on",
                span,
                "not a vector",
            )
            .help("write its extents as numbers: `vector<4xf64>`")
        })?;
        Ok(Type::Vector(Arc::new(VectorType { shape, element })))
    }

    /// `!llvm.ptr`, the types of `sparse_tensor`, and aliases.
    fn dialect_type(&mut self) -> Result<Type> {
        let token = self.cursor.take();
        let name = self.cursor.slice(token.span).to_owned();
        if !name.contains('.') {
            return self.aliased_type(token.span);
        }
        match name.as_str() {
            "!llvm.ptr" => {
                let mut to = None;
                if self.cursor.eat("<") {
                    self.word_of(Releases::until(17), "!llvm.ptr<…>", token.span)?;
                    to = Some(Arc::new(self.ty()?));
                    self.cursor.expect(">")?;
                } else {
                    self.word_of(Releases::from(15), "!llvm.ptr", token.span)?;
                }
                Ok(Type::Pointer(to))
            }
            "!sparse_tensor.storage_specifier" => {
                self.word_of(Releases::from(16), &name, token.span)?;
                self.cursor.expect("<")?;
                let encoding = self.encoding_attribute()?;
                self.cursor.expect(">")?;
                Ok(Type::Specifier(encoding))
            }
            "!sparse_tensor.iter_space" | "!sparse_tensor.iterator" => {
                self.word_of(Releases::from(19), &name, token.span)?;
                self.cursor.expect("<")?;
                let encoding = self.encoding_attribute()?;
                self.cursor.expect(",")?;
                let (from, to) = self.level_range()?;
                self.cursor.expect(">")?;
                let n_levels = encoding.n_levels() as u64;
                if to > n_levels {
                    let message = format!("level {} of an encoding of {n_levels} levels", to - 1);
                    return Err(self
                        .fault(code::LEVEL_OUT_OF_RANGE, message, self.cursor.before(), "in this type")
                        .help(format!("levels are 0 to {}", n_levels.saturating_sub(1))));
                }
                let levels = Arc::new(Levels { encoding, from, to });
                Ok(match name.as_str() {
                    "!sparse_tensor.iter_space" => Type::Space(levels),
                    _ => Type::Iterator(levels),
                })
            }
            _ => Err(self
                .fault(code::UNKNOWN_TYPE, format!("no type is named `{name}`"), token.span, "not a type")
                .help("types of dialects are `!llvm.ptr`, `!sparse_tensor.storage_specifier`, `!sparse_tensor.iter_space` and `!sparse_tensor.iterator`")),
        }
    }

    /// `lvls = 0 to 2`
    pub(super) fn level_range(&mut self) -> Result<(u64, u64)> {
        self.cursor.expect("lvls")?;
        self.cursor.expect("=")?;
        let (from, span) = self.cursor.integer("a level")?;
        let to = match self.cursor.eat("to") {
            true => self.cursor.integer("a level")?.0,
            false => from.saturating_add(1),
        };
        if from >= to {
            return Err(self
                .fault(
                    code::LEVEL_OUT_OF_RANGE,
                    format!("levels {from} to {to}"),
                    span,
                    "no level",
                )
                .help("write the first level and the one behind the last: `lvls = 0 to 2`"));
        }
        Ok((from, to))
    }
}
