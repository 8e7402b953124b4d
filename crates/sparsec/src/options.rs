//! How a session runs kernels.
//!
//! ```text
//! Options::new()       nothing of the process: no C compiler, no cache on disk
//! Options::from_env()  the compiler and the cache that the environment names
//!     .backend(…).threads(…).memory(…).compiler(…).cache_dir(…)
//! ```
//!
//! What is said of one program stands with it: formats with widths of index arrays, types, a
//! schedule; see [`Program`](crate::Program).

use std::ffi::OsString;
use std::path::PathBuf;

use sparsec_runtime::{Environment, MemoryLimit};

/// Which engine runs kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// The fastest engine of this machine: code made in memory answers at once,
    /// and C takes its place when it is compiled, behind the caller's back. The
    /// results are the same, to the bit. Needs no compiler.
    #[default]
    Auto,
    /// C through the system's compiler.
    C,
    /// Machine code made in memory, which needs no compiler.
    Cranelift,
    /// The checked interpreter, which needs no compiler and is slow.
    Interpreter,
}

/// How a session runs kernels, one method for each choice.
///
/// ```
/// use sparsec::{Backend, MemoryLimit, Options, Session};
/// let session = Session::new(
///     Options::from_env()
///         .backend(Backend::Cranelift)
///         .threads(2)
///         .memory(MemoryLimit::Bytes(64 << 20))
///         .cache_dir("/var/cache/my-service"),
/// );
/// assert_eq!(session.backend(), Backend::Cranelift);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Options {
    pub(crate) backend: Backend,
    pub(crate) memory: MemoryLimit,
    pub(crate) threads: usize,
    pub(crate) environment: Environment,
}

impl Options {
    /// The defaults, without a look at the environment: [`Backend::Auto`] without a C
    /// compiler, the memory that is available, the threads of the process, no cache on disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Options::new`], with the C compiler and the cache that the environment names:
    /// `SPARSEC_CC`, `CC`, `PATH`, `SPARSEC_CACHE_DIR`, `XDG_CACHE_HOME`, `HOME`,
    /// `SPARSEC_CACHE_SIZE` and `TMPDIR`, read now.
    pub fn from_env() -> Self {
        Self {
            environment: Environment::of_process(),
            ..Self::default()
        }
    }

    /// Which engine runs kernels.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.backend = backend;
        self
    }

    /// How much memory results, workspaces and copies of operands may take.
    pub fn memory(mut self, limit: MemoryLimit) -> Self {
        self.memory = limit;
        self
    }

    /// How many threads the session has for its kernels and conversions. With 0, the default, it
    /// uses those that the process has in common: one for each processor. Results are the same,
    /// to the bit.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The only C compiler to try, with its first arguments: a path, or after
    /// [`Options::from_env`] a name, which is looked for in `PATH`.
    ///
    /// ```
    /// let options = sparsec::Options::new().compiler("/usr/bin/gcc -mno-avx512f");
    /// # let _ = options;
    /// ```
    pub fn compiler(mut self, command: impl Into<OsString>) -> Self {
        self.environment.sparsec_cc = Some(command.into());
        self
    }

    /// The folder that keeps compiled C for later processes. It is made when the first kernel is
    /// kept; only root and the user may be able to change it and the folders around it.
    pub fn cache_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.environment.cache_dir = Some(folder.into());
        self
    }

    /// The variables that choose compiler and cache, in place of those of the process.
    #[doc(hidden)]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// How many bytes the cache on disk may hold.
    pub fn cache_size(mut self, bytes: u64) -> Self {
        self.environment.cache_size = Some(bytes.to_string().into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A service that names no compiler must not run one that happens to be installed.
    #[test]
    fn defaults_take_nothing_from_the_process() {
        assert_eq!(Options::new().environment, Environment::default());
        assert_eq!(Options::from_env().environment, Environment::of_process());
        let options = Options::from_env().compiler("/opt/cc").cache_size(5);
        assert_eq!(options.environment.sparsec_cc, Some("/opt/cc".into()));
        assert_eq!(options.environment.cache_size, Some("5".into()));
    }
}
