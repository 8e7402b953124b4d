//! One network: ours compared with each form by hand, then timed in turns.

use std::time::{Duration, Instant};

use sparsec::internals::parallel::Pool;
use sparsec::internals::runtime::{Kernel, OutputTensor};
use sparsec::internals::{Compiled, Function, Inputs, Outcome, codegen_c, compile};
use sparsec::{Array, Diagnostic, Result, Session, Stage, Tensor, code};

use super::Setting;
use super::cases::{Blocks, Case, Form};
use super::ours::Ours;
use super::row::{Beside, NetworkRow, OnThreads};
use crate::by_hand;
use crate::clock;
use crate::pair::{difference, launch, median, result};
use crate::variants::{Threads, ratio};

/// How long the rounds of one form by hand take in all: long ones have fewer rounds.
const ENOUGH: Duration = Duration::from_secs(2);

impl Case {
    /// Compares and times the network on one thread, then ours on several; before that the
    /// other plans that were priced, if they are to be tried.
    ///
    /// # Errors
    /// `E0515` if results differ; those of compiling and running.
    pub(super) fn measure(&self, setting: &Setting<'_>, tries_plans: bool) -> Result<NetworkRow> {
        // Loops in chunks would run on all processors.
        let compiled = || -> Result<(Compiled, Duration)> {
            let started = Instant::now();
            let compiled = compile(&self.request()?, &self.inputs)?;
            Ok((compiled, started.elapsed()))
        };
        let (ours, planning) = setting.pool.run(compiled)?;
        let mut row = setting.pool.run(|| self.beside(setting, &ours))?;
        row.planning = planning;
        if let Some(blocks) = &self.blocks {
            let session = setting.session;
            row.blocks = Some(
                setting
                    .pool
                    .run(|| self.in_blocks(session, &ours, blocks))?,
            );
        }
        if tries_plans {
            row.plans = setting.pool.run(|| self.tried(setting, &ours))?;
        }
        if let Some(threads) = setting.threads {
            row.threads = self.on_threads(setting, &ours, threads)?;
        }
        Ok(row)
    }

    /// Ours beside each form by hand.
    fn beside(&self, setting: &Setting<'_>, compiled: &Compiled) -> Result<NetworkRow> {
        let session = setting.session;
        // The first run makes the kernel; the second one is watched.
        session.run(compiled, &self.inputs)?;
        let (outcome, peak) = watched(|| session.run(compiled, &self.inputs));
        let outcome = outcome?;
        let expected = &outcome.tensors[self.result()];
        let mut kernels = Ours::new(session, compiled, &self.inputs)?;
        let mut run_ours = || match &mut kernels {
            Some(kernels) => kernels.run(clock::time),
            None => Ok(taken(&session.run(compiled, &self.inputs)?)),
        };
        run_ours()?;
        let mut ours = vec![run_ours()?];
        let mut beside = Vec::new();
        let nest = match &self.forms[..] {
            [] => None,
            _ => Some(compile(&self.nest()?, &self.inputs)?),
        };
        for form in &self.forms {
            let nest = nest.as_ref().expect("there are forms");
            let function = &nest.statements()[0].function;
            let kernel = self.compiled(session, function, *form)?;
            let mut output = result(nest, &kernel)?;
            let run = |output: &mut _| launch(&kernel, &self.inputs, output, clock::time);
            let first = run(&mut output)?;
            self.compare(*form, expected, &output)?;
            let mut times = vec![first];
            for _ in 1..rounds(setting.rounds, first) {
                ours.push(run_ours()?);
                times.push(run(&mut output)?);
            }
            let part = form
                .slice
                .map_or(1.0, |slice| expected.extents()[0] as f64 / slice as f64);
            beside.push((*form, median(times, Duration::cmp).mul_f64(part)));
        }
        if self.is_beside_parts {
            let parts = compile(&self.in_parts()?, &self.inputs)?;
            let ran = session.run(&parts, &self.inputs)?;
            for (result, tensor) in &outcome.tensors {
                let mut arrays = tensor.arrays().iter().zip(ran.tensors[result].arrays());
                if let Some(differs) = arrays.find_map(|(a, b)| difference(a, b)) {
                    let message = format!("`{result}` of `{}`, alone: {differs}", self.name);
                    return Err(wrong(message));
                }
            }
            if let Some(mut parts) = Ours::new(session, &parts, &self.inputs)? {
                let first = parts.run(clock::time)?;
                let mut times = vec![parts.run(clock::time)?];
                for _ in 1..rounds(setting.rounds, first) {
                    ours.push(run_ours()?);
                    times.push(parts.run(clock::time)?);
                }
                let form = Form::new("each alone", "");
                beside.push((form, median(times, Duration::cmp)));
            }
        }
        let ours = median(ours, Duration::cmp);
        let beside = beside.into_iter().map(|(form, time)| Beside {
            name: form.name,
            time,
            ratio: time.as_secs_f64() / ours.as_secs_f64(),
            bar: form.bar,
        });
        Ok(NetworkRow {
            name: self.name.clone(),
            tree: compiled.emit(&Stage::Tree)?,
            schedule: compiled.emit(&Stage::Schedule)?,
            estimated: estimated(compiled),
            ours,
            convert: outcome.timings.convert,
            planning: Duration::ZERO,
            stated: stated(compiled, &self.inputs, expected),
            peak,
            beside: beside.collect(),
            bar: self.bar,
            blocks: None,
            threads: None,
            plans: None,
        })
    }

