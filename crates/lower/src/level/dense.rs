//! `dense`: the position of a coordinate is computed.

use sparsec_base::Scalar;
use sparsec_loop::Expr;

/// The position of `coordinate` below `parent` in a mode of extent `extent`.
pub(crate) fn locate(parent: &Expr, extent: Expr, coordinate: Expr) -> Expr {
    if *parent == Expr::Const(Scalar::I64(0)) {
        return coordinate;
    }
    parent.clone().mul(extent).add(coordinate)
}
