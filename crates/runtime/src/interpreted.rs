//! The interpreter as an engine: arrays are copied into the vectors that it
//! works on, and results back. What there is no memory to copy is a failure.

use sparsec_base::{Cancel, ElementType};
use sparsec_loop::interpret::{ArgumentData, Entries, Options, Outcome, interpret};
use sparsec_loop::{Access, Failure, Function};
use sparsec_parallel::{Memory, MemoryLimit};
use sparsec_tensor::{Array, with_element};

use crate::kernel::KernelArgument;

/// Runs `function`. The arguments fit its signature.
pub(crate) fn launch(
    function: &Function,
    arguments: &mut [KernelArgument<'_>],
    cancel: &Cancel,
) -> Result<(), Failure> {
    // Copies are the interpreter's own, whatever results may take.
    if !MemoryLimit::Available.can_give(0, copied_bytes(function, arguments)) {
        return Err(Failure::OutOfMemory);
    }
    let (memory, taken) = KernelArgument::memory(arguments);
    let mut data = Vec::new();
    for (given, wanted) in arguments.iter().zip(&function.arguments) {
        let mut buffers = Vec::new();
        for (array, &buffer) in given.arrays().zip(&wanted.buffers) {
            buffers.push(match function.buffers[buffer].access {
                Access::Grow => Entries::empty(array.element()),
                _ => entries(array).ok_or(Failure::OutOfMemory)?,
            });
        }
        data.push(ArgumentData {
            extents: given.signed_extents().collect(),
            buffers,
        });
    }
    let is_cancelled = || cancel.is_set();
    let options = Options {
        cancelled: Some(&is_cancelled),
        max_bytes: Some(memory.bytes().saturating_sub(taken)),
        ..Options::default()
    };
    match interpret(function, &mut data, &options) {
        Ok(Outcome::Done) => {}
        Ok(Outcome::Failed(failure)) => return Err(failure),
        Err(fault) => panic!("`{}`: {fault}", function.name),
    }
    for ((given, wanted), data) in arguments.iter_mut().zip(&function.arguments).zip(data) {
        let output = match given {
            KernelArgument::In(_) | KernelArgument::Alias(_) | KernelArgument::Numbers(_) => {
                continue;
            }
            KernelArgument::Out(output) => output,
            KernelArgument::Values(tensor, _) => {
                if let Some(entries) = data.buffers.into_iter().last() {
                    let from = array_of(entries);
                    with_element!(from.element(), T => {
                        if let Some(values) = tensor.values_mut::<T>() {
                            values.copy_from_slice(from.slice());
                        }
                    });
                }
                continue;
            }
        };
        for ((array, &buffer), entries) in output
            .arrays
            .iter_mut()
            .zip(&wanted.buffers)
            .zip(data.buffers)
        {
            if function.buffers[buffer].access != Access::Read {
                *array = array_of(entries);
            }
        }
    }
    Ok(())
}

/// What the copies of arrays take, with a byte for each entry to be written that
/// says whether it was.
fn copied_bytes(function: &Function, arguments: &[KernelArgument<'_>]) -> u64 {
    let given = arguments.iter().zip(&function.arguments);
    let arrays = given.flat_map(|(given, wanted)| given.arrays().zip(&wanted.buffers));
    let bytes = arrays.map(|(array, &buffer)| {
        let defined = usize::from(function.buffers[buffer].access == Access::Write);
        array.len().saturating_mul(array.element().size() + defined) as u64
    });
    bytes.fold(0, u64::saturating_add)
}

macro_rules! arrays {
    ($($kind:ident)*) => {
        /// A copy, if there is memory for it.
        fn entries(array: &Array) -> Option<Entries> {
            Some(match array.element() {
                $(ElementType::$kind => {
                    let mut copy = Vec::new();
                    copy.try_reserve_exact(array.len()).ok()?;
                    copy.extend_from_slice(array.slice());
                    Entries::$kind(copy)
                })*
            })
        }

        fn array_of(entries: Entries) -> Array {
            let element = entries.element();
            let memory = match entries {
                $(Entries::$kind(values) => Memory::from(values),)*
            };
            Array::new(element, memory)
        }
    };
}

arrays! { Bool I8 I16 I32 I64 U8 U16 U32 U64 F16 Bf16 F32 F64 C64 C128 }
