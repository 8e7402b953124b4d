//! The directory that holds a cache: whether it may be trusted, and its files.
//!
//! A compiled kernel is code that runs as the user. So nobody else may be able to put a
//! file into the directory, or to put another directory in its place:
//!
//! ```text
//! /            root, 755         ┐
//! /home        root, 755         │ each belongs to root or to us, and others may not
//! /home/me     me,   755         │ write to it, unless it is sticky as /tmp
//! …/.cache     me,   700         ┘
//! …/sparsec    me,   700         ours, and nobody else writes to it
//! ```
//!
//! [`Walk`] goes there one directory at a time, from one descriptor to the next, and checks
//! each directory through its descriptor. A link on the way has to belong to root or to us,
//! and the walk checks each directory that the link leads through. From then on the cache
//! uses the last descriptor only (`folder`), so renaming a directory above changes nothing.
//!
//! A temporary directory is new, empty and private. Others may at most rename it, and our
//! descriptor still leads to it.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::entry;
use super::folder::{Folder, is_ours, make_private, retried, write_all};
use super::lock::{Lock, Subject};
use super::work::Work;
use super::{COMPILERS, KERNELS, WORK, WRITTEN};
use crate::key::Key;
use sparsec_base::Cancel;

/// How many links may be on the way to a directory.
const MOST_LINKS: usize = 40;

/// A directory that may be trusted.
#[derive(Debug)]
pub(super) struct Directory {
    folder: Folder,
    /// Where it was found, for people to read.
    path: PathBuf,
    /// The folder above and the name in it, of a directory that is removed with this value.
    temporary: Option<(Folder, OsString)>,
}

