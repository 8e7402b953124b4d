//! `sparsec explain E0203`: the long form of a diagnostic.

use serde_json::json;
use sparsec::{Diagnostic, Result, code};

use crate::call::Call;
use crate::screen::Screen;

/// How far the number of a code may be from the one that was meant.
const NEAR: u64 = 9;

/// Prints what there is to know about a code.
///
/// # Errors
/// `E0007` for a code that there is not.
pub(crate) fn explain(call: &Call, screen: &mut Screen, wanted: &str) -> Result<u8> {
    // `203` is short for `E0203`.
    let whole = match wanted.parse::<u32>() {
        Ok(number) => format!("E{number:04}"),
        Err(_) => wanted.to_owned(),
    };
    let Some(found) = code::explain(&whole) else {
        return Err(unknown(call, wanted));
    };
    screen.answer(
        || format!("{}: {}\n\n{}\n", found.code, found.title, found.text),
        || json!({ "code": found.code.as_str(), "title": found.title, "text": found.text }),
    )?;
    Ok(0)
}

fn unknown(call: &Call, wanted: &str) -> Diagnostic {
    let place = call.find_word(wanted).unwrap_or_else(|| call.end());
    let error = Diagnostic::new(
        code::UNKNOWN_CODE,
        format!("there is no diagnostic `{wanted}`"),
    )
    .at(call.source(), place, "unknown");
    // Codes differ in digits only, so the closest is the closest in number.
    let number: Option<i64> = wanted.trim_start_matches(['E', 'e']).parse().ok();
    let near = number.and_then(|number| {
        let numbered = code::all().filter_map(|entry| {
            let own: i64 = entry.code.as_str()[1..].parse().ok()?;
            Some((own.abs_diff(number), entry))
        });
        numbered
            .filter(|(distance, _)| *distance <= NEAR)
            .min_by_key(|(distance, _)| *distance)
    });
    match near {
        Some((_, entry)) => error.help(format!("the nearest is `{}`, {}", entry.code, entry.title)),
        None => error.help("codes look like `E0203`"),
    }
}
