//! The tokens that all our small languages are made of.
//!
//! Formats, index notation, concrete notation, relations and the loop IR share
//! one lexer; a parser holds a [`Tokens`] cursor and asks it for what it
//! expects. A comment runs from `;` to the end of its line.
//!
//! ```
//! use sparsec_base::{lex::{Tokens, Kind}, Source};
//! let mut tokens = Tokens::new(&Source::new("format", "(i) -> (i : dense)"), &["->"])?;
//! tokens.expect("(")?;
//! assert_eq!(tokens.name("a mode")?.0, "i");
//! tokens.expect(")")?;
//! assert!(tokens.eat("->"));
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

use std::sync::Arc;

use crate::code;
use crate::diagnostic::{Diagnostic, Result};
use crate::source::{Source, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A letter or `_`, then letters, digits, `_`, and `.` between them; also `'` in a
    /// language that has it among its symbols.
    Name,
    /// Digits.
    Integer,
    /// Digits with a point or an exponent.
    Float,
    /// Text between double quotes.
    Text,
    /// Anything else: one character, or one of the language's longer symbols.
    Symbol,
    /// The end of the text.
    End,
}

/// One token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub span: Span,
    /// Whether it is the first on its line.
    pub starts_line: bool,
}

/// A cursor over the tokens of a source.
#[derive(Clone, Debug)]
pub struct Tokens {
    source: Source,
    /// Shared: parsers clone the cursor to look ahead, in texts of any length.
    tokens: Arc<[Token]>,
    next: usize,
}

impl Tokens {
    /// Cuts a source into tokens. `symbols` are the language's symbols of
    /// more than one character; longer ones win. Text from `;` to the end of
    /// its line is a comment unless `symbols` has `";"`. Names may have primes, as in
    /// `i'`, if `symbols` has `"'"`.
    ///
    /// # Errors
    /// `E0102` for a character that no token begins with, `E0101` for a
    /// text in quotes that does not end.
    pub fn new(source: &Source, symbols: &[&str]) -> Result<Self> {
        let tokens = Lexer { source, symbols }.run()?;
        Ok(Self {
            source: source.clone(),
            tokens: tokens.into(),
            next: 0,
        })
    }

    /// The text that the tokens come from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The next token, not taken.
    pub fn peek(&self) -> Token {
        self.tokens[self.next]
    }

    /// The token after the next `n`, not taken.
    pub fn peek_at(&self, n: usize) -> Token {
        self.tokens[(self.next + n).min(self.tokens.len() - 1)]
    }

    /// Where the token before the next one stands; the first one where none was
    /// taken.
    pub fn peek_before(&self) -> Span {
        self.tokens[self.next.saturating_sub(1)].span
    }

    /// Where the cursor is, to [`go_back`](Self::go_back) to.
    pub fn position(&self) -> usize {
        self.next
    }

    /// Puts the cursor back to a position that it had.
    pub fn go_back(&mut self, position: usize) {
        self.next = position;
    }

    /// Takes the next token.
    pub fn take(&mut self) -> Token {
        let token = self.peek();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    /// The text of a token.
    pub fn text(&self, token: Token) -> &str {
        self.source.slice(token.span)
    }

    /// Whether the next token is the name or symbol `text`.
    pub fn at(&self, text: &str) -> bool {
        self.is(self.peek(), text)
    }

    /// Whether the token after the next `n` is the name or symbol `text`.
    pub fn at_nth(&self, n: usize, text: &str) -> bool {
        self.is(self.peek_at(n), text)
    }

    fn is(&self, token: Token, text: &str) -> bool {
        matches!(token.kind, Kind::Name | Kind::Symbol) && self.text(token) == text
    }

    /// Whether all tokens are taken.
    pub fn at_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    /// Takes the next token if it is the name or symbol `text`.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.take();
        }
        found
    }

    /// Takes the name or symbol `text`, or says that it is missing.
    ///
    /// # Errors
    /// `E0101`.
    pub fn expect(&mut self, text: &str) -> Result<Span> {
        if self.at(text) {
            return Ok(self.take().span);
        }
        Err(self.unexpected(&format!("`{text}`")))
    }

    /// Takes a name; `what` says of what, as in "a mode".
    ///
    /// # Errors
    /// `E0101`.
    pub fn name(&mut self, what: &str) -> Result<(String, Span)> {
        let token = self.peek();
        if token.kind != Kind::Name {
            return Err(self.unexpected(what));
        }
        self.take();
        Ok((self.text(token).to_owned(), token.span))
    }

    /// Takes an integer without a sign.
    ///
    /// # Errors
    /// `E0101`, or `E0103` where it does not fit.
    pub fn integer(&mut self, what: &str) -> Result<(u64, Span)> {
        let token = self.peek();
        if token.kind != Kind::Integer {
            return Err(self.unexpected(what));
        }
        self.take();
        let value = self.text(token).parse().map_err(|_| {
            Diagnostic::new(code::BAD_NUMBER, "an integer that does not fit in 64 bits").at(
                &self.source,
                token.span,
                "too large",
            )
        })?;
        Ok((value, token.span))
    }

    /// Says that all tokens should have been taken.
    ///
    /// # Errors
    /// `E0101` if there are more.
    pub fn expect_end(&self) -> Result<()> {
        if self.at_end() {
            return Ok(());
        }
        Err(self.unexpected("the end"))
    }

    /// The diagnostic for a next token that is not `expected`.
    pub fn unexpected(&self, expected: &str) -> Diagnostic {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the text".to_owned(),
            _ => format!("`{}`", self.text(token)),
        };
        Diagnostic::new(
            code::UNEXPECTED_TOKEN,
            format!("expected {expected}, found {found}"),
        )
        .at(&self.source, token.span, format!("expected {expected}"))
    }
}

