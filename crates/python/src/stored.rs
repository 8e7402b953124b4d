//! The class `Stored`: a tensor, as the classes of Python hold it.
//!
//! A stored tensor never changes. What changes a tensor makes another one.

use std::sync::OnceLock;

use numpy::PyUntypedArray;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sparsec::internals::cancel::polled;
use sparsec::{Array, ElementType, Format, PrintOptions, Session, Storage, Tensor, Widths, Window};

use crate::build::{self, Attributes, Packing};
use crate::element;
use crate::error::OrRaise;
use crate::format;
use crate::held::{Held, Related};
use crate::session::{self, State};
use crate::view;

/// A tensor, whose arrays are checked when they are first read.
#[pyclass(frozen, module = "sparsec._sparsec")]
pub(crate) struct Stored {
    held: Held,
    /// The number of its format, type and fill.
    kind: OnceLock<u64>,
}

impl From<Tensor> for Stored {
    fn from(tensor: Tensor) -> Self {
        Held::Checked(tensor).into()
    }
}

impl From<Held> for Stored {
    fn from(held: Held) -> Self {
        Self {
            held,
            kind: OnceLock::new(),
        }
    }
}

impl Stored {
    /// The tensor, with arrays that were checked.
    pub(crate) fn tensor(&self, py: Python<'_>) -> PyResult<&Tensor> {
        self.held.tensor(py)
    }

    /// What `work` makes of the tensor. Ctrl-C ends work over many entries.
    fn over<R: Send + 'static>(
        this: &Bound<'_, Self>,
        work: impl FnOnce(&Session, &Tensor) -> sparsec::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        let n_entries = this.get().tensor(this.py())?.n_stored();
        let held = this.clone().unbind();
        State::get().run_over(this.py(), n_entries, held, move |state, cancel, held| {
            let tensor = held.get().held.known().expect("it was checked");
            work(&state.session.until(cancel), tensor)
        })
    }

    pub(crate) fn held(&self) -> &Held {
        &self.held
    }

    pub(crate) fn kind(&self) -> u64 {
        *self.kind.get_or_init(|| session::kind(&self.held))
    }

    fn format_named(&self, py: Python<'_>, text: &str) -> PyResult<Format> {
        build::format(text, self.held.extents().len()).or_raise(py)
    }
}

/// The shape, the format and the number of values in one line.
fn headline(related: &Related) -> String {
    let tensor = related.relation();
    let extents = tensor.extents().iter().map(u64::to_string);
    format!(
        "{}[{}], {}, {} stored",
        tensor.element(),
        extents.collect::<Vec<_>>().join(", "),
        tensor.format().name(),
        tensor.values().len(),
    )
}

/// An array with its name, which Python code reads.
type Named<'py> = (String, Bound<'py, PyAny>);

