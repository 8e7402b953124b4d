//! A tensor to the arrays of a container.

use std::io;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_format::Role;
use sparsec_tensor::{Array, Tensor, with_element};

use super::container::Sink;
use super::descriptor::Written;
use super::levels::{Tree, array_name};
use super::types::{DataType, all_same, reinterpret};
use crate::content::Structure;
use crate::options::WriteOptions;
use crate::triangle;

/// Whether Binsparse has a form for the tensor.
///
/// # Errors
/// `E0465` for formats and types that it has not; `E0429` for a tensor without
/// the structure that is to be stated.
pub(super) fn check(tensor: &Tensor, options: &WriteOptions) -> Result<()> {
    Tree::of(tensor.format())?;
    if DataType::of(tensor.element()).is_none() {
        let message = format!("Binsparse has no type for values of {}", tensor.element());
        return Err(Diagnostic::new(code::NOT_EXPRESSIBLE_IN_BINSPARSE, message)
            .help("convert the values to `f32`, or write a plain `.npz`"));
    }
    match options.structure {
        Structure::General => Ok(()),
        structure => triangle::lower(tensor, structure).map(drop),
    }
}

/// Writes a tensor that passed the check.
pub(super) fn write(
    tensor: &Tensor,
    options: &WriteOptions,
    mut sink: impl Sink,
) -> io::Result<()> {
    let half;
    let tensor = match options.structure {
        Structure::General => tensor,
        structure => {
            half = triangle::lower(tensor, structure).map_err(io::Error::other)?;
            &half
        }
    };
    let tree = Tree::of(tensor.format()).map_err(io::Error::other)?;
    let mut types = Vec::new();
    let mut put = |name: String, array: &Array, ty: DataType| -> io::Result<()> {
        match array.element() == ty.stored() {
            true => sink.array(&name, array)?,
            false => sink.array(&name, &numbers(array, ty.stored())?)?,
        }
        types.push((name, ty));
        Ok(())
    };
    for (spec, array) in tensor.format().arrays().into_iter().zip(tensor.arrays()) {
        let Some(name) = array_name(spec.role) else {
            continue;
        };
        let ty = type_of(array)?;
        let is_same = spec.role == Role::Vals
            && with_element!(array.element(), T => all_same(array.slice::<T>()));
        match is_same {
            false => put(name, array, ty)?,
            true => put(name, &one(array)?, DataType { iso: true, ..ty })?,
        }
    }
    let has_fill = tensor.fill() != tensor.element().zero();
    if has_fill {
        let fill = Array::filled(tensor.fill(), 1).map_err(io::Error::other)?;
        put("fill_value".to_owned(), &fill, type_of(&fill)?)?;
    }
    let descriptor = Written {
        tree: &tree,
        shape: tensor.extents(),
        n_stored: tensor.n_stored(),
        has_fill,
        structure: options.structure,
        types: &types,
    };
    sink.finish(&descriptor.to_json())
}

fn type_of(array: &Array) -> io::Result<DataType> {
    let missing = || io::Error::other(format!("Binsparse has no type for {}", array.element()));
    DataType::of(array.element()).ok_or_else(missing)
}

/// The first value alone.
fn one(array: &Array) -> io::Result<Array> {
    Array::filled(array.get(0), 1).map_err(io::Error::other)
}

/// The values as the numbers that stand for them, bit for bit.
fn numbers(array: &Array, element: ElementType) -> io::Result<Array> {
    reinterpret(array.clone(), element).map_err(io::Error::other)
}
