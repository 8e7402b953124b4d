//! The per-user disk cache of compiled kernels.
//!
//! ```text
//! ~/.cache/sparsec/            mode 0700, ours alone
//!   kernels/3f/3f9a….so        a library, then a trailer: its checksum and a mark
//!   compilers/81c0….txt        what probing a compiler found
//!   work/                      where kernels are compiled before they move into place
//! ```
//!
//! Invariants:
//!
//! * A name is the [`Key`] of everything that its content depends on, so an
//!   entry never changes; two processes that make the same entry write the same.
//! * Files appear by renaming, so a reader sees all of one or nothing.
//! * An entry is loaded only after its checksum was compared: what is
//!   truncated, damaged or unreadable counts as absent and is made again.
//! * A directory that others could write to is never used. Where the user's
//!   directory cannot be used, entries go to a temporary one that lives as long
//!   as the [`Cache`]; [`Cache::trouble`] says why.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sparsec_base::{Diagnostic, Result, code};
use tempfile::TempDir;

use crate::environment::Environment;
use crate::key::{Key, checksum};

/// The end of every kernel's file, after the checksum.
const MARK: &[u8; 8] = b"SPARSEC1";
/// Bytes of checksum and mark.
const TRAILER: usize = 32 + MARK.len();
/// The folders of a cache; `clear` removes nothing else.
const FOLDERS: [&str; 3] = ["kernels", "compilers", "work"];

/// The directory that keeps compiled kernels.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    trouble: Option<String>,
    /// Removes a temporary directory when the cache is dropped.
    _temporary: Option<TempDir>,
}

/// What a cache holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheStat {
    /// How many kernels.
    pub kernels: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

impl Cache {
    /// Opens the cache of this user, or a temporary one where that fails.
    ///
    /// # Errors
    /// `E0503` if no temporary directory can be made either.
    pub fn open(environment: &Environment) -> Result<Self> {
        let trouble = match environment.cache_path() {
            None => "neither SPARSEC_CACHE_DIR nor HOME is set".to_owned(),
            Some(path) => match prepare(&path) {
                Ok(path) => {
                    return Ok(Self {
                        path,
                        trouble: None,
                        _temporary: None,
                    });
                }
                Err(error) => format!("{}: {error}", path.display()),
            },
        };
        Self::temporary(trouble)
    }

    fn temporary(trouble: String) -> Result<Self> {
        let made = tempfile::Builder::new()
            .prefix("sparsec-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()
            .and_then(|dir| Ok((prepare(dir.path())?, dir)));
        match made {
            Ok((path, dir)) => Ok(Self {
                path,
                trouble: Some(trouble),
                _temporary: Some(dir),
            }),
            Err(error) => Err(unusable("no temporary directory can be made", &error)
                .note(format!("the cache directory cannot be used: {trouble}"))),
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why the user's directory is not used, if it is not.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Counts what the cache holds.
    ///
    /// # Errors
    /// `E0503` if the directory cannot be read.
    pub fn stat(&self) -> Result<CacheStat> {
        let mut stat = CacheStat {
            kernels: 0,
            bytes: 0,
        };
        for folder in FOLDERS {
            count(&self.path.join(folder), &mut stat)
                .map_err(|error| unusable("the kernel cache cannot be read", &error))?;
        }
        Ok(stat)
    }

    /// Removes every entry. Kernels that are loaded go on working.
    ///
    /// # Errors
    /// `E0503` if something cannot be removed.
    pub fn clear(&self) -> Result<()> {
        for folder in FOLDERS {
            let folder = self.path.join(folder);
            match fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(unusable("the kernel cache cannot be emptied", &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The file of the kernel `key`, if there is an undamaged one.
    pub(crate) fn kernel(&self, key: Key) -> Option<PathBuf> {
        let path = self.kernel_path(key);
        is_whole(&fs::read(&path).ok()?).then_some(path)
    }

    /// Keeps the library in `file` as the kernel `key`; its file.
    pub(crate) fn keep_kernel(&self, key: Key, file: &Path) -> io::Result<PathBuf> {
        let mut bytes = fs::read(file)?;
        let sum = checksum(&bytes);
        bytes.extend(sum);
        bytes.extend(MARK);
        let path = self.kernel_path(key);
        self.put(&path, &bytes)?;
        Ok(path)
    }

    /// A file of its own for a compiler's description.
    pub(crate) fn compiler(&self, key: Key) -> Option<String> {
        fs::read_to_string(self.compiler_path(key)).ok()
    }

    /// Keeps a compiler's description.
    pub(crate) fn keep_compiler(&self, key: Key, text: &str) -> io::Result<()> {
        self.put(&self.compiler_path(key), text.as_bytes())
    }

    /// A new directory to compile in, removed when dropped.
    pub(crate) fn work(&self) -> io::Result<TempDir> {
        let parent = self.path.join("work");
        make_private(&parent)?;
        tempfile::Builder::new().prefix("cc-").tempdir_in(parent)
    }

    fn kernel_path(&self, key: Key) -> PathBuf {
        let name = key.to_string();
        let shard = &name[..2];
        self.path
            .join("kernels")
            .join(shard)
            .join(format!("{name}.so"))
    }

    fn compiler_path(&self, key: Key) -> PathBuf {
        self.path.join("compilers").join(format!("{key}.txt"))
    }

    /// Writes `bytes` beside `path` and renames them into place.
    fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let parent = path.parent().unwrap_or(&self.path);
        make_private(parent)?;
        let mut file = tempfile::NamedTempFile::new_in(parent)?;
        file.write_all(bytes)?;
        file.persist(path)?;
        Ok(())
    }
}

/// Whether a kernel's file ends with the checksum of what is before it.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(at) = bytes.len().checked_sub(TRAILER) else {
        return false;
    };
    let (library, trailer) = bytes.split_at(at);
    trailer[32..] == *MARK && trailer[..32] == checksum(library)
}

/// Makes `path` a directory that we alone can write to; its absolute path.
fn prepare(path: &Path) -> io::Result<PathBuf> {
    make_private(path)?;
    let path = path.canonicalize()?;
    let metadata = fs::metadata(&path)?;
    if metadata.uid() != own_user() {
        return Err(io::Error::other("the directory belongs to another user"));
    }
    if metadata.permissions().mode() & 0o022 != 0 {
        return Err(io::Error::other("others may write to the directory"));
    }
    // The mode may allow what a read-only file system does not.
    tempfile::NamedTempFile::new_in(&path)?;
    Ok(path)
}

/// Makes a directory, and those above it, for the user alone.
fn make_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[allow(unsafe_code)]
fn own_user() -> u32 {
    // SAFETY: asks the system for a number; it cannot fail.
    unsafe { libc::geteuid() }
}

fn count(folder: &Path, stat: &mut CacheStat) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let metadata = match entry.metadata() {
            // Another process may remove its work meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        if metadata.is_dir() {
            count(&entry.path(), stat)?;
        } else {
            stat.bytes += metadata.len();
            stat.kernels += u64::from(entry.path().extension().is_some_and(|ext| ext == "so"));
        }
    }
    Ok(())
}

fn unusable(what: &str, error: &io::Error) -> Diagnostic {
    Diagnostic::new(code::CACHE_UNUSABLE, format!("{what}: {error}"))
        .help("name a directory that you can write to in SPARSEC_CACHE_DIR")
}