/// Why a directory is not used. The text names the directory.
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
    /// Makes the directory if it is not there, and refuses one that somebody else can
    /// write to. It need not be writable for us: kernels in a read-only directory can be
    /// used.
    pub(super) fn open(path: &Path) -> Result<Self, Unusable> {
        let failed = |error: io::Error| Unusable::Failed(format!("{}: {error}", path.display()));
        let (descriptor, path) = Walk::to(path).map_err(|stopped| match stopped {
            Stopped::Untrusted(why) => Unusable::NotPrivate(format!("{}: {why}", path.display())),
            Stopped::Failed(error) => failed(error),
        })?;
        let folder = Folder::of(descriptor).map_err(failed)?;
        is_ours(&folder.stat().map_err(failed)?)
            .map_err(|why| Unusable::NotPrivate(format!("{}: {why}", path.display())))?;
        Ok(Self {
            folder,
            path,
            temporary: None,
        })
    }

    /// A new directory in `parent`, which is removed with this value.
    pub(super) fn temporary(parent: &Path) -> Result<Self, Unusable> {
        let failed = |error: io::Error| Unusable::Failed(format!("{}: {error}", parent.display()));
        let above = Folder::at_path(parent).map_err(failed)?;
        let (name, folder) = loop {
            let number = RandomState::new().build_hasher().finish();
            let name = OsString::from(format!("sparsec-{number:016x}"));
            match above.new_folder(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => break (name, made.map_err(failed)?),
            }
        };
        // A directory with entries is not the new one: somebody put it in its place.
        if !folder.entries().map_err(failed)?.is_empty() {
            return Err(failed(io::Error::other("others exchange what is in it")));
        }
        Ok(Self {
            folder,
            path: parent.join(&name),
            temporary: Some((above, name)),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is still there, where it was or elsewhere.
    pub(super) fn is_there(&self) -> bool {
        self.folder.stat().is_ok_and(|stat| stat.st_nlink > 0)
    }

    /// The directory itself.
    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Waits until nobody else makes the entry `key`; nothing after `patience`, where it
    /// is cancelled, or where there are no locks.
    pub(super) fn turn(&self, key: Key, patience: Duration, cancel: &Cancel) -> Option<Lock> {
        Lock::wait(&self.folder, Subject::Entry(key.bits()), patience, cancel)
    }

    /// A new directory to work in.
    pub(super) fn work(self: &Arc<Self>) -> io::Result<Work> {
        Work::new(self)
    }

    /// The library of the kernel `key`, if there is an undamaged one.
    pub(super) fn kernel(&self, key: Key) -> Option<entry::Library> {
        let name = format!("{key}.so");
        let kernels = self.folder.folder(KERNELS).ok()?;
        let shard = kernels.folder(version()).ok()?.folder(&name[..2]).ok()?;
        let path = self.kernel_path(&name);
        entry::find(&shard, OsStr::new(&name), path, key)
    }

    /// Moves the library `file` of `work` into place, as the kernel `key`; its name there
    /// and how many bytes it has.
    pub(super) fn keep_kernel(
        &self,
        key: Key,
        work: &Work,
        file: &str,
    ) -> io::Result<(String, u64)> {
        let name = format!("{key}.so");
        let bytes = entry::seal(work.folder(), file, key)?;
        let shard = [KERNELS, &version(), &name[..2]];
        self.put(work, file, &shard, &name)?;
        Ok((name, bytes))
    }

    /// The text about the compiler `key`.
    pub(super) fn compiler(&self, key: Key) -> Option<String> {
        let folder = self.folder.folder(COMPILERS).ok()?;
        let file = folder.open(format!("{key}.txt")).ok()?;
        String::from_utf8(super::folder::read_all(&file).ok()?).ok()
    }

    /// Keeps a text about a compiler.
    pub(super) fn keep_compiler(self: &Arc<Self>, key: Key, text: &str) -> io::Result<()> {
        let work = self.work()?;
        work.write("compiler.txt", text.as_bytes())?;
        self.put(&work, "compiler.txt", &[COMPILERS], &format!("{key}.txt"))
    }

    /// Adds to the empty file that counts how much was added.
    pub(super) fn count(&self, kilobytes: u64) -> io::Result<std::fs::File> {
        let file = self.folder.append(WRITTEN)?;
        write_all(&file, &vec![b'.'; usize::try_from(kilobytes).unwrap_or(0)])?;
        Ok(file)
    }

    /// Moves `file`, of this directory's work, to its place below `folders`.
    fn put(&self, work: &Work, file: &str, folders: &[&str], name: &str) -> io::Result<()> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let moved = self.make(folders).and_then(|place| {
                let moved = work.folder().rename(file, &place, name);
                match moved {
                    Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                        place.remove(name)?;
                        work.folder().rename(file, &place, name)
                    }
                    moved => moved,
                }
            });
            match moved {
                // Another process empties the cache meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < 3 => {}
                moved => return moved,
            }
        }
    }

    /// The folder below these, which are made if they are not there.
    fn make(&self, folders: &[&str]) -> io::Result<Folder> {
        let (first, rest) = folders.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let first = self.folder.make_folder(first)?;
        rest.iter()
            .try_fold(first, |above, name| above.make_folder(name))
    }

    fn kernel_path(&self, name: &str) -> PathBuf {
        [KERNELS, &version(), &name[..2], name]
            .iter()
            .fold(self.path.clone(), |path, name| path.join(name))
    }

    /// The folder of work, made if it is not there.
    pub(super) fn work_folder(&self) -> io::Result<Folder> {
        self.folder.make_folder(WORK)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if let Some((above, name)) = &self.temporary {
            // If it cannot be removed, the system's cleaning of such places does it. If the
            // name belongs to another directory by now, only an empty one is removed.
            let _ = self.folder.empty().and_then(|()| above.remove_empty(name));
        }
    }
}

/// The folder of the kernels of this version.
pub(super) fn version() -> String {
    let abi = crate::abi::VERSION;
    format!("v{}-{abi}", env!("CARGO_PKG_VERSION"))
}

