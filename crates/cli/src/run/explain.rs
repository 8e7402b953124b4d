//! `--explain`: why each statement is computed as it is, and what came of it.

use std::time::Duration;

use serde_json::{Value, json};
use sparsec::{Compiled, Outcome};

use crate::table::duration;

/// What planning considered for each statement and estimated of it, beside what the
/// result has and what time went into it.
pub(super) fn text(compiled: &Compiled, outcome: &Outcome) -> String {
    let mut out = String::new();
    for (number, result) in compiled.results().into_iter().enumerate() {
        out.push('\n');
        out.push_str(&compiled.program().statement_text(number));
        out.push_str(&format!("\n{}", compiled.statements()[number].plan.account));
        if let Some(tensor) = outcome.value(result) {
            out.push_str(&format!(
                "actual      {} entries of {result}\n",
                tensor.n_filled()
            ));
        }
    }
    let spent = spent(outcome).map(|(what, time)| format!("{what} {}", duration(time)));
    out.push_str(&format!("actual      {}\n", spent.join(", ")));
    out
}

/// The same for programs to read.
pub(super) fn value(compiled: &Compiled, outcome: &Outcome) -> Value {
    let statements = compiled.results().into_iter().enumerate();
    let statements = statements.map(|(number, result)| {
        let account = &compiled.statements()[number].plan.account;
        let considered = account.considered.iter().map(|candidate| {
            json!({
                "commands": candidate.schedule.to_string(),
                "moves": candidate.cost.traffic,
                "repeated_walks": candidate.cost.repeated_walks,
                "workspace_modes": candidate.cost.workspace_modes,
                "strided": candidate.cost.strided,
            })
        });
        json!({
            "statement": compiled.program().statement_text(number),
            "considered": considered.collect::<Vec<_>>(),
            "estimated": { "points": account.points, "entries": account.entries },
            "actual": { "entries": outcome.value(result).map(|tensor| tensor.n_filled()) },
        })
    });
    let seconds = spent(outcome).map(|(what, time)| (what.to_owned(), json!(time.as_secs_f64())));
    json!({
        "statements": statements.collect::<Vec<_>>(),
        "seconds": seconds.into_iter().collect::<serde_json::Map<_, _>>(),
    })
}

/// Where the time of the kernels went.
fn spent(outcome: &Outcome) -> [(&'static str, Duration); 3] {
    let timings = &outcome.timings;
    let compute = timings.compute.iter().min().copied().unwrap_or_default();
    [
        ("convert", timings.convert),
        ("assemble", timings.assemble),
        ("compute", compute),
    ]
}
