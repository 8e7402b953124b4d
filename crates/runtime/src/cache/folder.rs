//! Open directories, and the files in them.
//!
//! Every call looks up a path anew, so somebody who may rename a directory of the path
//! decides where the call ends up. A descriptor stays at its directory. So the cache is
//! reached from a descriptor, one name at a time:
//!
//! ```text
//! Folder ──folder("kernels")──► Folder ──open("3f9a….so")──► File
//!            one name each, no link followed, then looked at through the descriptor
//! ```
//!
//! A link is refused, and so is a FIFO (it is opened without waiting for its other end), and
//! a file or directory that belongs to another user or that others may write to.
//!
//! These are the only calls of the cache to the file system. Each is repeated if a signal
//! interrupts it, and writes go on until all bytes are written. Tests inject signals, short
//! writes and full disks (`sparsec_parallel::fault`).

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sparsec_parallel::fault::{self, Fault};

/// The mode of directories: for their user alone.
const PRIVATE: Mode = Mode::RWXU;
/// The mode of files: for their user alone.
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// How every file is opened: no link is followed, and a FIFO waits for nobody.
const AS_IT_IS: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY);

/// The most bytes of a file of a cache.
const MOST_BYTES: u64 = 1 << 30;

/// A directory that is open.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

/// Something in a folder.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) is_folder: bool,
    pub(super) bytes: u64,
    pub(super) modified: SystemTime,
}

impl Folder {
    /// A directory that is open already.
    pub(super) fn of(descriptor: OwnedFd) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(&descriptor, ".", flags, Mode::empty());
        Ok(Self(retried(open)?))
    }

    /// The directory at a path, whoever has it.
    pub(super) fn at_path(path: &std::path::Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(CWD, path, flags, Mode::empty());
        Ok(Self(retried(open)?))
    }

    /// The folder of this name in here, if nobody else may write to it.
    pub(super) fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | AS_IT_IS;
        let open = || rustix::fs::openat(&self.0, name.as_ref(), flags, Mode::empty());
        let folder = Self(retried(open)?);
        is_ours(&folder.stat()?)?;
        Ok(folder)
    }

    /// As [`Folder::folder`], which is made if it is not there.
    pub(super) fn make_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        match self.new_folder(name.as_ref()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.folder(name),
            made => made,
        }
    }

    /// A folder that was not there before.
    pub(super) fn new_folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        make_private(&self.0, name.as_ref())?;
        self.folder(name)
    }

    /// The file of this name, to read, if nobody else may write to it.
    pub(super) fn open(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        self.file(name.as_ref(), OFlags::RDONLY)
    }

    /// The file of this name to append to, which is made if it is not there.
    pub(super) fn append(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        takes_room()?;
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
        self.file(name.as_ref(), flags)
    }

    fn file(&self, name: &OsStr, flags: OFlags) -> io::Result<File> {
        let flags = flags | AS_IT_IS;
        let file = retried(|| rustix::fs::openat(&self.0, name, flags, PRIVATE_FILE))?;
        let stat = rustix::fs::fstat(&file)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => is_ours(&stat)?,
            _ => return Err(irregular()),
        }
        Ok(File::from(file))
    }

    /// The file of this name that a program of ours has just made, in a folder that
    /// nobody else may enter. Takes the rights of other users to the file away.
    pub(super) fn take(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = OFlags::RDONLY | AS_IT_IS;
        let open = || rustix::fs::openat(&self.0, name.as_ref(), flags, Mode::empty());
        let file = retried(open)?;
        if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
            return Err(irregular());
        }
        // With the user's mask, a group may write to it.
        rustix::fs::fchmod(&file, PRIVATE)?;
        Ok(File::from(file))
    }

    /// Writes a file that was not there before.
    ///
    /// # Errors
    /// Also where the process may not write files of that length: the system would
    /// end it with a signal instead of refusing.
    pub(super) fn write(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> io::Result<()> {
        may_be_long(bytes.len() as u64)?;
        takes_room()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file = self.file(name.as_ref(), flags)?;
        write_all(&file, bytes)
    }

    /// Moves something to another folder of the same file system, where it takes the
    /// place of whatever file has that name.
    pub(super) fn rename(
        &self,
        name: impl AsRef<OsStr>,
        to: &Self,
        new_name: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        takes_room()?;
        let (from, to) = ((&self.0, name.as_ref()), (&to.0, new_name.as_ref()));
        retried(|| rustix::fs::renameat(from.0, from.1, to.0, to.1))
    }

    /// Removes the file or the folder of this name, with everything in it. It is no error
    /// if there is none, since other processes remove as well. The target of a link stays.
    pub(super) fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = name.as_ref();
        match retried(|| rustix::fs::unlinkat(&self.0, name, AtFlags::empty())) {
            Err(error) if is_folder_error(&error) => {}
            removed => return unless_gone(removed).map(drop),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | AS_IT_IS;
        let open = || rustix::fs::openat(&self.0, name, flags, Mode::empty());
        if let Some(folder) = unless_gone(retried(open))? {
            Self(folder).empty()?;
        }
        unless_gone(self.remove_empty(name)).map(drop)
    }

    /// Removes a folder in which nothing is.
    pub(super) fn remove_empty(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        retried(|| rustix::fs::unlinkat(&self.0, name.as_ref(), AtFlags::REMOVEDIR))
    }

    /// Removes everything in here. A folder stays if something is added to it meanwhile.
    pub(super) fn empty(&self) -> io::Result<()> {
        for entry in self.entries()? {
            match self.remove(&entry.name) {
                Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// All that is in here now.
    pub(super) fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut found = Vec::new();
        for entry in retried(|| Dir::read_from(&self.0))? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
            // Others remove meanwhile.
            let Some(stat) = unless_gone(stat.map_err(io::Error::from))? else {
                continue;
            };
            let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
            found.push(Entry {
                name: name.to_owned(),
                is_folder: FileType::from_raw_mode(stat.st_mode) == FileType::Directory,
                bytes: u64::try_from(stat.st_size).unwrap_or(0),
                modified: SystemTime::UNIX_EPOCH
                    + Duration::new(seconds, u32::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            });
        }
        Ok(found)
    }

    /// The metadata of the directory itself.
    pub(super) fn stat(&self) -> io::Result<Stat> {
        Ok(rustix::fs::fstat(&self.0)?)
    }

    /// A path that leads to this very directory, for a process that is started from here.
    /// `None` where the system has no such paths.
    pub(super) fn own_path(&self) -> Option<PathBuf> {
        let path = PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()));
        path.exists().then_some(path)
    }
}

