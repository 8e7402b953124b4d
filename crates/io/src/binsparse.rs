//! Binsparse: tensors as named arrays with a JSON descriptor, in HDF5 or `.npz`.
//!
//! It is the interchange format of sparse libraries: the arrays of a tensor lie
//! in a container as they lie in memory, and a descriptor says what they mean.
//!
//! ```text
//! a.bsp.h5
//!   "binsparse"      {"format": "CSR", "shape": [4, 5], "data_types": {…}, …}
//!   pointers_to_1    0 1 1 3 3        level 1: pos            csr, 4x5
//!   indices_1        1 0 4            level 1: crd    ◄──►    1.pos, 1.crd, vals
//!   values           2 3 5            vals
//! ```
//!
//! | module       | holds                                                        |
//! |--------------|--------------------------------------------------------------|
//! | `json`       | JSON values that know where they stand                       |
//! | `descriptor` | what a descriptor says, checked; and how it is written       |
//! | `levels`     | Binsparse's level trees and our formats: one mapping         |
//! | `types`      | the types of arrays, and the numbers that stand for them     |
//! | `container`  | where descriptor and arrays lie: HDF5 groups, `.npz` members |
//! | `read`       | arrays to a tensor                                           |
//! | `write`      | a tensor to arrays                                           |
//!
//! What is read: every predefined format and every `custom` level tree, all
//! types with `complex` and `iso`, a fill, and half-stored matrices, whose other
//! half is added unless [`ReadOptions::keep_structure`] says otherwise. Index
//! arrays are taken as they are where our formats have their type; those of
//! `uint64` are, too, after a look at every number. Coordinates that are not
//! sorted, though they should be, are sorted; ones that repeat are refused.
//!
//! What is written: tensors whose levels are dense, or compressed and singleton
//! in order and unique, with the types that Binsparse has. Values that are all
//! the same, bit for bit, are written once, as `iso`.
//! Where [`WriteOptions::structure`] asks for it, the lower triangle of a matrix that
//! has the structure is written instead of the whole.
//!
//! [`WriteOptions::structure`]: crate::WriteOptions::structure
//!
//! Widths of index arrays survive as the types of the arrays: 8 and 16 bits read
//! back as declared widths, 32 and 64 as the default.
//!
//! Source: the Binsparse specification, version 0.1,
//! <https://graphblas.org/binsparse-specification/>.
//!
//! ```
//! use sparsec_format::Format;
//! use sparsec_tensor::{PackOptions, Tensor};
//! let folder = tempfile::tempdir().expect("a temporary directory");
//! let path = folder.path().join("a.bsp.h5");
//! let a = Tensor::pack(&Format::csc(), &[4, 5], &[0, 1, 2, 0, 2, 4], &[2.0, 3.0, 5.0])?;
//! sparsec_io::write(&path, &a)?;
//! let file = sparsec_io::read_as(&path, None)?;
//! assert_eq!(file.into_tensor(&Format::csc(), PackOptions::default())?, a);
//! # Ok::<(), sparsec_base::Diagnostic>(())
//! ```

mod container;
mod descriptor;
mod json;
mod levels;
mod read;
mod types;
mod write;

use sparsec_base::Result;

use crate::content::FileTensor;
use crate::file_type::{FileType, Writer};
use crate::hdf5;
use crate::input::Input;
use crate::npz::Archive;
use crate::options::ReadOptions;
use container::{Group, Members};

/// The name of the descriptor in its container.
pub(crate) const DESCRIPTOR: &str = "binsparse";

/// Binsparse in HDF5.
pub(crate) const HDF5: FileType = FileType {
    endings: &[".bsp.h5", ".h5", ".hdf5"],
    summary: "Binsparse in HDF5: tensors in most formats, as they lie in memory",
    is_text: false,
    by_path: true,
    read: |input, options| {
        let file = hdf5::File::open(input)?;
        read::read(&Group::find(&file, options.group.as_deref())?, options)
    },
    writer: Some(Writer {
        check: write::check,
        write: |tensor, options, output| {
            write::write(tensor, options, hdf5::Writer::create(output.path())?)
        },
    }),
};

/// Binsparse in `.npz` archives.
pub(crate) const NPZ: FileType = FileType {
    endings: &[".bsp.npz"],
    summary: "Binsparse in a NumPy archive: the same arrays",
    is_text: false,
    by_path: false,
    read: |input, options| read_archive(&archive(input)?, options),
    writer: Some(Writer {
        check: write::check,
        write: |tensor, options, output| {
            write::write(tensor, options, crate::npz::ArchiveWriter::new(output))
        },
    }),
};

fn archive(input: &Input) -> Result<Archive<'_>> {
    Archive::open(input.name(), input.bytes())
}

/// The tensor of an archive with a member [`DESCRIPTOR`].
///
/// # Errors
/// `E0460` to `E0463` for what is wrong with it, `E0466` for a type asked for
/// that would lose values.
pub(crate) fn read_archive(archive: &Archive<'_>, options: &ReadOptions) -> Result<FileTensor> {
    read::read(&Members(archive), options)
}