/// Why a walk ended early.
enum Stopped {
    Untrusted(String),
    Failed(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// A walk to a directory, one name after the other.
struct Walk {
    here: OwnedFd,
    /// Where that is.
    path: PathBuf,
    /// The names that are still to come.
    ahead: VecDeque<OsString>,
}

impl Walk {
    /// Walks to a directory, and makes directories that are not there. Returns the
    /// descriptor and the real path.
    fn to(path: &Path) -> Result<(OwnedFd, PathBuf), Stopped> {
        let mut walk = Self {
            here: root()?,
            path: PathBuf::from("/"),
            ahead: VecDeque::new(),
        };
        walk.follow(&std::path::absolute(path)?);
        let mut n_links = 0;
        while let Some(name) = walk.ahead.pop_front() {
            walk.check()?;
            if let Some(link) = walk.step(&name)? {
                n_links += 1;
                if n_links > MOST_LINKS {
                    return Err(Stopped::Failed(Errno::LOOP.into()));
                }
                if link.is_absolute() {
                    (walk.here, walk.path) = (root()?, PathBuf::from("/"));
                }
                walk.follow(&link);
            }
        }
        Ok((walk.here, walk.path))
    }

    /// Puts the names of a path in front of those that are to come.
    fn follow(&mut self, path: &Path) {
        for component in path.components().rev() {
            if let Component::Normal(_) | Component::ParentDir = component {
                self.ahead.push_front(component.as_os_str().to_owned());
            }
        }
    }

    /// Goes on to the directory `name`. If that is a link, returns its text instead.
    fn step(&mut self, name: &OsStr) -> Result<Option<PathBuf>, Stopped> {
        let mut opened = self.open(name);
        if let Err(Errno::NOENT) = opened {
            match make_private(&self.here, name) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error.into());
                }
                _ => opened = self.open(name),
            }
        }
        match opened {
            Ok(next) => {
                self.here = next;
                match name == ".." {
                    true => _ = self.path.pop(),
                    false => self.path.push(name),
                }
                Ok(None)
            }
            Err(Errno::LOOP | Errno::NOTDIR) => self.link(name).map(Some),
            Err(error) => Err(Stopped::Failed(error.into())),
        }
    }

    fn open(&self, name: &OsStr) -> rustix::io::Result<OwnedFd> {
        let flags = SEARCHED | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            match rustix::fs::openat(&self.here, name, flags, Mode::empty()) {
                Err(Errno::INTR) => {}
                opened => return opened,
            }
        }
    }

    fn link(&self, name: &OsStr) -> Result<PathBuf, Stopped> {
        let stat = rustix::fs::statat(&self.here, name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(io::Error::from)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink {
            return Err(Stopped::Failed(Errno::NOTDIR.into()));
        }
        let shown = self.path.join(name);
        check_owner(&stat, &shown)?;
        let text = retried(|| rustix::fs::readlinkat(&self.here, name, Vec::new()))?;
        Ok(PathBuf::from(OsString::from_vec(text.into_bytes())))
    }

    /// Refuses a directory on the way in which somebody else may exchange the next.
    fn check(&self) -> Result<(), Stopped> {
        /// In a directory with this bit, only owners rename or remove their entries.
        const STICKY: u32 = 0o1000;
        let stat = rustix::fs::fstat(&self.here).map_err(io::Error::from)?;
        check_owner(&stat, &self.path)?;
        let mode = stat.st_mode & 0o7777;
        if mode & 0o022 != 0 && mode & STICKY == 0 {
            return Err(Stopped::Untrusted(format!(
                "other users may rename what is in {} (mode {:03o})",
                self.path.display(),
                mode & 0o777
            )));
        }
        Ok(())
    }
}

fn check_owner(stat: &Stat, path: &Path) -> Result<(), Stopped> {
    let user = rustix::process::geteuid().as_raw();
    match stat.st_uid {
        0 => Ok(()),
        owner if owner == user => Ok(()),
        owner => Err(Stopped::Untrusted(format!(
            "{} belongs to another user (number {owner}, and we are {user})",
            path.display()
        ))),
    }
}

/// How directories on the way are opened: they need not be readable.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SEARCHED: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SEARCHED: OFlags = OFlags::RDONLY;

fn root() -> io::Result<OwnedFd> {
    let flags = SEARCHED | OFlags::DIRECTORY | OFlags::CLOEXEC;
    retried(|| rustix::fs::openat(CWD, "/", flags, Mode::empty()))
}

#[cfg(test)]
mod tests;
