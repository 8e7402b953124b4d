//! `sparsec formats FORMAT`: one format as a descriptor, and as a drawing of a small
//! tensor stored in it.

use std::path::Path;

use serde_json::{Value, json};
use sparsec::internals::relation::Descriptor;
use sparsec::internals::relational;
use sparsec::{Diagnostic, ElementType, Format, Preset, Result, Tensor, code, io};

use crate::call::Call;
use crate::problem::suggest;
use crate::screen::Screen;
use crate::spec::{DESCRIPTOR_ENDING, format_spec};

/// The order of tensors where neither the format nor the call says it.
const SHOWN_ORDER: usize = 2;
/// What can be printed.
const STAGES: [&str; 3] = ["relation", "isl", "drawing"];

/// The name of a format that is no preset.
const UNNAMED: &str = "tensor";

/// Prints what a format is.
///
/// # Errors
/// Those of the format's text or of the file, and for a stage that there is not.
pub(crate) fn describe(
    call: &Call,
    screen: &mut Screen,
    text: &str,
    order: Option<&str>,
    emit: &[String],
) -> Result<u8> {
    for (n, stage) in emit.iter().enumerate() {
        if !STAGES.contains(&stage.as_str()) {
            let message = format!("there is no stage `{stage}` of a format");
            let place = call.value_span("emit", n);
            let error = Diagnostic::new(code::BAD_OPTION_VALUE, message);
            return Err(suggest(
                error.at(call.source(), place, "unknown"),
                stage,
                &STAGES,
            ));
        }
    }
    let wants = |stage: &str| emit.iter().any(|it| it == stage);
    let place = call.find_last_word(text).unwrap_or(call.end());
    if text.contains('/') && !text.ends_with(DESCRIPTOR_ENDING) {
        let message = format!("`{text}` is no file of a format as a relation");
        return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
            .at(call.source(), place, "not a descriptor")
            .help("name a file.fmt, a preset or a map of levels"));
    }
    let spec = format_spec(call, "format", text, place);
    let is_data = || io::file_type(Path::new(text)).is_ok();
    let spec = spec.map_err(|error| match is_data() {
        true => error.help(format!(
            "`sparsec info {text}` says which formats suit a file"
        )),
        false => error,
    })?;
    let order = match order {
        Some(order) => call.count("order", order, 64)?,
        None => spec.order().unwrap_or(SHOWN_ORDER),
    };
    let (descriptors, assembly, drawing) = if let Some(format) = spec.relation(order)? {
        if wants("drawing") {
            let message = "only formats of levels are drawn";
            return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message)
                .at(call.source(), place, "a relation")
                .help("ask for `--emit relation`"));
        }
        let assembly = relational::assembly(&format, ElementType::F64)?;
        let assembly = assembly.map(|it| it.to_string());
        (vec![format.descriptor().clone()], assembly, None)
    } else {
        let format = spec.resolve(order)?;
        let drawing = (emit.is_empty() || wants("drawing")).then(|| drawing(&format));
        let descriptors = named_descriptors(&format, text);
        (descriptors, None, drawing.flatten())
    };
    let relation = (emit.is_empty() || wants("relation")).then(|| {
        let texts = descriptors.iter().map(Descriptor::to_string);
        texts.chain(assembly).collect::<Vec<_>>().join(
            "
",
        )
    });
    let isl = wants("isl").then(|| {
        let texts: Vec<String> = descriptors.iter().map(Descriptor::to_isl).collect();
        texts.join(
            "
",
        )
    });
    screen.answer(
        || {
            let parts = [relation.clone(), isl.clone(), drawing.clone()];
            parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
        },
        || -> Value {
            let mut found = json!({ "relation": relation, "drawing": drawing });
            if let Some(isl) = &isl {
                found["isl"] = json!(isl);
            }
            found
        },
    )?;
    Ok(0)
}

/// The descriptors of a format's parts, by the names of presets: of the one that `text`
/// begins with, or in a union that it spells out, of each part.
fn named_descriptors(format: &Format, text: &str) -> Vec<Descriptor> {
    if !text.contains('|') {
        let is_letter = |c: &char| c.is_alphanumeric() || *c == '_';
        let name: String = text.chars().take_while(is_letter).collect();
        return format.descriptors(Preset::find(&name).map_or(UNNAMED, |preset| preset.name));
    }
    let numbered = format.parts().into_iter().zip(1..);
    let described = numbered.flat_map(|(part, number)| {
        let name = part.preset_name().unwrap_or(UNNAMED);
        part.descriptors(&format!("{name}_{number}"))
    });
    described.collect()
}

/// The most places of a tensor that is drawn, each of which is a column.
const MOST_DRAWN: usize = 500;

/// A small tensor in the format; `None` where none of those tried fits.
fn drawing(format: &Format) -> Option<String> {
    let order = format.order();
    if order == 0 {
        return Tensor::pack(format, &[], &[], &[1.0])
            .ok()
            .map(|t| t.drawing());
    }
    let extents: Vec<u64> = [4, 4, 3, 2].into_iter().cycle().take(order).collect();
    // Entries for any format, for triangles, and for diagonals; those of a symmetric
    // matrix are both triangles.
    let general = [(0, 0), (0, 2), (1, 1), (2, 0), (2, 1), (2, 3), (3, 3)];
    let lower = [(0, 0), (1, 1), (2, 1), (3, 0), (3, 3)];
    let upper = [(0, 0), (0, 3), (1, 1), (1, 2), (3, 3)];
    let both = [(0, 0), (0, 3), (1, 1), (1, 2), (2, 1), (3, 0), (3, 3)];
    let skew = [(0, 3), (1, 2), (2, 1), (3, 0)];
    let diagonal = [(0, 0), (1, 1), (3, 3)];
    let samples: [(&[(u64, u64)], bool); 6] = [
        (&general, false),
        (&lower, false),
        (&upper, false),
        (&both, true),
        (&skew, true),
        (&diagonal, false),
    ];
    samples.into_iter().find_map(|(entries, mirrored)| {
        let mut coords = Vec::new();
        let mut values = Vec::new();
        for (n, &(row, column)) in entries.iter().enumerate() {
            coords.extend((0..order).map(|mode| match mode {
                0 => row,
                1 => column,
                _ => (row + column) % extents[mode],
            }));
            // Mirror images of one magnitude, of opposite sign in a skew matrix.
            values.push(match (mirrored, row > column) {
                (false, _) => (n + 1) as f64,
                (true, below) if entries.len() == skew.len() => {
                    (row + column + row * column) as f64 * if below { -1.0 } else { 1.0 }
                }
                (true, _) => (1 + row + column + row * column) as f64,
            });
        }
        let tensor = Tensor::pack(format, &extents, &coords, &values).ok()?;
        Some(match tensor.vals().len() {
            n if n > MOST_DRAWN => {
                format!("not drawn: {} entries take {n} places\n", entries.len())
            }
            _ => tensor.drawing(),
        })
    })
}
