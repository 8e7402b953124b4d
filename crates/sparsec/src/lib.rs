//! sparsec: a compiler for sparse tensors.
//!
//! Say what to compute in index notation and how each tensor is stored; sparsec
//! plans the loops, generates them, compiles them and runs them on your arrays.
//!
//! # One line
//!
//! ```
//! use sparsec::{Tensor, evaluate};
//!
//! let a = Tensor::builder("csr", &[2, 3])?
//!     .push([0, 0], 1.0)
//!     .push([0, 2], 2.0)
//!     .push([1, 1], 3.0)
//!     .build()?;
//! let x = Tensor::dense(&[3], [1.0, 10.0, 100.0])?;
//!
//! let y = evaluate("y(i) = A(i,j) * x(j)", [("A", &a), ("x", &x)])?;
//! assert_eq!(y.values::<f64>(), Some(&[201.0, 30.0][..]));
//! # Ok::<(), sparsec::Error>(())
//! ```
//!
//! An index variable that the left side lacks is summed over each term of the right
//! side in which it occurs. Or write the letters alone, checked when your program is
//! compiled: [`einsum!`](macro@einsum)`("ij,j->i", a, x)?`.
//!
//! # Tensors and formats
//!
//! A [`Format`] says how the entries of a [`Tensor`] are arranged: a level of
//! storage for each mode, outermost first. Presets have names, anything else is a
//! map; both may say how wide index arrays are:
//!
//! ```
//! use sparsec::{Format, Tensor};
//!
//! let rows = Format::parse("csr")?;
//! assert_eq!(rows.to_string(), "(i, j) -> (i : dense, j : compressed)");
//! let slices = Format::parse("(i, j, k) -> (k : compressed, i : dense, j : compressed), crd = 64")?;
//!
//! // A builder takes entries in any order and of any type, and adds duplicates.
//! let t = Tensor::builder(&slices, &[4, 5, 6])?
//!     .push([1, 2, 3], 0.5f32)
//!     .push([1, 2, 3], 0.25)
//!     .build()?;
//! assert_eq!(t.get(&[1, 2, 3]).to_string(), "0.75");
//! # Ok::<(), sparsec::Error>(())
//! ```
//!
//! Arrays that you have already are used as they are, without a copy: borrowed by
//! [`CsrRef`] and its like, or taken over by [`Tensor::new`]. They are checked
//! first, so that no kernel ever leaves an array:
//!
//! ```
//! use sparsec::{CsrRef, einsum};
//! # let (row_ptr, cols, vals) = ([0i32, 2, 3], [0i32, 2, 1], [1.0, 2.0, 3.0]);
//!
//! let a = CsrRef::new([2, 3], &row_ptr, &cols, &vals).as_tensor()?;
//! let by_row = einsum!("ij->i", a)?;
//! assert_eq!(by_row.as_dense::<f64>(), Some(&[3.0, 3.0][..]));
//! # Ok::<(), sparsec::Error>(())
//! ```
//!
//! Types of `sprs`, `nalgebra-sparse`, `ndarray` and
//! `faer` convert both ways with the features of these names; with `serde` formats
//! and tensors serialise. [`io`] reads and writes files.
//!
//! # Kernels
//!
//! What runs more than once is planned once. A [`Program`] with what is known of
//! its tensors becomes a [`Kernel`], which takes any operands of these formats and
//! types:
//!
//! ```
//! use sparsec::{Program, Tensor};
//! # let a = Tensor::builder("csr", &[2, 2])?.push([0, 1], 2.0).push([1, 0], 3.0).build()?;
//!
//! let kernel = Program::parse("C(i,j) = A(i,k) * B(k,j)")?
//!     .format("A", "csr")?
//!     .format("B", "csr")?
//!     .format("C", "csr")?
//!     .plan()?;
//! let c = kernel.bind("A", &a)?.bind("B", &a)?.evaluate()?;
//! assert_eq!(c.values::<f64>(), Some(&[6.0, 6.0][..]));
//! # Ok::<(), sparsec::Error>(())
//! ```
//!
//! A kernel is cheap to clone and may be called from many threads at once. What is bound
//! decides how it runs: large operands on the threads of the session, and
//! [`Binding::emit`] shows the loops. [`Binding::until`] lets another thread end it.
//! Where only values change, [`Binding::assemble`] makes the structure of the
//! result once and [`Assembled::compute`] its values as often as need be.
//!
//! # Looking inside
//!
//! Every [`Stage`] between the expression and the kernel is text:
//!
//! ```
//! use sparsec::{Program, Stage};
//! # let mut program = Program::parse("C(i,j) = A(i,k) * B(k,j)")?;
//! # for name in ["A", "B", "C"] { program = program.format(name, "csr")?; }
//! # let kernel = program.plan()?;
//!
//! assert_eq!(
//!     kernel.emit(&Stage::Concrete)?,
//!     "\
//! forall i: where(
//!   forall j: C(i,j) = w(j),
//!   forall k: forall j: w(j) += A(i,k) * B(k,j))
//! "
//! );
//! let c = kernel.emit(&Stage::C)?; // to keep: no globals, an error code back
//! # assert!(c.contains("int64_t"));
//! # Ok::<(), sparsec::Error>(())
//! ```
//!
//! # Mistakes
//!
//! One [`Error`] type says what is wrong, where, and the way out; its code can be
//! matched, and `Display` draws it under the source:
//!
//! ```
//! use sparsec::{Program, code};
//!
//! let error = Program::parse("y(i) = A(i,j) * x(j").unwrap_err();
//! assert_eq!(error.code(), code::UNEXPECTED_TOKEN);
//! assert!(error.to_string().contains("y(i) = A(i,j) * x(j"));
//! ```
//!
//! # Sessions
//!
//! A [`Session`] finds the C compiler and the cache of kernels on disk, and keeps
//! in memory what it planned and compiled. The functions above use one that the
//! process shares; make your own to choose another compiler, another cache or the
//! interpreter, with [`Options`]:
//!
//! ```
//! use sparsec::{Backend, Options, Program, Session, Tensor};
//!
//! // The interpreter needs no compiler, and checks every access.
//! let session = Session::new(Options::new().backend(Backend::Interpreter));
//! let kernel = session.plan(&Program::parse("s = x(i) * x(i)")?)?;
//! let x = Tensor::dense(&[2], [3.0, 4.0])?;
//! assert_eq!(kernel.bind("x", &x)?.evaluate()?.get(&[]).to_string(), "25.0");
//! # Ok::<(), sparsec::Error>(())
//! ```
//!
//! # Modules
//!
//! | module          | holds                                                        |
//! |-----------------|--------------------------------------------------------------|
//! | [`program`]     | a program and what is known of its tensors                   |
//! | [`build`]       | programs that front ends build, without text                 |
//! | [`kernel`]      | planned programs, and the variants they are made of          |
//! | [`binding`]     | operands given to a kernel, and results assembled            |
//! | [`mod@evaluate`], [`mod@einsum`] | the same in one call                        |
//! | [`session`], [`options`] | engines, threads, memory, what is kept              |
//! | [`shard`]       | programs cut into shards                                     |
//! | [`stage`]       | every stage as text                                          |
//! | [`io`]          | reading and writing files                                    |
//!
//! # Platforms
//!
//! 64-bit little-endian Linux: x86-64 is tested, AArch64 should work. Other targets
//! refuse to compile: memory grows in place by a system call of Linux.

