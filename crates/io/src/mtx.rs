//! Matrix Market files: `.mtx`, coordinate form.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real symmetric
//! % comments
//! 3 3 4            rows, columns, lines that follow
//! 1 1 2.5          row and column, counted from 1, and the value
//! 2 1 -1
//! 3 2 4e-3
//! 3 3 inf
//! ```
//!
//! | header      | read as                                                       |
//! |-------------|---------------------------------------------------------------|
//! | `real`      | `f64`                                                         |
//! | `integer`   | `i64`                                                         |
//! | `pattern`   | `f64` ones; lines have no value                               |
//! | `general`   | the lines                                                     |
//! | `symmetric` | the lines, and the mirror image of those off the diagonal     |
//!
//! Written files are `general`, and `real` or `integer`.
//!
//! Source: Boisvert, Pozo and Remington, "The Matrix Market Exchange Formats:
//! Initial Design", NISTIR 5935, <https://math.nist.gov/MatrixMarket/formats.html>.

use std::io::Write as _;
use std::ops::Range;

use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_tensor::{Array, Entries, Tensor, with_element};

use crate::input::Input;
use crate::lines::{Cursor, Lines};
use crate::output::{Output, check_fill, write_entries};
use crate::{Content, FileTensor, FileType, ReadOptions, Structure, WriteOptions, Writer};

/// The file type.
pub const TYPE: FileType = FileType {
    endings: &[".mtx"],
    summary: "Matrix Market, coordinate form: matrices",
    is_text: true,
    read,
    writer: Some(Writer { check, write }),
};

/// The first word of every file.
const BANNER: &str = "%%MatrixMarket";

/// A header, as far as it says how the lines are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    field: Field,
    symmetric: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Real,
    Integer,
    Pattern,
}

fn read(text: &Input, options: &ReadOptions) -> Result<FileTensor> {
    let (line, next) = text.line(text.start());
    let header = Header::parse(text, line)?;
    let size = Size::parse(text, next)?;
    if header.symmetric && size.rows != size.columns {
        return Err(text.fault(
            code::ASYMMETRIC_FILE,
            "a symmetric matrix that is not square",
            size.place.clone(),
            format!("{} rows and {} columns", size.rows, size.columns),
        ));
    }
    let lines = Lines {
        text,
        range: size.next..text.bytes().len(),
        comment: b'%',
        largest: vec![size.rows, size.columns],
        n_parts: usize::from(header.field != Field::Pattern),
    };
    let natural = match header.field {
        Field::Integer => ElementType::I64,
        Field::Real | Field::Pattern => ElementType::F64,
    };
    let mut entries = lines.parse(options.element.unwrap_or(natural))?;
    entries.extents = vec![size.rows, size.columns];
    let n_lines = entries.len();
    size.check_count(text, &lines, n_lines)?;
    if header.symmetric {
        entries = mirrored(entries, text, &lines)?;
    }
    Ok(FileTensor {
        content: Content::Entries(entries),
        states_extents: true,
        structure: match header.symmetric {
            true => Structure::Symmetric,
            false => Structure::General,
        },
        n_stored: n_lines as u64,
    })
}

impl Header {
    fn parse(text: &Input, line: Range<usize>) -> Result<Self> {
        let mut words = Words::new(text, line);
        let (place, banner) = words.take();
        if !banner.eq_ignore_ascii_case(BANNER) {
            return Err(text
                .fault(
                    code::BAD_HEADER,
                    format!("`{}` does not begin like a Matrix Market file", text.name()),
                    place,
                    format!("expected `{BANNER}`"),
                )
                .help(format!(
                    "the first line is `{BANNER} matrix coordinate real general`, or the like"
                )));
        }
        words.choose(&["matrix"], &["vector"])?;
        words.choose(&["coordinate"], &["array"])?;
        let field = words.choose(&["real", "integer", "pattern"], &["complex"])?;
        let symmetry = words.choose(&["general", "symmetric"], &["skew-symmetric", "hermitian"])?;
        Ok(Self {
            field: [Field::Real, Field::Integer, Field::Pattern][field],
            symmetric: symmetry == 1,
        })
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
                .help("write the matrix as `coordinate real general`"));
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
            None => fault,
        })
    }
}

/// The size line.
struct Size {
    rows: u64,
    columns: u64,
    n_lines: u64,
    /// The whole line.
    place: Range<usize>,
    /// The number of lines in it.
    count: Range<usize>,
    /// Where the entries begin.
    next: usize,
}

