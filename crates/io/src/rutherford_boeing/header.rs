//! The first four lines of a Rutherford–Boeing file, or five of an older one.

use std::ops::Range;

use sparsec_base::{Diagnostic, ElementType, Result, code};

use super::fortran::Layout;
use super::{kind, unsigned};
use crate::content::Structure;
use crate::input::Input;

/// What the header says.
pub(super) struct Header {
    pub(super) element: ElementType,
    pub(super) structure: Structure,
    /// Where the type is said.
    pub(super) kind: Range<usize>,
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) n_entries: u64,
    pub(super) pointers: Layout,
    pub(super) indices: Layout,
    /// `None` for patterns, which have no values.
    pub(super) values: Option<Layout>,
    /// Where the pointers begin.
    pub(super) next: usize,
}

impl Header {
    pub(super) fn parse(text: &Input) -> Result<Self> {
        let (_, at) = text.line(text.start());
        let (counts, at) = text.line(at);
        let (sizes, at) = text.line(at);
        let (formats, mut next) = text.line(at);
        let counts = words(text, counts);
        let lines_of = |n: usize| counts.get(n).and_then(|place| number(text, place));
        // Older files have a fifth count, of right-hand sides, and a line on them.
        if lines_of(4).is_some_and(|n| n > 0) {
            next = text.line(next).1;
        }
        let words = words(text, sizes.clone());
        let place = words.first().cloned().unwrap_or(sizes.clone());
        let (element, structure, is_pattern) = type_of(text, &place)?;
        let size = |n: usize, what: &str| {
            let place = words.get(n).cloned().unwrap_or(sizes.end..sizes.end);
            let found = number(text, &place).filter(|&n| n <= i64::MAX as u64);
            found.ok_or_else(|| {
                let message = "a third line without type, rows, columns and entries";
                text.fault(
                    code::BAD_HEADER,
                    message,
                    place,
                    format!("expected the number of {what}"),
                )
            })
        };
        let (rows, columns, n_entries) =
            (size(1, "rows")?, size(2, "columns")?, size(3, "entries")?);
        if structure != Structure::General && rows != columns {
            let message = format!("a {structure} matrix that is not square");
            let label = format!("{rows} rows and {columns} columns");
            let fault = text.fault(code::ASYMMETRIC_FILE, message, sizes, label);
            return Err(fault.help("correct the sizes, or the type on the line above"));
        }
        let mut formats = Formats {
            text,
            rest: formats,
        };
        let pointers = formats.take("pointers")?;
        let indices = formats.take("rows")?;
        let has_values = !is_pattern && lines_of(3) != Some(0);
        let values = match has_values {
            true => Some(formats.take("values")?),
            false => None,
        };
        Ok(Self {
            element: if has_values {
                element
            } else {
                ElementType::F64
            },
            structure,
            kind: place,
            rows,
            columns,
            n_entries,
            pointers,
            indices,
            values,
            next,
        })
    }
}

/// The three letters of the type; also whether there are no values.
fn type_of(text: &Input, place: &Range<usize>) -> Result<(ElementType, Structure, bool)> {
    let word = String::from_utf8_lossy(&text.bytes()[place.clone()]).to_ascii_lowercase();
    let known = kind(&word).filter(|_| word.len() == 3);
    match (known, word.as_bytes().last()) {
        (Some((element, structure)), Some(b'a')) => Ok((element, structure, word.starts_with('p'))),
        (Some(_), Some(b'e')) => Err(text
            .fault(
                code::UNSUPPORTED_FILE,
                "elemental Rutherford-Boeing files are not supported in this version",
                place.clone(),
                "expected a type that ends in `a`, assembled",
            )
            .help("write the matrix assembled, with a type that ends in `a`")),
        _ => Err(text
            .fault(
                code::BAD_HEADER,
                format!("`{}` is no Rutherford-Boeing matrix", text.name()),
                place.clone(),
                "expected a type such as `rua` or `psa`",
            )
            .note("the third line begins with the type of the matrix")),
    }
}

fn words(text: &Input, line: Range<usize>) -> Vec<Range<usize>> {
    let bytes = &text.bytes()[line.clone()];
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..]
            .iter()
            .take_while(|byte| !byte.is_ascii_whitespace())
            .count();
        if length > 0 {
            words.push(line.start + at..line.start + at + length);
        }
        at += length + 1;
    }
    words
}

fn number(text: &Input, place: &Range<usize>) -> Option<u64> {
    unsigned(&text.bytes()[place.clone()])
}

/// The formats of the fourth line, one after the other.
struct Formats<'a> {
    text: &'a Input,
    rest: Range<usize>,
}

impl Formats<'_> {
    /// Takes a format: to the parenthesis that closes it.
    fn take(&mut self, what: &str) -> Result<Layout> {
        let bytes = &self.text.bytes()[self.rest.clone()];
        let blanks = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
        let mut depth = 0usize;
        let mut length = 0;
        for &byte in &bytes[blanks..] {
            match byte {
                b'(' => depth += 1,
                b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && byte != b')' {
                break;
            }
            length += 1;
            if depth == 0 {
                break;
            }
        }
        let start = self.rest.start + blanks;
        let place = start..start + length;
        self.rest.start = place.end;
        let format = String::from_utf8_lossy(&self.text.bytes()[place.clone()]);
        Layout::parse(&format).ok_or_else(|| no_format(self.text, place, what))
    }
}

fn no_format(text: &Input, place: Range<usize>, what: &str) -> Diagnostic {
    text.fault(
        code::BAD_FORTRAN_FORMAT,
        format!("a fourth line without the format of the {what}"),
        place,
        "expected a Fortran format such as `(16I5)` or `(1P,5E16.8)`",
    )
}
