//! What every room of sparsec shares: ids, source text, diagnostics, types.
//!
//! | module         | holds                                                        |
//! |----------------|--------------------------------------------------------------|
//! | [`arena`]      | ids as newtypes ([`define_id!`]) and arenas indexed by them   |
//! | [`source`]     | source text with a name, and spans into it                   |
//! | [`cancel`]     | ending work that nobody waits for                            |
//! | [`Deal`]       | the bits of several coordinates in one key, and back          |
//! | [`diagnostic`] | coded errors with places in the source and the way out       |
//! | [`code`]       | every diagnostic code with its long explanation              |
//! | [`Elementary`] | functions of the C library that Rust's has not                 |
//! | [`hash`]       | where tables keep a number                                   |
//! | [`lex`]        | the tokens that all our small languages are made of          |
//! | [`MAX_ORDER`]  | the most modes that a tensor may have                        |
//! | [`recent`]     | a map that keeps what was used last                          |
//! | [`mark`]       | how loops may run: unrolled, in parallel                     |
//! | [`scalar`]     | one value of an element type                                 |
//! | [`suggest`]    | "did you mean …?"                                            |
//! | [`table`]      | lists whose entries are found by name                        |
//! | [`types`]      | element types, index widths                                  |
//!
//! Bad input becomes a [`Diagnostic`]; a broken invariant of ours panics.

// Kernels take addresses as 64-bit numbers in the order of bytes that files have, and memory grows
// in place by a system call that Linux has.
#[cfg(not(all(
    target_os = "linux",
    target_pointer_width = "64",
    target_endian = "little"
)))]
compile_error!(
    "sparsec runs on 64-bit little-endian Linux alone (x86-64, AArch64): build it for such a target"
);

pub mod arena;
pub mod cancel;
pub mod code;
mod deal;
pub mod diagnostic;
mod elementary;
mod fill;
pub mod hash;
pub mod lex;
pub mod mark;
mod order;
pub mod recent;
pub mod scalar;
pub mod source;
pub mod suggest;
pub mod table;
pub mod types;

pub use arena::Arena;
pub use cancel::Cancel;
pub use code::Code;
pub use deal::Deal;
pub use diagnostic::{Diagnostic, Result};
pub use elementary::Elementary;
pub use fill::Fill;
pub use half::{bf16, f16};
pub use num_complex::Complex;
pub use order::{MAX_ORDER, check_order};
pub use recent::Recent;
pub use scalar::Scalar;
pub use source::{Source, Span};
pub use table::Table;
pub use types::{Bool8, ElementType, IndexWidth, Kind};
