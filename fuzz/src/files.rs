//! Targets for the readers of files, and for the writers, which write the tensors read.
//!
//! ```text
//! bytes ──read──► refused, drawn
//!           └───► tensor ──write──► file ──read──► the same tensor
//! ```
//!
//! A written file has to read back to the same tensor, whatever file that came from. Each
//! input is written to one type of file, which its bytes choose.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use sparsec::{Format, MemoryLimit, PackOptions, Tensor};
use sparsec_io::{FILE_TYPES, FileTensor, Input, ReadOptions, WriteOptions};

use crate::choices::Choices;
use crate::texts::drawn;

/// The memory that a file of some kilobytes and the tensor of its entries may take.
const MEMORY: MemoryLimit = MemoryLimit::Bytes(64 << 20);
/// The most places that a dense copy is made for.
const MOST_PLACES: u64 = 1 << 16;

/// Matrix Market.
pub fn mtx(input: &[u8]) {
    read(".mtx", input);
}

/// FROSTT.
pub fn tns(input: &[u8]) {
    read(".tns", input);
}

/// Rutherford–Boeing.
pub fn rutherford_boeing(input: &[u8]) {
    read(".rb", input);
}

/// Arrays of NumPy.
pub fn npy(input: &[u8]) {
    read(".npy", input);
}

/// Archives of arrays.
pub fn npz(input: &[u8]) {
    read(".npz", input);
}

/// Binsparse in archives of arrays.
pub fn binsparse_npz(input: &[u8]) {
    read(".bsp.npz", input);
}

/// Binsparse in HDF5, which is read from a file.
pub fn hdf5(input: &[u8]) {
    read_file("bsp.h5", input);
}

/// Compressed text: the first byte chooses the type of file and the compression.
pub fn compressed(input: &[u8]) {
    let mut choices = Choices::new(input);
    let endings = [
        "mtx.gz", "tns.gz", "mtx.zst", "tns.zst", "mtx", "tns", "rb.gz",
    ];
    let ending = choices.one_of(&endings);
    read_file(ending, input.get(1..).unwrap_or_default());
}

/// Reads a file of these bytes, by its name.
fn read_file(ending: &str, bytes: &[u8]) {
    let path = scratch(ending);
    std::fs::write(&path, bytes).expect("a scratch file");
    let file = drawn(sparsec_io::read(&path, &options()));
    let _ = std::fs::remove_file(path);
    if let Some(file) = file {
        follow(file, bytes);
    }
}

fn options() -> ReadOptions {
    ReadOptions {
        memory: MEMORY,
        ..ReadOptions::default()
    }
}

/// Reads bytes as a file of one type, in the two ways that there are.
fn read(ending: &str, input: &[u8]) {
    let mut types = FILE_TYPES.iter();
    let file_type = types
        .find(|ty| ty.endings.contains(&ending))
        .expect("a type of files");
    for keep_structure in [false, true] {
        let options = ReadOptions {
            keep_structure,
            ..options()
        };
        let bytes = Input::from_bytes(&format!("input{ending}"), input.to_vec());
        if let Some(file) = drawn((file_type.read)(&bytes, &options)) {
            follow(file, input);
        }
    }
}

/// Packs the file that was read, and writes the tensor.
fn follow(file: FileTensor, input: &[u8]) {
    let order = file.order();
    let options = PackOptions {
        memory: MEMORY,
        ..PackOptions::default()
    };
    if drawn(sparsec_base::check_order(order)).is_none() {
        return;
    }
    let Some(tensor) = drawn(file.into_tensor(&Format::scoo(order), options)) else {
        return;
    };
    drawn(tensor.statistics().map(|_| ()));
    let places = tensor
        .extents()
        .iter()
        .try_fold(1u64, |n, extent| n.checked_mul(*extent));
    let is_small = places.is_some_and(|places| places <= MOST_PLACES);
    let dense = is_small
        .then(|| drawn(tensor.convert(&Format::dense(order))))
        .flatten();
    if let Some(dense) = &dense {
        assert!(dense.fill() != tensor.fill() || dense.same_entries(&tensor));
    }
    let chosen = input
        .iter()
        .fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte));
    write_and_read(
        dense
            .as_ref()
            .filter(|_| chosen & 64 > 0)
            .unwrap_or(&tensor),
        chosen,
    );
}

/// Writes a tensor to the type of file that a byte chooses, and reads it.
fn write_and_read(tensor: &Tensor, chosen: u8) {
    let written = FILE_TYPES.iter().filter(|ty| ty.writer.is_some());
    let mut endings: Vec<String> = written.map(|ty| ty.endings[0].to_owned()).collect();
    endings.extend([".mtx.gz".to_owned(), ".tns.zst".to_owned()]);
    let ending = &endings[usize::from(chosen) % endings.len()];
    let path = scratch(&ending[1..]);
    let options = WriteOptions {
        states_extents: true,
        ..WriteOptions::default()
    };
    let staged = drawn(sparsec_io::stage(&path, tensor, &options));
    let Some(()) = staged.and_then(|staged| drawn(staged.commit())) else {
        return;
    };
    let options = ReadOptions {
        element: Some(tensor.element()),
        extents: Some(tensor.extents().iter().copied().map(Some).collect()),
        memory: MEMORY,
        ..ReadOptions::default()
    };
    let again = sparsec_io::read(&path, &options).and_then(|file| {
        let options = PackOptions {
            fill: Some(tensor.fill()),
            ..PackOptions::default()
        };
        file.into_tensor(&Format::scoo(tensor.order()), options)
    });
    let again = again.unwrap_or_else(|refusal| panic!("{ending} is refused:\n{refusal}"));
    assert_eq!(again.extents(), tensor.extents(), "{ending}");
    assert!(
        again.same_entries(tensor),
        "{ending} reads back as\n{again}\nin place of\n{tensor}"
    );
    let _ = std::fs::remove_file(path);
}

/// A new path in a folder of this process.
fn scratch(ending: &str) -> PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a scratch folder"));
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    folder.path().join(format!("{number}.{ending}"))
}
