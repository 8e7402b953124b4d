//! Arrays as the interpreter holds them.

use sparsec_base::{ElementType, Scalar};

/// The entries of one array, by storage type.
#[derive(Clone, Debug, PartialEq)]
pub enum Entries {
    /// Truth values, 0 or 1.
    Bool(Vec<u8>),
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// Single-precision numbers.
    F32(Vec<f32>),
    /// Double-precision numbers.
    F64(Vec<f64>),
}

/// Does the same to whichever vector there is.
macro_rules! on_vector {
    ($entries:expr, $vector:ident => $body:expr) => {
        match $entries {
            Entries::Bool($vector) => $body,
            Entries::I32($vector) => $body,
            Entries::I64($vector) => $body,
            Entries::F32($vector) => $body,
            Entries::F64($vector) => $body,
        }
    };
}

impl Entries {
    /// No entries, of storage type `element`.
    pub fn empty(element: ElementType) -> Self {
        match element {
            ElementType::Bool => Self::Bool(Vec::new()),
            ElementType::I32 => Self::I32(Vec::new()),
            ElementType::I64 => Self::I64(Vec::new()),
            ElementType::F32 => Self::F32(Vec::new()),
            ElementType::F64 => Self::F64(Vec::new()),
        }
    }

    /// `len` zeros of storage type `element`.
    pub fn zeros(element: ElementType, len: usize) -> Self {
        let mut entries = Self::empty(element);
        on_vector!(&mut entries, v => v.resize(len, Default::default()));
        entries
    }

    /// The storage type.
    pub fn element(&self) -> ElementType {
        match self {
            Self::Bool(_) => ElementType::Bool,
            Self::I32(_) => ElementType::I32,
            Self::I64(_) => ElementType::I64,
            Self::F32(_) => ElementType::F32,
            Self::F64(_) => ElementType::F64,
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        on_vector!(self, v => v.len())
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry at `at`, which must be below [`len`](Self::len).
    pub fn get(&self, at: usize) -> Scalar {
        match self {
            Self::Bool(v) => Scalar::Bool(v[at] != 0),
            Self::I32(v) => Scalar::I32(v[at]),
            Self::I64(v) => Scalar::I64(v[at]),
            Self::F32(v) => Scalar::F32(v[at]),
            Self::F64(v) => Scalar::F64(v[at]),
        }
    }

    /// Stores `value`, of the storage type, at `at`, which must be below
    /// [`len`](Self::len).
    pub fn set(&mut self, at: usize, value: Scalar) {
        match (self, value) {
            (Self::Bool(v), Scalar::Bool(value)) => v[at] = u8::from(value),
            (Self::I32(v), Scalar::I32(value)) => v[at] = value,
            (Self::I64(v), Scalar::I64(value)) => v[at] = value,
            (Self::F32(v), Scalar::F32(value)) => v[at] = value,
            (Self::F64(v), Scalar::F64(value)) => v[at] = value,
            (entries, value) => panic!("{} in an array of {}", value.element(), entries.element()),
        }
    }

    /// Makes the array `len` entries long with zeros behind; `false` if there
    /// is no memory for that.
    pub(super) fn extend_to(&mut self, len: usize) -> bool {
        on_vector!(self, v => {
            let more = len.saturating_sub(v.len());
            let room = v.try_reserve(more).is_ok();
            if room && more > 0 {
                v.resize(len, Default::default());
            }
            room
        })
    }

    pub(super) fn truncate(&mut self, len: usize) {
        on_vector!(self, v => v.truncate(len));
    }

    /// Sorts a range of integers.
    pub(super) fn sort(&mut self, range: std::ops::Range<usize>) {
        match self {
            Self::I32(v) => v[range].sort_unstable(),
            Self::I64(v) => v[range].sort_unstable(),
            _ => panic!("a sort of {}", self.element()),
        }
    }
}
