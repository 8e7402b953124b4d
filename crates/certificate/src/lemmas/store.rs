//! Arrays that hold a value for each entry, at the entry's number or at another index.

use sparsec_computation::{Statement, Update, Value};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Set};

use super::{index, only_by, two, updates};
use crate::Refusal;
use crate::check::{Outcome, require};
use crate::entries::{At, entry, is_constant, natural, variable, within, zero};
use crate::goal::Goal;
use crate::held::{Held, Numbering, NumberingKind};
use crate::order::reads_itself;
use crate::state::State;

/// `crd(T) = k` at each entry. Entries with the same number have the same `k`, and the numbers
/// cover the array.
pub(crate) fn keys(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = only_by(statements, Update::Assign)?;
    if let Some(permutation) = inverted(state, statement) {
        return inverse(state, name, (&permutation, statement), None);
    }
    state.visits(statement)?;
    let value = stored(statement)?;
    let numbering = state.numbering(index(statement)?);
    let numbering =
        numbering.ok_or_else(|| Refusal::at(statement, "its index is no number of entries"))?;
    let numbers = state.numberings[numbering].clone();
    let end = numbers
        .end
        .filter(|_| numbers.kind != NumberingKind::InGroups);
    let is_whole =
        end.is_some_and(|end| state.extent(name).is_ok_and(|n| state.are_equal(&end, &n)));
    require(
        is_whole,
        statement,
        "it may leave entries of its array unwritten",
    )?;
    agrees(state, statement, &value)?;
    let range = ranged(state, name, &[&value]);
    state.note(
        name,
        range,
        None,
        Held::Keys {
            numbering,
            value: value.clone(),
        },
    )?;
    holds(state, statement, value)
}

/// The permutation whose inverse a statement stores: `perm(place(x)) = x` for each index `x`.
fn inverted(state: &State<'_>, statement: &Statement) -> Option<String> {
    let [Expression::Call(place, at)] = &statement.target.indices[..] else {
        return None;
    };
    let extent = state.extent(place).ok()?;
    let is_inverse = matches!(state.held.get(place), Some(Held::Permutation { .. }))
        && at[..] == [variable(0)]
        && statement.value.to_expression() == Some(variable(0))
        && state.sweeps(statement, &extent).is_ok();
    is_inverse.then(|| place.clone())
}

/// The inverse of a permutation is one, if its array has no more entries; others hold the mark. At each
/// coordinate that is an index of the permutation, the inverse gives the coordinate back.
fn inverse(
    state: &mut State<'_>,
    name: &str,
    (permutation, statement): (&str, &Statement),
    mark: Option<&Expression>,
) -> Outcome {
    let (own, n) = (state.extent(name)?, state.extent(permutation)?);
    match mark {
        None if state.are_equal(&own, &n) => {
            let range = (zero(), Some(n));
            let keys = Vec::new();
            state.note(name, range, None, Held::Permutation { keys })?;
            state.note_injective(name);
        }
        None => {
            return Err(Refusal::at(
                statement,
                "it may leave entries of its array unwritten",
            ));
        }
        Some(mark) => {
            require(
                state.always(&Constraint::new(n, Comparison::LessEqual, own)),
                statement,
                "an index may be outside of its array",
            )?;
            let range = ranged(state, name, &[mark]);
            let end = range.1.clone().into_iter();
            let mut bounds = vec![Constraint::new(
                range.0.clone(),
                Comparison::LessEqual,
                variable(0),
            )];
            bounds.extend(end.map(|end| Constraint::new(variable(0), Comparison::Less, end)));
            let mut bounds = bounds.iter();
            let range = match bounds.all(|it| statement.space.implies(it, &state.known)) {
                true => range,
                false => (Expression::Integer(i64::MIN), None),
            };
            state.note(name, range, None, Held::Declared)?;
        }
    }
    for coordinate in state.entries.coordinates.clone() {
        let back = entry(name, entry(permutation, coordinate.clone()));
        // A coordinate may lie outside of the array.
        let _ = state.note_fact(back.equals(coordinate));
    }
    Ok(())
}

