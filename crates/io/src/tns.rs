//! FROSTT files: `.tns`, one line an entry.
//!
//! ```text
//! # comments
//! 1 1 3 2.5        a coordinate for each mode, counted from 1, and the value
//! 2 4 1 -1
//! ```
//!
//! There is no header. The first line says how many modes there are; extents
//! are the largest coordinates unless the reader knows them. A tensor of order 0
//! is one line with its value. Values are `f64` unless the reader asks for
//! another type.
//!
//! Source: the FROSTT collection, <http://frostt.io/tensors/file-formats.html>.

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_parallel::{map, ranges};
use sparsec_tensor::Entries;

use crate::input::Input;
use crate::lines::{Cursor, Lines};
use crate::output::{check_fill, write_entries};
use crate::{Content, FileTensor, FileType, ReadOptions, Structure, Writer};

/// The file type.
pub const TYPE: FileType = FileType {
    endings: &[".tns"],
    summary: "FROSTT, one line an entry: tensors of any order",
    is_text: true,
    read,
    writer: Some(Writer {
        check: |tensor, _| check_fill(tensor),
        write: |tensor, _, output| write_entries(tensor, output),
    }),
};

/// Entries that one thread looks through at a time.
const GRAIN: usize = 1 << 16;

fn read(text: &Input, options: &ReadOptions) -> Result<FileTensor> {
    let element = options.element.unwrap_or(ElementType::F64);
    let entries = match order(text) {
        Some(order) => read_lines(text, order, element, options.extents.as_deref())?,
        None => empty(text, element, options.extents.as_deref())?,
    };
    let n_lines = entries.len();
    Ok(FileTensor {
        content: Content::Entries(entries),
        states_extents: false,
        structure: Structure::General,
        n_stored: n_lines as u64,
    })
}

/// How many coordinates the first entry has; `None` where there is no entry.
fn order(text: &Input) -> Option<usize> {
    let mut cursor = Cursor {
        bytes: text.bytes(),
        at: text.start(),
    };
    if !cursor.next_entry(b'#') {
        return None;
    }
    let (line, _) = text.line(cursor.at);
    cursor.bytes = &text.bytes()[..line.end];
    let mut words = 0;
    while !cursor.word().is_empty() {
        words += 1;
        cursor.skip_blanks();
    }
    Some(words - 1)
}

fn read_lines(
    text: &Input,
    order: usize,
    element: ElementType,
    given: Option<&[Option<u64>]>,
) -> Result<Entries> {
    let mut lines = Lines {
        text,
        range: text.start()..text.bytes().len(),
        comment: b'#',
        largest: vec![i64::MAX as u64; order],
        n_parts: 1 + usize::from(element.is_complex()),
    };
    if let Some(given) = given {
        if given.len() != order {
            return Err(text.fault(
                code::LENGTH_MISMATCH,
                format!(
                    "a file of order {order} for a tensor of order {}",
                    given.len()
                ),
                lines.line_of(0),
                format!("{order} coordinates and a value"),
            ));
        }
        for (largest, given) in lines.largest.iter_mut().zip(given) {
            *largest = given.unwrap_or(*largest);
        }
    }
    let mut entries = lines.parse(element)?;
    if order == 0 && entries.len() > 1 {
        return Err(text.fault(
            code::BAD_ENTRY,
            "a second value for a tensor of order 0",
            lines.line_of(1),
            "the file has one line, the value",
        ));
    }
    let found = largest(&entries.coords, order);
    entries.extents = (0..order)
        .map(|mode| given.and_then(|given| given[mode]).unwrap_or(found[mode]))
        .collect();
    Ok(entries)
}

/// The smallest extents that hold these coordinates.
fn largest(coords: &[u64], order: usize) -> Vec<u64> {
    let entries = coords.len().checked_div(order).unwrap_or(0);
    let parts = map(ranges(entries, GRAIN), |range| {
        let mut largest = vec![0; order];
        for row in coords[range.start * order..range.end * order].chunks_exact(order) {
            for (largest, &c) in largest.iter_mut().zip(row) {
                *largest = (c + 1).max(*largest);
            }
        }
        largest
    });
    parts.into_iter().fold(vec![0; order], |all, part| {
        all.into_iter().zip(part).map(|(a, b)| a.max(b)).collect()
    })
}

/// A file without entries is a tensor only if its extents are known.
fn empty(text: &Input, element: ElementType, given: Option<&[Option<u64>]>) -> Result<Entries> {
    let known: Option<Vec<u64>> = given.and_then(|given| given.iter().copied().collect());
    match known {
        Some(extents) => Ok(Entries::empty(&extents, element)),
        None => Err(Diagnostic::new(
            code::BAD_HEADER,
            format!(
                "`{}` has no entries, which leaves its order and extents open",
                text.name()
            ),
        )
        .help("state the extent of each index variable, as in `-d i=10`")),
    }
}
