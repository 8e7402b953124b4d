//! The numbers of one part of a file, column for column.
//!
//! A part begins on a line of its own and holds as many numbers as the header
//! says; its layout says how many of them are on a line and where.

use std::ops::Range;

use sparsec_base::{Diagnostic, Result, code};

use super::fortran::{Field, Layout};
use crate::input::Input;
use crate::progress::Meter;

/// A place in a part.
pub(super) struct Section<'a> {
    text: &'a Input,
    meter: &'a Meter<'a>,
    layout: Layout,
    /// What the numbers are, for messages.
    what: &'static str,
    /// Numbers that are left.
    left: u64,
    /// Numbers that there were.
    count: u64,
    line: Range<usize>,
    /// The field of the line that is next.
    field: usize,
    /// Where the next line begins.
    next: usize,
    /// Where the part begins.
    start: usize,
    /// The start and the layout of the part before.
    before: (usize, Layout),
}

impl<'a> Section<'a> {
    /// The file from `at` on, before its first part.
    pub(super) fn new(text: &'a Input, at: usize, meter: &'a Meter<'a>) -> Self {
        Self {
            text,
            meter,
            layout: Layout::default(),
            what: "",
            left: 0,
            count: 0,
            line: at..at,
            field: 0,
            next: at,
            start: at,
            before: (at, Layout::default()),
        }
    }

    pub(super) fn text(&self) -> &'a Input {
        self.text
    }

    /// Begins a part of `count` numbers.
    ///
    /// # Errors
    /// `E0425` where the rest of the file cannot hold them.
    pub(super) fn begin(&mut self, layout: &Layout, count: u64, what: &'static str) -> Result<()> {
        self.mark();
        self.layout = layout.clone();
        (self.what, self.left, self.count) = (what, count, count);
        (self.line, self.field) = (self.next..self.next, layout.fields().len());
        // Each number takes a column at least, so memory is bounded by the file.
        match count > (self.text.bytes().len() - self.next) as u64 {
            true => Err(self.ended(0)),
            false => Ok(()),
        }
    }

    /// Ends the part: entries are shown where it was.
    pub(super) fn mark(&mut self) {
        self.before = (self.start, std::mem::take(&mut self.layout));
        self.start = self.next;
    }

    /// The next number: its field, and its bytes without blanks around them.
    pub(super) fn next(&mut self) -> Result<Option<(&Field, Range<usize>)>> {
        if self.left == 0 {
            return Ok(None);
        }
        if self.field == self.layout.fields().len() {
            if self.next >= self.text.bytes().len() {
                return Err(self.ended(self.count - self.left));
            }
            let (line, next) = self.text.line(self.next);
            self.meter.add((next - line.start) as u64);
            (self.line, self.next, self.field) = (line, next, 0);
        }
        let field = &self.layout.fields()[self.field];
        let place = place(self.text, &self.line, field);
        if place.is_empty() {
            let message = format!("a line with {} {}", self.field, self.what);
            let wanted = self
                .left
                .min((self.layout.fields().len() - self.field) as u64);
            let fault = self.text.fault(
                code::BAD_ENTRY,
                message,
                place,
                format!("expected {wanted} more"),
            );
            return Err(fault
                .note("the header says how many columns a number has")
                .help("copy the file again if it is cut off, or correct the header"));
        }
        self.field += 1;
        self.left -= 1;
        Ok(Some((field, place)))
    }

    fn ended(&self, found: u64) -> Diagnostic {
        let message = format!(
            "the header promises {} {}, the file has {}",
            self.count,
            self.what,
            match found {
                0 => "fewer".to_owned(),
                found => found.to_string(),
            }
        );
        let end = self.text.bytes().len();
        self.text
            .fault(
                code::WRONG_ENTRY_COUNT,
                message,
                end..end,
                "the file ends here",
            )
            .help("copy the file again if it is cut off, or correct the header")
    }

    /// Where the row of an entry is, once all parts are read; for messages.
    pub(super) fn place_of(&self, entry: usize) -> Range<usize> {
        let (mut at, layout) = (self.before.0, &self.before.1);
        let n_fields = layout.fields().len().max(1);
        for _ in 0..entry / n_fields {
            at = self.text.line(at).1;
        }
        let (line, _) = self.text.line(at);
        match layout.fields().get(entry % n_fields) {
            Some(field) => place(self.text, &line, field),
            None => line,
        }
    }
}

/// The bytes of a field without blanks around them; empty where there is none.
fn place(text: &Input, line: &Range<usize>, field: &Field) -> Range<usize> {
    let end = line.end.min(line.start + field.columns.end);
    let start = end.min(line.start + field.columns.start);
    let bytes = &text.bytes()[start..end];
    let Some(first) = bytes.iter().position(|b| !b.is_ascii_whitespace()) else {
        return end..end;
    };
    let last = bytes.iter().rposition(|b| !b.is_ascii_whitespace());
    start + first..start + last.map_or(first, |last| last) + 1
}