/// `crd(at) = k` at each entry, and before it `crd(x) = mark` everywhere; without it, other places hold
/// 0. Entries with the same `at` have the same `k`.
pub(crate) fn marked(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let (mark, store) = match statements {
        [store] => (None, *store),
        _ => {
            let [fill, store] = two(state, statements, [Update::Assign; 2])?;
            (Some(filled(state, name, fill)?), store)
        }
    };
    updates(store, Update::Assign)?;
    if let (Some(mark), Some(permutation)) = (&mark, inverted(state, store)) {
        return inverse(state, name, (&permutation, store), Some(mark));
    }
    state.visits(store)?;
    let value = stored(store)?;
    agrees(state, store, &value)?;
    let (range, held) = match mark {
        Some(mark) => {
            let (index, value) = (index(store)?.clone(), value.clone());
            let range = ranged(state, name, &[&value, &mark]);
            (range, Held::Marked { index, value, mark })
        }
        None if holds_zero(state, name) => (ranged(state, name, &[&value]), Held::Declared),
        None => ((Expression::Integer(i64::MIN), None), Held::Declared),
    };
    state.note(name, range, None, held)?;
    holds(state, store, value)
}

/// Whether 0 is in the declared range of an array, if the array has a place: always, or at each
/// entry, where an array with a place means that there is an entry.
fn holds_zero(state: &State<'_>, name: &str) -> bool {
    let (Some((least, end)), Ok(extent)) = (state.range(name), state.extent(name)) else {
        return false;
    };
    let bounds = [
        Constraint::new(least, Comparison::LessEqual, zero()),
        Constraint::new(zero(), Comparison::Less, end),
    ];
    let are_constant = bounds
        .iter()
        .flat_map(Constraint::expressions)
        .all(is_constant);
    if bounds.iter().all(|bound| state.always(bound)) {
        return true;
    }
    let mut place = Conjunction::new(["p"], []);
    place.add(within(zero(), variable(0), extent));
    // A count of numbers that is not 0 is that of an entry.
    let mut ends = state.numberings.iter().filter_map(|it| it.end.clone());
    let has_entry = Set::new(vec![place]).is_ok_and(|place| {
        ends.any(|end| {
            let some = Constraint::new(zero(), Comparison::Less, end);
            place.implies(&some, &state.known)
        })
    });
    are_constant && has_entry && bounds.iter().all(|bound| state.at_entries(bound))
}

/// `stored(p) = 1` at each entry that a part takes. The entries are those from here on. Later parts
/// get the others, at whose places the array is still 0.
pub(crate) fn taken(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = only_by(statements, Update::Assign)?;
    let wrong = |why: &str| Err(Refusal::at(statement, why));
    if state.number + 1 == state.parts.len() || *name != state.destination.mask() {
        return wrong("no later part takes the entries that this part leaves");
    }
    let is_whole = state.are_equal(&state.extent(name)?, &state.entries.n_places);
    let is_marked = is_whole && statement.value == Value::Integer(1);
    if !state.are_apart || !is_marked || *index(statement)? != state.entries.place {
        return wrong("it does not mark the places of entries");
    }
    // Facts about all entries are no facts about some of them.
    let is_of_all = |numbering: &Numbering| numbering.kind != NumberingKind::InGroups;
    let holds_all = |held: &Held| !matches!(held, Held::Declared);
    if state.has_taken
        || state.numberings.iter().any(is_of_all)
        || state.held.values().any(holds_all)
        || reads_itself(statement)
    {
        return wrong("arrays of the part hold what entries have that it leaves");
    }
    let mut taken = state.beyond_entries(statement)?;
    taken.retain(|link| !state.at_entries(link));
    for link in &taken {
        let is_known = state.is_valued(link);
        if !is_known || !(state.are_distinct || follows_coordinates(state, link)) {
            return wrong("it may take one of several entries with equal coordinates");
        }
    }
    taken
        .into_iter()
        .for_each(|link| state.entries.part.add(link));
    state.has_taken = true;
    state.is_full = false;
    state.counted = None;
    state.held.insert(name.to_owned(), Held::Declared);
    Ok(())
}

