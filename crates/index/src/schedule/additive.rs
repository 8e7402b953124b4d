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

use std::collections::BTreeMap;

use sparsec_base::{ElementType, Scalar, Span};

use crate::concrete::{Concrete, Stmt};
use crate::concretize::nest;
use crate::expr::{Access, Expr};
use crate::operator::Operator;
use crate::program::{IndexVar, IndexVarData, TensorRole, TensorVar};

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
}

impl From<Expr> for Summand {
    fn from(expr: Expr) -> Self {
        Self {
            expr,
            loops: Vec::new(),
            condition: None,
        }
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
/// Where there is one, without loops of its own and a condition, any expression
/// will do.
pub(super) fn summed(
    concrete: &Concrete,
    replaced: &mut Replaced<'_>,
) -> Result<Concrete, NotAdditive> {
    let mut summed = concrete.clone();
    let mut first_fault = None;
    let stmt = concrete.stmt.rewrite(&mut |stmt| {
        let found = uses(stmt, replaced.tensor)?;
        let fault = match Whole::of(stmt, concrete) {
            Some(whole) => match whole.distributed(&mut summed, replaced) {
                Ok(nests) => return Some(sequence(nests)),
                Err(fault) => fault,
            },
            None => NotAdditive {
                why: "it is not in a nest of loops around one assignment",
                span: found.span,
            },
        };
        // The statements inside may still be.
        first_fault.get_or_insert(fault);
        None
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
        (Some(_), None) => unreachable!("what is left could not be replaced"),
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

/// One term of what is assigned, with the loops that it is added up in.
#[derive(Clone)]
struct Term {
    loops: Vec<IndexVar>,
    value: Expr,
    /// Where it counts.
    conditions: Vec<Expr>,
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
            loops: self.loops.clone(),
            value: self.rhs,
            conditions: Vec::new(),
        })?;
        let mut replacing = sums.joined(terms);
        // A term is added once for each turn of its loops, which end where others
        // that name their variables do.
        let is_endless = |term: &Term, var: &IndexVar| {
            let is_named = self.lhs.uses(*var) || term.value.vars().contains(var);
            !is_named && concrete.vars[*var].extent.is_none()
        };
        for term in &replacing {
            if term.loops.iter().any(|var| is_endless(term, var)) {
                return Err(NotAdditive {
                    why: "a term is without variables whose extents are not known",
                    span: self.lhs.span,
                });
            }
        }
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
            let terms = summands.into_iter().map(|summand| Term {
                loops: [term.loops.clone(), summand.loops].concat(),
                value: term
                    .value
                    .map_accesses(&mut |it| (*it == access).then(|| summand.expr.clone())),
                conditions: term
                    .conditions
                    .iter()
                    .cloned()
                    .chain(summand.condition)
                    .collect(),
            });
            replacing.splice(0..0, terms.collect::<Vec<_>>());
        }
        let mut nests = Vec::new();
        for (number, term) in done.into_iter().enumerate() {
            let (lhs, reduce) = (self.lhs.clone(), Some(sum.clone()));
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
            is_one &=
                matches!(&summands[..], [one] if one.loops.is_empty() && one.condition.is_none());
            summands.pop().map(|summand| summand.expr)
        });
        if !is_one {
            *concrete = before;
        }
        is_one.then_some(rhs)
    }
}

impl Term {
    /// The value where the term counts, and what changes nothing elsewhere: the whole
    /// value, for the other factors of a product may not be finite.
    fn counted(&self, identity: Scalar) -> Expr {
        let conditions = self.conditions.iter().cloned();
        let Some(condition) = conditions.reduce(|left, right| Expr::Apply {
            op: Operator::And,
            args: vec![left, right],
        }) else {
            return self.value.clone();
        };
        let select = |value: &Expr, identity: Scalar| Expr::Apply {
            op: Operator::Select,
            args: vec![condition.clone(), value.clone(), Expr::Literal(identity)],
        };
        match &self.value {
            // Narrow numbers are for storage, and are not chosen between.
            Expr::Cast(element, body) if *element != element.computed() => {
                let identity = identity.cast(element.computed()).unwrap_or(identity);
                Expr::Cast(*element, Box::new(select(body, identity)))
            }
            value => select(value, identity),
        }
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

/// What a sum is taken apart by.
struct Sums<'a> {
    concrete: &'a Concrete,
    tensor: TensorVar,
    /// What values are combined by.
    sum: &'a Operator,
    /// What changes nothing there.
    identity: Scalar,
    repeats: bool,
}

impl Sums<'_> {
    /// The terms of a value: in each that uses the tensor, the fill of it makes the
    /// whole what changes nothing.
    fn terms(&self, term: Term) -> Result<Vec<Term>, NotAdditive> {
        let Some(access) = use_in(&term.value, self.tensor) else {
            return Ok(vec![term]);
        };
        if self.vanishes(&term.value) {
            return match self.repeats && !self.is_linear(&term.value) {
                true => Err(self.fault(access, "what is stored twice would not be added up first")),
                false => Ok(vec![term]),
            };
        }
        let parts = self.parts(&term.value);
        let Some(parts) = parts else {
            let why = "where it stores nothing, the value still adds something";
            return Err(self.fault(access, why));
        };
        let mut terms = Vec::new();
        for (loops, value) in parts {
            let loops = [term.loops.clone(), loops].concat();
            let conditions = Vec::new();
            terms.extend(self.terms(Term {
                loops,
                value,
                conditions,
            })?);
        }
        Ok(terms)
    }

