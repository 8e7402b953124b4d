//! Arrays whose entries are values of their indices, and bounds of such values.
//!
//! ```text
//! T(x) = e(x)             at each index x from an index on; before it 0
//! n max= e(x)             e(x) <= n at each of these x
//! most(g(x)) max= e(x)    e(x) <= most(g(x))
//! ```
//!
//! Where the lemmas about entries give facts about each entry, these give a `forall` over the points
//! of the statement.

use sparsec_computation::{Statement, Update};
use sparsec_relation::{Comparison, Constraint, Expression};

use super::store::stored;
use super::{index, only_by};
use crate::Refusal;
use crate::check::{Outcome, require};
use crate::entries::{entry, natural, variable, zero};
use crate::held::Held;
use crate::order::reads_itself;
use crate::state::State;

/// `T(x) = e(x)` at each index from one on.
pub(crate) fn valued(state: &mut State<'_>, name: &str, statements: &[&Statement]) -> Outcome {
    let statement = only_by(statements, Update::Assign)?;
    let value = stored(statement)?;
    let sides = statement.space.as_box().unwrap_or_default();
    let [(from, end)] = &sides[..] else {
        return Err(Refusal::at(statement, "it does not run over indices"));
    };
    let is_whole =
        state.are_equal(end, &state.extent(name)?) && state.always(&natural(from.clone()));
    require(
        is_whole && *index(statement)? == variable(0) && !reads_itself(statement),
        statement,
        "it does not write each entry from one on",
    )?;
    let any = (Expression::Integer(i64::MIN), None);
    let held = Held::Each {
        from: from.simplified(),
        value: value.clone(),
    };
    state.note(name, any, None, held)?;
    let call = entry(name, variable(0));
    state.note_over(statement, call.equals(value))
}

/// `n max= e(x)` and `most(g(x)) max= e(x)`: the value at each point is at most the target.
pub(crate) fn bounded(state: &mut State<'_>, name: &str, statement: &Statement) -> Outcome {
    let value = stored(statement)?;
    let target = match &statement.target.indices[..] {
        [] => {
            let number = Expression::Constant(name.to_owned());
            state.assume(natural(number.clone()))?;
            state.held.insert(name.to_owned(), Held::Declared);
            number
        }
        [index] => {
            state.note(name, (zero(), None), None, Held::Declared)?;
            entry(name, index.clone())
        }
        _ => return Err(Refusal::at(statement, "its target has not one index")),
    };
    require(
        !reads_itself(statement),
        statement,
        "it reads what it writes",
    )?;
    state.note_over(
        statement,
        Constraint::new(value, Comparison::LessEqual, target),
    )
}
