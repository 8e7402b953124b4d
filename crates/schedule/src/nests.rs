//! `loopfuse` of two nests of a sequence that go over the same coordinates.
//!
//! ```text
//! sequence(
//!   forall i: where(y(i) += t, forall j: t += A(i,j) * x(j)),
//!   forall k: forall l: y(l) += A(k,l) * x(k))
//!
//!   loopfuse(i)
//!        ▼
//!
//! forall i: sequence(
//!   where(y(i) += t, forall j: t += A(i,j) * x(j)),
//!   forall l: y(l) += A(i,l) * x(i))
//! ```
//!
//! What both nests read of `A` is read once, or a second time while it is near. The
//! loops go over the same coordinates where one mode of a tensor has both variables.
//! An iteration of the second nest now comes before later ones of the first: so
//! neither may read what the other writes, and what both write they reduce into by one
//! operator, in whatever order.

use sparsec_base::{Diagnostic, Result, code};
use sparsec_index::{Access, Concrete, IndexVar, Operator, Stmt, TensorVar};

use super::Name;
use super::parallelize::{combines_in_any_order, temporaries};

/// The statement in which the loops over `var` of two nests that follow one another
/// are one; `None` where there are no such nests.
///
/// # Errors
/// `E0343` where one nest needs what the other does in other iterations.
pub(super) fn fused(concrete: &Concrete, name: &Name, var: IndexVar) -> Result<Option<Concrete>> {
    let mut found: Option<Result<()>> = None;
    let mut fused = concrete.clone();
    fused.stmt = concrete.stmt.rewrite(&mut |stmt| {
        let Stmt::Sequence(nests) = stmt else {
            return None;
        };
        let pairs = nests.windows(2);
        let at = pairs.enumerate().find_map(|(at, pair)| {
            let other = same_coordinates(concrete, &pair[0], &pair[1], var)?;
            Some((at, other))
        });
        let (at, other) = at.filter(|_| found.is_none())?;
        let (first, second) = (&nests[at], &nests[at + 1]);
        let is_free = are_independent(first, second);
        found = Some(is_free.then_some(()).ok_or_else(|| depends(concrete, name)));
        let bodies = [first, second].map(|nest| match nest {
            Stmt::Forall { body, .. } => {
                body.renamed(&|known| if known == other { var } else { known })
            }
            _ => unreachable!("both nests begin with a loop"),
        });
        let both = Stmt::Sequence(bodies.to_vec()).in_loops(&[var]);
        let mut nests = nests.clone();
        nests.splice(at..at + 2, [both]);
        Some(match <[Stmt; 1]>::try_from(nests) {
            Ok([nest]) => nest,
            Err(nests) => Stmt::Sequence(nests),
        })
    });
    found.transpose().map(|found| found.map(|()| fused))
}

/// The variable of the outermost loop of `second`, if it goes over the coordinates
/// that the outermost of `first` goes over, which is one over `var`.
fn same_coordinates(
    concrete: &Concrete,
    first: &Stmt,
    second: &Stmt,
    var: IndexVar,
) -> Option<IndexVar> {
    let (Stmt::Forall { var: known, .. }, Stmt::Forall { var: other, body }) = (first, second)
    else {
        return None;
    };
    let is_plain = |var: &IndexVar| !concrete.clauses().any(|clause| clause.names(var));
    let is_apart = *other == var || !super::fission::uses(body, var);
    if *known != var || !is_plain(&var) || !is_plain(other) || !is_apart {
        return None;
    }
    let (there, here) = (modes(first, var), modes(second, *other));
    there
        .iter()
        .any(|mode| here.contains(mode))
        .then_some(*other)
}

/// The modes of tensors at which a variable stands alone.
fn modes(stmt: &Stmt, var: IndexVar) -> Vec<(TensorVar, usize)> {
    let mut found = Vec::new();
    super::fission::for_each_access(stmt, &mut |access| {
        found.extend(access.mode_of(var).map(|mode| (access.tensor, mode)));
    });
    found
}

/// Whether iterations of two nests may come in any order.
fn are_independent(first: &Stmt, second: &Stmt) -> bool {
    let (before, after) = (Effects::of(first), Effects::of(second));
    let is_apart = |one: &Effects, other: &Effects| {
        let mut written = one.written.iter();
        written.all(|(tensor, op)| {
            !other.read.contains(tensor)
                && (other.written.iter()).all(|(also, with)| {
                    also != tensor || (op == with && op.as_ref().is_some_and(combines_in_any_order))
                })
        })
    };
    is_apart(&before, &after) && is_apart(&after, &before)
}

/// What a nest does to what outlives an iteration.
struct Effects {
    /// The tensors that are written, and what they are reduced by.
    written: Vec<(TensorVar, Option<Operator>)>,
    read: Vec<TensorVar>,
}

impl Effects {
    fn of(nest: &Stmt) -> Self {
        let own = temporaries(nest);
        let (mut written, mut read) = (Vec::new(), Vec::new());
        nest.for_each_assign(&mut |lhs, reduce, rhs| {
            if !own.contains(&lhs.tensor) {
                written.push((lhs.tensor, reduce.cloned()));
            }
            rhs.for_each_access(&mut |access: &Access| {
                if !own.contains(&access.tensor) {
                    read.push(access.tensor);
                }
            });
        });
        Self { written, read }
    }
}

fn depends(concrete: &Concrete, name: &Name) -> Diagnostic {
    let message = format!("nests over `{name}` read or replace what the other writes");
    Diagnostic::new(code::SCHEDULE_DEPENDENCE, message)
        .at(&name.source, name.word.span, "would be one loop")
        .note(format!("the statement is\n{concrete}"))
        .help("leave the command out")
}
