//! NumPy's `.npy` files: one dense array.
//!
//! ```text
//! shape (3, 4), fortran_order False   ──►  (i, j) -> (i : dense, j : dense)
//! shape (3, 4), fortran_order True    ──►  (i, j) -> (j : dense, i : dense)
//! ```
//!
//! Numbers are copied once and keep their bits. A dense tensor of any mode
//! order is written; orders that are neither the first nor the last mode first
//! are written with the last one varying fastest.
//!
//! | module       | holds                                          |
//! |--------------|------------------------------------------------|
//! | `header`     | what the bytes of a file are                   |
//! | `dictionary` | the text in which a header says so             |
//! | `ndarray`    | the numbers, in the byte order of this machine |

use std::io::{self, Write};

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_format::Format;
use sparsec_tensor::Tensor;

mod dictionary;
pub(crate) mod header;
pub(crate) mod ndarray;

pub use ndarray::NdArray;

use crate::cast::cast;
use crate::content::{FileTensor, Structure};
use crate::file_type::{FileType, Writer};
use crate::input::Input;
use crate::options::{ReadOptions, WriteOptions};
use crate::output::Output;
use header::{Dtype, Header};

/// NumPy arrays.
pub(crate) const TYPE: FileType = FileType {
    endings: &[".npy"],
    summary: "a dense array of NumPy",
    is_text: false,
    by_path: false,
    read,
    writer: Some(Writer { check, write }),
};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 16;

fn read(input: &Input, options: &ReadOptions) -> Result<FileTensor> {
    let mut array = NdArray::from_bytes(input.name(), input.bytes())?;
    if let Some(element) = options.element {
        array.values = cast(array.values, element, input.name())?;
    }
    Ok(FileTensor::of_tensor(tensor(array)?))
}

/// The dense tensor that has the numbers of an array as they lie.
pub(crate) fn tensor(array: NdArray) -> Result<Tensor> {
    let order = array.shape.len();
    let mut format = Format::dense(order);
    if array.column_major && order > 1 {
        let modes: Vec<usize> = (0..order).rev().collect();
        format = format.with_mode_order(&modes)?;
    }
    let element = array.values.element();
    let fill = element.zero();
    Tensor::new(format, array.shape, element, fill, vec![array.values])
}

fn check(tensor: &Tensor, options: &WriteOptions) -> Result<()> {
    let refused = |what: String| Diagnostic::new(code::NOT_EXPRESSIBLE_IN_NPY, what);
    check_structure(options)?;
    if tensor.format().has_sparse() {
        return Err(refused(format!(
            "a `.npy` file holds dense tensors, not one in `{}`",
            tensor.format().arrangement()
        ))
        .help("write a `.npz` file, which holds every format, or store it in the format `dense`"));
    }
    if tensor.element() == ElementType::Bf16 {
        return Err(refused("NumPy has no `bf16`".to_owned())
            .help("write a `.npz` file, or convert the values to `f32`, which loses nothing"));
    }
    Ok(())
}

/// Refuses to state a structure, which arrays do not have.
pub(crate) fn check_structure(options: &WriteOptions) -> Result<()> {
    match options.structure {
        Structure::General => Ok(()),
        structure => Err(Diagnostic::new(
            code::NOT_EXPRESSIBLE_IN_NPY,
            format!("NumPy's files do not say that a matrix is {structure}"),
        )
        .help("write a `.mtx` file, or every entry (`Structure::General`)")),
    }
}

fn write(tensor: &Tensor, _: &WriteOptions, output: &mut Output) -> io::Result<()> {
    let modes = tensor.format().level_order();
    let header = Header {
        dtype: Dtype::Number(tensor.element()),
        swapped: false,
        column_major: modes.len() > 1 && modes.is_sorted_by(|a, b| a > b),
        shape: tensor.extents().to_vec(),
    };
    output.write_all(&header.write())?;
    match header.column_major || modes.is_sorted() {
        true => output.write_all(tensor.vals().as_bytes()),
        false => write_row_major(tensor, &modes, output),
    }
}

/// Writes a dense tensor of any mode order with the last mode varying fastest.
fn write_row_major(tensor: &Tensor, modes: &[usize], output: &mut Output) -> io::Result<()> {
    let (extents, bytes) = (tensor.extents(), tensor.vals().as_bytes());
    let size = tensor.element().size();
    // How many bytes apart neighbours along each mode are.
    let mut strides = vec![0; modes.len()];
    let mut stride = size;
    for &mode in modes.iter().rev() {
        strides[mode] = stride;
        stride *= extents[mode] as usize;
    }
    let mut coords = vec![0; modes.len()];
    let mut at = 0;
    let mut buffer = Vec::with_capacity(BUFFER);
    for _ in 0..tensor.n_stored() {
        buffer.extend_from_slice(&bytes[at..at + size]);
        if buffer.len() >= BUFFER {
            output.write_all(&buffer)?;
            buffer.clear();
        }
        for mode in (0..coords.len()).rev() {
            coords[mode] += 1;
            at += strides[mode];
            if coords[mode] < extents[mode] {
                break;
            }
            at -= strides[mode] * coords[mode] as usize;
            coords[mode] = 0;
        }
    }
    output.write_all(&buffer)
}
