//! Reductions inside of an expression, computed for all entries of a row at once.
//!
//! ```text
//! C(i,j) = M(i,j) * sum{k}(A(i,k) * B(k,j))        M, A, B : csr
//!
//! forall i: forall j: where(C(i,j) = M(i,j) * t, forall k: t += A(i,k) * B(k,j))
//!
//!   fission(j)        rows of B are met for a whole row of C
//!
//! forall i: where(forall j: C(i,j) = M(i,j) * t(j), forall k: forall j: t(j) += …)
//! ```
//!
//! What a row does not need is not computed: where `M` stores no row, there is no
//! product. Of a temporary for the whole sum, each row would be there.

use sparsec_index::concrete::Stmt;
use sparsec_index::{Access, WorkspaceKind};
use sparsec_machine::Machine;
use sparsec_schedule::Command;

use crate::draft::Draft;
use crate::estimate::workspace::best_with_list;

/// The statement with the innermost loop around a temporary in two, inside of another
/// loop; `None` where there is none, or where a list of what the temporary then holds
/// would take more than it is worth.
pub(crate) fn divided<'a>(naive: &Draft<'a>) -> Option<Draft<'a>> {
    let (loops, Stmt::Where { consumer, producer }) = naive.concrete.stmt.nest() else {
        return None;
    };
    let (inner, outer) = loops.split_last()?;
    if outer.is_empty() {
        return None;
    }
    let mut result: Option<Access> = None;
    consumer.for_each_assign(&mut |lhs, _, _| result = Some(lhs.clone()));
    let result = result?;
    let mut is_listed = true;
    let all: Vec<_> = loops.iter().copied().chain(producer.loops()).collect();
    producer.for_each_assign(&mut |_, _, rhs| {
        let used = naive.use_of(&result, rhs, &all, &[*inner]);
        is_listed &= best_with_list(used, &Machine::MIDDLING) == WorkspaceKind::Listed;
    });
    let mut draft = naive.clone();
    let fission = Command::fission(naive.name(*inner));
    (is_listed && draft.command(fission).is_ok()).then_some(draft)
}
