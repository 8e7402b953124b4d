//! Shortens long runs of blanks in text that was compressed.
//!
//! A few kilobytes of compressed newlines expand to gigabytes without an entry:
//!
//! ```text
//! 1 1 2.5↵↵↵ … ↵↵↵2 3 1↵        four billion newlines between two entries
//! 1 1 2.5↵↵ …  ↵↵2 3 1↵         65,536 of them are kept
//! ```
//!
//! A run keeps its first [`KEPT`] bytes. If only later bytes of the run end a line, the
//! last byte that is kept becomes a newline: the words before the run and those behind it
//! stay on different lines. [`Blanks`] counts the removed lines, because diagnostics
//! state line numbers of the whole text.

use crate::cursor::is_blank;

/// Bytes of a run of blanks that are kept.
const KEPT: usize = 1 << 16;

/// The places where lines were removed from a text, and how many.
#[derive(Debug, Default)]
pub(crate) struct Blanks {
    /// Places in ascending order, each with the number of lines removed right before it.
    gone: Vec<(usize, usize)>,
}

impl Blanks {
    /// Counts the lines that were removed before a place.
    pub(crate) fn lines_before(&self, place: usize) -> usize {
        let before = self.gone.iter().take_while(|(at, _)| *at <= place);
        before.map(|(_, lines)| lines).sum()
    }

    /// Shortens the runs of blanks in `text` that end behind `from`. Runs that end
    /// before it were shortened by earlier calls.
    pub(crate) fn cut(&mut self, text: &mut Vec<u8>, from: usize) {
        let (mut read, mut write) = (from, from);
        while let Some(long) = long_run(text, read) {
            let kept = long.start + KEPT;
            let lines = text[kept..long.end].iter().filter(|byte| **byte == b'\n');
            let mut lines = lines.count();
            // Moves the text between the run before and this one to its place.
            text.copy_within(read..kept, write);
            write += kept - read;
            if lines > 0 && text[write - 1] != b'\n' {
                text[write - 1] = b'\n';
                lines -= 1;
            }
            read = long.end;
            match self.gone.last_mut() {
                Some((at, known)) if *at == write => *known += lines,
                _ => self.gone.push((write, lines)),
            }
        }
        if read > write {
            let end = text.len();
            text.copy_within(read..end, write);
            text.truncate(write + end - read);
        }
    }
}

/// Finds the first run of more than [`KEPT`] blanks that ends behind `from`.
fn long_run(text: &[u8], from: usize) -> Option<std::ops::Range<usize>> {
    let is_blank = |byte: &u8| *byte == b'\n' || is_blank(*byte);
    // Each such run has one of these places in it.
    let mut probe = from;
    while probe < text.len() {
        if !is_blank(&text[probe]) {
            probe += KEPT;
            continue;
        }
        let before = text[..probe].iter().rposition(|byte| !is_blank(byte));
        let start = before.map_or(0, |at| at + 1);
        let length = text[probe..].iter().position(|byte| !is_blank(byte));
        let end = length.map_or(text.len(), |length| probe + length);
        if end - start > KEPT {
            return Some(start..end);
        }
        probe = end.max(start + KEPT);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts text that comes in pieces of `step` bytes.
    fn cut(text: &[u8], step: usize) -> (Vec<u8>, Blanks) {
        let (mut out, mut blanks) = (Vec::new(), Blanks::default());
        for piece in text.chunks(step) {
            let from = out.len();
            out.extend_from_slice(piece);
            blanks.cut(&mut out, from);
        }
        (out, blanks)
    }

    #[test]
    fn long_runs_are_cut_however_the_text_comes() {
        let newlines = |n: usize| "\n".repeat(n);
        let runs = [3 * KEPT, 5, KEPT, KEPT + 1, 2 * KEPT + 7, 0];
        let mut text = newlines(2 * KEPT);
        let mut expect = newlines(KEPT);
        for (at, run) in runs.iter().enumerate() {
            let word = format!("word{at} \r\n");
            text += &word;
            text += &newlines(*run);
            expect += &word;
            // The end of the word's line belongs to the run.
            expect += &newlines((*run).min(KEPT - 3));
        }
        for step in [1000, KEPT - 1, KEPT, KEPT + 1, 1 << 20, text.len()] {
            let (out, blanks) = cut(text.as_bytes(), step);
            assert_eq!(
                String::from_utf8(out).unwrap(),
                expect,
                "in steps of {step}"
            );
            let all: usize = blanks.gone.iter().map(|(_, lines)| lines).sum();
            assert_eq!(all, text.len() - expect.len(), "in steps of {step}");
            let whole = |text: &str, word: &str| {
                let at = text.find(word).unwrap();
                (at, text[..at].matches('\n').count())
            };
            for at in 0..runs.len() {
                let word = format!("word{at}");
                let (place, lines) = whole(&expect, &word);
                let number = lines + blanks.lines_before(place);
                assert_eq!(number, whole(&text, &word).1, "{word} in steps of {step}");
            }
        }
    }

    #[test]
    fn a_line_that_ends_in_many_blanks_still_ends() {
        let spaces = |n: usize| " ".repeat(n);
        for n in [KEPT - 1, KEPT, KEPT + 1, 3 * KEPT] {
            let text = format!("3 4{0}\n5 6{0}\r\n\n7 8\n", spaces(n));
            for step in [1000, KEPT, KEPT + 1, text.len()] {
                let (out, blanks) = cut(text.as_bytes(), step);
                let out = String::from_utf8(out).unwrap();
                let lines = out.lines().map(str::trim).filter(|line| !line.is_empty());
                let lines: Vec<&str> = lines.collect();
                assert_eq!(lines, ["3 4", "5 6", "7 8"], "{n} in steps of {step}");
                let place = out.find('7').unwrap();
                let number = out[..place].matches('\n').count() + blanks.lines_before(place);
                assert_eq!(number, 3, "{n} in steps of {step}");
            }
        }
    }

    #[test]
    fn memory_does_not_grow_with_blanks() {
        let (mut out, mut blanks) = (b"1 1 2\n".to_vec(), Blanks::default());
        for _ in 0..64 {
            let from = out.len();
            out.resize(from + (1 << 20), b'\n');
            blanks.cut(&mut out, from);
            assert!(out.len() <= 2 * KEPT);
        }
        assert_eq!(blanks.lines_before(out.len()), (64 << 20) + 6 - out.len());
    }

    #[test]
    fn text_without_long_runs_is_as_it_was() {
        let text = "12 7 0.5\n% note\n\n   \n".repeat(50_000);
        let (out, blanks) = cut(text.as_bytes(), 1 << 20);
        assert_eq!(out, text.as_bytes());
        assert!(blanks.gone.is_empty());
    }
}
