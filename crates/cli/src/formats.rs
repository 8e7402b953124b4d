//! `sparsec formats`: presets and kinds of levels, from the library's own data.

use serde_json::{Value, json};
use sparsec::level::{Capabilities, Part};
use sparsec::{LevelKind, Preset, Result, presets};

use crate::screen::Screen;
use crate::table::table;

/// Orders for which a preset of any order is shown.
const SHOWN_ORDER: usize = 2;

/// Prints every preset and every kind of level.
///
/// # Errors
/// As [`Screen::print`].
pub(crate) fn formats(screen: &mut Screen) -> Result<u8> {
    screen.answer(text, value)?;
    Ok(0)
}

fn text() -> String {
    let mut rows = vec![["preset", "order", "what it is", "as a map"].map(str::to_owned)];
    rows.extend(presets().iter().map(|preset| {
        let order = preset
            .order
            .map_or("any".to_owned(), |order| order.to_string());
        [
            preset.name.to_owned(),
            order,
            preset.summary.to_owned(),
            map(preset),
        ]
    }));
    let mut out = table(&rows);
    out.push('\n');
    let mut rows = vec![["level", "arrays", "can", "a position is"].map(str::to_owned)];
    rows.extend(LevelKind::ALL.map(|kind| {
        let spec = kind.spec();
        [
            spec.name.to_owned(),
            arrays(spec.arrays).join(" "),
            abilities(spec.capabilities).join(", "),
            spec.summary.to_owned(),
        ]
    }));
    out.push_str(&table(&rows));
    out.push_str("\nWith `-f NAME=…` a tensor is stored in a preset, or in a map of levels:\n");
    out.push_str("  -f A=csr    -f 'A=(i, j) -> (j : compressed, i : compressed)'    -f A=coo\n");
    out.push_str(
        "\nIndex arrays have 32 or 64 bits, as many as the data needs, or 8 to 64 where said:\n",
    );
    out.push_str("  -f 'A=csr, pos = 32, crd = 8'\n");
    out
}

fn value() -> Value {
    let presets: Vec<Value> = presets()
        .iter()
        .map(|preset| {
            json!({
                "name": preset.name,
                "order": preset.order,
                "summary": preset.summary,
                "map": map(preset),
            })
        })
        .collect();
    let levels: Vec<Value> = LevelKind::ALL
        .iter()
        .map(|kind| {
            let spec = kind.spec();
            json!({
                "name": spec.name,
                "summary": spec.summary,
                "arrays": arrays(spec.arrays),
                "can": abilities(spec.capabilities),
                "relation": spec.fragment,
            })
        })
        .collect();
    json!({ "presets": presets, "levels": levels })
}

/// The preset as a map, for order 2 where it fits any.
fn map(preset: &Preset) -> String {
    let order = preset.order.unwrap_or(SHOWN_ORDER);
    preset
        .format(order)
        .map_or(String::new(), |format| format.to_string())
}

fn arrays(parts: &[Part]) -> Vec<&'static str> {
    let name = |part: &Part| match part {
        Part::Pos => "pos",
        Part::Crd => "crd",
    };
    parts.iter().map(name).collect()
}

fn abilities(can: Capabilities) -> Vec<&'static str> {
    let all = [
        (can.full, "holds every coordinate"),
        (can.locate, "locate"),
        (can.random_insert, "insert anywhere"),
        (can.single, "one for each parent"),
        (can.may_repeat, "nonunique"),
        (can.may_be_unordered, "nonordered"),
    ];
    all.into_iter()
        .filter_map(|(has, name)| has.then_some(name))
        .collect()
}
