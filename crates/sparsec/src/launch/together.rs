//! Results that the loops of one statement compute for later ones.
//!
//! ```text
//! r(i) = A(i,j) * x(j)      runs the kernel of both, and keeps c
//! …
//! c(j) = A(i,j) * y(i)      takes it
//! ```
//!
//! Where the reference evaluator has computed `r`, no kernel ran: `c` runs the same kernel, and
//! drops the other result.

use std::sync::PoisonError;

use sparsec_base::Result;
use sparsec_loop::{Argument, Function, Role};
use sparsec_runtime::{Kernel, OutputTensor};
use sparsec_tensor::Tensor;

use super::Run;

/// Results that a kernel writes beside that of its statement, with the numbers of theirs.
pub(super) type Beside = Vec<(usize, OutputTensor)>;

impl Run<'_> {
    /// The result of statement `number`, if the loops of an earlier one have computed it.
    pub(super) fn computed(&self, number: usize) -> Option<Tensor> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        ahead.remove(&number)
    }

    /// The arrays that a kernel of statement `number` writes for other statements.
    pub(super) fn beside(&self, number: usize, kernel: &Kernel) -> Result<Beside> {
        let concrete = &self.compiled.statements[number].plan.concrete;
        let numbers = concrete.beside.iter().map(|it| self.compiled.numbers[it]);
        let outputs = numbers.map(|other| Ok((other, self.output(other, kernel)?)));
        outputs.collect()
    }

    /// Keeps what loops of statement `number` have computed for later ones.
    pub(super) fn keep(&self, number: usize, beside: Beside) -> Result<()> {
        for (other, output) in beside.into_iter().filter(|(other, _)| *other > number) {
            let tensor = output.finish()?;
            let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
            ahead.insert(other, tensor);
        }
        Ok(())
    }

    /// The argument of a kernel that is the result of statement `number`.
    pub(super) fn result_of<'f>(&self, number: usize, function: &'f Function) -> &'f Argument {
        let concrete = &self.compiled.statements[number].plan.concrete;
        let name = &concrete.tensors[concrete.result].name;
        let mut arguments = function.arguments.iter();
        let found = arguments.find(|it| it.role == Role::Out && it.name == *name);
        found.expect("a kernel computes the result of its statement")
    }
}
