//! Running a function with every access checked.
//!
//! The interpreter is the second opinion on every back end. It computes what
//! the [crate's doc](crate) says, and it stops with a [`Fault`] where a
//! compiled kernel would do anything:
//!
//! * an access outside a buffer. A buffer that grows has room for exactly what
//!   `grow` and `resize` asked for, not for what a growth policy would add;
//! * a read of an entry that was never stored: those of `write` buffers, those
//!   that `grow` and `resize` make, but not those of a workspace, which are 0;
//! * an access of a chunk to an entry that another chunk of the same loop writes, or
//!   a write to one that another reads. Chunks run one after another, each with the
//!   units' own workspaces as they are allocated: zeros;
//! * a result array that is not resized, or ends with entries that were never
//!   stored. An array that no statement of the function stores to is left
//!   undefined on purpose (the values, in a kernel that only assembles) and is
//!   not asked for that.
//!
//! A [`Failure`] is different: it is the kernel's own error exit, and part of
//! its meaning.
//!
//! ```
//! use sparsec_base::Source;
//! use sparsec_loop::{Function, interpret::{ArgumentData, Entries, Options, Outcome, interpret}};
//! let twice = Function::parse(&Source::new("twice", r#"
//!     fn twice(
//!       out y "(i) -> (i : dense)" { extent y.n0, write y.vals: f64 },
//!       in x "(i) -> (i : dense)" { extent x.n0, read x.vals: f64 }) {
//!       for i in 0..y.n0 { y.vals[i] = 2.0 * x.vals[i] }
//!     }"#))?;
//! let mut arguments = [
//!     ArgumentData { extents: vec![2], buffers: vec![Entries::F64(vec![0.0; 2])] },
//!     ArgumentData { extents: vec![2], buffers: vec![Entries::F64(vec![3.0, 4.0])] },
//! ];
//! let outcome = interpret(&twice, &mut arguments, &Options::default());
//! assert_eq!(outcome, Ok(Outcome::Done));
//! assert_eq!(arguments[0].buffers[0], Entries::F64(vec![6.0, 8.0]));
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod entries;
mod fault;
mod machine;
mod memory;

pub use entries::Entries;
pub use fault::{Fault, FaultKind};

use crate::ir::{Failure, Function};
use machine::{Machine, Stop};
use memory::Memory;

/// One argument of a call: extents and arrays, in the order of the
/// [`Argument`](crate::Argument) that it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentData {
    /// One extent for each mode.
    pub extents: Vec<i64>,
    /// One array for each buffer, of its storage type. Arrays to write have
    /// their final length and hold anything; arrays to grow come as they are,
    /// and leave with the length that the kernel resized them to.
    pub buffers: Vec<Entries>,
}

/// How a run ended that kept the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran to the end; the result arrays are complete.
    Done,
    /// The kernel left with an error; the result arrays hold anything.
    Failed(Failure),
}

/// What a run may do.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// How many statements and loop iterations it may take; `None` for any
    /// number.
    pub max_steps: Option<u64>,
    /// How many bytes the arrays that it makes or grows may take; `None` for as
    /// many as there are.
    pub max_bytes: Option<u64>,
    /// Whether it is to end: asked where it [polls](crate::ir::Stmt::Poll), and after some
    /// thousand steps.
    pub cancelled: Option<&'a dyn Fn() -> bool>,
}

/// Runs `function`, which must be [valid](crate::verify()), on `arguments`.
///
/// # Errors
/// A [`Fault`] if the arguments do not fit the signature or the function
/// breaks a rule on them. The result arrays then hold anything.
pub fn interpret(
    function: &Function,
    arguments: &mut [ArgumentData],
    options: &Options<'_>,
) -> Result<Outcome, Fault> {
    check_signature(function, arguments).map_err(|why| Fault {
        kind: FaultKind::Signature(why),
        statement: String::new(),
    })?;
    let mut machine = Machine::new(function, options);
    for (argument, data) in function.arguments.iter().zip(arguments.iter_mut()) {
        for (&var, &extent) in argument.extents.iter().zip(&data.extents) {
            machine.set_extent(var, extent);
        }
        for (&buffer, entries) in argument.buffers.iter().zip(&mut data.buffers) {
            let kind = &function.buffers[buffer];
            let entries = std::mem::replace(entries, Entries::empty(kind.storage));
            let Some(memory) = Memory::new(kind.access, entries) else {
                return Ok(Outcome::Failed(Failure::OutOfMemory));
            };
            machine.give(buffer, memory);
        }
    }
    let ended = machine.run();
    for (argument, data) in function.arguments.iter().zip(arguments.iter_mut()) {
        for (&buffer, entries) in argument.buffers.iter().zip(&mut data.buffers) {
            *entries = machine.take(buffer);
        }
    }
    match ended {
        Ok(()) => Ok(Outcome::Done),
        Err(Stop::Failed(failure)) => Ok(Outcome::Failed(failure)),
        Err(Stop::Fault(fault)) => Err(*fault),
    }
}

fn check_signature(function: &Function, arguments: &[ArgumentData]) -> Result<(), String> {
    let same = |what: &str, wanted: usize, given: usize| {
        if wanted == given {
            return Ok(());
        }
        Err(format!("{wanted} {what} are wanted, {given} are given"))
    };
    same("arguments", function.arguments.len(), arguments.len())?;
    for (argument, data) in function.arguments.iter().zip(arguments) {
        let name = &argument.name;
        same(
            &format!("extents of `{name}`"),
            argument.extents.len(),
            data.extents.len(),
        )?;
        same(
            &format!("arrays of `{name}`"),
            argument.buffers.len(),
            data.buffers.len(),
        )?;
        for (&buffer, entries) in argument.buffers.iter().zip(&data.buffers) {
            let kind = &function.buffers[buffer];
            if kind.storage != entries.element() {
                return Err(format!(
                    "`{}` stores {}, not {}",
                    kind.name,
                    kind.storage,
                    entries.element()
                ));
            }
            assert!(!kind.access.is_allocated(), "arguments are not allocated");
        }
    }
    Ok(())
}