struct Lexer<'a> {
    source: &'a Source,
    symbols: &'a [&'a str],
}

impl Lexer<'_> {
    fn run(&self) -> Result<Vec<Token>> {
        let text = self.source.text();
        let comments = !self.symbols.contains(&";");
        let mut tokens = Vec::new();
        let mut at = 0;
        let mut starts_line = true;
        while let Some(c) = text[at..].chars().next() {
            if c == '\n' {
                starts_line = true;
            }
            if c.is_whitespace() {
                at += c.len_utf8();
                continue;
            }
            if c == ';' && comments {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            let (kind, len) = self.token(at, c)?;
            tokens.push(Token {
                kind,
                span: Span::new(at, at + len),
                starts_line,
            });
            starts_line = false;
            at += len;
        }
        tokens.push(Token {
            kind: Kind::End,
            span: Span::new(text.len(), text.len()),
            starts_line: true,
        });
        Ok(tokens)
    }

    fn token(&self, at: usize, c: char) -> Result<(Kind, usize)> {
        let rest = &self.source.text()[at..];
        if c.is_ascii_alphabetic() || c == '_' {
            return Ok((Kind::Name, name_len(rest, self.symbols.contains(&"'"))));
        }
        if c.is_ascii_digit() {
            return Ok(number(rest));
        }
        if c == '"' {
            let end = rest[1..]
                .find(['"', '\n'])
                .filter(|&n| rest[1 + n..].starts_with('"'));
            return match end {
                Some(n) => Ok((Kind::Text, n + 2)),
                None => Err(Diagnostic::new(
                    code::UNEXPECTED_TOKEN,
                    "a text in quotes that does not end",
                )
                .at(self.source, Span::new(at, at + 1), "begins here")
                .help("close it with `\"` on the same line")),
            };
        }
        let long = self
            .symbols
            .iter()
            .filter(|s| rest.starts_with(**s))
            .map(|s| s.len())
            .max();
        if let Some(len) = long {
            return Ok((Kind::Symbol, len));
        }
        if c.is_ascii_punctuation() {
            return Ok((Kind::Symbol, 1));
        }
        Err(Diagnostic::new(
            code::UNKNOWN_CHARACTER,
            format!("unknown character `{}`", c.escape_debug()),
        )
        .at(
            self.source,
            Span::new(at, at + c.len_utf8()),
            "no token begins with this",
        )
        .help(match c {
            '×' | '·' | '⋅' => "a product is `*`",
            '−' | '–' => "minus is `-`",
            '÷' => "a quotient is `/`",
            _ => "names are of ASCII letters, digits and `_`; operators are those on the keyboard",
        }))
    }
}

/// A `.` belongs to a name only where a letter or digit follows, so that
/// `lo..hi` stays three tokens.
fn name_len(rest: &str, with_primes: bool) -> usize {
    let bytes = rest.as_bytes();
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || (with_primes && b == b'\'');
    let mut len = 0;
    while len < bytes.len()
        && (word(bytes[len])
            || (bytes[len] == b'.' && bytes.get(len + 1).is_some_and(|&b| word(b))))
    {
        len += 1;
    }
    len
}

/// The number that digits spell; `None` where no `f64` holds it, since whoever writes
/// `1e999` does not mean `inf`.
///
/// ```
/// use sparsec_base::lex::finite;
/// assert_eq!(finite("2.5e3"), Some(2500.0));
/// assert_eq!(finite("1e999"), None);
/// ```
pub fn finite(digits: &str) -> Option<f64> {
    digits.parse().ok().filter(|value: &f64| value.is_finite())
}

fn number(rest: &str) -> (Kind, usize) {
    let bytes = rest.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut len = digits(0);
    let mut kind = Kind::Integer;
    if bytes.get(len) == Some(&b'.') && bytes.get(len + 1) != Some(&b'.') {
        kind = Kind::Float;
        len = digits(len + 1);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        let end = digits(len + 1 + sign);
        if end > len + 1 + sign {
            kind = Kind::Float;
            len = end;
        }
    }
    (kind, len)
}
