//! Bounds of a variable: all stated bounds, and the tightest ones in use.

use super::{Except, Sources};

/// A bound, with the given rows that it follows from; with its number, if it is one
/// of them.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) value: i64,
    pub(super) from: Sources,
    pub(super) given: Option<usize>,
}

/// A variable with its stated bounds, and the tightest ones in use.
#[derive(Clone, Default)]
pub(super) struct Variable {
    pub(super) lower: Option<Bound>,
    pub(super) upper: Option<Bound>,
    pub(super) all_lower: Vec<Bound>,
    pub(super) all_upper: Vec<Bound>,
    pub(super) place: Place,
}

#[derive(Clone, Copy, Default)]
pub(super) enum Place {
    /// Chosen freely.
    Column(usize),
    /// Follows from the free ones.
    Row(usize),
    #[default]
    Nowhere,
}

impl Variable {
    /// Puts the tightest bounds in use that are not put aside.
    pub(super) fn choose(&mut self, except: Except) {
        let used = |bound: &&Bound| !bound.is_among(except);
        let (lower, upper) = (self.all_lower.iter(), self.all_upper.iter());
        self.lower = lower.filter(used).max_by_key(|b| b.value).copied();
        self.upper = upper.filter(used).min_by_key(|b| b.value).copied();
    }
}

impl Bound {
    pub(super) fn is_among(&self, except: Except) -> bool {
        self.from.meet(except.sources) || (self.given.is_some() && self.given == except.given)
    }
}
