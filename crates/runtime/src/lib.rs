//! Compiling, caching, loading and launching kernels.
//!
//! ```text
//! Function ──► C text ──► Session ──► Kernel ──► launch(&mut [KernelArgument])
//!                │           │ Compiler: which compiler, which flags
//!                │           │ Cache: kernels of earlier runs, on disk
//!                └───────────┴─► cc -shared ─► dlopen
//! Function ─────────────────────► Kernel::generate      machine code in memory
//! Function ─────────────────────► Kernel::interpreter
//! ```
//!
//! | module          | holds                                                       |
//! |-----------------|-------------------------------------------------------------|
//! | [`environment`] | the variables that choose compiler and cache                |
//! | [`compiler`]    | finding and probing the C compiler                          |
//! | [`cache`]       | the per-user directory of compiled kernels                  |
//! | [`kernel`]      | a function ready to run, and launching it                   |
//! | [`output`]      | results being assembled                                     |
//! | [`session`]     | each kernel made once in a program                          |
//! | [`solver`]      | asking an installed solver of constraint systems            |
//! | [`failure`]     | what a user is told when a kernel gives up                  |
//! | `abi`           | the structures shared with compiled code                    |
//! | `library`       | loading compiled kernels into the process                   |
//! | `tiers`         | kernels made in memory first and compiled behind that       |
//! | `second`        | the place for a compiled kernel, empty until then           |
//! | `line`          | chunks that wait for their turn                             |
//! | `sync`          | the locks of these two, which tests replace                 |
//! | `clock`         | the time, which tests change                                |
//! | `process`       | running a compiler that may have to be ended                |
//! | `primitives`    | what kernels call: growth, workspaces, sorting              |
//!
//! All engines run the same functions on the same arguments with the same
//! results and failures. There is no state outside of a [`Session`]; kernels
//! may be launched from any number of threads.
//!
//! The runtime knows no expression and chooses no format; the C text comes
//! from its caller, so it does not know how C is written either.

pub mod cache;
pub mod compiler;
pub mod environment;
pub mod failure;
pub mod kernel;
pub mod output;
pub mod session;
pub mod solver;

mod abi;
mod clock;
mod interpreted;
mod key;
mod library;
mod line;
mod native;
mod primitives;
mod process;
mod second;
mod sort;
mod sync;
mod tiers;

pub use cache::{Cache, CacheStat};
pub use compiler::Compiler;
pub use environment::Environment;
pub use failure::diagnose;
pub use kernel::{Build, Kernel, KernelArgument, Origin};
pub use key::Key;
pub use output::OutputTensor;
pub use session::Session;
pub use sparsec_parallel::MemoryLimit;
