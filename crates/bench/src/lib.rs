//! What sparsec costs beside others: its kernels beside C that a person would
//! write and beside other libraries, its files and packing beside SciPy.
//!
//! A speed says little without the machine it was measured on; a ratio of two
//! programs on one machine, in one run, says a lot. For each kernel this crate
//! holds the same loop nest written by hand (`kernels/`), compiles both with the
//! same compiler and the same flags, launches both through the same interface,
//! compares their results, and only then times them, in turns:
//!
//! ```text
//! expression ─► compile ─► C ─┐                 ┌─► compare ─► ours, hand, hand, ours, …
//!                             ├─► cc, one set ──┤              one ratio a round
//! kernels/spmv.c ─────────────┘    of flags     └─► medians, ratio, part of the bandwidth
//! ```
//!
//! What is timed is a launch: loops and the growth of results, without
//! allocating operands, packing or planning. Both write into the same result,
//! which is used again in every round: first touches of fresh memory, and where
//! memory happens to lie, would hide the difference between loops.
//!
//! | module          | holds                                                |
//! |-----------------|------------------------------------------------------|
//! | [`case`](mod@case) | the kernels: expression, formats, C by hand, data |
//! | [`data`]        | what operands are made of: generators, files         |
//! | [`pair`]        | one kernel made ready twice, compared, timed in turns |
//! | [`variants`]    | the same kernel in memory, and on several threads    |
//! | `generated`     | the C by hand with memory and a sort of the C library |
//! | [`clock`]       | time in which this thread ran                        |
//! | [`bandwidth`]   | what the memory of this machine gives                |
//! | `pattern`       | what a kernel reads, read and nothing else           |
//! | [`latency`]     | from an expression to its first result               |
//! | [`peers`]       | the same kernels in other libraries                  |
//! | `peer`          | Python in a process of its own                       |
//! | [`mod@io`]       | files, packing and checking, beside SciPy            |
//! | [`relations`]   | products by descriptors, and relations               |
//! | [`conversions`] | conversions between formats, beside packing, SciPy, MKL and C |
//! | [`networks`]    | products of three tensors and more beside C by hand  |
//! | [`mlir`]        | kernels beside the dialect `sparse_tensor` of MLIR   |
//! | [`report`]      | what was measured, as a table and as JSON            |

pub mod bandwidth;
mod by_hand;
pub mod case;
pub mod clock;
pub mod conversions;
pub mod data;
mod generated;
pub mod io;
pub mod latency;
pub mod mlir;
pub mod networks;
pub mod pair;
mod pattern;
mod peer;
pub mod peers;
pub mod relations;
pub mod report;
pub mod variants;

use std::io::Write;
use std::path::PathBuf;
use std::thread::available_parallelism;

use sparsec::internals::parallel::Pool;
use sparsec::internals::suggest::closest;
use sparsec::{Backend, Diagnostic, Result, Session, code};

use case::{CASES, Case, Sizes};
use data::{Data, Given, read_all};
use pair::Pair;
use peers::Peers;
pub use report::Report;
use variants::Threads;

/// What to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Suites and kernels to measure, by name; all if empty.
    pub only: Vec<String>,
    /// Files whose tensors kernels are measured on in place of generated ones: matrices,
    /// and tensors of order 3; networks also take those of order 4.
    pub files: Vec<PathBuf>,
    /// How large operands are.
    pub size: Size,
    /// What runs our side of kernels.
    pub backend: Backend,
    /// How many threads kernels are measured on beside one; none if that is 1.
    pub threads: usize,
    /// How many rounds at least; at least 1. Short kernels run more of them.
    pub repeat: usize,
    /// The program `sparsec`, whose first results are measured beside those of MLIR.
    pub program: Option<PathBuf>,
    /// Whether to print one JSON object at the end, in place of a table as it
    /// is measured.
    pub json: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            files: Vec::new(),
            size: Size::Small,
            // What is compared with C by hand is not to change on the way.
            backend: Backend::C,
            threads: available_parallelism().map_or(1, |all| all.get().min(2)),
            repeat: 11,
            program: None,
            json: false,
        }
    }
}

/// Measurements that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Kernels beside C written by hand.
    Kernels,
    /// From an expression to its first result.
    Latency,
    /// Files, packing and checking, beside SciPy.
    Io,
    /// Products by descriptors, and relations.
    Relations,
    /// Conversions between formats, beside packing, SciPy, MKL and C by hand;
    /// `convert/ecology1`, `convert/csr:csc` and `convert/csr:csc/ecology1` are parts, and
    /// `convert/all/ecology1` has all ordered pairs of formats.
    Convert,
    /// Products of three tensors and more, beside C by hand; `networks/integrals`,
    /// `networks/medium` and `networks/mttkrp/4` are parts. Those of sparse tensors of order 3
    /// and 4 are measured on files too.
    Networks,
    /// Kernels beside MLIR, where it is installed; `mlir/spmv`, `mlir/spmv/band` and `mlir/first`
    /// are parts.
    Mlir,
}

