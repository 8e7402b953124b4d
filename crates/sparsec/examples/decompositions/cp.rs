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

use sparsec::{Kernel, Program, Result, Session, Tensor};

use crate::dense::Matrix;
use crate::{letters, norm, tensor_of};

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
    mut progress: impl FnMut(usize, f64),
) -> Result<Vec<f64>> {
    let order = tensor.order();
    let extents: Vec<usize> = tensor.extents().iter().map(|it| *it as usize).collect();
    let kernels: Vec<Kernel> = (0..order)
        .map(|mode| session.plan(&program(tensor, mode)?))
        .collect::<Result<_>>()?;
    let mut factors: Vec<Matrix> = (0..order)
        .map(|mode| {
            let start = Matrix::random(extents[mode], rank, mode as u64);
            Matrix::from_fn(extents[mode], rank, |i, r| 2.0 * start.at(i, r) - 1.0)
        })
        .collect();
    let size = norm(tensor);
    let mut fits: Vec<f64> = Vec::new();
    for iteration in 0..iterations {
        let (mut explained, mut modelled) = (0.0, 0.0);
        for mode in 0..order {
            let product = product(&kernels[mode], tensor, &factors, mode)?;
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
        let fit = 1.0 - error.max(0.0).sqrt() / size;
        progress(iteration, fit);
        let gain = fits.last().map_or(f64::INFINITY, |before| fit - before);
        fits.push(fit);
        if iteration >= LEAST && gain.abs() < 1e-5 {
            break;
        }
    }
    Ok(fits)
}

/// The product of a tensor with all factors but one.
fn program(tensor: &Tensor, mode: usize) -> Result<Program> {
    let names = letters(tensor.order());
    let others = (0..tensor.order()).filter(|other| *other != mode);
    let factors: Vec<String> = others
        .map(|other| format!("F{other}({},r)", names[other]))
        .collect();
    let text = format!(
        "M({},r) = T({}) * {}",
        names[mode],
        names.join(","),
        factors.join(" * ")
    );
    let program = Program::parse(&text)?.format("M", "dense")?;
    let mut others = (0..tensor.order()).filter(|other| *other != mode);
    others
        .try_fold(program, |program, other| {
            program.format(&format!("F{other}"), "dense")
        })?
        .like("T", tensor)
}

fn product(kernel: &Kernel, tensor: &Tensor, factors: &[Matrix], mode: usize) -> Result<Matrix> {
    let stored: Vec<(String, Tensor)> = factors
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != mode)
        .map(|(other, factor)| Ok((format!("F{other}"), tensor_of(factor)?)))
        .collect::<Result<_>>()?;
    let mut binding = kernel.bind("T", tensor)?;
    for (name, factor) in &stored {
        binding = binding.bind(name, factor)?;
    }
    let values = binding.evaluate()?;
    let rank = factors[0].columns;
    Ok(Matrix {
        rows: factors[mode].rows,
        columns: rank,
        values: values.values::<f64>().unwrap_or_default().to_vec(),
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
