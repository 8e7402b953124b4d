//! `pos`: a loop over the positions of an operand instead of coordinates.
//!
//! ```text
//! forall i: forall j: y(i) += A(i,j) * x(j)
//!
//!   fuse(i, j, f); pos(f, p, A(i,j)); split(p, p0, p1, 1024)
//!
//! forall p0: forall p1: y(i) += A(i,j) * x(j)
//! suchthat(fuse(i, j, f), pos(f, p, A(i,j)), split(p, p0, p1, 1024))
//! ```
//!
//! Blocks of positions hold equally many entries, however they are spread over
//! rows. The loop misses coordinates at which `A` stores nothing; that this
//! changes nothing is checked where formats are known (`sparsec_graph`).

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::concrete::Clause;
use sparsec_index::{Concrete, IndexVar, TensorRole};

use super::Name;
use super::apply::{as_read, illegal, loop_to_derive, new_vars, replace_loops, unknown};

pub(super) fn apply(
    concrete: &Concrete,
    clause: &Clause<Name, Name>,
) -> Result<(Concrete, Clause)> {
    let Clause::Pos {
        var: name,
        pos,
        tensor,
        indices,
    } = clause
    else {
        unreachable!("only this goes over positions");
    };
    let var = loop_to_derive(concrete, name)?;
    let mut known = Vec::new();
    concrete.stmt.for_each_assign(&mut |_, _, rhs| {
        for access in rhs.accesses() {
            known.push(access);
        }
    });
    let names = |id: sparsec_index::program::TensorVar| concrete.tensors[id].name.as_str();
    let Some(read) = known
        .iter()
        .find(|access| names(access.tensor) == tensor.word.text)
    else {
        let all = known.iter().map(|access| names(access.tensor));
        return Err(unknown("operand", tensor, all));
    };
    let read = read.tensor;
    if concrete.tensors[read].role == TensorRole::Workspace {
        let message = format!("`{tensor}` is a workspace, which has no positions to go over");
        let error = illegal(tensor, tensor.word.span, message, "a workspace");
        return Err(error.help("take the positions of an operand before it is precomputed"));
    }
    let text = |vars: &[IndexVar]| -> Vec<&str> {
        vars.iter()
            .map(|var| concrete.vars[*var].name.as_str())
            .collect()
    };
    let wanted: Vec<&str> = indices.iter().map(|name| name.word.text.as_str()).collect();
    let mut meant: Vec<Vec<IndexVar>> = Vec::new();
    for access in known.iter().filter(|access| access.tensor == read) {
        let Some(vars) = access.plain_vars() else {
            continue;
        };
        if (wanted.is_empty() || text(&vars) == wanted) && !meant.contains(&vars) {
            meant.push(vars);
        }
    }
    let refused = |message: String, label: &str| {
        let span = indices
            .last()
            .map_or(tensor.word.span, |last| tensor.word.span.to(last.word.span));
        Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, message)
            .at(&tensor.source, span, label)
            .help(as_read(concrete, &tensor.word.text))
    };
    if meant.len() > 1 {
        let message = format!("`{tensor}` is read with several lists of indices");
        return Err(refused(message, "which one?"));
    }
    let Some(vars) = meant.pop() else {
        let message = format!("`{tensor}` is not read with these indices");
        return Err(refused(message, "no such access"));
    };
    let originals = concrete.originals(var);
    if let Some(missing) = originals.iter().find(|var| !vars.contains(var)) {
        let message = format!(
            "`{tensor}` is not indexed by `{}`, which the loop over `{name}` binds",
            concrete.vars[*missing].name
        );
        let error = illegal(tensor, tensor.word.span, message, "has no such positions");
        return Err(error.help(format!("name an operand that `{name}` walks")));
    }
    let is_direct = originals == [var]
        || matches!(concrete.made_by(var), Some(Clause::Fuse { .. })) && fuses_loops(concrete, var);
    if !is_direct {
        let message =
            format!("`{name}` is a block, or within one, and has no positions of its own");
        return Err(illegal(name, name.word.span, message, "derived by a split")
            .help("take positions first and split them: `pos(j, p, …); split(p, p0, p1, 32)`"));
    }
    let mut over = concrete.clone();
    let made = new_vars(&mut over, &[pos])?;
    over.stmt = replace_loops(&concrete.stmt, var, &made);
    let clause = Clause::Pos {
        var,
        pos: made[0],
        tensor: read,
        indices: vars,
    };
    Ok((over, clause))
}

/// Whether `var` is made by fusing loops over variables of accesses.
fn fuses_loops(concrete: &Concrete, var: IndexVar) -> bool {
    match concrete.made_by(var) {
        None => true,
        Some(Clause::Fuse { outer, inner, .. }) => {
            fuses_loops(concrete, *outer) && fuses_loops(concrete, *inner)
        }
        Some(_) => false,
    }
}
