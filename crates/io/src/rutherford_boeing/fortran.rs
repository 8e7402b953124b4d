//! Fortran formats: which columns of a line hold numbers, and how they read.
//!
//! ```text
//! (16I5)             sixteen integers of five columns
//! (1P,5E16.8)        five numbers of sixteen columns
//! (3(1X,D24.16))     three numbers of 24 columns, a column skipped before each
//! ```
//!
//! Columns count, blanks do not: `(3I2)` reads ` 11099` as 1, 10 and 99. A number
//! without a point has the `8` last digits of `E16.8` behind it; one without an
//! exponent is divided by ten to the scale `1P`. An exponent may begin with `D`,
//! or with its sign alone, as `1.5-103`.
//!
//! Source: Fortran 2018 (ISO/IEC 1539-1), 13.7.2 "Numeric and logical editing"
//! and 13.8.5 "P editing", for input.

use std::ops::Range;

/// Columns that a line may have: a format with more is refused.
const MOST_COLUMNS: usize = 1 << 16;

/// Where the numbers of a line are and what they leave unsaid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    fields: Vec<Field>,
}

/// The columns of one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) columns: Range<usize>,
    /// Digits behind the point where the number has none.
    decimals: i32,
    /// Powers of ten that a number without an exponent is divided by.
    scale: i32,
}

impl Layout {
    /// Parses a format with its parentheses; `None` where it is none, reads no
    /// number, or reads what is no number.
    pub(super) fn parse(format: &str) -> Option<Self> {
        let text: String = format.chars().filter(|c| !c.is_whitespace()).collect();
        let mut parser = Parser {
            rest: text.to_ascii_uppercase().into_bytes().into(),
            column: 0,
            scale: 0,
            fields: Vec::new(),
        };
        parser.expect(b'(')?;
        parser.items(0)?;
        let done = parser.rest.is_empty() && !parser.fields.is_empty();
        done.then_some(Self {
            fields: parser.fields,
        })
    }

    /// The numbers of a line, in order.
    pub(super) fn fields(&self) -> &[Field] {
        &self.fields
    }
}

/// What is left of a format, and what has come of it.
struct Parser {
    rest: std::collections::VecDeque<u8>,
    column: usize,
    scale: i32,
    fields: Vec<Field>,
}

/// Groups within groups that are followed.
const DEPTH: usize = 8;

impl Parser {
    /// The items of a group, to its closing parenthesis.
    fn items(&mut self, depth: usize) -> Option<()> {
        loop {
            self.item(depth)?;
            // The comma after a scale may be left out.
            let after_scale = self.rest.front().is_some_and(|&c| c != b')' && c != b',');
            match self.rest.front()? {
                b')' => return self.expect(b')'),
                b',' => self.expect(b',')?,
                _ if after_scale => {}
                _ => return None,
            }
        }
    }

    fn item(&mut self, depth: usize) -> Option<()> {
        let negative = self.rest.front() == Some(&b'-');
        if negative {
            self.expect(b'-')?;
        }
        let count = self.number();
        let kind = self.rest.pop_front()?;
        if kind == b'P' {
            let scale = i32::try_from(count?).ok().filter(|scale| *scale < 100)?;
            self.scale = if negative { -scale } else { scale };
            return Some(());
        }
        if negative {
            return None;
        }
        let count = count.unwrap_or(1);
        match kind {
            b'X' => self.skip(count),
            b'(' if depth < DEPTH => self.group(count, depth),
            b'I' => {
                let width = self.number()?;
                if self.rest.front() == Some(&b'.') {
                    self.expect(b'.')?;
                    self.number()?;
                }
                self.repeat(count, width, 0, 0)
            }
            b'E' | b'D' | b'F' | b'G' => {
                // `ES` and `EN` differ from `E` in output alone.
                if kind == b'E' && matches!(self.rest.front(), Some(b'S' | b'N')) {
                    self.rest.pop_front();
                }
                let width = self.number()?;
                let mut decimals = 0;
                if self.rest.front() == Some(&b'.') {
                    self.expect(b'.')?;
                    decimals = i32::try_from(self.number()?).ok().filter(|d| *d < 1000)?;
                }
                if self.rest.front() == Some(&b'E') {
                    self.expect(b'E')?;
                    self.number()?;
                }
                self.repeat(count, width, decimals, self.scale)
            }
            _ => None,
        }
    }

    /// A group, whose items come `count` times.
    fn group(&mut self, count: usize, depth: usize) -> Option<()> {
        let text = self.rest.clone();
        for _ in 0..count.max(1) {
            let columns = self.column;
            self.rest.clone_from(&text);
            self.items(depth + 1)?;
            if self.column == columns {
                break;
            }
        }
        Some(())
    }

    fn repeat(&mut self, count: usize, width: usize, decimals: i32, scale: i32) -> Option<()> {
        for _ in 0..count {
            let start = self.column;
            self.skip(width)?;
            if start == self.column {
                return None;
            }
            self.fields.push(Field {
                columns: start..self.column,
                decimals,
                scale,
            });
        }
        Some(())
    }

