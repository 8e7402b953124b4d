//! The types of values.
//!
//! A tensor type with an [`Encoding`] is sparse. Of LLVM's types only the pointer is known; of
//! `sparse_tensor` the storage specifiers, iteration spaces and iterators. Types of other dialects
//! are refused by name.

use std::sync::Arc;

use sparsec_base::ElementType;

use crate::affine::AffineMap;
use crate::attribute::Attribute;
use crate::encoding::Encoding;

/// The extents of a shape. `None` is an extent that the program computes.
pub type Shape = Vec<Option<u64>>;

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `index`
    Index,
    /// `none`
    None,
    /// `i32`, `si32`, `ui32`
    Integer(u32, Sign),
    /// `f64`
    Float(Float),
    /// `complex<f64>`
    Complex(Arc<Type>),
    /// `tensor<4x?xf64>`
    Tensor(Arc<TensorType>),
    /// `tensor<*xf64>`
    UnrankedTensor(Arc<Type>),
    /// `memref<4x?xf64>`
    MemRef(Arc<MemRefType>),
    /// `memref<*xf64>`
    UnrankedMemRef(Arc<Type>),
    /// `vector<4xf64>`
    Vector(Arc<VectorType>),
    /// `(f64) -> f64`
    Function(Arc<FunctionType>),
    /// `tuple<f64, index>`
    Tuple(Arc<Vec<Type>>),
    /// `!llvm.ptr`, in releases before 18 with the type of the pointee.
    Pointer(Option<Arc<Type>>),
    /// `!sparse_tensor.storage_specifier<#CSR>`
    Specifier(Arc<Encoding>),
    /// `!sparse_tensor.iter_space<#CSR, lvls = 0 to 2>`
    Space(Arc<Levels>),
    /// `!sparse_tensor.iterator<#CSR, lvls = 0>`
    Iterator(Arc<Levels>),
}

/// Whether an integer type has a sign. Most types have none; the operation then decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// `i32`
    Signless,
    /// `si32`
    Signed,
    /// `ui32`
    Unsigned,
}

/// A floating-point type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// The upper half of an `f32`.
    Bf16,
    /// Half precision.
    F16,
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl Float {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bf16, Self::F16, Self::F32, Self::F64];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The number of bits.
    pub fn width(self) -> u32 {
        match self {
            Self::Bf16 | Self::F16 => 16,
            Self::F32 => 32,
            Self::F64 => 64,
        }
    }
}

/// A tensor of known order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// The extents.
    pub shape: Shape,
    /// The type of entries.
    pub element: Type,
    /// How a sparse tensor is stored.
    pub encoding: Option<Arc<Encoding>>,
}

/// A region of memory with a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemRefType {
    /// The extents.
    pub shape: Shape,
    /// The type of entries.
    pub element: Type,
    /// The layout, unless entries follow one another.
    pub layout: Option<Layout>,
    /// The memory space, unless it is the default one.
    pub space: Option<Attribute>,
}

/// The layout of a memref.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// An affine map from coordinates to places.
    Map(AffineMap),
    /// `strided<[8, 1], offset: ?>`
    Strided {
        /// The distance between neighbours in each mode.
        strides: Vec<Option<i64>>,
        /// The place of the first entry.
        offset: Option<i64>,
    },
}

/// A vector of a processor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VectorType {
    /// The extents, which are static.
    pub shape: Vec<u64>,
    /// The type of entries.
    pub element: Type,
}

/// The type of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionType {
    /// The types of the arguments.
    pub inputs: Vec<Type>,
    /// The types of the results.
    pub results: Vec<Type>,
}

/// Some levels of a sparse tensor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Levels {
    /// How the tensor is stored.
    pub encoding: Arc<Encoding>,
    /// The first level.
    pub from: u64,
    /// The level after the last.
    pub to: u64,
}

impl Type {
    /// `i1`
    pub const BOOL: Self = Self::Integer(1, Sign::Signless);

    /// An integer type without a sign.
    pub const fn integer(width: u32) -> Self {
        Self::Integer(width, Sign::Signless)
    }

    /// The element type of a tensor, memref or vector; other types themselves.
    pub fn element(&self) -> &Self {
        match self {
            Self::Tensor(ty) => &ty.element,
            Self::MemRef(ty) => &ty.element,
            Self::Vector(ty) => &ty.element,
            Self::UnrankedTensor(ty) | Self::UnrankedMemRef(ty) => ty,
            other => other,
        }
    }

