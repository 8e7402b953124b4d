//! Whether an entry of a result is stored.
//!
//! The pattern of a result is structural: an entry is stored where an operand
//! makes it so, whatever its value. Loops visit only such coordinates, with
//! one exception: whether the producer of a temporary found anything is known
//! only when it has run, so such temporaries carry a flag.

use sparsec_base::Scalar;
use sparsec_graph::for_each_factor;
use sparsec_index::{Access, Expr as Value, Operator, TensorVar};
use sparsec_loop::{BinaryOp, Expr, Var};

use crate::context::Context;
use crate::temporary::Workspace;

/// When an expression counts as stored.
#[derive(Clone, Debug)]
pub(crate) enum Presence {
    /// At every coordinate that the loops visit.
    Always,
    /// At none.
    Never,
    /// Where a condition holds.
    When(Expr),
}

/// A temporary that has a say in what it is combined with if nothing was added
/// to it: `t * x(i)` is 0 then, even where `x(i)` is `NaN`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub(crate) temporary: TensorVar,
    /// Whether anything was added.
    pub(crate) written: Var,
    /// What it is if nothing was.
    pub(crate) unstored: Scalar,
}

impl Presence {
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Always, _) | (_, Self::Always) => Self::Always,
            (Self::Never, presence) | (presence, Self::Never) => presence,
            (Self::When(a), Self::When(b)) => Self::When(a.binary(BinaryOp::Or, b)),
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (Self::Always, presence) | (presence, Self::Always) => presence,
            (Self::When(a), Self::When(b)) => Self::When(a.binary(BinaryOp::And, b)),
        }
    }
}

impl Context<'_> {
    /// When `rhs`, assigned to an entry of a tensor that holds `unstored`
    /// where nothing is stored, makes the entry stored. Where the value of
    /// absent operands is another, always.
    pub(crate) fn presence_in(&self, unstored: Scalar, rhs: &Value) -> Presence {
        if self.where_absent(rhs) != Value::Literal(unstored) {
            return Presence::Always;
        }
        self.presence(rhs)
    }

    /// What an expression is where none of its operands are stored.
    pub(crate) fn where_absent(&self, expr: &Value) -> Value {
        expr.map_accesses(&mut |access| self.unstored(access).map(Value::Literal))
            .simplify()
    }

    /// When an expression counts as stored.
    pub(crate) fn presence(&self, expr: &Value) -> Presence {
        match expr {
            Value::Literal(_) => Presence::Never,
            Value::Access(access) => {
                let workspace = self.workspaces.get(&access.tensor);
                match workspace.and_then(Workspace::written) {
                    Some(flag) if !self.certain.contains(&access.tensor) => {
                        Presence::When(Expr::Var(flag))
                    }
                    _ => Presence::Always,
                }
            }
            Value::Index(_) => Presence::Always,
            Value::Cast(_, body) => self.presence(body),
            Value::Apply { op, args } => {
                let fills = args.iter().map(|arg| self.where_absent(arg).literal());
                let fills: Vec<Option<Scalar>> = fills.collect();
                let any_of = |args: &mut dyn Iterator<Item = &Value>| {
                    args.map(|arg| self.presence(arg))
                        .fold(Presence::Never, Presence::or)
                };
                if let Operator::Defined(function) = op {
                    let annihilates = |(at, _): &(usize, &Value)| {
                        fills[*at]
                            .is_some_and(|fill| op.annihilator(*at, fill.element()) == Some(fill))
                    };
                    let needed = args.iter().enumerate().filter(annihilates);
                    let body = function.expand(args, &self.kernel.concrete.tensors);
                    return needed
                        .map(|(_, arg)| self.presence(arg))
                        .fold(self.presence(&body), Presence::and);
                }
                let decisions = op.decisions(&fills);
                if decisions.is_empty() {
                    return any_of(&mut args.iter());
                }
                decisions
                    .iter()
                    .map(|decision| any_of(&mut decision.args.iter().map(|at| &args[*at])))
                    .fold(Presence::Always, Presence::and)
            }
            Value::Reduce { .. } => unreachable!("concrete notation has loops for reductions"),
        }
    }

    /// A temporary of `rhs` that may hold nothing and then has a say.
    pub(crate) fn uncertain_factor(&self, rhs: &Value) -> Option<Factor> {
        let mut found = None;
        self.for_each_factor(rhs, &mut |access| {
            let workspace = self.workspaces.get(&access.tensor);
            if let Some(Workspace::Scalar {
                written: Some(written),
                unstored: Some(unstored),
                ..
            }) = workspace
                && !self.certain.contains(&access.tensor)
            {
                found.get_or_insert(Factor {
                    temporary: access.tensor,
                    written: *written,
                    unstored: *unstored,
                });
            }
        });
        found
    }

    /// Calls `visit` on every access that has a say where nothing of it is stored.
    pub(crate) fn for_each_factor(&self, expr: &Value, visit: &mut dyn FnMut(&Access)) {
        let absent = |part: &Value| self.where_absent(part).literal();
        for_each_factor(self.kernel.concrete, expr, &absent, visit);
    }

    /// What an access reads where nothing is stored, if that is known.
    fn unstored(&self, access: &Access) -> Option<Scalar> {
        match self.workspaces.get(&access.tensor) {
            Some(Workspace::Scalar { unstored, .. } | Workspace::Dense { unstored, .. }) => {
                *unstored
            }
            _ => Some(self.kernel.concrete.tensors[access.tensor].fill),
        }
    }
}
