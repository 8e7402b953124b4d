//! HDF5 files: arrays of numbers by path, and text attributes of groups.
//!
//! HDF5 is a file system in a file: groups hold datasets and other groups, and
//! all of them have attributes. What is needed of it here is little:
//!
//! ```text
//! /                     attribute "binsparse" = "{ … }"      File::attribute
//! ├── pointers_to_1     int32[5]                             File::array
//! ├── indices_1         int32[3], in chunks, deflated
//! └── values            float64[3]
//! ```
//!
//! The crate `rust-hdf5` reads and writes the format itself. It is called in
//! one place, [`contained`], because it is large and a file is data from
//! strangers: an error of its own and a panic over damaged metadata both end as
//! `E0464`. A process whose panics print more than that asks [`expects_panic`].
//!
//! Before an array is read its size is weighed against the file: no more bytes
//! than the file has, or than deflate can make of them. Data in other files is
//! never followed, so reading a file opens no other.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use rust_hdf5::{
    DatatypeMessage, FileLocking, H5Dataset, H5File, H5Group, LinkClass, StorageLayout,
};
use sparsec_base::cancel::is_end;
use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_tensor::Array;

use crate::input::{Input, open};

/// The bytes that each file begins with.
const SIGNATURE: &[u8] = b"\x89HDF\r\n\x1a\n";

/// The most bytes that one byte of deflated data expands to.
const DEFLATE_RATIO: u64 = 1032;

/// Chunks up to this size are read whatever the size of the file.
const SMALL: u64 = 1 << 20;

/// Runs a body once with the Rust type that stores an element type, for those
/// types that HDF5 arrays have here.
macro_rules! with_number {
    ($element:expr, $T:ident => $body:expr, else $other:expr) => {
        with_number!(@ $element, $T, $body, $other,
            I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64,
            F32: f32, F64: f64)
    };
    (@ $element:expr, $T:ident, $body:expr, $other:expr, $($kind:ident: $ty:ty),*) => {
        match $element {
            $(ElementType::$kind => { type $T = $ty; $body })*
            _ => $other,
        }
    };
}

/// An HDF5 file that is read.
pub(crate) struct File {
    name: String,
    /// How many bytes the file has.
    length: u64,
    file: H5File,
}

impl File {
    /// Opens a file.
    ///
    /// # Errors
    /// `E0464` if the file is damaged or no HDF5 file, `E0420` if the system refuses.
    pub(crate) fn open(input: &Input) -> Result<Self> {
        let (file, data) = open(input.path())?;
        if !has_signature(&file, data.len()) {
            let message = format!("`{}` is no HDF5 file", input.name());
            return Err(Diagnostic::new(code::BAD_HDF5, message).help(
                "rename the file to the ending of its type, or copy it again if it is damaged",
            ));
        }
        let options = H5File::options().locking(FileLocking::Disabled);
        let file = contained(input.name(), || options.open(input.path()))?;
        Ok(Self {
            name: input.name().to_owned(),
            length: data.len(),
            file,
        })
    }

