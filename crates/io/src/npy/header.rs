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
//! | `b1`            | bool; not 0 is true | `c8 c16`      | c64, c128       |
//! | `i1 i2 i4 i8`   | i8 … i64            | `S7`          | 7 bytes of text |
//! | `u1 u2 u4 u8`   | u8 … u64            | `U7`          | 7 characters    |
//! | `f2 f4 f8`      | f16, f32, f64       | others        | refused         |
//!
//! Source: NEP 1, <https://numpy.org/neps/nep-0001-npy-format.html>.

use std::io::Read;

use sparsec_base::{Diagnostic, ElementType, Result, Source, code};

use super::dictionary::Dictionary;

const MARK: &[u8; 6] = b"\x93NUMPY";
/// Headers of more bytes are no headers of arrays of numbers.
const LONGEST: usize = 1 << 16;
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
            std::io::ErrorKind::UnexpectedEof => fault(format!("`{name}` ends within its header"))
                .help("copy the file again: it is cut off"),
            // Only a compressed member fails in another way than by ending.
            _ => Diagnostic::new(
                code::BAD_ARCHIVE,
                format!("`{name}` cannot be read: {error}"),
            ),
        };
        let mut start = [0; 8];
        let (mark, version) = start.split_at_mut(MARK.len());
        // Whether a shorter file was cut off shows in the part of the mark that it has.
        let mut n_read = 0;
        while n_read < mark.len() {
            match source.read(&mut mark[n_read..]) {
                Ok(0) => break,
                Ok(more) => n_read += more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(cut(error)),
            }
        }
        if n_read == 0 || mark[..n_read] != MARK[..n_read] {
            return Err(fault(format!("`{name}` is no `.npy` file"))
                .note("such a file begins with the byte 0x93 and `NUMPY`"));
        }
        if n_read < mark.len() {
            return Err(cut(std::io::ErrorKind::UnexpectedEof.into()));
        }
        source.read_exact(version).map_err(cut)?;
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
    /// than [`MAX_ORDER`](sparsec_base::MAX_ORDER) modes.
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

#[cfg(test)]
mod tests {
    use super::*;
    use sparsec_base::MAX_ORDER;

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
                vec![u64::MAX; MAX_ORDER],
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
        let many = "1,".repeat(MAX_ORDER + 1);
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
