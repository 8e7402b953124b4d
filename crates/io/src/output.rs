//! A file that appears whole or not at all.
//!
//! The content goes to a temporary file in the same directory, which takes the
//! final name when it is complete. Devices and pipes have no such name to take,
//! so they are written directly.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_parallel::{map, ranges};
use sparsec_tensor::{Entries, Tensor};

use crate::number::push_digits;

/// Entries that are turned into text before any of them is written.
const BATCH: usize = 1 << 20;
/// Entries that one thread turns into text at a time.
const GRAIN: usize = 1 << 13;

/// Where the content of a file goes.
pub(crate) struct Output {
    sink: Sink,
}

enum Sink {
    Plain(BufWriter<File>),
    Compressed(GzEncoder<BufWriter<File>>),
}

impl Output {
    /// Writes a file by `content`, or leaves what was there.
    pub(crate) fn replace(
        path: &Path,
        compressed: bool,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<()> {
        let refused = |error: io::Error| {
            Diagnostic::new(
                code::CANNOT_WRITE_FILE,
                format!("cannot write `{}`: {error}", path.display()),
            )
        };
        match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(Diagnostic::new(
                code::CANNOT_WRITE_FILE,
                format!("cannot write `{}`: it is a directory", path.display()),
            )),
            Ok(there) if !there.is_file() => {
                let file = OpenOptions::new().write(true).open(path);
                let written = file.and_then(|file| Self::fill(file, compressed, content));
                written.map_err(refused)
            }
            _ => Self::rename_into(path, compressed, content).map_err(refused),
        }
    }

    fn rename_into(
        path: &Path,
        compressed: bool,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        // A link keeps pointing where it points; its target is replaced.
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        // The permissions of the older file, or those of any new file.
        let mode = std::fs::metadata(&target).map_or(0o666, |there| there.permissions().mode());
        let file = tempfile::Builder::new()
            .prefix(".sparsec-")
            .permissions(Permissions::from_mode(mode & 0o777))
            .tempfile_in(folder)?;
        Self::fill(file.as_file().try_clone()?, compressed, content)?;
        file.persist(target)?;
        Ok(())
    }

    fn fill(
        file: File,
        compressed: bool,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = BufWriter::with_capacity(1 << 16, file);
        let sink = match compressed {
            true => Sink::Compressed(GzEncoder::new(file, Compression::default())),
            false => Sink::Plain(file),
        };
        let mut output = Self { sink };
        content(&mut output)?;
        match output.sink {
            Sink::Plain(mut file) => file.flush(),
            Sink::Compressed(encoder) => encoder.finish()?.flush(),
        }
    }

    /// Appends bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.sink {
            Sink::Plain(file) => file.write_all(bytes),
            Sink::Compressed(encoder) => encoder.write_all(bytes),
        }
    }
}

/// Refuses a tensor whose entries that are not stored would read back as zero.
pub(crate) fn check_fill(tensor: &Tensor) -> Result<()> {
    if tensor.fill().is_zero() || tensor.format().is_all_dense() {
        return Ok(());
    }
    Err(Diagnostic::new(
        code::NOT_EXPRESSIBLE_IN_FILE,
        format!("a tensor whose fill is {} cannot be stated", tensor.fill()),
    )
    .note("entries that a `.mtx` or `.tns` file does not state are zero")
    .help("store the tensor in a dense format"))
}

/// Writes the stored entries, one a line, coordinates counted from 1.
pub(crate) fn write_entries(tensor: &Tensor, output: &mut Output) -> io::Result<()> {
    let entries = tensor.entries();
    let mut start = 0;
    while start < entries.len() {
        let end = entries.len().min(start + BATCH);
        let texts = map(ranges(end - start, GRAIN), |range| {
            lines(&entries, start + range.start..start + range.end)
        });
        for text in texts {
            output.put(&text)?;
        }
        start = end;
    }
    Ok(())
}

fn lines(entries: &Entries, range: std::ops::Range<usize>) -> Vec<u8> {
    let mut out = Vec::with_capacity(range.len() * (8 * entries.order() + 12));
    let mut value = String::new();
    for e in range {
        for &coord in entries.coords(e) {
            push_digits(&mut out, coord + 1);
            out.push(b' ');
        }
        value.clear();
        // Writing to a string does not fail.
        let _ = match entries.values.get(e) {
            sparsec_base::Scalar::Bool(truth) => write!(value, "{}", u8::from(truth)),
            scalar => write!(value, "{scalar}"),
        };
        out.extend_from_slice(value.as_bytes());
        out.push(b'\n');
    }
    out
}
