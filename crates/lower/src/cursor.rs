//! Cursors: how far down its levels an operand has been followed.
//!
//! A cursor begins at the root, position 0 of no level. Binding an index
//! variable moves it below the level that stores the variable: a walked level
//! by the loop that walks it, a full level by computing the position, as soon
//! as the levels outside are behind it.

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
        Self::at(0, Expr::int(0))
    }

    /// A cursor at a position behind the first `levels` levels.
    pub(crate) fn at(levels: usize, position: impl Into<Expr>) -> Self {
        let place = Place::At(position.into());
        Self { levels, place }
    }

    /// The position of a cursor that is at one.
    pub(crate) fn position(&self) -> &Expr {
        match &self.place {
            Place::At(position) => position,
            Place::Run { .. } => panic!("a run of positions has a level below it"),
        }
    }
}
