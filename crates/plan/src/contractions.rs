//! Products of several tensors, contracted in parts: fused loops with workspaces between.
//!
//! ```text
//! E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m) * L(K,i)
//!
//! reorder(K, i, a, b, m)
//! precompute(I(K,a,b) * C(a,i), {b}, w)       forall K: forall i: where(
//!                                               forall b: forall m: E += P * L * w(b),
//!                                               forall a: forall b: w(b) += I * C)
//! ```
//!
//! [`sparsec_network`] searches trees, fused loops and mode orders for the product; its plans
//! become commands. Each of them is a candidate like any other, weighed by the estimate of all
//! plans.
//!
//! A statement is looked at if it reduces a product of [`LEAST`] or more tensors, each of
//! which is read at variables that differ, and whose fills are the identity of the reduction,
//! so that implicit entries add nothing. Floats are summed in another order, so `strict`
//! leaves them as they are.

mod flat;
mod orders;
mod wanted;

use std::collections::BTreeSet;
use std::sync::Arc;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::{Format, Widths};
use sparsec_graph::lowerable::is_irregular;
use sparsec_graph::path;
use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, Expr, IndexVar, Operator, WorkspaceKind};
use sparsec_network::{
    Factor, Named, Network, OperandId, Plan as NetworkPlan, StatementId, Tensor,
    WorkspaceKind as Stored,
};
use sparsec_schedule::product;

use crate::account::Considered;
use crate::copies::arranged;
use crate::cost::Cost;
use crate::draft::{Draft, walked};
use crate::estimate::UNKNOWN_EXTENT;
use crate::networks::{Objective, Planner};
use crate::search::{Plan, considered};
use crate::unplanned::Unplanned;

pub(crate) use flat::flattened;
use orders::{priced, reordered};

/// How many plans of a network become candidates.
const MOST: usize = 4;
/// In how many of them other orders of loops are tried.
const REORDERED_PLANS: usize = 8;
/// Those that cost more than so many times the cheapest are left as they are.
const REORDERED_COST: f64 = 3.0;
/// How workspaces are kept in these: in how many ways, for each plan.
const REORDERED_KINDS: usize = 2;

/// The plan of a statement that contracts a product in parts.
pub(crate) struct Contracted {
    /// The product with the facts of its tensors.
    pub(crate) network: Arc<Network>,
    /// The cheapest plan, if there is one.
    pub(crate) best: Option<(Cost, Plan)>,
    /// Whether the caller asks for this plan, whatever else there is.
    pub(crate) is_fixed: bool,
}

/// The cheapest plan of a statement that contracts a product in parts, whose tensors are
/// [`counted`]; `None` for other statements.
///
/// # Errors
/// Why there is no plan as the caller asks for it.
pub(crate) fn contracted(
    naive: &Draft<'_>,
    counted: Option<Arc<Network>>,
) -> Result<Option<Contracted>> {
    let (Some(mut contraction), Some(counted)) = (Contraction::of(naive), counted) else {
        return Ok(None);
    };
    contraction.network.clone_from(&counted);
    let is_fixed = naive.facts().networks.wanted.is_fixed();
    let best = match contraction.plans() {
        Ok(plans) => contraction.best(&plans),
        Err(error) if is_fixed => return Err(contraction.refused(error)),
        Err(_) => None,
    };
    if is_fixed && best.is_none() {
        let message = "no kernel follows the loops that are asked for";
        let error = Diagnostic::new(code::NETWORK_TREE, message);
        return Err(contraction.refused(error.help(
            "state the tree as statements, `t(…) = …; R(…) = …`, or leave out `--keep-tree`, \
             `--objective` and `--planner`",
        )));
    }
    Ok(Some(Contracted {
        network: Arc::new(contraction.network),
        best,
        is_fixed,
    }))
}

/// The product of a statement as a network, if it is one.
pub(crate) fn counted(naive: &Draft<'_>) -> Option<Arc<Network>> {
    let mut contraction = Contraction::of(naive)?;
    contraction.count_degrees();
    Some(Arc::new(contraction.network))
}

