//! What is declared of operators: loops are derived from it.

use sparsec_base::{ElementType, Kind, Scalar, bf16, f16};

use super::Operator;
use super::evaluate::plain;

/// Arguments of an operator that, where none of them is stored, decide its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The arguments by their numbers, ascending.
    pub args: Vec<usize>,
    /// The result.
    pub value: Scalar,
}

impl Operator {
    /// Whether the two arguments may change places.
    pub fn is_commutative(&self) -> bool {
        match self {
            Self::Defined(function) => function.is_commutative(),
            _ => self.is_associative() || matches!(self, Self::Eq | Self::Ne),
        }
    }

    /// Whether `(a op b) op c` is `a op (b op c)`, rounding of floats apart.
    pub fn is_associative(&self) -> bool {
        match self {
            Self::Defined(function) => function.is_associative(),
            _ => Self::REDUCTIONS.contains(self),
        }
    }

    /// Whether `a op (b sum c)` is `(a op b) sum (a op c)`, rounding of floats and
    /// numbers that are not finite apart, and what `sum` begins with annihilates; and
    /// whether factors of `op` may change places.
    pub fn distributes_over(&self, sum: &Self, element: ElementType) -> bool {
        match (self, sum) {
            (Self::Mul, Self::Add) => element != ElementType::Bool,
            // Sums of integers wrap, and then are in another order.
            (Self::Add, Self::Min | Self::Max) => element.is_float(),
            (Self::Min, Self::Max) | (Self::Max, Self::Min) => true,
            (Self::And, Self::Or) | (Self::Or, Self::And) => true,
            (Self::BitAnd, Self::BitOr | Self::BitXor) | (Self::BitOr, Self::BitAnd) => true,
            _ => false,
        }
    }

    /// Whether `a op a` is `a`.
    pub fn is_idempotent(&self, element: ElementType) -> bool {
        match self {
            Self::Min | Self::Max | Self::Or | Self::And | Self::BitAnd | Self::BitOr => true,
            Self::Add | Self::Mul => element == ElementType::Bool,
            Self::Defined(function) => function.is_idempotent(),
            _ => false,
        }
    }

    /// What decides the result: each [`Decision`] is a set of arguments that, where
    /// none of them is stored, make it one value, whatever the others are.
    ///
    /// `fills` has what each argument is where it is not stored, if that is known.
    /// So an entry of the result is stored where every decision has an argument
    /// that is, and without a decision nothing is known of what is not stored.
    /// All decisions are of one value.
    ///
    /// | operator              | decided by                                            |
    /// |-----------------------|-------------------------------------------------------|
    /// | `0 * x`, `min(-inf, x)`, … | the [annihilator](Self::annihilator)             |
    /// | `select(c, x, y)`     | `c` and the argument it chooses; `x` and `y` if equal |
    /// | `x < least`, `greatest < x` | the bound: `false`                              |
    /// | `least <= x`, `x <= greatest` | the bound, but for `NaN`: `true` of integers  |
    /// | `pow(x, 0)`, `pow(1, y)` | that argument: 1, of floats                        |
    /// | `inf + x`, `x - inf`, `0 / x` | that argument, unless the fill of `x` makes it `NaN` |
    /// | `shl(0, n)`, `shr(0, n)`, `shr(-1, n)` | that argument                        |
    /// | `copysign(0, x)`      | that argument: 0                                      |
    /// | `fma(0, x, y)`, `fma(x, 0, y)` | the factor and `y`: `y`                      |
    /// | `isstored(x)`         | `x`, whatever its fill: `false`                       |
    /// | any                   | all arguments                                         |
    pub fn decisions(&self, fills: &[Option<Scalar>]) -> Vec<Decision> {
        if *self == Self::IsStored {
            let (args, value) = (vec![0], Scalar::Bool(false));
            return vec![Decision { args, value }];
        }
        let mut decisions = Vec::new();
        for (at, fill) in fills.iter().enumerate() {
            let decided = fill.and_then(|fill| {
                self.decided(at, fill)
                    .or_else(|| self.decided_beside(at, fill, fills))
            });
            if let Some(value) = decided {
                let args = vec![at];
                decisions.push(Decision { args, value });
            }
        }
        if let (Self::Select, [condition, then, otherwise]) = (self, fills) {
            let chosen = match condition {
                Some(Scalar::Bool(true)) => then.map(|value| (1, value)),
                Some(_) => otherwise.map(|value| (2, value)),
                None => None,
            };
            decisions.extend(chosen.map(|(at, value)| Decision {
                args: vec![0, at],
                value,
            }));
            decisions.extend(then.filter(|_| then == otherwise).map(|value| Decision {
                args: vec![1, 2],
                value,
            }));
        }
        if let (Self::Fma, [a, b, Some(value)]) = (self, fills) {
            for (at, factor) in [a, b].into_iter().enumerate() {
                if factor.is_some_and(|factor| factor.is_zero()) {
                    let args = vec![at, 2];
                    let value = plain(*value);
                    decisions.push(Decision { args, value });
                }
            }
        }
        if decisions.is_empty()
            && let Some(fills) = fills.iter().copied().collect::<Option<Vec<Scalar>>>()
            && let Some(value) = self.evaluate_undecided(&fills)
        {
            let args = (0..fills.len()).collect();
            decisions.push(Decision { args, value });
        }
        decisions
    }

