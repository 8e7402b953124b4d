//! The text of MLIR's `sparse_tensor` dialect, in the spelling of every release.
//!
//! ```text
//! text ──► Module ──► verify ──► print, in the same release or another
//!            │
//!            └──► encodings ◄──► formats
//! ```
//!
//! A [`Module`] holds the operations of a program in arenas; [`Definition`] says what an
//! operation is, and is the source of the parser, the printer and the verifier alike. An
//! [`Encoding`] is how a sparse tensor is stored, whichever release spelled it, and leads to a
//! [`Format`](sparsec_format::Format).
//!
//! | module         | holds                                                          |
//! |----------------|----------------------------------------------------------------|
//! | [`mod@release`] | the releases of the dialect, and which of them know a word    |
//! | [`module`]     | operations, regions, blocks, values; typed views               |
//! | [`types`], [`attribute`], [`affine`] | what values and operations are made of   |
//! | [`encoding`]   | encodings, their rules, formats                                |
//! | [`definition`] | every operation: operands, results, attributes, form           |
//! | `lex`, `parse` | text to modules                                                |
//! | `spell`, `print` | modules to text                                              |
//! | `verify`       | what makes a module right                                      |
//! | `rewrite`      | a module in the words of another release                       |
//!
//! Nothing here runs a program. Operations that are not known are refused by name: sparsec
//! reads what sparse programs hold, not all of MLIR.
//!
//! Source: the dialect's documentation and definitions in LLVM 13 to 20,
//! <https://mlir.llvm.org/docs/Dialects/SparseTensorOps/>.

pub mod affine;
pub mod attribute;
pub mod definition;
pub mod encoding;
mod lex;
pub mod module;
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
pub use release::{Dialect, Releases};
pub use spell::{Aliases, Spell};
pub use types::Type;
