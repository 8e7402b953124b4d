//! Arrays of segments: the position at which the children of each parent begin.
//!
//! Scans run over all segments in order. Afterwards, entry `x + 1` combines everything that was stored
//! at entries up to `x + 1`:
//!
//! ```text
//! pos(k + 1) += 1,        pos(x + 1) += pos(x)                 the entries of lesser keys
//! pos(k + 1) max= T + 1,  pos(x + 1) max= pos(x)               the segments of numbers
//! pos(k + 1) max= T + 1                                        the same, where each `k` has an entry
//! pos(x + 1) = pos(x) + count(x)                               the entries of lesser keys
//! pos(x + 1) = pos(x) + max(behind(x) - first(x), 0)           the lengths of runs
//! pos(x + 1) = pos(x) + power_of_two(2 * count(x))             room for entries
//! pos(x + 1) = pos(x) + e(x)                                   any lengths that are not negative
//! ```
//!
//! **Ordinals.** Let `slot` number the entries of each group from 0 on. An entry with the number
//! `s + 1` has one with the number `s` in its group, so no number has more entries than a lesser one.
//! As many entries have the number `s` as groups have more than `s` entries. If `place` ranks groups
//! by falling size, groups of a lesser place than that of group `g` have at least its size. So
//! `place(g)` is less than the count of the number of each entry of `g`.

use sparsec_computation::{Operator, Statement, Update, Value};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Monotone};

use super::{array_at, index, only_by, two, updates};
use crate::Refusal;
use crate::check::{Outcome, require};
use crate::entries::{entry, is_constant, minus, natural, sum, variable, within, zero};
use crate::held::{Held, NumberingKind, after, before};
use crate::lemmas::number::segments;
use crate::lemmas::run;
use crate::lemmas::scalar::numbering_before;
use crate::order::accesses;
use crate::state::State;

/// `pos(k + 1) += 1` at each entry, then `pos(x + 1) += pos(x)`.
pub(crate) fn counts(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let [count, scan] = two(state, statements, [Update::Add; 2])?;
    require(
        count.value == Value::Integer(1),
        count,
        "it does not count entries",
    )?;
    let key = parent(state, name, count)?;
    scanned(state, name, scan)?;
    let end = state
        .n_entries()
        .ok_or_else(|| Refusal::at(count, "how many entries there are is not known"))?;
    let is_ordinal = state.ordinal(&key).is_some();
    let are_filled = are_filled(state, name, &key)?;
    rises(state, name, end, Held::Counts { key })?;
    if are_filled {
        state.note_order(name, Monotone::Increasing);
    }
    if is_ordinal {
        falls(state, name)?;
        by_size(state)?;
    }
    Ok(())
}

/// Records that the counts of an array fall: `pos(s + 2) - pos(s + 1) <= pos(s + 1) - pos(s)`.
fn falls(state: &mut State<'_>, name: &str) -> Outcome {
    let behind = |n: i64| sum(variable(0), Expression::Integer(n));
    let mut premises = Conjunction::new(["s"], []);
    premises.add(natural(variable(0)));
    let last = state.n_segments(name)?;
    premises.add(Constraint::new(behind(2), Comparison::LessEqual, last));
    let count = minus(entry(name, behind(1)), entry(name, variable(0)));
    let next = minus(entry(name, behind(2)), entry(name, behind(1)));
    let falls = Constraint::new(next, Comparison::LessEqual, count);
    state.known.forall(premises, vec![falls]);
    Ok(())
}

/// Records that the place of a group by falling size is less than the count of each number in it.
pub(crate) fn by_size(state: &mut State<'_>) -> Outcome {
    let mut facts = Vec::new();
    for (place, held) in &state.held {
        let Held::Permutation { keys } = held else {
            continue;
        };
        let Some(Expression::Subtract(most, size)) = keys.first() else {
            continue;
        };
        let Expression::Call(sizes, at) = &**size else {
            continue;
        };
        let Some(Held::Sizes {
            key: group,
            numbering: Some(numbering),
        }) = state.held.get(sizes)
        else {
            continue;
        };
        let slot = &state.numberings[*numbering].value;
        let falls = at[..] == [variable(0)] && is_constant(most) && state.ordinal(slot).is_some();
        let are_all = state.are_equal(&state.extent(place)?, &state.extent(sizes)?);
        for (pos, held) in &state.held {
            if falls && are_all && matches!(held, Held::Counts { key } if key == slot) {
                let count = minus(entry(pos, after(slot)), entry(pos, slot.clone()));
                let place = entry(place, group.clone());
                facts.push(Constraint::new(place, Comparison::Less, count));
            }
        }
    }
    facts.retain(|fact| !state.facts.contains(fact));
    facts.into_iter().try_for_each(|fact| state.note_fact(fact))
}

