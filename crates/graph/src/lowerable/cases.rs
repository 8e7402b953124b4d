//! The number of cases in a kernel: the sixth rule of [`lowerable`](super).
//!
//! A kernel writes out the cases of a merge: for each part of the loop, which operands have an
//! entry at the coordinate.
//!
//! ```text
//! b(i) + c(i)           5 cases    3 while both remain, 1 in each tail loop
//! b(i) + c(i) + d(i)   19 cases    7 while all remain, 3 * 3 while two do, 3 * 1
//! ```
//!
//! The body of a loop is written once for each of its cases, so cases of nested loops multiply.
//! Cases of nests in a sequence add up. An operand that is searched at `n` levels below multiplies
//! by `1 + n`: the search ends at one of the levels, or finds the entry.

use std::collections::BTreeSet;

use sparsec_index::concrete::{Steps, Stmt};
use sparsec_index::{Access, Expr, IndexVar};

use super::Check;
use crate::lattice::Lattice;
use crate::lead::Lead;
use crate::not_lowerable::NotLowerable;
use crate::operand::Operand;
use crate::space::space;

/// The most cases of a statement, over all its loops.
const MAX_CASES: usize = 512;

/// The least number of cases that a nest of a sequence counts for, since it has loops of its own.
const NEST_CASES: usize = 4;

/// The most cases of one loop. The sum of three operands has 19 cases, of four 65.
const MAX_LOOP_CASES: usize = 64;

impl Check<'_> {
    /// The cases of an assignment: each operand is found, or its search ends at one of the levels
    /// that are searched.
    fn cases_of_searches(&self, rhs: &Expr) -> usize {
        let mut searched: Vec<&Access> = Vec::new();
        for access in rhs.accesses() {
            if !searched.contains(&access) {
                searched.push(access);
            }
        }
        let n_searched =
            |access: &Access| (self.operands).n_searched(access, self.concrete, self.formats);
        let cases = searched.into_iter().map(|access| 1 + n_searched(access));
        cases.fold(1, usize::saturating_mul)
    }

    /// Counts the cases of nested loops. A loop that merges only operands in `merged` does not
    /// count: in most cases of the loops around it, only one of these operands is left.
    pub(super) fn cases(
        &self,
        stmt: &Stmt,
        loops: &[IndexVar],
        so_far: usize,
        merged: &BTreeSet<Operand>,
    ) -> Result<usize, NotLowerable> {
        match stmt {
            Stmt::Assign { rhs, .. } => {
                let total = so_far.saturating_mul(self.cases_of_searches(rhs));
                match loops.last() {
                    Some(var) if total > MAX_CASES => Err(NotLowerable::TooManyCases(*var)),
                    _ => Ok(total),
                }
            }
            Stmt::Where { consumer, producer } => {
                let consumed = self.cases(consumer, loops, so_far, merged)?;
                let produced = self.cases(producer, loops, so_far, merged)?;
                Ok(consumed.max(produced))
            }
            Stmt::Sequence(nests) => {
                let mut total = 0;
                for nest in nests {
                    total += self.cases(nest, loops, so_far, merged)?.max(NEST_CASES);
                }
                match nests.iter().flat_map(Stmt::loops).next() {
                    Some(var) if total > MAX_CASES => Err(NotLowerable::TooManyCases(var)),
                    _ => Ok(total),
                }
            }
            Stmt::Forall { var, body } => {
                let inside: Vec<IndexVar> = loops.iter().chain([var]).copied().collect();
                let merged_on = match self.concrete.steps(loops, *var) {
                    Steps::Coordinates => *var,
                    Steps::Stretch(original) => original,
                    Steps::Blocks => return self.cases(body, &inside, so_far, merged),
                    // Each searched operand has an entry or not.
                    Steps::Positions(_) | Steps::Computed => {
                        let n_searched = self.n_searched(loops, *var);
                        let total = so_far.saturating_mul(1 << n_searched.min(20));
                        if total > MAX_CASES {
                            return Err(NotLowerable::TooManyCases(*var));
                        }
                        return self.cases(body, &inside, total, merged);
                    }
                };
                let space = space(self.scope(), body, merged_on);
                if Lattice::n_points_at_most(&space) > MAX_CASES {
                    return Err(NotLowerable::TooManyCases(*var));
                }
                let lead = Lead::of(self.scope(), Lattice::of(&space), merged_on);
                self.walked_in_order(&lead, *var, merged_on, body)?;
                let operands = lead.lattice.operands();
                let n_cases = lead.n_cases().max(1);
                let operands = operands.union(&lead.located).copied().collect();
                let total = match BTreeSet::is_subset(&operands, merged) {
                    true => so_far,
                    false => so_far.saturating_mul(n_cases),
                };
                if total > MAX_CASES || n_cases > MAX_LOOP_CASES {
                    return Err(NotLowerable::TooManyCases(*var));
                }
                let merged = merged.union(&operands).copied().collect();
                self.cases(body, &inside, total, &merged)
            }
        }
    }

    /// Refuses a loop that walks a level without order but needs its order: to merge it with
    /// another operand, to walk part of a longer loop, or to append to a result.
    fn walked_in_order(
        &self,
        lead: &Lead,
        var: IndexVar,
        original: IndexVar,
        body: &Stmt,
    ) -> Result<(), NotLowerable> {
        let found = lead.out_of_order(self.scope(), original, body, var != original);
        let Some((operand, why)) = found else {
            return Ok(());
        };
        let access = self.operands.access(operand).clone();
        Err(NotLowerable::Unordered { access, why })
    }

    /// The number of operands with a sparse level at a variable that the loop over `var` binds.
    fn n_searched(&self, loops: &[IndexVar], var: IndexVar) -> usize {
        let new = self.concrete.newly_bound(loops, var);
        let is_walked = |operand: &Operand| {
            let access = self.operands.access(*operand);
            let walked = |var: &IndexVar| {
                self.operands.is_sparse_at(access, *var, self.formats) == Some(true)
            };
            new.iter().any(walked)
        };
        self.operands.ids().filter(is_walked).count()
    }
}