    /// The name of the file, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn fault(&self, message: String) -> Diagnostic {
        Diagnostic::new(code::BAD_HDF5, format!("`{}`: {message}", self.name))
    }

    fn group(&self, path: &str) -> rust_hdf5::Result<H5Group> {
        let mut group = self.file.root_group();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            group = group.group(name)?;
        }
        Ok(group)
    }

    /// The text of an attribute of a group; `None` where there is none.
    ///
    /// # Errors
    /// `E0464` for an attribute that is no text, and damage.
    pub(crate) fn attribute(&self, group: &str, name: &str) -> Result<Option<String>> {
        contained(&self.name, || {
            let group = self.group(group)?;
            match group.attr_names()?.iter().any(|found| found == name) {
                true => group.attr_string(name).map(Some),
                false => Ok(None),
            }
        })
    }

    /// The paths of the groups just below the root.
    pub(crate) fn groups(&self) -> Result<Vec<String>> {
        contained(&self.name, || self.file.root_group().group_names())
    }

    /// The numbers of a dataset with one extent or none, in the order of this
    /// machine's bytes; `None` where there is no such dataset.
    ///
    /// # Errors
    /// `E0464` for datasets that are not read and for damage, `E0407` when
    /// memory is out.
    pub(crate) fn array(&self, group: &str, name: &str) -> Result<Option<Array>> {
        let path = format!("{}/{name}", group.trim_matches('/'));
        let path = path.trim_start_matches('/');
        let link = contained(&self.name, || {
            let group = self.group(group)?;
            match group.link_names()?.iter().any(|found| found == name) {
                true => group.link_class(name).map(Some),
                false => Ok(None),
            }
        })?;
        match link {
            None => return Ok(None),
            Some(LinkClass::Hard) => {}
            Some(_) => {
                let message = format!("`{path}` is a link to somewhere else");
                return Err(self
                    .fault(message)
                    .help("replace the link with a copy of the array"));
            }
        }
        let dataset = contained(&self.name, || self.file.dataset(path))?;
        let (element, length) = self.describe(&dataset, path)?;
        let mut array = Array::zeroed(element, length)?;
        if length > 0 {
            contained(&self.name, || {
                with_number!(element, T => dataset.read_raw_into(array.slice_mut::<T>()),
                    else unreachable!("`element_of` gives numbers only"))
            })
            .map_err(|error| self.with_filters(error, &dataset, path))?;
        }
        Ok(Some(array))
    }

    /// Type and length of a dataset that can be read and is no larger than the
    /// file can hold.
    fn describe(&self, dataset: &H5Dataset, path: &str) -> Result<(ElementType, usize)> {
        let (datatype, layout, external, chunk) = contained(&self.name, || {
            Ok((
                dataset.datatype()?,
                dataset.storage_layout()?,
                !dataset.external_files()?.is_empty(),
                dataset.chunk_dims().unwrap_or_default(),
            ))
        })?;
        let Some(element) = element_of(&datatype) else {
            let message = format!("`{path}` holds {datatype}, neither integers nor floats");
            return Err(self
                .fault(message)
                .help("convert the array to integers or floats of 8 to 64 bits"));
        };
        if external || layout == StorageLayout::Virtual {
            let message = format!("the data of `{path}` lies in other files");
            return Err(self
                .fault(message)
                .help("read the array, with `h5py` for example, and write it into one file"));
        }
        let shape = dataset.shape();
        if shape.len() > 1 {
            let message = format!("`{path}` has {} extents, not one", shape.len());
            return Err(self
                .fault(message)
                .help("write the array with one extent, as `x.reshape(-1)`"));
        }
        let is_null = contained(&self.name, || Ok(dataset.is_null()))?;
        let length = match is_null {
            true => 0,
            false => shape.first().copied().unwrap_or(1),
        };
        let limit = match layout {
            StorageLayout::Chunked => self.length.saturating_mul(DEFLATE_RATIO).max(SMALL),
            _ => self.length,
        };
        let chunk = chunk.into_iter().fold(1, usize::saturating_mul);
        let entries = length.max(match layout {
            StorageLayout::Chunked => chunk,
            _ => 0,
        });
        if (entries as u64).saturating_mul(element.size() as u64) > limit {
            let message = format!(
                "`{path}` claims {entries} numbers, more than a file of {} bytes holds",
                self.length
            );
            return Err(self
                .fault(message)
                .help("copy the file again: it may be cut off"));
        }
        Ok((element, length))
    }

    /// Names the filters of a dataset that could not be read.
    fn with_filters(&self, error: Diagnostic, dataset: &H5Dataset, path: &str) -> Diagnostic {
        let filters = contained(&self.name, || dataset.filters()).unwrap_or_default();
        if filters.is_empty() {
            return error;
        }
        let names: Vec<String> = filters
            .iter()
            .map(|filter| filter_name(filter.id))
            .collect();
        error
            .note(format!("`{path}` is stored through {}", names.join(", ")))
            .help("`h5repack -f NONE OLD NEW` writes the file again without filters")
    }
}

/// Whether a signature stands where one may: at 0, or after a block of the
/// user's, whose size is 512 bytes or a power of two above.
fn has_signature(file: &fs::File, length: u64) -> bool {
    let starts = std::iter::successors(Some(512), |at: &u64| at.checked_mul(2));
    let mut found = [0; SIGNATURE.len()];
    std::iter::once(0)
        .chain(starts)
        .take_while(|&at| at < length)
        .any(|at| file.read_exact_at(&mut found, at).is_ok() && found == SIGNATURE)
}

/// The element type whose values a datatype of HDF5 has, if there is one.
fn element_of(datatype: &DatatypeMessage) -> Option<ElementType> {
    match *datatype {
        DatatypeMessage::FixedPoint {
            size,
            signed,
            bit_offset: 0,
            bit_precision,
            ..
        } if u32::from(bit_precision) == 8 * size => Some(match (size, signed) {
            (1, true) => ElementType::I8,
            (2, true) => ElementType::I16,
            (4, true) => ElementType::I32,
            (8, true) => ElementType::I64,
            (1, false) => ElementType::U8,
            (2, false) => ElementType::U16,
            (4, false) => ElementType::U32,
            (8, false) => ElementType::U64,
            _ => return None,
        }),
        DatatypeMessage::FloatingPoint {
            size: 4,
            exponent_size: 8,
            mantissa_size: 23,
            exponent_bias: 127,
            ..
        } => Some(ElementType::F32),
        DatatypeMessage::FloatingPoint {
            size: 8,
            exponent_size: 11,
            mantissa_size: 52,
            exponent_bias: 1023,
            ..
        } => Some(ElementType::F64),
        // Truth values of NumPy are an enumeration over bytes.
        DatatypeMessage::Enum { ref base, .. } => element_of(base),
        _ => None,
    }
}

