//! Numbers of bytes as text.

use std::fmt;

/// A number of bytes, with the unit that people use for so many; `u128::MAX` for more than that counts.
///
/// ```
/// use sparsec_parallel::Bytes;
/// let texts = [1, 999, 1_500, 999_960].map(|n| Bytes(n).to_string());
/// assert_eq!(texts, ["1 byte", "999 bytes", "1.5 kB", "1.0 MB"]);
/// assert_eq!(Bytes(2_000_000_000_000_000).to_string(), "2000.0 TB");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u128);

impl Bytes {
    /// This number and another, both in full if they round to one text.
    ///
    /// ```
    /// use sparsec_parallel::Bytes;
    /// assert_eq!(Bytes(80_000).beside(Bytes(400)), ["80.0 kB", "400 bytes"]);
    /// assert_eq!(Bytes(80_000).beside(Bytes(79_999)), ["80000 bytes", "79999 bytes"]);
    /// ```
    pub fn beside(self, other: Self) -> [String; 2] {
        let both = [self, other];
        let texts = both.map(|it| it.to_string());
        match texts[0] == texts[1] && self != other {
            true => both.map(|it| format!("{} bytes", it.0)),
            false => texts,
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            u128::MAX => return f.write_str("more bytes than can be counted"),
            1 => return f.write_str("1 byte"),
            n @ 0..1000 => return write!(f, "{n} bytes"),
            _ => {}
        }
        let mut value = self.0 as f64 / 1000.0;
        let mut units = ["kB", "MB", "GB"].into_iter();
        let unit = units.find(|_| {
            let fits = value < 999.95;
            value = if fits { value } else { value / 1000.0 };
            fits
        });
        write!(f, "{value:.1} {}", unit.unwrap_or("TB"))
    }
}
