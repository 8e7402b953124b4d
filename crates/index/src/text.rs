//! Typed expressions as text: back to the tree of notation, and printed.

use std::fmt;

use sparsec_base::{Arena, Scalar, Span};

use crate::expr::{Access, Expr};
use crate::notation::{Node, NodeKind, Number, Place, TensorUse, Word};
use crate::program::{IndexVar, IndexVarData, Program, TensorData, TensorVar};

/// The names of tensors and index variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) tensors: &'a Arena<TensorVar, TensorData>,
    pub(crate) vars: &'a Arena<IndexVar, IndexVarData>,
}

impl Names<'_> {
    /// The access as it would be written.
    pub(crate) fn access(&self, access: &Access) -> TensorUse {
        let indices = access.vars.iter().map(|var| word(&self.vars[*var].name));
        TensorUse {
            name: word(&self.tensors[access.tensor].name),
            indices: indices.collect(),
            span: access.span,
        }
    }

    /// The expression as it would be written.
    pub(crate) fn node(&self, expr: &Expr) -> Node {
        let kind = match expr {
            Expr::Literal(value) => NodeKind::Number(number(*value)),
            Expr::Access(access) => NodeKind::Access(self.access(access)),
            Expr::Apply { op, args } => NodeKind::Apply {
                op: *op,
                op_span: Place(Span::default()),
                args: args.iter().map(|arg| self.node(arg)).collect(),
            },
            Expr::Cast(element, body) => NodeKind::Cast(*element, Box::new(self.node(body))),
            Expr::Reduce { op, vars, body } => NodeKind::Reduce {
                op: *op,
                vars: vars.iter().map(|var| word(&self.vars[*var].name)).collect(),
                body: Box::new(self.node(body)),
            },
        };
        Node {
            kind,
            span: Span::default(),
        }
    }
}

fn word(text: &str) -> Word {
    Word {
        text: text.to_owned(),
        span: Span::default(),
    }
}

/// A number that reads back as `value` where its type stands beside it.
fn number(value: Scalar) -> Number {
    match value {
        Scalar::Bool(value) => Number::Bool(value),
        Scalar::I8(value) => Number::Integer(value.into()),
        Scalar::I16(value) => Number::Integer(value.into()),
        Scalar::I32(value) => Number::Integer(value.into()),
        Scalar::I64(value) => Number::Integer(value),
        Scalar::U8(value) => Number::Integer(value.into()),
        Scalar::U16(value) => Number::Integer(value.into()),
        Scalar::U32(value) => Number::Integer(value.into()),
        // Wraps, as it does where it is read as this type.
        Scalar::U64(value) => Number::Integer(value as i64),
        // The digits that tell `f32` values apart, not those of the `f64`.
        Scalar::F32(value) => Number::Float(value.to_string().parse().unwrap_or(value.into())),
        other => Number::Float(other.to_f64()),
    }
}

/// The statements with every sum and conversion written out.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Names {
            tensors: &self.tensors,
            vars: &self.vars,
        };
        for (number, statement) in self.statements.iter().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }
            let (lhs, rhs) = (names.access(&statement.lhs), names.node(&statement.rhs));
            write!(f, "{lhs} = {rhs}")?;
        }
        Ok(())
    }
}
