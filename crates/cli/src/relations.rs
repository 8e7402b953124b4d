//! `sparsec relations`: a computation over relations, at any stage, or run on files.

use std::path::Path;

use serde_json::{Map, json};
use sparsec::internals::Notation;
use sparsec::internals::compute::{ComputeStage, Transformations, compute};
use sparsec::internals::walk::{Copied, Operands, Types, copies, walk};
use sparsec::{Diagnostic, Result, Source, Span, code};

use crate::arguments::RelationsArguments;
use crate::call::Call;
use crate::compile::{check_no_picture, joined};
use crate::pairs::Pair;
use crate::problem::element_type;
use crate::run::finish_compiling;
use crate::screen::{Screen, complain_lines};
use crate::spec::{DESCRIPTOR_ENDING, format_spec};
use crate::tensors;
use crate::text_file::read_source;

mod run;

use run::Ran;

/// The order of operands that the expression does not name.
const SHOWN_ORDER: usize = 2;

/// What asks for the automatic pipeline in place of a script.
const AUTO: &str = "auto";

/// Prints the stages that were asked for.
///
/// # Errors
/// Those of the file, the script and the stages' names.
pub(crate) fn relations(
    call: &Call,
    screen: &mut Screen,
    arguments: &RelationsArguments,
) -> Result<u8> {
    let stages = stages(call, arguments)?;
    let made = made(call, arguments)?;
    let transformations = transformations(call, arguments.script.as_deref())?;
    let mut all = Vec::new();
    for text in made.texts() {
        all.push(compute(text, &transformations)?);
    }
    let mut texts: Vec<(&str, String)> = Vec::new();
    for (name, stage) in &stages {
        for computed in &all {
            texts.push((*name, computed.emit(*stage)?));
        }
    }
    if texts.len() > 1 || arguments.run {
        let is_drawn = |(_, stage): &(&str, ComputeStage)| *stage == ComputeStage::Svg;
        check_no_picture(call, screen, stages.iter().position(is_drawn))?;
    }
    let run = match (arguments.run, &made) {
        (false, _) => Default::default(),
        (true, Made::Computation(_)) => run::run(call, screen, arguments, &all[0].computation)?,
        (true, Made::Copies(_, executed)) => run::run_copied(call, screen, arguments, executed)?,
    };
    let Ran {
        session,
        results,
        outputs,
        is_stdout_taken,
    } = &run;
    let text = || {
        let mut text = joined(&texts);
        for (name, tensor) in results {
            if !outputs.iter().any(|file| file.name == *name) {
                text.push_str(&tensors::text(name, tensor));
            }
        }
        text
    };
    let value = || {
        let of = |name: &str| -> Vec<&str> {
            let named = texts.iter().filter(|(other, _)| *other == name);
            named.map(|(_, text)| text.as_str()).collect()
        };
        // Each operand that is copied has a computation.
        let value = |name: &str| match of(name)[..] {
            [only] => json!(only),
            ref several => json!(several),
        };
        let stages = stages.iter();
        let stages = stages.map(|(name, _)| ((*name).to_owned(), value(name)));
        json!({
            "stages": stages.collect::<Map<_, _>>(),
            "results": tensors::results(results.iter(), outputs, true),
            "values_limit": tensors::MOST_VALUES,
        })
    };
    match is_stdout_taken {
        true => complain_lines(&text()),
        false => screen.answer(text, value)?,
    }
    if let Some(session) = session {
        finish_compiling(session, screen);
    }
    Ok(0)
}

/// An expression over operands with descriptors.
struct Executed {
    expression: Source,
    operands: Operands,
    types: Types,
    copies: Vec<Copied>,
}

/// A computation, or an expression over copies of its operands.
enum Made {
    /// The computation of this text.
    Computation(Source),
    /// An expression, from copies of its operands that computations of these texts
    /// make.
    Copies(Vec<Source>, Executed),
}

impl Made {
    fn texts(&self) -> &[Source] {
        match self {
            Self::Computation(text) => std::slice::from_ref(text),
            Self::Copies(texts, _) => texts,
        }
    }
}

