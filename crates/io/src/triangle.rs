//! Matrices of which one triangle says the other.
//!
//! ```text
//!    stored        structure         completed
//!    1 . .         symmetric         1 2 .
//!    2 3 .                           2 3 4
//!    . 4 .                           . 4 .
//! ```
//!
//! The mirror image of an entry has its value, the negative, or the conjugate.
//! The two directions are inverse to each other: [`completed`] adds the images,
//! [`lower`] sees to it that they are there and leaves them out.

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_format::Format;
use sparsec_tensor::{
    Array, Coords, Duplicates, Element, Entries, PackOptions, Tensor, with_element,
};

use crate::content::Structure;
use crate::mirror::{self, pairs};
use crate::number::Value;

/// The matrix whose one triangle is stored, in the same format. Entries on the
/// diagonal are taken as they are.
///
/// # Errors
/// `E0429` for entries in the other triangle, except the padding of dense levels,
/// and for images that the type of the values has not.
pub(crate) fn completed(tensor: &Tensor, structure: Structure, is_lower: bool) -> Result<Tensor> {
    let stored = tensor.entries();
    let (mut coords, mut kept) = (Coords::default(), Vec::new());
    for (entry, pair) in pairs(&stored).enumerate() {
        let (row, column) = (pair.at(0), pair.at(1));
        let is_other = if is_lower { row < column } else { row > column };
        let is_padding = tensor.has_padding() && stored.values.get(entry) == tensor.fill();
        match (is_other, is_padding) {
            (true, true) => {}
            (true, false) => return Err(on_other_side(row, column, is_lower)),
            (false, _) => {
                coords.push(row);
                coords.push(column);
                kept.push(entry);
            }
        }
    }
    let half = Entries {
        extents: stored.extents,
        coords,
        values: picked(&stored.values, &kept),
    };
    let whole = mirror::complete(half, structure)?;
    repacked(tensor, tensor.format(), whole.coords, whole.values)
}

/// The values at these places.
fn picked(values: &Array, places: &[usize]) -> Array {
    with_element!(values.element(), T => {
        let values = values.slice::<T>();
        Array::from_vec(places.iter().map(|&place| values[place]).collect::<Vec<T>>())
    })
}

/// The lower triangle of a matrix that has the structure, in the same format.
///
/// # Errors
/// `E0429` for a tensor that is no square matrix or an entry whose image is
/// missing or another one.
pub(crate) fn lower(tensor: &Tensor, structure: Structure) -> Result<Tensor> {
    if !matches!(tensor.extents(), [rows, columns] if rows == columns) {
        let message = format!(
            "a tensor of extents {:?} is not {structure}",
            tensor.extents()
        );
        return Err(Diagnostic::new(code::ASYMMETRIC_FILE, message).help(
            "write every entry (`Structure::General`): only square matrices have mirror images",
        ));
    }
    let entries = tensor.entries();
    let mirrored = images(&entries, structure)?;
    let sorted = Format::scoo(2);
    let there = repacked(
        tensor,
        &sorted,
        entries.coords.clone(),
        entries.values.clone(),
    )?;
    let image = repacked(tensor, &sorted, mirrored.coords, mirrored.values)?;
    if let Some((row, column)) = first_difference(&there, &image) {
        let found = |row, column| tensor.get(&[row, column]);
        let message = format!(
            "the matrix is not {structure}: ({row}, {column}) is {}, ({column}, {row}) is {}",
            found(row, column),
            found(column, row)
        );
        return Err(Diagnostic::new(code::ASYMMETRIC_FILE, message)
            .help("write every entry (`Structure::General`)"));
    }
    let kept: Vec<usize> = (0..entries.len())
        .filter(|&e| entries.coords(e).at(0) >= entries.coords(e).at(1))
        .collect();
    let coords = kept.iter().flat_map(|&e| entries.coords(e).to_vec());
    let values = picked(&entries.values, &kept);
    repacked(tensor, tensor.format(), coords.collect(), values)
}

/// All entries reflected in the diagonal.
fn images(entries: &Entries, structure: Structure) -> Result<Entries> {
    let coords = pairs(entries).flat_map(|pair| [pair.at(1), pair.at(0)]);
    let coords = coords.collect();
    let values = with_element!(entries.element(), T => {
        let values = entries.values.slice::<T>().iter();
        let images = values.map(|&value| image(value, structure));
        Array::from_vec(images.collect::<Result<Vec<T>>>()?)
    });
    Ok(Entries {
        extents: entries.extents.clone(),
        coords,
        values,
    })
}

