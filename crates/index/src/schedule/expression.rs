//! Expressions that a schedule names, found in a statement.

use sparsec_base::{Complex, Diagnostic, Scalar, code};

use crate::concrete::Concrete;
use crate::expr::Expr;
use crate::index_expr::IndexExpr;
use crate::notation::{Index, Node, NodeKind, Number, Word};

/// Whether `node` says what `expr` is. Conversions that typing inserted need
/// not be written.
pub(super) fn matches(node: &Node, expr: &Expr, concrete: &Concrete) -> bool {
    match (&node.kind, expr) {
        (NodeKind::Cast(element, node), Expr::Cast(to, body)) => {
            element == to && matches(node, body, concrete)
        }
        (_, Expr::Cast(_, body)) => matches(node, body, concrete),
        (NodeKind::Number(number), Expr::Literal(value)) => same_number(*number, *value),
        (NodeKind::Index(written), Expr::Index(index)) => same_index(index, written, concrete),
        // A name alone may be that of an index variable.
        (NodeKind::Access(tensor), Expr::Index(index)) => {
            tensor.indices.is_empty()
                && same_index(index, &Index::from(tensor.name.clone()), concrete)
        }
        (NodeKind::Access(tensor), Expr::Access(access)) => {
            concrete.tensors[access.tensor].name == tensor.name.text
                && access.indices.len() == tensor.indices.len()
                && std::iter::zip(&access.indices, &tensor.indices)
                    .all(|(index, written)| same_index(index, written, concrete))
        }
        (
            NodeKind::Apply { op, args, .. },
            Expr::Apply {
                op: of,
                args: parts,
            },
        ) => {
            op == of
                && args.len() == parts.len()
                && args
                    .iter()
                    .zip(parts)
                    .all(|(arg, part)| matches(arg, part, concrete))
        }
        _ => false,
    }
}

/// Whether `written` is `index`, with variables known by their names.
fn same_index(index: &IndexExpr, written: &Index, concrete: &Concrete) -> bool {
    let var = |word: &Word| {
        let mut vars = index.vars().into_iter();
        let found = vars.find(|var| concrete.vars[*var].name == word.text);
        found.ok_or_else(|| Diagnostic::new(code::UNKNOWN_TENSOR_IN_SCHEDULE, "another index"))
    };
    written
        .expr(&concrete.source, &var)
        .is_ok_and(|expr| expr == *index)
}

fn same_number(number: Number, value: Scalar) -> bool {
    let number = match number {
        Number::Bool(number) => return value == Scalar::Bool(number),
        Number::Integer(number) => match i64::try_from(number) {
            Ok(number) => Scalar::I64(number),
            Err(_) => Scalar::U64(number as u64),
        },
        Number::Float(number) => Scalar::F64(number),
        Number::Imaginary(number) => Scalar::C128(Complex::new(0.0, number)),
    };
    number.cast(value.element()) == Some(value)
}
