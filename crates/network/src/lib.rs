//! Contraction networks: which products to take first, which loops to fuse, which mode
//! orders to use.

pub mod checker;
pub mod concrete;
pub mod constraints;
pub mod estimate;
pub mod fault;
pub mod fusion;
pub mod loops;
pub mod machine;
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
pub use machine::Machine;
pub use network::{
    IndexVar, Match, Named, Network, Operand, OperandId, Reference, Tensor, TensorId,
};
pub use plan::{Plan, PricedPlan};
pub use planner::{Objective, PlanOptions, Planned};
pub use price::{Kernel, Price, Priced, Pricer, Workspace, WorkspaceKind};
pub use search::{Ranked, SearchOptions};
pub use set::Set;
pub use statistics::{Projection, Statistics};
pub use tree::{Factor, Statement, StatementEstimate, StatementId, Tree};
