//! Operands that decide a value where nothing of them is stored.
//!
//! ```text
//! A(i,j) * w(j)        w holds nothing at j: 0, even where A(i,j) is infinite
//! min(A(i,j), w(j))    the other one, whatever w holds
//! isstored(w(j))       false
//! i64(A(i,j)) * w(j)   0, even where no integer is near A(i,j)
//! ```
//!
//! A kernel that computes with the value in memory gets another result: `NaN` in the first line, a
//! failure in the last. So such a temporary records which of its entries were written.

use sparsec_base::Scalar;
use sparsec_index::{Access, Concrete, Expr, Operator};

/// Calls `visit` on every access in an argument that decides the result where nothing of it is
/// stored, as an infinity decides a sum, or that leaves the other argument unchanged there.
/// Arguments whose value alone gives the same result are left out, unless another argument may
/// fail. `absent` gives the value of a part of which nothing is stored.
pub fn for_each_factor(
    concrete: &Concrete,
    expr: &Expr,
    absent: &dyn Fn(&Expr) -> Option<Scalar>,
    visit: &mut dyn FnMut(&Access),
) {
    match expr {
        Expr::Literal(_) | Expr::Access(_) | Expr::Index(_) => {}
        Expr::Cast(_, body) | Expr::Reduce { body, .. } => {
            for_each_factor(concrete, body, absent, visit);
        }
        Expr::Apply { op, args } => {
            let fills: Vec<Option<Scalar>> = args.iter().map(absent).collect();
            for (at, arg) in args.iter().enumerate() {
                let fails =
                    |(other, arg): (usize, &Expr)| other != at && arg.may_fail(&concrete.tensors);
                let decides = || op.decisions(&fills).iter().any(|it| it.args == [at]);
                let spares = || decides() && args.iter().enumerate().any(fails);
                if op.differs_unstored(&fills, at) || spares() {
                    arg.for_each_access(&mut |access| visit(access));
                } else {
                    for_each_factor(concrete, arg, absent, visit);
                }
            }
            if let Operator::Defined(function) = op {
                let body = function.expand(args, &concrete.tensors);
                for_each_factor(concrete, &body, absent, visit);
            }
        }
    }
}
