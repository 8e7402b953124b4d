//! The header of a `.npy` file: what its bytes are.
//!
//! ```text
//! \x93NUMPY  1 0   118 0     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n
//! mark       vers  length    a Python dictionary, blanks up to a multiple of 64 bytes
//! ```
//!
//! The length has two bytes in version 1 and four in versions 2 and 3; version 3
//! says that the dictionary is UTF-8, which matters only for names of fields.
//!
//! `descr` is a byte order (`<` little, `>` big, `|` no matter), a letter and a
//! number of bytes (of characters for `U`):
//!
//! | `descr`         | is                  | `descr`       | is              |
//! |-----------------|---------------------|---------------|-----------------|
//! | `b1`            | bool                | `c8 c16`      | c64, c128       |
//! | `i1 i2 i4 i8`   | i8 … i64            | `S7`          | 7 bytes of text |
//! | `u1 u2 u4 u8`   | u8 … u64            | `U7`          | 7 characters    |
//! | `f2 f4 f8`      | f16, f32, f64       | others        | refused         |
//!
//! Source: NEP 1, <https://numpy.org/neps/nep-0001-npy-format.html>.

use std::io::Read;

use sparsec_base::{Code, Diagnostic, ElementType, Result, Source, Span, code};

const MARK: &[u8; 6] = b"\x93NUMPY";
/// Headers of more bytes are no headers of arrays of numbers.
const LONGEST: usize = 1 << 16;
/// The most modes that NumPy lets an array have.
pub(crate) const MOST_MODES: usize = 64;
/// What the data begins at a multiple of.
const ALIGN: usize = 64;

/// What the items of an array are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dtype {
    /// Numbers or truth values.
    Number(ElementType),
    /// Text of so many bytes.
    Bytes(u64),
    /// Text of so many characters of four bytes.
    Text(u64),
}

impl Dtype {
    /// Bytes of one item; `None` beyond what can be counted.
    pub(crate) fn size(self) -> Option<u64> {
        match self {
            Self::Number(element) => Some(element.size() as u64),
            Self::Bytes(n) => Some(n),
            Self::Text(n) => n.checked_mul(4),
        }
    }

    /// How `descr` says it on this machine. NumPy has no `bf16`: its bits are
    /// stated as `u16`.
    fn descr(self) -> String {
        let order = |size| match (size, cfg!(target_endian = "little")) {
            (1, _) => '|',
            (_, true) => '<',
            (_, false) => '>',
        };
        match self {
            Self::Bytes(n) => format!("|S{n}"),
            Self::Text(n) => format!("{}U{n}", order(4)),
            Self::Number(element) => {
                let letter = match element {
                    ElementType::Bool => 'b',
                    ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64 => 'i',
                    ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => 'u',
                    ElementType::Bf16 => 'u',
                    ElementType::F16 | ElementType::F32 | ElementType::F64 => 'f',
                    ElementType::C64 | ElementType::C128 => 'c',
                };
                format!("{}{letter}{}", order(element.size()), element.size())
            }
        }
    }
}

/// A header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dtype: Dtype,
    /// Whether the bytes of a number stand in the other order than this
    /// machine's.
    pub(crate) swapped: bool,
    /// Whether the first mode varies fastest (`fortran_order`).
    pub(crate) column_major: bool,
    pub(crate) shape: Vec<u64>,
}

impl Header {
    /// How many items the shape has, and how many bytes they take.
    ///
    /// # Errors
    /// `E0450` where that cannot be counted.
    pub(crate) fn size(&self, name: &str) -> Result<(usize, usize)> {
        let count = |n: u64, factor: u64| n.checked_mul(factor);
        // A shape with an extent of 0 has no items, however large the others.
        let items = match self.shape.contains(&0) {
            true => Some(0),
            false => self.shape.iter().try_fold(1, |n, &extent| count(n, extent)),
        };
        let bytes = items.and_then(|n| count(n, self.dtype.size()?));
        match (items, bytes) {
            (Some(items), Some(bytes)) if bytes <= isize::MAX as u64 => {
                Ok((items as usize, bytes as usize))
            }
            _ => Err(Diagnostic::new(
                code::BAD_NPY,
                format!("`{name}` has a shape of more bytes than can be counted"),
            )
            .note(format!("its shape is {}", shape_text(&self.shape)))),
        }
    }

