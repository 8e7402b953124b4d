//! `bound`: how far a loop runs, said and checked.
//!
//! ```text
//! bound(i, ib, 64, MaxExact)       the extent of i is 64
//! bound(i, ib, 64, MaxConstraint)  … at most 64
//! bound(i, ib, 0, MinExact)        the first coordinate is 0
//! ```
//!
//! What is said is checked, so that a bound never changes what is computed;
//! loops begin at 0.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::Concrete;
use sparsec_index::concrete::{BoundKind, Clause};

use super::Name;
use super::apply::{loop_to_derive, new_vars, replace_loops};

pub(super) fn apply(
    concrete: &Concrete,
    clause: &Clause<Name, Name>,
) -> Result<(Concrete, Clause)> {
    let Clause::Bound {
        var: name,
        bound: made,
        value,
        kind,
    } = clause
    else {
        unreachable!("only this bounds");
    };
    let var = loop_to_derive(concrete, name)?;
    let refuse = |message: String, help: String| {
        let error = Diagnostic::new(code::SCHEDULE_BOUND, message);
        let span = name.word.span.to(made.word.span);
        Err(error.at(&name.source, span, "this bound").help(help))
    };
    let extent = concrete.extent(var);
    let holds = match (kind, extent) {
        (BoundKind::MinExact, _) | (BoundKind::MinConstraint, _) => *value == 0,
        (BoundKind::MaxExact, Some(extent)) => extent == *value,
        (BoundKind::MaxConstraint, Some(extent)) => extent <= *value,
        (_, None) => {
            let message =
                format!("the extent of `{name}` is not known, so no bound can be checked");
            return refuse(
                message,
                format!("say it: `.extent(\"{name}\", …)`, or give the operands"),
            );
        }
    };
    if !holds {
        return match (kind, extent) {
            (BoundKind::MinExact | BoundKind::MinConstraint, _) | (_, None) => refuse(
                format!("`{name}` begins at 0, not at {value}"),
                format!("write `bound({name}, {made}, 0, {})`", kind.name()),
            ),
            (_, Some(extent)) => refuse(
                format!("`{name}` has extent {extent}, which breaks the bound of {value}"),
                format!("write `bound({name}, {made}, {extent}, {})`", kind.name()),
            ),
        };
    }
    let mut bounded = concrete.clone();
    let made = new_vars(&mut bounded, &[made])?;
    bounded.stmt = replace_loops(&concrete.stmt, var, &made);
    let clause = Clause::Bound {
        var,
        bound: made[0],
        value: *value,
        kind: *kind,
    };
    Ok((bounded, clause))
}