    /// The extents of a tensor, memref or vector of known order.
    pub fn shape(&self) -> Option<Shape> {
        match self {
            Self::Tensor(ty) => Some(ty.shape.clone()),
            Self::MemRef(ty) => Some(ty.shape.clone()),
            Self::Vector(ty) => Some(ty.shape.iter().copied().map(Some).collect()),
            _ => None,
        }
    }

    /// The number of extents that the program computes.
    pub fn n_dynamic(&self) -> usize {
        let shape = self.shape().unwrap_or_default();
        shape.iter().filter(|extent| extent.is_none()).count()
    }

    /// The types that a function or a tuple consists of, or the type itself.
    pub(crate) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Function(function) => {
                let types = function.inputs.iter().chain(&function.results);
                types.flat_map(Self::parts).collect()
            }
            Self::Tuple(parts) => parts.iter().flat_map(Self::parts).collect(),
            other => vec![other],
        }
    }

    /// The number of entries; `None` if an extent is open, or if they are more than 2^128.
    pub(crate) fn n_entries(&self) -> Option<u128> {
        let shape = self.shape()?.into_iter();
        let extents: Option<Vec<u64>> = shape.collect();
        let extents = extents?;
        if extents.contains(&0) {
            return Some(0);
        }
        let mut extents = extents.into_iter().map(u128::from);
        extents.try_fold(1, u128::checked_mul)
    }

    /// The encoding of a sparse tensor.
    pub fn encoding(&self) -> Option<&Arc<Encoding>> {
        match self {
            Self::Tensor(ty) => ty.encoding.as_ref(),
            _ => None,
        }
    }

    /// The type with the same shape and other entries.
    #[must_use]
    pub fn with_element(&self, element: Self) -> Self {
        match self {
            Self::Tensor(ty) => Self::Tensor(Arc::new(TensorType {
                element,
                ..(**ty).clone()
            })),
            Self::MemRef(ty) => Self::MemRef(Arc::new(MemRefType {
                element,
                ..(**ty).clone()
            })),
            Self::Vector(ty) => Self::Vector(Arc::new(VectorType {
                element,
                ..(**ty).clone()
            })),
            Self::UnrankedTensor(_) => Self::UnrankedTensor(Arc::new(element)),
            Self::UnrankedMemRef(_) => Self::UnrankedMemRef(Arc::new(element)),
            _ => element,
        }
    }

    /// Whether this is a vector, tensor or memref.
    pub fn is_shaped(&self) -> bool {
        self.shape().is_some() || matches!(self, Self::UnrankedTensor(_) | Self::UnrankedMemRef(_))
    }

    /// The element type of sparsec for these numbers.
    ///
    /// ```
    /// use sparsec_base::ElementType;
    /// use sparsec_mlir::Type;
    /// assert_eq!(Type::integer(32).number(), Some(ElementType::I32));
    /// assert_eq!(Type::Index.number(), Some(ElementType::I64));
    /// assert_eq!(Type::None.number(), None);
    /// ```
    pub fn number(&self) -> Option<ElementType> {
        Some(match self {
            Self::Index => ElementType::I64,
            Self::Integer(1, _) => ElementType::Bool,
            Self::Integer(8, Sign::Unsigned) => ElementType::U8,
            Self::Integer(16, Sign::Unsigned) => ElementType::U16,
            Self::Integer(32, Sign::Unsigned) => ElementType::U32,
            Self::Integer(64, Sign::Unsigned) => ElementType::U64,
            Self::Integer(8, _) => ElementType::I8,
            Self::Integer(16, _) => ElementType::I16,
            Self::Integer(32, _) => ElementType::I32,
            Self::Integer(64, _) => ElementType::I64,
            Self::Float(Float::Bf16) => ElementType::Bf16,
            Self::Float(Float::F16) => ElementType::F16,
            Self::Float(Float::F32) => ElementType::F32,
            Self::Float(Float::F64) => ElementType::F64,
            Self::Complex(part) => match **part {
                Self::Float(Float::F32) => ElementType::C64,
                Self::Float(Float::F64) => ElementType::C128,
                _ => return None,
            },
            _ => return None,
        })
    }
}

impl TensorType {
    /// The order of the tensor.
    pub fn order(&self) -> usize {
        self.shape.len()
    }
}
