//! The form of an operation on one line, for help texts.

use crate::definition::{Anchor, Definition, Directive};

/// `sparse_tensor.convert %source : type to type`
pub(crate) fn outline(definition: &Definition) -> String {
    let mut out = definition.name.trim_start_matches("builtin.").to_owned();
    steps(&definition.form, definition, &mut out);
    out
}

fn steps(list: &[Directive], definition: &Definition, out: &mut String) {
    for step in list {
        let text = match step {
            Directive::Literal(text) => (*text).to_owned(),
            Directive::Operands(group) => format!("%{}", definition.operands[*group].name),
            Directive::Attribute(place) => definition.attributes[*place].name.to_owned(),
            Directive::Region(_) => "{ … }".to_owned(),
            Directive::OperandTypes(_) | Directive::ResultTypes(_) => "type".to_owned(),
            Directive::Dictionary => match needed(definition) {
                none if none.is_empty() => continue,
                names => format!("{{{names}}}"),
            },
            Directive::Functional(..) => "(types) -> types".to_owned(),
            Directive::Arrow(_) => "-> type".to_owned(),
            Directive::List(..) => "[…]".to_owned(),
            // The outline omits optional parts.
            Directive::Optional(inside, Anchor::Operands(_))
                if matches!(inside[0], Directive::Literal("ins")) =>
            {
                steps(inside, definition, out);
                continue;
            }
            Directive::Optional(..) => continue,
            Directive::Custom(name) => custom(name).to_owned(),
        };
        let glued = [",", ")", "]"].contains(&text.as_str())
            || out.ends_with(['(', '['])
            || text == "("
            || text == "[";
        if !glued {
            out.push(' ');
        }
        out.push_str(&text);
    }
}

/// The required attributes that the form does not show.
fn needed(definition: &Definition) -> String {
    let shown = super::shown(&definition.form, definition);
    let needed = definition
        .attributes
        .iter()
        .filter(|spec| !spec.is_optional && !shown.contains(&spec.name));
    let texts: Vec<String> = needed.map(|spec| format!("{} = …", spec.name)).collect();
    texts.join(", ")
}

fn custom(name: &str) -> &'static str {
    match name {
        "Module" => "{ … }",
        "Function" => "@name(%x: type) -> type { … }",
        "Constant" => "1 : index",
        "Generic" => {
            "{indexing_maps = […], iterator_types = […]} ins(%x : type) outs(%y : type) { … } -> type"
        }
        "Left" | "Right" => "{ … }",
        "LevelRange" => "lvls = 0",
        "For" => "%i = %lower to %upper step %step { … }",
        "If" => "%condition { … }",
        "While" => "(%x = %init) : (type) -> type { … } do { … }",
        "Iterate" => "%it in %space at(%i) : type { … }",
        _ => "(%space1, %space2) at(%i) : (types) case %it1, %it2 { … }",
    }
}
