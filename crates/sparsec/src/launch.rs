//! Running the statements of a compiled program, one after the other.
//!
//! A statement reads operands and the results of earlier statements:
//!
//! ```text
//! operands   as they are given, or converted where a kernel reads another format
//! results    one tensor a statement, in order
//! ```
//!
//! and writes one result, or several dense ones ([`together`]). A sparse result is made by one kernel that does all
//! of it, or by two: one assembles positions and coordinates, the other computes
//! values into them ([`Parts`]). The second may run again on operands of the
//! same structure without anything being assembled again.

mod place;
mod settle;
mod structure;
mod together;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sparsec_base::{Diagnostic, Result};
use sparsec_format::Format;
use sparsec_loop::Role;
use sparsec_plan::{Conversion, View};
use sparsec_runtime::{Kernel, KernelArgument, OutputTensor};
use sparsec_tensor::{PackOptions, Tensor, TensorAlias, level_extents};

use self::settle::Settled;
use self::structure::{overwritten, replaced};
use self::together::Beside;
use crate::checked;
use crate::compiled::{Compiled, CompiledStatement};
use crate::conversion::Padding;
use crate::extents::Extents;
use crate::kept::Kept;
use crate::memory;
use crate::parts::Parts;
use crate::ready::Ready;
use crate::session::{Session, Timings};
use crate::widths;

pub(crate) use structure::has_structure_of;

/// A compiled program with the operands of one run.
pub(crate) struct Run<'a> {
    compiled: &'a Compiled,
    extents: &'a Extents,
    ready: &'a Ready<'a>,
    session: &'a Session,
    /// Copies of operands.
    kept: &'a Kept,
    /// Copies of results.
    of_results: Kept,
    /// The result of a statement that the reference evaluator computed.
    settled: Mutex<Option<Settled>>,
    /// The results of later statements that loops have computed, by their numbers.
    ahead: Mutex<BTreeMap<usize, Tensor>>,
}

/// What kernels read in other formats, by name.
type Converted = BTreeMap<String, Copied>;

/// A tensor in another format.
struct Copied {
    /// What it is a copy of, and its format.
    name: String,
    /// Whether it is one of an operand, rather than of a result.
    is_operand: bool,
    tensor: Arc<Tensor>,
}

impl<'a> Run<'a> {
    /// Runs kernels on what is `ready` for them.
    ///
    /// # Errors
    /// `E0508` if there is no longer the memory that it takes.
    pub(crate) fn new(
        compiled: &'a Compiled,
        extents: &'a Extents,
        ready: &'a Ready<'a>,
        session: &'a Session,
        kept: &'a Kept,
    ) -> Result<Self> {
        let memory = session.memory();
        if !memory::is_small(ready.bytes, memory) {
            memory::check(compiled, extents, memory)?;
        }
        Ok(Self {
            compiled,
            extents,
            ready,
            session,
            kept,
            of_results: Kept::default(),
            settled: Mutex::default(),
            ahead: Mutex::default(),
        })
    }

    /// Says which statement an error is about, if it does not say so itself.
    fn placed(&self, number: usize, error: Diagnostic) -> Diagnostic {
        let program = &self.compiled.program;
        let span = program.statements[number].span;
        error.or_at(&program.source, span, "computed here")
    }

    /// Runs statement `number`, given the results of those before it; values
    /// are computed `repeat` times where that is possible without assembling
    /// them again. Without `timings` no clock is read, which takes as long as the
    /// kernel of a few entries.
    pub(crate) fn evaluate(
        &self,
        number: usize,
        parts: &Parts,
        results: &[Tensor],
        repeat: usize,
        timings: Option<&mut Timings>,
    ) -> Result<Tensor> {
        if let Some(settled) = self.settled(number) {
            return Ok(settled);
        }
        if let Some(computed) = self.computed(number) {
            return Ok(computed);
        }
        let result = self.run(number, parts, results, repeat, Watch::of(timings));
        let result = self.settle(number, result, results);
        result.map_err(|error| self.placed(number, error))
    }

