//! Definitions of operations: operands, results, attributes, regions, and the syntax of their text.
//!
//! Definitions are text, a table for each dialect in `tables`:
//!
//! ```text
//! sparse_tensor.positions 17.. (tensor: sparse) -> (result: memref) {level: index}
//!   $tensor attr-dict `:` type($tensor) `to` type($result)
//! ```
//!
//! The first line has the name, the releases that know the operation, groups of operands and
//! results with their types, attributes with their kinds, `[regions]`, and `+traits`. A group holds
//! one value, with `?` at most one, with `*` any number. The second line is the form, from which
//! both the parser and the printer work:
//!
//! | in a form              | is                                                        |
//! |------------------------|-----------------------------------------------------------|
//! | `` `to` ``             | the word or sign itself                                   |
//! | `$x`                   | the operands, the attribute or the region of that name    |
//! | `type($x)`             | the types of a group                                      |
//! | `attr-dict`            | in braces, all attributes that the form does not show     |
//! | `( … ^$x … )?`         | optional; there if `x` is, or if the first word is there  |
//! | `functional($x, $y)`   | `(types) -> types`                                        |
//! | `arrow($y)`            | `-> types`, where there are results                       |
//! | `list($x, numbers)`    | `[4, %n]`: numbers, and operands in place of dynamic ones |
//! | `custom(Name)`         | text that a function reads and writes                     |
//!
//! A name has two definitions if releases or texts differ.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::attribute::{Attribute, Dictionary};
use crate::release::Releases;
use crate::types::Type;

mod constraint;
mod read;
mod tables;
mod words;

pub use constraint::{Constraint, TypeKind};
pub(crate) use words::COMBINING;
pub use words::Words;

/// The definition of an operation.
#[derive(Debug)]
pub struct Definition {
    /// The name with its dialect.
    pub name: &'static str,
    /// The releases that know it.
    pub releases: Releases,
    /// The operands in groups.
    pub operands: Vec<Group>,
    /// The results in groups.
    pub results: Vec<Group>,
    /// The attributes that the definition lists.
    pub attributes: Vec<AttributeSpec>,
    /// The regions.
    pub regions: Vec<RegionSpec>,
    /// Further properties.
    pub traits: Vec<Trait>,
    /// The form of its text; empty if the operation has the generic form only.
    pub form: Vec<Directive>,
}

/// A named group of operands or results.
#[derive(Debug)]
pub struct Group {
    /// The name.
    pub name: &'static str,
    /// The number of values.
    pub count: Count,
    /// The types of the values.
    pub ty: Constraint,
}

/// How many values or regions a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One.
    One,
    /// One or none.
    Optional,
    /// Any number.
    Any,
}

/// An attribute that the definition lists.
#[derive(Debug)]
pub struct AttributeSpec {
    /// The name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: AttributeKind,
    /// Whether it is optional.
    pub is_optional: bool,
}

