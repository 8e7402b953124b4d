//! Constructors of stored tensors.
//!
//! | constructor            | of                                                  | copies                    |
//! |------------------------|-----------------------------------------------------|---------------------------|
//! | [`of_attributes`]      | arrays that are attributes of an object, as SciPy's | what [`lent`] cannot lend  |
//! | [`of_arrays`]          | the arrays that a format declares                   | index arrays               |
//! | [`dense`]              | an array of NumPy                                   | if asked to                |
//! | [`packed`]             | coordinates and values in any order                 | all                       |

use std::collections::BTreeMap;
use std::sync::Arc;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sparsec::internals::cancel::polled;
use sparsec::{
    Array, Diagnostic, Duplicates, Entries, Format, FormatSpec, PackOptions, RelationFormat,
    RelationTensor, Scalar, Session, Storage, Tensor, code,
};

use crate::error::OrRaise;
use crate::held::{Held, Order, Parts};
use crate::lent::{self, Lending};
use crate::session::State;

/// How tensors of this order are stored by the format with this text.
pub(crate) fn storage(text: &str, order: usize) -> sparsec::Result<Storage> {
    text.parse::<FormatSpec>()?.storage(order)
}

/// A tensor of levels as `storage` says. Of a dense one, entries that are the fill are left out.
pub(crate) fn stored_as(
    session: &Session,
    tensor: Tensor,
    storage: &Storage,
) -> sparsec::Result<sparsec::Stored> {
    let tensor = match storage {
        Storage::Relation(format) if !tensor.format().has_sparse() => {
            session.convert_owned(tensor, &format.nearest())?
        }
        _ => tensor,
    };
    let made = session.convert_stored_owned(sparsec::Stored::Levels(tensor), storage)?;
    Ok(made.tensor)
}

/// The format of levels with this text, for tensors of this order.
pub(crate) fn format(text: &str, order: usize) -> sparsec::Result<Format> {
    text.parse::<FormatSpec>()?.resolve(order)
}

/// The value in an array of one.
fn scalar(value: &Bound<'_, PyUntypedArray>) -> PyResult<Scalar> {
    let array = lent::array(value, Lending::Copied)?;
    match array.len() {
        1 => Ok(array.get(0)),
        n => Err(Diagnostic::new(
            code::ARRAY_MISMATCH,
            format!("a fill value is one number, and {n} are given"),
        )
        .help("give a number of the dtype of the values"))
        .or_raise(value.py()),
    }
}

/// The fill of a new tensor: as given, else as the format declares, else zero.
fn fill(
    format: &Format,
    given: Option<&Bound<'_, PyUntypedArray>>,
    values: &Array,
) -> PyResult<Scalar> {
    let element = values.element();
    match given {
        Some(given) => scalar(given),
        None => Ok(format
            .fill()
            .and_then(|declared| Scalar::F64(declared).as_type(element))
            .unwrap_or_else(|| element.zero())),
    }
}

/// Arrays that are attributes of an object.
pub(crate) struct Attributes<'a, 'py> {
    pub(crate) holder: &'a Bound<'py, PyAny>,
    /// Their names, the values last; `coords[1]` is an entry of a tuple.
    pub(crate) names: &'a [String],
    /// Whether all are copied, or none: else those that cannot be lent.
    pub(crate) copied: Option<bool>,
    /// The first array of the format, if the object does not have it.
    pub(crate) segments: Option<Vec<i64>>,
    /// A function of the shape and the arrays that puts entries in order, where it is wanted.
    pub(crate) order: Option<Py<PyAny>>,
}

