//! Inverses of level maps: permutations and blocks.
//!
//! ```text
//! (i, j) -> (j, i)                                           i and j are levels
//! (i, j) -> (i floordiv 2, j floordiv 3, i mod 2, j mod 3)   i = 2 * l0 + l2
//! ```

use crate::affine::{AffineExpr, AffineOp};

use super::{Encoding, LevelExpr};

/// The levels that determine a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The level that stores the mode.
    At(usize),
    /// The level with the number of the block, and the level with the offset in the block.
    Block {
        quotient: usize,
        remainder: usize,
        size: i64,
    },
}

/// The part of a mode that one level stores.
enum Role {
    Whole(usize),
    Quotient(usize, i64),
    Remainder(usize, i64),
}

/// The levels that determine each mode, if every level is a mode, a quotient or a remainder.
pub(crate) fn inverse(encoding: &Encoding) -> Option<Vec<Found>> {
    let roles: Option<Vec<Role>> = encoding
        .levels
        .iter()
        .map(|level| role(&level.expression))
        .collect();
    let roles = roles?;
    let place = |wanted: &dyn Fn(&Role) -> bool| roles.iter().position(wanted);
    let found = |mode: usize| {
        if let Some(level) = place(&|role| matches!(role, Role::Whole(of) if *of == mode)) {
            return Some(Found::At(level));
        }
        let quotient = place(&|role| matches!(role, Role::Quotient(of, _) if *of == mode))?;
        let remainder = place(&|role| matches!(role, Role::Remainder(of, _) if *of == mode))?;
        match (&roles[quotient], &roles[remainder]) {
            (Role::Quotient(_, size), Role::Remainder(_, by)) if size == by => Some(Found::Block {
                quotient,
                remainder,
                size: *size,
            }),
            _ => None,
        }
    };
    let modes: Option<Vec<Found>> = (0..encoding.n_modes).map(found).collect();
    let used = |found: &Found| match found {
        Found::At(_) => 1,
        Found::Block { .. } => 2,
    };
    modes.filter(|modes| modes.iter().map(used).sum::<usize>() == encoding.n_levels())
}

fn role(expression: &LevelExpr) -> Option<Role> {
    let LevelExpr::Affine(expression) = expression else {
        return None;
    };
    if let Some(mode) = expression.dimension() {
        return Some(Role::Whole(mode));
    }
    let AffineExpr::Binary(op, of, by) = expression else {
        return None;
    };
    match (op, of.dimension(), &**by) {
        (_, _, AffineExpr::Constant(by)) if *by <= 0 => None,
        (AffineOp::FloorDivide, Some(mode), AffineExpr::Constant(by)) => {
            Some(Role::Quotient(mode, *by))
        }
        (AffineOp::Modulo, Some(mode), AffineExpr::Constant(by)) => {
            Some(Role::Remainder(mode, *by))
        }
        _ => None,
    }
}
