//! Every choice that depends on formats, made as schedule commands.
//!
//! ```text
//! C(i,j) = A(i,k) * B(k,j)        A, B, C : csr
//!
//! reorder(i, k, j)                            A asks for i before k, B for k before j
//! precompute(A(i,k) * B(k,j), {j}, w)         row i of C is met once for each k
//! ```
//!
//! The commands are printed by `--emit schedule` and can be given back with
//! `-s`. What a plan comes to is judged, not derived: candidates are made by
//! applying commands, `sparsec_graph::lowerable` says which of them fit, and
//! `estimate` which is best.
//!
//! | module     | holds                                                       |
//! |------------|-------------------------------------------------------------|
//! | [`formats`](mod@formats) | formats of results that nobody gave one       |
//! | `merges`   | which merges choose values without branches                  |
//! | `order`    | orders of loops, searched by branch and bound               |
//! | [`search`] | from a statement to its best schedule                       |
//! | [`program`] | all statements of a program, split where that is needed     |
//! | `levels`   | loops over what levels store, where that is computed from modes |
//! | `fills`    | reductions that take what is not stored at once             |
//! | `pieces`   | operands that are sums of what they store, a nest of loops for each term |
//! | `rowwise`  | reductions inside of an expression, computed for a row at once |
//! | [`account`] | why a plan is what it is                               |
//! | `contractions` | products of several tensors in fused parts, with workspaces between |
//! | [`networks`] | options of such plans, and the degrees of operands            |
//! | `copies`   | formats that loops can follow, to convert operands to        |
//! | [`cost`]   | what a plan costs: steps, traffic, conversions, launches    |
//! | `effort`   | how long a plan is searched for                           |
//! | `estimate` | entries, points, steps and bytes                             |
//! | `shared`   | products that several sums share, computed once           |
//! | `joined`   | intermediate results, computed inside of the statement that reads them |
//! | `refused`  | which command of a schedule no plan can follow               |
//! | [`split`]  | statements that no schedule makes lowerable, in parts       |
//! | `merges`   | which merges leap, and which choose values without branches  |
//! | `lanes`    | which reductions are summed in several lanes at once        |
//! | `threads`  | which loops run on several threads                          |
//! | `unplanned` | why a statement has no plan                               |
//! | `unroll`   | which loops are written out several times                    |
//! | `ways`     | statements as they may be written, planned by commands      |
//! | `wishes`   | what a user says of statements, while these are split       |

pub mod account;
mod contractions;
mod copies;
pub mod cost;
pub mod draft;
mod effort;
mod estimate;
mod fills;
pub mod formats;
mod joined;
mod lanes;
mod levels;
mod merges;
pub mod networks;
mod order;
mod pieces;
mod prefetch;
pub mod program;
mod refused;
mod rowwise;
pub mod search;
mod shared;
pub mod split;
mod threads;
mod unplanned;
mod unroll;
mod ways;
mod wishes;

pub use account::{Account, Assumed, Considered};
pub use effort::Effort;
pub use estimate::{Converting, Counts};
pub use formats::default_result_format;
pub use merges::{Merge, Merged, merges};
pub use networks::{Networks, Wanted};
pub use program::{Asked, ProgramPlan, plan_program};
pub use search::{Conversion, Facts, Plan, Size, View};
