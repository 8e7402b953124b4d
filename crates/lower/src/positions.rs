//! Positions of an operand that loops go over, one or several levels of it at once.

use sparsec_graph::Operand;
use sparsec_loop::{BinaryOp, Expr};

/// The positions that the loops of one clause go over.
#[derive(Clone, Debug)]
pub(crate) struct Positions {
    pub(crate) operand: Operand,
    /// The levels, the outermost first.
    pub(crate) levels: Vec<LevelPositions>,
}

/// The positions of one level.
#[derive(Clone, Debug)]
pub(crate) struct LevelPositions {
    pub(crate) number: usize,
    pub(crate) lo: Expr,
    pub(crate) hi: Expr,
}

impl Positions {
    /// How many positions there are.
    pub(crate) fn n_positions(&self) -> Expr {
        let last = self.last();
        last.hi.clone().binary(BinaryOp::Sub, last.lo.clone())
    }

    pub(crate) fn last(&self) -> &LevelPositions {
        self.levels.last().expect("positions are those of a level")
    }
}
