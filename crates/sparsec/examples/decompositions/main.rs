//! Decompositions of a sparse tensor, with the fit of each iteration.
//!
//! ```text
//! cargo run --release --example decompositions -- cp     kg-nations.tns.gz 10 fits.svg
//! cargo run --release --example decompositions -- tucker kg-nations.tns.gz 4
//! ```
//!
//! Without a file, a small tensor of known rank is made. A name without a folder is looked
//! for in the folder that `SPARSEC_DATA` names too. The last word is the file for a picture of
//! the fits.
#![allow(clippy::print_stdout, reason = "an example that prints its progress")]

mod cp;
mod curve;
mod dense;
mod products;
mod tucker;

use std::path::{Path, PathBuf};

use sparsec::{Diagnostic, ElementType, Format, PackOptions, Result, Session, Tensor, code};

use dense::Matrix;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |n: usize| words.get(n).map(String::as_str);
    let tensor = match word(1) {
        Some(file) => read(file)?,
        None => low_rank(&[20, 15, 10], 3)?,
    };
    let extents: Vec<String> = tensor.extents().iter().map(u64::to_string).collect();
    println!("{} with {} entries", extents.join(" x "), tensor.n_stored());
    let session = Session::shared();
    let progress = |iteration: usize, fit: f64| println!("iteration {iteration:3}  fit {fit:.5}");
    let rank = |usual: usize| word(2).and_then(|word| word.parse().ok()).unwrap_or(usual);
    let (name, fits) = match word(0) {
        Some("tucker") => {
            let fits = tucker::fits(session, &tensor, rank(4), 50, progress)?;
            ("Tucker", fits)
        }
        _ => ("CP", cp::fits(session, &tensor, rank(10), 50, progress)?),
    };
    if let Some(file) = word(3) {
        let title = format!(
            "{name} of {}: fit by iteration",
            word(1).unwrap_or_default()
        );
        std::fs::write(file, curve::svg(&title, &fits)).map_err(|error| {
            Diagnostic::new(
                code::CANNOT_WRITE_FILE,
                format!("cannot write `{file}`: {error}"),
            )
        })?;
    }
    Ok(())
}

/// The tensor of a file.
fn read(file: &str) -> Result<Tensor> {
    let folder = std::env::var_os("SPARSEC_DATA").map(PathBuf::from);
    let known = folder.map(|folder| folder.join(file));
    let path = known.filter(|path| !Path::new(file).exists() && path.exists());
    let path = path.unwrap_or_else(|| PathBuf::from(file));
    let read = sparsec::io::read_as(&path, Some(ElementType::F64))?;
    let format = Format::csf(read.order());
    read.into_tensor(&format, PackOptions::default())
}

/// A sum of outer products of vectors, of whose entries every other one is 0.
fn low_rank(extents: &[u64], rank: usize) -> Result<Tensor> {
    let factors: Vec<Matrix> = (extents.iter().enumerate())
        .map(|(mode, extent)| Matrix::random(*extent as usize, rank, mode as u64 + 100))
        .collect();
    let n: u64 = extents.iter().product();
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for place in 0..n {
        let mut rest = place;
        let mut tuple = vec![0; extents.len()];
        for mode in (0..extents.len()).rev() {
            tuple[mode] = rest % extents[mode];
            rest /= extents[mode];
        }
        let term = |r: usize| {
            let modes = tuple.iter().zip(&factors);
            let entries = modes.map(|(at, factor)| match (*at as usize + r) % 2 {
                0 => factor.at(*at as usize, r),
                _ => 0.0,
            });
            entries.product::<f64>()
        };
        let value: f64 = (0..rank).map(term).sum();
        if value != 0.0 {
            coords.extend(&tuple);
            values.push(value);
        }
    }
    Tensor::pack(&Format::csf(extents.len()), extents, &coords, &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rises(fits: &[f64]) -> bool {
        // Errors are roots of differences: a fit of 1 is known to the root of the precision.
        fits.windows(2).all(|pair| pair[1] >= pair[0] - 1e-5)
    }

    #[test]
    fn cp_finds_the_outer_products() {
        let session = Session::interpreter();
        for extents in [vec![8, 7, 6], vec![5, 4, 4, 3]] {
            let tensor = low_rank(&extents, 2).expect("packs");
            let fits = cp::fits(&session, &tensor, 3, 60, |_, _| {}).expect("runs");
            assert!(rises(&fits), "{fits:?}");
            assert!(fits.last() > Some(&0.98), "{fits:?}");
        }
    }

    #[test]
    fn tucker_finds_the_core() {
        let session = Session::interpreter();
        for extents in [vec![8, 7, 6], vec![5, 4, 4, 3]] {
            let tensor = low_rank(&extents, 2).expect("packs");
            let fits = tucker::fits(&session, &tensor, 2, 30, |_, _| {}).expect("runs");
            assert!(rises(&fits), "{fits:?}");
            assert!(fits.last() > Some(&0.999), "{fits:?}");
        }
    }
}
