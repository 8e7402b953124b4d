//! A descriptor in the names of a computation: `B_pos1` for `pos1` of side `B`.
//!
//! Extents of modes are `N0`, `N1`, … on both sides. A call with constant arguments becomes a
//! constant, so lengths are sums of constants. The source guarantees that the constant has the
//! value of the call; for the destination this is an obligation:
//!
//! ```text
//! {[q] : 0 <= q < pos1(N0)}   ──►   {[q] : 0 <= q < B_pos1_end}     B_pos1_end = B_pos1(N0)
//! ```

use std::cell::RefCell;

use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Descriptor, Expression, Parser, Relation,
    Rewrite, Set,
};

use crate::Refusal;
use crate::entries::zero;

/// One side of a conversion.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// The name of the array of values.
    pub(crate) name: String,
    /// What the names of other arrays begin with.
    prefix: String,
    pub(crate) map: Conjunction,
    pub(crate) data: Relation,
    pub(crate) values: Set,
    pub(crate) declarations: Declarations,
    /// The constants for calls with constant arguments, in the order of their discovery.
    pub(crate) ends: Vec<(String, Expression)>,
    /// The arrays that hold the keys of hash tables.
    pub(crate) tables: Vec<String>,
}

impl Side {
    /// The side with this array of values. Names of other arrays begin with `prefix`.
    pub(crate) fn new(descriptor: &Descriptor, name: &str, prefix: &str) -> Result<Self, Refusal> {
        let assumed = descriptor.declarations().assumptions().iter();
        let zeros = assumed
            .flat_map(Constraint::split)
            .filter_map(|link| match &link.rest[..] {
                [(Comparison::Equal, Expression::Integer(0))] => Some(link.first),
                _ => None,
            });
        let names = Names {
            prefix,
            extents: descriptor.extents(),
            zeros: zeros.collect(),
            ends: RefCell::default(),
        };
        let in_names = |error| Refusal::of(format!("the descriptor has no such names: {error}"));
        let map = descriptor.map().rewritten(&names).map_err(in_names)?;
        let [map] = map.parts() else {
            return Err(Refusal::of(format!(
                "`{}` is a union of several maps",
                descriptor.name()
            )));
        };
        let declarations = descriptor.declarations().rewritten(&names);
        Ok(Self {
            name: name.to_owned(),
            prefix: prefix.to_owned(),
            map: map.clone(),
            data: descriptor.data().rewritten(&names).map_err(in_names)?,
            values: descriptor.values().rewritten(&names).map_err(in_names)?,
            declarations: declarations.map_err(in_names)?,
            tables: (descriptor.clauses().tables.iter())
                .map(|array| names.function(array))
                .collect(),
            ends: names.ends.into_inner(),
        })
    }

    /// The parts of a destination.
    pub(crate) fn parts(destination: &[Descriptor]) -> Result<Vec<Self>, Refusal> {
        let n = destination.len();
        let parts = destination.iter().enumerate();
        let parts = parts.map(|(number, part)| match n {
            1 => Self::new(part, "B", "B"),
            _ => Self::new(part, "B", &format!("B{}", number + 1)),
        });
        parts.collect()
    }

    /// What is known of the arrays of a source.
    pub(crate) fn known(&self) -> Declarations {
        let mut known = self.declarations.clone();
        for (name, value) in &self.ends {
            known.assume(value.clone().equals(Expression::Constant(name.clone())));
        }
        known
    }

    /// Whether an array belongs to the part.
    pub(crate) fn owns(&self, array: &str) -> bool {
        let rest = array.strip_prefix(&self.prefix);
        rest.is_some_and(|rest| rest.starts_with('_'))
    }

    /// The array that marks the entries that a part takes.
    pub(crate) fn mask(&self) -> String {
        format!("{}_stored", self.prefix)
    }

    /// How many values there are.
    pub(crate) fn n_values(&self) -> Result<Expression, Refusal> {
        match &self.extents(&self.name).unwrap_or_default()[..] {
            [n] => Ok(n.clone()),
            _ => Err(Refusal::of(format!(
                "nothing says how many places `{}` has",
                self.name
            ))),
        }
    }

    /// The place of a tuple's value, as an expression of the map's first tuple.
    pub(crate) fn place(&self, known: &Declarations) -> Result<Expression, Refusal> {
        match &self.data.solve(known).unwrap_or_default()[..] {
            [place] if place.len() == 1 => Ok(place[0].clone()),
            _ => Err(Refusal::of(format!(
                "the values of `{}` lie by several rules",
                self.name
            ))),
        }
    }

    /// The extents of an array of the descriptor, or of the array of values.
    pub(crate) fn extents(&self, array: &str) -> Option<Vec<Expression>> {
        let domain = match self.declarations.function(array) {
            Some(function) => &function.domain,
            None if array == self.name => &self.values,
            None => return None,
        };
        let sides = domain.as_box()?.into_iter();
        sides
            .map(|(least, end)| (least.simplified() == zero()).then_some(end))
            .collect()
    }
}

struct Names<'a> {
    prefix: &'a str,
    extents: &'a [String],
    /// Entries that the descriptor assumes to be 0. They stay calls.
    zeros: Vec<Expression>,
    ends: RefCell<Vec<(String, Expression)>>,
}

impl Rewrite for Names<'_> {
    fn whole(&self, expression: &Expression) -> Option<Expression> {
        let Expression::Call(name, arguments) = expression else {
            return None;
        };
        let mut is_constant = !Parser::is_key(name);
        for argument in arguments {
            argument.visit(&mut |e| is_constant &= !matches!(e, Expression::Variable(_)));
        }
        if !is_constant {
            return None;
        }
        let arguments = arguments.iter().map(|argument| argument.rewritten(self));
        let call = Expression::Call(self.function(name), arguments.collect());
        let end = format!("{}_{name}_end", self.prefix);
        let mut ends = self.ends.borrow_mut();
        let known = ends.iter().find(|(known, _)| *known == end);
        let is_other = known.is_some_and(|(_, value)| *value != call);
        if self.zeros.contains(expression) || is_other {
            return Some(call);
        }
        if known.is_none() {
            ends.push((end.clone(), call));
        }
        Some(Expression::Constant(end))
    }

    fn constant(&self, name: &str) -> Expression {
        let mode = self.extents.iter().position(|extent| extent == name);
        Expression::Constant(match mode {
            Some(mode) => format!("N{mode}"),
            None => format!("{}_{name}", self.prefix),
        })
    }

    fn function(&self, name: &str) -> String {
        match Parser::is_key(name) {
            true => name.to_owned(),
            false => format!("{}_{name}", self.prefix),
        }
    }
}
