//! Any relation from old times to new ones as a transformation.
//!
//! ```text
//! s at [i, j]   ── reschedule(s, {[i, j] -> [j, i]}) ──►   s at [j, i]
//!
//!   {[i, j] -> [q, i, j] : 8 * q <= j < 8 * q + 8}         s at [q, i, j]  over {[i, j, q] : … }
//!
//!   {[i, j] -> [0, i, j] : j < K}                          s_0 at [0, i, j]  over { … && j < K}
//!   union {[i, j] -> [1, i, j] : j >= K}                   s_1 at [1, i, j]  over { … && j >= K}
//! ```
//!
//! Four things are proved, of the points of each statement:
//!
//! | of each point              | else                                        |
//! |----------------------------|---------------------------------------------|
//! | it has a new time          | it would not run                            |
//! | it has one                 | it would run again                          |
//! | one part of a union has it | two statements would run it                 |
//! | conflicts keep their order | as for all transformations, see [`order`](crate::order) |
//!
//! An element of the new time is an expression of the point where the relation says
//! so. Else it is a further variable of the iteration space, which the relation bounds.
//!
//! Source: Kelly and Pugh, "A framework for unifying reordering transformations",
//! University of Maryland 1993, UMIACS-TR-93-134.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_relation::{
    Conjunction, Constraint, Declarations, Expression, Relation, Set, Values, Variable, fresh_name,
};

use super::pad;
use crate::computation::{Computation, Statement, StatementId};
use crate::proofs::Proofs;
use crate::script::{MOST_ELEMENTS, too_long};

impl Computation {
    /// The computation in which points of statements run at the times that a relation
    /// gives for theirs.
    pub(super) fn mapped(&self, which: &[String], map: &Relation) -> Result<Self> {
        self.check_names_of(which, map)?;
        let proofs = Proofs::of(self);
        let mut moved: BTreeMap<&str, Vec<Statement>> = BTreeMap::new();
        for name in which {
            let id = self.named(name)?;
            if map.parts().len() > 1 {
                self.check_without_windows(std::slice::from_ref(name))?;
            }
            moved.insert(name, self.moved(id, map, &proofs)?);
        }
        self.rescheduled(which, |s| moved[s.name.as_str()].clone())
    }

    /// A statement at new times: one statement for each part of the relation.
    fn moved(&self, id: StatementId, map: &Relation, proofs: &Proofs) -> Result<Vec<Statement>> {
        let mut statement = self.statement(id).clone();
        let (n, own) = (map.n_inputs(), statement.schedule.len());
        let refused = |message: String, help: &str| {
            let which = [statement.name.clone()];
            Err(self.does_not_apply(&which, message).help(help))
        };
        if n < own || map.n_outputs() > MOST_ELEMENTS {
            if n >= own {
                return Err(too_long());
            }
            let message =
                format!("the relation takes times of {n} elements, and the schedule has {own}");
            return refused(
                message,
                "give the first tuple an element for each of the schedule",
            );
        }
        if n > 0 {
            pad(&mut statement, n - 1);
        }
        let space = &self.statement(id).space;
        let moves = of_points(&statement, map)?;
        let refused = |message: String, help: &str| {
            let which = [statement.name.clone()];
            Err(proofs.noted(self.does_not_apply(&which, message).help(help)))
        };
        let name = &statement.name;
        let targets = moves.domain();
        let domain = Set::new(
            targets
                .as_relation()
                .simplified_under(proofs.known())
                .parts()
                .to_vec(),
        )?;
        if !proofs.is_so(space.is_subset(&domain, proofs.known())?) {
            let message = format!("not every point of `{name}` is proved to have a new time");
            return refused(message, "give all points of the iteration space a time");
        }
        let within = moves.restricted_to(space)?;
        if !proofs.is_so(within.is_function(proofs.known())) {
            let message = format!("a point of `{name}` is not proved to have only one new time");
            return refused(
                message,
                "determine each element of the new time by the old ones",
            );
        }
        for (at, first) in domain.parts().iter().enumerate() {
            for second in &domain.parts()[at + 1..] {
                let alone = |part: &Conjunction| Set::new(vec![part.clone()]);
                let both = alone(first)?.intersect(&alone(second)?)?.intersect(space)?;
                if !proofs.is_none(both.as_relation()) {
                    let message = format!("a point of `{name}` may be in two parts of the union");
                    return refused(message, "exclude in each part the points of the others");
                }
            }
        }
        let mut taken = BTreeSet::new();
        let parts = map.parts().iter().zip(moves.parts()).enumerate();
        let moved = parts.map(|(number, (part, of_points))| {
            let mut moved = self.at_times(&statement, part, of_points, map.parts().len() > 1)?;
            if map.parts().len() > 1 {
                let name = self.fresh(&format!("{name}_{number}"));
                moved.name = fresh_name(&name, |name| taken.contains(name));
                taken.insert(moved.name.clone());
            }
            Ok(moved)
        });
        moved.collect()
    }

