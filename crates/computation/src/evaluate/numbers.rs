//! Operations on numbers, as kernels do them.

use std::collections::BTreeSet;

use sparsec_base::Scalar;
use sparsec_base::hash::first_slot;

use crate::value::Operator;

/// The place of a key in a table, which takes it.
pub(super) fn slot(keys: &[i64], taken: &mut BTreeSet<i64>) -> Option<usize> {
    let [key, begin, end] = keys[..] else {
        return None;
    };
    let n = usize::try_from(end - begin).ok().filter(|n| *n > 0)?;
    let first = first_slot(key as u64, n);
    let mut places = (0..n).map(|step| begin + ((first + step) % n) as i64);
    let place = places.find(|place| !taken.contains(place))?;
    taken.insert(place);
    usize::try_from(place).ok()
}

pub(super) fn integers(operator: Operator, a: i64, b: i64) -> Option<i64> {
    Some(match operator {
        Operator::Add => a.wrapping_add(b),
        Operator::Subtract => a.wrapping_sub(b),
        Operator::Multiply => a.wrapping_mul(b),
        Operator::Minimum => a.min(b),
        Operator::Maximum => a.max(b),
        Operator::FloorDivide | Operator::Modulo if b == 0 => return None,
        Operator::FloorDivide => {
            let quotient = a.wrapping_div(b);
            let rest = a.wrapping_rem(b);
            quotient - i64::from(rest != 0 && (rest < 0) != (b < 0))
        }
        Operator::Modulo => {
            let rest = a.wrapping_rem(b);
            rest + if rest != 0 && (rest < 0) != (b < 0) {
                b
            } else {
                0
            }
        }
        Operator::Divide => unreachable!("`/` is of floating-point numbers"),
    })
}

macro_rules! floats {
    ($name:ident, $ty:ty) => {
        pub(super) fn $name(operator: Operator, a: $ty, b: $ty) -> $ty {
            match operator {
                Operator::Add => a + b,
                Operator::Subtract => a - b,
                Operator::Multiply => a * b,
                Operator::Divide => a / b,
                Operator::Minimum if a.is_nan() || a < b => a,
                Operator::Maximum if a.is_nan() || a > b => a,
                Operator::Minimum | Operator::Maximum => b,
                Operator::FloorDivide | Operator::Modulo => {
                    unreachable!("rounded quotients are of integers")
                }
            }
        }
    };
}

floats!(float_32, f32);
floats!(float_64, f64);

/// Whether two values of one type differ; a literal takes the other's type.
pub(super) fn differ(a: Scalar, b: Scalar) -> bool {
    let float = [a, b].map(|side| side.element()).into_iter();
    let float = float.filter(|ty| ty.is_float()).min();
    let [a, b] = [a, b].map(|side| float.and_then(|ty| side.cast(ty)).unwrap_or(side));
    match (a, b) {
        (Scalar::F32(a), Scalar::F32(b)) => a != b,
        (Scalar::F64(a), Scalar::F64(b)) => a != b,
        (Scalar::C64(a), Scalar::C64(b)) => a != b,
        (Scalar::C128(a), Scalar::C128(b)) => a != b,
        (a, b) => a != b,
    }
}

/// All tuples of indices within extents, the last running fastest.
pub(super) fn places(extents: &[i64]) -> Vec<Vec<i64>> {
    let mut places = vec![Vec::new()];
    for extent in extents {
        let longer = |place: &Vec<i64>| {
            let place = place.clone();
            (0..*extent).map(move |at| [&place[..], &[at]].concat())
        };
        places = places.iter().flat_map(longer).collect();
    }
    places
}
