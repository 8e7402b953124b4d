//! Tucker by higher-order orthogonal iteration: a small core and an orthonormal factor a mode.
//!
//! ```text
//! T(a,b,c) ≈ Σ G(p,q,s) U0(a,p) U1(b,q) U2(c,s)
//!
//! for each mode:  Y(a,q,s) = T(a,b,c) * U1(b,q) * U2(c,s)    the kernel, planned once
//!                 U0 = the leading left singular vectors of Y, by the eigenvectors of YᵀY
//! ```
//!
//! Since factors are orthonormal, the error is what the core lacks of the norm of the tensor.
//!
//! Source: De Lathauwer, De Moor, Vandewalle, "On the best rank-1 and rank-(R1, …, RN)
//! approximation of higher-order tensors", SIAM J. Matrix Anal. 2000, §4.2,
//! <https://doi.org/10.1137/S0895479898346995>.

use sparsec::{Result, Session, Tensor};

use crate::dense::Matrix;
use crate::products::{Products, norm, until_settled};

/// The fit after each iteration; see [`cp::fits`](crate::cp::fits).
///
/// # Errors
/// Those of planning and running kernels.
pub(crate) fn fits(
    session: &Session,
    tensor: &Tensor,
    rank: usize,
    iterations: usize,
    progress: impl FnMut(usize, f64),
) -> Result<Vec<f64>> {
    let order = tensor.order();
    let ranks: Vec<usize> = tensor
        .extents()
        .iter()
        .map(|extent| rank.min(*extent as usize))
        .collect();
    let products = Products::new(session, tensor, |other| format!("r{other}"))?;
    let mut factors: Vec<Matrix> = (0..order)
        .map(|mode| {
            let rows = tensor.extents()[mode] as usize;
            orthonormal(Matrix::random(rows, ranks[mode], mode as u64), ranks[mode]).0
        })
        .collect();
    let size = norm(tensor);
    until_settled(1, iterations, progress, || {
        let mut core = 0.0;
        for mode in 0..order {
            let product = products.of(&factors, mode)?;
            (factors[mode], core) = orthonormal(product, ranks[mode]);
        }
        Ok(1.0 - (size * size - core).max(0.0).sqrt() / size)
    })
}

/// The leading left singular vectors of a matrix, and the sum of their squared singular
/// values.
fn orthonormal(matrix: Matrix, rank: usize) -> (Matrix, f64) {
    let (values, vectors) = matrix.gram().eigen();
    let least = values.first().copied().unwrap_or(0.0) * 1e-14;
    let kept = Matrix::from_fn(matrix.columns, rank, |i, j| {
        match values.get(j) {
            Some(&value) if value > least => vectors.at(i, j) / value.sqrt(),
            // There is no direction left.
            _ => 0.0,
        }
    });
    let explained = values.iter().take(rank).map(|value| value.max(0.0)).sum();
    (matrix.times(&kept), explained)
}
