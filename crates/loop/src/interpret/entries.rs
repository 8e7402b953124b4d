//! Arrays as the interpreter holds them.

use sparsec_base::{Bool8, Complex, ElementType, Scalar, bf16, f16};

macro_rules! entries {
    ($($kind:ident($ty:ty), $doc:literal;)*) => {
        /// The entries of one array, by storage type.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Entries {
            $(#[doc = $doc] $kind(Vec<$ty>),)*
        }

        /// Does the same to whichever vector there is.
        macro_rules! on_vector {
            ($entries:expr, $vector:ident => $body:expr) => {
                match $entries {
                    $(Entries::$kind($vector) => $body,)*
                }
            };
        }

        impl Entries {
            /// No entries, of storage type `element`.
            pub fn empty(element: ElementType) -> Self {
                match element {
                    $(ElementType::$kind => Self::$kind(Vec::new()),)*
                }
            }

            /// The storage type.
            pub fn element(&self) -> ElementType {
                match self {
                    $(Self::$kind(_) => ElementType::$kind,)*
                }
            }

            /// The entry at `at`, which must be below [`len`](Self::len).
            pub fn get(&self, at: usize) -> Scalar {
                match self {
                    $(Self::$kind(v) => Scalar::$kind(v[at].into()),)*
                }
            }

            /// Stores `value`, of the storage type, at `at`, which must be below
            /// [`len`](Self::len).
            pub fn set(&mut self, at: usize, value: Scalar) {
                match (self, value) {
                    $((Self::$kind(v), Scalar::$kind(value)) => v[at] = value.into(),)*
                    (entries, value) => {
                        panic!("{} in an array of {}", value.element(), entries.element())
                    }
                }
            }
        }
    };
}

entries! {
    Bool(Bool8), "Truth values.";
    I8(i8), "8-bit integers.";
    I16(i16), "16-bit integers.";
    I32(i32), "32-bit integers.";
    I64(i64), "64-bit integers.";
    U8(u8), "8-bit integers without sign.";
    U16(u16), "16-bit integers without sign.";
    U32(u32), "32-bit integers without sign.";
    U64(u64), "64-bit integers without sign.";
    F16(f16), "Half-precision numbers.";
    Bf16(bf16), "Brain floating-point numbers.";
    F32(f32), "Single-precision numbers.";
    F64(f64), "Double-precision numbers.";
    C64(Complex<f32>), "Complex numbers of single precision.";
    C128(Complex<f64>), "Complex numbers of double precision.";
}

impl Entries {
    /// `len` zeros of storage type `element`.
    pub fn zeros(element: ElementType, len: usize) -> Self {
        let mut entries = Self::empty(element);
        on_vector!(&mut entries, v => v.resize(len, Default::default()));
        entries
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        on_vector!(self, v => v.len())
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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

    /// The integer at `at`.
    pub(super) fn integer(&self, at: usize) -> i64 {
        match self {
            Self::I32(v) => v[at].into(),
            Self::I64(v) => v[at],
            _ => panic!("a sort of {}", self.element()),
        }
    }
}
