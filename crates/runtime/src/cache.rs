//! The per-user disk cache of compiled kernels.
//!
//! ```text
//! ~/.cache/sparsec/            mode 0700, ours alone
//!   kernels/v0.1.0-6/3f/3f9a….so   a library, then its checksum
//!   compilers/81c0….txt        the description of a compiler
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
//! * The loader gets the bytes whose checksum was compared. A truncated, damaged or
//!   unreadable entry counts as absent and is made again.
//! * The cache uses no directory that others could write to or replace (`directory`), and
//!   no entry in it that is not a plain file of ours (`folder`).
//! * No result depends on the cache. If the user's directory is full, or cannot be used or
//!   written, kernels are compiled in a temporary one. [`Cache::trouble`] says why, for as
//!   long as that lasts.
//!
//! | part        | holds                                                     |
//! |-------------|-----------------------------------------------------------|
//! | `place`     | the user's own directory, and temporary ones beside it     |
//! | `directory` | whether a directory can be trusted, and its files          |
//! | `folder`    | files and folders by descriptors: every call to the system |
//! | `entry`     | the file of a kernel and its checksum                      |
//! | `lock`      | one process makes an entry, the others wait for it         |
//! | `room`      | the size of the cache, and removing its oldest entries     |
//! | `work`      | directories to compile in, also those of killed processes  |

mod directory;
mod entry;
mod folder;
mod lock;
mod place;
mod room;
mod work;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use sparsec_base::{Cancel, Diagnostic, Result, code};

use self::directory::{Directory, Unusable};
pub(crate) use self::entry::Library;
pub(crate) use self::folder::may_be_long;
pub(crate) use self::lock::Lock;
use self::place::Place;
pub(crate) use self::work::Work;
use crate::environment::Environment;
use crate::key::Key;

/// The folder of kernels.
const KERNELS: &str = "kernels";
/// The folder of the descriptions of compilers.
const COMPILERS: &str = "compilers";
/// The folder of directories to compile in.
const WORK: &str = "work";
/// The file that counts how much was added.
const WRITTEN: &str = "written";
/// The folders of a cache.
const FOLDERS: [&str; 3] = [KERNELS, COMPILERS, WORK];

/// How much a cache holds where `SPARSEC_CACHE_SIZE` says nothing: some thirty
/// thousand kernels.
const USUAL_BOUND: u64 = 500_000_000;

/// How long to wait for another process that makes the same entry: longer than
/// any kernel takes to compile.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a full place is not used.
const NO_ROOM: &str = "there is no room left";

/// How often to try again before the compiler is to blame.
const ATTEMPTS: usize = 2;

/// The directory that keeps compiled kernels. Any number of threads may use it.
#[derive(Debug)]
pub struct Cache {
    /// The user's own directory, then where to compile when that cannot take it.
    places: Vec<Place>,
    bound: u64,
    patience: Duration,
    trouble: Mutex<Option<String>>,
    cleaned: Once,
}

/// The size of a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheStat {
    /// How many kernels.
    pub kernels: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// The most bytes: beyond them, the kernels unused for longest are removed.
    pub bound: u64,
}

impl Cache {
    /// Opens the cache of this user, or a temporary one if that fails. Kernels run
    /// either way, and [`trouble`](Self::trouble) gives the reason.
    ///
    /// # Errors
    /// `E0503` if no temporary directory can be made either, `E0506` if
    /// `SPARSEC_CACHE_SIZE` is no size.
    pub fn open(environment: &Environment) -> Result<Self> {
        let cache = Self::new(environment)?;
        cache.home()?;
        Ok(cache)
    }

