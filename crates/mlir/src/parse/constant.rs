//! `dense<…>`, `sparse<…>` and `array<…>`: constants of many numbers.

use std::sync::Arc;

use sparsec_base::{Result, Span, code};

use crate::attribute::{Attribute, Dense, Number, Real, Sparse, from_bits};
use crate::lex::{Kind, digits};
use crate::types::Type;

use super::Parser;
use super::attribute::Literal;

/// Numbers in nested brackets, one level for each mode.
enum Nested {
    One(Vec<Literal>, Span),
    Many(Vec<Nested>, Span),
}

impl Nested {
    fn span(&self) -> Span {
        match self {
            Self::One(_, span) | Self::Many(_, span) => *span,
        }
    }
}

/// The extents of a constant, which are static.
fn extents_of(ty: &Type) -> Vec<u64> {
    let shape = ty.shape().unwrap_or_default();
    shape.into_iter().flatten().collect()
}

impl Parser {
    /// `dense<[1, 2]> : tensor<2xi32>`, `dense<0.0> : …`, `dense<"0x…"> : …`
    pub(super) fn dense(&mut self) -> Result<Attribute> {
        let start = self.cursor.take().span;
        self.cursor.expect("<")?;
        if self.cursor.kind() == Kind::Text {
            let token = self.cursor.take();
            let text = self.cursor.unquoted(token.span);
            self.cursor.expect(">")?;
            let ty = self.constant_type()?;
            return self.dense_of_bytes(&text, ty, token.span);
        }
        let values = match self.cursor.at(">") {
            true => None,
            false => Some(self.nested()?),
        };
        self.cursor.expect(">")?;
        let ty = self.constant_type()?;
        let shape = extents_of(&ty);
        let span = start.to(self.cursor.before());
        let dense = match values {
            None if ty.n_entries() == Some(0) => Dense {
                entries: Vec::new(),
                is_splat: false,
                ty,
            },
            None => return self.wrong_shape(span, &ty),
            Some(Nested::One(literals, place)) => Dense {
                entries: vec![self.one_number(&literals, ty.element(), place)?],
                is_splat: true,
                ty,
            },
            Some(nested) => {
                let mut entries = Vec::new();
                self.flatten(&nested, &shape, &ty, &mut entries)?;
                Dense {
                    entries,
                    is_splat: false,
                    ty,
                }
            }
        };
        Ok(Attribute::Dense(Arc::new(dense)))
    }

    fn wrong_shape<T>(&self, span: Span, ty: &Type) -> Result<T> {
        let message = format!(
            "these numbers have another shape than `{}`",
            self.module.spell().ty(ty)
        );
        Err(self
            .fault(code::BAD_CONSTANT, message, span, "another shape")
            .help("write brackets for each mode, and as many entries as its extent"))
    }

    /// The shaped type behind a constant.
    fn constant_type(&mut self) -> Result<Type> {
        self.cursor.expect(":")?;
        let start = self.cursor.peek().span;
        let ty = self.ty()?;
        let is_static = matches!(ty, Type::Tensor(_) | Type::Vector(_)) && ty.n_dynamic() == 0;
        match is_static {
            true => Ok(ty),
            false => Err(self
                .fault(
                    code::BAD_CONSTANT,
                    "a constant of numbers has the type of a tensor or vector of known extents",
                    start.to(self.cursor.before()),
                    "not such a type",
                )
                .help("write `tensor<2x2xf64>` or the like")),
        }
    }

    fn nested(&mut self) -> Result<Nested> {
        self.deeper(|parser| {
            let start = parser.cursor.peek().span;
            if parser.cursor.eat("[") {
                let entries = parser.list("]", Self::nested)?;
                return Ok(Nested::Many(entries, start.to(parser.cursor.before())));
            }
            let literals = match parser.cursor.eat("(") {
                true => {
                    let re = parser.literal()?;
                    parser.cursor.expect(",")?;
                    let im = parser.literal()?;
                    parser.cursor.expect(")")?;
                    vec![re, im]
                }
                false => vec![parser.literal()?],
            };
            Ok(Nested::One(literals, start.to(parser.cursor.before())))
        })
    }

