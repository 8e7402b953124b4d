//! The data of a conversion: arrays of both sides, and the constants that it computes.

use std::collections::BTreeSet;

use sparsec_base::{ElementType, Result};
use sparsec_computation::{DataSpace, Role};
use sparsec_relation::Expression;

use crate::named::{Named, joined};
use crate::pieces::Source;
use crate::problem::Problem;
use crate::synthesis::{FILL, Synthesis};

/// The constants of a destination that follow from its entries: those that say how long
/// its arrays are.
pub(crate) fn unknown_constants(destination: &Named) -> BTreeSet<String> {
    let mut unknown: BTreeSet<String> = BTreeSet::new();
    let constants = &destination.constants;
    for (name, value) in constants {
        if value.is_some() {
            unknown.insert(name.clone());
        }
    }
    let functions = destination.declarations.functions().iter();
    let domains = functions.map(|function| &function.domain);
    for set in domains.chain([&destination.values]) {
        for (_, end) in set.as_box().into_iter().flatten() {
            end.visit(&mut |e| {
                if let Expression::Constant(name) = e
                    && constants.iter().any(|(known, _)| known == name)
                {
                    unknown.insert(name.clone());
                }
            });
        }
    }
    // What coordinates are compared with is known before.
    for link in destination.comparisons() {
        let mut is_demand = true;
        let mut named = Vec::new();
        for e in link.expressions() {
            e.visit(&mut |e| match e {
                Expression::Variable(v) => {
                    is_demand &= destination.map.outputs().any(|output| output == *v);
                }
                Expression::Call(..) => is_demand = false,
                Expression::Constant(name) => named.push(name.clone()),
                _ => {}
            });
        }
        if is_demand {
            named.iter().for_each(|name| {
                unknown.remove(name);
            });
        }
    }
    unknown
}

impl Synthesis<'_> {
    /// Declares the arrays of both sides.
    pub(crate) fn declare(
        &mut self,
        source: &Source,
        destinations: &[Named],
        problem: &Problem,
    ) -> Result<()> {
        let element = problem.element;
        let type_of = |name: &str| problem.types.get(name).copied().unwrap_or(ElementType::I64);
        let given = source.sides().map(|side| (side, Role::Given));
        let made = destinations.iter().map(|side| (side, Role::Out));
        for (side, role) in given.chain(made) {
            if role == Role::Given {
                let names = side.constants.iter().map(|(name, _)| name.clone());
                self.computation.parameters.extend(names);
            }
            for function in side.declarations.functions() {
                self.computation.spaces.push(DataSpace {
                    name: function.name.clone(),
                    element: type_of(&function.name),
                    extents: side.lengths(Some(&function.name))?,
                    role,
                });
            }
        }
        let all: Vec<&Named> = destinations.iter().collect();
        for (name, sides, role) in [
            ("A", source.sides().collect(), Role::Given),
            ("B", all, Role::Out),
        ] {
            self.computation.spaces.push(DataSpace {
                name: name.to_owned(),
                element,
                extents: joined(&sides)?,
                role,
            });
        }
        if problem.has_fill {
            self.computation.spaces.push(DataSpace {
                name: FILL.to_owned(),
                element,
                extents: Vec::new(),
                role: Role::Given,
            });
        }
        for (name, places) in source.masks(problem) {
            self.computation.spaces.push(DataSpace {
                name,
                element: ElementType::U8,
                extents: vec![places.clone()],
                role: Role::Given,
            });
        }
        for destination in destinations {
            let unknown = unknown_constants(destination);
            for (name, _) in &destination.constants {
                match unknown.contains(name) {
                    false => self.computation.parameters.push(name.clone()),
                    true => self.add_number(name),
                }
            }
        }
        for part in destinations.iter().take(destinations.len() - 1) {
            self.computation.spaces.push(DataSpace {
                name: part.mask(),
                element: ElementType::U8,
                extents: vec![self.entries.n_places.clone()],
                role: Role::Temporary,
            });
        }
        Ok(())
    }
}
