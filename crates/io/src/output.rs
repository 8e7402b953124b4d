//! A file that appears whole or not at all.
//!
//! The content goes to a file of the same folder that has [no name](crate::staged)
//! until it is complete. Devices and pipes keep their names, so they are written
//! directly.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_parallel::{join, map, threads};
use sparsec_tensor::{Array, Tensor, with_element};

use crate::compression::Compression;
use crate::content::Structure;
use crate::number::Value;
use crate::options::WriteOptions;
use crate::staged::{Patient, Unnamed};
use crate::stream::{self, is_output, is_stream};

/// Entries that one thread turns into text at a time.
const GRAIN: usize = 1 << 11;
/// How many of these pieces each thread has before any is written.
const PIECES: usize = 8;
/// Bytes that are collected before the system is asked to write; longer texts,
/// as pieces are, go as they lie.
const BUFFER: usize = 1 << 14;
/// Bytes that there is room for at first in each line of a piece.
const LINE: usize = 40;
/// The level that `zstd` itself takes if it is not told.
const ZSTD_LEVEL: i32 = 3;

/// A file that is complete and does not have its name yet. Dropping it deletes it.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    /// The file and its name; `None` for a device, which has taken the content.
    named: Option<(Unnamed, PathBuf)>,
}

impl Staged {
    /// Gives the file its name, in place of an older one that has it.
    ///
    /// # Errors
    /// `E0427` where the system refuses; then an older file is as it was.
    pub fn commit(self) -> Result<()> {
        let Some((file, target)) = self.named else {
            return Ok(());
        };
        let renamed = file.persist(&target);
        renamed.map_err(|error| refused(&self.path, &error))
    }
}

fn refused(path: &Path, error: &io::Error) -> Diagnostic {
    let message = format!("cannot write `{}`: {error}", path.display());
    Diagnostic::new(code::CANNOT_WRITE_FILE, message).help(
        "write to another folder, or free space on the disk; a file of this name is unchanged",
    )
}

/// Where the content of a file goes: a [`Write`], compressed on the way where
/// the name of the file says so.
pub struct Output {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Plain(BufWriter<Patient>),
    Gzip(GzEncoder<BufWriter<Patient>>),
    Zstd(zstd::Encoder<'static, BufWriter<Patient>>),
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("path", &self.path).finish()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Plain(file) => file.write(bytes),
            Sink::Gzip(encoder) => encoder.write(bytes),
            Sink::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Plain(file) => file.flush(),
            Sink::Gzip(encoder) => encoder.flush(),
            Sink::Zstd(encoder) => encoder.flush(),
        }
    }
}

