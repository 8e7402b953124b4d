//! Zip archives of `.npy` files, which is what `.npz` files are.
//!
//! ```text
//! | header, name | indptr.npy | header, name | data.npy | … | directory | end |
//!        ^                            ^                     |
//!        └────────────────────────────┴── offsets, lengths, checksums
//! ```
//!
//! Reading begins at the end: the directory says where each member lies. A
//! member is stored as it is, and then copied from where it lies, or deflated.
//!
//! An archive is data from strangers. Deflate makes at most 1032 bytes of one,
//! so a member that claims more is refused before memory is taken for it; the
//! header of the array inside must promise exactly what the member has; and
//! only members that somebody asks for are expanded.
//!
//! Writing needs no seeking, and the bytes depend on nothing but the arrays:
//! members are stored, without dates, with their checksums after them.
//!
//! Source: APPNOTE 6.3.10, <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>,
//! read and written by the crate `rawzip`.

use std::io::{self, Read, Write};

use crc32fast::Hasher;
use flate2::bufread::DeflateDecoder;
use rawzip::{
    CompressionMethod, DataDescriptorOutput, ZipArchive, ZipArchiveEntryWayfinder,
    ZipArchiveWriter, ZipSliceArchive,
};
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, code};
use sparsec_parallel::{map, ranges};
use sparsec_tensor::Array;

use crate::npy::header::{Dtype, Header};
use crate::npy::ndarray::{NdArray, read_text};
use crate::progress::{Meter, Progress};

/// Bytes that deflate can make of one.
const MOST_EXPANSION: u64 = 1032;
/// Bytes whose checksum one thread takes at a time.
const GRAIN: usize = 4 << 20;
/// Bytes that are expanded before their checksum is taken, while in the cache.
const STEP: usize = 256 << 10;

/// An archive that is read.
///
/// ```
/// use sparsec_io::npz::{Archive, ArchiveWriter};
/// use sparsec_tensor::Array;
/// let mut writer = ArchiveWriter::new(Vec::new());
/// writer.text("kind", "matrix")?;
/// writer.array("x", &[3], &Array::from_vec(vec![1.5, 2.5, 3.5]))?;
/// let bytes = writer.finish()?;
///
/// let archive = Archive::open("a.npz", &bytes)?;
/// assert_eq!(archive.members().collect::<Vec<_>>(), ["kind", "x"]);
/// assert_eq!(archive.text("kind")?, "matrix");
/// assert_eq!(archive.array("x")?.values.as_slice(), Some(&[1.5, 2.5, 3.5][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Archive<'a> {
    name: String,
    zip: ZipSliceArchive<&'a [u8]>,
    members: Vec<Member>,
    meter: Meter<'a>,
}

#[derive(Debug)]
struct Member {
    /// The name without its `.npy`.
    name: String,
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
    encrypted: bool,
}

