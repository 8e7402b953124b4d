//! Lines of the common shape, taken apart at one look.
//!
//! Nearly every line of a file is a few numbers with blanks between them. The
//! first 64 bytes from the start of a line are compared with the digits all at
//! once; the bits of the others say where each number begins and ends:
//!
//! ```text
//! bytes     1 7   4 2   0 . 2 5 \n 1 8 …
//! others    . . 1 . . 1 . 1 . .  1 . .       one word, the first byte lowest
//! ```
//!
//! No number then waits for the length of the one before it to be counted, so
//! the conversions of several numbers, and of several lines, run at the same
//! time. Lines of any other shape (comments, longer numbers, names, whatever is
//! wrong) are left to the caller.
//!
//! Everything here is inlined into the loop over lines: only there may it use the
//! instructions that the machine at hand has.
//!
//! Source: the two stages are those of Langdale and Lemire, "Parsing Gigabytes
//! of JSON per Second", VLDB Journal 2019, <https://doi.org/10.1007/s00778-019-00578-5>,
//! for one line at a time.

use wide::u8x16;

use crate::decimal::{TENS, nearest};
use crate::number::{number_of_first, number_of_sixteen};

/// The bytes that are looked at.
const LOOK: usize = 64;
/// The bytes that must be there: sixteen may be loaded from any that are looked at.
pub(crate) const BLOCK: usize = LOOK + 16;
/// Digits that a word of 64 bits always holds.
const MOST_DIGITS: usize = 19;

/// A line of the common shape, as far as it was taken.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    bytes: &'a [u8; BLOCK],
    /// The bytes from the current one on that are no digits.
    others: u64,
    at: usize,
}

impl<'a> Line<'a> {
    /// The line that begins with these bytes.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8; BLOCK]) -> Self {
        Self {
            bytes,
            others: others(bytes),
            at: 0,
        }
    }

    /// How many bytes were taken.
    pub(crate) fn length(&self) -> usize {
        self.at
    }

    #[inline(always)]
    fn byte(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(b'?')
    }

    /// Takes a byte that is no digit.
    #[inline(always)]
    fn skip(&mut self) {
        self.at += 1;
        self.others &= self.others.wrapping_sub(1);
    }

    /// Takes blanks; says whether there were any.
    #[inline(always)]
    pub(crate) fn blanks(&mut self) -> bool {
        let any = self.is_blank();
        if any {
            self.skip();
            // Mostly a digit follows, which the word tells.
            while self.n_digits() == 0 && self.is_blank() {
                self.skip();
            }
        }
        any
    }

    #[inline(always)]
    fn is_blank(&self) -> bool {
        matches!(self.byte(), b' ' | b'\t')
    }

    /// Takes the end of the line; says whether it is here.
    #[inline(always)]
    pub(crate) fn end(&mut self) -> bool {
        if self.byte() == b'\r' {
            self.skip();
        }
        let end = self.byte() == b'\n';
        self.at += 1;
        end
    }

    /// How many digits follow. The word of other bytes may be used up, or this be
    /// beyond it: what is then found to follow the digits is never a blank or a
    /// newline by mistake, since the bytes themselves are asked.
    #[inline(always)]
    fn n_digits(&self) -> usize {
        let end = self.others.trailing_zeros() as usize;
        end.wrapping_sub(self.at)
    }

    /// The bytes that begin `ahead` of the current one.
    #[inline(always)]
    fn next<const N: usize>(&self, ahead: usize) -> [u8; N] {
        let start = (self.at + ahead) % LOOK;
        let bytes = self.bytes[start..].first_chunk();
        *bytes.expect("as many bytes follow every byte that is looked at")
    }

    /// Takes a number of one to eight digits.
    #[inline(always)]
    pub(crate) fn unsigned(&mut self) -> Option<u64> {
        let n = self.n_digits();
        if n.wrapping_sub(1) >= 8 {
            return None;
        }
        let value = number_of_first(self.next(0), n);
        self.at += n;
        Some(value)
    }

    /// Takes a minus if it is there.
    #[inline(always)]
    fn minus(&mut self) -> bool {
        let minus = self.byte() == b'-';
        // Signs of values follow no pattern: no branch.
        self.at += usize::from(minus);
        self.others &= self.others.wrapping_sub(u64::from(minus));
        minus
    }

    /// Takes an integer of up to eight digits.
    #[inline(always)]
    pub(crate) fn integer(&mut self) -> Option<i64> {
        let negative = self.minus();
        let size = self.unsigned()? as i64;
        Some(if negative { -size } else { size })
    }

    /// Takes the double nearest to a decimal number.
    #[inline(always)]
    pub(crate) fn double(&mut self) -> Option<f64> {
        let negative = self.minus();
        let n_whole = self.n_digits();
        // Mostly there is one digit before the point.
        let mut digits = match n_whole {
            1 => {
                let digit = self.byte() - b'0';
                self.at += 1;
                u64::from(digit)
            }
            _ => self.unsigned()?,
        };
        let mut power = 0;
        if self.byte() == b'.' {
            self.skip();
            let n = self.n_digits();
            // Zeros before the first digit are none.
            if n > MOST_DIGITS || digits > 0 && n + n_whole > MOST_DIGITS {
                return None;
            }
            if n >= 16 {
                digits = digits * (TENS[8] * TENS[8]) + number_of_sixteen(self.next(0));
            } else if n >= 8 {
                digits = digits * TENS[8] + number_of_first(self.next(0), 8);
            }
            // How many digits are left follows no pattern: no branch.
            let rest = n % 8;
            let last = number_of_first(self.next(n - rest), rest);
            digits = digits * TENS[rest] + if rest == 0 { 0 } else { last };
            power = -(n as i32);
            self.at += n;
        }
        if matches!(self.byte(), b'e' | b'E') {
            power += self.exponent()?;
        }
        let value = nearest(digits, power)?;
        Some(if negative { -value } else { value })
    }

    #[inline(always)]
    fn exponent(&mut self) -> Option<i32> {
        self.skip();
        let negative = match self.byte() {
            sign @ (b'-' | b'+') => {
                self.skip();
                sign == b'-'
            }
            _ => false,
        };
        let size = self.unsigned()? as i32;
        Some(if negative { -size } else { size })
    }
}

