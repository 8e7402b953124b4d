//! Operations that are defined on values alone: on bits, and functions without an operator.

use sparsec_base::{Complex, ElementType, Scalar, bf16, f16};
use sparsec_mlir::Operation;

use super::{is_float, number_of, word};

/// The result; `None` for other operations.
pub(super) fn value(op: Operation<'_>, args: &[Scalar]) -> Option<Scalar> {
    let output = number_of(op.module().ty(*op.data().results.first()?))?;
    let (dialect, word) = word(op);
    match (dialect, args) {
        ("complex", _) => complex(word, args)?.cast(output),
        ("math", _) => function(word, args, output),
        (_, [a]) if word == "bitcast" => Some(of_bits(bits(*a)?, output)),
        (_, [a, b]) => integers(word, *a, *b),
        _ => None,
    }
}

fn width(element: ElementType) -> u32 {
    match element {
        ElementType::Bool => 1,
        other => 8 * other.size() as u32,
    }
}

fn integers(word: &str, a: Scalar, b: Scalar) -> Option<Scalar> {
    let element = a.element();
    let (x, y) = (a.to_integer()? as i64, b.to_integer()? as i64);
    let bits = width(element);
    let mask = u64::MAX >> (64 - bits);
    let natural = |value: i64| value as u64 & mask;
    let by = natural(y);
    let is_past = by >= u64::from(bits);
    let found = match word {
        "andi" => x & y,
        "ori" => x | y,
        "xori" => x ^ y,
        // A longer shift has no value, and 0 is as good as any.
        "shli" if is_past => 0,
        "shli" => x << by,
        "shrui" if is_past => 0,
        "shrui" => (natural(x) >> by) as i64,
        "shrsi" => x >> by.min(u64::from(bits) - 1).min(63),
        _ if element != ElementType::Bool => return None,
        "maxui" | "minsi" => x | y,
        "minui" | "maxsi" => x & y,
        "divui" | "divsi" if y != 0 => x,
        "remui" | "remsi" if y != 0 => 0,
        _ => return None,
    };
    Some(Scalar::from_i64(element, found))
}

fn function(word: &str, args: &[Scalar], output: ElementType) -> Option<Scalar> {
    let real = |n: usize| args[n].to_f64();
    if is_float(output) {
        let value = match word {
            "acosh" => real(0).acosh(),
            "asinh" => real(0).asinh(),
            "atanh" => real(0).atanh(),
            "erf" => erf(real(0)),
            "copysign" => real(0).copysign(real(1)),
            "fma" if output == ElementType::F32 => {
                f64::from((real(0) as f32).mul_add(real(1) as f32, real(2) as f32))
            }
            "fma" => real(0).mul_add(real(1), real(2)),
            _ => return None,
        };
        return Scalar::F64(value).cast(output);
    }
    let bits = width(output);
    let value = args[0].to_integer()? as u64 & (u64::MAX >> (64 - bits));
    let counted = match word {
        "ctpop" => value.count_ones(),
        "ctlz" => value.leading_zeros() - (64 - bits),
        "cttz" => value.trailing_zeros().min(bits),
        _ => return None,
    };
    Some(Scalar::from_i64(output, counted.into()))
}

fn complex(word: &str, args: &[Scalar]) -> Option<Scalar> {
    let a = args[0].to_c128();
    let one = Complex::new(1.0, 0.0);
    Some(Scalar::C128(match word {
        "create" => Complex::new(args[0].to_f64(), args[1].to_f64()),
        "sin" => a.sin(),
        "cos" => a.cos(),
        "tan" => a.tan(),
        "tanh" => a.tanh(),
        "expm1" => a.exp() - one,
        "log1p" => (a + one).ln(),
        "rsqrt" => one / a.sqrt(),
        "sign" if a.norm() == 0.0 => a,
        "sign" => a / a.norm(),
        "bitcast" => a,
        "atan2" => {
            // -i log((x + iy) / sqrt(x² + y²)), the definition of the dialect.
            let (y, x) = (a, args[1].to_c128());
            let i = Complex::new(0.0, 1.0);
            -i * ((x + i * y) / (x * x + y * y).sqrt()).ln()
        }
        _ => return None,
    }))
}

fn bits(value: Scalar) -> Option<u64> {
    Some(match value {
        Scalar::F16(value) => value.to_bits().into(),
        Scalar::Bf16(value) => value.to_bits().into(),
        Scalar::F32(value) => value.to_bits().into(),
        Scalar::F64(value) => value.to_bits(),
        other => other.to_integer()? as u64,
    })
}

fn of_bits(bits: u64, element: ElementType) -> Scalar {
    match element {
        ElementType::F16 => Scalar::F16(f16::from_bits(bits as u16)),
        ElementType::Bf16 => Scalar::Bf16(bf16::from_bits(bits as u16)),
        ElementType::F32 => Scalar::F32(f32::from_bits(bits as u32)),
        ElementType::F64 => Scalar::F64(f64::from_bits(bits)),
        other => Scalar::from_i64(other, bits as i64),
    }
}

/// The error function: its series near 0, and the continued fraction of its complement elsewhere.
///
/// Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 7.1.5 and 7.1.14.
fn erf(x: f64) -> f64 {
    if x.is_nan() || x == 0.0 {
        return x;
    }
    let scale = 2.0 / std::f64::consts::PI.sqrt();
    let square = x * x;
    if x.abs() < 2.5 {
        let (mut term, mut sum) = (x, x);
        for n in 1..100 {
            term *= -square / f64::from(n);
            let next = term / f64::from(2 * n + 1);
            sum += next;
            if next.abs() < sum.abs() * 1e-17 {
                break;
            }
        }
        return scale * sum;
    }
    // The complement is below half a unit in the last place of 1 from here on.
    if x.abs() > 6.0 {
        return 1f64.copysign(x);
    }
    let mut fraction = x.abs();
    for n in (1..=60).rev() {
        fraction = x.abs() + f64::from(n) / 2.0 / fraction;
    }
    let complement = (-square).exp() / fraction / std::f64::consts::PI.sqrt();
    (1.0 - complement).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::erf;

    #[test]
    fn the_error_function_has_its_known_values() {
        for (x, expected) in [
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.0, 0.999_977_909_503_001_4),
        ] {
            assert!((erf(x) - expected).abs() < 1e-15, "{x}: {}", erf(x));
            assert_eq!(erf(-x), -erf(x));
        }
    }
}