impl Output {
    /// A path of the file that is written, for libraries that open it themselves.
    /// Nothing else may then go through this value.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Completes a file by `content` beside its name: of any content, for files
    /// that hold no tensor.
    ///
    /// # Errors
    /// `E0427` where the system refuses; then the file is as it was.
    pub fn stage(
        path: &Path,
        compression: Compression,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<Staged> {
        Self::stage_in(path, compression, Unnamed::create, content)
    }

    /// As [`Output::stage`], for libraries that open the file by [`Output::path`].
    pub(crate) fn stage_by_path(
        path: &Path,
        compression: Compression,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<Staged> {
        Self::stage_in(path, compression, Unnamed::create_named, content)
    }

    fn stage_in(
        path: &Path,
        compression: Compression,
        create: fn(&Path, u32) -> io::Result<Unnamed>,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<Staged> {
        let staged = |named| Staged {
            path: path.to_owned(),
            named,
        };
        match std::fs::metadata(path) {
            Ok(there) if there.is_dir() => Err(Diagnostic::new(
                code::CANNOT_WRITE_FILE,
                format!("cannot write `{}`: it is a directory", path.display()),
            )
            .help("name a file in it")),
            _ if is_stream(path) => {
                Self::send(path, compression, content)?;
                Ok(staged(None))
            }
            _ => {
                let named = Self::beside(path, compression, create, content);
                Ok(staged(Some(named.map_err(|error| refused(path, &error))?)))
            }
        }
    }

    /// Writes to standard output, as much as its reader takes.
    ///
    /// # Errors
    /// `E0427` where the system refuses.
    pub(crate) fn print(content: impl FnOnce(&mut Self) -> io::Result<()>) -> Result<()> {
        Self::send(Path::new(stream::OUTPUT[0]), Compression::None, content)
    }

    /// Writes to a stream. The reader of standard output may leave early; any other
    /// stream stands in for a file, of which a part is a loss.
    fn send(
        path: &Path,
        compression: Compression,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<()> {
        let file = stream::open(path);
        let written = file.and_then(|file| Self::fill(path, file, compression, content));
        match written {
            // As `head` does when it has seen enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe && is_output(path) => Ok(()),
            written => written.map_err(|error| refused(path, &error)),
        }
    }

    /// A complete file in the folder of `path`, and the name that it is to take.
    fn beside(
        path: &Path,
        compression: Compression,
        create: fn(&Path, u32) -> io::Result<Unnamed>,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<(Unnamed, PathBuf)> {
        // A link keeps pointing where it points; its target is replaced.
        let target = target_of(path);
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        // The permissions of the older file, or those of any new file.
        let mode = std::fs::metadata(&target).map_or(0o666, |there| there.permissions().mode());
        let file = create(&folder, mode & 0o777)?;
        Self::fill(
            file.path(),
            file.as_file().try_clone()?,
            compression,
            content,
        )?;
        Ok((file, target))
    }

    fn fill(
        path: &Path,
        file: File,
        compression: Compression,
        content: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        let file = BufWriter::with_capacity(BUFFER, Patient(file));
        let sink = match compression {
            Compression::None => Sink::Plain(file),
            Compression::Gzip => Sink::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Compression::Zstd => Sink::Zstd(zstd::Encoder::new(file, ZSTD_LEVEL)?),
        };
        let mut output = Self {
            path: path.to_owned(),
            sink,
        };
        content(&mut output)?;
        match output.sink {
            Sink::Plain(mut file) => file.flush(),
            Sink::Gzip(encoder) => encoder.finish()?.flush(),
            Sink::Zstd(encoder) => encoder.finish()?.flush(),
        }
    }
}

/// The file that a path names, which need not be there: where a link points.
fn target_of(path: &Path) -> PathBuf {
    let points = || path.parent().zip(std::fs::read_link(path).ok());
    let whole = std::fs::canonicalize(path);
    whole.unwrap_or_else(|_| match points() {
        Some((folder, to)) => folder.join(to),
        None => path.to_owned(),
    })
}

/// Refuses a structure where files of a type state every entry.
pub(crate) fn check_general(options: &WriteOptions, ending: &str) -> Result<()> {
    if options.structure == Structure::General {
        return Ok(());
    }
    let message = format!(
        "`{ending}` files cannot say that a matrix is {}",
        options.structure
    );
    Err(Diagnostic::new(code::NOT_EXPRESSIBLE_IN_FILE, message)
        .help("write a `.mtx` file, or every entry (`Structure::General`)"))
}

/// Writes the stored entries, one a line, coordinates counted from 1.
pub(crate) fn write_entries(tensor: &Tensor, output: &mut Output) -> io::Result<()> {
    write_lines(tensor.n_stored(), output, &|range, out| {
        with_element!(tensor.element(), T => entry_lines::<T>(tensor, range, out));
    })
}

/// Writes values, one a line.
pub(crate) fn write_values(values: &Array, output: &mut Output) -> io::Result<()> {
    write_lines(values.len(), output, &|range, out| {
        with_element!(values.element(), T => value_lines(&values.slice::<T>()[range], out));
    })
}

/// Writes `n` lines that `lines` makes: in waves, whose text stays in the cache
/// and the memory of an earlier wave. While one is written the next is made.
fn write_lines(
    n: usize,
    output: &mut Output,
    lines: &(dyn Fn(Range<usize>, &mut Vec<u8>) + Sync),
) -> io::Result<()> {
    let mut made = vec![Vec::new(); threads() * PIECES];
    let mut next = made.clone();
    let mut start = 0;
    loop {
        let write = || made.iter().try_for_each(|text| output.write_all(text));
        let make = || {
            let pieces = next.iter_mut().enumerate();
            let work = pieces
                .map(|(k, text)| {
                    let cut = |k: usize| n.min(start + k * GRAIN);
                    (cut(k)..cut(k + 1), text)
                })
                .collect();
            map(work, |(range, text)| {
                text.clear();
                if !range.is_empty() {
                    lines(range, text);
                }
            });
        };
        join(write, make).0?;
        std::mem::swap(&mut made, &mut next);
        if made.iter().all(Vec::is_empty) {
            return Ok(());
        }
        start += made.len() * GRAIN;
    }
}

fn entry_lines<T: Value>(tensor: &Tensor, range: Range<usize>, out: &mut Vec<u8>) {
    let values = tensor.vals().slice::<T>();
    out.reserve(LINE * range.len());
    // The coordinates but the last, as text: mostly those of the line before.
    let mut upper: Vec<u64> = Vec::new();
    let mut text: Vec<u8> = Vec::new();
    tensor.for_each_stored_in(range, |tuple, position| {
        if let Some((last, others)) = tuple.split_last() {
            if upper != others || text.is_empty() {
                upper.clear();
                upper.extend_from_slice(others);
                text.clear();
                for &coord in others {
                    write_coord(coord, &mut text);
                }
            }
            out.extend_from_slice(&text);
            write_coord(*last, out);
        }
        values[position].write(out);
        out.push(b'\n');
    });
}

fn write_coord(coord: u64, out: &mut Vec<u8>) {
    (coord + 1).write(out);
    out.push(b' ');
}

fn value_lines<T: Value>(values: &[T], out: &mut Vec<u8>) {
    out.reserve(LINE * values.len());
    for value in values {
        value.write(out);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_file_that_was_asked_for() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("missing").join("a.txt");
        let refused = Output::stage(&path, Compression::None, |_| Ok(()));
        let message = refused.expect_err("there is no such folder").to_string();
        assert!(message.contains("a.txt`: No such file"), "{message}");
        assert!(!message.contains(".sparsec-"), "{message}");
    }

    #[test]
    fn links_point_where_they_did() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let (link, target) = (folder.path().join("link"), folder.path().join("new"));
        std::os::unix::fs::symlink("new", &link).expect("a link");
        for text in ["first", "second"] {
            let content = |output: &mut Output| output.write_all(text.as_bytes());
            let staged = Output::stage(&link, Compression::None, content);
            staged.and_then(Staged::commit).expect("there is room");
            assert!(link.is_symlink());
            let written = std::fs::read_to_string(&target).expect("the file");
            assert_eq!(written, text);
        }
    }

    #[test]
    fn unfinished_files_are_removed() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("a.txt");
        let stage = || {
            let content = |output: &mut Output| output.write_all(b"whole");
            Output::stage(&path, Compression::None, content).expect("there is room")
        };
        let names = || {
            let entries = std::fs::read_dir(folder.path()).expect("the directory");
            let names = entries.map(|entry| entry.expect("an entry").file_name());
            names.collect::<Vec<_>>()
        };
        stage().commit().expect("there is room");
        let unfinished = stage();
        crate::remove_unfinished();
        assert_eq!(names(), ["a.txt"]);
        assert!(unfinished.commit().is_err());
        assert_eq!(std::fs::read(&path).expect("the file"), b"whole");
    }
}
