//! Estimates of the entries and bytes of a result, before a kernel runs.
//!
//! Plans of shards ask for it: whether a result fits into memory, and how many bytes a part of it
//! takes.

use sparsec_base::Result;
use sparsec_format::{Format, Widths};

use crate::binding::Binding;
use crate::compile::compile_for;

/// The estimated entries and bytes of a result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Estimated {
    /// How many entries there are, at most.
    pub entries: f64,
    /// How far each mode runs.
    pub extents: Vec<u64>,
    /// How they are stored.
    pub format: Format,
}

impl Binding<'_> {
    /// Estimates the result of the last statement from the entries of the bound operands. No kernel
    /// runs.
    ///
    /// ```
    /// use sparsec::{Program, Tensor};
    /// let a = Tensor::builder("csr", &[2, 3])?.push([0, 0], 1.0).push([1, 2], 2.0).build()?;
    /// let double = Program::parse("B(i,j) = 2 * A(i,j)")?.plan()?;
    /// let result = double.bind("A", &a)?.estimated()?;
    /// assert_eq!((result.entries, result.extents), (2.0, vec![2, 3]));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Binding::evaluate`].
    pub fn estimated(&self) -> Result<Estimated> {
        self.check()?;
        let compiled = compile_for(self.kernel.planned().request(), &self.named(), None)?;
        let (statements, program) = (compiled.statements(), compiled.program());
        let (Some(planned), Some(last)) = (statements.last(), program.statements.last()) else {
            unreachable!("a program that was planned has a statement");
        };
        let name = &program.tensors[last.lhs.tensor].name;
        let Some(format) = compiled.format(name) else {
            unreachable!("every tensor of a planned program has a format");
        };
        let modes = 0..last.lhs.indices.len();
        let named = modes.map(|mode| program.vars[last.lhs.var(mode)?].extent);
        Ok(Estimated {
            entries: planned.plan.account.entries,
            extents: named.map(Option::unwrap_or_default).collect(),
            format: format.clone().with_widths(Widths::default()),
        })
    }
}
