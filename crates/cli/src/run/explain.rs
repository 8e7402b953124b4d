//! `--explain`: why each statement is computed as it is, and what came of it.
//!
//! ```text
//! C(i,j) = A(i,k) * B(k,j)
//! The planner chose the cheapest of 9 candidates: reorder(i, k, j), precompute(…).
//! It estimates that the kernel computes 9000 points and stores 8600 entries of the result.
//! C has 8571 entries, where 8600 were estimated.
//!
//! On the way it computes:
//!   t0(K,b,i) = I(K,a,b) * C(a,i)  ; 323000 entries estimated, 323225 counted
//!
//! Converting took 0 µs, assembling 12.0 µs, and computing 31.0 µs: 3.4 ns for each point.
//! ```

use serde_json::{Value, json};
use sparsec::internals::account::{Account, Assumed, count};
use sparsec::internals::parallel::Bytes;
use sparsec::internals::{Compiled, Inputs, Intermediate, Outcome};
use sparsec::{MemoryLimit, Result, Session};

use crate::notes::WORTH_SAYING;
use crate::table::duration;

/// Bytes that an intermediate may take to be counted where `--memory` states no limit.
const COUNTED: u64 = 2 << 30;

/// The intermediates of each statement with their entries, counted apart from the run.
///
/// # Errors
/// Those of computing them.
pub(super) fn intermediates(
    session: &Session,
    compiled: &Compiled,
    inputs: &Inputs,
) -> Result<Vec<Vec<Intermediate>>> {
    let bytes = match session.memory() {
        MemoryLimit::Bytes(bytes) => bytes,
        _ => COUNTED,
    };
    let numbers = 0..compiled.statements().len();
    numbers
        .map(|number| compiled.intermediates(session, number, inputs, bytes))
        .collect()
}

/// What planning considered for each statement and estimated of it, beside what the
/// result has and what time went into it.
pub(super) fn text(
    compiled: &Compiled,
    outcome: &Outcome,
    intermediates: &[Vec<Intermediate>],
) -> String {
    let mut out = String::new();
    let mut points = 0.0;
    for (number, result) in compiled.results().into_iter().enumerate() {
        let account = &compiled.statements()[number].plan.account;
        points += account.points;
        let statement = compiled.program().statement_text(number);
        out.push_str(&format!("\n{statement}\n{account}"));
        if let Some(tensor) = outcome.value(result) {
            let n = tensor.n_filled();
            let noun = if n == 1 { "entry" } else { "entries" };
            let estimated = count(account.entries);
            let verb = if estimated == "1" { "was" } else { "were" };
            out.push_str(&format!(
                "{result} has {n} {noun}, where {estimated} {verb} estimated.\n"
            ));
        }
        out.push_str(&multiplied(&intermediates[number]));
    }
    let timings = &outcome.timings;
    let [convert, assemble, compute] = spent(outcome).map(|(_, seconds)| seconds);
    let is_apart = timings.assemble > std::time::Duration::ZERO;
    let time = |seconds: f64| duration(std::time::Duration::from_secs_f64(seconds));
    let kernels = match is_apart {
        true => format!(
            "assembling {}, and computing {}",
            time(assemble),
            time(compute)
        ),
        false => format!("and assembling and computing {}", time(compute)),
    };
    out.push_str(&format!("\nConverting took {}, {kernels}", time(convert)));
    out.push_str(&match points >= 1.0 {
        true => format!(
            ": {:.1} ns for each estimated point.\n",
            compute * 1e9 / points
        ),
        false => ".\n".to_owned(),
    });
    let memory = compiled.least_memory();
    if memory >= WORTH_SAYING.into() {
        out.push_str(&format!(
            "Results, workspaces and copies of operands take {}, and what they store.\n",
            Bytes(memory)
        ));
    }
    out
}

/// The contractions that lead to a result.
fn multiplied(intermediates: &[Intermediate]) -> String {
    let mut out = String::new();
    if !intermediates.is_empty() {
        out.push_str("On the way it computes:\n");
    }
    for one in intermediates {
        let counted = match one.counted {
            Some(counted) => format!("{counted} counted"),
            None => "too large to be counted".to_owned(),
        };
        let estimated = count(one.estimated);
        out.push_str(&format!(
            "  {}  ; {estimated} entries estimated, {counted}\n",
            one.text
        ));
    }
    out
}

/// The same for programs to read.
pub(super) fn value(
    compiled: &Compiled,
    outcome: &Outcome,
    intermediates: &[Vec<Intermediate>],
) -> Value {
    let statements = compiled.results().into_iter().enumerate();
    let statements = statements.map(|(number, result)| {
        let account = &compiled.statements()[number].plan.account;
        let chosen = account.considered.first().map(|chosen| chosen.cost);
        let considered = account.considered.iter().take(Account::SHOWN).enumerate();
        let considered = considered.map(|(at, candidate)| {
            let against = chosen
                .filter(|_| at > 0)
                .map(|chosen| candidate.against(chosen));
            json!({
                "commands": candidate.schedule.to_string(),
                "nanoseconds": candidate.cost.nanoseconds(),
                "steps": candidate.cost.steps,
                "traffic": candidate.cost.traffic,
                "conversions": candidate.cost.conversions,
                "launches": candidate.cost.launches,
                "rejected": against,
            })
        });
        let assumed = &account.assumed;
        json!({
            "statement": compiled.program().statement_text(number),
            "considered": considered.collect::<Vec<_>>(),
            "n_candidates": account.n_looked,
            "ended_at_limit": account.ran_out,
            "estimated": { "points": account.points, "entries": account.entries },
            "assumed": {
                "extent": Assumed::EXTENT,
                "extents": assumed.extents,
                "entries_for_each_first_coordinate": Assumed::FIBER,
                "counts": assumed.counts,
            },
            "intermediates": intermediates[number].iter().map(|one| json!({
                "contraction": one.text,
                "estimated": one.estimated,
                "counted": one.counted,
            })).collect::<Vec<_>>(),
            "actual": { "entries": outcome.value(result).map(|tensor| tensor.n_filled()) },
        })
    });
    let seconds = spent(outcome).map(|(name, seconds)| (name.to_owned(), json!(seconds)));
    json!({
        "statements": statements.collect::<Vec<_>>(),
        "least_memory": u64::try_from(compiled.least_memory()).ok(),
        "seconds": seconds.into_iter().collect::<serde_json::Map<_, _>>(),
    })
}

/// Where the time of the kernels went, in seconds.
fn spent(outcome: &Outcome) -> [(&'static str, f64); 3] {
    let timings = &outcome.timings;
    let compute = timings.compute.iter().min().copied().unwrap_or_default();
    [
        ("convert", timings.convert.as_secs_f64()),
        ("assemble", timings.assemble.as_secs_f64()),
        ("compute", compute.as_secs_f64()),
    ]
}
