//! The data of the loop IR; its meaning is in the [crate's doc](crate).
//!
//! ```text
//! Function ── arguments: tensors ── extents: variables, arrays: buffers
//!    │
//!    └─ body: statements ── expressions ── operators (`operator`)
//! ```

use sparsec_base::table::Named;
use sparsec_base::{ElementType, Scalar, Table, define_id};

use crate::mark::Mark;

mod operator;

pub use operator::{BinaryOp, Intrinsic, UnaryOp};

define_id!(
    /// A buffer of a function.
    pub struct Buffer, "b"
);
define_id!(
    /// A variable of a function.
    pub struct Var, "v"
);

/// One kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The name, which the C function keeps.
    pub name: String,
    /// The arguments, in the order in which the source names them.
    pub arguments: Vec<Argument>,
    /// Buffers of arguments and workspaces.
    pub buffers: Table<Buffer, BufferData>,
    /// Every variable: extents, locals, loop variables.
    pub vars: Table<Var, VarData>,
    /// What the kernel does.
    pub body: Block,
}

impl Named for BufferData {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for VarData {
    fn name(&self) -> &str {
        &self.name
    }
}

/// Statements in the order in which they run.
pub type Block = Vec<Stmt>;

/// One tensor that a kernel reads or writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The tensor's name.
    pub name: String,
    /// What the kernel does with it.
    pub role: Role,
    /// What it is, in words for a reader: the format's text.
    pub doc: String,
    /// One `i64` variable for each mode, which holds its extent.
    pub extents: Vec<Var>,
    /// The tensor's arrays, in the order in which its format declares them.
    pub buffers: Vec<Buffer>,
}

/// What a kernel does with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Reads it.
    In,
    /// Writes it.
    Out,
}

/// One array: of an argument, or a workspace of the kernel's own.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferData {
    /// The name, such as `A1.pos`; unique in the function.
    pub name: String,
    /// What the array's bytes are.
    pub storage: ElementType,
    /// What a load gives and a store takes.
    pub compute: ElementType,
    /// What the kernel does with the array.
    pub access: Access,
}

/// What a kernel does with one array. No two buffers share memory, except
/// that buffers with access [`Access::Read`] may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads an array of the caller's.
    Read,
    /// Writes, and reads back, an array of the caller's whose length is fixed
    /// before the call; it holds anything.
    Write,
    /// Writes, and reads back, an array that the kernel grows and resizes.
    Grow,
    /// Allocates the array itself, with zeros in it; it may grow.
    Workspace,
    /// As a workspace, but each unit that runs [chunks](crate::Mark::chunks) has
    /// its own, and they alone use it. A chunk finds what an earlier one of its
    /// unit left there, or zeros; it must not matter which.
    Own,
}

impl Access {
    /// Whether the kernel allocates the array.
    pub fn is_allocated(self) -> bool {
        matches!(self, Self::Workspace | Self::Own)
    }
}

