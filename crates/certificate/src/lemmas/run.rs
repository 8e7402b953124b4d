//! Runs: for each parent, the coordinates from its least to its greatest.

use sparsec_computation::{Statement, Update};
use sparsec_relation::{Comparison, Constraint, Expression};

use super::each;
use super::store::{filled, ranged, stored};
use super::{index, only_by, two};
use crate::Refusal;
use crate::check::Outcome;
use crate::entries::{entry, minus, natural, sum, zero};
use crate::held::{Held, after, before};
use crate::state::State;

/// `first(x) = mark` everywhere, then `first(at) min= k` at each entry.
pub(crate) fn least(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let [fill, note] = two(state, statements, [Update::Assign, Update::Minimum])?;
    let mark = filled(state, name, fill)?;
    state.visits(note)?;
    let (value, index) = (stored(note)?, index(note)?.clone());
    // The least of several values is one of them, so it is in their range.
    let range = ranged(state, name, &[&value, &mark]);
    let held = Held::Least {
        index: index.clone(),
        value: value.clone(),
    };
    state.note(name, range, None, held)?;
    let first = entry(name, index);
    state.note_fact(Constraint::new(first, Comparison::LessEqual, value))?;
    Ok(())
}

/// `behind(at) max= k + 1` at each entry, beginning with 0. An upper bound of `k` bounds it too:
/// the mark of the array `first` of the same `k` serves as one.
pub(crate) fn behind(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let note = only_by(statements, Update::Maximum)?;
    if state.beyond_entries(note).is_err() {
        return each::bounded(state, name, note);
    }
    state.visits(note)?;
    let index = index(note)?.clone();
    let value = before(&stored(note)?);
    let value = value.ok_or_else(|| Refusal::at(note, "its value is not one more than another"))?;
    let bounds = state.held.iter().filter_map(|(first, held)| match held {
        Held::Least {
            index: at,
            value: least,
        } if *at == index && *least == value => state
            .range(first)
            .and_then(|(_, end)| before(&end).or(Some(less_one(&end)))),
        _ => None,
    });
    let bounds: Vec<Expression> = bounds.collect();
    let bound = bounds.into_iter().find(|bound| {
        let zero = natural(bound.clone());
        let less = Constraint::new(value.clone(), Comparison::Less, bound.clone());
        state.always(&zero) && state.at_entries(&less)
    });
    let range = (zero(), bound.as_ref().map(after));
    let held = Held::Behind {
        index: index.clone(),
    };
    state.note(name, range, None, held)?;
    let behind = entry(name, index);
    state.note_fact(Constraint::new(value, Comparison::Less, behind))?;
    Ok(())
}

fn less_one(e: &Expression) -> Expression {
    let one = Box::new(Expression::Integer(1));
    Expression::Subtract(Box::new(e.clone()), one).simplified()
}

/// The run of an entry is not empty, so the length that is added for it is the difference, without
/// `max`.
pub(crate) fn lengths(state: &mut State<'_>, name: &str, (first, behind): (&str, &str)) -> Outcome {
    let call = |name: &str, at: &Expression| entry(name, at.clone());
    if let (Some(Held::Least { index, .. }), Some(Held::Behind { index: other, .. })) =
        (state.held.get(first), state.held.get(behind))
        && index == other
    {
        let at = index.clone();
        let some = Constraint::new(call(first, &at), Comparison::Less, call(behind, &at));
        if state.at_entries(&some) {
            let length = minus(call(behind, &at), call(first, &at));
            let end = sum(call(name, &at), length);
            state.note_fact(call(name, &after(&at)).equals(end))?;
        }
    }
    Ok(())
}

/// The run of an entry ends at its beginning plus its length. The array of lengths bounds the value of
/// the entry.
pub(crate) fn of_length(state: &mut State<'_>, name: &str, lengths: &str) -> Outcome {
    let Some(Held::Behind { index }) = state.held.get(lengths) else {
        return Ok(());
    };
    let at = index.clone();
    let end = sum(entry(name, at.clone()), entry(lengths, at.clone()));
    state.note_fact(entry(name, after(&at)).equals(end))
}
