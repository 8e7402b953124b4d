//! FROSTT files: `.tns`, one line an entry.
//!
//! ```text
//! plain                                   extended
//!
//! # comments                              # extended FROSTT format
//! 1 1 3 2.5      coordinates, value       3 2          order, number of entries
//! 2 4 1 -1       counted from 1           2 4 3        extents
//!                                         1 1 3 2.5
//!                                         2 4 1 -1
//! ```
//!
//! A plain file has no header: its first line says how many modes there are, and
//! extents are the largest coordinates unless the reader knows them. A tensor of
//! order 0 is one line with its value. An extended file is known by its comment,
//! or by three lines that are no plain file, as the second has `order` words and
//! the third more. MLIR reads and writes those; the writer makes plain files unless the
//! caller asks for the extended header. A tensor whose fill is not zero is written entry by
//! entry, those that are not stored included.
//!
//! Values are `f64` unless the reader asks for another type or a comment
//! declares one. A complex value is two numbers: only the extended
//! header, that comment or the reader tells the first from a further coordinate. The
//! writer declares every type but `f64`, and the extents of a tensor without entries.
//!
//! Sources: the FROSTT collection, <http://frostt.io/tensors/file-formats.html>;
//! MLIR's `ExecutionEngine/SparseTensor/File.h`.

use std::io::{self, Write as _};
use std::ops::Range;

use sparsec_base::{Diagnostic, ElementType, Result, check_order, code};
use sparsec_parallel::{map, ranges};
use sparsec_tensor::{Coords, Entries, Tensor};

use crate::content::{Content, FileTensor, Structure};
use crate::cursor::Cursor;
use crate::declared::{self, Declared};
use crate::file_type::{FileType, Writer};
use crate::fill::{check_fill, stated};
use crate::input::Input;
use crate::lines::Lines;
use crate::number::digits;
use crate::options::{ReadOptions, WriteOptions};
use crate::output::{Output, check_general, write_entries};

/// The file type.
pub const TYPE: FileType = FileType {
    endings: &[".tns"],
    summary: "FROSTT, one line an entry: tensors of any order",
    is_text: true,
    by_path: false,
    read,
    writer: Some(Writer { check, write }),
};

/// The comment that extended files begin with.
const MARK: &str = "# extended FROSTT format";
/// Where the order of a plain file comes from.
const ORDER_FROM_LINE: &str = "the words of the first line but the last are coordinates";
/// Entries that one thread looks through at a time.
const GRAIN: usize = 1 << 16;

fn read(text: &Input, options: &ReadOptions) -> Result<FileTensor> {
    text.check_is_text()?;
    let declared = Declared::find(text, text.start(), b'#')?;
    let (entries, states_extents) = match Header::find(text)? {
        Some(header) => (header.entries(text, options, declared)?, true),
        None => plain(text, options, declared)?,
    };
    Ok(FileTensor {
        states_extents,
        states_fill: false,
        structure: Structure::General,
        n_stored: entries.len() as u64,
        content: Content::Entries(entries),
    })
}

/// The places of the words of the next line that is no comment, and not blank.
fn words(text: &Input, cursor: &mut Cursor<'_>) -> Vec<Range<usize>> {
    if !cursor.next_entry(b'#') {
        return Vec::new();
    }
    let (line, next) = text.line(cursor.at);
    let mut inside = Cursor {
        bytes: &text.bytes()[..line.end],
        at: line.start,
    };
    let mut words = Vec::new();
    loop {
        inside.skip_blanks();
        let word = inside.word();
        if word.is_empty() {
            cursor.at = next;
            return words;
        }
        words.push(word);
    }
}

/// The two lines that an extended file begins with.
struct Header {
    extents: Vec<u64>,
    n_entries: u64,
    /// Where the number of entries stands.
    promise: Range<usize>,
    /// How many numbers a value is.
    n_parts: usize,
    /// Where the entries begin.
    next: usize,
}

