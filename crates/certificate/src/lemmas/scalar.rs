//! Numbers without an index: counts.

use sparsec_base::arena::Id;
use sparsec_computation::{Operator, Statement, Update, Value};
use sparsec_relation::{Comparison, Constraint, Expression};

use super::store::{ranged, stored};
use super::{each, index, only, only_by, updates};
use crate::Refusal;
use crate::check::{Outcome, require};
use crate::entries::{At, entry, natural, variable, zero};
use crate::goal::{Goal, at_values, shifted};
use crate::held::{Held, NumberingKind, after};
use crate::order::{reads_itself, time};
use crate::state::State;

/// A number that one statement assigns has the assigned value, and so has the only entry of an array.
pub(crate) fn assigned(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = only_by(statements, Update::Assign)?;
    state.runs_once(statement)?;
    let value = stored(statement)?;
    require(
        !reads_itself(statement),
        statement,
        "it reads what it writes",
    )?;
    if statement.target.indices.is_empty() {
        let number = Expression::Constant(name.to_owned());
        state.assume(number.equals(value))?;
        state.held.insert(name.to_owned(), Held::Declared);
        return Ok(());
    }
    let is_whole = state.are_equal(&state.extent(name)?, &Expression::Integer(1));
    require(
        is_whole && *index(statement)? == zero(),
        statement,
        "it does not write all entries of its array",
    )?;
    let (least, _) = ranged(state, name, &[&value]);
    state.note(name, (least, None), None, Held::Declared)?;
    state.assume(entry(name, zero()).equals(value))
}

/// The count of a numbering without gaps is its greatest number plus 1, or 0 without entries. The
/// numbers within groups are less than this count.
pub(crate) fn greatest(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = only_by(statements, Update::Maximum)?;
    let sizes = sizes_of_groups(state, statement);
    let numbering = match &sizes {
        Some((_, numbering)) => *numbering,
        None if state.beyond_entries(statement).is_err() => {
            return each::bounded(state, name, statement);
        }
        None => {
            state.visits(statement)?;
            numbering_before(state, statement)?
        }
    };
    let number = Expression::Constant(name.to_owned());
    state.assume(natural(number.clone()))?;
    match state.numberings[numbering].end.clone() {
        Some(end) => state.assume(number.clone().equals(end))?,
        None => bounded(state, numbering, number.clone())?,
    }
    if let Some((sizes, _)) = sizes
        && let Some(held) = state.held.get(&sizes).cloned()
    {
        let range = (zero(), Some(after(&number)));
        state.note(&sizes, range, None, held)?;
    }
    state.held.insert(name.to_owned(), Held::Declared);
    Ok(())
}

/// The sizes of groups that a statement goes over, and the numbering within groups: the size of a group
/// is one more than the greatest number in it.
fn sizes_of_groups(state: &State<'_>, statement: &Statement) -> Option<(String, usize)> {
    let Value::Entry(size) = &statement.value else {
        return None;
    };
    let Some(Held::Sizes { numbering, .. }) = state.held.get(&size.space) else {
        return None;
    };
    let is_each = size.indices[..] == [variable(0)]
        && state
            .sweeps(statement, &state.extent(&size.space).ok()?)
            .is_ok();
    let is_number = statement.target.indices.is_empty() && !reads_itself(statement);
    let numbering = numbering.filter(|_| is_each && is_number)?;
    Some((size.space.clone(), numbering))
}

/// A number that is counted up once at each entry is the number of entries.
pub(crate) fn counted(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = only_by(statements, Update::Add)?;
    state.visits(statement)?;
    require(
        statement.value == Value::Integer(1) && statement.target.indices.is_empty(),
        statement,
        "it does not count entries",
    )?;
    let number = Expression::Constant(name.to_owned());
    state.assume(natural(number.clone()))?;
    state.held.insert(name.to_owned(), Held::Declared);
    if let Some(known) = state.n_entries() {
        return state.assume(number.equals(known));
    }
    state.counted = Some(number.clone());
    for numbering in 0..state.numberings.len() {
        let it = &state.numberings[numbering];
        if it.kind == NumberingKind::Entries && it.end.is_none() {
            bounded(state, numbering, number.clone())?;
        }
    }
    Ok(())
}

