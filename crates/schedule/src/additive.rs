//! Uses of a tensor replaced by sums: the statement becomes a nest of loops for
//! each term.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)            A(i,j) = P(i,j) + Q(i,j)
//!
//! sequence(
//!   forall i: forall j: y(i) += P(i,j) * x(j),
//!   forall i1: forall j1: y(i1) += Q(i1,j1) * x(j1))
//! ```
//!
//! The summands must store no entry in common: at each coordinate all but one of
//! them are the fill. An expression in which only the use of the tensor keeps it
//! from being what nothing changes (0, where values are added) is then the sum of
//! the same expression of each summand, linear or not:
//!
//! | right side, added up             | terms                                       |
//! |----------------------------------|---------------------------------------------|
//! | `f(A(i,j))` that is 0 for the fill | `f(P(i,j))` and `f(Q(i,j))`               |
//! | `a + b`, `a - b`, `-a`           | those of `a`, those of `b`                  |
//! | `(a + b) * c`                    | those of `a * c`, those of `b * c`          |
//! | `c * sum{j}(a)`                  | those of `c * a`, added up over `j` as well |
//! | without the tensor               | itself                                      |
//!
//! So it is for every operator that values are combined by, with its own identity;
//! `max(A(i,j), B(i,j))` is no sum of such terms. A summand may have loops of its
//! own, that it is added up over: an entry is in one of their turns alone.
//!
//! The first nest keeps the variables of the loops, others get new ones, so that
//! commands after this can order the loops of each.

mod terms;

use std::collections::BTreeMap;

use sparsec_base::{ElementType, Span};
use sparsec_index::concretize::nest;
use sparsec_index::{
    Access, Concrete, Expr, IndexExpr, IndexVar, IndexVarData, Operator, Stmt, TensorRole,
    TensorVar,
};

use self::terms::{Sums, Term};

/// The most terms that one assignment may become.
const MAX_TERMS: usize = 16;

/// One of the expressions whose sum stands for a use of a tensor.
#[derive(Clone, Debug)]
pub(super) struct Summand {
    /// The expression; what it reads has the fill of the tensor.
    pub expr: Expr,
    /// Loops that it is added up over, beside those around the use.
    pub loops: Vec<IndexVar>,
    /// Where it stores entries that count, if others have to be left out.
    pub condition: Option<Expr>,
    /// Two indices that are equal wherever it stores an entry, and do not stand in
    /// it: there is no loop over the first then, which is a variable.
    pub equal: Option<[IndexExpr; 2]>,
}

impl From<Expr> for Summand {
    fn from(expr: Expr) -> Self {
        Self {
            expr,
            loops: Vec::new(),
            condition: None,
            equal: None,
        }
    }
}

impl Summand {
    /// Whether it takes the place of a use as it is.
    fn is_alone(&self) -> bool {
        self.loops.is_empty() && self.condition.is_none() && self.equal.is_none()
    }
}

/// Why uses of a tensor cannot be replaced by sums: the first in the way.
#[derive(Clone, Debug)]
pub(super) struct NotAdditive {
    /// What is in the way.
    pub why: &'static str,
    /// The place of the use, in the source of the statement.
    pub span: Span,
}

/// What is written in place of the uses of a tensor.
pub(super) struct Replaced<'a> {
    /// The tensor.
    pub tensor: TensorVar,
    /// Whether entries may be stored several times and add up, so that only what is
    /// linear in them may be taken apart.
    pub repeats: bool,
    /// The summands for a use. It may add tensors and variables to the statement.
    pub summands: &'a mut dyn FnMut(&mut Concrete, &Access) -> Vec<Summand>,
}

/// The statement with every use of a tensor replaced by the sum of its summands.
///
/// Where there is one, without loops of its own and conditions, any expression will
/// do.
pub(super) fn summed(
    concrete: &Concrete,
    replaced: &mut Replaced<'_>,
) -> Result<Concrete, NotAdditive> {
    let mut summed = concrete.clone();
    let mut first_fault = None;
    let stmt = concrete.stmt.rewrite(&mut |stmt| {
        uses(stmt, replaced.tensor)?;
        let nests = Whole::of(stmt, concrete)?.distributed(&mut summed, replaced);
        let nests = nests.map_err(|fault| first_fault.get_or_insert(fault).clone());
        // The statements inside may still be.
        nests.ok().map(sequence)
    });
    let mut left = None;
    stmt.for_each_assign(&mut |_, _, rhs| {
        let mut accesses = rhs.accesses().into_iter();
        left = left.or(accesses
            .find(|it| it.tensor == replaced.tensor)
            .map(|it| it.span));
    });
    match (left, first_fault) {
        (None, _) => Ok(Concrete {
            stmt: flattened(&stmt),
            ..summed
        }),
        (Some(_), Some(fault)) => Err(fault),
        (Some(span), None) => Err(NotAdditive {
            why: "it is not in a nest of loops around one assignment",
            span,
        }),
    }
}

/// The first use of a tensor on the right sides of a statement.
fn uses(stmt: &Stmt, tensor: TensorVar) -> Option<&Access> {
    let mut found = None;
    stmt.for_each_assign(&mut |_, _, rhs| {
        found = found.or_else(|| use_in(rhs, tensor));
    });
    found
}

fn use_in(expr: &Expr, tensor: TensorVar) -> Option<&Access> {
    let mut accesses = expr.accesses().into_iter();
    accesses.find(|access| access.tensor == tensor)
}

