//! The mirror images that a file with structure does not state.
//!
//! ```text
//! stated       symmetric     skew-symmetric    hermitian
//! 1 . .        1 2 .         .  -2  .          1  2̅  .
//! 2 . 3        2 . 3         2   .  3          2  .  3
//! . . 4        . 3 4         .  -3  .          .  3̅  4
//! ```
//!
//! A file states one triangle, whichever. One that states both, or a diagonal
//! that differs from its own image, contradicts its header and is refused with
//! the line.

use std::ops::Range;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_tensor::{Array, Entries, Tuple, with_element};

use crate::content::Structure;
use crate::input::Input;
use crate::number::Value;
use crate::triangle::image;

/// Checks that entries are one triangle of a matrix with `structure`.
/// `line_of` finds the text of an entry.
///
/// # Errors
/// `E0429` with the line of the first entry that is not.
pub(crate) fn check(
    entries: &Entries,
    structure: Structure,
    text: &Input,
    line_of: &dyn Fn(usize) -> Range<usize>,
) -> Result<()> {
    if structure == Structure::General {
        return Ok(());
    }
    check_triangle(entries, structure, text, line_of)?;
    with_element!(entries.element(), T => check_diagonal::<T>(entries, structure, text, line_of))
}

/// The coordinates of the entries of a matrix.
pub(crate) fn pairs(entries: &Entries) -> impl ExactSizeIterator<Item = Tuple<'_>> {
    (0..entries.len()).map(|e| entries.coords(e))
}

/// Refuses a file that states both triangles.
fn check_triangle(
    entries: &Entries,
    structure: Structure,
    text: &Input,
    line_of: &dyn Fn(usize) -> Range<usize>,
) -> Result<()> {
    let side = |pair: Tuple<'_>| pair.at(0).cmp(&pair.at(1));
    let pairs = || pairs(entries).map(side).enumerate();
    let Some((first, side)) = pairs().find(|(_, side)| side.is_ne()) else {
        return Ok(());
    };
    let Some((other, _)) = pairs().find(|&(_, other)| other == side.reverse()) else {
        return Ok(());
    };
    let (line, place) = text.excerpt(line_of(other));
    let (before, first) = text.excerpt(line_of(first));
    let name = |below: bool| if below { "below" } else { "above" };
    let message = format!("a {structure} file that states entries on both sides of the diagonal");
    Err(Diagnostic::new(code::ASYMMETRIC_FILE, message)
        .at(&line, place, format!("{} the diagonal", name(side.is_lt())))
        .also(
            &before,
            first,
            format!("{} the diagonal", name(side.is_gt())),
        )
        .help("remove the entries of one triangle, or declare the matrix `general`"))
}

/// Refuses an entry on the diagonal that is not its own image.
fn check_diagonal<T: Value>(
    entries: &Entries,
    structure: Structure,
    text: &Input,
    line_of: &dyn Fn(usize) -> Range<usize>,
) -> Result<()> {
    let values = entries.values.slice::<T>();
    let differs = |value: T| match structure {
        Structure::General | Structure::Symmetric => false,
        Structure::SkewSymmetric => value != T::ZERO,
        Structure::Hermitian => {
            let im = value.scalar().to_c128().im;
            im != 0.0 && !im.is_nan()
        }
    };
    let mut pairs = pairs(entries).zip(values);
    let found = pairs.position(|(pair, &value)| pair.at(0) == pair.at(1) && differs(value));
    let Some(entry) = found else {
        return Ok(());
    };
    let wanted = match structure {
        Structure::Hermitian => "the imaginary part is zero on the diagonal",
        _ => "the diagonal is zero",
    };
    let message = format!("a {structure} file with an entry that differs from its mirror image");
    let fault = text.fault(code::ASYMMETRIC_FILE, message, line_of(entry), wanted);
    Err(fault.help("correct the entry, or declare the matrix `general` and state every entry"))
}

/// The entries and the mirror images of those off the diagonal.
///
/// # Errors
/// `E0429` for a value whose negative its type has not; `E0407` when memory is out.
pub(crate) fn complete(entries: Entries, structure: Structure) -> Result<Entries> {
    if structure == Structure::General {
        return Ok(entries);
    }
    let stated = entries.len();
    let is_off = |pair: &Tuple<'_>| pair.at(0) != pair.at(1);
    let n_off = pairs(&entries).filter(is_off).count();
    let too_large = |_| {
        let message = format!("{} entries do not fit in memory", stated + n_off);
        Diagnostic::new(code::TENSOR_TOO_LARGE, message)
    };
    let mut coords = entries.coords;
    coords.try_reserve_exact(2 * n_off).map_err(too_large)?;
    let values = with_element!(entries.values.element(), T => {
        let old = entries.values.slice::<T>();
        let mut values: Vec<T> = Vec::new();
        values.try_reserve_exact(stated + n_off).map_err(too_large)?;
        values.extend_from_slice(old);
        for (entry, &value) in old.iter().enumerate() {
            let (row, column) = (coords.get(2 * entry), coords.get(2 * entry + 1));
            if row != column {
                coords.push(column);
                coords.push(row);
                values.push(image(value, structure)?);
            }
        }
        Array::from_vec(values)
    });
    Ok(Entries {
        extents: entries.extents,
        coords,
        values,
    })
}
