//! What marks ask of loops and formats: leaping, fetching early, and how the result is
//! put together.

use sparsec_base::{Result, code};
use sparsec_index::concrete::{AssembleStrategy, Clause, Placed, Steps, Stmt};
use sparsec_index::{IndexVar, TensorVar};

use super::Check;
use crate::lattice::Lattice;
use crate::space::space;

impl Check<'_> {
    /// Leaping needs every operand, and order.
    pub(super) fn gallop(
        &self,
        placed: &Placed,
        var: IndexVar,
        steps: &Steps,
        body: &Stmt,
    ) -> Result<()> {
        let name = &self.concrete.vars[var].name;
        let original = match steps {
            Steps::Coordinates => Some(var),
            Steps::Stretch(original) => Some(*original),
            Steps::Blocks | Steps::Positions(_) | Steps::Computed => None,
        };
        let lattice = original.map(|var| Lattice::of(&space(self.scope(), body, var)));
        let intersects =
            lattice.is_some_and(|lattice| !lattice.everything && lattice.points.len() == 1);
        if !intersects {
            let message =
                format!("the loop over `{name}` is no intersection of stored coordinates");
            return Err(placed.error(code::SCHEDULE_GALLOP, message).help(format!(
                "leave it out, or write `mergeby({name}, TwoFinger)`"
            )));
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
    ) -> Result<()> {
        let originals = self.concrete.originals(var);
        let mut follows = false;
        body.for_each_assign(&mut |_, _, rhs| {
            rhs.for_each_access(&mut |access| {
                let is_used = |var: &IndexVar| access.uses(*var);
                follows |= access.tensor == tensor && originals.iter().any(is_used);
            });
        });
        if follows {
            return Ok(());
        }
        let loop_name = &self.concrete.vars[var].name;
        let name = &self.concrete.tensors[tensor].name;
        let message = format!("the loop over `{loop_name}` does not lead to entries of `{name}`");
        Err(placed
            .error(code::SCHEDULE_PREFETCH, message)
            .help("name a loop whose variable stands in an access of it, or leave it out"))
    }

    pub(super) fn assembly(&self, placed: &Placed) -> Result<()> {
        let Clause::Assemble {
            tensor,
            strategy: AssembleStrategy::Insert,
            ..
        } = &placed.clause
        else {
            return Ok(());
        };
        let name = &self.concrete.tensors[*tensor].name;
        let levels = self.formats.of(*tensor).levels();
        let refuse = |message: String| {
            Err(placed
                .error(code::SCHEDULE_ASSEMBLY, message)
                .help(format!("write `assemble({name}, Append)`, or leave it out")))
        };
        let Some(first) = levels.iter().position(|level| !level.is_full()) else {
            return refuse(format!(
                "`{name}` is dense: there are no entries to count and insert"
            ));
        };
        if self.formats.of(*tensor).is_probed() {
            return refuse(format!(
                "entries of `{name}` get their places in tables as they come, and are not counted first"
            ));
        }
        let mut inner = levels[first..].iter().skip_while(|level| !level.is_full());
        match inner.find(|level| !level.is_full()) {
            None => Ok(()),
            Some(_) => refuse(format!(
                "`{name}` has a dense level between two that store coordinates, whose entries cannot be counted one after the other"
            )),
        }
    }
}
