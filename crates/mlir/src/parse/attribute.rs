//! Reading attributes.

use std::sync::Arc;

use sparsec_base::{Result, Span, code};

use crate::attribute::{Attribute, Dictionary, Number, Real, from_bits, rounded};
use crate::lex::{Kind, digits};
use crate::release::Releases;
use crate::types::{Float, Sign, Type};

use super::Parser;

impl Parser {
    /// Reads an attribute with its type, if it has one.
    pub(super) fn attribute(&mut self) -> Result<Attribute> {
        self.deeper(|parser| {
            let token = parser.cursor.peek();
            match token.kind {
                Kind::Integer | Kind::Float => parser.number_attribute(),
                Kind::Text => {
                    parser.cursor.take();
                    Ok(Attribute::Text(parser.cursor.unquoted(token.span)))
                }
                Kind::At => Ok(Attribute::Symbol(parser.symbol_path()?)),
                Kind::Bang => parser.ty().map(Attribute::Type),
                Kind::Hash => parser.dialect_attribute(),
                Kind::Name => parser.word_attribute(),
                _ if parser.cursor.at("-") => parser.number_attribute(),
                _ if parser.cursor.at("[") => {
                    parser.cursor.take();
                    Ok(Attribute::Array(parser.list("]", Self::attribute)?))
                }
                _ if parser.cursor.at("{") => Ok(Attribute::Dictionary(parser.dictionary()?)),
                _ if parser.cursor.at("(") => parser.ty().map(Attribute::Type),
                _ => Err(parser
                    .cursor
                    .unexpected("an attribute")
                    .or_help("attributes are numbers, texts, types, maps, lists")),
            }
        })
    }

    /// `{a = 1, b}`
    pub(super) fn dictionary(&mut self) -> Result<Dictionary> {
        self.cursor.expect("{")?;
        let mut found: Dictionary = Vec::new();
        let entries = self.list("}", |parser| {
            let token = parser.cursor.peek();
            let name = match token.kind {
                Kind::Name => parser.cursor.slice(token.span).to_owned(),
                Kind::Text => parser.cursor.unquoted(token.span),
                _ => {
                    return Err(parser
                        .cursor
                        .unexpected("the name of an attribute")
                        .or_help("write `{name = value}`"));
                }
            };
            parser.cursor.take();
            let value = match parser.cursor.eat("=") {
                true => parser.attribute()?,
                false => Attribute::Unit,
            };
            Ok((name, value, token.span))
        })?;
        for (name, value, span) in entries {
            self.give(&mut found, &name, value, span)?;
        }
        Ok(found)
    }

    /// `@name`, `@outer::@inner`
    pub(super) fn symbol_path(&mut self) -> Result<Vec<String>> {
        let mut path = vec![self.symbol_name()?];
        while self.cursor.at("::") {
            self.cursor.take();
            path.push(self.symbol_name()?);
        }
        Ok(path)
    }

    pub(super) fn symbol_name(&mut self) -> Result<String> {
        let token = self
            .cursor
            .expect_kind(Kind::At, "a symbol, such as `@main`")?;
        let inside = Span::new(token.span.start as usize + 1, token.span.end as usize);
        Ok(match self.cursor.slice(inside).starts_with('"') {
            true => self.cursor.unquoted(inside),
            false => self.cursor.slice(inside).to_owned(),
        })
    }

    fn word_attribute(&mut self) -> Result<Attribute> {
        let token = self.cursor.peek();
        match self.cursor.word() {
            "true" | "false" => {
                let value = self.cursor.word() == "true";
                self.cursor.take();
                Ok(Attribute::Bool(value))
            }
            "unit" => {
                self.cursor.take();
                Ok(Attribute::Unit)
            }
            "affine_map" => {
                self.cursor.take();
                self.cursor.expect("<")?;
                let map = self.affine_map()?;
                self.cursor.expect(">")?;
                Ok(Attribute::Map(map))
            }
            "dense" => self.dense(),
            "sparse" => self.sparse(),
            "array" => self.array(),
            "strided" => self.strided(),
            "affine_set" | "dense_resource" | "distinct" => Err(self
                .fault(
                    code::UNKNOWN_ATTRIBUTE,
                    format!("sparsec does not read `{}`", self.cursor.word()),
                    token.span,
                    "not read",
                )
                .help("use `affine_map`, `dense` or `array`")),
            _ => self.ty().map(Attribute::Type),
        }
    }