#[pymethods]
impl Stored {
    #[staticmethod]
    #[pyo3(signature = (format, shape, holder, names, copied, segments, order))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn of_attributes(
        py: Python<'_>,
        format: &str,
        shape: Vec<u64>,
        holder: &Bound<'_, PyAny>,
        names: Vec<String>,
        copied: Option<bool>,
        segments: Option<Vec<i64>>,
        order: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let format = build::format(format, shape.len()).or_raise(py)?;
        let attributes = Attributes {
            holder,
            names: &names,
            copied,
            segments,
            order,
        };
        build::of_attributes(py, format, shape, attributes).map(Self::from)
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
        match build::storage(format, shape.len()).or_raise(py)? {
            Storage::Levels(format) => {
                build::of_arrays(py, &format, shape, &arrays, fill.as_ref()).map(Self::from)
            }
            Storage::Relation(format) => {
                let made = build::of_relation(py, &format, shape, &arrays)?;
                Ok(Held::from(sparsec::Stored::Relation(made)).into())
            }
        }
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
        let storage = build::storage(format, shape.len()).or_raise(py)?;
        let packing = Packing {
            storage: &storage,
            fill: fill.as_ref(),
            distinct,
        };
        build::packed(py, &packing, shape, &coords, &values).map(Self::from)
    }

    /// A tensor of parts, each at an offset for each mode.
    #[staticmethod]
    fn joined(
        py: Python<'_>,
        format: &str,
        shape: Vec<u64>,
        parts: Vec<(Vec<u64>, Py<Self>)>,
    ) -> PyResult<Self> {
        let format = build::format(format, shape.len()).or_raise(py)?;
        let mut n_entries = 0;
        for (_, part) in &parts {
            n_entries += part.get().tensor(py)?.n_stored();
        }
        let joined = State::get().run_over(py, n_entries, parts, move |_, _, parts| {
            let known = parts.iter().map(|(offset, part)| {
                let tensor = part.get().held.known();
                (&offset[..], tensor.expect("it was checked"))
            });
            Tensor::join(&format, &shape, &known.collect::<Vec<_>>())
        })?;
        Ok(joined.into())
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.held.extents())
    }

    #[getter]
    fn dtype(&self) -> &'static str {
        element::numpy_name(self.held.element())
    }

    /// The format as text that reads back, with its widths and fill.
    #[getter]
    fn format(&self) -> String {
        match self.held.related() {
            Some(related) => related.format(),
            None => self.held.format().to_string(),
        }
    }

    /// Whether the format is a relation, and has no levels.
    #[getter]
    fn is_relation(&self) -> bool {
        self.held.related().is_some()
    }

    /// The name of the preset, where there is one, without the widths of index arrays.
    #[getter]
    fn short_format(&self) -> String {
        if let Some(related) = self.held.related() {
            return related.format();
        }
        let format = self.held.format().clone().without_fill();
        format.with_widths(Widths::default()).short_name()
    }

    #[getter]
    fn order(&self) -> usize {
        self.held.extents().len()
    }

    #[getter]
    fn holds_truths(&self) -> bool {
        self.held.element() == ElementType::Bool
    }

    /// Whether the result of `self @ right`, of vectors and matrices, is dense, whatever the formats
    /// say: one factor is dense, and the other stores at least as many entries as there are rows of
    /// the result (or columns, for a factor on the right). So the result takes no more memory for each
    /// column of the dense factor than the other factor does.
    fn has_dense_product(&self, right: &Bound<'_, Self>) -> PyResult<bool> {
        let (py, right) = (right.py(), right.get());
        let is_dense = |it: &Self| it.held.related().is_none() && it.held.format().is_all_dense();
        let (sparse, mode) = match (is_dense(self), is_dense(right)) {
            (false, true) => (self, 0),
            (true, false) => (right, 1),
            _ => return Ok(false),
        };
        let extents = sparse.held.extents();
        let has_zeros = sparse.held.fill() == sparse.held.element().zero();
        if extents.len() != 2 || sparse.held.related().is_some() || !has_zeros {
            return Ok(false);
        }
        Ok(sparse.tensor(py)?.n_stored() as u64 >= extents[mode])
    }

    /// A number that tensors have in common whose formats (but for widths), types and fills are
    /// equal.
    #[getter(kind)]
    fn kind_number(&self) -> u64 {
        self.kind()
    }

    #[getter]
    fn nnz(&self, py: Python<'_>) -> PyResult<usize> {
        if let Some(related) = self.held.related() {
            return Ok(related.stored().n_stored());
        }
        Ok(self.tensor(py)?.n_filled())
    }

    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        if let Some(related) = self.held.related() {
            return Ok(related.relation().bytes());
        }
        Ok(self.tensor(py)?.bytes())
    }

    #[getter]
    fn fill<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        element::to_python(py, self.held.fill())
    }

    /// The levels, outermost first, of all parts: `j : compressed`.
    #[getter]
    fn levels(&self) -> Vec<String> {
        if let Some(related) = self.held.related() {
            return vec![format!("{} : relation", related.relation().format().name())];
        }
        format::levels(self.held.format())
    }

    /// Read-only views of the arrays, in the order of the format, with their names.
    #[getter]
    fn buffers<'py>(this: Bound<'py, Self>) -> PyResult<Vec<Named<'py>>> {
        if let Some(related) = this.get().held.related() {
            let tensor = related.relation();
            let arrays = tensor.arrays().iter().map(|(name, array)| {
                let shape = tensor.array_extents(name);
                Ok((name.clone(), view::of(this.as_any(), array, &shape)?))
            });
            let mut named = arrays.collect::<PyResult<Vec<_>>>()?;
            let values = tensor.values();
            let view = view::of(this.as_any(), values, &[values.len() as u64])?;
            named.push(("vals".to_owned(), view));
            return Ok(named);
        }
        let tensor = this.get().tensor(this.py())?;
        let specs = tensor.format().arrays();
        let named = specs.iter().zip(tensor.arrays()).map(|(spec, array)| {
            let name = spec.role.in_descriptor().unwrap_or("vals".to_owned());
            let view = view::of(this.as_any(), array, &[array.len() as u64])?;
            Ok((name, view))
        });
        named.collect()
    }

    /// A headline and the first entries.
    fn text(&self, py: Python<'_>, most_entries: usize, edge_entries: usize) -> PyResult<String> {
        let tensor = self.tensor(py)?;
        let options = PrintOptions {
            most_entries,
            edge_entries,
            ..PrintOptions::default()
        };
        let values = tensor.values_text(options);
        let headline = match self.held.related() {
            Some(related) => headline(related),
            None => tensor.headline(),
        };
        Ok(match values.is_empty() {
            true => headline,
            false => format!("{headline}\n{values}"),
        })
    }

    /// The value at these coordinates.
    fn get<'py>(&self, py: Python<'py>, coords: Vec<u64>) -> PyResult<Bound<'py, PyAny>> {
        let extents = self.held.extents();
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
        element::to_python(py, self.tensor(py)?.get(&coords))
    }

    fn convert(this: Bound<'_, Self>, format: &str) -> PyResult<Self> {
        let (py, stored) = (this.py(), this.get());
        let order = stored.held.extents().len();
        let storage = build::storage(format, order).or_raise(py)?;
        let n_entries = match stored.held.related() {
            Some(related) => related.stored().n_stored(),
            None => stored.tensor(py)?.n_stored(),
        };
        let this = this.clone().unbind();
        let converted =
            State::get().run_over(py, n_entries, this, move |state, cancel, this| {
                let (held, session) = (&this.get().held, state.session.until(cancel));
                if let Some(related) = held.related() {
                    let converted = session.convert_stored(related.stored(), &storage)?;
                    return Ok(converted.tensor);
                }
                let tensor = held.known().expect("it was checked");
                match &storage {
                    Storage::Levels(format) => {
                        session.convert(tensor, format).map(sparsec::Stored::Levels)
                    }
                    Storage::Relation(_) => {
                        build::stored_as(&session, tensor.try_clone()?, &storage)
                    }
                }
            })?;
        Ok(Held::from(converted).into())
    }

    fn permute(this: Bound<'_, Self>, modes: Vec<usize>) -> PyResult<Self> {
        let permuted = Self::over(&this, move |_, tensor| tensor.permute(&modes))?;
        Ok(permuted.into())
    }

    /// The entries in these windows: the first coordinate, the first beyond, the stride.
    fn slice(this: Bound<'_, Self>, windows: Vec<(u64, u64, u64)>) -> PyResult<Self> {
        let windows: Vec<Window> = windows
            .into_iter()
            .map(|(start, end, stride)| Window::from(start..end).every(stride))
            .collect();
        let sliced = Self::over(&this, move |_, tensor| tensor.slice(&windows))?;
        Ok(sliced.into())
    }

    /// Checks the arrays, if they were not.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.tensor(py).map(drop)
    }

    fn copy(this: Bound<'_, Self>) -> PyResult<Self> {
        if let Some(related) = this.get().held.related() {
            return Ok(Held::from(related.stored().clone()).into());
        }
        let copy = Self::over(&this, |_, tensor| {
            let (format, extents) = (tensor.format(), tensor.extents());
            let arrays: sparsec::Result<Vec<Array>> = tensor
                .arrays()
                .iter()
                .map(|array| {
                    let mut array = array.try_clone()?;
                    array.make_own()?;
                    Ok(array)
                })
                .collect();
            let (element, fill) = (tensor.element(), tensor.fill());
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
        let tensor = stored.tensor(py)?;
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
        let converted = Self::over(&this, move |session, tensor| {
            session.convert(tensor, &format)
        })?;
        let (_, _, _, arrays) = converted.into_parts();
        let owned = arrays.into_iter().map(|array| {
            let shape = [array.len() as u64];
            view::owned(py, array, &shape)
        });
        owned.collect()
    }

    /// The stored entries in storage order: for each mode their coordinates, and their values.
    fn entries<'py>(
        this: Bound<'py, Self>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Bound<'py, PyAny>)> {
        let (py, order) = (this.py(), this.get().held.extents().len());
        let (lists, values) = Self::over(&this, move |_, tensor| {
            let entries = match tensor.format().has_sparse() {
                true => tensor.try_entries()?,
                false => tensor.try_nonfill()?,
            };
            let mut lists = vec![Vec::with_capacity(entries.len()); order];
            for (at, coord) in polled(entries.coords.iter().enumerate()) {
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
