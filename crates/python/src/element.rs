//! Types and values of NumPy as those of tensors, and back.
//!
//! | NumPy                               | here                            |
//! |-------------------------------------|---------------------------------|
//! | `bool`                              | `bool`                          |
//! | `int8` to `int64`, `uint8` to `uint64` | `i8` to `i64`, `u8` to `u64`  |
//! | `float16`, `float32`, `float64`     | `f16`, `f32`, `f64`             |
//! | `complex64`, `complex128`           | `c64`, `c128`                   |

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat};
use sparsec::{Diagnostic, ElementType, Scalar, code};

/// The element type that stores a type of NumPy.
///
/// # Errors
/// `E0451` for objects, text, dates and `longdouble`.
pub(crate) fn of_numpy(descr: &Bound<'_, PyArrayDescr>) -> sparsec::Result<ElementType> {
    use ElementType as E;
    let element = match (descr.kind(), descr.itemsize()) {
        (b'b', 1) => Some(E::Bool),
        (b'i', 1) => Some(E::I8),
        (b'i', 2) => Some(E::I16),
        (b'i', 4) => Some(E::I32),
        (b'i', 8) => Some(E::I64),
        (b'u', 1) => Some(E::U8),
        (b'u', 2) => Some(E::U16),
        (b'u', 4) => Some(E::U32),
        (b'u', 8) => Some(E::U64),
        (b'f', 2) => Some(E::F16),
        (b'f', 4) => Some(E::F32),
        (b'f', 8) => Some(E::F64),
        (b'c', 8) => Some(E::C64),
        (b'c', 16) => Some(E::C128),
        _ => None,
    };
    element.ok_or_else(|| {
        Diagnostic::new(
            code::UNSUPPORTED_NPY_TYPE,
            format!("no tensor stores values of dtype `{descr}`"),
        )
        .help("convert them with `.astype(...)` to bool, an integer, a float or a complex type")
    })
}

/// NumPy's name of an element type.
pub(crate) fn numpy_name(element: ElementType) -> &'static str {
    use ElementType as E;
    match element {
        E::Bool => "bool",
        E::I8 => "int8",
        E::I16 => "int16",
        E::I32 => "int32",
        E::I64 => "int64",
        E::U8 => "uint8",
        E::U16 => "uint16",
        E::U32 => "uint32",
        E::U64 => "uint64",
        E::F16 => "float16",
        E::Bf16 => "bfloat16",
        E::F32 => "float32",
        E::F64 => "float64",
        E::C64 => "complex64",
        E::C128 => "complex128",
    }
}

/// The element type with NumPy's name, or with ours.
///
/// # Errors
/// `E0451` for a name of none.
pub(crate) fn of_name(name: &str) -> sparsec::Result<ElementType> {
    let mut known = ElementType::ALL.into_iter();
    known
        .find(|element| numpy_name(*element) == name || element.name() == name)
        .ok_or_else(|| {
            let message = format!("no tensor stores values of dtype `{name}`");
            Diagnostic::new(code::UNSUPPORTED_NPY_TYPE, message).help(ElementType::advice(name))
        })
}

/// A value as a Python number.
pub(crate) fn to_python<'py>(py: Python<'py>, value: Scalar) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Scalar::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Scalar::C64(_) | Scalar::C128(_) => {
            let value = value.to_c128();
            PyComplex::from_doubles(py, value.re, value.im).into_any()
        }
        _ => match value.to_integer() {
            Some(integer) if !value.element().is_float() => integer.into_pyobject(py)?.into_any(),
            _ => PyFloat::new(py, value.to_f64()).into_any(),
        },
    })
}
