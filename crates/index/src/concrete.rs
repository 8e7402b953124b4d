//! Concrete index notation: one statement as loops over index variables.
//!
//! ```text
//! C(i,j) = A(i,k) * B(k,j)                    index notation
//!
//! forall i: forall j: forall k:               naive: result's order, then sums
//!   C(i,j) += A(i,k) * B(k,j)
//!
//! forall i: where(                            with a workspace for row i
//!   forall j: C(i,j) = w(j),
//!   forall k: forall j: w(j) += A(i,k) * B(k,j))
//! ```
//!
//! `where(consumer, producer)` runs the producer first: it computes the
//! temporaries that the consumer reads. Each run begins with fresh temporaries.
//!
//! An assignment with an operator combines into what is there, beginning with
//! the operator's identity. Expressions hold no [`Expr::Reduce`].

use sparsec_base::{Arena, Source};

use crate::expr::{Access, Expr};
use crate::operator::Operator;
use crate::program::{IndexVar, IndexVarData, TensorData, TensorVar};

/// One statement of a program as loops.
#[derive(Clone, Debug)]
pub struct Concrete {
    /// The text that spans of accesses point into.
    pub source: Source,
    /// The program's tensors, and the temporaries added by rewriting.
    pub tensors: Arena<TensorVar, TensorData>,
    /// The program's index variables, and those added by rewriting.
    pub vars: Arena<IndexVar, IndexVarData>,
    /// The tensor that the statement computes.
    pub result: TensorVar,
    /// The loops.
    pub stmt: Stmt,
}

/// A statement of concrete notation.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `lhs = rhs`, or `lhs op= rhs`.
    Assign {
        /// What is assigned.
        lhs: Access,
        /// How the value is combined with what is there; `None` overwrites.
        reduce: Option<Operator>,
        /// The value.
        rhs: Expr,
    },
    /// `forall var: body`
    Forall {
        /// The index variable.
        var: IndexVar,
        /// What is repeated for each of its values.
        body: Box<Stmt>,
    },
    /// `where(consumer, producer)`
    Where {
        /// Reads the temporaries.
        consumer: Box<Stmt>,
        /// Computes the temporaries.
        producer: Box<Stmt>,
    },
    /// `sequence(first, second, …)`: one after the other.
    Sequence(Vec<Stmt>),
}
