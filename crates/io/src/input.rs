//! The bytes of a file, and diagnostics that show one of its lines.
//!
//! Several threads read a file into memory, piece by piece. A compressed file is then
//! expanded. With [`ReadOptions::mapping`], plain files are mapped instead. Either way the
//! reader of a file type sees one slice of bytes, which it can cut among threads, and
//! never a handle.

use std::fs::{File, Metadata};
use std::io;
use std::ops::{Deref, Range};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use sparsec_base::suggest::closest;
use sparsec_base::{Code, Diagnostic, Result, Source, Span, code};
use sparsec_parallel::{Memory, map};

use crate::blank::Blanks;
use crate::compression::{Compression, Told, expand, room_for, stream, told_by};
use crate::options::ReadOptions;
use crate::progress::{Meter, Progress};
use crate::stream::is_stream;

/// Bytes of a long line that are shown on each side of a fault.
const SHOWN: usize = 60;
/// Bytes that one thread reads at a time.
const PIECE: usize = 1 << 20;
/// Bytes from which on it is not asked whether a file is text.
const BEGINNING: usize = 4096;

/// Refuses bytes that have a NUL near the beginning, as no text has.
///
/// # Errors
/// `E0422`.
pub(crate) fn check_is_text(name: &str, bytes: &[u8]) -> Result<()> {
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    if !beginning.contains(&0) {
        return Ok(());
    }
    let message = format!("`{name}` is not a text file");
    Err(Diagnostic::new(code::BAD_HEADER, message)
        .note("it has bytes that no text has")
        .help("rename it to the ending of its type, such as `.npy`, `.npz` or `.bsp.h5`; compressed text ends in `.gz` or `.zst`"))
}

/// A file that is read: its name and its bytes, expanded if it is compressed.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    name: String,
    bytes: Bytes,
    /// Bytes that were expanded to get here.
    expanded: u64,
    /// Blank lines that expanding left out.
    blanks: Blanks,
}

#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    Read(Memory),
    Owned(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Read(memory) => memory.as_slice(),
            Self::Owned(bytes) => bytes,
        }
    }
}

impl Input {
    /// Opens a file, and expands it if it is compressed.
    ///
    /// # Errors
    /// `E0420` where the system refuses, `E0426` for compressed data that is
    /// damaged, `E0407` for what expands to more than memory holds.
    pub fn open(path: &Path, compression: Compression) -> Result<Self> {
        Self::open_with(path, compression, &ReadOptions::default())
    }

    /// As [`Input::open`], in no more memory than that, telling how far expanding has come.
    pub(crate) fn open_with(
        path: &Path,
        compression: Compression,
        options: &ReadOptions,
    ) -> Result<Self> {
        let name = path.display().to_string();
        let mut bytes = load(path, options)?;
        let told = told_by(&bytes);
        // The name of a stream says nothing of its content.
        let compression = match &told {
            Some(told) if is_stream(path) => told.compression,
            _ => compression,
        };
        let (mut expanded, mut blanks) = (0, Blanks::default());
        if compression != Compression::None {
            expanded = bytes.len() as u64;
            let meter = Meter::new(options.progress.as_ref(), expanded, 0, 2 * expanded);
            let text;
            (text, blanks) = expand(&bytes, compression, &name, options.memory, &meter)?;
            bytes = Bytes::Owned(text);
        } else if let Some(Told { kind, ending, .. }) = told {
            let message = format!("`{name}` is {kind} data, which its name does not say");
            let fault = Diagnostic::new(code::CORRUPT_COMPRESSION, message);
            return Err(fault.help(format!("rename it to end in `{ending}`, or expand it")));
        }
        Ok(Self {
            path: path.to_owned(),
            name,
            bytes,
            expanded,
            blanks,
        })
    }

