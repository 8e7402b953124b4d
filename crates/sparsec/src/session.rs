//! Running what was compiled.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use sparsec_base::{Cancel, Diagnostic, Result, code};
use sparsec_format::Format;
use sparsec_index::TensorRole;
use sparsec_loop::{Function, Role, passes};
use sparsec_parallel::Pool;
use sparsec_reference as reference;
use sparsec_runtime::{MemoryLimit, Origin};
use sparsec_tensor::{PackOptions, Tensor};

use crate::compile::operands;
use crate::compiled::Compiled;
use crate::conversion::Converters;
use crate::fitting;
use crate::kept::Kept;
use crate::kernel::Plans;
use crate::launch::Run;
use crate::options::{Backend, Options};
use crate::parts::Parts;
use crate::ready::{self, Ready};
use crate::request::Inputs;

/// Plans, compiles and runs programs, and keeps what it made.
///
/// A second plan of the same program for the same formats and types is a
/// lookup, and so is a second kernel from the same text. Some hundreds of plans
/// and kernels are kept, those used last; a [`Kernel`](crate::Kernel) keeps what
/// it needs as long as it is there. A clone is the same session.
#[derive(Clone, Debug)]
pub struct Session {
    inner: Arc<Inner>,
    /// Whether a caller still waits for the work of this clone.
    cancel: Cancel,
}

#[derive(Debug)]
struct Inner {
    options: Options,
    runtime: sparsec_runtime::Session,
    plans: Plans,
    converters: Converters,
    /// The threads of this session, if they are its own.
    pool: Option<Pool>,
}

/// Which session something was made for; it keeps none alive.
#[derive(Clone, Debug)]
pub(crate) struct SessionId(Weak<Inner>);

impl SessionId {
    pub(crate) fn is(&self, session: &Session) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&session.inner))
    }
}

/// What a run gives.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// Every tensor that a statement of the program computes, by name.
    pub tensors: BTreeMap<String, Tensor>,
    /// The values that tensors had before they were assigned again, by the names
    /// that stages have for them, such as `A_1`.
    pub earlier: BTreeMap<String, Tensor>,
    /// Where the time went.
    pub timings: Timings,
}

/// How the values of results are computed for timing.
#[derive(Clone, Copy, Debug)]
pub struct Repeats {
    /// How often values are computed.
    pub times: usize,
    /// Whether sparse results are assembled by one kernel and computed by
    /// another, so that each can be timed, and values computed again.
    pub apart: bool,
}

impl Default for Repeats {
    fn default() -> Self {
        Self {
            times: 1,
            apart: false,
        }
    }
}

/// Where the time of a run went.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Timings {
    /// Converting operands to the formats that kernels read.
    pub convert: Duration,
    /// How many copies of operands that made.
    pub n_converted: usize,
    /// Making kernels ready.
    pub compile: Duration,
    /// Where each kernel came from.
    pub origins: Vec<Origin>,
    /// Allocating results, and assembling and checking sparse ones.
    pub assemble: Duration,
    /// Computing; each time that values were computed.
    pub compute: Vec<Duration>,
}

impl Outcome {
    /// A result, or an earlier value, by the name that stages have for it.
    pub fn value(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name).or_else(|| self.earlier.get(name))
    }
}

impl Session {
    /// A session; looks for a compiler when the first kernel asks for one.
    pub fn new(options: Options) -> Self {
        Self {
            inner: Arc::new(Inner {
                runtime: sparsec_runtime::Session::new(options.environment.clone()),
                plans: Plans::default(),
                converters: Converters::default(),
                pool: (options.threads > 0).then(|| Pool::new(options.threads)),
                options,
            }),
            cancel: Cancel::default(),
        }
    }

