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
use sparsec_index::IndexVar;
use sparsec_index::concrete::MergeStrategy;
use sparsec_loop::{Block, Expr, Stmt as Loop, Var};

use crate::cursor::Bindings;
use crate::level::Coordinates;
use crate::statement::Lowerer;
use crate::walker::Walker;
use crate::workspace::Workspace;

/// The coordinates of some walkers.
#[derive(Clone, Debug)]
pub(super) struct Ahead(Vec<Known>);

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
}

impl Lowerer<'_> {
    /// When there are coordinates to read ahead, and the loop over `walkers`, as long as there
    /// is `more`, that does; `None` if it does not pay. `step` writes a turn, and says
    /// whether it moves what is known.
    pub(super) fn looking_ahead(
        &mut self,
        walkers: &[Walker],
        more: &Expr,
        var: IndexVar,
        bindings: &Bindings,
        step: impl FnOnce(&mut Self, &mut [Walker], &Ahead) -> bool,
    ) -> Option<(Expr, Block)> {
        let selects = self.merges_by(bindings) == Some(MergeStrategy::Select);
        if walkers.len() != 2 || !selects {
            return None;
        }
        let has_next = walkers.iter().map(|walker| self.has_next(walker));
        let have_next = has_next.collect::<Option<Vec<Expr>>>()?;
        let have_next = have_next.into_iter().reduce(Expr::and)?;
        let mut moves = false;
        let then = self.block(|it| {
            let now: Vec<(String, Var)> = walkers
                .iter()
                .map(|walker| {
                    let name = it.name_of_coordinate(var, walker);
                    let coordinate = walker.coordinate(walker.position);
                    let now = it.builder.var_(&name, coordinate);
                    (name, now)
                })
                .collect();
            let body = it.block(|it| {
                let known = walkers.iter().zip(now).map(|(walker, (name, now))| {
                    let next = walker.coordinate(Expr::Var(walker.position).add(1));
                    let next = it.builder.let_(&format!("{name}_next"), next);
                    Known { now, next }
                });
                let ahead = Ahead(known.collect());
                moves = step(it, &mut walkers.to_vec(), &ahead);
            });
            it.builder.push(Loop::While {
                condition: more.clone(),
                body,
            });
        });
        moves.then_some((have_next, then))
    }

    /// Whether there is an entry behind the segment that is walked.
    fn has_next(&self, walker: &Walker) -> Option<Expr> {
        let is_listed = matches!(walker.entries.crd, Coordinates::Listed(_));
        if !is_listed || walker.repeats || walker.belongs(walker.position).is_some() {
            return None;
        }
        let access = self.operands.access(walker.operand);
        if let Some(Workspace::Stored(stored)) = self.workspaces.get(&access.tensor) {
            return stored.has_room_behind().then(|| Scalar::Bool(true).into());
        }
        let n_stored = self.all_positions(access, walker.level)?;
        Some(walker.end.clone().less(n_stored))
    }

    /// Moves on what is known of the first of two walkers if `less`, else of the second.
    pub(super) fn either_moves_ahead(&mut self, ahead: Option<&Ahead>, less: &Expr) {
        if let Some([left, right]) = ahead.map(|ahead| &ahead.0[..]) {
            self.move_if(less, left.now, [left.next, left.now]);
            self.move_if(less, right.now, [right.now, right.next]);
        }
    }

    fn move_if(&mut self, condition: &Expr, var: Var, [then, otherwise]: [Var; 2]) {
        let value = Expr::Select {
            condition: Box::new(condition.clone()),
            then: Box::new(then.into()),
            otherwise: Box::new(otherwise.into()),
        };
        self.builder.assign(var, value);
    }

    /// Moves on what is known of all walkers.
    pub(super) fn all_move_ahead(&mut self, ahead: Option<&Ahead>) {
        for known in ahead.into_iter().flat_map(|ahead| &ahead.0) {
            self.builder.assign(known.now, known.next);
        }
    }

    /// How the coordinate is called that a walker is at.
    pub(super) fn name_of_coordinate(&self, var: IndexVar, walker: &Walker) -> String {
        let tensor = self.operands.access(walker.operand).tensor;
        let (var, tensor) = (&self.concrete.vars[var], &self.concrete.tensors[tensor]);
        format!("{}{}", var.name, tensor.name)
    }
}
