//! Steps of reductions: the value that a body combines with the value so far.

use sparsec_base::{ElementType, Scalar};
use sparsec_index::function::Properties;
use sparsec_index::{Operator, UserFunction};
use sparsec_mlir::{Module, Operation, Value};

use crate::body::{Expressions, definer, sources};
use crate::numbers;

/// One step of a reduction: `%y op term op term …`.
pub(super) struct Step<'a> {
    pub(super) op: Operator,
    pub(super) terms: Vec<Term>,
    pub(super) reduce: Option<Operation<'a>>,
}

/// A term of a step: a value, added or subtracted.
pub(super) struct Term {
    pub(super) value: Value,
    pub(super) is_negative: bool,
}

impl Term {
    fn plus(value: Value) -> Self {
        Self {
            value,
            is_negative: false,
        }
    }
}

impl<'a> Step<'a> {
    /// The step that makes `value` of the accumulator `own`.
    pub(super) fn of(module: &'a Module, value: Value, own: Value) -> Option<Self> {
        let first = definer(module, value)?;
        if first.name() == "sparse_tensor.reduce" {
            let [x, y] = [first.operands("x")[0], first.operands("y")[0]];
            let term = if x == own { y } else { x };
            let is_one = (x == own) != (y == own);
            return is_one.then_some(Self {
                op: Operator::Add,
                terms: vec![Term::plus(term)],
                reduce: Some(first),
            });
        }
        let op = operator_of(module, first)?;
        // Down the chain of the same operator, to the accumulator.
        let (mut terms, mut at) = (Vec::new(), first);
        loop {
            let operands = &at.data().operands;
            let [x, y] = operands[..] else { return None };
            // A difference of integers of one bit is their sum.
            let is_difference = matches!(at.meaning(), "arith.subf" | "arith.subi" | "complex.sub")
                && module.ty(x).number() != Some(ElementType::Bool);
            let continues = |side: Value| {
                let next = definer(module, side)?;
                let depends = depends(module, side, own);
                (operator_of(module, next).as_ref() == Some(&op) && depends).then_some(next)
            };
            if x == own || (y == own && !is_difference) {
                terms.push(Term {
                    value: if x == own { y } else { x },
                    is_negative: is_difference,
                });
                break;
            }
            if let Some(next) = continues(x) {
                terms.push(Term {
                    value: y,
                    is_negative: is_difference,
                });
                at = next;
            } else if let (Some(next), false) = (continues(y), is_difference) {
                terms.push(Term::plus(x));
                at = next;
            } else {
                return None;
            }
        }
        let is_apart = terms.iter().all(|term| !depends(module, term.value, own));
        is_apart.then_some(Self {
            op,
            terms,
            reduce: None,
        })
    }
}

/// Whether a value is computed from another.
pub(super) fn depends(module: &Module, value: Value, on: Value) -> bool {
    sources(module, value).contains(&on)
}

/// The operator that an operation reduces with.
pub(super) fn operator_of(module: &Module, op: Operation<'_>) -> Option<Operator> {
    let result = *op.data().results.first()?;
    let element = module.ty(result).number()?;
    Some(match (op.meaning(), element == ElementType::Bool) {
        ("arith.addf" | "arith.subf" | "complex.add" | "complex.sub", _) => Operator::Add,
        ("arith.mulf" | "complex.mul", _) => Operator::Mul,
        ("arith.maxf" | "arith.maximumf", _) => Operator::Max,
        ("arith.minf" | "arith.minimumf", _) => Operator::Min,
        ("arith.andi" | "arith.muli", true) => Operator::And,
        ("arith.ori", true) => Operator::Or,
        ("arith.addi" | "arith.subi", false) => Operator::Add,
        ("arith.muli", false) => Operator::Mul,
        ("arith.maxsi", false) => Operator::Max,
        ("arith.minsi", false) => Operator::Min,
        ("arith.andi", false) => Operator::BitAnd,
        ("arith.ori", false) => Operator::BitOr,
        ("arith.xori", false) => Operator::BitXor,
        ("arith.maxui" | "arith.maxsi" | "arith.minui" | "arith.minsi" | "arith.xori", _)
        | ("arith.addi" | "arith.subi", _) => defined(op, element)?,
        _ => return None,
    })
}

/// The operation of `arith` as a function of the user: of integers without a sign, and of those of one
/// bit.
fn defined(op: Operation<'_>, element: ElementType) -> Option<Operator> {
    let (_, name) = op.meaning().split_once('.')?;
    let ones = Scalar::from_i64(element, -1);
    let properties = Properties {
        commutative: true,
        associative: true,
        identity: Some(match name {
            "minui" | "maxsi" => ones,
            _ => element.zero(),
        }),
        ..Properties::default()
    };
    let parameters = [("x", element), ("y", element)];
    let mut is_known = true;
    let function = UserFunction::build(name, &parameters, properties, |builder, args| {
        let value = numbers::compute(&Expressions(builder), op, args)?;
        is_known = value.is_some();
        Ok(value.unwrap_or_else(|| args[0].clone()))
    });
    let function = function.ok().filter(|_| is_known)?;
    Some(Operator::Defined(function))
}
