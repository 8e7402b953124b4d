//! The index arrays and values of an operand with a descriptor, under names of
//! their own: `A_off` and `A` for `off` and the values of operand `A`.

use std::cell::RefCell;
use std::collections::BTreeSet;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_computation::{Computation, DataSpace, Role};
use sparsec_index::{Program, TensorVar};
use sparsec_relation::{
    Comparison, Declarations, Descriptor, Expression, Relation, Rewrite, Set, Variable,
};

use crate::Types;
use crate::statement::extents_of;

/// An operand with a descriptor in the names of the computation.
pub(crate) struct Described {
    pub(crate) map: Relation,
    /// The place of a tuple's value, over the variables of the tuple.
    pub(crate) place: Expression,
    declarations: Declarations,
    constants: BTreeSet<String>,
    arrays: Vec<DataSpace>,
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
            return Err(Diagnostic::new(code::NO_EXECUTOR, message)
                .at(&program.source, data.span, "used here")
                .help("give it as many indices as its format has extents"));
        }
        let names = Names {
            prefix: &data.name,
            extents: descriptor.extents(),
            here: extents_of(program, tensor),
            constants: RefCell::default(),
        };
        let declarations = descriptor.declarations().rewritten(&names);
        let map = descriptor.map().rewritten(&names);
        let places = descriptor.data().rewritten(&names);
        let values = descriptor.values().rewritten(&names);

        let refused = |why: &str| {
            let message = format!("`{}` cannot be read through its format: {why}", data.name);
            Diagnostic::new(code::NO_EXECUTOR, message)
                .at(&program.source, data.span, "used here")
                .help("give arrays a length of constants: `{[p] : 0 <= p < NNZ}`")
        };
        let mut solved = places.solve(&declarations)?;
        let (Some(place), true) = (solved.pop().and_then(|mut it| it.pop()), solved.is_empty())
        else {
            return Err(refused("places of values are a union"));
        };
        let array = |name: &str, element, domain: &Set| -> Result<DataSpace> {
            let extents = lengths(domain).ok_or_else(|| {
                refused(&format!("the length of `{name}` is not a sum of constants"))
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
            map,
            place,
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
