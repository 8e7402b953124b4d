//! Operands given to a kernel, and what can be computed from them.
//!
//! ```text
//! kernel.bind("A", &a)?.bind("B", &b)?       operands are borrowed
//!     .evaluate()?                           structure and values, by one kernel
//!     .assemble()?                           structure; then, as often as need be,
//!         .compute()?                          values of the same operands
//!         .compute_with([("A", &a2)])?         values of others stored alike
//! ```
//!
//! A kernel that only computes values writes to where the structure says, without
//! counting: what it is given must be stored exactly as what was assembled for.
//! So [`Assembled`] keeps its operands borrowed, and whatever takes the place of
//! one is compared with it, array by array.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use sparsec_base::{Cancel, Diagnostic, Result, code};
use sparsec_tensor::Tensor;

use crate::extents::{self, Extents};
use crate::fitting;
use crate::kept::Kept;
use crate::kernel::{Kernel, Variant};
use crate::launch::{Run, has_structure_of};
use crate::memory;
use crate::parts::Parts;
use crate::ready::{self, Ready};
use crate::recall::Found;
use crate::stage::Stage;

/// A kernel with some or all of its operands.
#[derive(Clone, Debug)]
#[must_use]
pub struct Binding<'a> {
    pub(crate) kernel: Kernel,
    operands: BTreeMap<String, &'a Tensor>,
    /// Copies of the operands in other formats.
    kept: Arc<Kept>,
    /// What is found out of the operands before the first run on them.
    prepared: Arc<OnceLock<Prepared<'a>>>,
}

/// What all runs on the same operands have in common.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    pub(crate) variant: Arc<Variant>,
    /// The extents of index variables.
    extents: Extents,
    ready: Ready<'a>,
}

