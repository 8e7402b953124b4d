//! One computation in another: its statements run once for each point of a set.
//!
//! ```text
//! computation dot {                          computation rows {
//!   parameters N                               parameters K, M
//!   given a : f64[N], b : f64[N]               given A : f64[K, M], x : f64[M]
//!   out s : f64                                out y : f64[K]
//!   add: s += a(j) * b(j)                      call dot(N = M, a = A(i), b = x, s = y(i))
//!     over {[j] : 0 <= j < N}                    over {[i] : 0 <= i < K} at [i]
//! }                                          }
//!
//! dot_add: y(i) += A(i, j) * x(j)  over {[i, j] : 0 <= i < K && 0 <= j < M}  at [i, 1, 0, j]
//! ```
//!
//! A parameter becomes an expression. Data become data of the caller, or a slice of
//! them: `A(i)` is row `i`. Temporary data become data of the caller with a mode
//! more for each variable of the set, so that no run finds what another left.
//!
//! | it is asked that                                       | since                           |
//! |--------------------------------------------------------|---------------------------------|
//! | types agree, slices lie inside, extents are equal      | entries stay inside of the data |
//! | `at` tells the points of the set apart                 | one run ends before the next    |
//! | each result is passed once                             | no name stands for another      |
//! | the computation counts no points, or there is one run  | a window counts all points      |
//!
//! Data that are `out` begin with zeros: where the caller's may hold other values, a
//! statement clears them first, which `remove` takes out where they are overwritten.
//!
//! Source: Popoola et al., "An object-oriented interface to the sparse polyhedral
//! library", COMPSAC 2021, whose `appendComputation` leaves all four to the user.

use sparsec_base::arena::Id;
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Expression, Relation, Rewrite, Set, Variable, fresh_name,
};

use crate::computation::{Computation, DataSpace, Role, Statement};
use crate::proofs::Proofs;
use crate::value::{Access, Update, Value};
use names::{Bound, Inner};

mod behind;
mod names;

/// A run of a computation for each point of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The set.
    pub over: Set,
    /// When: what the schedules of the computation's statements begin with.
    pub at: Vec<Expression>,
    /// What stands for the computation's parameters and data, by name.
    pub arguments: Vec<(String, Argument)>,
}

/// What stands for a parameter or for data.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The value of a parameter, an expression of the points of the set.
    Value(Expression),
    /// Data of the caller: all of them, or the slice at these first indices.
    Data(Access),
}

impl Computation {
    /// This computation with the statements of another behind its own.
    ///
    /// # Errors
    /// `E0801` for an argument that `inner` does not have, `E0804` for types that
    /// differ, `E0805` for given data that it writes, `E0809` where one of the
    /// conditions of the module's page is not proved.
    pub fn inlined(&self, inner: &Self, call: &Call) -> Result<Self> {
        let proofs = Proofs::of(self);
        let bound = self.bound(inner, call, &proofs)?;
        let refused = |message: String, help: &str| {
            Err(proofs.noted(Diagnostic::new(code::TRANSFORMATION, message).help(help)))
        };
        if !proofs.is_so(self.times_of(call)?.is_function(proofs.known())) {
            let message = format!(
                "runs of `{}` are not proved to be at times of their own",
                inner.name
            );
            return refused(message, "name each variable of the set in `at`");
        }
        let n_over = call.over.n_elements();
        if n_over > 0
            && inner
                .statements
                .iter()
                .any(|s| !s.value.windows().is_empty())
        {
            let message = format!(
                "`{}` counts its points, which are those of all runs then",
                inner.name
            );
            return refused(message, "call it once, over `{[]}`");
        }
        let mut new = self.clone();
        for space in inner.spaces.iter().filter(|s| s.role == Role::Temporary) {
            new.spaces
                .push(self.kept(space, inner, call, &bound, &proofs)?);
        }
        for key in inner.declarations.keys() {
            let mut known = new.declarations.keys().iter();
            match known.find(|other| other.name() == key.name()) {
                Some(other) if other == key => {}
                Some(_) => {
                    let message = format!("`{}` is two key functions", key.name());
                    return Err(Diagnostic::new(code::COMPUTATION_NAME, message)
                        .help("rename the one of the computation that is called"));
                }
                None => new.declarations.declare_key(key.clone()),
            }
        }
        if n_over == 0 {
            let mut declared = inner.declarations.rewritten(&bound)?;
            declared.retain_functions(|f| new.declarations.function(&f.name).is_none());
            new.declarations.extend(declared);
        }
        for space in inner.spaces.iter().filter(|s| s.role == Role::Out) {
            if !self.is_zero(space, call, &bound) {
                let cleared = self.cleared(space, inner, call, &bound)?;
                new.statements.push(cleared);
            }
        }
        for statement in &inner.statements {
            let name = new.fresh(&format!("{}_{}", inner.name, statement.name));
            let moved = new.moved_in(statement, call, &bound, name)?;
            new.statements.push(moved);
        }
        new.checked()
    }

