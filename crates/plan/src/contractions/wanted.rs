//! Plans of a network as a caller asks for them, by degrees of the operands.

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result};
use sparsec_index::concrete::Stmt;
use sparsec_index::{Expr, Operator};
use sparsec_machine::Machine;
use sparsec_network::planner::{self, PlanOptions};
use sparsec_network::{
    Estimator, Factor, OperandId, Plan as NetworkPlan, SearchOptions, StatementId, TensorId, Tree,
    search,
};
use sparsec_schedule::product;

use super::{Contraction, MOST};
use crate::networks::{Objective, Planner};

/// The share of the estimated run that counting degrees may take.
const COUNTING: f64 = 0.05;
/// Up to so many entries are counted without an estimate of the run, which takes longer.
const FEW: f64 = 65536.0;

impl Contraction<'_> {
    /// Takes in the degrees of the operands, exact or from a sample, as long as counting takes
    /// little of the run.
    pub(super) fn count_degrees(&mut self) {
        let machine = Machine::MIDDLING;
        let degrees = self.naive.facts().networks.degrees;
        // Where every place is stored, degrees are extents.
        let sparse = self
            .network
            .tensors()
            .filter(|(_, tensor)| tensor.entries.is_some() && tensor.n_stored() < tensor.size());
        let sparse: Vec<(TensorId, String, f64)> = sparse
            .map(|(id, tensor)| (id, tensor.name.clone(), tensor.n_stored()))
            .collect();
        let size = |id: TensorId, entries: f64| entries * self.network.tensor(id).order() as f64;
        let all: f64 = sparse
            .iter()
            .map(|(id, _, entries)| size(*id, *entries))
            .sum();
        let entries: f64 = sparse.iter().map(|(_, _, entries)| entries).sum();
        let allowed = match entries <= FEW {
            true => f64::INFINITY,
            false => {
                let options = SearchOptions {
                    keep: 1,
                    ..SearchOptions::default()
                };
                let trees = search::trees(&Estimator::new(&self.network), options);
                COUNTING * trees[0].cost * machine.step
            }
        };
        let share = match allowed >= all * machine.count {
            true => f64::INFINITY,
            false => allowed / (all * machine.count_apart),
        };
        for (id, name, entries) in sparse {
            let most = (entries * share).max(1024.0);
            if let Some(statistics) = degrees(&name, most as usize) {
                self.network.set_statistics(id, statistics);
            }
        }
    }

    /// The plans of the network, the cheapest first.
    ///
    /// # Errors
    /// Those of [`planner::plan`] and [`planner::solve`], and of the tree that is given.
    pub(super) fn plans(&self) -> Result<Vec<NetworkPlan>> {
        let facts = self.naive.facts().networks;
        let wanted = facts.wanted;
        let concrete = &self.naive.concrete;
        let (_, Stmt::Assign { lhs, .. }) = concrete.stmt.nest() else {
            return Ok(Vec::new());
        };
        // A dense result takes entries in any order. It is written along its rows in this one,
        // which is a matter of time, not of the order of intermediates.
        let is_timed = wanted.objective == Objective::Time && wanted.planner == Planner::Search;
        let format = self
            .naive
            .format(lhs.tensor)
            .filter(|format| format.is_plain() && (is_timed || format.has_sparse()));
        let is_result_dense = format.is_some_and(|format| !format.has_sparse());
        let result_layout = format.map(|format| {
            let levels = format.levels().iter();
            let vars = levels.filter_map(|level| self.index(lhs.var(level.mode())?));
            vars.collect()
        });
        let mut options = PlanOptions {
            result_layout: result_layout
                .filter(|layout: &Vec<_>| layout.len() == lhs.indices.len()),
            is_result_dense,
            tree: wanted
                .keep_tree
                .then(|| self.given_tree())
                .transpose()?
                .flatten(),
            memory: wanted.memory.map_or(f64::INFINITY, |bytes| bytes as f64),
            runs: f64::from(self.naive.facts().runs),
            ..PlanOptions::default()
        };
        if let Objective::Order { at_most } = wanted.objective {
            options.objective = planner::Objective::Order { at_most };
        }
        let estimator = Estimator::new(&self.network);
        let planned = match wanted.planner {
            Planner::Search => planner::plan(&estimator, &options)?,
            Planner::Z3 => planner::solve(&estimator, &options, facts.solver)?,
        };
        let plans = planned.plans.into_iter().map(|priced| priced.plan);
        if wanted.is_fixed() {
            let mut plans: Vec<NetworkPlan> = plans.take(1).collect();
            if is_timed {
                // Not every workspace of several modes has kernels: one of the least order may.
                options.objective = planner::Objective::Order { at_most: None };
                let least = planner::plan(&estimator, &options);
                plans.extend(
                    least
                        .into_iter()
                        .flat_map(|it| it.plans)
                        .map(|it| it.plan)
                        .take(1),
                );
            }
            return Ok(plans);
        }
        // A tree of one statement is the nest as it is.
        Ok(plans
            .filter(|plan| plan.tree.len() > 1)
            .take(MOST)
            .collect())
    }

    /// The tree that the parentheses of the product state.
    fn given_tree(&self) -> Result<Option<Tree>> {
        fn visit(
            op: &Operator,
            expr: &Expr,
            n_operands: &mut usize,
            products: &mut Vec<Vec<Factor>>,
        ) -> Option<Factor> {
            match expr {
                Expr::Apply { op: known, args } if known == op => {
                    let below = args.iter();
                    let mut factors: Vec<Factor> = below
                        .filter_map(|arg| visit(op, arg, n_operands, products))
                        .collect();
                    if factors.len() < 2 {
                        return factors.pop();
                    }
                    products.push(factors);
                    Some(Factor::Statement(StatementId::from_index(
                        products.len() - 1,
                    )))
                }
                Expr::Access(access) if !access.indices.is_empty() => {
                    *n_operands += 1;
                    Some(Factor::Operand(OperandId::from_index(*n_operands - 1)))
                }
                _ => None,
            }
        }
        let concrete = &self.naive.concrete;
        let (_, Stmt::Assign { reduce, rhs, .. }) = concrete.stmt.nest() else {
            return Ok(None);
        };
        let found = reduce
            .as_ref()
            .and_then(|reduce| product(concrete, reduce, rhs));
        let Some((op, _)) = found else {
            return Ok(None);
        };
        let (mut n_operands, mut products) = (0, Vec::new());
        visit(&op, rhs, &mut n_operands, &mut products);
        let tree = Tree::new(&self.network, products);
        tree.map(Some).map_err(|fault| fault.diagnostic())
    }

    /// An error about the network, at its statement.
    pub(super) fn refused(&self, error: Diagnostic) -> Diagnostic {
        let concrete = &self.naive.concrete;
        let (_, Stmt::Assign { lhs, .. }) = concrete.stmt.nest() else {
            return error;
        };
        match error.labels().is_empty() {
            true => error.at(&concrete.source, lhs.span, "contracted here"),
            false => error,
        }
    }
}
