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
//! Lowering walks the statement from outside in. For each `forall` it asks
//! `sparsec-graph` which coordinates matter and turns the merge lattice into
//! loops ([`walk`]); each operand has a cursor that one level after another
//! moves down ([`cursor`]); each level of a sparse result is appended to when
//! its loop has a coordinate to keep ([`assemble`]). What is particular to a
//! level kind stands in the file of its name in [`level`].
//!
//! Where an operand is not stored at a coordinate, its value is the literal
//! fill; what that makes of the statement is found by simplifying it
//! ([`absent`]), so there are no cases for operators here.
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
mod assemble;
mod bisect;
mod bits;
mod computed;
mod cursor;
mod derived;
mod fill;
mod gallop;
mod index;
mod level;
mod merge;
mod positions;
mod prefetch;
mod presence;
mod runs;
pub mod scan;
mod search;
mod signature;
mod statement;
mod value;
mod walk;
mod walker;
mod workspace;

pub use scan::{Units, lower_computation, lower_computation_for};

use sparsec_base::Result;
use sparsec_graph::{Formats, lowerable};
use sparsec_index::Concrete;
use sparsec_loop::Function;

/// Lowers a planned statement to a kernel called `name`.
///
/// # Errors
/// Why the statement cannot be lowered as it stands: `E0301` to `E0307`.
pub fn lower(name: &str, concrete: &Concrete, formats: &Formats) -> Result<Function> {
    lowerable(concrete, formats)?;
    let concrete = concrete.unfused();
    Ok(statement::Lowerer::new(name, &concrete, formats).run())
}
