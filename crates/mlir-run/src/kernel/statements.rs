//! The statement of each result.

use std::collections::HashMap;

use sparsec_base::{ElementType, Result, Scalar};
use sparsec_index::build::Value as Expression;
use sparsec_index::function::Properties;
use sparsec_index::{IndexVar, Operator, UserFunction};
use sparsec_mlir::{Attribute, Block, Operation, Value};

use crate::body::{Expressions, Regions, definer, yielded};
use crate::constants::constant_number;
use crate::numbers::{self, Algebra};
use crate::structured::Body;

use super::is_undefined;
use super::maker::Maker;
use super::step::{Step, Term};

/// The right side of a statement.
pub(super) struct StatementOf {
    pub(super) value: Expression,
    pub(super) kept: Option<Expression>,
    pub(super) drops_fill: bool,
}

impl StatementOf {
    pub(super) fn plain(value: Expression) -> Self {
        Self {
            value,
            kept: None,
            drops_fill: false,
        }
    }
}

impl Maker<'_> {
    pub(super) fn sums(&self) -> Vec<IndexVar> {
        let vars = self.vars.iter().zip(&self.structured.reductions);
        let sums = vars.filter(|(_, is_sum)| **is_sum);
        sums.map(|(var, _)| *var).collect()
    }

    pub(super) fn apply(&self, op: Operator, args: &[&Expression]) -> Result<Expression> {
        self.builder
            .apply(&op, args.iter().map(|arg| (*arg).clone()))
    }

    /// `before op op{sums}(value)`.
    pub(super) fn reduced(
        &self,
        op: &Operator,
        before: &Expression,
        value: Expression,
    ) -> Result<Expression> {
        let (element, sums) = (value.element(), self.sums());
        let value = match sums.is_empty() {
            true => value,
            false => {
                let step = rounded(op, before.element())?;
                let step = step.as_ref().unwrap_or(op);
                self.builder.reduce(step, sums, value)?
            }
        };
        let begin = Expressions(&self.builder).constant(before);
        match begin {
            Some(begin) if op.identity(element) == begin.cast(element) => Ok(value),
            _ => self.apply(op.clone(), &[before, &value]),
        }
    }

    pub(super) fn of_name(
        &mut self,
        inputs: &[Expression],
        before: &Expression,
    ) -> Result<Option<StatementOf>> {
        let element = before.element();
        // Other operations ignore the attribute.
        let op = self.structured.op;
        let has_cast = op.name().starts_with("linalg.matmul") || op.name() == "linalg.copy";
        let is_unsigned = has_cast
            && matches!(
                op.attribute("cast"),
                Some(Attribute::Dialect(_, kind)) if kind == "cast_unsigned"
            );
        let cast = |value: &Expression| {
            if is_unsigned {
                let natural = numbers::unsigned(value.element());
                let value = self.builder.cast(natural, value.clone())?;
                return self.builder.cast(element, value);
            }
            let number = self.builder.cast(element, value.clone())?;
            // `true` is -1, as an integer of one bit with a sign.
            match value.element() == ElementType::Bool && element != ElementType::Bool {
                true => self.apply(Operator::Neg, &[&number]),
                false => Ok(number),
            }
        };
        let value = match (&self.structured.body, inputs) {
            (Body::Copy, [input, ..]) => cast(input)?,
            (Body::Accumulate(op), [input, ..]) => self.reduced(op, before, cast(input)?)?,
            (Body::AccumulateUnsigned(op), [input, ..]) => {
                let natural = numbers::unsigned(element);
                let without_sign = numbers::unsigned(input.element());
                let value = self.builder.cast(without_sign, input.clone())?;
                let value = self.builder.cast(natural, value)?;
                let before = self.builder.cast(natural, before.clone())?;
                cast(&self.reduced(op, &before, value)?)?
            }
            (Body::Multiply, [a, b]) => {
                let product = self.apply(Operator::Mul, &[&cast(a)?, &cast(b)?])?;
                self.reduced(&Operator::Add, before, cast(&product)?)?
            }
            (Body::Multiply, [a, b, from_a, from_b]) => {
                let a = self.apply(Operator::Sub, &[&cast(a)?, &cast(from_a)?])?;
                let b = self.apply(Operator::Sub, &[&cast(b)?, &cast(from_b)?])?;
                let product = self.apply(Operator::Mul, &[&a, &b])?;
                self.reduced(&Operator::Add, before, product)?
            }
            (Body::Elementwise(float, integer), _) => {
                let word = match (numbers::is_float(element), integer) {
                    (true, _) => float,
                    (false, Some(integer)) => integer,
                    _ => return Ok(None),
                };
                let is_complex = matches!(element, ElementType::C64 | ElementType::C128);
                let op = match *word {
                    "divsi" if is_complex => Operator::Div,
                    word if word == "divsi" || element == ElementType::Bool => {
                        let algebra = Expressions(&self.builder);
                        let names = (word, "");
                        let op = self.structured.op;
                        let value = numbers::named(&algebra, op, names, element, inputs)?;
                        return Ok(value.map(StatementOf::plain));
                    }
                    "addf" | "addi" => Operator::Add,
                    "subf" | "subi" => Operator::Sub,
                    "mulf" | "muli" => Operator::Mul,
                    "divf" => Operator::Div,
                    "maximumf" | "maxsi" => Operator::Max,
                    "minimumf" | "minsi" => Operator::Min,
                    "absf" => Operator::Abs,
                    "exp" => Operator::Exp,
                    "log" => Operator::Log,
                    "negf" => Operator::Neg,
                    "floor" => Operator::Floor,
                    "ceil" => Operator::Ceil,
                    _ => return Ok(None),
                };
                self.apply(op, &inputs.iter().collect::<Vec<_>>())?
            }
            _ => return Ok(None),
        };
        Ok(Some(StatementOf::plain(value)))
    }

    pub(super) fn of_region(
        &mut self,
        block: Block,
        number: usize,
        inputs: &[Expression],
        before: &[Expression],
        values: HashMap<Value, Expression>,
    ) -> Result<Option<StatementOf>> {
        let arguments = &self.module.block(block).arguments;
        let own = arguments[inputs.len() + number];
        let Some(value) = yielded(self.module, block).get(number).copied() else {
            return Ok(None);
        };
        let mut values = values;
        values.extend(arguments.iter().copied().zip(inputs.iter().cloned()));
        let sums = self.sums();
        let known = self.operands[inputs.len() + number].as_ref();
        let is_sparse = known.is_some_and(|known| !known.format.is_all_dense());
        if sums.is_empty() {
            let outputs = arguments[inputs.len()..].iter().copied();
            values.extend(outputs.zip(before.iter().cloned()));
        }
        let mut regions = Regions::new(self.module, &self.builder, &self.vars, values);
        if sums.is_empty() {
            let Some(whole) = regions.region(block, &[])? else {
                return Ok(None);
            };
            let whole = match yielded(self.module, block).first() == Some(&value) {
                true => whole,
                false => match regions.expression(value)? {
                    Some(whole) => whole,
                    None => return Ok(None),
                },
            };
            let kept = match is_sparse {
                true => regions.kept(value)?,
                false => None,
            };
            // No statement computes a truth that no operand determines.
            let known = kept
                .as_ref()
                .map(|kept| Expressions(&self.builder).constant(kept));
            if known.flatten().is_some() {
                return Ok(None);
            }
            // No kernel stores zeros where no operand has an entry.
            if is_sparse
                && regions.is_present_everywhere(value)?
                && self.builder.fill_of(&whole).is_some_and(Scalar::is_zero)
            {
                return Ok(None);
            }
            return Ok(Some(StatementOf {
                value: whole,
                kept,
                drops_fill: false,
            }));
        }
        let Some(step) = Step::of(self.module, value, own) else {
            return Ok(None);
        };
        // Other outputs, and this one elsewhere in the body, have no expression here.
        for op in &self.module.block(block).ops {
            for result in &self.module.op(*op).data().results {
                regions.expression(*result)?;
            }
        }
        let mut terms = Vec::new();
        for term in &step.terms {
            let Some(value) = regions.expression(term.value)? else {
                return Ok(None);
            };
            terms.push(match term.is_negative {
                true => self.apply(Operator::Neg, &[&value])?,
                false => value,
            });
        }
        let mut whole = terms.remove(0);
        for term in terms {
            whole = self.apply(step.op.clone(), &[&whole, &term])?;
        }
        let Some(reduce) = step.reduce else {
            let value = self.reduced(&step.op, &before[number], whole)?;
            let mut is_otherwise = false;
            for term in &step.terms {
                is_otherwise |= regions.is_stored_otherwise(term.value)?;
            }
            // A product with an entry that is absent before is absent.
            let is_product = matches!(step.op, Operator::Mul | Operator::And | Operator::BitAnd);
            let mut kept = None;
            if is_sparse && is_otherwise && !is_product {
                let found = self.kept(&mut regions, &step.terms, &before[number])?;
                kept = match Expressions(&self.builder).constant(&found) {
                    Some(Scalar::Bool(true)) => None,
                    // No statement computes a truth that no operand determines.
                    Some(_) => return Ok(None),
                    None => Some(found),
                };
            }
            return Ok(Some(StatementOf {
                kept,
                ..StatementOf::plain(value)
            }));
        };
        let term = step.terms[0].value;
        let is_stored = regions.presence(term)?;
        let is_otherwise = regions.is_stored_otherwise(term)?;
        let statement = self.custom(reduce, (whole, is_stored.clone()), &before[number], number)?;
        let (Some(statement), true) = (&statement, is_sparse) else {
            return Ok(statement);
        };
        let fill = self.builder.fill_of(&statement.value);
        let mut extents = self.vars.iter().zip(self.extents);
        let is_nothing = extents.any(|(var, extent)| sums.contains(var) && *extent == Some(0));
        let (kept, drops_fill) = match Expressions(&self.builder).constant(&is_stored) {
            Some(Scalar::Bool(true)) if !is_nothing && fill.is_some_and(|it| !it.is_zero()) => {
                (None, false)
            }
            // Kernels store no zeros where no operand has an entry, and rows without terms too.
            Some(_) => return Ok(None),
            None if is_otherwise => {
                let kept = self.builder.reduce(&Operator::Or, sums, is_stored)?;
                (Some(kept), false)
            }
            None => (None, statement.drops_fill),
        };
        Ok(Some(StatementOf {
            value: statement.value.clone(),
            kept,
            drops_fill,
        }))
    }

    /// Whether a reduction of the terms keeps a value: one of them is present, or it had a value
    /// before.
    fn kept(
        &self,
        regions: &mut Regions<'_>,
        terms: &[Term],
        before: &Expression,
    ) -> Result<Expression> {
        let known = |e: &Expression| Expressions(&self.builder).constant(e);
        let mut found = match known(before) {
            Some(_) => self.builder.number(Scalar::Bool(false)),
            None => self.apply(Operator::IsStored, &[before])?,
        };
        for term in terms {
            let term = regions.presence(term.value)?;
            let term = match known(&term) {
                Some(_) => term,
                None => self.builder.reduce(&Operator::Or, self.sums(), term)?,
            };
            found = match (known(&found), known(&term)) {
                (Some(Scalar::Bool(false)), _) => term,
                (_, Some(Scalar::Bool(false))) => found,
                (Some(_), _) => found,
                (_, Some(_)) => term,
                (None, None) => self.apply(Operator::Or, &[&found, &term])?,
            };
        }
        Ok(found)
    }

    /// `sparse_tensor.reduce`: of the values that are stored.
    pub(super) fn custom(
        &mut self,
        reduce: Operation<'_>,
        (value, is_stored): (Expression, Expression),
        before: &Expression,
        number: usize,
    ) -> Result<Option<StatementOf>> {
        let identity = reduce.operands("identity")[0];
        let identity = definer(self.module, identity).and_then(constant_number);
        let (Some(identity), Some(block)) = (identity, reduce.region("region").block) else {
            return Ok(None);
        };
        let place = self.structured.n_inputs() + number;
        let output = self.structured.op.data().operands[place];
        let known = self.operands[place].as_ref();
        let is_new = Expressions(&self.builder).constant(before).is_some();
        let is_sparse = known.is_some_and(|known| !known.format.is_all_dense());
        let drops_fill = is_undefined(self.module, output) || is_sparse && is_new;
        let Some(op) = self.custom_operator(block, identity)? else {
            return Ok(None);
        };
        let identity = Expressions(&self.builder).number(identity)?;
        let stored = self.apply(Operator::Select, &[&is_stored, &value, &identity])?;
        let value = self.builder.reduce(&op, self.sums(), stored)?;
        Ok(Some(StatementOf {
            value,
            kept: None,
            drops_fill,
        }))
    }

    /// The region of `sparse_tensor.reduce` as an operator; `None` if it is no expression.
    fn custom_operator(&self, block: Block, identity: Scalar) -> Result<Option<Operator>> {
        let element = identity.element();
        if identity.to_c128().im != 0.0 {
            return Ok(None);
        }
        let properties = Properties {
            commutative: true,
            associative: true,
            identity: Some(match identity.to_integer() {
                Some(integer) => Scalar::I64(integer as i64),
                None => Scalar::F64(identity.to_f64()),
            }),
            ..Properties::default()
        };
        let mut is_expression = true;
        let module = self.module;
        let parameters = [("x", element), ("y", element)];
        let function = UserFunction::build("reduced", &parameters, properties, |builder, args| {
            let mut regions = Regions::new(module, builder, &[], HashMap::new());
            match regions.region(block, args)? {
                Some(value) => Ok(value),
                None => {
                    is_expression = false;
                    Ok(args[0].clone())
                }
            }
        })?;
        Ok(is_expression.then_some(Operator::Defined(function)))
    }
}

/// The operator on numbers of 16 bits: each step of a reduction is rounded, as the operation of the
/// body is. Reductions of the program round their result alone. `None` for steps that are exact, and
/// for other types.
fn rounded(op: &Operator, element: ElementType) -> Result<Option<Operator>> {
    let computed = element.computed();
    let name = match op {
        Operator::Add => "added",
        Operator::Mul => "multiplied",
        _ => return Ok(None),
    };
    if computed == element {
        return Ok(None);
    }
    let properties = Properties {
        commutative: true,
        associative: true,
        identity: op.identity(computed),
        ..Properties::default()
    };
    let parameters = [("x", computed), ("y", computed)];
    let function = UserFunction::build(name, &parameters, properties, |builder, args| {
        let value = builder.apply(op, args.iter().cloned())?;
        builder.cast(element, value)
    })?;
    Ok(Some(Operator::Defined(function)))
}
