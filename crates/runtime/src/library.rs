//! Loading compiled kernels into the process.
//!
//! A library is loaded from its file, or where the file system does not allow
//! that (`noexec`), from a copy in memory.
//!
//! Loaders know a library by its path, and answer a known path with what they
//! have. A file in memory has its descriptor for a path, so the descriptor stays
//! open, and its number taken, for as long as the library is loaded.

#![allow(unsafe_code)]

use std::error::Error as _;
use std::fs::File;
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use sparsec_base::{Diagnostic, Result, code};

use crate::abi::Launch;

/// The launch entry of a kernel, for as long as this is there.
#[derive(Debug)]
pub(crate) struct Loaded {
    launch: Launch,
    /// Keeps the code of `launch`.
    _library: Library,
    /// Closed after the library, as fields are dropped in this order.
    _copy: Option<File>,
}

impl Loaded {
    /// Loads the library in `file`, whose launch entry is `entry`.
    ///
    /// # Errors
    /// `E0504` with what the loader says.
    pub(crate) fn open(file: &Path, entry: &str) -> Result<Self> {
        let (library, copy) = match open(file) {
            Ok(library) => (library, None),
            Err(error) => open_copy(file).ok_or_else(|| refused(file, &error))?,
        };
        // SAFETY: the emitted C defines the entry with this type.
        let launch = unsafe { library.get::<Launch>(entry.as_bytes()) };
        Ok(Self {
            launch: *launch.map_err(|error| refused(file, &error))?,
            _library: library,
            _copy: copy,
        })
    }

    /// The entry. It must not be called when `self` is gone.
    pub(crate) fn launch(&self) -> Launch {
        self.launch
    }
}

fn open(file: &Path) -> std::result::Result<Library, libloading::Error> {
    // SAFETY: the file is a library that we compiled, whole by its checksum,
    // in a directory that only we can write to; it has no initialisers.
    unsafe { Library::open(Some(file), RTLD_NOW | RTLD_LOCAL) }
}

/// Loads a copy of the library that is in memory.
#[cfg(target_os = "linux")]
fn open_copy(file: &Path) -> Option<(Library, Option<File>)> {
    use std::io::Write as _;
    use std::os::fd::{AsRawFd as _, FromRawFd as _};

    /// Says that the file is to be executed; systems before Linux 6.3 refuse it.
    const EXECUTABLE: libc::c_uint = 0x10;
    let bytes = std::fs::read(file).ok()?;
    let mut copy = [EXECUTABLE, 0].into_iter().find_map(|flag| {
        // SAFETY: the name is a string of C; the call touches nothing else.
        let descriptor =
            unsafe { libc::memfd_create(c"sparsec".as_ptr(), libc::MFD_CLOEXEC | flag) };
        // SAFETY: the descriptor is new, so nobody else closes it.
        (descriptor >= 0).then(|| unsafe { File::from_raw_fd(descriptor) })
    })?;
    copy.write_all(&bytes).ok()?;
    let path = format!("/proc/self/fd/{}", copy.as_raw_fd());
    Some((open(Path::new(&path)).ok()?, Some(copy)))
}

#[cfg(not(target_os = "linux"))]
fn open_copy(_: &Path) -> Option<(Library, Option<File>)> {
    None
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