/// `pos(k + 1) max= T + 1` at each entry, then `pos(x + 1) max= pos(x)`, where `k` orders numbers.
/// The numbers of each `k` begin behind the last number of the `k` before. If each segment has an
/// entry, the second statement may be left out.
pub(crate) fn running_maximum(
    state: &mut State<'_>,
    name: &str,
    statements: &[&Statement],
) -> Outcome {
    let (note, scan) = match statements {
        [note] => (*note, None),
        _ => {
            let [note, scan] = two(state, statements, [Update::Maximum; 2])?;
            (note, Some(scan))
        }
    };
    updates(note, Update::Maximum)?;
    let parent = parent(state, name, note)?;
    let numbering = numbering_before(state, note)?;
    let are_filled = are_filled(state, name, &parent)?;
    match scan {
        Some(scan) => scanned(state, name, scan)?,
        None => require(are_filled, note, "a segment may have no entry")?,
    }
    let numbers = state.numberings[numbering].clone();
    let end = numbers
        .end
        .clone()
        .filter(|_| numbers.kind != NumberingKind::InGroups);
    let end = end.ok_or_else(|| Refusal::at(note, "its numbers may leave some out"))?;
    require(
        state.ascends(&numbers.value, (&[], std::slice::from_ref(&parent))),
        note,
        "numbers are not known to be ordered by segments",
    )?;
    rises(state, name, end, Held::Declared)?;
    if are_filled {
        state.note_order(name, Monotone::Increasing);
    }
    segments(state, name, numbering, parent)
}

/// `pos(x + 1) = pos(x) + length(x)` over all segments, beginning with 0.
pub(crate) fn sums(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let scan = only_by(statements, Update::Assign)?;
    state.sweeps(scan, &state.n_segments(name)?)?;
    let x = variable(0);
    let Value::Binary(Operator::Add, before, length) = &scan.value else {
        return Err(Refusal::at(scan, "it does not add a length to each entry"));
    };
    let own = accesses(scan);
    let is_next = array_at(before, &x).as_deref() == Some(name)
        && *index(scan)? == after(&x)
        && own[1..].iter().filter(|it| it.space == name).count() == 1;
    require(is_next, scan, "it does not write behind what it reads")?;
    let sizes_at = |value: &Value| match state.held.get(&array_at(value, &x)?) {
        Some(Held::Sizes { key, .. }) => Some(key.clone()),
        _ => None,
    };
    let held = match &**length {
        Value::PowerOfTwo(least) => match &**least {
            Value::Binary(Operator::Multiply, factor, count)
                if matches!(**factor, Value::Integer(2..=1024)) =>
            {
                sizes_at(count).map(|key| Held::Rooms { key })
            }
            _ => None,
        },
        Value::Binary(Operator::Maximum, run, zero) if **zero == Value::Integer(0) => {
            match &**run {
                Value::Binary(Operator::Subtract, behind, first) => array_at(behind, &x)
                    .zip(array_at(first, &x))
                    .map(|(behind, first)| Held::Lengths { first, behind }),
                _ => None,
            }
        }
        length => match sizes_at(length) {
            Some(key) => Some(Held::Counts { key }),
            None => length.to_expression().and_then(|length| {
                let natural = natural(length);
                let holds = scan.space.implies(&natural, &state.known);
                (holds && state.is_valued_over(scan, &natural)).then_some(Held::Declared)
            }),
        },
    };
    let held = held.ok_or_else(|| Refusal::at(scan, "it may add a negative length"))?;
    let range = (zero(), None);
    let monotone = Some(Monotone::Nondecreasing);
    state.note(name, range, monotone, held.clone())?;
    state.assume(entry(name, zero()).equals(zero()))?;
    match held {
        Held::Lengths { first, behind } => run::lengths(state, name, (&first, &behind)),
        Held::Declared => {
            let sum = scan.value.to_expression().expect("its terms are integers");
            state.note_over(scan, entry(name, after(&x)).equals(sum))?;
            match array_at(length, &x) {
                Some(lengths) => run::of_length(state, name, &lengths),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// The parent of each entry: `k` of a target `pos(k + 1)`.
fn parent(state: &State<'_>, name: &str, statement: &Statement) -> Result<Expression, Refusal> {
    state.visits(statement)?;
    let parent = before(index(statement)?);
    let parent =
        parent.ok_or_else(|| Refusal::at(statement, "it notes nothing behind a segment"))?;
    let within = within(zero(), parent.clone(), state.n_segments(name)?);
    match within.split().all(|link| state.at_entries(&link)) {
        true => Ok(parent),
        false => Err(Refusal::at(statement, "an entry may belong to no segment")),
    }
}

/// Whether each segment has an entry: the numbers of the parents leave no segment out.
fn are_filled(state: &State<'_>, name: &str, parent: &Expression) -> Result<bool, Refusal> {
    let own = state.numbering(parent).map(|it| &state.numberings[it]);
    let own = own.filter(|it| it.kind != NumberingKind::InGroups);
    let n_segments = state.n_segments(name)?;
    let end = own.and_then(|it| it.end.as_ref());
    Ok(end.is_some_and(|end| state.are_equal(end, &n_segments)))
}

/// Checks that a statement combines `pos(x)` into `pos(x + 1)` over all segments.
fn scanned(state: &State<'_>, name: &str, scan: &Statement) -> Outcome {
    state.sweeps(scan, &state.n_segments(name)?)?;
    let x = variable(0);
    let is_before = matches!(&scan.value, Value::Entry(read)
        if read.space == name && read.indices[..] == [x.clone()]);
    require(
        is_before && *index(scan)? == after(&x),
        scan,
        "it does not combine each entry with the one before",
    )
}

/// Records that an array is nondecreasing from 0 to `end`.
pub(crate) fn rises(state: &mut State<'_>, name: &str, end: Expression, held: Held) -> Outcome {
    let last = state.n_segments(name)?;
    state.note(
        name,
        (zero(), Some(after(&end))),
        Some(Monotone::Nondecreasing),
        held,
    )?;
    state.assume(entry(name, zero()).equals(zero()))?;
    state.assume(entry(name, last).equals(end))
}