    /// What stands for each name of the inner computation.
    fn bound(&self, inner: &Self, call: &Call, proofs: &Proofs) -> Result<Bound> {
        let refused =
            |code, message: String, help: String| Err(Diagnostic::new(code, message).help(help));
        let mut bound = Bound::default();
        for (name, argument) in &call.arguments {
            let space = inner.space(name);
            let is_parameter = inner.parameters.contains(name);
            if !is_parameter && space.is_none_or(|space| space.role == Role::Temporary) {
                let data = inner.spaces.iter().filter(|s| s.role != Role::Temporary);
                let known = inner.parameters.iter().chain(data.map(|s| &s.name));
                let message = format!("`{}` takes no `{name}`", inner.name);
                let near = closest(name, known.map(String::as_str));
                let help = near.map_or("leave it out".to_owned(), |n| {
                    format!("did you mean `{n}`?")
                });
                return refused(code::COMPUTATION_UNKNOWN, message, help);
            }
            let is_new = match (argument, is_parameter) {
                (Argument::Value(e), true) => {
                    bound.values.insert(name.clone(), e.clone()).is_none()
                }
                (Argument::Data(access), false) => {
                    bound.data.insert(name.clone(), access.clone()).is_none()
                }
                _ => {
                    let message = format!("`{name}` is not passed as what it is");
                    let help = "pass an integer for a parameter, and data for data";
                    return refused(code::COMPUTATION_TYPES, message, help.to_owned());
                }
            };
            if !is_new {
                let message = format!("`{name}` is passed twice");
                return refused(code::TRANSFORMATION, message, "keep one of them".to_owned());
            }
        }
        let spaces = inner.spaces.iter().filter(|s| s.role != Role::Temporary);
        let wanted = inner
            .parameters
            .iter()
            .chain(spaces.clone().map(|s| &s.name));
        for name in wanted {
            if !bound.values.contains_key(name) && !bound.data.contains_key(name) {
                let message = format!("`{}` is called without `{name}`", inner.name);
                return refused(
                    code::TRANSFORMATION,
                    message,
                    format!("pass it: `{name} = …`"),
                );
            }
        }
        for space in spaces {
            self.check_argument(space, call, &bound, proofs)?;
        }
        let temporaries = inner.spaces.iter().filter(|s| s.role == Role::Temporary);
        for space in temporaries {
            let name = self.fresh(&format!("{}_{}", inner.name, space.name));
            let variables = call.over.parts()[0].inputs();
            let indices = variables.map(Expression::Variable).collect();
            let access = Access {
                space: name,
                indices,
            };
            bound.data.insert(space.name.clone(), access);
        }
        Ok(bound)
    }

