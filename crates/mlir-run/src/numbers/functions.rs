//! Operations of `math` and `complex` that operators compute.

use sparsec_base::{ElementType, Result, Scalar};
use sparsec_index::Operator;

use super::{Algebra, Calculator};

impl<A: Algebra> Calculator<'_, A> {
    pub(super) fn function(
        &self,
        word: &str,
        ty: ElementType,
        args: &[A::Value],
    ) -> Result<Option<A::Value>> {
        let all: Vec<&A::Value> = args.iter().collect();
        if ty == ElementType::Bool {
            // Integers of one bit.
            return Ok(match word {
                "ctpop" | "absi" => Some(all[0].clone()),
                "ctlz" | "cttz" => Some(self.op(Operator::Not, &all)?),
                _ => None,
            });
        }
        let simple = match word {
            "absf" | "absi" => Operator::Abs,
            "ceil" => Operator::Ceil,
            "floor" => Operator::Floor,
            "trunc" => Operator::Trunc,
            "roundeven" => Operator::Round,
            "cos" => Operator::Cos,
            "cosh" => Operator::Cosh,
            "sin" => Operator::Sin,
            "sinh" => Operator::Sinh,
            "tan" => Operator::Tan,
            "tanh" => Operator::Tanh,
            "acos" => Operator::Acos,
            "asin" => Operator::Asin,
            "atan" => Operator::Atan,
            "asinh" => Operator::Asinh,
            "acosh" => Operator::Acosh,
            "atanh" => Operator::Atanh,
            "erf" => Operator::Erf,
            "copysign" => Operator::CopySign,
            "fma" => Operator::Fma,
            "ctpop" => Operator::PopCount,
            "ctlz" => Operator::LeadingZeros,
            "cttz" => Operator::TrailingZeros,
            "exp" => Operator::Exp,
            "exp2" => Operator::Exp2,
            "expm1" => Operator::Expm1,
            "log" => Operator::Log,
            "log10" => Operator::Log10,
            "log1p" => Operator::Log1p,
            "log2" => Operator::Log2,
            "sqrt" => Operator::Sqrt,
            "cbrt" => Operator::Cbrt,
            "ipowi" => {
                return self.power_of_integers(ty, &all).map(Some);
            }
            "powf" => Operator::Pow,
            "atan2" => Operator::Atan2,
            "rsqrt" => {
                let root = self.op(Operator::Sqrt, &all)?;
                let one = self.real(ty, 1.0)?;
                return self.op(Operator::Div, &[&one, &root]).map(Some);
            }
            "round" => {
                // Halves go away from zero.
                let whole = self.op(Operator::Trunc, &all)?;
                let rest = self.op(Operator::Sub, &[all[0], &whole])?;
                let rest = self.op(Operator::Abs, &[&rest])?;
                let is_half = self.op(Operator::Ge, &[&rest, &self.real(ty, 0.5)?])?;
                let sign = self.op(Operator::Sign, &all)?;
                let next = self.op(Operator::Add, &[&whole, &sign])?;
                return self
                    .op(Operator::Select, &[&is_half, &next, &whole])
                    .map(Some);
            }
            _ => return Ok(None),
        };
        self.op(simple, &all).map(Some)
    }

    /// A power of integers. One and minus one have powers below zero; other numbers give zero there.
    fn power_of_integers(&self, ty: ElementType, args: &[&A::Value]) -> Result<A::Value> {
        let [base, exponent] = args else {
            return self.op(Operator::Pow, args);
        };
        let number = |value: i64| self.algebra.number(Scalar::from_i64(ty, value));
        let (zero, one) = (number(0)?, number(1)?);
        let natural = self.op(Operator::Max, &[exponent, &zero])?;
        let power = self.op(Operator::Pow, &[base, &natural])?;
        let parity = self.op(Operator::BitAnd, &[exponent, &one])?;
        let is_even = self.op(Operator::Eq, &[&parity, &zero])?;
        let of_minus_one = self.op(Operator::Select, &[&is_even, &one, base])?;
        let is_minus_one = self.op(Operator::Eq, &[base, &number(-1)?])?;
        let others = self.op(Operator::Select, &[&is_minus_one, &of_minus_one, &zero])?;
        let is_one = self.op(Operator::Eq, &[base, &one])?;
        let below = self.op(Operator::Select, &[&is_one, &one, &others])?;
        let is_below = self.op(Operator::Lt, &[exponent, &zero])?;
        self.op(Operator::Select, &[&is_below, &below, &power])
    }

    pub(super) fn complex(&self, word: &str, args: &[A::Value]) -> Result<Option<A::Value>> {
        let all: Vec<&A::Value> = args.iter().collect();
        let op = match word {
            "add" => Operator::Add,
            "sub" => Operator::Sub,
            "mul" => Operator::Mul,
            "div" => Operator::Div,
            "pow" => Operator::Pow,
            "neg" => Operator::Neg,
            "conj" => Operator::Conj,
            "re" => Operator::Real,
            "im" => Operator::Imag,
            "abs" => Operator::Abs,
            "exp" => Operator::Exp,
            "log" => Operator::Log,
            "sqrt" => Operator::Sqrt,
            "eq" => Operator::Eq,
            "neq" => Operator::Ne,
            _ => return Ok(None),
        };
        self.op(op, &all).map(Some)
    }
}
