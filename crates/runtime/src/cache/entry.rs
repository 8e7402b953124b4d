//! The file of a kernel: a library, and what proves it whole.
//!
//! ```text
//! ┌──────────────────────┬──────────────────────────────┬──────────┐
//! │ the shared library   │ SHA-256 of key and library   │ SPARSEC2 │
//! └──────────────────────┴──────────────────────────────┴──────────┘
//! ```
//!
//! Loaders ignore what is behind a library. The key is part of the checksum, so
//! a whole file under another kernel's name is no entry either.
//!
//! A file is read once. The bytes that were compared with the checksum are then loaded
//! (`library`), even if the name leads to another file by that time.

use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::io;
use std::path::PathBuf;

use super::folder::{Folder, may_be_long, read_all, write_all};
use crate::clock;
use crate::key::{Key, checksum};

/// The end of every kernel's file.
const MARK: &[u8; 8] = b"SPARSEC2";
/// Bytes of checksum and mark.
const TRAILER: usize = 32 + MARK.len();

/// A library that was read.
#[derive(Debug)]
pub(crate) struct Library {
    /// The library, and maybe the trailer behind it, which loaders ignore.
    pub(crate) bytes: Vec<u8>,
    /// The file that they were read from.
    pub(crate) file: File,
    /// Where that was, for people to read.
    pub(crate) path: PathBuf,
}

/// Appends checksum and mark to the library in `name`. Returns the length of the file.
pub(super) fn seal(folder: &Folder, name: &str, key: Key) -> io::Result<u64> {
    let file = folder.append(name)?;
    let library = read_all(&file)?;
    let bytes = (library.len() + TRAILER) as u64;
    may_be_long(bytes)?;
    write_all(&file, &trailer(key, &library))?;
    Ok(bytes)
}

/// The file `name` if it is the entry `key`, whole. If so, it counts as used now.
pub(super) fn find(folder: &Folder, name: &OsStr, path: PathBuf, key: Key) -> Option<Library> {
    let file = folder.open(name).ok()?;
    let bytes = read_all(&file).ok()?;
    if !proves(&bytes, key) {
        return None;
    }
    // Where times cannot be set, as on a read-only disk, nothing is removed either.
    let _ = file.set_times(FileTimes::new().set_modified(clock::date()));
    Some(Library { bytes, file, path })
}

fn proves(bytes: &[u8], key: Key) -> bool {
    bytes
        .len()
        .checked_sub(TRAILER)
        .is_some_and(|at| bytes[at..] == trailer(key, &bytes[..at]))
}

fn trailer(key: Key, library: &[u8]) -> [u8; TRAILER] {
    let mut trailer = [0; TRAILER];
    trailer[..32].copy_from_slice(&checksum(&[key.bytes(), library]));
    trailer[32..].copy_from_slice(MARK);
    trailer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyBuilder;

    #[test]
    fn every_damage_shows() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::at_path(scratch.path()).unwrap();
        let file = scratch.path().join("kernel.so");
        let (key, other) = (KeyBuilder::new("a").finish(), KeyBuilder::new("b").finish());
        let is_whole = |key| find(&folder, OsStr::new("kernel.so"), file.clone(), key).is_some();
        std::fs::write(&file, b"a library").unwrap();
        assert!(!is_whole(key));
        seal(&folder, "kernel.so", key).unwrap();
        assert!(is_whole(key) && !is_whole(other));
        let whole = std::fs::read(&file).unwrap();
        for cut in 0..whole.len() {
            assert!(!proves(&whole[..cut], key), "cut at {cut}");
        }
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(!proves(&damaged, key), "bit {bit}");
        }
        let longer = [&whole[..], b"x"].concat();
        assert!(!proves(&longer, key));
    }
}