impl<'a> Binding<'a> {
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            operands: BTreeMap::new(),
            kept: Arc::default(),
            prepared: Arc::default(),
        }
    }

    /// Ends what is computed from now on soon after `cancel` is set, from another thread, as
    /// [`Session::until`](crate::Session::until) says.
    ///
    /// ```
    /// use sparsec::{Cancel, Program, Tensor, code};
    /// let x = Tensor::dense(&[1000], vec![1.0; 1000])?;
    /// let cancel = Cancel::default();
    /// cancel.set();
    /// let kernel = Program::parse("A(i,j) = x(i) * x(j)")?.plan()?;
    /// let refused = kernel.bind("x", &x)?.until(&cancel).evaluate().unwrap_err();
    /// assert_eq!(refused.code(), code::CANCELLED);
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    pub fn until(mut self, cancel: &Cancel) -> Self {
        self.kernel = self.kernel.until(cancel);
        self
    }

    /// Gives the operand `name` its data, in place of what it was given before.
    ///
    /// # Errors
    /// As [`Kernel::bind`].
    pub fn bind(mut self, name: &str, tensor: &'a Tensor) -> Result<Self> {
        fitting::check_operand(self.kernel.planned().base(), name, tensor)?;
        self.operands.insert(name.to_owned(), tensor);
        self.kept = Arc::default();
        self.prepared = Arc::default();
        Ok(self)
    }

    /// Computes the result of the last statement.
    ///
    /// The first call for operands of these index widths makes the kernel ready,
    /// for which a C compiler may run; later calls only run it.
    ///
    /// # Errors
    /// `E0314` for an operand that is not bound, `E0203` for extents that do not
    /// fit together, `E0204` or `E0313` for one that nothing gives; `E05` codes
    /// of making the kernel ready, and of kernels that give up.
    pub fn evaluate(&self) -> Result<Tensor> {
        let (_, mut results) = self.on_threads(|| self.run())?;
        Ok(results.pop().expect("a program has a statement"))
    }

    /// Computes the result of the last statement into a tensor of the caller.
    ///
    /// A dense `result` is overwritten where it lies: it
    /// has to have the format, the type, the fill and the extents of the result. The values that
    /// it had do not matter. A sparse result, whose size is known only afterwards, takes the
    /// place of `result` as a whole; see [`Binding::assemble`] for structures that stay.
    ///
    /// ```
    /// use sparsec::{Program, Tensor};
    /// let a = Tensor::builder("csr", &[2, 2])?.push([0, 1], 2.0).push([1, 0], 3.0).build()?;
    /// let x = Tensor::dense(&[2], [10.0, 1.0])?;
    /// let kernel = Program::parse("y(i) = A(i,j) * x(j)")?.like("A", &a)?.plan()?;
    /// let mut y = Tensor::dense(&[2], [0.0; 2])?;
    /// let before = y.vals().as_ptr();
    /// kernel.bind("A", &a)?.bind("x", &x)?.evaluate_into(&mut y)?;
    /// assert_eq!(y.values::<f64>(), Some(&[2.0, 30.0][..]));
    /// assert_eq!(y.vals().as_ptr(), before);
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// `E0021` for a dense result that `result` is no place for; else as [`Binding::evaluate`].
    /// The values of `result` are then anything.
    pub fn evaluate_into(&self, result: &mut Tensor) -> Result<()> {
        self.on_threads(|| {
            let prepared = self.prepare()?;
            let (compiled, session) = (&prepared.variant.compiled, self.kernel.session());
            let run = Run::new(
                compiled,
                &prepared.extents,
                &prepared.ready,
                session,
                &self.kept,
            )?;
            let last = compiled.statements.len() - 1;
            let is_in_place = run.takes_place(last, result)?;
            let mut before = Vec::with_capacity(last);
            for number in 0..last {
                let parts = prepared.variant.parts(session, number, false)?;
                before.push(run.evaluate(number, parts, &before, 1, None)?);
            }
            let parts = prepared.variant.parts(session, last, false)?;
            if is_in_place {
                run.compute(last, parts, &before, result)?;
            } else {
                *result = run.evaluate(last, parts, &before, 1, None)?;
            }
            Ok(())
        })
    }

    /// Computes the results of all statements, by name.
    ///
    /// # Errors
    /// As [`Binding::evaluate`].
    pub fn evaluate_all(&self) -> Result<BTreeMap<String, Tensor>> {
        let (prepared, results) = self.on_threads(|| self.run())?;
        Ok(prepared.variant.compiled.named(results).last)
    }

    /// A stage of every statement as text, as it is for these operands: by how much they
    /// hold, loops run on several threads, and the widths of index arrays are theirs.
    ///
    /// ```
    /// use sparsec::{Program, Stage, Tensor};
    /// let x = Tensor::dense(&[1 << 20], vec![1.0; 1 << 20])?;
    /// let kernel = Program::parse("s = x(i) * x(i)")?.plan()?;
    /// let emitted = kernel.bind("x", &x)?.emit(&Stage::Schedule)?;
    /// assert!(emitted.contains("CPUThread"), "{emitted}");
    /// assert!(!kernel.emit(&Stage::Schedule)?.contains("CPUThread"));
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Binding::evaluate`]; `E0315` for a pass that does not exist.
    pub fn emit(&self, stage: &Stage) -> Result<String> {
        let prepared = self.on_threads(|| self.prepare())?;
        prepared.variant.compiled.emit(stage)
    }

    /// Assembles the structure of all results and computes no values yet.
    ///
    /// # Errors
    /// As [`Binding::evaluate`].
    pub fn assemble(&self) -> Result<Assembled<'a>> {
        let mut is_settled = false;
        let (prepared, results) = self.on_threads(|| {
            self.results(true, |run, number, parts, before| {
                let result = run.assemble(number, parts, before);
                is_settled = run.is_settled();
                result
            })
        })?;
        Ok(Assembled {
            binding: self.clone(),
            variant: Arc::clone(&prepared.variant),
            results,
            is_settled,
            is_torn: false,
        })
    }

    fn on_threads<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        self.kernel.session().on_threads(work)
    }

    fn run(&self) -> Result<(&Prepared<'a>, Vec<Tensor>)> {
        self.results(false, |run, number, parts, before| {
            run.evaluate(number, parts, before, 1, None)
        })
    }

    /// What `make` makes of each statement, given its number, its kernels, with
    /// structure and values `apart` if so, and the results of those before it.
    fn results(
        &self,
        apart: bool,
        mut make: impl FnMut(&Run<'_>, usize, &Parts, &[Tensor]) -> Result<Tensor>,
    ) -> Result<(&Prepared<'a>, Vec<Tensor>)> {
        let prepared = self.prepare()?;
        let compiled = &prepared.variant.compiled;
        let run = Run::new(
            compiled,
            &prepared.extents,
            &prepared.ready,
            self.kernel.session(),
            &self.kept,
        )?;
        let mut results = Vec::with_capacity(compiled.statements.len());
        for number in 0..compiled.statements.len() {
            let parts = prepared
                .variant
                .parts(self.kernel.session(), number, apart)?;
            results.push(make(&run, number, parts, &results)?);
        }
        Ok((prepared, results))
    }

    pub(crate) fn prepare(&self) -> Result<&Prepared<'a>> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let (operands, session) = (self.named(), self.kernel.session());
        let planned = self.kernel.planned();
        let found = match planned.recall().find(&operands) {
            Some(found) => found,
            None => {
                let (variant, extents) = self.find()?;
                let bytes = ready::check(&variant.compiled, &extents, &operands, session)?;
                let found = Found {
                    variant,
                    extents,
                    bytes,
                };
                // How much memory is left is asked again where it may not suffice.
                if memory::is_small(bytes, session.memory()) {
                    let of = (&planned.base().program, planned.merges());
                    planned.recall().keep(of, &operands, &found);
                }
                found
            }
        };
        let Found {
            variant,
            extents,
            bytes,
        } = found;
        let ready = Ready::new(&variant.compiled, &operands, session, bytes)?;
        Ok(self.prepared.get_or_init(|| Prepared {
            variant,
            extents,
            ready,
        }))
    }

    /// The variant for these operands, and how far index variables run.
    fn find(&self) -> Result<(Arc<Variant>, Extents)> {
        let planned = self.kernel.planned();
        let program = &planned.base().program;
        let operands = self.named();
        if let Ok(extents) = extents::of_operands(program, &operands) {
            let variant = planned.variant(&operands, &extents)?;
            // A plan for these extents alone may have statements of its own.
            let program = &variant.compiled.program;
            let extents = extents::of_operands(program, &operands).unwrap_or(extents);
            return Ok((variant, extents));
        }
        planned.request().resolve(&operands, None)?;
        // What parts of tensors tell of extents, where nothing else does, is the least
        // that they may be.
        let variant = planned.variant(&operands, &extents::known(program))?;
        let extents = extents::known(&variant.compiled.program);
        Ok((variant, extents))
    }

    pub(crate) fn named(&self) -> BTreeMap<&str, &'a Tensor> {
        let named = self.operands.iter();
        named
            .map(|(name, tensor)| (name.as_str(), *tensor))
            .collect()
    }
}

/// The results of a kernel with their structure, whose values may be computed
/// any number of times.
///
/// ```
/// use sparsec::{Program, Session, Tensor};
/// let mut a = Tensor::builder("csr", &[2, 2])?
///     .push([0, 1], 2.0)
///     .push([1, 0], 3.0)
///     .build()?;
/// let kernel = Session::interpreter().plan(
///     &Program::parse("C(i,j) = A(i,k) * A(k,j)")?.format("C", "csr")?,
/// )?;
/// let pattern = a.clone();
/// let mut square = kernel.bind("A", &pattern)?.assemble()?;
/// assert_eq!(square.compute()?.values::<f64>(), Some(&[6.0, 6.0][..]));
///
/// // New values at the same places: nothing is assembled again.
/// a.values_mut::<f64>().unwrap()[0] = 10.0;
/// assert_eq!(square.compute_with([("A", &a)])?.values::<f64>(), Some(&[30.0, 30.0][..]));
/// # Ok::<(), sparsec::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Assembled<'a> {
    binding: Binding<'a>,
    variant: Arc<Variant>,
    results: Vec<Tensor>,
    /// Whether the reference evaluator computed one, so that none is assembled.
    is_settled: bool,
    /// Whether a call ended early, so that not all structures are those of the operands.
    is_torn: bool,
}

