//! Workspaces of a statement on its way to a plan: what is collected in them, and how
//! they are kept.

use sparsec_base::Result;
use sparsec_format::Format;
use sparsec_graph::lowerable::is_irregular;
use sparsec_graph::{collects, workspace_kind};
use sparsec_index::concrete::{Nested, Stmt};
use sparsec_index::{Access, Expr, IndexVar, Operator, TensorRole, TensorVar, WorkspaceKind};
use sparsec_machine::Machine;
use sparsec_schedule::{Command, factors};

use super::Draft;
use crate::estimate::workspace::{Use, best_with_list};

impl Draft<'_> {
    /// Where a reduction comes back to entries of its result: a workspace that
    /// collects them, unless the result takes them in any order. A reduction
    /// inside all loops of the result is collected in a scalar.
    pub(crate) fn add_temporaries(&mut self) -> Result<()> {
        let (mut loops, mut inner) = self.concrete.stmt.nest();
        // What a `where` computes first does not come back to the result.
        while let Stmt::Where { consumer, .. } = inner {
            let (more, next) = consumer.nest();
            loops.extend(more);
            inner = next;
        }
        let Stmt::Assign {
            lhs,
            reduce: Some(reduce),
            rhs,
        } = inner
        else {
            return Ok(());
        };
        // What a workspace collects is not collected twice.
        if self.concrete.tensors[lhs.tensor].role == TensorRole::Workspace {
            return Ok(());
        }
        // What is computed from a loop is that loop's.
        let is_reduced = |var: &IndexVar| {
            let place = loops.iter().position(|known| known == var);
            let outer = &loops[..place.unwrap_or(loops.len())];
            let mut moved = self.concrete.newly_bound(outer, *var);
            moved.extend(self.concrete.originals(*var));
            !moved.iter().any(|var| lhs.uses(*var))
        };
        let Some(first) = loops.iter().position(is_reduced) else {
            return Ok(());
        };
        // A loop that what is reduced is computed from, beside what is not, comes back
        // to entries of the result wherever it stands.
        let is_mixed = |var: &IndexVar| {
            let mut originals = self.concrete.originals(*var).into_iter();
            !is_reduced(var) && originals.any(|original| !lhs.uses(original))
        };
        if loops[..first].iter().any(is_mixed) {
            return Ok(());
        }
        let inside: Vec<IndexVar> = loops[first..]
            .iter()
            .copied()
            .filter(|var| !is_reduced(var))
            .collect();
        let format = self.format(lhs.tensor);
        let (lhs, reduce, rhs) = (&lhs.clone(), &reduce.clone(), &rhs.clone());
        let nested = Nested {
            loops: &loops,
            n_outside: 0,
            lhs,
            reduce: Some(reduce),
            rhs,
        };
        let takes_any_order =
            format.is_some_and(|format| collects(&self.concrete, format, nested, &loops[..first]));
        let is_streamed = rhs
            .accesses()
            .iter()
            .any(|access| self.format(access.tensor).is_some_and(is_irregular));
        if takes_any_order && (!inside.is_empty() || is_streamed) {
            return Ok(());
        }
        let collected = self.collected(reduce, rhs, &loops[..first]);
        let used = self.use_of(lhs, rhs, &loops, &inside);
        self.collect(&collected, &inside, used)
    }

    /// The draft with all of the result collected in a workspace, if an operand gives its
    /// entries in any order and the result takes them in its own.
    pub(crate) fn with_result_collected(&self) -> Option<Self> {
        let (loops, Stmt::Assign { lhs, reduce, rhs }) = self.concrete.stmt.nest() else {
            return None;
        };
        let format = self.format(lhs.tensor)?;
        let gives_any_order = |access: &&Access| {
            let format = self.format(access.tensor);
            format.is_some_and(|format| !format.is_ordered())
        };
        let is_plain = reduce.is_some() && format.is_plain() && !format.takes_any_order();
        if !is_plain || !rhs.accesses().iter().any(gives_any_order) {
            return None;
        }
        let modes = format.levels().iter().map(|level| lhs.var(level.mode()));
        let modes: Vec<IndexVar> = modes.collect::<Option<_>>()?;
        // An array over an extent that is not known may exceed memory.
        let estimate = self.estimate();
        let is_known = |var: &IndexVar| estimate.extent(*var).is_some();
        modes.iter().all(is_known).then_some(())?;
        let used = self.use_of(lhs, rhs, &loops, &modes);
        let mut draft = self.clone();
        draft.collect(rhs, &modes, used).ok()?;
        Some(draft)
    }

    /// Collects an expression in a workspace over `modes`.
    pub(crate) fn collect(&mut self, expr: &Expr, modes: &[IndexVar], used: Use) -> Result<()> {
        let name = if modes.is_empty() { "t" } else { "w" };
        let kind = best_with_list(used, &Machine::MIDDLING);
        let before = (self.concrete.clone(), self.schedule.clone());
        let workspace = self.precompute(expr, modes, name, None)?;
        let is_listed =
            workspace_kind(&self.concrete, &self.formats, workspace) == WorkspaceKind::Listed;
        if is_listed && !modes.is_empty() && kind == WorkspaceKind::Hashed {
            (self.concrete, self.schedule) = before;
            self.precompute(expr, modes, name, Some(kind))?;
        }
        Ok(())
    }

    /// Computes an expression in a workspace of its own, which it returns.
    pub(crate) fn precompute(
        &mut self,
        expr: &Expr,
        modes: &[IndexVar],
        name: &str,
        kind: Option<WorkspaceKind>,
    ) -> Result<TensorVar> {
        let modes: Vec<&str> = modes.iter().map(|var| self.name(*var)).collect();
        let workspace = self.concrete.fresh_name(name);
        let command = Command::precompute(&self.concrete, expr, &modes, &workspace, kind)?;
        self.command(command)?;
        let added = self.concrete.tensor(&workspace);
        Ok(added.expect("the command adds the workspace"))
    }

    /// What of a right side is collected in a workspace: factors that have one value
    /// in each of the loops `outer` are multiplied behind the loops inside, where
    /// that is the same. Of floats it is so up to rounding, if the factors are
    /// finite; what is said to be infinite is left where it is.
    ///
    /// It pays where the loops inside go through dense arrays. Others wait for
    /// memory, and would have to remember whether they found anything.
    fn collected(&self, reduce: &Operator, rhs: &Expr, outer: &[IndexVar]) -> Expr {
        let element = rhs.element(&self.concrete.tensors);
        let rounds = element.is_float() || element.is_complex();
        let bound = self.concrete.bound_in(outer);
        let divided = factors(&self.concrete, reduce, rhs, &bound).filter(|factors| {
            let reads_workspace = |factor: &Expr| {
                let mut accesses = factor.accesses().into_iter();
                accesses.any(|it| self.concrete.tensors[it.tensor].role == TensorRole::Workspace)
            };
            let is_dense = |factor: &Expr| {
                let mut accesses = factor.accesses().into_iter();
                accesses.all(|it| self.format(it.tensor).is_some_and(Format::is_all_dense))
            };
            let mut outside = factors.outside.iter();
            outside.all(|it| (!rounds || self.has_finite_fill(it)) && !reads_workspace(it))
                && !(rounds && self.facts.strict)
                && factors.inside.iter().all(is_dense)
        });
        match divided {
            Some(factors) => factors.product(&factors.inside),
            None => rhs.clone(),
        }
    }

    /// The draft with a result multiplied by factors that its sum does not depend on once
    /// that is done, in place of at each entry: `y(j) = M(j) * w(j)` behind
    /// `w(j) += A(i,j) * x(i)`.
    pub(crate) fn with_factors_apart(&self) -> Option<Self> {
        let (loops, Stmt::Assign { lhs, reduce, rhs }) = self.concrete.stmt.nest() else {
            return None;
        };
        let is_reduced = |var: &IndexVar| !lhs.uses(*var);
        let first = loops.iter().position(is_reduced)?;
        let (outer, inside) = loops.split_at(first);
        let modes: Vec<IndexVar> = inside
            .iter()
            .copied()
            .filter(|it| !is_reduced(it))
            .collect();
        if modes.is_empty() || self.concrete.clauses().len() > 0 {
            return None;
        }
        let element = rhs.element(&self.concrete.tensors);
        if (element.is_float() || element.is_complex()) && self.facts.strict {
            return None;
        }
        let bound: Vec<IndexVar> = outer.iter().chain(&modes).copied().collect();
        let divided = factors(&self.concrete, reduce.as_ref()?, rhs, &bound)?;
        let mut outside = divided.outside.iter();
        let is_entry = |factor: &Expr| !factor.vars().is_empty();
        if !outside.clone().all(|it| self.has_finite_fill(it)) || !outside.any(is_entry) {
            return None;
        }
        let expr = divided.product(&divided.inside);
        let mut draft = self.clone();
        let kind = Some(WorkspaceKind::Bitmap);
        draft.precompute(&expr, &modes, "w", kind).ok()?;
        Some(draft)
    }

    fn has_finite_fill(&self, factor: &Expr) -> bool {
        let fill = factor.fill(&self.concrete.tensors, &self.concrete.vars);
        fill.is_some_and(|fill| fill.to_c128().is_finite())
    }

    /// What is asked of a workspace over `modes` that collects `rhs` in `loops`.
    pub(crate) fn use_of(
        &self,
        lhs: &Access,
        rhs: &Expr,
        loops: &[IndexVar],
        modes: &[IndexVar],
    ) -> Use {
        let estimate = self.estimate();
        let is_outside = |var: &&IndexVar| lhs.uses(**var) && !modes.contains(var);
        let outside: Vec<IndexVar> = loops.iter().filter(is_outside).copied().collect();
        let writes = estimate.computed(rhs, loops);
        let element = self.concrete.tensors[lhs.tensor].element;
        Use {
            positions: estimate.points(modes),
            value_bytes: element.size() as f64,
            writes,
            runs: estimate.points(&outside).min(writes),
        }
    }
}
