//! Expressions that a schedule names, found in a statement.

use sparsec_base::{Complex, Diagnostic, ElementType, Scalar, code};
use sparsec_index::{Concrete, Expr, IndexExpr, Operator};
use sparsec_notation::{Index, Node, NodeKind, Number, Word};

/// Whether `node` says what `expr` is. Conversions that typing inserted need
/// not be written.
pub(super) fn matches(node: &Node, expr: &Expr, concrete: &Concrete) -> bool {
    match (&node.kind, expr) {
        (NodeKind::Cast(element, node), Expr::Cast(to, body)) => {
            element == to && matches(node, body, concrete)
        }
        (_, Expr::Cast(_, body)) => matches(node, body, concrete),
        // `i8(0)` is a number that says its type.
        (NodeKind::Cast(element, node), Expr::Literal(value)) => {
            *element == value.element() && is_number(node, *value)
        }
        (_, Expr::Literal(value)) => is_number(node, *value),
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

/// Whether `node` is a number that has this value in its type.
fn is_number(node: &Node, value: Scalar) -> bool {
    constant(node, value.element())
        .is_some_and(|written| written == value || written.to_c128() == value.to_c128())
}

/// What is written as numbers alone, as a value of a type: a complex number is
/// a sum of two.
fn constant(node: &Node, element: ElementType) -> Option<Scalar> {
    let number = match &node.kind {
        NodeKind::Number(Number::Bool(number)) => {
            return (element == ElementType::Bool).then_some(Scalar::Bool(*number));
        }
        NodeKind::Number(Number::Integer(number)) => match i64::try_from(*number) {
            Ok(number) => Scalar::I64(number),
            Err(_) => Scalar::U64(*number as u64),
        },
        NodeKind::Number(Number::Float(number)) => Scalar::F64(*number),
        NodeKind::Number(Number::Imaginary(number)) => Scalar::C128(Complex::new(0.0, *number)),
        NodeKind::Apply { op, args, .. } if is_sum(op) && element != ElementType::Bool => {
            let args = args.iter().map(|arg| constant(arg, element));
            return op.evaluate(&args.collect::<Option<Vec<Scalar>>>()?);
        }
        _ => return None,
    };
    number.cast(element)
}

fn is_sum(op: &Operator) -> bool {
    matches!(op, Operator::Add | Operator::Sub | Operator::Neg)
}
