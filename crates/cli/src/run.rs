//! `sparsec run`: compute an expression on real tensors.
//!
//! ```text
//! options ─► operands ─► plan ─► kernels ─► results ─► check ─► files
//! ```
//!
//! Nothing is half-written: every file is complete beside its name before the
//! first one takes its name.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use serde_json::{Value, json};
use sparsec::MemoryLimit;
use sparsec::internals::{Compiled, Intermediate, Outcome, Repeats, parallel};
use sparsec::{Backend, Diagnostic, Options, RelationTensor, Result, Session, code};

use crate::arguments::{OperandArguments, ResultArguments, RunArguments};
use crate::call::{Call, MOST_ROUNDS, MOST_THREADS};
use crate::compile::pass_times;
use crate::files;
use crate::notes::Costs;
use crate::operands::{Loaded, Operands};
use crate::pairs::Pair;
use crate::problem::{Problem, suggest};
use crate::progress::Progress;
use crate::room::Room;
use crate::screen::{Screen, complain, complain_lines};
use crate::tensors;

mod explain;
pub(crate) mod timing;

use timing::Clock;

/// As long as a run that has answered goes on compiling for later ones.
const PATIENCE: Duration = Duration::from_secs(5);

/// The names of backends.
const BACKENDS: [(&str, Backend); 4] = [
    ("auto", Backend::Auto),
    ("c", Backend::C),
    ("cranelift", Backend::Cranelift),
    ("interp", Backend::Interpreter),
];

/// Computes, writes and prints.
///
/// # Errors
/// The first thing that is wrong with the call, the expression or the data.
pub(crate) fn run(call: &Call, screen: &mut Screen, arguments: &RunArguments) -> Result<u8> {
    let repeats = repeats(call, arguments)?;
    let backend = backend(call, &arguments.results.backend)?;
    let memory = prepare(call, screen, &arguments.operands)?;
    let mut problem = Problem::new(call, &arguments.problem)?;
    problem.request.runs = u32::try_from(repeats.times).unwrap_or(u32::MAX);
    problem.limit(memory);
    let operands = Operands::new(call, &problem, &arguments.operands)?;
    operands.check_complete(&problem)?;
    let wanted = &arguments.results;
    let outputs = outputs(call, &problem, &wanted.outputs)?;
    problem.read(outputs.iter().map(|pair| pair.name.clone()));
    if wanted.print {
        problem.read_all();
    }
    files::check_distinct(call, operands.files(), &outputs)?;
    let is_stdout_taken = files::takes_stdout(call, screen, &outputs)?;

    let n_steps = operands.len() + outputs.len() + 3;
    let progress = Progress::new(n_steps, screen.is_json());
    let mut clock = Clock::default();
    let mut room = Room::new(memory);
    let Loaded { inputs, stored } = clock
        .read
        .time(|| operands.load(call, &mut problem, &progress, &mut room))?;
    progress.step("plan".to_owned());
    let compiled = clock
        .plan
        .time(|| sparsec::internals::compile(&problem.request, &inputs))?;

    progress.step("compute".to_owned());
    let options = Options::from_env().backend(backend);
    let session = Session::new(options.memory(room.left()));
    let run = session.run_stored(&problem.request, &compiled, (&inputs, &stored), repeats)?;
    let (outcome, stored) = (run.outcome, run.stored);
    let explained = match wanted.explain && !run.is_walked {
        true => explain::intermediates(&session, &compiled, &inputs)?,
        false => Vec::new(),
    };
    if wanted.check {
        progress.step("check".to_owned());
        clock
            .check
            .time(|| session.check(&compiled, &inputs, &outcome))?;
    }
    clock.write.time(|| {
        tensors::write(
            call,
            &outputs,
            |name| &outcome.tensors[name],
            &stored,
            &progress,
        )
    })?;
    drop(progress);

    let costs = Costs {
        request: &problem.request,
        inputs: &inputs,
        compiled: &compiled,
        outcome: Some(&outcome),
    };
    let mut notes = run.notes;
    let trouble = session.runtime().trouble();
    notes.extend(trouble.map(|why| format!("kernels are not kept for later runs: {why}")));
    for note in notes.iter().filter(|_| !screen.is_json()) {
        complain(&format!("note: {note}"));
    }
    notes.extend(costs.show(screen));
    let lost = tensors::extents_notes(&outputs, |name| &outcome.tensors[name]);
    for note in lost.iter().filter(|_| !screen.is_json()) {
        complain(&format!("note: {note}"));
    }
    notes.extend(lost);
    let printed = problem.answers();
    let report = Report {
        printed: printed.into_iter().collect(),
        notes: &notes,
        outcome: &outcome,
        stored: &stored,
        is_walked: run.is_walked,
        outputs: &outputs,
        arguments,
        clock: &clock,
        compiled: &compiled,
        intermediates: &explained,
        repeat: repeats.times,
    };
    match is_stdout_taken {
        true => complain_lines(&report.text()),
        false => screen.answer(|| report.text(), || report.value())?,
    }
    finish_compiling(&session, screen);
    Ok(0)
}