/// Whether an error says why a network has no plan as the caller asks for it, so that a plan
/// in parts would not be the one that is asked for.
pub(crate) fn is_refusal(error: &Unplanned) -> bool {
    let codes = [
        code::NETWORK_TREE,
        code::NETWORK_MODEL,
        code::NETWORK_MEMORY,
        code::NETWORK_ORDER,
        code::NETWORK_SOLVER,
    ];
    codes.contains(&error.code())
}

/// Whether the plans of a statement are those of a network, each part of which may be a
/// workspace.
pub(crate) fn is_network(naive: &Draft<'_>) -> bool {
    Contraction::of(naive).is_some()
}

/// A statement as a network.
#[derive(Clone)]
struct Contraction<'a> {
    naive: &'a Draft<'a>,
    /// The tensors of the product, in its order.
    factors: Vec<Access>,
    network: Network,
}

impl<'a> Contraction<'a> {
    fn of(naive: &'a Draft<'a>) -> Option<Self> {
        let concrete = &naive.concrete;
        let (loops, Stmt::Assign { lhs, reduce, rhs }) = concrete.stmt.nest() else {
            return None;
        };
        let reduce = reduce.as_ref()?;
        let element = rhs.element(&concrete.tensors);
        let rounds = element.is_float() || element.is_complex();
        if (rounds && naive.facts().strict) || concrete.clauses().len() > 0 {
            return None;
        }
        let (_, all) = product(concrete, reduce, rhs)?;
        let identity = reduce.identity(element)?;
        let mut factors = Vec::new();
        for factor in &all {
            let Expr::Access(access) = factor else {
                // What has no variables is multiplied with the rest.
                factor.vars().is_empty().then_some(())?;
                continue;
            };
            if access.indices.is_empty() {
                continue;
            }
            let vars: BTreeSet<IndexVar> = access.plain_vars()?.into_iter().collect();
            let is_plain = vars.len() == access.indices.len()
                && naive.format(access.tensor).is_some_and(Format::is_plain)
                && concrete.tensors[access.tensor].fill == identity
                && concrete.tensors[access.tensor].element == element;
            is_plain.then(|| factors.push(access.clone()))?;
        }
        let is_widened = concrete.tensors[lhs.tensor].element != element;
        let used: BTreeSet<IndexVar> = factors.iter().flat_map(Access::vars).collect();
        let is_whole = loops.iter().all(|var| used.contains(var));
        if !has_parts(lhs, &factors) || !is_whole || is_widened {
            return None;
        }
        let network = network(naive, lhs, &factors)?;
        Some(Self {
            naive,
            factors,
            network,
        })
    }

