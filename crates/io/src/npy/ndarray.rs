//! The numbers after a header, brought to this machine's byte order.

use std::io::{ErrorKind, Read};

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_parallel::{Memory, map, ranges, split_mut};
use sparsec_tensor::Array;

use super::header::{Dtype, Header, shape_text};

/// Bytes that one thread copies at a time.
const GRAIN: usize = 4 << 20;

/// An array with a shape, as `.npy` files and members of `.npz` archives hold.
#[derive(Clone, Debug, PartialEq)]
pub struct NdArray {
    /// One extent a mode; none for a scalar.
    pub shape: Vec<u64>,
    /// Whether the first mode varies fastest, rather than the last.
    pub column_major: bool,
    /// The numbers, as many as the product of the extents.
    pub values: Array,
}

impl NdArray {
    /// The array of a whole `.npy` file. Numbers are copied once, in parallel,
    /// and turned where the file has the other byte order.
    ///
    /// # Errors
    /// `E0450` for what is no such file or has another length than its header
    /// promises, `E0451` for items that no element type stores, `E0407` when
    /// memory is out.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        let mut rest = bytes;
        let header = Header::read(&mut rest, name)?;
        Self::after(header, name, rest.len() as u64, |to| {
            copy(&rest[..to.len()], to);
            Ok(())
        })
    }

    /// As [`NdArray::from_bytes`], from a stream of so many bytes.
    pub(crate) fn from_stream(name: &str, source: &mut impl Read, length: u64) -> Result<Self> {
        let mut counted = source.take(length);
        let header = Header::read(&mut counted, name)?;
        let rest = counted.limit();
        Self::after(header, name, rest, |to| {
            counted
                .read_exact(to)
                .map_err(|error| unreadable(name, &error))
        })
    }

    /// The array of a header that `length` bytes follow, which `read` gives.
    fn after(
        header: Header,
        name: &str,
        length: u64,
        read: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<Self> {
        let Dtype::Number(element) = header.dtype else {
            return Err(Diagnostic::new(
                code::UNSUPPORTED_NPY_TYPE,
                format!("`{name}` is text, where an array of numbers is wanted"),
            ));
        };
        let mut memory = data(&header, name, length, read)?;
        if element == ElementType::Bool {
            // NumPy takes every byte but 0 for true, and may write any.
            for byte in memory.as_mut_slice::<u8>() {
                *byte = u8::from(*byte != 0);
            }
        }
        Ok(Self {
            values: Array::new(element, memory),
            shape: header.shape,
            column_major: header.column_major,
        })
    }

    /// The numbers of an array with one mode.
    ///
    /// # Errors
    /// The array's shape, where it has another number of modes.
    pub fn into_list(self) -> std::result::Result<Array, String> {
        match self.shape.len() {
            1 => Ok(self.values),
            _ => Err(shape_text(&self.shape)),
        }
    }
}

/// The text of a scalar of text, in a stream of so many bytes.
pub(crate) fn read_text(name: &str, source: &mut impl Read, length: u64) -> Result<String> {
    let mut counted = source.take(length);
    let header = Header::read(&mut counted, name)?;
    let fault = |what: &str| {
        let message = format!("`{name}` is {what}, where text is wanted");
        Diagnostic::new(code::UNSUPPORTED_NPY_TYPE, message)
    };
    if header.size(name)?.0 != 1 {
        return Err(fault("an array"));
    }
    let rest = counted.limit();
    let memory = data(&header, name, rest, |to| {
        counted
            .read_exact(to)
            .map_err(|error| unreadable(name, &error))
    })?;
    let text = match header.dtype {
        Dtype::Number(element) => return Err(fault(&format!("a number of type {element}"))),
        Dtype::Bytes(_) => String::from_utf8(memory.as_slice::<u8>().to_vec()).ok(),
        Dtype::Text(_) => memory
            .as_slice::<u32>()
            .iter()
            .map(|&letter| char::from_u32(letter))
            .collect(),
    };
    // NumPy pads the items of an array to one length with zeros.
    let text = text.map(|text| text.trim_end_matches('\0').to_owned());
    text.ok_or_else(|| fault("no Unicode text"))
}

/// The data that a header promises, if it is what there is.
fn data(
    header: &Header,
    name: &str,
    length: u64,
    read: impl FnOnce(&mut [u8]) -> Result<()>,
) -> Result<Memory> {
    let (_, bytes) = header.size(name)?;
    // Before memory is taken: a header may promise anything.
    if bytes as u64 != length {
        return Err(Diagnostic::new(
            code::BAD_NPY,
            format!("`{name}` has {length} bytes of data, not {bytes}"),
        )
        .note(format!(
            "its header promises {} items of {} bytes: shape {}",
            header.size(name)?.0,
            header.dtype.size().unwrap_or_default(),
            shape_text(&header.shape)
        ))
        .help("copy the file again if it was cut off"));
    }
    let mut memory = Memory::zeroed(bytes)?;
    read(memory.as_mut_slice())?;
    if header.swapped {
        let part = match header.dtype {
            Dtype::Number(element) if element.is_complex() => element.size() / 2,
            Dtype::Number(element) => element.size(),
            Dtype::Bytes(_) => 1,
            Dtype::Text(_) => 4,
        };
        swap(&mut memory, part);
    }
    Ok(memory)
}

fn unreadable(name: &str, error: &std::io::Error) -> Diagnostic {
    match error.kind() {
        ErrorKind::UnexpectedEof => {
            Diagnostic::new(code::BAD_NPY, format!("`{name}` ends before its data does"))
        }
        _ => Diagnostic::new(
            code::BAD_ARCHIVE,
            format!("`{name}` cannot be read: {error}"),
        ),
    }
}

fn copy(from: &[u8], to: &mut [u8]) {
    let parts = ranges(to.len(), GRAIN);
    let pieces = split_mut(to, parts.iter().map(ExactSizeIterator::len));
    let work = parts.into_iter().zip(pieces).collect();
    map(work, |(part, piece)| piece.copy_from_slice(&from[part]));
}

/// Turns the bytes of every number of so many bytes.
fn swap(memory: &mut Memory, size: usize) {
    macro_rules! swap {
        ($ty:ty) => {
            for value in memory.as_mut_slice::<$ty>() {
                *value = value.swap_bytes();
            }
        };
    }
    match size {
        2 => swap!(u16),
        4 => swap!(u32),
        8 => swap!(u64),
        _ => {}
    }
}
