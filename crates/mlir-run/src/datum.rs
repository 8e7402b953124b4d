//! Values of a run.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Span, code};
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
    pub(crate) views: RefCell<Vec<View>>,
    /// The offset and stride of each mode, if the tensor is a slice of another.
    pub(crate) slice: Vec<(i64, i64)>,
    pub(crate) source: Option<Source>,
    /// Whether slices of the tensor were taken, which are copies.
    pub(crate) is_sliced: Cell<bool>,
}

/// Memory of an array of a tensor.
#[derive(Debug)]
pub(crate) struct View {
    buffer: Rc<Buffer>,
    /// Whether it holds the values of all entries in order, which the tensor takes over.
    is_values: bool,
    /// How many stores into it the tensor took over.
    n_taken: Cell<u64>,
}

impl View {
    fn new(buffer: &Rc<Buffer>, is_values: bool) -> Self {
        Self {
            buffer: Rc::clone(buffer),
            is_values,
            n_taken: Cell::new(0),
        }
    }

    fn is_written(&self) -> bool {
        self.buffer.n_stores.get() > self.n_taken.get()
    }
}

/// The tensor that another one was made from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A tensor whose values the other has too, under another map of levels.
    Same(TensorHandle),
    /// A tensor of which the other is a slice.
    Whole(TensorHandle),
}

/// How a tensor is held.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// One value at all entries of a dense tensor.
    Splat { value: Scalar, extents: Vec<u64> },
    /// The entries of a dense tensor that a constant lists; the others are zero.
    Listed(Rc<Tensor>),
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
    /// The coordinates of all entries, if they come in any order.
    pub(crate) places: BTreeSet<Vec<u64>>,
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
            places: BTreeSet::new(),
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

impl TensorHandle {
    /// Remembers memory of an array of the tensor, and whether it holds the values in order. Memory
    /// that the program dropped is forgotten.
    pub(crate) fn viewed_by(&self, buffer: &Rc<Buffer>, is_values: bool) {
        let is_known = |view: &View| Rc::ptr_eq(&view.buffer, buffer);
        let mut views = self.0.views.borrow_mut();
        views.retain(|view| Rc::strong_count(&view.buffer) > 1 || view.is_written());
        if !views.iter().any(is_known) {
            views.push(View::new(buffer, is_values));
        }
        if let (Some(Source::Same(source)), true) = (&self.0.source, is_values) {
            source.viewed_by(buffer, true);
        }
    }

    /// Memory of the values that the program has.
    pub(crate) fn values_in_memory(&self) -> Option<Rc<Buffer>> {
        let views = self.0.views.borrow();
        let own = views.iter().find(|view| view.is_values);
        let own = own.map(|view| Rc::clone(&view.buffer));
        own.or_else(|| match &self.0.source {
            Some(Source::Same(source)) => source.values_in_memory(),
            _ => None,
        })
    }

    /// Ends the memory of the arrays, as the tensor gets other arrays.
    pub(crate) fn end_views(&self, by: Span) {
        for view in self.0.views.take() {
            view.buffer.released.set(Some(by));
        }
    }

    /// Takes over the entries that the program stored into memory of the values.
    ///
    /// # Errors
    /// `E1060` if it stored into memory of positions, coordinates or batches, or of a tensor and a
    /// slice of it.
    pub(crate) fn take_stores(&self) -> Result<()> {
        match &self.0.source {
            Some(Source::Same(source)) => {
                source.take_stores()?;
                if let Some(buffer) = source.values_in_memory() {
                    self.viewed_by(&buffer, true);
                }
            }
            Some(Source::Whole(whole)) => whole.take_stores()?,
            None => {}
        }
        let views = self.0.views.borrow();
        let mut written = views.iter().filter(|view| view.is_written());
        let Some(view) = written.next() else {
            return Ok(());
        };
        if self.0.is_sliced.get() || matches!(self.0.source, Some(Source::Whole(_))) {
            let message = "a store into values that a slice and its tensor have";
            return Err(Diagnostic::new(code::NOT_RUN, message)
                .help("store into the values before slices of the tensor are taken"));
        }
        let state = &mut *self.0.state.borrow_mut();
        let tensor = match &*state {
            State::Stored(tensor) => Some(Rc::clone(tensor)),
            // An insertion would have ended the memory.
            State::Growing(growing) => Some(Rc::new(growing.packed()?)),
            _ => None,
        };
        let (Some(tensor), true, None) = (tensor, view.is_values, written.next()) else {
            let message = "a store into an array that the tensor does not take over";
            return Err(Diagnostic::new(code::NOT_RUN, message).help(
                "store into the values of a tensor without batches, or assemble one of copied arrays",
            ));
        };
        let (format, extents, fill, mut arrays) = tensor.try_clone()?.into_parts();
        let values = view.buffer.array.borrow().try_clone()?;
        if let Some(last) = arrays.last_mut() {
            *last = values;
        }
        let changed = Tensor::new(format, extents, tensor.element(), fill, arrays)?;
        *state = State::Stored(Rc::new(changed));
        view.n_taken.set(view.buffer.n_stores.get());
        Ok(())
    }

    /// A copy of the state, with the stores of the program taken over.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub(crate) fn state(&self) -> Result<State> {
        self.take_stores()?;
        Ok(self.0.state.borrow().clone())
    }

    /// Releases the tensor and the memory of its arrays.
    pub(crate) fn release(&self, by: Span) {
        self.0.released.set(Some(by));
        self.end_views(by);
    }

    pub(crate) fn of_state(state: State) -> Self {
        Self(Rc::new(Shared {
            state: RefCell::new(state),
            released: Cell::new(None),
            views: RefCell::default(),
            slice: Vec::new(),
            source: None,
            is_sliced: Cell::new(false),
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

    /// The same tensor as one made from another; a slice has the offset and stride of each mode.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub(crate) fn made_from(self, source: Source, slice: Vec<(i64, i64)>) -> Result<Self> {
        if let Source::Whole(whole) = &source {
            whole.0.is_sliced.set(true);
        }
        Ok(Self(Rc::new(Shared {
            state: RefCell::new(self.state()?),
            released: Cell::new(self.0.released.get()),
            views: RefCell::default(),
            slice,
            source: Some(source),
            is_sliced: Cell::new(false),
        })))
    }

    pub(crate) fn extents(&self) -> Vec<u64> {
        match &*self.0.state.borrow() {
            State::Splat { extents, .. } => extents.clone(),
            State::Stored(tensor) | State::Listed(tensor) => tensor.extents().to_vec(),
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
    /// If memory is out, and those of packing; `E1060` if the program stored into its positions or
    /// coordinates.
    pub(crate) fn tensor(&self) -> Result<Rc<Tensor>> {
        self.take_stores()?;
        let made = match &*self.0.state.borrow() {
            State::Stored(tensor) => return Ok(tensor.clone()),
            State::Splat { value, extents } => {
                dense(extents.clone(), Array::filled(*value, count(extents)?)?)?
            }
            State::Listed(entries) => {
                let extents = entries.extents();
                let mut array = Array::zeroed(entries.element(), count(extents)?)?;
                entries.for_each_stored(|at, value| {
                    let modes = at.iter().zip(extents);
                    let place = modes.fold(0, |place, (at, extent)| place * extent + at);
                    array.set(place as usize, value);
                });
                dense(extents.to_vec(), array)?
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
