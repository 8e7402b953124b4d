//! The types of Binsparse arrays, and the numbers that stand for them.
//!
//! | `data_types`                      | numbers in the array       | read as        |
//! |-----------------------------------|----------------------------|----------------|
//! | `int8` … `uint64`, `float32/64`   | the same                   | `i8` … `f64`   |
//! | `bint8`                           | 8 bits; 0 is false         | `bool`         |
//! | `complex[float32]`, `…[float64]`  | real and imaginary by turns | `c64`, `c128` |
//! | `iso[T]`                          | one `T`                    | as many as there are positions |

use sparsec_base::{Bool8, ElementType, Result};
use sparsec_tensor::{Array, Element};

/// What `data_types` says of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DataType {
    /// The type of the values, in our terms.
    pub(super) element: ElementType,
    /// Whether one value stands for all.
    pub(super) iso: bool,
}

/// The names of the plain types.
const NAMES: [(&str, ElementType); 11] = [
    ("int8", ElementType::I8),
    ("int16", ElementType::I16),
    ("int32", ElementType::I32),
    ("int64", ElementType::I64),
    ("uint8", ElementType::U8),
    ("uint16", ElementType::U16),
    ("uint32", ElementType::U32),
    ("uint64", ElementType::U64),
    ("float32", ElementType::F32),
    ("float64", ElementType::F64),
    ("bint8", ElementType::Bool),
];

impl DataType {
    /// The type with this name.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let inside = |text: &str, wrapper: &str| {
            let rest = text.strip_prefix(wrapper)?.strip_prefix('[')?;
            Some(rest.strip_suffix(']')?.trim().to_owned())
        };
        let name = name.trim();
        let (name, iso) = match inside(name, "iso") {
            Some(inner) => (inner, true),
            None => (name.to_owned(), false),
        };
        let element = match inside(&name, "complex") {
            Some(part) => match part.as_str() {
                "float32" => ElementType::C64,
                "float64" => ElementType::C128,
                _ => return None,
            },
            None => NAMES.iter().find(|(known, _)| *known == name)?.1,
        };
        Some(Self { element, iso })
    }

    /// The type of arrays of `element`; `None` where there is none.
    pub(super) fn of(element: ElementType) -> Option<Self> {
        let ty = Self {
            element,
            iso: false,
        };
        ty.try_name().map(|_| ty)
    }

    /// The name in a descriptor.
    pub(super) fn name(self) -> String {
        self.try_name()
            .expect("`of` and `parse` give types that have names")
    }

    fn try_name(self) -> Option<String> {
        let plain = match self.element {
            ElementType::C64 => "complex[float32]",
            ElementType::C128 => "complex[float64]",
            element => NAMES.iter().find(|(_, known)| *known == element)?.0,
        };
        Some(match self.iso {
            true => format!("iso[{plain}]"),
            false => plain.to_owned(),
        })
    }

    /// The type of the numbers in the array.
    pub(super) fn stored(self) -> ElementType {
        match self.element {
            ElementType::Bool => ElementType::U8,
            ElementType::C64 => ElementType::F32,
            ElementType::C128 => ElementType::F64,
            element => element,
        }
    }
}

/// Numbers as `element`, whose arrays hold them in the same bytes: halves of
/// complex numbers, bytes of truth values, integers without sign.
///
/// Takes a copy only of complex numbers that do not lie at their alignment.
///
/// # Errors
/// `E0407` when memory is out.
pub(super) fn reinterpret(array: Array, element: ElementType) -> Result<Array> {
    if element == ElementType::Bool {
        return truths(&array);
    }
    if array.as_ptr().addr().is_multiple_of(element.size()) {
        return Ok(Array::new(element, array.into_memory()));
    }
    let mut copy = Array::zeroed(ElementType::U8, array.bytes())?;
    let memory = array.into_memory();
    copy.slice_mut::<u8>().copy_from_slice(memory.as_slice());
    Ok(Array::new(element, copy.into_memory()))
}

/// Bytes as truth values: all but 0 are true.
fn truths(bytes: &Array) -> Result<Array> {
    let mut truths = Array::zeroed(ElementType::Bool, bytes.len())?;
    let from = bytes.slice::<u8>();
    for (truth, &byte) in truths.slice_mut::<Bool8>().iter_mut().zip(from) {
        *truth = Bool8::from(byte != 0);
    }
    Ok(truths)
}

/// Whether all values are the same, bit for bit, and there are some to save.
pub(super) fn all_same<T: Element>(values: &[T]) -> bool {
    match values {
        [first, rest @ ..] if !rest.is_empty() => {
            let first = first.scalar();
            rest.iter().all(|value| value.scalar() == first)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for element in ElementType::ALL {
            for iso in [false, true] {
                let ty = DataType { element, iso };
                match DataType::of(element) {
                    Some(_) => assert_eq!(DataType::parse(&ty.name()), Some(ty)),
                    None => assert!(matches!(element, ElementType::F16 | ElementType::Bf16)),
                }
            }
        }
    }

    #[test]
    fn what_is_no_type_is_refused() {
        for name in [
            "",
            "float16",
            "complex[int32]",
            "iso[",
            "iso[iso[int8]]",
            "complex[iso[float32]]",
        ] {
            assert_eq!(DataType::parse(name), None, "{name}");
        }
    }

    #[test]
    fn complex_numbers_may_lie_anywhere() {
        let array = Array::from_vec(vec![1.0f64, 2.0, 3.0, 4.0]);
        let complex = reinterpret(array, ElementType::C128).unwrap();
        assert_eq!(complex.get(1).to_string(), "(3.0+4.0j)");
    }
}