impl Size {
    /// Parses the first line from `at` on that is no comment.
    fn parse(text: &Input, at: usize) -> Result<Self> {
        let mut cursor = Cursor {
            bytes: text.bytes(),
            at,
        };
        cursor.next_entry(b'%');
        let start = cursor.at;
        let (line, next) = text.line(start);
        cursor.bytes = &text.bytes()[..line.end];
        let mut number = |what: &str| {
            let start = cursor.skip_blanks();
            let n = cursor.unsigned().filter(|&n| n <= i64::MAX as u64);
            n.map(|n| (n, start..cursor.at)).ok_or_else(|| {
                cursor.at = start;
                let place = cursor.word();
                text.fault(
                    code::BAD_HEADER,
                    "a file without rows, columns and number of entries",
                    place,
                    format!("expected the number of {what}"),
                )
                .help("the line after the comments is `ROWS COLUMNS ENTRIES`")
            })
        };
        let (rows, _) = number("rows")?;
        let (columns, _) = number("columns")?;
        let (n_lines, count) = number("entries")?;
        cursor.skip_blanks();
        let extra = cursor.word();
        if !extra.is_empty() {
            return Err(text.fault(
                code::BAD_HEADER,
                "a size line with more than three numbers",
                extra,
                "expected the end of the line",
            ));
        }
        Ok(Self {
            rows,
            columns,
            n_lines,
            place: line,
            count,
            next,
        })
    }

    fn check_count(&self, text: &Input, lines: &Lines<'_>, found: usize) -> Result<()> {
        let promised = self.n_lines;
        if promised == found as u64 {
            return Ok(());
        }
        let message =
            format!("the header promises {promised} lines of entries, the file has {found}");
        let (header, span) = text.excerpt(self.count.clone());
        if (found as u64) < promised {
            return Err(Diagnostic::new(code::WRONG_ENTRY_COUNT, message)
                .at(&header, span, format!("{found} follow"))
                .help("the file may have been cut off: get the whole file"));
        }
        let extra = lines.line_of(promised as usize);
        let (line, place) = text.excerpt(extra);
        Err(Diagnostic::new(code::WRONG_ENTRY_COUNT, message)
            .at(&line, place, "this one is too many")
            .also(&header, span, "promised here"))
    }
}

/// The entries and the mirror images of those off the diagonal.
fn mirrored(entries: Entries, text: &Input, lines: &Lines<'_>) -> Result<Entries> {
    check_triangle(&entries, text, lines)?;
    let off: Vec<usize> = (0..entries.len())
        .filter(|&e| entries.coords[2 * e] != entries.coords[2 * e + 1])
        .collect();
    let mut coords = entries.coords;
    coords.reserve_exact(2 * off.len());
    for &e in &off {
        let (row, column) = (coords[2 * e], coords[2 * e + 1]);
        coords.extend([column, row]);
    }
    let values = with_element!(entries.values.element(), T => {
        let stated = entries.values.slice::<T>();
        let mut values = Vec::with_capacity(stated.len() + off.len());
        values.extend_from_slice(stated);
        values.extend(off.iter().map(|&e| stated[e]));
        Array::from_vec(values)
    });
    Ok(Entries {
        extents: entries.extents,
        coords,
        values,
    })
}

/// Refuses a file that states both triangles.
fn check_triangle(entries: &Entries, text: &Input, lines: &Lines<'_>) -> Result<()> {
    let side = |pair: &[u64]| pair[0].cmp(&pair[1]);
    let pairs = || entries.coords.chunks_exact(2).map(side).enumerate();
    let Some((first, side)) = pairs().find(|(_, side)| side.is_ne()) else {
        return Ok(());
    };
    let Some((other, _)) = pairs().find(|&(_, other)| other == side.reverse()) else {
        return Ok(());
    };
    let (line, place) = text.excerpt(lines.line_of(other));
    let (before, first) = text.excerpt(lines.line_of(first));
    let name = |below: bool| if below { "below" } else { "above" };
    let message = "a symmetric file that states entries on both sides of the diagonal";
    Err(Diagnostic::new(code::ASYMMETRIC_FILE, message)
        .at(&line, place, format!("{} the diagonal", name(side.is_lt())))
        .also(
            &before,
            first,
            format!("{} the diagonal", name(side.is_gt())),
        )
        .help("state one triangle, or say `general` if all entries are stated"))
}

fn check(tensor: &Tensor, _: &WriteOptions) -> Result<()> {
    check_fill(tensor)?;
    if tensor.order() == 2 {
        return Ok(());
    }
    Err(Diagnostic::new(
        code::NOT_EXPRESSIBLE_IN_FILE,
        format!(
            "a `.mtx` file holds matrices, not tensors of order {}",
            tensor.order()
        ),
    )
    .help("write a `.tns` file"))
}

fn write(tensor: &Tensor, _: &WriteOptions, output: &mut Output) -> std::io::Result<()> {
    let field = match tensor.element() {
        element if element.is_complex() => "complex",
        element if element.is_float() => "real",
        _ => "integer",
    };
    let (extents, n) = (tensor.extents(), tensor.n_stored());
    let header = format!(
        "{BANNER} matrix coordinate {field} general\n{} {} {n}\n",
        extents[0], extents[1]
    );
    output.write_all(header.as_bytes())?;
    write_entries(tensor, output)
}
