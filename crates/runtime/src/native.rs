//! Compiled kernels: building, loading, launching.
//!
//! Machine code comes from a library that the C compiler wrote, or was made in
//! memory. Both have the same entry, and a launch does not know them apart.
//!
//! A launch hands the kernel raw views of the arrays and takes back only what
//! the kernel may change: the lengths of arrays that it grew. The kernel itself
//! is trusted: it was emitted from a verified function, and its operands are
//! checked tensors.

#![allow(unsafe_code)]

use std::panic::resume_unwind;

use sparsec_base::{Cancel, Result};
use sparsec_codegen_cranelift::{Code, Entry, compile};
use sparsec_loop::{Access, Argument, Function};
use sparsec_parallel::Memory;
use sparsec_tensor::Array;

use crate::abi::{RawArray, RawContext, RawTensor};
use crate::cache::Cache;
use crate::compiler::{Compiler, LIBRARY};
use crate::failure::{Stop, of_status};
use crate::kernel::{KernelArgument, Origin};
use crate::library::Loaded;
use crate::output::FIRST_BYTES;
use crate::primitives::{Growing, State};

/// A compiled kernel.
#[derive(Debug)]
pub(crate) enum Native {
    /// From the C compiler.
    Library(Loaded),
    /// Made in memory.
    Memory(Code),
}

/// Finds the kernel in the cache, or compiles it and keeps it there.
///
/// This loads the text into the process. All callers are `unsafe` functions of this crate,
/// or take the text from a queue that such a function filled.
pub(crate) fn build(
    text: &str,
    entry: &str,
    compiler: &Compiler,
    cache: &Cache,
    cancel: &Cancel,
) -> Result<(Native, Origin)> {
    let key = compiler.kernel_key(text);
    if let Some(native) = cached(text, entry, compiler, cache) {
        return Ok((native, Origin::Cached));
    }
    let _turn = cache.turn(key, cancel);
    if let Some(native) = cached(text, entry, compiler, cache) {
        return Ok((native, Origin::Cached));
    }
    let (library, work) = cache.attempt(|work| compiler.compile(text, work, cancel))?;
    // Loaded before it moves into the cache: a library that cannot be loaded is not kept.
    let loaded = Loaded::open(&library, entry)?;
    cache.keep_kernel(key, &work, LIBRARY);
    Ok((Native::Library(loaded), Origin::Compiled))
}

/// The kernel if it is in the cache.
pub(crate) fn cached(
    text: &str,
    entry: &str,
    compiler: &Compiler,
    cache: &Cache,
) -> Option<Native> {
    let library = cache.kernel(compiler.kernel_key(text))?;
    Loaded::open(&library, entry).ok().map(Native::Library)
}

impl Native {
    /// Makes the kernel in memory.
    ///
    /// # Errors
    /// `E0609` where that cannot be done on this machine.
    pub(crate) fn in_memory(function: &Function) -> Result<Self> {
        compile(function).map(Self::Memory)
    }

    /// Calls the entry.
    ///
    /// # Safety
    /// The tensors must fit the signature of the function that was compiled, and
    /// nobody else may use what the kernel writes to.
    unsafe fn call(&self, context: &mut RawContext, tensors: &mut [*mut RawTensor]) -> i32 {
        match self {
            // SAFETY: as this function demands.
            Self::Library(loaded) => unsafe { (loaded.launch())(context, tensors.as_mut_ptr()) },
            Self::Memory(code) => {
                let entry: Entry = code.entry();
                let context = std::ptr::from_mut(context);
                // SAFETY: as this function demands; the layouts agree.
                unsafe { entry(context.cast(), tensors.as_mut_ptr().cast()) }
            }
        }
    }

    /// Runs the kernel. The arguments fit its signature.
    ///
    /// # Safety
    /// As [`Kernel::launch`](crate::Kernel::launch).
    pub(crate) unsafe fn launch(
        &self,
        function: &Function,
        arguments: &mut [KernelArgument<'_>],
        cancel: &Cancel,
    ) -> std::result::Result<(), Stop> {
        // Of all arguments, one behind the other.
        let extents = arguments.iter().flat_map(KernelArgument::signed_extents);
        let extents: Vec<i64> = extents.collect();
        let n_arrays = arguments.iter().map(|given| given.arrays().len()).sum();
        let mut arrays: Vec<RawArray> = Vec::with_capacity(n_arrays);
        for argument in arguments.iter_mut() {
            raw_arrays(argument, &mut arrays);
        }
        let mut state = {
            let (memory, taken) = KernelArgument::memory(arguments);
            State::new(memory, taken, cancel)
        };
        let mut rest = &mut arrays[..];
        for (given, wanted) in arguments.iter_mut().zip(&function.arguments) {
            let (raw, others) = rest.split_at_mut(given.arrays().len());
            lend(function, wanted, given, raw, &mut state);
            rest = others;
        }
        // From here to the end of the call the arrays are reached through these
        // pointers alone.
        let (mut of_arrays, mut of_extents) = (&mut arrays[..], &extents[..]);
        let mut tensors = Vec::with_capacity(arguments.len());
        for given in arguments.iter() {
            let (extents, others) = of_extents.split_at(given.extents().len());
            let (arrays, rest) = of_arrays.split_at_mut(given.arrays().len());
            (of_extents, of_arrays) = (others, rest);
            tensors.push(RawTensor {
                extents: extents.as_ptr(),
                arrays: arrays.as_mut_ptr(),
            });
        }
        let mut pointers: Vec<*mut RawTensor> =
            tensors.iter_mut().map(std::ptr::from_mut).collect();
        let mut context = state.context();
        // SAFETY: the arguments fit the signature that the code was made from,
        // operands are checked tensors, and everything pointed to outlives the
        // call. Nobody else writes to the arrays: results are borrowed mutably.
        let status = unsafe { self.call(&mut context, &mut pointers) };
        let (shortage, panic) = (state.shortage(), state.take_panic());
        let mut lent = state.into_memories();
        let mut rest = &arrays[..];
        for (given, wanted) in arguments.iter_mut().zip(&function.arguments) {
            let (raw, others) = rest.split_at(given.arrays().len());
            rest = others;
            take_back(function, wanted, given, raw, status == 0, &mut lent);
        }
        // The kernel has returned, so the panic of a function that it called may resume.
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        match of_status(status) {
            None => Ok(()),
            Some(failure) => Err(Stop { failure, shortage }),
        }
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
        state.may_grow(Growing {
            array: std::ptr::from_mut(raw),
            buffer,
            memory,
        });
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

/// Adds the arrays of one argument as the kernel sees them.
fn raw_arrays(argument: &mut KernelArgument<'_>, all: &mut Vec<RawArray>) {
    let raw = |data: *mut u8, len: usize| RawArray {
        data: data.cast(),
        len: len as i64,
        capacity: len as i64,
    };
    match argument {
        KernelArgument::Out(output) => {
            let arrays = output.arrays.iter_mut();
            all.extend(arrays.map(|array| raw(array.as_mut_ptr(), array.len())));
        }
        KernelArgument::In(_)
        | KernelArgument::Alias(_)
        | KernelArgument::Numbers(_)
        | KernelArgument::Values(..) => {
            // A kernel only reads the arrays of operands, and of a result of which it
            // writes the values alone all but these.
            let arrays = argument.arrays();
            all.extend(arrays.map(|array| raw(array.as_ptr().cast_mut(), array.len())));
        }
    }
    if let KernelArgument::Values(tensor, _) = argument
        && let Some(last) = all.last_mut()
    {
        last.data = tensor.values_mut_ptr().cast();
    }
}
