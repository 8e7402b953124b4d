//! Where the runs of neighbouring coordinates begin and end; see the module above.

use sparsec_computation::{Operator, Statement, Update, Value};
use sparsec_relation::{Comparison, Conjunction, Constraint, Expression, Values};

use super::{Changes, plus_one, reads, runs_over, stored, summed};
use crate::Refusal;
use crate::check::{Outcome, refuse, require};
use crate::entries::{entry, sum, variable, within, zero};
use crate::held::{Held, after};
use crate::lemmas::{index, only_by};
use crate::state::State;

/// `bounds` at the beginning of each change, and at the end of each parent.
pub(crate) fn bounds(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let changes = state.changes.clone();
    let changes = changes.ok_or_else(|| Refusal::of("no changes are counted"))?;
    let x = variable(0);
    let call = |array: &str, at: &Expression| entry(array, at.clone());
    let end = state.extent(&changes.at)?;
    let n_parents = state.n_segments(&changes.starts)?;
    let own = |statement: &Statement, array: &str, more: i64| {
        let begins = call(array, &x).equals(Expression::Integer(1));
        let value = stored(statement).map(|value| value.simplified());
        let offset = Expression::Integer(more);
        let wanted = sum(call(&changes.at, &x), offset).simplified();
        value == Some(wanted) && runs_over(state, statement, (0, &end), &[begins])
    };
    let find = |is_wanted: &dyn Fn(&Statement) -> bool| {
        let mut found = statements.iter().copied().filter(|it| is_wanted(it));
        let only = found.next().filter(|_| found.next().is_none());
        only.ok_or_else(|| Refusal::of("a bound of its runs is not written"))
    };
    let is_begin = |it: &Statement| own(it, &changes.before, 0);
    let is_behind = |it: &Statement| own(it, &changes.after, 1);
    let is_last = |it: &Statement| {
        let value = stored(it);
        value.is_some_and(|value| state.are_equal(&value, &changes.extent))
            && runs_over(state, it, (0, &n_parents), &[])
    };
    let [begin, behind, last] = [find(&is_begin)?, find(&is_behind)?, find(&is_last)?];
    let are_all = statements.len() == 3
        && statements.iter().all(|it| it.update == Update::Assign)
        && state.writers(name).len() == 3;
    refuse(are_all, "its bounds are written again")?;
    let place = index(begin)?.clone();
    let run = match &place {
        Expression::Add(run, parent) if **parent == call(&changes.parents, &x) => match &**run {
            Expression::Call(run, at) if at[..] == [x.clone()] => Some(run.clone()),
            _ => None,
        },
        _ => None,
    };
    let Some(run) = run else {
        return Err(Refusal::at(
            begin,
            "it does not write where the run of an entry begins",
        ));
    };
    let next = index(behind)?.simplified() == plus_one(&place).simplified();
    let ends = sum(call(&changes.starts, &after(&x)), x.clone());
    require(
        next && index(last)?.simplified() == ends.simplified(),
        behind,
        "it does not write where the next run begins",
    )?;
    numbered(state, &run, (&changes, &end))?;
    let total = call(&changes.starts, &n_parents);
    let n_bounds = sum(total.clone(), n_parents.clone());
    refuse(
        state.are_equal(&state.extent(name)?, &n_bounds),
        "it has not one bound more than runs for each parent",
    )?;
    let n_runs = state.destination.ends.iter();
    let mut n_runs = n_runs.filter(|(_, value)| state.are_equal(value, &total));
    let n_runs = n_runs
        .next()
        .map(|(name, _)| Expression::Constant(name.clone()));
    let range = (zero(), Some(n_runs.unwrap_or(total)));
    state.note(&run, range, None, Held::Declared)?;
    let range = (zero(), Some(after(&changes.extent)));
    state.note(name, range, None, Held::Declared)?;
    let (premises, increases) = increasing(name, &changes.starts, &n_parents);
    state.known.forall(premises, vec![increases]);
    let run_of = call(&run, &changes.number);
    let parent = changes.parent.clone();
    state.note_fact(within(
        call(&changes.starts, &parent),
        run_of.clone(),
        call(&changes.starts, &after(&parent)),
    ))?;
    let place = sum(run_of, parent);
    state.note_fact(within(
        call(name, &place),
        changes.coordinate.clone(),
        call(name, &plus_one(&place)),
    ))?;
    state.changes = Some(Changes {
        runs: Some([name.to_owned(), run]),
        ..changes
    });
    Ok(())
}

