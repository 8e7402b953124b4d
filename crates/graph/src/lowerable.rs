//! Whether loops and formats fit together. Planning asks this predicate, and lowering relies
//! on it.
//!
//! A statement is lowerable if
//!
//! 1. the loops visit each walked level of an operand after the levels outside of it;
//! 2. an operand without order, or with duplicates, is the only one that its loops walk, and is
//!    added into a dense result, or into a workspace whose `where` is outside of all loops (it is
//!    *streamed*);
//! 3. the loops around a walked level of a result are the loops over its levels up to this one,
//!    in order, and the result is assigned without an operator;
//! 4. a workspace lists its coordinates if stored levels are assembled from it; where no operand
//!    is stored, an addition to the workspace adds the identity of its operator;
//! 5. an operand whose level has no order, such as a hash table, is walked alone and does not
//!    append to a result, or it is looked up;
//! 6. no loop merges so many operands that its kernel explodes (`cases`).

use std::collections::BTreeSet;

use sparsec_base::cancel::checkpoint;
use sparsec_format::{Format, Level};
use sparsec_index::concrete::{Nested, Stmt, for_each_nested};
use sparsec_index::{
    Access, Concrete, Expr, IndexExpr, IndexVar, TensorRole, TensorVar, WorkspaceKind,
};

use crate::collects::collects;
use crate::not_lowerable::{NeedsOrder, NotLowerable, UnfitWorkspace};
use crate::operand::{Formats, Operands};
use crate::path::edges;
use crate::scheduled;
use crate::space::{Scope, Space, space};
use crate::workspace::{feeds_stored_level, workspace_kind};

mod cases;

/// Checks that `concrete` can be lowered with these formats. Returns an estimate of the cases
/// that its kernel writes out, a measure of the kernel's length.
///
/// # Errors
/// The first rule that is broken.
pub fn lowerable(concrete: &Concrete, formats: &Formats) -> Result<usize, NotLowerable> {
    checkpoint();
    let concrete = &concrete.unfused();
    let operands = Operands::of(concrete);
    scheduled::check(concrete, formats, &operands)?;
    let check = Check {
        concrete,
        formats,
        operands: &operands,
    };
    let mut result = Ok(());
    for_each_nested(&concrete.stmt, &mut |nested| {
        if result.is_ok() {
            result = check.assign(nested);
        }
    });
    result?;
    check.extents()?;
    check.cases(&concrete.stmt, &[], 1, &BTreeSet::new())
}

/// Whether entries in this format may be unordered or repeated. Tensors in the format can only
/// be streamed.
pub fn is_irregular(format: &Format) -> bool {
    let levels = format.levels();
    levels.iter().any(|level| !level.ordered) || levels.last().is_some_and(|level| !level.unique)
}

struct Check<'a> {
    concrete: &'a Concrete,
    formats: &'a Formats,
    operands: &'a Operands,
}

