//! Whether two sides have the same result, and how long one takes.

use std::path::Path;
use std::time::{Duration, Instant};

use sparsec::{Array, Diagnostic, Format, PackOptions, Result, Tensor, code, io};

use crate::pair::difference;

/// Where two arrays differ, if they do; index arrays may have different widths.
pub(super) fn unlike(ours: &Array, theirs: &Array) -> Option<String> {
    let is_same = |at| ours.get(at).to_integer() == theirs.get(at).to_integer();
    match ours.element() == theirs.element() || !ours.element().is_integer() {
        true => difference(ours, theirs),
        false if ours.len() != theirs.len() => {
            Some(format!("{} and {} entries", ours.len(), theirs.len()))
        }
        false => {
            let at = (0..ours.len()).find(|at| !is_same(*at))?;
            Some(format!("{} and {} at {at}", ours.get(at), theirs.get(at)))
        }
    }
}

/// The entries of a tensor in the order of their coordinates.
pub(super) fn sorted(tensor: &Tensor) -> Vec<(Vec<u64>, String)> {
    let entries = tensor.iter().map(|(at, value)| (at, value.to_string()));
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    entries
}

/// A saved array as one like ours.
pub(super) fn read(path: &Path, like: &Array) -> Result<Tensor> {
    let options = io::ReadOptions {
        element: Some(like.element()),
        ..io::ReadOptions::default()
    };
    io::read(path, &options)?.into_tensor(&Format::dense(1), PackOptions::default())
}

/// That a side has another result.
pub(super) fn differs(name: &str, side: &str) -> Diagnostic {
    let message = format!("`{name}` does not give what {side} gives");
    Diagnostic::new(code::WRONG_RESULT, message)
        .help("this is a fault of sparsec; please report it with the versions above")
}

/// The time of the second of two runs, which finds pages touched and caches as warm as they get:
/// the other libraries are timed right behind a run as well.
pub(super) fn timed<T>(mut work: impl FnMut() -> Result<T>) -> Result<Duration> {
    drop(work()?);
    let start = Instant::now();
    let result = work()?;
    let time = start.elapsed();
    drop(result);
    Ok(time)
}
