//! Operations of `arith`, `math` and `complex`.
//!
//! One translation serves values of a run and expressions of kernels: an [`Algebra`] applies the
//! operators of [`sparsec_index`]. Bits of floats and functions of complex numbers have no operator:
//! they are defined on values alone (`bits`).
//!
//! Integers have no sign: an operation such as `divui` takes its operands as unsigned.

pub(crate) mod bits;
mod functions;
mod lanes;
mod presence;

use sparsec_base::{Diagnostic, ElementType, Kind, Result, Scalar, code};
use sparsec_index::Operator;
use sparsec_mlir::{Attribute, Operation, Type};

pub(crate) use presence::{is_product, is_sum};

/// Applies operators, to values or to expressions.
pub(crate) trait Algebra {
    /// A value or an expression.
    type Value: Clone;

    /// The operator applied to arguments of one type; the result has the type that the operator
    /// gives.
    fn apply(&self, op: &Operator, args: Vec<Self::Value>) -> Result<Self::Value>;

    /// The value as another type.
    fn cast(&self, element: ElementType, value: Self::Value) -> Result<Self::Value>;

    /// A constant.
    fn number(&self, value: Scalar) -> Result<Self::Value>;

    /// The value, if it is a constant.
    fn constant(&self, value: &Self::Value) -> Option<Scalar>;
}

/// Values of a run.
pub(crate) struct Scalars;

/// A result that no type holds, such as an integer quotient by zero.
pub(crate) fn undefined() -> Diagnostic {
    Diagnostic::new(code::UNDEFINED_VALUE, "an operation without a value")
        .help("test the operands before, with `arith.cmpi` and `scf.if`")
}

impl Algebra for Scalars {
    type Value = Scalar;

    fn apply(&self, op: &Operator, args: Vec<Scalar>) -> Result<Scalar> {
        let half = args
            .iter()
            .map(|arg| arg.element())
            .find(|it| *it != it.computed());
        let computed = args
            .iter()
            .map(|arg| arg.cast(arg.element().computed()))
            .collect::<Option<Vec<_>>>();
        let value = computed.and_then(|args| op.evaluate(&args));
        let value = value.ok_or_else(undefined)?;
        match half {
            Some(half) if value.element() == half.computed() => {
                value.cast(half).ok_or_else(undefined)
            }
            _ => Ok(value),
        }
    }

    fn cast(&self, element: ElementType, value: Scalar) -> Result<Scalar> {
        value.cast(element).ok_or_else(undefined)
    }

    fn number(&self, value: Scalar) -> Result<Scalar> {
        Ok(value)
    }

    fn constant(&self, value: &Scalar) -> Option<Scalar> {
        Some(*value)
    }
}

/// The type of the same width without a sign.
pub(crate) fn unsigned(element: ElementType) -> ElementType {
    match element {
        ElementType::I8 => ElementType::U8,
        ElementType::I16 => ElementType::U16,
        ElementType::I32 => ElementType::U32,
        ElementType::I64 => ElementType::U64,
        other => other,
    }
}

/// The dialect and the name of the operation.
pub(crate) fn word(op: Operation<'_>) -> (&'static str, &'static str) {
    let name = op.meaning();
    name.split_once('.').unwrap_or(("", name))
}

/// Whether the operation computes numbers of numbers.
pub(crate) fn is_arithmetic(op: Operation<'_>) -> bool {
    let (dialect, word) = word(op);
    matches!(dialect, "arith" | "math" | "complex") && word != "constant"
}

/// The result of an operation on numbers; `None` if the algebra has no such operation.
///
/// # Errors
/// Those of the algebra; [`undefined`] for values that have no result.
pub(crate) fn compute<A: Algebra>(
    algebra: &A,
    op: Operation<'_>,
    args: &[A::Value],
) -> Result<Option<A::Value>> {
    let constants = args.iter().map(|arg| algebra.constant(arg));
    if let Some(constants) = constants.collect::<Option<Vec<_>>>() {
        return match value(op, &constants)? {
            Some(value) => algebra.number(value).map(Some),
            None => Ok(None),
        };
    }
    Calculator { algebra, op }.compute(args)
}

/// The result of an operation on values.
///
/// # Errors
/// [`undefined`] for values that have no result.
pub(crate) fn value(op: Operation<'_>, args: &[Scalar]) -> Result<Option<Scalar>> {
    let found = Calculator {
        algebra: &Scalars,
        op,
    }
    .compute(args)?;
    Ok(match found {
        Some(value) => Some(value),
        None => bits::value(op, args),
    })
}

