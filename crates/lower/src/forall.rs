//! A `forall` as loops, by what its variable counts.
//!
//! | module          | the variable counts                                          |
//! |-----------------|--------------------------------------------------------------|
//! | [`coordinates`] | coordinates: all of them, or those that operands store        |
//! | [`stretch`]     | blocks of coordinates, or a stretch of them                   |
//! | [`positions`]   | positions of an operand                                      |
//! | [`computed`]    | values that variables are computed from                       |
//!
//! Of loops over coordinates, [`cases`] has the cases, [`merge`] and [`gallop`] those that walk
//! several operands.

mod cases;
mod computed;
mod coordinates;
mod gallop;
mod merge;
mod part;
mod positions;
mod stretch;

use sparsec_index::concrete::Steps;
use sparsec_loop::Builder;

use crate::context::{Context, Loop};

/// Writes the loops of a `forall`.
pub(crate) fn forall(b: &mut Builder, at: &Context<'_>, this: Loop<'_>) {
    let Loop { var, body } = this;
    let concrete = at.kernel.concrete;
    let mut here = at.clone();
    positions::begin(b, &mut here, var);
    here.loops.push(var);
    match concrete.steps(&at.loops, var) {
        Steps::Coordinates => coordinates::over(b, &here, this),
        Steps::Stretch(original) => {
            let range = stretch::stretch(b, &here, var, original);
            here.ranges.insert(original, range);
            let var = original;
            coordinates::over(b, &here, Loop { var, body });
        }
        Steps::Blocks => stretch::over_blocks(b, &here, this),
        Steps::Positions(number) => positions::over_positions(b, &here, number, this),
        Steps::Computed => computed::over_computed(b, &here, this),
    }
}
