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

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::directory::Directory;
use super::{FOLDERS, KERNELS, unless_gone};

/// What part of the bound is added between two looks at everything.
const STEPS: u64 = 16;

/// A file in a cache.
#[derive(Debug)]
pub(super) struct Found {
    /// The folder of the cache that it is in.
    folder: &'static str,
    path: PathBuf,
    pub(super) bytes: u64,
    used: SystemTime,
}

impl Found {
    /// Whether it is a kernel that is kept.
    pub(super) fn is_kernel(&self) -> bool {
        self.folder == KERNELS && self.path.extension().is_some_and(|ext| ext == "so")
    }
}

/// Every file of a cache.
pub(super) fn files(directory: &Directory) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        collect(folder, &directory.join(folder), &mut found)?;
    }
    Ok(found)
}

/// Takes note that the kernel `new` was added, and makes room if it is time to.
pub(super) fn added(directory: &Directory, new: &Path, bound: u64) -> io::Result<()> {
    let kilobytes = fs::metadata(new)?.len().div_ceil(1 << 10);
    let path = directory.join("written");
    let mut written = OpenOptions::new().append(true).create(true).open(&path)?;
    written.write_all(&vec![b'.'; usize::try_from(kilobytes).unwrap_or(0)])?;
    if written.metadata()?.len().saturating_mul(1 << 10) >= bound / STEPS {
        shrink(directory, new, bound)?;
        written.set_len(0)?;
    }
    Ok(())
}

/// Removes kernels, those not used for longest first, until there is room for
/// one more step. `new` stays in any case.
fn shrink(directory: &Directory, new: &Path, bound: u64) -> io::Result<()> {
    let goal = bound - bound / STEPS;
    let mut files = files(directory)?;
    let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
    files.retain(|file| file.folder == KERNELS && file.path != new);
    files.sort_by_key(|file| file.used);
    for kernel in files {
        if bytes <= goal {
            break;
        }
        if unless_gone(fs::remove_file(&kernel.path)).is_ok() {
            bytes = bytes.saturating_sub(kernel.bytes);
        }
    }
    Ok(())
}

fn collect(folder: &'static str, path: &Path, found: &mut Vec<Found>) -> io::Result<()> {
    // Another process may remove its work, or empty the cache, meanwhile.
    let Some(entries) = unless_gone(fs::read_dir(path))? else {
        return Ok(());
    };
    for entry in entries {
        let Some(entry) = unless_gone(entry)? else {
            continue;
        };
        let Some(metadata) = unless_gone(entry.metadata())? else {
            continue;
        };
        if metadata.is_dir() {
            collect(folder, &entry.path(), found)?;
        } else {
            found.push(Found {
                folder,
                path: entry.path(),
                bytes: metadata.len(),
                used: metadata.modified()?,
            });
        }
    }
    Ok(())
}
