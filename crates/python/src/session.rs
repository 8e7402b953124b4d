//! The session of the module: its options, and the kernels that it keeps.
//!
//! ```text
//! (text, [(name, kind)], formats, extents) ──► Kernel        kind: format, type and fill
//! ```
//!
//! Formats are compared once for each tensor: its **kind** is a number. A call with operands of
//! known kinds finds its kernel by a text and a few numbers.
//!
//! A forked child has none of its parent's threads, so it gets a session and a pool of its own.
//!
//! Only the thread that called may run the handlers of signals. Work that takes long runs on a
//! thread of its own, and the caller waits and looks for Ctrl-C:
//!
//! ```text
//! caller ──work──► thread: plan, convert, pack, run ──result──► caller
//!    └─ every 50 ms: a signal? ──► cancel; all of these end at their next checkpoint
//!                              └─► after 300 ms more, leave the thread behind, which waits for the
//!                                  system: a slow disk, memory that is given back
//! ```

use std::any::Any;
use std::collections::HashMap;
use std::mem;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use sparsec::internals::parallel::{self, Pool};
use sparsec::{
    Backend, Cancel, Diagnostic, ElementType, Format, Kernel, MemoryLimit, Options, Scalar,
    Session, Widths, code,
};

use crate::error::OrRaise;
use crate::held::Held;

/// The most kernels, and the most kinds, that are kept; beyond, all are forgotten. A plan of a
/// session is kept apart from these, so a forgotten kernel is planned again in some
/// microseconds.
const MOST: usize = 1024;

/// Stored entries of operands from which on a caller looks for Ctrl-C. Starting a thread takes
/// about 15 µs, and kernels over so many entries ten times as long.
const WATCHED: usize = 1 << 18;
/// The estimated time of a run up to which nobody looks for Ctrl-C: estimates may be ten times off.
const SHORT: Duration = Duration::from_millis(5);
/// How often the caller looks for Ctrl-C.
const POLL: Duration = Duration::from_millis(50);
/// How long the caller waits for work that is cancelled.
const PATIENCE: Duration = Duration::from_millis(300);

/// Which program, over operands of which kinds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) operands: Vec<(String, u64)>,
    pub(crate) formats: Vec<(String, String)>,
    pub(crate) extents: Vec<(String, u64)>,
}

/// A session and what is kept beside it.
pub(crate) struct State {
    pub(crate) session: Session,
    /// The threads, if they are not those that the process has in common.
    pool: Option<Pool>,
    settings: Settings,
    /// How many processes were forked one from another until the one that made it.
    process: usize,
    kernels: Mutex<HashMap<Key, Kernel>>,
}

/// The options of `configure`.
#[derive(Clone, Debug)]
struct Settings {
    /// How many threads; one for each processor if 0.
    threads: usize,
    backend: Backend,
    /// Where compiled C is kept, in place of the folder that the environment names.
    cache_dir: Option<PathBuf>,
    /// How many bytes results may take; as many as there are if 0.
    memory: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: 0,
            backend: Backend::Cranelift,
            cache_dir: None,
            memory: 0,
        }
    }
}

/// How many processes were forked one from another until this one. Python says so, since a call that
/// asks the system would take as long as a small kernel.
static FORKS: AtomicUsize = AtomicUsize::new(0);
static STATE: Mutex<Option<Arc<State>>> = Mutex::new(None);
static KINDS: Mutex<Kinds> = Mutex::new(Kinds {
    known: Vec::new(),
    next: 0,
});

/// The kinds of tensors.
struct Kinds {
    /// A program has a dozen, and a tensor looks once.
    known: Vec<Kind>,
    next: u64,
}

