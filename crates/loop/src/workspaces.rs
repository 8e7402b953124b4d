//! How much memory the workspaces of a function take, before it runs.
//!
//! ```text
//! alloc w.vals: f64[C.n1]          8 · C.n1
//! alloc w.list: i64[C.n1] as i32   4 · C.n1
//! alloc t.keys: i64[64]            64 · 8, and what it grows by is not known
//! ```
//!
//! Lengths follow from extents, which are known when a function is launched, and
//! from variables that are declared once. What a length takes from arrays, or
//! from variables that change, counts as nothing: so this is the least that a
//! launch takes for sure, if it gets to all of its allocations.

use std::collections::{HashMap, HashSet};

use sparsec_base::Scalar;

use crate::ir::{BinaryOp, Buffer, Expr, Function, Stmt, Var};
use crate::passes::ROWS_BYTES;
use crate::walk::for_each_stmt;

/// The bytes of all workspaces of `function`, as far as they follow from extents;
/// `extent` has those that are known.
///
/// ```
/// use sparsec_base::Source;
/// use sparsec_loop::{Function, workspace_bytes};
/// let kernel = Function::parse(&Source::new("kernel", r#"
///     fn kernel(out y "(i) -> (i : dense)" { extent y.n0, write y.vals: f64 }) {
///       alloc w.vals: f64[y.n0 * 3]
///       for i in 0..y.n0 { y.vals[i] = w.vals[i] }
///     }"#))?;
/// assert_eq!(workspace_bytes(&kernel, &|_| Some(1000)), 24_000);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn workspace_bytes(function: &Function, extent: &dyn Fn(Var) -> Option<u64>) -> u128 {
    let known = fixed_values(function, extent);
    let mut bytes = 0u128;
    for_each_stmt(&function.body, &mut |stmt| {
        if let Stmt::Alloc { buffer, len } = stmt {
            let len = value_of(len, &known).and_then(|len| u128::try_from(len).ok());
            let size = function.buffers[*buffer].storage.size() as u128;
            bytes = bytes.saturating_add(len.unwrap_or(0).saturating_mul(size));
        }
    });
    bytes
}

/// The variables that have one value, where it follows from the extents of arguments.
pub(crate) fn fixed_values(
    function: &Function,
    extent: &dyn Fn(Var) -> Option<u64>,
) -> HashMap<Var, i128> {
    let mut known = HashMap::new();
    for argument in &function.arguments {
        for var in &argument.extents {
            known.extend(extent(*var).map(|extent| (*var, i128::from(extent))));
        }
    }
    let changed = changed_vars(function);
    for_each_stmt(&function.body, &mut |stmt| {
        if let Stmt::Declare { var, value } = stmt
            && !changed.contains(var)
        {
            known.extend(value_of(value, &known).map(|value| (*var, value)));
        }
    });
    known
}

/// The variables that get other values than the one they are declared with.
pub(crate) fn changed_vars(function: &Function) -> HashSet<Var> {
    let mut changed = HashSet::new();
    for_each_stmt(&function.body, &mut |stmt| {
        if let Stmt::Assign { var, .. } = stmt {
            changed.insert(*var);
        }
    });
    changed
}

/// An integer, if it follows from what is known; 1 or 0 of what is true or false. Wider than
/// those of kernels, so that a product which wraps there is a large one here.
pub(crate) fn value_of(expr: &Expr, known: &HashMap<Var, i128>) -> Option<i128> {
    let value = |expr: &Expr| value_of(expr, known);
    Some(match expr {
        Expr::Const(Scalar::I64(number)) => i128::from(*number),
        Expr::Var(var) => *known.get(var)?,
        Expr::Binary(op, left, right) => {
            let (left, right) = (value(left)?, value(right)?);
            match op {
                BinaryOp::Add => left.saturating_add(right),
                BinaryOp::Sub => left.saturating_sub(right),
                BinaryOp::Mul => left.saturating_mul(right),
                BinaryOp::FloorDiv if right > 0 => left.div_euclid(right),
                BinaryOp::Mod if right > 0 => left.rem_euclid(right),
                BinaryOp::Min => left.min(right),
                BinaryOp::Max => left.max(right),
                BinaryOp::BitAnd => left & right,
                BinaryOp::Eq => i128::from(left == right),
                BinaryOp::Le => i128::from(left <= right),
                BinaryOp::Lt => i128::from(left < right),
                BinaryOp::And => left.min(right),
                _ => return None,
            }
        }
        Expr::Const(Scalar::Bool(holds)) => i128::from(*holds),
        Expr::Select {
            condition,
            then,
            otherwise,
        } => match value(condition)? {
            0 => value(otherwise)?,
            _ => value(then)?,
        },
        _ => return None,
    })
}

impl Function {
    /// The length of a workspace that is small, is always allocated and never grows:
    /// a back end may keep it in the frame of its function, or in registers. As large
    /// as [tiles](crate::passes::tile) are, and no larger.
    pub fn local_len(&self, buffer: Buffer) -> Option<i64> {
        let len = self.body.iter().find_map(|stmt| match stmt {
            Stmt::Alloc {
                buffer: made,
                len: Expr::Const(Scalar::I64(len)),
            } if *made == buffer => Some(*len),
            _ => None,
        })?;
        let most = ROWS_BYTES / self.buffers[buffer].storage.size();
        let mut is_local = usize::try_from(len).is_ok_and(|len| (1..=most).contains(&len));
        for_each_stmt(&self.body, &mut |stmt| {
            let moves = matches!(stmt, Stmt::Grow { .. } | Stmt::Sort { .. });
            is_local &= !(moves && stmt.touched_buffers().any(|touched| touched == buffer));
        });
        is_local.then_some(len)
    }
}
