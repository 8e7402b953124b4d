//! The syntax tree of index notation: parse and print.
//!
//! ```text
//! program    := { "def" definition } statement { (newline | ";") { "def" definition } statement }
//! statement  := access ("=" | "+=" | "*=" | "min=" | "max=" | "or=" | "and=" | NAME "=") expr
//! access     := NAME [ "(" [ index { "," index } ] ")" ]          or with [ ]
//! index      := index ("+" | "-") index | index ("*" | "//" | "%") index | "-" index
//!             | NAME | INTEGER | "(" index ")"
//!             | NAME "(" INTEGER ":" INTEGER [ ":" INTEGER ] ")"   a window, its step
//!             | index "(" "{" INTEGER { "," INTEGER } "}" ")"      a set
//! expr       := expr ("or" | "and") expr | "not" expr             loosest first
//!             | expr ("==" | "!=" | "<" | "<=" | ">" | ">=") expr   not chained
//!             | expr ("+" | "-") expr
//!             | expr ("*" | "/" | "//" | "%") expr
//!             | "-" expr
//!             | number | "true" | "false" | "inf" | "nan" | "(" expr ")" | access
//!             | NAME                                     an index variable as a number
//!             | function "(" expr { "," expr } ")"
//!             | TYPE "(" expr ")"                        `f32(x)`, `u8(x)`, …
//!             | reduction "{" NAME { "," NAME } "}" "(" expr ")"
//! reduction  := [ "stored_" ] ("sum" | "prod" | "min" | "max" | "or" | "and" | NAME)
//! ```
//!
//! A definition is that of a [function of the user](sparsec_index::function), which stands for
//! NAME where it reduces. `stored_` leaves out what is not stored.
//!
//! A `j` right behind a number makes it imaginary: `1 - 2.5j`, `infj`.
//!
//! A newline ends a statement unless parentheses are open. Names of functions
//! are names of functions only before a parenthesis.
//!
//! The tree has names and places, no meaning: [`crate::resolve`] gives it one.
//! Two trees are equal if they say the same, wherever it stands.
//!
//! ```
//! use sparsec_base::Source;
//! use sparsec_notation::Notation;
//! let notation = Notation::parse(&Source::new("expression", "y[i] = (A[i,j])*x[j] ; s=y(i)"))?;
//! assert_eq!(notation.to_string(), "y(i) = A(i,j) * x(j)\ns = y(i)");
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod index;
mod parse;
mod print;

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::{Complex, ElementType, Scalar, Source, Span};
use sparsec_index::{Operator, UserFunction};

pub use index::{Index, IndexKind};
pub use parse::Parser;

/// A program of index notation as it is written.
#[derive(Clone, Debug)]
pub struct Notation {
    /// The text that spans point into.
    pub source: Source,
    /// The statements, in order; at least one.
    pub statements: Vec<Assignment>,
}

/// `lhs = rhs` or `lhs op= rhs`.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// What is assigned.
    pub lhs: TensorUse,
    /// The operator before the `=`.
    pub op: Option<Operator>,
    /// The value.
    pub rhs: Node,
    /// The whole statement.
    pub span: Span,
}

/// A tensor with index variables: `A(i,k)`, or `s` for a scalar.
#[derive(Clone, Debug)]
pub struct TensorUse {
    /// The tensor.
    pub name: Word,
    /// One index a mode.
    pub indices: Vec<Index>,
    /// The tensor with its indices.
    pub span: Span,
}

/// A name and its place.
#[derive(Clone, Debug)]
pub struct Word {
    /// The name.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// An expression and its place, parentheses around it left out.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Its place.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// A constant; a minus directly before a number is part of it.
    Number(Number),
    /// An entry of a tensor.
    Access(TensorUse),
    /// An index as a number: a variable, or an element of a set.
    Index(Index),
    /// An operator or function with as many arguments as it takes.
    Apply {
        /// The operator.
        op: Operator,
        /// The place of its symbol or name.
        op_span: Place,
        /// Its arguments.
        args: Vec<Node>,
    },
    /// `f32(x)`
    Cast(ElementType, Box<Node>),
    /// `sum{k}(x)`
    Reduce {
        /// The operator that reduces.
        op: Operator,
        /// Whether of stored entries alone, as `stored_sum{k}(x)`.
        stored: bool,
        /// The variables bound.
        vars: Vec<Word>,
        /// What is reduced.
        body: Box<Node>,
    },
}