/// Records that the numbers of a numbering end at a number.
pub(crate) fn bounded(state: &mut State<'_>, numbering: usize, end: Expression) -> Outcome {
    state.numberings[numbering].end = Some(end.clone());
    let value = state.numberings[numbering].value.clone();
    match &value {
        Expression::Call(array, _) if state.is_full => {
            let range = (zero(), Some(end));
            state.note(array, range, None, Held::Declared)
        }
        // Places without an entry have no number.
        _ => state.note_fact(Constraint::new(value, Comparison::Less, end)),
    }
}

/// The numbering whose number plus 1 a statement stores.
pub(crate) fn numbering_before(state: &State<'_>, statement: &Statement) -> Result<usize, Refusal> {
    let number = match &statement.value {
        Value::Binary(Operator::Add, number, one) if **one == Value::Integer(1) => {
            number.to_expression()
        }
        _ => None,
    };
    let numbering = number.and_then(|number| state.numbering(&number));
    numbering.ok_or_else(|| {
        Refusal::at(
            statement,
            "its value is not one more than a number of entries",
        )
    })
}

/// A count that the computation asserts to be 0, or to be the number of places. A count of 0
/// proves, for each cited statement, that no entry meets the condition under which it counts.
pub(crate) fn tally(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    for writer in state.writers(name) {
        updates(writer, Update::Add)?;
        require(
            writer.value == Value::Integer(1),
            writer,
            "it counts by other numbers than 1",
        )?;
    }
    let number = Expression::Constant(name.to_owned());
    let assumed = state.computation.declarations.assumptions().iter();
    let mut assumed = assumed.flat_map(Constraint::split);
    let is_assumed = |value: &Expression| number.clone().equals(value.clone());
    let all = is_assumed(&state.entries.n_places);
    let none = is_assumed(&zero());
    let said = assumed.find(|it| *it == all || *it == none);
    let Some(said) = said else {
        return Err(Refusal::of(format!(
            "the computation does not assume that `{name}` is 0"
        )));
    };
    state.held.insert(name.to_owned(), Held::Declared);
    if said == all {
        let statement = only(&state.writers(name))?;
        state.visits(statement)?;
        state.is_full = state.are_apart;
        return Ok(());
    }
    let mut statements = statements.to_vec();
    statements.sort_by_key(|statement| time(statement).ok());
    for statement in statements {
        let beyond = state.beyond_entries(statement)?;
        let mut open = beyond.iter().filter(|link| !state.at_entries(link));
        let (Some(broken), None) = (open.next(), open.next()) else {
            return Err(Refusal::at(
                statement,
                "it does not count one thing of each entry",
            ));
        };
        let (comparison, right) = &broken.rest[0];
        let demand = Constraint::new(broken.first.clone(), comparison.negated(), right.clone());
        if state.at_entries(&demand) {
            continue;
        }
        // The destination must be unable to hold the counted entries, or the assertion would reject
        // tensors that it can hold.
        let map = state.destination.map.clone();
        let mut goal = Goal::new(map.n_variables(), Vec::new());
        let entry = goal.entry(state);
        let mut values = shifted(&map, 0);
        for (output, coordinate) in map.outputs().zip(&state.entries.coordinates) {
            values[output.index()] = coordinate.rewritten(&At(entry));
        }
        at_values(&map, &values)
            .into_iter()
            .for_each(|it| goal.add(it));
        goal.add(broken.rewritten(&At(entry)));
        require(
            goal.is_refuted(state) && state.is_valued(&demand),
            statement,
            "it may count entries that the destination can hold",
        )?;
        state.demands.push(demand);
    }
    Ok(())
}
