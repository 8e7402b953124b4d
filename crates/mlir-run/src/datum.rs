//! Values of a run.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

use sparsec_base::{ElementType, Result, Scalar, Span};
use sparsec_format::Format;
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};

use crate::memory::{Buffer, MemRef, count};
use crate::runner::files::{Reader, Writer};
use crate::runner::random::Generator;
use crate::tensors::structured::Later;

/// The value of an SSA value.
#[derive(Clone, Debug)]
pub(crate) enum Datum {
    Number(Scalar),
    Tensor(TensorHandle),
    /// A tensor that its only reader computes.
    Later(Rc<Later>),
    MemRef(MemRef),
    /// The numbers of a vector, the last mode fastest.
    Vector(Rc<Vec<Scalar>>),
    /// The path of a file; `None` for the null pointer.
    Pointer(Option<Rc<str>>),
    /// A generator of random numbers of the runner.
    Generator(Rc<RefCell<Generator>>),
    /// A file that is read entry by entry.
    Reader(Rc<Reader>),
    /// A file that is written entry by entry.
    Writer(Rc<Writer>),
    /// A function as a value, which no operation calls.
    Function,
    Specifier(Rc<BTreeMap<(&'static str, u64), i64>>),
    Space(Rc<Space>),
    Iterator(Rc<Place>),
}

/// Some levels of a tensor below one position.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub(crate) tensor: Rc<Tensor>,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The position in the level above.
    pub(crate) parent: usize,
}

/// A position in a level of a tensor, with the coordinates of an iteration space down to it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) position: usize,
    pub(crate) coords: Vec<u64>,
}

/// A tensor that values of the program share.
#[derive(Clone, Debug)]
pub(crate) struct TensorHandle(pub(crate) Rc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) state: RefCell<State>,
    /// The place of its release.
    pub(crate) released: Cell<Option<Span>>,
    /// The memory of its arrays that the program has, which ends with the tensor.
    pub(crate) views: RefCell<Vec<Weak<Buffer>>>,
    /// The offset and stride of each mode, if the tensor is a slice of another.
    pub(crate) slice: Vec<(i64, i64)>,
}

/// How a tensor is held.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// One value at all entries of a dense tensor.
    Splat { value: Scalar, extents: Vec<u64> },
    /// Arrays.
    Stored(Rc<Tensor>),
    /// A sparse tensor to which entries are added.
    Growing(Rc<Growing>),
}

/// Entries on their way into a sparse tensor.
#[derive(Clone, Debug)]
pub(crate) struct Growing {
    pub(crate) format: Format,
    pub(crate) extents: Vec<u64>,
    pub(crate) element: ElementType,
    /// The coordinates of all entries by modes, entry by entry.
    pub(crate) coords: Vec<u64>,
    pub(crate) values: Vec<Scalar>,
    /// The coordinates of the last entry by levels.
    pub(crate) last: Vec<i64>,
}

impl Growing {
    pub(crate) fn new(format: Format, extents: &[u64], element: ElementType) -> Self {
        Self {
            format,
            extents: extents.to_vec(),
            element,
            coords: Vec::new(),
            values: Vec::new(),
            last: Vec::new(),
        }
    }

    /// The tensor of the entries so far.
    pub(crate) fn packed(&self) -> Result<Tensor> {
        let entries = Entries {
            extents: self.extents.clone(),
            coords: self.coords.clone().into(),
            values: array_of(self.element, &self.values)?,
        };
        pack(&self.format, entries)
    }
}

/// An array of these numbers.
///
/// # Errors
/// If memory is out.
pub(crate) fn array_of(element: ElementType, values: &[Scalar]) -> Result<Array> {
    let mut array = Array::zeroed(element, values.len())?;
    for (n, value) in values.iter().enumerate() {
        array.set(n, *value);
    }
    Ok(array)
}

/// The entries of a tensor in a format, each with the value that `kept` gives; without the entries
/// for which it gives none.
pub(crate) fn repacked(
    tensor: &Tensor,
    element: ElementType,
    format: &Format,
    mut kept: impl FnMut(Scalar) -> Option<Scalar>,
) -> Result<Tensor> {
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    tensor.for_each_stored(|at, value| {
        if let Some(value) = kept(value) {
            coords.extend_from_slice(at);
            values.push(value);
        }
    });
    let entries = Entries {
        extents: tensor.extents().to_vec(),
        coords: coords.into(),
        values: array_of(element, &values)?,
    };
    pack(format, entries)
}

