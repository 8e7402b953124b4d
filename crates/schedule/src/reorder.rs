//! `reorder`: loops that are directly inside one another change places.
//!
//! ```text
//! forall i: forall j: forall k: …    reorder(k, i)    forall k: forall j: forall i: …
//! ```
//!
//! Loops that are not named stay where they are.

use sparsec_base::Result;
use sparsec_index::{Concrete, IndexVar, Stmt};

use super::Name;
use super::apply::{distinct_vars, illegal};

pub(super) fn apply(concrete: &Concrete, names: &[Name]) -> Result<Concrete> {
    let wanted = distinct_vars(concrete, names)?;
    let [first, .., last] = names else {
        return Ok(concrete.clone());
    };
    let mut met = false;
    let mut done = false;
    let stmt = map_nests(&concrete.stmt, &mut |vars| {
        if done || !wanted.iter().all(|var| vars.contains(var)) {
            return None;
        }
        met = true;
        // The named loops change places among themselves; others stay.
        let mut order = wanted.iter();
        let exchanged = vars.iter().map(|var| match wanted.contains(var) {
            true => order.next().unwrap_or(var),
            false => var,
        });
        let exchanged: Vec<IndexVar> = exchanged.copied().collect();
        done = exchanged != vars;
        Some(exchanged)
    });
    if !met {
        let span = first.word.span.to(last.word.span);
        let message = "these loops are not directly inside one another";
        return Err(illegal(first, span, message, "not in one nest")
            .note(format!("the statement is\n{concrete}"))
            .help("reorder them before a `where` comes between"));
    }
    Ok(Concrete {
        stmt,
        ..concrete.clone()
    })
}

/// The statement with the loops of each nest as `map` wants them, from the
/// outside in.
pub(super) fn map_nests(
    stmt: &Stmt,
    map: &mut dyn FnMut(&[IndexVar]) -> Option<Vec<IndexVar>>,
) -> Stmt {
    let (vars, inner) = stmt.nest();
    let order = map(&vars).unwrap_or(vars);
    let inner = match inner {
        Stmt::Where { consumer, producer } => Stmt::Where {
            consumer: Box::new(map_nests(consumer, map)),
            producer: Box::new(map_nests(producer, map)),
        },
        Stmt::Sequence(parts) => {
            Stmt::Sequence(parts.iter().map(|part| map_nests(part, map)).collect())
        }
        Stmt::Assign { .. } | Stmt::Forall { .. } => inner.clone(),
    };
    inner.in_loops(&order)
}
