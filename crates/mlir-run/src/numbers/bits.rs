//! Operations that are defined on values alone: the bits of floats, and functions of complex numbers.

use sparsec_base::{Complex, ElementType, Scalar, bf16, f16};
use sparsec_index::Operator;
use sparsec_mlir::Operation;

use super::{number_of, word};

/// The result; `None` for other operations.
pub(super) fn value(op: Operation<'_>, args: &[Scalar]) -> Option<Scalar> {
    let output = number_of(op.module().ty(*op.data().results.first()?))?;
    let (dialect, word) = word(op);
    match (dialect, args) {
        ("complex", [a]) if word == "angle" => Scalar::F64(a.to_c128().arg()).cast(output),
        ("complex", _) => complex(word, args)?.cast(output),
        (_, [a, n]) if word == "fpowi" => {
            // The exponent `true` is -1, as an integer of one bit with a sign.
            let n = match n {
                Scalar::Bool(true) => -1,
                n => n.to_integer()?,
            };
            let a = a.to_f64();
            let power = a.abs().powf(n as f64);
            let is_negative = a.is_sign_negative() && n % 2 != 0;
            Scalar::F64(if is_negative { -power } else { power }).cast(output)
        }
        (_, [a]) if word == "bitcast" => Some(of_bits(bits(*a)?, output)),
        (_, &[Scalar::Bool(a), Scalar::Bool(b)]) => truths(word, a, b),
        _ => None,
    }
}

/// The same bits as numbers of another type, the first number lowest.
pub(crate) fn recast(entries: &[Scalar], to: ElementType) -> Option<Vec<Scalar>> {
    let mut bytes = Vec::new();
    for entry in entries {
        let size = match entry.element() {
            ElementType::Bool => return None,
            element => element.size(),
        };
        bytes.extend_from_slice(&bits(*entry)?.to_le_bytes()[..size]);
    }
    let size = match to {
        ElementType::Bool | ElementType::C64 | ElementType::C128 => return None,
        to => to.size(),
    };
    let number = |chunk: &[u8]| {
        let mut all = [0; 8];
        all[..size].copy_from_slice(chunk);
        of_bits(u64::from_le_bytes(all), to)
    };
    Some(bytes.chunks_exact(size).map(number).collect())
}

/// The sum and its carry, or the low and the high half of a product.
pub(super) fn extended(op: Operation<'_>, args: &[Scalar]) -> Option<[Scalar; 2]> {
    let (dialect, word) = word(op);
    let &[a, b] = args else { return None };
    if dialect != "arith" || !word.ends_with("_extended") {
        return None;
    }
    let element = a.element();
    let width = match element {
        ElementType::Bool => 1,
        other => 8 * other.size() as u32,
    };
    let mask = u128::MAX >> (128 - width);
    let without_sign = |value: Scalar| Some(value.to_integer()? as u128 & mask);
    let with_sign = |value: Scalar| {
        let shift = 128 - width;
        Some((without_sign(value)? as i128) << shift >> shift)
    };
    let result = |value: u128| match element {
        ElementType::Bool => Scalar::Bool(value & 1 == 1),
        other => Scalar::from_i64(other, (value & mask) as i64),
    };
    match word {
        "addui_extended" => {
            let sum = without_sign(a)? + without_sign(b)?;
            Some([result(sum), Scalar::Bool(sum > mask)])
        }
        "mului_extended" => {
            let product = without_sign(a)? * without_sign(b)?;
            Some([result(product), result(product >> width)])
        }
        "mulsi_extended" => {
            let product = (with_sign(a)? * with_sign(b)?) as u128;
            Some([result(product), result(product >> width)])
        }
        _ => None,
    }
}

/// Quotients of integers of one bit.
fn truths(word: &str, a: bool, b: bool) -> Option<Scalar> {
    Some(Scalar::Bool(match word {
        "divui" | "divsi" if b => a,
        "remui" | "remsi" if b => false,
        _ => return None,
    }))
}

fn complex(word: &str, args: &[Scalar]) -> Option<Scalar> {
    let a = args[0].to_c128();
    Some(Scalar::C128(match word {
        "create" => Complex::new(args[0].to_f64(), args[1].to_f64()),
        "sin" => a.sin(),
        "cos" => a.cos(),
        "tan" => {
            let turned = tanh(Complex::new(-a.im, a.re));
            Complex::new(turned.im, -turned.re)
        }
        "tanh" => tanh(a),
        // Sums and differences of the real part alone keep the sign of an imaginary zero.
        "expm1" => {
            let power = a.exp();
            Complex::new(power.re - 1.0, power.im)
        }
        "log1p" => Complex::new(a.re + 1.0, a.im).ln(),
        "rsqrt" => {
            let parts = [Complex::new(1.0, 0.0), a.sqrt()].map(Scalar::C128);
            Operator::Div.evaluate(&parts)?.to_c128()
        }
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

/// The hyperbolic tangent, with the limit where its sums are past the greatest float.
fn tanh(a: Complex<f64>) -> Complex<f64> {
    // From here on, the tangent differs from 1 by less than the last bit.
    const FAR: f64 = 22.0;
    match a.re.abs() > FAR && a.im.is_finite() {
        true => {
            let small = 4.0 * (a.im.sin() * a.im.cos()) * (-2.0 * a.re.abs()).exp();
            Complex::new(1f64.copysign(a.re), small)
        }
        false => a.tanh(),
    }
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
