//! Assembly of a result: its levels as values of the loop IR, filled from coordinates.
//!
//! ```text
//! located   y.vals[i * m + j] = …              full levels: a place for every coordinate
//! chains    C1.crd[pC1] = j; pC1 += 1          others: entries one behind the other
//! ```
//!
//! | module      | does                                                          |
//! |-------------|---------------------------------------------------------------|
//! | [`target`]  | what is assembled: format, arrays, extents; widths            |
//! | [`located`] | first values of dense results, and their bits                 |
//! | [`chain`]   | the levels that share positions, and their segments           |
//! | [`append`]  | entries in the order in which they come, counted on the way    |
//! | [`insert`]  | entries counted first, then put at their places               |
//! | [`probe`]   | entries of `hashed` levels, looked for by their coordinates   |
//! | [`entry`]   | entries: begun, stored, kept                                   |
//!
//! It is given coordinates, positions and values as expressions. It knows no statement, no
//! variable of one and no operand: who assembles says when a segment and an entry begin and end.
//!
//! Source: Chou, Kjolstad and Amarasinghe, "Automatic Generation of Efficient Sparse Tensor
//! Format Conversion Routines", PLDI 2020, §5 (queries, sizes, edges, coordinates).

mod append;
mod chain;
mod entry;
mod insert;
mod located;
mod probe;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use chain::Chains;
pub(crate) use located::Located;
pub(crate) use target::Target;

/// How a result is assembled, and how far that is.
#[derive(Clone, Debug)]
pub(crate) enum Assembly<'k> {
    /// Every coordinate has a place.
    Located(Located<'k>),
    /// Some levels list the coordinates that they have.
    Chains(Chains<'k>),
}

impl<'k> Assembly<'k> {
    /// Whether this pass over the loops counts entries and stores no values.
    pub(crate) fn counts(&self) -> bool {
        matches!(self, Self::Chains(chains) if chains.counts())
    }

    /// The chains of a result that has some.
    pub(crate) fn chains_mut(&mut self) -> Option<&mut Chains<'k>> {
        match self {
            Self::Located(_) => None,
            Self::Chains(chains) => Some(chains),
        }
    }
}
