//! Loop IR to MLIR: functions of the dialects `func`, `scf`, `memref`, `arith`, `math`,
//! `complex` and `cf`.
//!
//! ```text
//! func.func @y(%y.n0: index, %y.vals: memref<?xf64>, %A.n0: index, %A1.pos: memref<?xi32>, …) {
//!   scf.for %i = %c0 to %A.n0 step %c1 {
//!     %0 = memref.load %A1.pos[%i] : memref<?xi32>
//!     …
//!     %t_2 = scf.for %pA1 = %1 to %4 step %c1 iter_args(%t_1 = %cst) -> (f64) {
//!       …
//!       scf.yield %t_3 : f64
//!     }
//!     memref.store %t_2, %y.vals[%i] : memref<?xf64>
//!   }
//!   return
//! }
//! ```
//!
//! # The functions
//!
//! A kernel is one function. Its parameters are, for each tensor in the order of the source, an
//! `index` for each mode and a `memref` for each array, in the order in which the format declares
//! them. Arrays that the kernel makes (access `grow`) are results instead. The caller releases
//! them with `memref.dealloc`.
//!
//! # Meaning
//!
//! * Variables become values. A loop or a branch that assigns variables of outside gives their new
//!   values as results (`state`). An array that grows is a variable of this kind.
//! * An `i64` that indexes arrays or bounds loops is an `index`, any other an `i64` (`indices`).
//!   An `index` has 64 bits, as with MLIR's default data layout.
//! * Loops of chunks become `scf.parallel` if chunks have nothing in common but their operands.
//!   Other chunks run in order.
//! * A failure is a `cf.assert`, which ends the program with the name of the failure.
//! * The memory of a function comes from `memref.alloc`, which MLIR does not check.
//! * Functions have no context: polls for cancellation are left out.
//! * Operations that have no counterpart of the same meaning call small functions at the end of the
//!   module (`helper`).
//!
//! The pipeline `--sparsifier=enable-runtime-library=false` of `mlir-opt` lowers the module to
//! LLVM's dialect.
//!
//! | module       | holds                                              |
//! |--------------|----------------------------------------------------|
//! | `function`   | a kernel: parameters, results                      |
//! | `stmt`       | statements                                         |
//! | `loops`      | loops and branches                                 |
//! | `state`    | values of variables, and those that a block changes |
//! | `indices`  | variables that are of type `index`                 |
//! | `expr`, `arithmetic`, `convert`, `complex` | expressions          |
//! | `helper`, `sort` | functions that kernels call                  |
//! | `types`, `writer` | words of types and constants; lines and names |
//!
//! Source: the definitions of the dialects, <https://mlir.llvm.org/docs/Dialects/>.

mod arithmetic;
mod complex;
mod convert;
mod expr;
mod function;
mod helper;
mod indices;
mod loops;
mod sort;
mod state;
mod stmt;
mod types;
mod writer;

use sparsec_loop::Function;

use crate::helper::Helpers;

/// Kernels as one module.
///
/// The functions must be verified. Cost: O(size of the functions), and of the variables that
/// each loop changes.
///
/// ```
/// use sparsec_loop::{Builder, Failure};
/// let mut b = Builder::new("refuse");
/// b.fail(Failure::DivisionByZero);
/// let module = sparsec_codegen_scf::emit(&[&b.finish()]);
/// assert!(module.contains("func.func @refuse() {"));
/// assert!(module.contains("cf.assert %false, \"division_by_zero\""));
/// ```
pub fn emit(functions: &[&Function]) -> String {
    let mut helpers = Helpers::default();
    let kernels: Vec<String> = functions
        .iter()
        .map(|function| function::kernel(function, &mut helpers))
        .collect();
    format!("module {{\n{}{}}}\n", kernels.concat(), helpers.text())
}
