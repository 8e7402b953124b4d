//! Mutants of a computation: each differs from it in one thing.
//!
//! | of each statement   | mutants                                                        |
//! |---------------------|----------------------------------------------------------------|
//! | itself              | removed; in turn with the next                                 |
//! | space               | each bound one more or less; each comparison strict or not; each constraint dropped |
//! | update              | each other operator                                            |
//! | window              | each key dropped, keys reversed, another window                |
//! | operator            | the opposite                                                   |
//! | indices and value   | each one more or less                                          |

use sparsec_computation::{Access, Computation, Operator, Statement, Update, Value, Window};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Set};

/// A changed computation, and what was changed.
pub(crate) struct Mutant {
    pub(crate) what: String,
    pub(crate) computation: Computation,
}

/// All mutants; of the bounds of spaces every `stride`th.
pub(crate) fn mutants(of: &Computation, stride: usize) -> Vec<Mutant> {
    let mut all = Vec::new();
    let mut n_bounds = 0;
    for (at, statement) in of.statements.iter().enumerate() {
        let name = &statement.name;
        let mut add = |what: String, change: &dyn Fn(&mut Vec<Statement>)| {
            let mut computation = of.clone();
            change(&mut computation.statements);
            let what = format!("{name}: {what}");
            all.push(Mutant { what, computation });
        };
        add("removed".to_owned(), &|all| _ = all.remove(at));
        if at + 1 < of.statements.len() {
            add("in turn with the next".to_owned(), &|all| swap(all, at));
        }
        for update in Update::ALL.into_iter().filter(|it| *it != statement.update) {
            add(format!("`{}`", update.symbol()), &|all| {
                all[at].update = update
            });
        }
        for (what, value) in values(&statement.value) {
            add(what, &|all| all[at].value = value.clone());
        }
        for index in 0..statement.target.indices.len() {
            for by in [1, -1] {
                add(format!("target {by:+}"), &|all| {
                    let index = &mut all[at].target.indices[index];
                    *index = moved(index, by);
                });
            }
        }
        for (what, space) in spaces(&statement.space) {
            n_bounds += 1;
            if n_bounds % stride == 0 {
                add(what, &|all| all[at].space = space.clone());
            }
        }
    }
    all
}

/// Exchanges the times of two statements, and their places in the text.
fn swap(all: &mut [Statement], at: usize) {
    let time = |statement: &Statement| {
        let schedule = &statement.schedule;
        (schedule[0].clone(), schedule[schedule.len() - 1].clone())
    };
    let times = [at, at + 1].map(|at| time(&all[at]));
    for (at, (first, last)) in [at + 1, at].into_iter().zip(times) {
        let schedule = &mut all[at].schedule;
        schedule[0] = first;
        *schedule.last_mut().expect("a schedule has a place") = last;
    }
    all.swap(at, at + 1);
}

fn moved(e: &Expression, by: i64) -> Expression {
    let by = Box::new(Expression::Integer(by));
    Expression::Add(Box::new(e.clone()), by).simplified()
}

/// A value with one thing changed.
fn values(value: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    match value {
        Value::Integer(n) => {
            all.extend([1, -1].map(|by| (format!("value {by:+}"), Value::Integer(n + by))));
        }
        Value::Entry(access) => {
            for (index, e) in access.indices.iter().enumerate() {
                for by in [1, -1] {
                    let mut indices = access.indices.clone();
                    indices[index] = moved(e, by);
                    let space = access.space.clone();
                    all.push((
                        format!("read {by:+}"),
                        Value::Entry(Access { space, indices }),
                    ));
                }
            }
        }
        Value::Variable(_)
        | Value::Parameter(_)
        | Value::Curve(..)
        | Value::PowerOfTwo(_)
        | Value::Differs(..) => {
            let one = Box::new(Value::Integer(1));
            let more = Value::Binary(Operator::Add, Box::new(value.clone()), one);
            all.push(("value +1".to_owned(), more));
        }
        Value::Binary(operator, a, b) => {
            let other = match operator {
                Operator::Add => Some(Operator::Subtract),
                Operator::Subtract => Some(Operator::Add),
                Operator::FloorDivide => Some(Operator::Modulo),
                Operator::Modulo => Some(Operator::FloorDivide),
                _ => None,
            };
            all.extend(other.map(|other| {
                let changed = Value::Binary(other, a.clone(), b.clone());
                ("another operator".to_owned(), changed)
            }));
            for (what, a) in values(a) {
                all.push((what, Value::Binary(*operator, Box::new(a), b.clone())));
            }
            for (what, b) in values(b) {
                all.push((what, Value::Binary(*operator, a.clone(), Box::new(b))));
            }
        }
        Value::Window(window, keys) => {
            for dropped in 0..keys.len() {
                let mut keys = keys.clone();
                keys.remove(dropped);
                all.push((
                    format!("without key {dropped}"),
                    Value::Window(*window, keys),
                ));
            }
            if keys.len() > 1 {
                let keys = keys.iter().rev().cloned().collect();
                all.push(("keys reversed".to_owned(), Value::Window(*window, keys)));
            }
            for other in Window::ALL.into_iter().filter(|it| it != window) {
                all.push((
                    format!("`{}`", other.word()),
                    Value::Window(other, keys.clone()),
                ));
            }
        }
        Value::Float(_) | Value::Negate(_) | Value::Conjugate(_) | Value::Cast(..) => {}
    }
    all
}

/// A space with one bound changed.
fn spaces(space: &Set) -> Vec<(String, Set)> {
    let [part] = space.parts() else {
        return Vec::new();
    };
    let names: Vec<String> = part.inputs().map(|v| part.name(v).to_owned()).collect();
    let empty = || {
        let mut empty = Conjunction::new(names.clone(), []);
        for hidden in part.exists() {
            empty.add_exists(part.name(hidden));
        }
        empty
    };
    let mut all = Vec::new();
    for (number, constraint) in part.constraints().iter().enumerate() {
        let mut without = empty();
        let others = part.constraints().iter().enumerate();
        let others = others.filter(|(at, _)| *at != number);
        others.for_each(|(_, constraint)| without.add(constraint.clone()));
        let without = Set::new(vec![without]).ok();
        all.extend(without.map(|set| (format!("without constraint {number}"), set)));
        let mut add = |what: String, changed: Constraint| {
            let mut other = empty();
            for (at, constraint) in part.constraints().iter().enumerate() {
                let changed = if at == number { &changed } else { constraint };
                other.add(changed.clone());
            }
            all.extend(Set::new(vec![other]).ok().map(|set| (what, set)));
        };
        for (at, e) in constraint.expressions().enumerate() {
            if matches!(e, Expression::Variable(_)) {
                continue;
            }
            for by in [1, -1] {
                let mut changed = constraint.clone();
                match at.checked_sub(1) {
                    None => changed.first = moved(e, by),
                    Some(at) => changed.rest[at].1 = moved(e, by),
                }
                add(format!("bound {number}.{at} {by:+}"), changed);
            }
        }
        for at in 0..constraint.rest.len() {
            let mut changed = constraint.clone();
            changed.rest[at].0 = match changed.rest[at].0 {
                Comparison::Less => Comparison::LessEqual,
                Comparison::LessEqual => Comparison::Less,
                Comparison::Greater => Comparison::GreaterEqual,
                Comparison::GreaterEqual => Comparison::Greater,
                Comparison::Equal => Comparison::LessEqual,
                Comparison::NotEqual => Comparison::Equal,
            };
            add(format!("comparison {number}.{at}"), changed);
        }
    }
    all
}