fn filter_name(id: u16) -> String {
    let known = match id {
        1 => "deflate",
        2 => "shuffle",
        3 => "Fletcher-32",
        4 => "szip",
        5 => "n-bit",
        6 => "scale-offset",
        32000 => "LZF",
        32001 => "Blosc",
        32004 => "LZ4",
        32008 => "bitshuffle",
        32015 => "Zstandard",
        _ => return format!("filter {id}"),
    };
    known.to_owned()
}

/// An HDF5 file that is written.
pub(crate) struct Writer {
    /// The file, until it is completed.
    file: Option<H5File>,
}

impl Writer {
    /// Begins a file in place of what the path has.
    pub(crate) fn create(path: &Path) -> std::io::Result<Self> {
        let options = H5File::options()
            .locking(FileLocking::Disabled)
            .track_times(false);
        let file = written(|| options.create(path))?;
        Ok(Self { file: Some(file) })
    }

    fn with<R>(&self, call: impl FnOnce(&H5File) -> rust_hdf5::Result<R>) -> std::io::Result<R> {
        let Some(file) = &self.file else {
            unreachable!("a file is taken when it is completed or dropped");
        };
        written(|| call(file))
    }

    /// Writes a dataset below the root: numbers of type `element`, whose bytes
    /// are given as this machine has them.
    pub(crate) fn array(
        &mut self,
        name: &str,
        element: ElementType,
        bytes: &[u8],
    ) -> std::io::Result<()> {
        self.with(|file| {
            let length = bytes.len() / element.size();
            let dataset = with_number!(element, T => {
                file.new_dataset::<T>().shape([length]).create(name)?
            }, else {
                let message = format!("{element} is no type of HDF5");
                return Err(rust_hdf5::Hdf5Error::TypeMismatch(message));
            });
            match length {
                0 => Ok(()),
                _ => dataset.write_raw_bytes(bytes),
            }
        })
    }

    /// Gives the root an attribute.
    pub(crate) fn attribute(&mut self, name: &str, text: &str) -> std::io::Result<()> {
        self.with(|file| file.set_attr_string(name, text))
    }

    /// Completes the file.
    pub(crate) fn finish(mut self) -> std::io::Result<()> {
        let file = self.file.take();
        file.map_or(Ok(()), |file| written(|| file.close_no_sync()))
    }
}

/// A file that is given up, as on a full disk, is closed here: the library would
/// close it too, but print a line of its own where that fails as well.
impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let _ = written(|| file.flush());
            let _ = written(|| file.close_no_sync());
        }
    }
}

thread_local! {
    /// Whether this thread is inside of the library.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread becomes an error: the thread is inside of the library that reads
/// and writes HDF5, which panics over some damaged files. A hook for panics need not report it.
///
/// ```
/// assert!(!sparsec_io::expects_panic());
/// ```
pub fn expects_panic() -> bool {
    IS_INSIDE.get()
}

/// Calls the library; `None` if it panics. A cancelled call unwinds on.
fn inside<R>(call: impl FnOnce() -> rust_hdf5::Result<R>) -> Option<rust_hdf5::Result<R>> {
    let before = IS_INSIDE.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    IS_INSIDE.set(before);
    match result {
        Err(payload) if is_end(&*payload) => resume_unwind(payload),
        result => result.ok(),
    }
}

/// Calls the library to read: its errors and panics become `E0464`.
fn contained<R>(name: &str, call: impl FnOnce() -> rust_hdf5::Result<R>) -> Result<R> {
    let reason = match inside(call) {
        Some(Ok(result)) => return Ok(result),
        Some(Err(error)) => error.to_string(),
        None => "its structures contradict each other".to_owned(),
    };
    let message = format!("`{name}` cannot be read: {reason}");
    Err(Diagnostic::new(code::BAD_HDF5, message).help(
        "copy the file again if it is damaged; `h5dump -H -p` shows the features that it uses",
    ))
}

/// Calls the library to write.
fn written<R>(call: impl FnOnce() -> rust_hdf5::Result<R>) -> std::io::Result<R> {
    match inside(call) {
        Some(Ok(result)) => Ok(result),
        Some(Err(error)) => {
            // What the system said, without the layers that it came through.
            let text = error.to_string();
            let reason = text.rsplit("I/O error: ").next().unwrap_or_default();
            Err(std::io::Error::other(reason.to_owned()))
        }
        None => Err(std::io::Error::other("the HDF5 library gave up")),
    }
}
