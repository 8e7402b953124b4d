//! Loop IR to C11 that a person would keep.
//!
//! One kernel becomes two functions: the *loops*, whose parameters are plain
//! arrays and numbers, and the *kernel*, which takes tensors in source order
//! and hands their arrays to the loops:
//!
//! ```text
//! static int32_t spmv_loops(
//!     double *restrict y_vals, int64_t A_n0, const int32_t *restrict A1_pos, …) {
//!   for (int64_t i = 0; i < A_n0; i++) {
//!     double t = 0.0;
//!     for (int64_t pA1 = A1_pos[i]; pA1 < A1_pos[i + 1]; pA1++) { … }
//!     y_vals[i] = t;
//!   }
//!   return SPARSEC_OK;
//! }
//!
//! int32_t spmv(sparsec_context *context, sparsec_tensor *y,
//!     const sparsec_tensor *A, const sparsec_tensor *x) {
//!   return spmv_loops(y->arrays[0].data, A->extents[0], A->arrays[0].data, …);
//! }
//! ```
//!
//! The two are apart because compilers honour `restrict` on parameters but not
//! on local variables: loaded inside the kernel, every inner loop would be
//! compiled twice with a run-time alias check before it.
//!
//! The text includes `stdint.h` and at most `stdbool.h`, has no globals, is
//! re-entrant, and asks its caller for memory through the context it is given
//! ([the binary interface](abi)). Two generated files link together as long as
//! their kernels' names differ. Files of [kernels to keep](kept) have what answers
//! for a caller who gives no context.
//!
//! # Meaning
//!
//! The C means what the IR means, provided that the compiler is told that
//! integers wrap (`-fwrapv`) and that products and sums are not contracted
//! (`-ffp-contract=off`). Where C differs from the IR, the text says so:
//!
//! * C computes in `int` what is narrower than `int64_t`; an operation of the
//!   IR's `i64` whose operands C holds in `int` has one widened (`expr`).
//! * `//`, `%`, `min`, `max` and `abs` are small inline functions, written only
//!   where used.
//! * Integers of 8 and 16 bits are cut back to their width after each operation.
//! * Halves are held as bits and computed with as `float` (`half`), complex numbers
//!   as structures of two parts (`complex`).
//! * C has no error exit inside an expression. An operation that may fail is
//!   checked by a statement before the one that holds it; a lazy operator
//!   around it becomes an `if`, so that what the IR does not evaluate, C does
//!   not check (`expr`).

pub mod abi;

mod bits;
mod chunks;
mod complex;
mod convert;
mod expr;
mod function;
mod growth;
mod half;
mod helper;
mod hint;
pub mod kept;
mod loops;
mod name;
mod nest;
mod pick;
mod precedence;
mod rows;
mod scope;
mod stmt;
mod uses;
mod workspace;

use sparsec_loop::Function;

use crate::helper::Helpers;

/// What belongs around the kernels of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Lines for the comment at the top, such as the program that the kernels
    /// compute.
    pub heading: Vec<String>,
    /// How each kernel is entered.
    pub entry: Entry,
}

/// How a kernel is entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Entry {
    /// By its name, with a complete context.
    #[default]
    Plain,
    /// By the runtime too: `NAME_launch` takes the tensors as an array of pointers.
    Launch,
    /// By its name, with a context that may be null or incomplete.
    Kept,
}

/// One kernel as a file of its own.
///
/// ```
/// use sparsec_loop::{Builder, Failure};
/// let mut b = Builder::new("refuse");
/// b.fail(Failure::DivisionByZero);
/// let c = sparsec_codegen_c::emit(&b.finish());
/// assert!(c.contains("int32_t refuse(sparsec_context *context) {"));
/// assert!(c.contains("return SPARSEC_DIVISION_BY_ZERO;"));
/// ```
pub fn emit(function: &Function) -> String {
    emit_file(&[function], &Options::default())
}

/// One kernel as the runtime compiles it: with its launch entry.
pub fn emit_unit(function: &Function) -> String {
    let options = Options {
        heading: Vec::new(),
        entry: Entry::Launch,
    };
    emit_file(&[function], &options)
}

/// Several kernels with one prelude.
///
/// The functions must be verified; their names must differ.
pub fn emit_file(functions: &[&Function], options: &Options) -> String {
    let Parts {
        declarations,
        kernels,
    } = emit_parts(functions, options);
    format!("{declarations}\n{kernels}")
}

/// A file in two parts, so that the kernels can be shown first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The includes, types and functions that the kernels use.
    pub declarations: String,
    /// The kernels.
    pub kernels: String,
}

/// As [`emit_file`], in two parts.
pub fn emit_parts(functions: &[&Function], options: &Options) -> Parts {
    let mut helpers = Helpers::default();
    let kernels: Vec<String> = functions
        .iter()
        .map(|function| function::kernel(function, options.entry, &mut helpers))
        .collect();
    let mut text = abi::heading(&options.heading);
    text.push_str(&declarations(&helpers));
    Parts {
        declarations: text,
        kernels: kernels.join("\n"),
    }
}

/// The includes, types and functions that kernels use.
fn declarations(helpers: &Helpers) -> String {
    let mut text = String::from("#include <stdint.h>\n");
    if helpers.needs_bool() {
        text.push_str("#include <stdbool.h>\n");
    }
    text.push('\n');
    text.push_str(&abi::prelude());
    text.push_str(&helpers.text());
    text
}

/// The loops of a kernel alone: the statements between its parameters and its return.
///
/// ```
/// use sparsec_loop::{Builder, Failure};
/// let mut b = Builder::new("refuse");
/// b.fail(Failure::DivisionByZero);
/// assert_eq!(sparsec_codegen_c::emit_loops(&b.finish()), "return SPARSEC_DIVISION_BY_ZERO;\n");
/// ```
pub fn emit_loops(function: &Function) -> String {
    function::loops(function, &mut Helpers::default())
}

/// The C name of the function that the runtime calls to launch `function`.
pub fn launch_name(function: &Function) -> String {
    abi::launch_name(&name::function_name(&function.name))
}