    /// Whether the operator gives another value where argument `at` is not stored than
    /// where it is stored with the value that it has then, which is its one of `fills`.
    /// Of types without `NaN` it does not.
    pub fn differs_unstored(&self, fills: &[Option<Scalar>], at: usize) -> bool {
        if *self == Self::IsStored {
            return true;
        }
        let Some(fill) = fills[at] else {
            return false;
        };
        let element = fill.element();
        if *self == Self::Fma {
            // A factor that is not stored and the summand decide together, beside an infinity too.
            let factors = fills[..2].iter().flatten();
            return at == 2 && factors.into_iter().any(|fill| fill.is_zero())
                || at < 2 && fill.is_zero();
        }
        match element.kind() {
            Kind::Float | Kind::Complex => {
                let decides = |decision: &Decision| decision.args == [at];
                // Of complex infinities, a product with 1 makes `NaN`.
                let is_one = element.is_complex() && *self == Self::Mul && fill == element.one();
                is_one || self.decisions(fills).iter().any(decides)
            }
            _ => false,
        }
    }

    /// The result where argument `at` is an entry that is not stored of value
    /// `fill`, if that alone decides it.
    fn decided(&self, at: usize, fill: Scalar) -> Option<Scalar> {
        let element = fill.element();
        if self.annihilator(at, element) == Some(fill) {
            return Some(fill);
        }
        let is_least = || least(element) == Some(fill);
        let is_greatest = || greatest(element) == Some(fill);
        // A comparison with `NaN` is false.
        let ordered = !element.is_float();
        let truth = match (self, at) {
            (Self::Lt, 0) | (Self::Gt, 1) if is_greatest() => false,
            (Self::Lt, 1) | (Self::Gt, 0) if is_least() => false,
            (Self::Le, 0) | (Self::Ge, 1) if ordered && is_least() => true,
            (Self::Le, 1) | (Self::Ge, 0) if ordered && is_greatest() => true,
            (Self::Pow, 0) if element.is_float() && fill == element.one() => {
                return Some(element.one());
            }
            (Self::Pow, 1) if element.is_float() && fill.is_zero() => return Some(element.one()),
            (Self::ShiftLeft | Self::ShiftRight | Self::CopySign, 0) if fill.is_zero() => {
                return Some(element.zero());
            }
            (Self::ShiftRight, 0) if fill.to_integer() == Some(-1) => return Some(fill),
            _ => return None,
        };
        Some(Scalar::Bool(truth))
    }

    /// As [`decided`](Self::decided), where the other argument has a say: not if
    /// what it is where it is not stored would make the result `NaN`.
    fn decided_beside(&self, at: usize, fill: Scalar, fills: &[Option<Scalar>]) -> Option<Scalar> {
        let element = fill.element();
        let infinite = element.is_float() && fill.to_f64().is_infinite();
        let zero = matches!(element.kind(), Kind::Float | Kind::Complex) && fill.is_zero();
        let decides = match (self, at) {
            (Self::Add | Self::Sub, _) => infinite,
            (Self::Div, 0) => zero,
            _ => false,
        };
        let &[Some(left), Some(right)] = fills else {
            return None;
        };
        let value = decides.then(|| self.evaluate(&[left, right]))??;
        (!value.to_c128().is_nan()).then(|| plain(value))
    }