/// Statements one after the other, those of sequences among them too.
fn sequence(stmts: Vec<Stmt>) -> Stmt {
    let nests = stmts.into_iter().flat_map(|stmt| match stmt {
        Stmt::Sequence(stmts) => stmts,
        nest => vec![nest],
    });
    match <[Stmt; 1]>::try_from(nests.collect::<Vec<Stmt>>()) {
        Ok([nest]) => nest,
        Err(nests) => Stmt::Sequence(nests),
    }
}

/// The statement, where nests in a sequence may have become sequences.
fn flattened(stmt: &Stmt) -> Stmt {
    stmt.rewrite(&mut |stmt| match stmt {
        Stmt::Sequence(stmts) => Some(sequence(stmts.iter().map(flattened).collect())),
        _ => None,
    })
}

/// Loops around one assignment, with what scalar workspaces collect for it written
/// as reductions again.
struct Whole {
    loops: Vec<IndexVar>,
    lhs: Access,
    reduce: Option<Operator>,
    rhs: Expr,
}

impl Whole {
    /// `None` where a statement is more than that, or its loops were derived.
    fn of(stmt: &Stmt, concrete: &Concrete) -> Option<Self> {
        match stmt {
            Stmt::Assign { lhs, reduce, rhs } => Some(Self {
                loops: Vec::new(),
                lhs: lhs.clone(),
                reduce: reduce.clone(),
                rhs: rhs.clone(),
            }),
            Stmt::Forall { var, body } => {
                let mut whole = Self::of(body, concrete)?;
                whole.loops.insert(0, *var);
                let is_plain = !concrete.clauses().any(|clause| clause.names(var));
                is_plain.then_some(whole)
            }
            Stmt::Where { consumer, producer } => {
                let (whole, collected) =
                    (Self::of(consumer, concrete)?, Self::of(producer, concrete)?);
                let data = &concrete.tensors[collected.lhs.tensor];
                let is_scalar = data.role == TensorRole::Workspace && data.order() == 0;
                let reduction = Expr::Reduce {
                    op: collected.reduce.filter(|_| is_scalar)?,
                    vars: collected.loops,
                    body: Box::new(collected.rhs),
                };
                let rhs = whole.rhs.map_accesses(&mut |access| {
                    (access.tensor == collected.lhs.tensor).then(|| reduction.clone())
                });
                Some(Self { rhs, ..whole })
            }
            Stmt::Sequence(_) => None,
        }
    }

    /// A nest for each term.
    fn distributed(
        self,
        concrete: &mut Concrete,
        replaced: &mut Replaced<'_>,
    ) -> Result<Vec<Stmt>, NotAdditive> {
        if let Some(rhs) = self.exchanged(concrete, replaced) {
            let nest = nest(concrete, self.lhs, self.reduce, &rhs, &self.loops);
            return Ok(vec![nest]);
        }
        let element = self.rhs.element(&concrete.tensors);
        let sum = self.reduce.clone().unwrap_or(match element {
            ElementType::Bool => Operator::Or,
            _ => Operator::Add,
        });
        let identity = sum.identity(element);
        let identity = identity.expect("values are combined by an operator that reduces");
        let sums = Sums {
            concrete,
            tensor: replaced.tensor,
            sum: &sum,
            repeats: replaced.repeats,
            identity,
        };
        let terms = sums.terms(Term {
            lhs: self.lhs,
            loops: self.loops,
            value: self.rhs,
            conditions: Vec::new(),
        })?;
        let mut replacing = sums.joined(terms);
        let mut done = Vec::new();
        while let Some(term) = (!replacing.is_empty()).then(|| replacing.remove(0)) {
            let Some(access) = use_in(&term.value, replaced.tensor).cloned() else {
                done.push(term);
                continue;
            };
            let summands = (replaced.summands)(concrete, &access);
            if done.len() + replacing.len() + summands.len() > MAX_TERMS {
                return Err(NotAdditive {
                    why: "there would be too many terms",
                    span: access.span,
                });
            }
            let terms = summands
                .into_iter()
                .map(|summand| term.with(&access, summand))
                .collect::<Result<Vec<Term>, NotAdditive>>()?;
            replacing.splice(0..0, terms);
        }
        let mut nests = Vec::new();
        for (number, term) in done.into_iter().enumerate() {
            term.expect_ends(concrete)?;
            term.expect_distinct(concrete)?;
            let (lhs, reduce) = (term.lhs.clone(), Some(sum.clone()));
            let value = term.counted(identity);
            let nest = nest(concrete, lhs, reduce, &value, &term.loops);
            nests.push(match number {
                0 => nest,
                _ => with_own_loops(concrete, &nest),
            });
        }
        Ok(nests)
    }

    /// The right side, where each use has one summand that takes its place.
    fn exchanged(&self, concrete: &mut Concrete, replaced: &mut Replaced<'_>) -> Option<Expr> {
        let before = concrete.clone();
        let mut is_one = true;
        let rhs = self.rhs.map_accesses(&mut |access| {
            if access.tensor != replaced.tensor || !is_one {
                return None;
            }
            let mut summands = (replaced.summands)(concrete, access);
            is_one &= matches!(&summands[..], [one] if one.is_alone());
            summands.pop().map(|summand| summand.expr)
        });
        if !is_one {
            *concrete = before;
        }
        is_one.then_some(rhs)
    }
}

/// A nest with variables of its own in place of those of its loops.
fn with_own_loops(concrete: &mut Concrete, nest: &Stmt) -> Stmt {
    let mut own: BTreeMap<IndexVar, IndexVar> = BTreeMap::new();
    for var in nest.loops() {
        let IndexVarData { name, extent } = concrete.vars[var].clone();
        let name = concrete.fresh_name(&name);
        own.insert(var, concrete.vars.push(IndexVarData { name, extent }));
    }
    nest.renamed(&|var| own.get(&var).copied().unwrap_or(var))
}
