//! Files that are read where they lie, in programs that end when one shrinks.
//!
//! A page of a mapped file that another process cut off cannot be read: the system
//! sends `SIGBUS`, and no caller gets an error. A library must not end its program so.
//! So [`Mapping`] is a permission, which only a program that gives up its own handling
//! of that signal has: [`Mapping::ending_with`] writes a line and ends the process.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::sync::OnceLock;

use memmap2::Mmap;

/// The line that the program ends with.
static LAST_LINE: OnceLock<&'static str> = OnceLock::new();

/// The exit status of a program that ends so.
const STATUS: libc::c_int = 1;

/// The permission to map files that are read.
#[derive(Clone, Copy, Debug)]
pub struct Mapping(());

impl Mapping {
    /// Has the process write this text to standard error and exit with status 1 where a
    /// mapped file became shorter; the first text of a process counts. `None` where
    /// the system does not let it.
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