/// The kind of an attribute's value.
#[derive(Clone, Copy, Debug)]
pub enum AttributeKind {
    /// Anything.
    Any,
    /// No value: the name alone.
    Unit,
    /// `true` or `false`.
    Bool,
    /// An integer of this type.
    Integer(&'static Type),
    /// A number, or a constant of numbers, with its type.
    Constant,
    /// Text in quotes.
    Text,
    /// `@name`
    Symbol,
    /// An affine map.
    Map,
    /// A list of attributes.
    Array,
    /// Integers of 64 bits, in brackets where a form has them.
    Numbers,
    /// A type.
    Type,
    /// The type of a function.
    Function,
    /// An encoding.
    Encoding,
    /// A dictionary.
    Dictionary,
    /// One of some words.
    Word(&'static Words),
    /// An attribute of a dialect, and its default. A form shows only the text between its brackets:
    /// `fastmath<fast>`.
    Dialect(&'static str, &'static str),
}

impl AttributeKind {
    /// Whether an attribute is of this kind.
    pub fn holds(self, value: &Attribute) -> bool {
        match self {
            Self::Any => true,
            Self::Unit => *value == Attribute::Unit,
            Self::Bool => matches!(value, Attribute::Bool(_)),
            Self::Integer(wanted) => {
                matches!(value, Attribute::Integer(_, ty) if ty == wanted)
            }
            Self::Constant => matches!(
                value,
                Attribute::Integer(..)
                    | Attribute::Float(..)
                    | Attribute::Dense(_)
                    | Attribute::Sparse(_)
            ),
            Self::Text => matches!(value, Attribute::Text(_)),
            Self::Symbol => matches!(value, Attribute::Symbol(_)),
            Self::Map => matches!(value, Attribute::Map(_)),
            Self::Array => matches!(value, Attribute::Array(_)),
            Self::Numbers => matches!(value, Attribute::Numbers(..)),
            Self::Type => matches!(value, Attribute::Type(_)),
            Self::Function => matches!(value, Attribute::Type(Type::Function(_))),
            Self::Encoding => matches!(value, Attribute::Encoding(_)),
            Self::Dictionary => matches!(value, Attribute::Dictionary(_)),
            Self::Word(_) => matches!(value, Attribute::Word(_)),
            Self::Dialect(name, _) => {
                matches!(value, Attribute::Dialect(known, _) if known == name)
            }
        }
    }
}

/// A region of an operation.
#[derive(Debug)]
pub struct RegionSpec {
    /// The name.
    pub name: &'static str,
    /// How many regions have the name.
    pub count: Count,
}

/// A further property of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// The operation ends its block.
    Terminator,
    /// Regions of the operation use no values from outside.
    Isolated,
    /// Blocks of the operation have no terminator.
    NoTerminator,
    /// Blocks end with this operation. The text omits it if it has no operands.
    Implicit(&'static str),
    /// The operation is in a region of this operation.
    Within(&'static str),
    /// Regions of the operation may omit this dialect in names of operations.
    Dialect(&'static str),
    /// Groups of any number of results all have the same number.
    SameSize,
    /// A structured operation: it has `ins` and `outs`, and its results have the types of `outs`.
    Structured,
}

/// One step of a form.
#[derive(Debug)]
pub enum Directive {
    /// A word or sign.
    Literal(&'static str),
    /// A group of operands.
    Operands(usize),
    /// An attribute.
    Attribute(usize),
    /// A region.
    Region(usize),
    /// The types of a group of operands.
    OperandTypes(usize),
    /// The types of a group of results.
    ResultTypes(usize),
    /// All attributes that the form does not show.
    Dictionary,
    /// A function type of groups of operands and a group of results.
    Functional(Vec<usize>, usize),
    /// `->` and the types of a group of results, if it has any.
    Arrow(usize),
    /// Numbers and operands in brackets: a group of operands, and the attribute with the numbers.
    /// An operand stands for a dynamic number.
    List(usize, usize),
    /// Optional steps.
    Optional(Vec<Directive>, Anchor),
    /// Text that a function reads and writes.
    Custom(&'static str),
}

/// The condition for optional steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The group has operands.
    Operands(usize),
    /// The group has results.
    Results(usize),
    /// The attribute is there.
    Attribute(usize),
}

impl Definition {
    /// The number of the group of operands with this name.
    ///
    /// # Panics
    /// If there is none.
    pub fn operand(&self, name: &str) -> usize {
        let place = self.operands.iter().position(|group| group.name == name);
        place.unwrap_or_else(|| panic!("{} has operands `{name}`", self.name))
    }

    /// The number of the group of results with this name.
    ///
    /// # Panics
    /// If there is none.
    pub fn result(&self, name: &str) -> usize {
        let place = self.results.iter().position(|group| group.name == name);
        place.unwrap_or_else(|| panic!("{} has results `{name}`", self.name))
    }

    /// The attribute with this name, if the definition lists one.
    pub fn attribute(&self, name: &str) -> Option<&AttributeSpec> {
        self.attributes.iter().find(|known| known.name == name)
    }

    /// Sorts attributes: first those that the definition lists, in its order, then others in the
    /// order of the text.
    pub(crate) fn sort(&self, attributes: &mut Dictionary) {
        let place = |name: &str| self.attributes.iter().position(|known| known.name == name);
        attributes.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    }

    /// Whether the operation has a trait.
    pub fn has(&self, wanted: Trait) -> bool {
        self.traits.contains(&wanted)
    }

    /// The terminator that the text may omit.
    pub fn implicit_terminator(&self) -> Option<&'static str> {
        self.traits.iter().find_map(|known| match known {
            Trait::Implicit(name) => Some(*name),
            _ => None,
        })
    }

    /// The dialect that names in its regions may omit.
    pub fn inner_dialect(&self) -> Option<&'static str> {
        self.traits.iter().find_map(|known| match known {
            Trait::Dialect(name) => Some(*name),
            _ => None,
        })
    }

    /// Whether several groups of operands have a variable size. The generic form then lists the
    /// sizes.
    pub fn is_segmented(&self) -> bool {
        is_segmented(&self.operands)
    }

    /// As [`is_segmented`](Self::is_segmented), for results.
    pub fn has_segmented_results(&self) -> bool {
        is_segmented(&self.results) && !self.has(Trait::SameSize)
    }

    /// All definitions.
    pub fn all() -> &'static [Self] {
        &DEFINITIONS
    }

    /// The definitions of a name, those of later releases first.
    ///
    /// ```
    /// use sparsec_mlir::Definition;
    /// let convert = Definition::find("sparse_tensor.convert");
    /// assert_eq!(convert[0].operands[0].name, "source");
    /// assert!(Definition::find("sparse_tensor.converts").is_empty());
    /// ```
    pub fn find(name: &str) -> &'static [&'static Self] {
        BY_NAME.get(name).map_or(&[], Vec::as_slice)
    }
}

fn is_segmented(groups: &[Group]) -> bool {
    groups
        .iter()
        .filter(|group| group.count != Count::One)
        .count()
        > 1
}

static DEFINITIONS: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    tables::ALL
        .iter()
        .flat_map(|table| read::read(table))
        .collect()
});

static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Definition>>> = LazyLock::new(|| {
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    for definition in Definition::all() {
        found.entry(definition.name).or_default().push(definition);
    }
    for same in found.values_mut() {
        same.sort_by_key(|definition: &&Definition| std::cmp::Reverse(definition.releases.to));
    }
    found
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_reads() {
        assert!(Definition::all().len() > 150);
    }

    #[test]
    fn operations_that_are_tried_in_several_forms_have_no_regions() {
        for definition in Definition::all() {
            let same = Definition::find(definition.name);
            assert!(
                same.len() == 1 || definition.regions.is_empty(),
                "{}",
                definition.name
            );
        }
    }
}
