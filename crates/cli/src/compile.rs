//! `sparsec compile` and `sparsec plan`: an expression at any stage of compilation.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparsec::internals::{Compiled, Inputs, KeptC, PASSES, relational};
use sparsec::{Diagnostic, Result, Stage, code};

use crate::arguments::{CompileArguments, OperandArguments};
use crate::call::Call;
use crate::notes::Costs;
use crate::operands::Operands;
use crate::problem::{Problem, suggest};
use crate::progress::Progress;
use crate::room::Room;
use crate::run::timing::{passes_text, passes_value};
use crate::run::{memory_limit, prepare};
use crate::screen::{Screen, complain};

/// Prints the stages that were asked for, or the `usual` ones.
///
/// # Errors
/// The first thing that is wrong with the call or the expression.
pub(crate) fn compile(
    call: &Call,
    screen: &mut Screen,
    arguments: &CompileArguments,
    usual: &[&str],
) -> Result<u8> {
    let stages = stages(call, &arguments.emit, usual)?;
    check_outputs(call, &arguments.results.0.outputs)?;
    if stages.len() > 1 || arguments.problem.time_passes {
        let is_drawn = |(_, stage): &(String, Stage)| matches!(stage, Stage::Drawn(_));
        check_no_picture(call, screen, stages.iter().position(is_drawn))?;
    }
    let mut problem = Problem::new(call, &arguments.problem)?;
    let outputs = arguments.results.0.outputs.iter();
    problem.read(outputs.filter_map(|text| Some(text.split_once('=')?.0.trim().to_owned())));
    if arguments.results.0.print {
        problem.read_all();
    }
    problem.set_counts(call, &arguments.entries)?;
    problem.limit(memory_limit(call, arguments.operands.memory.as_deref())?);
    let inputs = inputs(call, screen, &mut problem, &arguments.operands)?;
    let compiled = sparsec::internals::compile(&problem.request, &inputs)?;
    let kept = kept(call, &compiled, &stages, arguments.name.as_deref())?;
    // A file is to be compiled; on a terminal somebody wants to see the kernel.
    let is_read = std::io::stdout().is_terminal() && !screen.is_json();
    let mut texts = Vec::new();
    for (n, (name, stage)) in stages.iter().enumerate() {
        match (stage, &kept) {
            (Stage::C, Some(kept)) => {
                texts.push((name.as_str(), kept.file.clone()));
                continue;
            }
            (Stage::C, None) if is_read => {
                texts.push((name.as_str(), compiled.c_to_read()));
                continue;
            }
            (Stage::Header, Some(kept)) => {
                texts.push((name.as_str(), kept.header.clone()));
                continue;
            }
            _ => {}
        }
        // A pass that there is not is known only here.
        let text = compiled
            .emit(stage)
            .map_err(|error| match error.labels().is_empty() {
                true => error.at(call.source(), call.value_span("emit", n), "asked for here"),
                false => error,
            })?;
        texts.push((name.as_str(), text));
    }
    let passes = arguments.problem.time_passes.then(|| pass_times(&compiled));
    let costs = Costs {
        request: &problem.request,
        inputs: &inputs,
        compiled: &compiled,
        outcome: None,
    };
    let mut notes = relational::ways(&problem.request, &compiled);
    if stages.iter().any(|(_, stage)| *stage == Stage::Mlir) {
        notes.extend(costs.formats_of_module());
    }
    for note in notes.iter().filter(|_| !screen.is_json()) {
        complain(&format!("note: {note}"));
    }
    notes.extend(costs.show(screen));
    screen.answer(
        || {
            // The file has the declarations too.
            let is_apart = |(name, _): &&(&str, String)| *name != "header";
            let mut out = match texts.iter().any(|(name, _)| *name == "c") {
                true => joined(&texts.iter().filter(is_apart).cloned().collect::<Vec<_>>()),
                false => joined(&texts),
            };
            if let Some(passes) = &passes {
                out.push_str(&format!("\n{}", passes_text(passes)));
            }
            out
        },
        || {
            let stages: serde_json::Map<String, Value> = texts
                .iter()
                .map(|(name, text)| ((*name).to_owned(), json!(text)))
                .collect();
            let mut value = json!({ "stages": stages, "notes": notes });
            if let Some(passes) = &passes {
                value["passes"] = passes_value(passes);
            }
            value
        },
    )?;
    Ok(0)
}

