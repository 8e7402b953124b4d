//! The text of a header: a Python dictionary of three members, in any order.
//!
//! ```text
//! {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//!           string                 truth            numbers
//! ```
//!
//! Nothing more of Python is understood, and nothing is ever evaluated.

use sparsec_base::{Code, Diagnostic, ElementType, MAX_ORDER, Result, Source, Span, code};

use super::header::{Dtype, Header};

/// The text of a header and how far it is read.
pub(super) struct Dictionary<'a> {
    source: &'a Source,
    text: &'a [u8],
    at: usize,
}

impl<'a> Dictionary<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self {
            source,
            text: source.text().as_bytes(),
            at: 0,
        }
    }

    /// The header that the whole text is.
    ///
    /// # Errors
    /// `E0450` for what is no such dictionary, `E0451` for items that no element
    /// type stores.
    pub(super) fn header(mut self) -> Result<Header> {
        let (mut dtype, mut column_major, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while self.peek() != Some(b'}') {
            let start = self.at;
            let key = self.string()?;
            self.expect(b':')?;
            self.blanks();
            match key {
                "descr" => dtype = Some(self.dtype()?),
                "fortran_order" => column_major = Some(self.truth()?),
                "shape" => shape = Some(self.shape()?),
                other => {
                    let message = format!("a header has no `{other}`");
                    return Err(self.fault(
                        code::BAD_NPY,
                        &message,
                        start..start + other.len() + 2,
                        "a header says `descr`, `fortran_order` and `shape`",
                    ));
                }
            }
            if self.peek() != Some(b'}') {
                self.expect(b',')?;
            }
        }
        self.at += 1;
        if self.peek().is_some() {
            return Err(self.expected("the end of the header"));
        }
        match (dtype, column_major, shape) {
            (Some((dtype, swapped)), Some(column_major), Some(shape)) => Ok(Header {
                dtype,
                swapped,
                column_major,
                shape,
            }),
            _ => Err(self.fault(
                code::BAD_NPY,
                "the header says too little",
                0..self.text.len(),
                "a header says `descr`, `fortran_order` and `shape`",
            )),
        }
    }

    fn dtype(&mut self) -> Result<(Dtype, bool)> {
        let start = self.at;
        if self.peek() == Some(b'[') {
            return Err(self
                .fault(
                    code::UNSUPPORTED_NPY_TYPE,
                    "an array of records",
                    start..start + 1,
                    "a list of fields",
                )
                .help(
                    "save each field as an array of its own: `numpy.savez(file, a=x[\"a\"], …)`",
                ));
        }
        let descr = self.string()?;
        let place = start..self.at;
        let (order, rest) = match descr.as_bytes().first() {
            Some(b'<' | b'>' | b'=' | b'|') => descr.split_at(1),
            _ => ("=", descr),
        };
        let little = match order {
            "<" => true,
            ">" => false,
            _ => cfg!(target_endian = "little"),
        };
        let swapped = little != cfg!(target_endian = "little");
        let refused = |what: &str| {
            let label = format!("NumPy type `{descr}`");
            self.fault(code::UNSUPPORTED_NPY_TYPE, what, place.clone(), &label)
        };
        let text = |size: &str, kind: fn(u64) -> Dtype| match size.parse() {
            Ok(size) => Ok((kind(size), swapped)),
            Err(_) => Err(refused("text of no length")),
        };
        let number = |element| Ok((Dtype::Number(element), swapped));
        match rest {
            "b1" | "?" => number(ElementType::Bool),
            "i1" => number(ElementType::I8),
            "i2" => number(ElementType::I16),
            "i4" => number(ElementType::I32),
            "i8" => number(ElementType::I64),
            "u1" => number(ElementType::U8),
            "u2" => number(ElementType::U16),
            "u4" => number(ElementType::U32),
            "u8" => number(ElementType::U64),
            "f2" => number(ElementType::F16),
            "f4" => number(ElementType::F32),
            "f8" => number(ElementType::F64),
            "c8" => number(ElementType::C64),
            "c16" => number(ElementType::C128),
            "f12" | "f16" | "c24" | "c32" => {
                Err(refused("an array of extended-precision numbers")
                    .help("save `x.astype(\"float64\")` or `x.astype(\"complex128\")`"))
            }
            _ => match rest.split_at_checked(1) {
                Some(("S" | "a", size)) => text(size, Dtype::Bytes),
                Some(("U", size)) => text(size, Dtype::Text),
                Some(("O", _)) => Err(refused("an array of Python objects")
                    .note("objects are stored as pickled programs, which are never run")
                    .help("save an array of numbers: `x.astype(\"float64\")`")),
                Some(("M" | "m", _)) => Err(refused("an array of dates or durations")
                    .help("save the count behind them: `x.astype(\"int64\")`")),
                Some(("V", "2")) => Err(refused("an array of items of two bytes without a type")
                    .help("if they are bfloat16, save `x.astype(\"float32\")`, which loses nothing")),
                _ => Err(refused("an array of items that no element type stores")
                    .note("the element types are those of bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 and complex128")),
            },
        }
    }

    fn truth(&mut self) -> Result<bool> {
        for (word, truth) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(truth);
            }
        }
        Err(self.expected("`True` or `False`"))
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        loop {
            match self.peek() {
                Some(b')') => {
                    self.at += 1;
                    return Ok(shape);
                }
                Some(b'0'..=b'9') if shape.len() == MAX_ORDER => {
                    let most = format!("no more than {MAX_ORDER} extents");
                    return Err(self.expected(&most));
                }
                Some(b'0'..=b'9') => shape.push(self.number()?),
                _ => return Err(self.expected("an extent")),
            }
            if self.peek() != Some(b')') {
                self.expect(b',')?;
            }
        }
    }

    fn number(&mut self) -> Result<u64> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        let digits = &self.source.text()[start..self.at];
        let number = digits.parse().map_err(|_| {
            let message = format!("`{digits}` is beyond 64 bits");
            self.fault(code::BAD_NPY, &message, start..self.at, "an extent")
        })?;
        // Python 2 marks long integers.
        if self.text.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        Ok(number)
    }

    /// A quoted string without escapes, which no key or type has.
    fn string(&mut self) -> Result<&'a str> {
        let quote = match self.peek() {
            Some(quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.expected("a quoted string")),
        };
        let start = self.at + 1;
        match self.text[start..].iter().position(|&byte| byte == quote) {
            Some(length) => {
                self.at = start + length + 1;
                Ok(&self.source.text()[start..start + length])
            }
            None => Err(self.expected("a string that is closed")),
        }
    }

    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.blanks();
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(self.expected(&format!("`{}`", char::from(byte))))
    }

    fn expected(&self, what: &str) -> Diagnostic {
        let rest = self.source.text().get(self.at..).unwrap_or_default();
        let width = rest.chars().next().map_or(0, char::len_utf8);
        self.fault(
            code::BAD_NPY,
            "the header is no Python dictionary of an array",
            self.at..self.at + width,
            &format!("expected {what}"),
        )
    }

    fn fault(
        &self,
        code: Code,
        message: &str,
        place: std::ops::Range<usize>,
        label: &str,
    ) -> Diagnostic {
        let span = Span::new(place.start, place.end);
        Diagnostic::new(code, message).at(self.source, span, label)
    }
}
