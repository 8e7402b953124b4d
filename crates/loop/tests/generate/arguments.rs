//! Arguments for random functions: the values at which rules break.

use sparsec_base::{Complex, ElementType, Kind, Scalar};
use sparsec_loop::interpret::{ArgumentData, Entries};

use super::LEN;

/// Arguments for any [`function`](super::function).
pub(crate) fn arguments() -> Vec<ArgumentData> {
    vec![
        ArgumentData {
            extents: vec![3],
            buffers: vec![
                Entries::I64(vec![9; LEN as usize]),
                Entries::I32(vec![]),
                Entries::F64(vec![]),
            ],
        },
        ArgumentData {
            extents: vec![],
            buffers: [
                Entries::I32(vec![0, 1, 1, 3]),
                Entries::U8(vec![0, 255, 1, 3]),
                Entries::U16(vec![65535, 0, 1, 3]),
                Entries::F32(vec![0.5, -0.0, f32::NAN, -3.25]),
            ]
            .into_iter()
            .chain(ElementType::ALL.map(special))
            .collect(),
        },
    ]
}

/// An array of values at which rules break.
fn special(element: ElementType) -> Entries {
    let integers = [-7, 0, i64::MIN, 5];
    let floats = [2.5, -0.0, f64::NAN, f64::INFINITY];
    let mut entries = Entries::zeros(element, integers.len());
    for (at, (integer, float)) in integers.into_iter().zip(floats).enumerate() {
        let value = match element.kind() {
            Kind::Float => Scalar::F64(float),
            Kind::Complex => Scalar::C128(Complex::new(float, integer as f64)),
            _ => Scalar::I64(integer),
        };
        entries.set(at, value.cast(element).expect("of the same kind"));
    }
    entries
}
