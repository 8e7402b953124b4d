//! Constants of a relation: those that a conversion is given, and those that it computes.
//!
//! ```text
//! assume N <= 4 * NB                           N = 10     NB = 3
//! assume 0 < N && 0 < M => N + M - 1 <= ND     N = M = 4  ND = 7
//! crd(q) = MORTON(i, j), in a range 0..L       N = M = 4  L = 16, one more than MORTON(3, 3)
//! ```
//!
//! A conversion gets the least value that the bounds of each constant allow. Constants that say how
//! long arrays are follow from the entries. The conversion computes them, and the tensor has them:
//! the length of an array by blocks, `NB * MB`, would tell neither factor.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_computation::{Access, Computation, DataSpace, Role, Statement, Update, Value};
use sparsec_format::RelationFormat;
use sparsec_relation::{Comparison, Conjunction, Constraint, Data, Descriptor, Expression, Set};

/// The values of the constants that a conversion to a relation has as parameters.
///
/// # Errors
/// `E0830` for a constant of which the description does not say a value.
pub(super) fn given_constants(
    computation: &Computation,
    format: &RelationFormat,
    extents: &[u64],
) -> Result<BTreeMap<String, i64>> {
    let least = least_constants(format.descriptor(), extents);
    let mut given = BTreeMap::new();
    for name in format.descriptor().constants() {
        if !computation.parameters.contains(&format!("B_{name}")) {
            continue;
        }
        let value = match least.get(&name) {
            Some(value) => *value,
            // No entry depends on it.
            None if extents.contains(&0) => 0,
            None => {
                let message = format!(
                    "nothing says which value the constant `{name}` of `{}` has",
                    format.name()
                );
                let extent = format.descriptor().extents().first();
                let extent = extent.map_or("N", String::as_str);
                return Err(Diagnostic::new(code::NO_CONVERSION, message).help(format!(
                    "bound it by extents, as in `assume {extent} <= 4 * {name}`"
                )));
            }
        };
        given.insert(name, value);
    }
    Ok(given)
}

/// The name of the result that is the value of a constant.
pub(super) fn computed_constant(name: &str) -> String {
    format!("C_{name}")
}

/// A conversion to a relation with the constants that it computes among its results.
pub(super) fn with_constants(computation: &Computation, descriptor: &Descriptor) -> Computation {
    let mut computation = computation.clone();
    let times = computation.statements.iter().map(|statement| {
        let time = statement.schedule.first();
        match time {
            Some(Expression::Integer(time)) => *time,
            _ => 0,
        }
    });
    let mut time = times.max().unwrap_or(0);
    for name in descriptor.constants() {
        let own = format!("B_{name}");
        let is_computed = |space: &&DataSpace| {
            space.name == own && space.role == Role::Temporary && space.extents.is_empty()
        };
        if !computation.spaces.iter().any(|space| is_computed(&space)) {
            continue;
        }
        time += 1;
        let result = computed_constant(&name);
        let once = Conjunction::new::<String>([], []);
        computation.statements.push(Statement {
            name: result.clone(),
            schedule: vec![Expression::Integer(time)],
            space: Set::new(vec![once]).expect("it has no names"),
            target: Access {
                space: result.clone(),
                indices: Vec::new(),
            },
            update: Update::Assign,
            value: Value::Entry(Access {
                space: own,
                indices: Vec::new(),
            }),
        });
        computation.spaces.push(DataSpace {
            name: result,
            element: ElementType::I64,
            extents: Vec::new(),
            role: Role::Out,
        });
    }
    computation
}

