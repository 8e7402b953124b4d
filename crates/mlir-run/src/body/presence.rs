//! Where the values of a body are present.
//!
//! Operators of the program (`sparse_tensor.binary`, `unary`, `select`, `reduce`) ask which of their
//! operands are present, written `has`:
//!
//! | operation        | expression                                                     | is present             |
//! |------------------|----------------------------------------------------------------|------------------------|
//! | `unary`          | `select(has x, present, absent)`                               | where a region is      |
//! | `binary`         | `select(has x and has y, overlap, select(has x, left, right))` | where a region is      |
//! | `select`         | `select(condition, x, 0)`                                      | `has x and condition`  |
//! | product          | the product of the operands                                    | where all operands are |
//! | other arithmetic, `arith.select` | the operation on the operands                  | where any operand is   |
//!
//! A number is present everywhere, and so are a sum with it and arithmetic that gives another number
//! than zero where no entry is; other arithmetic with these is present where the other operand is.
//! Values that no operator of the program determines are present where kernels store them,
//! `isstored(value)`.
//!
//! A region that is left out gives no entry. If a result depends on such a region, a second statement
//! computes which of its entries are kept ([`Regions::kept`]). Another operator that takes the result
//! asks for the same.

use sparsec_base::{Result, Scalar};
use sparsec_index::{Expr, Operator, build::Value as Expression};
use sparsec_mlir::{Operation, Value};

use super::{Expressions, Regions, definer};
use crate::constants::constant_number;
use crate::numbers::{self, Algebra};

/// Whether an operation asks which operands are present.
fn is_semiring(op: Operation<'_>) -> bool {
    matches!(
        op.name(),
        "sparse_tensor.unary" | "sparse_tensor.binary" | "sparse_tensor.select"
    )
}

impl Regions<'_> {
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
            Some(_) if self.has_fill(value) => Some(self.truth(true)),
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
            && !self.has_fill(value)
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

    /// Whether arithmetic gives a number other than zero where its operands are absent, as a cosine
    /// does. Of numbers from outside of the body only a run knows.
    fn has_fill(&self, value: Value) -> bool {
        let is_arithmetic = definer(self.module, value).is_some_and(numbers::is_arithmetic);
        let absent = self.absent.get(&value);
        is_arithmetic && absent.is_some_and(|absent| absent.is_some_and(|it| !it.is_zero()))
    }

    /// The value of an operation where its operands are absent, entries and results of regions zero;
    /// `None` if it is not known.
    pub(super) fn where_absent(&self, op: Operation<'_>) -> Option<Scalar> {
        if !numbers::is_arithmetic(op) {
            return constant_number(op);
        }
        let operands = op.data().operands.iter();
        let absent =
            operands.map(
                |operand| match (self.absent.get(operand), self.values.get(operand)) {
                    (Some(known), _) => *known,
                    (None, Some(e)) => match e.expr() {
                        Expr::Literal(value) => Some(*value),
                        Expr::Access(access) if access.indices.is_empty() => None,
                        Expr::Index(_) => None,
                        _ => Some(e.element().zero()),
                    },
                    (None, None) => None,
                },
            );
        numbers::value(op, &absent.collect::<Option<Vec<_>>>()?).ok()?
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
    pub(super) fn determined_by(&self, op: Operation<'_>) -> Option<bool> {
        let operands = op.data().operands.iter();
        let found = operands.filter_map(|operand| self.determined.get(operand).copied());
        let mut found = found.reduce(|one, other| one || other);
        // It is present where an operand is, and kernels store it where operands decide it.
        if op.name() == "arith.select" && !op.data().results.iter().any(|it| self.has_fill(*it)) {
            found = found.or(Some(false));
        }
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
    pub(super) fn is_everywhere(&self, op: Operation<'_>) -> bool {
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

    /// The operands of arithmetic that decide where it is present: all of a sum, and otherwise those
    /// that are not everywhere with a known value, if there are such. Coordinates have other values
    /// at other points.
    fn others(&self, op: Operation<'_>) -> Vec<Value> {
        let operands = &op.data().operands;
        if numbers::is_sum(op) {
            return operands.clone();
        }
        let not_numbers = operands.iter().filter(|it| !self.is_number(it)).copied();
        let not_numbers: Vec<Value> = not_numbers.collect();
        let is_everywhere = |value: &Value| {
            let presence = self.presences.get(value);
            let known = presence.and_then(|it| Expressions(self.builder).constant(it));
            let is_known = self.absent.get(value).is_some_and(Option::is_some);
            self.has_fill(*value) || is_known && known == Some(Scalar::Bool(true))
        };
        let others = not_numbers.iter().filter(|it| !is_everywhere(it)).copied();
        match others.collect::<Vec<_>>() {
            others if others.is_empty() => not_numbers,
            others => others,
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
                let is_product = numbers::is_product(op);
                let mut found = self.truth(is_product);
                let mut known: Vec<Expression> = Vec::new();
                for other in self.others(op) {
                    let one = self.presence(other)?;
                    if known.iter().any(|it| it.expr() == one.expr()) {
                        continue;
                    }
                    known.push(one.clone());
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

    /// Whether a value that has an expression is present at all points.
    ///
    /// # Errors
    /// Those of the operators.
    pub(crate) fn is_present_everywhere(&mut self, value: Value) -> Result<bool> {
        let presence = self.presence(value)?;
        Ok(Expressions(self.builder).constant(&presence) == Some(Scalar::Bool(true)))
    }

    /// Whether kernels store other entries of a value that has an expression than those at which it
    /// is present.
    ///
    /// # Errors
    /// Those of the operators.
    pub(crate) fn is_stored_otherwise(&mut self, value: Value) -> Result<bool> {
        match self.determined.get(&value) {
            Some(narrows) => Ok(*narrows || !self.is_covered(value)?),
            None => Ok(false),
        }
    }

    /// Whether the result keeps an entry that this value gives; `None` if it keeps all that the
    /// expression stores. The value has an expression.
    ///
    /// # Errors
    /// Those of the operators.
    pub(crate) fn kept(&mut self, value: Value) -> Result<Option<Expression>> {
        if !self.is_stored_otherwise(value)? || self.is_present_everywhere(value)? {
            return Ok(None);
        }
        self.presence(value).map(Some)
    }
}
