//! Regions as expressions.
//!
//! ```text
//! %p = arith.mulf %a, %b : f64          y(i) = sum{j}(A(i,j) * x(j)) + y0(i)
//! %s = arith.addf %y, %p : f64
//! linalg.yield %s : f64
//! ```
//!
//! Operators of the program (`sparse_tensor.binary`, `unary`, `select`, `reduce`) ask which of their
//! operands are present, written `has`:
//!
//! | operation | expression                                               | is present         |
//! |-----------|----------------------------------------------------------|--------------------|
//! | `unary`   | `select(has x, present, absent)`                         | where a region is  |
//! | `binary`  | `select(has x and has y, overlap, select(has x, left, right))` | where a region is |
//! | `select`  | `select(condition, x, 0)`                                | `has x and condition` |
//! | product    | the product of the operands                              | where all operands are |
//! | other arithmetic | the operation on the operands                      | where any operand is |
//!
//! A number is present everywhere, and so is a sum with it; a product or a quotient with it is where
//! the other operand is. Values that no operator of the program determines are present where kernels
//! store them, `isstored(value)`.
//!
//! A region that is left out gives no entry. A second statement computes which entries a result
//! keeps that depends on such an operation ([`Regions::kept`]). If another operator takes the result,
//! it asks for the same.
//!
//! Source: the dialect's documentation; Bik et al., TACO 2022, §4.

use std::collections::HashMap;

use sparsec_base::{ElementType, Result, Scalar};
use sparsec_index::{Expr, IndexVar, Operator, ProgramBuilder, build::Value as Expression};
use sparsec_mlir::module::Origin;
use sparsec_mlir::{Attribute, Block, Module, Op, Operation, Value};

use crate::constants::constant_number;
use crate::numbers::{self, Algebra};

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

