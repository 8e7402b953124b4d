//! Steps of reductions: the value that a body combines with the value so far.

use sparsec_base::ElementType;
use sparsec_index::Operator;
use sparsec_mlir::{Module, Operation, Value};

use crate::body::definer;

/// One step of a reduction: `%y op term op term …`.
pub(super) struct Step<'a> {
    pub(super) op: Operator,
    /// The terms, and whether each is subtracted.
    pub(super) terms: Vec<(Value, bool)>,
    pub(super) reduce: Option<Operation<'a>>,
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
                terms: vec![(term, false)],
                reduce: Some(first),
            });
        }
        let op = operator_of(module, first)?;
        // Down the chain of the same operator, to the accumulator.
        let (mut terms, mut at) = (Vec::new(), first);
        loop {
            let operands = &at.data().operands;
            let [x, y] = operands[..] else { return None };
            let is_difference = matches!(at.meaning(), "arith.subf" | "arith.subi" | "complex.sub");
            let continues = |side: Value| {
                let next = definer(module, side)?;
                let depends = depends(module, side, own);
                (operator_of(module, next).as_ref() == Some(&op) && depends).then_some(next)
            };
            if x == own || (y == own && !is_difference) {
                terms.push((if x == own { y } else { x }, is_difference));
                break;
            }
            if let Some(next) = continues(x) {
                terms.push((y, is_difference));
                at = next;
            } else if let (Some(next), false) = (continues(y), is_difference) {
                terms.push((x, false));
                at = next;
            } else {
                return None;
            }
        }
        let is_apart = terms.iter().all(|(term, _)| !depends(module, *term, own));
        is_apart.then_some(Self {
            op,
            terms,
            reduce: None,
        })
    }
}

/// Whether a value is computed from another.
pub(super) fn depends(module: &Module, value: Value, on: Value) -> bool {
    let (mut open, mut seen) = (vec![value], std::collections::HashSet::new());
    while let Some(value) = open.pop() {
        if value == on {
            return true;
        }
        if seen.insert(value)
            && let Some(op) = definer(module, value)
        {
            for op in module.walk_from(op.id()) {
                open.extend(&module.op(op).data().operands);
            }
        }
    }
    false
}

/// The operator that an operation reduces with.
pub(super) fn operator_of(module: &Module, op: Operation<'_>) -> Option<Operator> {
    let result = *op.data().results.first()?;
    let is_truth = module.ty(result).number() == Some(ElementType::Bool);
    Some(match op.meaning() {
        "arith.addf" | "arith.subf" | "complex.add" | "complex.sub" => Operator::Add,
        "arith.addi" | "arith.subi" if !is_truth => Operator::Add,
        "arith.mulf" | "complex.mul" => Operator::Mul,
        "arith.muli" if !is_truth => Operator::Mul,
        "arith.maxf" | "arith.maximumf" => Operator::Max,
        "arith.maxsi" if !is_truth => Operator::Max,
        "arith.minf" | "arith.minimumf" => Operator::Min,
        "arith.minsi" if !is_truth => Operator::Min,
        "arith.andi" | "arith.muli" if is_truth => Operator::And,
        "arith.ori" if is_truth => Operator::Or,
        _ => return None,
    })
}
