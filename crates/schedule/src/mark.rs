//! `unroll`, `mergeby`, `prefetch` and `assemble`: how loops run and results are
//! put together. The statement stays as it is and gets a clause.
//!
//! What `mergeby(i, Gallop)` asks of formats, and `assemble(A, Insert)` of the
//! result's, is checked where formats are known (`sparsec_graph`).

use sparsec_base::Result;
use sparsec_index::concrete::Clause;
use sparsec_index::{Concrete, TensorRole, TensorVar};

use super::Name;
use super::apply::{illegal, unknown, var};

pub(super) fn apply(
    concrete: &Concrete,
    clause: &Clause<Name, Name>,
) -> Result<(Concrete, Clause)> {
    let mut marked = concrete.clone();
    let is_operand = matches!(clause, Clause::Prefetch { .. });
    let made = clause.try_map(
        &mut |name| var(concrete, name),
        &mut |name: &Name| match is_operand {
            true => used(concrete, name),
            false => result(concrete, name),
        },
    )?;
    // Said again, a mark takes the place of the one before.
    marked
        .clauses
        .retain(|known| !same_mark(&known.clause, &made));
    Ok((marked, made))
}

/// The result, which a clause names.
fn result(concrete: &Concrete, name: &Name) -> Result<TensorVar> {
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
}

/// An operand or the result, which a clause names.
fn used(concrete: &Concrete, name: &Name) -> Result<TensorVar> {
    let mut used = Vec::new();
    concrete.stmt.for_each_assign(&mut |lhs, _, rhs| {
        rhs.for_each_access(&mut |access| used.push(access.tensor));
        used.push(lhs.tensor);
    });
    used.retain(|tensor| concrete.tensors[*tensor].role != TensorRole::Workspace);
    let data = |tensor: &TensorVar| concrete.tensors[*tensor].name.as_str();
    let found = used.iter().find(|tensor| data(tensor) == name.word.text);
    let known = || used.iter().map(data);
    found
        .copied()
        .ok_or_else(|| unknown("tensor", name, known()))
}

fn same_mark(left: &Clause, right: &Clause) -> bool {
    match (left, right) {
        (Clause::Unroll { var: a, .. }, Clause::Unroll { var: b, .. })
        | (Clause::MergeBy { var: a, .. }, Clause::MergeBy { var: b, .. }) => a == b,
        (
            Clause::Prefetch {
                var: a, tensor: x, ..
            },
            Clause::Prefetch {
                var: b, tensor: y, ..
            },
        ) => (a, x) == (b, y),
        (Clause::Assemble { tensor: a, .. }, Clause::Assemble { tensor: b, .. }) => a == b,
        _ => false,
    }
}
