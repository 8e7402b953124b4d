//! An expression and its operands to a result, in one call.

use sparsec_base::{Diagnostic, Result, Source, code};
use sparsec_tensor::Tensor;

use crate::request::{Request, TensorSpec};
use crate::session::Session;

/// Computes the last statement of a program of index notation.
///
/// Planned for the formats that the operands have; see
/// [`Program`](crate::Program) for what is decided otherwise. The plan and the
/// kernel are kept in the [shared session](Session::shared), so a second call
/// with operands stored alike takes some microseconds more than the kernel.
///
/// ```
/// use sparsec::{Tensor, evaluate};
/// let a = Tensor::builder("csr", &[2, 3])?
///     .push([0, 0], 1.0)
///     .push([0, 2], 2.0)
///     .push([1, 1], 3.0)
///     .build()?;
/// let x = Tensor::dense(&[3], [1.0, 10.0, 100.0])?;
/// let y = evaluate("y(i) = A(i,j) * x(j)", [("A", &a), ("x", &x)])?;
/// assert_eq!(y.values::<f64>(), Some(&[201.0, 30.0][..]));
/// # Ok::<(), sparsec::Error>(())
/// ```
///
/// # Errors
/// The code of what is wrong with the text; `E0314` for an operand that is not
/// given, `E0003` for one that is given twice, `E0207` for one that the program does not
/// have; else as
/// [`Binding::evaluate`](crate::Binding::evaluate).
pub fn evaluate<'a>(
    text: &str,
    operands: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
) -> Result<Tensor> {
    Session::shared().evaluate(text, operands)
}

impl Session {
    /// As [`evaluate`](fn@evaluate), in this session.
    ///
    /// # Errors
    /// As there.
    pub fn evaluate<'a>(
        &self,
        text: &str,
        operands: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
    ) -> Result<Tensor> {
        self.evaluate_source(Source::new("expression", text), operands)
    }

    pub(crate) fn evaluate_source<'a>(
        &self,
        source: Source,
        operands: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
    ) -> Result<Tensor> {
        let operands: Vec<(&str, &Tensor)> = operands.into_iter().collect();
        let mut request = Request::new(source);
        for (number, (name, tensor)) in operands.iter().enumerate() {
            if operands[..number].iter().any(|(known, _)| known == name) {
                let message = format!("`{name}` is given two tensors");
                let help = "an operand that stands several times in an expression is given once";
                return Err(Diagnostic::new(code::SAID_TWICE, message).help(help));
            }
            *request.tensor(name) = TensorSpec::like(tensor);
        }
        let kernel = self.plan_request(&request)?;
        let mut binding = kernel.binding();
        for (name, tensor) in operands {
            binding = binding.bind(name, tensor)?;
        }
        binding.evaluate()
    }
}
