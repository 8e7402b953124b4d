//! `store`: how a temporary is kept, and in which loop it lives.
//!
//! ```text
//! forall i: where(                   where(
//!   forall j: C(i,j) = w(j),           forall i: forall j: C(i,j) = w(i,j),
//!   forall k: forall j: w(j) += …)     forall i: forall k: forall j: w(i,j) += …)
//!
//!   store(w, hashed, i)                store(w, hashed, root)
//! ```
//!
//! A temporary lives in the loop directly around its `where`: each iteration begins
//! with a fresh one. It gets out of a loop as by `fission`, with a mode for it, and
//! into one as by `loopfuse`. `root` is around all loops.

use sparsec_base::Result;
use sparsec_index::{Concrete, IndexVar, Stmt, TensorRole, TensorVar, WorkspaceKind};
use sparsec_notation::Word;

use super::Name;
use super::apply::{illegal, unknown, var};
use super::fission::{fission, loopfuse};

/// The word for the place around all loops.
const ROOT: &str = "root";

pub(super) fn apply(
    concrete: &Concrete,
    name: &Name,
    kind: WorkspaceKind,
    place: Option<&Name>,
) -> Result<Concrete> {
    let mut made = Vec::new();
    concrete
        .stmt
        .for_each_assign(&mut |lhs, _, _| made.push(lhs.tensor));
    // Commands may have left the temporaries of a statement before out.
    made.sort();
    made.dedup();
    let is_workspace = |tensor: &TensorVar| concrete.tensors[*tensor].role == TensorRole::Workspace;
    made.retain(is_workspace);
    let name_of = |tensor: &TensorVar| concrete.tensors[*tensor].name.as_str();
    let found = made.iter().find(|tensor| name_of(tensor) == name.word.text);
    let Some(&tensor) = found else {
        let known = made.iter().map(name_of);
        return Err(unknown("temporary", name, known));
    };
    let mut stored = match place {
        Some(place) => moved(concrete, tensor, name, place)?,
        None => concrete.clone(),
    };
    if stored.tensors[tensor].extents.is_empty() {
        if kind != WorkspaceKind::Dense {
            let message = format!("`{name}` is one value there, which has no list");
            let error = illegal(name, name.word.span, message, "kept in a variable");
            return Err(error.help(format!("write `store({name}, dense, …)`")));
        }
        stored.kinds.remove(&tensor);
    } else {
        stored.kinds.insert(tensor, kind);
    }
    Ok(stored)
}

/// The statement with the `where` of a temporary directly inside the loop `place`.
fn moved(concrete: &Concrete, tensor: TensorVar, name: &Name, place: &Name) -> Result<Concrete> {
    let is_root = place.word.text == ROOT && concrete.var(ROOT).is_none();
    let wanted = match is_root {
        true => None,
        false => Some(var(concrete, place)?),
    };
    let mut moved = concrete.clone();
    loop {
        let (around, consumer) = loops_around(&moved.stmt, tensor, &mut Vec::new())
            .expect("a temporary is made by a `where`");
        let innermost = around.last().copied();
        if innermost == wanted {
            return Ok(moved);
        }
        let is_inside = wanted.is_none_or(|wanted| around.contains(&wanted));
        let next = match is_inside {
            true => innermost.expect("it is inside of a loop"),
            false if wanted.is_some_and(|wanted| consumer.contains(&wanted)) => consumer[0],
            false => {
                let message =
                    format!("what reads `{name}` is not all inside of the loop `{place}`");
                return Err(illegal(place, place.word.span, message, "cannot live here")
                    .note(format!("the statement is\n{concrete}"))
                    .help("name a loop that is around every use, or `root`"));
            }
        };
        let next = Name {
            word: Word {
                text: moved.vars[next].name.clone(),
                ..place.word.clone()
            },
            source: place.source.clone(),
        };
        moved = match is_inside {
            true => fission(&moved, &next)?,
            false => loopfuse(&moved, &next)?,
        };
    }
}

/// The loops around the `where` that makes a temporary, and those around all that
/// reads it.
fn loops_around(
    stmt: &Stmt,
    tensor: TensorVar,
    outer: &mut Vec<IndexVar>,
) -> Option<(Vec<IndexVar>, Vec<IndexVar>)> {
    match stmt {
        Stmt::Assign { .. } => None,
        Stmt::Forall { var, body } => {
            outer.push(*var);
            let found = loops_around(body, tensor, outer);
            outer.pop();
            found
        }
        Stmt::Where { consumer, producer } => {
            if producer.temporaries().contains(&tensor) {
                return Some((outer.clone(), consumer.nest().0));
            }
            loops_around(consumer, tensor, outer).or_else(|| loops_around(producer, tensor, outer))
        }
        Stmt::Sequence(stmts) => stmts
            .iter()
            .find_map(|stmt| loops_around(stmt, tensor, outer)),
    }
}
