//! Places that hold the entries of a run of coordinates each, as numbers of a list:
//!
//! ```text
//! entries   {[i, q, j] : pos(i) <= q < pos(i + 1) && bounds(q + i) <= j < bounds(q + i + 1)}     place q
//!
//! L_n1 += bounds(q + i + 1) - bounds(q + i)                  for each point (i, q) of a place
//! L_len1(q) = max(0, bounds(q + i + 1) - bounds(q + i))
//! L_at1(0) = before, L_at1(x + 1) = L_at1(x) + L_len1(x)     before: the entries of the pieces before
//! the number of an entry is L_at1(q) + (j - bounds(q + i))
//! ```
//!
//! A point and a coordinate `from <= j < end` are an entry, and each entry is such a pair. If no run
//! ends before it begins, the lengths add up to the number of entries. If no two points have one
//! place, `L_at1(q)` is the number of entries at places before `q`. So the numbers are a bijection
//! from the entries onto those from `before` on, and ascend by places, then by coordinates.

use sparsec_base::arena::Id;
use sparsec_computation::{Operator, Statement, Update, Value};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Rewrite, Set, Variable};

use super::store::stored;
use super::{array_at, index, only_by, two};
use crate::Refusal;
use crate::check::{Outcome, require};
use crate::entries::{At, entry, minus, natural, sum, variable, within, zero};
use crate::held::{Held, after};
use crate::order::reads_itself;
use crate::pieces::{count_of, counts, numbered, numbers_of};
use crate::state::State;

/// The runs of entries that share places.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    /// The points of places: those of entries without one variable.
    places: Conjunction,
    /// That variable.
    coordinate: usize,
    /// Where the run of a point begins, and its length, in the variables of the point.
    from: Expression,
    length: Value,
}

/// The variables of an entry in place of those of a point.
struct Lifted(usize);

impl Rewrite for Lifted {
    fn variable(&self, v: Variable) -> Expression {
        variable(v.index() + usize::from(v.index() >= self.0))
    }
}

/// `n += end - from` at each point of a place.
pub(crate) fn counted(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let count = only_by(statements, Update::Add)?;
    let wrong = |why: &str| Err(Refusal::at(count, why));
    let is_own = state
        .stage
        .piece()
        .is_some_and(|it| count_of(it.number) == *name);
    if !is_own || !count.target.indices.is_empty() {
        return wrong("it counts no entries of a piece");
    }
    let ([places], Value::Binary(Operator::Subtract, end, from)) =
        (count.space.parts(), &count.value)
    else {
        return wrong("it adds no lengths of runs");
    };
    let (Some(end), Some(from)) = (end.to_expression(), from.to_expression()) else {
        return wrong("it adds no lengths of runs");
    };
    let own = state.entries.names();
    let names: Vec<&str> = places.inputs().map(|v| places.name(v)).collect();
    let coordinate = (0..own.len()).find(|at| {
        let without = own.iter().enumerate().filter(|(other, _)| other != at);
        without
            .map(|(_, name)| name.as_str())
            .eq(names.iter().copied())
    });
    let Some(coordinate) = coordinate.filter(|_| places.exists().len() == 0) else {
        return wrong("its points are not those of entries without a coordinate");
    };
    let lifted = Lifted(coordinate);
    let run = within(
        from.rewritten(&lifted),
        variable(coordinate),
        end.rewritten(&lifted),
    );
    let mut pairs = Conjunction::new(own.clone(), []);
    let constraints = places.constraints().iter();
    constraints.for_each(|it| pairs.add(it.rewritten(&lifted)));
    pairs.add(run);
    let set = |part: &Conjunction| {
        Set::new(vec![part.clone()]).map_err(|_| Refusal::at(count, "a name has two roles"))
    };
    let implies = |from: &Set, to: &Conjunction| {
        let mut links = to.constraints().iter().flat_map(Constraint::split);
        links.all(|link| from.implies(&link, &state.known))
    };
    let are_same = state.entries.n_hidden == 0
        && implies(&set(&pairs)?, &state.entries.part)
        && implies(&set(&state.entries.part)?, &pairs);
    if !are_same {
        return wrong("its points with their runs are not the entries");
    }
    let is_run = Constraint::new(from.clone(), Comparison::LessEqual, end);
    if !count.space.implies(&is_run, &state.known) {
        return wrong("a run may end before it begins");
    }
    let number = Expression::Constant(name.to_owned());
    state.assume(natural(number.clone()))?;
    state.held.insert(name.to_owned(), Held::Declared);
    state.counted = Some(number);
    state.runs = Some(Runs {
        places: places.clone(),
        coordinate,
        from,
        length: count.value.clone(),
    });
    Ok(())
}

