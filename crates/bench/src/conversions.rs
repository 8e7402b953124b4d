//! Conversions between formats, beside packing and beside SciPy.
//!
//! ```text
//! ours       a kernel that is derived from both formats, made before, and its arrays
//! packing    entries unpacked, sorted and packed
//! SciPy      tocsr, tocsc, tocoo, tobsr and todia, with the sum of duplicates in tocsr
//! ```
//!
//! Ours is compared with packing, array by array, and SciPy's `csr` and `csc` with ours.
//! All sides allocate their results, run on one thread and take turns. Times are of the
//! wall clock.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparsec::conversion::Converter;
use sparsec::parallel::with_threads;
use sparsec::{
    Array, Diagnostic, Format, FormatSpec, PackOptions, Result, Session, Tensor, code, io,
};

use crate::pair::median;
use crate::peer::Peer;
use crate::report::milliseconds;

/// What is converted: source, destination.
const PAIRS: [(&str, &str); 10] = [
    ("scoo", "csr"),
    ("coo", "csr"),
    ("scoo", "csc"),
    ("csr", "csc"),
    ("csc", "csr"),
    ("csr", "scoo"),
    ("csr", "dcsr"),
    ("csr", "ell"),
    ("csr", "bsr(4, 4)"),
    ("csr", "dia"),
];

/// Formats that are too large for scattered entries.
const OF_BANDS: [&str; 1] = ["dia"];

/// Conversions take long enough for few rounds to do.
const MOST_ROUNDS: usize = 7;

/// One conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversionRow {
    /// Source, destination and matrix.
    pub name: String,
    /// The median time of the derived kernel.
    pub ours: Duration,
    /// The median time of unpacking, sorting and packing.
    pub packing: Duration,
    /// The median time of SciPy, if there is SciPy and it does this.
    pub peer: Option<Duration>,
    /// The median over rounds of SciPy's time by ours.
    pub ratio: Option<f64>,
    /// How long it took to derive the conversion and to make its loops.
    pub derived_in: Duration,
}

/// The matrix of ten diagonals, or of ten entries a row anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Matrix {
    Band,
    Uniform,
}

impl Matrix {
    fn name(self) -> &'static str {
        match self {
            Self::Band => "band",
            Self::Uniform => "uniform",
        }
    }

    /// The coordinates of its entries, row by row.
    fn coordinates(self, n: u64) -> Vec<u64> {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut coordinates = Vec::new();
        for i in 0..n {
            let mut row: Vec<u64> = (0..10)
                .map(|d| match self {
                    Self::Band => (i + d * 3).saturating_sub(12).min(n - 1),
                    Self::Uniform => random.below(n),
                })
                .collect();
            row.sort_unstable();
            row.dedup();
            coordinates.extend(row.into_iter().flat_map(|j| [i, j]));
        }
        coordinates
    }
}

/// Measures, telling of each row as soon as it is known. Matrices have so many entries.
///
/// # Errors
/// `E0515` where a side has another result; those of files and of memory.
pub(crate) fn measure(
    session: &Session,
    n_entries: usize,
    rounds: usize,
    print: &mut dyn FnMut(String) -> Result<()>,
) -> Result<Vec<ConversionRow>> {
    let folder = tempfile::tempdir().map_err(|error| {
        let message = format!("there is no directory for files: {error}");
        Diagnostic::new(code::CANNOT_WRITE_FILE, message)
            .help("see to the directory that TMPDIR names")
    })?;
    let started = Peer::start(
        include_str!("conversions/peer.py"),
        &[("OMP_NUM_THREADS", "1".into())],
    );
    let (mut peer, version) = match started {
        Ok(peer) => {
            let version = format!("SciPy {}", peer.hello["scipy"].as_str().unwrap_or("?"));
            (Some(peer), version)
        }
        Err(why) => (None, format!("no SciPy to compare with: {why}")),
    };
    print(format!("\n{version}; one thread\n{}", heading()))?;
    let mut rows = Vec::new();
    for matrix in [Matrix::Band, Matrix::Uniform] {
        let n = (n_entries / 10) as u64;
        let coordinates = matrix.coordinates(n);
        let values: Vec<f64> = (0..coordinates.len() / 2)
            .map(|at| at as f64 + 0.5)
            .collect();
        let scoo = Tensor::pack(&Format::scoo(2), &[n, n], &coordinates, &values)?;
        let coo = shuffled(&scoo)?;
        let stored = |format: &str| -> Result<Tensor> {
            match format {
                "scoo" => scoo.try_clone(),
                "coo" => coo.try_clone(),
                other => scoo.convert(&resolved(other)?),
            }
        };
        if let Some(peer) = &mut peer {
            for (name, list) in [("scoo", &scoo), ("coo", &coo)] {
                load(peer, folder.path(), name, list)?;
            }
        }
        for (from, to) in PAIRS {
            if matrix == Matrix::Uniform && OF_BANDS.contains(&to) {
                continue;
            }
            let mut case = Case {
                session,
                tensor: stored(from)?,
                from,
                to,
                folder: folder.path(),
                peer: peer.as_mut(),
            };
            let row = case.measure(matrix, rounds.clamp(1, MOST_ROUNDS))?;
            print(row.line())?;
            rows.push(row);
        }
    }
    Ok(rows)
}

