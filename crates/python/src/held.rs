//! Tensors whose arrays are checked when they are first read.
//!
//! ```text
//! asarray(matrix) ──► Given: frozen arrays, in O(1) ──first read──► Tensor: checked, in O(nnz)
//!                                                     └─ not in order ──► sorted copy by SciPy
//! ```
//!
//! Kernels follow positions and coordinates without checks, so they run on a [`Tensor`] alone,
//! which exists with checked arrays only. Arrays that NumPy lends are frozen from the moment
//! that they are given, so the check may wait: they are the same when it comes. It runs
//! without the interpreter's lock, and its error is kept as well. Ctrl-C ends a check, which is then
//! made again by the next read.
//!
//! Only borrowed arrays wait. A copy takes O(nnz) anyway, and small arrays take no time: they
//! are checked at once, so that mistakes show where they are made.
//!
//! Kernels read levels. A tensor that is stored as a relation says is packed into the nearest
//! format of levels when one first needs it, and keeps that copy.

use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::sync::OnceLockExt;
use sparsec::{
    Array, Diagnostic, ElementType, Format, FormatSpec, RelationTensor, Scalar, Tensor, code,
};

use crate::error::OrRaise;
use crate::session::State;
use crate::stored::Stored;

/// Bytes of arrays from which on the check waits. Checking so many takes some microseconds.
const WAITS: usize = 1 << 16;

/// The arrays of a tensor, with the properties that its owner states.
pub(crate) struct Parts {
    pub(crate) format: Arc<Format>,
    pub(crate) extents: Vec<u64>,
    pub(crate) fill: Scalar,
    pub(crate) arrays: Vec<Array>,
}

impl Parts {
    /// The tensor, or what is wrong with the arrays. Ctrl-C ends a long check.
    fn checked(self, py: Python<'_>) -> PyResult<sparsec::Result<Tensor>> {
        let is_long = State::is_long(self.arrays.last().map_or(0, Array::len));
        let check = move || {
            let element = self.fill.element();
            Tensor::new(self.format, self.extents, element, self.fill, self.arrays)
        };
        match is_long {
            true => State::get().watched(py, (), move |_, _, ()| Ok(check())),
            false => Ok(py.detach(check)),
        }
    }

    fn may_wait(&self) -> bool {
        let arrays = self.arrays.iter();
        let bytes: usize = arrays.map(|it| it.len() * it.element().size()).sum();
        let mut arrays = self.arrays.iter();
        bytes >= WAITS && arrays.all(|array| array.is_foreign() || array.is_empty())
    }
}

/// What puts arrays in order that are not: a function of Python, and the arrays that it takes.
pub(crate) struct Order {
    pub(crate) function: Py<PyAny>,
    pub(crate) shape: Vec<u64>,
    pub(crate) arrays: Vec<Py<PyAny>>,
}

impl Order {
    fn put(&self, py: Python<'_>) -> PyResult<Py<Stored>> {
        let arrays: Vec<_> = self.arrays.iter().map(|array| array.bind(py)).collect();
        let made = self.function.bind(py).call1((self.shape.clone(), arrays))?;
        Ok(made.cast_into::<Stored>()?.unbind())
    }
}

/// A tensor, checked or given.
pub(crate) enum Held {
    Checked(Tensor),
    Given(Box<Given>),
    Related(Arc<Related>),
}

/// A tensor that is stored as a relation says.
pub(crate) struct Related {
    stored: sparsec::Stored,
    /// The format of levels in which kernels read it.
    nearest: Format,
    levels: OnceLock<sparsec::Result<Tensor>>,
}

impl Related {
    fn new(tensor: RelationTensor) -> Self {
        Self {
            nearest: tensor.format().nearest(),
            stored: sparsec::Stored::Relation(tensor),
            levels: OnceLock::new(),
        }
    }

    pub(crate) fn relation(&self) -> &RelationTensor {
        match &self.stored {
            sparsec::Stored::Relation(tensor) => tensor,
            sparsec::Stored::Levels(_) => unreachable!("it was made of a relation"),
        }
    }

    pub(crate) fn stored(&self) -> &sparsec::Stored {
        &self.stored
    }

    /// The format as text that reads back: the name of a preset, else the text of a `.fmt` file.
    pub(crate) fn format(&self) -> String {
        FormatSpec::from(Arc::clone(self.relation().format())).to_string()
    }

    fn levels(self: &Arc<Self>, py: Python<'_>) -> PyResult<&Tensor> {
        let levels = match self.levels.get() {
            Some(levels) => levels,
            None => {
                let (n_entries, own) = (self.relation().values().len(), Arc::clone(self));
                let made = State::get().run_over(py, n_entries, own, |state, cancel, own| {
                    let session = state.session.until(cancel);
                    let levels = session.levels_of(&own.stored);
                    Ok(levels.map(std::borrow::Cow::into_owned))
                })?;
                self.levels.get_or_init_py_attached(py, || made)
            }
        };
        levels.as_ref().map_err(Clone::clone).or_raise(py)
    }
}