impl Suite {
    /// Every suite by name.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("kernels", Self::Kernels),
        ("latency", Self::Latency),
        ("io", Self::Io),
        ("relations", Self::Relations),
        ("convert", Self::Convert),
        ("networks", Self::Networks),
        ("mlir", Self::Mlir),
    ];

    /// Describes the measurement in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Kernels => "all kernels below, beside C written by hand",
            Self::Latency => "from an expression to its first result",
            Self::Io => "reading, writing and packing files, beside SciPy",
            Self::Relations => {
                "products through descriptors beside C, and operations on descriptors"
            }
            Self::Convert => "conversions between formats, beside packing, SciPy, MKL and C",
            Self::Networks => "products of three tensors and more, beside C by hand",
            Self::Mlir => "kernels beside the dialect sparse_tensor of MLIR",
        }
    }

    /// The suite with this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        // A part has its name behind that of the suite.
        let suite = match name.split_once('/') {
            Some((suite @ ("convert" | "networks" | "mlir"), _)) => suite,
            _ => name,
        };
        let (_, suite) = Self::NAMES.iter().find(|(known, _)| *known == suite)?;
        Some(*suite)
    }
}

/// How large operands are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// A million stored entries a matrix: a minute in all.
    #[default]
    Small,
    /// Ten million: five minutes, and up to 4 GB of memory.
    Full,
}

impl Size {
    /// Every size by name.
    pub const NAMES: [(&'static str, Self); 2] = [("small", Self::Small), ("full", Self::Full)];

    /// The size with this name; `None` if there is none.
    pub fn parse(name: &str) -> Option<Self> {
        let (_, size) = Self::NAMES.iter().find(|(known, _)| *known == name)?;
        Some(*size)
    }
}

/// Measures and prints to `out`, each line as soon as it is known.
///
/// # Errors
/// * `E0004` for a name in `only` that no kernel has;
/// * `E0008` if `out` cannot be written;
/// * `E0515` if a kernel's result differs from that of the C written by hand;
/// * those of compiling and launching.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<Report> {
    measure(options, &options.size.sizes(), out)
}

fn measure(options: &Options, sizes: &Sizes, out: &mut dyn Write) -> Result<Report> {
    let given = read_all(&options.files)?;
    let chosen = Chosen::of(&options.only, &given)?;
    let session = Session::new(sparsec::Options::from_env().backend(options.backend));
    let compiler = session.runtime().compiler()?;
    let mut report = Report::of(compiler, options);
    let mut print = |text: String| -> Result<()> {
        if options.json {
            return Ok(());
        }
        write(out, &text)
    };
    print(report.heading())?;
    if !chosen.kernels.is_empty() {
        let bandwidth = bandwidth::measure(sizes.bandwidth_bytes);
        print(bandwidth.to_string())?;
        report.bandwidth = Some(bandwidth);
    }
    let mut threads = None;
    let is_on_threads = !chosen.kernels.is_empty() || chosen.suites.contains(&Suite::Networks);
    if is_on_threads && options.threads > 1 {
        let started = Threads::start(options.threads, sizes.bandwidth_bytes);
        let (number, gain) = (started.number, started.gain);
        print(format!("{number} threads {gain} times as fast as one\n"))?;
        report.threads = Some((number, gain));
        threads = Some(started);
    }
    let mut peers = None;
    if !chosen.kernels.is_empty() {
        match Peers::start(1) {
            Ok(started) => {
                report.libraries = started.heading();
                peers = Some(started);
            }
            Err(why) => {
                report.libraries = format!(
                    "no libraries to compare with: {why}; SPARSEC_PYTHON names another Python\n"
                );
            }
        }
        print(report.libraries.clone())?;
        print(report::Row::heading())?;
    }
    let one = Pool::new(1);
    for (case, pattern, given) in chosen.kernels {
        let data = Data {
            sizes,
            pattern,
            given,
        };
        // Loops in chunks would run on all processors.
        let row = one.run(|| {
            let pair = Pair::new(&session, case, &data)?;
            pair.measure(options.repeat, peers.as_mut(), threads.as_ref())
        })?;
        print(row.line())?;
        report.rows.push(row);
    }
    if chosen.suites.contains(&Suite::Latency) {
        print(latency::Latency::heading())?;
        for latency in latency::measure(options.repeat)? {
            print(latency.line())?;
            report.latencies.push(latency);
        }
    }
    if chosen.suites.contains(&Suite::Io) {
        report.io = Some(io::measure(&sizes.io, options.repeat, &mut print)?);
    }
    if chosen.suites.contains(&Suite::Relations) {
        print(relations::RelationRow::heading())?;
        for row in relations::measure(&session, sizes, options.repeat)? {
            print(row.line())?;
            report.relations.push(row);
        }
    }
    if chosen.suites.contains(&Suite::Convert) {
        let only = options.only.iter();
        let setting = conversions::Setting {
            session: &session,
            scale: sizes.conversions,
            rounds: options.repeat,
            threads: options.threads,
            bandwidth_bytes: sizes.bandwidth_bytes,
            given: &given,
            only: only
                .filter_map(|name| name.strip_prefix("convert/"))
                .collect(),
        };
        report.conversions = conversions::measure(&setting, &mut print)?;
    }
    if chosen.suites.contains(&Suite::Networks) {
        let only = options.only.iter();
        let only: Vec<&str> = only
            .filter_map(|name| name.strip_prefix("networks/"))
            .collect();
        let rounds = options.repeat;
        let setting = networks::Setting {
            session: &session,
            pool: &one,
            threads: threads.as_ref(),
            scale: sizes.networks,
            rounds,
            given: &given,
        };
        report.networks = networks::measure(&setting, &only, &mut print)?;
    }
    if chosen.suites.contains(&Suite::Mlir) {
        let only = options.only.iter();
        let only: Vec<&str> = only.filter_map(|name| name.strip_prefix("mlir/")).collect();
        let setting = mlir::Setting {
            session: &session,
            pool: &one,
            sizes,
            rounds: options.repeat,
            program: options.program.as_deref(),
        };
        report.mlir = mlir::measure(&setting, &only, &mut print)?;
    }
    print(report.verdict())?;
    if options.json {
        write(out, &format!("{}\n", report.to_json()))?;
    }
    Ok(report)
}

fn write(out: &mut dyn Write, text: &str) -> Result<()> {
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| {
            Diagnostic::new(
                code::CANNOT_PRINT,
                format!("what was measured cannot be written: {error}"),
            )
        })
}