/// The results of an operation on values, of which `arith.addui_extended` and the like have two.
///
/// # Errors
/// [`undefined`] for values that have no result.
pub(crate) fn values(op: Operation<'_>, args: &[Scalar]) -> Result<Option<Vec<Scalar>>> {
    match bits::extended(op, args) {
        Some(found) => Ok(Some(found.to_vec())),
        None => Ok(value(op, args)?.map(|value| vec![value])),
    }
}

/// The result of the operation of `arith` with this name on two values of one type; `None` if
/// `arith` has no such operation for the type.
///
/// # Errors
/// [`undefined`] for values that have no result.
pub(crate) fn by_name(
    op: Operation<'_>,
    integers: &str,
    floats: &str,
    args: &[Scalar; 2],
) -> Result<Option<Scalar>> {
    let element = args[0].element();
    let found = named(&Scalars, op, (integers, floats), element, args)?;
    found.map(|value| Scalars.cast(element, value)).transpose()
}

/// The operation of `arith` with a name for integers and one for floats; `None` if there is none.
///
/// # Errors
/// Those of the operators.
pub(crate) fn named<A: Algebra>(
    algebra: &A,
    op: Operation<'_>,
    (integers, floats): (&str, &str),
    element: ElementType,
    args: &[A::Value],
) -> Result<Option<A::Value>> {
    let calculator = Calculator { algebra, op };
    match is_float(element) {
        true => calculator.float(floats, args),
        false => calculator.integer(integers, element, args),
    }
}

struct Calculator<'a, A: Algebra> {
    algebra: &'a A,
    op: Operation<'a>,
}

/// The element type of a result or operand.
fn number_of(ty: &Type) -> Option<ElementType> {
    ty.element().number()
}

