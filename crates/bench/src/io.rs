//! Reading, writing, packing and checking, beside SciPy where Python has it.
//!
//! | row              | ours                                  | SciPy's                 |
//! |------------------|---------------------------------------|-------------------------|
//! | `read mtx`       | a file to entries                     | `mmread`, same threads  |
//! | `read mtx/1`     | the same on one thread                | `mmread` on one thread  |
//! | `read tns`       | the same entries in a `.tns` file     | `mmread`, by the byte   |
//! | `write mtx`      | entries to a file                     | `mmwrite`, same threads |
//! | `pack csr`       | unsorted triplets, duplicates added   | `coo_array.tocsr`       |
//! | `check csr`      | every invariant of arrays given       | –; a nanosecond an entry |
//!
//! Results are compared first: entries by a checksum that does not mind their
//! order, packed arrays one by one. Both sides take turns and hold their inputs
//! in memory; files are in the page cache. Times are of the wall clock, since
//! both sides have threads.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparsec::internals::parallel::{threads, with_threads};
use sparsec::{
    Array, Coords, Diagnostic, ElementType, Entries, Format, PackOptions, Result, Scalar, Tensor,
    code, io,
};

use crate::pair::median;
use crate::peer::Peer;
use crate::report::{mark, milliseconds};

/// How large files and matrices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoSizes {
    /// Rows and columns.
    pub n: u64,
    /// Entries of the file that is read and written: about 35 bytes each.
    pub file_entries: usize,
    /// Triplets that are packed, and entries that are checked.
    pub triplets: usize,
}

/// One task beside SciPy.
#[derive(Clone, Debug, PartialEq)]
pub struct IoRow {
    /// What is done.
    pub name: &'static str,
    /// The median time of ours.
    pub ours: Duration,
    /// The median time of SciPy's, if there is SciPy and it does this.
    pub peer: Option<Duration>,
    /// The median over rounds of SciPy's time by ours, for the same bytes.
    pub ratio: Option<f64>,
    /// What is good enough.
    pub bar: Bar,
    /// Bytes read, written, packed or checked.
    pub bytes: u64,
}

/// What is good enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bar {
    /// At least this ratio to SciPy.
    Ratio(f64),
    /// At most this time.
    Time(Duration),
}

/// Everything measured, and what it was measured beside.
#[derive(Clone, Debug, PartialEq)]
pub struct IoReport {
    /// SciPy's version, or why there is none.
    pub peer: String,
    /// How many threads both sides may use.
    pub threads: usize,
    /// What was measured.
    pub rows: Vec<IoRow>,
}

/// Tasks take long enough for few rounds to do.
const MOST_ROUNDS: usize = 5;

/// Measures, telling of each row as soon as it is known.
///
/// # Errors
/// `E0515` where SciPy has another result; those of files and of memory.
pub(crate) fn measure(
    sizes: &IoSizes,
    rounds: usize,
    print: &mut dyn FnMut(String) -> Result<()>,
) -> Result<IoReport> {
    let folder = tempfile::tempdir().map_err(|error| {
        Diagnostic::new(
            code::CANNOT_WRITE_FILE,
            format!("there is no directory for files: {error}"),
        )
        .help("see to the directory that TMPDIR names")
    })?;
    let started = Peer::start(include_str!("io/peer.py"), &[]);
    let (peer, version) = match started {
        Ok(peer) => {
            let of = |name: &str| peer.hello[name].as_str().unwrap_or("?").to_owned();
            let version = format!("SciPy {}, NumPy {}", of("scipy"), of("numpy"));
            (Some(peer), version)
        }
        Err(why) => (None, format!("no SciPy to compare with: {why}")),
    };
    print(format!(
        "\n{version}; {} threads\n{}",
        threads(),
        IoRow::heading()
    ))?;
    let mut bench = Bench {
        folder: folder.path(),
        sizes,
        rounds: rounds.clamp(1, MOST_ROUNDS),
        peer,
    };
    let mut rows = Vec::new();
    let mut tell = |done: Vec<IoRow>| -> Result<()> {
        for row in done {
            print(row.line())?;
            rows.push(row);
        }
        Ok(())
    };
    tell(bench.files()?)?;
    tell(bench.pack()?)?;
    tell(bench.check()?)?;
    Ok(IoReport {
        peer: version,
        threads: threads(),
        rows,
    })
}

