//! Words of lines, one after the other.
//!
//! ```text
//! % a comment·  12 7   2.5\r·          · is a newline, \r a blank
//!               ^^ ^   ^^^
//!               next_entry, then word or unsigned, skip_blanks between
//! ```
//!
//! A cursor never leaves its bytes: at their end it stands at the end of a
//! word and of a line.

use std::ops::Range;

use crate::number::digits;

/// A place in the bytes of a range of lines.
pub(crate) struct Cursor<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl Cursor<'_> {
    /// Goes to the first word of the next line that is no comment and not
    /// blank; false where there is none.
    #[inline]
    pub(crate) fn next_entry(&mut self, comment: u8) -> bool {
        while let Some(&byte) = self.bytes.get(self.at) {
            if byte.is_ascii_digit() {
                return true;
            }
            if byte == comment {
                self.skip_line();
            } else if is_blank(byte) || byte == b'\n' {
                self.at += 1;
            } else {
                return true;
            }
        }
        false
    }

    pub(crate) fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        let newline = rest.iter().position(|&b| b == b'\n');
        self.at += newline.map_or(rest.len(), |newline| newline + 1);
    }

    /// Skips blanks of the line; returns where its next word begins.
    #[inline]
    pub(crate) fn skip_blanks(&mut self) -> usize {
        while self.bytes.get(self.at).is_some_and(|&b| is_blank(b)) {
            self.at += 1;
        }
        self.at
    }

    #[inline]
    pub(crate) fn at_line_end(&self) -> bool {
        self.bytes.get(self.at).is_none_or(|&b| b == b'\n')
    }

    /// Takes the bytes up to the next blank or the end of the line.
    #[inline]
    pub(crate) fn word(&mut self) -> Range<usize> {
        let start = self.at;
        while !self.at_word_end() {
            self.at += 1;
        }
        start..self.at
    }

    #[inline]
    pub(crate) fn at_word_end(&self) -> bool {
        self.bytes
            .get(self.at)
            .is_none_or(|&b| is_blank(b) || b == b'\n')
    }

    /// Takes a word that is an integer without a sign; one that is too large
    /// for 64 bits reads as the largest.
    #[inline]
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        let (n, length) = digits(&self.bytes[self.at..]);
        self.at += length;
        (length > 0 && self.at_word_end()).then(|| n.unwrap_or(u64::MAX))
    }
}

/// Whether a byte separates words; `\r` does, so that lines may end in `\r\n`.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}