fn irregular() -> io::Error {
    io::Error::other("it is no regular file")
}

/// Makes a directory for its user alone.
pub(super) fn make_private(above: &OwnedFd, name: &OsStr) -> io::Result<()> {
    takes_room()?;
    retried(|| rustix::fs::mkdirat(above, name, PRIVATE))
}

/// Refuses what belongs to another user, or what others may write to.
pub(super) fn is_ours(stat: &Stat) -> io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    if stat.st_uid != user {
        let owner = stat.st_uid;
        let text = format!("it belongs to another user (number {owner}, and we are {user})");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    let mode = stat.st_mode & 0o777;
    if mode & 0o022 != 0 {
        let text = format!("other users may write to it (mode {mode:03o})");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(())
}

/// All that is in a file.
pub(super) fn read_all(file: &File) -> io::Result<Vec<u8>> {
    let len = file.metadata()?.len();
    if len > MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    let room = usize::try_from(len).unwrap_or(usize::MAX);
    if fault::strikes(Fault::Memory) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    bytes
        .try_reserve_exact(room.saturating_add(1))
        .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    loop {
        let mut piece = [0; 16 << 10];
        let n = retried(|| rustix::io::read(file, &mut piece))?;
        if n == 0 {
            return Ok(bytes);
        }
        if (bytes.len() + n) as u64 > MOST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        bytes.extend_from_slice(&piece[..n]);
    }
}

/// Writes everything, in as many steps as the system takes.
pub(super) fn write_all(file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        takes_room()?;
        let most = match fault::strikes(Fault::ShortWrite) {
            true => bytes.len().div_ceil(2),
            false => bytes.len(),
        };
        match retried(|| rustix::io::write(file, &bytes[..most]))? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => bytes = &bytes[n..],
        }
    }
    Ok(())
}

/// Whether this process may write files of this length (`ulimit -f`).
pub(crate) fn may_be_long(bytes: u64) -> io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
    match limit.current {
        Some(most) if bytes > most => Err(io::ErrorKind::FileTooLarge.into()),
        _ => Ok(()),
    }
}

/// `None` instead of the error that there is no such file: other processes remove files
/// as well.
pub(super) fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Whether the error means that a folder cannot be removed as a file. Systems differ.
fn is_folder_error(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(Errno::ISDIR.raw_os_error()) || code == Some(Errno::PERM.raw_os_error())
}

/// Calls the system, again as often as a signal interrupts the call.
pub(super) fn retried<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        let ended = match fault::strikes(Fault::Signal) {
            true => Err(Errno::INTR),
            false => call(),
        };
        match ended {
            Err(Errno::INTR) => {}
            ended => return Ok(ended?),
        }
    }
}

/// Fails where tests inject a full disk.
fn takes_room() -> io::Result<()> {
    match fault::strikes(Fault::Disk) {
        true => Err(Errno::NOSPC.into()),
        false => Ok(()),
    }
}
