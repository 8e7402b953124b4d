//! The array form of Matrix Market: every entry, column by column.
//!
//! ```text
//! general      symmetric, hermitian     skew-symmetric
//! 1 4 7        1 . .                    . . .
//! 2 5 8        2 4 .                    1 . .
//! 3 6 9        3 5 6                    2 3 .
//! ```
//!
//! The values of a general matrix are those of a dense tensor whose second mode
//! is stored first, so they are taken as they are. Of the others only the part
//! drawn is stated.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_format::Format;
use sparsec_tensor::{Array, Element, Entries, PackOptions, Tensor, with_element};

use super::header::Size;
use crate::content::{Content, Structure};

/// The dense format with columns one after the other.
pub(super) fn column_major() -> Result<Format> {
    Format::dense(2).with_mode_order(&[1, 0])
}

/// How many values a matrix is stated by; `None` beyond 64 bits.
pub(super) fn n_values(size: &Size, structure: Structure) -> Option<u64> {
    match structure {
        Structure::General => size.rows.checked_mul(size.columns),
        Structure::SkewSymmetric => triangle(size.rows.saturating_sub(1)),
        Structure::Symmetric | Structure::Hermitian => triangle(size.rows),
    }
}

fn triangle(n: u64) -> Option<u64> {
    let twice = u128::from(n) * (u128::from(n) + 1);
    u64::try_from(twice / 2).ok()
}

/// The matrix of these values, whose number is right.
pub(super) fn matrix(size: &Size, structure: Structure, values: Array) -> Result<Content> {
    let element = values.element();
    let extents = vec![size.rows, size.columns];
    if structure == Structure::General {
        let arrays = vec![values];
        let tensor = Tensor::new(column_major()?, extents, element, element.zero(), arrays)?;
        return Ok(Content::Tensor(tensor));
    }
    let below = u64::from(structure == Structure::SkewSymmetric);
    let mut coords = Vec::new();
    let n_coords = 2 * values.len();
    coords.try_reserve_exact(n_coords).map_err(|_| {
        let message = format!("{} entries do not fit in memory", values.len());
        Diagnostic::new(code::TENSOR_TOO_LARGE, message)
    })?;
    for column in 0..size.columns {
        for row in column + below..size.rows {
            coords.extend([row, column]);
        }
    }
    Ok(Content::Entries(Entries {
        extents,
        coords: coords.into(),
        values,
    }))
}

/// The values of a matrix in the order in which a file of this structure states
/// them; of a matrix with structure only those that it states.
pub(super) fn values(tensor: &Tensor, structure: Structure) -> Result<Array> {
    let dense = column_major()?;
    let converted;
    let tensor = match tensor.format().stores_like(&dense) {
        true => tensor,
        false => {
            converted = Tensor::pack_entries(&dense, tensor.entries(), PackOptions::default())?;
            &converted
        }
    };
    with_element!(tensor.element(), T => {
        Ok(Array::from_vec(stated::<T>(tensor, structure)))
    })
}

fn stated<T: Element>(tensor: &Tensor, structure: Structure) -> Vec<T> {
    let rows = tensor.extents()[0] as usize;
    let all = tensor.vals().slice::<T>();
    let columns = all.chunks_exact(rows.max(1)).enumerate();
    columns
        .flat_map(|(column, values)| match structure {
            Structure::General => values,
            Structure::Symmetric | Structure::Hermitian => &values[column.min(rows)..],
            Structure::SkewSymmetric => &values[(column + 1).min(rows)..],
        })
        .copied()
        .collect()
}
