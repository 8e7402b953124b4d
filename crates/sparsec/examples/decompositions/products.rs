//! The kernels of a decomposition, and its iterations.
//!
//! ```text
//! CP       M(i0,r)     = T(i0,i1,i2) * F1(i1,r)  * F2(i2,r)     one kernel a mode,
//! Tucker   M(i0,r1,r2) = T(i0,i1,i2) * F1(i1,r1) * F2(i2,r2)    planned once
//! ```

use sparsec::{Kernel, Program, Result, Session, Tensor};

use crate::dense::Matrix;

/// The fit that iterations gain at least.
const GAIN: f64 = 1e-5;

/// The products of a tensor with all factors but one.
pub(crate) struct Products<'a> {
    tensor: &'a Tensor,
    /// By the mode whose factor is left out.
    kernels: Vec<Kernel>,
}

impl<'a> Products<'a> {
    /// Plans a kernel for each mode. `column` names the columns of the factor of a mode:
    /// columns of one name are multiplied entry by entry.
    ///
    /// # Errors
    /// Those of planning.
    pub(crate) fn new(
        session: &Session,
        tensor: &'a Tensor,
        column: impl Fn(usize) -> String,
    ) -> Result<Self> {
        let modes = 0..tensor.order();
        let kernels = modes.map(|mode| session.plan(&program(tensor, mode, &column)?));
        Ok(Self {
            tensor,
            kernels: kernels.collect::<Result<_>>()?,
        })
    }

    /// The product with all factors but that of `mode`: a row for each coordinate of it.
    ///
    /// # Errors
    /// Those of running kernels.
    pub(crate) fn of(&self, factors: &[Matrix], mode: usize) -> Result<Matrix> {
        let others = (0..factors.len()).filter(|other| *other != mode);
        let stored: Vec<(String, Tensor)> = others
            .map(|other| {
                let Matrix { rows, columns, .. } = factors[other];
                let extents = [rows as u64, columns as u64];
                let values = factors[other].values.clone();
                Ok((format!("F{other}"), Tensor::dense(&extents, values)?))
            })
            .collect::<Result<_>>()?;
        let mut binding = self.kernels[mode].bind("T", self.tensor)?;
        for (name, factor) in &stored {
            binding = binding.bind(name, factor)?;
        }
        let product = binding.evaluate()?;
        let values = product.values::<f64>().unwrap_or_default().to_vec();
        let rows = factors[mode].rows;
        Ok(Matrix {
            rows,
            columns: values.len() / rows.max(1),
            values,
        })
    }
}

fn program(tensor: &Tensor, mode: usize, column: impl Fn(usize) -> String) -> Result<Program> {
    let modes: Vec<String> = (0..tensor.order()).map(|mode| format!("i{mode}")).collect();
    let others = (0..tensor.order()).filter(|other| *other != mode);
    let mut columns: Vec<String> = others.clone().map(&column).collect();
    columns.dedup();
    let factors: Vec<String> = others
        .clone()
        .map(|other| format!("F{other}(i{other},{})", column(other)))
        .collect();
    let text = format!(
        "M(i{mode},{}) = T({}) * {}",
        columns.join(","),
        modes.join(","),
        factors.join(" * ")
    );
    let mut program = Program::parse(&text)?.format("M", "dense")?;
    for other in others {
        program = program.format(&format!("F{other}"), "dense")?;
    }
    program.like("T", tensor)
}

/// The fit after each iteration, which `iterate` computes. Ends when the fit gains less than
/// [`GAIN`] after the first `least` ones, or after `iterations`.
///
/// # Errors
/// The first of an iteration.
pub(crate) fn until_settled(
    least: usize,
    iterations: usize,
    mut progress: impl FnMut(usize, f64),
    mut iterate: impl FnMut() -> Result<f64>,
) -> Result<Vec<f64>> {
    let mut fits: Vec<f64> = Vec::new();
    for iteration in 0..iterations {
        let fit = iterate()?;
        progress(iteration, fit);
        let gain = fits.last().map_or(f64::INFINITY, |before| fit - before);
        fits.push(fit);
        if iteration >= least && gain.abs() < GAIN {
            break;
        }
    }
    Ok(fits)
}

/// The square root of the sum of all squares.
pub(crate) fn norm(tensor: &Tensor) -> f64 {
    let values = tensor.values::<f64>().unwrap_or_default();
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}