    /// Checks the data that are passed for a data space of the inner computation.
    fn check_argument(
        &self,
        space: &DataSpace,
        call: &Call,
        bound: &Bound,
        proofs: &Proofs,
    ) -> Result<()> {
        let (name, access) = (&space.name, &bound.data[&space.name]);
        let Some(passed) = self.space(&access.space) else {
            let message = format!("`{}` is not declared", access.space);
            return Err(
                Diagnostic::new(code::COMPUTATION_UNKNOWN, message).help("pass data of the caller")
            );
        };
        let n_slices = access.indices.len();
        if passed.element != space.element || passed.extents.len() != n_slices + space.extents.len()
        {
            let n = space.extents.len();
            let message = format!(
                "`{name}` is of `{}` with {n} modes, and `{}` is not",
                space.element, access.space
            );
            return Err(Diagnostic::new(code::COMPUTATION_TYPES, message)
                .help("pass data of one type, with an index for each mode besides"));
        }
        if space.role != Role::Given {
            if passed.role == Role::Given {
                let message = format!("`{}` is given and cannot be written", passed.name);
                let help = format!("declare `{}` as `inout`, or pass other data", passed.name);
                return Err(Diagnostic::new(code::COMPUTATION_GIVEN, message).help(help));
            }
            let named = bound
                .data
                .values()
                .filter(|other| other.space == access.space);
            if named.count() > 1 {
                let message = format!("`{}` is written as `{name}`, and passed again", passed.name);
                return Err(Diagnostic::new(code::TRANSFORMATION, message)
                    .help("pass each data that are written once"));
            }
        }
        let mut asked: Vec<Constraint> = Vec::new();
        for (index, extent) in access.indices.iter().zip(&passed.extents) {
            asked.push(Constraint {
                first: Expression::Integer(0),
                rest: vec![
                    (Comparison::LessEqual, index.clone()),
                    (Comparison::Less, extent.clone()),
                ],
            });
        }
        for (extent, mine) in passed.extents[n_slices..].iter().zip(&space.extents) {
            asked.push(mine.rewritten(bound).equals(extent.clone()));
        }
        let known = proofs.known();
        let part = &call.over.parts()[0];
        match asked
            .iter()
            .find(|constraint| !call.over.implies(constraint, known))
        {
            None => Ok(()),
            Some(constraint) => {
                let mut shown = part.clone();
                shown.add(constraint.clone());
                let message = format!("`{}` is not proved to have room for `{name}`", passed.name);
                let why = format!("not proved to hold: {}", Relation::new(vec![shown])?);
                Err(proofs
                    .noted(Diagnostic::new(code::TRANSFORMATION, message).note(why))
                    .help("pass data of equal extents, at indices inside of them"))
            }
        }
    }

    /// From the times of runs to the points of the set.
    fn times_of(&self, call: &Call) -> Result<Relation> {
        let parts = call.over.parts().iter().map(|part| {
            let names = part.inputs().map(|v| part.name(v).to_owned());
            let times = (0..call.at.len()).map(|k| format!("t{k}"));
            let mut both = Conjunction::new(names, times.collect::<Vec<_>>());
            let points = both.inputs();
            both.conjoin_at(part, points);
            for (time, e) in both.outputs().zip(&call.at) {
                both.add(Expression::Variable(time).equals(e.clone()));
            }
            both
        });
        Ok(Relation::new(parts.collect())?.inverse())
    }

    /// Temporary data of the inner computation, for all runs.
    fn kept(
        &self,
        space: &DataSpace,
        inner: &Self,
        call: &Call,
        bound: &Bound,
        proofs: &Proofs,
    ) -> Result<DataSpace> {
        let refused = |help: &str| {
            let message = format!(
                "the temporary data `{}` of `{}` have no extents that suit all runs",
                space.name, inner.name
            );
            Err(proofs.noted(Diagnostic::new(code::TRANSFORMATION, message).help(help)))
        };
        let mut extents = Vec::new();
        let sides = match call.over.n_elements() {
            0 => Some(Vec::new()),
            _ => call.over.as_box(),
        };
        let Some(sides) = sides else {
            return refused("call it over a box, as in `{[i] : 0 <= i < N}`");
        };
        for (variable, (_, end)) in call.over.parts()[0].inputs().zip(sides) {
            let zero = Expression::Integer(0);
            let first =
                Constraint::new(zero, Comparison::LessEqual, Expression::Variable(variable));
            if !call.over.implies(&first, proofs.known()) {
                return refused("call it over a box that begins at 0 or later");
            }
            extents.push(end);
        }
        for extent in &space.extents {
            let extent = extent.rewritten(bound);
            let mut is_fixed = true;
            extent.visit(&mut |e| {
                is_fixed &= !matches!(e, Expression::Variable(_) | Expression::Call(..));
            });
            if !is_fixed {
                return refused("pass values that are the same in each run for its extents");
            }
            extents.push(extent);
        }
        Ok(DataSpace {
            name: bound.data[&space.name].space.clone(),
            extents,
            ..space.clone()
        })
    }