    /// The cheapest of these plans as commands.
    fn best(&self, plans: &[NetworkPlan]) -> Option<(Cost, Plan)> {
        let mut others: Vec<Considered> = Vec::new();
        let mut found: Vec<(Draft<'_>, Cost, Plan)> = Vec::new();
        for plan in plans {
            let commanded = |way: &(Kept, Option<OperandId>)| self.commanded(plan, *way);
            let priced = |draft: Draft<'a>| priced(&draft).map(|(cost, plan)| (draft, cost, plan));
            let as_stored: Vec<_> = self.with_gaps(plan).map(Some).chain([None]).collect();
            let of_kind = |kept| as_stored.iter().map(move |operand| (kept, *operand));
            let ways: Vec<_> = Kept::ALL.into_iter().flat_map(of_kind).collect();
            let kept = ways.iter().filter_map(commanded).filter_map(priced);
            let mut kept: Vec<_> = kept.collect();
            kept.sort_by(|(_, a, _), (_, b, _)| a.nanoseconds().total_cmp(&b.nanoseconds()));
            kept.dedup_by_key(|(_, _, plan)| plan.schedule.to_string());
            others.extend(kept.iter().map(|(_, cost, plan)| considered(plan, *cost)));
            found.extend(kept.into_iter().take(REORDERED_KINDS));
        }
        found.sort_by(|(_, a, _), (_, b, _)| a.nanoseconds().total_cmp(&b.nanoseconds()));
        let wanted = self.naive.facts().networks.wanted;
        if wanted.objective != Objective::Time || wanted.planner != Planner::Search {
            // Other orders of loops would not be those that are asked for.
            return found.into_iter().next().map(|(_, cost, plan)| (cost, plan));
        }
        let least = found.first().map_or(0.0, |(_, cost, _)| cost.nanoseconds());
        let near =
            |(_, cost, _): &(Draft<'_>, Cost, Plan)| cost.nanoseconds() <= REORDERED_COST * least;
        let near = found.into_iter().take_while(near).take(REORDERED_PLANS);
        let effort = self.naive.facts().effort.begin();
        let best = near.map(|candidate| reordered(candidate, effort));
        let (cost, mut plan) = best.reduce(|best, other| match other.0.is_less_than(&best.0) {
            true => other,
            false => best,
        })?;
        // The plan is the first of equals.
        plan.account.add(considered(&plan, cost));
        plan.account.n_looked += others.len();
        others.into_iter().for_each(|it| plan.account.add(it));
        Some((cost, plan))
    }

    fn index(&self, var: IndexVar) -> Option<sparsec_network::IndexVar> {
        self.network.index_named(self.naive.name(var))
    }

    fn var(&self, index: sparsec_network::IndexVar) -> IndexVar {
        let name = &self.network.variable(index).name;
        let var = self.naive.concrete.var(name);
        var.expect("the network has the variables of the statement")
    }

    /// The statement as a plan of the network has it, with workspaces kept so, and one of the
    /// dense operands as it is stored.
    fn commanded(
        &self,
        plan: &NetworkPlan,
        (kept, as_stored): (Kept, Option<OperandId>),
    ) -> Option<Draft<'a>> {
        let paths = plan.paths().into_iter().map(|path| self.vars(&path));
        let paths: Vec<Vec<IndexVar>> = paths.collect();
        let mut draft = self.naive.clone();
        self.convert(plan, &paths, as_stored, &mut draft)?;
        draft.convert_foreign().ok()?;
        let (loops, Stmt::Assign { reduce, rhs, .. }) = draft.concrete.stmt.nest() else {
            return None;
        };
        let (op, all) = product(&draft.concrete, reduce.as_ref()?, rhs)?;
        let tree = Emitted {
            contraction: self,
            plan,
            paths,
            op,
            read: all.into_iter().filter(|it| !it.vars().is_empty()).collect(),
            kept,
        };
        let (root, _) = plan.tree.statements().next_back()?;
        let mut nests = vec![(root, loops)];
        while let Some((statement, loops)) = nests.pop() {
            nests.extend(tree.contract(&mut draft, statement, loops)?);
        }
        Some(draft)
    }

    fn vars(&self, indices: &[sparsec_network::IndexVar]) -> Vec<IndexVar> {
        indices.iter().map(|index| self.var(*index)).collect()
    }

    /// The operands that the plan stores dense, and that do not store all places.
    fn with_gaps(&self, plan: &NetworkPlan) -> impl Iterator<Item = OperandId> {
        let operands = self.network.operands();
        let operands = operands.filter(|(id, _)| plan.dense.contains(*id) && !self.is_full(*id));
        operands.map(|(id, _)| id)
    }

    /// Whether an operand stores all places.
    fn is_full(&self, operand: OperandId) -> bool {
        let tensor = self.network.tensor_of(operand);
        tensor.n_stored() >= tensor.size()
    }

    /// Converts the operands that their loops cannot follow, and those that are stored dense.
    fn convert(
        &self,
        plan: &NetworkPlan,
        paths: &[Vec<IndexVar>],
        as_stored: Option<OperandId>,
        draft: &mut Draft<'_>,
    ) -> Option<()> {
        // Places that a copy stores beside those of its operand would be stored in the result.
        let result = draft.format(draft.concrete.result);
        let is_result_dense = result.is_some_and(|format| !format.has_sparse());
        for (number, access) in self.factors.iter().enumerate() {
            let operand = OperandId::from_index(number);
            let mut statements = plan.tree.statements();
            let (statement, _) =
                statements.find(|(_, it)| it.factors.contains(&Factor::Operand(operand)))?;
            let path = &paths[statement.index()];
            let format = walked(&self.naive.formats, access);
            let place = |var: IndexVar| path.iter().position(|known| *known == var);
            let mut edges = path::edges(access, format).into_iter();
            // Loops inside of others do not follow entries that come in any order.
            let is_followed =
                !is_irregular(format) && edges.all(|edge| place(edge.before) < place(edge.after));
            let is_dense = plan.dense.contains(operand)
                && as_stored != Some(operand)
                && format.has_sparse()
                && (is_result_dense || self.is_full(operand));
            if self.factors[..number].contains(access) || (is_followed && !is_dense) {
                continue;
            }
            let extents = &draft.concrete.tensors[access.tensor].extents;
            let format = match is_dense {
                true => Format::dense(access.indices.len()).with_widths(Widths::default()),
                false => arranged(format, access, extents, path).ok()?,
            };
            draft.convert(access, format).ok()?;
        }
        Some(())
    }
}

/// Whether some factors may be contracted apart from others: there are three, or each of two
/// is summed over variables of its own.
fn has_parts(lhs: &Access, factors: &[Access]) -> bool {
    let has_own = |factor: &Access, other: &Access| {
        let mut vars = factor.vars().into_iter();
        vars.any(|var| !other.uses(var) && !lhs.uses(var))
    };
    match factors {
        [] | [_] => false,
        [a, b] => has_own(a, b) && has_own(b, a),
        _ => true,
    }
}

/// A plan of a network on its way to commands.
struct Emitted<'a> {
    contraction: &'a Contraction<'a>,
    plan: &'a NetworkPlan,
    /// The loops around each statement of the tree.
    paths: Vec<Vec<IndexVar>>,
    /// What multiplies.
    op: Operator,
    /// The factors as the draft reads them, in the order of the network's operands.
    read: Vec<Expr>,
    kept: Kept,
}

