//! The numbers of constants.

use sparsec_base::{ElementType, Scalar};
use sparsec_mlir::attribute::{Dense, Number};
use sparsec_mlir::{Attribute, Operation};

/// The number of a constant operation.
pub(crate) fn constant_number(op: Operation<'_>) -> Option<Scalar> {
    let element = op.data().results.first().map(|it| op.module().ty(*it))?;
    if element.is_shaped() {
        return None;
    }
    let element = element.number()?;
    match op.meaning() {
        "arith.constant" => attribute_number(op.attribute("value")?, element),
        "complex.constant" => {
            let Some(Attribute::Array(parts)) = op.attribute("value") else {
                return None;
            };
            let part = |n: usize| match parts.get(n)? {
                Attribute::Float(value, _) => Some(value.0),
                Attribute::Integer(value, _) => Some(*value as f64),
                _ => None,
            };
            complex(part(0)?, part(1)?, element)
        }
        _ => None,
    }
}

fn complex(re: f64, im: f64, element: ElementType) -> Option<Scalar> {
    Scalar::C128(sparsec_base::Complex::new(re, im)).cast(element)
}

/// The number of an attribute as a type.
pub(crate) fn attribute_number(value: &Attribute, element: ElementType) -> Option<Scalar> {
    match value {
        Attribute::Bool(value) => Some(Scalar::from_i64(element, i64::from(*value))),
        Attribute::Integer(value, _) => Some(Scalar::from_i64(element, *value as i64)),
        Attribute::Float(value, _) => Scalar::F64(value.0).cast(element),
        Attribute::Complex(_, re, im) => complex(re.0, im.0, element),
        _ => None,
    }
}

/// A number of a dense constant.
pub(crate) fn constant_entry(number: Number, element: ElementType) -> Option<Scalar> {
    match number {
        Number::Bool(value) => Some(Scalar::from_i64(element, i64::from(value))),
        Number::Integer(value) => Some(Scalar::from_i64(element, value as i64)),
        Number::Float(value) => Scalar::F64(value.0).cast(element),
        Number::Complex(re, im) => complex(re.0, im.0, element),
        Number::IntegerPair(re, im) => complex(re as f64, im as f64, element),
    }
}

/// The entries of a dense constant.
pub(crate) fn constant_entries(dense: &Dense) -> Option<Vec<Scalar>> {
    let element = dense.ty.element().number()?;
    let entries = dense.entries.iter();
    entries
        .map(|entry| constant_entry(*entry, element))
        .collect()
}
