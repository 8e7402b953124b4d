//! Compiles C written by hand, and launches it in place of a kernel of ours.
//!
//! ```text
//! kernels/*.c ──► compile ──► Kernel ──► launch on the arguments of our kernel
//! ```
//!
//! The C is part of this crate. Each case launches it on operands of the one format that
//! it is written for.

#![allow(unsafe_code)]

use sparsec::internals::Function;
use sparsec::internals::compute::Prepared;
use sparsec::internals::runtime::{Kernel, KernelArgument};
use sparsec::{Cancel, Result, Session};

/// Compiles C by hand that takes the arguments of `function`.
///
/// # Errors
/// Those of compiling.
pub(crate) fn compile(
    session: &Session,
    function: &Function,
    text: &str,
    entry: &str,
) -> Result<Kernel> {
    let runtime = session.runtime();
    let (compiler, cache) = (runtime.compiler()?, runtime.cache()?);
    // SAFETY: the text is one of this crate, written for the arguments of this function.
    unsafe { Kernel::compile_c(function, text, entry, compiler, cache) }
}

/// Runs a kernel on the operands of the case that it was made for.
///
/// # Errors
/// Those of [`Kernel::launch`].
pub(crate) fn launch(kernel: &Kernel, arguments: &mut [KernelArgument<'_>]) -> Result<()> {
    launch_until(kernel, arguments, &Cancel::default())
}

/// As [`launch`], and ends soon after `cancel` is set.
pub(crate) fn launch_until(
    kernel: &Kernel,
    arguments: &mut [KernelArgument<'_>],
    cancel: &Cancel,
) -> Result<()> {
    // SAFETY: the operands, and the format and extents of the result, are those of the
    // case, which the kernel was compiled or written for.
    unsafe { kernel.launch(arguments, cancel) }
}

/// Runs a kernel by hand on the arrays of a computation.
///
/// # Errors
/// Those of [`Kernel::launch`].
pub(crate) fn launch_prepared(prepared: &mut Prepared<'_>, kernel: &Kernel) -> Result<()> {
    // SAFETY: it is written for the arrays that the computation declares.
    unsafe { prepared.launch_with(kernel) }
}
