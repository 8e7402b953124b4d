//! Entries from lines, in parallel.
//!
//! Text files hold one entry a line: coordinates counted from 1, then the value.
//! The bytes go through in waves that fit the cache. A wave is cut at line ends
//! into ranges, each of which is parsed to a list of its own; then the lists are
//! put together.
//!
//! ```text
//! bytes    |1 1 2.5·% note·2 3 1·|3 3 4·|       cut at line ends
//! lists    |e e                  |e     |
//! entries  |e e e|
//! ```
//!
//! A line of the common shape is taken apart by [`Line`], any other word by word.
//! Memory is taken wave by wave, by what was found.

use std::ops::Range;

use pulp::Arch;
use sparsec_base::{Complex, Diagnostic, ElementType, Result, code};
use sparsec_parallel::{map, ranges, threads};
use sparsec_tensor::{Array, CoordWord, Entries, with_element};

use crate::cursor::{Cursor, is_blank};
use crate::found::{Found, Piece};
use crate::input::Input;
use crate::line::{BLOCK, Line};
use crate::number::{MOST_EXACT, Value, is_rounded_integer};
use crate::progress::Progress;

/// Bytes that one thread parses at a time.
const GRAIN: usize = 64 << 10;
/// Bytes for each thread that are parsed before their entries are put together:
/// what a cache holds, with the entries in it.
const WAVE: usize = 1 << 20;

/// What the lines of a file hold.
pub(crate) struct Lines<'a> {
    pub(crate) text: &'a Input,
    /// The bytes that hold them.
    pub(crate) range: Range<usize>,
    /// The byte that comments begin with.
    pub(crate) comment: u8,
    /// The largest coordinate of each mode, counted from 1.
    pub(crate) largest: Vec<u64>,
    /// How many numbers follow the coordinates: none for a value of one, two
    /// for a complex one.
    pub(crate) n_parts: usize,
    /// Whether an integer that the type has only a neighbour of is refused: the
    /// type was not asked for, so that nothing says that it may be rounded.
    pub(crate) is_exact: bool,
    /// Who is told how far reading has come.
    pub(crate) progress: Option<&'a Progress>,
}

/// What is wrong in a line, and where.
struct Fault {
    place: Range<usize>,
    kind: FaultKind,
}

enum FaultKind {
    /// No coordinate of this mode.
    Coordinate(usize),
    /// A coordinate 0 in this mode.
    Zero(usize),
    /// A coordinate beyond the extent of this mode.
    Outside(usize),
    /// No value of the type.
    Value {
        element: ElementType,
        wanted: &'static str,
    },
    /// An integer that the type has only a neighbour of.
    Rounded,
    /// Something after the entry.
    LeftOver,
}

