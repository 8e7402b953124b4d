//! One kernel made ready twice: from its expression, and from C by hand.

use std::sync::Arc;
use std::time::Duration;

use sparsec::internals::runtime::{Kernel, KernelArgument, OutputTensor};
use sparsec::internals::{Compiled, Inputs, codegen_c};
use sparsec::{Array, Backend, Cancel, Diagnostic, ElementType, Result, Scalar, Session, code};

use crate::by_hand;
use crate::case::Case;
use crate::clock::{self, Clock};
use crate::data::Data;
use crate::generated::Generated;
use crate::pattern;
use crate::peers::{self, PeerTime, Peers};
use crate::report::Row;
use crate::variants::{Bar, Measured, Threads, Variant};

/// The name of the launch entry in every C file written by hand.
const ENTRY: &str = "by_hand";

/// How far values may be apart, relative to the larger of 1 and the values:
/// sums of the same terms in another order.
const TOLERANCE: f64 = 1e-9;

/// Kernels that take less than this in all rounds run more rounds, up to
/// [`MORE`] times as many.
const ENOUGH: Duration = Duration::from_millis(400);
const MORE: usize = 20;

/// A kernel and its counterpart, with operands.
#[derive(Debug)]
pub struct Pair {
    case: &'static Case,
    name: String,
    session: Session,
    schedule: String,
    inputs: Inputs,
    ours: Arc<Kernel>,
    by_hand: Kernel,
    generated: Generated,
    /// Written by both: two results would differ in where they lie in memory,
    /// which makes more of a difference than loops do.
    output: OutputTensor,
}

impl Pair {
    /// Generates operands, compiles both kernels with the session's compiler and
    /// flags, and allocates the result. Plans for as many threads as there are here.
    ///
    /// # Errors
    /// Those of compiling, or of memory that there is not.
    ///
    /// # Panics
    /// If planning converts an operand, or an index array is not 32 bits wide, so
    /// that the C by hand would be handed arrays that it is not written for.
    pub fn new(session: &Session, case: &'static Case, data: &Data<'_>) -> Result<Self> {
        let inputs = case.inputs(data)?;
        let compiled = sparsec::internals::compile(&case.request()?, &inputs)?;
        let statement = &compiled.statements()[0];
        assert!(
            statement.plan.conversions.is_empty(),
            "`{}` converts its operands",
            case.name
        );
        let function = &statement.function;
        let widths = function.buffers.iter().map(|(_, buffer)| buffer.storage);
        assert!(
            widths
                .into_iter()
                .all(|storage| storage != ElementType::I64),
            "`{}` has wide index arrays",
            case.name
        );
        let by_hand = by_hand::compile(session, function, &text(case), ENTRY)?;
        let ours = session.kernel(function)?;
        let output = result(&compiled, &ours)?;
        Ok(Self {
            generated: Generated::new(session, &text(case), &ours, &output)?,
            case,
            name: data.name_of(case),
            session: session.clone(),
            schedule: statement.plan.schedule.to_string(),
            output,
            ours,
            by_hand,
            inputs,
        })
    }

    /// Compares the results, then times both in turns for at least this many
    /// rounds, and ours in turns with each of `peers`, with machine code made in
    /// memory, and with itself on several `threads`.
    ///
    /// # Errors
    /// `E0515` if results differ; those of launching, and of peers.
    pub fn measure(
        mut self,
        rounds: usize,
        peers: Option<&mut Peers>,
        threads: Option<&Threads>,
    ) -> Result<Row> {
        self.compare()?;
        let peers = peers.map_or(Ok(Vec::new()), |peers| self.beside(rounds, peers))?;
        let mut turns = Turns::new(rounds);
        while turns.goes_on() {
            let kernels = [&*self.ours, &self.by_hand];
            turns.both(|which| {
                launch(kernels[which], &self.inputs, &mut self.output, clock::time)
            })?;
        }
        let (ours, by_hand) = turns.times();
        let read = pattern::time(
            &self.session,
            self.case,
            &self.ours,
            &self.inputs,
            &mut self.output,
        )?;
        let time = median(ours.clone(), Duration::cmp);
        let of_read = read.as_secs_f64() / time.as_secs_f64();
        let variants = self.variants(rounds, threads, of_read)?;
        let round = ours.len();
        let ratios = ours
            .iter()
            .zip(&by_hand)
            .map(|(ours, by_hand)| by_hand.as_secs_f64() / ours.as_secs_f64())
            .collect();
        Ok(Row {
            name: self.name.clone(),
            expression: self.case.expression,
            ours: time,
            by_hand: median(by_hand, Duration::cmp),
            ratio: median(ratios, f64::total_cmp),
            bar: self.case.bar,
            rounds: round,
            bytes: self.bytes(),
            read,
            peers,
            variants,
        })
    }