struct Bench<'a> {
    folder: &'a Path,
    sizes: &'a IoSizes,
    rounds: usize,
    peer: Option<Peer>,
}

impl Bench<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn files(&mut self) -> Result<Vec<IoRow>> {
        let mut random = Random(1);
        let n_entries = self.sizes.file_entries;
        let entries = Entries {
            extents: vec![self.sizes.n; 2],
            coords: (0..2 * n_entries)
                .map(|_| random.below(self.sizes.n))
                .collect(),
            values: Array::from_vec((0..n_entries).map(|_| random.unit()).collect()),
        };
        let tensor = Tensor::pack_entries(&Format::scoo(2), entries, PackOptions::default())?;
        let (mtx, tns, ours, theirs) = (
            self.path("a.mtx"),
            self.path("a.tns"),
            self.path("ours.mtx"),
            self.path("theirs.mtx"),
        );
        io::write(&mtx, &tensor)?;
        io::write(&tns, &tensor)?;
        let read = |path: &Path| io::read(path, &io::ReadOptions::default());
        let (bytes, tns_bytes) = (size_of_file(&mtx), size_of_file(&tns));
        let wanted = checksum(&read(&mtx)?.into_entries()?);
        if checksum(&read(&tns)?.into_entries()?) != wanted {
            return Err(differs("read tns"));
        }
        if let Some(peer) = &mut self.peer {
            let answer = peer.ask("read", json!({ "path": mtx }))?;
            if answer["checksum"].as_u64() != Some(wanted) {
                return Err(differs("read mtx"));
            }
            peer.ask("write", json!({ "path": theirs }))?;
            if checksum(&read(&theirs)?.into_entries()?) != wanted {
                return Err(differs("write mtx"));
            }
        }

