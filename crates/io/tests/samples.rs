//! The files in `samples/` are what this test generates.
//!
//! `SPARSEC_BLESS=1 cargo test -p sparsec-io --test samples` writes them.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sparsec_io::{Structure, read_as};

/// Grid points along each side.
const SIDE: usize = 32;

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples")
}

/// The number, counted from 1, of a point of the grid.
fn point(x: usize, y: usize) -> usize {
    y * SIDE + x + 1
}

/// Five-point Laplacian on a square grid with values 0 on its border.
fn poisson2d() -> String {
    let mut lines = String::new();
    let mut n = 0;
    let mut line = |row: usize, column: usize, value: i32| {
        n += 1;
        writeln!(lines, "{row} {column} {value}").unwrap();
    };
    for column in 0..SIDE * SIDE {
        let (x, y) = (column % SIDE, column / SIDE);
        line(point(x, y), point(x, y), 4);
        if x + 1 < SIDE {
            line(point(x + 1, y), point(x, y), -1);
        }
        if y + 1 < SIDE {
            line(point(x, y + 1), point(x, y), -1);
        }
    }
    let size = SIDE * SIDE;
    format!(
        "%%MatrixMarket matrix coordinate real symmetric\n\
         % Five-point Laplacian on a {SIDE} x {SIDE} grid, lower triangle.\n\
         {size} {size} {n}\n{lines}"
    )
}

/// Which points each edge of the grid joins: one row an edge.
fn edges() -> String {
    let mut lines = String::new();
    let mut edge = 0;
    for y in 0..SIDE {
        for x in 0..SIDE {
            for (x1, y1) in [(x + 1, y), (x, y + 1)] {
                if x1 < SIDE && y1 < SIDE {
                    edge += 1;
                    writeln!(lines, "{edge} {}\n{edge} {}", point(x, y), point(x1, y1)).unwrap();
                }
            }
        }
    }
    format!(
        "%%MatrixMarket matrix coordinate pattern general\n\
         % Edges by points of a {SIDE} x {SIDE} grid.\n\
         {edge} {} {}\n{lines}",
        SIDE * SIDE,
        2 * edge
    )
}

/// How often `a * b` ends in digit `c`, by remainders of `a` and `b`.
fn products() -> String {
    let mut counts = [[[0; 10]; 9]; 12];
    for a in 1..=60 {
        for b in 1..=60 {
            counts[a % 12][b % 9][a * b % 10] += 1;
        }
    }
    let mut text =
        String::from("# Products a * b up to 60: a mod 12, b mod 9, last digit, count.\n");
    for (i, slice) in counts.iter().enumerate() {
        for (j, row) in slice.iter().enumerate() {
            for (k, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                writeln!(text, "{} {} {} {count}", i + 1, j + 1, k + 1).unwrap();
            }
        }
    }
    text
}

/// A 4-tensor of real values: inverse distances of points of a small grid.
fn distances() -> String {
    let mut text =
        String::from("# 1 / distance of points (i, j) and (k, l) no more than 2 apart.\n");
    for (i, j, k, l) in (0..6usize.pow(4)).map(|n| (n / 216, n / 36 % 6, n / 6 % 6, n % 6)) {
        let square = i.abs_diff(k).pow(2) + j.abs_diff(l).pow(2);
        if (1..=4).contains(&square) {
            let inverse = 1.0 / (square as f64).sqrt();
            writeln!(text, "{} {} {} {} {inverse:?}", i + 1, j + 1, k + 1, l + 1).unwrap();
        }
    }
    text
}

fn check(name: &str, text: &str) {
    let path = samples().join(name);
    if std::env::var_os("SPARSEC_BLESS").is_some() {
        let mut bytes = text.as_bytes().to_vec();
        if name.ends_with(".gz") {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&bytes).unwrap();
            bytes = encoder.finish().unwrap();
        }
        std::fs::write(&path, bytes).unwrap();
    }
    let found = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    // Compressed bytes differ between libraries; what they hold does not.
    let found = match name.ends_with(".gz") {
        true => {
            let mut out = Vec::new();
            GzDecoder::new(&found[..]).read_to_end(&mut out).unwrap();
            out
        }
        false => found,
    };
    assert!(found == text.as_bytes(), "`samples/{name}` is stale");
}

#[test]
fn the_samples_are_generated_and_read() {
    check("poisson2d.mtx", &poisson2d());
    check("edges.mtx", &edges());
    check("products.tns", &products());
    check("distances.tns.gz", &distances());

    let found = |name: &str| read_as(&samples().join(name), None).unwrap();
    let poisson = found("poisson2d.mtx");
    assert_eq!(poisson.structure, Structure::Symmetric);
    assert_eq!(poisson.extents(), [1024, 1024]);
    assert_eq!(poisson.into_entries().unwrap().len(), 4992);
    assert_eq!(found("edges.mtx").extents(), [1984, 1024]);
    assert_eq!(found("edges.mtx").n_stored, 3968);
    assert_eq!(found("products.tns").extents(), [12, 9, 10]);
    assert_eq!(found("distances.tns.gz").order(), 4);
}
