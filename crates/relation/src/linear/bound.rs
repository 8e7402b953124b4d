//! Bounds of variables: all stated bounds, and the tightest ones in use.

use super::{Except, Sources};

/// A bound, with the given rows that it follows from; with its number, if it is one
/// of them.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    pub(super) value: i64,
    pub(super) from: Sources,
    pub(super) given: Option<usize>,
}

/// A stated bound of a variable.
#[derive(Clone, Copy)]
pub(super) struct Stated {
    pub(super) variable: usize,
    pub(super) is_lower: bool,
    pub(super) bound: Bound,
}

/// A variable with the tightest bounds in use.
#[derive(Clone, Default)]
pub(super) struct Variable {
    pub(super) lower: Option<Bound>,
    pub(super) upper: Option<Bound>,
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
    /// Uses a bound if it is at least as tight as the one in use.
    pub(super) fn tighten(&mut self, stated: &Stated) {
        let value = stated.bound.value;
        match stated.is_lower {
            true if self.lower.is_none_or(|b| value >= b.value) => self.lower = Some(stated.bound),
            false if self.upper.is_none_or(|b| value < b.value) => self.upper = Some(stated.bound),
            _ => {}
        }
    }
}

impl Bound {
    pub(super) fn is_among(&self, except: Except) -> bool {
        self.from.meet(except.sources) || (self.given.is_some() && self.given == except.given)
    }
}
