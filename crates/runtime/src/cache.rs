//! The per-user disk cache of compiled kernels.
//!
//! ```text
//! ~/.cache/sparsec/            mode 0700, ours alone
//!   kernels/3f/3f9a….so        a library, then its checksum
//!   compilers/81c0….txt        what probing a compiler found
//!   work/cc-…/                 where kernels are compiled before they move into place
//!   lock                       an empty file, each byte of which is a lock
//!   written                    kilobytes added since the cache was last gone through
//! ```
//!
//! Invariants:
//!
//! * A name is the [`Key`] of everything that its content depends on, so an
//!   entry never changes; two processes that make the same entry make equal ones.
//! * Files appear by renaming, so a reader sees all of one or nothing.
//! * An entry is loaded only after its checksum was compared: what is
//!   truncated, damaged or unreadable counts as absent and is made again.
//! * A directory that others could write to is never used (`directory`).
//! * Nothing here is needed for a right result. Where the user's directory
//!   cannot be used or written, or is full, kernels are compiled in a temporary
//!   one; [`Cache::trouble`] says why.
//!
//! | part        | holds                                                     |
//! |-------------|-----------------------------------------------------------|
//! | `directory` | who may write to a cache, and where its files are          |
//! | `entry`     | the file of a kernel and its checksum                      |
//! | `lock`      | one process makes an entry, the others wait for it         |
//! | `room`      | how much there is, and removing what was not used for long |
//! | `work`      | directories to compile in, and what killed processes left  |

mod directory;
mod entry;
mod lock;
mod room;
mod work;

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Once, OnceLock};
use std::time::Duration;

use sparsec_base::{Diagnostic, Result, code};
use tempfile::TempDir;

use self::directory::{Directory, Unusable};
pub(crate) use self::lock::Lock;
pub(crate) use self::work::{Work, write};
use crate::environment::Environment;
use crate::key::Key;

/// The folder of kernels.
const KERNELS: &str = "kernels";
/// The folder of what probing compilers found.
const COMPILERS: &str = "compilers";
/// The folder of what is being made.
const WORK: &str = "work";
/// The folders of a cache.
const FOLDERS: [&str; 3] = [KERNELS, COMPILERS, WORK];

/// How much a cache holds where `SPARSEC_CACHE_SIZE` says nothing: some thirty
/// thousand kernels.
const USUAL_BOUND: u64 = 500_000_000;

/// How long to wait for another process that makes the same entry: longer than
/// any kernel takes to compile.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often to try again before the compiler is to blame.
const ATTEMPTS: usize = 2;

/// The directory that keeps compiled kernels. Any number of threads may use it.
#[derive(Debug)]
pub struct Cache {
    home: Directory,
    bound: u64,
    patience: Duration,
    trouble: OnceLock<String>,
    cleaned: Once,
    /// Where to compile when `home` cannot take it, once that was needed.
    spares: Vec<Spare>,
    /// Removes a temporary `home` when the cache is dropped.
    _temporary: Option<TempDir>,
}

/// A temporary directory that is made when it is needed.
#[derive(Debug)]
struct Spare {
    parent: PathBuf,
    made: OnceLock<std::result::Result<(Directory, TempDir), String>>,
}

/// What a cache holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheStat {
    /// How many kernels.
    pub kernels: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// As many bytes as the cache may hold before the kernels that were not
    /// used for longest are removed.
    pub bound: u64,
}

impl Cache {
    /// Opens the cache of this user, or a temporary one where that fails:
    /// kernels run either way, and [`trouble`](Self::trouble) says what is wrong.
    ///
    /// # Errors
    /// `E0503` if no temporary directory can be made either, `E0506` if
    /// `SPARSEC_CACHE_SIZE` is no size.
    pub fn open(environment: &Environment) -> Result<Self> {
        let bound = bound(environment.cache_size.as_deref())?;
        let refused = match own(environment) {
            Ok(home) => return Ok(Self::at(home, bound, environment)),
            Err(refused) => refused.to_string(),
        };
        let mut causes = Vec::new();
        for parent in temporary_parents(environment) {
            match temporary(&parent) {
                Ok((home, folder)) => {
                    let mut cache = Self::at(home, bound, environment);
                    cache.trouble = OnceLock::from(refused);
                    cache._temporary = Some(folder);
                    return Ok(cache);
                }
                Err(cause) => causes.push(cause),
            }
        }
        causes.insert(0, refused);
        Err(no_place(&causes))
    }

    /// Opens the directory of this user and no other, making it if need be: for
    /// those who ask about the cache rather than for a kernel.
    ///
    /// # Errors
    /// `E0503` if the directory cannot be made or no variable says where it is,
    /// `E0505` if others could put kernels there, `E0506` if
    /// `SPARSEC_CACHE_SIZE` is no size.
    pub fn open_own(environment: &Environment) -> Result<Self> {
        let bound = bound(environment.cache_size.as_deref())?;
        match own(environment) {
            Ok(home) => Ok(Self::at(home, bound, environment)),
            Err(refused) => {
                let message = format!("the cache directory cannot be used: {refused}");
                Err(match refused {
                    Unusable::Failed(..) => unusable(message),
                    Unusable::NotPrivate(..) => Diagnostic::new(code::CACHE_NOT_PRIVATE, message)
                        .note("compiled kernels are programs that run as you")
                        .help(
                            "take the right to write there from others, or name another \
                             directory in SPARSEC_CACHE_DIR",
                        ),
                })
            }
        }
    }