        let all = json!({ "path": mtx, "threads": 0 });
        let one = json!({ "path": mtx, "threads": 1 });
        let write = json!({ "path": theirs, "threads": 0 });
        // The same bytes of another file: SciPy's time is taken by the byte.
        let scale = tns_bytes as f64 / bytes as f64;
        Ok(vec![
            self.turns(
                "read mtx",
                1.3,
                bytes,
                Some(("read", all.clone())),
                1.0,
                || timed(|| read(&mtx)),
            )?,
            self.turns("read mtx/1", 2.0, bytes, Some(("read", one)), 1.0, || {
                with_threads(1, || timed(|| read(&mtx)))
            })?,
            self.turns(
                "read tns",
                1.0,
                tns_bytes,
                Some(("read", all)),
                scale,
                || timed(|| read(&tns)),
            )?,
            self.turns("write mtx", 2.0, bytes, Some(("write", write)), 1.0, || {
                timed(|| io::write(&ours, &tensor))
            })?,
        ])
    }

    fn pack(&mut self) -> Result<Vec<IoRow>> {
        let mut random = Random(2);
        let n = self.sizes.n;
        let n_triplets = self.sizes.triplets;
        // As wide as SciPy's.
        let coords: Vec<u32> = (0..2 * n_triplets)
            .map(|_| random.below(n) as u32)
            .collect();
        // Small integers, whose sums do not depend on their order.
        let values: Vec<f64> = (0..n_triplets).map(|_| random.below(100) as f64).collect();
        let entries = Entries {
            extents: vec![n; 2],
            coords: Coords::narrow(coords),
            values: Array::from_vec(values),
        };
        let csr = Tensor::pack_entries(&Format::csr(), entries.clone(), PackOptions::default())?;
        if let Some(peer) = &mut self.peer {
            let save = |name: &str, array: Array| -> Result<PathBuf> {
                let path = self.folder.join(name);
                let extents = vec![array.len() as u64];
                let (element, fill) = (array.element(), array.element().zero());
                let tensor = Tensor::new(Format::dense(1), extents, element, fill, vec![array])?;
                io::write(&path, &tensor)?;
                Ok(path)
            };
            let mode = |mode: usize| {
                let all = entries.coords.iter().skip(mode).step_by(2);
                Array::from_vec(all.map(|c| c as i32).collect())
            };
            let request = json!({
                "row": save("row.npy", mode(0))?,
                "col": save("col.npy", mode(1))?,
                "data": save("data.npy", entries.values.clone())?,
                "n": n,
            });
            peer.ask("load", request)?;
            peer.ask("pack", json!({ "save": self.folder }))?;
            for (name, array) in ["indptr", "indices", "data"].iter().zip(csr.arrays()) {
                let path = self.folder.join(format!("{name}.npy"));
                let options = io::ReadOptions {
                    element: Some(array.element()),
                    ..io::ReadOptions::default()
                };
                let file = io::read(&path, &options)?;
                let theirs = file.into_tensor(&Format::dense(1), PackOptions::default())?;
                if theirs.arrays().first() != Some(array) {
                    return Err(differs("pack csr"));
                }
            }
        }
        let bytes = (n_triplets * 24) as u64;
        let row = self.turns(
            "pack csr",
            1.5,
            bytes,
            Some(("pack", json!({}))),
            1.0,
            || {
                let entries = entries.clone();
                timed(|| Tensor::pack_entries(&Format::csr(), entries, PackOptions::default()))
            },
        )?;
        Ok(vec![row])
    }

    fn check(&mut self) -> Result<Vec<IoRow>> {
        let n_entries = self.sizes.triplets as u64;
        let n = self.sizes.n;
        let each = n_entries.div_ceil(n);
        let step = n / each.max(1);
        let pos: Vec<i32> = (0..=n).map(|i| (i * each) as i32).collect();
        let crd: Vec<i32> = (0..n)
            .flat_map(|i| (0..each).map(move |k| (k * step + i % step.max(1)) as i32))
            .collect();
        let vals = vec![1.0; crd.len()];
        let mut arrays = vec![
            Array::from_vec(pos),
            Array::from_vec(crd),
            Array::from_vec(vals),
        ];
        let bytes: usize = arrays[..2].iter().map(Array::bytes).sum();
        let limit = Duration::from_nanos(n_entries);
        let mut row = self.turns("check csr", 0.0, bytes as u64, None, 1.0, || {
            let given = std::mem::take(&mut arrays);
            let start = Instant::now();
            let zero = Scalar::F64(0.0);
            let tensor = Tensor::new(Format::csr(), vec![n; 2], ElementType::F64, zero, given)?;
            let time = start.elapsed();
            (_, _, _, arrays) = tensor.into_parts();
            Ok(time)
        })?;
        row.bar = Bar::Time(limit);
        Ok(vec![row])
    }

    /// Both sides in turns. `scale` is how much more bytes ours handles.
    fn turns(
        &mut self,
        name: &'static str,
        bar: f64,
        bytes: u64,
        theirs: Option<(&str, Value)>,
        scale: f64,
        mut ours: impl FnMut() -> Result<Duration>,
    ) -> Result<IoRow> {
        let mut times: Vec<(Duration, Option<Duration>)> = Vec::new();
        for round in 0..self.rounds {
            let mut ask = || match (&mut self.peer, &theirs) {
                (Some(peer), Some((what, with))) => {
                    peer.time(what, with.clone()).map(|(time, _)| Some(time))
                }
                _ => Ok(None),
            };
            // Each goes first in every other round.
            times.push(if round % 2 == 0 {
                let time = ours()?;
                (time, ask()?)
            } else {
                let asked = ask()?;
                (ours()?, asked)
            });
        }
        let middle = |times: Vec<Duration>| median(times, Ord::cmp);
        let ratios: Option<Vec<f64>> = times
            .iter()
            .map(|(ours, peer)| Some(scale * (*peer)?.as_secs_f64() / ours.as_secs_f64()))
            .collect();
        let peers: Option<Vec<Duration>> = times.iter().map(|(_, peer)| *peer).collect();
        Ok(IoRow {
            name,
            ours: middle(times.iter().map(|(ours, _)| *ours).collect()),
            peer: peers.map(middle),
            ratio: ratios.map(|ratios| median(ratios, f64::total_cmp)),
            bar: Bar::Ratio(bar),
            bytes,
        })
    }
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<Duration> {
    let start = Instant::now();
    let result = work()?;
    let time = start.elapsed();
    drop(result);
    Ok(time)
}

