//! Computations over relations.
//!
//! A computation is what a loop nest does, apart from the loops: statements,
//! the points at which each runs, and when. Sparse matrix times vector:
//!
//! ```text
//! computation spmv {
//!   parameters N, M, NZ
//!   function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
//!   given pos : i32[N + 1], crd : i32[NZ], A : f64[NZ], x : f64[M]
//!   out y : f64[N]
//!
//!   s0: y(i) = 0
//!     over {[i] : 0 <= i < N}
//!     at [i, 0]
//!   s1: y(i) += A(p) * x(crd(p))
//!     over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
//!     at [i, 1, p]
//! }
//! ```
//!
//! | part            | is                                                                    |
//! |-----------------|-----------------------------------------------------------------------|
//! | parameters      | symbolic constants, given                                             |
//! | declarations    | what is known of index arrays ([`Declarations`](sparsec_relation::Declarations)) |
//! | data spaces     | arrays: `given`, `temporary`, `out` or `inout`                        |
//! | iteration space | the set of points at which a statement runs                           |
//! | schedule        | when: tuples, compared lexicographically                              |
//! | assignment      | what happens at a point                                               |
//!
//! **Order.** Points run in the order of their schedules; shorter tuples end in
//! zeros. Points of equal time run in the order of the statements in the text,
//! and those of one statement in the order of their tuples, so that the order is
//! always total ([`Statement::time`]).
//!
//! **Index arrays are data.** A function in a set, such as `pos`, *is* the
//! array of integers of that name, and a symbolic constant a parameter or an
//! integer without extents. An inspector may write them; statements whose sets
//! or schedules speak of one run after the last write to it, and what is
//! declared of it holds from then on.
//!
//! **Transformations** ([`transform`]) keep what is live out, and are refused
//! where that is not proved. A [`Script`] of them prints, parses and replays. The
//! [`guide`] walks through the examples of the literature.
//!
//! **Calls** ([`inline`]). A text may have several computations, each of which may
//! call those before it; the last is the one that the text means.
//!
//! **Stages** ([`chain`]). Statements that follow data which others write run in a
//! later stage, to which these data are given.
//!
//! **Cost** ([`cost`]). The steps and bytes of each sweep follow from its statements, as formulas
//! of parameters.
//!
//! **Zeros.** Data that are not given are zero before the first statement.
//!
//! Source: Popoola et al., "An object-oriented interface to the sparse
//! polyhedral library", COMPSAC 2021. Unlike there, reads and writes are
//! derived from the assignment, and the schedule is part of the text.

pub mod accesses;
pub mod chain;
mod computation;
pub mod cost;
pub mod course;
mod evaluate;
pub mod graph;
pub mod guide;
pub mod inline;
pub mod order;
mod parse;
mod print;
mod proofs;
pub mod script;
pub mod segments;
pub mod transform;
mod value;

pub use accesses::{Effect, Reference};
pub use chain::Stage;
pub use computation::{Computation, DataSpace, Role, Statement, StatementId};
pub use cost::Cost;
pub use course::{Course, Later};
pub use evaluate::Given;
pub use inline::{Argument, Call};
pub use order::{Dependence, DependenceKind};
pub use script::{Command, Script};
pub use value::{Access, Key, Operator, Update, Value, Window};
