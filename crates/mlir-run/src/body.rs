//! Regions as expressions.
//!
//! ```text
//! %p = arith.mulf %a, %b : f64          y(i) = sum{j}(A(i,j) * x(j)) + y0(i)
//! %s = arith.addf %y, %p : f64
//! linalg.yield %s : f64
//! ```
//!
//! Operators of the program (`sparse_tensor.binary`, `unary`, `select`) ask which of their operands
//! are [present](presence).
//!
//! Source: the dialect's documentation; Bik et al., TACO 2022, §4.

use std::collections::{HashMap, HashSet};

use sparsec_base::{ElementType, Result, Scalar};
use sparsec_index::{Expr, IndexVar, Operator, ProgramBuilder, build::Value as Expression};
use sparsec_mlir::module::Origin;
use sparsec_mlir::{Attribute, Block, Module, Op, Operation, Value};

use crate::constants::constant_number;
use crate::numbers::{self, Algebra};

mod covered;
mod presence;

/// Expressions of a program.
pub(crate) struct Expressions<'a>(pub(crate) &'a ProgramBuilder);

impl Algebra for Expressions<'_> {
    type Value = Expression;

    fn apply(&self, op: &Operator, args: Vec<Expression>) -> Result<Expression> {
        self.0.apply(op, args)
    }

    fn cast(&self, element: ElementType, value: Expression) -> Result<Expression> {
        self.0.cast(element, value)
    }

    fn number(&self, value: Scalar) -> Result<Expression> {
        self.0.cast(value.element(), self.0.number(value))
    }

    fn constant(&self, value: &Expression) -> Option<Scalar> {
        match value.expr() {
            Expr::Literal(value) => Some(*value),
            _ => None,
        }
    }
}

/// The expressions of the values of a body.
pub(crate) struct Regions<'a> {
    pub(crate) module: &'a Module,
    pub(crate) builder: &'a ProgramBuilder,
    pub(crate) vars: &'a [IndexVar],
    pub(crate) values: HashMap<Value, Expression>,
    /// The conditions of `sparse_tensor.select`.
    conditions: HashMap<Op, Expression>,
    /// Whether values are present, of those that were asked or are everywhere.
    presences: HashMap<Value, Expression>,
    /// Results of arithmetic where its operands are absent, if they are known.
    absent: HashMap<Value, Option<Scalar>>,
    /// The values that operators of the program determine; whether kernels store entries of them
    /// that are not present.
    determined: HashMap<Value, bool>,
}

/// The operation that defines a value.
pub(crate) fn definer(module: &Module, value: Value) -> Option<Operation<'_>> {
    match module.value(value).origin {
        Origin::Result(op, _) => Some(module.op(op)),
        Origin::Argument(..) => None,
    }
}

/// The operands of a block's last operation.
pub(crate) fn yielded(module: &Module, block: Block) -> &[Value] {
    let last = module.block(block).ops.last();
    last.map_or(&[], |op| &module.op(*op).data().operands)
}

/// The values that a value is computed from, itself among them.
pub(crate) fn sources(module: &Module, value: Value) -> HashSet<Value> {
    let (mut open, mut found) = (vec![value], HashSet::new());
    while let Some(value) = open.pop() {
        if found.insert(value)
            && let Some(op) = definer(module, value)
        {
            for op in module.walk_from(op.id()) {
                open.extend(&module.op(op).data().operands);
            }
        }
    }
    found
}

impl<'a> Regions<'a> {
    pub(crate) fn new(
        module: &'a Module,
        builder: &'a ProgramBuilder,
        vars: &'a [IndexVar],
        values: HashMap<Value, Expression>,
    ) -> Self {
        Self {
            module,
            builder,
            vars,
            values,
            conditions: HashMap::new(),
            presences: HashMap::new(),
            absent: HashMap::new(),
            determined: HashMap::new(),
        }
    }

    fn apply(&self, op: Operator, args: &[&Expression]) -> Result<Expression> {
        self.builder
            .apply(&op, args.iter().map(|arg| (*arg).clone()))
    }

    fn truth(&self, value: bool) -> Expression {
        self.builder.number(Scalar::Bool(value))
    }

    /// `select(condition, chosen, other)`, without a branch that the condition never chooses.
    fn choose(
        &self,
        condition: &Expression,
        chosen: &Expression,
        other: &Expression,
    ) -> Result<Expression> {
        let known = |value: &Expression| Expressions(self.builder).constant(value);
        match [known(condition), known(chosen), known(other)] {
            [Some(Scalar::Bool(true)), _, _] => Ok(chosen.clone()),
            [Some(Scalar::Bool(false)), _, _] => Ok(other.clone()),
            [_, Some(Scalar::Bool(x)), Some(Scalar::Bool(y))] if x == y => Ok(chosen.clone()),
            [_, Some(Scalar::Bool(true)), Some(Scalar::Bool(false))] => Ok(condition.clone()),
            _ => self.apply(Operator::Select, &[condition, chosen, other]),
        }
    }

    /// The expression of a value of the body; `None` if there is none.
    ///
    /// # Errors
    /// Those of the operators.
    pub(crate) fn expression(&mut self, value: Value) -> Result<Option<Expression>> {
        if let Some(known) = self.values.get(&value) {
            return Ok(Some(known.clone()));
        }
        let Some(op) = definer(self.module, value) else {
            return Ok(None);
        };
        let found = self.operation(op)?;
        if let Some(found) = &found {
            self.values.insert(value, found.clone());
            if numbers::is_arithmetic(op) {
                self.absent.insert(value, self.where_absent(op));
            }
            let determined = self.determined_by(op);
            if self.is_everywhere(op) {
                self.presences.insert(value, self.truth(true));
            } else if determined.is_some() {
                self.presence(value)?;
            }
            self.determined
                .extend(determined.map(|narrows| (value, narrows)));
        }
        Ok(found)
    }

