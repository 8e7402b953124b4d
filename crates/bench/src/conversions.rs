//! Conversions between formats, beside packing, SciPy, MKL, C by hand and a paper's method.
//!
//! ```text
//! ours, allocating   a derived kernel, made before; its result in fresh memory, checked
//! ours, given        the same kernel into arrays that are there
//! packing            entries unpacked, sorted and packed
//! SciPy              tocsr, tocsc, tocoo, tobsr and todia, into fresh memory
//! MKL, C by hand     into arrays that are there
//! SPF                C by the method of a paper (`kernels/synthesized.c`), into such arrays
//! bound              the bytes of source and result by the copy bandwidth of the same run
//! ```
//!
//! Results are compared before anything is timed. Ours are compared with packing, array by array, or
//! entry by entry if a format leaves their order open. Each other side's are compared with SciPy's
//! rows of the same entries, and SciPy's `csr` and `csc` with ours.
//!
//! `convert/all` measures all ordered pairs of formats. If no library converts a pair, our
//! conversion is compared with packing alone. Each side runs on one thread, one after the
//! other. Wall-clock times are compared: of our allocating run with sides that allocate their
//! results, and of our run into given arrays with the others.

mod matrix;
mod results;
mod row;
mod setting;
mod turns;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparsec::internals::conversion::{self, Converter, Optimisation};
use sparsec::internals::parallel::Pool;
use sparsec::{Diagnostic, Format, FormatSpec, Result, Tensor, code, io};

use crate::bandwidth::{self, Bandwidth};
use crate::data::Given;
use crate::pair::median;
use crate::peer::Peer;
pub(crate) use matrix::GENERATED;
use matrix::Matrix;
pub use matrix::Scale;
use results::{differs, read, sorted, timed, unlike};
use row::heading;
pub use row::{ConversionBar, ConversionRow, SideTime};
pub(crate) use setting::Setting;
use turns::Turns;

/// The sides beside ours and packing: what `peer.py` calls them.
const ENGINES: [&str; 4] = ["scipy", "mkl", "c", "spf"];

/// Diagonals and slots beyond which a matrix is not converted to `dia` and to `ell`.
const MOST_DIAGONALS: usize = 64;
const LONGEST_ROW: usize = 64;

/// Conversions take long enough for few rounds to do, and the spread of packing does not matter.
const MOST_ROUNDS: usize = 7;
const PACKING_ROUNDS: usize = 2;

