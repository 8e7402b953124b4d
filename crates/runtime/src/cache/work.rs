//! Directories that kernels are compiled in.
//!
//! What takes several steps to make is made in a directory of its own, on the
//! file system where it will stay, and then renamed:
//!
//! ```text
//! work/cc-3f9a00c41d2e8b71/    kernel.c  kernel.so  the compiler's own files
//! ```
//!
//! The number in the name is that of the lock which the maker holds from before
//! the directory is made until after it is gone. So what a process left when it
//! was killed is known by its lock being free, and the next process that makes
//! something removes it.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::directory::make_private;
use super::lock::{Lock, Subject};

const PREFIX: &str = "cc-";

/// After this time, what nobody can be asked about counts as left.
const LEFT_AFTER: Duration = Duration::from_secs(24 * 3600);

/// As much as compiling a kernel may write.
const ROOM: usize = 512 << 10;

/// A directory of one's own, removed when dropped.
#[derive(Debug)]
pub(crate) struct Work {
    path: PathBuf,
    /// Held for as long as the directory is there, where there are locks.
    _lock: Option<Lock>,
}

impl Work {
    /// A new directory in `parent`.
    pub(super) fn new(parent: &Path, lock_file: &Path) -> io::Result<Self> {
        make_private(parent)?;
        loop {
            let number = RandomState::new().build_hasher().finish() >> 2;
            let lock = match Lock::attempt(lock_file, Subject::Work(number)) {
                Ok(None) => continue,
                Ok(lock) => lock,
                Err(_) => None,
            };
            let path = parent.join(format!("{PREFIX}{number:016x}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self { path, _lock: lock }),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A file in the directory.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether a kernel could have been written here: tells a full disk from a
    /// compiler that fails.
    pub(crate) fn has_room(&self) -> bool {
        let file = self.join("room");
        let written = write(&file, &[0; ROOM]);
        let _ = fs::remove_file(file);
        written.is_ok()
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // What cannot be removed now is removed as left over.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes what processes that are gone have left in `parent`.
pub(super) fn remove_left(parent: &Path, lock_file: &Path) {
    let Ok(found) = fs::read_dir(parent) else {
        return;
    };
    for entry in found.flatten() {
        let name = entry.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX))
            .and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let lock = number.map(|number| Lock::attempt(lock_file, Subject::Work(number)));
        let left = match &lock {
            Some(Ok(lock)) => lock.is_some(),
            // No locks here, or nothing of ours.
            Some(Err(_)) | None => is_old(&entry),
        };
        if left {
            let path = entry.path();
            // Two that clean up at once both find it; neither minds.
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
        }
    }
}

fn is_old(entry: &fs::DirEntry) -> bool {
    let modified = entry.metadata().and_then(|data| data.modified());
    modified
        .ok()
        .and_then(|time| time.elapsed().ok())
        .is_some_and(|age| age > LEFT_AFTER)
}

/// Writes a new file of one's own.
///
/// # Errors
/// Also where the process may not write files of that length: the system would
/// end it with a signal instead of refusing.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    may_be_long(bytes.len())?;
    let mut file = File::create(path)?;
    file.write_all(bytes)
}

/// Whether this process may write files of this length (`ulimit -f`).
#[allow(unsafe_code)]
pub(super) fn may_be_long(bytes: usize) -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the structure is the one that this call fills.
    let status = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) };
    if status == 0 && limit.rlim_cur != libc::RLIM_INFINITY && (bytes as u64) > limit.rlim_cur {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_removed_and_what_is_in_use_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (parent, lock) = (folder.path().join("work"), folder.path().join("lock"));
        let used = Work::new(&parent, &lock).unwrap();
        // What a killed process leaves: a directory without its lock.
        let left = parent.join("cc-00000000000000ff");
        fs::create_dir(&left).unwrap();
        write(&left.join("kernel.c"), b"int x;").unwrap();
        let foreign = parent.join("notes");
        fs::create_dir(&foreign).unwrap();
        remove_left(&parent, &lock);
        assert!(used.path().exists() && foreign.exists() && !left.exists());
        assert!(used.has_room());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }

    #[test]
    fn there_is_work_without_locks() {
        let folder = tempfile::tempdir().unwrap();
        let parent = folder.path().join("work");
        let no_lock = Path::new("/proc/nonexistent/lock");
        let work = Work::new(&parent, no_lock).unwrap();
        remove_left(&parent, no_lock);
        assert!(work.path().exists(), "too young to count as left");
    }
}
