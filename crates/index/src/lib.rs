//! What to compute: index notation, and concrete index notation.
//!
//! ```text
//! text ──parse──► notation::Notation ──resolve──► Program ──concretize──► Concrete
//!                 names and places                typed,      one statement as loops:
//!                                                 scoped      forall, where, assign
//! ```
//!
//! | module        | holds                                                          |
//! |---------------|----------------------------------------------------------------|
//! | [`notation`]  | the syntax tree of index notation: parse and print             |
//! | [`program`]   | tensors, index variables and typed statements of a program     |
//! | [`expr`]      | typed expressions                                              |
//! | [`function`]  | functions of the user with declared properties                 |
//! | [`index_expr`] | what stands at a mode of an access                            |
//! | [`curve`]     | places on curves: the bits of several coordinates in one number |
//! | [`operator`]  | every operator with its declared properties                    |
//! | [`gather`](mod@gather) | statements that assign a part to ones that assign all |
//! | [`resolve`]   | notation to program: names, extents, types, implied sums       |
//! | [`concrete`]  | loops over index variables, blind to formats: parse and print  |
//! | [`concretize`](mod@concretize) | a statement of a program to naive concrete notation |
//! | [`schedule`]  | commands that rewrite concrete notation: parse, print, apply   |
//! | [`mod@einsum`] | einsums, checked when a program is compiled, to index notation  |
//! | [`simplify`](mod@simplify) | constant parts of expressions worked out             |
//! | [`workspace`] | how the temporary tensor of a `where` may be kept               |
//!
//! Nothing here knows how a tensor is stored; an operator is known by its
//! properties, never by its name.
//!
//! Source: Kjolstad et al., "The Tensor Algebra Compiler", OOPSLA 2017,
//! <https://doi.org/10.1145/3133901>; Kjolstad et al., "Tensor Algebra
//! Compilation with Workspaces", CGO 2019 (concrete notation, `where`).

pub mod concrete;
pub mod concretize;
pub mod curve;
pub mod einsum;
pub mod expr;
pub mod function;
pub mod gather;
pub mod index_expr;
pub mod notation;
pub mod operator;
pub mod program;
pub mod resolve;
pub mod schedule;
pub mod simplify;
pub mod workspace;

mod text;

pub use concrete::{Concrete, Stmt};
pub use concretize::concretize;
pub use curve::Curve;
pub use einsum::Einsum;
pub use expr::{Access, Expr};
pub use function::UserFunction;
pub use gather::gather;
pub use index_expr::IndexExpr;
pub use notation::Notation;
pub use operator::{Decision, Operator};
pub use program::{
    IndexVar, IndexVarData, LevelsOf, Program, Statement, TensorData, TensorRole, TensorVar,
    Tensors, Vars,
};
pub use resolve::{Declaration, Declarations};
pub use schedule::{Command, ProgramSchedule, Schedule};
pub use workspace::WorkspaceKind;