    /// Computes every block, checks the sum of its entries and drops it. How many there are,
    /// and how long computing all takes.
    fn in_blocks(
        &self,
        session: &Session,
        compiled: &Compiled,
        blocks: &Blocks,
    ) -> Result<(u64, Duration)> {
        let mut spent = Duration::ZERO;
        for block in 0..blocks.number {
            let inputs = (blocks.inputs)(block)?;
            let outcome = session.run(compiled, &inputs)?;
            spent += taken(&outcome);
            let values = outcome.tensors[self.result()].values::<f64>();
            let sum: f64 = values.unwrap_or_default().iter().sum();
            let sums = [(blocks.sum)(&inputs), sum].map(|it| Array::from_vec(vec![it]));
            if let Some(differs) = difference(&sums[0], &sums[1]) {
                let message = format!("the sum of block {block} of `{}`: {differs}", self.name);
                return Err(wrong(message));
            }
        }
        Ok((blocks.number, spent))
    }

    /// Times our kernels on several threads and on one, a round of each in turn.
    /// `None` if a plan converts its result.
    fn on_threads(
        &self,
        setting: &Setting<'_>,
        one: &Compiled,
        threads: &Threads,
    ) -> Result<Option<OnThreads>> {
        let many = threads
            .many
            .run(|| compile(&self.request()?, &self.inputs))?;
        let session = setting.session;
        let ready = |pool: &Pool, compiled: &Compiled| {
            pool.run(|| Ours::new(session, compiled, &self.inputs))
        };
        let (Some(mut one), Some(mut many)) =
            (ready(setting.pool, one)?, ready(&threads.many, &many)?)
        else {
            return Ok(None);
        };
        setting.pool.run(|| one.run(clock::wall))?;
        threads.many.run(|| many.run(clock::wall))?;
        if one.result()?.arrays() != many.result()?.arrays() {
            let message = format!("`{}` differs on {} threads", self.name, threads.number);
            return Err(wrong(message));
        }
        let first = setting.pool.run(|| one.run(clock::wall))?;
        let (mut alone, mut together) = (vec![first], Vec::new());
        for round in 0..rounds(setting.rounds, first) {
            if round > 0 {
                alone.push(setting.pool.run(|| one.run(clock::wall))?);
            }
            together.push(threads.many.run(|| many.run(clock::wall))?);
        }
        let memory = threads.memory();
        Ok(Some(OnThreads {
            number: threads.number,
            gain: ratio(&alone, &together),
            time: median(together, Duration::cmp),
            memory,
            bar: Threads::least_of_copies(median(alone, Duration::cmp), memory),
        }))
    }

