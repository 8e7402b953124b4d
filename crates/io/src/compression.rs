//! Compressed text files: `.gz` and `.zst`.
//!
//! A few kilobytes may expand to terabytes. So the expanded text may take the memory that
//! the caller allows, and at most half of the machine's. The sizes that a file states
//! reserve no memory: the text grows as bytes come out, and long runs of blanks are
//! [shortened](crate::blank). A file whose first [`STEP`] bytes are no text, or hold no end
//! of a line, is refused before the rest is expanded. Bytes from a pipe or a device have
//! the same limits.

use std::io::{BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_parallel::MemoryLimit;
use sparsec_parallel::memory::physical_bytes;

use crate::blank::Blanks;
use crate::input::check_is_text;
use crate::progress::Meter;

/// Bytes that are expanded at a time; the first line of a text ends within as many.
const STEP: usize = 1 << 20;

/// What compressed bytes begin with.
const GZIP: &[u8] = &[0x1F, 0x8B];
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];

/// How the bytes of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// As `gzip` does it, in one or several members: names end in `.gz`.
    Gzip,
    /// As `zstd` does it, in one or several frames: names end in `.zst`.
    Zstd,
}

impl Compression {
    /// The kinds, with the ends of names that say so.
    pub const ENDINGS: [(&'static str, Self); 2] = [(".gz", Self::Gzip), (".zst", Self::Zstd)];

    /// Splits the name of a file before the ending that says its compression.
    pub fn of(name: &str) -> (&str, Self) {
        for (ending, kind) in Self::ENDINGS {
            if let Some(stem) = name.strip_suffix(ending) {
                return (stem, kind);
            }
        }
        (name, Self::None)
    }
}

/// Expands compressed text, and shortens long runs of blanks in it.
pub(crate) fn expand(
    bytes: &[u8],
    compression: Compression,
    name: &str,
    memory: MemoryLimit,
    meter: &Meter<'_>,
) -> Result<(Vec<u8>, Blanks)> {
    let (magic, kind, tool): (&[u8], _, _) = match compression {
        Compression::None => return Ok((bytes.to_vec(), Blanks::default())),
        Compression::Gzip => (GZIP, "gzip", "gzip -t"),
        Compression::Zstd => (ZSTD, "zstd", "zstd -t"),
    };
    let corrupt = |reason: &str| {
        Diagnostic::new(
            code::CORRUPT_COMPRESSION,
            format!("`{name}` cannot be expanded: {reason}"),
        )
        .help(format!("copy the file again; `{tool}` checks it"))
    };
    if !bytes.starts_with(magic) {
        return Err(corrupt(&format!("it is no {kind} data")).help(format!(
            "if the file is not compressed, rename it without `{}`",
            name.rfind('.').map_or("", |at| &name[at..])
        )));
    }
    let source = Counted { bytes, meter };
    let limit = most_bytes(memory);
    let mut blanks = Blanks::default();
    let mut cut = |out: &mut Vec<u8>, from| {
        if from == 0 {
            check_beginning(name, out).map_err(Failure::Refused)?;
        }
        blanks.cut(out, from);
        Ok(())
    };
    let expanded = match compression {
        Compression::Zstd => zstd::Decoder::with_buffer(source)
            .map_err(Failure::Read)
            .and_then(|decoder| drain(decoder, limit, &mut cut)),
        _ => drain(MultiGzDecoder::new(source), limit, &mut cut),
    };
    let expanded = expanded.map_err(|failure| match failure {
        Failure::Read(error) => corrupt(&error.to_string()),
        Failure::Refused(error) => error,
        Failure::TooLarge => too_large(name, "expands to", memory)
            .help("expand it to a file first: a file that is not compressed is read where it lies"),
    });
    Ok((expanded?, blanks))
}

/// The way to read a file that is larger than the limit.
const MAPPED: &str =
    "the command line maps plain files, and so does `ReadOptions::mapping` in Rust";

/// The most bytes of a file that may be in memory. Mapped files have no limit.
fn most_bytes(memory: MemoryLimit) -> u64 {
    let half = physical_bytes() / 2;
    match memory {
        MemoryLimit::Available => half,
        MemoryLimit::Beside(_) => memory.bytes().min(half),
        MemoryLimit::Bytes(bytes) => bytes.min(half),
        MemoryLimit::Array(most) => most.min(half),
    }
}

/// The length of a file that is read into memory, if there is room for it.
///
/// # Errors
/// `E0407`.
pub(crate) fn room_for(name: &str, length: u64, memory: MemoryLimit) -> Result<usize> {
    let length = Some(length).filter(|length| *length <= most_bytes(memory));
    length
        .and_then(|length| usize::try_from(length).ok())
        .ok_or_else(|| {
            too_large(name, "holds", memory).help(
                "map it, as the command line does (`ReadOptions::mapping`), or allow more with `ReadOptions::memory`",
            )
        })
}

fn too_large(name: &str, holds: &str, memory: MemoryLimit) -> Diagnostic {
    let most = match memory {
        MemoryLimit::Bytes(bytes) if bytes == most_bytes(memory) => {
            format!("the {bytes} bytes that it may take")
        }
        _ => "half of this machine's memory".to_owned(),
    };
    let message = format!("`{name}` {holds} more than {most}");
    Diagnostic::new(code::TENSOR_TOO_LARGE, message)
}

/// All that a pipe or a device gives; `refused` says why it cannot be read.
pub(crate) fn stream(
    source: impl Read,
    name: &str,
    memory: MemoryLimit,
    refused: impl Fn(std::io::Error) -> Diagnostic,
) -> Result<Vec<u8>> {
    drain(source, most_bytes(memory), &mut |_, _| Ok(())).map_err(|failure| match failure {
        Failure::Read(error) => refused(error),
        Failure::Refused(error) => error,
        Failure::TooLarge => {
            too_large(name, "gives", memory).help(format!("write it to a file: {MAPPED}"))
        }
    })
}

/// The compression of bytes that begin as compressed ones do.
pub(crate) fn told_by(bytes: &[u8]) -> Option<Told> {
    let known = [
        (GZIP, Compression::Gzip, "gzip", ".gz"),
        (ZSTD, Compression::Zstd, "zstd", ".zst"),
    ];
    let mut known = known.into_iter();
    let (_, compression, kind, ending) = known.find(|(magic, ..)| bytes.starts_with(magic))?;
    Some(Told {
        compression,
        kind,
        ending,
    })
}

/// A compression that the bytes of a file tell.
pub(crate) struct Told {
    pub(crate) compression: Compression,
    /// The program that makes such data.
    pub(crate) kind: &'static str,
    /// How names of such files end.
    pub(crate) ending: &'static str,
}

/// Bytes that are counted as they are taken.
struct Counted<'a> {
    bytes: &'a [u8],
    meter: &'a Meter<'a>,
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.bytes.read(out)?;
        self.meter.add(n as u64);
        Ok(n)
    }
}