fn resolved(format: &str) -> Result<Format> {
    format.parse::<FormatSpec>()?.resolve(2)
}

/// The same entries in an order that is none.
fn shuffled(list: &Tensor) -> Result<Tensor> {
    let mut entries = list.entries();
    let mut random = Random(7);
    let n = entries.len();
    let mut order: Vec<usize> = (0..n).collect();
    for at in (1..n).rev() {
        order.swap(at, random.below(at as u64 + 1) as usize);
    }
    let coordinates: Vec<u64> = entries.coords.iter().collect();
    let of = |at: &usize| [coordinates[2 * at], coordinates[2 * at + 1]];
    let values = entries.values.as_slice::<f64>().unwrap_or_default();
    let values: Vec<f64> = order.iter().map(|at| values[*at]).collect();
    let mixed: Vec<u64> = order.iter().flat_map(of).collect();
    // As arrays, since packing would sort.
    let mode = |mode: usize| {
        let all = mixed.iter().skip(mode).step_by(2);
        Array::from_vec(all.map(|coordinate| *coordinate as i32).collect())
    };
    let pos = Array::from_vec(vec![0, n as i32]);
    entries.values = Array::from_vec(values);
    let arrays = vec![pos, mode(0), mode(1), entries.values];
    let format = resolved("coo")?;
    let (extents, element) = (list.extents().to_vec(), list.element());
    Tensor::new(format, extents, element, list.fill(), arrays)
}

/// Hands a list of entries to SciPy.
fn load(peer: &mut Peer, folder: &Path, name: &str, list: &Tensor) -> Result<()> {
    let save = |name: &str, array: &Array| -> Result<std::path::PathBuf> {
        let path = folder.join(name);
        let (extents, zero) = (vec![array.len() as u64], array.element().zero());
        let arrays = vec![array.clone()];
        let tensor = Tensor::new(Format::dense(1), extents, array.element(), zero, arrays)?;
        io::write(&path, &tensor)?;
        Ok(path)
    };
    let arrays = list.arrays();
    let request = json!({
        "name": name,
        "row": save("row.npy", &arrays[1])?,
        "col": save("col.npy", &arrays[2])?,
        "data": save("data.npy", &arrays[3])?,
        "n": list.extents()[0],
    });
    peer.ask("load", request).map(|_| ())
}

struct Case<'a> {
    session: &'a Session,
    tensor: Tensor,
    from: &'static str,
    to: &'static str,
    folder: &'a Path,
    peer: Option<&'a mut Peer>,
}

