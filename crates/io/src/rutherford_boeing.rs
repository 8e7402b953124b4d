//! Rutherford–Boeing files: `.rb`, `.rua`, `.rsa` and the like; read only.
//!
//! ```text
//! A title of 72 columns                                         key
//!              3             1             1             1      lines: all, pointers, rows, values
//! rsa                        3             3             4             0
//! (16I5)          (16I5)          (1P,5E16.8)
//!     1    3    4    5                                          where each column begins
//!     1    2    2    3                                          the row of each entry
//!   2.50000000E+00 -1.00000000E+00  4.00000000E-03  1.0D+00     its value
//! ```
//!
//! The matrix is stored by columns, counted from 1. The third line has the type,
//! the numbers of rows, columns and entries, and a 0. The type is three letters:
//!
//! | place | letters                                                              |
//! |-------|----------------------------------------------------------------------|
//! | 1     | `r` real, `c` complex, `i` integer, `p` pattern: ones of `f64`       |
//! | 2     | `s` symmetric, `u` unsymmetric, `h` hermitian, `z` skew-symmetric, `r` rectangular |
//! | 3     | `a` assembled; `e`, a sum of small matrices, is refused              |
//!
//! The fourth line has the Fortran formats of the three parts (`fortran`).
//! Older Harwell–Boeing files are the same with right-hand sides at the end,
//! which the second line counts, and a fifth line on them; they are passed over.
//!
//! Source: Duff, Grimes and Lewis, "The Rutherford-Boeing Sparse Matrix
//! Collection", RAL-TR-97-031, 1997.

use std::ops::Range;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_tensor::{Array, Entries, with_element};

use crate::content::{Content, FileTensor, Structure};
use crate::file_type::FileType;
use crate::input::Input;
use crate::mirror;
use crate::number::{Value, digits};
use crate::options::ReadOptions;

mod fortran;
mod header;
mod section;

use header::Header;
use section::Section;

/// The file type.
pub const TYPE: FileType = FileType {
    endings: &[
        ".rb", ".hb", ".rua", ".rsa", ".rra", ".rza", ".cua", ".csa", ".cha", ".cra", ".cza",
        ".iua", ".isa", ".ira", ".iza", ".pua", ".psa", ".pra",
    ],
    summary: "Rutherford-Boeing and Harwell-Boeing, read only: matrices",
    is_text: true,
    by_path: false,
    read,
    writer: None,
};

fn read(text: &Input, options: &ReadOptions) -> Result<FileTensor> {
    let header = Header::parse(text)?;
    let element = options.element.unwrap_or(header.element);
    if header.element.is_complex() && !element.is_complex() {
        let message = format!("complex values do not fit in {element}");
        return Err(text
            .fault(code::LOSSY_TYPE, message, header.kind, "each has two parts")
            .help("read them as `c128` or `c64`"));
    }
    let meter = text.meter(options.progress.as_ref(), text.bytes().len());
    let mut section = Section::new(text, header.next, &meter);
    let columns = begin_of_columns(text, &header, &mut section)?;
    let coords = coordinates(&header, &columns, &mut section)?;
    let values = with_element!(element, T => values::<T>(&header, &mut section)?);
    let entries = Entries {
        extents: vec![header.rows, header.columns],
        coords: coords.into(),
        values,
    };
    let structure = header.structure;
    let line_of = |entry| section.place_of(entry);
    mirror::check(&entries, structure, text, &line_of)?;
    Ok(FileTensor {
        states_extents: true,
        states_fill: false,
        structure,
        n_stored: entries.len() as u64,
        content: Content::Entries(match options.keep_structure {
            true => entries,
            false => mirror::complete(entries, structure)?,
        }),
    })
}

/// Reads the pointers: the entries of column `j` are those from the `j`-th on
/// and before the next, here counted from 0.
fn begin_of_columns(
    text: &Input,
    header: &Header,
    section: &mut Section<'_>,
) -> Result<Vec<usize>> {
    section.begin(
        &header.pointers,
        header.columns.saturating_add(1),
        "pointers",
    )?;
    let mut columns: Vec<usize> = Vec::new();
    while let Some((_, place)) = section.next()? {
        let end = header.n_entries.saturating_add(1);
        let least = columns.last().map_or(1, |&before| before as u64 + 1);
        let is_last = columns.len() as u64 == header.columns;
        let wanted = match is_last {
            true => end..=end,
            false if columns.is_empty() => 1..=1,
            false => least..=end,
        };
        let found = unsigned(&text.bytes()[place.clone()]);
        let Some(pointer) = found.filter(|pointer| wanted.contains(pointer)) else {
            let expected = match wanted.start() == wanted.end() {
                true => format!("expected {}", wanted.start()),
                false => format!("expected {} to {}", wanted.start(), wanted.end()),
            };
            let message = format!("column {} begins at no entry", columns.len() + 1);
            return Err(text
                .fault(code::BAD_SEGMENTS, message, place, expected)
                .note("pointers ascend from 1 to one more than the number of entries"));
        };
        columns.push((pointer - 1) as usize);
    }
    Ok(columns)
}

