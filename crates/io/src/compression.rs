//! Compressed text files: `.gz` and `.zst`.
//!
//! Expanding is bounded by the memory of the machine, whatever the compressed
//! data promise: the result grows with what has come out.

use std::io::{BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_parallel::memory::physical_bytes;

use crate::progress::Meter;

/// Bytes that are expanded at a time.
const STEP: usize = 1 << 20;

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

/// The bytes that compressed ones stand for.
pub(crate) fn expand(
    bytes: &[u8],
    compression: Compression,
    name: &str,
    meter: &Meter<'_>,
) -> Result<Vec<u8>> {
    let (magic, kind, tool): (&[u8], _, _) = match compression {
        Compression::None => return Ok(bytes.to_vec()),
        Compression::Gzip => (&[0x1F, 0x8B], "gzip", "gzip -t"),
        Compression::Zstd => (&[0x28, 0xB5, 0x2F, 0xFD], "zstd", "zstd -t"),
    };
    let corrupt = |reason: &str| {
        Diagnostic::new(
            code::CORRUPT_COMPRESSION,
            format!("`{name}` cannot be expanded: {reason}"),
        )
        .help(format!("copy the file again; `{tool}` checks it"))
    };
    if !bytes.starts_with(magic) {
        return Err(corrupt(&format!("it is no {kind} data")));
    }
    let source = Counted { bytes, meter };
    let expanded = match compression {
        Compression::Zstd => zstd::Decoder::with_buffer(source)
            .map_err(Failure::Read)
            .and_then(drain),
        _ => drain(MultiGzDecoder::new(source)),
    };
    expanded.map_err(|failure| match failure {
        Failure::Read(error) => corrupt(&error.to_string()),
        Failure::TooLarge => Diagnostic::new(
            code::TENSOR_TOO_LARGE,
            format!("`{name}` expands to more than this machine's memory"),
        ),
    })
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

enum Failure {
    Read(std::io::Error),
    TooLarge,
}

fn drain(mut decoder: impl Read) -> std::result::Result<Vec<u8>, Failure> {
    let limit = physical_bytes();
    let mut out: Vec<u8> = Vec::new();
    loop {
        let room = STEP.max(out.len());
        if out.len() as u64 > limit || out.try_reserve(room).is_err() {
            return Err(Failure::TooLarge);
        }
        let got = (&mut decoder).take(room as u64).read_to_end(&mut out);
        if got.map_err(Failure::Read)? == 0 {
            return Ok(out);
        }
    }
}