/// Measures, telling of each row as soon as it is known.
///
/// # Errors
/// `E0004` for a name of no row; `E0515` where a side has another result; those of files and of
/// memory.
pub(crate) fn measure(
    setting: &Setting<'_>,
    print: &mut dyn FnMut(String) -> Result<()>,
) -> Result<Vec<ConversionRow>> {
    let folder = tempfile::tempdir().map_err(|error| {
        let message = format!("there is no directory for files: {error}");
        Diagnostic::new(code::CANNOT_WRITE_FILE, message)
            .help("see to the directory that TMPDIR names")
    })?;
    let bandwidth = bandwidth::measure(setting.bandwidth_bytes);
    let touch = bandwidth::first_touch(setting.bandwidth_bytes);
    let one = Pool::new(1);
    let many = (setting.threads > 1).then(|| Pool::new(setting.threads));
    print(format!(
        "\n{bandwidth}\nfresh memory: {:.1} GB/s\n",
        touch / 1e9
    ))?;
    if let Some(many) = &many {
        let gain = bandwidth::gain(many, setting.threads, setting.bandwidth_bytes);
        print(format!(
            "{} threads {gain} times as fast as one\n",
            setting.threads
        ))?;
    }
    let c = include_str!("../kernels/conversions.c").to_owned();
    let synthesized = include_str!("../kernels/synthesized.c").to_owned();
    let mut variables = vec![
        ("SPARSEC_CONVERSIONS", c),
        ("SPARSEC_SYNTHESIZED", synthesized),
    ];
    let names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"];
    variables.extend(names.map(|name| (name, "1".to_owned())));
    let started = Peer::start(include_str!("conversions/peer.py"), &variables);
    let (mut peer, about) = match started {
        Ok(peer) => {
            let about = heading_of(&peer.hello);
            (Some(peer), about)
        }
        Err(why) => (
            None,
            format!("nothing to compare with: {why}; SPARSEC_PYTHON names another Python"),
        ),
    };
    print(format!("{about}\n{}", heading()))?;
    let mut rows = Vec::new();
    let mut met = BTreeSet::new();
    let makes: Vec<&str> = match setting.given {
        [] => GENERATED.to_vec(),
        given => given.iter().map(Given::name).collect(),
    };
    for (at, name) in makes.into_iter().enumerate() {
        if !setting.uses(name) {
            continue;
        }
        let matrix = match setting.given {
            [] => Matrix::generated(name, setting.scale)?,
            given => Matrix::given(&given[at])?,
        };
        if let Some(peer) = &mut peer {
            load(peer, folder.path(), &matrix)?;
        }
        for (from, to) in setting.pairs(&matrix) {
            let [stored, to] = [from, to].map(|text| text.replace('B', &matrix.block.to_string()));
            let names = setting.names_of(from, &to, name);
            if names.is_empty() && !setting.only.is_empty() {
                continue;
            }
            met.extend(names);
            if !suits(&stored, &matrix) || !suits(&to, &matrix) {
                continue;
            }
            let Some(tensor) = unless_too_large(matrix.stored(&stored))? else {
                continue;
            };
            let mut case = Case {
                setting,
                pools: (&one, many.as_ref()),
                speeds: (&bandwidth, touch),
                tensor,
                matrix: &matrix,
                from,
                to: &to,
                folder: folder.path(),
                peer: peer.as_mut(),
            };
            let Some(row) = case.measure()? else {
                print(format!(
                    "{:30} is not derived, or does not fit\n",
                    case.name()
                ))?;
                continue;
            };
            print(row.line())?;
            rows.push(row);
        }
    }
    match setting.only.iter().find(|name| !met.contains(*name)) {
        Some(name) => {
            let message = format!("there is no conversion `convert/{name}` to measure");
            let help = "name pairs, matrices or both, as in `convert/csr:csc`, `convert/csr:bsr(4, 4)`, \
                        `convert/scattered` or `convert/csr:csc/scattered`";
            Err(Diagnostic::new(code::BAD_OPTION_VALUE, message).help(help))
        }
        None => Ok(rows),
    }
}

/// What there is to compare with, in its own words.
fn heading_of(hello: &Value) -> String {
    let lines = ENGINES.iter().map(|engine| {
        let version = hello["versions"][engine].as_str().map(str::to_owned);
        version.unwrap_or_else(|| {
            let why = hello["missing"][engine].as_str().unwrap_or("?");
            format!("no {engine}: {why}")
        })
    });
    lines.collect::<Vec<_>>().join("; ")
}

/// Whether a tensor is stored so.
fn suits(format: &str, matrix: &Matrix) -> bool {
    match format {
        "dia" => matrix.n_diagonals <= MOST_DIAGONALS,
        "ell" => matrix.longest <= LONGEST_ROW,
        _ => true,
    }
}

/// `None` for a tensor whose keys, such as those of a curve, do not fit in 63 bits.
fn unless_too_large<T>(made: Result<T>) -> Result<Option<T>> {
    match made {
        Err(error) if error.code() == code::INDEX_WIDTH_OVERFLOW => Ok(None),
        made => made.map(Some),
    }
}