/// The least value of each constant that assumptions bound by the extents.
fn least_constants(descriptor: &Descriptor, extents: &[u64]) -> BTreeMap<String, i64> {
    let own: Vec<(&String, i64)> = (descriptor.extents().iter())
        .zip(extents)
        .map(|(name, extent)| (name, i64::try_from(*extent).unwrap_or(i64::MAX)))
        .collect();
    let of_extents = || {
        let mut data = Data::new();
        own.iter().for_each(|(name, n)| data.constant(*name, *n));
        data
    };
    let declarations = descriptor.declarations();
    let mut links: Vec<Constraint> = (declarations.assumptions().iter())
        .flat_map(Constraint::split)
        .collect();
    for quantifier in declarations.quantifiers() {
        let mut premises = quantifier.premises().constraints().iter();
        let of_extents = of_extents();
        if quantifier.premises().n_variables() == 0
            && premises.all(|premise| of_extents.holds(premise, &[]) == Some(true))
        {
            links.extend(quantifier.conclusions().iter().flat_map(Constraint::split));
        }
    }
    let mut least: BTreeMap<String, i64> = BTreeMap::new();
    for link in links {
        let mut names = BTreeSet::new();
        link.expressions().for_each(|e| {
            e.visit(&mut |e| {
                if let Expression::Constant(name) = e {
                    _ = names.insert(name.clone());
                }
            });
        });
        let is_extent = |name: &String| own.iter().any(|(own, _)| *own == name);
        let mut others = names.iter().filter(|name| !is_extent(name));
        let (Some(name), None) = (others.next(), others.next()) else {
            continue;
        };
        // The amount by which the right side is above the left one.
        let above = |value: i64| -> Option<i64> {
            let mut data = of_extents();
            data.constant(name, value);
            let (_, right) = &link.rest[0];
            let [left, right] = [&link.first, right].map(|side| data.value_at(side, &[]));
            right?.checked_sub(left?)
        };
        let strict = match link.rest[0].0 {
            Comparison::Less => 1,
            Comparison::LessEqual | Comparison::Equal => 0,
            _ => continue,
        };
        let (Some(at_zero), Some(at_one)) = (above(0), above(1)) else {
            continue;
        };
        let (mut slope, mut missing) = (at_one.saturating_sub(at_zero), strict - at_zero);
        if slope < 0 && link.rest[0].0 == Comparison::Equal {
            (slope, missing) = (-slope, at_zero);
        }
        if slope > 0 && names.len() > 1 {
            let bound = missing.max(0).saturating_add(slope - 1) / slope;
            let known = least.entry(name.clone()).or_insert(0);
            *known = bound.max(*known);
        }
    }
    add_ends_of_curves(descriptor, extents, &mut least);
    least
}

/// Adds the constants that bound arrays of places on a curve: places grow with each coordinate, so
/// the last one is that of the greatest coordinates.
fn add_ends_of_curves(descriptor: &Descriptor, extents: &[u64], least: &mut BTreeMap<String, i64>) {
    if extents.contains(&0) {
        return;
    }
    let mut data = Data::new();
    for (name, extent) in descriptor.extents().iter().zip(extents) {
        data.constant(name, i64::try_from(*extent).unwrap_or(i64::MAX));
    }
    for part in descriptor.map().parts() {
        let mut greatest = vec![0; part.n_variables()];
        for (output, extent) in part.outputs().zip(extents) {
            greatest[output.index()] = i64::try_from(extent - 1).unwrap_or(i64::MAX);
        }
        for link in part.constraints().iter().flat_map(Constraint::split) {
            let [(Comparison::Equal, right)] = &link.rest[..] else {
                continue;
            };
            for (array, place) in [(&link.first, right), (right, &link.first)] {
                let (Expression::Call(array, _), Expression::Call(curve, _)) = (array, place)
                else {
                    continue;
                };
                if !["MORTON", "ALTO"].contains(&curve.as_str()) {
                    continue;
                }
                let function = descriptor.declarations().function(array);
                let range = function.and_then(|function| function.range.as_box()?.pop());
                if let Some((_, Expression::Constant(name))) = range
                    && !descriptor.extents().contains(&name)
                    && let Some(last) = data.value_at(place, &greatest)
                {
                    let known = least.entry(name).or_insert(0);
                    *known = last.saturating_add(1).max(*known);
                }
            }
        }
    }
}