impl<'a> Archive<'a> {
    /// Reads the directory of an archive. `name` is the file, for messages.
    ///
    /// # Errors
    /// `E0452` for what is no zip archive or has a damaged directory.
    pub fn open(name: &str, bytes: &'a [u8]) -> Result<Self> {
        let fault = |error: rawzip::Error| {
            let message = format!("`{name}` is no zip archive, or is cut off: {error}");
            Diagnostic::new(code::BAD_ARCHIVE, message)
                .help("copy the file again; `unzip -t` checks it")
        };
        let zip = ZipArchive::from_slice(bytes).map_err(fault)?;
        let mut members: Vec<Member> = Vec::new();
        let mut entries = zip.entries();
        while let Some(entry) = entries.next_entry().map_err(fault)? {
            let path = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
            let member = Member {
                name: path.strip_suffix(".npy").unwrap_or(&path).to_owned(),
                place: entry.wayfinder(),
                method: entry.compression_method(),
                encrypted: entry.flags().is_encrypted(),
            };
            members.push(member);
        }
        let mut names: Vec<&str> = members.iter().map(|member| &member.name[..]).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Diagnostic::new(
                code::BAD_ARCHIVE,
                format!("`{name}` has two members called `{}`", pair[0]),
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            zip,
            members,
            meter: Meter::new(None, 0, 0, 0),
        })
    }

    /// The same archive, which tells how many bytes of its members are read.
    pub(crate) fn with_progress(self, progress: Option<&'a Progress>) -> Self {
        let sizes = self
            .members
            .iter()
            .map(|member| member.place.uncompressed_size_hint());
        let total = sizes.fold(0, u64::saturating_add);
        Self {
            meter: Meter::new(progress, total, 0, total),
            ..self
        }
    }

    /// The file, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of the members, without `.npy`, in the order of the archive.
    pub fn members(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| &member.name[..])
    }

    /// Whether there is a member called `member`.
    pub fn has(&self, member: &str) -> bool {
        self.members().any(|name| name == member)
    }

    /// The array called `member`.
    ///
    /// # Errors
    /// `E0453` where there is none, `E0452` for one that is damaged or expands
    /// to more than it can, `E0450` and `E0451` for one that is no array of
    /// numbers, `E0407` when memory is out.
    pub fn array(&self, member: &str) -> Result<NdArray> {
        self.read(member, |name, bytes| match bytes {
            Bytes::Stored(bytes) => NdArray::from_bytes(name, bytes),
            Bytes::Deflated(source, length) => NdArray::from_stream(name, source, length),
        })
    }

    /// Several arrays, read in parallel.
    ///
    /// # Errors
    /// As [`Archive::array`], for the first of them that fails.
    pub fn arrays<const N: usize>(&self, members: [&str; N]) -> Result<[NdArray; N]> {
        let read = self.all(&members)?;
        Ok(read.try_into().expect("one array is read for each member"))
    }

    /// As [`Archive::arrays`], for a number of arrays not known beforehand.
    ///
    /// # Errors
    /// As [`Archive::array`], for the first of them that fails.
    pub fn all(&self, members: &[&str]) -> Result<Vec<NdArray>> {
        if let Some(absent) = members.iter().find(|member| !self.has(member)) {
            return Err(self.missing(absent, members));
        }
        let read = map(members.to_vec(), |member| self.array(member));
        read.into_iter().collect()
    }

    /// The text called `member`: a scalar of Unicode or ASCII.
    ///
    /// # Errors
    /// As [`Archive::array`], and `E0451` for what is no text.
    pub fn text(&self, member: &str) -> Result<String> {
        self.read(member, |name, bytes| match bytes {
            Bytes::Stored(mut bytes) => {
                let length = bytes.len() as u64;
                read_text(name, &mut bytes, length)
            }
            Bytes::Deflated(source, length) => read_text(name, source, length),
        })
    }

    /// Applies `read` to the bytes of a member, whose checksum is then right.
    fn read<R>(
        &self,
        member: &str,
        read: impl FnOnce(&str, Bytes<'_, '_>) -> Result<R>,
    ) -> Result<R> {
        let found = self.members.iter().find(|found| found.name == member);
        let found = found.ok_or_else(|| self.missing(member, &[]))?;
        let name = format!("{}: {member}", self.name);
        let fault = |what: String| {
            Diagnostic::new(code::BAD_ARCHIVE, format!("`{name}` {what}"))
                .help("copy the file again; `unzip -t` checks it")
        };
        if found.encrypted {
            return Err(
                fault("is encrypted".to_owned()).help("write an archive without a password")
            );
        }
        let entry = self.zip.get_entry(found.place);
        let entry = entry.map_err(|error| fault(format!("cannot be read: {error}")))?;
        let claim = entry.claim_verifier();
        let bytes = entry.data();
        let wrong = |crc, length| {
            let found = rawzip::ZipVerification {
                crc,
                uncompressed_size: length,
            };
            let valid = claim.valid(found);
            valid.map_err(|error| fault(format!("is damaged: {error}")))
        };
        match found.method {
            CompressionMethod::STORE => {
                wrong(summed(bytes, &self.meter).finalize(), bytes.len() as u64)?;
                read(&name, Bytes::Stored(bytes))
            }
            CompressionMethod::DEFLATE => {
                let length = claim.uncompressed_size;
                if length > (bytes.len() as u64).saturating_mul(MOST_EXPANSION) {
                    let given = bytes.len();
                    return Err(fault(format!(
                        "claims to expand from {given} to {length} bytes, which it cannot"
                    )));
                }
                let mut source = Summed::new(DeflateDecoder::new(bytes), &self.meter);
                let result = read(&name, Bytes::Deflated(&mut source, length))?;
                // What was read is as long as claimed; is there more?
                let more = source.read(&mut [0]);
                match more {
                    Ok(_) => wrong(source.sum.finalize(), source.length)?,
                    Err(error) => return Err(fault(format!("cannot be read: {error}"))),
                }
                Ok(result)
            }
            other => Err(fault(format!("is compressed as {other}")).help(
                "save it with `numpy.savez`, or with `numpy.savez_compressed`, which deflates",
            )),
        }
    }

    /// The diagnostic for a member that is not there, of some that are `needed`.
    fn missing(&self, member: &str, needed: &[&str]) -> Diagnostic {
        let message = format!("`{}` has no array `{member}`", self.name);
        let error = Diagnostic::new(code::MISSING_MEMBER, message);
        let error = error.note(format!("it has {}", self.listed()));
        let others = self.members().filter(|other| !needed.contains(other));
        match closest(member, others) {
            Some(close) => error.help(format!(
                "rename `{close}` to `{member}` if it is that array"
            )),
            None => error,
        }
    }

    /// The first members, for messages.
    pub(crate) fn listed(&self) -> String {
        const SHOWN: usize = 8;
        let shown: Vec<String> = self
            .members()
            .take(SHOWN)
            .map(|name| format!("`{name}`"))
            .collect();
        match self.members.len() {
            0 => "no members".to_owned(),
            n if n > SHOWN => format!("{} and {} more", shown.join(", "), n - SHOWN),
            _ => shown.join(", "),
        }
    }
}

