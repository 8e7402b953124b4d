//! Blocks that all store `K` entries, filled up by the least coordinates without an entry (`n:m`).
//!
//! ```text
//! count(k) += 1                                     at most K: the conversion checks it when it runs
//! start(x + 1) = start(x) + count(x)
//! T(p) = K * k + min(o + (K - count(k)), c)         o entries of block k have a lesser c
//! crd(K * x + s) = s, crd(T(p)) = c
//! ```
//!
//! `o` is `ordinal(k)`, if visits ascend by `c`, or else `rank(k, c) - start(k)`. Let entry `e` of a
//! block of `n` entries have the place `s(e) = min(o(e) + K - n, c(e))` in it.
//!
//! * `0 <= s(e) < K`, since `0 <= o(e) < n <= K` and `0 <= c(e)`; and `s(e) <= c(e)`.
//! * If `e` comes before `f`, then `o(e) < o(f)` and `c(e) < c(f)`, so `s(e) < s(f)`.
//! * So `crd` increases in a block, where each free place holds its own number. This is clear for two
//!   entries and for two free places. A free place `s` before entry `f` has `s < s(f) <= c(f)`. If
//!   entry `e` has `s(e) = c(e)`, a free place behind holds more than `c(e)`. If not,
//!   `s(e) = o(e) + K - n < c(e)`. Then each entry `f` behind has `c(f) >= c(e) + o(f) - o(e)`, so
//!   `s(f) = o(f) + K - n`: no place behind is free.

use sparsec_computation::{Operator, Statement, Update, Value, Window};
use sparsec_relation::{Comparison, Constraint, Expression};

use super::number::{checked, numbered, numbers};
use super::store::{holds, ranged, stored};
use super::{index, two};
use crate::Refusal;
use crate::check::{Outcome, require};
use crate::entries::{natural, sum, variable, within, zero};
use crate::held::{Held, NumberingKind};
use crate::order::reads_itself;
use crate::state::State;

/// The terms of `K * k + min(o + (K - count(k)), c)`.
struct Terms<'s> {
    first: Expression,
    before: &'s Value,
    n_stored: i64,
    count: &'s sparsec_computation::Access,
    coordinate: Expression,
}

fn terms(value: &Value) -> Option<Terms<'_>> {
    let Value::Binary(Operator::Add, first, place) = value else {
        return None;
    };
    let Value::Binary(Operator::Minimum, behind, coordinate) = &**place else {
        return None;
    };
    let Value::Binary(Operator::Add, before, free) = &**behind else {
        return None;
    };
    let Value::Binary(Operator::Subtract, all, count) = &**free else {
        return None;
    };
    let (Value::Integer(n_stored), Value::Entry(count)) = (&**all, &**count) else {
        return None;
    };
    Some(Terms {
        first: first.to_expression()?,
        before,
        n_stored: *n_stored,
        count,
        coordinate: coordinate.to_expression()?,
    })
}

/// `T(p) = K * k + min(o + (K - count(k)), c)`.
pub(crate) fn in_blocks(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = numbers(state, name, statements)?;
    let wrong = |why: &str| Err(Refusal::at(statement, why));
    let Some(terms) = terms(&statement.value) else {
        return wrong("its value is no place in a block");
    };
    let (Some(Held::Sizes { key, .. }), [parent]) = (
        state.held.get(&terms.count.space).cloned(),
        &terms.count.indices[..],
    ) else {
        return wrong("nothing counts the entries of blocks");
    };
    let n = terms.n_stored;
    let counted = state
        .computation
        .declarations
        .function(&terms.count.space)
        .and_then(|function| function.range.as_box());
    let most = n.checked_add(1).map(Expression::Integer);
    let is_bounded = matches!(counted.as_deref(), Some([(_, end)]) if Some(end) == most.as_ref());
    let times = Box::new(Expression::Integer(n));
    let first = Expression::Multiply(Box::new(parent.clone()), times);
    if n < 1 || !is_bounded || !state.agree(parent, &key) || !state.agree(&terms.first, &first) {
        return wrong("a block may have more entries than places, or begin elsewhere");
    }
    let c = &terms.coordinate;
    let least = natural(c.clone());
    if !state.at_entries(&least) || !counts_before(state, statement, (terms.before, parent, c))? {
        return wrong("it does not count the entries of the block with lesser coordinates");
    }
    numbered(
        state,
        name,
        statement,
        (Vec::new(), NumberingKind::InGroups),
    )?;
    let number = Expression::Call(name.to_owned(), statement.target.indices.clone());
    let first = terms.first;
    state.note_fact(within(
        first.clone(),
        number.clone(),
        sum(first.clone(), Expression::Integer(n)),
    ))?;
    let at_most = sum(first, c.clone());
    state.note_fact(Constraint::new(number, Comparison::LessEqual, at_most))?;
    let held = Held::Block {
        parent: parent.clone(),
        coordinate: terms.coordinate,
        n_stored: n,
    };
    state.held.insert(name.to_owned(), held);
    Ok(())
}