    fn one_number(&self, literals: &[Literal], element: &Type, span: Span) -> Result<Number> {
        match (literals, element) {
            ([re, im], Type::Complex(part)) => {
                match (self.number(re, part)?, self.number(im, part)?) {
                    (Number::Float(re), Number::Float(im)) => Ok(Number::Complex(re, im)),
                    (Number::Integer(re), Number::Integer(im)) => Ok(Number::IntegerPair(re, im)),
                    _ => Err(self
                        .fault(
                            code::BAD_CONSTANT,
                            "the parts of a complex number are numbers of one type",
                            span,
                            "this constant",
                        )
                        .help("write `(1.0, 2.0)`")),
                }
            }
            ([only], element) => match self.number(only, element)? {
                Number::Integer(value) if *element == Type::BOOL => Ok(Number::Bool(value != 0)),
                number => Ok(number),
            },
            _ => Err(self
                .fault(
                    code::BAD_CONSTANT,
                    "a pair of numbers where the type has one",
                    span,
                    "two numbers",
                )
                .help("write one number, or a tensor of `complex<…>`")),
        }
    }

    fn flatten(
        &self,
        nested: &Nested,
        shape: &[u64],
        ty: &Type,
        to: &mut Vec<Number>,
    ) -> Result<()> {
        match (nested, shape.split_first()) {
            (Nested::One(literals, span), None) => {
                to.push(self.one_number(literals, ty.element(), *span)?);
                Ok(())
            }
            (Nested::Many(entries, _), Some((extent, inner)))
                if entries.len() as u64 == *extent =>
            {
                entries
                    .iter()
                    .try_for_each(|entry| self.flatten(entry, inner, ty, to))
            }
            // An empty shape needs no entries.
            (Nested::Many(entries, _), Some(_)) if entries.is_empty() && shape.contains(&0) => {
                Ok(())
            }
            _ => self.wrong_shape(nested.span(), ty),
        }
    }