pub mod binding;
mod compile;
mod compiled;
mod compute;
mod conversion;
pub mod einsum;
mod estimated;
pub mod evaluate;
mod facts;
mod figures;
#[doc(hidden)]
pub mod internals;
mod keep;
mod kept;
pub mod kernel;
mod mlir_host;
mod networks;
pub mod options;
pub mod program;
mod ready;
mod recall;
mod relational;
mod request;
pub mod session;
pub mod shard;
pub mod stage;
mod walks;

mod checked;
mod extents;
mod fitting;
mod launch;
mod memory;
mod parts;
mod picture;
mod widths;
mod work;

pub use binding::{Assembled, Binding};
#[doc(hidden)]
pub use einsum::__check_einsum;
pub use einsum::einsum;
pub use estimated::{Described, Estimated};
pub use evaluate::evaluate;
pub use kernel::Kernel;
pub use options::{Backend, Options};
pub use program::Program;
pub use relational::Converted;
pub use session::Session;
pub use shard::{ShardOperand, Sharding};
pub use stage::{Drawing, Stage};

/// What every function of this crate that can fail gives: one coded
/// [`Diagnostic`] with its places and the way out.
///
/// It is the diagnostic itself and not a wrapper of several: each step stops at
/// its first fault, and so one type goes through `?` from every crate of ours.
pub type Error = Diagnostic;

/// Programs that front ends build, without text.
pub mod build {
    pub use sparsec_index::build::Value;
    pub use sparsec_index::function::Properties;
    pub use sparsec_index::{
        IndexExpr, IndexVar, Operator, Program, ProgramBuilder, TensorVar, UserFunction,
    };
}

pub use sparsec_base::{
    Bool8, Cancel, Code, Complex, Diagnostic, ElementType, IndexWidth, Result, Scalar, Source,
    Span, bf16, code, f16,
};
pub use sparsec_format::{
    Format, FormatSpec, LevelKind, Preset, RelationFormat, RelationPreset, Role, Storage, Way,
    Widths, presets, relation_presets,
};
pub use sparsec_gradient::{Places, gradient};
pub use sparsec_index::UserFunction;
pub use sparsec_io as io;
pub use sparsec_notation::{TensorName, parse_function};
pub use sparsec_runtime::MemoryLimit;
pub use sparsec_tensor::{
    Array, ArrayRef, CooRef, Coords, CscRef, CsrRef, Difference, Duplicates, Element, Entries,
    Index, IndexInteger, LevelView, PackOptions, PrintOptions, RelationTensor, Stored, Tensor,
    TensorBuilder, TensorRef, Window,
};

/// The examples of the README, which run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
