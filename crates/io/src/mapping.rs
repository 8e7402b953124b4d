//! Mapped files, for programs that may end when another process shortens one of them.
//!
//! If another process cuts off a page of a mapped file, reading the page raises `SIGBUS`,
//! and no caller gets an error. A library must not end its program in this way. Mapping
//! therefore takes a permission, [`Mapping`]. A program gets it from
//! [`Mapping::ending_with`], which sets the handler of the signal: the handler writes a
//! line and ends the process.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::sync::OnceLock;

use memmap2::Mmap;

/// The line that the program ends with.
static LAST_LINE: OnceLock<&'static str> = OnceLock::new();

/// The exit status of a process that the handler ends.
const STATUS: libc::c_int = 1;

/// The permission to map files that are read.
#[derive(Clone, Copy, Debug)]
pub struct Mapping(());

impl Mapping {
    /// Sets the handler: if a mapped file becomes shorter, the process writes this text
    /// to standard error and exits with status 1. The first text of a process counts.
    /// `None` if the system refuses the handler.
    ///
    /// The process ends at once: no destructor runs, and nothing is flushed.
    pub fn ending_with(text: &'static str) -> Option<Self> {
        LAST_LINE.get_or_init(|| text);
        // SAFETY: all of `action` is set before it is used, zeros being no flags and no
        // restorer. The handler has the type that no flags ask for, and calls nothing
        // that is not safe in a handler.
        let set = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = end as extern "C" fn(libc::c_int) as libc::sighandler_t;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut())
        };
        (set == 0).then_some(Self(()))
    }

    /// The bytes of a file.
    pub(crate) fn map(self, file: &File) -> io::Result<Mmap> {
        // SAFETY: the mapping is private and read-only. Another process that
        // changes the file meanwhile can change the bytes we read; they are parsed
        // as untrusted data, each once, and every offset is checked against the
        // length of the mapping. If it shortens the file, the handler ends the process.
        unsafe { Mmap::map(file) }
    }
}

extern "C" fn end(_: libc::c_int) {
    let text = LAST_LINE.get().copied().unwrap_or_default();
    // SAFETY: both calls are safe in a handler of signals, and the text is a constant.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
        libc::_exit(STATUS)
    }
}