/// `len(place) = max(0, end - from)` at each point of a place.
pub(crate) fn lengths(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = only_by(statements, Update::Assign)?;
    let wrong = |why: &str| Err(Refusal::at(statement, why));
    let Some(runs) = state.runs.clone() else {
        return wrong("no entries of runs are counted");
    };
    let length = match &statement.value {
        Value::Binary(Operator::Maximum, zero, length) if **zero == Value::Integer(0) => length,
        _ => return wrong("its value is no length of a run"),
    };
    let is_each = statement.space.parts() == [runs.places.clone()] && **length == runs.length;
    if !is_each || reads_itself(statement) {
        return wrong("it does not write the length of each run");
    }
    let place = index(statement)?.clone();
    let lifted = place.rewritten(&Lifted(runs.coordinate));
    let within = within(zero(), place.clone(), state.entries.n_places.clone());
    let mut within = within.split();
    let is_place = lifted == state.entries.place
        && state.are_equal(&state.extent(name)?, &state.entries.n_places)
        && within.all(|link| statement.space.implies(&link, &state.known));
    if !is_place {
        return wrong("it does not write at the places of entries");
    }
    if !are_apart(state, &runs.places, &place) {
        return wrong("two runs may share a place");
    }
    let range = (zero(), None);
    state.note(name, range, None, Held::RunLengths)
}

/// Whether no two points of a conjunction have the same place.
fn are_apart(state: &State<'_>, places: &Conjunction, place: &Expression) -> bool {
    let n = places.n_variables();
    (0..n).all(|at| {
        let names: Vec<String> = (0..2 * n).map(|n| format!("v{n}")).collect();
        let mut both = Conjunction::new(names, []);
        for shift in [At(0), At(n)] {
            let constraints = places.constraints().iter();
            constraints.for_each(|it| both.add(it.rewritten(&shift)));
        }
        both.add(place.rewritten(&At(0)).equals(place.rewritten(&At(n))));
        (0..at).for_each(|at| both.add(variable(at).equals(variable(n + at))));
        // The two points have no names, so the lesser one may be the first.
        both.add(Constraint::new(
            variable(at),
            Comparison::Less,
            variable(n + at),
        ));
        Set::new(vec![both]).is_ok_and(|set| set.is_refuted(&state.known))
    })
}

/// `at(0) = before`, then `at(x + 1) = at(x) + len(x)` for all places.
pub(crate) fn starts(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let [first, scan] = two(state, statements, [Update::Assign; 2])?;
    let (Some(runs), Some(piece)) = (state.runs.clone(), state.stage.piece().cloned()) else {
        return Err(Refusal::at(first, "no entries of runs are counted"));
    };
    state.runs_once(first)?;
    let before = stored(first)?;
    let own = Expression::Constant(count_of(piece.number));
    let end = Expression::Constant("L_NZ".to_owned());
    let is_behind = *index(first)? == zero()
        && *name == numbers_of(piece.number)
        && state.are_equal(&before, &counts(piece.number))
        && state.are_equal(&end, &counts(piece.n_pieces));
    require(
        is_behind,
        first,
        "it does not begin behind the entries of the pieces before",
    )?;
    let n_places = state.entries.n_places.clone();
    state.sweeps(scan, &n_places)?;
    let x = variable(0);
    let added = match &scan.value {
        Value::Binary(Operator::Add, own, length) if array_at(own, &x).as_deref() == Some(name) => {
            array_at(length, &x)
        }
        _ => None,
    };
    let lengths = added.as_ref().and_then(|array| state.held.get(array));
    let is_sum = matches!(lengths, Some(Held::RunLengths));
    let is_whole = state.are_equal(&state.extent(name)?, &after(&n_places));
    require(
        is_sum && is_whole && *index(scan)? == after(&x),
        scan,
        "it does not add the length of each run",
    )?;
    let any = (Expression::Integer(i64::MIN), None);
    state.note(name, any, None, Held::Declared)?;
    let place = state.entries.place.clone();
    let start = entry(name, place.clone());
    let from = runs.from.rewritten(&Lifted(runs.coordinate));
    let coordinate = variable(runs.coordinate);
    let offset = minus(coordinate.clone(), from);
    let number = sum(start, offset);
    let behind = sum(before.clone(), own).simplified();
    state.listed_at = Some(number.clone());
    state.note_fact(within(before, number.clone(), behind))?;
    numbered(state, &piece, (number, vec![place, coordinate]), end)
}
