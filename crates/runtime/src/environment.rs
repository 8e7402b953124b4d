//! What the runtime takes from the process it runs in.
//!
//! The variables are read once, here, and passed on; nothing else in the crate
//! asks the process. So tests and embedders can say what they want without
//! changing it for everyone.

use std::ffi::OsString;
use std::path::PathBuf;

/// The environment variables that choose compiler and cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `SPARSEC_CC`: the only compiler to try, with its first arguments.
    pub sparsec_cc: Option<OsString>,
    /// `CC`: the compiler to try first.
    pub cc: Option<OsString>,
    /// `PATH`: where programs are looked for.
    pub path: Option<OsString>,
    /// `SPARSEC_CACHE_DIR`: the cache itself.
    pub cache_dir: Option<PathBuf>,
    /// `XDG_CACHE_HOME`: the parent of all caches.
    pub cache_home: Option<PathBuf>,
    /// `SPARSEC_CACHE_SIZE`: how much the cache may hold, as in `200M`.
    pub cache_size: Option<OsString>,
    /// `TMPDIR`: where temporary directories are made.
    pub temporary: Option<PathBuf>,
    /// `HOME`, whose `.cache` is the parent of all caches otherwise.
    pub home: Option<PathBuf>,
}

impl Environment {
    /// The environment of this process. Empty variables count as unset.
    pub fn of_process() -> Self {
        let get = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            sparsec_cc: get("SPARSEC_CC"),
            cc: get("CC"),
            path: get("PATH"),
            cache_dir: get("SPARSEC_CACHE_DIR").map(PathBuf::from),
            cache_home: get("XDG_CACHE_HOME").map(PathBuf::from),
            cache_size: get("SPARSEC_CACHE_SIZE"),
            temporary: get("TMPDIR").map(PathBuf::from),
            home: get("HOME").map(PathBuf::from),
        }
    }

    /// Where the cache belongs, if the environment says.
    pub fn cache_path(&self) -> Option<PathBuf> {
        if let Some(dir) = &self.cache_dir {
            return Some(dir.clone());
        }
        // The XDG convention has relative paths ignored.
        let home = self.cache_home.clone().filter(|path| path.is_absolute());
        let parent = home.or_else(|| self.home.as_ref().map(|home| home.join(".cache")))?;
        Some(parent.join("sparsec"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_the_user_says() {
        let mut environment = Environment::default();
        assert_eq!(environment.cache_path(), None);
        environment.home = Some("/home/u".into());
        assert_eq!(
            environment.cache_path(),
            Some("/home/u/.cache/sparsec".into())
        );
        environment.cache_home = Some("/xdg".into());
        assert_eq!(environment.cache_path(), Some("/xdg/sparsec".into()));
        environment.cache_home = Some("relative".into());
        assert_eq!(
            environment.cache_path(),
            Some("/home/u/.cache/sparsec".into())
        );
        environment.cache_dir = Some("/mine".into());
        assert_eq!(environment.cache_path(), Some("/mine".into()));
    }
}
