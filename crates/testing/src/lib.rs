//! Filetests: what sparsec makes of a program, written down in text files.
//!
//! A file in `filetests/` is a program, the stages to look at, and what they
//! are to be:
//!
//! ```text
//! ; Two compressed vectors into a dense one: a merged loop, then one tail each.
//! test lattice run
//! a : f64[6], (i) -> (i : dense)
//! b : f64[6], (i) -> (i : compressed)
//! c : f64[6], (i) -> (i : compressed)
//! a(i) = b(i) + c(i)
//! ---- lattice
//! i: {b0, c0} {b0} {c0}   visits b0 ∪ c0
//! ---- run
//! b = {1: 2, 4: 3}   c = {0: 1, 4: 10}   =>   a = [1, 2, 0, 0, 13, 0]
//! ```
//!
//! | module     | holds                                                    |
//! |------------|----------------------------------------------------------|
//! | [`mod@file`] | the parts of a file                                      |
//! | [`compute`] | computations over relations                             |
//! | [`stages`] | stages compared with sections, and read back             |
//! | [`data`]   | tensors as a `run` line writes them                      |
//! | [`random`]   | random programs on every engine, against the oracle      |
//! | [`reschedule`](mod@reschedule) | random commands on top of a plan             |
//! | [`run`]    | `run` lines on every engine, against the dense oracle    |
//! | [`mlir`]   | programs of MLIR                                         |
//! | [`linalg`] | modules of `--emit linalg` with a `main`                |
//! | [`mlir_random`] | random programs of MLIR                             |
//! | [`mlir_tools`] | MLIR's own tools                                      |
//! | [`modules`](mod@modules) | kernels as modules of MLIR, run by those tools |
//! | [`refuse`] | programs that are to be refused                          |
//! | [`relate`] | relations                                                |
//! | [`suite`]  | all files of a folder                                    |
//!
//! Sections are written by hand or with `SPARSEC_BLESS=1`, which writes every
//! section but `run`: what a program computes is worked out by people.

pub mod compute;
pub mod data;
pub mod file;
pub mod linalg;
pub mod mlir;
pub mod mlir_random;
pub mod mlir_tools;
pub mod modules;
pub mod random;
pub mod refuse;
pub mod relate;
pub mod reschedule;
pub mod run;
pub mod stages;
pub mod suite;
