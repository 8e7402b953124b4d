//! Which types a group of values may have.

use crate::types::{Sign, Type};

/// Which types a group of values may have.
#[derive(Clone, Debug)]
pub enum Constraint {
    /// One of these kinds of types.
    Kinds(Vec<TypeKind>),
    /// This type.
    Exactly(Type),
    /// The type of the group with this name.
    Same(&'static str),
    /// The component type of the complex numbers in the group with this name.
    Part(&'static str),
    /// The element type of the group with this name.
    Element(&'static str),
    /// A tensor with the shape of a memref in the group with this name.
    TensorOf(&'static str),
    /// Booleans in the shape of the group with this name.
    BoolLike(&'static str),
}

/// A kind of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// All types.
    Any,
    /// Tensors.
    Tensor,
    /// Tensors with an encoding.
    Sparse,
    /// Memrefs.
    MemRef,
    /// Memrefs of one mode.
    Buffer,
    /// Vectors.
    Vector,
    /// `index`
    Index,
    /// Integers of any width.
    Integer,
    /// Floating-point numbers.
    Float,
    /// Complex numbers.
    Complex,
    /// `i1`
    Bool,
    /// Integers without a sign or `index`, or a shape of them.
    IntegerLike,
    /// Floating-point numbers, or a shape of them.
    FloatLike,
    /// Complex numbers, or a shape of them.
    ComplexLike,
    /// Storage specifiers.
    Specifier,
    /// Iteration spaces.
    Space,
    /// Iterators.
    Iterator,
    /// Functions.
    Function,
    /// `index` or integers without a sign, or tensors of order 0 of them.
    Length,
}

impl TypeKind {
    /// Every kind, with its name in definitions and its name in messages.
    pub const ALL: [(Self, &'static str, &'static str); 19] = [
        (Self::Any, "any", "any type"),
        (Self::Tensor, "tensor", "a tensor"),
        (Self::Sparse, "sparse", "a tensor with an encoding"),
        (Self::MemRef, "memref", "a memref"),
        (Self::Buffer, "buffer", "a memref of one mode"),
        (Self::Vector, "vector", "a vector"),
        (Self::Index, "index", "`index`"),
        (Self::Integer, "int", "an integer type"),
        (Self::Float, "float", "a floating-point type"),
        (Self::Complex, "complex", "a complex type"),
        (Self::Bool, "i1", "`i1`"),
        (Self::IntegerLike, "intlike", "integers without a sign"),
        (Self::FloatLike, "floatlike", "floating-point numbers"),
        (Self::ComplexLike, "complexlike", "complex numbers"),
        (Self::Specifier, "specifier", "a storage specifier"),
        (Self::Space, "space", "an iteration space"),
        (Self::Iterator, "iterator", "an iterator"),
        (Self::Function, "function", "a function type"),
        (Self::Length, "length", "`index` or an integer type"),
    ];

    /// Whether a type is of this kind.
    pub fn holds(self, ty: &Type) -> bool {
        let is_number = is_length;
        match self {
            Self::Any => true,
            Self::Tensor => matches!(ty, Type::Tensor(_) | Type::UnrankedTensor(_)),
            Self::Sparse => ty.encoding().is_some(),
            Self::MemRef => matches!(ty, Type::MemRef(_) | Type::UnrankedMemRef(_)),
            Self::Buffer => matches!(ty, Type::MemRef(memref) if memref.shape.len() == 1),
            Self::Vector => matches!(ty, Type::Vector(_)),
            Self::Index => *ty == Type::Index,
            Self::Integer => matches!(ty, Type::Integer(..)),
            Self::Float => matches!(ty, Type::Float(_)),
            Self::Complex => matches!(ty, Type::Complex(_)),
            Self::Bool => *ty == Type::BOOL,
            Self::IntegerLike => is_number(ty) || (is_lanes(ty) && is_number(ty.element())),
            Self::FloatLike => {
                matches!(ty, Type::Float(_))
                    || (is_lanes(ty) && matches!(ty.element(), Type::Float(_)))
            }
            Self::ComplexLike => {
                matches!(ty, Type::Complex(_))
                    || (is_lanes(ty) && matches!(ty.element(), Type::Complex(_)))
            }
            Self::Specifier => matches!(ty, Type::Specifier(_)),
            Self::Space => matches!(ty, Type::Space(_)),
            Self::Iterator => matches!(ty, Type::Iterator(_)),
            Self::Function => matches!(ty, Type::Function(_)),
            Self::Length => match ty {
                Type::Tensor(tensor) => tensor.shape.is_empty() && is_length(&tensor.element),
                ty => is_length(ty),
            },
        }
    }

    /// The name in messages.
    pub fn words(self) -> &'static str {
        let found = Self::ALL.iter().find(|(kind, ..)| *kind == self);
        found.map_or("", |(_, _, words)| words)
    }
}

/// Whether numbers of such a type count entries of an array.
fn is_length(ty: &Type) -> bool {
    matches!(ty, Type::Index | Type::Integer(_, Sign::Signless))
}

/// Whether operations apply to such a type entry by entry.
fn is_lanes(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Vector(_) | Type::Tensor(_) | Type::UnrankedTensor(_)
    )
}

impl Constraint {
    /// The types in words, for messages.
    pub fn words(&self) -> String {
        match self {
            Self::Kinds(kinds) => {
                let words: Vec<&str> = kinds.iter().map(|kind| kind.words()).collect();
                words.join(" or ")
            }
            Self::Exactly(Type::Index) => "`index`".to_owned(),
            Self::Exactly(ty) => format!("`{}`", crate::spell::plain(ty)),
            Self::Same(other) => format!("the type of `{other}`"),
            Self::Part(other) => format!("the type of the parts of `{other}`"),
            Self::Element(other) => format!("the type of the entries of `{other}`"),
            Self::TensorOf(other) => format!("a tensor in the shape of `{other}`"),
            Self::BoolLike(other) => format!("`i1` in the shape of `{other}`"),
        }
    }
}