/// Checks that an array holds the run of each entry: `run(x) = par(x) + (changes(x) + before(x))`,
/// where `changes(x + 1) = changes(x) + (before(x) + after(x))`.
fn numbered(state: &State<'_>, run: &str, (changes, end): (&Changes, &Expression)) -> Outcome {
    let x = variable(0);
    let statement = only_by(&state.writers(run), Update::Assign)?;
    let wrong = |why: &str| Err(Refusal::at(statement, why));
    let Value::Binary(Operator::Add, parent, more) = &statement.value else {
        return wrong("it does not number the runs of entries");
    };
    let Some([all, before]) = summed(more) else {
        return wrong("it does not number the runs of entries");
    };
    let is_run = reads(parent, &changes.parents, &x)
        && before == changes.before
        && *index(statement)? == x
        && runs_over(state, statement, (0, end), &[])
        && state.are_equal(&state.extent(run)?, end);
    if !is_run {
        return wrong("it does not number the runs of entries");
    }
    let scan = only_by(&state.writers(&all), Update::Assign)?;
    let inner = Constraint::new(plus_one(&x), Comparison::Less, end.clone());
    let is_sum = match &scan.value {
        Value::Binary(Operator::Add, own, more) => {
            let both = [changes.before.clone(), changes.after.clone()];
            reads(own, &all, &x) && summed(more) == Some(both)
        }
        _ => false,
    };
    let is_scan = is_sum
        && *index(scan)? == after(&x)
        && runs_over(state, scan, (0, end), &[inner])
        && state.are_equal(&state.extent(&all)?, end);
    require(
        is_scan,
        scan,
        "it does not count the changes of the entries before",
    )
}

/// That `bounds` increases from the beginning of the first run of each parent to the end of its last:
/// `forall p, b1, b2 : 0 <= p < n && starts(p) + p <= b1 < b2 <= starts(p + 1) + p => bounds(b1) < bounds(b2)`.
fn increasing(bounds: &str, starts: &str, n_parents: &Expression) -> (Conjunction, Constraint) {
    let [p, b1, b2] = [0, 1, 2].map(variable);
    let call = |array: &str, at: &Expression| entry(array, at.clone());
    let start = |at: &Expression| sum(call(starts, at), p.clone());
    let mut premises = Conjunction::new(["p", "b1", "b2"], []);
    premises.add(within(zero(), p.clone(), n_parents.clone()));
    premises.add(Constraint {
        first: start(&p),
        rest: vec![
            (Comparison::LessEqual, b1.clone()),
            (Comparison::Less, b2.clone()),
            (Comparison::LessEqual, start(&plus_one(&p))),
        ],
    });
    let increases = Constraint::new(call(bounds, &b1), Comparison::Less, call(bounds, &b2));
    (premises, increases)
}

impl State<'_> {
    /// Whether the place of each entry's value is its run, and tuples are those of the runs. Then
    /// entries share a place only if their values are equal, and places of other tuples hold the
    /// fill.
    pub(crate) fn are_in_runs(&self) -> bool {
        let Some(changes) = &self.changes else {
            return false;
        };
        let Some([bounds, run]) = &changes.runs else {
            return false;
        };
        let place = entry(run, changes.number.clone());
        let copy = self.copy().and_then(index);
        let is_written = copy.is_ok_and(|index| self.agree(index, &place));
        !self.adds && self.has_tuples && is_written && self.has_runs(changes, bounds)
    }

    /// Whether the place of a tuple is a run `q` of a parent `p`, with
    /// `starts(p) <= q < starts(p + 1)` and `bounds(q + p) <= r < bounds(q + p + 1)`, so that `p` and
    /// `r` determine the tuple, and are the parent and the coordinate of an entry at its tuple.
    fn has_runs(&self, changes: &Changes, bounds: &str) -> bool {
        let Ok(run) = self.destination.place(&self.known) else {
            return false;
        };
        let links = self.destination.map.constraints().iter();
        let links: Vec<Constraint> = links.flat_map(Constraint::split).collect();
        // `array(at) <= e`, of which the upper bound `e < array(at + 1)` is in the map too.
        let segments = |array: &str| -> Vec<(Expression, Expression)> {
            let lower = links
                .iter()
                .filter_map(|link| match (&link.first, &link.rest[..]) {
                    (Expression::Call(name, at), [(Comparison::LessEqual, e)]) if name == array => {
                        Some((at[0].clone(), e.clone()))
                    }
                    _ => None,
                });
            let has_upper = |(at, e): &(Expression, Expression)| {
                links.iter().any(|link| match &link.rest[..] {
                    [(Comparison::Less, Expression::Call(name, next))] => {
                        link.first == *e && name == array && next[0].simplified() == after(at)
                    }
                    _ => false,
                })
            };
            lower.filter(has_upper).collect()
        };
        let starts = segments(&changes.starts);
        let parents = starts.iter().filter(|(_, e)| *e == run);
        let found = parents.flat_map(|(parent, _)| {
            let bounds = segments(bounds).into_iter();
            let own = bounds
                .filter(|(at, _)| at.simplified() == sum(run.clone(), parent.clone()).simplified());
            own.map(|(_, coordinate)| [parent.clone(), coordinate])
        });
        let own = [&changes.parent, &changes.coordinate];
        let values = self.at_entry();
        found.collect::<Vec<_>>().into_iter().any(|pair| {
            let at_tuple = pair.iter().map(|e| e.rewritten(&Values(&values)));
            let same = |a: &[Expression], b: &[Expression]| -> Vec<Constraint> {
                let equal =
                    |e: &Expression| e.rewritten(&Values(a)).equals(e.rewritten(&Values(b)));
                pair.iter().map(equal).collect()
            };
            let mut is_entry = std::iter::zip(at_tuple, own);
            is_entry.all(|(e, own)| self.agree(&e, own)) && self.no_two(Some(&same))
        })
    }
}
