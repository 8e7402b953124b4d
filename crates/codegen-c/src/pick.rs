//! Values that are chosen without a branch.
//!
//! Where two values and what decides between them are at hand, there is nothing to be saved
//! by a branch, which C compilers would make all the same:
//!
//! ```text
//! select(side < 0, x, y)      sparsec_pick_f64(side >> 63, x, y)
//! select(hit, p, q)           sparsec_pick_i64(-(int64_t)(hit), p, q)
//! ```

use sparsec_base::ElementType;
use sparsec_loop::{BinaryOp, Expr, Function};

use crate::helper::Helper;
use crate::precedence::Piece;
use crate::stmt::Writer;

/// Whether a choice is made without a branch.
pub(crate) fn is_picked(
    function: &Function,
    condition: &Expr,
    then: &Expr,
    otherwise: &Expr,
) -> bool {
    let ty = function.type_of(then);
    let takes_bits = matches!(ty, ElementType::F32 | ElementType::F64 | ElementType::I64);
    takes_bits && is_test(condition) && is_at_hand(then, otherwise)
}

impl Writer<'_> {
    /// The first of two values where `condition`, which is `c`, holds.
    pub(crate) fn pick(
        &mut self,
        condition: &Expr,
        c: &Piece,
        values: [Piece; 2],
        ty: ElementType,
    ) -> Piece {
        let pick = self.helpers.helper(Helper::Pick, ty);
        let (mask, [a, b]) = self.mask(condition, c, values);
        Piece::primary(format!("{pick}({mask}, {}, {})", a.text, b.text), ty)
    }

    /// All bits where `condition` holds, which is `c`, and none elsewhere; or the other way
    /// round, with the values changed over. The sign of a number is at hand, the outcome of a
    /// comparison has to be made into a number.
    fn mask(&mut self, condition: &Expr, c: &Piece, values: [Piece; 2]) -> (String, [Piece; 2]) {
        let [a, b] = values;
        if let Expr::Binary(op @ (BinaryOp::Lt | BinaryOp::Ge), number, zero) = condition
            && let Expr::Var(var) = &**number
            && self.function.vars[*var].element == ElementType::I64
            && **zero == Expr::int(0)
        {
            let mask = format!("{} >> 63", self.var_name(*var));
            return match op {
                BinaryOp::Lt => (mask, [a, b]),
                _ => (mask, [b, a]),
            };
        }
        (format!("-(int64_t)({})", c.text), [a, b])
    }
}

/// Whether neither of two values has to be computed, and not both are constants.
fn is_at_hand(a: &Expr, b: &Expr) -> bool {
    let is_var = |expr: &Expr| matches!(expr, Expr::Var(_));
    let is_simple = |expr: &Expr| is_var(expr) || matches!(expr, Expr::Const(_));
    is_simple(a) && is_simple(b) && (is_var(a) || is_var(b))
}

/// Whether a condition is known, or compares what is known with a constant.
fn is_test(condition: &Expr) -> bool {
    match condition {
        Expr::Var(_) => true,
        Expr::Binary(_, left, right) => {
            matches!((&**left, &**right), (Expr::Var(_), Expr::Const(value)) if value.element().is_integer())
        }
        _ => false,
    }
}
