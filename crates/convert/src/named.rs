//! A descriptor in the names of a conversion: `A_crd1` for `crd1` of side `A`.
//!
//! Extents of the modes have one name on both sides. What is called with constants
//! alone becomes a constant of its own, so that lengths are sums of constants:
//!
//! ```text
//! {[q] : 0 <= q < pos1(pos0(1))}   ──►   {[q] : 0 <= q < A_pos1_end}
//!                                        A_pos0_end = A_pos0(1), A_pos1_end = A_pos1(A_pos0_end)
//! ```

use std::cell::RefCell;

use sparsec_base::arena::Id;
use sparsec_base::{Diagnostic, Result};
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Descriptor, Expression, Monotone, Parser,
    Relation, Rewrite, Set, Variable,
};

use crate::refused;
use crate::terms::with;

/// A descriptor in the names of one side.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) map: Conjunction,
    pub(crate) data: Relation,
    pub(crate) values: Set,
    pub(crate) declarations: Declarations,
    /// Constants that are no extents of modes, and what they are, where that is said.
    pub(crate) constants: Vec<(String, Option<Expression>)>,
}

impl Named {
    pub(crate) fn new(descriptor: &Descriptor, prefix: &str, extents: &[String]) -> Result<Self> {
        let names = Names {
            prefix,
            own: descriptor.extents(),
            extents,
            zeros: zeros(descriptor.declarations()),
            known: descriptor.declarations(),
            constants: RefCell::default(),
        };
        let map = descriptor.map().rewritten(&names)?;
        let [map] = map.parts() else {
            return Err(parts(descriptor));
        };
        Ok(Self {
            name: prefix.to_owned(),
            map: map.clone(),
            data: descriptor.data().rewritten(&names)?,
            values: descriptor.values().rewritten(&names)?,
            declarations: descriptor.declarations().rewritten(&names)?,
            constants: names.constants.into_inner(),
        }
        .bounded())
    }

    /// Adds a bound to each function that does not decrease and has none: its last entry, where that
    /// is a constant.
    fn bounded(mut self) -> Self {
        for (constant, entry) in &self.constants {
            let Some(Expression::Call(name, at)) = entry else {
                continue;
            };
            let mut functions = self.declarations.functions_mut().iter_mut();
            let Some(function) = functions.find(|function| function.name == *name) else {
                continue;
            };
            let rises = matches!(
                function.monotone,
                Some(Monotone::Nondecreasing | Monotone::Increasing)
            );
            let domain = function.domain.as_box().unwrap_or_default();
            let is_last = match (&domain[..], &at[..]) {
                ([(_, end)], [at]) => {
                    let next =
                        Expression::Add(Box::new(at.clone()), Box::new(Expression::Integer(1)));
                    end.collected() == next.collected()
                }
                _ => false,
            };
            if rises && is_last && function.range.as_box().is_none() {
                let value = Expression::Variable(Variable::from_index(0));
                let last = Expression::Constant(constant.clone());
                let bound = Constraint::new(value, Comparison::LessEqual, last);
                if let Ok(range) = with(&function.range, bound) {
                    function.range = range;
                }
            }
        }
        self
    }

    /// Exchanges two modes in the map.
    pub(crate) fn exchange(&mut self, [a, b]: [usize; 2]) {
        let map = &self.map;
        let inputs = map.inputs().map(|v| map.name(v).to_owned());
        let outputs = map.outputs().map(|v| map.name(v).to_owned());
        let mut outputs: Vec<String> = outputs.collect();
        outputs.swap(a, b);
        let mut exchanged = Conjunction::new(inputs.collect::<Vec<_>>(), outputs);
        let (first, second) = (exchanged.inputs(), exchanged.outputs());
        let mut outputs: Vec<Variable> = second.collect();
        outputs.swap(a, b);
        exchanged.conjoin_at(map, first.chain(outputs));
        self.map = exchanged;
    }

