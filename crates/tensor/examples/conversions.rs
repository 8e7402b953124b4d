//! Times conversions between formats on this machine, in nanoseconds an entry.
//!
//! ```text
//! cargo run --release -p sparsec-tensor --example conversions [ENTRIES [THREADS]]
//! ```
//!
//! The matrix is the five-point stencil of a square grid, so that formats of
//! diagonals and blocks have something to store as well; formats of blocks of
//! known size and whole matrices get a narrow one, half of which is stored.
//! `into` begins with unordered coordinates, `out` ends with `csr`; both stand
//! beside `csr` itself.

use std::time::{Duration, Instant};

use sparsec_format::FormatSpec;
use sparsec_parallel::set_threads;
use sparsec_tensor::{Array, Entries, Format, PackOptions, Tensor};

/// Runs of each; the fastest counts.
const RUNS: usize = 3;

const STENCIL: &[&str] = &[
    "csr",
    "csc",
    "scoo",
    "coo",
    "dcsr",
    "mcoo",
    "(i, j) -> (i : dense, j : loose_compressed)",
    "(i, j) -> (i : batch, j : compressed)",
    "hash",
    "ell",
    "hyb(4)",
    "msr",
    "sky",
    "csr, lower(i, j)",
    "csr, upper(i, j)",
    "csr, symmetric(i, j)",
    "dia",
    "(i, j) -> (i + j : compressed, i : range)",
    "bsr(2, 2)",
    "csb",
    "hicoo(128)",
    "alto",
    "(i, j) -> (morton(i, j) : compressed)",
];

const HALF: &[&str] = &[
    "csr",
    "dense",
    "bitmap",
    "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
    "(i, j) -> (i : dense, j : run_length)",
    "(i, j) -> (i : dense, j : range)",
];

#[allow(clippy::print_stdout, reason = "it is a program")]
fn main() {
    let argument = |at: usize| std::env::args().nth(at).and_then(|text| text.parse().ok());
    let n: usize = argument(1).unwrap_or(1_000_000);
    set_threads(argument(2).unwrap_or(0));
    println!("{:<12}{:<75}{:>8}{:>8}", "matrix", "format", "into", "out");
    let side = ((n / 5) as f64).sqrt() as u64;
    for (name, entries, formats) in [
        ("stencil", stencil(side), STENCIL),
        ("half", half(n as u64 / 500), HALF),
    ] {
        for text in formats {
            let Some(format) = text
                .parse::<FormatSpec>()
                .ok()
                .and_then(|spec| spec.resolve(2).ok())
            else {
                println!("{text}: no format");
                continue;
            };
            let entries = match format.region() {
                Some(region) if format.mirror().is_none() && format.parts().len() == 1 => {
                    only(&entries, |coords| region.holds(coords))
                }
                _ => entries.clone(),
            };
            let line = time(&format, entries);
            println!("{name:<12}{text:<75}{line}");
        }
    }
}

/// What converting into a format and out of it takes.
fn time(format: &Format, entries: Entries) -> String {
    let n = entries.len() as f64;
    let given = Tensor::pack_entries(&Format::coo(2), shuffled(entries), PackOptions::default());
    let Ok(given) = given else {
        return "could not pack".to_owned();
    };
    let stored = match given.convert(format) {
        Ok(stored) => stored,
        Err(fault) => return fault.to_string(),
    };
    let into = fastest(|| _ = given.convert(format));
    let out = fastest(|| _ = stored.convert(&Format::csr()));
    let each = |time: Duration| time.as_nanos() as f64 / n;
    format!("{:>8.0}{:>8.0}", each(into), each(out))
}

fn fastest(mut run: impl FnMut()) -> Duration {
    let timed = |_| {
        let begun = Instant::now();
        run();
        begun.elapsed()
    };
    (0..RUNS).map(timed).min().unwrap_or_default()
}

/// The five-point stencil of a grid of this side.
fn stencil(side: u64) -> Entries {
    let mut coords = Vec::new();
    let mut values = Vec::new();
    for i in 0..side * side {
        let (row, column) = (i / side, i % side);
        let there = [
            (row > 0, i.wrapping_sub(side), -1.0),
            (column > 0, i.wrapping_sub(1), -1.0),
            (true, i, 4.0),
            (column + 1 < side, i + 1, -1.0),
            (row + 1 < side, i + side, -1.0),
        ];
        for (_, j, value) in there.into_iter().filter(|(is_there, ..)| *is_there) {
            coords.extend([i, j]);
            values.push(value);
        }
    }
    Entries {
        extents: vec![side * side; 2],
        coords: coords.into(),
        values: Array::from_vec(values),
    }
}

/// Two of each four entries of so many rows of 1000.
fn half(n_rows: u64) -> Entries {
    let mut coords = Vec::new();
    let mut values = Vec::new();
    for i in 0..n_rows {
        for j in (0..1000).filter(|j| (i + j) % 4 < 2) {
            coords.extend([i, j]);
            values.push((j / 8) as f64);
        }
    }
    Entries {
        extents: vec![n_rows, 1000],
        coords: coords.into(),
        values: Array::from_vec(values),
    }
}

/// The entries in an order without any.
fn shuffled(entries: Entries) -> Entries {
    let n = entries.len() as u64;
    // An odd step, so that all numbers modulo a power of two are met once.
    let numbers = (0..n.next_power_of_two())
        .map(|e| e.wrapping_mul(0x9e37_79b9_7f4a_7c15) % n.next_power_of_two())
        .filter(|&e| e < n);
    picked(&entries, numbers.map(|e| e as usize))
}

fn only(entries: &Entries, keep: impl Fn(&[u64]) -> bool) -> Entries {
    let kept = (0..entries.len()).filter(|&e| keep(&entries.coords(e).to_vec()));
    picked(entries, kept)
}

fn picked(entries: &Entries, numbers: impl Iterator<Item = usize>) -> Entries {
    let from = entries.values.slice::<f64>();
    let mut coords = Vec::new();
    let mut values = Vec::new();
    for e in numbers {
        coords.extend(entries.coords(e).iter());
        values.push(from[e]);
    }
    Entries {
        extents: entries.extents.clone(),
        coords: coords.into(),
        values: Array::from_vec(values),
    }
}