    fn skip(&mut self, columns: usize) -> Option<()> {
        self.column = self.column.checked_add(columns)?;
        (self.column <= MOST_COLUMNS).then_some(())
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while let Some(digit @ b'0'..=b'9') = self.rest.front().copied() {
            self.rest.pop_front();
            let before = number.unwrap_or(0usize);
            number = Some(
                before
                    .saturating_mul(10)
                    .saturating_add(usize::from(digit - b'0')),
            );
        }
        number
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        (self.rest.pop_front() == Some(wanted)).then_some(())
    }
}

impl Field {
    /// Appends the number that a field without its blanks states, as text that
    /// needs no format; what is no number stays none.
    pub(super) fn plain(&self, word: &[u8], out: &mut Vec<u8>) {
        let sign = usize::from(matches!(word.first(), Some(b'+' | b'-')));
        let is_mark =
            |byte: &u8| matches!(byte, b'e' | b'E' | b'd' | b'D' | b'q' | b'Q' | b'+' | b'-');
        let starts_with_digit = word
            .get(sign)
            .is_some_and(|b| b.is_ascii_digit() || *b == b'.');
        if !starts_with_digit {
            return out.extend_from_slice(word);
        }
        let mark = word[sign..].iter().position(is_mark).map(|at| at + sign);
        let (digits, exponent) = word.split_at(mark.unwrap_or(word.len()));
        out.extend_from_slice(digits);
        let has_letter = exponent.first().is_some_and(u8::is_ascii_alphabetic);
        let exponent = if has_letter { &exponent[1..] } else { exponent };
        let mut shift = if digits.contains(&b'.') {
            0
        } else {
            -self.decimals
        };
        if mark.is_none() {
            shift -= self.scale;
        }
        if mark.is_none() && shift == 0 {
            return;
        }
        out.push(b'e');
        match (
            shift,
            std::str::from_utf8(exponent).ok().map(str::parse::<i32>),
        ) {
            (0, _) => out.extend_from_slice(exponent),
            (shift, Some(Ok(exponent))) => {
                out.extend_from_slice(exponent.saturating_add(shift).to_string().as_bytes());
            }
            (shift, _) if mark.is_none() => out.extend_from_slice(shift.to_string().as_bytes()),
            _ => out.extend_from_slice(exponent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: &str, columns: &[Range<usize>]) {
        let layout = Layout::parse(format).unwrap_or_else(|| panic!("{format}"));
        let found: Vec<_> = layout
            .fields
            .into_iter()
            .map(|field| field.columns)
            .collect();
        assert_eq!(found, columns, "{format}");
    }

    #[test]
    fn formats_say_columns() {
        check("(3I5)", &[0..5, 5..10, 10..15]);
        check("(1P,2E16.8)", &[0..16, 16..32]);
        check("(1P2E16.8)", &[0..16, 16..32]);
        check(" ( 2 d 10.3 ) ", &[0..10, 10..20]);
        check("(2(1X,I3))", &[1..4, 5..8]);
        check("(2X,F5.1,1x,ES9.2E3)", &[2..7, 8..17]);
        check("(I5.3,I2)", &[0..5, 5..7]);
    }

    #[test]
    fn what_is_no_format_is_refused() {
        for format in [
            "",
            "()",
            "(3I5",
            "3I5",
            "(3A5)",
            "(I)",
            "(I0)",
            "(5X)",
            "(I5))",
            "(I5,)",
            "(99999999999I1)",
            "(9999(9999(9999I9)))",
            "(P,I5)",
            "(*)",
            "(-2I5)",
            "(2()I5)",
            "((((((((((I5))))))))))",
            "(99999999999999999999999I1)",
        ] {
            assert_eq!(Layout::parse(format), None, "{format}");
        }
    }

    #[test]
    fn fields_are_made_plain() {
        let plain = |format: &str, word: &str| {
            let mut out = Vec::new();
            Layout::parse(format).unwrap().fields[0].plain(word.as_bytes(), &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(plain("(E16.8)", "1.5E+03"), "1.5e+03");
        assert_eq!(plain("(D16.8)", "-1.5D-03"), "-1.5e-03");
        assert_eq!(plain("(E16.8)", "1.5-103"), "1.5e-103");
        assert_eq!(plain("(F8.2)", "12345"), "12345e-2");
        assert_eq!(plain("(F8.2)", "123.45"), "123.45");
        assert_eq!(plain("(E8.2)", "12345E3"), "12345e1");
        // A scale divides a number without an exponent, and no other.
        assert_eq!(plain("(1P,F8.2)", "123.45"), "123.45e-1");
        assert_eq!(plain("(1P,E16.8)", "1.5E3"), "1.5e3");
        assert_eq!(plain("(-2P,F8.0)", "7"), "7e2");
        assert_eq!(plain("(I5)", "-12"), "-12");
        assert_eq!(plain("(E9.2)", "nan"), "nan");
        assert_eq!(plain("(E9.2)", "-Inf"), "-Inf");
        assert_eq!(plain("(E9.2)", "1Ex"), "1ex");
        assert_eq!(plain("(E9.2)", ""), "");
    }
}
