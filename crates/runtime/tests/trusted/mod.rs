//! Safe wrappers of unsafe functions, for tests: they compile C that was emitted here, and
//! launch kernels on arguments that fit.

#![allow(unsafe_code, dead_code)]

use std::sync::Arc;

use sparsec_base::Cancel;
use sparsec_base::Result;
use sparsec_loop::Function;
use sparsec_runtime::{Cache, Compiler, Kernel, KernelArgument, Session};

/// As [`Kernel::compile_c`].
pub(crate) fn compile_c(
    function: &Function,
    text: &str,
    entry: &str,
    compiler: &Compiler,
    cache: &Cache,
) -> Result<Kernel> {
    // SAFETY: tests compile the C that they emitted of the function, or text without
    // initialisers.
    unsafe { Kernel::compile_c(function, text, entry, compiler, cache) }
}

/// As [`Session::compile_c`].
pub(crate) fn compile_in(
    session: &Session,
    function: &Function,
    text: &str,
    entry: &str,
) -> Result<(Arc<Kernel>, bool)> {
    // SAFETY: as above.
    unsafe { session.compile_c(function, text, entry, &Cancel::default()) }
}

/// As [`Session::tiered`].
pub(crate) fn tiered_in(
    session: &Session,
    function: &Function,
    text: &str,
    entry: &str,
) -> Result<(Arc<Kernel>, bool)> {
    // SAFETY: as above.
    unsafe { session.tiered(function, text, entry, &Cancel::default()) }
}

/// As [`Kernel::launch`].
pub(crate) fn launch(kernel: &Kernel, arguments: &mut [KernelArgument<'_>]) -> Result<()> {
    launch_until(kernel, arguments, &Cancel::default())
}

/// As [`Kernel::launch`].
pub(crate) fn launch_until(
    kernel: &Kernel,
    arguments: &mut [KernelArgument<'_>],
    cancel: &Cancel,
) -> Result<()> {
    // SAFETY: functions of tests stay within the arrays that they are given.
    unsafe { kernel.launch(arguments, cancel) }
}
