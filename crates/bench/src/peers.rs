//! The same kernels in other libraries: SciPy, MKL, SuiteSparse:GraphBLAS.
//!
//! Each library is used as its users would, from Python, in one process that
//! stays (`peers.py`): operands are loaded once, from files, results compared with
//! ours before anything is timed. A library that is not there, or has no such
//! kernel, is left out and said so.
//!
//! | library   | installed by                          | results                         |
//! |-----------|---------------------------------------|---------------------------------|
//! | SciPy     | `pip install scipy`                   | allocated in every round        |
//! | MKL       | `pip install mkl==2024.2.2`           | dense ones given, sparse ones allocated |
//! | GraphBLAS | `pip install python-graphblas[default]` | allocated in every round      |
//!
//! Ours writes a result that is there already: see [`Pair`](crate::pair::Pair).

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sparsec::internals::Inputs;
use sparsec::{Diagnostic, PackOptions, Result, Tensor, code, io};

use crate::pair::difference;
use crate::peer::Peer;

/// Every library: what `peers.py` calls it, and what it is called.
const LIBRARIES: [(&str, &str); 3] = [
    ("scipy", "SciPy"),
    ("mkl", "MKL"),
    ("graphblas", "GraphBLAS"),
];

/// One library's time for a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerTime {
    /// The library.
    pub name: &'static str,
    /// The median time.
    pub time: Duration,
    /// The median over rounds of its time by ours: above 1, ours is faster.
    pub ratio: f64,
}

/// The libraries that are there.
pub struct Peers {
    process: Peer,
    folder: tempfile::TempDir,
}

impl Peers {
    /// Starts Python with as many threads for each library; why not, if it cannot.
    pub(crate) fn start(threads: usize) -> std::result::Result<Self, String> {
        let names = ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"];
        let variables = names.map(|name| (name, threads.to_string()));
        let process = Peer::start(include_str!("peers.py"), &variables)?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Self { process, folder })
    }

    /// What there is, in its own words, and what there is not.
    pub(crate) fn heading(&self) -> String {
        let of = |key: &str, name: &str| self.process.hello[key][name].as_str().map(str::to_owned);
        let lines = LIBRARIES.iter().map(|(name, called)| {
            of("versions", name).unwrap_or_else(|| {
                let why = of("missing", name).unwrap_or_default();
                format!("no {called}: {why}")
            })
        });
        format!("{}\n", lines.collect::<Vec<_>>().join("; "))
    }

    /// Hands over the operands of a kernel.
    ///
    /// # Errors
    /// Those of files, and of a process that does not answer.
    pub(crate) fn load(&mut self, inputs: &Inputs) -> Result<bool> {
        let mut paths = serde_json::Map::new();
        for (name, tensor) in inputs {
            let ending = match (tensor.format().is_all_dense(), tensor.order()) {
                (true, _) => "npy",
                (false, 2) => "npz",
                // None of them has sparse tensors of higher order.
                (false, _) => return Ok(false),
            };
            let path = self.folder.path().join(format!("{name}.{ending}"));
            io::write(&path, tensor)?;
            paths.insert(name.clone(), json!(path));
        }
        self.process.ask("load", json!({ "operands": paths }))?;
        Ok(true)
    }

    /// The libraries that compute a kernel on the operands handed over, one after
    /// another; `check` looks at what each computes, and `measure` then times it.
    pub(crate) fn each<T>(
        &mut self,
        kernel: &str,
        mut measure: impl FnMut(&'static str, &Path, &mut dyn FnMut() -> Result<Duration>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        for (library, name) in LIBRARIES {
            if self.process.hello["versions"][library].is_null() {
                continue;
            }
            let save = self.folder.path().join("result");
            let request = json!({ "engine": library, "kernel": kernel, "save": save });
            let answer = self.process.ask("prepare", request)?;
            let Some(saved) = answer["saved"].as_str().map(PathBuf::from) else {
                continue;
            };
            let process = &mut self.process;
            let mut run = || {
                process
                    .time("run", Value::Object(Default::default()))
                    .map(|(time, _)| time)
            };
            found.push(measure(name, &saved, &mut run)?);
        }
        Ok(found)
    }
}

/// Compares a result that a library saved with ours.
///
/// # Errors
/// `E0515` if they differ; those of reading the file.
pub(crate) fn compare(kernel: &str, library: &str, saved: &Path, ours: &Tensor) -> Result<()> {
    let file = io::read(saved, &io::ReadOptions::default())?;
    let theirs = file.into_tensor(ours.format(), PackOptions::default())?;
    let arrays = std::iter::zip(ours.arrays(), theirs.arrays());
    let found = match ours.extents() == theirs.extents() {
        true => arrays
            .filter_map(|(ours, theirs)| difference(ours, theirs))
            .next(),
        false => Some(format!("{:?} and {:?}", ours.extents(), theirs.extents())),
    };
    if let Some(difference) = found {
        let message = format!("`{kernel}` is not what {library} computes");
        return Err(Diagnostic::new(code::WRONG_RESULT, message)
            .note(difference)
            .help("this is a fault of sparsec, or of the library; please report it"));
    }
    Ok(())
}
