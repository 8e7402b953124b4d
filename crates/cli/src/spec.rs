//! Formats that a call names: presets, maps of levels, and `.fmt` files.

use sparsec::{FormatSpec, Result, Span};

use crate::call::Call;
use crate::text_file::read_source;

/// What the name of the file of a relation ends with.
pub(crate) const DESCRIPTOR_ENDING: &str = ".fmt";

/// The format of an option's value, which stands at `place`; `name` is what diagnostics call
/// the text.
///
/// # Errors
/// Those of reading the file, and of [`FormatSpec::parse`].
pub(crate) fn format_spec(
    call: &Call,
    name: impl Into<String>,
    text: &str,
    place: Span,
) -> Result<FormatSpec> {
    match text.ends_with(DESCRIPTOR_ENDING) {
        true => FormatSpec::parse(&read_source(call, text, place)?),
        false => FormatSpec::parse(&call.option_text(name, text)),
    }
}
