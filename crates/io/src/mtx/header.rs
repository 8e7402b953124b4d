//! What a Matrix Market file says before its entries: the banner and the sizes.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real symmetric      Header
//! % comments
//! 3 3 4                                                Size
//! ```

use std::ops::Range;

use sparsec_base::suggest::closest;
use sparsec_base::{ElementType, Result, code};

use crate::content::Structure;
use crate::cursor::Cursor;
use crate::input::Input;
use crate::number::digits;

/// The first word of every file.
pub(super) const BANNER: &str = "%%MatrixMarket";

/// The first line, as far as it says how the others are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) form: Form,
    pub(super) field: Field,
    pub(super) structure: Structure,
}

/// How entries are stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One a line with its coordinates.
    Coordinate,
    /// All of them, column by column, without coordinates.
    Array,
}

/// What the values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    UnsignedInteger,
    Complex,
    Pattern,
}

impl Form {
    const ALL: [Self; 2] = [Self::Coordinate, Self::Array];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Coordinate => "coordinate",
            Self::Array => "array",
        }
    }
}

impl Field {
    const ALL: [Self; 5] = [
        Self::Real,
        Self::Integer,
        Self::Complex,
        Self::Pattern,
        Self::UnsignedInteger,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Integer => "integer",
            Self::UnsignedInteger => "unsigned-integer",
            Self::Complex => "complex",
            Self::Pattern => "pattern",
        }
    }

    /// The field that values of a type are written as.
    pub(super) fn of(element: ElementType) -> Self {
        match element {
            ElementType::U64 => Self::UnsignedInteger,
            element if element.is_complex() => Self::Complex,
            element if element.is_float() => Self::Real,
            _ => Self::Integer,
        }
    }

    /// The type that values are read as unless another is asked for.
    pub(super) fn element(self) -> ElementType {
        match self {
            Self::Real | Self::Pattern => ElementType::F64,
            Self::Integer => ElementType::I64,
            Self::UnsignedInteger => ElementType::U64,
            Self::Complex => ElementType::C128,
        }
    }

    /// How many numbers a value is.
    pub(super) fn n_parts(self) -> usize {
        match self {
            Self::Pattern => 0,
            Self::Complex => 2,
            _ => 1,
        }
    }

    /// The structures that a file with such values may have.
    fn structures(self) -> &'static [Structure] {
        match self {
            // There is no other value that a mirror image could have.
            Self::Pattern => &Structure::ALL[..2],
            _ => &Structure::ALL,
        }
    }
}

impl Header {
    /// Parses the first line; also where in it the values are said.
    pub(super) fn parse(text: &Input, line: Range<usize>) -> Result<(Self, Range<usize>)> {
        let mut words = Words::new(text, line);
        let (place, banner) = words.take();
        if !banner.eq_ignore_ascii_case(BANNER) {
            let fault = match text.bytes().is_empty() {
                true => "is empty",
                false => "does not begin like a Matrix Market file",
            };
            return Err(text
                .fault(
                    code::BAD_HEADER,
                    format!("`{}` {fault}", text.name()),
                    place,
                    format!("expected `{BANNER}`"),
                )
                .help(format!(
                    "the first line is `{BANNER} matrix coordinate real general`, or the like"
                )));
        }
        words.choose(&["matrix"], &["vector"])?;
        let form = Form::ALL[words.choose(&Form::ALL.map(Form::name), &[])?];
        let fields = match form {
            Form::Coordinate => &Field::ALL[..],
            Form::Array => &[
                Field::Real,
                Field::Integer,
                Field::Complex,
                Field::UnsignedInteger,
            ],
        };
        let names: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let start = words.next_word();
        let field = fields[words.choose(&names, &[])?];
        let names: Vec<&str> = field.structures().iter().map(|s| s.name()).collect();
        let structure = field.structures()[words.choose(&names, &[])?];
        let header = Self {
            form,
            field,
            structure,
        };
        Ok((header, start))
    }
}

/// The words of one line.
struct Words<'a> {
    text: &'a Input,
    cursor: Cursor<'a>,
}

impl<'a> Words<'a> {
    fn new(text: &'a Input, line: Range<usize>) -> Self {
        let cursor = Cursor {
            bytes: &text.bytes()[..line.end],
            at: line.start,
        };
        Self { text, cursor }
    }

    fn take(&mut self) -> (Range<usize>, String) {
        self.cursor.skip_blanks();
        let place = self.cursor.word();
        let word = &self.text.bytes()[place.clone()];
        (place, String::from_utf8_lossy(word).to_ascii_lowercase())
    }