/// A constant as it is written: its type depends on where it stands.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// A truth value.
    Bool(bool),
    /// Digits, maybe with a minus: what `i64` or `u64` holds.
    Integer(i128),
    /// A number with a point or an exponent, `inf` or `nan`.
    Float(f64),
    /// A number with a `j` behind it: so many times the imaginary unit.
    Imaginary(f64),
}

impl Number {
    /// The value, in the first of `i64` and `u64` that holds it, in `f64` or in `c128`.
    pub fn value(self) -> Scalar {
        match self {
            Self::Bool(value) => Scalar::Bool(value),
            Self::Integer(value) => match i64::try_from(value) {
                Ok(value) => Scalar::I64(value),
                Err(_) => Scalar::U64(value as u64),
            },
            Self::Float(value) => Scalar::F64(value),
            Self::Imaginary(value) => Scalar::C128(Complex::new(0.0, value)),
        }
    }
}

/// A span that makes no difference between trees.
#[derive(Clone, Copy, Debug)]
pub struct Place(pub Span);

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) | (Self::Imaginary(a), Self::Imaginary(b)) => {
                a.to_bits() == b.to_bits()
            }
            _ => false,
        }
    }
}

impl PartialEq for Word {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl PartialEq for TensorUse {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.indices == other.indices
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for Assignment {
    fn eq(&self, other: &Self) -> bool {
        self.lhs == other.lhs && self.op == other.op && self.rhs == other.rhs
    }
}

impl PartialEq for Notation {
    fn eq(&self, other: &Self) -> bool {
        self.statements == other.statements
    }
}

/// A tensor that a program names.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorName {
    /// The name.
    pub name: String,
    /// How many indices it has where it is first named.
    pub order: usize,
    /// Whether a statement reads it.
    pub read: bool,
    /// Whether a statement assigns it.
    pub written: bool,
    /// Whether a value is read that no statement assigned before, so that it has
    /// to be given: `A` of `A(i) = A(i) + b(i)`.
    pub is_input: bool,
    /// Whether it may be given: it is an input, or the first statement that
    /// assigns it goes on from the value before, as `y(i) += b(i)` does.
    pub may_be_input: bool,
    /// Where it is first named.
    pub span: Span,
}

impl Notation {
    /// Every tensor that the program names, in order of appearance.
    pub fn tensor_names(&self) -> Vec<TensorName> {
        let mut names: Vec<TensorName> = Vec::new();
        let mut places = BTreeMap::new();
        for statement in &self.statements {
            let assigned = noted(&mut names, &mut places, &statement.lhs);
            statement.rhs.for_each_access(&mut |tensor| {
                let place = noted(&mut names, &mut places, tensor);
                let name = &mut names[place];
                name.read = true;
                name.is_input |= !name.written;
                name.may_be_input |= name.is_input;
            });
            let name = &mut names[assigned];
            name.may_be_input |= statement.goes_on() && !name.written;
            name.written = true;
        }
        names
    }

    /// The functions of the user that the program calls, callees first.
    pub fn functions(&self) -> Vec<UserFunction> {
        let mut found = Vec::new();
        for statement in &self.statements {
            if let Some(Operator::Defined(function)) = &statement.op {
                found.push(function.clone());
            }
            statement
                .rhs
                .for_each_function(&mut |function| found.push(function.clone()));
        }
        UserFunction::with_callees(&found)
    }

    /// The names of all index variables.
    pub fn index_variables(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        for statement in &self.statements {
            for index in &statement.lhs.indices {
                index.for_each_var(&mut |word| {
                    found.insert(word.text.as_str());
                });
            }
            statement.rhs.for_each_var(&mut |word| {
                found.insert(word.text.as_str());
            });
        }
        found
    }
}

/// The place of a tensor among `names`, to which it is added if it is new.
fn noted<'a>(
    names: &mut Vec<TensorName>,
    places: &mut BTreeMap<&'a str, usize>,
    tensor: &'a TensorUse,
) -> usize {
    let place = *places.entry(&tensor.name.text).or_insert(names.len());
    if place < names.len() {
        return place;
    }
    names.push(TensorName {
        name: tensor.name.text.clone(),
        order: tensor.indices.len(),
        read: false,
        written: false,
        is_input: false,
        may_be_input: false,
        span: tensor.name.span,
    });
    place
}

impl Assignment {
    /// Whether the value that the tensor had before matters: where it is combined
    /// with the new one, or not assigned.
    pub fn goes_on(&self) -> bool {
        let indices = &self.lhs.indices;
        let is_plain = |(mode, index): (usize, &Index)| {
            index.as_var().is_some() && !indices[..mode].contains(index)
        };
        self.op.is_some() || !indices.iter().enumerate().all(is_plain)
    }