/// Hands a matrix to the other sides.
fn load(peer: &mut Peer, folder: &Path, matrix: &Matrix) -> Result<()> {
    let mut lists = serde_json::Map::new();
    for (name, list) in [("scoo", &matrix.sorted), ("coo", &matrix.shuffled)] {
        let arrays = list.arrays().iter().enumerate().skip(1);
        let paths: Result<Vec<PathBuf>> = arrays
            .map(|(at, array)| {
                let path = folder.join(format!("{name}{at}.npy"));
                let (extents, zero) = (vec![array.len() as u64], array.element().zero());
                let dense = Format::dense(1);
                let arrays = vec![array.clone()];
                let list = Tensor::new(dense, extents, array.element(), zero, arrays)?;
                io::write(&path, &list)?;
                Ok(path)
            })
            .collect();
        lists.insert(name.to_owned(), json!(paths?));
    }
    let request = json!({ "lists": lists, "extents": matrix.sorted.extents() });
    peer.ask("load", request).map(|_| ())
}

struct Case<'a> {
    setting: &'a Setting<'a>,
    /// One thread, and several.
    pools: (&'a Pool, Option<&'a Pool>),
    /// Of copies, and of first touches.
    speeds: (&'a Bandwidth, f64),
    tensor: Tensor,
    matrix: &'a Matrix,
    from: &'static str,
    to: &'a str,
    folder: &'a Path,
    peer: Option<&'a mut Peer>,
}