    fn operation(&mut self, op: Operation<'_>) -> Result<Option<Expression>> {
        let algebra = Expressions(self.builder);
        if let Some(number) = constant_number(op) {
            return algebra.number(number).map(Some);
        }
        if op.name() == "linalg.index" {
            let dim = op.attribute("dim").and_then(Attribute::natural);
            let var = dim.and_then(|dim| self.vars.get(dim as usize).copied());
            return var.map(|var| self.builder.index(var)).transpose();
        }
        let mut args = Vec::new();
        for operand in &op.data().operands {
            let Some(arg) = self.expression(*operand)? else {
                return Ok(None);
            };
            args.push(arg);
        }
        match op.name() {
            "sparse_tensor.unary" => self.unary(op, &args[0]),
            "sparse_tensor.binary" => self.binary(op, &args[0], &args[1]),
            "sparse_tensor.select" => self.select(op, &args[0]),
            _ if self.is_decided(op, &args) => Ok(None),
            _ if numbers::is_arithmetic(op) => {
                numbers::compute(&Expressions(self.builder), op, &args)
            }
            _ => Ok(None),
        }
    }

    /// Whether a number decides an operation in expressions, in which it counts as an entry that is not
    /// stored: `x * 0` is 0 there, even where `x` is infinite, and `x + inf` is infinite.
    fn is_decided(&self, op: Operation<'_>, args: &[Expression]) -> bool {
        let mut numbers = args
            .iter()
            .map(|arg| Expressions(self.builder).constant(arg));
        let is_zero = |number: Option<Scalar>| number.is_some_and(Scalar::is_zero);
        let is_infinite = |number: Option<Scalar>| {
            let parts = number.map(Scalar::to_c128);
            parts.is_some_and(|it| !(it.re.is_finite() && it.im.is_finite()))
        };
        match op.meaning() {
            "arith.divf" | "complex.div" | "math.copysign" => numbers.next().is_some_and(is_zero),
            _ if numbers::is_product(op) => numbers.any(is_zero),
            _ if numbers::is_sum(op) => numbers.any(is_infinite),
            _ => false,
        }
    }

    /// The values that a region yields for arguments; `Ok(None)` if an operation has no expression.
    pub(crate) fn region(
        &mut self,
        block: Block,
        args: &[Expression],
    ) -> Result<Option<Expression>> {
        let data = self.module.block(block);
        let arguments = data.arguments.iter().copied();
        self.values.extend(arguments.zip(args.iter().cloned()));
        // In order, so that no chain of operations is a chain of calls.
        for op in &data.ops {
            for result in &self.module.op(*op).data().results {
                self.expression(*result)?;
            }
        }
        match yielded(self.module, block).first() {
            Some(value) => self.expression(*value),
            None => Ok(None),
        }
    }

    fn zero(&self, op: Operation<'_>) -> Option<Result<Expression>> {
        let result = op.data().results.first()?;
        let element = self.module.ty(*result).number()?;
        Some(Expressions(self.builder).number(element.zero()))
    }

    fn unary(&mut self, op: Operation<'_>, x: &Expression) -> Result<Option<Expression>> {
        let Some(zero) = self.zero(op).transpose()? else {
            return Ok(None);
        };
        let mut branches = Vec::new();
        for (name, args) in [("presentRegion", vec![x.clone()]), ("absentRegion", vec![])] {
            branches.push(match op.region(name).block {
                Some(block) => match self.region(block, &args)? {
                    Some(value) => value,
                    None => return Ok(None),
                },
                None => zero.clone(),
            });
        }
        let has_x = self.presence(op.operand("x"))?;
        self.choose(&has_x, &branches[0], &branches[1]).map(Some)
    }

    fn binary(
        &mut self,
        op: Operation<'_>,
        x: &Expression,
        y: &Expression,
    ) -> Result<Option<Expression>> {
        let Some(zero) = self.zero(op).transpose()? else {
            return Ok(None);
        };
        let mut branches = Vec::new();
        for (name, args, identity) in [
            ("overlapRegion", vec![x.clone(), y.clone()], ""),
            ("leftRegion", vec![x.clone()], "left_identity"),
            ("rightRegion", vec![y.clone()], "right_identity"),
        ] {
            branches.push(match op.region(name).block {
                Some(block) => match self.region(block, &args)? {
                    Some(value) => value,
                    None => return Ok(None),
                },
                None if op.attribute(identity).is_some() => args[0].clone(),
                None => zero.clone(),
            });
        }
        let [overlap, left, right] = &branches[..] else {
            return Ok(None);
        };
        let (has_x, has_y) = (
            self.presence(op.operand("x"))?,
            self.presence(op.operand("y"))?,
        );
        let both = self.choose(&has_x, &has_y, &self.truth(false))?;
        let right = self.choose(&has_y, right, &zero)?;
        let one = self.choose(&has_x, left, &right)?;
        self.choose(&both, overlap, &one).map(Some)
    }

    fn select(&mut self, op: Operation<'_>, x: &Expression) -> Result<Option<Expression>> {
        let Some(zero) = self.zero(op).transpose()? else {
            return Ok(None);
        };
        let Some(block) = op.region("region").block else {
            return Ok(None);
        };
        let Some(condition) = self.region(block, std::slice::from_ref(x))? else {
            return Ok(None);
        };
        self.conditions.insert(op.id(), condition.clone());
        let chosen = self.apply(Operator::Select, &[&condition, x, &zero])?;
        let has_x = self.presence(op.operand("x"))?;
        self.choose(&has_x, &chosen, &zero).map(Some)
    }
}