impl Header {
    /// The header, if the file is an extended one.
    fn find(text: &Input) -> Result<Option<Self>> {
        let bytes = text.bytes();
        let mut cursor = Cursor {
            bytes,
            at: text.start(),
        };
        let marked = bytes[cursor.at..].starts_with(MARK.as_bytes());
        let first = words(text, &mut cursor);
        // A plain file of a large order has no header; spare its second line.
        if first.len() != 2 && !marked {
            return Ok(None);
        }
        let second = words(text, &mut cursor);
        let next = cursor.at;
        let third = words(text, &mut cursor);
        let number = |place: &Range<usize>| match digits(&bytes[place.clone()]) {
            (Some(n), length) if length == place.len() => Some(n).filter(|&n| n <= i64::MAX as u64),
            _ => None,
        };
        let numbers = |places: &[Range<usize>]| places.iter().map(number).collect();
        let sizes: Option<Vec<u64>> = numbers(&first);
        let extents: Option<Vec<u64>> = numbers(&second);
        if let (Some(&[order, n_entries]), Some(extents)) = (sizes.as_deref(), extents) {
            let fits = order == extents.len() as u64;
            let n_parts = third.len().saturating_sub(extents.len());
            let follows = match third.is_empty() {
                true => n_entries == 0 && second.len() != first.len(),
                false => (1..=2).contains(&n_parts),
            };
            if fits && (marked || follows) {
                check_order(extents.len())
                    .map_err(|error| text.at(error, first[0].clone(), "the order"))?;
                return Ok(Some(Self {
                    extents,
                    n_entries,
                    promise: first[1].clone(),
                    n_parts: n_parts.clamp(1, 2),
                    next,
                }));
            }
        }
        if !marked {
            return Ok(None);
        }
        let at = first
            .iter()
            .chain(&second)
            .find(|place| number(place).is_none());
        let end = bytes.len()..bytes.len();
        let place = at.or(second.first()).or(first.first());
        let fault = text.fault(
            code::BAD_HEADER,
            "an extended file without order, number of entries and extents",
            place.cloned().unwrap_or(end),
            "expected an order and a number of entries, then a line with as many extents",
        );
        Err(fault.help("the lines after the comments are `ORDER ENTRIES` and the extents"))
    }

    fn entries(
        self,
        text: &Input,
        options: &ReadOptions,
        declared: Option<Declared>,
    ) -> Result<Entries> {
        if let Some(declared) = &declared {
            declared.check_extents(text, &self.extents)?;
        }
        let natural = match (&declared, self.n_parts) {
            (Some(declared), _) => declared.element,
            (None, 2) => ElementType::C128,
            (None, _) => ElementType::F64,
        };
        let element = options.element.unwrap_or(natural);
        if self.n_parts == 2 && !element.is_complex() {
            return Err(complex_values(text, self.next, element));
        }
        let lines = Lines {
            text,
            range: self.next..text.bytes().len(),
            comment: b'#',
            largest: self.extents.clone(),
            n_parts: self.n_parts,
            is_exact: options.element.is_none() && declared.is_none(),
            progress: options.progress.as_ref(),
        };
        let mut entries = lines.parse(element)?;
        let found = entries.len() as u64;
        lines.check_count(Some(self.n_entries), found, self.promise)?;
        entries.extents = self.extents;
        Ok(entries)
    }
}

/// The fault of a value with two parts, which begins at `at`, for a real type.
fn complex_values(text: &Input, at: usize, element: ElementType) -> Diagnostic {
    let (line, _) = text.line(at);
    let message = format!("complex values do not fit in {element}");
    text.fault(code::LOSSY_TYPE, message, line, "the value has two parts")
        .help("read them as `c128` or `c64`")
}

