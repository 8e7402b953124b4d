//! `unroll`, `mergeby` and `assemble`: how loops run and results are put
//! together. The statement stays as it is and gets a clause.
//!
//! What `mergeby(i, Gallop)` asks of formats, and `assemble(A, Insert)` of the
//! result's, is checked where formats are known (`sparsec_graph`).

use sparsec_base::Result;

use super::Name;
use super::apply::{illegal, unknown, var};
use crate::concrete::{Clause, Concrete};

pub(super) fn apply(
    concrete: &Concrete,
    clause: &Clause<Name, Name>,
) -> Result<(Concrete, Clause)> {
    let mut marked = concrete.clone();
    let made = clause.try_map(&mut |name| var(concrete, name), &mut |name: &Name| {
        let result = concrete.result;
        if concrete.tensors[result].name == name.word.text {
            return Ok(result);
        }
        if concrete.tensor(&name.word.text).is_some() {
            let message = format!("`{name}` is not the result of the statement");
            return Err(illegal(name, name.word.span, message, "is not assembled")
                .help(format!("write `{}`", concrete.tensors[result].name)));
        }
        Err(unknown(
            "result",
            name,
            [concrete.tensors[result].name.as_str()],
        ))
    })?;
    // Said again, a mark takes the place of the one before.
    marked
        .clauses
        .retain(|known| !same_mark(&known.clause, &made));
    Ok((marked, made))
}

fn same_mark(left: &Clause, right: &Clause) -> bool {
    match (left, right) {
        (Clause::Unroll { var: a, .. }, Clause::Unroll { var: b, .. })
        | (Clause::MergeBy { var: a, .. }, Clause::MergeBy { var: b, .. }) => a == b,
        (Clause::Assemble { tensor: a, .. }, Clause::Assemble { tensor: b, .. }) => a == b,
        _ => false,
    }
}