/// A tensor of entries whose other entries are zero.
///
/// # Errors
/// Those of packing.
pub(crate) fn pack(format: &Format, entries: Entries) -> Result<Tensor> {
    let options = PackOptions {
        fill: Some(entries.element().zero()),
        ..PackOptions::default()
    };
    Tensor::pack_entries(format, entries, options)
}

/// Views beyond which those that the program dropped are forgotten.
const MANY_VIEWS: usize = 1024;

impl TensorHandle {
    /// Remembers memory of the tensor's arrays.
    pub(crate) fn viewed_by(&self, buffer: &Rc<Buffer>) {
        let mut views = self.0.views.borrow_mut();
        if views.len() >= MANY_VIEWS {
            views.retain(|view| view.strong_count() > 0);
        }
        views.push(Rc::downgrade(buffer));
    }

    /// Releases the tensor and the memory of its arrays.
    pub(crate) fn release(&self, by: Span) {
        self.0.released.set(Some(by));
        for view in self.0.views.borrow().iter().filter_map(Weak::upgrade) {
            view.released.set(Some(by));
        }
    }

    pub(crate) fn of_state(state: State) -> Self {
        Self(Rc::new(Shared {
            state: RefCell::new(state),
            released: Cell::new(None),
            views: RefCell::default(),
            slice: Vec::new(),
        }))
    }

    pub(crate) fn new(tensor: Tensor) -> Self {
        Self::of_shared(Rc::new(tensor))
    }

    pub(crate) fn of_shared(tensor: Rc<Tensor>) -> Self {
        Self::of_state(State::Stored(tensor))
    }

    pub(crate) fn splat(value: Scalar, extents: Vec<u64>) -> Self {
        Self::of_state(State::Splat { value, extents })
    }

    /// The same tensor as a slice of another, with the offset and stride of each mode.
    pub(crate) fn sliced(self, slice: Vec<(i64, i64)>) -> Self {
        Self(Rc::new(Shared {
            state: RefCell::new(self.0.state.borrow().clone()),
            released: Cell::new(self.0.released.get()),
            views: RefCell::default(),
            slice,
        }))
    }

    pub(crate) fn extents(&self) -> Vec<u64> {
        match &*self.0.state.borrow() {
            State::Splat { extents, .. } => extents.clone(),
            State::Stored(tensor) => tensor.extents().to_vec(),
            State::Growing(growing) => growing.extents.clone(),
        }
    }

    /// The value of all entries, if it is known to be one.
    pub(crate) fn uniform(&self) -> Option<Scalar> {
        match &*self.0.state.borrow() {
            State::Splat { value, .. } => Some(*value),
            State::Stored(tensor) if tensor.n_stored() == 0 => Some(tensor.fill()),
            State::Growing(growing) if growing.values.is_empty() => Some(growing.element.zero()),
            _ => None,
        }
    }

    /// The arrays of the tensor. Entries that were added so far are assembled.
    ///
    /// # Errors
    /// If memory is out, and those of packing.
    pub(crate) fn tensor(&self) -> Result<Rc<Tensor>> {
        let made = match &*self.0.state.borrow() {
            State::Stored(tensor) => return Ok(tensor.clone()),
            State::Splat { value, extents } => {
                dense(extents.clone(), Array::filled(*value, count(extents)?)?)?
            }
            // More entries may be added behind this use.
            State::Growing(growing) => return growing.packed().map(Rc::new),
        };
        let made = Rc::new(made);
        *self.0.state.borrow_mut() = State::Stored(made.clone());
        Ok(made)
    }

    /// The tensor alone, without a copy if nobody else has it.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub(crate) fn into_tensor(self) -> Result<Tensor> {
        let tensor = self.tensor()?;
        drop(self);
        match Rc::try_unwrap(tensor) {
            Ok(tensor) => Ok(tensor),
            Err(shared) => shared.try_clone(),
        }
    }
}

/// A dense tensor of entries, the last mode fastest.
///
/// # Errors
/// Those of the check of tensors.
pub(crate) fn dense(extents: Vec<u64>, entries: Array) -> Result<Tensor> {
    let format = Format::dense(extents.len());
    let (element, zero) = (entries.element(), entries.element().zero());
    Tensor::new(format, extents, element, zero, vec![entries])
}