    /// Ours once more in memory, and on several threads, where C is measured, and beside C
    /// as TACO generates it; `of_read` is its share of the speed of reading.
    fn variants(
        &mut self,
        rounds: usize,
        threads: Option<&Threads>,
        of_read: f64,
    ) -> Result<Vec<Variant>> {
        let name = self.name.clone();
        let many = match threads {
            Some(threads) => {
                let request = self.case.request()?;
                let compiled = threads
                    .many
                    .run(|| sparsec::internals::compile(&request, &self.inputs))?;
                Some((
                    threads,
                    self.session.kernel(&compiled.statements()[0].function)?,
                ))
            }
            None => None,
        };
        let mut measured = Measured {
            name: &name,
            ours: &self.ours,
            inputs: &self.inputs,
            output: &mut self.output,
            rounds,
        };
        let plain = Bar::of_case(self.case, of_read);
        let mut variants = vec![measured.beside(&self.generated, plain)?];
        if self.session.backend() == Backend::C {
            variants.push(measured.in_memory(self.case.is_dense)?);
        }
        if let Some((threads, many)) = many {
            variants.push(measured.on(threads, &many)?);
        }
        Ok(variants)
    }

    /// Ours in turns with each library that has the kernel, once results agree.
    fn beside(&mut self, rounds: usize, peers: &mut Peers) -> Result<Vec<PeerTime>> {
        if !peers.load(&self.inputs)? {
            return Ok(Vec::new());
        }
        launch(&self.ours, &self.inputs, &mut self.output, clock::time)?;
        let result = self.output.clone().finish()?;
        let name = self.name.clone();
        peers.each(self.case.name, |library, saved, run| {
            peers::compare(&name, library, saved, &result)?;
            let (mut times, mut ratios) = (Vec::new(), Vec::new());
            for round in 0..rounds.max(1) {
                let mut ours = || launch(&self.ours, &self.inputs, &mut self.output, clock::time);
                let (ours, theirs) = match round % 2 {
                    0 => (ours()?, run()?),
                    _ => {
                        let theirs = run()?;
                        (ours()?, theirs)
                    }
                };
                times.push(theirs);
                ratios.push(theirs.as_secs_f64() / ours.as_secs_f64());
            }
            Ok(PeerTime {
                name: library,
                time: median(times, Duration::cmp),
                ratio: median(ratios, f64::total_cmp),
            })
        })
    }

    /// Bytes that have to move at least: every operand read and the result
    /// written once.
    fn bytes(&self) -> usize {
        let operands: usize = self.inputs.values().map(|tensor| tensor.bytes()).sum();
        let result: usize = self.output.arrays().iter().map(Array::bytes).sum();
        operands + result
    }

    /// Runs both once and compares what they wrote.
    fn compare(&mut self) -> Result<()> {
        launch(&self.ours, &self.inputs, &mut self.output, clock::time)?;
        let ours = self.output.arrays().to_vec();
        // What one of them leaves out must not be found as the other wrote it.
        spoil(&mut self.output);
        launch(&self.by_hand, &self.inputs, &mut self.output, clock::time)?;
        let pairs = ours.iter().zip(self.output.arrays());
        for (number, (ours, by_hand)) in pairs.enumerate() {
            if let Some(difference) = difference(ours, by_hand) {
                let names = self.output.format().arrays();
                return Err(Diagnostic::new(
                    code::WRONG_RESULT,
                    format!("`{}` is not what the C written by hand computes", self.name),
                )
                .note(format!(
                    "{:?} of the result: {difference}",
                    names[number].role
                ))
                .note(format!("schedule: {}", self.schedule))
                .help("this is a fault of sparsec; please report it"));
            }
        }
        Ok(())
    }
}

/// Two kernels timed in turns.
pub(crate) struct Turns {
    rounds: usize,
    spent: Duration,
    times: [Vec<Duration>; 2],
}

impl Turns {
    /// For at least this many rounds.
    pub(crate) fn new(rounds: usize) -> Self {
        Self {
            rounds: rounds.max(1),
            spent: Duration::ZERO,
            times: Default::default(),
        }
    }

    /// Whether there is another round.
    pub(crate) fn goes_on(&self) -> bool {
        let round = self.times[0].len();
        round < self.rounds || (self.spent < ENOUGH && round < self.rounds * MORE)
    }

    /// One round: runs 0 and 1.
    pub(crate) fn both(&mut self, mut run: impl FnMut(usize) -> Result<Duration>) -> Result<()> {
        // Who is second finds the caches as the other left them.
        let first = self.times[0].len() % 2;
        for which in [first, 1 - first] {
            let time = run(which)?;
            self.spent += time;
            self.times[which].push(time);
        }
        Ok(())
    }

