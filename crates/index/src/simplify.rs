//! Expressions with what is constant in them worked out.
//!
//! | from                              | to      | because                            |
//! |-----------------------------------|---------|------------------------------------|
//! | `f(2, 3)`                         | value   | all arguments are literals         |
//! | `0 * x`, `true or x`              | literal | it annihilates and is not stored   |
//! | `x + 0`, `1 * x`, `x - 0`, `x / 1` | `x`    | it is the identity                 |
//! | `select(true, x, y)`              | `x`     | the condition is not stored, so `x` decides |
//! | `-(-x)`, `not not x`              | `x`     |                                    |
//! | `sum{k}(0)`                       | 0       | the identity reduced is itself     |
//!
//! Every rule keeps the value to the last bit, save that a literal zero has no
//! sign: `x + 0` is `x` for `x = -0.0` too. Simplifying twice is simplifying once.

use sparsec_base::Scalar;

use crate::expr::Expr;
use crate::operator::Operator;

impl Expr {
    /// The expression with its constant parts worked out; see the
    /// [module](crate::simplify) for the rules.
    #[must_use]
    pub fn simplify(&self) -> Self {
        self.simplify_with(&|_| None)
    }

    /// As [`simplify`](Self::simplify), where `fill` says what parts are where
    /// nothing is stored: some literals decide only beside certain fills.
    #[must_use]
    pub fn simplify_with(&self, fill: &dyn Fn(&Expr) -> Option<Scalar>) -> Self {
        match self {
            Self::Literal(_) | Self::Access(_) | Self::Index(_) => self.clone(),
            Self::Cast(element, body) => {
                let body = body.simplify_with(fill);
                match body.literal().and_then(|value| value.cast(*element)) {
                    Some(value) => Self::Literal(value),
                    None => Self::Cast(*element, Box::new(body)),
                }
            }
            Self::Reduce { op, vars, body } => {
                let body = body.simplify_with(fill);
                match body.literal() {
                    Some(value) if op.identity(value.element()) == Some(value) => body,
                    _ => Self::Reduce {
                        op: op.clone(),
                        vars: vars.clone(),
                        body: Box::new(body),
                    },
                }
            }
            Self::Apply { op, args } => {
                let args = args.iter().map(|arg| arg.simplify_with(fill));
                apply(op, args.collect(), fill)
            }
        }
    }

    /// The value of a literal.
    pub fn literal(&self) -> Option<Scalar> {
        match self {
            Self::Literal(value) => Some(*value),
            _ => None,
        }
    }
}

/// `op` of arguments that are simplified already.
fn apply(op: &Operator, mut args: Vec<Expr>, fill: &dyn Fn(&Expr) -> Option<Scalar>) -> Expr {
    let literals: Vec<Option<Scalar>> = args.iter().map(Expr::literal).collect();
    // Literals are never stored.
    let fills: Vec<Option<Scalar>> = args
        .iter()
        .map(|arg| arg.literal().or_else(|| fill(arg)))
        .collect();
    let decided = op.decisions(&fills).into_iter().find(|decision| {
        let mut args = decision.args.iter();
        args.all(|at| literals[*at].is_some())
    });
    if let Some(decision) = decided {
        return Expr::Literal(decision.value);
    }
    match (op, literals.as_slice()) {
        (_, [Some(left), None]) if op.left_identity(left.element()) == Some(*left) => {
            args.remove(1)
        }
        (_, [None, Some(right)]) if op.right_identity(right.element()) == Some(*right) => {
            args.remove(0)
        }
        (Operator::Select, [Some(Scalar::Bool(true)), ..]) => args.remove(1),
        (Operator::Select, [Some(Scalar::Bool(false)), ..]) => args.remove(2),
        (Operator::Neg | Operator::Not, _) => match &mut args[0] {
            Expr::Apply {
                op: inner,
                args: innermost,
            } if inner == op => innermost.remove(0),
            _ => Expr::Apply {
                op: op.clone(),
                args,
            },
        },
        _ => Expr::Apply {
            op: op.clone(),
            args,
        },
    }
}
