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

use sparsec::{Kernel, Program, Result, Session, Tensor};

use crate::dense::Matrix;
use crate::{letters, norm, tensor_of};

/// The fit after each iteration; see [`cp::fits`](crate::cp::fits).
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
    let ranks: Vec<usize> = tensor
        .extents()
        .iter()
        .map(|extent| rank.min(*extent as usize))
        .collect();
    let kernels: Vec<Kernel> = (0..order)
        .map(|mode| session.plan(&program(tensor, mode)?))
        .collect::<Result<_>>()?;
    let mut factors: Vec<Matrix> = (0..order)
        .map(|mode| {
            let rows = tensor.extents()[mode] as usize;
            orthonormal(Matrix::random(rows, ranks[mode], mode as u64), ranks[mode]).0
        })
        .collect();
    let size = norm(tensor);
    let mut fits: Vec<f64> = Vec::new();
    for iteration in 0..iterations {
        let mut core = 0.0;
        for mode in 0..order {
            let product = product(&kernels[mode], tensor, &factors, mode)?;
            (factors[mode], core) = orthonormal(product, ranks[mode]);
        }
        let fit = 1.0 - (size * size - core).max(0.0).sqrt() / size;
        progress(iteration, fit);
        let gain = fits.last().map_or(f64::INFINITY, |before| fit - before);
        fits.push(fit);
        if gain.abs() < 1e-5 {
            break;
        }
    }
    Ok(fits)
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

/// The product of a tensor with all factors but one, a mode of the core for each.
fn program(tensor: &Tensor, mode: usize) -> Result<Program> {
    let names = letters(tensor.order());
    let others: Vec<usize> = (0..tensor.order()).filter(|it| *it != mode).collect();
    let factors: Vec<String> = others
        .iter()
        .map(|other| format!("U{other}({},r{other})", names[*other]))
        .collect();
    let cores: Vec<String> = others.iter().map(|other| format!("r{other}")).collect();
    let text = format!(
        "Y({},{}) = T({}) * {}",
        names[mode],
        cores.join(","),
        names.join(","),
        factors.join(" * ")
    );
    let program = Program::parse(&text)?.format("Y", "dense")?;
    let mut others = (0..tensor.order()).filter(|other| *other != mode);
    others
        .try_fold(program, |program, other| {
            program.format(&format!("U{other}"), "dense")
        })?
        .like("T", tensor)
}

fn product(kernel: &Kernel, tensor: &Tensor, factors: &[Matrix], mode: usize) -> Result<Matrix> {
    let stored: Vec<(String, Tensor)> = factors
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != mode)
        .map(|(other, factor)| Ok((format!("U{other}"), tensor_of(factor)?)))
        .collect::<Result<_>>()?;
    let mut binding = kernel.bind("T", tensor)?;
    for (name, factor) in &stored {
        binding = binding.bind(name, factor)?;
    }
    let values = binding.evaluate()?;
    let rows = factors[mode].rows;
    let values = values.values::<f64>().unwrap_or_default().to_vec();
    Ok(Matrix {
        rows,
        columns: values.len() / rows.max(1),
        values,
    })
}
