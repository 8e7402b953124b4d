//! How fast text files are read and written.
//!
//! ```text
//! speed generate a.mtx 200      a file of about 200 MB: integers and doubles of 17 digits
//! speed read a.mtx 1            seconds to entries, on one thread
//! speed pack a.mtx 1            seconds to entries and on to csr or csf
//! speed write a.mtx b.mtx 1     seconds to write it again
//! ```

#![expect(clippy::print_stdout, reason = "prints its measurements")]

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use sparsec_format::Format;
use sparsec_io::{read_as, write};
use sparsec_tensor::PackOptions;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// How often each measurement is repeated; the fastest counts.
const REPEATS: usize = 10;

fn main() -> Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["generate", path, megabytes] => generate(path.as_ref(), megabytes.parse()?),
        [what @ ("read" | "pack"), path, threads] => {
            sparsec_parallel::set_threads(threads.parse()?);
            time_reading(path.as_ref(), what == "pack")
        }
        ["write", from, to, threads] => {
            sparsec_parallel::set_threads(threads.parse()?);
            time_writing(from.as_ref(), to.as_ref())
        }
        _ => {
            Err("speed generate FILE MB | read | pack FILE THREADS | write FROM TO THREADS".into())
        }
    }
}

/// A general matrix, or for `.tns` a tensor of order 3, of random entries.
fn generate(path: &Path, megabytes: usize) -> Outcome {
    let extents: &[u64] = match path.extension().is_some_and(|ending| ending == "tns") {
        true => &[200_000, 50_000, 1000],
        false => &[1_000_000, 1_000_000],
    };
    let mut state = 1u64;
    let mut random = move || {
        // Steele, Lea and Flood's splitmix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut lines = String::new();
    let mut n = 0;
    while lines.len() < megabytes * 1_000_000 {
        for extent in extents {
            write!(lines, "{} ", random() % extent + 1)?;
        }
        // As C writes `%.17g`: always seventeen digits.
        let value = (random() >> 11) as f64 / (1u64 << 53) as f64;
        writeln!(lines, "{value:.17}")?;
        n += 1;
    }
    let header = match extents {
        [rows, columns] => {
            format!("%%MatrixMarket matrix coordinate real general\n{rows} {columns} {n}\n")
        }
        _ => String::new(),
    };
    Ok(std::fs::write(path, header + &lines)?)
}

fn time_reading(path: &Path, pack: bool) -> Outcome {
    let megabytes = std::fs::metadata(path)?.len() as f64 / 1e6;
    let (mut entries, mut packed) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..REPEATS {
        let start = Instant::now();
        let file = read_as(path, None)?;
        entries = entries.min(start.elapsed().as_secs_f64());
        if !pack {
            continue;
        }
        let format = match file.order() {
            2 => Format::csr(),
            order => Format::csf(order),
        };
        let tensor = file.into_tensor(&format, PackOptions::default())?;
        packed = packed.min(start.elapsed().as_secs_f64());
        drop(tensor);
    }
    let packed = match pack {
        true => format!(", packed in {packed:.3} s"),
        false => String::new(),
    };
    println!(
        "{}: {megabytes:.0} MB, entries in {entries:.3} s ({:.0} MB/s){packed}",
        path.display(),
        megabytes / entries
    );
    Ok(())
}

fn time_writing(from: &Path, to: &Path) -> Outcome {
    let file = read_as(from, None)?;
    let format = Format::scoo(file.order());
    let tensor = file.into_tensor(&format, PackOptions::default())?;
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        write(to, &tensor)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    let megabytes = std::fs::metadata(to)?.len() as f64 / 1e6;
    println!(
        "{}: {megabytes:.0} MB written in {best:.3} s ({:.0} MB/s)",
        to.display(),
        megabytes / best
    );
    Ok(())
}