/// The value that the mirror image of an entry has.
pub(crate) fn image<T: Value>(value: T, structure: Structure) -> Result<T> {
    match structure {
        Structure::General | Structure::Symmetric => Ok(value),
        Structure::Hermitian => Ok(value.conjugated()),
        Structure::SkewSymmetric => {
            let image = value.negated();
            // What is its own negative and not zero has none: the least integer.
            let has_none = image == value && value != T::ZERO;
            if has_none || !has_negatives(T::TYPE) && value != T::ZERO {
                let message = format!("the negative of {} is no {}", value.scalar(), T::TYPE);
                return Err(Diagnostic::new(code::ASYMMETRIC_FILE, message)
                    .note("entries of a skew-symmetric matrix have images of the other sign")
                    .help("read the values as a wider type with a sign, such as `f64`"));
            }
            Ok(image)
        }
    }
}

fn has_negatives(element: ElementType) -> bool {
    use sparsec_base::Kind;
    !matches!(element.kind(), Kind::Bool | Kind::Unsigned)
}

fn on_other_side(row: u64, column: u64, is_lower: bool) -> Diagnostic {
    let side = |lower| if lower { "below" } else { "above" };
    let message = format!(
        "({row}, {column}) lies {} the diagonal, in a matrix stored {} it",
        side(!is_lower),
        side(is_lower)
    );
    Diagnostic::new(code::ASYMMETRIC_FILE, message)
        .help("keep the entries of one triangle, or write every entry (`Structure::General`)")
}

fn repacked(like: &Tensor, format: &Format, coords: Coords, values: Array) -> Result<Tensor> {
    let entries = Entries {
        extents: like.extents().to_vec(),
        coords,
        values,
    };
    let options = PackOptions {
        fill: Some(like.fill()),
        duplicates: Duplicates::Refuse,
        ..PackOptions::default()
    };
    Tensor::pack_entries(format, entries, options)
}

/// The first coordinates at which two sorted matrices differ. Zeros are alike
/// whatever their sign, as the negative of one is another.
fn first_difference(a: &Tensor, b: &Tensor) -> Option<(u64, u64)> {
    let (a, b) = (a.entries(), b.entries());
    let at = with_element!(a.element(), T => {
        let (left, right) = (a.values.slice::<T>(), b.values.slice::<T>());
        (0..a.len()).find(|&e| {
            let same = left[e] == right[e] || left[e].scalar() == right[e].scalar();
            a.coords(e) != b.coords(e) || !same
        })
    })?;
    let (left, right) = (a.coords(at), b.coords(at));
    let first = left.min(right);
    Some((first.at(0), first.at(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsec_base::Complex;

    fn matrix(coords: &[u64], values: Array) -> Tensor {
        let entries = Entries {
            extents: vec![3, 3],
            coords: coords.to_vec().into(),
            values,
        };
        Tensor::pack_entries(&Format::csr(), entries, PackOptions::default()).unwrap()
    }

    #[test]
    fn a_triangle_and_its_images_come_and_go() {
        let half = matrix(&[0, 0, 1, 0, 2, 1], Array::from_vec(vec![1, 2, 4]));
        let whole = completed(&half, Structure::Symmetric, true).unwrap();
        assert_eq!(whole.entries().coords, [0, 0, 0, 1, 1, 0, 1, 2, 2, 1]);
        assert_eq!(whole.values::<i32>(), Some(&[1, 2, 2, 4, 4][..]));
        assert_eq!(lower(&whole, Structure::Symmetric).unwrap(), half);
    }

    #[test]
    fn images_are_negated_or_conjugated() {
        let half = matrix(&[1, 0], Array::from_vec(vec![2.5]));
        let whole = completed(&half, Structure::SkewSymmetric, true).unwrap();
        assert_eq!(whole.values::<f64>(), Some(&[-2.5, 2.5][..]));
        assert_eq!(lower(&whole, Structure::SkewSymmetric).unwrap(), half);

        let value = Complex::new(1.0f64, 2.0);
        let half = matrix(&[1, 0], Array::from_vec(vec![value]));
        let whole = completed(&half, Structure::Hermitian, true).unwrap();
        assert_eq!(whole.values(), Some(&[value.conj(), value][..]));
        assert_eq!(lower(&whole, Structure::Hermitian).unwrap(), half);
    }

    #[test]
    fn what_has_not_the_structure_is_refused() {
        let check = |found: Result<Tensor>, expect: &str| {
            let error = found.unwrap_err();
            assert_eq!(
                (error.code(), error.message()),
                (code::ASYMMETRIC_FILE, expect)
            );
        };
        let upper = matrix(&[0, 1], Array::from_vec(vec![1.0]));
        check(
            completed(&upper, Structure::Symmetric, true),
            "(0, 1) lies above the diagonal, in a matrix stored below it",
        );
        check(
            lower(&upper, Structure::Symmetric),
            "the matrix is not symmetric: (0, 1) is 1.0, (1, 0) is 0.0",
        );
        let unsigned = matrix(&[1, 0], Array::from_vec(vec![3u8]));
        check(
            completed(&unsigned, Structure::SkewSymmetric, true),
            "the negative of 3 is no u8",
        );
        let least = matrix(&[1, 0], Array::from_vec(vec![i8::MIN]));
        check(
            completed(&least, Structure::SkewSymmetric, true),
            "the negative of -128 is no i8",
        );
    }
}
