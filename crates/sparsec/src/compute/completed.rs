//! Values of parameters that a call leaves out, found from the given arrays.
//!
//! ```text
//! given crd : i32[NZ]                  a list of 5 entries       NZ = 5
//! assume first(0) = F                  first = [3]               F = 3
//! assume pos(N) = NZ, pos(NZ) = M      one entry after another   NZ, then M
//! ```
//!
//! Lists say by their extents how long they are. A level below one parent has numbers that no
//! extent says: where its run begins, where its segment ends. Descriptors of formats name
//! them in assumptions.

use sparsec_computation::Computation;
use sparsec_relation::{Comparison, Constraint, Data, Declarations, Expression};
use sparsec_tensor::Format;

use super::given::Given;
use super::run::integer;

/// The given data with values for missing parameters: those that extents state, and those that an
/// assumption equates with an entry of a given array.
pub(super) fn completed<'t>(
    computation: &Computation,
    known: &Declarations,
    given: &Given<'t>,
) -> Given<'t> {
    let mut completed = given.clone();
    let spaces = computation.spaces.iter();
    for space in spaces.filter(|space| space.role.is_given()) {
        let Some(tensor) = given.data.get(&space.name) else {
            continue;
        };
        for (extent, is) in std::iter::zip(&space.extents, tensor.extents()) {
            let solved = i64::try_from(*is).ok().and_then(|is| solved(extent, is));
            if let Some((name, value)) = solved
                && value >= 0
                && computation.parameters.contains(name)
            {
                completed.parameters.entry(name.clone()).or_insert(value);
            }
        }
    }
    while let Some((name, value)) = said_by_entry(computation, known, &completed) {
        completed.parameters.insert(name, value);
    }
    completed
}

/// A parameter without a value that an assumption says is an entry of a given array.
fn said_by_entry(
    computation: &Computation,
    known: &Declarations,
    given: &Given<'_>,
) -> Option<(String, i64)> {
    let is_open = |name: &String| {
        computation.parameters.contains(name) && !given.parameters.contains_key(name)
    };
    let links = known.assumptions().iter().flat_map(Constraint::split);
    let mut open = links.filter_map(|link| match (link.first, &link.rest[..]) {
        (Expression::Constant(name), [(Comparison::Equal, entry @ Expression::Call(..))])
            if is_open(&name) =>
        {
            Some((name, entry.clone()))
        }
        (entry @ Expression::Call(..), [(Comparison::Equal, Expression::Constant(name))])
            if is_open(name) =>
        {
            Some((name.clone(), entry))
        }
        _ => None,
    });
    let first = open.next()?;
    let data = entries(computation, given);
    std::iter::once(first)
        .chain(open)
        .find_map(|(name, entry)| {
            let value = data.value(&entry).filter(|value| *value >= 0)?;
            Some((name, value))
        })
}

/// The parameters and the index arrays that are given and fit the text.
fn entries<'t>(computation: &Computation, given: &Given<'t>) -> Data<'t> {
    let mut data = Data::new();
    data.keys(&computation.declarations);
    for (name, value) in &given.parameters {
        data.constant(name.clone(), *value);
    }
    let spaces = computation.spaces.iter();
    for space in spaces.filter(|space| space.role.is_given() && space.is_index_array()) {
        let fits = given.data.get(&space.name).filter(|tensor| {
            let order = space.extents.len();
            order > 0
                && *tensor.format() == Format::dense(order)
                && tensor.element() == space.element
        });
        if let Some(tensor) = fits {
            let values = tensor.vals();
            let extents = tensor.extents().iter().map(|&n| n as i64).collect();
            data.array(space.name.clone(), extents, |at| integer(values, at));
        }
    }
    data
}

/// The constant that is all an extent depends on, and its value where the extent is `is`.
fn solved(extent: &Expression, is: i64) -> Option<(&String, i64)> {
    match extent {
        Expression::Constant(name) => Some((name, is)),
        Expression::Add(a, b) => match (&**a, &**b) {
            (a, Expression::Integer(b)) => solved(a, is.checked_sub(*b)?),
            (Expression::Integer(a), b) => solved(b, is.checked_sub(*a)?),
            _ => None,
        },
        Expression::Subtract(a, b) => match &**b {
            Expression::Integer(b) => solved(a, is.checked_add(*b)?),
            _ => None,
        },
        _ => None,
    }
}
