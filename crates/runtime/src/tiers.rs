//! Kernels that answer at once and get faster: made in memory first, compiled
//! behind their user's back.
//!
//! ```text
//! asked for ──► in the disk cache? ──yes──► C
//!                   │ no
//!                   ├──► Cranelift ──► runs from now on ─────────┐
//!                   └──► queue ──► one thread: cc ──► swapped in ┴─► C
//! ```
//!
//! Both tiers give the same bits, so a swap changes only how long launches take. Without a
//! compiler, or if it fails, the first tier stays. One thread of a session compiles one
//! kernel after the other. Dropping a session ends the running compiler, ends waits for
//! other processes, and drops the queue.
//!
//! A launch over many bytes waits for C, if it is not ready: loops over rows of dense
//! arrays in memory then cost more than the compiler does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use sparsec_base::{Diagnostic, code};

use crate::native::{self, Native};
use crate::second::Second;
use crate::session::Tools;

/// As many bytes of operands and results are worth waiting for the compiler.
const WORTH_WAITING: usize = 64 << 20;

/// How long that takes at most; most compiles take a tenth of it.
const PATIENCE: Duration = Duration::from_millis(800);

/// A kernel of two tiers.
#[derive(Debug)]
pub(crate) struct Tiered {
    first: Native,
    second: Arc<Second<Native>>,
}

impl Tiered {
    /// The tier to run now, on arguments of this many bytes.
    pub(crate) fn native(&self, bytes: impl FnOnce() -> usize) -> &Native {
        if let Some(native) = self.second.get() {
            return native;
        }
        if !self.second.is_done() && bytes() >= WORTH_WAITING {
            self.second.wait(PATIENCE);
        }
        self.second.get().unwrap_or(&self.first)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread that compiles, once there is something to compile.
#[derive(Debug, Default)]
pub(crate) struct Background {
    worker: Mutex<Option<Worker>>,
    trouble: Arc<OnceLock<Diagnostic>>,
}

#[derive(Debug)]
struct Worker {
    queue: Sender<Job>,
    thread: JoinHandle<()>,
    /// Every second tier that was asked for.
    asked: Vec<Arc<Second<Native>>>,
}

/// One kernel to compile.
#[derive(Debug)]
struct Job {
    text: String,
    entry: String,
    second: Arc<Second<Native>>,
}

impl Background {
    /// A kernel that runs `first` until its C is compiled.
    pub(crate) fn tiers(
        &self,
        first: Native,
        text: &str,
        entry: &str,
        tools: &Arc<Tools>,
    ) -> Tiered {
        let second = Arc::new(Second::default());
        let job = Job {
            text: text.to_owned(),
            entry: entry.to_owned(),
            second: Arc::clone(&second),
        };
        let mut worker = lock(&self.worker);
        if worker.is_none() {
            *worker = self.start(tools);
        }
        let taken = worker.as_mut().is_some_and(|worker| {
            worker.asked.retain(|second| !second.is_done());
            worker.asked.push(Arc::clone(&second));
            worker.queue.send(job).is_ok()
        });
        if !taken {
            // Without a thread the first tier stays.
            second.finish(None);
        }
        Tiered { first, second }
    }

    fn start(&self, tools: &Arc<Tools>) -> Option<Worker> {
        let (queue, jobs) = channel::<Job>();
        let (tools, trouble) = (Arc::clone(tools), Arc::clone(&self.trouble));
        let run = move || {
            for job in jobs {
                let built = (!tools.cancel().is_set()).then(|| {
                    // The panic is printed by now. Launches must not wait for its kernel,
                    // nor for the kernels behind it.
                    catch_unwind(AssertUnwindSafe(|| build(&job, &tools)))
                });
                let made = match built {
                    Some(Ok(Ok(native))) => Some(native),
                    Some(Ok(Err(error))) => {
                        // A machine without a compiler is no fault; a wrong name in the
                        // environment is one.
                        if error.code() != code::NO_COMPILER || tools.names_compiler() {
                            let _ = trouble.set(error);
                        }
                        None
                    }
                    Some(Err(_)) | None => None,
                };
                job.second.finish(made);
            }
        };
        let thread = std::thread::Builder::new().name("sparsec-compile".to_owned());
        Some(Worker {
            queue,
            thread: thread.spawn(run).ok()?,
            asked: Vec::new(),
        })
    }

    /// Waits until every kernel that was asked for is compiled, but at most for this
    /// time; whether they are.
    pub(crate) fn settle(&self, most: Duration) -> bool {
        let asked = match &*lock(&self.worker) {
            Some(worker) => worker.asked.clone(),
            None => return true,
        };
        let begun = Instant::now();
        let left = || most.saturating_sub(begun.elapsed());
        asked.iter().all(|second| second.wait(left()))
    }

    /// Why a kernel was not compiled, if the compiler is to blame.
    pub(crate) fn trouble(&self) -> Option<&Diagnostic> {
        self.trouble.get()
    }

    /// Ends the thread, whose tools are told to cancel.
    pub(crate) fn end(&self) {
        if let Some(Worker { queue, thread, .. }) = lock(&self.worker).take() {
            drop(queue);
            // A worker that panicked left nothing behind.
            let _ = thread.join();
        }
    }
}

fn build(job: &Job, tools: &Tools) -> sparsec_base::Result<Native> {
    let (compiler, cache) = (tools.compiler(tools.cancel())?, tools.cache()?);
    Ok(native::build(&job.text, &job.entry, compiler, cache, tools.cancel())?.0)
}
