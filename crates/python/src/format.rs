//! Formats as texts.
//!
//! ```text
//! "(r, c) -> (r : dense, c : compressed)" ──parse──► name "csr", order 2, levels "i : dense", …
//! ```
//!
//! Formats that arrange entries alike have one name, so that texts tell whether they are equal.

use pyo3::prelude::*;
use sparsec::{Format, FormatSpec, Storage};

use crate::error::OrRaise;

/// The levels of a format, outermost first: what each stores, and its kind.
pub(crate) fn levels(format: &Format) -> Vec<String> {
    let parts = format.parts();
    let levels = parts.iter().flat_map(|part| {
        let levels = part.levels().iter();
        levels.map(|level| {
            let coordinate = level.coordinate.text(part.modes());
            format!("{coordinate} : {}", level.kind.text())
        })
    });
    levels.collect()
}

/// The name of a format, for tensors of any order or of this one; its order, if it has one; and
/// its levels, which a relation lacks, and a format for any order.
#[pyfunction]
#[pyo3(signature = (text, order))]
pub(crate) fn format(
    py: Python<'_>,
    text: &str,
    order: Option<usize>,
) -> PyResult<(String, Option<usize>, Option<Vec<String>>)> {
    let spec: FormatSpec = text.parse().or_raise(py)?;
    let Some(order) = order.or(spec.order()) else {
        return Ok((spec.to_string(), None, None));
    };
    Ok(match spec.storage(order).or_raise(py)? {
        Storage::Levels(format) => {
            let format = format.with_usual_modes();
            (format.short_name(), Some(order), Some(levels(&format)))
        }
        Storage::Relation(format) => (FormatSpec::from(format).to_string(), Some(order), None),
    })
}
