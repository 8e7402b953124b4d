//! `sparsec formats`: presets and kinds of levels, from the library's own data.

use serde_json::{Value, json};
use sparsec::internals::level::{Capabilities, Part};
use sparsec::{
    FormatSpec, LevelKind, Preset, RelationPreset, Result, Way, presets, relation_presets,
};

use crate::screen::Screen;
use crate::table::table;

/// Orders for which a preset of any order is shown.
const SHOWN_ORDER: usize = 2;
/// The order for which presets of several orders that are relations are shown.
const RELATION_ORDER: usize = 3;

/// Prints every preset and every kind of level.
///
/// # Errors
/// As [`Screen::print`].
pub(crate) fn formats(screen: &mut Screen) -> Result<u8> {
    screen.answer(text, value)?;
    Ok(0)
}

fn text() -> String {
    let head = ["preset", "order", "what it is", "as operand", "as result"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(presets().iter().map(|preset| {
        let order = preset
            .order
            .map_or("any".to_owned(), |order| order.to_string());
        let (operand, result) = steps(preset);
        [
            preset.text(shown_order(preset)),
            order,
            preset.summary.to_owned(),
            operand,
            result,
        ]
    }));
    rows.extend(relation_presets().iter().map(|preset| {
        let (operand, result) = relation_steps(preset);
        [
            preset.text(),
            preset
                .order
                .map_or("2 on".to_owned(), |order| order.to_string()),
            preset.summary.to_owned(),
            operand,
            result,
        ]
    }));
    let mut out = table(&rows);
    out.push('\n');
    let maps = presets()
        .iter()
        .map(|preset| [preset.text(shown_order(preset)), map(preset)]);
    let head = ["preset", "as a map"].map(str::to_owned);
    out.push_str(&table(
        &std::iter::once(head).chain(maps).collect::<Vec<_>>(),
    ));
    out.push('\n');
    let head = ["level", "arrays", "can", "in kernels", "what it holds"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(LevelKind::ALL.map(|kind| {
        let spec = kind.spec();
        [
            kind.text(),
            arrays(spec.arrays).join(" "),
            abilities(spec.capabilities).join(", "),
            match kind.is_assembled() {
                true if spec.capabilities.probing_insert => "native as last level".to_owned(),
                true => "native".to_owned(),
                false => "results converted".to_owned(),
            },
            spec.summary.to_owned(),
        ]
    }));
    out.push_str(&table(&rows));
    out.push_str("\nWhat is read or written by its levels is not copied: `levels(NAME, FORMAT)` in the plan.\n");
    out.push_str("Nor is what is read by its pieces, where values of them can be added up: `pieces(NAME, FORMAT)`.\n");
    out.push_str(
        "A conversion is a command `convert(NAME, FORMAT)`, there and where no loops fit.\n",
    );
    out.push_str("\nWith `-f NAME=…` a tensor is stored in a preset, or in a map of levels:\n");
    out.push_str("  -f A=csr    -f 'A=(i, j) -> (j : compressed, i : compressed)'    -f A=coo\n");
    out.push_str(
        "\nWhat is no tree of levels is a relation: the last of the presets, and `.fmt` files:\n",
    );
    out.push_str("  -f 'A=sell(8, 32)'    -f A=mine.fmt\n");
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
            let (operand, result) = steps(preset);
            json!({
                "name": preset.name,
                "text": preset.text(shown_order(preset)),
                "operand": operand,
                "result": result,
                "order": preset.order,
                "summary": preset.summary,
                "map": map(preset),
            })
        })
        .collect();
    let relations: Vec<Value> = relation_presets()
        .iter()
        .map(|preset| {
            let (operand, result) = relation_steps(preset);
            json!({
                "name": preset.name,
                "text": preset.text(),
                "operand": operand,
                "result": result,
                "order": preset.order,
                "summary": preset.summary,
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
                "native": true,
                "assembled": kind.is_assembled(),
                "can": abilities(spec.capabilities),
                "relation": spec.fragment,
            })
        })
        .collect();
    json!({ "presets": presets, "relations": relations, "levels": levels })
}

fn shown_order(preset: &Preset) -> usize {
    preset.order.unwrap_or(SHOWN_ORDER)
}

/// How kernels read an operand in the preset, and how they write a result: as it
/// is, by its levels or pieces, or through a conversion.
fn steps(preset: &Preset) -> (String, String) {
    let Some(format) = preset.format(shown_order(preset)) else {
        return (String::new(), String::new());
    };
    let nearest = format.nearest().short_name();
    let step = |way, conversion: &str| match way {
        Way::Native => "native".to_owned(),
        Way::Levels => "by its levels".to_owned(),
        Way::Pieces => "by its pieces".to_owned(),
        Way::Conversion => format!("{conversion} {nearest}"),
    };
    (
        step(format.read_by(), "converted to"),
        step(format.written_by(), "converted from"),
    )
}

/// How an operand in a preset that is a relation is read, and a result written.
fn relation_steps(preset: &RelationPreset) -> (String, String) {
    let spec = preset.text().parse::<FormatSpec>();
    let order = preset.order.unwrap_or(RELATION_ORDER);
    let nearest = spec.and_then(|spec| spec.levels(order));
    let nearest = nearest.map_or(String::new(), |format| format.short_name());
    (
        format!("walked, or converted to {nearest}"),
        format!("converted from {nearest}"),
    )
}

/// The preset as a map, for order 2 where it fits any.
fn map(preset: &Preset) -> String {
    preset
        .format(shown_order(preset))
        .map_or(String::new(), |format| format.to_string())
}

fn arrays(parts: &[Part]) -> Vec<&'static str> {
    parts.iter().map(|part| part.name()).collect()
}

fn abilities(can: Capabilities) -> Vec<&'static str> {
    let all = [
        (can.full, "holds every coordinate"),
        (can.locate, "locate"),
        (can.random_insert, "insert anywhere"),
        (can.probing_insert, "insert by probing"),
        (can.single, "one for each parent"),
        (can.may_repeat, "nonunique"),
        (can.may_be_unordered, "nonordered"),
    ];
    all.into_iter()
        .filter_map(|(has, name)| has.then_some(name))
        .collect()
}
