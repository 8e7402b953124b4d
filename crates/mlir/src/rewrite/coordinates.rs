//! Coordinates of insertions.
//!
//! Releases 17 and 18 insert at coordinates of levels, release 19 at those of modes. Release 16
//! inserts at coordinates of levels if each level is a mode, and into blocks at those of modes:
//!
//! ```text
//! (i, j) -> (i floordiv 2, j floordiv 3, i mod 2, j mod 3)
//! 16, 19    [%i, %j]
//! 17, 18    [%i / 2, %j / 3, %i % 2, %j % 3]
//! ```

use std::sync::Arc;

use sparsec_base::{Diagnostic, Result};

use crate::affine::{AffineExpr, AffineOp};
use crate::definition::Definition;
use crate::encoding::blocks::{Found, inverse};
use crate::encoding::{Encoding, LevelExpr};
use crate::module::{Op, Value};
use crate::types::Type;

use super::Rewrite;
use super::steps::Change;

/// From release 17 or 18 to coordinates of modes.
pub(super) fn modes_of_levels(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    let encoding = rewrite.encoding_of_insertion(op)?;
    let levels = rewrite.module.ops[op].operands[2..].to_vec();
    let modes = inverse(&encoding).filter(|_| levels.len() == encoding.n_levels());
    let modes = modes.ok_or_else(|| rewrite.no_modes(op))?;
    let modes = modes.into_iter().map(|found| match found {
        Found::At(level) => levels[level],
        Found::Block {
            quotient,
            remainder,
            size,
        } => {
            let first = rewrite.binary("arith.muli", levels[quotient], size, op);
            rewrite.computed("arith.addi", &[first, levels[remainder]], Type::Index, op)
        }
    });
    let modes = modes.collect();
    rewrite.give_coordinates(op, modes);
    rewrite.rename(op, to);
    Ok(())
}

/// From coordinates of modes to those of levels, for release 17 or 18.
pub(super) fn levels_of_modes(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    let encoding = rewrite.encoding_of_insertion(op)?;
    let modes = rewrite.module.ops[op].operands[2..].to_vec();
    let mut levels = Vec::new();
    for level in &encoding.levels {
        let found = match &level.expression {
            LevelExpr::Affine(expression) => rewrite.affine(expression, &modes, op),
            LevelExpr::Other(_) => None,
        };
        levels.push(found.ok_or_else(|| rewrite.no_modes(op))?);
    }
    rewrite.give_coordinates(op, levels);
    rewrite.rename(op, to);
    Ok(())
}

/// From release 16 to coordinates of modes.
pub(super) fn modes_of_sixteen(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    changed_if(rewrite, op, to, true, modes_of_levels)
}

/// From coordinates of modes to those of release 16.
pub(super) fn sixteen_of_modes(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    changed_if(rewrite, op, to, true, levels_of_modes)
}

/// From release 16 to coordinates of levels.
pub(super) fn levels_of_sixteen(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    changed_if(rewrite, op, to, false, levels_of_modes)
}

/// From release 17 to coordinates of release 16.
pub(super) fn sixteen_of_levels(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
) -> Result<()> {
    changed_if(rewrite, op, to, false, modes_of_levels)
}

/// Changes the coordinates if whether each level is a mode is as wanted. Both releases have the
/// same coordinates otherwise.
fn changed_if(
    rewrite: &mut Rewrite,
    op: Op,
    to: &'static Definition,
    is_permutation: bool,
    change: Change,
) -> Result<()> {
    if rewrite.encoding_of_insertion(op)?.permutation().is_some() == is_permutation {
        return change(rewrite, op, to);
    }
    rewrite.rename(op, to);
    Ok(())
}

impl Rewrite {
    /// The encoding of the tensor that an operation inserts into.
    fn encoding_of_insertion(&self, op: Op) -> Result<Arc<Encoding>> {
        let tensor = self.module.ops[op].operands[1];
        let encoding = self.module.ty(tensor).encoding();
        encoding.cloned().ok_or_else(|| self.no_modes(op))
    }

    fn no_modes(&self, op: Op) -> Diagnostic {
        self.refuse(op, "an insertion into levels that are no modes".to_owned())
            .help("insert into a tensor by modes, and convert it")
    }

    fn give_coordinates(&mut self, op: Op, coordinates: Vec<Value>) {
        let data = &mut self.module.ops[op];
        let span = data.span;
        data.operand_groups[2] = coordinates.len();
        data.operand_spans.resize(2 + coordinates.len(), span);
        data.operands.truncate(2);
        data.operands.extend(coordinates);
    }

    /// The value of an expression at coordinates, none of which is negative.
    fn affine(&mut self, expression: &AffineExpr, modes: &[Value], at: Op) -> Option<Value> {
        match expression {
            AffineExpr::Dimension(mode) => modes.get(*mode).copied(),
            AffineExpr::Binary(op, of, by) => {
                let operation = match op {
                    AffineOp::Add => "arith.addi",
                    AffineOp::Subtract => "arith.subi",
                    AffineOp::Multiply => "arith.muli",
                    AffineOp::FloorDivide => "arith.divui",
                    AffineOp::Modulo => "arith.remui",
                    AffineOp::CeilDivide => return None,
                };
                let of = self.affine(of, modes, at)?;
                match &**by {
                    AffineExpr::Constant(by) => Some(self.binary(operation, of, *by, at)),
                    by => {
                        let by = self.affine(by, modes, at)?;
                        Some(self.computed(operation, &[of, by], Type::Index, at))
                    }
                }
            }
            AffineExpr::Constant(_) | AffineExpr::Symbol(_) => None,
        }
    }

    /// An operation on a value and a constant.
    fn binary(&mut self, name: &str, of: Value, by: i64, at: Op) -> Value {
        let by = self.new_constant(at, by as u64);
        self.computed(name, &[of, by], Type::Index, at)
    }
}