    /// A file that a library opens by its path; it has no bytes here.
    ///
    /// # Errors
    /// `E0420` where the system refuses, and for pipes and devices: such a library opens
    /// the file again, and reads it in any order.
    pub(crate) fn by_path(path: &Path) -> Result<Self> {
        let kind = std::fs::metadata(path);
        // Before it is opened: opening a pipe waits for a writer.
        if kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir()) {
            let message = format!("`{}` is a pipe or a device", path.display());
            return Err(Diagnostic::new(code::CANNOT_READ_FILE, message)
                .help("write its content to a file, and give that"));
        }
        open(path)?;
        Ok(Self {
            path: path.to_owned(),
            ..Self::from_bytes(&path.display().to_string(), Vec::new())
        })
    }

    /// Bytes that are no file, under a name for messages.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            path: PathBuf::from(name),
            name: name.to_owned(),
            bytes: Bytes::Owned(bytes),
            expanded: 0,
            blanks: Blanks::default(),
        }
    }

    /// The file, for libraries that open it themselves.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path as it is shown in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole content.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Maps bytes that are about to be read, all pages at once. Advice only.
    pub(crate) fn populate(&self, range: &Range<usize>) {
        #[cfg(target_os = "linux")]
        if let Bytes::Mapped(map) = &self.bytes {
            // A refusal, as by an older kernel, leaves the pages to be mapped
            // one by one.
            let _ = map.advise_range(memmap2::Advice::PopulateRead, range.start, range.len());
        }
        #[cfg(not(target_os = "linux"))]
        let _ = range;
    }

    /// A meter of reading `bytes` of these bytes.
    pub(crate) fn meter<'a>(&self, progress: Option<&'a Progress>, bytes: usize) -> Meter<'a> {
        let bytes = bytes as u64;
        match self.expanded {
            0 => Meter::new(progress, bytes, 0, bytes),
            expanded => Meter::new(progress, bytes, expanded, 2 * expanded),
        }
    }

    /// The byte after a mark that some editors put at the start of a file.
    pub(crate) fn start(&self) -> usize {
        match self.bytes.starts_with(b"\xEF\xBB\xBF") {
            true => 3,
            false => 0,
        }
    }

    /// The line that begins at `at`, without its end, and where the next begins.
    pub(crate) fn line(&self, at: usize) -> (Range<usize>, usize) {
        let rest = &self.bytes[at..];
        let end = rest.iter().position(|&b| b == b'\n');
        let next = end.map_or(self.bytes.len(), |end| at + end + 1);
        let mut end = end.map_or(self.bytes.len(), |end| at + end);
        if end > at && self.bytes[end - 1] == b'\r' {
            end -= 1;
        }
        (at..end, next)
    }

    /// Refuses bytes that are no text: a reader of lines would find faults in them that
    /// say nothing.
    ///
    /// # Errors
    /// `E0422`.
    pub(crate) fn check_is_text(&self) -> Result<()> {
        check_is_text(&self.name, &self.bytes)
    }

    /// A fault at bytes `place`, showing their line, or the part of a long line
    /// around them. A place at the end of the file shows its last line.
    pub(crate) fn fault(
        &self,
        code: Code,
        message: impl Into<String>,
        place: Range<usize>,
        label: impl Into<String>,
    ) -> Diagnostic {
        self.at(Diagnostic::new(code, message), place, label)
    }

    /// A diagnostic with bytes `place` as where it is, as [`Self::fault`] shows them.
    pub(crate) fn at(
        &self,
        error: Diagnostic,
        place: Range<usize>,
        label: impl Into<String>,
    ) -> Diagnostic {
        let (source, span) = self.excerpt(place);
        error.at(&source, span, label)
    }

    /// The line of `place` as a source, and the place in it.
    pub(crate) fn excerpt(&self, place: Range<usize>) -> (Source, Span) {
        let mut at = place.start.min(self.bytes.len());
        // The end of the file, after its last newline, has no line of its own.
        if at == self.bytes.len() && at > 0 && self.bytes[at - 1] == b'\n' {
            at -= 1;
            if at > 0 && self.bytes[at - 1] == b'\r' {
                at -= 1;
            }
        }
        let before = &self.bytes[..at];
        let start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(self.start().min(at), |newline| newline + 1);
        let lines = before.iter().filter(|&&b| b == b'\n').count();
        let number = lines + self.blanks.lines_before(at) + 1;
        let (line, _) = self.line(start);
        let end = place.end.clamp(at, line.end.max(at));
        let shown = start.max(at.saturating_sub(SHOWN))..line.end.min(end.saturating_add(SHOWN));
        let lossy = |range: Range<usize>| {
            let range = range.start.min(range.end)..range.end;
            String::from_utf8_lossy(&self.bytes[range]).into_owned()
        };
        let mut text = String::new();
        if shown.start > start {
            text.push('…');
        }
        text += &lossy(shown.start..at);
        let from = text.len();
        text += &lossy(at..end.min(at + 2 * SHOWN));
        let to = text.len();
        text += &lossy(end..shown.end);
        if shown.end < line.end {
            text.push('…');
        }
        let source = Source::excerpt(&self.name, text, number);
        (source, Span::new(from, to))
    }
}

/// Opens a file that is no directory, with its metadata.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata)> {
    let refused = |error: io::Error| cannot_read(path, &error);
    let file = File::open(path).map_err(refused)?;
    let kind = file.metadata().map_err(refused)?;
    if kind.is_dir() {
        return Err(Diagnostic::new(
            code::CANNOT_READ_FILE,
            format!("`{}` is a directory", path.display()),
        )
        .help("name a file in it"));
    }
    Ok((file, kind))
}