/// How the workspaces of a plan are kept. The plan has their modes in the order of the loops
/// that write them, and they may be read in any order if they are dense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// As the plan says.
    AsWritten,
    /// With modes in the order of the loops that read them.
    AsRead,
    /// So, and with a list of the entries written.
    Listed,
    /// With a bit for each coordinate.
    Bitmap,
}

impl Kept {
    const ALL: [Self; 4] = [Self::AsWritten, Self::AsRead, Self::Listed, Self::Bitmap];
}

impl Emitted<'_> {
    /// Puts the loops of a statement in order, and computes the statements that it reads in
    /// workspaces. Returns these, each with the loops of its nest.
    fn contract(
        &self,
        draft: &mut Draft<'_>,
        statement: StatementId,
        loops: Vec<IndexVar>,
    ) -> Option<Vec<(StatementId, Vec<IndexVar>)>> {
        let path = &self.paths[statement.index()];
        let own = path.iter().filter(|var| loops.contains(var));
        let others = loops.iter().filter(|var| !path.contains(var));
        let mut left: Vec<IndexVar> = own.chain(others).copied().collect();
        draft.reorder_nest(&loops, &left).ok()?;
        let factors = self.plan.tree.statement(statement).factors.iter();
        let mut producers: Vec<StatementId> = factors
            .filter_map(|factor| match factor {
                Factor::Statement(id) => Some(*id),
                Factor::Operand(_) => None,
            })
            .collect();
        // Those that share the fewest loops are computed outside of the others.
        producers.sort_by_key(|producer| self.n_fused(path, *producer));
        let mut nests = Vec::new();
        for producer in producers {
            let expr = self.product_of(producer)?;
            self.precompute(draft, producer, &expr)?;
            let fused = &path[..self.n_fused(path, producer)?];
            let used = expr.vars();
            let producing = left.iter().copied();
            let producing = producing.filter(|var| used.contains(var) && !fused.contains(var));
            nests.push((producer, producing.collect()));
            // Loops of the other producers stay until these are computed apart.
            left.retain(|var| path.contains(var) || !used.contains(var));
        }
        Some(nests)
    }

    /// The product of all operands below a statement.
    fn product_of(&self, statement: StatementId) -> Option<Expr> {
        let operands = self.plan.tree.statement(statement).operands.iter();
        let factors = operands.map(|operand| self.read[operand.index()].clone());
        factors.reduce(|left, right| Expr::Apply {
            op: self.op.clone(),
            args: vec![left, right],
        })
    }

    /// Collects a statement of the tree in its workspace.
    fn precompute(&self, draft: &mut Draft<'_>, statement: StatementId, expr: &Expr) -> Option<()> {
        let space = self.plan.workspaces[statement.index()].as_ref()?;
        let mut modes = self.contraction.vars(&space.modes);
        if self.kept != Kept::AsWritten {
            let reader = self.plan.tree.statement(statement).consumer?;
            let reading = &self.paths[reader.index()];
            modes.sort_by_key(|mode| reading.iter().position(|var| var == mode));
        }
        let kind = match (self.kept, space.kind) {
            _ if modes.is_empty() => None,
            (_, Stored::Hashed) => Some(WorkspaceKind::Hashed),
            (Kept::Listed, Stored::Dense) => Some(WorkspaceKind::Listed),
            (Kept::Bitmap, Stored::Dense) => Some(WorkspaceKind::Bitmap),
            (Kept::AsWritten | Kept::AsRead, Stored::Dense) => None,
        };
        draft.precompute(expr, &modes, "w", kind).ok().map(|_| ())
    }

    /// How many loops of a path are around a producer too.
    fn n_fused(&self, path: &[IndexVar], producer: StatementId) -> Option<usize> {
        let space = self.plan.workspaces[producer.index()].as_ref()?;
        let modes = self.contraction.vars(&space.modes);
        let both = path.iter().zip(&self.paths[producer.index()]);
        let fused = both.take_while(|(a, b)| a == b && !modes.contains(a));
        Some(fused.count())
    }
}