/// Whether entries with equal coordinates all meet a constraint or all do not.
fn follows_coordinates(state: &State<'_>, link: &Constraint) -> bool {
    let mut goal = Goal::new(0, Vec::new());
    let [a, b] = [(); 2].map(|()| goal.entry(state));
    for coordinate in &state.entries.coordinates {
        goal.add(
            coordinate
                .rewritten(&At(a))
                .equals(coordinate.rewritten(&At(b))),
        );
    }
    let (comparison, right) = &link.rest[0];
    let broken = Constraint::new(link.first.clone(), comparison.negated(), right.clone());
    goal.add(link.rewritten(&At(a)));
    goal.add(broken.rewritten(&At(b)));
    goal.is_refuted(state)
}

/// The mark that a statement writes to all entries of an array.
pub(crate) fn filled(
    state: &State<'_>,
    name: &str,
    fill: &Statement,
) -> Result<Expression, Refusal> {
    state.sweeps(fill, &state.extent(name)?)?;
    let mark = stored(fill)?;
    match is_constant(&mark) && !reads_itself(fill) && *index(fill)? == variable(0) {
        true => Ok(mark),
        false => Err(Refusal::at(
            fill,
            "it does not write one mark to all entries",
        )),
    }
}

/// The value that a statement stores.
pub(crate) fn stored(statement: &Statement) -> Result<Expression, Refusal> {
    let value = match &statement.value {
        Value::Window(..) => None,
        value => value.to_expression(),
    };
    value.ok_or_else(|| Refusal::at(statement, "its value is no integer expression"))
}

/// Checks that entries that write to the same place write the same value.
fn agrees(state: &State<'_>, statement: &Statement, value: &Expression) -> Outcome {
    let index = std::slice::from_ref(index(statement)?);
    require(
        is_constant(value) || state.determines(index, std::slice::from_ref(value)),
        statement,
        "two entries may write one place, and differ",
    )
}

/// The declared range of an array, if all these values are in it; otherwise no bounds. An array without
/// two declared bounds is from 0 on if all values are.
pub(crate) fn ranged(
    state: &State<'_>,
    name: &str,
    values: &[&Expression],
) -> (Expression, Option<Expression>) {
    let any = (Expression::Integer(i64::MIN), None);
    let holds = |value: &Expression, bound: &Constraint| match is_constant(value) {
        // The array holds marks even if there are no entries, so this must hold without any.
        true => state.always(bound),
        false => state.at_entries(bound),
    };
    let Some((least, end)) = state.range(name) else {
        let mut values = values.iter();
        let are_natural = values.all(|value| holds(value, &natural((*value).clone())));
        return if are_natural { (zero(), None) } else { any };
    };
    let is_within = |value: &&Expression| {
        let least = Constraint::new(least.clone(), Comparison::LessEqual, (*value).clone());
        let end = Constraint::new((*value).clone(), Comparison::Less, end.clone());
        [least, end].iter().all(|bound| holds(value, bound))
    };
    match values.iter().all(is_within) {
        true => (least, Some(end)),
        false => any,
    }
}

/// Records that the target of a statement holds its value at each entry.
pub(crate) fn holds(state: &mut State<'_>, statement: &Statement, value: Expression) -> Outcome {
    let target = &statement.target;
    let held = Expression::Call(target.space.clone(), target.indices.clone());
    let noted = state.note_fact(held.equals(value));
    noted.map_err(|refusal| Refusal::at(statement, refusal.why))
}
