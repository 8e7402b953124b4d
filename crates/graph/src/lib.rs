//! What a loop visits: operands, iteration algebra, merge lattices, and the
//! predicate that says whether a statement can be lowered as it stands.
//!
//! ```text
//! forall i: y(i) = b(i) * c(i) + d(i)        b, c, d compressed
//!
//! space at i      (b0 ∩ c0) ∪ d0             which coordinates matter
//! lattice at i    {b0, c0, d0} {b0, c0} {d0} one loop each, and its cases
//! ```
//!
//! | module         | holds                                                    |
//! |----------------|----------------------------------------------------------|
//! | `collects`     | results that are added up into                            |
//! | [`operand`]    | the distinct accesses of a statement and their formats   |
//! | [`space`](mod@space) | iteration algebra: the coordinates a loop must visit |
//! | [`lattice`]    | which operands still hold entries in each part of a loop |
//! | [`lead`](mod@lead) | which operands are walked, and which looked up         |
//! | [`path`]       | iteration graphs: the order of loops that formats allow  |
//! | [`scheduled`]  | what schedules ask of formats                            |
//! | [`lowerable`](mod@lowerable) | whether loops and formats fit together   |
//! | [`not_lowerable`] | why they do not                                       |
//! | [`workspace`]  | how the temporaries of a `where` are kept                 |
//!
//! Everything follows from what level kinds can do and from the declared
//! properties of operators; no operator and no level kind is known by name.

mod collects;
mod factor;
pub mod lattice;
pub mod lead;
pub mod lowerable;
pub mod not_lowerable;
pub mod operand;
pub mod path;
pub mod scheduled;
pub mod space;
pub mod workspace;

pub use collects::{collects, has_padding};
pub use factor::for_each_factor;
pub use lattice::{Lattice, Point};
pub use lead::Lead;
pub use lowerable::lowerable;
pub use not_lowerable::NotLowerable;
pub use operand::{Formats, Operand, Operands};
pub use path::{Edge, IterationGraph};
pub use space::{Scope, Space, space};
pub use workspace::{is_listed_in_order, is_written_in_order, workspace_format, workspace_kind};
