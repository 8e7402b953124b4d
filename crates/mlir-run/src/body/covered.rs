//! Whether kernels store all entries at which a value is present.
//!
//! ```text
//! %u = sparse_tensor.unary %y … absent={ yield %zero }     present everywhere
//! %q = arith.muli %u, %x                                   present where %x is
//! ```
//!
//! A kernel visits only points at which operands decide that a value is not its fill: in this
//! example, points at which both operands store an entry. Whether that is enough follows from the
//! operands that store an entry at a point. All combinations of them are tried.

use sparsec_base::{Result, Scalar};
use sparsec_index::stored::{Answers, Found};
use sparsec_index::{Access, Expr, Operator, ProgramBuilder};
use sparsec_mlir::Value;

use super::Regions;

/// The most operands of which all combinations are tried.
const MOST_TRIED: usize = 10;

/// A point at which some operands store an entry.
struct Point<'a> {
    builder: &'a ProgramBuilder,
    operands: &'a [Access],
    /// A bit for each operand.
    stored: u32,
}

impl Point<'_> {
    fn stores(&self, access: &Access) -> bool {
        let mut operands = self.operands.iter();
        let at = operands.position(|operand| operand == access);
        access.indices.is_empty() || at.is_none_or(|at| self.stored >> at & 1 == 1)
    }
}

impl Point<'_> {
    /// Whether kernels store a value here; they store all values that are not zero.
    fn keeps(&self, value: &Expr) -> bool {
        let (is_stored, fill) = self.builder.stored(self, value);
        is_stored || fill.is_none_or(|fill| !fill.is_zero())
    }

    /// Whether a condition may hold here.
    fn may_hold(&self, condition: &Expr) -> bool {
        let known = condition.map_parts(&mut |part| match part {
            Expr::Access(access) if !self.stores(access) => {
                Some(Expr::Literal(self.builder.fill_of_tensor(access.tensor)))
            }
            Expr::Apply {
                op: Operator::IsStored,
                args,
            } => {
                let (is_stored, _) = self.builder.stored(self, &args[0]);
                Some(Expr::Literal(Scalar::Bool(is_stored)))
            }
            _ => None,
        });
        known.simplify().literal() != Some(Scalar::Bool(false))
    }
}

impl Answers for Point<'_> {
    type Where = bool;

    fn nowhere(&self) -> bool {
        false
    }

    fn everywhere(&self) -> bool {
        true
    }

    fn of_access(&self, access: &Access) -> Found<bool> {
        (
            self.stores(access),
            Some(self.builder.fill_of_tensor(access.tensor)),
        )
    }

    fn either(&self, one: bool, other: bool) -> bool {
        one || other
    }

    fn both(&self, one: bool, other: bool) -> bool {
        one && other
    }

    fn of_unknown(&self, _any: bool) -> bool {
        true
    }
}

impl Regions<'_> {
    /// Whether kernels store all entries at which a value is present. The value has an expression.
    ///
    /// # Errors
    /// Those of the operators.
    pub(super) fn is_covered(&mut self, value: Value) -> Result<bool> {
        let presence = self.presence(value)?;
        let Some(e) = self.values.get(&value) else {
            return Ok(false);
        };
        let mut operands: Vec<Access> = Vec::new();
        let accesses = [e.expr(), presence.expr()].map(Expr::accesses);
        for access in accesses.into_iter().flatten() {
            if !operands.contains(access) {
                operands.push(access.clone());
            }
        }
        if operands.len() > MOST_TRIED {
            return Ok(false);
        }
        let mut points = (0..1 << operands.len()).map(|stored| Point {
            builder: self.builder,
            operands: &operands,
            stored,
        });
        Ok(points.all(|point| point.keeps(e.expr()) || !point.may_hold(presence.expr())))
    }
}
