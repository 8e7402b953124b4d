//! Paths that are no files: terminals, pipes, devices.
//!
//! What is written to them is gone, so nothing is completed beside them, and their
//! names need not say what they hold. `/dev/stdout` is one even where it leads to
//! a file: what a shell has opened there, perhaps to append to, is written on.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;

/// The names of the standard output of a process.
pub(crate) const OUTPUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// The names of its standard input.
const INPUT: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Whether a path names a stream.
pub(crate) fn is_stream(path: &Path) -> bool {
    let is_special = |path: &Path| {
        let there = path.metadata();
        there.is_ok_and(|there| !there.is_file() && !there.is_dir())
    };
    let is_input = INPUT.iter().any(|name| path == Path::new(name));
    is_output(path) || is_input || is_special(path)
}

/// A stream to write to, behind what was written to it before.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    match is_output(path) {
        true => Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?)),
        false => OpenOptions::new().write(true).open(path),
    }
}

/// Whether a path names the standard output of this process.
pub(crate) fn is_output(path: &Path) -> bool {
    OUTPUT.iter().any(|name| path == Path::new(name))
}
