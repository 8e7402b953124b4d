//! What a kernel reads, read and nothing else.
//!
//! ```text
//! y(i) = A(i,j) * x(j)       A1.crd, and of x what its coordinates lead to
//!                            A1.pos, A.vals, y.vals one after the other
//! ```
//!
//! It is C with the flags of both sides, in which all that is read is added up as
//! integers, so that sums have vectors. No kernel that waits for memory is much faster;
//! one that fetches rows early may be.

use std::time::Duration;

use sparsec::internals::Inputs;
use sparsec::internals::codegen_c;
use sparsec::internals::runtime::{Kernel, OutputTensor};
use sparsec::{Result, Role, Session};

use crate::by_hand;
use crate::case::Case;
use crate::clock;
use crate::pair::{launch, median};

/// The name of the launch entry.
const ENTRY: &str = "reads";

/// How often it is timed at least.
const ROUNDS: usize = 7;

/// The time of reading what `ours` reads of these operands, and what it has written.
///
/// # Errors
/// Those of compiling and of launching.
pub(crate) fn time(
    session: &Session,
    case: &Case,
    ours: &Kernel,
    inputs: &Inputs,
    output: &mut OutputTensor,
) -> Result<Duration> {
    let text = text(case, ours, inputs, output);
    let reads = by_hand::compile(session, ours.function(), &text, ENTRY)?;
    let times = (0..ROUNDS).map(|_| launch(&reads, inputs, output, clock::time));
    Ok(median(times.collect::<Result<Vec<_>>>()?, Duration::cmp))
}

fn text(case: &Case, ours: &Kernel, inputs: &Inputs, output: &OutputTensor) -> String {
    let arguments = &ours.function().arguments;
    let place = |name: &str| {
        let place = arguments.iter().position(|argument| argument.name == name);
        place.expect("kernels take all operands")
    };
    let mut lines = String::new();
    // Arrays that are not read from one end to the other.
    let mut apart = Vec::new();
    for (sparse, level, dense) in case.gathers {
        let specs = inputs[*sparse].format().arrays();
        let crd = specs.iter().position(|spec| spec.role == Role::Crd(*level));
        let (sparse, dense) = (place(sparse), place(dense));
        let crd = crd.expect("coordinates lead to rows");
        lines += &format!("  sum += rows(&tensors[{sparse}]->arrays[{crd}], tensors[{dense}]);\n");
        apart.extend([(sparse, crd), (dense, 0)]);
    }
    for (tensor, argument) in arguments.iter().enumerate() {
        let arrays = match inputs.get(&argument.name) {
            Some(input) => input.arrays(),
            None => output.arrays(),
        };
        for (number, array) in arrays.iter().enumerate() {
            if !apart.contains(&(tensor, number)) {
                let size = array.element().size();
                lines += &format!("  sum += all(&tensors[{tensor}]->arrays[{number}], {size});\n");
            }
        }
    }
    let prelude = codegen_c::emit_file(&[], &codegen_c::Options::default());
    let sums = include_str!("../kernels/reads.c");
    format!(
        "{prelude}\n{sums}\nint32_t {ENTRY}(sparsec_context *context, sparsec_tensor **tensors) {{\n  \
         int64_t sum = 0;\n{lines}  volatile int64_t read = sum;\n  return SPARSEC_OK;\n}}\n"
    )
}