    fn at(home: Directory, bound: u64, environment: &Environment) -> Self {
        let spare = |parent| Spare {
            parent,
            made: OnceLock::new(),
        };
        Self {
            home,
            bound,
            patience: PATIENCE,
            trouble: OnceLock::new(),
            cleaned: Once::new(),
            spares: temporary_parents(environment).map(spare).collect(),
            _temporary: None,
        }
    }

    /// The same cache, waiting this long for other processes that compile the
    /// kernel which is wanted, before it is compiled here as well.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.home.path()
    }

    /// Why kernels are not kept in the user's directory, if they are not.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.get().map(String::as_str)
    }

    /// Counts what the cache holds.
    ///
    /// # Errors
    /// `E0503` if the directory cannot be read.
    pub fn stat(&self) -> Result<CacheStat> {
        let files = room::files(&self.home)
            .map_err(|error| unusable(format!("the kernel cache cannot be read: {error}")))?;
        Ok(CacheStat {
            kernels: files.iter().filter(|file| file.is_kernel()).count() as u64,
            bytes: files.iter().map(|file| file.bytes).sum(),
            bound: self.bound,
        })
    }

    /// Removes every entry, and what killed processes left. Kernels that are
    /// loaded go on working, and so do processes that compile at this moment.
    ///
    /// # Errors
    /// `E0503` if something cannot be removed.
    pub fn clear(&self) -> Result<()> {
        self.remove_left();
        let emptied = [KERNELS, COMPILERS]
            .iter()
            .try_for_each(|folder| remove_all(&self.home.join(folder)))
            .and_then(|()| unless_gone(fs::remove_file(self.home.join("written"))));
        match emptied {
            Ok(_) => Ok(()),
            Err(error) => Err(unusable(format!(
                "the kernel cache cannot be emptied: {error}"
            ))),
        }
    }

    /// The file of the kernel `key`, if there is an undamaged one.
    pub(crate) fn kernel(&self, key: Key) -> Option<PathBuf> {
        let path = self.kernel_path(key);
        entry::is_whole(&path, key).then_some(path)
    }

    /// Keeps the library in `file`, of this cache's work, as the kernel `key`.
    pub(crate) fn keep_kernel(&self, key: Key, file: &Path) {
        let place = self.kernel_path(key);
        let kept = entry::seal(file, key)
            .and_then(|()| self.home.put(file, &place))
            .and_then(|()| room::added(&self.home, &place, self.bound));
        if let Err(error) = kept {
            self.note(&self.home, &error.to_string());
        }
    }

    /// What was found out about the compiler `key`.
    pub(crate) fn compiler(&self, key: Key) -> Option<String> {
        fs::read_to_string(self.compiler_path(key)).ok()
    }

    /// Keeps a compiler's description.
    pub(crate) fn keep_compiler(&self, key: Key, text: &str) {
        let kept = self.home.work().and_then(|work| {
            let file = work.join("compiler.txt");
            write(&file, text.as_bytes())?;
            self.home.put(&file, &self.compiler_path(key))
        });
        if let Err(error) = kept {
            self.note(&self.home, &error.to_string());
        }
    }

    /// Waits while another process or thread makes the entry `key`. Whoever
    /// has the lock, or waited long enough and has none, looks again for the
    /// entry and then makes it.
    pub(crate) fn turn(&self, key: Key) -> Option<Lock> {
        self.home.turn(key, self.patience)
    }

    /// Runs `make` in a new directory, and again if it fails: elsewhere if the
    /// directory had no room, else in another one, as compilers get killed too. One
    /// that hangs is not waited for again.
    ///
    /// # Errors
    /// That of `make` when it failed where there was room, time and again;
    /// `E0503` if there is room nowhere.
    pub(crate) fn attempt<T>(&self, mut make: impl FnMut(&Work) -> Result<T>) -> Result<(T, Work)> {
        self.cleaned.call_once(|| self.remove_left());
        let mut failures = 0;
        let mut full = Vec::new();
        let spares = self.spares.iter().map(Spare::directory);
        for place in std::iter::once(Ok(&self.home)).chain(spares) {
            let place = match place {
                Ok(place) => place,
                Err(why) => {
                    full.push(why);
                    continue;
                }
            };
            let why = loop {
                let work = match place.work() {
                    Ok(work) => work,
                    Err(error) => break error.to_string(),
                };
                match make(&work) {
                    Ok(made) => return Ok((made, work)),
                    Err(_) if !work.has_room() => break "there is no room left".to_owned(),
                    Err(error) => {
                        failures += 1;
                        if failures == ATTEMPTS || error.code() == code::COMPILER_HANGS {
                            return Err(error);
                        }
                    }
                }
            };
            self.note(place, &why);
            full.push(format!("{}: {why}", place.path().display()));
        }
        Err(no_place(&full))
    }

    /// Remembers the first thing that keeps the cache from being used.
    fn note(&self, place: &Directory, why: &str) {
        self.trouble
            .get_or_init(|| format!("{}: {why}", place.path().display()));
    }

    fn remove_left(&self) {
        work::remove_left(&self.home.join(WORK), &self.home.lock_file());
    }

    fn kernel_path(&self, key: Key) -> PathBuf {
        let name = key.to_string();
        let shard = &name[..2];
        self.home.join(format!("{KERNELS}/{shard}/{name}.so"))
    }

    fn compiler_path(&self, key: Key) -> PathBuf {
        self.home.join(format!("{COMPILERS}/{key}.txt"))
    }
}