    /// `strided<[8, 1], offset: ?>`
    fn strided(&mut self) -> Result<Attribute> {
        self.cursor.take();
        self.cursor.expect("<")?;
        self.cursor.expect("[")?;
        let strides = self.list("]", Self::open_number)?;
        let mut offset = Some(0);
        if self.cursor.eat(",") {
            self.cursor.expect("offset")?;
            self.cursor.expect(":")?;
            offset = self.open_number()?;
        }
        self.cursor.expect(">")?;
        Ok(Attribute::Strided(strides, offset))
    }

    /// Reads a number, or `?`.
    fn open_number(&mut self) -> Result<Option<i64>> {
        if self.cursor.eat("?") {
            return Ok(None);
        }
        let (value, span) = self.signed("a number or `?`")?;
        match i64::try_from(value) {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(self.cursor.too_large(span, i64::MAX as u64)),
        }
    }

    /// An integer with a sign.
    pub(super) fn signed(&mut self, expected: &str) -> Result<(i128, Span)> {
        let start = self.cursor.peek().span;
        let is_negative = self.cursor.eat("-");
        let token = self.cursor.expect_kind(Kind::Integer, expected)?;
        let span = start.to(token.span);
        match digits(self.cursor.slice(token.span)) {
            Some(value) if is_negative => Ok((-value, span)),
            Some(value) => Ok((value, span)),
            None => Err(self.cursor.too_large(span, u64::MAX)),
        }
    }

    /// A number and its type.
    fn number_attribute(&mut self) -> Result<Attribute> {
        let start = self.cursor.peek().span;
        let literal = self.literal()?;
        let ty = match self.cursor.at(":") {
            true => {
                self.cursor.take();
                self.ty()?
            }
            false if literal.is_float => Type::Float(Float::F64),
            false => Type::integer(64),
        };
        let span = start.to(literal.span);
        match self.number(&literal, &ty)? {
            Number::Integer(value) => Ok(Attribute::Integer(value, ty)),
            Number::Float(value) => Ok(Attribute::Float(value, ty)),
            Number::Bool(value) => Ok(Attribute::Integer(i128::from(value), ty)),
            Number::Complex(..) | Number::IntegerPair(..) => Err(self
                .fault(
                    code::BAD_CONSTANT,
                    "a complex number is two numbers",
                    span,
                    "one number",
                )
                .help("write `[1.0, 0.0]` in `complex.constant`")),
        }
    }

    /// The digits of a number, with its sign.
    pub(super) fn literal(&mut self) -> Result<Literal> {
        let start = self.cursor.peek().span;
        let is_negative = self.cursor.eat("-");
        let token = self.cursor.peek();
        match token.kind {
            Kind::Integer | Kind::Float => {}
            Kind::Name if matches!(self.cursor.word(), "true" | "false") && !is_negative => {}
            _ => return Err(self.cursor.unexpected("a number")),
        }
        self.cursor.take();
        Ok(Literal {
            is_negative,
            is_float: token.kind == Kind::Float,
            is_word: token.kind == Kind::Name,
            text: self.cursor.slice(token.span).to_owned(),
            span: start.to(token.span),
        })
    }

