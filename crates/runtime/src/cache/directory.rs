//! One directory that holds a cache: who may use it, and its files.
//!
//! A compiled kernel is code that runs as the user, so its directory must be
//! one that nobody else can put files into:
//!
//! | refused                                     | because                          |
//! |---------------------------------------------|----------------------------------|
//! | owned by another user                       | its owner can replace kernels    |
//! | others may write to it                      | so can they                      |
//! | inside a directory that everyone may write to, without sticky bit | it can be exchanged as a whole |
//!
//! Directories that are made here are for their user alone (0700).

use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::WORK;
use super::lock::{Lock, Subject};
use super::work::Work;
use crate::key::Key;

/// A directory that may be trusted.
#[derive(Debug)]
pub(super) struct Directory {
    path: PathBuf,
}

/// Why a directory is not used; each says which.
#[derive(Debug)]
pub(super) enum Unusable {
    /// Others could put kernels there.
    NotPrivate(String),
    /// The system refuses it.
    Failed(String),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::NotPrivate(why) | Self::Failed(why)) = self;
        f.write_str(why)
    }
}

impl Directory {
    /// Makes the directory if it is not there, and sees to it that nobody else
    /// can write there. Whether we can is found out when there is something to
    /// write: what a read-only directory holds can be used.
    pub(super) fn open(path: &Path) -> Result<Self, Unusable> {
        let failed = |error: io::Error| Unusable::Failed(format!("{}: {error}", path.display()));
        make_private(path).map_err(failed)?;
        let path = path.canonicalize().map_err(failed)?;
        let metadata = fs::metadata(&path).map_err(failed)?;
        check_owner(&metadata, own_user())
            .map_err(|why| Unusable::NotPrivate(format!("{}: {why}", path.display())))?;
        for above in path.ancestors().skip(1) {
            if !keeps_names(&fs::metadata(above).map_err(failed)?) {
                return Err(Unusable::NotPrivate(format!(
                    "{}: everyone may rename what is in {}",
                    path.display(),
                    above.display()
                )));
            }
        }
        Ok(Self { path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A folder or file of the cache.
    pub(super) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// The empty file whose bytes are the locks.
    pub(super) fn lock_file(&self) -> PathBuf {
        self.join("lock")
    }

    /// Waits until nobody else makes the entry `key`; nothing after `patience`,
    /// or where there are no locks.
    pub(super) fn turn(&self, key: Key, patience: Duration) -> Option<Lock> {
        Lock::wait(&self.lock_file(), Subject::Entry(key.bits()), patience)
    }

    /// A new directory to work in.
    pub(super) fn work(&self) -> io::Result<Work> {
        Work::new(&self.join(WORK), &self.lock_file())
    }

    /// Moves `file`, of this directory's work, to `place`.
    pub(super) fn put(&self, file: &Path, place: &Path) -> io::Result<()> {
        let folder = place.parent().unwrap_or(&self.path);
        let mut attempts = 0;
        loop {
            make_private(folder)?;
            attempts += 1;
            match fs::rename(file, place) {
                // Another process empties the cache meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < 3 => {}
                Err(error) if error.kind() == io::ErrorKind::IsADirectory && attempts < 3 => {
                    fs::remove_dir_all(place)?;
                }
                moved => return moved,
            }
        }
    }
}

/// Makes a directory, and those above it, for the user alone.
pub(super) fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn check_owner(directory: &Metadata, user: u32) -> Result<(), String> {
    if directory.uid() != user {
        return Err(format!(
            "it belongs to another user (number {}, and we are {user})",
            directory.uid()
        ));
    }
    let mode = directory.mode() & 0o777;
    if mode & 0o022 != 0 {
        return Err(format!("other users may write to it (mode {mode:03o})"));
    }
    Ok(())
}

/// Whether only owners can rename what is in the directory.
fn keeps_names(directory: &Metadata) -> bool {
    directory.mode() & 0o002 == 0 || directory.mode() & 0o1000 != 0
}

#[allow(unsafe_code)]
fn own_user() -> u32 {
    // SAFETY: asks the system for a number; it cannot fail.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_others_could_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache");
        let check = |path: &Path, expect: &str| match (Directory::open(path), expect) {
            (Ok(_), "") => {}
            (Err(Unusable::NotPrivate(why)), _) if !expect.is_empty() => {
                assert!(why.contains(expect), "{why}");
            }
            (opened, _) => panic!("{opened:?}, not {expect:?}"),
        };
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        check(&path, "");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        set(&path, 0o755).unwrap();
        check(&path, "");
        for mode in [0o777, 0o770, 0o702] {
            set(&path, mode).unwrap();
            check(&path, &format!("mode {mode:o}"));
        }
        set(&path, 0o700).unwrap();
        set(folder.path(), 0o777).unwrap();
        check(&path, "everyone may rename");
        set(folder.path(), 0o1777).unwrap();
        check(&path, "");
    }

    #[test]
    fn what_belongs_to_another_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = fs::metadata(folder.path()).unwrap();
        assert_eq!(check_owner(&metadata, own_user()), Ok(()));
        let why = check_owner(&metadata, own_user() + 1).unwrap_err();
        assert!(why.contains("another user"), "{why}");
    }
}