impl Assembled<'_> {
    /// Computes the values of all results; gives that of the last statement.
    ///
    /// # Errors
    /// `E05` codes of making the kernel ready, and of kernels that give up;
    /// values then are anything.
    pub fn compute(&mut self) -> Result<&Tensor> {
        self.compute_with([])
    }

    /// As [`Assembled::compute`], with other tensors in place of some operands,
    /// for this time.
    ///
    /// Their index arrays are compared with those of the operands that the
    /// structure was assembled for, unless they are the same arrays.
    ///
    /// # Errors
    /// As [`Kernel::bind`]; `E0022` for a tensor that does not store what the
    /// operand stores; those of [`Assembled::compute`].
    pub fn compute_with<'b>(
        &mut self,
        operands: impl IntoIterator<Item = (&'b str, &'b Tensor)>,
    ) -> Result<&Tensor> {
        let mut named = self.binding.named();
        let mut others = false;
        for (name, tensor) in operands {
            others = true;
            fitting::check_operand(self.binding.kernel.planned().base(), name, tensor)?;
            let assembled_for = self.binding.operands[name];
            if !has_structure_of(tensor, assembled_for) {
                return Err(other_structure(name));
            }
            named.insert(name, tensor);
        }
        let compiled = &self.variant.compiled;
        let session = self.binding.kernel.session();
        session.on_threads(|| {
            let bound = self.binding.prepare()?;
            let extents = &bound.extents;
            // Copies are of the operands that are bound.
            let own = Kept::default();
            let other;
            let (ready, kept) = match others {
                true => {
                    let bytes = ready::check(compiled, extents, &named, session)?;
                    other = Ready::new(compiled, &named, session, bytes)?;
                    (&other, &own)
                }
                false => (&bound.ready, &*self.binding.kept),
            };
            let run = Run::new(compiled, extents, ready, session, kept)?;
            let mut same = !std::mem::replace(&mut self.is_torn, true);
            for number in 0..self.results.len() {
                let parts = self.variant.parts(session, number, true)?;
                let (before, rest) = self.results.split_at_mut(number);
                if !same {
                    // An operand of this statement was assembled anew.
                    rest[0] = run.assemble(number, parts, before)?;
                }
                same &= match self.is_settled {
                    true => run.compute_anew(number, parts, before, &mut rest[0])?,
                    false => run.compute(number, parts, before, &mut rest[0])?,
                };
                self.is_settled |= run.is_settled();
            }
            self.is_torn = false;
            Result::Ok(())
        })?;
        Ok(self.tensor())
    }

    /// The result of the last statement, with values as they were computed last;
    /// zeros before that.
    pub fn tensor(&self) -> &Tensor {
        self.results.last().expect("a program has a statement")
    }

    /// As [`Assembled::tensor`], taken out.
    pub fn into_tensor(mut self) -> Tensor {
        self.results.pop().expect("a program has a statement")
    }

    /// The results of all statements, by name.
    pub fn into_tensors(self) -> BTreeMap<String, Tensor> {
        self.variant.compiled.named(self.results).last
    }
}

