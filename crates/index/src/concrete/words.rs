//! What the words of clauses say: kinds of bounds, ways to merge and to put together.

/// What `bound` says of the coordinates of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundKind {
    /// The extent is this.
    MaxExact,
    /// The extent is at most this.
    MaxConstraint,
    /// The first coordinate is this.
    MinExact,
    /// The first coordinate is at least this.
    MinConstraint,
}

/// How a loop merges the operands that it walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeStrategy {
    /// Each in steps of one.
    TwoFinger,
    /// Those behind leap to the coordinate of the one in front.
    Gallop,
    /// Each in steps of one; where what is stored does not depend on which of them are at
    /// the coordinate, but its value does, that is chosen without a branch.
    Select,
}

/// How a sparse result is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssembleStrategy {
    /// Entries are appended in order.
    Append,
    /// Entries are counted, then inserted at their places.
    Insert,
}

/// Words of the language for the cases of an enumeration.
macro_rules! words {
    ($type:ident, $what:literal, $($case:ident = $name:literal),+) => {
        impl $type {
            #[doc = concat!("All ", $what, ".")]
            pub const ALL: &[Self] = &[$(Self::$case),+];

            /// The word for it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$case => $name),+
                }
            }
        }
    };
}

words!(
    BoundKind,
    "kinds of bounds",
    MaxExact = "MaxExact",
    MaxConstraint = "MaxConstraint",
    MinExact = "MinExact",
    MinConstraint = "MinConstraint"
);
words!(
    MergeStrategy,
    "ways to merge",
    TwoFinger = "TwoFinger",
    Gallop = "Gallop",
    Select = "Select"
);
words!(
    AssembleStrategy,
    "ways to put a result together",
    Append = "Append",
    Insert = "Insert"
);
