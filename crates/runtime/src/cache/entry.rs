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

use std::fs::{File, FileTimes, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::SystemTime;

use super::work::may_be_long;
use crate::key::{Key, checksum};

/// The end of every kernel's file.
const MARK: &[u8; 8] = b"SPARSEC2";
/// Bytes of checksum and mark.
const TRAILER: usize = 32 + MARK.len();

/// Puts checksum and mark behind the library in `file`.
pub(super) fn seal(file: &Path, key: Key) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(file)?;
    let mut library = Vec::new();
    file.read_to_end(&mut library)?;
    may_be_long(library.len() + TRAILER)?;
    file.write_all(&trailer(key, &library))
}

/// Whether `path` is the entry `key`, whole. If so, it counts as used now.
pub(super) fn is_whole(path: &Path, key: Key) -> bool {
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let mut bytes = Vec::new();
    let whole = file.read_to_end(&mut bytes).is_ok() && proves(&bytes, key);
    if whole {
        // Where times cannot be set, as on a read-only disk, nothing is removed
        // either.
        let _ = file.set_times(FileTimes::new().set_modified(SystemTime::now()));
    }
    whole
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
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kernel.so");
        let (key, other) = (KeyBuilder::new("a").finish(), KeyBuilder::new("b").finish());
        std::fs::write(&file, b"a library").unwrap();
        assert!(!is_whole(&file, key));
        seal(&file, key).unwrap();
        assert!(is_whole(&file, key) && !is_whole(&file, other));
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