    /// Opens the directory of this user and no other, and makes it if it is not there:
    /// for questions about the cache itself.
    ///
    /// # Errors
    /// `E0503` if the directory cannot be made or no variable says where it is,
    /// `E0505` if others could put kernels there, `E0506` if
    /// `SPARSEC_CACHE_SIZE` is no size.
    pub fn open_own(environment: &Environment) -> Result<Self> {
        let mut cache = Self::new(environment)?;
        cache.places.retain(Place::is_own);
        match cache.places[0].directory() {
            Ok(_) => Ok(cache),
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

    fn new(environment: &Environment) -> Result<Self> {
        Ok(Self {
            places: Place::all(environment),
            bound: bound(environment.cache_size.as_deref())?,
            patience: PATIENCE,
            trouble: Mutex::new(None),
            cleaned: Once::new(),
        })
    }

    /// The first place that can be used.
    fn home(&self) -> Result<Arc<Directory>> {
        let mut causes = Vec::new();
        for place in &self.places {
            match place.directory() {
                Ok(directory) => return Ok(directory),
                Err(why) => self.note(place, &mut causes, why.to_string()),
            }
        }
        Err(no_place(&causes))
    }

    /// The same cache with another patience: how long it waits for another process that
    /// compiles the same kernel before it compiles the kernel as well.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The directory that kernels go to now.
    ///
    /// # Errors
    /// `E0503` if there is none any more.
    pub fn path(&self) -> Result<PathBuf> {
        Ok(self.home()?.path().to_owned())
    }

    /// Why kernels are not kept in the user's directory, if they are not.
    pub fn trouble(&self) -> Option<String> {
        self.known_trouble().clone()
    }

    fn known_trouble(&self) -> MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts what the cache holds.
    ///
    /// # Errors
    /// `E0503` if the directory cannot be read.
    pub fn stat(&self) -> Result<CacheStat> {
        let files = room::files(&*self.home()?)
            .map_err(|error| unusable(format!("the kernel cache cannot be read: {error}")))?;
        Ok(CacheStat {
            kernels: files.iter().filter(|file| file.is_kernel()).count() as u64,
            bytes: files.iter().map(|file| file.bytes).sum(),
            bound: self.bound,
        })
    }

    /// Removes every entry and the directories of killed processes. Loaded kernels go on
    /// working, and so do processes that compile at this moment.
    ///
    /// # Errors
    /// `E0503` if something cannot be removed.
    pub fn clear(&self) -> Result<()> {
        let home = self.home()?;
        work::remove_left(&home);
        let emptied = [KERNELS, COMPILERS, WRITTEN].iter().try_for_each(|name| {
            match home.folder().remove(name) {
                // Something that was added meanwhile keeps its folder.
                Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty => Ok(()),
                removed => removed,
            }
        });
        emptied.map_err(|error| unusable(format!("the kernel cache cannot be emptied: {error}")))
    }

    /// The library of the kernel `key`, if there is an undamaged one.
    pub(crate) fn kernel(&self, key: Key) -> Option<Library> {
        let mut places = self.places.iter().filter_map(Place::existing);
        places.find_map(|directory| directory.kernel(key))
    }

    /// Keeps the library in `file` of `work` as the kernel `key`, where it was made.
    pub(crate) fn keep_kernel(&self, key: Key, work: &Work, file: &str) {
        let directory = work.directory();
        let kept = directory.keep_kernel(key, work, file);
        let kept = kept.and_then(|(name, bytes)| room::added(directory, &name, bytes, self.bound));
        self.judge(directory, kept);
    }

    /// The description of the compiler `key`.
    pub(crate) fn compiler(&self, key: Key) -> Option<String> {
        let mut places = self.places.iter().filter_map(Place::existing);
        places.find_map(|directory| directory.compiler(key))
    }

    /// Keeps a compiler's description.
    pub(crate) fn keep_compiler(&self, key: Key, text: &str) {
        if let Ok(home) = self.home() {
            self.judge(&home, home.keep_compiler(key, text));
        }
    }

    /// Waits while another process or thread makes the entry `key`, unless it is
    /// cancelled. The caller, with the lock or after waiting in vain, then looks for the
    /// entry again and makes it if it is not there.
    pub(crate) fn turn(&self, key: Key, cancel: &Cancel) -> Option<Lock> {
        self.home().ok()?.turn(key, self.patience, cancel)
    }

    /// Runs `make` in a new directory. If it fails because the place has no room, tries
    /// the next place; otherwise tries once more in another directory, since a compiler
    /// may have been killed. Does not try again after a compiler that hangs.
    ///
    /// # Errors
    /// That of `make` when it failed where there was room, time and again;
    /// `E0503` if there is room nowhere.
    pub(crate) fn attempt<T>(&self, mut make: impl FnMut(&Work) -> Result<T>) -> Result<(T, Work)> {
        self.cleaned.call_once(|| self.remove_left());
        let mut failures = 0;
        let mut causes = Vec::new();
        for place in &self.places {
            let directory = match place.directory() {
                Ok(directory) => directory,
                Err(why) => {
                    self.note(place, &mut causes, why.to_string());
                    continue;
                }
            };
            let why = loop {
                let work = match directory.work() {
                    Ok(work) => work,
                    Err(error) => break error.to_string(),
                };
                // A compiler need not run to find that there is still no room.
                if place.was_full() && !work.has_room() {
                    break NO_ROOM.to_owned();
                }
                match make(&work) {
                    Ok(made) => {
                        place.set_full(false);
                        return Ok((made, work));
                    }
                    Err(error) if error.code() == code::CANCELLED => return Err(error),
                    Err(_) if !work.has_room() => break NO_ROOM.to_owned(),
                    Err(error) => {
                        failures += 1;
                        if failures == ATTEMPTS || error.code() == code::COMPILER_HANGS {
                            return Err(error);
                        }
                    }
                }
            };
            place.set_full(true);
            let why = format!("{}: {why}", directory.path().display());
            self.note(place, &mut causes, why);
        }
        Err(no_place(&causes))
    }

    /// Adds the reason why a place cannot be used now to the causes. For the user's own
    /// directory it is also the trouble that the user is told.
    fn note(&self, place: &Place, causes: &mut Vec<String>, why: String) {
        if place.is_own() {
            *self.known_trouble() = Some(why.clone());
        }
        causes.push(why);
    }

    /// Sets or clears the trouble of the user's own directory, after an attempt to keep
    /// something in `directory`.
    fn judge<T>(&self, directory: &Arc<Directory>, kept: std::io::Result<T>) {
        let own = self.places.iter().find(|place| place.is_own());
        let own = own.and_then(Place::existing);
        if own.is_some_and(|own| Arc::ptr_eq(&own, directory)) {
            let why = |error| format!("{}: {error}", directory.path().display());
            *self.known_trouble() = kept.err().map(why);
        }
    }

    /// Removes the directories of killed processes and the kernels of older versions.
    fn remove_left(&self) {
        if let Ok(home) = self.home() {
            work::remove_left(&home);
            room::remove_stale(&home);
        }
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
        "T" | "TB" => 1_000_000_000_000,
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
        check("2T", Some(2_000_000_000_000));
        for text in ["", "M", "-1", "1.5G", "2P", "99999999999999999999", "1 M M"] {
            check(text, None);
        }
        assert_eq!(bound(None), Ok(USUAL_BOUND));
    }
}