    fn run(
        &self,
        number: usize,
        parts: &Parts,
        results: &[Tensor],
        repeat: usize,
        mut watch: Watch<'_>,
    ) -> Result<Tensor> {
        let converted = self.conversions(number, results)?;
        watch.stop(|timings, time| timings.convert += time);

        let mut output = self.output(number, parts.first())?;
        let mut beside = self.beside(number, parts.first())?;
        let compute = match parts {
            Parts::Whole(kernel) => kernel,
            Parts::Apart { assemble, compute } => {
                self.launch(
                    number,
                    assemble,
                    results,
                    &converted,
                    (KernelArgument::Out(&mut output), &mut beside),
                )?;
                output.allocate_values()?;
                compute
            }
        };
        watch.stop(|timings, time| timings.assemble += time);
        let may_repeat = matches!(parts, Parts::Apart { .. }) || output.format().takes_any_order();
        for _ in 0..if may_repeat { repeat.max(1) } else { 1 } {
            self.launch(
                number,
                compute,
                results,
                &converted,
                (KernelArgument::Out(&mut output), &mut beside),
            )?;
            watch.stop(|timings, time| timings.compute.push(time));
        }
        self.keep(number, beside)?;
        let tensor = self.finish(number, output)?;
        watch.stop(|timings, time| timings.assemble += time);
        let Some(format) = self.converts_result(number) else {
            return Ok(tensor);
        };
        let tensor = self.session.repacked(Cow::Owned(tensor), format);
        let tensor = tensor.map_err(|error| {
            let name = self.name_of(number);
            error.note(format!("`{name}` is computed, and then stored as {format}"))
        })?;
        watch.stop(|timings, time| timings.convert += time);
        Ok(tensor)
    }

    /// The result of statement `number` with its structure and values of zero;
    /// with its values too where one kernel does both.
    pub(crate) fn assemble(
        &self,
        number: usize,
        parts: &Parts,
        results: &[Tensor],
    ) -> Result<Tensor> {
        if let Some(settled) = self.settled(number) {
            return Ok(settled);
        }
        let result = self.assembled(number, parts, results);
        result.map_err(|error| self.placed(number, error))
    }

    fn assembled(&self, number: usize, parts: &Parts, results: &[Tensor]) -> Result<Tensor> {
        if self.converts_result(number).is_some() {
            return self.evaluate(number, parts, results, 1, None);
        }
        let mut output = self.output(number, parts.first())?;
        let kernel = match parts {
            Parts::Whole(_) if output.format().is_all_dense() => {
                output.clear()?;
                return self.finish(number, output);
            }
            Parts::Whole(kernel) => kernel,
            Parts::Apart { assemble, .. } => assemble,
        };
        let converted = self.conversions(number, results)?;
        self.launch(
            number,
            kernel,
            results,
            &converted,
            (KernelArgument::Out(&mut output), &mut Beside::new()),
        )?;
        if matches!(parts, Parts::Apart { .. }) {
            output.allocate_values()?;
        }
        self.finish(number, output)
    }

    /// Computes the values of a result that these operands, or others of the
    /// same structure, were assembled for. Returns whether the structure is
    /// still the one assembled, which it always is where kernels come apart.
    pub(crate) fn compute(
        &self,
        number: usize,
        parts: &Parts,
        results: &[Tensor],
        result: &mut Tensor,
    ) -> Result<bool> {
        if let Some(settled) = self.settled(number) {
            return Ok(replaced(result, settled));
        }
        if let Some(computed) = self.computed(number) {
            return Ok(overwritten(result, computed));
        }
        let plan = &self.compiled.statements[number].plan;
        let is_converted = plan.converts_result.is_some() || plan.levels_of_result.is_some();
        let kernel = match parts {
            Parts::Apart { compute, .. } if !is_converted => compute,
            Parts::Whole(kernel) if !is_converted && result.format().is_all_dense() => kernel,
            _ => return self.compute_anew(number, parts, results, result),
        };
        let converted = self.conversions(number, results)?;
        let mut beside = self.beside(number, kernel)?;
        let values = KernelArgument::Values(result, self.session.memory());
        let computed = self.launch(number, kernel, results, &converted, (values, &mut beside));
        let computed = computed.and_then(|()| self.keep(number, beside));
        let settled = self.settle_values(number, computed, result, results);
        match settled.map_err(|error| self.placed(number, error))? {
            Some(settled) => Ok(replaced(result, settled)),
            None => Ok(true),
        }
    }