    /// The place of the next word, which is not taken.
    fn next_word(&mut self) -> Range<usize> {
        let at = self.cursor.at;
        let (place, _) = self.take();
        self.cursor.at = at;
        place
    }

    /// Takes a word that is one of `known`; says which.
    fn choose(&mut self, known: &[&str], not_read: &[&str]) -> Result<usize> {
        let (place, word) = self.take();
        if let Some(n) = known.iter().position(|&known| known == word) {
            return Ok(n);
        }
        let wanted: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
        let wanted = format!("expected {}", wanted.join(" or "));
        if not_read.contains(&word.as_str()) {
            return Err(self
                .text
                .fault(
                    code::UNSUPPORTED_FILE,
                    format!("`{word}` Matrix Market files are not supported in this version"),
                    place,
                    wanted,
                )
                .help("write a matrix of one column"));
        }
        let fault = self.text.fault(
            code::BAD_HEADER,
            "a first line that is no Matrix Market header",
            place,
            wanted,
        );
        let all = known.iter().chain(not_read).copied();
        Err(match closest(&word, all) {
            Some(close) => fault.help(format!("did you mean `{close}`?")),
            None => fault.help(format!(
                "the first line is `{BANNER} matrix coordinate real general`, or the like"
            )),
        })
    }
}

/// The size line: `ROWS COLUMNS ENTRIES`, or `ROWS COLUMNS` in array form.
#[derive(Clone, Debug)]
pub(super) struct Size {
    pub(super) rows: u64,
    pub(super) columns: u64,
    /// The number of lines that follow; `None` in array form.
    pub(super) n_lines: Option<u64>,
    /// The whole line.
    pub(super) place: Range<usize>,
    /// The last number in it.
    pub(super) last: Range<usize>,
    /// Where the entries begin.
    pub(super) next: usize,
}

impl Size {
    /// Parses the first line from `at` on that is no comment.
    pub(super) fn parse(text: &Input, at: usize, form: Form) -> Result<Self> {
        let mut cursor = Cursor {
            bytes: text.bytes(),
            at,
        };
        cursor.next_entry(b'%');
        let (line, next) = text.line(cursor.at);
        cursor.bytes = &text.bytes()[..line.end];
        let (rows, _) = number(text, &mut cursor, form, "rows")?;
        let (columns, mut last) = number(text, &mut cursor, form, "columns")?;
        let mut n_lines = None;
        if form == Form::Coordinate {
            let (n, place) = number(text, &mut cursor, form, "entries")?;
            (n_lines, last) = (Some(n), place);
        }
        cursor.skip_blanks();
        let extra = cursor.word();
        if !extra.is_empty() {
            let wanted = if n_lines.is_some() { "three" } else { "two" };
            return Err(text
                .fault(
                    code::BAD_HEADER,
                    format!("a size line with more than {wanted} numbers"),
                    extra,
                    "expected the end of the line",
                )
                .help("remove the other numbers"));
        }
        Ok(Self {
            rows,
            columns,
            n_lines,
            place: line,
            last,
            next,
        })
    }
}

/// Takes a number of the size line.
fn number(
    text: &Input,
    cursor: &mut Cursor<'_>,
    form: Form,
    what: &str,
) -> Result<(u64, Range<usize>)> {
    cursor.skip_blanks();
    let place = cursor.word();
    let word = &text.bytes()[place.clone()];
    match digits(word) {
        (Some(n), length) if length == word.len() && length > 0 && n <= i64::MAX as u64 => {
            Ok((n, place))
        }
        (_, length) if length == word.len() && length > 0 => Err(text
            .fault(
                code::BAD_HEADER,
                format!("a number of {what} that is too large"),
                place,
                format!("expected at most {}", i64::MAX),
            )
            .help(format!("correct the number of {what}"))),
        _ => {
            let (parts, line) = match form {
                Form::Coordinate => (
                    "rows, columns and number of entries",
                    "ROWS COLUMNS ENTRIES",
                ),
                Form::Array => ("rows and columns", "ROWS COLUMNS"),
            };
            Err(text
                .fault(
                    code::BAD_HEADER,
                    match word {
                        [] => format!("a file without {parts}"),
                        _ => format!("a number of {what} that is no whole number from 0 on"),
                    },
                    place,
                    format!("expected the number of {what}"),
                )
                .help(format!("the line after the comments is `{line}`")))
        }
    }
}
