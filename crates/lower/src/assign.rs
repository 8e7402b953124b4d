//! Assignments: values of expressions, stored where an entry counts as stored.

use sparsec_base::Scalar;
use sparsec_index::{Access, Expr as Value, Operator};
use sparsec_loop::{Builder, Expr};

use crate::absent::decided;
use crate::context::Context;
use crate::presence::{Factor, Presence};
use crate::result::store;
use crate::temporary::Workspace;
use crate::value::{Update, apply, cast};
use crate::workspace::assign_workspace;

/// `lhs = rhs`, or `lhs reduce= rhs`.
pub(crate) fn assign(
    b: &mut Builder,
    at: &Context<'_>,
    lhs: &Access,
    reduce: Option<&Operator>,
    rhs: &Value,
) {
    let kernel = at.kernel;
    // Outside of loops no lattice has left out what literals decide.
    let rhs = &decided(kernel.concrete, rhs.clone());
    if let Some(factor) = at.uncertain_factor(rhs) {
        let [with, without] = at.by_factor(factor, rhs);
        b.if_else(
            factor.written,
            |b| assign(b, &with.0, lhs, reduce, &with.1),
            |b| assign(b, &without.0, lhs, reduce, &without.1),
        );
        return;
    }
    let value = at.value(rhs);
    let update = Update { value, reduce };
    let has_pattern = match at.workspaces.get(&lhs.tensor) {
        Some(workspace) => workspace.knows_entries(),
        None => !kernel.formats.of(lhs.tensor).is_all_dense(),
    };
    let presence = match has_pattern {
        true => at.presence_in(kernel.identity(lhs.tensor, reduce), rhs),
        false => Presence::Always,
    };
    let condition = match presence {
        Presence::Always => None,
        Presence::Never => return,
        Presence::When(condition) => Some(condition),
    };
    b.if_some(condition, |b| match kernel.concrete.is_result(lhs.tensor) {
        true => store(b, at, update),
        false => assign_workspace(b, at, lhs, update, at.presence(rhs)),
    });
}

impl<'k> Context<'k> {
    /// An assignment in two versions: where a temporary holds something, and
    /// where it does not and so decides the value.
    fn by_factor(&self, factor: Factor, rhs: &Value) -> [(Self, Value); 2] {
        let mut certain = self.clone();
        certain.certain.insert(factor.temporary);
        let absent = rhs.map_accesses(&mut |access| {
            (access.tensor == factor.temporary).then_some(Value::Literal(factor.unstored))
        });
        let absent = absent.simplify_with(&|part| self.where_absent(part));
        [(certain, rhs.clone()), (self.clone(), absent)]
    }

    /// The expression of the loop IR for a value.
    fn value(&self, expr: &Value) -> Expr {
        let tensors = &self.kernel.concrete.tensors;
        match expr {
            Value::Literal(value) => Expr::Const(*value),
            Value::Access(access) => self.entry(access),
            Value::Index(index) => self.bound_coordinate(index),
            Value::Cast(element, body) => cast(*element, self.value(body), body.element(tensors)),
            Value::Apply {
                op: Operator::Defined(function),
                args,
            } => self.value(&function.expand(args, tensors)),
            Value::Apply {
                op: Operator::IsStored,
                args,
            } => match self.presence(&args[0]) {
                Presence::Always => Expr::Const(Scalar::Bool(true)),
                Presence::Never => Expr::Const(Scalar::Bool(false)),
                Presence::When(condition) => condition,
            },
            Value::Apply { op, args } => {
                let last = args.last().expect("every operator has an argument");
                let args = args.iter().map(|arg| self.value(arg)).collect();
                apply(op, last.element(tensors), args)
            }
            Value::Reduce { .. } => unreachable!("concrete notation has loops for reductions"),
        }
    }

    /// The value of a stored entry.
    fn entry(&self, access: &Access) -> Expr {
        let workspace = self.workspaces.get(&access.tensor);
        if let Some(Workspace::Scalar { value, .. }) = workspace {
            return Expr::Var(*value);
        }
        let cursor = &self.cursors[&self.kernel.operand(access)];
        let position = cursor.position().clone();
        match workspace {
            Some(Workspace::Dense { vals, .. } | Workspace::Bitmap { vals, .. }) => {
                Expr::load(*vals, position)
            }
            Some(Workspace::Stored(stored)) => {
                stored.value(position, || self.bound_coordinate(&access.indices[0]))
            }
            _ => Expr::load(self.kernel.tensors[&access.tensor].vals, position),
        }
    }
}