fn size_of_file(path: &Path) -> u64 {
    path.metadata().map_or(0, |data| data.len())
}

/// The sum of words that each entry is mixed to, as `peer.py` has it.
fn checksum(entries: &Entries) -> u64 {
    let values = entries.values.as_slice::<f64>().unwrap_or_default();
    let mixed = (0..entries.len()).zip(values).map(|(e, value)| {
        let at = entries.coords(e);
        let row = at.at(0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let coords = row.wrapping_add(at.at(1).wrapping_mul(0xC2B2_AE3D_27D4_EB4F));
        let mixed = coords ^ value.to_bits();
        mixed ^ mixed >> 29
    });
    mixed.fold(0, u64::wrapping_add)
}

fn differs(name: &str) -> Diagnostic {
    Diagnostic::new(
        code::WRONG_RESULT,
        format!("`{name}` does not give what SciPy gives"),
    )
    .help("this is a fault of sparsec; please report it with SciPy's version")
}

/// Numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl IoRow {
    /// How to read the columns, and the line above the rows.
    fn heading() -> String {
        format!(
            "ratio: SciPy / ours, above 1 ours is faster; bar: the least ratio or the longest time \
             that is good enough\nGB/s: bytes of the file or the arrays by our time, more is better\n\
             {:18} {:>10} {:>10} {:>7} {:>10} {:>10}\n",
            "files and packing", "ours", "SciPy", "ratio", "bar", "GB/s"
        )
    }

    fn line(&self) -> String {
        let bar = match self.bar {
            Bar::Ratio(ratio) => format!("{ratio:.2}"),
            Bar::Time(time) => milliseconds(time),
        };
        format!(
            "{:18} {:>10} {:>10} {:>7} {:>10} {:>10.2}{}\n",
            self.name,
            milliseconds(self.ours),
            self.peer.map_or("-".to_owned(), milliseconds),
            self.ratio
                .map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            bar,
            self.bytes as f64 / self.ours.as_secs_f64() / 1e9,
            mark(self.keeps_bar()),
        )
    }

    /// Whether the bar is kept, or there is nothing to compare with.
    pub fn keeps_bar(&self) -> bool {
        match self.bar {
            Bar::Ratio(bar) => self.ratio.is_none_or(|ratio| ratio >= bar),
            Bar::Time(bar) => self.ours <= bar,
        }
    }
}

impl IoReport {
    /// As JSON. Times are in seconds.
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(IoRow::json).collect();
        json!({ "peer": self.peer, "threads": self.threads, "rows": rows })
    }
}

impl IoRow {
    fn json(&self) -> Value {
        json!({
            "name": self.name,
            "ours": self.ours.as_secs_f64(),
            "peer": self.peer.map(|time| time.as_secs_f64()),
            "ratio": self.ratio,
            "bar": match self.bar {
                Bar::Ratio(ratio) => json!({ "ratio": ratio }),
                Bar::Time(time) => json!({ "time": time.as_secs_f64() }),
            },
            "bytes": self.bytes,
        })
    }
}
