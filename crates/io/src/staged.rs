//! Files that are complete before they have their names.
//!
//! ```text
//! O_TMPFILE      a file of the folder's file system, without a name
//!     content
//! linkat         a.tns, if there is none
//! linkat+rename  .sparsec-x1y2z3, then a.tns, if there is an older one
//! ```
//!
//! The system frees a file without a name when the process ends, however it ends: a
//! killed process leaves nothing beside the target, unless it is killed between the last
//! two calls. Where the system or the file system has no files without names, the file
//! has a temporary name from the start, and [`remove_unfinished`] removes it if the
//! process can handle the signal.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sparsec_parallel::fault::{self, Fault};
use tempfile::{NamedTempFile, TempPath};

/// What temporary names begin with.
const PREFIX: &str = ".sparsec-";

/// The files of this process that do not have their names yet.
static UNFINISHED: Mutex<BTreeSet<Key>> = Mutex::new(BTreeSet::new());

/// An unfinished file: its temporary name, or a number of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Name(PathBuf),
    Number(u64),
}

/// Removes the files that are being written and do not have their names yet, before the
/// process ends. The files that they would replace stay as they are.
///
/// A thread that still writes one of them can no longer give it its name.
pub fn remove_unfinished() {
    for key in std::mem::take(&mut *unfinished()) {
        if let Key::Name(path) = key {
            // It may have its final name by now.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn unfinished() -> MutexGuard<'static, BTreeSet<Key>> {
    // A set is whole at any time.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The place of a file among those of [`remove_unfinished`].
#[derive(Debug)]
struct Known(Key);

impl Known {
    fn of(key: Key) -> Self {
        unfinished().insert(key.clone());
        Self(key)
    }

    /// # Errors
    /// If the file was removed.
    fn check(&self) -> io::Result<()> {
        match unfinished().contains(&self.0) {
            true => Ok(()),
            false => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

/// A file that does not have its name yet. Dropping it deletes it.
#[derive(Debug)]
pub(crate) struct Unnamed {
    file: Temporary,
    path: PathBuf,
    folder: PathBuf,
    mode: u32,
    /// After the file: it is known for as long as it is there.
    known: Known,
}

#[derive(Debug)]
enum Temporary {
    /// A file that is in no folder.
    Nameless(File),
    Named(NamedTempFile),
}

impl Unnamed {
    /// An empty file for a folder, with these permissions as the process restricts them.
    pub(crate) fn create(folder: &Path, mode: u32) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let Some((file, path)) = nameless(folder, mode) else {
            return Self::create_named(folder, mode);
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            known: Known::of(Key::Number(number)),
            file: Temporary::Nameless(file),
            path,
            folder: folder.to_owned(),
            mode,
        })
    }

    /// As [`Unnamed::create`], with a temporary name: some libraries open files by
    /// names only.
    pub(crate) fn create_named(folder: &Path, mode: u32) -> io::Result<Self> {
        let file = named(folder, mode)?;
        let path = file.path().to_owned();
        Ok(Self {
            known: Known::of(Key::Name(path.clone())),
            file: Temporary::Named(file),
            path,
            folder: folder.to_owned(),
            mode,
        })
    }

    /// A path by which the file can be opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file, to write to.
    pub(crate) fn as_file(&self) -> &File {
        match &self.file {
            Temporary::Nameless(file) => file,
            Temporary::Named(file) => file.as_file(),
        }
    }

    /// Gives the file its name, in place of an older file that has it.
    pub(crate) fn persist(self, target: &Path) -> io::Result<()> {
        self.known.check()?;
        let known = |path: &Path| Known::of(Key::Name(path.to_path_buf()));
        let (path, _known) = match self.file {
            Temporary::Named(file) => (file.into_temp_path(), self.known),
            Temporary::Nameless(file) => {
                if link(&self.path, target).is_ok() {
                    return Ok(());
                }
                // There is an older file, or the file system makes no links.
                let linked = tempfile::Builder::new()
                    .prefix(PREFIX)
                    .make_in(&self.folder, |path| link(&self.path, path));
                match linked {
                    Ok(linked) => {
                        let path = linked.into_temp_path();
                        let known = known(&path);
                        (path, known)
                    }
                    Err(_) => {
                        let (copy, path) = named(&self.folder, self.mode)?.into_parts();
                        let known = known(&path);
                        copy_content(&file, copy)?;
                        (path, known)
                    }
                }
            }
        };
        rename(path, target)
    }
}

/// A file that bytes are written to. It repeats a write that a signal interrupted:
/// encoders give up on `EINTR` when they write their last bytes.
#[derive(Debug)]
pub(crate) struct Patient(pub(crate) File);

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let written = match fault::strikes(Fault::Signal) {
                true => Err(io::ErrorKind::Interrupted.into()),
                false => self.attempt(bytes),
            };
            match written {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Patient {
    fn attempt(&mut self, bytes: &[u8]) -> io::Result<usize> {
        refuses(Fault::Disk)?;
        match fault::strikes(Fault::ShortWrite) {
            true => self.0.write(&bytes[..bytes.len().div_ceil(2)]),
            false => self.0.write(bytes),
        }
    }
}

/// The error of a call that an injected fault refuses.
fn refuses(fault: Fault) -> io::Result<()> {
    match fault::strikes(fault) {
        true => Err(match fault {
            Fault::Disk => io::ErrorKind::StorageFull.into(),
            _ => io::ErrorKind::PermissionDenied.into(),
        }),
        false => Ok(()),
    }
}

/// Gives a file its final name, or removes it where the system refuses.
fn rename(from: TempPath, to: &Path) -> io::Result<()> {
    refuses(Fault::Rename)?;
    from.persist(to).map_err(|error| error.error)
}

/// Copies the content of a file to another one.
fn copy_content(mut from: &File, to: File) -> io::Result<()> {
    use std::io::Seek as _;
    from.rewind()?;
    io::copy(&mut from, &mut Patient(to)).map(drop)
}

fn named(folder: &Path, mode: u32) -> io::Result<NamedTempFile> {
    refuses(Fault::Disk)?;
    let mut new = OpenOptions::new();
    new.write(true).create_new(true).mode(mode);
    let builder = &mut tempfile::Builder::new();
    builder
        .prefix(PREFIX)
        .make_in(folder, |path| new.open(path))
}

/// A file without a name and a path to open it by, where the system has both.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path, mode: u32) -> Option<(File, PathBuf)> {
    use rustix::fs::{Mode, OFlags};
    use std::os::fd::AsRawFd as _;
    refuses(Fault::Disk).ok()?;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(mode)).ok()?;
    let file = File::from(file);
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    path.exists().then_some((file, path))
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path, _: u32) -> Option<(File, PathBuf)> {
    None
}

/// Gives a file without a name one that no other file has.
#[cfg(target_os = "linux")]
fn link(open: &Path, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    refuses(Fault::Link)?;
    Ok(rustix::fs::linkat(
        CWD,
        open,
        CWD,
        name,
        AtFlags::SYMLINK_FOLLOW,
    )?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("the directory");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names
            .map(|name| name.into_string().expect("text"))
            .collect()
    }

    #[test]
    fn files_without_names_replace_older_ones() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let target = folder.path().join("a.txt");
        for text in ["first", "second"] {
            let file = Unnamed::create(folder.path(), 0o640).expect("there is room");
            file.as_file()
                .write_all(text.as_bytes())
                .expect("there is room");
            if matches!(file.file, Temporary::Nameless(_)) {
                let older = usize::from(text == "second");
                assert_eq!(names(folder.path()).len(), older, "nothing to leave behind");
            }
            file.persist(&target).expect("there is room");
            assert_eq!(std::fs::read_to_string(&target).expect("the file"), text);
            assert_eq!(names(folder.path()), ["a.txt"]);
        }
    }

    #[test]
    fn names_that_cannot_be_taken_leave_nothing_behind() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let target = folder.path().join("taken");
        std::fs::create_dir(&target).expect("a directory");
        for create in [Unnamed::create, Unnamed::create_named] {
            let file = create(folder.path(), 0o600).expect("there is room");
            assert!(file.persist(&target).is_err());
            assert_eq!(names(folder.path()), ["taken"]);
        }
    }

    #[test]
    fn files_that_cannot_be_linked_are_copied() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let target = folder.path().join("a.txt");
        let mut file = Unnamed::create(folder.path(), 0o600).expect("there is room");
        file.as_file().write_all(b"whole").expect("there is room");
        // No link leads there.
        file.path = "/proc/self/fd/none".into();
        file.persist(&target).expect("there is room");
        assert_eq!(std::fs::read(&target).expect("the file"), b"whole");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_copy_that_the_disk_refuses_leaves_nothing() {
        use sparsec_parallel::fault::{Strikes, inject_here};
        let folder = tempfile::tempdir().expect("a temporary directory");
        let target = folder.path().join("a.txt");
        let mut n_refused = 0;
        for at in 0.. {
            std::fs::write(&target, "older").expect("there is room");
            let mut file = Unnamed::create(folder.path(), 0o600).expect("there is room");
            file.as_file().write_all(b"whole").expect("there is room");
            let is_nameless = matches!(file.file, Temporary::Nameless(_));
            file.path = "/proc/self/fd/none".into();
            let injected = inject_here(Fault::Disk, at, Strikes::Once);
            let persisted = file.persist(&target);
            let struck = injected.struck();
            drop(injected);
            assert_eq!(names(folder.path()), ["a.txt"]);
            let kept = std::fs::read(&target).expect("the file");
            assert_eq!(kept == b"older", persisted.is_err());
            n_refused += usize::from(persisted.is_err());
            if !struck {
                // To create the copy, and to write it.
                assert_eq!(n_refused, if is_nameless { 2 } else { 0 });
                break;
            }
        }
    }

    #[test]
    fn without_such_files_a_temporary_name_does() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let target = folder.path().join("a.txt");
        let file = Unnamed::create_named(folder.path(), 0o600).expect("there is room");
        file.as_file().write_all(b"whole").expect("there is room");
        assert_eq!(names(folder.path()).len(), 1);
        file.persist(&target).expect("there is room");
        assert_eq!(std::fs::read(&target).expect("the file"), b"whole");
    }
}
