//! `sparsec convert --from F --to G --emit STAGE`: how a tensor in one format becomes one
//! in another, at any stage.
//!
//! ```text
//! sparsec convert --from csr --to csc --emit cases --emit computation
//! sparsec convert --from coo --to mine.fmt --emit c
//! ```

use serde_json::{Map, json};
use sparsec::conversion::{
    ConversionStage, Piece, Wanted, convert_pieces, described, pieces, tables, wanted,
};
use sparsec::relation::Descriptor;
use sparsec::{Diagnostic, ElementType, FormatSpec, Result, code};

use crate::arguments::ConvertArguments;
use crate::call::Call;
use crate::compile::{check_no_picture, joined};
use crate::describe::DESCRIPTOR_ENDING;
use crate::screen::Screen;
use crate::text_file::read_source;

/// The order of tensors where neither format says it.
const SHOWN_ORDER: usize = 2;

/// A format that a call names.
enum Side {
    Levels(FormatSpec),
    Relation(Descriptor),
}

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
    let from = side(call, "from", arguments.from.as_deref())?;
    let to = side(call, "to", arguments.to.as_deref())?;
    let order = from.order().or(to.order()).unwrap_or(SHOWN_ORDER);
    let element = call.element(arguments.element.as_deref())?;
    let element = element.unwrap_or(ElementType::F64);
    let parts = from.described(call, "from", order)?;
    let destination = to.described(call, "to", order)?;
    let made = match &from {
        Side::Levels(spec) => {
            let format = spec.resolve(order)?;
            let pieces = pieces(&format, &parts, element)?;
            convert_pieces(
                &pieces,
                &destination,
                &to.wanted(wanted(&format, element), order)?,
            )?
        }
        // Nothing is known of the tensors of a user's format.
        Side::Relation(_) => {
            let piece = Piece {
                descriptor: &parts[0],
                image: None,
                negates: false,
            };
            convert_pieces(
                &[piece],
                &destination,
                &to.wanted(Wanted::of(element), order)?,
            )?
        }
    };
    let mut texts: Vec<(&str, String)> = Vec::new();
    for (name, stage) in arguments.emit.iter().zip(stages) {
        texts.push((name, stage.emit(&made)?));
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
fn side(call: &Call, option: &str, text: Option<&str>) -> Result<Side> {
    let Some(text) = text else {
        let message = format!("`--emit` needs the format `--{option}`");
        return Err(Diagnostic::new(code::BAD_CALL, message)
            .at(call.source(), call.end(), "missing")
            .help("name both formats: `--from csr --to csc`"));
    };
    if text.ends_with(DESCRIPTOR_ENDING) {
        let source = read_source(call, text, call.value_span(option, 0))?;
        return Descriptor::parse(&source).map(Side::Relation);
    }
    FormatSpec::parse(&call.option_text("format", text)).map(Side::Levels)
}

impl Side {
    fn order(&self) -> Option<usize> {
        match self {
            Self::Levels(spec) => spec.order(),
            Self::Relation(descriptor) => Some(descriptor.order()),
        }
    }

    /// A conversion to this format.
    fn wanted(&self, wanted: Wanted, order: usize) -> Result<Wanted> {
        Ok(match self {
            Self::Levels(spec) => Wanted {
                tables: tables(&spec.resolve(order)?),
                ..wanted
            },
            Self::Relation(_) => wanted,
        })
    }

    fn described(&self, call: &Call, option: &str, order: usize) -> Result<Vec<Descriptor>> {
        let spec = match self {
            Self::Levels(spec) => spec,
            Self::Relation(descriptor) => return Ok(vec![descriptor.clone()]),
        };
        let format = spec.resolve(order);
        let described = format.and_then(|format| described(&format, option == "to"));
        let place = call.value_span(option, 0);
        described.map_err(|error| error.or_at(call.source(), place, "named here"))
    }
}