    /// As [`compute`](Self::compute), for a result that was not assembled.
    pub(crate) fn compute_anew(
        &self,
        number: usize,
        parts: &Parts,
        results: &[Tensor],
        result: &mut Tensor,
    ) -> Result<bool> {
        let again = self.evaluate(number, parts, results, 1, None)?;
        Ok(replaced(result, again))
    }

    /// The tensor that a kernel of statement `number` has made.
    fn finish(&self, number: usize, mut output: OutputTensor) -> Result<Tensor> {
        let plan = &self.compiled.statements[number].plan;
        if let Some(stored) = &plan.levels_of_result {
            let extents = self.compiled.result_extents(number, self.extents)?;
            let format = stored.clone().with_widths(output.format().widths());
            output = output.stored_as(format, extents);
        }
        output.finish()
    }

    /// The name that the user has for the result of statement `number`.
    fn name_of(&self, number: usize) -> &str {
        let program = &self.compiled.program;
        program.tensors[program.statements[number].lhs.tensor].source_name()
    }

    /// What the result of statement `number` is converted to, where its kernel
    /// cannot assemble it.
    fn converts_result(&self, number: usize) -> Option<&Format> {
        let plan = &self.compiled.statements[number].plan;
        plan.converts_result.as_ref()
    }

    /// The arrays that a kernel of statement `number` writes.
    fn output(&self, number: usize, kernel: &Kernel) -> Result<OutputTensor> {
        let plan = &self.compiled.statements[number].plan;
        let data = &plan.concrete.tensors[plan.concrete.result];
        let format = Arc::clone(plan.formats.shared(plan.concrete.result));
        let mut extents = self.compiled.result_extents(number, self.extents)?;
        if let Some(stored) = &plan.levels_of_result {
            extents = level_extents(stored, &extents, &[]);
        }
        let name = self.name_of(number);
        widths::check_coordinates(name, &format, &extents)?;
        let function = kernel.function();
        let result = self.result_of(number, function);
        OutputTensor::within(
            self.session.memory(),
            function,
            result,
            format,
            extents,
            data.fill,
        )
    }

