//! Compiled kernels: building, loading, launching.
//!
//! A launch hands the kernel raw views of the arrays and takes back only what
//! the kernel may change: the lengths of arrays that it grew. The kernel itself
//! is trusted: it was emitted from a verified function, and its operands are
//! checked tensors.

#![allow(unsafe_code)]

use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use sparsec_base::{Diagnostic, Result, code};
use sparsec_loop::{Access, Argument, Failure, Function};
use sparsec_parallel::Memory;
use sparsec_tensor::Array;

use crate::abi::{Launch, RawArray, RawTensor};
use crate::cache::Cache;
use crate::compiler::Compiler;
use crate::failure::of_status;
use crate::kernel::{KernelArgument, Origin};
use crate::output::FIRST_BYTES;
use crate::primitives::State;

/// A loaded library and its entry.
#[derive(Debug)]
pub(crate) struct Native {
    launch: Launch,
    /// Keeps the code of `launch` loaded.
    _library: Library,
}

/// Finds the kernel in the cache, or compiles it and keeps it there.
pub(crate) fn build(
    text: &str,
    entry: &str,
    compiler: &Compiler,
    cache: &Cache,
) -> Result<(Native, Origin)> {
    let key = compiler.kernel_key(text);
    if let Some(file) = cache.kernel(key)
        && let Ok(native) = load(&file, entry)
    {
        return Ok((native, Origin::Cached));
    }
    let no_room = |error: std::io::Error| {
        Diagnostic::new(
            code::CACHE_UNUSABLE,
            format!(
                "a kernel cannot be compiled in {}: {error}",
                cache.path().display()
            ),
        )
        .help("free some space, or name another directory in SPARSEC_CACHE_DIR")
    };
    let work = cache.work().map_err(no_room)?;
    let library = work.path().join("kernel.so");
    compiler.compile(text, &library)?;
    // What cannot be kept is loaded from where it is: a mapped file may go.
    let file = cache.keep_kernel(key, &library).unwrap_or(library);
    Ok((load(&file, entry)?, Origin::Compiled))
}

fn load(file: &Path, entry: &str) -> Result<Native> {
    let refused = |error: libloading::Error| {
        Diagnostic::new(
            code::LOAD_FAILED,
            format!(
                "the compiled kernel {} cannot be loaded: {error}",
                file.display()
            ),
        )
        .help("name a directory where files may be executed in SPARSEC_CACHE_DIR")
    };
    // SAFETY: the file is a library that we compiled, whole by its checksum,
    // from a directory that only we can write to; it has no initialisers.
    let library = unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }.map_err(refused)?;
    // SAFETY: the emitted C defines the entry with this type.
    let launch = unsafe { library.get::<Launch>(entry.as_bytes()) }.map_err(refused)?;
    Ok(Native {
        launch: *launch,
        _library: library,
    })
}

impl Native {
    /// Runs the kernel. The arguments fit its signature.
    pub(crate) fn launch(
        &self,
        function: &Function,
        arguments: &mut [KernelArgument<'_>],
    ) -> std::result::Result<(), Failure> {
        let extents: Vec<Vec<i64>> = arguments
            .iter()
            .map(KernelArgument::signed_extents)
            .collect();
        let mut arrays: Vec<Vec<RawArray>> = arguments.iter_mut().map(raw_arrays).collect();
        let mut state = State::default();
        for ((given, wanted), raw) in arguments
            .iter_mut()
            .zip(&function.arguments)
            .zip(&mut arrays)
        {
            lend(function, wanted, given, raw, &mut state);
        }
        // From here to the end of the call the arrays are reached through these
        // pointers alone.
        let mut tensors: Vec<RawTensor> = extents
            .iter()
            .zip(&mut arrays)
            .map(|(extents, arrays)| RawTensor {
                extents: extents.as_ptr(),
                arrays: arrays.as_mut_ptr(),
            })
            .collect();
        let mut pointers: Vec<*mut RawTensor> =
            tensors.iter_mut().map(std::ptr::from_mut).collect();
        let mut context = state.context();
        // SAFETY: the arguments fit the signature that the C was emitted from,
        // operands are checked tensors, and everything pointed to outlives the
        // call. Nobody else writes to the arrays: results are borrowed mutably.
        let status = unsafe { (self.launch)(&raw mut context, pointers.as_mut_ptr()) };
        let mut lent = state.into_memories();
        for ((given, wanted), raw) in arguments.iter_mut().zip(&function.arguments).zip(&arrays) {
            take_back(function, wanted, given, raw, status == 0, &mut lent);
        }
        of_status(status).map_or(Ok(()), Err)
    }
}

/// Moves the memory of arrays that may grow from the result to the launch.
fn lend(
    function: &Function,
    wanted: &Argument,
    given: &mut KernelArgument<'_>,
    raw: &mut [RawArray],
    state: &mut State,
) {
    let KernelArgument::Out(output) = given else {
        return;
    };
    for ((array, &buffer), raw) in output.arrays.iter_mut().zip(&wanted.buffers).zip(raw) {
        if function.buffers[buffer].access != Access::Grow {
            continue;
        }
        let empty = Array::new(array.element(), Memory::new());
        let size = array.element().size();
        let mut memory = std::mem::replace(array, empty).into_memory();
        // A reservation that an earlier launch made is not all there yet: the
        // kernel has to ask for more than that launch used.
        let room = memory.capacity().min(memory.len().max(FIRST_BYTES));
        *raw = RawArray {
            data: memory.as_mut_ptr().cast(),
            len: 0,
            capacity: (room / size) as i64,
        };
        state.may_grow(std::ptr::from_mut(raw), memory);
    }
}

/// Moves the memory back, at the length that the kernel gave the array.
fn take_back(
    function: &Function,
    wanted: &Argument,
    given: &mut KernelArgument<'_>,
    raw: &[RawArray],
    done: bool,
    lent: &mut impl Iterator<Item = Memory>,
) {
    let KernelArgument::Out(output) = given else {
        return;
    };
    for ((array, &buffer), raw) in output.arrays.iter_mut().zip(&wanted.buffers).zip(raw) {
        if function.buffers[buffer].access != Access::Grow {
            continue;
        }
        let (element, len) = (array.element(), if done { raw.len } else { 0 });
        let bytes = usize::try_from(len)
            .ok()
            .and_then(|len| len.checked_mul(element.size()));
        let (Some(mut memory), Some(bytes)) = (lent.next(), bytes) else {
            panic!("`{}` gave an array {len} entries", function.name);
        };
        memory.set_len(bytes);
        *array = Array::new(element, memory);
    }
}

/// The arrays of one argument as the kernel sees them.
fn raw_arrays(argument: &mut KernelArgument<'_>) -> Vec<RawArray> {
    let raw = |data: *mut u8, len: usize| RawArray {
        data: data.cast(),
        len: len as i64,
        capacity: len as i64,
    };
    match argument {
        KernelArgument::In(tensor) => tensor
            .arrays()
            .iter()
            // A kernel only reads the arrays of operands.
            .map(|array| raw(array.as_ptr().cast_mut(), array.len()))
            .collect(),
        KernelArgument::Out(output) => output
            .arrays
            .iter_mut()
            .map(|array| raw(array.as_mut_ptr(), array.len()))
            .collect(),
    }
}