/// Whether an operation asks which operands are present.
fn is_semiring(op: Operation<'_>) -> bool {
    matches!(
        op.name(),
        "sparse_tensor.unary" | "sparse_tensor.binary" | "sparse_tensor.select"
    )
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

    /// Whether a value that has an expression is present.
    ///
    /// # Errors
    /// Those of the operators.
    pub(crate) fn presence(&mut self, value: Value) -> Result<Expression> {
        let (asked, value) = (value, self.source_of(value));
        if let Some(known) = self.presences.get(&value).cloned() {
            self.presences.insert(asked, known.clone());
            return Ok(known);
        }
        let found = match definer(self.module, value) {
            Some(op) => self.presence_of(op)?,
            None => None,
        };
        let found = match (found, self.values.get(&value)) {
            (Some(found), _) => found,
            (None, Some(e)) if Expressions(self.builder).constant(e).is_none() => {
                self.apply(Operator::IsStored, &[e])?
            }
            _ => self.truth(true),
        };
        self.presences.insert(value, found.clone());
        self.presences.insert(asked, found.clone());
        Ok(found)
    }

    /// The value that decides whether another one is present: functions, and operations with
    /// numbers that no entry determines, have values where their one other operand has.
    fn source_of(&self, mut value: Value) -> Value {
        while !self.presences.contains_key(&value)
            && let Some(op) = definer(self.module, value)
            && numbers::is_arithmetic(op)
            && !numbers::is_sum(op)
        {
            let operands = op.data().operands.iter();
            let mut others = operands.filter(|it| !self.is_number(it));
            match (others.next(), others.next()) {
                (Some(source), None) => value = *source,
                _ => break,
            }
        }
        value
    }

    /// Whether a value is a number that no entry determines.
    fn is_number(&self, value: &Value) -> bool {
        match self.values.get(value).map(Expression::expr) {
            Some(Expr::Literal(_)) => true,
            Some(Expr::Access(access)) => access.indices.is_empty(),
            _ => false,
        }
    }

    /// Whether operators of the program determine the result of an operation, and if so, whether
    /// kernels store entries of it that are not present.
    fn determined_by(&self, op: Operation<'_>) -> Option<bool> {
        let operands = op.data().operands.iter();
        let found = operands.filter_map(|operand| self.determined.get(operand).copied());
        let found = found.reduce(|one, other| one || other);
        let has = |name: &str| op.region(name).block.is_some();
        let is_whole = match op.name() {
            "sparse_tensor.unary" => has("presentRegion"),
            "sparse_tensor.binary" => has("overlapRegion"),
            _ => false,
        };
        match is_semiring(op) {
            true => Some(!is_whole || found.is_some()),
            false => found,
        }
    }

    /// Whether an operation has a value at all points, as numbers have that no entry determines.
    fn is_everywhere(&self, op: Operation<'_>) -> bool {
        let number = |e: &Expression| Expressions(self.builder).constant(e);
        let is_there = |value: &Value| {
            let presence = self.presences.get(value).and_then(number);
            presence == Some(Scalar::Bool(true))
                || self
                    .values
                    .get(value)
                    .is_some_and(|it| number(it).is_some())
        };
        let mut operands = op.data().operands.iter();
        match numbers::is_arithmetic(op) {
            true if numbers::is_sum(op) => operands.any(is_there),
            true => operands.all(is_there),
            false => constant_number(op).is_some() || op.name() == "linalg.index",
        }
    }

    /// Whether an operation gives a value, if operators of the program determine it.
    fn presence_of(&mut self, op: Operation<'_>) -> Result<Option<Expression>> {
        let has = |name: &str, identity: &str| {
            op.region(name).block.is_some() || op.attribute(identity).is_some()
        };
        let operand = |n: usize| op.data().operands[n];
        let found = match op.name() {
            "sparse_tensor.select" => {
                let Some(condition) = self.conditions.get(&op.id()).cloned() else {
                    return Ok(None);
                };
                let has_x = self.presence(operand(0))?;
                self.choose(&has_x, &condition, &self.truth(false))?
            }
            "sparse_tensor.unary" => {
                let has_x = self.presence(operand(0))?;
                let (present, absent) = (
                    self.truth(has("presentRegion", "")),
                    self.truth(has("absentRegion", "")),
                );
                self.choose(&has_x, &present, &absent)?
            }
            "sparse_tensor.binary" => {
                let (has_x, has_y) = (self.presence(operand(0))?, self.presence(operand(1))?);
                let (overlap, left, right) = (
                    self.truth(has("overlapRegion", "")),
                    self.truth(has("leftRegion", "left_identity")),
                    self.truth(has("rightRegion", "right_identity")),
                );
                let with_x = self.choose(&has_y, &overlap, &left)?;
                let without_x = self.choose(&has_y, &right, &self.truth(false))?;
                self.choose(&has_x, &with_x, &without_x)?
            }
            _ if self.determined_by(op).is_none() => return Ok(None),
            _ => {
                let others = op.data().operands.iter();
                let others = others.filter(|it| numbers::is_sum(op) || !self.is_number(it));
                let others: Vec<Value> = others.copied().collect();
                let is_product = numbers::is_product(op);
                let mut found = self.truth(is_product);
                for other in others {
                    let one = self.presence(other)?;
                    found = match is_product {
                        true => self.choose(&one, &found, &self.truth(false))?,
                        false => self.choose(&one, &self.truth(true), &found)?,
                    };
                }
                found
            }
        };
        Ok(Some(found))
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

    /// Whether a value that has an expression is present at all points.
    ///
    /// # Errors
    /// Those of the operators.
    pub(crate) fn is_present_everywhere(&mut self, value: Value) -> Result<bool> {
        let presence = self.presence(value)?;
        Ok(Expressions(self.builder).constant(&presence) == Some(Scalar::Bool(true)))
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

    /// Whether kernels store entries of a value that has an expression where it is not present.
    pub(crate) fn is_narrowed(&self, value: Value) -> bool {
        self.determined.get(&value) == Some(&true)
    }

    /// Whether the result keeps an entry that this value gives; `None` if it keeps all that the
    /// expression stores. The value has an expression.
    ///
    /// # Errors
    /// Those of the operators.
    pub(crate) fn kept(&mut self, value: Value) -> Result<Option<Expression>> {
        if !self.is_narrowed(value) || self.is_present_everywhere(value)? {
            return Ok(None);
        }
        self.presence(value).map(Some)
    }
}
