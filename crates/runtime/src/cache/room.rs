//! How much a cache holds, and removing what was not used for longest.
//!
//! A kernel's time of change is when it was last used (`entry` sets it). Looking
//! at every file after each compile would be slow in a large cache, so a small
//! file, `written`, grows by one byte for each kilobyte that is added; only when
//! that says a sixteenth of the bound is the cache gone through:
//!
//! ```text
//! bytes   ........................................ bound
//!                                           /|  /|
//!                                          / | / |   gone through: the oldest
//!                                         /  |/  |   go, down to 15/16
//! ```
//!
//! Two processes that go through it at once remove the same files.
//!
//! No process finds the kernels of an older version of sparsec any more, so [`remove_stale`]
//! removes their folder at once. Kernels of a newer version stay: otherwise two versions that
//! share a cache would remove each other's.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::directory::{Directory, version};
use super::folder::{Folder, unless_gone};
use super::{FOLDERS, KERNELS};

/// What part of the bound is added between two looks at everything.
const STEPS: u64 = 16;

/// A file in a cache.
#[derive(Debug)]
pub(super) struct Found {
    /// The names of the folders that it is in, from the cache down.
    folders: Vec<OsString>,
    name: OsString,
    pub(super) bytes: u64,
    used: SystemTime,
}

impl Found {
    /// Whether it is a kernel that is kept.
    pub(super) fn is_kernel(&self) -> bool {
        let extension = Path::new(&self.name).extension();
        self.folders[0] == KERNELS && extension == Some(OsStr::new("so"))
    }

    fn remove(&self, directory: &Directory) -> io::Result<()> {
        let (first, rest) = self.folders.split_first().ok_or(io::ErrorKind::NotFound)?;
        let first = directory.folder().folder(first)?;
        let folder = rest
            .iter()
            .try_fold(first, |above, name| above.folder(name))?;
        folder.remove(&self.name)
    }
}

/// Every file of a cache.
pub(super) fn files(directory: &Directory) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        let names = vec![OsString::from(folder)];
        if let Some(folder) = opened(directory.folder(), OsStr::new(folder))? {
            collect(&folder, &names, &mut found)?;
        }
    }
    Ok(found)
}

/// Records that the kernel `new`, of `bytes` bytes, was added, and evicts others if it is
/// time to.
pub(super) fn added(directory: &Directory, new: &str, bytes: u64, bound: u64) -> io::Result<()> {
    let written = directory.count(bytes.div_ceil(1 << 10))?;
    if written.metadata()?.len().saturating_mul(1 << 10) >= bound / STEPS {
        shrink(directory, OsStr::new(new), bound)?;
        written.set_len(0)?;
    }
    Ok(())
}

/// Removes kernels, those not used for longest first, until there is room for
/// one more step. `new` stays in any case.
fn shrink(directory: &Directory, new: &OsStr, bound: u64) -> io::Result<()> {
    let goal = bound - bound / STEPS;
    let mut files = files(directory)?;
    let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
    files.retain(|file| file.folders[0] == KERNELS && file.name != new);
    files.sort_by_key(|file| file.used);
    for kernel in files {
        if bytes <= goal {
            break;
        }
        if unless_gone(kernel.remove(directory)).is_ok() {
            bytes = bytes.saturating_sub(kernel.bytes);
        }
    }
    Ok(())
}

/// Removes the kernels of older versions.
pub(super) fn remove_stale(directory: &Directory) {
    let Ok(kernels) = directory.folder().folder(KERNELS) else {
        return;
    };
    let ours = numbers(&version());
    for entry in kernels.entries().unwrap_or_default() {
        if entry.name.to_str().and_then(numbers) < ours {
            // What cannot be removed is in nobody's way.
            let _ = kernels.remove(&entry.name);
        }
    }
}

/// The numbers of a folder of kernels, `v0.1.0-6`; other names have none.
fn numbers(name: &str) -> Option<Vec<u64>> {
    let parts = name.strip_prefix('v')?.split(['.', '-']);
    parts.map(|part| part.parse().ok()).collect()
}

/// A folder, unless there is none of this name.
fn opened(above: &Folder, name: &OsStr) -> io::Result<Option<Folder>> {
    // Another process may remove its work, or empty the cache, meanwhile.
    unless_gone(above.folder(name))
}

fn collect(folder: &Folder, names: &[OsString], found: &mut Vec<Found>) -> io::Result<()> {
    for entry in folder.entries()? {
        if !entry.is_folder {
            found.push(Found {
                folders: names.to_vec(),
                name: entry.name,
                bytes: entry.bytes,
                used: entry.modified,
            });
        } else if let Some(below) = opened(folder, &entry.name)? {
            let names = [names, &[entry.name]].concat();
            collect(&below, &names, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn kernels_of_older_versions_go() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = Directory::open(scratch.path()).unwrap();
        let kernels = scratch.path().join(KERNELS);
        let names = ["3f", "v0.0.9-70", "v0.1", "v99.0.0-1", &version()];
        for name in names {
            fs::create_dir_all(kernels.join(name)).unwrap();
            fs::write(kernels.join(name).join("a.so"), b"old").unwrap();
        }
        remove_stale(&directory);
        let stays = names.map(|name| kernels.join(name).exists());
        assert_eq!(stays, [false, false, false, true, true]);
        assert_eq!(files(&directory).unwrap().len(), 2);
    }
}
