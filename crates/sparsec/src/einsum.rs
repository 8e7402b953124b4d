//! Einsums: products written with a letter for each mode.

use sparsec_base::{Result, Source};
use sparsec_notation::Einsum;
use sparsec_tensor::Tensor;

use crate::session::Session;

/// Computes an einsum whose text comes at run time; see [`einsum!`](macro@crate::einsum)
/// for one that is known.
///
/// In diagnostics the operands are `operand0`, `operand1`, … and the result is `out`. Each
/// mode of the result is dense where a dense level of some operand covers it,
/// else compressed.
///
/// # Errors
/// `E0030` to `E0032` for what is wrong with the text, or with the number and
/// orders of the operands; else as [`evaluate`](fn@crate::evaluate).
///
/// ```
/// use sparsec::{Tensor, einsum};
/// let a = Tensor::builder("csr", &[2, 2])?.push([0, 1], 2.0).push([1, 1], 3.0).build()?;
/// let equation = String::from("ij->j");
/// let sums = einsum(&equation, &[&a])?;
/// assert_eq!(sums.get(&[1]).to_string(), "5.0");
/// # Ok::<(), sparsec::Error>(())
/// ```
pub fn einsum(text: &str, operands: &[&Tensor]) -> Result<Tensor> {
    Session::shared().einsum(text, operands)
}

impl Session {
    /// As [`einsum`](fn@einsum), in this session.
    ///
    /// # Errors
    /// As there.
    pub fn einsum(&self, text: &str, operands: &[&Tensor]) -> Result<Tensor> {
        let einsum = Einsum::parse(text, operands.len())?;
        einsum.check_orders(operands.iter().map(|tensor| tensor.order()))?;
        let names: Vec<String> = (0..operands.len()).map(Einsum::operand_name).collect();
        let source = Source::new(format!("expression of `{text}`"), einsum.to_string());
        let names = names.iter().map(String::as_str);
        self.evaluate_source(source, names.zip(operands.iter().copied()))
    }
}

/// Computes an einsum: a list of letters for each operand, one a mode, and the
/// letters of the result.
///
/// | einsum      | is                                        |
/// |-------------|-------------------------------------------|
/// | `ij,jk->ik` | a product of matrices                     |
/// | `ij,ij->ij` | a product of entries                      |
/// | `ij,j`      | without `->`: letters that occur once, in alphabetical order |
/// | `ii->i`     | a diagonal; `ii->` is the trace           |
/// | `ij->ji`    | a transpose                               |
///
/// The letters are checked when your program is compiled: that the text is an
/// einsum, that there are as many operands, that the result has letters of
/// theirs and each once.
///
/// ```
/// use sparsec::{Tensor, einsum};
/// let a = Tensor::builder("csr", &[2, 3])?.push([0, 2], 2.0).build()?;
/// let x = Tensor::dense(&[3], [1.0, 2.0, 3.0])?;
/// let y = einsum!("ij,j->i", a, x)?;
/// assert_eq!(y.values::<f64>(), Some(&[6.0, 0.0][..]));
/// # Ok::<(), sparsec::Error>(())
/// ```
///
/// A letter that no operand has does not compile:
///
/// ```compile_fail,E0080
/// # let a = sparsec::Tensor::dense(&[1, 1], [1.0]).unwrap();
/// sparsec::einsum!("ij->iz", a);
/// ```
///
/// nor do fewer operands than lists of letters:
///
/// ```compile_fail,E0080
/// # let a = sparsec::Tensor::dense(&[1, 1], [1.0]).unwrap();
/// sparsec::einsum!("ij,jk->ik", a);
/// ```
///
/// # Errors
/// As [`einsum`](fn@crate::einsum).
#[macro_export]
macro_rules! einsum {
    ($text:literal $(, $operand:expr)+ $(,)?) => {{
        const _: () = $crate::__check_einsum($text, [$($crate::__one!($operand)),+].len());
        $crate::einsum($text, &[$(&$operand),+])
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __one {
    ($operand:expr) => {
        ()
    };
}

/// Ends a compile with what is wrong with an einsum.
#[doc(hidden)]
pub const fn __check_einsum(text: &str, n_operands: usize) {
    if let Some(fault) = sparsec_notation::einsum::find_fault(text, n_operands) {
        panic!("{}", fault.kind.message());
    }
}
