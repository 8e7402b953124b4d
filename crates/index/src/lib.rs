//! What to compute: programs of tensor expressions, and concrete index notation.
//!
//! ```text
//! Program ──concretize──► Concrete
//! typed,                  one statement as loops:
//! scoped                  forall, where, assign
//! ```
//!
//! | module        | holds                                                          |
//! |---------------|----------------------------------------------------------------|
//! | [`program`]   | tensors, index variables and typed statements of a program     |
//! | [`expr`]      | typed expressions                                              |
//! | [`index_expr`] | what stands at a mode of an access                            |
//! | [`curve`]     | places on curves: the bits of several coordinates in one number |
//! | [`operator`]  | every operator with its declared properties                    |
//! | [`function`]  | functions of the user with declared properties                 |
//! | [`typing`]    | of what type the parts of an expression are                    |
//! | [`build`]     | programs that are built, rather than read from text            |
//! | `chain`       | programs one after another                                     |
//! | [`extents`]   | how far variables run: extents spread over a program           |
//! | `settle`, `verify` | what follows from the parts of a program; what makes one  |
//! | [`gather`](mod@gather) | statements that assign a part to ones that assign all |
//! | [`simplify`](mod@simplify) | constant parts of expressions worked out             |
//! | [`stored`](mod@stored) | where an expression is stored, and its value elsewhere  |
//! | [`concrete`]  | loops over index variables, blind to formats                   |
//! | [`concretize`](mod@concretize) | a statement of a program to naive concrete notation |
//! | [`workspace`] | how the temporary tensor of a `where` may be kept               |
//!
//! Programs come from text (crate `notation`) or are built. They print as
//! index notation. Concrete notation prints here; crate `schedule` rewrites and reads
//! it.
//!
//! Nothing here knows how a tensor is stored. What other crates ask of an operator
//! follows from its declared properties.
//!
//! Source: Kjolstad et al., "The Tensor Algebra Compiler", OOPSLA 2017,
//! <https://doi.org/10.1145/3133901>; Kjolstad et al., "Tensor Algebra
//! Compilation with Workspaces", CGO 2019 (concrete notation, `where`).

pub mod build;
pub mod concrete;
pub mod concretize;
pub mod curve;
pub mod expr;
pub mod extents;
pub mod function;
pub mod gather;
pub mod index_expr;
pub mod operator;
pub mod program;
pub mod simplify;
pub mod stored;
pub mod typing;
pub mod workspace;

mod chain;
mod settle;
mod text;
mod verify;

pub use build::ProgramBuilder;
pub use concrete::{Concrete, Stmt};
pub use concretize::{concretize, concretize_together};
pub use curve::Curve;
pub use expr::{Access, Expr};
pub use function::UserFunction;
pub use gather::gather;
pub use index_expr::IndexExpr;
pub use operator::{Decision, Operator};
pub use program::{
    IndexVar, IndexVarData, LevelsOf, Program, Statement, TensorData, TensorRole, TensorVar,
    Tensors, Vars,
};
pub use text::is_reserved;
pub use workspace::WorkspaceKind;
