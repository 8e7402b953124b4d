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
use crate::cache::FOLDERS;

/// What part of the bound is added between two looks at everything.
const STEPS: u64 = 16;

/// A file in a cache.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) used: SystemTime,
}

impl Found {
    /// Whether it is a kernel that is kept.
    pub(super) fn is_kernel(&self) -> bool {
        self.path.extension().is_some_and(|ext| ext == "so")
            && !self
                .path
                .components()
                .any(|part| part.as_os_str() == "work")
    }
}

/// Every file of a cache.
pub(super) fn files(directory: &Directory) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for folder in FOLDERS {
        collect(&directory.join(folder), &mut found)?;
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
    let mut bytes: u64 = files(directory)?.iter().map(|file| file.bytes).sum();
    let mut kernels = Vec::new();
    collect(&directory.join("kernels"), &mut kernels)?;
    kernels.sort_by_key(|kernel| kernel.used);
    for kernel in kernels.iter().filter(|kernel| kernel.path != new) {
        if bytes <= goal {
            break;
        }
        match fs::remove_file(&kernel.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {}
            _ => bytes = bytes.saturating_sub(kernel.bytes),
        }
    }
    Ok(())
}

fn collect(folder: &Path, found: &mut Vec<Found>) -> io::Result<()> {
    // Another process may remove its work, or empty the cache, meanwhile.
    let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let entries = match fs::read_dir(folder) {
        Err(error) if gone(&error) => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let metadata = match entry.as_ref().map(fs::DirEntry::metadata) {
            Ok(Err(error)) if gone(&error) => continue,
            Ok(metadata) => metadata?,
            Err(_) => break,
        };
        let path = entry?.path();
        if metadata.is_dir() {
            collect(&path, found)?;
        } else {
            found.push(Found {
                path,
                bytes: metadata.len(),
                used: metadata.modified()?,
            });
        }
    }
    Ok(())
}
