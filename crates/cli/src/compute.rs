//! `sparsec compute`: a computation over relations, at any stage.

use serde_json::{Map, Value, json};
use sparsec::compute::{ComputeStage, Transformations, compute as computed};
use sparsec::{Diagnostic, Result};

use crate::arguments::ComputeArguments;
use crate::call::Call;
use crate::compile::joined;
use crate::screen::Screen;
use crate::text_file::read_source;

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
    let stages = stages(call, &arguments.emit)?;
    let place = call.find_last_word(&arguments.file).unwrap_or(call.end());
    let source = read_source(call, &arguments.file, place)?;
    let transformations = transformations(call, arguments.script.as_deref())?;
    let computed = computed(&source, &transformations)?;
    let emit = |(name, stage): &(&'static str, ComputeStage)| Ok((*name, computed.emit(*stage)?));
    let texts: Vec<(&str, String)> = stages.iter().map(emit).collect::<Result<_>>()?;
    screen.answer(
        || joined(&texts),
        || {
            let stages = texts.iter();
            let stages: Map<String, Value> = stages
                .map(|(name, text)| ((*name).to_owned(), json!(text)))
                .collect();
            json!({ "stages": stages })
        },
    )?;
    Ok(0)
}

fn stages(call: &Call, names: &[String]) -> Result<Vec<(&'static str, ComputeStage)>> {
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
    match names {
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
