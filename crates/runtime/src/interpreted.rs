//! The interpreter as an engine: arrays are copied into the vectors that it
//! works on, and results back.

use sparsec_base::ElementType;
use sparsec_loop::interpret::{ArgumentData, Entries, Options, Outcome, interpret};
use sparsec_loop::{Access, Failure, Function};
use sparsec_parallel::Memory;
use sparsec_tensor::{Array, with_element};

use crate::kernel::KernelArgument;
use crate::memory_left::can_give;

/// Runs `function`. The arguments fit its signature.
pub(crate) fn launch(
    function: &Function,
    arguments: &mut [KernelArgument<'_>],
) -> Result<(), Failure> {
    if !can_give(copied_bytes(function, arguments)) {
        return Err(Failure::OutOfMemory);
    }
    let options = Options {
        can_give,
        ..Options::default()
    };
    let mut data: Vec<ArgumentData> = arguments
        .iter()
        .zip(&function.arguments)
        .map(|(given, wanted)| ArgumentData {
            extents: given.signed_extents(),
            buffers: given
                .arrays()
                .iter()
                .zip(&wanted.buffers)
                .map(|(array, &buffer)| match function.buffers[buffer].access {
                    Access::Grow => Entries::empty(array.element()),
                    _ => entries(array),
                })
                .collect(),
        })
        .collect();
    match interpret(function, &mut data, &options) {
        Ok(Outcome::Done) => {}
        Ok(Outcome::Failed(failure)) => return Err(failure),
        Err(fault) => panic!("`{}`: {fault}", function.name),
    }
    for ((given, wanted), data) in arguments.iter_mut().zip(&function.arguments).zip(data) {
        let output = match given {
            KernelArgument::In(_) | KernelArgument::Levels(..) => continue,
            KernelArgument::Out(output) => output,
            KernelArgument::Values(tensor) => {
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
    let arrays = given.flat_map(|(given, wanted)| given.arrays().iter().zip(&wanted.buffers));
    let bytes = arrays.map(|(array, &buffer)| {
        let defined = usize::from(function.buffers[buffer].access == Access::Write);
        array.len().saturating_mul(array.element().size() + defined) as u64
    });
    bytes.fold(0, u64::saturating_add)
}

macro_rules! arrays {
    ($($kind:ident)*) => {
        fn entries(array: &Array) -> Entries {
            match array.element() {
                $(ElementType::$kind => Entries::$kind(array.slice().to_vec()),)*
            }
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