impl<A: Algebra> Calculator<'_, A> {
    fn op(&self, op: Operator, args: &[&A::Value]) -> Result<A::Value> {
        self.algebra
            .apply(&op, args.iter().map(|arg| (*arg).clone()).collect())
    }

    fn number(&self, element: ElementType, value: i64) -> Result<A::Value> {
        self.algebra.number(Scalar::from_i64(element, value))
    }

    fn real(&self, element: ElementType, value: f64) -> Result<A::Value> {
        let value = Scalar::F64(value).cast(element);
        self.algebra.number(value.expect("a float holds a float"))
    }

    /// The operator on operands as `element`, and its result as `back`.
    fn as_type(
        &self,
        element: ElementType,
        back: ElementType,
        op: Operator,
        args: &[A::Value],
    ) -> Result<A::Value> {
        let args = args
            .iter()
            .map(|arg| self.algebra.cast(element, arg.clone()));
        let value = self.algebra.apply(&op, args.collect::<Result<_>>()?)?;
        self.algebra.cast(back, value)
    }

    fn compute(&self, args: &[A::Value]) -> Result<Option<A::Value>> {
        let module = self.op.module();
        let (Some(input), Some(output)) = (
            self.op
                .data()
                .operands
                .last()
                .and_then(|value| number_of(module.ty(*value))),
            self.op
                .data()
                .results
                .first()
                .and_then(|value| number_of(module.ty(*value))),
        ) else {
            return Ok(None);
        };
        let (dialect, word) = word(self.op);
        let found = match dialect {
            "math" => self.function(word, output, args)?,
            "complex" => self.complex(word, args)?,
            _ => match self.integer(word, input, args)? {
                Some(found) => Some(found),
                None => match self.float(word, args)? {
                    Some(found) => Some(found),
                    None => self.conversion(word, input, output, args)?,
                },
            },
        };
        // Operators may compute in a wider type.
        found
            .map(|value| self.algebra.cast(output, value))
            .transpose()
    }

    fn integer(&self, word: &str, ty: ElementType, args: &[A::Value]) -> Result<Option<A::Value>> {
        let without = unsigned(ty);
        let is_truth = ty == ElementType::Bool;
        let [a, b] = args else { return Ok(None) };
        let plain = |op| self.op(op, &[a, b]).map(Some);
        let natural = |op| self.as_type(without, ty, op, args).map(Some);
        match word {
            "addi" | "subi" | "xori" if is_truth => plain(Operator::Ne),
            // The truth value `true` is -1 with a sign.
            "muli" | "andi" | "minui" | "maxsi" if is_truth => plain(Operator::And),
            "ori" | "maxui" | "minsi" if is_truth => plain(Operator::Or),
            "shli" | "shrui" if is_truth => {
                let is_unmoved = self.op(Operator::Not, &[b])?;
                self.op(Operator::And, &[a, &is_unmoved]).map(Some)
            }
            "shrsi" if is_truth => Ok(Some(a.clone())),
            "addi" => plain(Operator::Add),
            "subi" => plain(Operator::Sub),
            "muli" => plain(Operator::Mul),
            _ if is_truth && word != "cmpi" => Ok(None),
            "divui" => natural(Operator::FloorDiv),
            "remui" => natural(Operator::Mod),
            "andi" => plain(Operator::BitAnd),
            "ori" => plain(Operator::BitOr),
            "xori" => plain(Operator::BitXor),
            "shli" => plain(Operator::ShiftLeft),
            "shrsi" => plain(Operator::ShiftRight),
            "shrui" => natural(Operator::ShiftRight),
            "maxui" => natural(Operator::Max),
            "minui" => natural(Operator::Min),
            "maxsi" => plain(Operator::Max),
            "minsi" => plain(Operator::Min),
            "floordivsi" => plain(Operator::FloorDiv),
            "divsi" | "remsi" | "ceildivsi" | "ceildivui" => {
                self.division(word, ty, a, b).map(Some)
            }
            "cmpi" => self.comparison_of_integers(ty, a, b).map(Some),
            _ => Ok(None),
        }
    }

    /// Quotients that round towards zero or up, of quotients that round down.
    fn division(
        &self,
        word: &str,
        ty: ElementType,
        a: &A::Value,
        b: &A::Value,
    ) -> Result<A::Value> {
        if word == "ceildivui" {
            let args = [a.clone(), b.clone()];
            let ty_of = unsigned(ty);
            let down = self.as_type(ty_of, ty, Operator::FloorDiv, &args)?;
            let rest = self.as_type(ty_of, ty, Operator::Mod, &args)?;
            return self.one_more_if_rest(ty, &down, &rest, None);
        }
        let zero = self.number(ty, 0)?;
        let down = self.op(Operator::FloorDiv, &[a, b])?;
        let rest = self.op(Operator::Mod, &[a, b])?;
        if word == "ceildivsi" {
            return self.one_more_if_rest(ty, &down, &rest, None);
        }
        // The quotient was rounded away from zero if the signs differ.
        let is_negative = |value| self.op(Operator::Lt, &[value, &zero]);
        let differ = self.op(Operator::Ne, &[&is_negative(a)?, &is_negative(b)?])?;
        if word == "divsi" {
            return self.one_more_if_rest(ty, &down, &rest, Some(&differ));
        }
        let is_inexact = self.op(Operator::Ne, &[&rest, &zero])?;
        let both = self.op(Operator::And, &[&is_inexact, &differ])?;
        let lower = self.op(Operator::Sub, &[&rest, b])?;
        self.op(Operator::Select, &[&both, &lower, &rest])
    }

    fn one_more_if_rest(
        &self,
        ty: ElementType,
        down: &A::Value,
        rest: &A::Value,
        and: Option<&A::Value>,
    ) -> Result<A::Value> {
        let mut is_inexact = self.op(Operator::Ne, &[rest, &self.number(ty, 0)?])?;
        if let Some(and) = and {
            is_inexact = self.op(Operator::And, &[&is_inexact, and])?;
        }
        let up = self.op(Operator::Add, &[down, &self.number(ty, 1)?])?;
        self.op(Operator::Select, &[&is_inexact, &up, down])
    }

    fn predicate(&self) -> &str {
        match self.op.attribute("predicate") {
            Some(Attribute::Word(word)) => word,
            _ => "",
        }
    }

    fn comparison_of_integers(
        &self,
        ty: ElementType,
        a: &A::Value,
        b: &A::Value,
    ) -> Result<A::Value> {
        let predicate = self.predicate();
        let op = match predicate {
            "eq" => return self.op(Operator::Eq, &[a, b]),
            "ne" => return self.op(Operator::Ne, &[a, b]),
            _ => match &predicate[1..] {
                "lt" => Operator::Lt,
                "le" => Operator::Le,
                "gt" => Operator::Gt,
                _ => Operator::Ge,
            },
        };
        let compared = match (ty, predicate.starts_with('u')) {
            (ElementType::Bool, true) => ElementType::U8,
            (ElementType::Bool, false) => {
                let number = |value: &A::Value| {
                    let value = self.algebra.cast(ElementType::I8, value.clone())?;
                    self.op(Operator::Neg, &[&value])
                };
                return self.op(op, &[&number(a)?, &number(b)?]);
            }
            (ty, true) => unsigned(ty),
            (ty, false) => ty,
        };
        let bool_of = ElementType::Bool;
        self.as_type(compared, bool_of, op, &[a.clone(), b.clone()])
    }

    fn float(&self, word: &str, args: &[A::Value]) -> Result<Option<A::Value>> {
        if let ("negf", [a]) = (word, args) {
            return self.op(Operator::Neg, &[a]).map(Some);
        }
        let [a, b] = args else { return Ok(None) };
        let plain = |op| self.op(op, &[a, b]);
        let value = match word {
            "addf" => plain(Operator::Add)?,
            "subf" => plain(Operator::Sub)?,
            "mulf" => plain(Operator::Mul)?,
            "divf" => plain(Operator::Div)?,
            "remf" => {
                // The remainder has the sign of the dividend.
                let [x, y] = [a, b].map(|value| self.op(Operator::Abs, &[value]));
                let rest = self.op(Operator::Mod, &[&x?, &y?])?;
                self.op(Operator::CopySign, &[&rest, a])?
            }
            "maxf" | "maximumf" => plain(Operator::Max)?,
            "minf" | "minimumf" => plain(Operator::Min)?,
            "maxnumf" | "minnumf" => {
                let op = match word {
                    "maxnumf" => Operator::Max,
                    _ => Operator::Min,
                };
                let inner = self.op(
                    Operator::Select,
                    &[&self.op(Operator::IsNan, &[b])?, a, &plain(op)?],
                )?;
                let is_nan = self.op(Operator::IsNan, &[a])?;
                self.op(Operator::Select, &[&is_nan, b, &inner])?
            }
            "cmpf" => self.comparison_of_floats(a, b)?,
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    fn comparison_of_floats(&self, a: &A::Value, b: &A::Value) -> Result<A::Value> {
        let is_nan = || {
            let [a, b] = [a, b].map(|value| self.op(Operator::IsNan, &[value]));
            self.op(Operator::Or, &[&a?, &b?])
        };
        let not = |value: A::Value| self.op(Operator::Not, &[&value]);
        let predicate = self.predicate();
        let (op, is_ordered) = match predicate {
            "false" | "true" => return self.algebra.number(Scalar::Bool(predicate == "true")),
            "ord" => return not(is_nan()?),
            "uno" => return is_nan(),
            _ => {
                let op = match &predicate[1..] {
                    "eq" => Operator::Eq,
                    "ne" => Operator::Ne,
                    "lt" => Operator::Lt,
                    "le" => Operator::Le,
                    "gt" => Operator::Gt,
                    _ => Operator::Ge,
                };
                (op, predicate.starts_with('o'))
            }
        };
        // Comparisons with NaN are false, but for `!=`.
        let is_unequal = op == Operator::Ne;
        let compared = self.op(op, &[a, b])?;
        match (is_ordered, is_unequal) {
            (true, false) | (false, true) => Ok(compared),
            (true, true) => self.op(Operator::And, &[&compared, &not(is_nan()?)?]),
            (false, false) => self.op(Operator::Or, &[&compared, &is_nan()?]),
        }
    }

    fn conversion(
        &self,
        word: &str,
        input: ElementType,
        output: ElementType,
        args: &[A::Value],
    ) -> Result<Option<A::Value>> {
        let cast = |element, value: &A::Value| self.algebra.cast(element, value.clone());
        let [a] = args else {
            return match (word, args) {
                ("select", [condition, then, otherwise]) => self
                    .op(Operator::Select, &[condition, then, otherwise])
                    .map(Some),
                _ => Ok(None),
            };
        };
        let is_truth = input == ElementType::Bool;
        let value = match word {
            "trunci" | "index_cast" | "index_castui" if output == ElementType::Bool => {
                let last = self.op(Operator::Mod, &[a, &self.number(input, 2)?])?;
                self.op(Operator::Ne, &[&last, &self.number(input, 0)?])?
            }
            // With a sign, `true` is -1.
            "extsi" | "sitofp" | "index_cast" if is_truth => {
                self.op(Operator::Neg, &[&cast(ElementType::I8, a)?])?
            }
            "extui" | "uitofp" | "index_castui" => cast(unsigned(input), a)?,
            "extsi" | "sitofp" | "index_cast" | "trunci" | "extf" | "truncf" | "fptosi" => {
                a.clone()
            }
            "fptoui" => cast(unsigned(output), a)?,
            "bitcast" if input == output => a.clone(),
            _ => return Ok(None),
        };
        Ok(Some(value))
    }
}

/// Whether the type has numbers with a sign bit and a fraction.
pub(crate) fn is_float(element: ElementType) -> bool {
    element.kind() == Kind::Float
}