/// A tensor of arrays that an object has. If all are lent, they are checked when they are read.
///
/// # Errors
/// `ValueError` for an array that is not to be copied and cannot be lent.
pub(crate) fn of_attributes(
    py: Python<'_>,
    format: Format,
    shape: Vec<u64>,
    attributes: Attributes<'_, '_>,
) -> PyResult<Held> {
    let Attributes { names, copied, .. } = attributes;
    let (mut arrays, mut given): (Vec<Array>, Vec<Py<PyAny>>) = (Vec::new(), Vec::new());
    arrays.extend(attributes.segments.map(Array::from_index_vec));
    for (place, name) in names.iter().enumerate() {
        let array = attribute(attributes.holder, name)?;
        let how = match place + 1 == names.len() {
            _ if copied == Some(true) => Lending::Copied,
            true => Lending::Values,
            // One is the holder's, or its tuple's, and one is ours.
            false => Lending::Index { known: 2 },
        };
        let made = lent::array(&array, how)?;
        if copied == Some(false) && !made.is_foreign() && !made.is_empty() {
            return Err(PyValueError::new_err(format!(
                "copy=False, and `{name}` cannot be borrowed: others may write to it, or it is \
                 not contiguous"
            )));
        }
        arrays.push(made);
        given.push(array.into_any().unbind());
    }
    let values = arrays.last().expect("an object has an array of values");
    let fill = fill(&format, None, values)?;
    let order = attributes.order.map(|function| Order {
        function,
        shape: shape.clone(),
        arrays: given,
    });
    let parts = Parts {
        format: Arc::new(format),
        extents: shape,
        fill,
        arrays,
    };
    Held::new(py, parts, order)
}

fn attribute<'py>(holder: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    let found = match name.split_once('[') {
        Some((tuple, place)) => {
            let place: usize = place.trim_end_matches(']').parse().unwrap_or_default();
            holder.getattr(tuple)?.get_item(place)?
        }
        None => holder.getattr(name)?,
    };
    Ok(found.cast_into::<PyUntypedArray>()?)
}

