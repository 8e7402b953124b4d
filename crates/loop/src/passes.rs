//! Passes: functions that make a function better, or another one of it.
//!
//! [`optimize`] runs the passes of [`PIPELINE`] in order. Each keeps what the
//! function computes, bit for bit, and that it is [valid](crate::verify());
//! debug builds check the latter after every pass. What comes out is printed
//! as C for people to keep, so a pass leaves expressions whole where a C
//! compiler would do as well with them.
//!
//! | pass                 | what it does                                         |
//! |----------------------|------------------------------------------------------|
//! | [`simplify`]         | folds constants, applies exact algebra, drops what never runs |
//! | [`scalars`]          | makes variables of workspaces of one entry           |
//! | [`copy_propagation`] | removes variables that only rename, or name a short sum once |
//! | [`ranges`]           | decides comparisons by the types of arrays           |
//! | [`fail_early`]       | moves tests of numbers before the loops that make them |
//! | [`hoist`]            | moves what a loop computes again and again before it |
//! | [`dead_code`]        | drops what nothing needs                             |
//!
//! Two more passes slice a kernel that assembles a sparse result:
//! [`slice_structure`] keeps what builds the positions and coordinates,
//! [`slice_values`] what computes the values once those are there. [`own_results`]
//! lets a kernel make room for results that its caller would allocate.
//!
//! Two give parallel loops their shape, by which sums round as it says: [`divide`] hands
//! them to threads in chunks, [`lanes`] sums in eight lanes at once. Three go by how far extents are
//! likely to go: [`collapse`] has one loop go along several modes, [`tile()`] keeps rows that many
//! entries add to in tiles, and [`short`] has loops over few coordinates run with constant bounds. [`strips`] has loops over rows fill the slots that
//! they store to. Then [`polls`] has long loops ask whether anybody still waits.
//! [`defer_failures`] ends the lowering of a statement: a temporary that nothing needs does not
//! fail. [`without_prefetch`] is for engines that cannot fetch anything early, or not everything.
//!
//! ```
//! use sparsec_base::Source;
//! use sparsec_loop::{Function, passes};
//! let source = Source::new("f", r#"fn f(out y "(i) -> (i : dense)" { extent n, write y: f64 }) {
//!   for i in 0 + 0..n * 1 { let p: i64 = i + 0 y[p] = 1.0 + 1.0 }
//! }"#);
//! let mut names = Vec::new();
//! let f = passes::optimize(Function::parse(&source)?, &mut |name, _| names.push(name.to_owned()));
//! assert!(f.to_string().contains("for i in 0..n {\n    y[i] = 2.0\n  }"));
//! assert_eq!(names.len(), passes::PIPELINE.len());
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod collapse;
mod copy_propagation;
mod dead_code;
mod defer_failures;
mod divide;
mod fail_early;
mod hoist;
mod lanes;
mod needed;
mod own_results;
mod polls;
mod ranges;
mod scalars;
mod short;
mod simplify;
mod slice_structure;
mod slice_values;
mod strips;
mod tile;

pub use collapse::{collapse, collapsible};
pub use copy_propagation::copy_propagation;
pub use dead_code::{dead_code, without_prefetch};
pub use defer_failures::defer_failures;
pub use divide::{Division, divide, identity};
pub use fail_early::fail_early;
pub use hoist::hoist;
pub use lanes::lanes;
pub use own_results::own_results;
pub use polls::polls;
pub use ranges::ranges;
pub use scalars::scalars;
pub use short::{short, short_extents};
pub use simplify::simplify;
pub use slice_structure::slice_structure;
pub use slice_values::slice_values;
pub use strips::strips;
pub use tile::{MOST_BYTES, ROWS_BYTES, TileShape, tile, tile_shapes, tile_width};

use std::collections::HashSet;

use sparsec_base::cancel::checkpoint;

use crate::ir::{Buffer, Function, Role};

/// One pass of the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// What `--emit loop-after=NAME` calls it.
    pub name: &'static str,
    /// Changes a function in place.
    pub run: fn(&mut Function),
}

/// The passes that every kernel goes through, in order.
pub const PIPELINE: &[Pass] = &[
    Pass {
        name: "simplify",
        run: simplify,
    },
    Pass {
        name: "scalars",
        run: scalars,
    },
    Pass {
        name: "copy_propagation",
        run: copy_propagation,
    },
    Pass {
        name: "ranges",
        run: ranges,
    },
    Pass {
        name: "fail_early",
        run: fail_early,
    },
    Pass {
        name: "hoist",
        run: hoist,
    },
    Pass {
        name: "dead_code",
        run: dead_code,
    },
    Pass {
        name: "tidy",
        run: simplify,
    },
];

/// Runs the [`PIPELINE`] on a valid function. `dump` sees the function after
/// each pass, with the pass's name.
#[must_use]
pub fn optimize(mut function: Function, dump: &mut dyn FnMut(&str, &Function)) -> Function {
    for pass in PIPELINE {
        checkpoint();
        (pass.run)(&mut function);
        check_after(pass.name, &function);
        dump(pass.name, &function);
    }
    function
}

/// In debug builds, panics if a pass broke a function.
fn check_after(pass: &str, function: &Function) {
    if cfg!(debug_assertions)
        && let Err(error) = crate::verify(function)
    {
        panic!("after `{pass}`:\n{error}\n{function}");
    }
}

/// The arrays that hold the values of results: each the last of its argument.
fn result_values(function: &Function) -> HashSet<Buffer> {
    results(function)
        .filter_map(|buffers| buffers.last().copied())
        .collect()
}

/// All other arrays of results: positions and coordinates.
fn result_structure(function: &Function) -> HashSet<Buffer> {
    results(function)
        .filter_map(|buffers| buffers.split_last())
        .flat_map(|(_, structure)| structure.iter().copied())
        .collect()
}

fn results(function: &Function) -> impl Iterator<Item = &[Buffer]> {
    function
        .arguments
        .iter()
        .filter(|argument| argument.role == Role::Out)
        .map(|argument| &argument.buffers[..])
}
