//! Estimates before a kernel runs: the entries and bytes of a result, and the time of a run.
//!
//! Plans of shards ask for it: whether a result fits into memory, and how many bytes a part of it
//! takes.

use std::time::Duration;

use sparsec_base::{Result, Scalar};
use sparsec_format::{Format, Widths};
use sparsec_index::TensorRole;
use sparsec_tensor::Tensor;

use crate::binding::Binding;
use crate::compile::compile_for;
use crate::kernel::Kernel;
use crate::ready::missing;
use crate::request::Operands;

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
    /// The value of entries that are not stored.
    pub fill: Scalar,
}

/// An operand of an estimate: a tensor, or its extents and number of entries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Described<'a> {
    /// The tensor.
    Tensor(&'a Tensor),
    /// A tensor that is elsewhere, of the format, type and fill that the kernel is planned for.
    Counts {
        /// The extents.
        extents: Vec<u64>,
        /// How many entries it stores.
        n_stored: u64,
    },
}

impl Kernel {
    /// Estimates the result of the last statement from the entries of the operands. No kernel
    /// runs.
    ///
    /// ```
    /// use sparsec::{Described, Program, Tensor};
    /// let a = Tensor::builder("csr", &[2, 3])?.push([0, 0], 1.0).push([1, 2], 2.0).build()?;
    /// let double = Program::parse("B(i,j) = 2 * A(i,j)")?.format("A", "csr")?.plan()?;
    /// let result = double.estimated(&[("A", Described::Tensor(&a))])?;
    /// assert_eq!((result.entries, result.extents), (2.0, vec![2, 3]));
    ///
    /// let elsewhere = Described::counts(&[2000, 3000], 50);
    /// let result = double.estimated(&[("A", elsewhere)])?;
    /// assert_eq!((result.entries, result.extents), (50.0, vec![2000, 3000]));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Binding::evaluate`](crate::Binding::evaluate), for what is wrong before a kernel runs.
    pub fn estimated(&self, operands: &[(&str, Described<'_>)]) -> Result<Estimated> {
        for (_, data) in self.resolved().tensors.iter() {
            let is_given = operands.iter().any(|(name, _)| *name == data.source_name());
            if data.role == TensorRole::Input && !is_given {
                return Err(missing(self.resolved(), data));
            }
        }
        let mut request = self.planned().request().clone();
        let mut bound = Operands::new();
        for (name, described) in operands {
            match described {
                Described::Tensor(tensor) => {
                    bound.insert(*name, *tensor);
                }
                Described::Counts { extents, n_stored } => {
                    let spec = request.tensor(name);
                    spec.extents = Some(extents.clone());
                    spec.n_stored = Some(*n_stored);
                }
            }
        }
        let compiled = compile_for(&request, &bound, None)?;
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
            fill: program.tensors[last.lhs.tensor].fill,
        })
    }
}

impl Binding<'_> {
    /// Estimates how long one run on these operands takes on one thread. No kernel runs, and
    /// repeated calls take no time.
    ///
    /// ```
    /// use sparsec::{Program, Tensor};
    /// let x = Tensor::dense(&[30_000], vec![1.0; 30_000])?;
    /// let sum = Program::parse("s = x(i) * x(i)")?.plan()?;
    /// let all = Program::parse("s = sum{i,j}(sqrt(x(i) + x(j)))")?.plan()?;
    /// let (sum, all) = (sum.bind("x", &x)?, all.bind("x", &x)?);
    /// assert!(sum.estimated_time()?.as_micros() < 1000 && all.estimated_time()?.as_millis() > 100);
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Binding::evaluate`], for what is wrong before a kernel runs.
    pub fn estimated_time(&self) -> Result<Duration> {
        let prepared = self.kernel.session().on_threads(|| self.prepare())?;
        let statements = prepared.variant.compiled.statements.iter();
        let nanoseconds: f64 = statements.map(|it| it.plan.cost().nanoseconds()).sum();
        Ok(Duration::from_nanos(nanoseconds as u64))
    }
}

impl Described<'_> {
    /// A tensor that is elsewhere, of these extents and so many stored entries.
    pub fn counts(extents: &[u64], n_stored: u64) -> Self {
        Self::Counts {
            extents: extents.to_vec(),
            n_stored,
        }
    }
}
