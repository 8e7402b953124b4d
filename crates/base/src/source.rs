//! Source text with a name, and byte ranges in it.
//!
//! A [`Source`] is cheap to clone, so every diagnostic carries the text it
//! points into. For a data file the text may be one line out of millions:
//! `first_line` says which.

use std::ops::Range;
use std::sync::Arc;

/// A half-open range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The range `start..end`, clamped to four gigabytes of text.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: clamp(start),
            end: clamp(end),
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The span as a range that can index text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A named text, or one line of a named file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    inner: Arc<Inner>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Inner {
    name: String,
    text: String,
    first_line: usize,
}

impl Source {
    /// A whole text; `name` is what diagnostics call it, such as a file name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::excerpt(name, text, 1)
    }

    /// A part of a text that begins at line `first_line`, counted from 1.
    pub fn excerpt(name: impl Into<String>, text: impl Into<String>, first_line: usize) -> Self {
        Self {
            inner: Arc::new(Inner {
                name: name.into(),
                text: text.into(),
                first_line,
            }),
        }
    }

    /// What diagnostics call this text.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.inner.text
    }

    /// The number of the text's first line, counted from 1.
    pub fn first_line(&self) -> usize {
        self.inner.first_line
    }

    /// The text inside `span`; empty where the span lies outside.
    pub fn slice(&self, span: Span) -> &str {
        self.text().get(span.range()).unwrap_or("")
    }

    /// Line and column of a byte, both counted from 1; columns count characters.
    pub fn line_column(&self, at: u32) -> (usize, usize) {
        let mut at = (at as usize).min(self.text().len());
        while !self.text().is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text()[..at];
        let line = before.matches('\n').count();
        let column = before.rsplit('\n').next().unwrap_or("").chars().count();
        (self.first_line() + line, column + 1)
    }
}
