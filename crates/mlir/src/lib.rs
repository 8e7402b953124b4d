//! The text of MLIR's `sparse_tensor` dialect in the spelling of every release.
//!
//! ```text
//! text ──► Module ──► verify ──► print, in the same release or another
//!            │
//!            └──► encodings ◄──► formats
//! ```
//!
//! A [`Module`] holds the operations of a program in arenas. A [`Definition`] describes an
//! operation; parser, printer and verifier all work from it. An [`Encoding`] describes how a sparse
//! tensor is stored, in the spelling of any release. It converts to a
//! [`Format`](sparsec_format::Format).
//!
//! | module         | holds                                                          |
//! |----------------|----------------------------------------------------------------|
//! | [`mod@release`] | the releases of the dialect, and the releases of each word    |
//! | [`module`]     | operations, regions, blocks, values; typed views               |
//! | [`types`], [`attribute`], [`affine`] | types, attributes and affine maps        |
//! | [`encoding`]   | encodings, their rules, formats                                |
//! | [`definition`] | every operation: operands, results, attributes, form           |
//! | `lex`, `parse` | text to modules                                                |
//! | `spell`, `print` | modules to text                                              |
//! | `verify`       | the rules for a valid module                                   |
//! | `rewrite`      | a module in the spelling of another release                    |
//!
//! The crate runs no program. It refuses unknown operations by name: it knows the operations of
//! sparse programs, not all of MLIR.
//!
//! Source: the dialect's documentation and definitions in LLVM 13 to 20,
//! <https://mlir.llvm.org/docs/Dialects/SparseTensorOps/>.

pub mod affine;
pub mod attribute;
pub mod definition;
pub mod encoding;
mod lex;
pub mod module;
mod named;
mod parse;
mod print;
pub mod release;
mod rewrite;
mod spell;
pub mod types;
mod verify;

pub use affine::{AffineExpr, AffineMap, AffineOp};
pub use attribute::Attribute;
pub use definition::Definition;
pub use encoding::Encoding;
pub use module::{Block, Module, Op, Operation, Region, Value};
pub use named::{NamedIteration, named_iteration};
pub use release::{Dialect, Releases};
pub use spell::{Aliases, Spell};
pub use types::Type;
