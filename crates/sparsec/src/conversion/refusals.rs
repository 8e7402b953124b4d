//! Conversions that cannot keep the values of a tensor.

use sparsec_base::{Diagnostic, Result, Scalar, code};
use sparsec_format::RelationFormat;

/// Refuses a format that declares another fill than a tensor has: a conversion keeps all values.
pub(crate) fn keeps_fill(declared: Option<f64>, fill: Scalar) -> Result<()> {
    let Some(declared) = declared else {
        return Ok(());
    };
    if Scalar::F64(declared).as_type(fill.element()) == Some(fill) {
        return Ok(());
    }
    let message = format!("the format declares fill {declared}, but the tensor has fill {fill}");
    Err(Diagnostic::new(code::FILL_MISMATCH, message)
        .note("a conversion keeps the value of each entry, stored or not")
        .help("leave the clause out, or read a file of entries in a format with this fill"))
}

/// As [`keeps_fill`], of a format that is a relation, whose tensors have the fill that it says.
pub(crate) fn relation_keeps_fill(destination: &RelationFormat, fill: Scalar) -> Result<()> {
    let own = destination.fill(fill.element());
    if own == fill {
        return Ok(());
    }
    let name = destination.name();
    let message = format!("a tensor in `{name}` has fill {own}, but the tensor has fill {fill}");
    Err(Diagnostic::new(code::FILL_MISMATCH, message)
        .note("a conversion keeps the value of each entry, stored or not")
        .help(format!(
            "have the description say `fill {fill}` below `values`, or convert to a format of levels"
        )))
}

/// A failure of a kernel that makes a tensor in a format: numbers that it cannot store are
/// coordinates and positions.
pub(super) fn too_narrow(error: Diagnostic, format: &str) -> Diagnostic {
    if error.code() != code::CAST_OUT_OF_RANGE {
        return error;
    }
    let message = "a coordinate or a position does not fit the index arrays of the new tensor";
    Diagnostic::new(code::WIDTH_OVERFLOW, message)
        .note(format!("its format is `{format}`"))
        .help("declare wider arrays: `, pos = 64`, `, crd = 64`")
}
