//! Whether an entry of a result is stored.
//!
//! The pattern of a result is structural: an entry is stored where an operand
//! makes it so, whatever its value. Loops visit only such coordinates, with
//! one exception: whether the producer of a temporary found anything is known
//! only when it has run, so such temporaries carry a flag.

use sparsec_base::Scalar;
use sparsec_index::{Access, Expr as Value};
use sparsec_loop::{BinaryOp, Expr};

use crate::statement::Lowerer;
use crate::workspace::Workspace;

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

impl Lowerer<'_> {
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
    fn where_absent(&self, expr: &Value) -> Value {
        expr.map_accesses(&mut |access| Some(Value::Literal(self.unstored(access))))
            .simplify()
    }

    /// When an expression counts as stored.
    pub(crate) fn presence(&self, expr: &Value) -> Presence {
        match expr {
            Value::Literal(_) => Presence::Never,
            Value::Access(access) => match self.workspaces.get(&access.tensor) {
                Some(
                    Workspace::Scalar {
                        written: Some(flag),
                        ..
                    }
                    | Workspace::Dense {
                        written: Some(flag),
                        ..
                    },
                ) => Presence::When(Expr::Var(*flag)),
                _ => Presence::Always,
            },
            Value::Cast(_, body) => self.presence(body),
            Value::Apply { op, args } => {
                let element = args
                    .last()
                    .expect("every operator has an argument")
                    .element(&self.concrete.tensors);
                let annihilates = |at: usize, arg: &Value| {
                    op.annihilator(at, element)
                        .is_some_and(|value| self.where_absent(arg) == Value::Literal(value))
                };
                let needed: Vec<&Value> = args
                    .iter()
                    .enumerate()
                    .filter(|(at, arg)| annihilates(*at, arg))
                    .map(|(_, arg)| arg)
                    .collect();
                if needed.is_empty() {
                    return args
                        .iter()
                        .map(|arg| self.presence(arg))
                        .fold(Presence::Never, Presence::or);
                }
                needed
                    .into_iter()
                    .map(|arg| self.presence(arg))
                    .fold(Presence::Always, Presence::and)
            }
            Value::Reduce { .. } => unreachable!("concrete notation has loops for reductions"),
        }
    }

    /// What an access reads where nothing is stored.
    fn unstored(&self, access: &Access) -> Scalar {
        match self.workspaces.get(&access.tensor) {
            Some(Workspace::Scalar { identity, .. } | Workspace::Dense { identity, .. }) => {
                *identity
            }
            _ => self.concrete.tensors[access.tensor].fill,
        }
    }
}
