//! Places where a cache may be: the user's own directory, and temporary ones beside it.
//!
//! ```text
//! own          ~/.cache/sparsec   kernels stay from one program to the next
//! temporary    $TMPDIR  /tmp  /dev/shm   made when the place before has no room, gone with the cache
//! ```
//!
//! Failures are not remembered: a directory that cannot be made, or has no room, is tried
//! again the next time that a kernel needs it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::directory::{Directory, Unusable};
use crate::environment::Environment;

/// One of the places.
#[derive(Debug)]
pub(super) struct Place {
    at: At,
    /// The directory, while it is there.
    opened: Mutex<Option<Arc<Directory>>>,
    /// Whether it had no room when that was last needed.
    was_full: AtomicBool,
}

#[derive(Debug)]
enum At {
    /// The directory that the environment names, if it does.
    Own(Option<PathBuf>),
    /// A new directory in this one.
    Temporary(PathBuf),
}

impl Place {
    /// All places of a user, the own directory first.
    pub(super) fn all(environment: &Environment) -> Vec<Self> {
        // On disk, then in memory.
        let given = environment.temporary.clone();
        let usual = ["/tmp", "/dev/shm"].map(PathBuf::from);
        let mut parents: Vec<PathBuf> = given.into_iter().chain(usual).collect();
        parents.dedup();
        let own = Self::new(At::Own(environment.cache_path()));
        let temporary = parents.into_iter().map(|it| Self::new(At::Temporary(it)));
        std::iter::once(own).chain(temporary).collect()
    }

    fn new(at: At) -> Self {
        Self {
            at,
            opened: Mutex::new(None),
            was_full: AtomicBool::new(false),
        }
    }

    /// Whether kernels stay there.
    pub(super) fn is_own(&self) -> bool {
        matches!(self.at, At::Own(_))
    }

    /// The directory, opened or made if need be.
    pub(super) fn directory(&self) -> Result<Arc<Directory>, Unusable> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(directory) = opened.as_ref().filter(|it| it.is_there()) {
            return Ok(Arc::clone(directory));
        }
        let directory = Arc::new(match &self.at {
            At::Own(Some(path)) => Directory::open(path)?,
            At::Own(None) => {
                let why = "neither SPARSEC_CACHE_DIR nor HOME is set";
                return Err(Unusable::Failed(why.to_owned()));
            }
            At::Temporary(parent) => Directory::temporary(parent)?,
        });
        *opened = Some(Arc::clone(&directory));
        Ok(directory)
    }

    /// The directory to look for something in: a temporary one only if it is made already.
    pub(super) fn existing(&self) -> Option<Arc<Directory>> {
        if self.is_own() {
            return self.directory().ok();
        }
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.clone()
    }

    pub(super) fn was_full(&self) -> bool {
        self.was_full.load(Ordering::Relaxed)
    }

    pub(super) fn set_full(&self, full: bool) {
        self.was_full.store(full, Ordering::Relaxed);
    }
}
