//! Arrays that hold a value for each entry, at the entry's number or at another index.

use sparsec_computation::{Statement, Update, Value};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Set};

use super::{index, only_by, two};
use crate::Refusal;
use crate::check::Outcome;
use crate::entries::{At, entry, variable, within};
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
    if !is_whole {
        return Err(Refusal::at(
            statement,
            "it may leave entries of its array unwritten",
        ));
    }
    agrees(state, statement, &value, Some(numbering))?;
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
            let range = (Expression::Integer(0), Some(n));
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
            if !state.always(&Constraint::new(n, Comparison::LessEqual, own)) {
                let why = "an index may be outside of its array";
                return Err(Refusal::at(statement, why));
            }
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

/// `crd(x) = mark` everywhere, then `crd(at) = k` at each entry. Entries with the same `at` have
/// the same `k`.
pub(crate) fn marked(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let [fill, store] = two(state, statements, [Update::Assign; 2])?;
    let mark = filled(state, name, fill)?;
    if let Some(permutation) = inverted(state, store) {
        return inverse(state, name, (&permutation, store), Some(&mark));
    }
    state.visits(store)?;
    let value = stored(store)?;
    let index = index(store)?.clone();
    agrees(state, store, &value, None)?;
    let range = ranged(state, name, &[&value, &mark]);
    let held = Held::Marked {
        index,
        value: value.clone(),
        mark,
    };
    state.note(name, range, None, held)?;
    holds(state, store, value)
}

/// `crd(at) = k` at each entry, and nothing elsewhere: other places hold 0. Entries with the same `at`
/// have the same `k`.
pub(crate) fn kept(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let store = only_by(statements, Update::Assign)?;
    state.visits(store)?;
    let value = stored(store)?;
    if reads_itself(store) {
        return Err(Refusal::at(store, "it reads the array that it writes"));
    }
    agrees(state, store, &value, None)?;
    let range = match holds_zero(state, name) {
        true => ranged(state, name, &[&value]),
        false => (Expression::Integer(i64::MIN), None),
    };
    state.note(name, range, None, Held::Declared)?;
    holds(state, store, value)
}

/// Whether 0 is in the declared range of an array, if the array has a place: always, or at each
/// entry, where an array with a place means that there is an entry.
fn holds_zero(state: &State<'_>, name: &str) -> bool {
    let (Some((least, end)), Ok(extent)) = (state.range(name), state.extent(name)) else {
        return false;
    };
    let zero = Expression::Integer(0);
    let bounds = [
        Constraint::new(least, Comparison::LessEqual, zero.clone()),
        Constraint::new(zero.clone(), Comparison::Less, end),
    ];
    let mut is_constant = true;
    for e in bounds.iter().flat_map(Constraint::expressions) {
        e.visit(&mut |e| is_constant &= !matches!(e, Expression::Variable(_)));
    }
    if bounds.iter().all(|bound| state.always(bound)) {
        return true;
    }
    let mut place = Conjunction::new(["p"], []);
    place.add(within(zero.clone(), variable(0), extent));
    // A count of numbers that is not 0 is that of an entry.
    let mut ends = state.numberings.iter().filter_map(|it| it.end.clone());
    let has_entry = Set::new(vec![place]).is_ok_and(|place| {
        ends.any(|end| {
            let some = Constraint::new(zero.clone(), Comparison::Less, end);
            place.implies(&some, &state.known)
        })
    });
    is_constant && has_entry && bounds.iter().all(|bound| state.at_entries(bound))
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

/// `size(0) = n` for an array with one entry.
pub(crate) fn copied(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = only_by(statements, Update::Assign)?;
    state.runs_once(statement)?;
    let value = stored(statement)?;
    let one = Expression::Integer(1);
    let is_whole = state.are_equal(&state.extent(name)?, &one);
    if !is_whole || *index(statement)? != Expression::Integer(0) || reads_itself(statement) {
        return Err(Refusal::at(
            statement,
            "it does not write all entries of its array",
        ));
    }
    let least = state.range(name).map(|(least, _)| least);
    let least = least.filter(|least| {
        state.always(&Constraint::new(
            least.clone(),
            Comparison::LessEqual,
            value.clone(),
        ))
    });
    let least = least.unwrap_or(value.clone());
    state.note(name, (least, None), None, Held::Declared)?;
    let call = Expression::Call(name.to_owned(), vec![Expression::Integer(0)]);
    state.assume(call.equals(value))
}

/// The mark that a statement writes to all entries of an array.
pub(crate) fn filled(
    state: &State<'_>,
    name: &str,
    fill: &Statement,
) -> Result<Expression, Refusal> {
    state.sweeps(fill, &state.extent(name)?)?;
    let mark = stored(fill)?;
    let mut is_constant = !reads_itself(fill);
    mark.visit(&mut |e| is_constant &= !matches!(e, Expression::Variable(_)));
    match is_constant && *index(fill)? == crate::entries::variable(0) {
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
fn agrees(
    state: &State<'_>,
    statement: &Statement,
    value: &Expression,
    numbering: Option<usize>,
) -> Outcome {
    let mut varies = false;
    value.visit(&mut |e| varies |= matches!(e, Expression::Variable(_)));
    if !varies {
        return Ok(());
    }
    let mut goal = Goal::new(0, Vec::new());
    let [a, b] = [(); 2].map(|()| goal.entry(state));
    let at = |e: &Expression, at: usize| e.rewritten(&At(at));
    let index = index(statement)?;
    goal.add(at(index, a).equals(at(index, b)));
    goal.add(Constraint::new(
        at(value, a),
        Comparison::NotEqual,
        at(value, b),
    ));
    match numbering {
        Some(numbering) => [a, b]
            .iter()
            .for_each(|at| goal.number(state, numbering, *at)),
        None => [a, b]
            .iter()
            .for_each(|at| goal.numbers_in(state, index, *at)),
    }
    match goal.is_refuted(state) {
        true => Ok(()),
        false => Err(Refusal::at(
            statement,
            "two entries may write one place, and differ",
        )),
    }
}

/// The declared range of an array, if all these values are in it; otherwise no bounds.
pub(crate) fn ranged(
    state: &State<'_>,
    name: &str,
    values: &[&Expression],
) -> (Expression, Option<Expression>) {
    let any = (Expression::Integer(i64::MIN), None);
    let Some((least, end)) = state.range(name) else {
        return any;
    };
    let is_within = |value: &&Expression| {
        let least = Constraint::new(least.clone(), Comparison::LessEqual, (*value).clone());
        let end = Constraint::new((*value).clone(), Comparison::Less, end.clone());
        let mut is_constant = true;
        value.visit(&mut |e| is_constant &= !matches!(e, Expression::Variable(_)));
        [least, end].iter().all(|bound| match is_constant {
            // The array holds marks even if there are no entries, so this must hold without any.
            true => state.always(bound),
            false => state.at_entries(bound),
        })
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
