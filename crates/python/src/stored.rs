//! The class `Stored`: a tensor, as the classes of Python hold it.
//!
//! A stored tensor never changes. What changes a tensor makes another one.

use std::sync::OnceLock;

use numpy::PyUntypedArray;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sparsec::{Array, Format, PrintOptions, Tensor, Widths, Window};

use crate::build::{self, Attributes, Packing};
use crate::element;
use crate::error::OrRaise;
use crate::session::{self, State};
use crate::view;

/// A tensor.
#[pyclass(frozen, module = "sparsec._sparsec")]
pub(crate) struct Stored {
    tensor: Tensor,
    /// The number of its format, type and fill.
    kind: OnceLock<u64>,
}

impl From<Tensor> for Stored {
    fn from(tensor: Tensor) -> Self {
        Self {
            tensor,
            kind: OnceLock::new(),
        }
    }
}

impl Stored {
    pub(crate) fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    pub(crate) fn kind(&self) -> u64 {
        *self.kind.get_or_init(|| session::kind(&self.tensor))
    }

    fn format_named(&self, py: Python<'_>, text: &str) -> PyResult<Format> {
        build::format(text, self.tensor.order()).or_raise(py)
    }
}

/// An array with its name, which Python code reads.
type Named<'py> = (String, Bound<'py, PyAny>);

#[pymethods]
impl Stored {
    #[staticmethod]
    #[pyo3(signature = (format, shape, holder, names, copied, segments))]
    fn of_attributes(
        py: Python<'_>,
        format: &str,
        shape: Vec<u64>,
        holder: &Bound<'_, PyAny>,
        names: Vec<String>,
        copied: Option<bool>,
        segments: Option<Vec<i64>>,
    ) -> PyResult<Self> {
        let format = build::format(format, shape.len()).or_raise(py)?;
        let attributes = Attributes {
            holder,
            names: &names,
            copied,
            segments,
        };
        build::of_attributes(py, &format, shape, attributes).map(Self::from)
    }

    #[staticmethod]
    #[pyo3(signature = (format, shape, arrays, fill))]
    fn of_arrays(
        py: Python<'_>,
        format: &str,
        shape: Vec<u64>,
        arrays: Vec<Bound<'_, PyUntypedArray>>,
        fill: Option<Bound<'_, PyUntypedArray>>,
    ) -> PyResult<Self> {
        let format = build::format(format, shape.len()).or_raise(py)?;
        build::of_arrays(py, &format, shape, &arrays, fill.as_ref()).map(Self::from)
    }

    #[staticmethod]
    fn dense(values: Bound<'_, PyUntypedArray>, reversed: bool, copied: bool) -> PyResult<Self> {
        build::dense(&values, reversed, copied).map(Self::from)
    }

