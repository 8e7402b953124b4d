//! Constants of a relation whose values follow from the extents of a tensor alone.
//!
//! ```text
//! assume N <= 4 * NB                           N = 10     NB = 3
//! assume 0 < N && 0 < M => N + M - 1 <= ND     N = M = 4  ND = 7
//! ```
//!
//! A conversion gets the least value that the bounds of each allow.

use std::collections::{BTreeMap, BTreeSet};

use sparsec_relation::{Comparison, Constraint, Data, Descriptor, Expression};

/// The least value of each constant that assumptions bound by the extents.
pub(super) fn least_constants(descriptor: &Descriptor, extents: &[u64]) -> BTreeMap<String, i64> {
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
    least
}
