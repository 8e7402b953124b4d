//! Hash tables: for each parent, as many slots as its entries need, and a slot for each entry.
//!
//! ```text
//! count(k) += 1                                      at each entry: the size of each group
//! pos(x + 1) = pos(x) + power_of_two(2 * count(x))   twice as many slots, or more
//! T(p) = slot(c of n, pos(k), pos(k + 1))            a free slot of the table of `k`
//! ```
//!
//! A window `slot` gives no two points the same place. It has no value if a table is full, so the
//! table of `k` needs as many slots as entries have `k`. At least half of the slots stay free: a
//! search for a key that is not there ends at one.

use sparsec_computation::{Statement, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Expression};

use super::number::{checked, most_of_group, numbered, numbers};
use super::{index, only_by};
use crate::Refusal;
use crate::check::{Outcome, require};
use crate::entries::{entry, natural, within, zero};
use crate::held::{Held, Numbering, NumberingKind, after};
use crate::state::State;

/// `count(k) += 1` at each entry.
pub(crate) fn sizes(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let count = only_by(statements, Update::Add)?;
    state.visits(count)?;
    let key = index(count)?.clone();
    let is_within = state.is_within(key.clone(), state.extent(name)?);
    require(
        count.value == Value::Integer(1) && is_within,
        count,
        "it does not count the entries of groups",
    )?;
    let numbering = numbering_of_groups(state, &key);
    let most = numbering.and_then(|it| state.numberings[it].end.clone());
    let most = most.or_else(|| most_of_group(state, std::slice::from_ref(&key)));
    let most = most.filter(|end| state.always(&natural(end.clone())));
    let range = (zero(), most.map(|end| after(&end)));
    let held = Held::Sizes {
        key: key.clone(),
        numbering,
    };
    state.note(name, range, None, held)?;
    let Some(numbering) = numbering else {
        return Ok(());
    };
    let number = state.numberings[numbering].value.clone();
    let size = entry(name, key);
    state.note_fact(Constraint::new(number, Comparison::Less, size))
}

/// The numbering of the entries within the groups of a key: it counts all entries of a group from 0
/// on. Numbers of the entries of all parts are none of one part's.
fn numbering_of_groups(state: &State<'_>, key: &Expression) -> Option<usize> {
    let is_alone = state.parts.len() == 1 && !state.has_taken;
    let is_of_groups =
        |it: &Numbering| it.kind == NumberingKind::InGroups && it.keys == std::slice::from_ref(key);
    let found = state.numberings.iter().position(is_of_groups);
    found.filter(|_| is_alone)
}

/// `T(p) = slot(c of n, pos(k) of …, pos(k + 1) of …)`, where the table of `k` has room for the
/// entries of `k`.
pub(crate) fn slot(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = numbers(state, name, statements)?;
    let Value::Window(Window::Slot, keys) = &statement.value else {
        return Err(Refusal::at(statement, "its value is no `slot`"));
    };
    let keys = checked(state, statement, keys)?;
    let wrong = |why: &str| Err(Refusal::at(statement, why));
    let [own, begin, end] = &keys[..] else {
        return wrong("it has no table");
    };
    let (Expression::Call(pos, at), Expression::Call(other, behind)) = (begin, end) else {
        return wrong("its table is no segment");
    };
    let Some(Held::Rooms { key }) = state.held.get(pos).cloned() else {
        return wrong("no counts say how many slots its table has");
    };
    let ([at], [behind]) = (&at[..], &behind[..]) else {
        return wrong("its table is no segment");
    };
    if pos != other || after(at) != behind.simplified() || !state.agree(at, &key) {
        return wrong("its table has room for the entries of another group");
    }
    numbered(
        state,
        name,
        statement,
        (Vec::new(), NumberingKind::InGroups),
    )?;
    let number = Expression::Call(name.to_owned(), statement.target.indices.clone());
    state.note_fact(within(begin.clone(), number, end.clone()))?;
    let key = own.clone();
    state.held.insert(name.to_owned(), Held::Slots { key });
    Ok(())
}

/// A search for each key of a table finds it. When an entry took its slot, no slot was free from
/// where a search for its key begins to the slot: that is the contract of `slot`. Slots that
/// entries took hold their keys, which are no free slot's mark.
pub(crate) fn found(state: &State<'_>, name: &str) -> Outcome {
    let refused = |why: &str| Err(Refusal::of(why));
    let Some(Held::Marked { index, value, mark }) = state.held.get(name) else {
        return refused("its free slots hold no mark");
    };
    // The slot of the entry itself.
    let slots = match index {
        Expression::Call(slots, _) => state.numbering(index).and(state.held.get(slots)),
        _ => None,
    };
    let Some(Held::Slots { key }) = slots else {
        return refused("its keys are not stored at their slots");
    };
    let is_key = key == value || state.at_entries(&key.clone().equals(value.clone()));
    let less = |a: &Expression, b: &Expression| {
        state.at_entries(&Constraint::new(a.clone(), Comparison::Less, b.clone()))
    };
    match is_key && (less(value, mark) || less(mark, value)) {
        true => Ok(()),
        false => refused("a slot of another key is taken, or one that looks free"),
    }
}
