//! Entries that are not stored are reduced without being visited.
//!
//! All of them are the fill, so that it is enough to know how many there are. A
//! loop visits what is stored, reduces it and counts it:
//!
//! ```text
//! s(i) = sum{j}(exp(A(i,j)))                 A : csr with fill 0, j < 100
//!
//! s(i) = sum{j}(stored exp(A(i,j))) + 1.0 * (100 - n(i))
//! n(i) = sum{j}(i64(isstored(A(i,j))))
//! ```
//!
//! `k` entries of fill `f` that are not stored add up to
//!
//! | reduction                | is                      | where                      |
//! |--------------------------|-------------------------|----------------------------|
//! | `f op f` is `f`          | `select(k > 0, f, identity)` | `max`, `min`, `or`, `and`; `prod` of zeros, sums of infinities |
//! | sum of integers          | `f * k`                 | wraps, as adding one by one does |
//! | sum of floats            | `f * k`                 | rounded once; not with `strict` |
//! | product of integers      | `pow(f, k)`             | wraps                      |
//! | product of floats        | `pow(f, k)`             | rounded once; not with `strict` |
//!
//! which is what the fill of a result is where nothing is stored at all. Of more
//! coordinates than 64 bits count some are left whatever is stored.
//!
//! Operands may be read at sums of variables, too (`A(i + 3,j)`, `A(99 - i,j)`): whether
//! a loop skips what is not stored is asked for loops in the order in which they would
//! walk it, forwards or in a copy that is counted from the end.
//!
//! Invariants: fills and patterns are those of the statement as it was, and values
//! but for rounding. Nothing is changed where a fill is the identity of its
//! reduction, so that the loop skips it anyway, where an extent is not known, and
//! where every entry is stored.

use std::collections::BTreeMap;

use sparsec_base::{ElementType, Kind, Scalar};
use sparsec_graph::{Formats, Lattice, Operands, Scope, space};
use sparsec_index::expr::points;
use sparsec_index::{
    Access, Concrete, Expr, IndexExpr, IndexVar, Operator, Program, Stmt, TensorData, TensorRole,
    Vars,
};

use crate::draft::walked;
use crate::split::first_reduction;

/// The program that the module is about, with what it goes by.
#[derive(Clone, Copy)]
pub(crate) struct Fills<'a> {
    pub(crate) program: &'a Program,
    pub(crate) formats: &'a Formats,
    /// Whether floats are reduced in the order of the source.
    pub(crate) strict: bool,
}

impl Fills<'_> {
    /// A right side with the reductions rewritten that the module is about.
    pub(crate) fn taken(self, rhs: &Expr) -> Expr {
        rhs.map_parts(&mut |part| {
            let reduction = self.reduction(part)?;
            self.skips(&reduction.of_stored(), &[])
                .then(|| reduction.rewritten())
        })
    }

    /// Whether statement `number` reduces what is itself reduced, such that the
    /// outer reduction could leave out coordinates if the inner one had a name.
    pub(crate) fn wants_names(self, number: usize) -> bool {
        let rhs = &self.program.statements[number].rhs;
        first_reduction(rhs, true).is_some()
            && any_reduction(rhs, &|op, vars, body| {
                let (_, body) = self.merged(op, vars, body);
                let element = body.element(&self.program.tensors);
                let fill = body.fill(&self.program.tensors, &self.program.vars);
                has_reduction(body)
                    && fill.is_some()
                    && fill != op.identity(element)
                    && self.skips(&without_reductions(body), &body.bound_vars())
            })
    }

    /// The reduction that an expression is, if what is not stored can be taken at
    /// once.
    fn reduction(self, expr: &Expr) -> Option<Reduction> {
        let Expr::Reduce { op, vars, body } = expr else {
            return None;
        };
        let Program {
            tensors, vars: all, ..
        } = self.program;
        let (vars, body) = self.merged(op, vars, body);
        let element = body.element(tensors);
        let identity = op.identity(element)?;
        let fill = body.fill(tensors, all)?;
        let is_known = vars
            .iter()
            .all(|var| all[*var].extent.is_some_and(|n| n > 0));
        if fill == identity || vars.is_empty() || !is_known || has_reduction(body) {
            return None;
        }
        let n_stored = Expr::Reduce {
            op: Operator::Add,
            vars: vars.clone(),
            body: Box::new(Expr::Cast(
                ElementType::I64,
                Box::new(apply(Operator::IsStored, [body.clone()])),
            )),
        };
        let rest = Unstored {
            op,
            fill,
            identity,
            n: points(all, &vars),
            n_stored,
        };
        Some(Reduction {
            rest: rest.reduced(self.strict)?,
            op: op.clone(),
            vars,
            body: body.clone(),
            identity,
        })
    }

    /// A reduction of reductions with one operator as one over all variables.
    fn merged<'e>(
        self,
        op: &Operator,
        vars: &[IndexVar],
        mut body: &'e Expr,
    ) -> (Vec<IndexVar>, &'e Expr) {
        let mut vars = vars.to_vec();
        while let Expr::Reduce {
            op: inner,
            vars: more,
            body: next,
        } = body
            && inner == op
            && is_any_order(op, body.element(&self.program.tensors), self.strict)
        {
            vars.extend(more);
            body = next;
        }
        (vars, body)
    }

    /// Whether a loop over some variable of `body`, but for those `beside`, leaves out
    /// coordinates at which it is not stored.
    fn skips(self, body: &Expr, beside: &[IndexVar]) -> bool {
        let Program {
            source,
            tensors,
            vars: all,
            ..
        } = self.program;
        let mut tensors = tensors.clone();
        let element = body.element(&tensors);
        let Some(fill) = body.fill(&tensors, all) else {
            return false;
        };
        let assigned = tensors.push(TensorData {
            name: String::new(),
            element,
            extents: Vec::new(),
            fill,
            role: TensorRole::Result,
            earlier_of: None,
            span: Default::default(),
            levels_of: None,
        });
        // Copies let loops go backwards too.
        let rhs = body.map_accesses(&mut |access| {
            let mut access = access.clone();
            for index in &mut access.indices {
                *index = ascending(index, all).unwrap_or_else(|| index.clone());
            }
            Some(Expr::Access(access))
        });
        let assign = Stmt::Assign {
            lhs: Access::plain(assigned, &[], Default::default()),
            reduce: None,
            rhs,
        };
        let used = body.vars();
        let concrete = Concrete {
            source: source.clone(),
            tensors,
            vars: all.clone(),
            result: assigned,
            beside: Vec::new(),
            kinds: BTreeMap::new(),
            // The innermost loop of those over variables of an index walks its level.
            stmt: assign.in_loops(&used),
            clauses: Vec::new(),
        };
        let mut as_walked = Formats::new();
        for access in body.accesses() {
            as_walked.set(access.tensor, walked(self.formats, access).clone());
        }
        let operands = Operands::of(&concrete);
        let scope = Scope {
            concrete: &concrete,
            formats: &as_walked,
            operands: &operands,
        };
        let visits_all = |var| Lattice::of(&space(scope, &concrete.stmt, var)).everything;
        used.into_iter()
            .any(|var| !beside.contains(&var) && !visits_all(var))
    }
}

