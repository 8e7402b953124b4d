//! A program that is planned.

use sparsec_graph::Formats;
use sparsec_index::{Program, TensorVar};

use crate::cost::Cost;
use crate::search::Plan;

/// A program with a plan for each of its statements.
#[derive(Clone, Debug)]
pub struct ProgramPlan {
    /// The program, with statements split where that was needed.
    pub program: Program,
    /// The format of every tensor of the program.
    pub formats: Formats,
    /// The plan of each statement.
    pub plans: Vec<Plan>,
}

impl ProgramPlan {
    /// Says of plans which results they compute on the way; each is read by another.
    pub(super) fn tell_joined(&mut self, inside: &[(TensorVar, TensorVar)]) {
        for &(result, mut reader) in inside {
            while let Some((_, next)) = inside.iter().find(|(joined, _)| *joined == reader) {
                reader = *next;
            }
            let mut statements = self.program.statements.iter().zip(&mut self.plans);
            if let Some((_, plan)) = statements.find(|(it, _)| it.lhs.tensor == reader) {
                let name = self.program.tensors[result].name.clone();
                plan.account.joined.push(name);
            }
        }
    }

    /// What all of it was thought to cost.
    pub(super) fn cost(&self) -> Cost {
        let plans = self.plans.iter();
        plans.fold(Cost::default(), |all, plan| all + plan.cost())
    }
}
