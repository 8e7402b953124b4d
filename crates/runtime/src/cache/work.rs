//! Directories that kernels are compiled in.
//!
//! An entry that takes several steps is made in a directory of its own, on the file system
//! of the cache, and then renamed:
//!
//! ```text
//! work/cc-3f9a00c41d2e8b71/    kernel.c  kernel.so  the compiler's own files
//! ```
//!
//! The name has the number of a lock. The maker holds the lock from before the directory is
//! made until after it is removed. So a free lock marks a directory that a killed process
//! left, and the next process that makes an entry removes it.
//!
//! A compiler starts in the directory, by our descriptor, and is given names without a path.
//! So it works in the same directory as we do, even if a directory above is renamed.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::directory::Directory;
use super::entry::Library;
use super::folder::{Entry, Folder, read_all};
use super::lock::{Lock, Subject};
use crate::clock;

const PREFIX: &str = "cc-";

/// After this time, a directory whose lock tells nothing counts as left.
const LEFT_AFTER: Duration = Duration::from_secs(24 * 3600);

/// How many numbers are tried before a directory does without its lock.
const ATTEMPTS: usize = 16;

/// More bytes than compiling a kernel writes.
const ROOM: usize = 512 << 10;

/// A directory to compile in, which is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Work {
    folder: Folder,
    /// The folder of work, and the name in it.
    place: (Folder, String),
    /// The cache that it belongs to.
    directory: Arc<Directory>,
    /// Held for as long as the directory is there, where there are locks.
    _lock: Option<Lock>,
}

impl Work {
    /// A new directory in a cache.
    pub(super) fn new(directory: &Arc<Directory>) -> io::Result<Self> {
        let above = directory.work_folder()?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let number = RandomState::new().build_hasher().finish() >> 2;
            let lock = match Lock::attempt(directory.folder(), Subject::Work(number)) {
                // After this many failures in a row, one process holds every lock.
                Ok(None) if attempts < ATTEMPTS => continue,
                Ok(lock) => lock,
                Err(_) => None,
            };
            let name = format!("{PREFIX}{number:016x}");
            match above.new_folder(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    return made.map(|folder| Self {
                        folder,
                        place: (above, name),
                        directory: Arc::clone(directory),
                        _lock: lock,
                    });
                }
            }
        }
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The cache that it belongs to.
    pub(super) fn directory(&self) -> &Arc<Directory> {
        &self.directory
    }

    /// Where it is, for people to read.
    fn path(&self) -> PathBuf {
        self.directory.path().join(super::WORK).join(&self.place.1)
    }

    /// Writes a new file.
    ///
    /// # Errors
    /// Also where the process may not write files of that length.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.folder.write(name, bytes)
    }

    /// Makes a command run in here, and put its temporary files here.
    pub(crate) fn enter(&self, command: &mut Command) {
        command.current_dir(self.folder.own_path().unwrap_or_else(|| self.path()));
        // If it is killed, its temporary files are removed with the directory.
        command.env("TMPDIR", ".");
    }

    /// The library that a compiler made in here.
    pub(crate) fn library(&self, name: &str) -> io::Result<Library> {
        let file = self.folder.take(name)?;
        Ok(Library {
            bytes: read_all(&file)?,
            file,
            path: self.path().join(name),
        })
    }

    /// Whether a kernel could have been written here: tells a full disk from a
    /// compiler that fails.
    pub(crate) fn has_room(&self) -> bool {
        let written = self.folder.write("room", &[0; ROOM]);
        let _ = self.folder.remove("room");
        written.is_ok()
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // What cannot be removed now is removed as left over.
        let (above, name) = &self.place;
        let _ = above.remove(name);
    }
}

/// Removes the directories that killed processes have left in a cache.
pub(super) fn remove_left(directory: &Directory) {
    let Ok(work) = directory.folder().folder(super::WORK) else {
        return;
    };
    for entry in work.entries().unwrap_or_default() {
        let number = entry
            .name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let lock = number.map(|number| Lock::attempt(directory.folder(), Subject::Work(number)));
        let left = match &lock {
            Some(Ok(lock)) => lock.is_some(),
            // No locks here, or nothing of ours.
            Some(Err(_)) | None => is_old(&entry),
        };
        if left {
            // Two that clean up at once both find it; neither minds.
            let _ = work.remove(&entry.name);
        }
    }
}

fn is_old(entry: &Entry) -> bool {
    let age = clock::date().duration_since(entry.modified);
    age.is_ok_and(|age| age > LEFT_AFTER)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn check(make_lock: impl Fn(&std::path::Path), left_stays: bool) {
        let scratch = tempfile::tempdir().unwrap();
        make_lock(&scratch.path().join("lock"));
        let directory = Arc::new(Directory::open(scratch.path()).unwrap());
        let used = Work::new(&directory).unwrap();
        let parent = scratch.path().join("work");
        // What a killed process leaves: a directory without its lock.
        let left = parent.join("cc-00000000000000ff");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("kernel.c"), b"int x;").unwrap();
        let foreign = parent.join("notes");
        fs::create_dir(&foreign).unwrap();
        remove_left(&directory);
        assert!(used.path().exists() && foreign.exists());
        assert_eq!(left.exists(), left_stays);
        assert!(used.has_room());
        let path = used.path();
        drop(used);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_left_is_removed_and_what_is_in_use_stays() {
        check(|_| {}, false);
    }

    #[test]
    fn without_locks_nothing_young_counts_as_left() {
        check(|lock| fs::create_dir(lock).unwrap(), true);
    }
}
