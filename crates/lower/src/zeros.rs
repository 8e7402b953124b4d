//! Two versions of a kernel whose workspaces say which entries were written: where zeros do
//! not matter, one that takes the others for zeros.
//!
//! ```text
//! forall i: forall b: forall m: E(i,m) += P(b,m) * w(i,b)          w : bitmap
//!
//! var P_faults = 0.0
//! for p in … { P_faults += P.vals[p] - P.vals[p] }                 not 0 after inf and NaN
//! if P_faults == 0.0 { loops over all b, which test no bit }
//! else               { loops over the b that were written }
//! ```
//!
//! `w` annihilates: where nothing was written, `inf * w` is 0 and not `NaN`. If every entry of
//! `P` is finite, then `P * 0.0` is 0, and adding it changes nothing: a sum that begins with
//! `+0.0` is never `-0.0`. So both versions give the same bits, and the first is a product of
//! dense tensors, which passes keep in tiles and back ends vectorize.
//!
//! This holds if each statement that reads such a workspace adds it, alone or times one entry
//! of an argument, to a dense result or to another such workspace. A product of more factors
//! may overflow, and so may an entry of another workspace.

use std::collections::BTreeSet;

use sparsec_base::{ElementType, Kind, Scalar};
use sparsec_format::Format;
use sparsec_graph::{Formats, workspace_kind};
use sparsec_index::{
    Access, Concrete, Expr as Value, Operator, TensorRole, TensorVar, WorkspaceKind,
};
use sparsec_loop::{BinaryOp, Builder, Expr, Var};

use crate::context::Context;
use crate::kernel::Kernel;
use crate::level::counts_positions;

/// The workspaces of a statement whose unwritten entries may count as zeros.
#[derive(Debug)]
pub(crate) struct Zeros {
    workspaces: BTreeSet<TensorVar>,
    /// The accesses of arguments whose entries have to be finite.
    factors: Vec<Access>,
}

impl Zeros {
    /// Those of a statement, if it has some and no workspace with bits whose zeros matter.
    pub(crate) fn of(concrete: &Concrete, formats: &Formats) -> Option<Self> {
        let is_bitmap = |tensor: TensorVar| {
            concrete.tensors[tensor].role == TensorRole::Workspace
                && !concrete.tensors[tensor].extents.is_empty()
                && workspace_kind(concrete, formats, tensor) == WorkspaceKind::Bitmap
        };
        let used = concrete.used_tensors().into_iter();
        let mut zeros = Self {
            workspaces: used.filter(|tensor| is_bitmap(*tensor)).collect(),
            factors: Vec::new(),
        };
        let mut fit = !zeros.workspaces.is_empty();
        concrete.stmt.for_each_assign(&mut |lhs, reduce, rhs| {
            let mut accesses = rhs.accesses().into_iter();
            if !accesses.any(|access| zeros.workspaces.contains(&access.tensor)) {
                return;
            }
            let takes_zeros = zeros.workspaces.contains(&lhs.tensor)
                || concrete.is_result(lhs.tensor) && formats.of(lhs.tensor).is_all_dense();
            let other = zeros.other_factor(concrete, formats, rhs);
            fit &= takes_zeros && reduce == Some(&Operator::Add) && other.is_some();
            if let Some(Some(other)) = other
                && !zeros.factors.contains(&other)
            {
                zeros.factors.push(other);
            }
        });
        fit.then_some(zeros)
    }

    /// What a workspace is multiplied by, if it is all of `rhs`, or one of two factors of which
    /// the other is an entry of an argument.
    fn other_factor(
        &self,
        concrete: &Concrete,
        formats: &Formats,
        rhs: &Value,
    ) -> Option<Option<Access>> {
        let workspace = |part: &Value| matches!(part, Value::Access(access) if self.workspaces.contains(&access.tensor));
        let other = match rhs {
            part if workspace(part) => None,
            Value::Apply {
                op: Operator::Mul,
                args,
            } => {
                let [left, right] = &args[..] else {
                    return None;
                };
                let other = match (workspace(left), workspace(right)) {
                    (true, false) => right,
                    (false, true) => left,
                    _ => return None,
                };
                match other {
                    Value::Access(other) if is_counted(concrete, formats, other.tensor) => {
                        Some(other.clone())
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        let element = rhs.element(&concrete.tensors);
        matches!(element.kind(), Kind::Float | Kind::Signed | Kind::Unsigned).then_some(other)
    }

    /// The formats of the version that takes unwritten entries for zeros.
    pub(crate) fn formats(&self, concrete: &Concrete, formats: &Formats) -> Formats {
        let mut dense = formats.clone();
        for tensor in &self.workspaces {
            let order = concrete.tensors[*tensor].order();
            dense.set(*tensor, Format::dense(order));
        }
        dense
    }

    /// A context of that version's kernel, with the workspaces of `at`.
    pub(crate) fn context<'k>(&self, kernel: &'k Kernel<'k>, at: &Context<'_>) -> Context<'k> {
        let mut zeroed = Context::root(kernel);
        zeroed.workspaces.clone_from(&at.workspaces);
        for tensor in &self.workspaces {
            if let Some(workspace) = zeroed.workspaces.get_mut(tensor) {
                workspace.forget_bits();
            }
            zeroed.certain.insert(*tensor);
        }
        zeroed
    }

    /// When zeros may be added: where every factor is finite; `None` is always.
    pub(crate) fn condition(&self, b: &mut Builder, at: &Context<'_>) -> Option<Expr> {
        let factors = self.factors.iter();
        let faults = factors.filter_map(|access| faults(b, at, access));
        let finite = faults.map(|(faults, zero)| Expr::Var(faults).equals(zero));
        finite.reduce(Expr::and)
    }
}

/// Whether a tensor is an argument of fill 0 of which it is known how many entries it stores.
fn is_counted(concrete: &Concrete, formats: &Formats, tensor: TensorVar) -> bool {
    let data = &concrete.tensors[tensor];
    data.role != TensorRole::Workspace
        && data.fill == data.element.zero()
        && formats.of(tensor).levels().iter().all(counts_positions)
}

/// The sum of `x - x` over the stored entries of an argument: 0 if all are finite, else `NaN`.
fn faults(b: &mut Builder, at: &Context<'_>, access: &Access) -> Option<(Var, Scalar)> {
    let kernel = at.kernel;
    let element = kernel.concrete.tensors[access.tensor].element;
    if element.kind() != Kind::Float {
        return None;
    }
    let zero = element.zero();
    let name = kernel.name(access.tensor);
    let faults = b.var_(&format!("{name}_faults"), zero);
    let vals = kernel.tensors[&access.tensor].vals;
    let n_levels = kernel.levels(access.tensor).len();
    let n = match n_levels {
        0 => Expr::int(1),
        n => {
            let n = at.all_positions(kernel.operand(access), n - 1);
            n.expect("the entries of a factor are counted")
        }
    };
    let p = b.fixed(&format!("p{name}"), ElementType::I64);
    b.for_loop(p, 0, n, |b| {
        let value = Expr::load(vals, p);
        let fault = value.clone().binary(BinaryOp::Sub, value);
        b.assign(faults, Expr::Var(faults).add(fault));
    });
    Some((faults, zero))
}
