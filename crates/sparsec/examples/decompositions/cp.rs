//! CP by alternating least squares: a tensor as a sum of `rank` outer products.
//!
//! ```text
//! T(a,b,c) ≈ Σ_r λ(r) F0(a,r) F1(b,r) F2(c,r)
//!
//! for each mode:  M(a,r) = T(a,b,c) * F1(b,r) * F2(c,r)      the kernel, planned once
//!                 F0 = M (F1ᵀF1 ∘ F2ᵀF2)⁻¹,  λ = norms of its columns
//! ```
//!
//! Source: Kolda and Bader, "Tensor Decompositions and Applications", SIAM Review 2009, §3.4,
//! <https://doi.org/10.1137/07070111X>.

use sparsec::{Result, Session, Tensor};

use crate::dense::Matrix;
use crate::products::{Products, norm, until_settled};

/// Iterations before gains are looked at: a start at random may gain little at first.
const LEAST: usize = 10;

/// The fit after each iteration: 1 less the relative error. Ends when the fit gains less than
/// `1e-5`, or after `iterations`.
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
    let extents: Vec<usize> = tensor.extents().iter().map(|it| *it as usize).collect();
    let products = Products::new(session, tensor, |_| "r".to_owned())?;
    let mut factors: Vec<Matrix> = (0..order)
        .map(|mode| {
            let start = Matrix::random(extents[mode], rank, mode as u64);
            Matrix::from_fn(extents[mode], rank, |i, r| 2.0 * start.at(i, r) - 1.0)
        })
        .collect();
    let size = norm(tensor);
    until_settled(LEAST, iterations, progress, || {
        let (mut explained, mut modelled) = (0.0, 0.0);
        for mode in 0..order {
            let product = products.of(&factors, mode)?;
            let gram = gram(&factors, mode, rank);
            let mut factor = product.over(&gram);
            // The last mode has the model as a whole.
            let inner = factor.values.iter().zip(&product.values);
            explained = inner.map(|(a, b)| a * b).sum();
            let own = factor.gram();
            modelled = own
                .values
                .iter()
                .zip(&gram.values)
                .map(|(a, b)| a * b)
                .sum();
            for r in 0..rank {
                let lambda = own.at(r, r).sqrt();
                if lambda > 0.0 && mode + 1 < order {
                    let column = factor.values.iter_mut().skip(r).step_by(rank);
                    column.for_each(|value| *value /= lambda);
                }
            }
            factors[mode] = factor;
        }
        let error: f64 = size * size + modelled - 2.0 * explained;
        Ok(1.0 - error.max(0.0).sqrt() / size)
    })
}

/// The entrywise product of the grams of all factors but one.
fn gram(factors: &[Matrix], mode: usize, rank: usize) -> Matrix {
    let mut product = Matrix::from_fn(rank, rank, |_, _| 1.0);
    for (_, factor) in factors
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != mode)
    {
        let gram = factor.gram();
        let values = product.values.iter_mut().zip(gram.values);
        values.for_each(|(product, gram)| *product *= gram);
    }
    product
}
