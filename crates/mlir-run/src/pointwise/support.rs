//! The points at which a body has to be evaluated.
//!
//! A value of a body is stored at a set of points. At all others it is the value that the body has
//! for implicit zeros, if that is one number:
//!
//! ```text
//! %s = arith.shli %a, %c3           a        0 elsewhere
//! %t = arith.ori %s, %b             a or b   0 elsewhere
//! %u = arith.andi %t, %x            (a or b), for a dense x
//! %z = arith.ori %y, %u             leaves the output y as it is where u is 0
//! ```

use std::collections::HashMap;

use sparsec_base::Scalar;
use sparsec_mlir::{Block, Module, Operation, Value};

use crate::body::{definer, yielded};
use crate::constants::constant_number;
use crate::numbers;

/// Points of the iteration space.
#[derive(Clone, Debug)]
pub(super) enum Set {
    All,
    /// Those at which an operand stores an entry.
    Stored(usize),
    And(Box<Set>, Box<Set>),
    Or(Box<Set>, Box<Set>),
}

/// Whether a value is stored: at one point, or at which points.
pub(super) trait Support: Clone {
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
}

impl Support for bool {
    fn and(self, other: Self) -> Self {
        self && other
    }

    fn or(self, other: Self) -> Self {
        self || other
    }
}

impl Support for Set {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, set) | (set, Self::All) => set,
            (a, b) => Self::And(Box::new(a), Box::new(b)),
        }
    }

    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (a, b) => Self::Or(Box::new(a), Box::new(b)),
        }
    }
}

/// The operands of an operation that make it zero if one of them is.
fn decisive(op: Operation<'_>) -> &'static [usize] {
    match op.meaning() {
        "arith.mulf" | "arith.muli" | "complex.mul" | "arith.andi" | "arith.minui" | "math.fma" => {
            &[0, 1]
        }
        "arith.shli" | "arith.shrui" | "arith.shrsi" | "arith.divui" | "arith.divsi"
        | "arith.remui" | "arith.remsi" => &[0],
        _ => &[],
    }
}

/// Where an operation on numbers stores its result, and whether it is zero elsewhere for sure. Of
/// each operand: where it is stored, `None` for a constant, and whether it is zero elsewhere.
pub(super) fn combined<S: Support>(
    op: Operation<'_>,
    args: &[(Option<S>, bool)],
) -> (Option<S>, bool) {
    let stored = |n: &usize| match args.get(*n) {
        Some((stored, true)) => stored.clone(),
        _ => None,
    };
    let decides = decisive(op).iter().filter_map(stored).reduce(S::and);
    let any = |args: &[(Option<S>, bool)]| {
        let stored = args.iter().filter_map(|(stored, _)| stored.clone());
        stored.reduce(S::or)
    };
    match (decides, op.meaning()) {
        (None, _) => (any(args), false),
        // a * b + c
        (Some(product), "math.fma") => match &args[2] {
            (Some(added), is_zero) => (Some(product.or(added.clone())), *is_zero),
            (None, is_zero) => (Some(product), *is_zero),
        },
        (Some(product), _) => (Some(product), true),
    }
}

/// A value of a body at all points.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Where it is stored; `None` for a constant.
    pub(super) stored: Option<Set>,
    /// The value elsewhere, if it is one number.
    pub(super) elsewhere: Option<Scalar>,
}

impl Part {
    /// A value of which nothing is known.
    pub(super) fn anywhere() -> Self {
        Self {
            stored: Some(Set::All),
            elsewhere: None,
        }
    }
}

/// The values of a body.
pub(super) struct Parts<'a> {
    module: &'a Module,
    /// Numbers from outside of the body.
    captured: &'a dyn Fn(Value) -> Option<Scalar>,
    values: HashMap<Value, Part>,
}

impl<'a> Parts<'a> {
    /// The values of a block, whose arguments are given.
    pub(super) fn of(
        module: &'a Module,
        block: Block,
        args: Vec<Part>,
        captured: &'a dyn Fn(Value) -> Option<Scalar>,
    ) -> Self {
        let data = module.block(block);
        let values = data.arguments.iter().copied().zip(args).collect();
        let mut parts = Self {
            module,
            captured,
            values,
        };
        for op in &data.ops {
            let op = module.op(*op);
            if let Some(result) = op.data().results.first() {
                let part = parts.operation(op);
                parts.values.insert(*result, part);
            }
        }
        parts
    }

    pub(super) fn get(&self, value: Value) -> Part {
        let known = self.values.get(&value).cloned();
        known.unwrap_or_else(|| Part {
            stored: None,
            elsewhere: (self.captured)(value),
        })
    }

