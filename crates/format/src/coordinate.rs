//! What a level stores the coordinates of: an expression over the modes.
//!
//! ```text
//! i                  a mode
//! i floordiv 4       the block of a coordinate; with `i mod 4`, its place in it
//! j - i              the diagonal
//! morton(i, j)       the place along a curve through all modes
//! #i                 the rank of an entry among those of one `i`
//! ```

use std::fmt;

/// The coordinate that a level stores, as an expression over the modes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Coordinate {
    /// That of a mode, counted from 0.
    Mode(usize),
}

impl From<usize> for Coordinate {
    fn from(mode: usize) -> Self {
        Self::Mode(mode)
    }
}

impl Coordinate {
    /// The mode, where the expression is one and nothing else.
    pub fn mode(&self) -> Option<usize> {
        match self {
            Self::Mode(mode) => Some(*mode),
        }
    }

    /// The text, with these names of modes.
    pub(crate) fn text(&self, modes: &[String]) -> String {
        Named {
            coordinate: self,
            modes,
        }
        .to_string()
    }
}

struct Named<'a> {
    coordinate: &'a Coordinate,
    modes: &'a [String],
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.coordinate {
            Coordinate::Mode(mode) => match self.modes.get(*mode) {
                Some(name) => f.write_str(name),
                // Of a format that is refused.
                None => write!(f, "{mode}"),
            },
        }
    }
}
