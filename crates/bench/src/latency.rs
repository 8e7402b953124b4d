//! From an expression to its first result.
//!
//! A small SpMV, so that what is timed is everything but the loops: parsing,
//! planning, lowering, the C compiler or the disk cache, loading, launching.
//! Each round begins a new session, as a new process would, but in a process
//! that is loaded already.
//!
//! | cache  | holds before the round                    | the kernel is             |
//! |--------|-------------------------------------------|---------------------------|
//! | `none` | what is known of the compiler, no kernel  | made in memory            |
//! | `cold` | the same                                  | compiled                  |
//! | `warm` | the kernel as well                        | loaded                    |
//!
//! And of a kernel that a program of the library holds, a call: `held`.

use std::time::{Duration, Instant};

use sparsec::internals::runtime::{Environment, Origin};
use sparsec::internals::{Inputs, Request, compile};
use sparsec::{Backend, Diagnostic, Program, Result, Session, Source, code};

use crate::Size;
use crate::case::{CASES, Pattern, Sizes};
use crate::data::Data;
use crate::pair::median;

/// The time of a first result, and of its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// `none`, `cold`, `warm` or `held`.
    pub cache: &'static str,
    /// From the expression to loops.
    pub plan: Duration,
    /// From loops to a loaded kernel, finding the compiler included.
    pub kernel: Duration,
    /// All, the launch and the checked result included.
    pub all: Duration,
    /// What `all` has to stay below.
    pub bar: Duration,
}

/// What a first result from each cache may take.
const NONE: Duration = Duration::from_millis(5);
const COLD: Duration = Duration::from_millis(80);
const WARM: Duration = Duration::from_millis(5);
const HELD: Duration = Duration::from_micros(5);
/// So many calls are timed at once.
const CALLS: u32 = 100;

/// Measures this many rounds from each cache, which is in a directory of its own.
///
/// # Errors
/// `E0503` if no directory can be made or emptied; those of compiling.
pub fn measure(rounds: usize) -> Result<Vec<Latency>> {
    let unusable = |error: std::io::Error| {
        Diagnostic::new(
            code::CACHE_UNUSABLE,
            format!("there is no directory for a cache: {error}"),
        )
        .help("see to the directory that TMPDIR names")
    };
    let folder = tempfile::tempdir().map_err(unusable)?;
    let environment = Environment {
        cache_dir: Some(folder.path().to_owned()),
        ..Environment::of_process()
    };
    let inputs = small()?;
    // Probes the compiler and makes the first kernel.
    first_result(&environment, Backend::C, &inputs)?;
    let kernels = folder.path().join("kernels");
    let (mut none, mut cold) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        for (backend, rounds) in [(Backend::Auto, &mut none), (Backend::C, &mut cold)] {
            // What is compiled behind the first result may be there or not.
            match std::fs::remove_dir_all(&kernels) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(unusable(error));
                }
                _ => rounds.push(first_result(&environment, backend, &inputs)?),
            }
        }
    }
    let warm = (0..rounds.max(1)).map(|_| first_result(&environment, Backend::Auto, &inputs));
    let warm: Vec<Round> = warm.collect::<Result<_>>()?;
    Ok(vec![
        summary("none", NONE, Origin::Generated, &none),
        summary("cold", COLD, Origin::Compiled, &cold),
        summary("warm", WARM, Origin::Cached, &warm),
        held(&environment, &inputs, rounds)?,
    ])
}

/// A call of a kernel that was called before.
fn held(environment: &Environment, inputs: &Inputs, rounds: usize) -> Result<Latency> {
    let session = Session::new(
        sparsec::Options::from_env()
            .backend(Backend::C)
            .environment(environment.clone()),
    );
    let mut program = Program::parse(CASES[0].expression)?;
    for (name, tensor) in inputs {
        program = program.like(name, tensor)?;
    }
    let mut binding = session.plan(&program)?.binding();
    for (name, tensor) in inputs {
        binding = binding.bind(name, tensor)?;
    }
    binding.evaluate()?;
    let calls = (0..rounds.max(1)).map(|_| {
        let started = Instant::now();
        (0..CALLS).try_for_each(|_| binding.evaluate().map(drop))?;
        Ok(started.elapsed() / CALLS)
    });
    let calls: Vec<Duration> = calls.collect::<Result<_>>()?;
    Ok(Latency {
        cache: "held",
        plan: Duration::ZERO,
        kernel: Duration::ZERO,
        all: median(calls, Duration::cmp),
        bar: HELD,
    })
}

/// One first result.
#[derive(Clone, Debug)]
struct Round {
    plan: Duration,
    kernel: Duration,
    all: Duration,
    origins: Vec<Origin>,
}

fn first_result(environment: &Environment, backend: Backend, inputs: &Inputs) -> Result<Round> {
    let inputs = inputs.clone();
    let started = Instant::now();
    let session = Session::new(
        sparsec::Options::from_env()
            .backend(backend)
            .environment(environment.clone()),
    );
    let request = Request::new(Source::new("expression", CASES[0].expression));
    let compiled = compile(&request, &inputs)?;
    let plan = started.elapsed();
    let outcome = session.run(&compiled, inputs)?;
    Ok(Round {
        plan,
        kernel: outcome.timings.compile,
        all: started.elapsed(),
        origins: outcome.timings.origins,
    })
}

fn summary(cache: &'static str, bar: Duration, origin: Origin, rounds: &[Round]) -> Latency {
    assert!(
        rounds.iter().all(|round| round.origins == [origin]),
        "a {cache} cache gives kernels that are {origin:?}"
    );
    let middle =
        |part: fn(&Round) -> Duration| median(rounds.iter().map(part).collect(), Duration::cmp);
    Latency {
        cache,
        plan: middle(|round| round.plan),
        kernel: middle(|round| round.kernel),
        all: middle(|round| round.all),
        bar,
    }
}

/// The operands of a small SpMV.
fn small() -> Result<Inputs> {
    let sizes = Sizes {
        rows: 100,
        ..Size::Small.sizes()
    };
    CASES[0].inputs(&Data::generated(&sizes, Pattern::Band))
}
