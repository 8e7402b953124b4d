//! Whether an entry of a result is stored.
//!
//! The pattern of a result is structural: an entry is stored where stored entries of
//! operands decide its value, whatever that value is. Loops visit only such coordinates,
//! with one exception: only a producer that has run knows whether it added anything to its
//! temporary. A flag of the temporary records it.

use sparsec_base::Scalar;
use sparsec_graph::for_each_factor;
use sparsec_index::stored::{Answers, Found, stored, unstored};
use sparsec_index::{Access, Concrete, Expr as Value, TensorVar};
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

/// A temporary that decides a result if nothing was added to it: `t * x(i)` is then 0, even where
/// `x(i)` is `NaN`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub(crate) temporary: TensorVar,
    /// Whether anything was added.
    pub(crate) written: Var,
    /// Its value if nothing was.
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
    /// When an assignment of `rhs` stores an entry of a tensor whose other entries are `unstored`:
    /// always, if `rhs` has another value where its operands store nothing.
    pub(crate) fn presence_in(&self, unstored: Scalar, rhs: &Value) -> Presence {
        match self.stored(rhs) {
            (presence, Some(value)) if value == unstored => presence,
            _ => Presence::Always,
        }
    }

    /// The value of an expression where none of its operands are stored, if it is known.
    pub(crate) fn where_absent(&self, expr: &Value) -> Option<Scalar> {
        let Concrete { tensors, vars, .. } = self.kernel.concrete;
        unstored(expr, tensors, vars, &|access| self.unstored(access))
    }

    /// When an expression counts as stored.
    pub(crate) fn presence(&self, expr: &Value) -> Presence {
        self.stored(expr).0
    }

    fn stored(&self, expr: &Value) -> Found<Presence> {
        let Concrete { tensors, vars, .. } = self.kernel.concrete;
        stored(self, expr, tensors, vars)
    }

    /// A temporary of `rhs` to which perhaps nothing was added, and that then decides the value.
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

    /// Calls `visit` on every access that decides the value where nothing of it is stored.
    pub(crate) fn for_each_factor(&self, expr: &Value, visit: &mut dyn FnMut(&Access)) {
        let absent = |part: &Value| self.where_absent(part);
        for_each_factor(self.kernel.concrete, expr, &absent, visit);
    }

    /// The value of an access where nothing is stored, if it is known.
    fn unstored(&self, access: &Access) -> Option<Scalar> {
        match self.workspaces.get(&access.tensor) {
            Some(Workspace::Scalar { unstored, .. } | Workspace::Dense { unstored, .. }) => {
                *unstored
            }
            _ => Some(self.kernel.concrete.tensors[access.tensor].fill),
        }
    }
}

/// When an expression counts as stored at a point that the loops visit.
impl Answers for Context<'_> {
    type Where = Presence;

    fn nowhere(&self) -> Presence {
        Presence::Never
    }

    fn everywhere(&self) -> Presence {
        Presence::Always
    }

    fn of_access(&self, access: &Access) -> Found<Presence> {
        let workspace = self.workspaces.get(&access.tensor);
        let presence = match workspace.and_then(Workspace::written) {
            Some(flag) if !self.certain.contains(&access.tensor) => Presence::When(Expr::Var(flag)),
            _ => Presence::Always,
        };
        (presence, self.unstored(access))
    }

    fn either(&self, one: Presence, other: Presence) -> Presence {
        one.or(other)
    }

    fn both(&self, one: Presence, other: Presence) -> Presence {
        one.and(other)
    }
}