impl Case<'_> {
    fn name(&self) -> String {
        format!("{}:{}/{}", self.from, self.to, self.matrix.name)
    }

    /// Compares and measures; `None` where no conversion is derived, or keys do not fit.
    fn measure(&mut self) -> Result<Option<ConversionRow>> {
        let (one, many) = self.pools;
        let session = self.setting.session;
        let order = self.tensor.order();
        let destination = self.to.parse::<FormatSpec>()?.resolve(order)?;
        let start = Instant::now();
        let (source, element) = (self.tensor.format(), self.tensor.element());
        let chain = conversion::synthesized(source, &destination, element, &Default::default());
        let chain = chain.and_then(|made| made.optimised(Optimisation::All, &|_| true));
        let synthesized_in = chain.is_ok().then(|| start.elapsed());
        let start = Instant::now();
        let made = match Converter::new(&self.tensor, &destination) {
            Err(error) if error.code() == code::NO_CONVERSION => return Ok(None),
            made => unless_too_large(made)?,
        };
        let Some(converter) = made else {
            return Ok(None);
        };
        let derived_in = start.elapsed();
        let made = one.run(|| converter.run(session, &self.tensor));
        let Some(made) = unless_too_large(made)? else {
            return Ok(None);
        };
        let first_in = start.elapsed() - derived_in;
        let packed = self.tensor.convert(&destination)?;
        let pairs = made.arrays().iter().zip(packed.arrays());
        let notes = pairs
            .zip(destination.arrays())
            .filter_map(|((a, b), spec)| {
                Some(format!("{}: {}", spec.name("result"), unlike(a, b)?))
            });
        let notes: Vec<String> = notes.collect();
        // Formats may leave the order of entries open: slots of `ell`, places of hash tables.
        if !notes.is_empty() && sorted(&made) != sorted(&packed) {
            let fault = differs(&self.name(), "packing");
            return Err(notes.into_iter().fold(fault, Diagnostic::note));
        }
        drop(packed);
        let bytes = made.bytes();
        let peers = self.compare(&made)?;
        drop(made);
        let mut turns: Vec<(Turns, &str, bool)> = peers
            .into_iter()
            .map(|(name, engine, allocates)| {
                let turns = Turns::of(name);
                (turns, engine, allocates)
            })
            .collect();
        let mut packing = Turns::of("packing".to_owned());
        let (mut allocating, mut given) = (Vec::new(), Vec::new());
        let rounds = self.setting.rounds.clamp(1, MOST_ROUNDS);
        let lent = converter.lend(&self.tensor)?;
        // A kernel for one thread.
        let mut prepared = one.run(|| converter.prepare(session, &lent))?;
        for round in 0..rounds {
            let run = || converter.run(session, &self.tensor);
            allocating.push(one.run(|| timed(run))?);
            given.push(one.run(|| timed(|| prepared.launch()))?);
            if round < PACKING_ROUNDS {
                let pack = || self.tensor.convert(&destination);
                packing.push(one.run(|| timed(pack))?, allocating[round]);
            }
            for (turns, engine, allocates) in &mut turns {
                let Some(peer) = &mut self.peer else { continue };
                let request = json!({
                    "engine": *engine, "from": self.from, "to": self.to,
                    "block": self.matrix.block, "save": self.folder,
                });
                // Each has one conversion ready.
                peer.ask("prepare", request)?;
                let (time, _) = peer.time("run", json!({}))?;
                let ours = if *allocates { &allocating } else { &given };
                turns.push(time, ours[round]);
            }
        }
        let threads = match many {
            Some(many) => {
                let mut gains = Vec::new();
                let mut shared = many.run(|| converter.prepare(session, &lent))?;
                for _ in 0..rounds {
                    let alone = one.run(|| timed(|| prepared.launch()))?;
                    let together = many.run(|| timed(|| shared.launch()))?;
                    gains.push(alone.as_secs_f64() / together.as_secs_f64());
                }
                Some(median(gains, f64::total_cmp))
            }
            None => None,
        };
        let (bandwidth, touch) = self.speeds;
        Ok(Some(ConversionRow {
            name: self.name(),
            allocating: median(allocating, Duration::cmp),
            given: median(given, Duration::cmp),
            bound: Duration::from_secs_f64((self.tensor.bytes() + bytes) as f64 / bandwidth.copy),
            touch: Duration::from_secs_f64(bytes as f64 / touch),
            packing: packing.finish(),
            peers: turns
                .into_iter()
                .map(|(turns, ..)| turns.finish())
                .collect(),
            threads,
            synthesized_in,
            derived_in,
            first_in,
            bar: self.bar(),
        }))
    }

    /// What the pair has to reach on this matrix.
    fn bar(&self) -> Option<ConversionBar> {
        let is_scattered = self.matrix.name == "scattered";
        Some(match (self.from, self.to) {
            ("scoo", "csr") => ConversionBar::OfBound(1.8),
            ("csr", "scoo" | "ell" | "dcsr") => ConversionBar::OfBound(1.5),
            ("coo", "csr") => ConversionBar::OfBest(1.0),
            (_, "csc" | "csr") if is_scattered => ConversionBar::OfBest(1.4),
            (_, "csc" | "csr") => ConversionBar::OfBest(0.95),
            (_, "dia") => ConversionBar::OfBest(2.5),
            (_, "mcoo") => ConversionBar::OfHand(1.5),
            (_, to) if to.starts_with("bsr") => ConversionBar::OfBest(1.5),
            _ => return None,
        })
    }

    /// Compares the results of all others; those that convert this, by name, by what
    /// `peer.py` calls them, and whether they allocate.
    fn compare(&mut self, made: &Tensor) -> Result<Vec<(String, &'static str, bool)>> {
        let name = self.name();
        let Some(peer) = &mut self.peer else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for engine in ENGINES {
            let Some(version) = peer.hello["versions"][engine].as_str() else {
                continue;
            };
            let version = version.to_owned();
            let request = json!({
                "engine": engine, "from": self.from, "to": self.to,
                "block": self.matrix.block, "save": self.folder,
            });
            let answer = peer.ask("prepare", request)?;
            let Some(allocates) = answer["allocates"].as_bool() else {
                continue;
            };
            if answer["right"].as_bool() == Some(false) {
                return Err(differs(&name, &version));
            }
            if let Some(n_arrays) = answer["saved"].as_u64() {
                let all = made.arrays();
                let ours = &all[all.len() - n_arrays as usize..];
                for (at, array) in ours.iter().enumerate() {
                    if read(&self.folder.join(format!("{at}.npy")), array)?.arrays()[0] != *array {
                        return Err(differs(&name, &version));
                    }
                }
            }
            found.push((version, engine, allocates));
        }
        Ok(found)
    }
}
