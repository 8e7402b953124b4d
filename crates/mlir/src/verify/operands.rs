//! Types of operands and results, and attributes.

use sparsec_base::{Result, Span, code};

use crate::definition::{AttributeKind, AttributeSpec, Constraint, Group};
use crate::module::{Operation, Value};
use crate::parse::{bool_like, part_of, tensor_of};
use crate::types::Type;

use super::Check;

impl Check<'_> {
    /// Rule 1: operands and results have the types of the definition.
    pub(super) fn types(&self, op: Operation<'_>) -> Result<()> {
        let definition = op.data().definition;
        for group in &definition.operands {
            for (value, span) in op
                .operands(group.name)
                .iter()
                .zip(op.operand_spans(group.name))
            {
                self.type_fits(op, group, *value, *span)?;
            }
        }
        for group in &definition.results {
            for value in op.results(group.name) {
                self.type_fits(op, group, *value, op.data().span)?;
            }
        }
        Ok(())
    }

    fn type_fits(&self, op: Operation<'_>, group: &Group, value: Value, span: Span) -> Result<()> {
        let ty = self.module.ty(value);
        let other = |name: &str| self.type_of_group(op, name);
        let wanted = match &group.ty {
            Constraint::Kinds(kinds) => {
                if kinds.iter().any(|kind| kind.holds(ty)) {
                    return Ok(());
                }
                let is_plain_tensor = matches!(ty, Type::Tensor(_)) && ty.encoding().is_none();
                let wants_sparse = group.ty.words().contains("encoding");
                let message = format!(
                    "`{}` of `{}` is to be {}, not `{}`",
                    group.name,
                    op.name(),
                    group.ty.words(),
                    self.text(ty)
                );
                return Err(match is_plain_tensor && wants_sparse {
                    true => self
                        .fault(code::NOT_SPARSE, message, span, "has no encoding")
                        .help("give the type an encoding: `tensor<8x8xf64, #CSR>`"),
                    false => self
                        .fault(
                            code::OPERAND_TYPE,
                            message,
                            span,
                            format!("`{}`", self.text(ty)),
                        )
                        .help(format!("give it {}", group.ty.words())),
                });
            }
            Constraint::Exactly(ty) => Some(ty.clone()),
            Constraint::Same(of) => other(of),
            Constraint::Part(of) => other(of).map(|ty| part_of(&ty)),
            Constraint::Element(of) => other(of).map(|ty| ty.element().clone()),
            Constraint::BoolLike(of) => other(of).map(|ty| bool_like(&ty)),
            Constraint::TensorOf(of) => other(of).map(|ty| tensor_of(&ty)),
        };
        let Some(wanted) = wanted else { return Ok(()) };
        let is_same = match &group.ty {
            // A tensor with an encoding has a buffer of its shape too.
            Constraint::TensorOf(_) => {
                matches!(ty, Type::Tensor(_) | Type::UnrankedTensor(_))
                    && ty.shape() == wanted.shape()
                    && ty.element() == wanted.element()
            }
            _ => *ty == wanted,
        };
        if is_same {
            return Ok(());
        }
        let message = format!(
            "`{}` of `{}` has type `{}`, not {}",
            group.name,
            op.name(),
            self.text(ty),
            match &group.ty {
                Constraint::Exactly(_) => format!("`{}`", self.text(&wanted)),
                constraint => format!("`{}`, {}", self.text(&wanted), constraint.words()),
            }
        );
        Err(self
            .fault(
                code::TYPES_DIFFER,
                message,
                span,
                format!("`{}`", self.text(ty)),
            )
            .help(format!("give it a value of type `{}`", self.text(&wanted))))
    }

    /// The type of the first value of a group.
    pub(super) fn type_of_group(&self, op: Operation<'_>, name: &str) -> Option<Type> {
        let definition = op.data().definition;
        let values = match definition.operands.iter().any(|group| group.name == name) {
            true => op.operands(name),
            false => op.results(name),
        };
        values.first().map(|value| self.module.ty(*value).clone())
    }

    /// Rule 2: required attributes are there, and each is of its kind.
    pub(super) fn attributes(&self, op: Operation<'_>) -> Result<()> {
        for spec in &op.data().definition.attributes {
            match op.attribute(spec.name) {
                None if spec.is_optional => {}
                None => {
                    let message = format!("`{}` needs the attribute `{}`", op.name(), spec.name);
                    return Err(self.of_op(op, code::BAD_ATTRIBUTE, message).help(format!(
                        "write `{{{} = {}}}`",
                        spec.name,
                        example(spec)
                    )));
                }
                Some(value) if spec.kind.holds(value) => {}
                Some(value) => {
                    let message = format!(
                        "`{}` of `{}` is to be {}, not `{}`",
                        spec.name,
                        op.name(),
                        words(spec.kind),
                        self.module.spell().attribute(value)
                    );
                    return Err(self.of_op(op, code::BAD_ATTRIBUTE, message).help(format!(
                        "write `{} = {}`",
                        spec.name,
                        example(spec)
                    )));
                }
            }
        }
        Ok(())
    }
}

fn words(kind: AttributeKind) -> &'static str {
    match kind {
        AttributeKind::Any => "anything",
        AttributeKind::Unit => "its name alone",
        AttributeKind::Bool => "a truth value",
        AttributeKind::Integer(Type::Index) => "a number of type `index`",
        AttributeKind::Integer(_) => "an integer",
        AttributeKind::Constant => "a constant",
        AttributeKind::Text => "a text",
        AttributeKind::Symbol => "a symbol",
        AttributeKind::Map => "an affine map",
        AttributeKind::Array => "a list",
        AttributeKind::Numbers => "a list of integers",
        AttributeKind::Type => "a type",
        AttributeKind::Function => "the type of a function",
        AttributeKind::Encoding => "an encoding",
        AttributeKind::Dictionary => "a dictionary",
        AttributeKind::Word(_) => "one of its words",
        AttributeKind::Dialect(..) => "an attribute of its dialect",
    }
}

fn example(spec: &AttributeSpec) -> &'static str {
    match spec.kind {
        AttributeKind::Integer(Type::Index) => "0 : index",
        AttributeKind::Integer(_) => "0",
        AttributeKind::Bool => "true",
        AttributeKind::Text => "\"…\"",
        AttributeKind::Symbol => "@name",
        AttributeKind::Map => "affine_map<(i) -> (i)>",
        AttributeKind::Array => "[…]",
        AttributeKind::Numbers => "array<i64: 0>",
        _ => "…",
    }
}
