//! `sparsec compile`: what an expression becomes, at any stage.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparsec::{Compiled, Diagnostic, Inputs, PASSES, Result, Stage, code};

use crate::arguments::CompileArguments;
use crate::call::Call;
use crate::problem::{Problem, suggest};
use crate::run::timing::{passes_text, passes_value};
use crate::screen::Screen;

/// Prints the stages that were asked for.
///
/// # Errors
/// The first thing that is wrong with the call or the expression.
pub(crate) fn compile(
    call: &Call,
    screen: &mut Screen,
    arguments: &CompileArguments,
) -> Result<u8> {
    let stages = stages(call, &arguments.emit)?;
    let problem = Problem::new(call, &arguments.problem)?;
    let compiled = sparsec::compile(&problem.request, &Inputs::new())?;
    let mut texts = Vec::new();
    for (n, (name, stage)) in stages.iter().enumerate() {
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
    screen.answer(
        || {
            let mut out = joined(&texts);
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
            let mut value = json!({ "stages": stages });
            if let Some(passes) = &passes {
                value["passes"] = passes_value(passes);
            }
            value
        },
    )?;
    Ok(0)
}

/// The stages that `--emit` names; C if it is not given.
fn stages(call: &Call, names: &[String]) -> Result<Vec<(String, Stage)>> {
    if names.is_empty() {
        return Ok(vec![("c".to_owned(), Stage::C)]);
    }
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

/// One stage as it is; several below headers, as in a filetest.
fn joined(texts: &[(&str, String)]) -> String {
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
