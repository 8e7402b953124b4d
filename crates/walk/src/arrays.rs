//! The index arrays and values of an operand with a descriptor, under names of
//! their own: `A_off` and `A` for `off` and the values of operand `A`.

use std::cell::RefCell;
use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_computation::{Computation, DataSpace, Role};
use sparsec_index::{Program, TensorVar};
use sparsec_relation::{
    Answer, Comparison, Conjunction, Declarations, Descriptor, Expression, Relation, Rewrite, Set,
    Variable,
};

use crate::Types;
use crate::statement::extents_of;

/// An operand with a descriptor in the names of the computation.
pub(crate) struct Described {
    /// The tuples, each in one of the pieces; at least one.
    pub(crate) pieces: Vec<Piece>,
    declarations: Declarations,
    constants: BTreeSet<String>,
    arrays: Vec<DataSpace>,
}

/// Tuples that have their coordinates and places by one rule.
pub(crate) struct Piece {
    /// From tuples to coordinates.
    pub(crate) map: Relation,
    /// The place of a tuple's value, over the variables of the tuple.
    pub(crate) place: Expression,
}

impl Described {
    pub(crate) fn new(
        program: &Program,
        tensor: TensorVar,
        descriptor: &Descriptor,
        types: &Types,
    ) -> Result<Self> {
        let data = &program.tensors[tensor];
        if data.order() != descriptor.order() {
            let message = format!(
                "`{}` has {} modes here, and {} in its format `{}`",
                data.name,
                data.order(),
                descriptor.order(),
                descriptor.name()
            );
            return Err(Diagnostic::new(code::NO_WALK, message)
                .at(&program.source, data.span, "used here")
                .help("give it as many indices as its format has extents"));
        }
        let names = Names {
            prefix: &data.name,
            extents: descriptor.extents(),
            here: extents_of(program, tensor),
            constants: RefCell::default(),
        };
        let declarations = descriptor.declarations().rewritten(&names)?;
        let map = descriptor.map().rewritten(&names)?;
        let places = descriptor.data().rewritten(&names)?;
        let values = descriptor.values().rewritten(&names)?;

        let refused = |why: &str| {
            let message = format!("`{}` cannot be read through its format: {why}", data.name);
            Diagnostic::new(code::NO_WALK, message).at(&program.source, data.span, "used here")
        };
        let pieces = pieces(&map, &places, &declarations).map_err(|error| {
            refused("parts of it may have tuples in common").note(error.message().to_owned())
        })?;
        let array = |name: &str, element, domain: &Set| -> Result<DataSpace> {
            let extents = lengths(domain).ok_or_else(|| {
                refused(&format!("the length of `{name}` is not a sum of constants"))
                    .help("give arrays a length of constants: `{[p] : 0 <= p < NNZ}`")
            })?;
            Ok(DataSpace {
                name: name.to_owned(),
                element,
                extents,
                role: Role::Given,
            })
        };
        let mut arrays = Vec::new();
        for function in declarations.functions() {
            let element = types.get(&function.name).copied();
            let element = element.unwrap_or(ElementType::I32);
            arrays.push(array(&function.name, element, &function.domain)?);
        }
        arrays.push(array(&data.name, data.element, &values)?);
        Ok(Self {
            pieces,
            declarations,
            constants: names.constants.into_inner(),
            arrays,
        })
    }

    /// Adds its constants, arrays and what is known of them.
    pub(crate) fn add_to(&self, computation: &mut Computation) {
        computation
            .parameters
            .extend(self.constants.iter().cloned());
        computation.declarations.extend(self.declarations.clone());
        computation.spaces.extend(self.arrays.iter().cloned());
    }
}

/// The pieces of a map: one for each of its parts and each part of the places of
/// values, without the tuples of those before.
///
/// # Errors
/// `E0704` where parts may have tuples in common that cannot be taken out; `E0705`
/// where a place is not known.
fn pieces(map: &Relation, places: &Relation, known: &Declarations) -> Result<Vec<Piece>> {
    let alone = |part: &Conjunction| Relation::new(vec![part.clone()]);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut before: Vec<Relation> = Vec::new();
    for of_map in map.parts() {
        for of_places in places.parts() {
            let of_places = alone(of_places)?;
            let place = of_places.solve(known)?.remove(0).remove(0);
            let mut tuples = alone(of_map)?;
            if places.parts().len() > 1 {
                let has_place = of_places.domain().simplified_under(known);
                tuples = tuples.restricted_to(&has_place)?;
            }
            let whole = tuples.clone();
            for earlier in &before {
                if tuples.intersect(earlier)?.is_empty(known) != Answer::Yes {
                    tuples = tuples.minus(earlier, known)?;
                }
            }
            before.push(whole);
            let some = tuples.parts().iter().map(alone);
            let some = some.collect::<Result<Vec<_>>>()?.into_iter();
            let some = some.filter(|part| part.is_empty(known) != Answer::Yes);
            let some: Vec<Conjunction> = some.flat_map(|part| part.parts().to_vec()).collect();
            if !some.is_empty() {
                pieces.push(Piece {
                    map: Relation::new(some)?,
                    place,
                });
            }
        }
    }
    if pieces.is_empty() {
        // No tuples, by the text itself.
        let place = Expression::Integer(0);
        pieces.push(Piece {
            map: map.clone(),
            place,
        });
    }
    Ok(pieces)
}

/// How many entries an array has along each mode, if it has all that are from 0 to
/// an expression of constants.
fn lengths(domain: &Set) -> Option<Vec<Expression>> {
    let [part] = domain.parts() else { return None };
    let length = |variable: Variable| {
        let links = part.constraints().iter().flat_map(|c| c.links());
        let bounds = links.filter_map(|(left, comparison, right)| {
            let (comparison, bound) = match (left, right) {
                (Expression::Variable(v), bound) if *v == variable => (comparison, bound),
                (bound, Expression::Variable(v)) if *v == variable => (comparison.flipped(), bound),
                _ => return None,
            };
            let mut is_constant = true;
            bound.visit(&mut |e| {
                is_constant &= !matches!(e, Expression::Variable(_) | Expression::Call(..));
            });
            let one = Box::new(Expression::Integer(1));
            match comparison {
                Comparison::Less => Some(bound.clone()),
                Comparison::LessEqual => Some(Expression::Add(Box::new(bound.clone()), one)),
                _ => return None,
            }
            .filter(|_| is_constant)
        });
        bounds.map(|bound| bound.simplified()).next()
    };
    (0..domain.n_elements())
        .map(|at| length(Variable::from_index(at)))
        .collect()
}

/// Names of the descriptor in the computation.
struct Names<'a> {
    prefix: &'a str,
    /// The constants that are extents, and what they are here.
    extents: &'a [String],
    here: Vec<String>,
    /// The other constants.
    constants: RefCell<BTreeSet<String>>,
}

impl Rewrite for Names<'_> {
    fn constant(&self, name: &str) -> Expression {
        let extent = self.extents.iter().position(|extent| extent == name);
        let here = match extent {
            Some(mode) => self.here[mode].clone(),
            None => {
                let here = format!("{}_{name}", self.prefix);
                self.constants.borrow_mut().insert(here.clone());
                here
            }
        };
        Expression::Constant(here)
    }

    fn function(&self, name: &str) -> String {
        match sparsec_relation::Parser::is_key(name) {
            true => name.to_owned(),
            false => format!("{}_{name}", self.prefix),
        }
    }
}
