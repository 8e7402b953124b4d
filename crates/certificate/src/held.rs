//! What lemmas say of arrays: numberings of entries, segments, and the values of arrays.

use sparsec_relation::Expression;

/// A numbering of entries from 0 on.
#[derive(Clone, Debug)]
pub(crate) struct Numbering {
    /// The number of an entry.
    pub(crate) value: Expression,
    /// The keys that order the numbers.
    pub(crate) keys: Vec<Expression>,
    pub(crate) kind: NumberingKind,
    /// The count of numbers, if known.
    pub(crate) end: Option<Expression>,
}

/// Which entries share a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberingKind {
    /// No two. Visits order entries with equal keys.
    Entries,
    /// Entries with equal keys. The numbers have no gaps.
    Keys,
    /// Entries of different groups only; without keys, no two.
    InGroups,
    /// No two, in any order. The numbers have no gaps.
    Onto,
}

impl NumberingKind {
    /// Whether keys order numbers.
    pub(crate) fn is_ordered(self) -> bool {
        matches!(self, Self::Entries | Self::Keys)
    }
}

/// The values of an array, beyond its declared range and order.
#[derive(Clone, Debug)]
pub(crate) enum Held {
    /// The declaration covers all known facts.
    Declared,
    /// The array has each index once: it is a bijection of its indices, ordered by keys if it has any.
    Permutation { keys: Vec<Expression> },
    /// The entry at an index from `from` on is a value of the index; those before are 0.
    Each { from: Expression, value: Expression },
    /// Entry `p` is the number of entries whose key is less than `p`.
    Counts { key: Expression },
    /// The entry at a number is the value of each entry with that number.
    Keys { numbering: usize, value: Expression },
    /// The entry at an index is the value of an entry with this index, or the mark.
    Marked {
        index: Expression,
        value: Expression,
        mark: Expression,
    },
    /// The entry at an index is at most the value of each entry with this index.
    Least {
        index: Expression,
        value: Expression,
    },
    /// The entry at an index is greater than the value of each entry with this index.
    Behind { index: Expression },
    /// The entry at a place is the length of its run.
    RunLengths,
    /// The entry at an index is the number of entries with this key. The numbering has each number
    /// below the size of a group once in the group.
    Sizes {
        key: Expression,
        numbering: Option<usize>,
    },
    /// The entry at the place of an entry is its place in block `parent` of `n_stored` places.
    Block {
        parent: Expression,
        coordinate: Expression,
        n_stored: i64,
    },
    /// The entries of each block of `n_stored` increase.
    FilledUp { n_stored: i64 },
    /// The entry at the place of an entry is a slot of its key, in the segments of an array.
    Slots { key: Expression },
    /// Segment `x` has room for twice the entries with key `x`.
    Rooms { key: Expression },
    /// Entry `x` is the sum of `max(behind - first, 0)` over the indices before `x`.
    Lengths { first: String, behind: String },
}

/// Segments of an array: the entries of `parent` have the numbers of one segment.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    pub(crate) array: String,
    pub(crate) numbering: usize,
    pub(crate) parent: Expression,
}

/// `e - 1` for `a + 1` or an integer: `a`, or the integer less 1.
pub(crate) fn before(e: &Expression) -> Option<Expression> {
    match e {
        Expression::Integer(n) => Some(Expression::Integer(n.checked_sub(1)?)),
        Expression::Add(a, b) => match &**b {
            Expression::Integer(1) => Some((**a).clone()),
            Expression::Integer(n) => Some(Expression::Add(
                a.clone(),
                Box::new(Expression::Integer(n.checked_sub(1)?)),
            )),
            _ => None,
        },
        _ => None,
    }
}

/// `e + 1`, simplified.
pub(crate) fn after(e: &Expression) -> Expression {
    let one = Box::new(Expression::Integer(1));
    Expression::Add(Box::new(e.clone()), one).simplified()
}
