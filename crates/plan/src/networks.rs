//! Options and facts that contraction networks are planned by, beside the facts of every statement.

use sparsec_base::Result;
use sparsec_network::{Answer, Statistics, System};

/// Options for the plans of contraction networks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// Whether products are contracted as they are parenthesised; `A * B * C` is
    /// `(A * B) * C`.
    pub keep_tree: bool,
    /// Whether loops are chosen for the order of intermediates, as in the paper, in place of
    /// the estimated time.
    pub objective: Objective,
    /// Who finds the loops.
    pub planner: Planner,
    /// How many bytes workspaces and copies of operands may take; `None` for any number.
    pub memory: Option<u64>,
}

/// The objective of the plan of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Objective {
    /// The estimated time.
    #[default]
    Time,
    /// The order to which all intermediates can be reduced.
    Order {
        /// Intermediates may have this order; `None` for the least possible.
        at_most: Option<usize>,
    },
}

/// Who finds the loops of the plan of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Planner {
    /// The search.
    #[default]
    Search,
    /// The solver z3, of which an executable has to be installed.
    Z3,
}

impl Wanted {
    /// Whether a network is contracted as asked, and not as the estimate has it.
    pub(crate) fn is_fixed(&self) -> bool {
        self.keep_tree || self.objective != Objective::Time || self.planner != Planner::Search
    }
}

/// Options and facts that networks are planned by.
#[derive(Clone, Copy)]
pub struct Networks<'a> {
    /// The degrees of the tensor of a name, from at most so many of its entries, where they
    /// are known.
    pub degrees: &'a dyn Fn(&str, usize) -> Option<Statistics>,
    /// The options.
    pub wanted: &'a Wanted,
    /// Answers the constraint systems of [`Planner::Z3`].
    pub solver: &'a dyn Fn(&System) -> Result<Answer>,
}