impl BufRead for Counted<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        // In steps, so that what is taken can be counted while it is.
        Ok(&self.bytes[..self.bytes.len().min(STEP)])
    }

    fn consume(&mut self, n: usize) {
        self.bytes.consume(n);
        self.meter.add(n as u64);
    }
}

/// Refuses content that is no text, by its first decompressed bytes.
///
/// # Errors
/// `E0422`.
fn check_beginning(name: &str, beginning: &[u8]) -> Result<()> {
    check_is_text(name, beginning)?;
    if beginning.len() < STEP || beginning.contains(&b'\n') {
        return Ok(());
    }
    let message = format!("the first line of `{name}` has more than {STEP} bytes");
    Err(Diagnostic::new(code::BAD_HEADER, message)
        .help("give the file the name of what it holds; lines of entries are short"))
}

enum Failure {
    Read(std::io::Error),
    TooLarge,
    Refused(Diagnostic),
}

/// What `shorten` does after each step: it may remove bytes, and gets all text so far and
/// where the new text begins.
type Shorten<'s> = &'s mut dyn FnMut(&mut Vec<u8>, usize) -> std::result::Result<(), Failure>;

/// Reads to the end; at most `limit` bytes may remain after `shorten`.
fn drain(
    mut decoder: impl Read,
    limit: u64,
    shorten: Shorten<'_>,
) -> std::result::Result<Vec<u8>, Failure> {
    let mut out: Vec<u8> = Vec::new();
    loop {
        let room = STEP.max(out.len()).min(limit as usize - out.len() + 1);
        if out.try_reserve(room).is_err() {
            return Err(Failure::TooLarge);
        }
        let got = (&mut decoder).take(room as u64).read_to_end(&mut out);
        let got = got.map_err(Failure::Read)?;
        let from = out.len() - got;
        shorten(&mut out, from)?;
        if out.len() as u64 > limit {
            return Err(Failure::TooLarge);
        }
        if got == 0 {
            return Ok(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter() -> Meter<'static> {
        Meter::new(None, 0, 0, 0)
    }

    #[test]
    fn bombs_are_bounded() {
        let zeros = vec![0; 10 << 20];
        let bomb = zstd::encode_all(&zeros[..], 1).unwrap();
        assert!(bomb.len() < 10_000);
        let expand = |limit| {
            let decoder = zstd::Decoder::new(&bomb[..]).unwrap();
            drain(decoder, limit, &mut |_, _| Ok(())).map(|out| out.len())
        };
        assert!(matches!(expand(10 << 20), Ok(n) if n == 10 << 20));
        assert!(matches!(expand((10 << 20) - 1), Err(Failure::TooLarge)));
        assert!(matches!(expand(0), Err(Failure::TooLarge)));
    }

    #[test]
    fn no_more_than_the_first_line_is_expanded_of_what_is_no_text() {
        let read = |text: &[u8]| {
            let bomb = zstd::encode_all(text, 1).unwrap();
            // Twice the room of the first step: the rest is not expanded.
            let memory = MemoryLimit::Bytes(2 * STEP as u64);
            expand(&bomb, Compression::Zstd, "a.zst", memory, &meter()).map(|(text, _)| text.len())
        };
        let digits = vec![b'7'; 10 * STEP];
        let fault = read(&digits).unwrap_err();
        assert_eq!(fault.code(), code::BAD_HEADER, "{fault}");
        assert!(
            fault.to_string().contains("the first line of `a.zst`"),
            "{fault}"
        );
        let fault = read(&vec![0; 10 * STEP]).unwrap_err();
        assert!(fault.to_string().contains("not a text file"), "{fault}");
        // A short file may end without the end of a line.
        assert_eq!(read(&digits[..STEP - 1]).unwrap(), STEP - 1);
    }

    #[test]
    fn damaged_data_are_refused_wherever_they_end() {
        let text = "1 2 0.5\n".repeat(100);
        let whole = zstd::encode_all(text.as_bytes(), 3).unwrap();
        let read = |bytes: &[u8]| {
            expand(
                bytes,
                Compression::Zstd,
                "a.zst",
                MemoryLimit::Available,
                &meter(),
            )
        };
        assert_eq!(read(&whole).unwrap().0, text.as_bytes());
        let twice = [&whole[..], &whole[..]].concat();
        assert_eq!(read(&twice).unwrap().0.len(), 2 * text.len());
        for end in 0..whole.len() {
            let fault = read(&whole[..end]).unwrap_err();
            assert_eq!(fault.code(), code::CORRUPT_COMPRESSION, "{end}");
        }
        let fault = read(b"1 2 0.5").unwrap_err();
        assert!(fault.to_string().contains("it is no zstd data"));
    }
}