    /// The points of a statement that a part of a relation speaks of, at their new times.
    fn at_times(
        &self,
        statement: &Statement,
        map: &Conjunction,
        moves: &Conjunction,
        is_some: bool,
    ) -> Result<Statement> {
        let n_points = statement.variables().len();
        let mut added: Vec<String> = Vec::new();
        let mut schedule = Vec::new();
        let alone = Relation::new(vec![moves.clone()])?;
        for (at, output) in map.outputs().enumerate() {
            schedule.push(match self.element(&alone, at) {
                Some(e) => e,
                None => {
                    let name = self.fresh(map.name(output));
                    added.push(fresh_name(&name, |name| added.iter().any(|it| it == name)));
                    Expression::Variable(Variable::from_index(n_points + added.len() - 1))
                }
            });
        }
        let mut parts = Vec::new();
        for part in statement.space.parts() {
            let names = part.inputs().map(|v| part.name(v).to_owned());
            let mut wider = Conjunction::new(names.chain(added.iter().cloned()), []);
            let points = wider.inputs().take(n_points);
            wider.conjoin_at(part, points);
            // Where all points have a time that they determine, nothing else is said.
            if is_some || !added.is_empty() {
                let mut values = [&statement.schedule[..], &schedule[..]].concat();
                for variable in map.exists() {
                    let variable = wider.add_exists(map.name(variable));
                    values.push(Expression::Variable(variable));
                }
                for constraint in map.constraints() {
                    let constraint = constraint.rewritten(&Values(&values));
                    // `0 = 0` is left of an element that the schedule has a number for.
                    if constraint != constraint.first.clone().equals(constraint.first.clone()) {
                        wider.add(constraint);
                    }
                }
            }
            parts.push(wider);
        }
        Ok(Statement {
            space: Set::new(parts)?,
            schedule,
            ..statement.clone()
        })
    }

    /// An element of the new times as a sum of what times may speak of, if it is one.
    fn element(&self, moves: &Relation, at: usize) -> Option<Expression> {
        let others: Vec<usize> = (0..moves.n_outputs()).filter(|k| *k != at).collect();
        let alone = moves.without_outputs(&others);
        let solved = alone.solve(&Declarations::new()).ok()?;
        let [values] = &solved[..] else { return None };
        let mut is_plain = true;
        values[0].visit(&mut |e| match e {
            Expression::FloorDivide(..) | Expression::Modulo(..) => is_plain = false,
            Expression::Call(name, _) => is_plain &= self.space(name).is_some(),
            _ => {}
        });
        is_plain.then(|| values[0].clone())
    }

    /// Refuses a relation that speaks of what the computation does not have.
    fn check_names_of(&self, which: &[String], map: &Relation) -> Result<()> {
        let mut fault: Option<String> = None;
        let is_there = |name: &str, n: usize| {
            let space = self.space(name);
            space.is_some_and(|space| space.is_index_array() && space.extents.len() == n)
        };
        let constraints = map.parts().iter().flat_map(Conjunction::constraints);
        for e in constraints.flat_map(Constraint::expressions) {
            e.visit(&mut |e| match e {
                Expression::Constant(name)
                    if !self.parameters.contains(name) && !is_there(name, 0) =>
                {
                    fault.get_or_insert(format!("`{name}`, which is no parameter and no integer"));
                }
                Expression::Call(name, arguments)
                    if !self.declarations.is_key(name)
                        && (arguments.is_empty() || !is_there(name, arguments.len())) =>
                {
                    let n = arguments.len();
                    fault.get_or_insert(format!(
                        "`{name}` of {n} arguments, which is no array of integers"
                    ));
                }
                _ => {}
            });
        }
        let Some(fault) = fault else { return Ok(()) };
        let message = format!("the relation speaks of {fault}");
        let found = Diagnostic::new(code::COMPUTATION_UNKNOWN, message)
            .help("use parameters and data of the computation");
        Err(match which.first().and_then(|name| self.find(name)) {
            Some(id) => {
                let (source, place) = self.place_of(id);
                found.at(&source, place, "this statement")
            }
            None => found,
        })
    }
}

/// The relation from points of a statement to new times.
fn of_points(statement: &Statement, map: &Relation) -> Result<Relation> {
    let names = statement.names();
    let points: Vec<String> = names.inputs().map(|v| names.name(v).to_owned()).collect();
    let parts = map.parts().iter().map(|part| {
        let outputs = part.outputs().map(|v| part.name(v).to_owned());
        let mut moves = Conjunction::new(points.clone(), outputs.collect::<Vec<_>>());
        let outputs = moves.outputs().map(Expression::Variable);
        let mut values = statement.schedule.clone();
        values.extend(outputs);
        for variable in part.exists() {
            let variable = moves.add_exists(part.name(variable));
            values.push(Expression::Variable(variable));
        }
        moves.conjoin(part, &Values(&values));
        moves
    });
    Relation::new(parts.collect())
}