    fn operation(&self, op: Operation<'_>) -> Part {
        if let Some(number) = constant_number(op) {
            return Part {
                stored: None,
                elsewhere: Some(number),
            };
        }
        if op.name() == "linalg.index" {
            return Part {
                stored: None,
                elsewhere: None,
            };
        }
        let args: Vec<Part> = op.data().operands.iter().map(|it| self.get(*it)).collect();
        let element = op.data().results.first().and_then(|result| {
            let ty = self.module.ty(*result);
            ty.number()
        });
        let zero = element.map(|element| element.zero());
        let has = |n: usize| args[n].stored.clone().unwrap_or(Set::All);
        let region = |name: &str| op.region(name).block.is_some();
        let stored = match op.name() {
            "sparse_tensor.unary" if region("absentRegion") => Some(Set::All),
            "sparse_tensor.unary" | "sparse_tensor.select" => Some(has(0)),
            "sparse_tensor.binary" => {
                let is_given = |name, identity| region(name) || op.attribute(identity).is_some();
                let cases = [
                    region("overlapRegion").then(|| has(0).and(has(1))),
                    is_given("leftRegion", "left_identity").then(|| has(0)),
                    is_given("rightRegion", "right_identity").then(|| has(1)),
                ];
                // Without a region no entry is stored, and few points are visited in vain.
                let cases = cases.into_iter().flatten().reduce(Set::or);
                Some(cases.unwrap_or_else(|| has(0).and(has(1))))
            }
            "sparse_tensor.reduce" => Some(has(0).or(has(1))),
            _ => {
                let supports = args.iter().map(|arg| {
                    let is_zero = arg.elsewhere.is_some_and(|value| value.is_zero());
                    let is_all = matches!(arg.stored, Some(Set::All));
                    (arg.stored.clone(), is_zero || is_all)
                });
                let (stored, is_zero) = combined(op, &supports.collect::<Vec<_>>());
                let values = args.iter().map(|arg| arg.elsewhere);
                let values = values.collect::<Option<Vec<Scalar>>>();
                let elsewhere = match is_zero {
                    true => zero,
                    false => values.and_then(|it| numbers::value(op, &it).ok().flatten()),
                };
                return Part { stored, elsewhere };
            }
        };
        Part {
            stored,
            elsewhere: zero,
        }
    }

    /// The points at which a value differs from the output before; `None` if it may do so at any.
    /// `Some(None)` is no point.
    pub(super) fn changes(&self, value: Value, before: Value) -> Option<Option<Set>> {
        if value == before {
            return Some(None);
        }
        let op = definer(self.module, value)?;
        let operands = &op.data().operands;
        let (kept, with): (&[usize], fn(Scalar) -> bool) = match op.meaning() {
            "arith.addi" | "arith.addf" | "complex.add" | "arith.ori" | "arith.xori"
            | "arith.maxui" => (&[0, 1], |it| it.is_zero()),
            "arith.subi" | "arith.subf" | "complex.sub" | "arith.shli" | "arith.shrui"
            | "arith.shrsi" => (&[0], |it| it.is_zero()),
            "arith.muli" | "arith.mulf" => (&[0, 1], |it| it.to_f64() == 1.0),
            "arith.andi" | "arith.minui" => (&[0, 1], |it| match it {
                Scalar::Bool(truth) => truth,
                number => number.to_integer() == Some(-1),
            }),
            "math.fma" => {
                let factor = |n: usize| {
                    let part = self.get(operands[n]);
                    let is_zero = part.elsewhere.is_some_and(|it| it.is_zero());
                    part.stored.filter(|_| is_zero)
                };
                let product = [factor(0), factor(1)].into_iter().flatten();
                let product = product.reduce(Set::and)?;
                let inner = self.changes(operands[2], before)?;
                return Some(either(inner, Some(product)));
            }
            "sparse_tensor.reduce" => {
                let inner = self.changes(operands[0], before)?;
                let stored = self.get(operands[1]).stored.unwrap_or(Set::All);
                return Some(either(inner, Some(stored)));
            }
            _ => return None,
        };
        kept.iter().find_map(|n| {
            let inner = self.changes(operands[*n], before)?;
            let part = self.get(operands[1 - n]);
            let is_kept = match part.stored {
                Some(Set::All) => true,
                _ => part.elsewhere.is_some_and(with),
            };
            is_kept.then(|| either(inner, part.stored))
        })
    }

    /// The points of a body that reduces: all others leave the outputs as they are. `None` for all.
    pub(super) fn of_reductions(&self, block: Block, n_inputs: usize) -> Option<Set> {
        let arguments = &self.module.block(block).arguments;
        let mut set = None;
        for (n, value) in yielded(self.module, block).iter().enumerate() {
            let before = *arguments.get(n_inputs + n)?;
            set = either(set, self.changes(*value, before)?);
        }
        set
    }
}

/// The union; `None` is no point.
pub(super) fn either(a: Option<Set>, b: Option<Set>) -> Option<Set> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.or(b)),
        (a, b) => a.or(b),
    }
}