/// A variable's name and type.
#[derive(Clone, Debug, PartialEq)]
pub struct VarData {
    /// The name, such as `pA1`; unique in the function.
    pub name: String,
    /// Its type.
    pub element: ElementType,
    /// Whether assignments may change it.
    pub mutable: bool,
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// A remark for the reader of the generated code.
    Comment(String),
    /// Declares a variable and gives it its first value.
    Declare {
        /// The variable.
        var: Var,
        /// Its first value.
        value: Expr,
    },
    /// Gives a mutable variable a new value.
    Assign {
        /// The variable.
        var: Var,
        /// The new value.
        value: Expr,
    },
    /// Writes one entry, or combines it with what is there.
    Store {
        /// The buffer.
        buffer: Buffer,
        /// Which entry.
        index: Expr,
        /// The value.
        value: Expr,
        /// How to combine: `None` overwrites, `Some(op)` stores `old op value`.
        reduce: Option<BinaryOp>,
    },
    /// Runs its body with `var` from `lo` up to but without `hi`.
    For {
        /// The loop variable; immutable.
        var: Var,
        /// The first value.
        lo: Expr,
        /// The bound; evaluated once.
        hi: Expr,
        /// How a back end may run it.
        mark: Mark,
        /// What is repeated.
        body: Block,
    },
    /// Runs its body as long as the condition holds.
    While {
        /// The condition.
        condition: Expr,
        /// What is repeated.
        body: Block,
    },
    /// Runs one of two blocks.
    If {
        /// The condition.
        condition: Expr,
        /// What runs where it holds.
        then: Block,
        /// What runs where it does not.
        otherwise: Block,
    },
    /// Stores one value at every entry from `lo` up to but without `hi`.
    Fill {
        /// The buffer.
        buffer: Buffer,
        /// The first entry.
        lo: Expr,
        /// The bound.
        hi: Expr,
        /// The value.
        value: Expr,
    },
    /// Makes a workspace of `len` zero entries.
    Alloc {
        /// The buffer; its access is [`Access::Workspace`] or [`Access::Own`].
        buffer: Buffer,
        /// How many entries.
        len: Expr,
    },
    /// Makes room for at least `len` entries.
    Grow {
        /// The buffer; not one that the caller gave a fixed length.
        buffer: Buffer,
        /// How many entries.
        len: Expr,
    },
    /// Says how many entries the array ends up with, and makes room for them.
    Resize {
        /// The buffer; its access is [`Access::Grow`].
        buffer: Buffer,
        /// How many entries.
        len: Expr,
    },
    /// Sorts the entries from `lo` up to but without `hi`, ascending; equal ones
    /// stay in their order.
    Sort {
        /// The buffer, of an integer type.
        buffer: Buffer,
        /// A buffer whose entries are moved as those of `buffer` are.
        along: Option<Buffer>,
        /// The first entry.
        lo: Expr,
        /// The bound.
        hi: Expr,
    },
    /// Lets caches fetch the entries from `lo` up to but without `hi`, which are about to be
    /// used. A hint: no entry need be there, and an engine may pass over it.
    Prefetch {
        /// The buffer; its access is not [`Access::Own`].
        buffer: Buffer,
        /// The first entry.
        lo: Expr,
        /// The bound.
        hi: Expr,
    },
    /// In the body of [chunks](crate::Mark::chunks), once: waits until all chunks before
    /// this one have ended, or said [`Pass`](Self::Pass), so that what follows runs in
    /// their order, one at a time.
    /// There, chunks may store to what others stored to in their turn, and grow results.
    Turn,
    /// Behind [`Turn`](Self::Turn), once: the next chunk may have its turn. What follows runs
    /// beside it: chunks store to places of their own alone, and grow results no more.
    Pass,
    /// Leaves the function with [`Failure::Cancelled`] if its caller wants that by now.
    Poll,
    /// Leaves the function with an error.
    Fail(Failure),
}

/// Why a kernel gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// An integer was divided by zero.
    DivisionByZero,
    /// A float has no integer of the wanted type near it.
    CastOutOfRange,
    /// An integer was raised to a negative power.
    NegativePower,
    /// A position or coordinate does not fit the width chosen for it.
    WidthOverflow,
    /// There is no memory for a result or a workspace.
    OutOfMemory,
    /// Its caller did not want to wait any longer.
    Cancelled,
    /// Data that it computed are not as they are declared.
    NotAsDeclared,
}

/// An expression; [`Function::type_of`] gives its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant.
    Const(Scalar),
    /// A variable's value.
    Var(Var),
    /// One entry of a buffer, of the buffer's compute type.
    Load {
        /// The buffer.
        buffer: Buffer,
        /// Which entry.
        index: Box<Expr>,
    },
    /// An operation on one value.
    Unary(UnaryOp, Box<Expr>),
    /// An operation on two values of one type.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// A function of the C library, on floats of one type; some take a complex
    /// number.
    Call(Intrinsic, Vec<Expr>),
    /// One of two values of one type.
    Select {
        /// The condition.
        condition: Box<Expr>,
        /// The value where it holds.
        then: Box<Expr>,
        /// The value where it does not.
        otherwise: Box<Expr>,
    },
    /// The value as another type; see [`Scalar::cast`].
    Cast(ElementType, Box<Expr>),
}