/// A reduction with what its entries that are not stored add up to.
struct Reduction {
    op: Operator,
    vars: Vec<IndexVar>,
    body: Expr,
    identity: Scalar,
    rest: Expr,
}

impl Reduction {
    fn of_stored(&self) -> Expr {
        self.body.clone().where_stored(self.identity)
    }

    fn rewritten(self) -> Expr {
        let stored = Expr::Reduce {
            op: self.op.clone(),
            vars: self.vars.clone(),
            body: Box::new(self.of_stored()),
        };
        apply(self.op, [stored, self.rest])
    }
}

/// The entries of a reduction that are not stored.
struct Unstored<'a> {
    op: &'a Operator,
    fill: Scalar,
    identity: Scalar,
    /// How many points are reduced; `None` beyond what 128 bits count.
    n: Option<u128>,
    /// How many of them are stored.
    n_stored: Expr,
}

impl Unstored<'_> {
    /// What they are, reduced; `None` where there is no formula for it.
    fn reduced(self, strict: bool) -> Option<Expr> {
        let element = self.fill.element();
        if !is_any_order(self.op, element, strict) {
            return None;
        }
        if self.stays() {
            return Some(self.once());
        }
        match (self.op, element.kind()) {
            (Operator::Add, Kind::Signed | Kind::Unsigned) => {
                // The low bits of the count are enough, since sums wrap.
                let n = self.n? as i64;
                let count = cast(element, ElementType::I64, self.left_of(n));
                Some(apply(Operator::Mul, [Expr::Literal(self.fill), count]))
            }
            (Operator::Add, Kind::Float | Kind::Complex) => self.rounded(Operator::Mul),
            (Operator::Mul, Kind::Float) => self.rounded(Operator::Pow),
            (Operator::Mul, Kind::Signed | Kind::Unsigned) => self.power(),
            _ => None,
        }
    }

    /// Whether many of them are as good as one.
    fn stays(&self) -> bool {
        let element = self.fill.element();
        if let Operator::Defined(_) = self.op {
            return self.op.is_idempotent(element);
        }
        let is_finite = self.fill.to_c128().is_finite();
        let twice = self.op.evaluate(&[self.fill, self.fill]);
        let is_nan = |value: Scalar| value.to_c128().is_nan();
        (is_finite || !element.is_complex())
            && twice.is_some_and(|twice| twice == self.fill || is_nan(twice) && is_nan(self.fill))
    }

    /// One of them, if there is one.
    fn once(self) -> Expr {
        let n = self.n.and_then(|n| i64::try_from(n).ok());
        // A literal that decides would do so whatever is stored, even where that is
        // reduced to `NaN`.
        let decides = !self.op.decisions(&[None, Some(self.fill)]).is_empty();
        let n = match n {
            Some(n) => n,
            None if decides => i64::MAX,
            // None are more coordinates than any tensor stores.
            None => return Expr::Literal(self.fill),
        };
        let is_left = apply(Operator::Lt, [self.n_stored, Expr::Literal(Scalar::I64(n))]);
        apply(
            Operator::Select,
            [
                is_left,
                Expr::Literal(self.fill),
                Expr::Literal(self.identity),
            ],
        )
    }

    /// `n` less those that are stored.
    fn left_of(&self, n: i64) -> Expr {
        apply(
            Operator::Sub,
            [Expr::Literal(Scalar::I64(n)), self.n_stored.clone()],
        )
    }

    /// The fill and the count, both in double precision, and rounded to the type.
    fn rounded(self, op: Operator) -> Option<Expr> {
        let (fill, n) = (self.fill, self.n?);
        let element = fill.element();
        if !fill.to_c128().is_finite() {
            return None;
        }
        let double = |count| cast(ElementType::F64, ElementType::I64, count);
        let count = match i64::try_from(n) {
            Ok(n) => double(self.left_of(n)),
            Err(_) => apply(
                Operator::Sub,
                [Expr::Literal(Scalar::F64(n as f64)), double(self.n_stored)],
            ),
        };
        let (wide, count) = match element.is_complex() {
            true => (
                ElementType::C128,
                cast(ElementType::C128, ElementType::F64, count),
            ),
            false => (ElementType::F64, count),
        };
        let all = apply(op, [Expr::Literal(fill.cast(wide)?), count]);
        Some(cast(element, wide, all))
    }

    /// An integer to the power of the count.
    fn power(self) -> Option<Expr> {
        /// Powers of odd numbers modulo 2^64 come again after so many.
        const PERIOD: u128 = 1 << 62;
        let (fill, n) = (self.fill, self.n?);
        let element = fill.element();
        let is_even = Operator::Mod
            .evaluate(&[fill, Scalar::from_i64(element, 2)])?
            .is_zero();
        let n = match i64::try_from(n) {
            Ok(n) => n,
            // So many factors of 2 leave no bit.
            Err(_) if is_even => return Some(Expr::Literal(element.zero())),
            Err(_) => (n % PERIOD + PERIOD) as i64,
        };
        let count = cast(element, ElementType::I64, self.left_of(n));
        Some(apply(Operator::Pow, [Expr::Literal(fill), count]))
    }
}