/// The entries of a plain file, and whether it declares its extents.
fn plain(
    text: &Input,
    options: &ReadOptions,
    declared: Option<Declared>,
) -> Result<(Entries, bool)> {
    let natural = declared.as_ref().map(|declared| declared.element);
    let natural = natural.unwrap_or(ElementType::F64);
    let element = options.element.unwrap_or(natural);
    let stated = declared
        .as_ref()
        .and_then(|declared| declared.extents.as_ref());
    let stated: Option<Vec<Option<u64>>> =
        stated.map(|extents| extents.iter().copied().map(Some).collect());
    let given = stated.as_deref().or(options.extents.as_deref());
    let mut cursor = Cursor {
        bytes: text.bytes(),
        at: text.start(),
    };
    let first = words(text, &mut cursor);
    let (Some(start), n_words) = (first.first(), first.len()) else {
        return Ok((empty(text, element, given)?, stated.is_some()));
    };
    // A complex value has two parts, unless the extents leave one word for it.
    let may_have_two = element.is_complex() || natural.is_complex();
    let has_two = may_have_two && given.is_none_or(|given| given.len() + 1 != n_words);
    if has_two && !element.is_complex() {
        return Err(complex_values(text, start.start, element));
    }
    let n_parts = if has_two { 2 } else { 1 };
    let order = n_words.saturating_sub(n_parts);
    check_order(order).map_err(|error| text.at(error, start.clone(), ORDER_FROM_LINE))?;
    let mut lines = Lines {
        text,
        range: text.start()..text.bytes().len(),
        comment: b'#',
        largest: vec![i64::MAX as u64; order],
        n_parts,
        is_exact: options.element.is_none() && declared.is_none(),
        progress: options.progress.as_ref(),
    };
    if let Some(given) = given {
        if given.len() != order {
            if let Some(declared) = declared.filter(|_| stated.is_some()) {
                let n = given.len();
                return Err(declared.contradicts(
                    text,
                    format!("a comment declares {n} extents above lines of {order} coordinates"),
                ));
            }
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
        return Err(text
            .fault(
                code::BAD_ENTRY,
                "a second value for a tensor of order 0",
                lines.line_of(1),
                "the file has one line, the value",
            )
            .help("remove the other lines"));
    }
    let found = largest(&entries.coords, order);
    entries.extents = (0..order)
        .map(|mode| given.and_then(|given| given[mode]).unwrap_or(found[mode]))
        .collect();
    Ok((entries, stated.is_some()))
}

/// The smallest extents that hold these coordinates.
fn largest(coords: &Coords, order: usize) -> Vec<u64> {
    let entries = coords.len().checked_div(order).unwrap_or(0);
    let parts = map(ranges(entries, GRAIN), |range| {
        let mut largest = vec![0; order];
        for e in range {
            let tuple = coords.tuple(e * order, order);
            for (largest, c) in largest.iter_mut().zip(tuple.iter()) {
                *largest = (c + 1).max(*largest);
            }
        }
        largest
    });
    maxima(parts, order)
}

/// The largest number in each place of some lists.
fn maxima(lists: Vec<Vec<u64>>, length: usize) -> Vec<u64> {
    lists.into_iter().fold(vec![0; length], |all, list| {
        all.into_iter().zip(list).map(|(a, b)| a.max(b)).collect()
    })
}

/// A file without entries is a tensor only if its extents are known.
fn empty(text: &Input, element: ElementType, given: Option<&[Option<u64>]>) -> Result<Entries> {
    let known: Option<Vec<u64>> = given.and_then(|given| given.iter().copied().collect());
    match known {
        Some(extents) => Ok(Entries::empty(&extents, element)),
        None => {
            let (name, extents) = (text.name(), "give its extents: `ReadOptions::extents`");
            let (message, help) = match text.bytes().is_empty() {
                true => (
                    format!("`{name}` is empty"),
                    format!(
                        "if a command was to write it, see whether that failed; else {extents}"
                    ),
                ),
                false => (
                    format!("`{name}` has no entries, which leaves its order and extents open"),
                    extents.to_owned(),
                ),
            };
            Err(Diagnostic::new(code::BAD_HEADER, message).help(help))
        }
    }
}

fn check(tensor: &Tensor, options: &WriteOptions) -> Result<()> {
    check_fill(tensor)?;
    check_general(options, ".tns")
}

/// Whether a plain file needs the comment that declares type and extents.
fn is_declared(tensor: &Tensor) -> bool {
    tensor.element() != ElementType::F64 || tensor.n_stored() == 0
}

/// Whether a tensor reads back with smaller extents: the file does not state them, and
/// some mode has no entry at its last coordinate.
///
/// # Errors
/// `E0407` when memory is out.
pub fn loses_extents(tensor: &Tensor, options: &WriteOptions) -> Result<bool> {
    let tensor = tensor.regular()?;
    let has_all = tensor.format().is_all_dense() || !tensor.fill().is_zero();
    if has_all || options.states_extents || is_declared(&tensor) {
        return Ok(false);
    }
    let parts = map(ranges(tensor.n_stored(), GRAIN), |range| {
        let mut largest = vec![0; tensor.order()];
        tensor.for_each_stored_in(range, |tuple, _| {
            for (largest, coord) in largest.iter_mut().zip(tuple) {
                *largest = (coord + 1).max(*largest);
            }
        });
        largest
    });
    Ok(maxima(parts, tensor.order()) != tensor.extents())
}

fn write(tensor: &Tensor, options: &WriteOptions, output: &mut Output) -> io::Result<()> {
    let tensor = stated(tensor).map_err(io::Error::other)?;
    let tensor = &*tensor.regular().map_err(io::Error::other)?;
    let header = match options.states_extents && tensor.order() > 0 {
        true => extended_header(tensor),
        false if is_declared(tensor) => declared::of_tensor(tensor, '#'),
        false => String::new(),
    };
    output.write_all(header.as_bytes())?;
    write_entries(tensor, output)
}

fn extended_header(tensor: &Tensor) -> String {
    let comment = match tensor.element() {
        ElementType::F64 => String::new(),
        _ => declared::of_element(tensor, '#'),
    };
    let extents: Vec<String> = tensor.extents().iter().map(u64::to_string).collect();
    let (order, n_stored) = (tensor.order(), tensor.n_stored());
    format!(
        "{MARK}\n{comment}{order} {n_stored}\n{}\n",
        extents.join(" ")
    )
}
