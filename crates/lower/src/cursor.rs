//! Cursors: how far down its levels an operand has been followed.
//!
//! A cursor begins at the root, position 0 of no level. Binding an index
//! variable moves it below the level that stores the variable: a walked level
//! by the loop that walks it, a full level by computing the position, as soon
//! as the levels outside are behind it.

use std::collections::BTreeMap;

use sparsec_graph::Operand;
use sparsec_index::{IndexExpr, IndexVar};
use sparsec_loop::Expr;

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
}

impl Bindings {
    /// The coordinate that an index is, whose variables are all bound.
    pub(crate) fn coordinate(&self, index: &IndexExpr) -> Expr {
        let var = index.as_var().expect("indices are plain variables");
        self.coordinates[&var].clone()
    }

    /// The position that the result has been followed to.
    pub(crate) fn result_position(&self) -> &Expr {
        let cursor = self.result.as_ref().expect("the result has a cursor");
        cursor.position()
    }
}
