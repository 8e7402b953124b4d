//! Matrix Market files: `.mtx`.
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
//! | header             | read as                                                      |
//! |--------------------|--------------------------------------------------------------|
//! | `coordinate`       | entries in the order of the file                             |
//! | `array`            | a dense tensor; no line has coordinates                      |
//! | `real`             | `f64`                                                        |
//! | `integer`          | `i64`                                                        |
//! | `unsigned-integer` | `u64`; SciPy writes it                                       |
//! | `complex`          | `c128`; a value is two numbers                               |
//! | `pattern`          | `f64` ones; lines have no value                              |
//! | `general`          | the lines                                                    |
//! | `symmetric`        | the lines, and the mirror images of those off the diagonal   |
//! | `skew-symmetric`   | the same, with negative images; the diagonal is zero         |
//! | `hermitian`        | the same, with conjugate images; the diagonal is real        |
//!
//! Another element type may be asked for, if it holds every value. A matrix of a type
//! that no field stands for, as `bool` or `f32`, is written with a comment that
//! declares it. A dense
//! tensor is written in array form, and so is one whose fill is not zero; every other in
//! coordinate form. A structure is written if it is asked for and there. Comments are not
//! kept.
//!
//! Source: Boisvert, Pozo and Remington, "The Matrix Market Exchange Formats:
//! Initial Design", NISTIR 5935, <https://math.nist.gov/MatrixMarket/formats.html>.

use std::io::{self, Write as _};
use std::ops::Range;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_tensor::Tensor;

use crate::content::{Content, FileTensor, Structure};
use crate::declared::{self, Declared};
use crate::file_type::{FileType, Writer};
use crate::fill::{check_fill, stated};
use crate::input::Input;
use crate::lines::Lines;
use crate::options::{ReadOptions, WriteOptions};
use crate::output::{Output, write_entries, write_values};
use crate::{mirror, triangle};

mod array;
mod header;

use header::{BANNER, Field, Form, Header, Size};

/// The file type.
pub const TYPE: FileType = FileType {
    endings: &[".mtx"],
    summary: "Matrix Market: matrices, sparse and dense",
    is_text: true,
    by_path: false,
    read,
    writer: Some(Writer { check, write }),
};

/// Whether this is how such a file begins.
pub(crate) fn begins(content: &[u8]) -> bool {
    let banner = content.get(..BANNER.len());
    banner.is_some_and(|banner| banner.eq_ignore_ascii_case(BANNER.as_bytes()))
}

fn read(text: &Input, options: &ReadOptions) -> Result<FileTensor> {
    let (line, next) = text.line(text.start());
    let (header, field) = Header::parse(text, line)?;
    let size = Size::parse(text, next, header.form)?;
    let structure = header.structure;
    if structure != Structure::General && size.rows != size.columns {
        return Err(text
            .fault(
                code::ASYMMETRIC_FILE,
                format!("a {structure} matrix that is not square"),
                size.place.clone(),
                format!("{} rows and {} columns", size.rows, size.columns),
            )
            .help(
                "declare the matrix `general` if the file states every entry, or correct the sizes",
            ));
    }
    let declared = Declared::find(text, next, b'%')?;
    if let Some(declared) = &declared {
        declared.check_extents(text, &[size.rows, size.columns])?;
    }
    let natural = declared.as_ref().map(|declared| declared.element);
    let natural = natural.unwrap_or(header.field.element());
    let element = options.element.unwrap_or(natural);
    check_element(text, header.field, element, field)?;
    let lines = Lines {
        text,
        range: size.next..text.bytes().len(),
        comment: b'%',
        largest: match header.form {
            Form::Coordinate => vec![size.rows, size.columns],
            Form::Array => Vec::new(),
        },
        n_parts: header.field.n_parts(),
        is_exact: options.element.is_none() && declared.is_none(),
        progress: options.progress.as_ref(),
    };
    let mut entries = lines.parse(element)?;
    let n_stored = entries.len() as u64;
    let promised = match size.n_lines {
        Some(promised) => Some(promised),
        None => array::n_values(&size, structure),
    };
    lines.check_count(promised, n_stored, size.last.clone())?;
    let content = match header.form {
        Form::Array => array::matrix(&size, structure, entries.values)?,
        Form::Coordinate => {
            entries.extents = vec![size.rows, size.columns];
            Content::Entries(entries)
        }
    };
    let content = match content {
        Content::Entries(entries) => {
            mirror::check(&entries, structure, text, &|entry| lines.line_of(entry))?;
            Content::Entries(match options.keep_structure {
                true => entries,
                false => mirror::complete(entries, structure)?,
            })
        }
        tensor => tensor,
    };
    Ok(FileTensor {
        content,
        states_extents: true,
        states_fill: false,
        structure,
        n_stored,
    })
}

/// Refuses complex values for a real type; what else a type would lose is seen
/// value by value.
fn check_element(
    text: &Input,
    field: Field,
    element: ElementType,
    place: Range<usize>,
) -> Result<()> {
    if field != Field::Complex || element.is_complex() {
        return Ok(());
    }
    let message = format!("complex values do not fit in {element}");
    Err(text
        .fault(code::LOSSY_TYPE, message, place, "each has two parts")
        .help("read them as `c128` or `c64`"))
}

fn check(tensor: &Tensor, options: &WriteOptions) -> Result<()> {
    check_fill(tensor)?;
    if tensor.order() != 2 {
        return Err(Diagnostic::new(
            code::NOT_EXPRESSIBLE_IN_FILE,
            format!(
                "a `.mtx` file holds matrices, not tensors of order {}",
                tensor.order()
            ),
        ));
    }
    match options.structure {
        Structure::General => Ok(()),
        structure => triangle::lower(&*stated(tensor)?, structure).map(drop),
    }
}

fn write(tensor: &Tensor, options: &WriteOptions, output: &mut Output) -> io::Result<()> {
    let tensor = &*stated(tensor).map_err(io::Error::other)?;
    let structure = options.structure;
    let field = Field::of(tensor.element());
    let form = match tensor.format().is_all_dense() {
        true => Form::Array,
        false => Form::Coordinate,
    };
    let (form_name, field_name) = (form.name(), field.name());
    let banner = format!("{BANNER} matrix {form_name} {field_name} {structure}\n");
    output.write_all(banner.as_bytes())?;
    if field.element() != tensor.element() {
        output.write_all(declared::of_element(tensor, '%').as_bytes())?;
    }
    let [rows, columns] = tensor.extents() else {
        return Err(io::Error::other("no matrix"));
    };
    if form == Form::Array {
        output.write_all(format!("{rows} {columns}\n").as_bytes())?;
        let values = array::values(tensor, structure).map_err(io::Error::other)?;
        return write_values(&values, output);
    }
    let half;
    let tensor = match structure {
        Structure::General => tensor,
        structure => {
            half = triangle::lower(tensor, structure).map_err(io::Error::other)?;
            &half
        }
    };
    let tensor = &*tensor.regular().map_err(io::Error::other)?;
    output.write_all(format!("{rows} {columns} {}\n", tensor.n_stored()).as_bytes())?;
    write_entries(tensor, output)
}
