//! Fuzz targets: functions that take any bytes and return.
//!
//! A panic, an abort, an input that takes 25 seconds, or 2 GiB of memory is a **finding**.
//!
//! ```text
//! corpus, regressions, seeds ──┬──► engine: mutates them, guided by coverage     cargo xtask fuzz
//!                              └──► replay: runs each of them once               cargo test
//! ```
//!
//! | module      | targets                                                           |
//! |-------------|-------------------------------------------------------------------|
//! | [`texts`]   | one for each language: a text is refused, or its print parses to the same |
//! | [`files`]   | one for each type of file: read, write, read again                |
//! | [`programs`] | texts × formats × data on two engines, compared with the oracle  |
//! | [`hosted`]  | programs of MLIR, run on two engines                              |
//! | [`library`] | arrays of any content given to the functions that make tensors    |
//! | [`misfit`]  | tensors given to kernels that were made for others                |
//!
//! | module      | holds                                                             |
//! |-------------|-------------------------------------------------------------------|
//! | [`seeds`]   | first inputs, taken from filetests and samples                    |
//! | [`packed`]  | many small inputs in one file                                     |
//! | `choices`   | decisions read from bytes                                         |
//! | `written`   | the text of a program, made of decisions                          |
//!
//! The README of this crate says which engine runs the targets and why.

use std::path::{Path, PathBuf};

mod choices;
pub mod files;
pub mod hosted;
pub mod library;
pub mod misfit;
pub mod packed;
pub mod programs;
pub mod seeds;
pub mod texts;
mod written;

use seeds::Seeds;

/// One function to fuzz.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name: that of its folders, and of the option `--target`.
    pub name: &'static str,
    /// The function. It panics where sparsec does not keep a promise.
    pub run: fn(&[u8]),
    /// The longest input that the engine tries, in bytes.
    pub longest: usize,
    /// Where the first inputs come from.
    pub seeds: Seeds,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    text("expression", texts::expression, 300, Seeds::Expressions),
    text("schedule", texts::schedule, 300, Seeds::Schedules),
    text("concrete", texts::concrete, 600, Seeds::Section("concrete")),
    text("loop", texts::loops, 1500, Seeds::Section("loop")),
    text("format", texts::format, 150, Seeds::Formats),
    text(
        "function",
        texts::function,
        120,
        Seeds::Texts(seeds::FUNCTIONS),
    ),
    text("einsum", texts::einsum, 60, Seeds::Texts(seeds::EINSUMS)),
    text(
        "generator",
        texts::generator,
        100,
        Seeds::Texts(seeds::GENERATORS),
    ),
    text("relation", texts::relation, 200, Seeds::Relations),
    text(
        "declarations",
        texts::declarations,
        300,
        Seeds::Declarations,
    ),
    text("descriptor", texts::descriptor, 900, Seeds::Samples("fmt")),
    text("computation", texts::computation, 600, Seeds::Computations),
    text("mlir", texts::mlir, 1500, Seeds::Mlir),
    text("mlir_run", hosted::mlir_run, 1500, Seeds::Mlir),
    text("script", texts::script, 150, Seeds::Scripts),
    text("filetest", programs::text, 400, Seeds::Programs),
    target("mtx", files::mtx, 2048, Seeds::Files(".mtx")),
    target("tns", files::tns, 2048, Seeds::Files(".tns")),
    target(
        "rutherford_boeing",
        files::rutherford_boeing,
        2048,
        Seeds::RutherfordBoeing,
    ),
    target("npy", files::npy, 2048, Seeds::Files(".npy")),
    target("npz", files::npz, 4096, Seeds::Files(".npz")),
    target(
        "binsparse_npz",
        files::binsparse_npz,
        4096,
        Seeds::Files(".bsp.npz"),
    ),
    target("hdf5", files::hdf5, 16384, Seeds::Files(".bsp.h5")),
    target("compressed", files::compressed, 2048, Seeds::Compressed),
    target("program", programs::program, 200, Seeds::Random(120)),
    target("arrays", library::arrays, 256, Seeds::Random(120)),
    target("misfit", misfit::misfit, 256, Seeds::Random(120)),
];

const fn target(name: &'static str, run: fn(&[u8]), longest: usize, seeds: Seeds) -> Target {
    Target {
        name,
        run,
        longest,
        seeds,
    }
}

/// As [`target`], for inputs that are text.
const fn text(name: &'static str, run: fn(&[u8]), longest: usize, seeds: Seeds) -> Target {
    target(name, run, longest, seeds)
}

impl Target {
    /// The target of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// The file of kept inputs, which reach code that no seed reaches.
    pub fn corpus(&self) -> PathBuf {
        root()
            .join("fuzz/corpus")
            .join(format!("{}.inputs", self.name))
    }

    /// The folder of inputs that were findings once, one a file.
    pub fn regressions(&self) -> PathBuf {
        root().join("fuzz/regressions").join(self.name)
    }
}

/// The root of the repository.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