    /// Reads entries from the bytes of memory, in little-endian order.
    fn dense_of_bytes(&self, text: &str, ty: Type, span: Span) -> Result<Attribute> {
        let digits = text.strip_prefix("0x");
        let digits = digits.filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()));
        let bytes: Option<Vec<u8>> = digits.and_then(|digits| {
            let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
            (0..digits.len()).step_by(2).map(pair).collect()
        });
        let Some(bytes) = bytes else {
            return self.wrong_shape(span, &ty);
        };
        let n = ty.n_entries();
        if *ty.element() == Type::BOOL {
            return self.dense_of_bits(&bytes, ty, span);
        }
        let (part, parts) = match ty.element() {
            Type::Complex(part) => ((**part).clone(), 2),
            other => (other.clone(), 1),
        };
        let width = match &part {
            Type::Integer(width, _) if *width > 1 && *width <= 64 => width.div_ceil(8) as usize,
            Type::Index => 8,
            Type::Float(float) => float.width() as usize / 8,
            _ => 0,
        };
        let each = width * parts;
        let n_read = bytes.len().checked_div(each).unwrap_or(0);
        if each * n_read != bytes.len() || (n_read != 1 && Some(n_read as u128) != n) {
            return self.wrong_shape(span, &ty);
        }
        let number = |bytes: &[u8]| {
            let bits = bytes
                .iter()
                .rev()
                .fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
            match &part {
                Type::Float(float) => Number::Float(from_bits(bits, *float)),
                _ => {
                    let unused = 64 - 8 * width as u32;
                    Number::Integer(i128::from((bits << unused) as i64 >> unused))
                }
            }
        };
        let numbers: Vec<Number> = bytes.chunks(width).map(number).collect();
        let pair = |pair: &[Number]| match pair {
            [Number::Float(re), Number::Float(im)] => Number::Complex(*re, *im),
            [Number::Integer(re), Number::Integer(im)] => Number::IntegerPair(*re, *im),
            _ => Number::Complex(Real(0.0), Real(0.0)),
        };
        let entries = match parts {
            1 => numbers,
            _ => numbers.chunks(2).map(pair).collect(),
        };
        Ok(Attribute::Dense(Arc::new(Dense {
            is_splat: n_read == 1,
            entries,
            ty,
        })))
    }

    /// Reads truth values of eight entries a byte, the first in the lowest bit; one byte of equal
    /// bits stands for all entries.
    fn dense_of_bits(&self, bytes: &[u8], ty: Type, span: Span) -> Result<Attribute> {
        let (entries, is_splat) = match (ty.n_entries(), bytes) {
            (_, [byte @ (0 | 0xff)]) => (vec![Number::Bool(*byte != 0)], true),
            (Some(n), _) if n.div_ceil(8) == bytes.len() as u128 => {
                let bit = |at: usize| Number::Bool(bytes[at / 8] >> (at % 8) & 1 != 0);
                ((0..n as usize).map(bit).collect(), n == 1)
            }
            _ => return self.wrong_shape(span, &ty),
        };
        Ok(Attribute::Dense(Arc::new(Dense {
            entries,
            is_splat,
            ty,
        })))
    }

    /// `sparse<[[0, 0], [1, 2]], [1.0, 5.0]> : tensor<8x7xf64>`
    pub(super) fn sparse(&mut self) -> Result<Attribute> {
        let start = self.cursor.take().span;
        self.cursor.expect("<")?;
        let parts = match self.cursor.at(">") {
            true => None,
            false => {
                let coords = self.nested()?;
                self.cursor.expect(",")?;
                Some((coords, self.nested()?))
            }
        };
        self.cursor.expect(">")?;
        let ty = self.constant_type()?;
        let span = start.to(self.cursor.before());
        let shape = extents_of(&ty);
        let (mut coords, mut entries) = (Vec::new(), Vec::new());
        if let Some((places, values)) = &parts {
            // A list holds tuples, or numbers for a vector; one number alone stands for all modes.
            let is_list = match places {
                Nested::Many(entries, _) => entries.iter().all(|entry| match entry {
                    Nested::One(..) => shape.len() == 1,
                    Nested::Many(tuple, _) => {
                        tuple.iter().all(|number| matches!(number, Nested::One(..)))
                    }
                }),
                Nested::One(..) => true,
            };
            if !is_list {
                return Err(self
                    .fault(
                        code::BAD_CONSTANT,
                        format!("coordinates that are no list of tuples of {}", shape.len()),
                        places.span(),
                        "no list of tuples",
                    )
                    .help("write a tuple for each entry: `sparse<[[0, 1]], 5.0>`"));
            }
            if let Nested::One(..) = places {
                for _ in 1..shape.len() {
                    self.coordinates(places, &shape, &mut coords)?;
                }
            }
            self.coordinates(places, &shape, &mut coords)?;
            match values {
                Nested::One(literals, place) => {
                    let value = self.one_number(literals, ty.element(), *place)?;
                    entries.resize(coords.len() / shape.len().max(1), value);
                }
                Nested::Many(..) => {
                    let n = coords.len() / shape.len().max(1);
                    self.flatten(values, &[n as u64], &ty, &mut entries)?;
                }
            }
        }
        if shape.is_empty() {
            return self.wrong_shape(span, &ty);
        }
        let mut places: Vec<&[u64]> = coords.chunks_exact(shape.len()).collect();
        places.sort_unstable();
        if places.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self
                .fault(
                    code::BAD_CONSTANT,
                    "two entries at one place",
                    span,
                    "in this constant",
                )
                .help("write each place once"));
        }
        Ok(Attribute::Sparse(Arc::new(Sparse {
            ty,
            coords,
            entries,
        })))
    }

    /// Reads tuples of coordinates; for a vector, single numbers.
    fn coordinates(&self, nested: &Nested, shape: &[u64], to: &mut Vec<u64>) -> Result<()> {
        match nested {
            Nested::Many(entries, span) => {
                let is_tuple = entries.iter().all(|entry| matches!(entry, Nested::One(..)));
                if is_tuple && shape.len() != 1 && entries.len() != shape.len() {
                    let message = format!(
                        "{} coordinates in a tensor of order {}",
                        entries.len(),
                        shape.len()
                    );
                    return Err(self
                        .fault(code::BAD_CONSTANT, message, *span, "this tuple")
                        .help("write one coordinate for each mode"));
                }
                entries
                    .iter()
                    .try_for_each(|entry| self.coordinates(entry, shape, to))
            }
            Nested::One(literals, span) => {
                let mode = to.len() % shape.len().max(1);
                let literal = &literals[0];
                let value = digits(&literal.text).and_then(|value| u64::try_from(value).ok());
                let value = value.filter(|value| !literal.is_negative || *value == 0);
                match value.filter(|value| shape.get(mode).is_some_and(|extent| value < extent)) {
                    Some(value) if literals.len() == 1 => {
                        to.push(value);
                        Ok(())
                    }
                    _ => Err(self
                        .fault(
                            code::BAD_CONSTANT,
                            "a coordinate outside of the tensor",
                            *span,
                            "outside",
                        )
                        .help(match shape.get(mode) {
                            Some(extent) => format!(
                                "mode {mode} has coordinates from 0 to {}",
                                extent.saturating_sub(1)
                            ),
                            None => "a tensor of order 0 has one entry: write `dense`".to_owned(),
                        })),
                }
            }
        }
    }

    /// `array<i64: 1, 2>`
    pub(super) fn array(&mut self) -> Result<Attribute> {
        self.cursor.take();
        self.cursor.expect("<")?;
        let ty = self.ty()?;
        if self.cursor.eat(">") {
            return Ok(Attribute::Numbers(ty, Vec::new()));
        }
        self.cursor.expect(":")?;
        let numbers = self.list(">", |parser| {
            let literal = parser.literal()?;
            parser.number(&literal, &ty)
        })?;
        Ok(Attribute::Numbers(ty, numbers))
    }
}
