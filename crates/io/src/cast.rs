//! Values of a binary file in the type that was asked for.
//!
//! | from            | to             |                                                   |
//! |-----------------|----------------|---------------------------------------------------|
//! | any             | integer, bool  | the same number, or refused                       |
//! | real            | float, complex | the nearest; refused where only infinity is near  |
//! | complex         | float          | refused                                           |
//!
//! These are the rules by which numbers in text are read too.

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_parallel::{map, ranges, split_mut};
use sparsec_tensor::{Array, Element, with_element};

/// Values that one thread converts at a time.
const GRAIN: usize = 1 << 14;

/// The values as `element`; `name` is what they are called in messages.
///
/// # Errors
/// `E0466` for the first value that would be lost, `E0407` when memory is out.
pub(crate) fn cast(array: Array, element: ElementType, name: &str) -> Result<Array> {
    if array.element() == element {
        return Ok(array);
    }
    let mut out = Array::zeroed(element, array.len())?;
    let grains = ranges(array.len(), GRAIN);
    let lost = with_element!(element, To => {
        let parts = split_mut(out.slice_mut::<To>(), grains.iter().map(ExactSizeIterator::len));
        let tasks: Vec<_> = grains.into_iter().zip(parts).collect();
        map(tasks, |(range, part)| {
            for (at, place) in range.zip(part) {
                match converted(array.get(at), element).and_then(To::from_scalar) {
                    Some(value) => *place = value,
                    None => return Some(at),
                }
            }
            None
        })
    });
    let Some(at) = lost.into_iter().flatten().next() else {
        return Ok(out);
    };
    let message = format!(
        "`{name}[{at}]` is {}, which {element} cannot hold",
        array.get(at)
    );
    Err(Diagnostic::new(code::LOSSY_TYPE, message).help(format!(
        "read it as {}, the type of the file, or as another type that holds the value",
        array.element()
    )))
}

/// The value as `element`, or `None` where it would be lost.
fn converted(value: Scalar, element: ElementType) -> Option<Scalar> {
    let result = value.cast(element)?;
    if element.is_float() || element.is_complex() {
        let (from, to) = (value.to_c128(), result.to_c128());
        let overflows = from.is_finite() && !to.is_finite();
        return (!overflows).then_some(result);
    }
    // Back where it came from it has to be the same number; -0.0 is 0.
    let back = result.cast(value.element())?;
    // Types of one width wrap there and back: the sign tells.
    let same_sign = (value.to_f64() < 0.0) == (result.to_f64() < 0.0);
    (same_sign && back == value || back.is_zero() && value.is_zero()).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: Array, element: ElementType, expect: std::result::Result<Array, &str>) {
        let found = cast(values, element, "vals").map_err(|error| error.message().to_owned());
        assert_eq!(found, expect.map_err(str::to_owned));
    }

    #[test]
    fn numbers_stay_what_they_are() {
        check(
            Array::from_vec(vec![1.0, -0.0, 255.0]),
            ElementType::U8,
            Ok(Array::from_vec(vec![1u8, 0, 255])),
        );
        check(
            Array::from_vec(vec![0.1, f64::NEG_INFINITY]),
            ElementType::F32,
            Ok(Array::from_vec(vec![0.1f32, f32::NEG_INFINITY])),
        );
        check(
            Array::from_vec(vec![u64::MAX]),
            ElementType::F64,
            Ok(Array::from_vec(vec![u64::MAX as f64])),
        );
    }

    #[test]
    fn what_would_be_lost_is_refused() {
        let refused = |values, element, message| check(values, element, Err(message));
        refused(
            Array::from_vec(vec![1.0, 1.5]),
            ElementType::I32,
            "`vals[1]` is 1.5, which i32 cannot hold",
        );
        refused(
            Array::from_vec(vec![u64::MAX]),
            ElementType::I64,
            "`vals[0]` is 18446744073709551615, which i64 cannot hold",
        );
        refused(
            Array::from_vec(vec![2i32]),
            ElementType::Bool,
            "`vals[0]` is 2, which bool cannot hold",
        );
        refused(
            Array::from_vec(vec![1e300]),
            ElementType::F32,
            "`vals[0]` is 1e300, which f32 cannot hold",
        );
        refused(
            Array::from_vec(vec![f64::NAN]),
            ElementType::I8,
            "`vals[0]` is nan, which i8 cannot hold",
        );
        refused(
            Array::from_vec(vec![sparsec_base::Complex::new(1.0f64, 0.0)]),
            ElementType::F64,
            "`vals[0]` is (1.0+0.0j), which f64 cannot hold",
        );
    }
}