/// The content of a member.
enum Bytes<'s, 'a> {
    /// Where it lies.
    Stored(&'s [u8]),
    /// A stream that expands it, and how many bytes it claims to have.
    Deflated(&'s mut Summed<'a, DeflateDecoder<&'a [u8]>>, u64),
}

/// A reader that takes the checksum of what is read.
struct Summed<'a, R> {
    inner: R,
    meter: &'a Meter<'a>,
    sum: Hasher,
    length: u64,
}

impl<'a, R> Summed<'a, R> {
    fn new(inner: R, meter: &'a Meter<'a>) -> Self {
        Self {
            inner,
            meter,
            sum: Hasher::new(),
            length: 0,
        }
    }
}

impl<R: Read> Read for Summed<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let step = to.len().min(STEP);
        let n = self.inner.read(&mut to[..step])?;
        self.sum.update(&to[..n]);
        self.length += n as u64;
        self.meter.add(n as u64);
        Ok(n)
    }
}

/// The checksum of bytes, taken in parallel.
fn summed(bytes: &[u8], meter: &Meter<'_>) -> Hasher {
    let sums = map(ranges(bytes.len(), GRAIN), |part| {
        let mut sum = Hasher::new();
        meter.add(part.len() as u64);
        sum.update(&bytes[part]);
        sum
    });
    let mut all = Hasher::new();
    for sum in sums {
        all.combine(&sum);
    }
    all
}

/// An archive that is written, member by member.
pub struct ArchiveWriter<W> {
    zip: ZipArchiveWriter<W>,
}

impl<W: Write> ArchiveWriter<W> {
    /// An archive without members, written to `sink`.
    pub fn new(sink: W) -> Self {
        Self {
            zip: ZipArchiveWriter::new(sink),
        }
    }

    /// Appends an array whose last mode varies fastest, called `member` without
    /// `.npy`. The numbers are as many as the product of the extents, of which
    /// NumPy allows 64. Those of
    /// `bf16`, which NumPy lacks, are stated as `u16` of the same bits.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn array(&mut self, member: &str, shape: &[u64], values: &Array) -> io::Result<()> {
        let header = Header {
            dtype: Dtype::Number(values.element()),
            swapped: false,
            column_major: false,
            shape: shape.to_vec(),
        };
        self.member(member, &header, values.as_bytes())
    }

    /// Appends a list of numbers.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn list(&mut self, member: &str, values: &Array) -> io::Result<()> {
        self.array(member, &[values.len() as u64], values)
    }

    /// Appends a text, as a scalar of Unicode.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn text(&mut self, member: &str, text: &str) -> io::Result<()> {
        let letters: Vec<u8> = text
            .chars()
            .flat_map(|letter| u32::from(letter).to_ne_bytes())
            .collect();
        // NumPy has no text of no length: it pads to one character.
        self.scalar(
            member,
            Dtype::Text((letters.len() as u64 / 4).max(1)),
            letters,
        )
    }

    /// Appends a text, as a scalar of bytes, which ASCII fits in.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn ascii(&mut self, member: &str, text: &str) -> io::Result<()> {
        let bytes = text.as_bytes().to_vec();
        self.scalar(member, Dtype::Bytes(bytes.len().max(1) as u64), bytes)
    }

    fn scalar(&mut self, member: &str, dtype: Dtype, mut bytes: Vec<u8>) -> io::Result<()> {
        bytes.resize(dtype.size().unwrap_or_default() as usize, 0);
        let header = Header {
            dtype,
            swapped: false,
            column_major: false,
            shape: Vec::new(),
        };
        self.member(member, &header, &bytes)
    }

    fn member(&mut self, member: &str, header: &Header, data: &[u8]) -> io::Result<()> {
        let header = header.write();
        let file = format!("{member}.npy");
        let (mut entry, _) = self.zip.new_file(&file[..]).start().map_err(refused)?;
        entry.write_all(&header)?;
        entry.write_all(data)?;
        let unseen = Meter::new(None, 0, 0, 0);
        let mut sum = summed(&header, &unseen);
        sum.combine(&summed(data, &unseen));
        let length = (header.len() + data.len()) as u64;
        let end = DataDescriptorOutput::new(sum.finalize(), length);
        entry.finish(end).map_err(refused)?;
        Ok(())
    }

    /// Writes the directory; returns the sink.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn finish(self) -> io::Result<W> {
        self.zip.finish().map_err(refused)
    }
}

fn refused(error: rawzip::Error) -> io::Error {
    match error.into_kind() {
        rawzip::ErrorKind::IO(error) => error,
        other => io::Error::other(other.to_string()),
    }
}
