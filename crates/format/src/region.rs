//! Formats that store a part of a tensor: a triangle, and what it stands for.
//!
//! ```text
//! lower(i, j)       only entries with i >= j          upper(i, j)   i <= j
//! diagonal(i, j)    only entries with i = j, so that no level needs to store j
//! symmetric(i, j)   A(j,i) = A(i,j)           one triangle is stored: the lower
//! skew(i, j)        A(j,i) = -A(i,j)          one unless `upper(i, j)` is said
//! hermitian(i, j)   A(j,i) = conj(A(i,j))     too
//! ```
//!
//! An entry outside of what is stored cannot be packed, unless another part of
//! a union takes it or its mirror image stands for it.

use sparsec_relation::Image;

/// Which side of a diagonal entries lie on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The first coordinate is not smaller.
    Lower,
    /// The first coordinate is not greater.
    Upper,
    /// Both coordinates are equal.
    Diagonal,
}

/// The entries that a format stores, told by the coordinates of two modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Where they lie.
    pub side: Side,
    /// The two modes.
    pub modes: [usize; 2],
}

/// How an entry is mirrored at exchanged coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mirrored {
    /// The same.
    Symmetric,
    /// Its negative.
    Skew,
    /// Its conjugate.
    Hermitian,
}

/// Entries that stand for those at exchanged coordinates of two modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mirror {
    /// What the other entry is.
    pub of: Mirrored,
    /// The two modes.
    pub modes: [usize; 2],
}

impl Side {
    /// All sides.
    pub const ALL: [Self; 3] = [Self::Lower, Self::Upper, Self::Diagonal];

    /// The word in format text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Upper => "upper",
            Self::Diagonal => "diagonal",
        }
    }
}

impl Mirrored {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Symmetric, Self::Skew, Self::Hermitian];

    /// The word in format text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Symmetric => "symmetric",
            Self::Skew => "skew",
            Self::Hermitian => "hermitian",
        }
    }
}

impl Mirrored {
    /// How the value of a mirror image follows from that of its entry.
    pub fn image(self) -> Image {
        match self {
            Self::Symmetric => Image::Same,
            Self::Skew => Image::Negative,
            Self::Hermitian => Image::Conjugate,
        }
    }
}

impl Region {
    /// Whether an entry lies in it.
    pub fn holds(&self, coords: &[u64]) -> bool {
        let [a, b] = self.modes.map(|mode| coords[mode]);
        match self.side {
            Side::Lower => a >= b,
            Side::Upper => a <= b,
            Side::Diagonal => a == b,
        }
    }
}
