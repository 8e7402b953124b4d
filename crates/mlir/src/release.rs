//! The releases of the `sparse_tensor` dialect, and the releases that know each word.
//!
//! The dialect has no version number of its own: each release of LLVM changed operations and keys
//! of encodings. A range of releases knows each word, and a text belongs to the releases that know
//! all of its words:
//!
//! ```text
//! sparse_tensor.release        14 ─ 14
//! dimLevelType = [ … ]         13 ───── 16
//! the text                     14 ─ 14
//! ```
//!
//! [`Dialect::Sparsec`] has all words, and level maps that no release accepts.
//!
//! Source: the dialect's definitions in LLVM 13.0.1 to 19.1.7, and its main branch of December 2024 for release 20.

use std::fmt;

/// The spelling of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// A release of LLVM, from [`Dialect::OLDEST`] to [`Dialect::NEWEST`].
    Release(u8),
    /// The words of all releases, and level maps that only sparsec has.
    Sparsec,
}

impl Dialect {
    /// The oldest release with the dialect in this form.
    pub const OLDEST: u8 = 13;
    /// The newest release with known operations.
    pub const NEWEST: u8 = 20;
    /// The release of a text whose words fit several releases.
    pub const USUAL: u8 = 19;

    /// The dialect with this name: the number of a release, or `sparsec`.
    ///
    /// ```
    /// use sparsec_mlir::Dialect;
    /// assert_eq!(Dialect::parse("16"), Some(Dialect::Release(16)));
    /// assert_eq!(Dialect::parse("sparsec"), Some(Dialect::Sparsec));
    /// assert_eq!(Dialect::parse("12"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        match name.parse() {
            Ok(number) if (Self::OLDEST..=Self::NEWEST).contains(&number) => {
                Some(Self::Release(number))
            }
            _ if name == "sparsec" => Some(Self::Sparsec),
            _ => None,
        }
    }

    /// The release with the spelling of the dialect; for `sparsec` the default release.
    pub fn release(self) -> u8 {
        match self {
            Self::Release(number) => number,
            Self::Sparsec => Self::USUAL,
        }
    }

    /// Whether `sparse_tensor.new` reads both triangles of a symmetric file, of which one is stored.
    /// Releases up to 16 do; later ones read the stored triangle.
    pub fn reads_both_triangles(self) -> bool {
        matches!(self, Self::Release(..=16))
    }

    /// Whether a word of these releases may occur in texts of this dialect.
    pub fn knows(self, word: Releases) -> bool {
        match self {
            Self::Release(number) => word.has(number),
            Self::Sparsec => true,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Release(number) => write!(f, "{number}"),
            Self::Sparsec => f.write_str("sparsec"),
        }
    }
}

/// The releases that know a word, as a range with both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Releases {
    /// The first.
    pub from: u8,
    /// The last.
    pub to: u8,
}

impl Releases {
    /// All releases.
    pub const ALL: Self = Self {
        from: Dialect::OLDEST,
        to: Dialect::NEWEST,
    };

    /// The releases from one to another, both included.
    pub const fn new(from: u8, to: u8) -> Self {
        Self { from, to }
    }

    /// The releases from this one on.
    pub const fn from(from: u8) -> Self {
        Self {
            from,
            to: Dialect::NEWEST,
        }
    }

    /// The releases up to this one.
    pub const fn until(to: u8) -> Self {
        Self {
            from: Dialect::OLDEST,
            to,
        }
    }

    /// Whether the range contains a release.
    pub const fn has(self, release: u8) -> bool {
        self.from <= release && release <= self.to
    }

    /// The releases in both ranges, if there are any.
    pub fn and(self, other: Self) -> Option<Self> {
        let both = Self {
            from: self.from.max(other.from),
            to: self.to.min(other.to),
        };
        (both.from <= both.to).then_some(both)
    }

    /// The default release of a text whose words all these releases know: [`Dialect::USUAL`], or
    /// the nearest release to it.
    pub fn usual(self) -> u8 {
        Dialect::USUAL.clamp(self.from, self.to)
    }
}

impl fmt::Display for Releases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (from, to) if from == to => write!(f, "release {from}"),
            (from, Dialect::NEWEST) => write!(f, "releases from {from} on"),
            (Dialect::OLDEST, to) => write!(f, "releases up to {to}"),
            (from, to) => write!(f, "releases {from} to {to}"),
        }
    }
}
