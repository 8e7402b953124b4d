//! Complex numbers: functions over their parts, by the formulas that every engine shares
//! ([`sparsec_loop::complex`]).
//!
//! The operations of the dialect `complex` are not used, since they round otherwise, from release
//! to release.

use sparsec_base::ElementType;
use sparsec_loop::complex::{Operation, formula};
use sparsec_loop::{BinaryOp, Intrinsic, UnaryOp};

use crate::helper::Helpers;
use crate::state::Slot;
use crate::types::{Type, word};
use crate::writer::{Value, Writer};

/// The definition of the function that computes an operation.
pub(crate) fn text(
    operation: Operation,
    ty: ElementType,
    name: &str,
    helpers: &mut Helpers,
) -> String {
    let formula = formula(operation, ty.part());
    let held = word(ty);
    let mut writer = Writer::new(&formula.function, helpers);
    let mut parameters = Vec::new();
    for (&(re, im), operand) in formula.parameters.iter().zip(["a", "b"]) {
        let value = Value::new(writer.fresh(operand), Type::Number(ty));
        parameters.push(format!("{}: {held}", value.name));
        for (var, part) in [(re, "re"), (im, "im")] {
            let part_value = writer.part(&value, part, ty);
            let part_value = writer.named(part_value, &format!("{operand}_{part}"));
            writer.state.set(Slot::Var(var), part_value);
        }
    }
    writer.block(&formula.function.body);
    let results = formula.results.iter();
    let results: Vec<Value> = results.map(|it| writer.expr(it, false)).collect();
    let given = match &results[..] {
        [re, im] => writer.pair(re, im, ty),
        [one, ..] => one.clone(),
        [] => unreachable!("an operation gives one or two values"),
    };
    writer.line(&format!("return {} : {}", given.name, given.ty));
    format!(
        "  func.func private @{name}({}) -> {} {{\n{}  }}\n",
        parameters.join(", "),
        given.ty,
        writer.finish()
    )
}

impl Writer<'_> {
    /// The number with these parts.
    pub(crate) fn pair(&mut self, re: &Value, im: &Value, ty: ElementType) -> Value {
        let text = format!("complex.create {}, {} : {}", re.name, im.name, word(ty));
        self.op(Type::Number(ty), &text)
    }

    /// A part of a complex number: `re` or `im`.
    pub(crate) fn part(&mut self, value: &Value, part: &str, ty: ElementType) -> Value {
        let text = format!("complex.{part} {} : {}", value.name, word(ty));
        self.op(Type::Number(ty.part()), &text)
    }

    pub(crate) fn complex_unary(&mut self, op: UnaryOp, value: &Value, ty: ElementType) -> Value {
        match op {
            UnaryOp::Real => self.part(value, "re", ty),
            UnaryOp::Imag => self.part(value, "im", ty),
            _ => {
                let name = self.helpers.complex(Operation::Unary(op), ty);
                let given = Type::Number(op.result_type(ty));
                self.called(&name, std::slice::from_ref(value), given)
            }
        }
    }

    pub(crate) fn complex_binary(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
        ty: ElementType,
    ) -> Value {
        let computed = match op {
            BinaryOp::Ne => BinaryOp::Eq,
            op => op,
        };
        let name = self.helpers.complex(Operation::Binary(computed), ty);
        let given = match op.is_comparison() {
            true => ElementType::Bool,
            false => ty,
        };
        let operands = [left.clone(), right.clone()];
        let value = self.called(&name, &operands, Type::Number(given));
        if op != BinaryOp::Ne {
            return value;
        }
        let all = self.constant(sparsec_base::Scalar::Bool(true));
        let text = format!("arith.xori {}, {} : i1", value.name, all.name);
        self.op(value.ty, &text)
    }

    pub(crate) fn complex_call(
        &mut self,
        function: Intrinsic,
        values: &[Value],
        ty: ElementType,
    ) -> Value {
        let name = self.helpers.complex(Operation::Call(function), ty);
        self.called(&name, values, Type::Number(ty))
    }
}