    /// How long the arrays are: of a function and, without one, of the values.
    pub(crate) fn lengths(&self, function: Option<&str>) -> Result<Vec<Expression>> {
        let declared = function.and_then(|name| self.declarations.function(name));
        let domain = declared.map_or(&self.values, |function| &function.domain);
        let sides = domain.as_box().ok_or_else(|| {
            let name = function.unwrap_or("values");
            refused(format!(
                "the length of `{name}` of `{}` is no sum of constants",
                self.name
            ))
        })?;
        Ok(sides.into_iter().map(|(_, end)| end.simplified()).collect())
    }

    /// The name of the array that says which places hold an entry, or, of a part of a
    /// destination, which entries it holds.
    pub(crate) fn mask(&self) -> String {
        format!("{}_stored", self.name)
    }

    /// The constraints of the map, a comparison each.
    pub(crate) fn comparisons(&self) -> Vec<Constraint> {
        let constraints = self.map.constraints().iter();
        let links = constraints.flat_map(Constraint::split);
        let links = links.map(|link| {
            let (comparison, right) = &link.rest[0];
            Constraint::new(link.first.simplified(), *comparison, right.simplified())
        });
        links.collect()
    }
}

/// How long an array is that holds the values of sides one behind the other.
pub(crate) fn joined(sides: &[&Named]) -> Result<Vec<Expression>> {
    let mut total: Option<Expression> = None;
    for side in sides {
        let lengths = side.lengths(None)?;
        let [length] = &lengths[..] else {
            return Ok(lengths);
        };
        total = Some(match total {
            None => length.clone(),
            Some(before) => {
                Expression::Add(Box::new(before), Box::new(length.clone())).simplified()
            }
        });
    }
    Ok(total.into_iter().collect())
}

fn zeros(declarations: &Declarations) -> Vec<Expression> {
    let assumed = declarations
        .assumptions()
        .iter()
        .flat_map(Constraint::split);
    let zeros = assumed.filter_map(|link| match &link.rest[..] {
        [(Comparison::Equal, Expression::Integer(0))] => Some(link.first),
        _ => None,
    });
    zeros.collect()
}

fn parts(descriptor: &Descriptor) -> Diagnostic {
    refused(format!(
        "`{}` is a union of several maps",
        descriptor.name()
    ))
    .help("convert to or from a format of one map")
}

struct Names<'a> {
    prefix: &'a str,
    /// The extents of the modes as the descriptor names them, and as both sides do.
    own: &'a [String],
    extents: &'a [String],
    /// Entries that are assumed to be 0, and need no name.
    zeros: Vec<Expression>,
    known: &'a Declarations,
    constants: RefCell<Vec<(String, Option<Expression>)>>,
}

impl Names<'_> {
    fn note(&self, name: String, value: Option<Expression>) -> Expression {
        let mut constants = self.constants.borrow_mut();
        if !constants.iter().any(|(known, _)| *known == name) {
            constants.push((name.clone(), value));
        }
        Expression::Constant(name)
    }
}

impl Rewrite for Names<'_> {
    fn whole(&self, expression: &Expression) -> Option<Expression> {
        let Expression::Call(name, arguments) = expression else {
            return None;
        };
        let is_constant = |e: &Expression| {
            let mut is_constant = true;
            e.visit(&mut |e| is_constant &= !matches!(e, Expression::Variable(_)));
            is_constant
        };
        if self.known.is_key(name) || !arguments.iter().all(is_constant) {
            return None;
        }
        let arguments: Vec<Expression> = arguments.iter().map(|a| a.rewritten(self)).collect();
        let call = Expression::Call(self.function(name), arguments);
        if self.zeros.contains(expression) {
            return Some(call);
        }
        let named = format!("{}_{name}_end", self.prefix);
        Some(self.note(named, Some(call)))
    }

    fn constant(&self, name: &str) -> Expression {
        match self.own.iter().position(|extent| extent == name) {
            Some(mode) => Expression::Constant(self.extents[mode].clone()),
            None => self.note(format!("{}_{name}", self.prefix), None),
        }
    }

    fn function(&self, name: &str) -> String {
        match Parser::is_key(name) {
            true => name.to_owned(),
            false => format!("{}_{name}", self.prefix),
        }
    }
}
