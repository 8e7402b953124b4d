//! The questions of one transformation, all under the same declarations.
//!
//! A transformation is right if certain relations are proved to be empty. A proof
//! that gives up leaves it refused; then the refusal says which budget ran out:
//!
//! ```text
//! not empty, or not known to be        refused
//! a budget ran out                     refused, with a note
//! ```

use std::cell::Cell;

use sparsec_base::Diagnostic;
use sparsec_relation::{Answer, Budget, Declarations, Relation};

use crate::computation::Computation;

/// Answers questions about a computation, and notes which budgets run out.
pub(crate) struct Proofs {
    known: Declarations,
    spent: Cell<Option<Budget>>,
}

impl Proofs {
    /// Proofs from what is known in a computation.
    pub(crate) fn of(computation: &Computation) -> Self {
        Self {
            known: computation.known(),
            spent: Cell::new(None),
        }
    }

    /// What is known.
    pub(crate) fn known(&self) -> &Declarations {
        &self.known
    }

    /// Whether a relation is proved to be empty.
    pub(crate) fn is_none(&self, relation: &Relation) -> bool {
        let answer = relation.is_empty(&self.known);
        self.is_so(answer)
    }

    /// Whether an answer is *yes*; notes a budget that ran out.
    pub(crate) fn is_so(&self, answer: Answer) -> bool {
        if let Some(budget) = answer.budget() {
            self.spent.set(self.spent.get().or(Some(budget)));
        }
        answer == Answer::Yes
    }

    /// A refusal for want of a proof, with a note of the budget that ran out.
    pub(crate) fn noted(&self, error: Diagnostic) -> Diagnostic {
        match self.spent.get() {
            Some(budget) => error.note(budget.note()),
            None => error,
        }
    }
}