impl Lines<'_> {
    /// The entries, with values of type `element` and no extents yet.
    pub(crate) fn parse(&self, element: ElementType) -> Result<Entries> {
        let is_narrow = self.largest.iter().all(|&largest| largest <= 1 << 32);
        with_element!(element, T => match is_narrow {
            true => self.parse_as::<T, u32>(),
            false => self.parse_as::<T, u64>(),
        })
    }

    fn order(&self) -> usize {
        self.largest.len()
    }

    fn parse_as<T: Value, C: CoordWord>(&self) -> Result<Entries> {
        let meter = self.text.meter(self.progress, self.range.len());
        let mut found = Found::<T, C>::default();
        let mut pieces = Vec::new();
        let mut start = self.range.start;
        while start < self.range.end {
            let end = self.line_end(start.saturating_add(WAVE * threads()));
            self.wave(start..end, &mut pieces, &mut found)?;
            meter.add((end - start) as u64);
            start = end;
        }
        Ok(Entries {
            extents: Vec::new(),
            coords: C::list(found.coords),
            values: Array::from_vec(found.values),
        })
    }

    /// The end of the line that holds a place, or of all lines.
    fn line_end(&self, place: usize) -> usize {
        let all = self.range.end;
        if place >= all {
            return all;
        }
        let rest = &self.text.bytes()[place - 1..all];
        memchr::memchr(b'\n', rest).map_or(all, |newline| place + newline)
    }

    /// Appends the entries of some lines.
    fn wave<T: Value, C: CoordWord>(
        &self,
        range: Range<usize>,
        pieces: &mut Vec<Piece<T, C>>,
        found: &mut Found<T, C>,
    ) -> Result<()> {
        self.text.populate(&range);
        let cuts = self.cuts(&range);
        pieces.resize_with(cuts.len().max(pieces.len()), Piece::default);
        let work = cuts.into_iter().zip(pieces.iter_mut()).collect();
        let parsed: Vec<_> = map(work, |(cut, piece)| {
            // With the instructions that this machine has.
            Arch::new().dispatch(|| self.entries(cut, piece))
        });
        let n_pieces = parsed.len();
        for fault in parsed {
            fault.map_err(|fault| self.diagnostic(fault))?;
        }
        let share = range.len() as f64 / (self.range.end - range.start) as f64;
        found.append(&pieces[..n_pieces], self.order(), share)
    }

    /// The bytes in ranges that begin and end with lines.
    fn cuts(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut start = range.start;
        let mut cuts = Vec::new();
        for piece in ranges(range.len(), GRAIN) {
            let rough = range.start + piece.end;
            if rough > start {
                let end = self.line_end(rough).min(range.end);
                cuts.push(start..end);
                start = end;
            }
        }
        cuts
    }

    /// Parses the lines in a range.
    #[inline(always)]
    fn entries<T: Value, C: CoordWord>(
        &self,
        range: Range<usize>,
        piece: &mut Piece<T, C>,
    ) -> std::result::Result<(), Fault> {
        let order = self.order();
        let bytes = self.text.bytes();
        let (mut at, mut n) = (range.start, 0);
        loop {
            if n == piece.values.len() {
                piece.grow(order);
            }
            let row = &mut piece.coords[n * order..][..order];
            // The line may be followed by bytes of other ranges, but ends in this one.
            let block = bytes.get(at..).and_then(<[u8]>::first_chunk);
            if let Some(block) = block
                && let Some((value, length)) = self.common(block, row)
                && at < range.end
            {
                piece.values[n] = value;
                at += length;
            } else {
                let mut cursor = Cursor {
                    bytes: &bytes[..range.end],
                    at,
                };
                if !cursor.next_entry(self.comment) {
                    piece.n = n;
                    return Ok(());
                }
                piece.values[n] = self.entry(&mut cursor, row)?;
                at = cursor.at;
            }
            n += 1;
        }
    }

    /// The entry of a line of the common shape, and the length of the line.
    #[inline(always)]
    fn common<T: Value, C: CoordWord>(
        &self,
        block: &[u8; BLOCK],
        row: &mut [C],
    ) -> Option<(T, usize)> {
        let mut line = Line::new(block);
        line.blanks();
        let mut separated = true;
        for (coord, &largest) in row.iter_mut().zip(&self.largest) {
            if !separated {
                return None;
            }
            let zero_based = line.unsigned()?.wrapping_sub(1);
            if zero_based >= largest {
                return None;
            }
            *coord = C::of(zero_based);
            separated = line.blanks();
        }
        let value = match self.n_parts {
            0 => T::ONE,
            _ if separated => T::common(&mut line)?,
            _ => return None,
        };
        line.end().then_some((value, line.length()))
    }

    /// Parses the entry that begins at a cursor, to the end of its line.
    fn entry<T: Value, C: CoordWord>(
        &self,
        cursor: &mut Cursor<'_>,
        row: &mut [C],
    ) -> std::result::Result<T, Fault> {
        for (mode, (coord, &largest)) in row.iter_mut().zip(&self.largest).enumerate() {
            let start = cursor.skip_blanks();
            let fault = |cursor: &mut Cursor<'_>, kind| {
                cursor.at = start;
                let word = cursor.word();
                Err(Fault { place: word, kind })
            };
            match cursor.unsigned() {
                None => return fault(cursor, FaultKind::Coordinate(mode)),
                Some(0) => return fault(cursor, FaultKind::Zero(mode)),
                Some(c) if c > largest => return fault(cursor, FaultKind::Outside(mode)),
                Some(c) => *coord = C::of(c - 1),
            }
        }
        let mut value = T::ONE;
        if self.n_parts > 0 {
            let start = cursor.skip_blanks();
            let read = T::read(&cursor.bytes[start..], self.n_parts);
            cursor.at += read.map_or(0, |(_, length)| length);
            match read {
                Some((_, length)) if length > MOST_EXACT && self.rounds::<T>(start, cursor.at) => {
                    let place = self.words(start);
                    let kind = FaultKind::Rounded;
                    return Err(Fault { place, kind });
                }
                Some((read, _)) if cursor.at_word_end() => value = read,
                _ => {
                    let place = self.words(start);
                    let kind = FaultKind::Value {
                        element: T::TYPE,
                        wanted: T::WANTED,
                    };
                    return Err(Fault { place, kind });
                }
            }
        }
        let end = cursor.skip_blanks();
        if !cursor.at_line_end() {
            let word = cursor.word();
            return Err(Fault {
                place: end..word.end,
                kind: FaultKind::LeftOver,
            });
        }
        // A line of the common shape is looked at from its first byte.
        cursor.at = cursor.bytes.len().min(cursor.at + 1);
        Ok(value)
    }

    /// Whether a value that was read has an integer that is rounded unasked.
    #[cold]
    fn rounds<T: Value>(&self, start: usize, end: usize) -> bool {
        let parts = || self.text.bytes()[start..end].split(|&byte| is_blank(byte));
        let may_round = T::TYPE.is_float() || T::TYPE.is_complex();
        self.is_exact && may_round && parts().any(is_rounded_integer)
    }

    /// The words of a value that begins at `start`.
    fn words(&self, start: usize) -> Range<usize> {
        let mut cursor = Cursor {
            bytes: self.text.bytes(),
            at: start,
        };
        let mut end = cursor.word().end;
        for _ in 1..self.n_parts {
            cursor.skip_blanks();
            end = cursor.word().end.max(end);
            if cursor.at_line_end() {
                break;
            }
        }
        start..end
    }

    /// Whether a word is a value of some other type: an integer that is too
    /// large for the one at hand is, however large.
    fn is_number(&self, place: &Range<usize>) -> bool {
        let word = &self.text.bytes()[place.clone()];
        let read = Complex::<f64>::read(word, self.n_parts);
        let all_digits = || {
            let digits = word.strip_prefix(b"-").unwrap_or(word);
            !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        };
        read.is_some_and(|(_, length)| length == word.len()) || all_digits()
    }

    /// Whether a word is a decimal number that no float is near.
    fn is_beyond(&self, place: &Range<usize>) -> bool {
        let word = &self.text.bytes()[place.clone()];
        let word = std::str::from_utf8(word).unwrap_or_default();
        let read = word.parse::<f64>().unwrap_or_default();
        read.is_infinite() && word.contains(|letter: char| letter.is_ascii_digit())
    }

    fn diagnostic(&self, fault: Fault) -> Diagnostic {
        let Fault { place, kind } = fault;
        let missing = place.is_empty();
        let fault = |code, message: String, label: String| {
            self.text.fault(code, message, place.clone(), label)
        };
        let fields = match (self.order(), self.n_parts) {
            (0, _) => "a value".to_owned(),
            (n, 0) => format!("{n} coordinates"),
            (n, _) => format!("{n} coordinates and a value"),
        };
        let diagnostic = match kind {
            FaultKind::Coordinate(mode) => fault(
                code::BAD_ENTRY,
                format!("a line that is not {fields}"),
                format!("expected the coordinate of mode {mode}"),
            )
            .help(format!(
                "write {fields}, separated by blanks; coordinates count from 1"
            )),
            FaultKind::Zero(mode) => fault(
                code::OUT_OF_BOUNDS,
                format!("a coordinate 0 in mode {mode}"),
                "coordinates in files are counted from 1".to_owned(),
            )
            .help("add 1 to every coordinate of the file"),
            FaultKind::Outside(mode) if self.largest[mode] == i64::MAX as u64 => fault(
                code::OUT_OF_BOUNDS,
                format!("a coordinate in mode {mode} that is larger than any extent"),
                format!("expected 1 to {}", i64::MAX),
            )
            .help("correct the coordinate: extents are below 2^63"),
            FaultKind::Outside(mode) => {
                let extent = self.largest[mode];
                fault(
                    code::OUT_OF_BOUNDS,
                    format!("a coordinate outside mode {mode}, whose extent is {extent}"),
                    format!("expected 1 to {extent}"),
                )
                .help("correct the coordinate, or the extent")
            }
            FaultKind::Value { element, wanted } if self.is_number(&place) => fault(
                code::LOSSY_TYPE,
                format!("a value that is none of type {element}"),
                format!("expected {wanted}"),
            )
            .help("read the values as a type that holds all of them, such as f64"),
            FaultKind::Value { wanted, .. } => fault(
                code::BAD_ENTRY,
                format!("a line that is not {fields}"),
                format!("expected {wanted}"),
            )
            .help(if self.is_beyond(&place) {
                "scale the values, or write `inf` for infinite ones"
            } else if self.text.bytes()[place.clone()].contains(&b',') {
                "separate coordinates and values by blanks, not by commas"
            } else {
                "write a decimal number such as `-1.5e-3`"
            }),
            FaultKind::Rounded => fault(
                code::LOSSY_TYPE,
                "an integer beyond 2^53 that f64 does not have".to_owned(),
                "it would be rounded".to_owned(),
            )
            .help(match self.n_parts {
                2 => "read the values as c128, which rounds them",
                _ => "read the values as i64 or u64, which hold it, or as f64, which rounds it",
            }),
            FaultKind::LeftOver => fault(
                code::BAD_ENTRY,
                format!("a line with more than {fields}"),
                "expected the end of the line".to_owned(),
            )
            .help("remove the rest of the line; comments have lines of their own"),
        };
        let last = self.text.bytes()[place.end..].iter().all(|&b| b != b'\n');
        match missing && last {
            true => diagnostic.note("the file ends in this line: copy it again if it was cut off"),
            false => diagnostic,
        }
    }

    /// Compares the number of entries with the one that a header promises;
    /// `None` is a number beyond 64 bits. `place` is where it does.
    ///
    /// # Errors
    /// `E0425` with the first line that is too many, or with the header.
    pub(crate) fn check_count(
        &self,
        promised: Option<u64>,
        found: u64,
        place: Range<usize>,
    ) -> Result<()> {
        if promised == Some(found) {
            return Ok(());
        }
        let shown = promised.map_or("more than 2^64".to_owned(), |n| n.to_string());
        let lines = if promised == Some(1) { "line" } else { "lines" };
        let message =
            format!("the header promises {shown} {lines} of entries, the file has {found}");
        let (header, span) = self.text.excerpt(place);
        let Some(promised) = promised.filter(|&promised| promised < found) else {
            return Err(Diagnostic::new(code::WRONG_ENTRY_COUNT, message)
                .at(&header, span, format!("{found} follow"))
                .help("copy the file again if it is cut off, or correct the number of entries"));
        };
        let extra = self.line_of(promised as usize);
        let (line, place) = self.text.excerpt(extra);
        Err(Diagnostic::new(code::WRONG_ENTRY_COUNT, message)
            .at(&line, place, "this one is too many")
            .also(&header, span, "promised here")
            .help("correct the number of entries, or remove the lines beyond it"))
    }

    /// The bytes of the line that holds entry `n`; for messages.
    pub(crate) fn line_of(&self, n: usize) -> Range<usize> {
        let mut cursor = Cursor {
            bytes: &self.text.bytes()[..self.range.end],
            at: self.range.start,
        };
        let mut before = 0;
        while cursor.next_entry(self.comment) {
            let start = cursor.at;
            cursor.skip_line();
            if before == n {
                return self.text.line(start).0;
            }
            before += 1;
        }
        self.range.end..self.range.end
    }
}
