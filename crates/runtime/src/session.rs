//! The kernels of one program in memory, and what they are made with.

#![allow(unsafe_code)]

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use sparsec_base::{Diagnostic, Recent, Result, code};
use sparsec_loop::Function;

use crate::cache::Cache;
use crate::cancel::Cancel;
use crate::compiler::Compiler;
use crate::environment::Environment;
use crate::kernel::{Build, Kernel, Origin};
use crate::native::{self, Native};
use crate::tiers::Background;

/// Makes each kernel once: finds compiler and cache when they are first needed,
/// and keeps the kernels that were used last.
#[derive(Debug)]
pub struct Session {
    tools: Arc<Tools>,
    background: Background,
    /// By C text. A place is made before its kernel, so that two threads that
    /// want the same kernel make it once and different ones at the same time.
    kernels: Mutex<Recent<String, Place>>,
}

/// What kernels are compiled with.
#[derive(Debug)]
pub(crate) struct Tools {
    environment: Environment,
    cache: Once<Cache>,
    compiler: Once<Compiler>,
    cancel: Cancel,
}

/// A value that is made when it is first needed. A failure is not remembered: a full disk
/// may have room the next time, and a killed compiler may run. Only a compiler that hangs
/// is remembered, so nobody waits for it twice.
#[derive(Debug)]
struct Once<T> {
    made: OnceLock<T>,
    /// Locked while the value is made. Holds the error of a compiler that hangs.
    making: Mutex<Option<Diagnostic>>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self {
            made: OnceLock::new(),
            making: Mutex::new(None),
        }
    }
}

impl<T> Once<T> {
    fn get(&self) -> Option<&T> {
        self.made.get()
    }

    fn get_or_make(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let mut making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        if let Some(never) = &*making {
            return Err(never.clone());
        }
        match make() {
            // Nobody else makes it while this one does.
            Ok(made) => Ok(self.made.get_or_init(|| made)),
            Err(error) => {
                if error.code() == code::COMPILER_HANGS {
                    *making = Some(error.clone());
                }
                Err(error)
            }
        }
    }
}

/// The most kernels that are kept in memory.
const MOST_KERNELS: usize = 512;

type Place = Arc<Once<Arc<Kernel>>>;

impl Tools {
    /// Whether the environment names a compiler, rather than leaving its name open.
    pub(crate) fn names_compiler(&self) -> bool {
        let Environment { sparsec_cc, cc, .. } = &self.environment;
        sparsec_cc.is_some() || cc.is_some()
    }

    pub(crate) fn cache(&self) -> Result<&Cache> {
        self.cache.get_or_make(|| Cache::open(&self.environment))
    }

    pub(crate) fn compiler(&self) -> Result<&Compiler> {
        self.compiler
            .get_or_make(|| Compiler::detect_until(&self.environment, self.cache()?, &self.cancel))
    }

    /// The compiler, if that is known without running it.
    fn known_compiler(&self) -> Option<&Compiler> {
        match self.compiler.get() {
            Some(compiler) => Some(compiler),
            None => {
                let known = Compiler::known(&self.environment, self.cache().ok()?)?;
                // Another thread may have found it meanwhile.
                Some(self.compiler.made.get_or_init(|| known))
            }
        }
    }

    /// Set when nobody waits for kernels any more.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}

impl Session {
    /// A session without kernels. Finds nothing out yet.
    pub fn new(environment: Environment) -> Self {
        Self {
            tools: Arc::new(Tools {
                environment,
                cache: Once::default(),
                compiler: Once::default(),
                cancel: Cancel::default(),
            }),
            background: Background::default(),
            kernels: Mutex::new(Recent::new(MOST_KERNELS)),
        }
    }

    /// The disk cache.
    ///
    /// # Errors
    /// See [`Cache::open`].
    pub fn cache(&self) -> Result<&Cache> {
        self.tools.cache()
    }

