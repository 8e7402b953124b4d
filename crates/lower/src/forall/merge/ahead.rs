//! The coordinates of a merge, read a turn before they are needed.
//!
//! ```text
//!                                 if eb < nb and ec < nc {
//! while pb < eb and pc < ec {       ib = crd_b[pb]; ic = crd_c[pc]
//!   ib = crd_b[pb]                  while pb < eb and pc < ec {
//!   ic = crd_c[pc]          ─►        ib_next = crd_b[pb + 1]; ic_next = crd_c[pc + 1]
//!   …                                 …
//!   pb -= side                        pb -= side; ib = select(side < 0, ib_next, ib)
//!   pc += side + 1 }                  pc += side + 1; ic = select(side < 0, ic, ic_next) }
//!                                 } else { while pb < eb and pc < ec { … } }
//! ```
//!
//! Where a merge selects ([`select`](super::select)), each turn waits for the positions of the
//! one before, and then for a load. What it would load is one of two coordinates, and both can
//! be loaded before it is known which: what turns wait for are two selections.
//!
//! What three operands have to be known of is more than registers hold, so it is done where
//! there are two, or two are left.
//!
//! An entry behind the last of all is not there to be read. So segments that end before
//! that are merged like this, and the others turn by turn.

use sparsec_base::Scalar;
use sparsec_loop::{Block, Builder, Expr, Var};

use crate::forall::cases::{Part, Walk};
use crate::level::Coordinates;
use crate::temporary::Workspace;
use crate::walker::Walker;

/// The coordinates of two walkers.
#[derive(Clone, Debug)]
pub(super) struct Ahead([Known; 2]);

#[derive(Clone, Copy, Debug)]
struct Known {
    /// Where the walker is.
    now: Var,
    /// Where it is going to be if it moves.
    next: Var,
}

impl Ahead {
    /// Where the walkers are.
    pub(super) fn read(&self) -> Vec<Var> {
        self.0.iter().map(|known| known.now).collect()
    }

    /// Moves on what is known of the first walker if `less`, else of the second.
    pub(super) fn either_moves(&self, b: &mut Builder, less: &Expr) {
        let [left, right] = self.0;
        move_if(b, less, left.now, [left.next, left.now]);
        move_if(b, less, right.now, [right.now, right.next]);
    }

    /// Moves on what is known of both walkers.
    pub(super) fn both_move(&self, b: &mut Builder) {
        for known in self.0 {
            b.assign(known.now, known.next);
        }
    }
}

fn move_if(b: &mut Builder, condition: &Expr, var: Var, [then, otherwise]: [Var; 2]) {
    let value = Expr::Select {
        condition: Box::new(condition.clone()),
        then: Box::new(then.into()),
        otherwise: Box::new(otherwise.into()),
    };
    b.assign(var, value);
}

/// When there are coordinates to read ahead, and the loop over the walkers of a part, as long
/// as there is `more`, that does; `None` if it does not pay. `step` writes an iteration, and
/// says whether it moves what is known.
pub(super) fn looking_ahead(
    b: &mut Builder,
    part: Part<'_, '_, '_>,
    more: &Expr,
    step: impl FnOnce(&mut Builder, &Ahead) -> bool,
) -> Option<(Expr, Block)> {
    let walk = part.walk;
    let walkers: &[Walker; 2] = part.walkers.try_into().ok()?;
    if !walk.selects() {
        return None;
    }
    let [left, right] = walkers;
    let have_next = has_next(walk, left)?.and(has_next(walk, right)?);
    let mut moves = false;
    let then = b.block(|b| {
        let now = walkers.each_ref().map(|walker| {
            let name = walk.name_of_coordinate(walker);
            b.var_(&name, walker.coordinate(walker.position))
        });
        b.while_loop(more.clone(), |b| {
            let known = [0, 1].map(|number| {
                let (walker, now) = (&walkers[number], now[number]);
                let name = format!("{}_next", walk.name_of_coordinate(walker));
                let next = walker.coordinate(Expr::Var(walker.position).add(1));
                let next = b.let_(&name, next);
                Known { now, next }
            });
            moves = step(b, &Ahead(known));
        });
    });
    moves.then_some((have_next, then))
}

/// Whether there is an entry behind the segment that is walked.
fn has_next(walk: &Walk<'_, '_>, walker: &Walker) -> Option<Expr> {
    let is_listed = matches!(walker.entries.crd, Coordinates::Listed(_));
    if !is_listed || walker.repeats || walker.belongs(walker.position).is_some() {
        return None;
    }
    let tensor = walk.at.kernel.access(walker.operand).tensor;
    if let Some(Workspace::Stored(stored)) = walk.at.workspaces.get(&tensor) {
        return stored.has_room_behind().then(|| Scalar::Bool(true).into());
    }
    let n_stored = walk.at.all_positions(walker.operand, walker.level)?;
    Some(walker.end.clone().less(n_stored))
}
