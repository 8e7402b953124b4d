//! Ours made ready to be launched as forms by hand are: on copies of operands that are made
//! once, and with results that are written again in every round.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use sparsec::internals::runtime::{Kernel, OutputTensor};
use sparsec::internals::{Compiled, Inputs};
use sparsec::{Cancel, Diagnostic, Result, Session, Tensor, code};

use crate::clock::{self, Clock};
use crate::pair::{launch_all, result_of};

/// The kernels of a program with their operands and results.
pub(super) struct Ours {
    steps: Vec<Step>,
}

/// One kernel.
struct Step {
    kernel: Arc<Kernel>,
    inputs: Inputs,
    /// The numbers of the statements that it computes, as the kernel takes their results.
    numbers: Vec<usize>,
    outputs: Vec<OutputTensor>,
}

impl Ours {
    /// Makes the kernels ready; all but the last have run then. `None` if a result is stored
    /// in another format than its kernel writes.
    ///
    /// # Errors
    /// Those of compiling, converting and running.
    pub(super) fn new(
        session: &Session,
        compiled: &Compiled,
        inputs: &Inputs,
    ) -> Result<Option<Self>> {
        let mut known = inputs.clone();
        let mut steps = Vec::new();
        let n_statements = compiled.statements().len();
        for number in compiled.kernels() {
            let statement = &compiled.statements()[number];
            let plan = &statement.plan;
            let is_seen_otherwise = plan.conversions.iter().any(|it| it.view.is_some());
            if is_seen_otherwise
                || plan.converts_result.is_some()
                || plan.levels_of_result.is_some()
            {
                return Ok(None);
            }
            let tensors = &plan.concrete.tensors;
            for copy in &plan.conversions {
                let from = &known[&tensors[copy.from].name];
                let converted = session.convert(from, &copy.format)?;
                known.insert(tensors[copy.to].name.clone(), converted);
            }
            let kernel = session.kernel(&statement.function)?;
            let mut numbers = compiled.computed_by_loops(number);
            let names = compiled.results();
            let place = |number: &usize| {
                let mut arguments = kernel.function().arguments.iter();
                arguments.position(|argument| argument.name == names[*number])
            };
            numbers.sort_by_key(place);
            let outputs = numbers.iter();
            let outputs = outputs.map(|number| result_of(compiled, *number, &kernel));
            let mut step = Step {
                outputs: outputs.collect::<Result<_>>()?,
                kernel,
                inputs: known.clone(),
                numbers,
            };
            if !step.numbers.contains(&(n_statements - 1)) {
                step.run(clock::time, &Cancel::default())?;
            }
            for (number, output) in std::iter::zip(&step.numbers, &step.outputs) {
                if number + 1 < n_statements {
                    known.insert(names[*number].to_owned(), output.clone().finish()?);
                }
            }
            steps.push(step);
        }
        Ok(Some(Self { steps }))
    }

    /// Runs all statements; how long they took in all, by this clock.
    pub(super) fn run(&mut self, clock: Clock<Result<()>>) -> Result<Duration> {
        let cancel = Cancel::default();
        let steps = self.steps.iter_mut();
        steps.map(|step| step.run(clock, &cancel)).sum()
    }

    /// Runs all statements, and stops after `limit`: `None` if they took longer.
    pub(super) fn run_within(&mut self, limit: Duration) -> Result<Option<Duration>> {
        let cancel = Cancel::default();
        let (done, ended) = mpsc::channel::<()>();
        let taken = std::thread::scope(|scope| {
            let cancel = &cancel;
            scope.spawn(move || {
                if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    cancel.set();
                }
            });
            let steps = self.steps.iter_mut();
            let taken = steps.map(|step| step.run(clock::time, cancel)).sum();
            drop(done);
            taken
        });
        match taken {
            Err(error) if Diagnostic::code(&error) == code::CANCELLED => Ok(None),
            taken => taken.map(Some),
        }
    }

    /// The result of the last statement.
    pub(super) fn result(&self) -> Result<Tensor> {
        let steps = self.steps.iter();
        let outputs = steps.flat_map(|step| std::iter::zip(&step.numbers, &step.outputs));
        let last = outputs.max_by_key(|(number, _)| **number);
        let (_, output) = last.expect("a program has a statement");
        output.clone().finish()
    }
}

impl Step {
    fn run(&mut self, clock: Clock<Result<()>>, cancel: &Cancel) -> Result<Duration> {
        launch_all(&self.kernel, &self.inputs, &mut self.outputs, clock, cancel)
    }
}
