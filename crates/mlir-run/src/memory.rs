//! Buffers, and memrefs as views of them.
//!
//! ```text
//! buffer   0 1 2 3 4 5 6 7 8 9 10 11      4 rows of 3
//! memref   offset 1, sizes [2, 2], strides [6, 1]:   1 2
//!                                                    7 8
//! ```

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sparsec_base::{Diagnostic, Result, Scalar, Span, code};
use sparsec_tensor::Array;

/// Memory that memrefs view.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) array: RefCell<Array>,
    /// The number of the buffer in the run, which stands for its address.
    pub(crate) number: u64,
    /// The place of its deallocation.
    pub(crate) released: Cell<Option<Span>>,
    /// How many times the program stored into it.
    pub(crate) n_stores: Cell<u64>,
}

impl Buffer {
    fn note_store(&self) {
        self.n_stores.set(self.n_stores.get() + 1);
    }
}

/// A view of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct MemRef {
    pub(crate) buffer: Rc<Buffer>,
    pub(crate) offset: i64,
    pub(crate) sizes: Vec<u64>,
    pub(crate) strides: Vec<i64>,
}

/// The strides of entries that follow one another, the last mode fastest.
pub(crate) fn contiguous(sizes: &[u64]) -> Vec<i64> {
    let mut strides = vec![1; sizes.len()];
    for mode in (1..sizes.len()).rev() {
        // A product past 64 bits belongs to a shape without entries.
        strides[mode - 1] = i64::wrapping_mul(strides[mode], sizes[mode].max(1) as i64);
    }
    strides
}

/// The number of places of a shape; `None` for 2^128 or more.
pub(crate) fn n_places<'e>(extents: impl IntoIterator<Item = &'e u64>) -> Option<u128> {
    let extents: Vec<u128> = extents.into_iter().map(|extent| (*extent).into()).collect();
    match extents.contains(&0) {
        true => Some(0),
        false => extents.into_iter().try_fold(1, u128::checked_mul),
    }
}

/// The number of entries of a shape.
///
/// # Errors
/// `E1064` for more than memory holds.
pub(crate) fn count(sizes: &[u64]) -> Result<usize> {
    match n_places(sizes) {
        Some(n) if n <= 1 << 40 => Ok(n as usize),
        _ => Err(Diagnostic::new(
            code::RUN_LIMIT,
            format!("a shape of {sizes:?} has more entries than memory holds"),
        )
        .help("use smaller extents, or a sparse tensor")),
    }
}

/// The number of entries of a vector, which a processor holds.
///
/// # Errors
/// `E1064` for more than 2^24.
pub(crate) fn count_of_vector(sizes: &[u64]) -> Result<usize> {
    match count(sizes)? {
        n if n <= 1 << 24 => Ok(n),
        n => Err(
            Diagnostic::new(code::RUN_LIMIT, format!("a vector of {n} numbers"))
                .help("use a tensor or a memref"),
        ),
    }
}

impl MemRef {
    /// A view of a whole buffer in one mode.
    pub(crate) fn whole(buffer: Rc<Buffer>) -> Self {
        let n = buffer.array.borrow().len();
        Self {
            buffer,
            offset: 0,
            sizes: vec![n as u64],
            strides: vec![1],
        }
    }

    /// A view of a whole new buffer.
    pub(crate) fn new(array: Array, sizes: Vec<u64>, number: u64) -> Self {
        Self {
            strides: contiguous(&sizes),
            sizes,
            offset: 0,
            buffer: Rc::new(Buffer {
                array: RefCell::new(array),
                number,
                released: Cell::new(None),
                n_stores: Cell::new(0),
            }),
        }
    }

    /// The place of an entry in the buffer; `None` outside of the view or the buffer.
    pub(crate) fn place(&self, at: &[i64]) -> Option<usize> {
        let mut place = self.offset;
        for ((at, size), stride) in at.iter().zip(&self.sizes).zip(&self.strides) {
            if *at < 0 || *at as u64 >= *size {
                return None;
            }
            place = place.checked_add(at.checked_mul(*stride)?)?;
        }
        let place = usize::try_from(place).ok()?;
        (place < self.buffer.array.borrow().len()).then_some(place)
    }

    pub(crate) fn get(&self, at: &[i64]) -> Option<Scalar> {
        let place = self.place(at)?;
        Some(self.buffer.array.borrow().get(place))
    }

    /// Stores an entry; whether it is inside of the view.
    pub(crate) fn set(&self, at: &[i64], value: Scalar) -> bool {
        let place = self.place(at);
        if let Some(place) = place {
            self.buffer.note_store();
            self.buffer.array.borrow_mut().set(place, value);
        }
        place.is_some()
    }

    /// Whether the entries are the whole buffer in order.
    fn is_whole(&self) -> bool {
        let n = count(&self.sizes).ok();
        self.offset == 0
            && self.strides == contiguous(&self.sizes)
            && n == Some(self.buffer.array.borrow().len())
    }

    /// A copy of the entries, the last mode fastest; `None` if a part lies outside of the buffer.
    ///
    /// # Errors
    /// If memory is out.
    pub(crate) fn copied(&self) -> Result<Option<Array>> {
        let from = self.buffer.array.borrow();
        if self.is_whole() {
            return from.try_clone().map(Some);
        }
        let n = count(&self.sizes)?;
        let mut array = Array::zeroed(from.element(), n)?;
        let mut at = vec![0; self.sizes.len()];
        for n in 0..n {
            let Some(place) = self.place(&at) else {
                return Ok(None);
            };
            array.set(n, from.get(place));
            advance(&mut at, &self.sizes);
        }
        Ok(Some(array))
    }

    /// Stores all entries, given the last mode fastest; whether all are inside of the buffer.
    pub(crate) fn assign(&self, entries: Array) -> bool {
        if self.is_whole() && entries.element() == self.buffer.array.borrow().element() {
            self.buffer.note_store();
            *self.buffer.array.borrow_mut() = entries;
            return true;
        }
        let mut at = vec![0; self.sizes.len()];
        for n in 0..entries.len() {
            if !self.set(&at, entries.get(n)) {
                return false;
            }
            advance(&mut at, &self.sizes);
        }
        true
    }
}

/// The next coordinates of a shape, the last mode fastest.
pub(crate) fn advance(at: &mut [i64], sizes: &[u64]) {
    for (at, size) in at.iter_mut().zip(sizes).rev() {
        *at += 1;
        if (*at as u64) < *size {
            return;
        }
        *at = 0;
    }
}
