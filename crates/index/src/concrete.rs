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
//! How one of them is kept may stand behind: `where(consumer, producer, w : hashed)`.
//!
//! Loops may be over variables that are derived from those of accesses; the
//! clauses behind `suchthat` say how, and how loops are to run ([`Clause`]).
//!
//! An assignment with an operator combines into what is there, beginning with
//! the operator's identity. Expressions hold no [`Expr::Reduce`].
//!
//! Loops may compute several results, each of which takes its entries in any order:
//!
//! ```text
//! forall i: sequence(                      r(i) = A(i,j) * x(j)
//!   where(r(i) = t,                        c(j) = A(i,j) * y(i)
//!     forall j: t += A(i,j) * x(j)),
//!   forall j: c(j) += A(i,j) * y(i))
//! ```

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::Source;

mod clause;
mod nested;
mod print;
mod provenance;
mod words;

pub use clause::{Clause, Placed, Skew};
pub use nested::{Nested, for_each_nested};
pub use provenance::Steps;
pub use words::{AssembleStrategy, BoundKind, MergeStrategy};

use crate::expr::{Access, Expr};
use crate::operator::Operator;
use crate::program::{IndexVar, TensorVar, Tensors, Vars};
use crate::workspace::WorkspaceKind;

/// One statement of a program as loops.
#[derive(Clone, Debug)]
pub struct Concrete {
    /// The text that spans of accesses point into.
    pub source: Source,
    /// The program's tensors, and the temporaries added by rewriting.
    pub tensors: Tensors,
    /// The program's index variables, and those added by rewriting.
    pub vars: Vars,
    /// The tensor that the statement computes.
    pub result: TensorVar,
    /// Others that the same loops compute, each dense.
    pub beside: Vec<TensorVar>,
    /// How workspaces are kept, where that is said.
    pub kinds: BTreeMap<TensorVar, WorkspaceKind>,
    /// The loops.
    pub stmt: Stmt,
    /// Where their variables come from, and how they are to run.
    pub clauses: Vec<Placed>,
}

/// A statement of concrete notation.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `lhs = rhs`, or `lhs op= rhs`.
    Assign {
        /// What is assigned.
        lhs: Access,
        /// The operator that combines the value with the entry before; `None` overwrites it.
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
        visit: &mut dyn FnMut(&'a Access, Option<&'a Operator>, &'a Expr),
    ) {
        match self {
            Self::Assign { lhs, reduce, rhs } => visit(lhs, reduce.as_ref(), rhs),
            Self::Forall { body, .. } => body.for_each_assign(visit),
            Self::Where { consumer, producer } => {
                consumer.for_each_assign(visit);
                producer.for_each_assign(visit);
            }
            Self::Sequence(stmts) => stmts.iter().for_each(|stmt| stmt.for_each_assign(visit)),
        }
    }

    /// The tensors that the statement computes for what reads it; those that a
    /// `where` inside it computes for itself are not among them.
    pub fn temporaries(&self) -> Vec<TensorVar> {
        let mut found = Vec::new();
        self.add_temporaries(&mut found);
        found
    }

    fn add_temporaries(&self, found: &mut Vec<TensorVar>) {
        match self {
            Self::Assign { lhs, .. } if !found.contains(&lhs.tensor) => found.push(lhs.tensor),
            Self::Assign { .. } => {}
            Self::Forall { body, .. } => body.add_temporaries(found),
            Self::Where { consumer, .. } => consumer.add_temporaries(found),
            Self::Sequence(stmts) => stmts.iter().for_each(|stmt| stmt.add_temporaries(found)),
        }
    }

    /// Calls `visit` with the statement and every part of it, outer parts first.
    pub fn for_each<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        match self {
            Self::Assign { .. } => {}
            Self::Forall { body, .. } => body.for_each(visit),
            Self::Where { consumer, producer } => {
                consumer.for_each(visit);
                producer.for_each(visit);
            }
            Self::Sequence(stmts) => stmts.iter().for_each(|stmt| stmt.for_each(visit)),
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
                reduce: reduce.clone(),
                rhs: map(rhs),
            }),
            _ => None,
        })
    }

    /// The statement with each variable exchanged for another, in loops and in
    /// accesses.
    #[must_use]
    pub fn renamed(&self, rename: &dyn Fn(IndexVar) -> IndexVar) -> Self {
        self.rewrite(&mut |stmt| match stmt {
            Self::Assign { lhs, reduce, rhs } => Some(Self::Assign {
                lhs: lhs.renamed(rename),
                reduce: reduce.clone(),
                rhs: rhs.renamed(rename),
            }),
            Self::Forall { var, body } => Some(body.renamed(rename).in_loops(&[rename(*var)])),
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
        let is_var = |name: &str| self.vars.named(name).is_some();
        match self.tensors.named(base).is_some() || is_var(base) {
            true => self.tensors.fresh_beside(base, is_var),
            false => base.to_owned(),
        }
    }

    /// Whether the statement computes a tensor for its caller.
    pub fn is_result(&self, tensor: TensorVar) -> bool {
        tensor == self.result || self.beside.contains(&tensor)
    }

    /// The tensors that the statement computes for its caller.
    pub fn results(&self) -> impl Iterator<Item = TensorVar> + '_ {
        [self.result].into_iter().chain(self.beside.iter().copied())
    }

    /// The tensors that the statement assigns or reads, of all that its program has.
    pub fn used_tensors(&self) -> BTreeSet<TensorVar> {
        let mut used: BTreeSet<TensorVar> = self.results().collect();
        self.stmt.for_each_assign(&mut |lhs, _, rhs| {
            used.insert(lhs.tensor);
            rhs.for_each_access(&mut |access| _ = used.insert(access.tensor));
        });
        used
    }

    /// The tensor with this name.
    pub fn tensor(&self, name: &str) -> Option<TensorVar> {
        self.tensors.named(name)
    }

    /// The index variable with this name that a loop of this statement is over.
    pub fn var(&self, name: &str) -> Option<IndexVar> {
        let mut loops = self.stmt.loops().into_iter();
        loops.find(|var| self.vars[*var].name == name)
    }
}
