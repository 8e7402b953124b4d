//! What marks ask of loops and formats: leaping, fetching early, and how the result is
//! put together.

use sparsec_index::concrete::{AssembleStrategy, Clause, Placed, Steps, Stmt};
use sparsec_index::{Access, IndexVar, TensorVar};

use super::{Check, unfit};
use crate::lattice::Lattice;
use crate::not_lowerable::{NotLowerable, UnfitClause};
use crate::space::space;

impl Check<'_> {
    /// Leaping needs every operand, and order.
    pub(super) fn gallop(
        &self,
        placed: &Placed,
        var: IndexVar,
        steps: &Steps,
        body: &Stmt,
    ) -> Result<(), NotLowerable> {
        let original = match steps {
            Steps::Coordinates => Some(var),
            Steps::Stretch(original) => Some(*original),
            Steps::Blocks | Steps::Positions(_) | Steps::Computed => None,
        };
        let lattice = original.map(|var| Lattice::of(&space(self.scope(), body, var)));
        let intersects =
            lattice.is_some_and(|lattice| !lattice.everything && lattice.points.len() == 1);
        if !intersects {
            return Err(unfit(placed, UnfitClause::NoIntersection(var)));
        }
        Ok(())
    }

    /// What is fetched early follows the loop.
    pub(super) fn prefetch(
        &self,
        placed: &Placed,
        var: IndexVar,
        tensor: TensorVar,
        body: &Stmt,
    ) -> Result<(), NotLowerable> {
        let originals = self.concrete.originals(var);
        let mut follows = false;
        body.for_each_assign(&mut |lhs, _, rhs| {
            let mut look = |access: &Access| {
                let is_used = |var: &IndexVar| access.uses(*var);
                follows |= access.tensor == tensor && originals.iter().any(is_used);
            };
            rhs.for_each_access(&mut look);
            // Places of other results are known once their entries are.
            if self.formats.of(lhs.tensor).is_all_dense() {
                look(lhs);
            }
        });
        if follows {
            return Ok(());
        }
        Err(unfit(placed, UnfitClause::LeadsNowhere(var, tensor)))
    }

    pub(super) fn assembly(&self, placed: &Placed) -> Result<(), NotLowerable> {
        let Clause::Assemble {
            tensor,
            strategy: AssembleStrategy::Insert,
            ..
        } = &placed.clause
        else {
            return Ok(());
        };
        let levels = self.formats.of(*tensor).levels();
        let refuse = |why: UnfitClause| Err(unfit(placed, why));
        let Some(first) = levels.iter().position(|level| !level.is_full()) else {
            return refuse(UnfitClause::CountsDense(*tensor));
        };
        if self.formats.of(*tensor).is_probed() {
            return refuse(UnfitClause::CountsProbed(*tensor));
        }
        let mut inner = levels[first..].iter().skip_while(|level| !level.is_full());
        match inner.find(|level| !level.is_full()) {
            None => Ok(()),
            Some(_) => refuse(UnfitClause::CountsBelowDense(*tensor)),
        }
    }
}