    /// Whether the data that are passed are zero whenever a run begins: nobody else
    /// writes them, and each run has a slice of its own.
    fn is_zero(&self, space: &DataSpace, call: &Call, bound: &Bound) -> bool {
        let access = &bound.data[&space.name];
        let passed = self.space(&access.space);
        let variables = call.over.parts()[0].inputs().map(Expression::Variable);
        passed.is_some_and(|passed| !passed.role.is_given())
            && self.writers(&access.space).next().is_none()
            && variables.into_iter().all(|v| access.indices.contains(&v))
    }

    /// The statement that clears the data that are passed for `space`.
    fn cleared(
        &self,
        space: &DataSpace,
        inner: &Self,
        call: &Call,
        bound: &Bound,
    ) -> Result<Statement> {
        let names = (0..space.extents.len()).map(|mode| format!("at{mode}"));
        let mut part = Conjunction::new(names, []);
        for (variable, extent) in part.inputs().zip(&space.extents) {
            part.add(Constraint {
                first: Expression::Integer(0),
                rest: vec![
                    (Comparison::LessEqual, Expression::Variable(variable)),
                    (Comparison::Less, extent.clone()),
                ],
            });
        }
        let indices = part.inputs().map(Expression::Variable).collect();
        let clear = Statement {
            name: "clear".to_owned(),
            schedule: Vec::new(),
            target: Access {
                space: space.name.clone(),
                indices,
            },
            update: Update::Assign,
            value: Value::Integer(0),
            space: Set::new(vec![part])?,
        };
        let name = self.fresh(&format!("{}_{}_zero", inner.name, space.name));
        let mut cleared = self.moved_in(&clear, call, bound, name)?;
        cleared.schedule[call.at.len()] = Expression::Integer(0);
        Ok(cleared)
    }

    /// A statement of the inner computation, in each run.
    fn moved_in(
        &self,
        statement: &Statement,
        call: &Call,
        bound: &Bound,
        name: String,
    ) -> Result<Statement> {
        let n_over = call.over.n_elements();
        let mut parts = Vec::new();
        for outer in call.over.parts() {
            for own in statement.space.parts() {
                let mut names: Vec<String> =
                    outer.inputs().map(|v| outer.name(v).to_owned()).collect();
                for variable in own.inputs() {
                    let name = match n_over {
                        // The loops of one run are beside those of the caller.
                        0 => self.fresh_data(own.name(variable)),
                        _ => self.fresh(own.name(variable)),
                    };
                    names.push(fresh_name(&name, |name| names.iter().any(|it| it == name)));
                }
                let mut both = Conjunction::new(names, []);
                let points = both.inputs().take(n_over);
                both.conjoin_at(outer, points);
                let mut values: Vec<Expression> = both
                    .inputs()
                    .skip(n_over)
                    .map(Expression::Variable)
                    .collect();
                for variable in own.exists() {
                    let variable = both.add_exists(own.name(variable));
                    values.push(Expression::Variable(variable));
                }
                both.conjoin(own, &Inner(bound, &values));
                parts.push(both);
            }
        }
        let values: Vec<Expression> = (0..statement.variables().len())
            .map(|k| Expression::Variable(Variable::from_index(n_over + k)))
            .collect();
        let inside = Inner(bound, &values);
        let mut schedule = call.at.clone();
        schedule.push(Expression::Integer(1));
        schedule.extend(statement.schedule.iter().map(|e| e.rewritten(&inside)));
        Ok(Statement {
            name,
            space: Set::new(parts)?,
            schedule,
            target: inside.access(&statement.target),
            update: statement.update,
            value: statement.value.with_leaves(&mut |leaf| match leaf {
                Value::Variable(variable) => self.value_of(&inside.variable(*variable)),
                Value::Parameter(name) => self.value_of(&inside.constant(name)),
                Value::Entry(access) => Value::Entry(inside.access(access)),
                Value::Window(window, keys) => {
                    Value::Window(*window, keys.iter().map(|k| k.rewritten(&inside)).collect())
                }
                Value::Curve(name, coordinates) => {
                    let coordinates = coordinates.iter().map(|e| e.rewritten(&inside));
                    Value::Curve(name.clone(), coordinates.collect())
                }
                leaf => leaf.clone(),
            }),
        })
    }
}
