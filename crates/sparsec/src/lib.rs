//! sparsec: a compiler for sparse tensors.
//!
//! Say what to compute in index notation and how each tensor is stored; sparsec
//! plans the loops, generates them, compiles them and runs them.
//!
//! ```
//! use sparsec::{Format, Inputs, Request, Session, Source, Tensor, compile};
//!
//! let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 0, 0, 2, 1, 1], &[1.0, 2.0, 3.0])?;
//! let x = Tensor::pack(&Format::dense(1), &[3], &[0, 1, 2], &[1.0, 10.0, 100.0])?;
//! let inputs = Inputs::from([("A".to_owned(), a), ("x".to_owned(), x)]);
//!
//! let request = Request::new(Source::new("expression", "y(i) = A(i,j) * x(j)"));
//! let compiled = compile(&request, &inputs)?;
//! let outcome = Session::interpreter().run(&compiled, inputs)?;
//! assert_eq!(outcome.tensors["y"].values::<f64>(), Some(&[201.0, 30.0][..]));
//! # Ok::<(), sparsec::Diagnostic>(())
//! ```
//!
//! The stages in between are text that can be looked at:
//!
//! ```
//! # use sparsec::{Inputs, Request, Source, Stage, compile};
//! let mut request = Request::new(Source::new("expression", "C(i,j) = A(i,k) * B(k,j)"));
//! for name in ["A", "B", "C"] {
//!     request.set_format(name, "csr")?;
//! }
//! let compiled = compile(&request, &Inputs::new())?;
//! assert_eq!(
//!     compiled.emit(&Stage::Schedule)?,
//!     "reorder(i, k, j)\nprecompute(A(i,k) * B(k,j), {j}, w)\n",
//! );
//! # Ok::<(), sparsec::Diagnostic>(())
//! ```
//!
//! | module      | holds                                                     |
//! |-------------|-----------------------------------------------------------|
//! | [`request`] | what is asked: an expression and what is known of tensors |
//! | [`compile`](mod@compile) | from a request to kernels: the pipeline      |
//! | [`stage`]   | every stage as text                                       |
//! | [`session`] | running what was compiled                                 |
//! | [`io`]      | reading and writing files                                 |

pub mod binding;
pub mod compile;
pub mod einsum;
pub mod evaluate;
pub mod kernel;
pub mod program;
pub mod request;
pub mod session;
pub mod stage;

mod extents;
mod launch;
mod widths;

pub use binding::{Assembled, Binding};
pub use compile::{Compiled, CompiledStatement, compile};
#[doc(hidden)]
pub use einsum::__check_einsum;
pub use einsum::einsum;
pub use evaluate::evaluate;
pub use kernel::Kernel;
pub use program::Program;
pub use request::{Inputs, Request, TensorSpec};
pub use session::{Backend, Options, Outcome, Session, Timings};
pub use stage::Stage;

/// What every function of this crate that can fail gives: one coded
/// [`Diagnostic`] with its places and the way out.
///
/// It is the diagnostic itself and not a wrapper of several: each step stops at
/// its first fault, and so one type goes through `?` from every crate of ours.
pub type Error = Diagnostic;

pub use sparsec_base::{
    Bool8, Code, Complex, Diagnostic, ElementType, IndexWidth, Result, Scalar, Source, Span, bf16,
    code, f16, suggest,
};
pub use sparsec_codegen_c as codegen_c;
pub use sparsec_format::{Format, FormatSpec, LevelKind, Preset, Role, Widths, presets};
pub use sparsec_format::{choice, level, statistics};
pub use sparsec_index as index;
pub use sparsec_index::notation::TensorName;
pub use sparsec_index::{Notation, notation};
pub use sparsec_io as io;
pub use sparsec_loop::Function;
pub use sparsec_loop::passes::PIPELINE as PASSES;
pub use sparsec_parallel as parallel;
pub use sparsec_reference as reference;
pub use sparsec_runtime as runtime;
pub use sparsec_tensor::{
    Array, ArrayRef, Duplicates, Element, Entries, PackOptions, Tensor, TensorBuilder, TensorRef,
    generate,
};
