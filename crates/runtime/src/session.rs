//! The kernels of one program in memory, and what they are made with.

#![allow(unsafe_code)]

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use sparsec_base::cancel::{Cancel, cancelled};
use sparsec_base::{Diagnostic, Recent, Result, code};
use sparsec_loop::Function;

use crate::cache::Cache;
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
///
/// One caller makes the value, and others wait for it; each stops when its own [`Cancel`] is set. If
/// the caller that makes the value stops, one that waits takes over.
#[derive(Debug)]
struct Once<T> {
    made: OnceLock<T>,
    making: Mutex<Making>,
    /// Told when a caller has made the value, or has failed to.
    ended: Condvar,
}

#[derive(Debug, Default)]
enum Making {
    #[default]
    Nobody,
    Somebody,
    /// The error of a compiler that hangs.
    Never(Diagnostic),
}

/// How often a caller that waits looks at its `Cancel`.
const POLL: Duration = Duration::from_millis(20);

/// The caller that makes a value. When it is dropped, those that wait go on.
struct Maker<'a, T> {
    of: &'a Once<T>,
    then: Making,
}

impl<T> Drop for Maker<'_, T> {
    fn drop(&mut self) {
        *self.of.lock() = std::mem::take(&mut self.then);
        self.of.ended.notify_all();
    }
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self {
            made: OnceLock::new(),
            making: Mutex::default(),
            ended: Condvar::new(),
        }
    }
}

impl<T> Once<T> {
    fn get(&self) -> Option<&T> {
        self.made.get()
    }

    fn lock(&self) -> MutexGuard<'_, Making> {
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, which `make` makes if there is none and nobody else does.
    ///
    /// # Errors
    /// That of `make`; `E0521` if `cancel` is set while another caller makes it.
    fn get_or_make(&self, cancel: &Cancel, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let mut making = self.lock();
        loop {
            if let Some(made) = self.made.get() {
                return Ok(made);
            }
            match &*making {
                Making::Nobody => break,
                Making::Never(error) => return Err(error.clone()),
                Making::Somebody if cancel.is_set() => return Err(cancelled()),
                Making::Somebody => {
                    let waited = self.ended.wait_timeout(making, POLL);
                    making = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
        *making = Making::Somebody;
        drop(making);
        let mut maker = Maker {
            of: self,
            then: Making::Nobody,
        };
        match make() {
            Ok(made) => Ok(self.made.get_or_init(|| made)),
            Err(error) => {
                if error.code() == code::COMPILER_HANGS {
                    maker.then = Making::Never(error.clone());
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
        let open = || Cache::open(&self.environment);
        self.cache.get_or_make(&self.cancel, open)
    }

    pub(crate) fn compiler(&self, cancel: &Cancel) -> Result<&Compiler> {
        let detect = || Compiler::detect_until(&self.environment, self.cache()?, cancel);
        self.compiler.get_or_make(cancel, detect)
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
        self.tools.compiler(self.tools.cancel())
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
        self.once(function, text, cancel, || {
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
        self.once(function, text, cancel, || {
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
        let (compiler, cache) = (self.tools.compiler(cancel)?, self.cache()?);
        // SAFETY: as this function demands.
        unsafe { Kernel::compile_c_until(function, text, entry, (compiler, cache), cancel) }
    }

    /// The kernel in memory, or the one that `make` makes, and whether it did.
    fn once(
        &self,
        function: &Function,
        text: &str,
        cancel: &Cancel,
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
        let kernel = Arc::clone(place.get_or_make(cancel, &mut build)?);
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn a_caller_that_waits_stops_by_its_own_cancel() {
        let once = Once::<u32>::default();
        let (begin, begun) = channel();
        let (end, ended) = channel();
        let once = &once;
        let made = thread::scope(|scope| {
            let maker = scope.spawn(move || {
                let make = || {
                    begin.send(()).unwrap();
                    ended.recv().unwrap();
                    Ok(7)
                };
                once.get_or_make(&Cancel::default(), make).copied()
            });
            begun.recv().unwrap();
            let cancel = Cancel::default();
            cancel.set();
            let refused = once.get_or_make(&cancel, || unreachable!("another makes it"));
            assert_eq!(refused.unwrap_err().code(), code::CANCELLED);
            end.send(()).unwrap();
            maker.join().unwrap()
        });
        assert_eq!((made.unwrap(), once.get()), (7, Some(&7)));
    }

    #[test]
    fn a_caller_that_waits_takes_over() {
        let once = Once::<u32>::default();
        let (begin, begun) = channel();
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                let make = || {
                    begin.send(()).unwrap();
                    thread::sleep(Duration::from_millis(5));
                    Err(cancelled())
                };
                once.get_or_make(&Cancel::default(), make).copied()
            });
            begun.recv().unwrap();
            let second = once.get_or_make(&Cancel::default(), || Ok(8)).copied();
            assert_eq!(second.unwrap(), 8);
            assert!(first.join().unwrap().is_err());
        });
    }
}