impl Case<'_> {
    fn measure(&mut self, matrix: Matrix, rounds: usize) -> Result<ConversionRow> {
        let name = format!("{} to {}, {}", self.from, self.to, matrix.name());
        let destination = resolved(self.to)?;
        let start = Instant::now();
        let converter = Converter::new(&self.tensor, &destination)?;
        let derived_in = start.elapsed();
        let made = converter.run(self.session, &self.tensor)?;
        if made != self.tensor.convert(&destination)? {
            return Err(differs(&name, "packing"));
        }
        let is_done = self.compare(&name, &made)?;
        drop(made);
        let mut times: Vec<(Duration, Duration, Option<Duration>)> = Vec::new();
        for _ in 0..rounds {
            let (session, tensor) = (self.session, &self.tensor);
            let ours = with_threads(1, || timed(|| converter.run(session, tensor)))?;
            let packing = with_threads(1, || timed(|| tensor.convert(&destination)))?;
            let request = json!({ "from": self.from, "to": self.to });
            let peer = match &mut self.peer {
                Some(peer) if is_done => Some(peer.time("convert", request)?.0),
                _ => None,
            };
            times.push((ours, packing, peer));
        }
        let middle = |times: Vec<Duration>| median(times, Ord::cmp);
        let ratios: Option<Vec<f64>> = times
            .iter()
            .map(|(ours, _, peer)| Some((*peer)?.as_secs_f64() / ours.as_secs_f64()))
            .collect();
        let peers: Option<Vec<Duration>> = times.iter().map(|(.., peer)| *peer).collect();
        Ok(ConversionRow {
            name,
            ours: middle(times.iter().map(|(ours, ..)| *ours).collect()),
            packing: middle(times.iter().map(|(_, packing, _)| *packing).collect()),
            peer: peers.map(middle),
            ratio: ratios.map(|ratios| median(ratios, f64::total_cmp)),
            derived_in,
        })
    }

    /// Compares with SciPy's result; returns whether SciPy makes one.
    fn compare(&mut self, name: &str, made: &Tensor) -> Result<bool> {
        let Some(peer) = &mut self.peer else {
            return Ok(false);
        };
        let request = json!({ "from": self.from, "to": self.to, "save": self.folder });
        let answer = peer.ask("convert", request)?;
        if answer["seconds"].as_f64().is_none() {
            return Ok(false);
        }
        if !["csr", "csc"].contains(&self.to) {
            return Ok(true);
        }
        for (file, array) in ["indptr", "indices", "data"].iter().zip(made.arrays()) {
            let path = self.folder.join(format!("{file}.npy"));
            let options = io::ReadOptions {
                element: Some(array.element()),
                ..io::ReadOptions::default()
            };
            let theirs = io::read(&path, &options)?;
            let theirs = theirs.into_tensor(&Format::dense(1), PackOptions::default())?;
            if theirs.arrays().first() != Some(array) {
                return Err(differs(name, "SciPy"));
            }
        }
        Ok(true)
    }
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<Duration> {
    let start = Instant::now();
    let result = work()?;
    let time = start.elapsed();
    drop(result);
    Ok(time)
}

fn differs(name: &str, side: &str) -> Diagnostic {
    let message = format!("`{name}` does not give what {side} gives");
    Diagnostic::new(code::WRONG_RESULT, message)
        .help("this is a fault of sparsec; please report it with SciPy's version")
}

/// Numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * u128::from(n)) >> 64) as u64
    }
}

/// How to read the columns, and the line above the rows.
fn heading() -> String {
    format!(
        "packing/ours, SciPy/ours: above 1 ours is faster; derived in: once, before\n\
         {:26} {:>10} {:>10} {:>10} {:>8} {:>8} {:>10}\n",
        "conversions", "ours", "packing", "SciPy", "packing", "SciPy", "derived in"
    )
}

impl ConversionRow {
    fn line(&self) -> String {
        format!(
            "{:26} {:>10} {:>10} {:>10} {:>8.2} {:>8} {:>10}\n",
            self.name,
            milliseconds(self.ours),
            milliseconds(self.packing),
            self.peer.map_or("-".to_owned(), milliseconds),
            self.packing.as_secs_f64() / self.ours.as_secs_f64(),
            self.ratio
                .map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
            milliseconds(self.derived_in),
        )
    }

    /// As JSON. Times are in seconds.
    pub(crate) fn json(&self) -> Value {
        json!({
            "name": self.name,
            "ours": self.ours.as_secs_f64(),
            "packing": self.packing.as_secs_f64(),
            "peer": self.peer.map(|time| time.as_secs_f64()),
            "ratio": self.ratio,
            "derived_in": self.derived_in.as_secs_f64(),
        })
    }
}
