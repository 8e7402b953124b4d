//! Notation to program: names, extents, types, implied sums.
//!
//! ```text
//! y(i) = A(i,j) * x(j) + z(i)          A: i32 read from `a.mtx`, x and z: f64
//!
//! y(i) = sum{j}(f64(A(i,j)) * x(j)) + z(i)
//! ```
//!
//! | question                                  | answered in                |
//! |-------------------------------------------|----------------------------|
//! | which tensors are there, read or assigned | `tensors`                  |
//! | where is a variable summed over           | `scope`                    |
//! | of what type is each part                 | [`sparsec_index::typing`]  |
//! | how far does each variable run            | `extents`                  |
//!
//! A program that comes out of here has every index variable bound exactly
//! once, every conversion explicit, and no clash of extents among those that
//! are known. What is wrong is said with places, before any data is touched.
//!
//! ```
//! use sparsec_base::Source;
//! use sparsec_notation::{Declaration, Declarations, Notation};
//! let notation = Notation::parse(&Source::new("expression", "y(i) = A(i,j) * x(j)"))?;
//! let mut declarations = Declarations::new();
//! declarations.declare("A", Declaration::with_extents(&[3, 4]));
//! declarations.declare("x", Declaration::with_order(1));
//! let program = notation.resolve(&declarations)?;
//! let x = program.tensors.named("x").unwrap();
//! assert_eq!(program.tensors[x].extents, [Some(4)]);
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod extents;
mod fills;
mod parts;
mod scope;
mod statement;
mod tensors;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use sparsec_base::{ElementType, Result, Scalar, Source, Span};
use sparsec_index::{Program, TensorData, TensorRole};

use crate::syntax::Notation;

pub use tensors::one_index_a_mode;

/// What is known of a tensor before its program is read.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    /// The type of the entries; if not given, `f64` for an operand and the
    /// type of the right side for a result.
    pub element: Option<ElementType>,
    /// One extent a mode.
    pub extents: Option<Vec<u64>>,
    /// The value of entries that are not stored; if not given, zero for an
    /// operand and what follows from the right side for a result.
    pub fill: Option<Scalar>,
    /// How many modes there are, where no extents are given.
    pub order: Option<usize>,
    /// Where this is known from, in words that follow the name in a
    /// diagnostic, such as "read from `web.mtx`"; may be empty.
    pub origin: String,
    /// Where a text states the extents, one place a mode; may be empty.
    pub places: Vec<(Source, Span)>,
}

impl Declaration {
    /// A tensor of these extents.
    pub fn with_extents(extents: &[u64]) -> Self {
        Self {
            extents: Some(extents.to_vec()),
            ..Self::default()
        }
    }

    /// A tensor of this order, whose extents follow from its indices.
    pub fn with_order(order: usize) -> Self {
        Self {
            order: Some(order),
            ..Self::default()
        }
    }

    /// The same with entries of this type.
    #[must_use]
    pub fn of(self, element: ElementType) -> Self {
        Self {
            element: Some(element),
            ..self
        }
    }

    /// How many modes the tensor has, where that is known.
    fn known_order(&self) -> Option<usize> {
        self.extents.as_ref().map(Vec::len).or(self.order)
    }
}

/// What is known of tensors and index variables, by name.
#[derive(Clone, Debug, Default)]
pub struct Declarations {
    tensors: BTreeMap<String, Declaration>,
    given: BTreeMap<String, Declaration>,
    extents: BTreeMap<String, u64>,
    extent_places: BTreeMap<String, (Source, Span)>,
}

impl Declarations {
    /// Nothing known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what is known of a tensor.
    pub fn declare(&mut self, name: impl Into<String>, declaration: Declaration) {
        self.tensors.insert(name.into(), declaration);
    }

    /// Says what is known of the value that a tensor is given, where statements
    /// assign other values to it. What is [declared](Self::declare) then holds of
    /// those.
    pub fn give(&mut self, name: impl Into<String>, declaration: Declaration) {
        self.given.insert(name.into(), declaration);
    }

    /// Gives an index variable its extent, in every statement.
    pub fn set_extent(&mut self, var: impl Into<String>, extent: u64) {
        self.extents.insert(var.into(), extent);
    }

    /// Says which text gives an index variable its extent, for diagnostics.
    pub fn place_extent(&mut self, var: impl Into<String>, source: &Source, span: Span) {
        self.extent_places
            .insert(var.into(), (source.clone(), span));
    }

    /// What is known of a tensor.
    pub fn get(&self, name: &str) -> Option<&Declaration> {
        self.tensors.get(name)
    }

    /// Whether anything was said of a tensor.
    pub fn knows(&self, name: &str) -> bool {
        self.of_input(name).is_some()
    }

    /// What is known of the value that a tensor is given.
    fn of_input(&self, name: &str) -> Option<&Declaration> {
        self.given.get(name).or_else(|| self.tensors.get(name))
    }

    /// Whether a tensor that statements assign is given a value to begin with.
    fn is_given(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// What is known of one of the values of a tensor.
    fn of(&self, tensor: &TensorData) -> Option<&Declaration> {
        match tensor.role {
            TensorRole::Input => self.of_input(tensor.source_name()),
            _ => self.get(tensor.source_name()),
        }
    }
}

impl Notation {
    /// Gives the notation its meaning.
    ///
    /// # Errors
    /// * `E0201`, `E0202`, `E0206`, `E0207` for names that do not fit together;
    /// * `E0203`, `E0204` for extents that clash or are missing;
    /// * `E0209`, `E0210`, `E0211` for index variables that are bound
    ///   nowhere, twice, or in no clear place;
    /// * `E0208`, `E0219`, `E0222` for types and constants;
    /// * `E0218` for a declared fill that differs.
    pub fn resolve(&self, declarations: &Declarations) -> Result<Program> {
        let (mut program, named, firsts) = tensors::collect(self, declarations)?;
        let mut uses = extents::Uses::default();
        for (assignment, named) in std::iter::zip(&self.statements, &named) {
            let known = statement::Known {
                named,
                firsts: &firsts,
                declarations,
            };
            let statement = statement::resolve(&mut program, known, &mut uses, assignment)?;
            program.statements.push(statement);
        }
        tensors::check_all_used(self, declarations, &program)?;
        extents::unify(&mut program, declarations, &uses)?;
        program.close();
        fills::derive(&mut program, declarations)?;
        Ok(program)
    }
}