/// The bytes that are no digits, the first as the lowest bit.
#[inline(always)]
fn others(bytes: &[u8; BLOCK]) -> u64 {
    let (zero, nine) = (u8x16::splat(b'0'), u8x16::splat(9));
    let mut digits = 0;
    for (number, sixteen) in bytes[..LOOK].as_chunks::<16>().0.iter().enumerate() {
        let above_zero = u8x16::new(*sixteen) - zero;
        let are_digits = above_zero.min(nine).simd_eq(above_zero);
        digits |= u64::from(are_digits.to_bitmask()) << (16 * number);
    }
    !digits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn block(text: &str) -> [u8; BLOCK] {
        let mut bytes = [b'#'; BLOCK];
        let n = text.len().min(BLOCK);
        bytes[..n].copy_from_slice(&text.as_bytes()[..n]);
        bytes
    }

    fn double(text: &str) -> Option<f64> {
        let bytes = block(&format!("{text}\n"));
        let mut line = Line::new(&bytes);
        let value = line.double()?;
        (line.end() && line.length() == text.len() + 1).then_some(value)
    }

    #[test]
    fn every_byte_is_a_digit_or_not() {
        for byte in 0..=u8::MAX {
            let word = others(&[byte; BLOCK]);
            let expected = if byte.is_ascii_digit() { 0 } else { u64::MAX };
            assert_eq!(word, expected, "{byte}");
        }
        assert_eq!(others(&block("17 42.5\n")), !0 << 7 | 1 << 2 | 1 << 5);
    }

    #[test]
    fn common_lines_are_taken_apart() {
        let bytes = block("  17\t42 -0.25e+1\r\n1 2");
        let mut line = Line::new(&bytes);
        assert!(line.blanks());
        assert_eq!(line.unsigned(), Some(17));
        assert!(line.blanks());
        assert_eq!(line.unsigned(), Some(42));
        assert!(line.blanks());
        assert_eq!(line.double(), Some(-2.5));
        assert!(!line.blanks() && line.end());
        assert_eq!(line.length(), 18);
    }

    #[test]
    fn other_lines_are_left() {
        for text in [
            "",
            "-",
            ".5",
            "+1",
            "nan",
            "1e",
            "1e+",
            "1-",
            "x",
            "1.2.3",
            "123456789",
            "1 2",
            "1.00000000000000000000",
            "12.345678901234567890",
            "1e400",
            "1e-30",
            "1.5e100000000",
        ] {
            assert_eq!(double(text), None, "{text}");
        }
        let mut long = Line::new(&[b'1'; BLOCK]);
        assert_eq!(long.unsigned(), None);
        let blank = [b' '; BLOCK];
        let mut blank = Line::new(&blank);
        assert!(blank.blanks());
        assert_eq!((blank.unsigned(), blank.end()), (None, false));
    }

    #[test]
    fn numbers_end_where_the_look_ends() {
        for blanks in 50..BLOCK {
            let text = format!("{}1234567\n", " ".repeat(blanks));
            let bytes = block(&text);
            let mut line = Line::new(&bytes);
            line.blanks();
            if let Some(value) = line.unsigned().filter(|_| line.end()) {
                assert_eq!((value, line.length()), (1_234_567, text.len()));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn doubles_are_the_nearest(text in "-?[0-9]{0,9}(\\.[0-9]{0,20})?([eE][+-]?[0-9]{1,2})?") {
            if let Some(value) = double(&text) {
                prop_assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits());
            }
        }

        #[test]
        fn short_doubles_are_common(value in -1e6..1e6f64) {
            let text = format!("{value:?}");
            prop_assert_eq!(double(&text).map(f64::to_bits), Some(value.to_bits()));
        }
    }
}
