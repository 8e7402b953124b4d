//! The lemma that the statements of an array suggest, by their updates and values.

use sparsec_base::arena::Id;
use sparsec_certificate::Lemma;
use sparsec_computation::{Computation, Operator, Role, Statement, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Expression, Variable};

/// A computed array or number, the lemma that its statements suggest, and these.
pub(super) type Computed = (String, Option<Lemma>, Vec<String>);

/// What is computed, in the order in which it is complete. Statements that count toward one
/// number, which is to be 0, are apart.
pub(super) fn arrays(computation: &Computation) -> Vec<Computed> {
    let mut all: Vec<(usize, Computed)> = Vec::new();
    for space in &computation.spaces {
        if space.role == Role::Given || space.name == "B" || is_of_changes(computation, &space.name)
        {
            continue;
        }
        let writers = computation.writers(&space.name).map(Id::index);
        let writers: Vec<usize> = writers.collect();
        let statements: Vec<&Statement> = writers
            .iter()
            .map(|at| &computation.statements[*at])
            .collect();
        let names = statements.iter().map(|statement| statement.name.clone());
        let lemma = lemma(computation, &statements);
        if lemma == Some(Lemma::Tally) {
            for (at, name) in writers.iter().zip(names) {
                all.push((2 * at, (space.name.clone(), lemma, vec![name])));
            }
            continue;
        }
        let Some(last) = writers.last() else { continue };
        // What bounds the ends of runs is known once their beginnings are.
        let at = match lemma {
            // A part takes its entries before other statements run over them.
            Some(Lemma::Taken) => {
                let like = |it: &Statement| it.space == statements[0].space;
                let first = computation.statements.iter().position(like);
                (2 * first.unwrap_or(*last)).saturating_sub(1)
            }
            Some(Lemma::Behind) => {
                let read = followed(computation, &space.name).unwrap_or(*last);
                (2 * read).saturating_sub(1)
            }
            _ => 2 * last,
        };
        let mut names: Vec<String> = names.collect();
        let last = statements
            .last()
            .and_then(|it| it.value.entries().first().copied());
        if let (Some(Lemma::Start), Some(start)) = (lemma, last) {
            let counts = computation.writers(&start.space);
            let counts = counts.map(|id| computation.statement(id).name.clone());
            names.splice(0..0, counts);
        }
        all.push((at, (space.name.clone(), lemma, names)));
    }
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, computed)| computed).collect()
}

/// Whether an array marks or counts changes of values. The lemmas of runs look at these arrays.
fn is_of_changes(computation: &Computation, name: &str) -> bool {
    let words = ["value", "before", "after", "count", "changes", "run"];
    let stem = words
        .iter()
        .find_map(|word| name.strip_suffix(&format!("_{word}")));
    stem.is_some_and(|stem| computation.space(&format!("{stem}_changes")).is_some())
}

/// The first statement that reads an array.
fn followed(computation: &Computation, name: &str) -> Option<usize> {
    computation.statements.iter().position(|statement| {
        let entries = statement.value.entries().into_iter();
        entries.map(|read| &read.space).any(|read| read == name)
    })
}

/// Whether the computation assumes the value of the integer `name`.
fn is_assumed(computation: &Computation, name: &str) -> bool {
    let number = Expression::Constant(name.to_owned());
    let assumed = computation.declarations.assumptions().iter();
    let mut links = assumed.flat_map(Constraint::split);
    links.any(|link| link.first == number && link.rest[0].0 == Comparison::Equal)
}