    /// The value that makes the result that value when it stands at argument
    /// `at` as an entry that is not stored, whatever the other arguments are.
    pub fn annihilator(&self, at: usize, element: ElementType) -> Option<Scalar> {
        debug_assert!(
            at < self.arity(),
            "`{}` has no argument {at}",
            self.symbol()
        );
        match self {
            Self::Mul | Self::And | Self::BitAnd => Some(element.zero()),
            Self::BitOr => Some(Scalar::from_i64(element, -1)),
            Self::Or => Some(element.one()),
            Self::Add if element == ElementType::Bool => Some(Scalar::Bool(true)),
            Self::Min => least(element),
            Self::Max => greatest(element),
            Self::Defined(function) => function.annihilator(at, element),
            _ => None,
        }
    }

    /// The value that a reduction with this operator begins with, and that
    /// changes nothing as either argument; `None` for operators that do not
    /// reduce.
    pub fn identity(&self, element: ElementType) -> Option<Scalar> {
        match self {
            Self::Add | Self::BitOr | Self::BitXor => Some(element.zero()),
            Self::Mul => Some(element.one()),
            Self::BitAnd => Some(Scalar::from_i64(element, -1)),
            Self::Or => Some(Scalar::Bool(false)),
            Self::And => Some(Scalar::Bool(true)),
            Self::Min => greatest(element),
            Self::Max => least(element),
            Self::Defined(function) => function.identity(element),
            _ => None,
        }
    }

    /// The value that changes nothing as the left argument, whatever the right one
    /// is: the identity of an operator of the language. That of a function of the
    /// user need not be one beside values that the function does not give.
    pub fn left_identity(&self, element: ElementType) -> Option<Scalar> {
        match self {
            Self::Defined(_) => None,
            _ => self.identity(element),
        }
    }

    /// The value that changes nothing as the right argument: the identity, or
    /// that of `a - 0` and `a / 1`.
    pub fn right_identity(&self, element: ElementType) -> Option<Scalar> {
        match self {
            Self::Sub | Self::ShiftLeft | Self::ShiftRight => Some(element.zero()),
            Self::Div | Self::Pow => Some(element.one()),
            _ => self.left_identity(element),
        }
    }
}

/// The largest value of a type; complex numbers have no order.
pub(super) fn greatest(element: ElementType) -> Option<Scalar> {
    Some(match element {
        ElementType::Bool => Scalar::Bool(true),
        ElementType::I8 => Scalar::I8(i8::MAX),
        ElementType::I16 => Scalar::I16(i16::MAX),
        ElementType::I32 => Scalar::I32(i32::MAX),
        ElementType::I64 => Scalar::I64(i64::MAX),
        ElementType::U8 => Scalar::U8(u8::MAX),
        ElementType::U16 => Scalar::U16(u16::MAX),
        ElementType::U32 => Scalar::U32(u32::MAX),
        ElementType::U64 => Scalar::U64(u64::MAX),
        ElementType::F16 => Scalar::F16(f16::INFINITY),
        ElementType::Bf16 => Scalar::Bf16(bf16::INFINITY),
        ElementType::F32 => Scalar::F32(f32::INFINITY),
        ElementType::F64 => Scalar::F64(f64::INFINITY),
        ElementType::C64 | ElementType::C128 => return None,
    })
}

pub(super) fn least(element: ElementType) -> Option<Scalar> {
    Some(match element {
        ElementType::Bool => Scalar::Bool(false),
        ElementType::I8 => Scalar::I8(i8::MIN),
        ElementType::I16 => Scalar::I16(i16::MIN),
        ElementType::I32 => Scalar::I32(i32::MIN),
        ElementType::I64 => Scalar::I64(i64::MIN),
        ElementType::U8 => Scalar::U8(u8::MIN),
        ElementType::U16 => Scalar::U16(u16::MIN),
        ElementType::U32 => Scalar::U32(u32::MIN),
        ElementType::U64 => Scalar::U64(u64::MIN),
        ElementType::F16 => Scalar::F16(f16::NEG_INFINITY),
        ElementType::Bf16 => Scalar::Bf16(bf16::NEG_INFINITY),
        ElementType::F32 => Scalar::F32(f32::NEG_INFINITY),
        ElementType::F64 => Scalar::F64(f64::NEG_INFINITY),
        ElementType::C64 | ElementType::C128 => return None,
    })
}
