//! Concrete index notation to loop IR.
//!
//! ```text
//! forall i:                       for i in 0..A.n0 {
//!   where(y(i) = t,                 var t = 0
//!     forall j:                     for pA1 in A1.pos[i]..A1.pos[i+1] {
//!       t += A(i,j) * x(j))           let j = A1.crd[pA1]
//!                                     t += A.vals[pA1] * x.vals[j] }
//!                                   y.vals[i] = t }
//! ```
//!
//! `statement` walks the statement from outside in. For each `forall` it asks
//! `sparsec-graph` which coordinates matter and turns the merge lattice into
//! loops (`forall`); each operand has a cursor that one level after another
//! moves down (`cursor`); each level of a sparse result gets its entries when
//! its loop has a coordinate to keep (`assembly`). What is particular to a
//! level kind stands in the file of its name in `level`; no level kind is known by
//! name outside of `level`.
//!
//! Where an operand is not stored at a coordinate, its value is the literal
//! fill; what that makes of the statement is found by simplifying it
//! (`absent`), so there are no cases for operators here.
//!
//! Each function takes a [`Builder`](sparsec_loop::Builder) and a `Context`. The builder writes the
//! kernel and knows no statement. The context holds the facts that are known at that place of the
//! kernel. A module uses those of the floors below its own:
//!
//! | floor      | modules                                                                  |
//! |------------|--------------------------------------------------------------------------|
//! | statements | `statement`, `zeros`; `assign`                                               |
//! | loops      | `forall` and its modules                                   |
//! | in loops   | `search`, `walker`, `runs`, `prefetch`; `result`, `workspace` |
//! | questions  | `extents`, `index`, `affine`, `presence`, `loops`, `absent`   |
//! | state      | `context` over the `kernel`; `temporary`, `positions`, `assembly` |
//! | level      | `level`, `cursor`, `arrays`, `bisect`, `bits`, `value`        |
//!
//! [`scan`] is the other way into loops: from computations over relations.
//!
//! The input must be lowerable (`sparsec_graph::lowerable`); the result is a
//! verified function whose arguments come in the order in which the source
//! names them.
//!
//! Source: Kjolstad et al., "The Tensor Algebra Compiler", OOPSLA 2017, §6;
//! Chou et al., "Format Abstraction for Sparse Tensor Algebra Compilers",
//! OOPSLA 2018, §5. The lattice's cases, absent operands and assembly are
//! derived here rather than transcribed.

mod absent;
mod affine;
mod arrays;
mod assembly;
mod assign;
mod bisect;
mod bits;
mod context;
mod cursor;
mod extents;
mod forall;
mod index;
mod kernel;
mod level;
mod loops;
mod positions;
mod prefetch;
mod presence;
mod result;
mod runs;
pub mod scan;
mod search;
mod statement;
mod temporary;
mod value;
mod walker;
mod workspace;
mod zeros;

pub use scan::{Units, lower_computation, lower_computation_for};

use sparsec_base::Result;
use sparsec_graph::{Formats, lowerable};
use sparsec_index::Concrete;
use sparsec_loop::{Function, passes};

/// Lowers a planned statement to a kernel called `name`.
///
/// # Errors
/// Why the statement cannot be lowered as it stands: `E0301` to `E0307`.
pub fn lower(name: &str, concrete: &Concrete, formats: &Formats) -> Result<Function> {
    lowerable(concrete, formats).map_err(|refusal| refusal.diagnostic(concrete))?;
    let concrete = concrete.unfused();
    let mut function = statement::kernel(name, &concrete, formats);
    passes::defer_failures(&mut function);
    Ok(function)
}