/// Lets kernels that answered from memory be compiled for later runs: one that
/// begins with the first of them would never have any.
pub(crate) fn finish_compiling(session: &Session, screen: &Screen) {
    let runtime = session.runtime();
    let settled = runtime.settle(PATIENCE);
    let seconds = PATIENCE.as_secs();
    let why = match runtime.compiler_trouble() {
        // On one line.
        Some(trouble) => [&[trouble.message().to_owned()], trouble.notes()]
            .concat()
            .join("; ")
            .replace('\n', " "),
        None if settled => return,
        None => format!(
            "the C compiler has not ended within {seconds} seconds: try another with SPARSEC_CC, \
             or run without one: `--backend cranelift`"
        ),
    };
    screen.note(&format!(
        "kernels ran as they were made in memory, since {why}"
    ));
}

/// The backend with this name.
///
/// # Errors
/// `E0004` if there is none.
pub(crate) fn backend(call: &Call, wanted: &str) -> Result<Backend> {
    let backend = BACKENDS.iter().find(|(name, _)| *name == wanted);
    let (_, backend) = backend.ok_or_else(|| {
        let names = BACKENDS.map(|(name, _)| name);
        let error = call.bad_value("backend", format!("there is no backend `{wanted}`"));
        suggest(error, wanted, &names)
    })?;
    Ok(*backend)
}

/// How often values are computed.
fn repeats(call: &Call, arguments: &RunArguments) -> Result<Repeats> {
    let wanted = &arguments.results;
    let times = match &wanted.repeat {
        None => None,
        Some(text) => Some(call.count("repeat", text, MOST_ROUNDS)?),
    };
    Ok(Repeats {
        // Timed apart only where somebody looks: it takes two kernels.
        apart: wanted.time || times.is_some(),
        times: times.unwrap_or(1),
    })
}

/// Sets how many threads there are, and says how much memory there is, before operands
/// are read.
pub(crate) fn prepare(
    call: &Call,
    screen: &Screen,
    arguments: &OperandArguments,
) -> Result<MemoryLimit> {
    let limit = memory_limit(call, arguments.memory.as_deref())?;
    if let Some(threads) = threads(call, screen, arguments.threads.as_deref())? {
        parallel::set_threads(threads);
    }
    Ok(limit)
}

/// How much memory `--memory` says.
pub(crate) fn memory_limit(call: &Call, text: Option<&str>) -> Result<MemoryLimit> {
    let Some(text) = text else {
        return Ok(MemoryLimit::Available);
    };
    let bytes = sparsec::internals::runtime::cache::bytes(text).ok_or_else(|| {
        call.bad_value("memory", format!("`--memory` does not take `{text}`"))
            .help("write bytes, or a number with a unit: `500M`, `64G`")
    })?;
    Ok(MemoryLimit::Bytes(bytes))
}

