//! Loads compiled kernels into the process.
//!
//! The loader has to get the bytes that were compared with their checksum, but it takes
//! only paths. So the bytes go to a file in memory that nobody can change any more
//! (a sealed `memfd`), and the loader gets the path of its descriptor:
//!
//! ```text
//! file ──read once──► bytes ──compared──► memfd, sealed ──► /proc/self/fd//./.7
//! ```
//!
//! If the system has no such files, or does not execute them, the path leads to the
//! descriptor that the bytes were read from. That file is in a directory that only we can
//! write to.
//!
//! Loaders know a library by its path. For a path that they know they return the old
//! library, even if the descriptor belongs to another file by then. So each library gets a
//! spelling of the path of its own ([`alias`]). The descriptor is closed once the library
//! is loaded, so a program can hold more kernels than descriptors.

#![allow(unsafe_code)]

use std::error::Error as _;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use libloading::os::unix::{Library as Code, RTLD_LOCAL, RTLD_NOW};
use sparsec_base::{Diagnostic, Result, code};
use sparsec_parallel::fault::{self, Fault};

use crate::abi::Launch;
use crate::cache::{Library, may_be_long};

/// The launch entry of a kernel. Dropping this unloads its code.
#[derive(Debug)]
pub(crate) struct Loaded {
    launch: Launch,
    /// Keeps the code of `launch`.
    _code: Code,
}

impl Loaded {
    /// Loads a library whose launch entry is `entry`.
    ///
    /// # Errors
    /// `E0504` with what the loader says.
    pub(crate) fn open(library: &Library, entry: &str) -> Result<Self> {
        let sealed = sealed(&library.bytes);
        let loaded = sealed.and_then(|file| load(&alias(&file, &library.path)).ok());
        let code = match loaded {
            Some(code) => code,
            None => load(&alias(&library.file, &library.path))
                .map_err(|error| refused(&library.path, &error))?,
        };
        // SAFETY: the emitted C defines the entry with this type.
        let launch = unsafe { code.get::<Launch>(entry.as_bytes()) };
        Ok(Self {
            launch: *launch.map_err(|error| refused(&library.path, &error))?,
            _code: code,
        })
    }

    /// The entry. It must not be called when `self` is gone.
    pub(crate) fn launch(&self) -> Launch {
        self.launch
    }
}

fn load(path: &Path) -> std::result::Result<Code, libloading::Error> {
    // SAFETY: the path leads to a library that we compiled, whole by its checksum, in
    // memory that nobody writes or in a directory that only we can write to; it has no
    // initialisers.
    unsafe { Code::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
}

/// These bytes as a file in memory that nobody can change, if the system has such files.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn sealed(bytes: &[u8]) -> Option<File> {
    use std::io::Write as _;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    // The limit on the length of files counts here too: beyond it, a signal ends the
    // process.
    may_be_long(bytes.len() as u64).ok()?;
    if fault::strikes(Fault::Memory) {
        return None;
    }
    /// States that the file will be executed. Linux before 6.3 refuses the flag.
    const EXECUTABLE: MemfdFlags = MemfdFlags::from_bits_retain(0x10);
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let made = memfd_create("sparsec", flags | EXECUTABLE);
    let mut file = File::from(made.or_else(|_| memfd_create("sparsec", flags)).ok()?);
    file.write_all(bytes).ok()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals).ok()?;
    Some(file)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn sealed(_: &[u8]) -> Option<File> {
    None
}

/// A path of the file by which no library was loaded before; `usual` if descriptors have
/// no paths.
fn alias(file: &File, usual: &Path) -> PathBuf {
    use std::os::fd::AsRawFd as _;

    /// A process has one loader, which knows every path that it was ever given.
    static N_LOADED: AtomicU64 = AtomicU64::new(0);
    const DESCRIPTORS: &str = "/proc/self/fd";
    if !Path::new(DESCRIPTORS).exists() {
        return usual.to_owned();
    }
    // The digits are `/.` and `/`, which do not change where a path leads.
    let number = N_LOADED.fetch_add(1, Ordering::Relaxed);
    let digits = format!("{number:b}").replace('1', "/.").replace('0', "/");
    format!("{DESCRIPTORS}{digits}/{}", file.as_raw_fd()).into()
}

fn refused(file: &Path, error: &libloading::Error) -> Diagnostic {
    let said = error
        .source()
        .map_or_else(|| error.to_string(), |source| source.to_string());
    Diagnostic::new(
        code::LOAD_FAILED,
        format!("the compiled kernel {} cannot be loaded", file.display()),
    )
    .note(format!("the loader says: {said}"))
    .help(
        "see with `sparsec doctor` whether the compiler writes libraries for this machine, or \
         name another in SPARSEC_CC",
    )
}