impl Spare {
    fn directory(&self) -> std::result::Result<&Directory, String> {
        let made = self.made.get_or_init(|| temporary(&self.parent));
        made.as_ref()
            .map(|(directory, _)| directory)
            .map_err(Clone::clone)
    }
}

/// Where temporary directories may be: on disk, then in memory.
fn temporary_parents(environment: &Environment) -> impl Iterator<Item = PathBuf> {
    let usual = || PathBuf::from("/tmp");
    let first = environment.temporary.clone().unwrap_or_else(usual);
    [first, "/dev/shm".into()].into_iter()
}

fn temporary(parent: &Path) -> std::result::Result<(Directory, TempDir), String> {
    let folder = tempfile::Builder::new()
        .prefix("sparsec-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(|error| format!("{}: {error}", parent.display()))?;
    let directory = Directory::open(folder.path()).map_err(|refused| refused.to_string())?;
    Ok((directory, folder))
}

/// The directory that the environment names.
fn own(environment: &Environment) -> std::result::Result<Directory, Unusable> {
    match environment.cache_path() {
        Some(path) => Directory::open(&path),
        None => Err(Unusable::Failed(
            "neither SPARSEC_CACHE_DIR nor HOME is set".to_owned(),
        )),
    }
}

/// How many bytes a text says: digits and at most a unit, as in `200M`.
pub fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor: u64 = match text[digits.len()..].trim() {
        "" | "B" => 1,
        "k" | "K" | "kB" | "KB" => 1_000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// How many bytes a cache may hold.
fn bound(text: Option<&OsStr>) -> Result<u64> {
    let Some(text) = text else {
        return Ok(USUAL_BOUND);
    };
    text.to_str().and_then(bytes).ok_or_else(|| {
        Diagnostic::new(
            code::CACHE_SIZE,
            format!(
                "SPARSEC_CACHE_SIZE is `{}`, which is no size",
                text.display()
            ),
        )
        .help("write bytes, or a number with a unit: `200M`, `2G`")
    })
}

/// Removes files and folders, whoever else adds and removes there.
fn remove_all(folder: &Path) -> io::Result<()> {
    let Some(entries) = unless_gone(fs::read_dir(folder))? else {
        return Ok(());
    };
    for entry in entries {
        let Some(entry) = unless_gone(entry)? else {
            continue;
        };
        match unless_gone(entry.file_type())? {
            Some(kind) if kind.is_dir() => remove_all(&entry.path())?,
            _ => {
                unless_gone(fs::remove_file(entry.path()))?;
            }
        }
    }
    // Something that was added meanwhile keeps its folder.
    match unless_gone(fs::remove_dir(folder)) {
        Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
        _ => Ok(()),
    }
}

/// Nothing where there is nothing, as others remove files as well.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

fn unusable(what: String) -> Diagnostic {
    Diagnostic::new(code::CACHE_UNUSABLE, what)
        .help("name a directory that you can write to in SPARSEC_CACHE_DIR")
}

fn no_place(causes: &[String]) -> Diagnostic {
    let what = "there is no place to compile kernels in";
    let mut diagnostic = Diagnostic::new(code::CACHE_UNUSABLE, what);
    for cause in causes {
        diagnostic = diagnostic.note(cause.clone());
    }
    diagnostic
        .help("free some space, or name a directory that you can write to in SPARSEC_CACHE_DIR")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let check = |text: &str, expect: Option<u64>| {
            let found = bound(Some(OsStr::new(text)));
            match (&found, expect) {
                (Ok(bytes), Some(expect)) => assert_eq!(*bytes, expect, "{text}"),
                (Err(error), None) => assert_eq!(error.code(), code::CACHE_SIZE, "{text}"),
                _ => panic!("{text}: {found:?}"),
            }
        };
        check("0", Some(0));
        check("1500", Some(1500));
        check(" 20 MB ", Some(20_000_000));
        check("3k", Some(3_000));
        check("2G", Some(2_000_000_000));
        for text in ["", "M", "-1", "1.5G", "2T", "99999999999999999999", "1 M M"] {
            check(text, None);
        }
        assert_eq!(bound(None), Ok(USUAL_BOUND));
    }
}