    /// Reads a header and leaves `source` at the data. `name` is the file, for
    /// messages.
    ///
    /// # Errors
    /// `E0450` for what is no header, `E0451` for items that no element type
    /// stores.
    pub(crate) fn read(source: &mut impl Read, name: &str) -> Result<Self> {
        let fault = |what: String| Diagnostic::new(code::BAD_NPY, what);
        let cut = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                fault(format!("`{name}` ends within its header")).help("copy the file again")
            }
            // Only a compressed member fails in another way than by ending.
            _ => Diagnostic::new(
                code::BAD_ARCHIVE,
                format!("`{name}` cannot be read: {error}"),
            ),
        };
        let mut start = [0; 8];
        source.read_exact(&mut start).map_err(cut)?;
        if !start.starts_with(MARK) {
            return Err(fault(format!("`{name}` is no `.npy` file"))
                .note("such a file begins with the byte 0x93 and `NUMPY`"));
        }
        let length = match start[6] {
            1 => {
                let mut bytes = [0; 2];
                source.read_exact(&mut bytes).map_err(cut)?;
                u16::from_le_bytes(bytes).into()
            }
            2 | 3 => {
                let mut bytes = [0; 4];
                source.read_exact(&mut bytes).map_err(cut)?;
                u32::from_le_bytes(bytes) as usize
            }
            version => {
                return Err(fault(format!(
                    "`{name}` has version {version}.{} of the `.npy` format",
                    start[7]
                ))
                .note("versions 1, 2 and 3 are read"));
            }
        };
        if length > LONGEST {
            return Err(fault(format!(
                "the header of `{name}` is said to have {length} bytes"
            ))
            .note(format!(
                "the header of an array of numbers has at most {LONGEST}"
            )));
        }
        let mut text = vec![0; length];
        source.read_exact(&mut text).map_err(cut)?;
        let text = String::from_utf8_lossy(&text);
        let source = Source::new(name, text.trim_end());
        Dictionary::new(&source).header()
    }

    /// The bytes of the header, which the data follows; the shape has no more
    /// than [`MOST_MODES`] modes.
    pub(crate) fn write(&self) -> Vec<u8> {
        let truth = match self.column_major {
            true => "True",
            false => "False",
        };
        let mut text = format!(
            "{{'descr': '{}', 'fortran_order': {truth}, 'shape': {}, }}",
            self.dtype.descr(),
            shape_text(&self.shape)
        );
        // The mark, the version and the length of the header take 10 bytes.
        let length = (10 + text.len() + 1).next_multiple_of(ALIGN) - 10;
        text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
        text.push('\n');
        let mut bytes = MARK.to_vec();
        bytes.extend([1, 0]);
        // Of 64 modes at most, a shape takes no more than two bytes can count.
        bytes.extend((length as u16).to_le_bytes());
        bytes.extend(text.into_bytes());
        bytes
    }
}

/// A shape as Python writes it: `()`, `(3,)`, `(3, 4)`.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    match shape {
        [one] => format!("({one},)"),
        more => {
            let extents: Vec<String> = more.iter().map(u64::to_string).collect();
            format!("({})", extents.join(", "))
        }
    }
}

/// The text of a header and how far it is read.
struct Dictionary<'a> {
    source: &'a Source,
    text: &'a [u8],
    at: usize,
}

impl<'a> Dictionary<'a> {
    fn new(source: &'a Source) -> Self {
        Self {
            source,
            text: source.text().as_bytes(),
            at: 0,
        }
    }

    fn header(mut self) -> Result<Header> {
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
                Some(b'0'..=b'9') if shape.len() == MOST_MODES => {
                    let most = format!("no more than {MOST_MODES} extents");
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Header> {
        let mut bytes = MARK.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        Header::read(&mut &bytes[..], "a.npy")
    }

    fn check(text: &str, expect: &str) {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn what_is_written_reads_back() {
        let dtypes = ElementType::ALL.map(Dtype::Number);
        let texts = [Dtype::Bytes(3), Dtype::Text(7)];
        for dtype in dtypes.into_iter().chain(texts) {
            for shape in [
                vec![],
                vec![3],
                vec![0, u64::MAX],
                vec![u64::MAX; MOST_MODES],
            ] {
                let header = Header {
                    dtype,
                    swapped: false,
                    column_major: shape.len() == 2,
                    shape,
                };
                let bytes = header.write();
                assert_eq!(bytes.len() % ALIGN, 0);
                let mut rest = &bytes[..];
                let expect = Header {
                    dtype: match dtype {
                        Dtype::Number(ElementType::Bf16) => Dtype::Number(ElementType::U16),
                        other => other,
                    },
                    ..header
                };
                assert_eq!(Header::read(&mut rest, "a.npy"), Ok(expect));
                assert!(rest.is_empty());
            }
        }
    }

    #[test]
    fn headers_of_other_writers_are_read() {
        let header = read("{\"shape\":(3L,4),'fortran_order':True,'descr':'>c16'}").unwrap();
        assert_eq!(header.shape, [3, 4]);
        assert!(header.column_major && header.swapped);
        assert_eq!(header.dtype, Dtype::Number(ElementType::C128));
    }

    #[test]
    fn faults_show_their_place() {
        let head = "{'descr': '<f8', 'fortran_order': False, 'shape': ";
        check(&format!("{head}(3, -4)}}"), "expected an extent");
        check(&format!("{head}(3, 4}}"), "expected `,`");
        check(
            &format!("{head}(99999999999999999999,)}}"),
            "beyond 64 bits",
        );
        let many = "1,".repeat(MOST_MODES + 1);
        check(&format!("{head}({many})}}"), "no more than 64 extents");
        check(&format!("{head}(3,)}} é"), "the end of the header");
        check("{'descr': '<f8', 'shape': (3,)}", "says too little");
        check("{'descr': '<f8', 'depth': 3}", "a header has no `depth`");
        check("{'descr': '|O'}", "Python objects");
        check("{'descr': '<M8[ns]'}", "dates");
        check("{'descr': '<f16'}", "extended-precision");
        check("{'descr': '|V2'}", "bfloat16");
        check("{'descr': [('a', '<f8')]}", "records");
        check("{'descr': '<f8", "closed");
        check("", "expected `{`");
        check("é", "expected `{`");
    }

    #[test]
    fn sizes_are_counted_or_refused() {
        let size = |shape: Vec<u64>| {
            let header = Header {
                dtype: Dtype::Number(ElementType::F64),
                swapped: false,
                column_major: false,
                shape,
            };
            header.size("a.npy")
        };
        assert_eq!(size(vec![]), Ok((1, 8)));
        assert_eq!(size(vec![3, 4]), Ok((12, 96)));
        assert_eq!(size(vec![u64::MAX, 7, 0]), Ok((0, 0)));
        assert!(size(vec![1 << 32, 1 << 32]).is_err());
        assert!(size(vec![1 << 60]).is_err());
    }
}
