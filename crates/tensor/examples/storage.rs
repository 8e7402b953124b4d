//! Times packing and checking on this machine.
//!
//! ```text
//! cargo run --release -p sparsec-tensor --example storage [ENTRIES [ROWS [THREADS]]]
//! ```

use std::time::{Duration, Instant};

use sparsec_parallel::{set_threads, threads};
use sparsec_tensor::{Array, Entries, Format, PackOptions, Tensor};

/// Runs of each; the fastest counts.
const RUNS: usize = 5;

#[allow(clippy::print_stdout, reason = "it is a program")]
fn main() {
    let argument = |at: usize| std::env::args().nth(at).and_then(|text| text.parse().ok());
    let n = argument(1).unwrap_or(10_000_000);
    let rows = argument(2).unwrap_or(1_000_000);
    set_threads(argument(3).unwrap_or(0));
    let entries = scattered(n, rows as u64);
    println!(
        "{n} entries, {rows} rows and columns, {} threads",
        threads()
    );

    let mut csr = None;
    let pack = fastest(
        || entries.clone(),
        |entries| {
            let packed = Tensor::pack_entries(&Format::csr(), entries, PackOptions::default());
            csr = packed.ok();
        },
    );
    println!("pack into csr   {pack:>12.2?}");
    let Some(csr) = csr else {
        return println!("could not pack");
    };
    let (format, extents, fill, arrays) = csr.into_parts();
    let parts = || (format.clone(), extents.clone(), arrays.clone());
    let check = fastest(parts, |(format, extents, arrays)| {
        let element = fill.element();
        assert!(Tensor::new(format, extents, element, fill, arrays).is_ok());
    });
    println!("check csr       {check:>12.2?}");
}

/// The shortest time that `work` takes on what `prepare` gives.
fn fastest<T>(mut prepare: impl FnMut() -> T, mut work: impl FnMut(T)) -> Duration {
    let times = (0..RUNS).map(|_| {
        let prepared = prepare();
        let start = Instant::now();
        work(prepared);
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

/// Entries all over a square matrix, in no order.
fn scattered(n: usize, rows: u64) -> Entries {
    let mut state = 1u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    Entries {
        extents: vec![rows, rows],
        coords: (0..2 * n).map(|_| random() % rows).collect(),
        values: Array::from_vec((0..n).map(|e| e as f64).collect::<Vec<_>>()),
    }
}
