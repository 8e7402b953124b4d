//! Loop IR to machine code in memory, by [Cranelift](https://cranelift.dev).
//!
//! The tier that answers first: a kernel is ready in about a millisecond, on a
//! machine without a compiler as on any other.
//!
//! ```text
//! Function ──emit──► Cranelift IR ──compile──► bytes ──map──► Code { entry }
//!            │                                                    ▲
//!            └─ helpers of ours, called by address ───────────────┘ lives as long as its owner
//! ```
//!
//! One kernel becomes one function,
//!
//! ```text
//! int32_t entry(sparsec_context *context, sparsec_tensor **tensors)
//! ```
//!
//! and one more for each loop of chunks (`chunks`). The first is the launch entry that the C back end writes too; the structures are
//! those of its binary interface (the module `abi` mirrors them), so that one
//! caller serves both. Code refers to nothing that could go away: helpers are
//! functions of this program, memory is asked of the context.
//!
//! # Meaning
//!
//! The code means what the IR means, to the bit:
//!
//! * Integers wrap. A division is checked for zero, and never meets the least
//!   number over -1, which the processor would answer with a signal (`arithmetic`).
//! * Nothing is contracted or reassociated. Functions of the C library are the
//!   ones that the interpreter calls (`helper`).
//! * `and`, `or` and `select` skip what the IR does not evaluate, wherever that
//!   could be noticed: where it loads, fails or is long (`condition`).
//! * Complex numbers are pairs of values, by the formulas that every engine shares
//!   (`complex`).
//! * Loops along rows of arrays are run some entries at a time, where nothing can
//!   tell the difference (`lanes`).
//!
//! | module       | holds                                                  |
//! |--------------|--------------------------------------------------------|
//! | `host`       | the processor that code is made for                    |
//! | `memory`     | executable memory, the one place with unsafe code      |
//! | `abi`        | where things are in the structures of the caller       |
//! | `emitter`    | the state of translating one function; its exits       |
//! | `statement`, `loops`, `growth` | statements                           |
//! | `expression`, `condition`, `arithmetic`, `convert`, `complex` | expressions |
//! | `place`      | addresses of entries, loads and stores                 |
//! | `again`      | what cases of a merge ask before its next turn         |
//! | `segments`   | loops over segments that follow one another            |
//! | `near`       | which addresses of arrays registers hold               |
//! | `lanes`      | rows as vectors                                        |
//! | `sums`       | lanes of sums along rows as vectors                    |
//! | `chunks`     | bodies that the caller runs, on as many threads as it likes |
//! | `helper`     | functions that code calls                              |
//! | `stub`       | calls that change no registers                         |

mod abi;
mod again;
mod arithmetic;
mod cases;
mod chunks;
mod complex;
mod condition;
mod convert;
mod emitter;
mod expression;
mod growth;
mod helper;
mod host;
mod lanes;
mod loops;
mod memory;
mod near;
mod number;
mod place;
mod segments;
mod statement;
mod stub;
mod sums;
mod tiles;

pub use abi::Layout;
pub use memory::{Code, Entry};

use std::borrow::Cow;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir;
use cranelift_codegen::isa::TargetIsa;
use sparsec_base::{Diagnostic, Result};
use sparsec_loop::{Expr, Function, passes};

/// Machine code of a kernel, ready to be called.
///
/// The function must be verified. Takes about a millisecond for each hundred
/// statements.
///
/// # Errors
/// `E0609` where Cranelift has no code for this processor or the system gives no
/// executable memory.
///
/// ```
/// use sparsec_loop::{Builder, Failure};
/// let mut b = Builder::new("refuse");
/// b.fail(Failure::DivisionByZero);
/// let code = sparsec_codegen_cranelift::compile(&b.finish())?;
/// assert!(code.size() > 0);
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
pub fn compile(function: &Function) -> Result<Code> {
    let isa = host::isa()?;
    let function = &*that_runs(function);
    let (made, parts) = emitter::emit(function, isa)?;
    Ok(map(&function.name, made, isa)?.with(parts))
}

/// What code is made of. A call that fetches a row early pays, one for a single entry costs
/// more than it saves.
fn that_runs(function: &Function) -> Cow<'_, Function> {
    let fetches = stub::prefetcher().is_some();
    let pays = |lo: &Expr, hi: &Expr| fetches && !lo.is_followed_by(hi);
    passes::without_prefetch(function, &pays).map_or(Cow::Borrowed(function), Cow::Owned)
}

/// The most bytes of stack that a function of a kernel may take. A kernel runs on any
/// thread of the caller, and threads of musl have 128 KiB. The kernel and a chunk that it
/// calls may take a quarter each.
const LARGEST_FRAME: u32 = 1 << 15;

/// Machine code of one function of the kernel of this name.
fn map(kernel: &str, made: ir::Function, isa: &dyn TargetIsa) -> Result<Code> {
    let mut context = Context::for_function(made);
    let compiled = context
        .compile(isa, &mut ControlPlane::default())
        .map_err(|error| refused(kernel, &format!("{:?}", error.inner)))?;
    if !compiled.buffer.relocs().is_empty() {
        // Every call is by address, so only an instruction that this processor
        // lacks can ask for a function of Cranelift's own.
        return Err(refused(kernel, "the processor lacks an instruction"));
    }
    let frame = compiled.buffer.frame_layout();
    let frame = frame.map_or(0, |frame| frame.frame_to_fp_offset);
    if frame > LARGEST_FRAME {
        let why = format!("it needs {frame} bytes of stack, and at most {LARGEST_FRAME} are safe");
        return Err(refused(kernel, &why));
    }
    Code::map(compiled.code_buffer()).map_err(|error| refused(kernel, &error.to_string()))
}

/// The Cranelift IR of a kernel as text, before it is optimised.
///
/// # Errors
/// As [`compile`].
pub fn text(function: &Function) -> Result<String> {
    let isa = host::isa()?;
    let function = &*that_runs(function);
    Ok(emitter::emit(function, isa)?.0.display().to_string())
}

/// The machine code of a kernel as text, in the notation of Cranelift.
///
/// # Errors
/// As [`compile`].
pub fn assembly(function: &Function) -> Result<String> {
    let isa = host::isa()?;
    let function = &*that_runs(function);
    let mut context = Context::for_function(emitter::emit(function, isa)?.0);
    context.set_disasm(true);
    let compiled = context
        .compile(isa, &mut ControlPlane::default())
        .map_err(|error| refused(&function.name, &format!("{:?}", error.inner)))?;
    Ok(compiled.vcode.clone().unwrap_or_default())
}

fn refused(kernel: &str, why: &str) -> Diagnostic {
    host::refused(&format!("no code for kernel `{kernel}`"), why)
}
