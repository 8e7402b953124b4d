//! What operations are: operands, results, attributes, regions, and the form of their text.
//!
//! Definitions are text, a table for each dialect in [`tables`]:
//!
//! ```text
//! sparse_tensor.positions 17.. (tensor: sparse) -> (result: memref) {level: index}
//!   $tensor attr-dict `:` type($tensor) `to` type($result)
//! ```
//!
//! The first line has the name, the releases that know it, groups of operands and of results
//! with their types, attributes with their kinds, `[regions]`, and `+traits`. A group holds
//! one value, with `?` at most one, with `*` any number. Below stands the form, in which the
//! parser and the printer find their way alike:
//!
//! | in a form              | is                                                        |
//! |------------------------|-----------------------------------------------------------|
//! | `` `to` ``             | the word or sign itself                                   |
//! | `$x`                   | the operands, the attribute or the region of that name    |
//! | `type($x)`             | the types of a group                                      |
//! | `attr-dict`            | all attributes that stand nowhere else, in braces         |
//! | `( … ^$x … )?`         | there if `x` is, or if the word at its begin is           |
//! | `functional($x, $y)`   | `(types) -> types`                                        |
//! | `arrow($y)`            | `-> types`, where there are results                       |
//! | `list($x, numbers)`    | `[4, %n]`: numbers, and operands where these are open     |
//! | `custom(Name)`         | text that only code reads and writes                      |
//!
//! Two definitions of one name are for different releases, or for texts that differ.

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
pub use words::Words;

/// What operations of one name are.
#[derive(Debug)]
pub struct Definition {
    /// The name, with that of the dialect.
    pub name: &'static str,
    /// The releases that know it.
    pub releases: Releases,
    /// The operands in groups.
    pub operands: Vec<Group>,
    /// The results in groups.
    pub results: Vec<Group>,
    /// The attributes with a meaning.
    pub attributes: Vec<AttributeSpec>,
    /// The regions.
    pub regions: Vec<RegionSpec>,
    /// What else is known.
    pub traits: Vec<Trait>,
    /// The form of its text; empty where it has the generic one only.
    pub form: Vec<Directive>,
}

/// Operands or results of one name.
#[derive(Debug)]
pub struct Group {
    /// The name.
    pub name: &'static str,
    /// How many there are.
    pub count: Count,
    /// What types they have.
    pub ty: Constraint,
}

/// How many there are of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One.
    One,
    /// One or none.
    Optional,
    /// Any number.
    Any,
}

/// An attribute with a meaning.
#[derive(Debug)]
pub struct AttributeSpec {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub kind: AttributeKind,
    /// Whether it may be missing.
    pub is_optional: bool,
}

/// What an attribute is.
#[derive(Clone, Copy, Debug)]
pub enum AttributeKind {
    /// Anything.
    Any,
    /// Its name alone.
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
    /// An attribute of a dialect, of which the text between its brackets stands in forms:
    /// `fastmath<fast>`; the second is what it is where it is missing.
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
    /// How many there are, or may be.
    pub count: Count,
}

/// What is known of an operation beside its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// Ends its block.
    Terminator,
    /// Its regions see no values from outside.
    Isolated,
    /// Its blocks end without a terminator.
    NoTerminator,
    /// Its blocks end in this operation, which the text leaves out where it has no operands.
    Implicit(&'static str),
    /// Stands in this operation.
    Within(&'static str),
    /// Names of operations in its regions may leave this dialect out.
    Dialect(&'static str),
    /// Its groups of any number of results have as many each.
    SameSize,
    /// Structured: `ins`, `outs`, results like `outs`.
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
    /// The attributes that stand nowhere else.
    Dictionary,
    /// A function type of groups of operands and a group of results.
    Functional(Vec<usize>, usize),
    /// `->` and the types of a group of results, where there are any.
    Arrow(usize),
    /// Numbers and operands in brackets: the operands are the numbers that an attribute
    /// leaves open.
    List(usize, usize),
    /// Steps that may be missing.
    Optional(Vec<Directive>, Anchor),
    /// What code reads and writes.
    Custom(&'static str),
}

/// What says whether steps are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Whether a group has operands.
    Operands(usize),
    /// Whether a group has results.
    Results(usize),
    /// Whether there is an attribute.
    Attribute(usize),
}

impl Definition {
    /// The group of operands of a name.
    ///
    /// # Panics
    /// Where there is none.
    pub fn operand(&self, name: &str) -> usize {
        let place = self.operands.iter().position(|group| group.name == name);
        place.unwrap_or_else(|| panic!("{} has operands `{name}`", self.name))
    }

    /// The group of results of a name.
    ///
    /// # Panics
    /// Where there is none.
    pub fn result(&self, name: &str) -> usize {
        let place = self.results.iter().position(|group| group.name == name);
        place.unwrap_or_else(|| panic!("{} has results `{name}`", self.name))
    }

    /// The attribute of a name, where it has a meaning.
    pub fn attribute(&self, name: &str) -> Option<&AttributeSpec> {
        self.attributes.iter().find(|known| known.name == name)
    }

    /// Puts attributes in their order: those with a meaning as they are defined, then others
    /// as the text has them.
    pub(crate) fn sort(&self, attributes: &mut Dictionary) {
        let place = |name: &str| self.attributes.iter().position(|known| known.name == name);
        attributes.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    }

    /// Whether something is known of the operation.
    pub fn has(&self, wanted: Trait) -> bool {
        self.traits.contains(&wanted)
    }

    /// The operation that ends its blocks where the text leaves it out.
    pub fn implicit_terminator(&self) -> Option<&'static str> {
        self.traits.iter().find_map(|known| match known {
            Trait::Implicit(name) => Some(*name),
            _ => None,
        })
    }

    /// The dialect that names in its regions may leave out.
    pub fn inner_dialect(&self) -> Option<&'static str> {
        self.traits.iter().find_map(|known| match known {
            Trait::Dialect(name) => Some(*name),
            _ => None,
        })
    }

    /// Whether several groups have no fixed number of operands, so that the generic form
    /// has to say how many each has.
    pub fn is_segmented(&self) -> bool {
        is_segmented(&self.operands)
    }

    /// As [`is_segmented`](Self::is_segmented), of results.
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
