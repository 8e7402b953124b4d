//! Assignments to loads and stores.

use sparsec_base::{ElementType, Scalar};
use sparsec_computation::{Access, Operator, Value};
use sparsec_loop::{BinaryOp, Buffer, Expr, Failure, UnaryOp, Var};
use sparsec_relation::{Expression, Function};

use super::compute_type;
use super::emit::{Emitter, Point};
use super::window::Numbering;
use crate::bisect::integer;

impl Emitter<'_> {
    /// What is computed with where an access stores.
    pub(super) fn element(&self, access: &Access) -> ElementType {
        let space = self.computation.space(&access.space);
        compute_type(space.expect("checked with the text").element)
    }

    /// Does what a statement does at a point.
    pub(super) fn assign(&mut self, number: usize, tuple: &[Expression]) {
        if self.is_counted_in_share(number, tuple)
            || self.is_shifted(number, tuple)
            || self.is_touched(number, tuple)
        {
            return;
        }
        let statement = &self.computation.statements[number];
        let target = statement.target.rewritten(&Point(tuple));
        let element = self.element(&target);
        let value = self.value_of(number, tuple, element);
        let operation = Self::operation(statement.update);
        let mut carries = self.carries.iter();
        let carries = carries
            .find(|function| function.name == target.space)
            .cloned();
        let mut value = value;
        if self.locals.contains(&target.space) {
            self.carry(&target, value);
            return;
        }
        if let Some(function) = carries {
            let var = self.carry(&target, value);
            if !self.settled.contains(&number) {
                self.check_carried(&function, var);
            }
            if self.in_variables.contains(&target.space) {
                return;
            }
            value = var.into();
        }
        if let Some(Numbering::InPlace(_)) = self.windows.get(&(number, 0)) {
            return;
        }
        if let (Some((held, var)), Some(op)) = (&self.held, operation)
            && *held == target
        {
            let var = *var;
            return self.builder.assign(var, Expr::Var(var).binary(op, value));
        }
        if self.is_combined_in_share(&target, &value, operation) {
            return;
        }
        self.store_at(&target, value, operation);
    }

    /// Stores a value at an entry, or combines the two; ends the function where the entry cannot
    /// hold the result.
    pub(super) fn store_at(&mut self, target: &Access, value: Expr, operation: Option<BinaryOp>) {
        let index = self.index(&target.space, &target.indices);
        self.store_entry(target, index, value, operation);
    }

    /// As [`store_at`](Self::store_at), where the index is known.
    pub(super) fn store_entry(
        &mut self,
        target: &Access,
        index: Expr,
        value: Expr,
        operation: Option<BinaryOp>,
    ) {
        let element = self.element(target);
        let buffer = self.arrays.spaces[&target.space];
        let storage = self.builder.function().buffers[buffer].storage;
        if storage == element {
            return self.builder.store_reduce(buffer, index, value, operation);
        }
        let at = self.builder.let_("at", index);
        let value = match operation {
            None => value,
            Some(op) => self.entry(buffer, at).binary(op, value),
        };
        let value = self.builder.let_("value", value);
        // A narrow integer is stored only if it fits, which a total says of all at once.
        if !self.totals.contains_key(&target.space) {
            let (least, most) = range(storage);
            let below = Expr::Var(value).less(least);
            let outside = below.binary(BinaryOp::Or, Expr::int(most).less(value));
            self.builder
                .if_then(outside, |b| b.fail(Failure::CastOutOfRange));
        }
        let loaded = self.builder.function().buffers[buffer].compute;
        let value = match loaded == element {
            true => value.into(),
            false => Expr::Cast(loaded, Box::new(value.into())),
        };
        self.builder.store(buffer, at, value);
    }

    /// Keeps an entry for the statements behind this one, in a variable.
    fn carry(&mut self, target: &Access, value: Expr) -> Var {
        let value = self.builder.let_(&target.space, value);
        self.carried.push((target.clone(), value));
        value
    }

    /// Ends the function where a carried entry is not as declared.
    fn check_carried(&mut self, function: &Function, value: Var) {
        let range = function.range.as_box().expect("carried from a box to one");
        let [least, above] = [&range[0].0, &range[0].1].map(|e| self.expr(e));
        let outside = Expr::Var(value)
            .less(least)
            .binary(BinaryOp::Or, above.binary(BinaryOp::Le, value));
        self.builder
            .if_then(outside, |b| b.fail(Failure::NotAsDeclared));
    }

    /// What kernels compute with of the entry at an index.
    fn entry(&self, buffer: Buffer, index: impl Into<Expr>) -> Expr {
        let data = &self.builder.function().buffers[buffer];
        match compute_type(data.storage) == data.compute {
            true => Expr::load(buffer, index),
            false => integer(self.builder, buffer, index),
        }
    }

    /// The value at a point, as what its type is or, for numbers, `wanted`.
    pub(super) fn value(
        &mut self,
        value: &Value,
        tuple: &[Expression],
        wanted: ElementType,
    ) -> Expr {
        match value {
            Value::Integer(n) => Scalar::from_i64(wanted, *n).into(),
            Value::Float(x) => float(wanted, *x).into(),
            Value::Variable(variable) => {
                let e = Expression::Variable(*variable).rewritten(&Point(tuple));
                self.expr(&e)
            }
            Value::Parameter(name) => self.expr(&Expression::Constant(name.clone())),
            Value::Entry(access) => {
                let access = access.rewritten(&Point(tuple));
                let mut carried = self.carried.iter().rev();
                if let Some((_, var)) = carried.find(|(it, _)| *it == access) {
                    return Expr::Var(*var);
                }
                let is_kept = [&self.in_variables, &self.locals];
                self.missed |= is_kept.iter().any(|names| names.contains(&access.space));
                let index = self.index(&access.space, &access.indices);
                self.entry(self.arrays.spaces[&access.space], index)
            }
            Value::Negate(a) => {
                let a = self.value(a, tuple, wanted);
                Expr::Unary(UnaryOp::Neg, Box::new(a))
            }
            Value::PowerOfTwo(a) => {
                let least = self.value(a, tuple, ElementType::I64);
                self.power_of_two(least)
            }
            Value::Differs(a, b) => {
                let own = self.type_of(a).or_else(|| self.type_of(b));
                let own = own.unwrap_or(ElementType::I64);
                let [a, b] = [a, b].map(|side| self.value(side, tuple, own));
                Expr::Select {
                    condition: Box::new(a.binary(BinaryOp::Ne, b)),
                    then: Box::new(Expr::int(1)),
                    otherwise: Box::new(Expr::int(0)),
                }
            }
            Value::Conjugate(a) => {
                let a = self.value(a, tuple, wanted);
                Expr::Unary(UnaryOp::Conj, Box::new(a))
            }
            Value::Curve(name, coordinates) => {
                let key = Expression::Call(name.clone(), coordinates.clone());
                self.expr(&key.rewritten(&Point(tuple)))
            }
            Value::Window(..) => {
                let found = self.here.next();
                found.expect("numbered at the point")
            }
            Value::Cast(element, a) => {
                let own = self.type_of(a);
                let a = self.value(a, tuple, own.unwrap_or(*element));
                match own {
                    Some(own) if own != *element => Expr::Cast(*element, Box::new(a)),
                    _ => a,
                }
            }
            Value::Binary(operator, a, b) => {
                let element = self.type_of(value).unwrap_or(wanted);
                let a = self.value(a, tuple, element);
                let b = self.value(b, tuple, element);
                let op = match operator {
                    Operator::Add => BinaryOp::Add,
                    Operator::Subtract => BinaryOp::Sub,
                    Operator::Multiply => BinaryOp::Mul,
                    Operator::Divide => BinaryOp::Div,
                    Operator::FloorDivide => BinaryOp::FloorDiv,
                    Operator::Modulo => BinaryOp::Mod,
                    Operator::Minimum => BinaryOp::Min,
                    Operator::Maximum => BinaryOp::Max,
                };
                a.binary(op, b)
            }
        }
    }

    /// The type of a value; `None` for numbers, which take the one asked for.
    fn type_of(&self, value: &Value) -> Option<ElementType> {
        match value {
            Value::Integer(_) | Value::Float(_) => None,
            Value::Variable(_)
            | Value::Parameter(_)
            | Value::Window(..)
            | Value::Curve(..)
            | Value::PowerOfTwo(_)
            | Value::Differs(..) => Some(ElementType::I64),
            Value::Entry(access) => Some(self.element(access)),
            Value::Negate(a) | Value::Conjugate(a) => self.type_of(a),
            Value::Binary(_, a, b) => self.type_of(a).or_else(|| self.type_of(b)),
            Value::Cast(element, _) => Some(*element),
        }
    }
}

fn float(element: ElementType, x: f64) -> Scalar {
    match element {
        ElementType::F32 => Scalar::F32(x as f32),
        _ => Scalar::F64(x),
    }
}

/// The least and the largest integer of a narrow type.
pub(super) fn range(element: ElementType) -> (i64, i64) {
    match element {
        ElementType::I8 => (i8::MIN.into(), i8::MAX.into()),
        ElementType::I16 => (i16::MIN.into(), i16::MAX.into()),
        ElementType::I32 => (i32::MIN.into(), i32::MAX.into()),
        ElementType::U8 => (0, u8::MAX.into()),
        ElementType::U16 => (0, u16::MAX.into()),
        ElementType::U32 => (0, u32::MAX.into()),
        _ => (i64::MIN, i64::MAX),
    }
}