struct Kind {
    format: Format,
    element: ElementType,
    fill: Scalar,
    number: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The format of a tensor as kernels are planned for it: they take index arrays of any width.
pub(crate) fn arrangement(format: &Format) -> Format {
    format.clone().with_widths(Widths::default())
}

/// The number of a tensor's kind. Tensors of equal numbers have formats that arrange entries
/// alike, whatever the widths of their arrays and the names of their modes, equal types and equal
/// fills.
pub(crate) fn kind(tensor: &Held) -> u64 {
    let (element, fill) = (tensor.element(), tensor.fill());
    let kinds = &mut *lock(&KINDS);
    let known = kinds.known.iter().find(|known| {
        (known.element, known.fill) == (element, fill)
            && known.format.arranges_like(tensor.format())
    });
    if let Some(known) = known {
        return known.number;
    }
    if kinds.known.len() >= MOST {
        kinds.known.clear();
    }
    let number = kinds.next;
    kinds.next += 1;
    kinds.known.push(Kind {
        format: tensor.format().clone(),
        element,
        fill,
        number,
    });
    number
}

/// Threads for a session; `None` if the process has as many in common, to which work goes
/// without a thread that hands it over.
fn pool(threads: usize) -> Option<Pool> {
    let wanted = match threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        given => given,
    };
    let is_common = parallel::set_threads(threads) || parallel::threads() == wanted;
    // A forked child does not have the threads of its parent.
    let is_child = process() > 0;
    (is_child || !is_common).then(|| Pool::new(threads))
}

impl State {
    fn new(settings: Settings) -> Self {
        let mut options = Options::from_env().backend(settings.backend);
        if let Some(folder) = &settings.cache_dir {
            options = options.cache_dir(folder);
        }
        if settings.memory > 0 {
            options = options.memory(MemoryLimit::Bytes(settings.memory));
        }
        Self {
            session: Session::new(options),
            pool: pool(settings.threads),
            settings,
            process: process(),
            kernels: Mutex::default(),
        }
    }

    /// The state of this process.
    pub(crate) fn get() -> Arc<Self> {
        let mut state = lock(&STATE);
        match &*state {
            Some(known) if known.process == process() => Arc::clone(known),
            Some(known) => {
                let settings = known.settings.clone();
                // The threads that would end with it are not in this process.
                mem::forget(state.take());
                Arc::clone(state.insert(Arc::new(Self::new(settings))))
            }
            None => Arc::clone(state.insert(Arc::new(Self::new(Settings::default())))),
        }
    }

    /// Runs `work` on the threads of the session, without the interpreter's lock.
    pub(crate) fn run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce() -> sparsec::Result<R> + Send,
    ) -> PyResult<R> {
        py.detach(|| self.on_threads(work)).or_raise(py)
    }

    /// As [`State::run`], for work that may take long on objects of Python, which are dropped with
    /// the interpreter's lock. Ctrl-C cancels the work by its `Cancel`.
    ///
    /// # Errors
    /// That of `work`, or what the handler of a signal raises.
    pub(crate) fn watched<H: Send + Sync + 'static, R: Send + 'static>(
        self: &Arc<Self>,
        py: Python<'_>,
        held: H,
        work: impl FnOnce(&Self, &Cancel, &H) -> sparsec::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        let (cancel, state) = (Cancel::default(), Arc::clone(self));
        let (done, ended) = mpsc::channel::<Ended<R, H>>();
        let own = cancel.clone();
        let run = move || {
            let work = || state.on_threads(|| work(&state, &own, &held));
            let work = AssertUnwindSafe(|| own.watch(work).and_then(|made| made));
            let result = catch_unwind(work);
            // Nobody listens any more if the caller has left.
            let _ = done.send((result, held));
        };
        let thread = thread::Builder::new().name("sparsec-call".to_owned());
        thread.spawn(run)?;
        match py.detach(move || waited(&ended, &cancel)) {
            (Some(interrupt), _) => Err(interrupt),
            (None, Some((Ok(result), _held))) => result.or_raise(py),
            (None, Some((Err(panic), _held))) => resume_unwind(panic),
            (None, None) => unreachable!("the thread sends what it made"),
        }
    }

    /// As [`State::watched`], if the work is over many entries; else in place.
    pub(crate) fn run_over<H: Send + Sync + 'static, R: Send + 'static>(
        self: &Arc<Self>,
        py: Python<'_>,
        n_entries: usize,
        held: H,
        work: impl FnOnce(&Self, &Cancel, &H) -> sparsec::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        match Self::is_long(n_entries) {
            true => self.watched(py, held, work),
            false => self.run(py, || work(self, &Cancel::default(), &held)),
        }
    }

    /// Whether work over this many entries takes long enough to watch for Ctrl-C meanwhile.
    pub(crate) fn is_long(n_entries: usize) -> bool {
        n_entries >= WATCHED
    }

    /// Whether a run of this estimated time is too short to watch for Ctrl-C meanwhile.
    pub(crate) fn is_short(estimated: Duration) -> bool {
        estimated < SHORT
    }

    pub(crate) fn on_threads<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            Some(pool) => pool.run(work),
            None => work(),
        }
    }

    /// The kernel that was kept for `key`.
    pub(crate) fn kernel(&self, key: &Key) -> Option<Kernel> {
        lock(&self.kernels).get(key).cloned()
    }

    /// Keeps a kernel.
    pub(crate) fn keep(&self, key: Key, kernel: &Kernel) {
        let mut kernels = lock(&self.kernels);
        if kernels.len() >= MOST {
            kernels.clear();
        }
        kernels.insert(key, kernel.clone());
    }
}