    /// The number that a literal denotes in a type.
    pub(super) fn number(&self, literal: &Literal, ty: &Type) -> Result<Number> {
        let refuse = |message: String, help: &str| {
            Err(self
                .fault(code::BAD_CONSTANT, message, literal.span, "this constant")
                .help(help.to_owned()))
        };
        let name = || self.module.spell().ty(ty);
        match ty {
            Type::Integer(1, _) if literal.is_word => Ok(Number::Bool(literal.text == "true")),
            _ if literal.is_word => refuse(
                format!("a truth value in place of `{}`", name()),
                "write a number",
            ),
            Type::Float(float) if literal.is_float => {
                // As in MLIR, a number beyond the range is infinite.
                let value: f64 = literal.text.parse().unwrap_or(f64::INFINITY);
                let value = rounded(if literal.is_negative { -value } else { value }, *float);
                Ok(Number::Float(value))
            }
            // Hexadecimal digits are the bits of a float.
            Type::Float(float) => match digits(&literal.text) {
                Some(bits)
                    if literal.text.starts_with("0x")
                        && !literal.is_negative
                        && bits < 1 << float.width() =>
                {
                    Ok(Number::Float(from_bits(bits as u64, *float)))
                }
                _ => refuse(
                    format!("an integer in place of `{}`", name()),
                    "write a point: `1.0`; bits are hexadecimal",
                ),
            },
            Type::Integer(width, sign) if !literal.is_float => {
                let value = digits(&literal.text)
                    .map(|value| if literal.is_negative { -value } else { value });
                match value.filter(|value| fits(*value, *width, *sign)) {
                    Some(value) if *width == 1 && *sign == Sign::Signless => {
                        Ok(Number::Integer(value & 1))
                    }
                    Some(value) => Ok(Number::Integer(value)),
                    None => refuse(
                        format!("`{}` does not hold {}", name(), literal.whole()),
                        "use a wider type",
                    ),
                }
            }
            Type::Index if !literal.is_float => {
                let value = digits(&literal.text)
                    .map(|value| if literal.is_negative { -value } else { value });
                match value.filter(|value| fits(*value, 64, Sign::Signed)) {
                    Some(value) => Ok(Number::Integer(value)),
                    None => refuse(
                        format!("`index` does not hold {}", literal.whole()),
                        "an index has 64 bits, one of them for the sign",
                    ),
                }
            }
            Type::Complex(part) => Ok(match self.number(literal, part)? {
                Number::Float(re) => Number::Complex(re, Real(0.0)),
                Number::Integer(re) => Number::IntegerPair(re, 0),
                other => other,
            }),
            _ if literal.is_float => refuse(
                format!("`{}` holds no fractions", name()),
                "write an integer",
            ),
            _ => refuse(
                format!("`{}` is no type of numbers", name()),
                "write a type of numbers behind `:`",
            ),
        }
    }

    /// `#alias`, `#sparse_tensor.encoding<…>`, `#arith.fastmath<fast>`
    fn dialect_attribute(&mut self) -> Result<Attribute> {
        let token = self.cursor.peek();
        let name = self.cursor.slice(token.span)[1..].to_owned();
        match name.as_str() {
            "sparse_tensor.encoding" => {
                self.cursor.take();
                return self.encoding();
            }
            "complex.number" => {
                self.cursor.take();
                return self.complex_number();
            }
            "sparse_tensor" if self.cursor.third_is("encoding") => {
                self.cursor.take();
                self.cursor.expect("<")?;
                self.cursor.expect("encoding")?;
                let encoding = self.encoding()?;
                self.cursor.expect(">")?;
                return Ok(encoding);
            }
            "sparse_tensor" | "vector" | "linalg" => {}
            _ if !name.contains('.') => {
                self.cursor.take();
                return self.aliased_attribute(token.span);
            }
            "arith.fastmath"
            | "arith.overflow"
            | "linalg.iterator_type"
            | "linalg.type_fn"
            | "vector.kind"
            | "vector.punctuation"
            | "vector.iterator_type" => {}
            _ => {
                return Err(self
                    .fault(code::UNKNOWN_ATTRIBUTE, format!("sparsec does not read `#{name}`"), token.span, "not read")
                    .help("attributes of dialects are those of `sparse_tensor`, and words as `#arith.fastmath<fast>`"));
            }
        }
        self.cursor.take();
        let body = match self.cursor.at("<") {
            true => self.body()?,
            false => String::new(),
        };
        self.check_flags(&name, &body, token.span.to(self.cursor.before()))?;
        Ok(Attribute::Dialect(name, body))
    }

    /// Checks the flags of operations on numbers, and the words of others: `fastmath<nnan,ninf>`,
    /// `overflow<nsw>`, `type_fn<cast_unsigned>`, `punctuation<comma>`.
    pub(super) fn check_flags(&mut self, name: &str, body: &str, span: Span) -> Result<()> {
        let Some((known, releases)) = flags_of(name) else {
            return Ok(());
        };
        self.word_of(releases, name, span)?;
        let mut flags = body.split(',').map(str::trim);
        match flags.find(|flag| !known.contains(flag)) {
            None => Ok(()),
            Some(flag) => Err(self
                .fault(
                    code::UNKNOWN_ATTRIBUTE,
                    format!("`{name}` has no flag `{flag}`"),
                    span,
                    "in these flags",
                )
                .help(format!("flags are {}", known.join(", ")))),
        }
    }

