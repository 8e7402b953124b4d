//! Sweeps: statements over the same entries in one loop nest.
//!
//! Synthesis puts statements one behind the other. Here each moves to the first sweep over
//! its space in which all that it depends on is there:
//!
//! ```text
//! s1: B_crd1(p) = j         at [1, p, i, j]          at [1, p, i, j, 0]
//! s2: B_pos1(i + 1) max= …  at [2, p, i, j]    ──►   at [1, p, i, j, 1]
//! s3: B_pos1(x + 1) max= …  at [3, x]                at [2, x, 0]
//! s4: B(p) = A(p)           at [4, p, i, j]          at [1, p, i, j, 2]
//! ```
//!
//! A statement may be in one sweep with another that it depends on only if it reads, or
//! follows in indices, the entry alone that the other writes at the same point. Then a whole sweep
//! joins a later one over its space, if no statement between them depends on it.

use std::collections::BTreeSet;

use sparsec_computation::{Access, Computation, Statement, Update};
use sparsec_relation::{Constraint, Expression};

/// Gives statements the times of their sweeps. If `with_producers`, a statement may share a sweep
/// with the statement that writes the entry which it reads at the point.
pub(crate) fn schedule(computation: &mut Computation, with_producers: bool) {
    let mut settled = BTreeSet::new();
    let sweeps = loop {
        let sweeps = arranged(computation, &settled, with_producers);
        match left_behind(computation, &sweeps) {
            Some(name) if settled.insert(name.clone()) => {}
            _ => break sweeps,
        }
    };
    for (at, sweep) in sweeps.iter().enumerate() {
        for (place, number) in sweep.iter().enumerate() {
            let statement = &mut computation.statements[*number];
            let time = |n: usize| Expression::Integer(i64::try_from(n).expect("few statements"));
            let tuple = statement.variables().map(Expression::Variable);
            let tuple: Vec<Expression> = tuple.collect();
            statement.schedule = [vec![time(at)], tuple, vec![time(place)]].concat();
        }
    }
    // In the text, sweeps stand one behind the other.
    let order: Vec<usize> = sweeps.concat();
    let statements = order
        .iter()
        .map(|number| computation.statements[*number].clone());
    computation.statements = statements.collect();
}

/// The statements of each sweep. No statement shares a sweep with the one that writes
/// `settled` data which it depends on.
fn arranged(
    computation: &Computation,
    settled: &BTreeSet<String>,
    with_producers: bool,
) -> Vec<Vec<usize>> {
    let mut sweeps: Vec<Vec<usize>> = Vec::new();
    for (number, statement) in computation.statements.iter().enumerate() {
        let mut first = 0;
        for (at, sweep) in sweeps.iter().enumerate() {
            for other in sweep.iter().map(|other| &computation.statements[*other]) {
                let is_settled = !with_producers || settled.contains(&other.target.space);
                match dependence(computation, statement, other) {
                    Dependence::None => {}
                    Dependence::AtPoint if statement.space == other.space && !is_settled => {
                        first = first.max(at);
                    }
                    _ => first = first.max(at + 1),
                }
            }
        }
        let like = |sweep: &Vec<usize>| computation.statements[sweep[0]].space == statement.space;
        match sweeps.iter().skip(first).position(like) {
            Some(at) => sweeps[first + at].push(number),
            None => sweeps.push(vec![number]),
        }
    }
    join(computation, settled, with_producers, &mut sweeps);
    sweeps
}

