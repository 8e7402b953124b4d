//! `sparsec convert --from F --to G --emit STAGE`: how a tensor in one format becomes one
//! in another, at any stage.
//!
//! ```text
//! sparsec convert --from csr --to csc --emit cases --emit computation
//! sparsec convert --from coo --to mine.fmt --emit c
//! ```
//!
//! To a relation that states its assembly, that computation follows a derived one to a list of entries.

use serde_json::{Map, json};
use sparsec::internals::conversion::{ConversionStage, Optimisation, Stages};
use sparsec::internals::relational;
use sparsec::{Diagnostic, ElementType, FormatSpec, Result, Storage, code};

use crate::arguments::ConvertArguments;
use crate::call::Call;
use crate::compile::{check_no_picture, joined};
use crate::screen::Screen;
use crate::spec::format_spec;

/// The order of tensors where neither format says it.
const SHOWN_ORDER: usize = 2;

/// Prints the stages that were asked for.
///
/// # Errors
/// Those of the formats and of the stages' names; `E0830` where there is no conversion.
pub(crate) fn derivation(
    call: &Call,
    screen: &mut Screen,
    arguments: &ConvertArguments,
) -> Result<u8> {
    let mut stages = Vec::new();
    for (n, name) in arguments.emit.iter().enumerate() {
        let stage = ConversionStage::parse(name);
        let place = call.value_span("emit", n);
        stages.push(stage.map_err(|error| error.at(call.source(), place, "unknown"))?);
    }
    let drawn = ConversionStage::parse("svg")?;
    if stages.len() > 1 {
        check_no_picture(call, screen, stages.iter().position(|it| *it == drawn))?;
    }
    let so_far = arguments.opt.as_deref().map(|name| {
        let step = Optimisation::parse(name);
        step.map_err(|error| error.at(call.source(), call.value_span("opt", 0), "unknown"))
    });
    let so_far = so_far.transpose()?;
    let from = side(call, "from", arguments.from.as_deref())?;
    let to = side(call, "to", arguments.to.as_deref())?;
    let order = from.order().or(to.order()).unwrap_or(SHOWN_ORDER);
    let element = call.element(arguments.element.as_deref())?;
    let element = element.unwrap_or(ElementType::F64);
    let made = conversion(call, [&from, &to], order, element)?;
    let mut texts: Vec<(&str, String)> = Vec::new();
    for (name, stage) in arguments.emit.iter().zip(stages) {
        texts.push((name, stage.emit(&*made, so_far)?));
    }
    screen.answer(
        || joined(&texts),
        || {
            let stages = texts.iter();
            let stages = stages.map(|(name, text)| ((*name).to_owned(), json!(text)));
            json!({ "stages": stages.collect::<Map<_, _>>() })
        },
    )?;
    Ok(0)
}

/// The format that an option names.
fn side(call: &Call, option: &str, text: Option<&str>) -> Result<FormatSpec> {
    let Some(text) = text else {
        let message = format!("`--emit` needs the format `--{option}`");
        return Err(Diagnostic::new(code::BAD_CALL, message)
            .at(call.source(), call.end(), "missing")
            .help("name both formats: `--from csr --to csc`"));
    };
    format_spec(call, "format", text, call.value_span(option, 0))
}

/// The conversion between two formats.
fn conversion(
    call: &Call,
    [from, to]: [&FormatSpec; 2],
    order: usize,
    element: ElementType,
) -> Result<Box<dyn Stages>> {
    let storage = |option: &str, spec: &FormatSpec| {
        let storage = spec.storage(order);
        storage
            .map_err(|error| error.or_at(call.source(), call.value_span(option, 0), "named here"))
    };
    let (source, destination) = (storage("from", from)?, storage("to", to)?);
    let made = relational::conversion(&source, &destination, element);
    made.map_err(|error| match (source, destination) {
        (Storage::Levels(_), Storage::Levels(_)) => {
            error.or_at(call.source(), call.value_span("to", 0), "named here")
        }
        // The two formats that are named do not go together.
        _ if error.code() == code::FILL_MISMATCH => {
            error.or_at(call.source(), call.value_span("to", 0), "named here")
        }
        // The text of a relation may be at fault, and not the command line.
        _ => error,
    })
}