    /// Takes names without indices that are index variables of the statement for
    /// their values.
    fn find_index_values(&mut self) {
        let mut vars = BTreeSet::new();
        let mut note = |word: &Word| {
            vars.insert(word.text.clone());
        };
        let indices = self.lhs.indices.iter();
        indices.for_each(|index| index.for_each_var(&mut note));
        self.rhs.for_each_var(&mut note);
        self.rhs.find_index_values(&vars);
    }
}

impl Node {
    fn find_index_values(&mut self, vars: &BTreeSet<String>) {
        match &mut self.kind {
            NodeKind::Number(_) | NodeKind::Index(_) => {}
            NodeKind::Access(tensor) => {
                if tensor.indices.is_empty() && vars.contains(&tensor.name.text) {
                    self.kind = NodeKind::Index(tensor.name.clone().into());
                }
            }
            NodeKind::Apply { args, .. } => {
                args.iter_mut().for_each(|arg| arg.find_index_values(vars));
            }
            NodeKind::Cast(_, body) | NodeKind::Reduce { body, .. } => {
                body.find_index_values(vars);
            }
        }
    }

    /// Calls `visit` on every access, left to right.
    pub fn for_each_access<'a>(&'a self, visit: &mut dyn FnMut(&'a TensorUse)) {
        match &self.kind {
            NodeKind::Number(_) | NodeKind::Index(_) => {}
            NodeKind::Access(tensor) => visit(tensor),
            NodeKind::Apply { args, .. } => {
                args.iter().for_each(|arg| arg.for_each_access(visit));
            }
            NodeKind::Cast(_, body) | NodeKind::Reduce { body, .. } => body.for_each_access(visit),
        }
    }

    /// Calls `visit` on every index that is a number, left to right.
    pub fn for_each_number<'a>(&'a self, visit: &mut dyn FnMut(&'a Index)) {
        match &self.kind {
            NodeKind::Number(_) | NodeKind::Access(_) => {}
            NodeKind::Index(index) => visit(index),
            NodeKind::Apply { args, .. } => {
                args.iter().for_each(|arg| arg.for_each_number(visit));
            }
            NodeKind::Cast(_, body) | NodeKind::Reduce { body, .. } => body.for_each_number(visit),
        }
    }

    /// Calls `visit` on every variable that a reduction binds, the outer ones first.
    pub fn for_each_bound<'a>(&'a self, visit: &mut dyn FnMut(&'a Word)) {
        match &self.kind {
            NodeKind::Number(_) | NodeKind::Access(_) | NodeKind::Index(_) => {}
            NodeKind::Apply { args, .. } => args.iter().for_each(|arg| arg.for_each_bound(visit)),
            NodeKind::Cast(_, body) => body.for_each_bound(visit),
            NodeKind::Reduce { vars, body, .. } => {
                vars.iter().for_each(&mut *visit);
                body.for_each_bound(visit);
            }
        }
    }

    /// Calls `visit` on every function of the user, in the order of the text.
    pub fn for_each_function(&self, visit: &mut dyn FnMut(&UserFunction)) {
        match &self.kind {
            NodeKind::Apply { op, args, .. } => {
                if let Operator::Defined(function) = op {
                    visit(function);
                }
                args.iter().for_each(|arg| arg.for_each_function(visit));
            }
            NodeKind::Reduce { op, body, .. } => {
                if let Operator::Defined(function) = op {
                    visit(function);
                }
                body.for_each_function(visit);
            }
            NodeKind::Cast(_, body) => body.for_each_function(visit),
            _ => {}
        }
    }

    /// Calls `visit` on every index variable wherever it stands, left to right.
    pub fn for_each_var<'a>(&'a self, visit: &mut dyn FnMut(&'a Word)) {
        match &self.kind {
            NodeKind::Number(_) => {}
            NodeKind::Index(index) => index.for_each_var(visit),
            NodeKind::Access(tensor) => {
                let indices = tensor.indices.iter();
                indices.for_each(|index| index.for_each_var(visit));
            }
            NodeKind::Apply { args, .. } => args.iter().for_each(|arg| arg.for_each_var(visit)),
            NodeKind::Cast(_, body) => body.for_each_var(visit),
            NodeKind::Reduce { vars, body, .. } => {
                vars.iter().for_each(&mut *visit);
                body.for_each_var(visit);
            }
        }
    }
}

#[cfg(test)]
mod tests;