/// The product as a network, with the extents and entries of its tensors.
fn network(naive: &Draft<'_>, lhs: &Access, factors: &[Access]) -> Option<Network> {
    let estimate = naive.estimate();
    let named = |access: &Access| -> Option<Named> {
        let vars = access.plain_vars()?;
        let names: Vec<&str> = vars.iter().map(|var| naive.name(*var)).collect();
        Some(Named::new(
            &naive.concrete.tensors[access.tensor].name,
            &names,
        ))
    };
    let mut tensors: Vec<Tensor> = Vec::new();
    for access in factors {
        let name = &naive.concrete.tensors[access.tensor].name;
        if tensors.iter().any(|tensor| tensor.name == *name) {
            continue;
        }
        let extents = access.plain_vars()?.into_iter();
        let extents: Vec<u64> = extents
            .map(|var| estimate.extent(var).unwrap_or(UNKNOWN_EXTENT as u64))
            .collect();
        let format = walked(&naive.formats, access);
        let size: f64 = extents.iter().map(|extent| *extent as f64).product();
        let stored = estimate.n_stored(access).min(size) as u64;
        let levels = format.levels().iter().map(|level| level.mode());
        tensors.push(Tensor {
            entries: format.has_sparse().then_some(stored),
            layout: Some(levels.collect()),
            ..Tensor::dense(name.as_str(), &extents)
        });
    }
    let operands: Option<Vec<Named>> = factors.iter().map(named).collect();
    Network::new(tensors, &named(lhs)?, &operands?).ok()
}
