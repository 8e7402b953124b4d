//! The tokens of MLIR text.
//!
//! ```text
//! name      func.func  dense  x8xf32        letters, digits, `_`, `$`, `.`
//! sigil     %a  %0  #map  !Filename  ^bb0  @main  @"any text"
//! number    17  0x1F  1.5e-3                a point makes a float
//! text      "dimLevelType"
//! symbol    ->  ::  and single characters
//! ```
//!
//! Tokens are cut one at a time, because the tokens of a shape overlap: `4x8xf32` begins as the
//! number `4` and the name `x8xf32`. [`Cursor::reset`] cuts again from inside a token. Comments run
//! from `//` to the end of the line.

use sparsec_base::{Diagnostic, Result, Source, Span, code};

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    /// `%a`
    Value,
    /// `#map`
    Hash,
    /// `!Filename`
    Bang,
    /// `^bb0`
    Caret,
    /// `@main`
    At,
    Integer,
    Float,
    Text,
    Symbol,
    /// A character that begins no token, or a string without its closing quote.
    Unknown,
    End,
}

/// One token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// A place in a text, with the token that begins there.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    source: Source,
    token: Token,
    /// The place of the token taken last.
    before: Span,
}

impl Cursor {
    pub(crate) fn new(source: &Source) -> Self {
        Self {
            source: source.clone(),
            token: cut(source.text(), 0),
            before: Span::default(),
        }
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The next token, which stays next.
    pub(crate) fn peek(&self) -> Token {
        self.token
    }

    pub(crate) fn kind(&self) -> Kind {
        self.token.kind
    }

    /// The text of the next token.
    pub(crate) fn word(&self) -> &str {
        self.source.slice(self.token.span)
    }

    /// The place of the token taken last.
    pub(crate) fn before(&self) -> Span {
        self.before
    }

    pub(crate) fn take(&mut self) -> Token {
        let taken = self.token;
        self.before = taken.span;
        self.token = cut(self.source.text(), taken.span.end as usize);
        taken
    }

    /// Cuts tokens again from byte `at` on.
    pub(crate) fn reset(&mut self, at: usize) {
        self.token = cut(self.source.text(), at);
    }

    /// The token after the next one.
    pub(crate) fn second(&self) -> Token {
        cut(self.source.text(), self.token.span.end as usize)
    }

    /// Whether the token behind the second one is this text.
    pub(crate) fn third_is(&self, text: &str) -> bool {
        let third = cut(self.source.text(), self.second().span.end as usize);
        self.slice(third.span) == text
    }

    pub(crate) fn slice(&self, span: Span) -> &str {
        self.source.slice(span)
    }

    /// Whether the next token is this name or symbol.
    pub(crate) fn at(&self, text: &str) -> bool {
        matches!(self.kind(), Kind::Name | Kind::Symbol) && self.word() == text
    }

    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.take();
        }
        found
    }

    pub(crate) fn expect(&mut self, text: &str) -> Result<Span> {
        match self.at(text) {
            true => Ok(self.take().span),
            false => Err(self.unexpected(&format!("`{text}`"))),
        }
    }

    /// Takes a token of this kind; `expected` describes it in the error.
    pub(crate) fn expect_kind(&mut self, kind: Kind, expected: &str) -> Result<Token> {
        match self.kind() == kind {
            true => Ok(self.take()),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Takes an integer that is not negative.
    pub(crate) fn integer(&mut self, expected: &str) -> Result<(u64, Span)> {
        let token = self.expect_kind(Kind::Integer, expected)?;
        match digits(self.slice(token.span)).and_then(|value| u64::try_from(value).ok()) {
            Some(value) => Ok((value, token.span)),
            None => Err(self.too_large(token.span, u64::MAX)),
        }
    }

    /// The error for an integer above `most`, the greatest of its place.
    pub(crate) fn too_large(&self, span: Span, most: u64) -> Diagnostic {
        Diagnostic::new(code::BAD_NUMBER, "an integer that is too large here")
            .at(&self.source, span, "too large")
            .help(format!("write an integer of at most {most}"))
    }

    /// The content of a `Text` token, with its escapes resolved.
    pub(crate) fn unquoted(&self, span: Span) -> String {
        let text = self.slice(span);
        unescape(
            text.get(1..text.len().saturating_sub(1))
                .unwrap_or_default(),
        )
    }

    /// The error for a next token that is not `expected`.
    pub(crate) fn unexpected(&self, expected: &str) -> Diagnostic {
        let span = self.token.span;
        let (code, found) = match self.kind() {
            Kind::End => (code::UNEXPECTED_TOKEN, "the end of the text".to_owned()),
            Kind::Unknown if self.word().starts_with('"') => (
                code::UNEXPECTED_TOKEN,
                "a text without its closing quote".to_owned(),
            ),
            Kind::Unknown => (code::UNKNOWN_CHARACTER, format!("`{}`", self.word())),
            _ => (code::UNEXPECTED_TOKEN, format!("`{}`", self.word())),
        };
        Diagnostic::new(code, format!("expected {expected}, found {found}")).at(
            &self.source,
            span,
            format!("expected {expected}"),
        )
    }
}

/// The value of decimal or hexadecimal digits, if it fits in 127 bits.
pub(crate) fn digits(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Puts a text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                out.push_str(&format!("\\{:02X}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'\\').then(|| bytes.get(at + 1)).flatten();
        match escaped {
            None => {
                out.push(bytes[at]);
                at += 1;
                continue;
            }
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(first) if first.is_ascii_hexdigit() => {
                let pair = text.get(at + 1..at + 3);
                let byte = pair.and_then(|pair| u8::from_str_radix(pair, 16).ok());
                if let Some(byte) = byte {
                    out.push(byte);
                    at += 3;
                    continue;
                }
                out.push(*first);
            }
            Some(other) => out.push(*other),
        }
        at += 2;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The first token from `at` on, after white space and comments.
fn cut(text: &str, mut at: usize) -> Token {
    let bytes = text.as_bytes();
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                at += bytes[at..]
                    .iter()
                    .position(|&b| b == b'\n')
                    .unwrap_or(bytes.len() - at);
            }
            _ => break,
        }
    }
    let rest = &bytes[at..];
    let run = |from: usize, word: fn(u8) -> bool| {
        from + rest[from.min(rest.len())..]
            .iter()
            .take_while(|&&b| word(b))
            .count()
    };
    let sigil = |kind: Kind| match run(1, is_word) {
        1 => (Kind::Symbol, 1),
        len => (kind, len),
    };
    let (kind, len) = match rest.first() {
        None => (Kind::End, 0),
        Some(b'%') => sigil(Kind::Value),
        Some(b'#') => sigil(Kind::Hash),
        Some(b'!') => sigil(Kind::Bang),
        Some(b'^') => sigil(Kind::Caret),
        Some(b'@') if rest.get(1) == Some(&b'"') => match quoted_len(&rest[1..]) {
            Some(len) => (Kind::At, len + 1),
            None => (Kind::Unknown, rest.len()),
        },
        Some(b'@') => sigil(Kind::At),
        Some(b'"') => match quoted_len(rest) {
            Some(len) => (Kind::Text, len),
            None => (Kind::Unknown, run(0, |b| b != b'\n')),
        },
        Some(b) if b.is_ascii_digit() => number(rest),
        Some(b) if b.is_ascii_alphabetic() || *b == b'_' => (Kind::Name, run(0, is_name)),
        Some(b'-') if rest.get(1) == Some(&b'>') => (Kind::Symbol, 2),
        Some(b':') if rest.get(1) == Some(&b':') => (Kind::Symbol, 2),
        Some(b) if b.is_ascii_punctuation() => (Kind::Symbol, 1),
        Some(_) => {
            let len = text[at..].chars().next().map_or(1, char::len_utf8);
            (Kind::Unknown, len)
        }
    };
    Token {
        kind,
        span: Span::new(at, at + len),
    }
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')
}

fn is_word(b: u8) -> bool {
    is_name(b) || b == b'-'
}

fn quoted_len(rest: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match rest.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            b'\n' => return None,
            _ => at += 1,
        }
    }
}