/// A suite or a kernel that can be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name that [`Options::only`] takes.
    pub name: String,
    /// The measurement in one line.
    pub measures: String,
}

/// Everything that can be measured: suites, then kernels by pattern.
pub fn list() -> Vec<Listed> {
    let suites = Suite::NAMES.iter().map(|(name, suite)| Listed {
        name: (*name).to_owned(),
        measures: suite.summary().to_owned(),
    });
    let kernels = all_kernels().map(|(case, pattern)| Listed {
        name: case.full_name(pattern),
        measures: case.expression.replace('\n', "; "),
    });
    suites.chain(kernels).collect()
}

/// What the names given mean.
struct Chosen<'g> {
    kernels: Vec<(&'static Case, case::Pattern, Option<&'g Given>)>,
    suites: Vec<Suite>,
}

impl<'g> Chosen<'g> {
    /// A suite's name is all of it, `spmv` is all patterns of a kernel, and
    /// `spmv/band` one. Files take the place of patterns, and leave the kernels that
    /// have operands like them.
    fn of(only: &[String], given: &'g [Given]) -> Result<Self> {
        let is_named = |wanted: &str, case: &Case, pattern| {
            wanted == case.name || wanted == case.full_name(pattern)
        };
        let mut suites: Vec<Suite> = only.iter().filter_map(|name| Suite::parse(name)).collect();
        if only.is_empty() {
            suites = match given {
                [] => Suite::NAMES.map(|(_, suite)| suite).to_vec(),
                _ => vec![Suite::Kernels],
            };
        }
        for wanted in only.iter().filter(|name| Suite::parse(name).is_none()) {
            if !all_kernels().any(|(case, pattern)| is_named(wanted, case, pattern)) {
                return Err(unknown(wanted));
            }
        }
        let chosen = all_kernels().filter(|&(case, pattern)| {
            suites.contains(&Suite::Kernels)
                || only.iter().any(|wanted| is_named(wanted, case, pattern))
        });
        let kernels: Vec<_> = match given {
            [] => chosen
                .map(|(case, pattern)| (case, pattern, None))
                .collect(),
            _ => {
                let mut cases: Vec<(&Case, case::Pattern)> = chosen.collect();
                cases.dedup_by_key(|(case, _)| case.name);
                let of_file = |file: &'g Given| {
                    let suited = cases.iter().filter(|(case, _)| file.suits(case));
                    suited.map(move |&(case, pattern)| (case, pattern, Some(file)))
                };
                given.iter().flat_map(of_file).collect()
            }
        };
        let takes_files = |suite: &Suite| [Suite::Convert, Suite::Networks].contains(suite);
        if kernels.is_empty() && !given.is_empty() && !suites.iter().any(takes_files) {
            let message = "no kernel that is asked for has operands like the files".to_owned();
            return Err(Diagnostic::new(code::BAD_OPTION_VALUE, message).help(
                "matrices are for spmv, residual, spmm, sddmm, add, add3 and, if square, spgemm; \
                 tensors of order 3 for mttkrp, ttv, ttm, inner and tensor_add",
            ));
        }
        Ok(Self { kernels, suites })
    }
}

fn all_kernels() -> impl Iterator<Item = (&'static Case, case::Pattern)> {
    CASES
        .iter()
        .flat_map(|case| case.patterns.iter().map(move |&pattern| (case, pattern)))
}

fn unknown(wanted: &str) -> Diagnostic {
    let suites = Suite::NAMES.iter().map(|(name, _)| *name);
    let known: Vec<&str> = suites.chain(CASES.iter().map(|case| case.name)).collect();
    let error = Diagnostic::new(
        code::BAD_OPTION_VALUE,
        format!("there is no benchmark `{wanted}`"),
    );
    match closest(wanted, known.iter().copied()) {
        Some(close) => error.help(format!("did you mean `{close}`?")),
        None => error.help(format!("there are {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests;
