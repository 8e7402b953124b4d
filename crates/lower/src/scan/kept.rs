//! Temporary data that need no array: each entry is used at the point that assigns it.
//!
//! ```text
//! s0: g(p) = …          let g = …
//! s1: y(g(p)) = x(p)    y.vals[g] = x.vals[p]
//! ```

use sparsec_computation::{Computation, Role as DataRole, Stage, Statement, Update};
use sparsec_relation::Expression;

use super::{first_name, for_each_expression};

/// Whether all that reads temporary data does so at the point that assigns them.
pub(super) fn is_only_carried(computation: &Computation, stage: &Stage, name: &str) -> bool {
    let space = computation.space(name);
    let is_temporary = space.is_some_and(|space| space.role == DataRole::Temporary);
    let mut writers = computation.writers(name);
    let (Some(writer), None) = (writers.next(), writers.next()) else {
        return false;
    };
    let writer = computation.statement(writer);
    let reads_apart = |statement: &Statement| {
        let entries = statement.value.entries();
        let mut of_space = entries.iter().filter(|access| access.space == name);
        of_space.any(|access| **access != writer.target || !is_behind(statement, writer))
    };
    let ids = computation
        .ids()
        .filter(|id| !stage.statements.contains(id));
    let mut elsewhere = ids.map(|id| computation.statement(id));
    is_temporary
        && !stage.computation.statements.iter().any(reads_apart)
        && !elsewhere.any(|it| touches(it, name))
}

/// Whether a statement writes, reads or follows data.
pub(super) fn touches(statement: &Statement, name: &str) -> bool {
    let mut found = statement.target.space == name;
    for_each_expression(statement, &mut |e| {
        found = found || first_name(e, &|it| it == name).is_some();
    });
    let entries = statement.value.entries();
    found || entries.iter().any(|access| access.space == name)
}

/// Whether a statement runs at the points of another, behind it.
pub(super) fn is_behind(later: &Statement, earlier: &Statement) -> bool {
    let [a, b] = [&earlier.schedule, &later.schedule].map(|schedule| schedule.split_last());
    let (Some((Expression::Integer(a), before)), Some((Expression::Integer(b), after))) = (a, b)
    else {
        return false;
    };
    a < b && before == after && later.space == earlier.space
}

/// The temporary data of a stage that no index, space or extent speaks of, and whose entries
/// are read at the point alone.
pub(super) fn locals(computation: &Computation, stage: &Stage) -> Vec<String> {
    let is_followed = |name: &str| {
        let mut extents = computation.spaces.iter().flat_map(|space| &space.extents);
        let in_statement = |statement: &Statement| {
            let mut found = false;
            for_each_expression(statement, &mut |e| {
                found = found || first_name(e, &|it| it == name).is_some();
            });
            found
        };
        extents.any(|e| first_name(e, &|it| it == name).is_some())
            || computation.statements.iter().any(in_statement)
    };
    let is_assigned = |name: &str| {
        let mut writers = computation.writers(name);
        let statement = writers.next().map(|writer| computation.statement(writer));
        statement.is_some_and(|it| it.update == Update::Assign && !it.target.indices.is_empty())
    };
    let names = stage.begins.iter().filter(|name| {
        is_assigned(name) && !is_followed(name) && is_only_carried(computation, stage, name)
    });
    names.cloned().collect()
}