    #[staticmethod]
    fn packed(
        py: Python<'_>,
        format: &str,
        shape: Vec<u64>,
        coords: Vec<Bound<'_, PyUntypedArray>>,
        values: Bound<'_, PyUntypedArray>,
        fill: Option<Bound<'_, PyUntypedArray>>,
        distinct: bool,
    ) -> PyResult<Self> {
        let format = build::format(format, shape.len()).or_raise(py)?;
        let packing = Packing {
            format: &format,
            fill: fill.as_ref(),
            distinct,
        };
        build::packed(py, &packing, shape, &coords, &values).map(Self::from)
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tensor.extents())
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        element::numpy_name(self.tensor.element())
    }

    /// The format as text that reads back, with its widths and fill.
    #[getter]
    fn format(&self) -> String {
        self.tensor.format().to_string()
    }

    /// The name of the preset, where there is one, without the widths of index arrays.
    #[getter]
    fn short_format(&self) -> String {
        let format = self.tensor.format().clone().without_fill();
        format.with_widths(Widths::default()).short_name()
    }

    #[getter]
    fn nnz(&self) -> usize {
        self.tensor.n_filled()
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.tensor.bytes()
    }

    #[getter]
    fn fill<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        element::to_python(py, self.tensor.fill())
    }

    /// The levels, outermost first, of all parts: `j : compressed`.
    #[getter]
    fn levels(&self) -> Vec<String> {
        let parts = self.tensor.format().parts();
        let levels = parts.iter().flat_map(|part| {
            let levels = part.levels().iter();
            levels.map(|level| {
                let coordinate = level.coordinate.text(part.modes());
                format!("{coordinate} : {}", level.kind.text())
            })
        });
        levels.collect()
    }

    /// Read-only views of the arrays, in the order of the format, with their names.
    #[getter]
    fn buffers<'py>(this: Bound<'py, Self>) -> PyResult<Vec<Named<'py>>> {
        let tensor = &this.get().tensor;
        let specs = tensor.format().arrays();
        let named = specs.iter().zip(tensor.arrays()).map(|(spec, array)| {
            let name = spec.role.in_descriptor().unwrap_or("vals".to_owned());
            let view = view::of(this.as_any(), array, &[array.len() as u64])?;
            Ok((name, view))
        });
        named.collect()
    }

    /// A headline and the first entries.
    fn text(&self, most_entries: usize, edge_entries: usize) -> String {
        let options = PrintOptions {
            most_entries,
            edge_entries,
            ..PrintOptions::default()
        };
        let values = self.tensor.values_text(options);
        match values.is_empty() {
            true => self.tensor.headline(),
            false => format!("{}\n{values}", self.tensor.headline()),
        }
    }

    /// The value at these coordinates.
    fn get<'py>(&self, py: Python<'py>, coords: Vec<u64>) -> PyResult<Bound<'py, PyAny>> {
        let extents = self.tensor.extents();
        let is_inside = coords.len() == extents.len()
            && coords
                .iter()
                .zip(extents)
                .all(|(coord, extent)| coord < extent);
        if !is_inside {
            return Err(PyIndexError::new_err(format!(
                "coordinates {coords:?} are outside of a tensor of extents {extents:?}"
            )));
        }
        element::to_python(py, self.tensor.get(&coords))
    }

    fn convert(&self, py: Python<'_>, format: &str) -> PyResult<Self> {
        let format = self.format_named(py, format)?;
        let state = State::get();
        let converted = state.run(py, || state.session.convert(&self.tensor, &format))?;
        Ok(converted.into())
    }

    fn permute(&self, py: Python<'_>, modes: Vec<usize>) -> PyResult<Self> {
        let permuted = State::get().run(py, || self.tensor.permute(&modes))?;
        Ok(permuted.into())
    }

    /// The entries in these windows: the first coordinate, the first beyond, the stride.
    fn slice(&self, py: Python<'_>, windows: Vec<(u64, u64, u64)>) -> PyResult<Self> {
        let windows: Vec<Window> = windows
            .into_iter()
            .map(|(start, end, stride)| Window::from(start..end).every(stride))
            .collect();
        let sliced = State::get().run(py, || self.tensor.slice(&windows))?;
        Ok(sliced.into())
    }

    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let copy = State::get().run(py, || {
            let (format, extents) = (self.tensor.format(), self.tensor.extents());
            let arrays: sparsec::Result<Vec<Array>> = self
                .tensor
                .arrays()
                .iter()
                .map(|array| {
                    let mut array = array.try_clone()?;
                    array.make_own()?;
                    Ok(array)
                })
                .collect();
            let (element, fill) = (self.tensor.element(), self.tensor.fill());
            Tensor::new(format.clone(), extents.to_vec(), element, fill, arrays?)
        })?;
        Ok(copy.into())
    }

    /// The arrays in another format. Those of the tensor itself are read-only views, unless
    /// `copied`; others are the caller's.
    fn arrays_in<'py>(
        this: Bound<'py, Self>,
        format: &str,
        copied: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let py = this.py();
        let stored = this.get();
        let format = stored.format_named(py, format)?;
        let tensor = &stored.tensor;
        if tensor.format().arranges_like(&format) {
            let arrays = tensor.arrays().iter();
            return arrays
                .map(|array| {
                    let shape = [array.len() as u64];
                    match copied {
                        true => view::owned(py, array.try_clone().or_raise(py)?, &shape),
                        false => view::of(this.as_any(), array, &shape),
                    }
                })
                .collect();
        }
        let state = State::get();
        let converted = state.run(py, || state.session.convert(tensor, &format))?;
        let (_, _, _, arrays) = converted.into_parts();
        let owned = arrays.into_iter().map(|array| {
            let shape = [array.len() as u64];
            view::owned(py, array, &shape)
        });
        owned.collect()
    }

    /// The stored entries in storage order: for each mode their coordinates, and their values.
    fn entries<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Bound<'py, PyAny>)> {
        let order = self.tensor.order();
        let (lists, values) = State::get().run(py, || {
            let entries = match self.tensor.format().has_sparse() {
                true => self.tensor.try_entries()?,
                false => self.tensor.try_nonfill()?,
            };
            let mut lists = vec![Vec::with_capacity(entries.len()); order];
            for (at, coord) in entries.coords.iter().enumerate() {
                lists[at % order].push(coord as i64);
            }
            Ok((lists, entries.values))
        })?;
        let shape = [values.len() as u64];
        let lists = lists
            .into_iter()
            .map(|list| view::owned(py, Array::from_index_vec(list), &shape));
        let lists: PyResult<Vec<Bound<'py, PyAny>>> = lists.collect();
        Ok((lists?, view::owned(py, values, &shape)?))
    }
}