    /// The times of 0 and of 1.
    pub(crate) fn times(self) -> (Vec<Duration>, Vec<Duration>) {
        let [first, second] = self.times;
        (first, second)
    }
}

/// Runs a kernel; how long it took, by this clock.
pub(crate) fn launch(
    kernel: &Kernel,
    inputs: &Inputs,
    output: &mut OutputTensor,
    clock: Clock<Result<()>>,
) -> Result<Duration> {
    launch_until(kernel, inputs, output, clock, &Cancel::default())
}

/// The same, which ends soon after `cancel` is set.
pub(crate) fn launch_until(
    kernel: &Kernel,
    inputs: &Inputs,
    output: &mut OutputTensor,
    clock: Clock<Result<()>>,
    cancel: &Cancel,
) -> Result<Duration> {
    launch_all(kernel, inputs, [output], clock, cancel)
}

/// The same of a kernel with several results, in the order in which it takes them.
pub(crate) fn launch_all<'a>(
    kernel: &Kernel,
    inputs: &'a Inputs,
    outputs: impl IntoIterator<Item = &'a mut OutputTensor>,
    clock: Clock<Result<()>>,
    cancel: &Cancel,
) -> Result<Duration> {
    let mut arguments = arguments(kernel, inputs, outputs);
    let (taken, ended) = clock(&mut || by_hand::launch_until(kernel, &mut arguments, cancel));
    ended.map(|()| taken)
}

/// The operands and the results in the order in which a kernel takes them.
pub(crate) fn arguments<'a>(
    kernel: &Kernel,
    inputs: &'a Inputs,
    outputs: impl IntoIterator<Item = &'a mut OutputTensor>,
) -> Vec<KernelArgument<'a>> {
    let mut outputs = outputs.into_iter();
    let arguments = kernel.function().arguments.iter();
    let arguments = arguments.map(|argument| match inputs.get(&argument.name) {
        Some(input) => KernelArgument::In(input),
        None => KernelArgument::Out(outputs.next().expect("each result is there")),
    });
    arguments.collect()
}

/// The C by hand with the declarations that emitted kernels have.
fn text(case: &Case) -> String {
    let prelude = codegen_c::emit_file(&[], &codegen_c::Options::default());
    let room = include_str!("../kernels/room.c");
    format!("{prelude}\n{room}\n{}", case.by_hand)
}

/// A result for `kernel` to write.
pub(crate) fn result(compiled: &Compiled, kernel: &Kernel) -> Result<OutputTensor> {
    result_of(compiled, 0, kernel)
}

/// A result for the kernel of statement `number` to write.
pub(crate) fn result_of(
    compiled: &Compiled,
    number: usize,
    kernel: &Kernel,
) -> Result<OutputTensor> {
    let name = compiled.results()[number];
    let function = kernel.function();
    let program = compiled.program();
    let vars = &program.statements[number].lhs.vars();
    OutputTensor::new(
        function,
        function
            .arguments
            .iter()
            .find(|argument| argument.name == name)
            .expect("a kernel takes its result"),
        compiled
            .format(name)
            .expect("every result has a format")
            .clone(),
        vars.iter()
            .map(|&var| program.vars[var].extent.expect("operands have extents"))
            .collect(),
        Scalar::F64(0.0),
    )
}

/// Overwrites every entry with something that no kernel writes.
fn spoil(output: &mut OutputTensor) {
    for number in 0..output.arrays().len() {
        if let Some(values) = output.entries_mut::<f64>(number) {
            values.fill(f64::NAN);
        }
        if let Some(indices) = output.entries_mut::<i32>(number) {
            indices.fill(-1);
        }
    }
}

/// The first place in which two arrays differ, in words.
pub(crate) fn difference(ours: &Array, by_hand: &Array) -> Option<String> {
    if ours.len() != by_hand.len() {
        return Some(format!("{} and {} entries", ours.len(), by_hand.len()));
    }
    let at = match (ours.as_slice::<f64>(), by_hand.as_slice::<f64>()) {
        (Some(ours), Some(by_hand)) => ours.iter().zip(by_hand).position(|(a, b)| {
            let scale = a.abs().max(b.abs()).max(1.0);
            // So that a NaN, which is not near anything, counts as different.
            let is_near = (a - b).abs() <= TOLERANCE * scale;
            !is_near
        })?,
        _ if ours == by_hand => return None,
        _ => (0..ours.len()).find(|&at| ours.get(at) != by_hand.get(at))?,
    };
    Some(format!("{} and {} at {at}", ours.get(at), by_hand.get(at)))
}

/// The one in the middle; of an even number, the later of the two.
pub(crate) fn median<T: Copy>(mut list: Vec<T>, order: impl Fn(&T, &T) -> std::cmp::Ordering) -> T {
    list.sort_by(order);
    list[list.len() / 2]
}
