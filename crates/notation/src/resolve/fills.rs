//! What each result is worth where nothing is stored.

use sparsec_base::{Diagnostic, Result, Scalar, code};
use sparsec_index::Program;

use super::Declarations;

/// Gives every result the fill that follows from its right side; statements
/// come in order, so the fills of what they read are known.
///
/// Where an extent that matters is not known, neither is the fill. Then every
/// entry of the result is computed, and its fill is zero, or what is declared.
///
/// # Errors
/// `E0218` for a declared fill that differs.
pub(crate) fn derive(program: &mut Program, declarations: &Declarations) -> Result<()> {
    for statement in &program.statements {
        let data = &program.tensors[statement.lhs.tensor];
        let fill = program.fill(statement);
        // What is declared holds of the last value.
        let declared = declarations.get(&data.name).and_then(|known| known.fill);
        if let (Some(fill), Some(declared)) = (fill, declared)
            && !same(fill, declared)
        {
            return Err(Diagnostic::new(
                code::FILL_MISMATCH,
                format!(
                    "`{}` is declared with fill {declared}, but has fill {fill}",
                    data.name
                ),
            )
            .at(
                &program.source,
                statement.span,
                format!("{fill} where nothing is stored"),
            )
            .help("leave the declared fill out, or change the expression"));
        }
        let element = data.element;
        let declared = declared.and_then(|declared| declared.cast(element));
        let fill = fill.or(declared).unwrap_or_else(|| element.zero());
        program.tensors[statement.lhs.tensor].fill = fill;
    }
    Ok(())
}

fn same(a: Scalar, b: Scalar) -> bool {
    a == b || a.to_f64() == b.to_f64() || (a.to_f64().is_nan() && b.to_f64().is_nan())
}