/// What a thread makes, or how it panicked; and the objects of Python that it had.
type Ended<R, H> = (Result<sparsec::Result<R>, Box<dyn Any + Send>>, H);

/// Waits for what a thread makes, and looks for signals meanwhile: what the handler of a signal
/// raised, and what the thread made unless it still runs.
fn waited<E>(ended: &Receiver<E>, cancel: &Cancel) -> (Option<PyErr>, Option<E>) {
    let interrupt = loop {
        match ended.recv_timeout(POLL) {
            Ok(made) => return (None, Some(made)),
            Err(RecvTimeoutError::Disconnected) => return (None, None),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(interrupt) = Python::attach(|py| py.check_signals()) {
            break interrupt;
        }
    };
    cancel.set();
    (Some(interrupt), ended.recv_timeout(PATIENCE).ok())
}

/// The names of the engines.
const BACKENDS: [(&str, Backend); 4] = [
    ("cranelift", Backend::Cranelift),
    ("auto", Backend::Auto),
    ("c", Backend::C),
    ("interp", Backend::Interpreter),
];

/// Replaces the session by one with these options; the others stay.
#[pyfunction]
pub(crate) fn configure(
    py: Python<'_>,
    threads: Option<usize>,
    backend: Option<&str>,
    cache_dir: Option<PathBuf>,
    memory: Option<u64>,
) -> PyResult<()> {
    // A session that nobody asked for would settle how many threads the process has in common.
    let mut state = lock(&STATE);
    let settings = state.as_ref().map(|state| state.settings.clone());
    let mut settings = settings.unwrap_or_default();
    if state
        .as_ref()
        .is_some_and(|state| state.process != process())
    {
        // The threads of the parent are not there in a child.
        mem::forget(state.take());
    }
    drop(state);
    if let Some(name) = backend {
        let known = BACKENDS.iter().find(|(known, _)| *known == name);
        let known = known.map(|(_, backend)| *backend).ok_or_else(|| {
            let message = format!("there is no backend `{name}`");
            Diagnostic::new(code::BAD_OPTION_VALUE, message)
                .help("the backends are cranelift, auto, c and interp")
        });
        settings.backend = known.or_raise(py)?;
    }
    settings.threads = threads.unwrap_or(settings.threads);
    settings.memory = memory.unwrap_or(settings.memory);
    settings.cache_dir = cache_dir.or(settings.cache_dir);
    *lock(&STATE) = Some(Arc::new(State::new(settings)));
    Ok(())
}

/// The number of threads, the name of the engine, the folder of kernels if one was given, and the
/// limit of memory, or 0.
#[pyfunction]
pub(crate) fn configuration() -> (usize, &'static str, Option<PathBuf>, u64) {
    let settings = &State::get().settings;
    let name = BACKENDS
        .iter()
        .find(|(_, known)| *known == settings.backend);
    let threads = match settings.threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        own => own,
    };
    let name = name.map_or("auto", |(name, _)| name);
    (threads, name, settings.cache_dir.clone(), settings.memory)
}

fn process() -> usize {
    FORKS.load(Ordering::Relaxed)
}

/// Says that this process was forked.
#[pyfunction]
pub(crate) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The version of the library.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