    /// The argument `name`, where it is an alias of another tensor.
    fn alias<'t>(
        &'t self,
        number: usize,
        name: &str,
        results: &'t [Tensor],
        converted: &'t Converted,
    ) -> Option<KernelArgument<'t>> {
        let plan = &self.compiled.statements[number].plan;
        let tensors = &plan.concrete.tensors;
        // The aliases of aliases, from the tensor that has the arrays. Only the first
        // may be a piece: pieces are single parts.
        let mut aliases: Vec<&Conversion> = Vec::new();
        let mut of = name;
        while let Some(view) = plan.conversions.iter().find(|it| tensors[it.to].name == of)
            && view.view.is_some()
        {
            aliases.insert(0, view);
            of = &tensors[view.from].name;
        }
        let first = aliases.first()?;
        let tensor = self.read(of, results, converted);
        let mut alias = match first.view {
            Some(View::Part(number)) => TensorAlias::piece(tensor, number),
            _ => TensorAlias::of(tensor).levels(),
        };
        for _ in aliases.iter().skip(1) {
            alias = alias.levels();
        }
        Some(KernelArgument::Alias(Box::new(alias)))
    }

    fn launch(
        &self,
        number: usize,
        kernel: &Kernel,
        results: &[Tensor],
        converted: &Converted,
        (result, beside): (KernelArgument<'_>, &mut Beside),
    ) -> Result<()> {
        let (program, plan) = (
            &self.compiled.program,
            &self.compiled.statements[number].plan,
        );
        let own = &plan.concrete.tensors[plan.concrete.result].name;
        let others = beside.iter_mut().map(|(other, output)| {
            let tensor = program.statements[*other].lhs.tensor;
            let name = program.tensors[tensor].name.as_str();
            (name, KernelArgument::Out(output))
        });
        let mut written: BTreeMap<&str, KernelArgument<'_>> = others.collect();
        written.insert(own, result);
        let mut arguments = Vec::new();
        for argument in &kernel.function().arguments {
            let name = argument.name.as_str();
            let alias = self.alias(number, name, results, converted);
            arguments.push(match (alias, argument.role) {
                (Some(alias), _) => alias,
                (None, Role::Out) => written.remove(name).expect("each result is written"),
                (None, Role::In) => KernelArgument::In(self.read(name, results, converted)),
            });
        }
        let signature = &self.compiled.statements[number].signature;
        let cancel = self.session.cancel();
        checked::launch(kernel, signature, self.extents, &mut arguments, cancel)
    }

    /// The tensor that the loops of a statement read as `name`.
    fn read<'t>(
        &'t self,
        name: &str,
        results: &'t [Tensor],
        converted: &'t Converted,
    ) -> &'t Tensor {
        let copy = converted.get(name).map(|copy| &*copy.tensor);
        copy.or_else(|| self.find(name, results))
            .expect("every operand was looked up")
    }

    /// The tensor `name` as it is after the statements that have these results.
    fn find<'t>(&'t self, name: &str, results: &'t [Tensor]) -> Option<&'t Tensor> {
        let computed = self.compiled.computed_by(name);
        let computed = computed.and_then(|number| results.get(number));
        computed.or_else(|| self.ready.operands.get(name).map(AsRef::as_ref))
    }

    /// The operands that statement `number` reads in another format, converted.
    fn conversions(&self, number: usize, results: &[Tensor]) -> Result<Converted> {
        let statement: &CompiledStatement = &self.compiled.statements[number];
        let tensors = &statement.plan.concrete.tensors;
        let mut all = Converted::new();
        let conversions = statement.plan.conversions.iter();
        for conversion in conversions.filter(|it| it.view.is_none()) {
            let name = &tensors[conversion.from].name;
            let (of, is_operand, from) = match all.get(name) {
                Some(copy) => (copy.name.clone(), copy.is_operand, &*copy.tensor),
                None => {
                    let from = self.find(name, results);
                    let is_operand = self.ready.operands.contains_key(name);
                    (
                        name.clone(),
                        is_operand,
                        from.expect("every operand was looked up"),
                    )
                }
            };
            let kept = match is_operand {
                true => self.kept,
                false => &self.of_results,
            };
            let tensor = kept.find(&of, &conversion.format, || {
                self.session
                    .repacked(Cow::Borrowed(from), &conversion.format)
            });
            let tensor = tensor.map_err(|error| {
                let format = &conversion.format;
                let program = &self.compiled.program;
                error
                    .or_at(&program.source, tensors[conversion.from].span, "converted")
                    .note(format!("the computation reads `{of}` as {format}"))
            })?;
            let copy = Copied {
                name: of,
                is_operand,
                tensor,
            };
            all.insert(tensors[conversion.to].name.clone(), copy);
        }
        Ok(all)
    }

    /// How many copies of operands and results there are in other formats.
    pub(crate) fn n_converted(&self) -> usize {
        self.kept.n_made() + self.of_results.n_made()
    }
}

/// Adds the times of the steps of a run, if they are wanted.
struct Watch<'t> {
    timings: Option<(&'t mut Timings, Instant)>,
}

impl<'t> Watch<'t> {
    fn of(timings: Option<&'t mut Timings>) -> Self {
        Self {
            timings: timings.map(|timings| (timings, Instant::now())),
        }
    }

    /// Ends a step, and begins the next.
    fn stop(&mut self, add: impl FnOnce(&mut Timings, Duration)) {
        if let Some((timings, since)) = &mut self.timings {
            let now = Instant::now();
            add(timings, now.duration_since(*since));
            *since = now;
        }
    }
}

impl Session {
    /// A tensor in another format. Stored entries stay stored, zeros and padding too: an implicit
    /// entry annihilates, and a stored zero does not.
    ///
    /// # Errors
    /// As [`convert`](Self::convert).
    pub(crate) fn repacked(&self, from: Cow<'_, Tensor>, format: &Format) -> Result<Tensor> {
        self.convert_by(from, format, Padding::Kept, |from| {
            let options = PackOptions {
                fill: Some(from.fill()),
                memory: self.memory(),
                ..PackOptions::default()
            };
            Tensor::pack_entries(format, from.try_entries()?, options)
        })
    }
}