/// How many threads to run: not more than there are processors.
pub(crate) fn threads(call: &Call, screen: &Screen, text: Option<&str>) -> Result<Option<usize>> {
    let asked = text.map(|text| call.count("threads", text, MOST_THREADS));
    let processors = available_parallelism().map_or(MOST_THREADS, NonZero::get);
    Ok(asked.transpose()?.map(|asked| {
        if asked > processors {
            let are = if processors == 1 { "is" } else { "are" };
            screen.note(&format!(
                "{asked} threads are asked for, and there {are} {processors}: more would wait for \
                 each other"
            ));
        }
        asked.min(processors)
    }))
}

/// The files to write, checked as far as that goes before there is anything to
/// write: the tensor is computed, the type of file is known, the folder exists.
fn outputs(call: &Call, problem: &Problem, texts: &[String]) -> Result<Vec<Pair>> {
    let printed = problem.answers();
    let outputs = call.outputs(texts, &printed)?;
    for pair in &outputs {
        let tensor = problem.tensor(call, pair)?;
        if !tensor.written {
            let message = format!(
                "`{}` is given to the expression, not computed by it",
                pair.name
            );
            return Err(Diagnostic::new(code::DOES_NOT_APPLY, message)
                .at(call.source(), pair.name_span, "is not computed")
                .also(&problem.request.expression, tensor.span, "here")
                .help(format!("to read it, say `-i {}=FILE`", pair.name)));
        }
        files::check_output(call, &pair.value, pair.value_span)?;
    }
    Ok(outputs)
}

/// What is printed of a run.
struct Report<'a> {
    notes: &'a [String],
    /// The names of the tensors that answer the program.
    printed: BTreeSet<&'a str>,
    outcome: &'a Outcome,
    /// Results that are stored as relations.
    stored: &'a BTreeMap<String, RelationTensor>,
    /// Whether loops over the tuples of operands ran in place of the plan.
    is_walked: bool,
    outputs: &'a [Pair],
    arguments: &'a RunArguments,
    clock: &'a Clock,
    compiled: &'a Compiled,
    /// Those of each statement, where the plan is explained.
    intermediates: &'a [Vec<Intermediate>],
    repeat: usize,
}

impl Report<'_> {
    fn text(&self) -> String {
        let mut text = String::new();
        for (name, tensor) in &self.outcome.tensors {
            if self.is_printed(name) {
                text.push_str(&tensors::text(name, tensor));
            }
        }
        if self.arguments.results.check {
            text.push_str("the reference evaluator agrees\n");
        }
        match self.arguments.results.explain {
            false => {}
            true if self.is_walked => {
                text.push_str("There is no plan: loops go over the operands as they are stored.\n");
            }
            true => text.push_str(&explain::text(
                self.compiled,
                self.outcome,
                self.intermediates,
            )),
        }
        if self.arguments.results.time {
            text.push_str(&self.clock.text(&self.outcome.timings, self.repeat));
        }
        if self.arguments.problem.time_passes {
            text.push_str(&timing::passes_text(&pass_times(self.compiled)));
        }
        text
    }

    fn value(&self) -> Value {
        let tensors = self.outcome.tensors.iter();
        let mut value = json!({
            "results": tensors::results(tensors, self.outputs, !self.arguments.results.quiet),
            "values_limit": tensors::MOST_VALUES,
            "checked": self.arguments.results.check,
            "notes": self.notes,
        });
        for (name, tensor) in self.stored {
            value["results"][name]["format"] = json!(tensor.format().name());
        }
        if self.arguments.results.explain && !self.is_walked {
            value["explain"] = explain::value(self.compiled, self.outcome, self.intermediates);
        }
        if self.arguments.results.time {
            value["time"] = self.clock.value(&self.outcome.timings, self.repeat);
        }
        if self.arguments.problem.time_passes {
            value["passes"] = timing::passes_value(&pass_times(self.compiled));
        }
        value
    }

    /// Whether a tensor is printed: it has no file, and is no temporary that a later
    /// statement used up.
    fn is_printed(&self, name: &str) -> bool {
        let ResultArguments { print, quiet, .. } = self.arguments.results;
        let has_file = self.outputs.iter().any(|pair| pair.name == name);
        !quiet && (print || !has_file && self.printed.contains(name))
    }
}
