//! `sparsec compute`: a computation over relations, at any stage, or run on files.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sparsec::compute::{ComputeStage, Transformations, compute as computed};
use sparsec::{Diagnostic, Result};

use crate::arguments::ComputeArguments;
use crate::call::Call;
use crate::compile::joined;
use crate::screen::Screen;
use crate::text_file::read_source;

mod run;

/// What asks for the automatic pipeline in place of a script.
const AUTO: &str = "auto";

/// Prints the stages that were asked for.
///
/// # Errors
/// Those of the file, the script and the stages' names.
pub(crate) fn compute(
    call: &Call,
    screen: &mut Screen,
    arguments: &ComputeArguments,
) -> Result<u8> {
    let stages = stages(call, arguments)?;
    let place = call.find_last_word(&arguments.file).unwrap_or(call.end());
    let source = read_source(call, &arguments.file, place)?;
    let transformations = transformations(call, arguments.script.as_deref())?;
    let computed = computed(&source, &transformations)?;
    let emit = |(name, stage): &(&'static str, ComputeStage)| Ok((*name, computed.emit(*stage)?));
    let texts: Vec<(&str, String)> = stages.iter().map(emit).collect::<Result<_>>()?;
    let results = match arguments.run {
        true => run::run(call, arguments, &computed.computation)?,
        false => BTreeMap::new(),
    };
    let files = call.pairs("-o", "output", &arguments.outputs)?;
    screen.answer(
        || {
            let mut text = joined(&texts);
            for (name, tensor) in &results {
                if !files.iter().any(|file| file.name == *name) {
                    text.push_str(&run::shown(name, tensor));
                }
            }
            text
        },
        || {
            let stages = texts.iter();
            let stages: Map<String, Value> = stages
                .map(|(name, text)| ((*name).to_owned(), json!(text)))
                .collect();
            let results = results.iter().map(|(name, tensor)| {
                let value = json!({
                    "element": tensor.element().name(),
                    "extents": tensor.extents(),
                });
                (name.clone(), value)
            });
            let results: Map<String, Value> = results.collect();
            json!({ "stages": stages, "results": results })
        },
    )?;
    Ok(0)
}

fn stages(call: &Call, arguments: &ComputeArguments) -> Result<Vec<(&'static str, ComputeStage)>> {
    let find = |(n, name): (usize, &String)| {
        let mut stages = ComputeStage::ALL.iter();
        let known = stages.find(|(_, known, _)| known == name);
        known
            .map(|(stage, name, _)| (*name, *stage))
            .ok_or_else(|| {
                let place = call.value_span("emit", n);
                ComputeStage::unknown(name).at(call.source(), place, "unknown")
            })
    };
    match &arguments.emit[..] {
        [] if arguments.run => Ok(Vec::new()),
        [] => Ok(vec![("computation", ComputeStage::Computation)]),
        names => names.iter().enumerate().map(find).collect(),
    }
}

fn transformations(
    call: &Call,
    script: Option<&str>,
) -> std::result::Result<Transformations, Diagnostic> {
    Ok(match script {
        None => Transformations::Nothing,
        Some(AUTO) => Transformations::Pipeline,
        Some(text) => Transformations::Script(match text.strip_prefix('@') {
            Some(path) => read_source(call, path, call.value_span("script", 0))?,
            None => call.option_text("SCRIPT", text),
        }),
    })
}
