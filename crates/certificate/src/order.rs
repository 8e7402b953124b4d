//! The order of statements: each reads only final values.
//!
//! A statement runs at `[sweep, point, place]`. Sweeps run one after another. The statements of a
//! sweep share an iteration space: at each point they run in the order of their places. A value
//! that a statement reads is final if
//!
//! * every statement that writes the array belongs to an earlier sweep, or
//! * the last statement that assigns it runs at the same point with a lesser place, assigns the
//!   very entry that is read, and no iteration space or key contains the array.
//!
//! The lemma of a scan covers a statement that reads the array that it writes.

use std::collections::BTreeSet;

use sparsec_computation::{Access, Computation, Statement, Update};
use sparsec_relation::{Constraint, Expression};

use crate::Refusal;
use crate::check::require;

/// The sweep of a statement, and its place in the sweep.
pub(crate) fn time(statement: &Statement) -> Result<(i64, i64), Refusal> {
    let [
        Expression::Integer(sweep),
        point @ ..,
        Expression::Integer(place),
    ] = &statement.schedule[..]
    else {
        return Err(Refusal::at(
            statement,
            "its schedule is no sweep with a place",
        ));
    };
    let tuple = statement.variables().map(Expression::Variable);
    match tuple.eq(point.iter().cloned()) {
        true => Ok((*sweep, *place)),
        false => Err(Refusal::at(
            statement,
            "it does not visit its points in their order",
        )),
    }
}

/// Whether a statement belongs to a later sweep than another.
pub(crate) fn is_after(later: &Statement, earlier: &Statement) -> bool {
    match (time(later), time(earlier)) {
        (Ok(later), Ok(earlier)) => later.0 > earlier.0,
        _ => false,
    }
}

/// The names that a statement reads in its iteration space, in keys and in extents.
fn elsewhere(computation: &Computation, statement: &Statement) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut note = |e: &Expression| names.extend(names_in(e));
    let parts = statement.space.parts().iter();
    let constraints = parts.flat_map(|part| part.constraints());
    constraints
        .flat_map(Constraint::expressions)
        .for_each(&mut note);
    for (_, keys) in statement.value.windows() {
        keys.iter()
            .flat_map(|key| [&key.value, &key.extent])
            .for_each(&mut note);
    }
    for access in accesses(statement) {
        let space = computation.space(&access.space);
        space
            .iter()
            .flat_map(|space| &space.extents)
            .for_each(&mut note);
    }
    names
}

/// All accesses of a statement, those inside of indices included. The target comes first.
pub(crate) fn accesses(statement: &Statement) -> Vec<Access> {
    let mut found = vec![statement.target.clone()];
    found.extend(statement.value.entries().into_iter().cloned());
    let mut inner = Vec::new();
    for index in found.iter().flat_map(|access| &access.indices) {
        index.visit(&mut |e| match e {
            Expression::Call(name, arguments) => inner.push(Access {
                space: name.clone(),
                indices: arguments.clone(),
            }),
            Expression::Constant(name) => inner.push(Access {
                space: name.clone(),
                indices: Vec::new(),
            }),
            _ => {}
        });
    }
    found.extend(inner);
    found
}

/// The functions and constants that an expression contains.
pub(crate) fn names_in(e: &Expression) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    e.visit(&mut |e| {
        if let Expression::Call(name, _) | Expression::Constant(name) = e {
            names.insert(name.clone());
        }
    });
    names
}

/// Whether a statement reads the array that it writes.
pub(crate) fn reads_itself(statement: &Statement) -> bool {
    let target = &statement.target.space;
    accesses(statement)[1..]
        .iter()
        .any(|access| access.space == *target)
}

/// Checks that all statements read final values.
pub(crate) fn settled(computation: &Computation) -> Result<(), Refusal> {
    for statement in &computation.statements {
        let target = computation.space(&statement.target.space);
        require(
            !target.is_none_or(|space| space.role.is_given()),
            statement,
            "its target does not begin with zeros",
        )?;
        let now = time(statement)?;
        for other in &computation.statements {
            let then = time(other)?;
            let is_same = std::ptr::eq(statement, other);
            if is_same || now.0 != then.0 {
                continue;
            }
            if now.1 == then.1 || statement.space != other.space {
                let why = format!(
                    "it shares a sweep with `{}` and runs over another set",
                    other.name
                );
                return Err(Refusal::at(statement, why));
            }
        }
        let elsewhere = elsewhere(computation, statement);
        let accesses = accesses(statement);
        for other in &computation.statements {
            let then = time(other)?;
            let target = &other.target;
            let is_itself = std::ptr::eq(statement, other);
            if elsewhere.contains(&target.space) && (is_itself || then.0 >= now.0) {
                let why = format!(
                    "it follows `{}`, which `{}` writes no earlier",
                    target.space, other.name
                );
                return Err(Refusal::at(statement, why));
            }
            let mut reads = accesses[1..]
                .iter()
                .filter(|read| read.space == target.space);
            let at_point = then.0 == now.0 && then.1 < now.1 && other.update == Update::Assign;
            let is_early = |read: &Access| {
                then.0 < now.0 || is_itself || at_point && read.indices == target.indices
            };
            if !reads.all(is_early) {
                let why = format!(
                    "it reads `{}`, which `{}` writes no earlier",
                    target.space, other.name
                );
                return Err(Refusal::at(statement, why));
            }
        }
    }
    Ok(())
}