impl Failure {
    /// All failures.
    pub const ALL: [Self; 7] = [
        Self::DivisionByZero,
        Self::CastOutOfRange,
        Self::NegativePower,
        Self::WidthOverflow,
        Self::OutOfMemory,
        Self::Cancelled,
        Self::NotAsDeclared,
    ];

    /// The code that a compiled kernel returns; 0 means that all went well.
    pub fn status(self) -> i32 {
        match self {
            Self::DivisionByZero => 1,
            Self::CastOutOfRange => 2,
            Self::WidthOverflow => 3,
            Self::OutOfMemory => 4,
            Self::NegativePower => 5,
            Self::Cancelled => 6,
            Self::NotAsDeclared => 7,
        }
    }

    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::DivisionByZero => "division_by_zero",
            Self::CastOutOfRange => "cast_out_of_range",
            Self::NegativePower => "negative_power",
            Self::WidthOverflow => "width_overflow",
            Self::OutOfMemory => "out_of_memory",
            Self::Cancelled => "cancelled",
            Self::NotAsDeclared => "not_as_declared",
        }
    }
}

impl Function {
    /// The type of an expression of this function.
    pub fn type_of(&self, expr: &Expr) -> ElementType {
        match expr {
            Expr::Const(value) => value.element(),
            Expr::Var(var) => self.vars[*var].element,
            Expr::Load { buffer, .. } => self.buffers[*buffer].compute,
            Expr::Unary(op, value) => op.result_type(self.type_of(value)),
            Expr::Binary(op, _, _) if op.is_comparison() => ElementType::Bool,
            Expr::Binary(_, left, _) => self.type_of(left),
            Expr::Call(_, arguments) => self.type_of(&arguments[0]),
            Expr::Select { then, .. } => self.type_of(then),
            Expr::Cast(element, _) => *element,
        }
    }
}

/// Short forms to build expressions with.
impl Expr {
    /// The `i64` constant `value`.
    pub fn int(value: i64) -> Self {
        Self::Const(Scalar::I64(value))
    }

    /// The entry of `buffer` at `index`.
    pub fn load(buffer: Buffer, index: impl Into<Expr>) -> Self {
        Self::Load {
            buffer,
            index: Box::new(index.into()),
        }
    }

    /// `self op other`.
    #[must_use]
    pub fn binary(self, op: BinaryOp, other: impl Into<Expr>) -> Self {
        Self::Binary(op, Box::new(self), Box::new(other.into()))
    }

    /// `self + other`.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn add(self, other: impl Into<Expr>) -> Self {
        self.binary(BinaryOp::Add, other)
    }

    /// `self * other`.
    #[must_use]
    #[allow(clippy::should_implement_trait)]
    pub fn mul(self, other: impl Into<Expr>) -> Self {
        self.binary(BinaryOp::Mul, other)
    }

    /// `self == other`.
    #[must_use]
    pub fn equals(self, other: impl Into<Expr>) -> Self {
        self.binary(BinaryOp::Eq, other)
    }

    /// `self < other`.
    #[must_use]
    pub fn less(self, other: impl Into<Expr>) -> Self {
        self.binary(BinaryOp::Lt, other)
    }

    /// `self and other`.
    #[must_use]
    pub fn and(self, other: impl Into<Expr>) -> Self {
        self.binary(BinaryOp::And, other)
    }
}

impl From<Var> for Expr {
    fn from(var: Var) -> Self {
        Self::Var(var)
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Self {
        Self::int(value)
    }
}

impl From<Scalar> for Expr {
    fn from(value: Scalar) -> Self {
        Self::Const(value)
    }
}
