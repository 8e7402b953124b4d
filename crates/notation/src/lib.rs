//! Index notation: text, its syntax tree, and the program that it means.
//!
//! ```text
//! text ──parse──► Notation ──resolve──► Program
//!                 names and places      typed, scoped: crate `index`
//! ```
//!
//! | module       | holds                                                           |
//! |--------------|-----------------------------------------------------------------|
//! | [`syntax`]   | the syntax tree: parse and print                                |
//! | [`resolve`]  | notation to program: names, extents, implied sums               |
//! | [`function`] | definitions of functions of the user                            |
//! | [`mod@einsum`] | einsums, checked when a program is compiled, to index notation |
//!
//! ```
//! use sparsec_base::Source;
//! use sparsec_notation::{Declaration, Declarations, Notation};
//! let notation = Notation::parse(&Source::new("expression", "y(i) = A(i,j) * x(j)"))?;
//! let mut declarations = Declarations::new();
//! declarations.declare("A", Declaration::with_order(2));
//! declarations.declare("x", Declaration::with_order(1));
//! let program = notation.resolve(&declarations)?;
//! assert_eq!(program.to_string(), "y(i) = sum{j}(A(i,j) * x(j))");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```
//!
//! Nothing here knows how a tensor is stored, or how loops run.
//!
//! Source: Kjolstad et al., "The Tensor Algebra Compiler", OOPSLA 2017,
//! <https://doi.org/10.1145/3133901>.

pub mod einsum;
pub mod function;
pub mod resolve;
pub mod syntax;

mod typed;

pub use einsum::Einsum;
pub use function::{parse_function, parse_function_with};
pub use resolve::{Declaration, Declarations};
pub use syntax::{
    Assignment, Index, IndexKind, Node, NodeKind, Notation, Number, Parser, Place, TensorName,
    TensorUse, Word,
};
pub use typed::typed;