    /// The terms without the tensor that have the same loops as one.
    fn joined(&self, terms: Vec<Term>) -> Vec<Term> {
        let mut joined: Vec<Term> = Vec::new();
        for term in terms {
            let is_other = |it: &Expr| use_in(it, self.tensor).is_none();
            let like = joined
                .iter_mut()
                .find(|it| it.loops == term.loops && is_other(&it.value))
                .filter(|_| is_other(&term.value));
            match like {
                Some(like) => like.value = self.apply(self.sum, [like.value.clone(), term.value]),
                None => joined.push(term),
            }
        }
        joined
    }

    /// A value as several that are combined, each with loops that it is reduced over.
    fn parts(&self, value: &Expr) -> Option<Vec<(Vec<IndexVar>, Expr)>> {
        let alone = |value: &Expr| (Vec::new(), value.clone());
        match value {
            Expr::Reduce { op, vars, body } if op == self.sum => {
                Some(vec![(vars.clone(), (**body).clone())])
            }
            Expr::Apply { op, args } if op == self.sum => Some(args.iter().map(alone).collect()),
            Expr::Apply {
                op: Operator::Sub,
                args,
            } if *self.sum == Operator::Add => {
                let negative = self.apply(&Operator::Neg, [args[1].clone()]);
                Some(vec![alone(&args[0]), (Vec::new(), negative)])
            }
            Expr::Apply { op, args } => {
                let element = value.element(&self.concrete.tensors);
                let is_negative = *op == Operator::Neg && *self.sum == Operator::Add;
                if !is_negative && !op.distributes_over(self.sum, element) {
                    return None;
                }
                // One factor is taken apart at a time.
                let at = args.iter().position(|arg| self.is_sum(arg))?;
                let parts = self.parts(&args[at])?.into_iter().map(|(vars, part)| {
                    let mut args = args.clone();
                    args[at] = part;
                    let op = op.clone();
                    (vars, Expr::Apply { op, args })
                });
                Some(parts.collect())
            }
            _ => None,
        }
    }

    /// Whether a factor uses the tensor and has parts.
    fn is_sum(&self, value: &Expr) -> bool {
        use_in(value, self.tensor).is_some() && self.parts(value).is_some()
    }

    /// Whether a value changes nothing where the tensor stores nothing, whatever
    /// else it uses; and is looked at one entry of the tensor at a time.
    fn vanishes(&self, value: &Expr) -> bool {
        let Concrete { tensors, vars, .. } = self.concrete;
        let fill = tensors[self.tensor].fill;
        let absent = value.map_accesses(&mut |access| {
            (access.tensor == self.tensor).then_some(Expr::Literal(fill))
        });
        let absent = absent.simplify_with(&|part| part.fill(tensors, vars));
        absent.literal() == Some(self.identity) && self.is_pointwise(value)
    }

    /// Whether a value is computed of one entry of the tensor, and not of several or
    /// of whether one is stored.
    fn is_pointwise(&self, value: &Expr) -> bool {
        match value {
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => true,
            Expr::Cast(_, body) => self.is_pointwise(body),
            Expr::Apply { op, args } if *op != Operator::IsStored => {
                args.iter().all(|arg| self.is_pointwise(arg))
            }
            Expr::Apply { .. } | Expr::Reduce { .. } => use_in(value, self.tensor).is_none(),
        }
    }

    /// Whether a value of several entries is the sum of the values of each.
    fn is_linear(&self, value: &Expr) -> bool {
        let uses_tensor = |part: &Expr| use_in(part, self.tensor).is_some();
        match value {
            Expr::Access(_) => *self.sum == Operator::Add,
            Expr::Apply { op, args } => {
                let mut used = args.iter().filter(|arg| uses_tensor(arg));
                let is_one = matches!((used.next(), used.next()), (Some(arg), None)
                    if self.is_linear(arg));
                is_one && matches!(op, Operator::Mul | Operator::Neg)
            }
            _ => false,
        }
    }

    fn apply<const N: usize>(&self, op: &Operator, args: [Expr; N]) -> Expr {
        Expr::Apply {
            op: op.clone(),
            args: args.to_vec(),
        }
    }

    fn fault(&self, access: &Access, why: &'static str) -> NotAdditive {
        NotAdditive {
            why,
            span: access.span,
        }
    }
}
