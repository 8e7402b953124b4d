//! Operations of `math` and `complex` that operators compute.

use sparsec_base::{ElementType, Result};
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
            "powf" | "ipowi" => Operator::Pow,
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