/// Whether values of a type may be reduced in any order.
fn is_any_order(op: &Operator, element: ElementType, strict: bool) -> bool {
    let rounds = matches!(element.kind(), Kind::Float | Kind::Complex);
    !strict || !rounds || op.is_idempotent(element)
}

/// A value of type `from` as type `to`.
fn cast(to: ElementType, from: ElementType, value: Expr) -> Expr {
    match to == from {
        true => value,
        false => Expr::Cast(to, Box::new(value)),
    }
}

fn apply<const N: usize>(op: Operator, args: [Expr; N]) -> Expr {
    Expr::Apply {
        op,
        args: args.into(),
    }
}

/// The same coordinates, in the order in which variables go that an index subtracts.
fn ascending(index: &IndexExpr, vars: &Vars) -> Option<IndexExpr> {
    index
        .vars()
        .into_iter()
        .try_fold(index.clone(), |index, var| {
            let (Some((factor, rest)), Some(n)) = (index.linear_in(var), vars[var].extent) else {
                return Some(index);
            };
            if factor >= 0 {
                return Some(index);
            }
            let last = i64::try_from(n.checked_sub(1)?).ok()?;
            let least = IndexExpr::constant(factor.checked_mul(last)?);
            let step = IndexExpr::from(var).times(factor.checked_neg()?)?;
            Some(rest.plus(&least)?.plus(&step)?.apart())
        })
}

fn has_reduction(expr: &Expr) -> bool {
    any_reduction(expr, &|_, _, _| true)
}

/// Whether `wanted` holds of a reduction in an expression.
fn any_reduction(expr: &Expr, wanted: &dyn Fn(&Operator, &[IndexVar], &Expr) -> bool) -> bool {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => false,
        Expr::Cast(_, body) => any_reduction(body, wanted),
        Expr::Apply { args, .. } => args.iter().any(|arg| any_reduction(arg, wanted)),
        Expr::Reduce { op, vars, body } => wanted(op, vars, body) || any_reduction(body, wanted),
    }
}

/// An expression that is stored where one of what the reductions in this one reduce
/// is stored.
fn without_reductions(expr: &Expr) -> Expr {
    expr.map_parts(&mut |part| match part {
        Expr::Reduce { body, .. } => Some(without_reductions(body)),
        _ => None,
    })
}
