//! Plans whose loops a solver found, each judged before it is believed.
//!
//! ```text
//! tree ─► system, order at most 0 ─► solver: unsat
//!         system, order at most 1 ─► solver: sat, a model ─► formulas, checker ─► plan
//! ```
//!
//! The caller starts the solver: it gets each system and returns the answer.

use std::cell::Cell;

use sparsec_base::{Diagnostic, Result, code};

use super::{Candidate, MAX_PARTS, Objective, PlanOptions, Planned, Planner, finish};
use crate::checker::{Solution, judge};
use crate::constraints::{Answer, System, SystemOptions};
use crate::estimate::Estimator;
use crate::fusion::{Layouts, Precedence, stated_layouts};
use crate::network::OperandId;
use crate::price::stored_dense;
use crate::search::{self, Ranked};
use crate::set::Set;
use crate::tree::Tree;

/// Plans a network by the least order that a solver finds satisfiable: of the given tree, or
/// of the cheapest.
///
/// Operands keep their layouts if some order is satisfiable so; else all are copied. A result
/// layout of the options is no part of the system.
///
/// # Errors
/// Those of `solver`; `E0907` for a model that breaks a formula or that the checker rejects,
/// and for a solver that gives up; `E0909` if no order that the objective allows is
/// satisfiable; `E0908` if the plan does not fit in memory.
///
/// ```
/// use sparsec_network::{Answer, Estimator, Network, PlanOptions, planner};
/// let network = Network::parse("
///     tensor A[9,9]\n tensor B[9,9]\n tensor x[9]
///     y(i) = A(i,j) * B(j,k) * x(k)")?;
/// // A solver that finds nothing.
/// let refused = planner::solve(&Estimator::new(&network), &PlanOptions::default(), &|_| {
///     Ok(Answer::Unsat)
/// });
/// assert_eq!(refused.unwrap_err().code(), sparsec_base::code::NETWORK_ORDER);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn solve(
    estimator: &Estimator<'_>,
    options: &PlanOptions,
    solver: &dyn Fn(&System) -> Result<Answer>,
) -> Result<Planned> {
    let ranked = match &options.tree {
        Some(tree) => Ranked {
            cost: tree.cost(estimator),
            tree: tree.clone(),
        },
        None => {
            let mut trees = search::trees(estimator, options.search);
            trees.swap_remove(0)
        }
    };
    let planner = Planner {
        estimator,
        machine: &options.machine,
        options,
        parts_left: Cell::new(MAX_PARTS),
    };
    let network = estimator.network();
    let layouts = stated_layouts(network);
    let dense = stored_dense(network, planner.machine);
    let all = planner.constrained(&layouts);
    let mut ways = vec![Set::EMPTY];
    ways.extend((!all.is_empty()).then_some(all));
    for converted in ways {
        let system = Asked {
            tree: &ranked.tree,
            layouts: &layouts,
            free: converted.union(dense),
        };
        if let Some(solution) = system.least(&planner, solver)? {
            let candidate = planner.solved(&ranked, &layouts, converted, &solution);
            return finish(vec![candidate], options);
        }
    }
    Err(planner.unsatisfiable())
}

/// The question to the solver for each order.
struct Asked<'a> {
    tree: &'a Tree,
    layouts: &'a Layouts,
    free: Set<OperandId>,
}

impl Asked<'_> {
    /// The solution of the least order that is satisfiable and allowed.
    fn least(
        &self,
        planner: &Planner<'_>,
        solver: &dyn Fn(&System) -> Result<Answer>,
    ) -> Result<Option<Solution>> {
        let network = planner.network();
        let statements = self.tree.statements();
        let highest = statements.map(|(_, statement)| statement.kept.len()).max();
        let highest = highest.unwrap_or(0);
        let most = match planner.options.objective {
            Objective::Order {
                at_most: Some(most),
            } => most.min(highest),
            _ => highest,
        };
        for limit in 0..=most {
            let options = SystemOptions {
                limit,
                layouts: self.layouts.clone(),
                free: self.free,
                ..SystemOptions::default()
            };
            let system = System::new(network, self.tree, &options);
            let model = match solver(&system)? {
                Answer::Unsat => continue,
                Answer::Unknown => {
                    return Err(Diagnostic::new(
                        code::NETWORK_MODEL,
                        format!("the solver gave up on order {limit}"),
                    )
                    .help("leave out `--planner`: the search needs no solver"));
                }
                Answer::Sat(model) => model,
            };
            let wrong = |message: String| {
                Diagnostic::new(code::NETWORK_MODEL, message)
                    .help("leave out `--planner`, and report the answer to the solver's authors")
            };
            if let Some((section, formula)) = system.violated(&model) {
                return Err(wrong(format!(
                    "the solver's model violates `{formula}` of {}",
                    section.title
                )));
            }
            let solution = Solution::of_model(network, self.tree, &model);
            judge(network, self.tree, &options, &solution)
                .map_err(|fault| wrong(format!("the solver's answer is wrong: {fault}")))?;
            return Ok(Some(solution));
        }
        Ok(None)
    }
}

impl Planner<'_> {
    /// The loops of a solution with their price.
    fn solved<'r>(
        &self,
        ranked: &'r Ranked,
        layouts: &Layouts,
        converted: Set<OperandId>,
        solution: &Solution,
    ) -> Candidate<'r> {
        let tree = &ranked.tree;
        let free = converted.union(stored_dense(self.network(), self.machine));
        let precedence = Precedence::of(self.network(), tree, layouts, free);
        let mut pricer = self.pricer(tree, &precedence, converted);
        let priced = pricer.price(&solution.items());
        Candidate {
            ranked,
            layouts: layouts.clone(),
            converted,
            precedence,
            priced,
            exact: true,
        }
    }

    fn unsatisfiable(&self) -> Diagnostic {
        let message = match self.options.objective {
            Objective::Order {
                at_most: Some(most),
            } => {
                format!("the solver finds no loops that leave all intermediates with order {most}")
            }
            _ => "the solver finds no loops for the tree".to_owned(),
        };
        Diagnostic::new(code::NETWORK_ORDER, message)
            .help("allow a higher order, or state another tree")
    }
}