    /// Why kernels are not kept on disk, if there were any and they are not:
    /// something to tell a user once, at the end.
    pub fn trouble(&self) -> Option<String> {
        self.tools.cache.get()?.trouble()
    }

    /// Why kernels were not compiled that run without having been, if the compiler
    /// failed or is not where the environment names it: something to tell a user once, at
    /// the end. A machine without a compiler has nothing to tell.
    pub fn compiler_trouble(&self) -> Option<&Diagnostic> {
        self.background.trouble()
    }

    /// Waits until the kernels that are compiled behind their user's back are in
    /// the cache, but no longer than this; whether they are.
    pub fn settle(&self, most: Duration) -> bool {
        self.background.settle(most)
    }

    /// The C compiler.
    ///
    /// # Errors
    /// See [`Compiler::detect`].
    pub fn compiler(&self) -> Result<&Compiler> {
        self.tools.compiler()
    }

    /// The compiled kernel of `function`, whose C is `text` with launch entry
    /// `entry`. The second result says whether this call made it; a kernel
    /// that was in memory takes no time.
    ///
    /// # Safety
    /// As [`Kernel::compile_c`].
    ///
    /// # Errors
    /// As [`Kernel::compile_c`] and [`Compiler::detect`].
    pub unsafe fn compile_c(
        &self,
        function: &Function,
        text: &str,
        entry: &str,
        cancel: &Cancel,
    ) -> Result<(Arc<Kernel>, bool)> {
        self.once(function, text, || {
            // SAFETY: as this function demands.
            unsafe { self.compiled(function, text, entry, cancel) }
        })
    }

    /// The kernel of `function` as fast as it can be had: from the cache, or made
    /// in memory, and replaced by the compiled C once that is ready.
    ///
    /// # Safety
    /// As [`Kernel::compile_c`].
    ///
    /// # Errors
    /// As [`Session::compile_c`], where no code can be made in memory.
    pub unsafe fn tiered(
        &self,
        function: &Function,
        text: &str,
        entry: &str,
        cancel: &Cancel,
    ) -> Result<(Arc<Kernel>, bool)> {
        self.once(function, text, || {
            let started = Instant::now();
            let build = |origin| Build {
                origin,
                time: started.elapsed(),
            };
            let found = self.tools.known_compiler().and_then(|compiler| {
                native::cached(text, entry, compiler, self.tools.cache().ok()?)
            });
            if let Some(native) = found {
                return Ok(Kernel::native(function, native, build(Origin::Cached)));
            }
            match Native::in_memory(function) {
                Ok(first) => {
                    let build = build(Origin::Generated);
                    let tiers = self.background.tiers(first, text, entry, &self.tools);
                    Ok(Kernel::tiered(function, tiers, build))
                }
                // SAFETY: as this function demands.
                Err(_) => unsafe { self.compiled(function, text, entry, cancel) },
            }
        })
    }

    /// # Safety
    /// As [`Kernel::compile_c`].
    unsafe fn compiled(
        &self,
        function: &Function,
        text: &str,
        entry: &str,
        cancel: &Cancel,
    ) -> Result<Kernel> {
        let (compiler, cache) = (self.compiler()?, self.cache()?);
        // SAFETY: as this function demands.
        unsafe { Kernel::compile_c_until(function, text, entry, (compiler, cache), cancel) }
    }

    /// The kernel in memory, or the one that `make` makes, and whether it did.
    fn once(
        &self,
        function: &Function,
        text: &str,
        make: impl Fn() -> Result<Kernel>,
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
            Ok(Arc::new(make()?))
        };
        let kernel = Arc::clone(place.get_or_make(&mut build)?);
        if kernel.function() == function {
            return Ok((kernel, made));
        }
        // The text says nothing of arrays that the function does not use, so
        // two functions that differ in those alone have the same text.
        Ok((build()?, true))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.tools.cancel.set();
        self.background.end();
    }
}