fn load(path: &Path, options: &ReadOptions) -> Result<Bytes> {
    let refused = |error: io::Error| cannot_read(path, &error);
    let (file, kind) = open(path)?;
    if !kind.is_file() || kind.len() == 0 {
        // Pipes and devices have no length and no pages to map; neither have empty files.
        let name = path.display().to_string();
        return stream(file, &name, options.memory, refused).map(Bytes::Owned);
    }
    let Some(mapping) = options.mapping else {
        let name = path.display().to_string();
        let length = room_for(&name, kind.len(), options.memory)?;
        return read_whole(&file, length).map(Bytes::Read).map_err(refused);
    };
    mapping.map(&file).map(Bytes::Mapped).map_err(refused)
}

/// Reads the first `length` bytes of a file on all threads: on one thread, page faults
/// bound a copy from the system's cache.
fn read_whole(file: &File, length: usize) -> io::Result<Memory> {
    let mut bytes = Memory::zeroed(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let pieces = bytes.as_mut_slice::<u8>().chunks_mut(PIECE);
    let pieces = pieces.enumerate().collect();
    let read: Vec<io::Result<()>> = map(pieces, |(number, piece): (usize, &mut [u8])| {
        file.read_exact_at(piece, (number * PIECE) as u64)
    });
    let whole: io::Result<()> = read.into_iter().collect();
    whole.map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::other("it became shorter while it was read"),
        _ => error,
    })?;
    Ok(bytes)
}

/// That the system does not let a file be read, with the name that may have been meant.
pub fn cannot_read(path: &Path, error: &std::io::Error) -> Diagnostic {
    let fault = Diagnostic::new(
        code::CANNOT_READ_FILE,
        format!("cannot read `{}`: {error}", path.display()),
    );
    match error.kind() {
        std::io::ErrorKind::NotFound => {}
        std::io::ErrorKind::PermissionDenied => {
            return fault.help("change its permissions, as `chmod +r` does, or name another file");
        }
        _ => return fault.help("name another file"),
    }
    match neighbour(path) {
        Some(name) => fault.help(format!("did you mean `{name}`?")),
        None => fault.help("relative paths begin in the current directory: give the whole path"),
    }
}

/// The file of the same directory whose name is closest.
fn neighbour(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_str()?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let names: Vec<String> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let close = closest(wanted, names.iter().map(String::as_str))?;
    Some(path.with_file_name(close).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, place: Range<usize>, expect: (&str, &str, usize)) {
        let (source, span) = Input::from_bytes("t", text.into()).excerpt(place);
        let found = (source.text(), source.slice(span), source.first_line());
        assert_eq!(found, expect);
    }

    #[test]
    fn excerpts_show_the_line_of_a_place() {
        check("ab\ncd e\nf", 6..7, ("cd e", "e", 2));
        check("ab\r\ncd\r\n", 0..2, ("ab", "ab", 1));
        check("ab\ncd\n", 6..6, ("cd", "", 2));
        check("ab\ncd", 5..5, ("cd", "", 2));
        check("", 0..0, ("", "", 1));
        check("\u{FEFF}ab", 3..5, ("ab", "ab", 1));
    }

    #[test]
    fn files_are_read_in_pieces_and_not_beyond_their_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tns");
        let text: Vec<u8> = (0..2 * PIECE + 7).map(|at| at as u8 | 1).collect();
        std::fs::write(&path, &text).unwrap();
        let input = Input::open(&path, Compression::None).unwrap();
        assert!(
            matches!(input.bytes, Bytes::Read(_)),
            "nobody asked for a mapping"
        );
        assert_eq!(input.bytes(), text);
        let file = File::open(&path).unwrap();
        let error = read_whole(&file, text.len() + 1).unwrap_err();
        assert!(error.to_string().contains("became shorter"), "{error}");
        let options = ReadOptions {
            memory: sparsec_parallel::MemoryLimit::Bytes(text.len() as u64 - 1),
            ..ReadOptions::default()
        };
        let error = Input::open_with(&path, Compression::None, &options).unwrap_err();
        assert_eq!(error.code(), code::TENSOR_TOO_LARGE, "{error}");
    }

    #[test]
    fn long_lines_are_cut_around_the_fault() {
        let line = "x".repeat(500) + "!" + &"y".repeat(500);
        let (source, span) = Input::from_bytes("t", line.into()).excerpt(500..501);
        assert_eq!(source.slice(span), "!");
        assert_eq!(source.text().chars().count(), 2 * SHOWN + 3);
        assert!(source.text().starts_with('…') && source.text().ends_with('…'));
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        let (source, span) = Input::from_bytes("t", b"\xFF\xFE 7\n".to_vec()).excerpt(3..4);
        assert_eq!(source.slice(span), "7");
    }
}
