//! The kernels of one program in memory, and what they are made with.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sparsec_base::{Recent, Result};
use sparsec_loop::Function;

use crate::cache::Cache;
use crate::compiler::Compiler;
use crate::environment::Environment;
use crate::kernel::Kernel;

/// Makes each kernel once: finds compiler and cache when they are first needed,
/// and keeps the kernels that were used last.
#[derive(Debug)]
pub struct Session {
    environment: Environment,
    cache: OnceLock<Result<Cache>>,
    compiler: OnceLock<Result<Compiler>>,
    /// By C text. A place is made before its kernel, so that two threads that
    /// want the same kernel make it once and different ones at the same time.
    kernels: Mutex<Recent<String, Place>>,
}

/// The most kernels that are kept in memory.
const MOST_KERNELS: usize = 512;

type Place = Arc<OnceLock<Result<Arc<Kernel>>>>;

impl Session {
    /// A session without kernels. Finds nothing out yet.
    pub fn new(environment: Environment) -> Self {
        Self {
            environment,
            cache: OnceLock::new(),
            compiler: OnceLock::new(),
            kernels: Mutex::new(Recent::new(MOST_KERNELS)),
        }
    }

    /// The disk cache.
    ///
    /// # Errors
    /// See [`Cache::open`].
    pub fn cache(&self) -> Result<&Cache> {
        self.cache
            .get_or_init(|| Cache::open(&self.environment))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// Why kernels are not kept on disk, if there were any and they are not:
    /// something to tell a user once, at the end.
    pub fn trouble(&self) -> Option<&str> {
        self.cache.get()?.as_ref().ok()?.trouble()
    }

    /// The C compiler.
    ///
    /// # Errors
    /// See [`Compiler::detect`].
    pub fn compiler(&self) -> Result<&Compiler> {
        self.compiler
            .get_or_init(|| Compiler::detect(&self.environment, self.cache()?))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The compiled kernel of `function`, whose C is `text` with launch entry
    /// `entry`. The second result says whether this call made it; a kernel
    /// that was in memory takes no time.
    ///
    /// # Errors
    /// As [`Kernel::compile_c`] and [`Compiler::detect`].
    pub fn compile_c(
        &self,
        function: &Function,
        text: &str,
        entry: &str,
    ) -> Result<(Arc<Kernel>, bool)> {
        let place = {
            let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
            match kernels.get(text) {
                Some(place) => place,
                None => kernels.keep(text.to_owned(), Place::default()),
            }
        };
        let mut made = false;
        let mut build = || {
            made = true;
            let kernel = Kernel::compile_c(function, text, entry, self.compiler()?, self.cache()?)?;
            Ok(Arc::new(kernel))
        };
        let kernel = place.get_or_init(&mut build).clone()?;
        if kernel.function() == function {
            return Ok((kernel, made));
        }
        // The text says nothing of arrays that the function does not use, so
        // two functions that differ in those alone have the same text.
        Ok((build()?, true))
    }
}