impl Check<'_> {
    fn assign(&self, nested: Nested<'_, '_>) -> Result<(), NotLowerable> {
        let bound = self.concrete.bound_in(nested.loops);
        for access in nested.rhs.accesses().into_iter().chain([nested.lhs]) {
            if let Some(var) = access.vars().into_iter().find(|var| !bound.contains(var)) {
                let access = access.clone();
                return Err(NotLowerable::ComputedInside { access, var });
            }
        }
        for access in nested.rhs.accesses() {
            self.operand(nested.loops, access)?;
            if is_irregular(self.formats.of(access.tensor)) {
                self.streamed(nested, access)?;
            }
        }
        if self.concrete.tensors[nested.lhs.tensor].role == TensorRole::Workspace {
            return self.workspace(nested);
        }
        self.result(nested)
    }

    fn operand(&self, loops: &[IndexVar], access: &Access) -> Result<(), NotLowerable> {
        let place = |var: IndexVar| self.concrete.bound_at(loops, var);
        for edge in edges(access, self.formats.of(access.tensor)) {
            // What a loop computes from its variable comes after what it walks, in parts or
            // as a whole.
            let is_walked = loops.contains(&edge.after) && !loops.contains(&edge.before);
            let is_computed = self.concrete.is_computed_from(edge.before, edge.after);
            let is_late = (is_walked || is_computed) && place(edge.before) == place(edge.after);
            if is_late || place(edge.before) > place(edge.after) {
                return Err(NotLowerable::LoopOrder {
                    access: access.clone(),
                    before: edge.before,
                    after: edge.after,
                });
            }
        }
        Ok(())
    }

    fn streamed(&self, nested: Nested<'_, '_>, access: &Access) -> Result<(), NotLowerable> {
        let Nested {
            loops, lhs, reduce, ..
        } = nested;
        let format = self.formats.of(access.tensor);
        let refuse = |why: NeedsOrder| {
            let access = access.clone();
            Err(NotLowerable::Unordered { access, why })
        };
        let repeats = |(mode, index)| access.indices[..mode].contains(index);
        if access.indices.iter().enumerate().any(repeats) || access.plain_vars().is_none() {
            return refuse(NeedsOrder::Search);
        }
        let is_read = |nest: &&Stmt| {
            let mut found = false;
            nest.for_each_assign(&mut |assigned, _, rhs| {
                found |= assigned == lhs && rhs.accesses().contains(&access);
            });
            found
        };
        let Some(nest) = outermost_nests(&self.concrete.stmt)
            .into_iter()
            .find(is_read)
            .filter(|nest| is_perfect_nest(nest))
        else {
            return refuse(NeedsOrder::Temporary);
        };
        if !self.takes_any_order(lhs.tensor) {
            return refuse(NeedsOrder::Result);
        }
        if reduce.is_none() && !format.is_unique() {
            return refuse(NeedsOrder::Repeated);
        }
        for var in loops {
            let walked = self.operands.is_sparse_at(access, *var, self.formats) == Some(true);
            let scope = self.scope();
            if walked && !matches!(space(scope, nest, *var), Space::Stored(_)) {
                return refuse(NeedsOrder::Streamed);
            }
        }
        Ok(())
    }

    /// Whether a result or a workspace takes its entries in any order.
    fn takes_any_order(&self, tensor: TensorVar) -> bool {
        match self.concrete.tensors[tensor].role {
            TensorRole::Workspace => {
                let kind = workspace_kind(self.concrete, self.formats, tensor);
                kind != WorkspaceKind::Appended
            }
            TensorRole::Input | TensorRole::Result => self.formats.of(tensor).is_scattered_to(),
        }
    }

    fn workspace(&self, nested: Nested<'_, '_>) -> Result<(), NotLowerable> {
        let Nested { lhs, rhs, .. } = nested;
        let refuse = |why: UnfitWorkspace| {
            Err(NotLowerable::Workspace {
                workspace: lhs.tensor,
                why,
            })
        };
        if lhs.indices.is_empty() {
            return Ok(());
        }
        if !self.formats.of(lhs.tensor).has_sparse() {
            if feeds_stored_level(self.concrete, self.formats, lhs.tensor) {
                return refuse(UnfitWorkspace::DenseFeeds);
            }
            return Ok(());
        }
        let element = self.concrete.tensors[lhs.tensor].element;
        let fills =
            |access: &Access| Some(Expr::Literal(self.concrete.tensors[access.tensor].fill));
        let absent = rhs.map_accesses(&mut { fills }).simplify().literal();
        if absent.is_none() || absent != nested.reduce.and_then(|op| op.identity(element)) {
            return refuse(UnfitWorkspace::ValuesEverywhere);
        }
        Ok(())
    }

    fn result(&self, nested: Nested<'_, '_>) -> Result<(), NotLowerable> {
        let Nested {
            loops, lhs, reduce, ..
        } = nested;
        let format = self.formats.of(lhs.tensor);
        let levels = format.levels();
        // Nests that follow one another come to the same rows, none of which is open
        // in all of them.
        let open = match self.nests_that_assign(lhs) {
            1 => loops,
            _ => &[],
        };
        if reduce.is_some() && !collects(self.concrete, format, nested, open) {
            return Err(NotLowerable::Reduced {
                result: lhs.clone(),
                is_dense: format.is_all_dense(),
            });
        }
        let random = |level: &Level| level.kind.capabilities().random_insert;
        // Of segments that have their places the parents come in any order.
        let n_free = match self.concrete.inserts() {
            true => levels.iter().take_while(|level| random(level)).count(),
            false => 0,
        };
        for (number, level) in levels.iter().enumerate() {
            if random(level) {
                continue;
            }
            // What is looked for comes in any order below the levels above.
            let n_ordered = number + usize::from(!level.kind.capabilities().probing_insert);
            let wanted = levels[..n_ordered].iter();
            let mut wanted: Vec<_> = wanted.map(|level| lhs.var(level.mode())).collect();
            // What names the variables of loops is written as they come.
            let made = |var: &IndexVar| self.concrete.made_by(*var).is_some();
            let mut in_order = match lhs.vars().iter().any(made) {
                true => loops.iter().copied().map(Some).collect(),
                false => self.concrete.in_order(loops),
            };
            in_order.truncate(n_ordered);
            let n_free = n_free.min(in_order.len());
            wanted[..n_free].sort();
            in_order[..n_free].sort();
            if in_order != wanted {
                return Err(NotLowerable::ResultOrder {
                    result: lhs.clone(),
                    loops: loops.to_vec(),
                });
            }
        }
        Ok(())
    }

    /// How many assignments a tensor has.
    fn nests_that_assign(&self, lhs: &Access) -> usize {
        let mut n = 0;
        let stmt = &self.concrete.stmt;
        stmt.for_each_assign(&mut |other, _, _| n += usize::from(other.tensor == lhs.tensor));
        n
    }

    /// A kernel takes extents from the arguments where a variable stands alone;
    /// others have to be known.
    fn extents(&self) -> Result<(), NotLowerable> {
        let (mut used, mut alone) = (BTreeSet::new(), BTreeSet::new());
        self.concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
            used.extend(rhs.vars());
            for access in rhs.accesses().into_iter().chain([lhs]) {
                used.extend(access.vars());
                alone.extend(access.indices.iter().filter_map(IndexExpr::as_var));
            }
        });
        let is_unknown = |var: &&IndexVar| self.concrete.vars[**var].extent.is_none();
        // Those that others are computed from end where these do.
        for var in self.concrete.stmt.loops() {
            used.extend(self.concrete.originals(var));
            alone.extend(self.concrete.made_by(var).map(|_| var));
        }
        match used.difference(&alone).find(is_unknown) {
            Some(&var) => Err(NotLowerable::UnknownExtent(var)),
            None => Ok(()),
        }
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            concrete: self.concrete,
            formats: self.formats,
            operands: self.operands,
        }
    }
}

/// The parts of a statement that are inside of no loop and run once: the nests of a sequence, and
/// the consumer and the producer of a `where`.
fn outermost_nests(stmt: &Stmt) -> Vec<&Stmt> {
    match stmt {
        Stmt::Assign { .. } | Stmt::Forall { .. } => vec![stmt],
        Stmt::Where { consumer, producer } => {
            let mut nests = outermost_nests(consumer);
            nests.extend(outermost_nests(producer));
            nests
        }
        Stmt::Sequence(nests) => nests.iter().flat_map(outermost_nests).collect(),
    }
}

/// Whether the statement is one assignment inside loops.
pub fn is_perfect_nest(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Assign { .. } => true,
        Stmt::Forall { body, .. } => is_perfect_nest(body),
        Stmt::Where { .. } | Stmt::Sequence(_) => false,
    }
}
