//! Cursors: how far down its levels an operand has been followed.
//!
//! A cursor begins at the root, position 0 of no level. Binding an index
//! variable moves it below the level that stores the variable: a walked level
//! by the loop that walks it, a full level by computing the position, as soon
//! as the levels outside are behind it.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_graph::Operand;
use sparsec_index::IndexVar;
use sparsec_loop::{BinaryOp, Expr};

use crate::runs::Follower;

/// Where a cursor is within the level it has reached.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// At one position.
    At(Expr),
    /// At a run of positions with equal coordinates, which the level below
    /// tells apart.
    Run {
        /// The first position.
        lo: Expr,
        /// The bound.
        hi: Expr,
    },
}

/// How far an operand has been followed.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    /// How many levels are behind it.
    pub(crate) levels: usize,
    /// Where in the last of them.
    pub(crate) place: Place,
}

impl Cursor {
    /// A cursor before the first level.
    pub(crate) fn root() -> Self {
        Self {
            levels: 0,
            place: Place::At(Expr::int(0)),
        }
    }

    /// The position of a cursor that is at one.
    pub(crate) fn position(&self) -> &Expr {
        match &self.place {
            Place::At(position) => position,
            Place::Run { .. } => panic!("a run of positions has a level below it"),
        }
    }
}

/// What is known at one point of the program being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings {
    /// The coordinate of each bound index variable.
    pub(crate) coordinates: BTreeMap<IndexVar, Expr>,
    /// How far each operand has been followed.
    pub(crate) cursors: BTreeMap<Operand, Cursor>,
    /// How far the result has been followed.
    pub(crate) result: Option<Cursor>,
    /// The operands that the innermost loop looks up rather than walking them.
    pub(crate) located: BTreeSet<Operand>,
    /// The runs that the innermost loop follows.
    pub(crate) runs: Vec<Follower>,
    /// The loops around here, outermost first.
    pub(crate) loops: Vec<IndexVar>,
    /// Where the loop over a variable goes through a part of its coordinates.
    pub(crate) ranges: BTreeMap<IndexVar, Range>,
    /// Variables that are within their extents wherever they are computed.
    pub(crate) inside: BTreeSet<IndexVar>,
}

/// The coordinates that a loop goes through.
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// The first.
    pub(crate) lo: Expr,
    /// The bound.
    pub(crate) hi: Expr,
    /// The variables that go through it together, each with its value at the
    /// first coordinate; that of the coordinates comes last.
    pub(crate) bases: Vec<(IndexVar, Expr)>,
}

impl Range {
    /// Binds every variable of the range where the last has `value`.
    pub(crate) fn bind(&self, value: &Expr, bindings: &mut Bindings) {
        let last = self.bases.len() - 1;
        for (number, (var, base)) in self.bases.iter().enumerate() {
            let since = || value.clone().binary(BinaryOp::Sub, self.lo.clone());
            let value = match (number == last, *base == Expr::int(0)) {
                (true, _) => value.clone(),
                (false, true) => since(),
                (false, false) => since().add(base.clone()),
            };
            bindings.coordinates.insert(*var, value);
        }
    }
}

impl Bindings {
    /// Binds the variable of a loop, and those that go with it.
    pub(crate) fn bind(&mut self, var: IndexVar, value: Expr) {
        match self.ranges.get(&var).cloned() {
            Some(range) => range.bind(&value, self),
            None => _ = self.coordinates.insert(var, value),
        }
    }

    /// The position that the result has been followed to.
    pub(crate) fn result_position(&self) -> &Expr {
        let cursor = self.result.as_ref().expect("the result has a cursor");
        cursor.position()
    }
}