/// Reads the rows; gives the coordinates of the entries.
fn coordinates(header: &Header, columns: &[usize], section: &mut Section<'_>) -> Result<Vec<u64>> {
    section.begin(&header.indices, header.n_entries, "rows")?;
    let mut coords = Vec::new();
    for (column, ends) in columns.windows(2).enumerate() {
        for _ in ends[0]..ends[1] {
            let Some((_, place)) = section.next()? else {
                break;
            };
            match unsigned(&section.text().bytes()[place.clone()]) {
                Some(row) if (1..=header.rows).contains(&row) => {
                    coords.extend([row - 1, column as u64]);
                }
                Some(_) => {
                    let message = format!(
                        "a coordinate outside mode 0, whose extent is {}",
                        header.rows
                    );
                    let wanted = format!("expected 1 to {}", header.rows);
                    return Err(section
                        .text()
                        .fault(code::OUT_OF_BOUNDS, message, place, wanted)
                        .help("correct the row, or state more rows in the header"));
                }
                None => {
                    let message = "a line that is not rows of entries";
                    let wanted = "expected a row, counted from 1";
                    let fault = section
                        .text()
                        .fault(code::BAD_ENTRY, message, place, wanted);
                    return Err(fault.help("compare the columns with the format in the header"));
                }
            }
        }
    }
    Ok(coords)
}

fn values<T: Value>(header: &Header, section: &mut Section<'_>) -> Result<Array> {
    let text = section.text();
    let bytes = text.bytes();
    let n_entries = header.n_entries as usize;
    let Some(layout) = &header.values else {
        section.mark();
        return Ok(Array::from_vec(vec![T::ONE; n_entries]));
    };
    let n_parts = if header.element.is_complex() { 2 } else { 1 };
    section.begin(
        layout,
        header.n_entries.saturating_mul(n_parts as u64),
        "values",
    )?;
    let mut values: Vec<T> = Vec::with_capacity(n_entries);
    let mut plain = Vec::new();
    while let Some((field, place)) = section.next()? {
        plain.clear();
        let mut all = place.clone();
        field.plain(&bytes[place], &mut plain);
        if n_parts == 2
            && let Some((field, place)) = section.next()?
        {
            plain.push(b' ');
            all.end = place.end;
            field.plain(&bytes[place], &mut plain);
        }
        match T::read(&plain, n_parts) {
            Some((value, length)) if length == plain.len() => values.push(value),
            _ => return Err(no_value::<T>(text, &plain, all, n_parts)),
        }
    }
    Ok(Array::from_vec(values))
}

fn no_value<T: Value>(
    text: &Input,
    plain: &[u8],
    place: Range<usize>,
    n_parts: usize,
) -> Diagnostic {
    let other = sparsec_base::Complex::<f64>::read(plain, n_parts);
    let expected = format!("expected {}", T::WANTED);
    match other.is_some_and(|(_, length)| length == plain.len()) {
        true => text
            .fault(
                code::LOSSY_TYPE,
                format!("a value that is none of type {}", T::TYPE),
                place,
                expected,
            )
            .help("read the values as a type that holds all of them, such as f64"),
        false => text
            .fault(
                code::BAD_ENTRY,
                "a line that is not values of entries",
                place,
                expected,
            )
            .help("compare the columns with the format in the header"),
    }
}

/// A word that is an integer without a sign.
fn unsigned(word: &[u8]) -> Option<u64> {
    match digits(word) {
        (Some(n), length) if length == word.len() && length > 0 => Some(n),
        _ => None,
    }
}

/// What the letters of a type say.
fn kind(letters: &str) -> Option<(ElementType, Structure)> {
    let mut letters = letters.bytes();
    let element = match letters.next()? {
        b'r' | b'p' => ElementType::F64,
        b'c' => ElementType::C128,
        b'i' => ElementType::I64,
        _ => return None,
    };
    let structure = match letters.next()? {
        b's' => Structure::Symmetric,
        b'u' | b'r' => Structure::General,
        b'h' => Structure::Hermitian,
        b'z' => Structure::SkewSymmetric,
        _ => return None,
    };
    Some((element, structure))
}
