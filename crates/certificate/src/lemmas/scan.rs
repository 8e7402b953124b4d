//! Arrays of segments: the position at which the children of each parent begin.
//!
//! Both scans run over all segments in order. Afterwards, entry `x + 1` combines everything that
//! was stored at entries up to `x + 1`.

use sparsec_computation::{Statement, Update, Value};
use sparsec_relation::{Comparison, Constraint, Expression, Monotone};

use super::{index, two};
use crate::Refusal;
use crate::check::Outcome;
use crate::entries::variable;
use crate::goal::Goal;
use crate::held::{Held, NumberingKind, after, before};
use crate::lemmas::number::segments;
use crate::lemmas::scalar::numbering_before;
use crate::state::State;

/// `pos(k + 1) += 1` at each entry, then `pos(x + 1) += pos(x)`.
pub(crate) fn counts(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let [count, scan] = two(state, statements, [Update::Add; 2])?;
    if count.value != Value::Integer(1) {
        return Err(Refusal::at(count, "it does not count entries"));
    }
    let key = parent(state, name, count)?;
    scanned(state, name, scan)?;
    let end = state
        .n_entries()
        .ok_or_else(|| Refusal::at(count, "how many entries there are is not known"))?;
    rises(state, name, end, Held::Counts { key })
}

/// `pos(k + 1) max= T + 1` at each entry, then `pos(x + 1) max= pos(x)`, where `k` orders numbers.
/// The numbers of each `k` begin behind the last number of the `k` before.
pub(crate) fn running_maximum(
    state: &mut State<'_>,
    name: &str,
    statements: &[&Statement],
) -> Outcome {
    let [note, scan] = two(state, statements, [Update::Maximum; 2])?;
    let parent = parent(state, name, note)?;
    let numbering = numbering_before(state, note)?;
    scanned(state, name, scan)?;
    let numbers = state.numberings[numbering].clone();
    let end = numbers
        .end
        .clone()
        .filter(|_| numbers.kind != NumberingKind::InGroups);
    let end = end.ok_or_else(|| Refusal::at(note, "its numbers may leave some out"))?;
    // Entries of a lesser parent have lesser numbers.
    let n = state.entries.n();
    let mut goal = Goal::new(0, Vec::new());
    let [first, second] = [0, n].map(|_| goal.entry(state));
    let at = |e: &Expression, at: usize| e.rewritten(&crate::entries::At(at));
    goal.add(Constraint::new(
        at(&parent, first),
        Comparison::Less,
        at(&parent, second),
    ));
    let [a, b] = [first, second].map(|from| at(&numbers.value, from));
    goal.add(Constraint::new(a, Comparison::GreaterEqual, b));
    goal.number(state, numbering, first);
    goal.number(state, numbering, second);
    goal.numbers_in(state, &parent, first);
    goal.numbers_in(state, &parent, second);
    if !goal.is_refuted(state) {
        return Err(Refusal::at(
            note,
            "numbers are not known to be ordered by segments",
        ));
    }
    rises(state, name, end, Held::Declared)?;
    segments(state, name, numbering, parent)
}

/// The parent of each entry: `k` of a target `pos(k + 1)`.
fn parent(state: &State<'_>, name: &str, statement: &Statement) -> Result<Expression, Refusal> {
    state.visits(statement)?;
    let parent = before(index(statement)?);
    let parent =
        parent.ok_or_else(|| Refusal::at(statement, "it notes nothing behind a segment"))?;
    let within = Constraint {
        first: Expression::Integer(0),
        rest: vec![
            (Comparison::LessEqual, parent.clone()),
            (Comparison::Less, state.n_segments(name)?),
        ],
    };
    match within.split().all(|link| state.at_entries(&link)) {
        true => Ok(parent),
        false => Err(Refusal::at(statement, "an entry may belong to no segment")),
    }
}

/// Checks that a statement combines `pos(x)` into `pos(x + 1)` over all segments.
fn scanned(state: &State<'_>, name: &str, scan: &Statement) -> Outcome {
    state.sweeps(scan, &state.n_segments(name)?)?;
    let x = variable(0);
    let is_before = matches!(&scan.value, Value::Entry(read)
        if read.space == name && read.indices[..] == [x.clone()]);
    match is_before && *index(scan)? == after(&x) {
        true => Ok(()),
        false => Err(Refusal::at(
            scan,
            "it does not combine each entry with the one before",
        )),
    }
}

/// Records that an array is nondecreasing from 0 to `end`.
pub(crate) fn rises(state: &mut State<'_>, name: &str, end: Expression, held: Held) -> Outcome {
    let last = state.n_segments(name)?.simplified();
    let last = before(&state.extent(name)?).unwrap_or(last).simplified();
    state.note(
        name,
        (Expression::Integer(0), Some(after(&end))),
        Some(Monotone::Nondecreasing),
        held,
    )?;
    let call = |at: Expression| Expression::Call(name.to_owned(), vec![at]);
    state.assume(call(Expression::Integer(0)).equals(Expression::Integer(0)))?;
    state.assume(call(last).equals(end))
}
