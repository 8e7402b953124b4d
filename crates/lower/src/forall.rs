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

/// Writes a loop, whose body is found in it.
pub(crate) fn forall(b: &mut Builder, at: &Context<'_>, to_write: Loop<'_>) {
    let Loop { var, body } = to_write;
    let concrete = at.kernel.concrete;
    let mut here = at.clone();
    positions::begin(b, &mut here, var);
    here.loops.push(var);
    match concrete.steps(&at.loops, var) {
        Steps::Coordinates => coordinates::over(b, &here, to_write),
        Steps::Stretch(original) => {
            let range = stretch::stretch(b, &here, var, original);
            here.ranges.insert(original, range);
            let var = original;
            coordinates::over(b, &here, Loop { var, body });
        }
        Steps::Blocks => stretch::over_blocks(b, &here, to_write),
        Steps::Positions(number) => positions::over_positions(b, &here, number, to_write),
        Steps::Computed => computed::over_computed(b, &here, to_write),
    }
}
