//! Products of three tensors and more beside C by hand, one row each.
//!
//! ```text
//! integrals/medium    ours 1.4 s   planned in 20 ms   stated 410 MB   peak 402 MB
//!   nest       1045 s     746   bar 1000
//!   merges     29.2 s      21   bar 40
//!   …
//!   best                 0.41   bar 0.90
//! ```
//!
//! | row            | computes                                                    |
//! |----------------|-------------------------------------------------------------|
//! | `integrals/S`  | `E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)` on the molecule of size `S` |
//! | `mttkrp/N`     | `M(i,r) = T(i,j,k) * B(j,r) * D(k,r)`, `N` entries a fiber  |
//! | `triangles`    | `t = A(i,j) * A(j,k) * A(i,k)` of a graph of skewed degrees |
//!
//! Each form by hand is launched on the operands as they are stored, its result is compared
//! with ours, and both are timed in turns. A nest that would run for minutes computes some
//! matrices of the result, and its time is scaled. What is timed of ours is computing;
//! copies of operands stand apart, as a program makes them once.

mod cases;
mod integrals;
mod row;

use std::time::{Duration, Instant};

use sparsec::parallel::Pool;
use sparsec::runtime::Kernel;
use sparsec::{
    Array, Compiled, Diagnostic, ElementType, Request, Result, Session, Source, Stage, Tensor,
    code, codegen_c, compile, least_bytes,
};

use crate::by_hand;
use crate::clock;
use crate::pair::{difference, launch, median, result};
use cases::{Case, Form, case, chosen};

pub use row::{Beside, NetworkRow};

/// Forms by hand that take longer are timed once.
const LONG: Duration = Duration::from_secs(2);
/// How large the networks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// For tests.
    Tiny,
    /// Seconds.
    Small,
    /// Minutes.
    Full,
}

/// The settings of a measurement.
pub(crate) struct Setting<'a> {
    pub(crate) session: &'a Session,
    /// One thread.
    pub(crate) pool: &'a Pool,
    pub(crate) scale: Scale,
    pub(crate) rounds: usize,
}

/// Measures the networks of a scale, or those that `only` names.
///
/// # Errors
/// `E0004` for a name that there is not, `E0515` if a result differs from that by hand; those
/// of compiling and running.
pub(crate) fn measure(
    setting: &Setting<'_>,
    only: &[&str],
    print: &mut dyn FnMut(String) -> Result<()>,
) -> Result<Vec<NetworkRow>> {
    let mut rows = Vec::new();
    print(NetworkRow::heading().to_owned())?;
    for name in chosen(setting.scale, only)? {
        let case = case(&name, setting.scale)?;
        // Loops in chunks would run on all processors.
        let measured = || case.measure(setting.session, setting.rounds);
        let row = setting.pool.run(measured)?;
        print(row.text())?;
        rows.push(row);
    }
    Ok(rows)
}

impl Case {
    fn request(&self) -> Request {
        let mut request = Request::new(Source::new("expression", self.expression));
        let result = self.expression.split(['(', ' ']).next().unwrap_or_default();
        request.tensor(result).format = Some((&self.format).into());
        request
    }

    fn measure(&self, session: &Session, rounds: usize) -> Result<NetworkRow> {
        let started = Instant::now();
        let compiled = compile(&self.request(), &self.inputs)?;
        let planning = started.elapsed();
        // Kernels by hand take the arguments of a nest that reads operands as they are.
        let mut asked = self.request();
        asked.schedule = Some(Source::new("schedule", self.order));
        let nest = compile(&asked, &self.inputs)?;
        let function = &nest.statements()[0].function;
        let name = compiled.results()[0].to_owned();

        // The first run makes the kernel; the second one is watched.
        session.run(&compiled, &self.inputs)?;
        let (outcome, peak) = watched(|| session.run(&compiled, &self.inputs));
        let outcome = outcome?;
        let convert = outcome.timings.convert;
        let mut ours = vec![taken(&outcome.timings.compute)];
        let expected = &outcome.tensors[&name];
        let mut beside = Vec::new();
        for form in &self.forms {
            let kernel = self.compiled(session, function, *form)?;
            let mut output = result(&nest, &kernel)?;
            let run = |output: &mut _| launch(&kernel, &self.inputs, output, clock::time);
            let first = run(&mut output)?;
            let n = match form.slice {
                None => expected.vals().len(),
                Some(slice) => {
                    expected.vals().len() / expected.extents()[0] as usize * slice as usize
                }
            };
            let ours_values = expected
                .values::<f64>()
                .map(|all| Array::from_vec(all[..n].to_vec()));
            let values = output
                .entries_mut::<f64>(0)
                .map(|all| Array::from_vec(all[..n].to_vec()));
            if let (Some(a), Some(b)) = (&ours_values, &values)
                && let Some(differs) = difference(a, b)
            {
                let message = format!(
                    "`{}` and its form {} differ: {differs}",
                    self.name, form.name
                );
                return Err(Diagnostic::new(code::WRONG_RESULT, message)
                    .help("this is a fault of sparsec: please report it"));
            }
            let mut times = vec![first];
            let n_rounds = if first > LONG { 0 } else { rounds };
            for _ in 0..n_rounds {
                let run_ours = session.run(&compiled, &self.inputs)?;
                ours.push(taken(&run_ours.timings.compute));
                times.push(run(&mut output)?);
            }
            let part = form
                .slice
                .map_or(1.0, |slice| expected.extents()[0] as f64 / slice as f64);
            let time = median(times, Duration::cmp).mul_f64(part);
            beside.push((form, time));
        }
        let ours = median(ours, Duration::cmp);
        let beside = beside.into_iter().map(|(form, time)| Beside {
            name: form.name,
            time,
            ratio: time.as_secs_f64() / ours.as_secs_f64(),
            bar: form.bar,
        });
        Ok(NetworkRow {
            name: self.name.clone(),
            tree: compiled.emit(&Stage::Tree)?,
            ours,
            convert,
            planning,
            stated: stated(&compiled, expected),
            peak,
            beside: beside.collect(),
            bar: self.bar,
        })
    }

    fn compiled(
        &self,
        session: &Session,
        function: &sparsec::Function,
        form: Form,
    ) -> Result<Kernel> {
        let prelude = codegen_c::emit_file(&[], &codegen_c::Options::default());
        let slice = form.slice.unwrap_or(i32::MAX as u64);
        let text = format!(
            "{prelude}\n#define FORM {}\n#define SLICE {slice}\n{}",
            form.function, self.by_hand
        );
        by_hand::compile(session, function, &text, "by_hand")
    }
}

fn taken(rounds: &[Duration]) -> Duration {
    rounds.iter().min().copied().unwrap_or_default()
}

/// Bytes of the result and of the copies of operands that a plan has.
fn stated(compiled: &Compiled, result: &Tensor) -> u64 {
    let plan = &compiled.statements()[0].plan;
    let copies = plan
        .conversions
        .iter()
        .filter(|it| it.view.is_none())
        .map(|copy| {
            let extents = &plan.concrete.tensors[copy.to].extents;
            let extents: Vec<u64> = extents.iter().map(|extent| extent.unwrap_or(0)).collect();
            least_bytes(&copy.format, &extents, ElementType::F64) as u64
        });
    copies.sum::<u64>() + result.bytes() as u64
}

/// The result of `work`, and how many bytes the process took at most beyond those before.
/// 0 where the system does not say.
fn watched<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let field = |name: &str| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) << 10
    };
    // The peak is forgotten; where it cannot be, it is an upper bound.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = field("VmRSS:");
    let done = work();
    (done, field("VmHWM:").saturating_sub(before))
}
