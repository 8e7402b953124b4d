//! A right side as a sum of terms.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::{Expr, IndexVar, Operator, Program, Statement};

/// One term of a sum: factors, those that divide it, and its sign.
#[derive(Clone, Default)]
pub(crate) struct Term<'a> {
    pub(crate) factors: Vec<&'a Expr>,
    pub(crate) divisors: Vec<&'a Expr>,
    pub(crate) is_negative: bool,
    /// What is summed over.
    pub(crate) vars: Vec<IndexVar>,
}

/// The terms whose sum an expression is, products of sums multiplied out.
///
/// # Errors
/// `E0820` for an operator that is none of a sum of products.
pub(crate) fn terms<'a>(
    program: &Program,
    statement: &Statement,
    expr: &'a Expr,
) -> Result<Vec<Term<'a>>> {
    let of = |expr: &'a Expr| terms(program, statement, expr);
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) | Expr::Cast(..) => Ok(vec![Term {
            factors: vec![expr],
            ..Term::default()
        }]),
        Expr::Apply { op, args } => match (op, &args[..]) {
            (Operator::Add, [a, b]) => Ok([of(a)?, of(b)?].concat()),
            (Operator::Sub, [a, b]) => Ok([of(a)?, negated(of(b)?)].concat()),
            (Operator::Neg, [a]) => Ok(negated(of(a)?)),
            (Operator::Mul, [a, b]) => {
                let (a, b) = (of(a)?, of(b)?);
                let pairs = a.iter().flat_map(|a| b.iter().map(move |b| a.times(b)));
                Ok(pairs.collect())
            }
            (Operator::Div, [a, b]) => {
                let by = |mut term: Term<'a>| {
                    term.divisors.push(b);
                    term
                };
                Ok(of(a)?.into_iter().map(by).collect())
            }
            _ => Err(refused(program, statement, &format!("`{}`", op.symbol()))),
        },
        Expr::Reduce { op, vars, body } => match op {
            Operator::Add => {
                let over = |mut term: Term<'a>| {
                    term.vars.extend(vars);
                    term
                };
                Ok(of(body)?.into_iter().map(over).collect())
            }
            _ => {
                let name = op.reduction_name().unwrap_or(op.symbol());
                Err(refused(program, statement, &format!("`{name}`")))
            }
        },
    }
}

fn negated(mut terms: Vec<Term<'_>>) -> Vec<Term<'_>> {
    for term in &mut terms {
        term.is_negative = !term.is_negative;
    }
    terms
}

impl<'a> Term<'a> {
    fn times(&self, other: &Self) -> Self {
        Self {
            factors: [&self.factors[..], &other.factors[..]].concat(),
            divisors: [&self.divisors[..], &other.divisors[..]].concat(),
            is_negative: self.is_negative != other.is_negative,
            vars: [&self.vars[..], &other.vars[..]].concat(),
        }
    }
}

/// The refusal of a statement, for something that stands in it.
pub(crate) fn refused(program: &Program, statement: &Statement, what: &str) -> Diagnostic {
    let message = format!("{what} where operands are read through relations");
    Diagnostic::new(code::NO_WALK, message)
        .at(&program.source, statement.span, "in this statement")
        .help("without a script it is run on copies; or write it as a sum of products of entries")
}