    /// `<:f64 1.0, 0.0>` behind `#complex.number`.
    fn complex_number(&mut self) -> Result<Attribute> {
        self.cursor.expect("<")?;
        self.cursor.expect(":")?;
        let start = self.cursor.peek().span;
        let part = self.ty()?;
        if !matches!(part, Type::Float(_)) {
            let span = start.to(self.cursor.before());
            return Err(self
                .fault(
                    code::BAD_CONSTANT,
                    "parts of no type of floats",
                    span,
                    "no float",
                )
                .help("write `#complex.number<:f64 1.0, 0.0>`"));
        }
        let mut parts = [Real(0.0); 2];
        for (n, to) in parts.iter_mut().enumerate() {
            if n == 1 {
                self.cursor.expect(",")?;
            }
            let literal = self.literal()?;
            let span = literal.span;
            *to = match self.number(&literal, &part)? {
                Number::Float(value) => value,
                _ => {
                    return Err(self
                        .fault(
                            code::BAD_CONSTANT,
                            "a part that is no float",
                            span,
                            "no float",
                        )
                        .help("write a point: `1.0`"));
                }
            };
        }
        self.cursor.expect(">")?;
        let [re, im] = parts;
        let ty = Type::Complex(Arc::new(part));
        // MLIR prints the type once more behind the number.
        if self.cursor.eat(":") {
            let start = self.cursor.peek().span;
            if self.ty()? != ty {
                let span = start.to(self.cursor.before());
                return Err(self
                    .fault(
                        code::BAD_CONSTANT,
                        "another type than that of the parts",
                        span,
                        "another type",
                    )
                    .help("leave it out: the parts have the type of a float"));
            }
        }
        Ok(Attribute::Complex(ty, re, im))
    }

    /// The text between `<` and `>`, words and commas.
    pub(super) fn body(&mut self) -> Result<String> {
        self.cursor.expect("<")?;
        let mut text = String::new();
        loop {
            if self.cursor.eat(">") {
                return Ok(text);
            }
            match self.cursor.kind() {
                Kind::Name => {
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    text.push_str(self.cursor.word());
                }
                Kind::Symbol if self.cursor.at(",") => text.push(','),
                _ => return Err(self.cursor.unexpected("words and `>`")),
            }
            self.cursor.take();
        }
    }
}

/// Whether an integer type holds a value. A type without a sign holds signed and unsigned values.
pub(crate) fn fits(value: i128, width: u32, sign: Sign) -> bool {
    if width >= 127 {
        return true;
    }
    let (least, greatest) = match sign {
        Sign::Unsigned => (0, (1i128 << width) - 1),
        Sign::Signed => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        Sign::Signless => (-(1i128 << (width - 1)), (1i128 << width) - 1),
    };
    (least..=greatest).contains(&value)
}

/// The digits of a number.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    pub(super) is_negative: bool,
    pub(super) is_float: bool,
    pub(super) is_word: bool,
    pub(super) text: String,
    pub(super) span: Span,
}

impl Literal {
    fn whole(&self) -> String {
        match self.is_negative {
            true => format!("-{}", self.text),
            false => self.text.clone(),
        }
    }
}

/// The flags of an attribute of a dialect, and the releases that know it; `None` if any word may
/// stand there.
pub(crate) fn flags_of(name: &str) -> Option<(&'static [&'static str], Releases)> {
    Some(match name {
        "arith.fastmath" => (
            &[
                "none", "reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast",
            ],
            Releases::from(16),
        ),
        "arith.overflow" => (&["none", "nsw", "nuw"], Releases::from(18)),
        "linalg.type_fn" => (&["cast_signed", "cast_unsigned"], Releases::from(15)),
        "vector.punctuation" => (
            &["no_punctuation", "newline", "comma", "open", "close"],
            Releases::from(17),
        ),
        _ => return None,
    })
}