fn number(rest: &[u8]) -> (Kind, usize) {
    let digits = |from: usize| {
        from + rest[from.min(rest.len())..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    if rest.starts_with(b"0x") && rest.get(2).is_some_and(u8::is_ascii_hexdigit) {
        let len = rest[2..].iter().take_while(|b| b.is_ascii_hexdigit());
        return (Kind::Integer, 2 + len.count());
    }
    let mut len = digits(0);
    if rest.get(len) != Some(&b'.') {
        return (Kind::Integer, len);
    }
    len = digits(len + 1);
    if matches!(rest.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(len + 1), Some(b'+' | b'-')));
        let end = digits(len + 1 + sign);
        if end > len + 1 + sign {
            len = end;
        }
    }
    (Kind::Float, len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let mut cursor = Cursor::new(&Source::new("text", text));
        let mut found = Vec::new();
        while cursor.kind() != Kind::End {
            found.push(cursor.word().to_owned());
            cursor.take();
        }
        assert_eq!(found, expect);
    }

    #[test]
    fn operations_are_cut_into_tokens() {
        check(
            "%0:2 = a.b %x#1 : !llvm.ptr<i8> -> f32 // end",
            &[
                "%0",
                ":",
                "2",
                "=",
                "a.b",
                "%x",
                "#1",
                ":",
                "!llvm.ptr",
                "<",
                "i8",
                ">",
                "->",
                "f32",
            ],
        );
    }

    #[test]
    fn shapes_are_a_number_and_a_name() {
        check(
            "4x8xf32 ?x2xf64 0x1xf32",
            &["4", "x8xf32", "?", "x2xf64", "0x1", "xf32"],
        );
    }

    #[test]
    fn numbers_and_texts() {
        check(
            "1.5e-3 -2 1. \"a\\\"b\" 0xFF",
            &["1.5e-3", "-", "2", "1.", "\"a\\\"b\"", "0xFF"],
        );
    }

    #[test]
    fn quotes_and_escapes_are_inverse() {
        for text in ["", "a\"b", "tab\tline\n", "\u{1}é\\"] {
            let quoted = quoted(text);
            assert_eq!(unescape(&quoted[1..quoted.len() - 1]), text);
        }
    }
}
