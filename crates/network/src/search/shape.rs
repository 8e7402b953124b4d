//! Trees while they are searched: nested joins of numbered parts.

use sparsec_base::arena::Id;

use crate::network::OperandId;
use crate::tree::{Factor, StatementId};

/// A part, or a join of shapes by one statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// The part with this number.
    Part(usize),
    /// A statement that multiplies these.
    Join(Vec<Shape>),
}

impl Shape {
    /// Appends the products of all statements, if part `n` is operand `n`.
    pub(super) fn products(&self, products: &mut Vec<Vec<Factor>>) -> Factor {
        match self {
            Self::Part(n) => Factor::Operand(OperandId::from_index(*n)),
            Self::Join(shapes) => {
                let factors = shapes.iter().map(|shape| shape.products(products));
                let factors = factors.collect();
                products.push(factors);
                Factor::Statement(StatementId::from_index(products.len() - 1))
            }
        }
    }

    /// The shape with each part replaced by the shape of that number.
    pub(super) fn with_parts(&self, parts: &[Shape]) -> Shape {
        match self {
            Self::Part(n) => parts[*n].clone(),
            Self::Join(shapes) => {
                let shapes = shapes.iter().map(|shape| shape.with_parts(parts));
                Self::Join(shapes.collect())
            }
        }
    }
}