/// The lemma that statements suggest.
fn lemma(computation: &Computation, statements: &[&Statement]) -> Option<Lemma> {
    use Update::{Add, Assign, Maximum, Minimum};
    let updates: Vec<Update> = statements.iter().map(|it| it.update).collect();
    let first = statements.first()?;
    if first.target.indices.is_empty() {
        return match updates[..] {
            [Assign] => Some(Lemma::Count),
            [Maximum] => Some(Lemma::Greatest),
            [Add] if first.target.space == "T_unmirrored" => Some(Lemma::Mirrored),
            [Add] if !is_assumed(computation, &first.target.space) => Some(Lemma::Counted),
            [Add, ..] => Some(Lemma::Tally),
            _ => None,
        };
    }
    let last = statements.last()?;
    let numbering = match &last.value {
        Value::Window(Window::Slot, _) => Some(Lemma::Slot),
        Value::Window(..) => Some(Lemma::Numbered),
        Value::Binary(Operator::Add, _, ordinal) if matches!(**ordinal, Value::Window(..)) => {
            Some(Lemma::Start)
        }
        Value::Binary(Operator::Add, _, place)
            if matches!(**place, Value::Binary(Operator::Minimum, ..)) =>
        {
            Some(Lemma::InBlocks)
        }
        _ => None,
    };
    let space = computation.space(&first.target.space);
    let is_temporary = space.is_some_and(|space| space.role == Role::Temporary);
    match updates[..] {
        [Assign] | [Assign, Assign] if numbering.is_some() => numbering,
        [Assign] => Some(match &first.value {
            Value::Binary(_, _, more)
                if matches!(&**more, Value::Binary(Operator::Add, count, _)
                if matches!(**count, Value::Entry(_))) =>
            {
                Lemma::RunStarts
            }
            value if reads(value, &first.target.space) => Lemma::Summed,
            _ if first.variables().len() == 0 => Lemma::Count,
            _ if is_of_indices(first) && !is_of_entries(computation, first) => Lemma::Each,
            Value::Binary(..) if is_temporary && is_of_entries(computation, first) => Lemma::Places,
            _ if first.target.space.ends_with("_stored") => Lemma::Taken,
            _ if is_sum_of_numbers(&first.target.indices) => Lemma::Marked,
            _ => Lemma::Keys,
        }),
        [Maximum] => Some(match &first.target.indices[..] {
            [Expression::Add(_, one)] if **one == Expression::Integer(1) => Lemma::RunningMaximum,
            _ => Lemma::Behind,
        }),
        [Add] => Some(Lemma::Sizes),
        [Assign, Minimum] => Some(Lemma::Least),
        [Assign, Assign] if first.variables().len() == 2 && last.variables().len() != 2 => {
            Some(Lemma::FilledUp)
        }
        [Assign, Assign] => Some(Lemma::Marked),
        [Assign, Assign, Assign] => Some(Lemma::RunBounds),
        [Add, Add] => Some(Lemma::Scan),
        [Maximum, Maximum] => Some(Lemma::RunningMaximum),
        _ => None,
    }
}

/// Whether a statement runs over indices, and writes the entry at each.
fn is_of_indices(statement: &Statement) -> bool {
    let index = Expression::Variable(Variable::from_index(0));
    let is_box = statement
        .space
        .as_box()
        .is_some_and(|sides| sides.len() == 1);
    is_box && statement.target.indices[..] == [index]
}

/// Whether a statement writes an entry at the place of each entry of the source.
fn is_of_entries(computation: &Computation, statement: &Statement) -> bool {
    let copies = super::copy_of(computation, "B", 0);
    copies.is_some_and(|copy| {
        let reads = copy.value.entries();
        let place = reads.first().map(|read| &read.indices);
        copy.space == statement.space && place == Some(&statement.target.indices)
    })
}

fn reads(value: &Value, name: &str) -> bool {
    value.entries().iter().any(|read| read.space == name)
}

/// Whether an index is a sum with a number that an array holds.
fn is_sum_of_numbers(indices: &[Expression]) -> bool {
    let [index @ Expression::Add(..)] = indices else {
        return false;
    };
    let mut has_number = false;
    index.visit(&mut |e| has_number |= matches!(e, Expression::Call(..)));
    has_number
}
