//! Contraction networks: which products to take first, which loops to fuse, which mode
//! orders to use.
//!
//! ```text
//! network ─► estimate ─► search ─► fusion ─► price ─► plan ─► concrete
//!  product    entries,    trees     fused     time    loops,   forall,
//!  and facts  steps                 loops             modes    where
//!                           └─► constraints ─► smt2 ─► solver ─► answer ─► checker
//! ```
//!
//! | module          | holds                                                               |
//! |-----------------|---------------------------------------------------------------------|
//! | [`network`](mod@network) | a product of tensors with the facts known of them; its text |
//! | [`statistics`]  | projections of entries, counted in operands                          |
//! | [`estimate`]    | entries of intermediates and steps of contractions                   |
//! | [`tree`]        | contraction trees as statements; their text                          |
//! | [`search`]      | the cheapest trees                                                   |
//! | [`fusion`]      | statement orders and fused loops, exact for separable costs           |
//! | [`loops`]       | loops around statements                                              |
//! | [`price`]       | the time of a fused structure                                        |
//! | [`planner`]     | all of it: from a network to plans                                   |
//! | [`plan`]        | fused plans: loops, mode orders, workspaces; their text              |
//! | [`concrete`]    | plans as `forall` and `where`                                        |
//! | [`constraints`] | the paper's constraint system, for solvers                           |
//! | [`checker`]     | an independent judge of fused structures                             |
//! | [`fault`]       | faults of networks and trees, as data                                |
//! | [`set`]         | sets of operands, index variables and statements                     |
//!
//! Prices are in nanoseconds of a [`Machine`]. Nothing here knows a program, a format or a loop
//! IR, and nothing starts a solver.
//!
//! ```
//! use sparsec_network::{Estimator, Network, PlanOptions, planner};
//! let network = Network::parse("
//!     tensor T[300, 400, 500] entries 60000
//!     project T[0, 1]: 3000 tuples, 90 largest, 1400000 squares
//!     tensor B[400, 32]
//!     tensor C[500, 32]
//!     M(i,r) = T(i,j,k) * B(j,r) * C(k,r)")?;
//! let planned = planner::plan(&Estimator::new(&network), &PlanOptions::default())?;
//! // Each fiber of `T` is summed before it is multiplied by a row of `B`.
//! assert_eq!(planned.plans[0].plan.print(&network), "\
//! workspace t0 dense
//! for i, j {
//!   for k, r { t0[r] += T[i,j,k] * C[k,r] }
//!   for r { M[i,r] += t0[r] * B[j,r] }
//! }
//! ");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

pub mod checker;
pub mod concrete;
pub mod constraints;
pub mod estimate;
pub mod fault;
pub mod fusion;
pub mod loops;
pub mod network;
pub mod plan;
pub mod planner;
pub mod price;
#[cfg(test)]
mod random;
mod reference;
pub mod search;
pub mod set;
pub mod statistics;
pub mod tree;

pub use checker::{Solution, judge};
pub use concrete::Concrete;
pub use constraints::{Answer, Formula, Model, System, SystemOptions};
pub use estimate::{Estimator, Part};
pub use fault::Fault;
pub use fusion::{Fused, Precedence, fuse};
pub use loops::Item;
pub use network::{
    IndexVar, Match, Named, Network, Operand, OperandId, Reference, Tensor, TensorId,
};
pub use plan::{Plan, PricedPlan};
pub use planner::{Objective, PlanOptions, Planned};
pub use price::{Kernel, Price, Priced, Pricer, Workspace, WorkspaceKind};
pub use search::{Ranked, SearchOptions};
pub use set::Set;
pub use sparsec_machine::Machine;
pub use statistics::{Projection, Statistics};
pub use tree::{Factor, Statement, StatementEstimate, StatementId, Tree};
