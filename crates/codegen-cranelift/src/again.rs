//! What is asked before a loop of cases has its next turn.
//!
//! ```text
//! while pB < eB and pC < eC {
//!   if jB == jC { …  pB += 1  pC += 1 }     then pB < eB and pC < eC?
//!   else if jB < jC { …  pB += 1 }          then pB < eB?
//!   else { …  pC += 1 } }                   then pC < eC?
//! ```
//!
//! The parts of a condition that a case changes nothing of still hold, so each case asks for
//! the others alone, and goes to the next turn by a jump of its own: a processor
//! guesses each of them by what came before it.

use std::collections::HashSet;

use cranelift_codegen::ir;
use sparsec_loop::{Block, Expr, Stmt, Var};

use crate::cases::{Cases, parts};
use crate::emitter::Emitter;

/// When a loop goes on.
#[derive(Clone, Debug)]
pub(crate) struct Again<'f> {
    condition: &'f Expr,
    /// What the turn has assigned so far.
    assigned: HashSet<Var>,
    turn: ir::Block,
    on: ir::Block,
}

impl<'f> Again<'f> {
    /// To `turn` where `condition` holds, which held before this turn, else `on`.
    pub(crate) fn new(condition: &'f Expr, turn: ir::Block, on: ir::Block) -> Self {
        Self {
            condition,
            assigned: HashSet::new(),
            turn,
            on,
        }
    }

    /// The same behind more statements.
    fn behind(&self, stmts: &[Stmt]) -> Self {
        let mut assigned = self.assigned.clone();
        let mut note = |stmt: &Stmt| assigned.extend(stmt.written_var());
        for stmt in stmts {
            stmt.for_each(&mut note);
        }
        Self {
            assigned,
            ..self.clone()
        }
    }

    /// What is left to ask.
    fn open(&self) -> Expr {
        let mut asked = Vec::new();
        parts(self.condition, &mut asked);
        let changes = |part: &&Expr| {
            part.any(&mut |part| match part {
                Expr::Var(var) => self.assigned.contains(var),
                Expr::Load { .. } | Expr::Call(..) => true,
                _ => false,
            })
        };
        let open = asked.into_iter().filter(changes).cloned();
        // A turn that changes nothing goes on for ever.
        open.reduce(Expr::and)
            .unwrap_or_else(|| self.condition.clone())
    }
}

impl Emitter<'_, '_> {
    /// The rest of a turn, and what is asked behind it.
    pub(crate) fn turn_of(&mut self, again: &Again<'_>, body: &Block) {
        let before = body.len().saturating_sub(1);
        let Some(Stmt::If {
            condition,
            then,
            otherwise,
        }) = body.last()
        else {
            self.block(body);
            return self.branch(&again.behind(body).open(), again.turn, again.on);
        };
        self.block(&body[..before].to_vec());
        let again = again.behind(&body[..before]);
        if let Some(cases) = Cases::of(self.function, &body[before]) {
            return self.cases(&cases, Some(&again));
        }
        let [yes, no] = std::array::from_fn(|_| self.b.create_block());
        self.branch(condition, yes, no);
        for (block, body) in [(yes, then), (no, otherwise)] {
            self.enter(block);
            self.turn_of(&again, body);
        }
    }
}
