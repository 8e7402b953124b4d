//! Whether a program ends before anybody has lost patience, as far as can be told
//! before it runs.
//!
//! Loops over stored entries are as long as there are entries, and those are in
//! memory. Loops over extents are not: `s = sum{i}(i)` over 2^60 coordinates takes
//! years. What such loops do for sure is counted ([`most_work`]).

use std::collections::BTreeSet;

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::TensorRole;
use sparsec_loop::{Buffer, Var, Work, most_work};

use crate::compiled::{Compiled, CompiledStatement};
use crate::extents::Extents;
use crate::memory::argument_extent;
use crate::request::Operands;

/// The most that a loop may run: days, at a billion a second.
const MOST_RUNS: u128 = 1 << 48;

/// Refuses a program with loops that do not end.
///
/// # Errors
/// `E0517`.
pub(crate) fn check(compiled: &Compiled, extents: &Extents, given: &Operands<'_>) -> Result<()> {
    // No loops visit more than every coordinate of all index variables.
    let all = extents.iter().map(|(_, extent)| extent.unwrap_or(1));
    let all = all.fold(1, |all: u128, extent| {
        all.saturating_mul(extent.max(1).into())
    });
    if all <= MOST_RUNS {
        return Ok(());
    }
    for (number, statement) in compiled.statements.iter().enumerate() {
        let tensors = &statement.plan.concrete.tensors;
        let stores_nothing = |name: &str| {
            let data = tensors.named(name);
            let input = data.map(|id| &tensors[id]);
            let input = input.filter(|data| data.role == TensorRole::Input);
            let tensor = input.and_then(|data| given.get(data.source_name()));
            tensor.is_some_and(|tensor| tensor.n_stored() == 0)
        };
        let arguments = statement.untiled.arguments.iter();
        let empty = arguments.filter(|argument| stores_nothing(&argument.name));
        let empty: BTreeSet<Buffer> = empty.flat_map(|it| it.buffers.iter().copied()).collect();
        let work = most_work(
            &statement.untiled,
            &|var| argument_extent(compiled, number, extents, var),
            &|buffer| empty.contains(&buffer),
        );
        if work.runs > MOST_RUNS {
            return Err(too_much(compiled, number, &work));
        }
    }
    Ok(())
}

fn too_much(compiled: &Compiled, number: usize, work: &Work) -> Diagnostic {
    let statement = &compiled.statements[number];
    let program = &compiled.program;
    let data = &program.tensors[program.statements[number].lhs.tensor];
    let runs: Vec<String> = work
        .loops
        .iter()
        .map(|(_, runs)| runs.to_string())
        .collect();
    let names = work.loops.iter();
    let names = names.map(|(var, _)| format!("`{}`", name_of(statement, *var)));
    let message = format!(
        "`{}` would take about {:.0e} steps, which nobody waits for",
        data.source_name(),
        work.runs as f64
    );
    let label = format!(
        "visits every coordinate of {}: {}",
        names.collect::<Vec<_>>().join(", "),
        runs.join(" x ")
    );
    Diagnostic::new(code::TOO_MUCH_WORK, message)
        .at(&program.source, program.statements[number].span, label)
        .help(
            "compute from what is stored: operands in formats with compressed levels, \
             reductions of stored entries (`stored_sum{i}(…)`), or a part (`A(i(0:1000), j)`)",
        )
}

/// The index variable of a loop: kernels number those that stand in several loops.
fn name_of(statement: &CompiledStatement, var: Var) -> &str {
    let name = &statement.untiled.vars[var].name;
    let is_known = |name: &str| statement.plan.concrete.vars.named(name).is_some();
    match name.rsplit_once('_') {
        Some((base, _)) if !is_known(name) && is_known(base) => base,
        _ => name,
    }
}
