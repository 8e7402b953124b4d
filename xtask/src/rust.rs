//! Rust source with comments and the content of literals blanked out, so that
//! a rule sees code alone.
//!
//! ```text
//! let s = "std::fs"; // unsafe        becomes        let s = "       ";
//! ```
//!
//! Every byte that is dropped becomes a blank and newlines stay, so lines keep
//! their numbers. Raw strings, nested comments, and lifetimes beside character
//! literals are told apart.

/// The text with comments and literals blanked.
pub(crate) fn code_only(text: &str) -> String {
    let mut blank = Blank {
        bytes: text.as_bytes(),
        out: Vec::with_capacity(text.len()),
    };
    while blank.out.len() < blank.bytes.len() {
        blank.step();
    }
    // Only whole characters are kept or blanked bytewise, never cut.
    String::from_utf8_lossy(&blank.out).into_owned()
}

/// Whether `word` stands in `line` of blanked code, not as part of a longer name.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

struct Blank<'a> {
    bytes: &'a [u8],
    out: Vec<u8>,
}

impl Blank<'_> {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.out.len()..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        if rest.starts_with(b"//") {
            self.drop_until(|bytes| bytes[0] == b'\n');
        } else if rest.starts_with(b"/*") {
            self.comment();
        } else if let Some(hashes) = self.raw_string() {
            let end = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
            self.keep(self.opening(hashes));
            self.drop_until(|bytes| bytes.starts_with(&end));
            self.keep(end.len());
        } else if rest[0] == b'"' {
            self.keep(1);
            self.string();
        } else if rest[0] == b'\'' {
            self.character();
        } else {
            self.keep(1);
        }
    }

    /// The bytes up to and including the quote that opens a raw string.
    fn opening(&self, hashes: usize) -> usize {
        let prefix = self.rest().iter().take_while(|b| b.is_ascii_alphabetic());
        prefix.count() + hashes + 1
    }

    /// The number of `#` of a raw string that begins here.
    fn raw_string(&self) -> Option<usize> {
        let in_name = self
            .out
            .last()
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let rest = self.rest();
        let rest = rest
            .strip_prefix(b"b")
            .or(rest.strip_prefix(b"c"))
            .unwrap_or(rest);
        let rest = rest.strip_prefix(b"r")?;
        let hashes = rest.iter().take_while(|&&b| b == b'#').count();
        (!in_name && rest.get(hashes) == Some(&b'"')).then_some(hashes)
    }

    fn string(&mut self) {
        let mut escaped = false;
        while let Some(&byte) = self.rest().first() {
            if byte == b'"' && !escaped {
                return self.keep(1);
            }
            escaped = byte == b'\\' && !escaped;
            self.drop_one();
        }
    }

    /// `'x'`, `'\n'` or `'é'`; a lifetime has no closing quote nearby.
    fn character(&mut self) {
        let rest = String::from_utf8_lossy(&self.rest()[1..self.rest().len().min(16)]).into_owned();
        let mut chars = rest.char_indices();
        let close = match chars.next() {
            Some((_, '\\')) => chars.skip(1).find(|(_, c)| *c == '\'').map(|(at, _)| at),
            Some(_) => chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at),
            None => None,
        };
        self.keep(1);
        if let Some(length) = close {
            for _ in 0..length {
                self.drop_one();
            }
            self.keep(1);
        }
    }

    fn comment(&mut self) {
        let mut depth = 0;
        loop {
            let rest = self.rest();
            let step = if rest.starts_with(b"/*") {
                depth += 1;
                2
            } else if rest.starts_with(b"*/") {
                depth -= 1;
                2
            } else {
                rest.len().min(1)
            };
            (0..step).for_each(|_| self.drop_one());
            if depth == 0 || step == 0 {
                return;
            }
        }
    }

    fn drop_until(&mut self, end: impl Fn(&[u8]) -> bool) {
        while !self.rest().is_empty() && !end(self.rest()) {
            self.drop_one();
        }
    }

    fn drop_one(&mut self) {
        if let Some(&byte) = self.rest().first() {
            self.out.push(if byte == b'\n' { b'\n' } else { b' ' });
        }
    }

    fn keep(&mut self, n: usize) {
        let end = (self.out.len() + n).min(self.bytes.len());
        let kept = &self.bytes[self.out.len()..end];
        self.out.extend_from_slice(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeezed(&code_only(text)), expect);
        assert_eq!(code_only(text).len(), text.len());
    }

    #[test]
    fn comments_go() {
        check("a // unsafe\nb", "a b");
        check("a /* x /* y */ z */ b", "a b");
        check("a /* never closed", "a");
    }

    #[test]
    fn literals_are_emptied() {
        check(
            r#"f("std::fs", 'x', '\'', '"')"#,
            r#"f(" ", ' ', ' ', ' ')"#,
        );
        check(
            r###"f(r#"a "quoted" b"#) + r"c""###,
            r###"f(r#" "#) + r" ""###,
        );
        check(r#"br"bytes" + "a \" b" + c"#, r#"br" " + " " + c"#);
        check("'é'", "' '");
    }

    #[test]
    fn lifetimes_stay() {
        check("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
        check("for r in a", "for r in a");
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("unsafe {", "unsafe"));
        assert!(!has_word("allow(unsafe_code)", "unsafe"));
        assert!(!has_word("myfs::read", "fs::read"));
    }
}
