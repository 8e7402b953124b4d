//! Locks between processes that die with their holder.
//!
//! All locks of a cache are bytes of one empty file, `lock`: locking byte 7 of
//! it takes no room on disk, and byte `2^62` neither. So there is a lock for
//! every kernel and every directory of work, with nothing to make or to remove:
//!
//! ```text
//! lock   0 ············ 2h ······················ 2w + 1 ···········
//!                       │                         │
//!       kernel whose key begins with h     directory work/cc-w
//! ```
//!
//! The system drops the locks of a process that ends, however it ends. Locks
//! belong to an open file (Linux: `F_OFD_SETLK`), so threads of one process
//! exclude each other as well.
//!
//! Locks here save work; nothing is wrong without them. A file system that has
//! none, a holder that was stopped, two keys that share a byte: whoever waits
//! gives up after a while and goes on as if alone.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use sparsec_base::Cancel;
use sparsec_parallel::fault::{self, Fault};

use super::folder::Folder;
use crate::clock;

/// The lock file of a cache.
const NAME: &str = "lock";

/// What a byte of the lock file stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Making the entry whose key begins with these bits.
    Entry(u64),
    /// Working in the directory with this number.
    Work(u64),
}

/// A lock that is held, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    byte: libc::off_t,
}

impl Subject {
    fn byte(self) -> libc::off_t {
        let (bits, kind) = match self {
            Self::Entry(bits) => (bits, 0),
            Self::Work(bits) => (bits, 1),
        };
        // The lowest bit is the kind; the sign is no part of an offset.
        ((bits << 1 | kind) as libc::off_t) & libc::off_t::MAX
    }
}

impl Lock {
    /// Takes the lock on `subject` in the lock file of a cache, unless another
    /// holds it.
    ///
    /// # Errors
    /// If the file cannot be made, or its file system has no locks.
    pub(super) fn attempt(cache: &Folder, subject: Subject) -> io::Result<Option<Self>> {
        let file = cache.append(NAME)?;
        let byte = subject.byte();
        Ok(control(&file, byte, libc::F_WRLCK)?.then_some(Self { file, byte }))
    }

    /// Takes the lock, waiting for `patience` or until it is cancelled; nothing if it
    /// could not be had.
    pub(super) fn wait(
        cache: &Folder,
        subject: Subject,
        patience: Duration,
        cancel: &Cancel,
    ) -> Option<Self> {
        /// The longest time between two looks.
        const LONGEST: Duration = Duration::from_millis(32);
        let file = cache.append(NAME).ok()?;
        let byte = subject.byte();
        let started = clock::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if control(&file, byte, libc::F_WRLCK).ok()? {
                return Some(Self { file, byte });
            }
            if cancel.is_set() {
                return None;
            }
            let left = patience.checked_sub(clock::now().saturating_duration_since(started))?;
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(LONGEST);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough where a forked child has it open too.
        // There is nothing to do about an error: the lock ends with the file.
        let _ = control(&self.file, self.byte, libc::F_UNLCK);
    }
}

/// Sets or ends a lock of `file`; whether that was possible at once.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn control(file: &File, byte: libc::off_t, what: libc::c_int) -> io::Result<bool> {
    // SAFETY: a structure of integers, of which zero is a value.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = what as libc::c_short;
    range.l_whence = libc::SEEK_SET as libc::c_short;
    range.l_start = byte;
    range.l_len = 1;
    loop {
        if fault::strikes(Fault::Signal) {
            continue;
        }
        // SAFETY: the descriptor is open, and the structure is the one that this
        // command reads.
        let status = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const range) };
        if status != -1 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => {}
            Some(libc::EAGAIN | libc::EACCES) => return Ok(false),
            _ => return Err(error),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn control(_: &File, _: libc::off_t, _: libc::c_int) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tempfile::TempDir;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn cache() -> (TempDir, Folder) {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::at_path(scratch.path()).unwrap();
        (scratch, folder)
    }

    fn wait(folder: &Folder, subject: Subject, patience: Duration) -> Option<Lock> {
        Lock::wait(folder, subject, patience, &Cancel::default())
    }

    #[test]
    fn a_lock_excludes_until_it_is_dropped() {
        let (scratch, cache) = cache();
        let (a, b) = (Subject::Entry(u64::MAX), Subject::Work(u64::MAX));
        let held = Lock::attempt(&cache, a).unwrap().expect("nobody holds it");
        assert!(Lock::attempt(&cache, a).unwrap().is_none());
        assert!(Lock::attempt(&cache, b).unwrap().is_some(), "another byte");
        let started = Instant::now();
        assert!(wait(&cache, a, Duration::from_millis(30)).is_none());
        assert!(started.elapsed() >= Duration::from_millis(30));
        drop(held);
        assert!(wait(&cache, a, Duration::ZERO).is_some());
        let lock = scratch.path().join(NAME);
        assert_eq!(std::fs::metadata(lock).unwrap().len(), 0);
    }

    #[test]
    fn who_waits_goes_on_when_the_lock_is_dropped_or_nobody_wants_it() {
        let (_scratch, cache) = cache();
        let cancel = Cancel::default();
        let (a, b) = (Subject::Entry(1), Subject::Entry(2));
        let held = [a, b].map(|it| Lock::attempt(&cache, it).unwrap());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| wait(&cache, a, MINUTE));
            let gives_up = scope.spawn(|| Lock::wait(&cache, b, MINUTE, &cancel));
            std::thread::sleep(Duration::from_millis(20));
            cancel.set();
            assert!(gives_up.join().unwrap().is_none());
            drop(held);
            assert!(waits.join().unwrap().is_some());
        });
    }

    #[test]
    fn what_is_no_file_is_no_lock() {
        let (scratch, cache) = cache();
        let lock = scratch.path().join(NAME);
        std::os::unix::fs::symlink("/nonexistent/lock", &lock).unwrap();
        assert!(Lock::attempt(&cache, Subject::Entry(1)).is_err());
        assert!(wait(&cache, Subject::Entry(1), MINUTE).is_none());
    }
}