/// What the arguments name: the computation of a file, or an expression.
fn made(call: &Call, arguments: &RelationsArguments) -> Result<Made> {
    if arguments.formats.is_empty() {
        let place = call.find_last_word(&arguments.file).unwrap_or(call.end());
        if arguments.file.contains('=') && !Path::new(&arguments.file).exists() {
            return Err(without_formats(call, &arguments.file, place));
        }
        return read_source(call, &arguments.file, place).map(Made::Computation);
    }
    let mut operands = Operands::new();
    let pairs = call.pairs("-f", "format", &arguments.formats)?;
    for pair in &pairs {
        let spec = format_spec(
            call,
            format!("format of {}", pair.name),
            &pair.value,
            pair.value_span,
        );
        let relation = spec.as_ref().ok().map(|spec| {
            let order = spec
                .order()
                .or_else(|| order_of(call, &arguments.file, &pair.name));
            spec.relation(order.unwrap_or(SHOWN_ORDER))
        });
        let relation = relation
            .transpose()
            .map_err(|error| error.or_at(call.source(), pair.value_span, "of another order"))?;
        let Some(format) = relation.flatten() else {
            // What is wrong with a file of a relation is said of the file.
            if pair.value.ends_with(DESCRIPTOR_ENDING) {
                spec?;
            }
            let message = format!("`{}` is no format as a relation", pair.value);
            return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
                .at(call.source(), pair.value_span, "not a descriptor")
                .help("name a file.fmt, or `jds` and the like; `sparsec run` computes with all formats"));
        };
        operands.insert(pair.name.clone(), format.descriptor().clone());
    }
    let expression = call.option_text("expression", arguments.file.as_str());
    let typed = call.pairs("-t", "type", &arguments.types)?;
    let mut types = Types::new();
    for pair in &typed {
        types.insert(pair.name.clone(), element_type(call, pair)?);
    }
    let place = |error: Diagnostic| {
        let is_named = |pair: &&Pair| error.message().contains(&format!("`{}`", pair.name));
        match pairs.iter().chain(&typed).find(is_named) {
            Some(pair) if error.labels().is_empty() => {
                error.at(call.source(), pair.name_span, "not in the expression")
            }
            _ => error,
        }
    };
    match walk(&expression, &operands, &types) {
        // A script is about the computation of the expression.
        Err(error) if error.code() == code::NO_WALK && arguments.script.is_none() => {
            let copies = copies(&expression, &operands, &types).map_err(place)?;
            let text = |copied: &Copied| Source::new("computation", copied.computation.to_string());
            let executed = Executed {
                expression,
                operands,
                types,
                copies,
            };
            let texts = executed.copies.iter().map(text).collect();
            Ok(Made::Copies(texts, executed))
        }
        made => {
            let text = made.map_err(place)?.to_string();
            Ok(Made::Computation(Source::new("computation", text)))
        }
    }
}

/// The order of an operand in an expression.
fn order_of(call: &Call, expression: &str, operand: &str) -> Option<usize> {
    let notation = Notation::parse(&call.option_text("expression", expression)).ok()?;
    let names = notation.tensor_names();
    let mut names = names.iter();
    names.find(|it| it.name == operand).map(|it| it.order)
}

/// The diagnostic for an expression none of whose operands has a format.
fn without_formats(call: &Call, expression: &str, place: Span) -> Diagnostic {
    let source = call.option_text("expression", expression);
    let names = match Notation::parse(&source) {
        Ok(notation) => notation.tensor_names(),
        Err(error) => return error,
    };
    let message = "an expression needs a format as a relation for at least one operand";
    let error = Diagnostic::new(code::BAD_CALL, message).at(
        call.source(),
        place,
        "an expression without `-f NAME=FILE.fmt`",
    );
    // The largest: nobody needs a relation for a vector.
    let operands = names.iter().filter(|name| name.is_input);
    match operands.max_by_key(|name| name.order) {
        Some(operand) => {
            let (name, order) = (&operand.name, operand.order);
            error.help(format!(
                "write a format with `sparsec formats dense --order {order} --emit relation > dense.fmt`, \
                 and give it as `-f {name}=dense.fmt`; `sparsec run` computes with formats of levels"
            ))
        }
        None => error.help("`sparsec run` computes expressions without operands"),
    }
}

fn stages(
    call: &Call,
    arguments: &RelationsArguments,
) -> Result<Vec<(&'static str, ComputeStage)>> {
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
            None => call.option_text("script", text),
        }),
    })
}