/// A tensor of the arrays that a format declares, in order, with the values last.
pub(crate) fn of_arrays(
    py: Python<'_>,
    format: &Format,
    shape: Vec<u64>,
    given: &[Bound<'_, PyUntypedArray>],
    fill: Option<&Bound<'_, PyUntypedArray>>,
) -> PyResult<Tensor> {
    let arrays: PyResult<Vec<Array>> = given
        .iter()
        .map(|array| lent::array(array, Lending::Copied))
        .collect();
    tensor(py, format, shape, fill, arrays?)
}

fn tensor(
    py: Python<'_>,
    format: &Format,
    shape: Vec<u64>,
    given: Option<&Bound<'_, PyUntypedArray>>,
    arrays: Vec<Array>,
) -> PyResult<Tensor> {
    let Some(values) = arrays.last() else {
        let message = "a tensor has at least an array of values";
        return Err(Diagnostic::new(code::ARRAY_MISMATCH, message).help("give its arrays"))
            .or_raise(py);
    };
    let fill = fill(format, given, values)?;
    let element = values.element();
    let (format, n_entries) = (format.clone(), values.len());
    State::get().run_over(py, n_entries, (), move |_, _, ()| {
        Tensor::new(format, shape, element, fill, arrays)
    })
}

/// A dense tensor of an array in C order; the first mode of the tensor is the first axis, or
/// the last one if `reversed`.
pub(crate) fn dense(
    values: &Bound<'_, PyUntypedArray>,
    reversed: bool,
    copied: bool,
) -> PyResult<Tensor> {
    let how = match copied {
        true => Lending::Copied,
        false => Lending::Values,
    };
    let py = values.py();
    let mut shape: Vec<u64> = values.shape().iter().map(|&extent| extent as u64).collect();
    let mut format = Format::dense(shape.len());
    if reversed {
        shape.reverse();
        let modes: Vec<usize> = (0..shape.len()).rev().collect();
        format = format.with_mode_order(&modes).or_raise(py)?;
    }
    tensor(py, &format, shape, None, vec![lent::array(values, how)?])
}

/// A tensor of the arrays of a relation, in the order of their names, with the values last.
pub(crate) fn of_relation(
    py: Python<'_>,
    format: &Arc<RelationFormat>,
    shape: Vec<u64>,
    given: &[Bound<'_, PyUntypedArray>],
) -> PyResult<RelationTensor> {
    let arrays = given.iter();
    let mut arrays = arrays.map(|array| lent::array(array, Lending::Copied));
    let functions = format.descriptor().declarations().functions().iter();
    let mut names: Vec<&String> = functions.map(|function| &function.name).collect();
    names.sort();
    if given.len() != names.len() + 1 {
        let message = format!("{} arrays for `{}`", given.len(), format.name());
        let names = names.iter().map(|name| format!("`{name}`, "));
        let names: String = names.collect();
        return Err(Diagnostic::new(code::ARRAY_MISMATCH, message)
            .help(format!("give {names}and the values")))
        .or_raise(py);
    }
    let mut named = BTreeMap::new();
    for (name, array) in names.into_iter().zip(arrays.by_ref()) {
        named.insert(name.clone(), array?);
    }
    let values = arrays.next().expect("one array is left")?;
    let (format, n_entries) = (Arc::clone(format), values.len());
    State::get().run_over(py, n_entries, (), move |_, _, ()| {
        RelationTensor::new(format, shape, BTreeMap::new(), named, values)
    })
}

/// How entries become a tensor.
pub(crate) struct Packing<'a, 'py> {
    pub(crate) storage: &'a Storage,
    pub(crate) fill: Option<&'a Bound<'py, PyUntypedArray>>,
    /// Whether two entries at the same coordinates are refused; else they are added.
    pub(crate) distinct: bool,
}

/// A tensor of entries in any order: for each mode their coordinates, and their values.
pub(crate) fn packed(
    py: Python<'_>,
    packing: &Packing<'_, '_>,
    shape: Vec<u64>,
    coords: &[Bound<'_, PyUntypedArray>],
    values: &Bound<'_, PyUntypedArray>,
) -> PyResult<Held> {
    let values = lent::array(values, Lending::Copied)?;
    let storage = packing.storage.clone();
    let format = match &storage {
        Storage::Levels(format) => format.clone(),
        Storage::Relation(format) => format.nearest(),
    };
    let fill = fill(&format, packing.fill, &values)?;
    let lists: PyResult<Vec<Array>> = coords
        .iter()
        .map(|list| lent::array(list, Lending::Values))
        .collect();
    let lists = lists?;
    let options = PackOptions {
        fill: Some(fill),
        duplicates: match packing.distinct {
            true => Duplicates::Refuse,
            false => Duplicates::default(),
        },
        ..PackOptions::default()
    };
    let n_entries = values.len();
    let made = State::get().run_over(py, n_entries, lists, move |state, cancel, lists| {
        let coords = interleaved(lists, values.len())?;
        let entries = Entries {
            extents: shape,
            coords: coords.into(),
            values,
        };
        let packed = Tensor::pack_entries(&format, entries, options)?;
        match &storage {
            Storage::Levels(_) => Ok(sparsec::Stored::Levels(packed)),
            Storage::Relation(_) => stored_as(&state.session.until(cancel), packed, &storage),
        }
    })?;
    Ok(made.into())
}

/// The coordinates entry by entry, of a list for each mode.
fn interleaved(lists: &[Array], n_entries: usize) -> sparsec::Result<Vec<u64>> {
    if let Some(mode) = lists.iter().position(|list| list.len() != n_entries) {
        let message = format!(
            "mode {mode} has {} coordinates for {n_entries} values",
            lists[mode].len()
        );
        return Err(
            Diagnostic::new(code::LENGTH_MISMATCH, message).help("give one coordinate an entry")
        );
    }
    let order = lists.len();
    let mut coords = vec![0; n_entries * order];
    for (mode, list) in lists.iter().enumerate() {
        let Some(list) = list.as_slice::<i64>() else {
            let message = format!("coordinates of mode {mode} are {}", list.element());
            return Err(Diagnostic::new(code::ARRAY_MISMATCH, message)
                .help("give coordinates as integers of 64 bits"));
        };
        for (entry, &coord) in polled(list.iter().enumerate()) {
            let Ok(coord) = u64::try_from(coord) else {
                let message = format!("entry {entry} has coordinate {coord} in mode {mode}");
                return Err(Diagnostic::new(code::OUT_OF_BOUNDS, message)
                    .help("coordinates count from 0; a negative one does not count from the end"));
            };
            coords[entry * order + mode] = coord;
        }
    }
    Ok(coords)
}
