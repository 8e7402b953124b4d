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

mod parse;
mod print;

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

impl Stmt {
    /// `forall` over each of `vars`, the first outermost, around `self`.
    #[must_use]
    pub fn in_loops(self, vars: &[IndexVar]) -> Self {
        vars.iter().rev().fold(self, |body, var| Self::Forall {
            var: *var,
            body: Box::new(body),
        })
    }

    /// Calls `visit` with the parts of every assignment, left to right.
    pub fn for_each_assign<'a>(
        &'a self,
        visit: &mut dyn FnMut(&'a Access, Option<Operator>, &'a Expr),
    ) {
        match self {
            Self::Assign { lhs, reduce, rhs } => visit(lhs, *reduce, rhs),
            Self::Forall { body, .. } => body.for_each_assign(visit),
            Self::Where { consumer, producer } => {
                consumer.for_each_assign(visit);
                producer.for_each_assign(visit);
            }
            Self::Sequence(stmts) => stmts.iter().for_each(|stmt| stmt.for_each_assign(visit)),
        }
    }

    /// The variable of every loop, outer ones first, each once.
    pub fn loops(&self) -> Vec<IndexVar> {
        let mut found = Vec::new();
        self.add_loops(&mut found);
        found
    }

    fn add_loops(&self, found: &mut Vec<IndexVar>) {
        match self {
            Self::Assign { .. } => {}
            Self::Forall { var, body } => {
                if !found.contains(var) {
                    found.push(*var);
                }
                body.add_loops(found);
            }
            Self::Where { consumer, producer } => {
                consumer.add_loops(found);
                producer.add_loops(found);
            }
            Self::Sequence(stmts) => stmts.iter().for_each(|stmt| stmt.add_loops(found)),
        }
    }

    /// The loops that are directly inside one another, outermost first, and
    /// what the innermost repeats.
    pub fn nest(&self) -> (Vec<IndexVar>, &Self) {
        let mut vars = Vec::new();
        let mut stmt = self;
        while let Self::Forall { var, body } = stmt {
            vars.push(*var);
            stmt = body;
        }
        (vars, stmt)
    }

    /// The statement with the right side of every assignment mapped.
    #[must_use]
    pub fn map_exprs(&self, map: &mut dyn FnMut(&Expr) -> Expr) -> Self {
        self.rewrite(&mut |stmt| match stmt {
            Self::Assign { lhs, reduce, rhs } => Some(Self::Assign {
                lhs: lhs.clone(),
                reduce: *reduce,
                rhs: map(rhs),
            }),
            _ => None,
        })
    }

    /// The statement with each part that `replace` gives something for
    /// replaced, outer parts first.
    #[must_use]
    pub fn rewrite(&self, replace: &mut dyn FnMut(&Self) -> Option<Self>) -> Self {
        if let Some(stmt) = replace(self) {
            return stmt;
        }
        match self {
            Self::Assign { .. } => self.clone(),
            Self::Forall { var, body } => Self::Forall {
                var: *var,
                body: Box::new(body.rewrite(replace)),
            },
            Self::Where { consumer, producer } => Self::Where {
                consumer: Box::new(consumer.rewrite(replace)),
                producer: Box::new(producer.rewrite(replace)),
            },
            Self::Sequence(stmts) => {
                Self::Sequence(stmts.iter().map(|stmt| stmt.rewrite(replace)).collect())
            }
        }
    }
}

impl Concrete {
    /// A name that no tensor and no index variable has: `base`, else `base1`,
    /// `base2` and so on.
    pub fn fresh_name(&self, base: &str) -> String {
        let taken = |name: &str| {
            self.tensors.iter().any(|(_, data)| data.name == name)
                || self.vars.iter().any(|(_, data)| data.name == name)
        };
        let numbered = (1..).map(|n| format!("{base}{n}"));
        std::iter::once(base.to_owned())
            .chain(numbered)
            .find(|name| !taken(name))
            .expect("there are more names than tensors")
    }

    /// The tensor with this name.
    pub fn tensor(&self, name: &str) -> Option<TensorVar> {
        self.tensors.find(|data| data.name == name)
    }

    /// The index variable with this name that a loop of this statement is over.
    pub fn var(&self, name: &str) -> Option<IndexVar> {
        let mut loops = self.stmt.loops().into_iter();
        loops.find(|var| self.vars[*var].name == name)
    }
}