/// Whether a value is the number of entries with the same parent and a lesser coordinate, and no two
/// entries have both in common.
fn counts_before(
    state: &State<'_>,
    statement: &Statement,
    (before, parent, c): (&Value, &Expression, &Expression),
) -> Result<bool, Refusal> {
    match before {
        Value::Window(Window::Ordinal, keys) => {
            let keys = checked(state, statement, keys)?;
            let same = std::slice::from_ref(parent);
            let ascends = state.ascends(c, (same, &state.entries.tuple()));
            Ok(keys[..] == [parent.clone()] && ascends)
        }
        Value::Binary(Operator::Subtract, rank, start) => {
            let (Value::Window(Window::Rank, keys), Value::Entry(start)) = (&**rank, &**start)
            else {
                return Ok(false);
            };
            let keys = checked(state, statement, keys)?;
            let is_start = match state.held.get(&start.space) {
                Some(Held::Counts { key }) => state.agree(key, parent),
                _ => false,
            };
            let is_of_parent = start.indices[..] == [parent.clone()];
            let told = [parent.clone(), c.clone()];
            let are_told = state.determines(&told, &state.entries.tuple());
            Ok(is_start && is_of_parent && keys[..] == told && are_told)
        }
        _ => Ok(false),
    }
}

/// `crd(K * x + s) = s` for all places, then `crd(T(p)) = c`.
pub(crate) fn filled_up(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let [fill, store] = two(state, statements, [Update::Assign; 2])?;
    state.visits(store)?;
    let value = stored(store)?;
    let held = match index(store)? {
        Expression::Call(array, at) if at[..] == [state.entries.place.clone()] => {
            state.held.get(array).cloned()
        }
        _ => None,
    };
    let Some(Held::Block {
        parent,
        coordinate,
        n_stored,
    }) = held
    else {
        return Err(Refusal::at(store, "its index is no place in a block"));
    };
    let n = Expression::Integer(n_stored);
    let times = |a: Expression| Expression::Multiply(Box::new(a), Box::new(n.clone()));
    let sides = fill.space.as_box().unwrap_or_default();
    let [(from, n_blocks), (least, end)] = &sides[..] else {
        return Err(Refusal::at(
            fill,
            "it does not run over blocks and their places",
        ));
    };
    let are_all = from.simplified() == zero()
        && least.simplified() == zero()
        && state.are_equal(end, &n)
        && state.are_equal(&state.extent(name)?, &times(n_blocks.clone()));
    let place = sum(times(variable(0)), variable(1)).equals(index(fill)?.clone());
    let is_own = fill.space.implies(&place, &state.known);
    require(
        are_all && is_own && stored(fill)? == variable(1) && !reads_itself(fill),
        fill,
        "it does not write their numbers to all places",
    )?;
    let is_within = state.is_within(parent, n_blocks.clone());
    require(
        is_within && state.agree(&value, &coordinate),
        store,
        "it does not write the coordinates of entries",
    )?;
    // T(p) < K * k + K, and K * (k + 1) is at most the length, since k is the number of a block.
    let number = index(store)?.clone();
    state.note_fact(Constraint::new(
        number,
        Comparison::Less,
        state.extent(name)?,
    ))?;
    // Numbers of places are 0 to K - 1.
    let last = Expression::Integer(n_stored - 1);
    let range = ranged(state, name, &[&value, &zero(), &last]);
    state.note(name, range, None, Held::FilledUp { n_stored })?;
    holds(state, store, value)
}