    /// Compares a result by hand, or the slice of it that there is, with ours.
    fn compare(&self, form: Form, ours: &Tensor, by_hand: &OutputTensor) -> Result<()> {
        let mut pairs: Vec<(&Array, &Array)> = ours.arrays().iter().zip(by_hand.arrays()).collect();
        let sliced = form.slice.map(|slice| {
            let n = n_below(ours, slice);
            let (ours, by_hand) = pairs.pop().expect("a tensor has values");
            [ours, by_hand].map(|array| {
                let values = array.as_slice::<f64>().unwrap_or_default();
                Array::from_vec(values[..n].to_vec())
            })
        });
        if let Some([ours, by_hand]) = &sliced {
            pairs.push((ours, by_hand));
        }
        for (ours, by_hand) in pairs {
            if let Some(differs) = difference(ours, by_hand) {
                let (name, form) = (&self.name, form.name);
                let message = format!("`{name}` and its form {form} differ: {differs}");
                return Err(wrong(message));
            }
        }
        Ok(())
    }

    fn compiled(&self, session: &Session, function: &Function, form: Form) -> Result<Kernel> {
        let prelude = codegen_c::emit_file(&[], &codegen_c::Options::default());
        let room = include_str!("../../kernels/room.c");
        let slice = form.slice.unwrap_or(i32::MAX as u64);
        let text = format!(
            "{prelude}\n{room}\n#define FORM {}\n#define SLICE {slice}\n{}",
            form.function, self.by_hand
        );
        by_hand::compile(session, function, &text, "by_hand")
    }
}

pub(super) fn wrong(message: String) -> Diagnostic {
    Diagnostic::new(code::WRONG_RESULT, message)
        .help("this is a fault of sparsec: please report it")
}

/// How many of `wanted` rounds there are where one takes so long.
fn rounds(wanted: usize, one: Duration) -> usize {
    let enough = ENOUGH.as_secs_f64() / one.as_secs_f64().max(1e-9);
    wanted.min(enough as usize).max(1)
}

/// How many of the values of a tensor are of outermost coordinates below `slice`.
fn n_below(tensor: &Tensor, slice: u64) -> usize {
    let mut n = 0;
    tensor.for_each_stored(|entry, _| n += usize::from(entry[0] < slice));
    n
}

/// The estimated time of all plans.
fn estimated(compiled: &Compiled) -> Duration {
    let costs = compiled.statements().iter().map(|it| it.plan.cost());
    let nanoseconds: f64 = costs.map(|cost| cost.nanoseconds()).sum();
    Duration::from_secs_f64(nanoseconds.max(0.0) / 1e9)
}

/// The time of computing in a run.
fn taken(outcome: &Outcome) -> Duration {
    outcome.timings.compute.iter().sum()
}

/// Bytes of results, workspaces and copies of operands, with the entries of the sparse ones.
fn stated(compiled: &Compiled, inputs: &Inputs, result: &Tensor) -> u64 {
    let plans = compiled.statements().iter().map(|it| &it.plan);
    let conversions = plans.flat_map(|plan| {
        let copies = plan.conversions.iter().filter(|it| it.view.is_none());
        copies.map(|copy| (&copy.format, &plan.concrete.tensors[copy.from].name))
    });
    // A sparse copy has the entries of its source.
    let sparse = conversions.filter(|(format, _)| format.has_sparse());
    let sources = sparse.filter_map(|(_, name)| inputs.get(name));
    let entries: usize = sources.map(Tensor::bytes).sum();
    let stored = match result.format().has_sparse() {
        true => result.bytes(),
        false => 0,
    };
    u64::try_from(compiled.least_memory()).unwrap_or(u64::MAX) + (entries + stored) as u64
}

/// The result of `work`, and how many bytes the process took at most beyond those before.
/// 0 where the system does not say.
fn watched<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let field = |name: &str| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) << 10
    };
    // The peak is forgotten; where it cannot be, it is an upper bound.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = field("VmRSS:");
    let done = work();
    (done, field("VmHWM:").saturating_sub(before))
}