    /// The same session, whose work ends soon after `cancel` is set, from another thread, with
    /// `E0521`: planning, conversions, kernels, and waiting for a C compiler. Packing has no
    /// session: [`Cancel::watch`] ends it.
    ///
    /// ```
    /// use sparsec::{Cancel, Format, Session, Tensor, code};
    /// let a = Tensor::builder("csr", &[2, 3])?.push([0, 2], 1.0).build()?;
    /// let cancel = Cancel::default();
    /// let session = Session::interpreter();
    /// cancel.set();
    /// let refused = session.until(&cancel).convert(&a, &Format::csc()).unwrap_err();
    /// assert_eq!(refused.code(), code::CANCELLED);
    /// assert!(session.convert(&a, &Format::csc()).is_ok());
    /// # Ok::<(), sparsec::Error>(())
    /// ```
    pub fn until(&self, cancel: &Cancel) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            cancel: cancel.clone(),
        }
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// A session whose kernels are interpreted.
    pub fn interpreter() -> Self {
        Self::new(Options::new().backend(Backend::Interpreter))
    }

    /// The session of the functions that take none, such as
    /// [`evaluate`](crate::evaluate()) and [`Program::plan`](crate::Program::plan):
    /// one a process, with the [options that the environment asks for](Options::from_env).
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Session> = OnceLock::new();
        SHARED.get_or_init(|| Self::new(Options::from_env()))
    }

    /// Which engine runs kernels.
    pub fn backend(&self) -> Backend {
        self.inner.options.backend
    }

    /// How much memory results and workspaces may take.
    pub fn memory(&self) -> MemoryLimit {
        self.inner.options.memory
    }

    pub(crate) fn id(&self) -> SessionId {
        SessionId(Arc::downgrade(&self.inner))
    }

    pub(crate) fn plans(&self) -> &Plans {
        &self.inner.plans
    }

    pub(crate) fn converters(&self) -> &Converters {
        &self.inner.converters
    }

    /// Runs `work` on the threads of this session, until it ends or is cancelled.
    pub(crate) fn on_threads<R: Send>(&self, work: impl FnOnce() -> Result<R> + Send) -> Result<R> {
        self.watched(|| match &self.inner.pool {
            Some(pool) => pool.run(work),
            None => work(),
        })
    }

    /// Runs `work` until it is cancelled.
    pub(crate) fn watched<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        self.cancel.watch(work)?
    }

    /// The compiler and the cache that this session uses.
    #[doc(hidden)]
    pub fn runtime(&self) -> &sparsec_runtime::Session {
        &self.inner.runtime
    }

    /// Runs every statement on these inputs, which hold each tensor that the
    /// program reads and does not compute. Nothing is copied but operands that
    /// kernels read in another format.
    ///
    /// # Errors
    /// `E0021` for an input of another order, type, fill or extent than the program was
    /// compiled for; `E0314` for an input that is missing, `E0508` for a program that takes more
    /// memory than there is, the diagnostic of a
    /// conversion, a compile, or a kernel that gave up.
    #[doc(hidden)]
    pub fn run(&self, compiled: &Compiled, inputs: impl Borrow<Inputs>) -> Result<Outcome> {
        self.run_timed(compiled, inputs.borrow(), Repeats::default())
    }

    /// As [`Session::run`], with values computed as often as is said.
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub fn run_timed(
        &self,
        compiled: &Compiled,
        inputs: &Inputs,
        repeats: Repeats,
    ) -> Result<Outcome> {
        self.on_threads(|| self.outcome(compiled, inputs, repeats))
    }

    fn outcome(&self, compiled: &Compiled, inputs: &Inputs, repeats: Repeats) -> Result<Outcome> {
        let mut timings = Timings::default();
        let operands = operands(inputs);
        let extents = fitting::check_operands(compiled, &operands)?;
        let started = Instant::now();
        let kept = Kept::default();
        let bytes = ready::check(compiled, &extents, &operands, self)?;
        let ready = Ready::new(compiled, &operands, self, bytes)?;
        let run = Run::new(compiled, &extents, &ready, self, &kept)?;
        timings.convert += started.elapsed();
        let mut results = Vec::new();
        let mut kernels: Vec<Parts> = Vec::new();
        for (number, statement) in compiled.statements.iter().enumerate() {
            let first = compiled.computed_with(number);
            let parts = match kernels.get(first) {
                Some(parts) => parts.clone(),
                None => {
                    let started = Instant::now();
                    let parts = self.parts(&statement.function, repeats.apart)?;
                    timings.compile += started.elapsed();
                    timings.origins.extend(parts.origins());
                    parts
                }
            };
            let times = repeats.times;
            results.push(run.evaluate(number, &parts, &results, times, Some(&mut timings))?);
            kernels.push(parts);
        }
        timings.n_converted = run.n_converted();
        let named = compiled.named(results);
        Ok(Outcome {
            tensors: named.last,
            earlier: named.earlier,
            timings,
        })
    }

    /// Compares an outcome with the reference evaluator.
    ///
    /// # Errors
    /// `E0515` with the first entry that differs; `E0516` where there is more to visit than
    /// anybody waits for.
    #[doc(hidden)]
    pub fn check(&self, compiled: &Compiled, inputs: &Inputs, outcome: &Outcome) -> Result<()> {
        let program = &compiled.resolved;
        let mut known: BTreeMap<String, Cow<'_, Tensor>> = BTreeMap::new();
        for (_, data) in program.tensors.iter() {
            if let (TensorRole::Input, Some(given)) = (data.role, inputs.get(data.source_name())) {
                known.insert(data.name.clone(), Cow::Borrowed(given));
            }
        }
        for (number, statement) in program.statements.iter().enumerate() {
            let data = &program.tensors[statement.lhs.tensor];
            let expected = reference::evaluate_statement(program, number, &known)?;
            let Some(tensor) = outcome.value(&data.name) else {
                // Nobody reads it: it was computed inside of another statement.
                let computed = expected.to_tensor(&Format::csf(data.order()), self.packing())?;
                known.insert(data.name.clone(), Cow::Owned(computed));
                continue;
            };
            reference::refuse_to_compare(program, number, tensor)?;
            if let Some(difference) = reference::compare(&expected, tensor) {
                let name = data.source_name();
                return Err(Diagnostic::new(
                    code::WRONG_RESULT,
                    format!("`{name}` is not what the reference evaluator computes"),
                )
                .at(&program.source, statement.span, "computed here")
                .note(difference.to_string())
                .help(
                    "where operands store infinities, run with `Program::strict`; if it differs \
                     still, this is a fault of sparsec: please report it with the expression",
                ));
            }
            known.insert(data.name.clone(), Cow::Borrowed(tensor));
        }
        Ok(())
    }

    fn packing(&self) -> PackOptions {
        PackOptions {
            memory: self.memory(),
            ..PackOptions::default()
        }
    }

    /// The kernel of a function, or the two that assemble and compute, if they
    /// are asked for and can be had.
    pub(crate) fn parts(&self, function: &Function, apart: bool) -> Result<Parts> {
        let result = function
            .arguments
            .iter()
            .find(|argument| argument.role == Role::Out);
        let is_sparse = result.is_some_and(|argument| argument.buffers.len() > 1);
        let compute = (apart && is_sparse)
            .then(|| passes::slice_values(function))
            .flatten();
        Ok(match compute {
            Some(compute) => Parts::Apart {
                assemble: self.kernel(&passes::slice_structure(function))?,
                compute: self.kernel(&compute)?,
            },
            None => Parts::Whole(self.kernel(function)?),
        })
    }
}

impl Default for Session {
    fn default() -> Self {
        Self::new(Options::from_env())
    }
}
