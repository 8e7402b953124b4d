//! `parallelize`: iterations of a loop may run at once.
//!
//! Whether one iteration disturbs another is decided here, assignment by
//! assignment of what outlives an iteration:
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)
//!
//!   parallelize(i, CPUThread, NoRaces)     iterations write different y(i)
//!   parallelize(j, CPUThread, NoRaces)     refused: all write the same y(i)
//!   parallelize(j, CPUThread, Atomics)     they combine, and may do so at once
//! ```
//!
//! An iteration writes entries of its own if the left side has every variable
//! that the loop's is derived from: of a sum `d = i + l` both, as one `i` comes at
//! several `d`. Where it does not, values have to be
//! combined by an operator that does not care for the order, and a strategy has
//! to say how: `Atomics` and `Temporary` combine into arrays,
//! `ParallelReduction` into one entry that no loop inside chooses.
//!
//! Whether the loop can be divided among units at all depends on formats, and
//! is checked where they are known (`sparsec_graph`).

use sparsec_base::mark::Races;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::concrete::Clause;
use sparsec_index::{Access, Concrete, IndexVar, Operator, Stmt, TensorRole, TensorVar};

use super::Name;
use super::apply::var;

pub(super) fn apply(
    concrete: &Concrete,
    clause: &Clause<Name, Name>,
) -> Result<(Concrete, Clause)> {
    let Clause::Parallelize {
        var: name,
        unit,
        races,
    } = clause
    else {
        unreachable!("only this parallelizes");
    };
    let var = var(concrete, name)?;
    let mut race = None;
    concrete.stmt.for_each(&mut |stmt| {
        if let Stmt::Forall { var: known, body } = stmt
            && *known == var
            && race.is_none()
        {
            race = first_race(concrete, var, body, *races);
        }
    });
    if let Some(race) = race {
        return Err(diagnostic(concrete, name, *races, &race));
    }
    let mut marked = concrete.clone();
    marked.clauses.retain(
        |known| !matches!(known.clause, Clause::Parallelize { var: known, .. } if known == var),
    );
    let clause = Clause::Parallelize {
        var,
        unit: *unit,
        races: *races,
    };
    Ok((marked, clause))
}

/// An assignment by which iterations disturb one another.
struct Race {
    lhs: Access,
    reduce: Option<Operator>,
    /// Whether a loop inside the parallel one chooses the entry.
    is_array: bool,
}

/// The first assignment in `body` by which iterations over `var` disturb one
/// another, whatever `races` does about it.
fn first_race(concrete: &Concrete, var: IndexVar, body: &Stmt, races: Races) -> Option<Race> {
    let own = temporaries(body);
    let mut found = None;
    body.for_each_assign(&mut |lhs, reduce, _| {
        let is_own = own.contains(&lhs.tensor);
        if found.is_some() || is_own || concrete.tells_apart(lhs, var) {
            return;
        }
        let inside = body.loops();
        let chosen = concrete.bound_in(&inside);
        let is_array = chosen.iter().any(|var| lhs.uses(*var));
        let combines = reduce.is_some_and(combines_in_any_order);
        let is_handled = combines
            && match races {
                Races::NoRaces | Races::IgnoreRaces => false,
                Races::Atomics | Races::Temporary => true,
                Races::ParallelReduction => !is_array,
            };
        if !is_handled {
            found = Some(Race {
                lhs: lhs.clone(),
                reduce: reduce.cloned(),
                is_array,
            });
        }
    });
    found
}

/// Whether threads may combine with an operator in whatever order they come: it
/// gives the same, up to rounding, and is one operation of the machine.
pub(super) fn combines_in_any_order(op: &Operator) -> bool {
    op.is_associative() && op.is_commutative() && !matches!(op, Operator::Defined(_))
}

/// The temporaries that `stmt` makes and reads itself: each iteration has its own.
pub(super) fn temporaries(stmt: &Stmt) -> Vec<TensorVar> {
    let mut found = Vec::new();
    stmt.for_each(&mut |part| {
        if let Stmt::Where { producer, .. } = part {
            producer.for_each_assign(&mut |lhs, _, _| found.push(lhs.tensor));
        }
    });
    found
}

fn diagnostic(concrete: &Concrete, name: &Name, races: Races, race: &Race) -> Diagnostic {
    let left = concrete.expr_text(&sparsec_index::expr::Expr::Access(race.lhs.clone()));
    let what = match concrete.tensors[race.lhs.tensor].role {
        TensorRole::Workspace => "the workspace entry",
        _ => "the entry",
    };
    let message = format!("iterations over `{name}` write {what} `{left}` at once");
    let error = Diagnostic::new(code::SCHEDULE_RACE, message)
        .at(&name.source, name.word.span, "iterations of this loop")
        .note(format!("the statement is\n{concrete}"));
    let combines = race.reduce.as_ref().is_some_and(combines_in_any_order);
    match (combines, races) {
        (true, Races::ParallelReduction) if race.is_array => {
            error.help("choose `Atomics` or `Temporary`, which combine into arrays")
        }
        (true, _) if race.is_array => error.help("choose `Atomics` or `Temporary`"),
        (true, _) => error.help("choose `Atomics`, `Temporary` or `ParallelReduction`"),
        (false, _) => error.help("parallelize a loop that the left side names"),
    }
}
