//! Programs of MLIR's `sparse_tensor` dialect, run.
//!
//! ```text
//! func.func @main ──► Machine ── linalg.generic ──► Kernel: a program of tensor expressions ──► Host
//!                        │                                                                      │
//!                        └── arith, scf, tensor, memref, sparse_tensor.* ◄──────── tensors ─────┘
//! ```
//!
//! The machine evaluates the host program operation by operation: functions, loops, numbers,
//! memrefs, dense and sparse tensors. A structured operation (`linalg.generic`, `linalg.matmul`, …)
//! becomes a [`Kernel`]: a [`Program`](sparsec_index::Program) over the operands, whose regions are
//! expressions. The [`Host`] plans and runs it. The host also converts between formats, reads and
//! writes files, and prints.
//!
//! | module       | holds                                                                |
//! |--------------|----------------------------------------------------------------------|
//! | [`host`]     | the surroundings of a program: kernels, files, printing              |
//! | [`mod@kernel`] | structured operations as programs of tensor expressions            |
//! | `structured` | iterators, maps and bodies of structured operations                  |
//! | `body`       | regions as expressions                                               |
//! | `numbers`    | operations on numbers, for values and for expressions                |
//! | `machine`    | functions, blocks, and which module runs which operation             |
//! | `datum`, `constants`, `memory` | values of a run; buffers and views of them          |
//! | `control`, `tensors`, `memrefs`, `sparse`, `insert`, `arrays`, `iterate` | operations  |
//! | `runner`, `print` | the functions of MLIR's runner, and its notation of numbers     |
//! | `pointwise`  | structured operations whose bodies no expression has                 |
//!
//! Tensors are values: an operation that changes one makes a new one, without a copy if nobody else
//! has the old one. Memrefs are views of buffers. Every fault of a program is a diagnostic with the
//! place of the operation.
//!
//! Source: the dialect's documentation, <https://mlir.llvm.org/docs/Dialects/SparseTensorOps/>;
//! Bik et al., "Compiler Support for Sparse Tensor Computations in MLIR", TACO 2022,
//! <https://doi.org/10.1145/3544559>.

mod arrays;
mod body;
mod constants;
mod control;
mod datum;
pub mod host;
mod insert;
mod iterate;
pub mod kernel;
mod machine;
mod memory;
mod memrefs;
mod numbers;
mod pointwise;
mod print;
mod runner;
mod sparse;
mod structured;
mod tensors;

pub use host::{FileContent, Host};
pub use kernel::{Kernel, conversions, evaluated, kernels, place_of};
pub use machine::run;