/// Refuses `-o kernel.c`, which asks for a file of C. `compile` takes `-o y=y.tns`, since
/// `run` does, and computes no tensor to write there.
fn check_outputs(call: &Call, outputs: &[String]) -> Result<()> {
    let is_file = |output: &String| output != "-" && !output.contains('=');
    let Some(n) = outputs.iter().position(is_file) else {
        return Ok(());
    };
    let file = &outputs[n];
    let message = format!("`-o` takes NAME=VALUE, not `{file}`");
    let error = Diagnostic::new(code::NOT_A_PAIR, message);
    Err(error
        .at(
            call.source(),
            call.value_span("output", n),
            "of which tensor?",
        )
        .help(format!(
            "`compile` prints to standard output: write `> {file}` in place of `-o {file}`"
        )))
}

/// The operands that are given, as `run` reads them: formats, index widths and plans
/// follow from them. Those that are not are left open.
fn inputs(
    call: &Call,
    screen: &Screen,
    problem: &mut Problem,
    arguments: &OperandArguments,
) -> Result<Inputs> {
    let operands = Operands::new(call, problem, arguments)?;
    let mut room = Room::new(prepare(call, screen, arguments)?);
    let progress = Progress::new(operands.len() + 1, screen.is_json());
    let loaded = operands.load(call, problem, &progress, &mut room)?;
    Ok(loaded.inputs)
}

/// Kernels for C programs, if their declarations are asked for.
fn kept(
    call: &Call,
    compiled: &Compiled,
    stages: &[(String, Stage)],
    name: Option<&str>,
) -> Result<Option<KeptC>> {
    let is_kept = stages.iter().any(|(_, stage)| *stage == Stage::Header);
    match (is_kept, name) {
        (false, None) => Ok(None),
        (false, Some(_)) => {
            let message = "`--name` names kernels for C programs, which are not asked for";
            Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
                .at(call.source(), call.value_span("name", 0), "names nothing")
                .help("add `--emit header`, and `--emit c` for the kernels themselves"))
        }
        (true, _) => {
            compiled
                .keep(name)
                .map(Some)
                .map_err(|error| match (name, error.labels().is_empty()) {
                    (Some(_), true) => {
                        error.at(call.source(), call.value_span("name", 0), "given here")
                    }
                    _ => error,
                })
        }
    }
}

/// The stages that `--emit` names; the `usual` ones if it is not given.
fn stages(call: &Call, names: &[String], usual: &[&str]) -> Result<Vec<(String, Stage)>> {
    let usual: Vec<String> = usual.iter().map(|name| (*name).to_owned()).collect();
    let names = match names.is_empty() {
        true => &usual,
        false => names,
    };
    let known = Stage::NAMES.map(|(name, _)| name);
    let stage = |(n, name): (usize, &String)| {
        let stage = Stage::parse(name).ok_or_else(|| {
            let message = format!("there is no stage `{name}`");
            let error = Diagnostic::new(code::BAD_OPTION_VALUE, message).at(
                call.source(),
                call.value_span("emit", n),
                "unknown",
            );
            suggest(error, name, &known)
        })?;
        Ok((name.clone(), stage))
    };
    names.iter().enumerate().map(stage).collect()
}

/// Refuses a picture, the stage that `--emit` names in this place, where other text is
/// printed with it: what reads a picture takes nothing else.
///
/// # Errors
/// `E0005`; not with `--json`, which has a field for each stage.
pub(crate) fn check_no_picture(call: &Call, screen: &Screen, picture: Option<usize>) -> Result<()> {
    let Some(n) = picture.filter(|_| !screen.is_json()) else {
        return Ok(());
    };
    let place = call.value_span("emit", n);
    let name = call.source().slice(place);
    let message = format!("`{name}` is a picture, and other text is printed with it");
    Err(Diagnostic::new(code::DOES_NOT_APPLY, message)
        .at(call.source(), place, "a file of its own")
        .help(format!(
            "print one picture in a call, `--emit {name} > picture.svg`; `--json` has a field for \
             each stage"
        )))
}

/// One stage as it is; several below headers, as in a filetest.
pub(crate) fn joined(texts: &[(&str, String)]) -> String {
    match texts {
        [(_, only)] => only.clone(),
        _ => {
            let parts = texts
                .iter()
                .map(|(name, text)| format!("---- {name}\n{text}"));
            parts.collect()
        }
    }
}

/// How long each pass takes, over all statements.
pub(crate) fn pass_times(compiled: &Compiled) -> Vec<(&'static str, Duration)> {
    let lowered = compiled
        .statements()
        .iter()
        .map(|statement| statement.lowered.clone());
    let mut functions: Vec<_> = lowered.collect();
    PASSES
        .iter()
        .map(|pass| {
            let started = Instant::now();
            functions
                .iter_mut()
                .for_each(|function| (pass.run)(function));
            (pass.name, started.elapsed())
        })
        .collect()
}