/// Joins sweeps with later ones over their spaces.
fn join(
    computation: &Computation,
    settled: &BTreeSet<String>,
    with_producers: bool,
    sweeps: &mut Vec<Vec<usize>>,
) {
    let statement = |number: &usize| &computation.statements[*number];
    let mut at = 0;
    while at < sweeps.len() {
        let (sweep, later) = sweeps[at..].split_first().expect("there is a sweep at");
        let depends = |number: &usize, may_share: bool| {
            sweep.iter().map(statement).any(|earlier| {
                let is_settled = !with_producers || settled.contains(&earlier.target.space);
                match dependence(computation, statement(number), earlier) {
                    Dependence::None => false,
                    Dependence::AtPoint => !may_share || is_settled,
                    Dependence::Elsewhere => true,
                }
            })
        };
        let mut joined = None;
        for (behind, other) in later.iter().enumerate() {
            let is_like = statement(&other[0]).space == statement(&sweep[0]).space;
            if is_like && !other.iter().any(|number| depends(number, true)) {
                joined = Some(at + 1 + behind);
            }
            if joined.is_some() || other.iter().any(|number| depends(number, false)) {
                break;
            }
        }
        match joined {
            Some(other) => {
                let sweep = std::mem::take(&mut sweeps[at]);
                sweeps[other].splice(0..0, sweep);
                sweeps.remove(at);
            }
            None => at += 1,
        }
    }
}

/// Data that some statements follow in the sweep that writes them, and others in a later one:
/// loops of the later one need an array of them, which is there once a sweep has ended.
fn left_behind<'c>(computation: &'c Computation, sweeps: &[Vec<usize>]) -> Option<&'c String> {
    let sweep_of = |number: usize| sweeps.iter().position(|sweep| sweep.contains(&number));
    let statements = computation.statements.iter().enumerate();
    statements.clone().find_map(|(number, writer)| {
        let name = &writer.target.space;
        let own = sweep_of(number);
        let followers = statements
            .clone()
            .filter(|(_, it)| followed(computation, it).contains(name));
        let sweeps: BTreeSet<Option<usize>> = followers.map(|(it, _)| sweep_of(it)).collect();
        (sweeps.len() > 1 && sweeps.contains(&own)).then_some(name)
    })
}

/// How a statement depends on an earlier one.
enum Dependence {
    None,
    /// Through the entry that both touch at the same point of their space.
    AtPoint,
    /// In any other way.
    Elsewhere,
}

fn dependence(computation: &Computation, later: &Statement, earlier: &Statement) -> Dependence {
    let (written, target) = (&earlier.target.space, &later.target.space);
    let follows =
        |statement: &Statement, name: &String| followed(computation, statement).contains(name);
    let reads = |statement: &Statement, access: &Access| {
        let entries = statement.value.entries();
        let of_space = entries
            .into_iter()
            .filter(|read| read.space == access.space);
        let of_space: Vec<&Access> = of_space.collect();
        (
            !of_space.is_empty(),
            of_space.iter().all(|read| *read == access),
        )
    };
    let has_window = !later.value.windows().is_empty();
    let (reads_it, at_point) = reads(later, &earlier.target);
    let (is_read, read_at_point) = reads(earlier, &later.target);
    let is_same = later.update == earlier.update && later.update != Update::Assign;
    let follows_it = follows(later, written);
    if follows_it && !later.is_at_point_of(earlier) || follows(earlier, target) {
        return Dependence::Elsewhere;
    }
    if written == target {
        let apart = is_same && !reads_it && !is_read;
        return match apart {
            true => Dependence::None,
            false => Dependence::Elsewhere,
        };
    }
    match (reads_it || follows_it, is_read) {
        (false, false) => Dependence::None,
        _ if has_window => Dependence::Elsewhere,
        _ if (!reads_it || at_point) && (!is_read || read_at_point) => Dependence::AtPoint,
        _ => Dependence::Elsewhere,
    }
}

/// The names that a statement's points, indices and keys speak of, and the extents of what
/// it touches.
fn followed(computation: &Computation, statement: &Statement) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut note = |e: &Expression| {
        e.visit(&mut |e| {
            if let Expression::Call(name, _) | Expression::Constant(name) = e {
                names.insert(name.clone());
            }
        });
    };
    for part in statement.space.parts() {
        let constraints = part.constraints().iter();
        constraints
            .flat_map(Constraint::expressions)
            .for_each(&mut note);
    }
    statement
        .value
        .expressions()
        .into_iter()
        .for_each(&mut note);
    let entries = statement.value.entries().into_iter();
    for access in entries.chain([&statement.target]) {
        access.indices.iter().for_each(&mut note);
        let space = computation.space(&access.space).into_iter();
        space.flat_map(|space| &space.extents).for_each(&mut note);
    }
    names
}
