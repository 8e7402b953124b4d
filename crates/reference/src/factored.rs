//! Long products whose sums are taken factor by factor.
//!
//! Visiting every point of a product of many sparse matrices takes time that
//! grows exponentially with their number. Addition distributes over
//! multiplication, so a sum may be taken as soon as all factors that have its
//! variable are together:
//!
//! ```text
//! sum{b,c,d}(A(a,b) * B(b,c) * C(c,d) * D(d,e))
//!   = sum{b}(A(a,b) * sum{c}(B(b,c) * sum{d}(C(c,d) * D(d,e))))
//! ```
//!
//! Which variable goes first is chosen greedily: the one whose factors join in
//! the fewest points, if entries lie evenly. That is variable elimination as in
//! Dechter, "Bucket elimination", UAI 1996,
//! <https://arxiv.org/abs/1302.3572>, by sizes instead of by width.
//!
//! Integers, which wrap, give the same value either way; floating-point numbers do
//! up to rounding, which the slack of the sums inside covers. That needs
//! values that are finite, so a caller falls back to the sum as it is written
//! where a result is not. Stored is the same: a point has all factors, or is no entry.

use std::collections::BTreeSet;

use sparsec_base::Kind;
use sparsec_index::{Expr, IndexVar, Operator};

use crate::program::Context;

/// A factor and how many entries it has, about.
struct Factor {
    expr: Expr,
    vars: BTreeSet<IndexVar>,
    entries: f64,
}

/// The sum of a product of accesses as sums inside one another, and about how many
/// points these visit; `None` for all else, and where there is nothing to take apart.
pub(crate) fn factored(context: &Context<'_>, expr: &Expr) -> Option<(Expr, f64)> {
    let Expr::Reduce { op, vars, body } = expr else {
        return None;
    };
    let is_ring = body.element(&context.program.tensors).kind() != Kind::Bool;
    if *op != Operator::Add || !is_ring || vars.len() < 2 {
        return None;
    }
    let mut factors = Vec::new();
    split(context, body, &mut factors)?;
    let (mut left, mut points) = (vars.clone(), 0.0);
    while !left.is_empty() {
        let cost =
            |var: &IndexVar| joined(context, factors.iter().filter(|it| it.vars.contains(var)));
        let at = (0..left.len()).min_by(|a, b| cost(&left[*a]).total_cmp(&cost(&left[*b])))?;
        let var = left.remove(at);
        points += cost(&var);
        let (with, without): (Vec<_>, Vec<_>) =
            factors.into_iter().partition(|it| it.vars.contains(&var));
        factors = without;
        factors.push(summed(context, var, with)?);
    }
    points += joined(context, factors.iter());
    Some((product(factors)?.expr, points))
}

/// The factors of a product, all of which are nothing where they store nothing.
fn split(context: &Context<'_>, expr: &Expr, found: &mut Vec<Factor>) -> Option<()> {
    if let Expr::Apply {
        op: Operator::Mul,
        args,
    } = expr
    {
        return args.iter().try_for_each(|arg| split(context, arg, found));
    }
    let access = match expr {
        Expr::Access(access) => access,
        Expr::Cast(element, inner) if matches!(element.kind(), Kind::Float | Kind::Complex) => {
            match inner.as_ref() {
                Expr::Access(access) => access,
                _ => return None,
            }
        }
        _ => return None,
    };
    let operand = &context.operands[&access.tensor];
    let vars: BTreeSet<IndexVar> = access.plain_vars()?.into_iter().collect();
    operand.fill().is_zero().then_some(())?;
    found.push(Factor {
        expr: expr.clone(),
        vars,
        entries: operand.entries(),
    });
    Some(())
}

/// About how many points have an entry of each factor.
fn joined<'f>(context: &Context<'_>, factors: impl Iterator<Item = &'f Factor>) -> f64 {
    let (mut points, mut seen) = (1.0, BTreeSet::new());
    for factor in factors {
        let shared = factor.vars.iter().filter(|var| !seen.insert(**var));
        let each: f64 = shared.map(|var| extent(context, *var)).product();
        points *= factor.entries / each.max(1.0);
    }
    points
}

fn extent(context: &Context<'_>, var: IndexVar) -> f64 {
    context
        .extents
        .get(&var)
        .map_or(0.0, |extent| *extent as f64)
}

/// The sum over one variable of the factors that have it.
fn summed(context: &Context<'_>, var: IndexVar, factors: Vec<Factor>) -> Option<Factor> {
    let points = joined(context, factors.iter());
    let mut body = product(factors)?;
    body.vars.remove(&var);
    let all: f64 = body.vars.iter().map(|var| extent(context, *var)).product();
    Some(Factor {
        expr: Expr::Reduce {
            op: Operator::Add,
            vars: vec![var],
            body: Box::new(body.expr),
        },
        entries: points.min(all),
        vars: body.vars,
    })
}

/// The product of factors; `None` of none.
fn product(factors: Vec<Factor>) -> Option<Factor> {
    factors.into_iter().reduce(|left, right| Factor {
        expr: Expr::Apply {
            op: Operator::Mul,
            args: vec![left.expr, right.expr],
        },
        vars: &left.vars | &right.vars,
        entries: left.entries.min(right.entries),
    })
}