impl From<sparsec::Stored> for Held {
    fn from(stored: sparsec::Stored) -> Self {
        match stored {
            sparsec::Stored::Levels(tensor) => Self::Checked(tensor),
            sparsec::Stored::Relation(tensor) => Self::Related(Arc::new(Related::new(tensor))),
        }
    }
}

/// Arrays that are checked when they are read.
pub(crate) struct Given {
    format: Arc<Format>,
    extents: Vec<u64>,
    fill: Scalar,
    /// Lent ones, whose copies are further references.
    arrays: Vec<Array>,
    order: Option<Order>,
    checked: OnceLock<sparsec::Result<Tensor>>,
    sorted: OnceLock<Py<Stored>>,
}

impl Held {
    /// Arrays with their stated properties. Entries out of order, or two at one place, are sorted
    /// by `order` if it is there.
    ///
    /// # Errors
    /// Those of [`Tensor::new`], if the check does not wait.
    pub(crate) fn new(py: Python<'_>, parts: Parts, order: Option<Order>) -> PyResult<Self> {
        if !parts.may_wait() {
            return match (parts.checked(py)?, order) {
                (Err(error), Some(order)) if is_out_of_order(&error) => {
                    let sorted = order.put(py)?;
                    let tensor = sorted.get().tensor(py)?.try_clone().or_raise(py)?;
                    Ok(Self::Checked(tensor))
                }
                (checked, _) => checked.or_raise(py).map(Self::Checked),
            };
        }
        Ok(Self::Given(Box::new(Given {
            format: parts.format,
            extents: parts.extents,
            fill: parts.fill,
            arrays: parts.arrays,
            order,
            checked: OnceLock::new(),
            sorted: OnceLock::new(),
        })))
    }

    /// The format of levels in which kernels read it.
    pub(crate) fn format(&self) -> &Format {
        match self {
            Self::Checked(tensor) => tensor.format(),
            Self::Given(given) => &given.format,
            Self::Related(related) => &related.nearest,
        }
    }

    /// The tensor, if it is stored as a relation says.
    pub(crate) fn related(&self) -> Option<&Related> {
        match self {
            Self::Related(related) => Some(related),
            Self::Checked(_) | Self::Given(_) => None,
        }
    }

    pub(crate) fn extents(&self) -> &[u64] {
        match self {
            Self::Checked(tensor) => tensor.extents(),
            Self::Given(given) => &given.extents,
            Self::Related(related) => related.stored.extents(),
        }
    }

    pub(crate) fn fill(&self) -> Scalar {
        match self {
            Self::Checked(tensor) => tensor.fill(),
            Self::Given(given) => given.fill,
            Self::Related(related) => related.stored.element().zero(),
        }
    }

    pub(crate) fn element(&self) -> ElementType {
        self.fill().element()
    }

    /// The tensor in levels, whose arrays are checked if they were not.
    ///
    /// # Errors
    /// Those of [`Tensor::new`], in this call and all later ones.
    pub(crate) fn tensor(&self, py: Python<'_>) -> PyResult<&Tensor> {
        match self {
            Self::Checked(tensor) => Ok(tensor),
            Self::Given(given) => given.tensor(py),
            Self::Related(related) => related.levels(py),
        }
    }

    /// What [`Held::tensor`] gave before.
    pub(crate) fn known(&self) -> Option<&Tensor> {
        match self {
            Self::Checked(tensor) => Some(tensor),
            Self::Given(given) => match (given.checked.get()?, given.sorted.get()) {
                (Ok(tensor), _) => Some(tensor),
                (Err(_), sorted) => sorted?.get().held().known(),
            },
            Self::Related(related) => related.levels.get()?.as_ref().ok(),
        }
    }
}

impl Given {
    fn tensor(&self, py: Python<'_>) -> PyResult<&Tensor> {
        let checked = match self.checked.get() {
            Some(checked) => checked,
            None => {
                let made = self.parts().or_raise(py)?.checked(py)?;
                // Another thread may hold the cell, and wait for the interpreter's lock.
                self.checked.get_or_init_py_attached(py, || made)
            }
        };
        match (checked, &self.order) {
            (Ok(tensor), _) => Ok(tensor),
            (Err(error), Some(order)) if is_out_of_order(error) => {
                let sorted = match self.sorted.get() {
                    Some(sorted) => sorted,
                    None => {
                        let made = order.put(py)?;
                        self.sorted.get_or_init_py_attached(py, || made)
                    }
                };
                sorted.get().tensor(py)
            }
            (Err(error), _) => Err(error.clone()).or_raise(py),
        }
    }

    fn parts(&self) -> sparsec::Result<Parts> {
        let arrays: sparsec::Result<_> = self.arrays.iter().map(Array::try_clone).collect();
        Ok(Parts {
            format: Arc::clone(&self.format),
            extents: self.extents.clone(),
            fill: self.fill,
            arrays: arrays?,
        })
    }
}

/// Whether an error says that entries are out of order, or that two are at one place.
fn is_out_of_order(error: &Diagnostic) -> bool {
    [code::BAD_COORDINATES, code::DUPLICATE_ENTRY].contains(&error.code())
}