fn other_structure(name: &str) -> Diagnostic {
    Diagnostic::new(
        code::OTHER_STRUCTURE,
        format!("`{name}` does not store entries at the places that were assembled for"),
    )
    .help("bind it to the kernel and assemble again")
}

#[cfg(test)]
mod tests {
    use crate::{Program, Session, Tensor};

    /// Both statements, and all runs, read one copy of `A` by columns.
    #[test]
    fn operands_are_converted_once() {
        let matrix = |entries: &[([u64; 2], f64)]| {
            let mut builder = Tensor::builder("csr", &[2, 2]).unwrap();
            builder.extend(entries.iter().copied());
            builder.build().unwrap()
        };
        let (a, b) = (
            matrix(&[([0, 1], 2.0), ([1, 0], 3.0)]),
            matrix(&[([0, 0], 1.0), ([0, 1], 5.0)]),
        );
        let program = Program::parse("C(i,j) = A(j,i) + B(i,j); D(i,j) = A(j,i) * B(i,j)").unwrap();
        let program = program
            .format("C", "csr")
            .unwrap()
            .format("D", "csr")
            .unwrap();
        let kernel = Session::interpreter().plan(&program).unwrap();
        let bound = kernel.bind("A", &a).unwrap().bind("B", &b).unwrap();
        for _ in 0..3 {
            let product = bound.evaluate().unwrap();
            assert_eq!(product.values::<f64>(), Some(&[15.0][..]));
            assert_eq!(bound.kept.n_made(), 1);
        }
        // Another operand is another copy.
        let other = bound.bind("A", &b).unwrap();
        assert_eq!(other.evaluate().unwrap().values::<f64>(), Some(&[1.0][..]));
        assert_eq!(other.kept.n_made(), 1);
    }
}
