//! Kernels on real matrices and tensors, checked entry by entry.
//!
//! Reads the folder `SPARSEC_DATA`, which is not part of the project; without
//! it there is nothing to run, which is said. Meant for release builds.

// What is skipped is said where the test runner shows it.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};

use sparsec::internals::conversion::Converter;
use sparsec::internals::{Inputs, Request, compile, generate};
use sparsec::{Backend, Format, FormatSpec, Options, PackOptions, Session, Source, Tensor, io};

/// The largest product `A * A` that is checked, in stored entries of `A`.
const LARGEST_SQUARE: usize = 300_000;

/// The largest tensor that is converted, in stored entries: packing is what takes long.
const LARGEST_CONVERTED: usize = 10_000;

/// The largest matrix that is checked in pieces, in stored entries: packing them is
/// slow without optimizations.
const LARGEST_IN_PIECES: usize = 100_000;

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("SPARSEC_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("SPARSEC_DATA is not set: no real data to run on");
    }
    folder
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("SPARSEC_DATA names a folder")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no {ending} in {}", folder.display());
    found
}

fn read(path: &Path, format: impl Fn(usize) -> Format) -> Tensor {
    let file = io::read_as(path, None).unwrap_or_else(|error| panic!("{error}"));
    let format = format(file.order());
    file.into_tensor(&format, PackOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn uniform(extents: &[u64]) -> Tensor {
    let spec = Source::new("generator", "dense:uniform(seed=3)");
    generate(&spec, extents, None, sparsec::ElementType::F64).expect("dense operands are small")
}

/// Runs and checks one expression; gives the entries stored in `result`.
fn check(session: &Session, text: &str, inputs: Inputs, what: &Path) -> usize {
    let request = Request::new(Source::new("expression", text));
    let outcome = compile(&request, &inputs).and_then(|compiled| {
        let outcome = session.run(&compiled, &inputs)?;
        session.check(&compiled, &inputs, &outcome)?;
        Ok(outcome)
    });
    match outcome {
        Ok(outcome) => outcome.tensors.values().map(Tensor::n_stored).sum(),
        Err(error) => panic!("{} in `{text}`:\n{error}", what.display()),
    }
}

#[test]
fn matrices_times_vectors_and_added() {
    let Some(folder) = data() else { return };
    let session = Session::new(Options::from_env());
    for path in files(&folder, ".mtx.gz") {
        let a = read(&path, |_| Format::csr());
        let x = uniform(&a.extents()[1..]);
        let n_stored = a.n_stored();
        let inputs = Inputs::from([("A".to_owned(), a.clone()), ("x".to_owned(), x)]);
        check(&session, "y(i) = A(i,j) * x(j)", inputs, &path);
        let inputs = Inputs::from([("A".to_owned(), a)]);
        let sum = check(&session, "C(i,j) = A(i,j) + A(i,j)", inputs, &path);
        assert_eq!(sum, n_stored, "{}", path.display());
    }
}

/// Runs an expression on a matrix in a format of which both kernels and the plan are
/// looked at: nothing of it is copied.
fn check_pieces(session: &Session, text: &str, inputs: Inputs, what: &Path) {
    let request = Request::new(Source::new("expression", text));
    let compiled = compile(&request, &inputs).unwrap_or_else(|error| panic!("{error}"));
    let plan = &compiled.statements()[0].plan;
    let schedule = plan.schedule.to_string();
    assert!(schedule.starts_with("pieces(A, "), "{schedule}");
    let mut conversions = plan.conversions.iter();
    assert!(conversions.all(|it| it.view.is_some()), "{schedule}");
    check(session, text, inputs, what);
}

#[test]
fn matrices_read_by_their_pieces() {
    let Some(folder) = data() else { return };
    let session = Session::new(Options::from_env());
    let format = |text: &str| {
        let spec: FormatSpec = text.parse().expect(text);
        spec.resolve(2).expect(text)
    };
    let mut symmetric = 0;
    for path in files(&folder, ".mtx.gz") {
        let a = read(&path, |_| Format::csr());
        let &[n, m] = a.extents() else { continue };
        if n != m || a.n_stored() > LARGEST_IN_PIECES {
            continue;
        }
        let x = uniform(&[n]);
        for (text, may_fail) in [
            ("csr, symmetric(i, j)", true),
            ("msr", false),
            ("hyb(4)", false),
        ] {
            let Ok(a) = a.convert(&format(text)) else {
                assert!(may_fail, "{} in {text}", path.display());
                continue;
            };
            symmetric += usize::from(may_fail);
            let inputs = Inputs::from([("A".to_owned(), a), ("x".to_owned(), x.clone())]);
            check_pieces(&session, "y(i) = A(i,j) * x(j)", inputs, &path);
        }
    }
    assert!(symmetric >= 3, "{symmetric} symmetric matrices");
}

#[test]
fn matrices_squared() {
    let Some(folder) = data() else { return };
    let session = Session::new(Options::from_env());
    let mut squared = 0;
    for path in files(&folder, ".mtx.gz") {
        let a = read(&path, |_| Format::csr());
        if a.extents()[0] != a.extents()[1] || a.n_stored() > LARGEST_SQUARE {
            continue;
        }
        let inputs = Inputs::from([("A".to_owned(), a)]);
        check(&session, "C(i,j) = A(i,k) * A(k,j)", inputs, &path);
        squared += 1;
    }
    assert!(squared >= 12, "{squared} matrices squared");
}

#[test]
fn tensors_times_factors() {
    let Some(folder) = data() else { return };
    let session = Session::new(Options::from_env());
    for path in files(&folder, ".tns.gz") {
        let t = read(&path, Format::csf);
        let &[_, j, k] = t.extents() else { continue };
        let inputs = Inputs::from([
            ("T".to_owned(), t),
            ("B".to_owned(), uniform(&[j, 8])),
            ("C".to_owned(), uniform(&[k, 8])),
        ]);
        let text = "A(i,r) = T(i,j,k) * B(j,r) * C(k,r)";
        check(&session, text, inputs, &path);
    }
}

/// Tensors of millions of entries are converted by kernels that are derived from both
/// formats; packing is beside them.
#[test]
fn large_tensors_are_converted_as_packing_does() {
    let Some(folder) = data() else { return };
    let session = Session::default();
    let name = folder.join("go-human-all.tns.gz");
    let tensor = read(&name, Format::csf);
    assert!(tensor.n_stored() > 3_000_000);
    for text in [
        "(i, j, k) -> (k : compressed, j : compressed, i : compressed)",
        "(i, j, k) -> (k : dense, i : dense, j : compressed)",
        "(i, j, k) -> (j : compressed(nonunique), i : singleton(nonunique), k : singleton)",
        "(i, j, k) -> (i floordiv 64 : dense, k : dense, j : compressed, i mod 64 : compressed)",
    ] {
        let format: Format = text.parse().expect("a format");
        let converted = session.convert(&tensor, &format);
        let converted = converted.unwrap_or_else(|error| panic!("{text}: {error}"));
        let packed = tensor.convert(&format).expect("it fits into memory");
        assert!(converted == packed, "{text}");
    }
}

/// Derived conversions give the entries that unpacking and packing give.
#[test]
fn conversions_of_matrices() {
    convert_all(
        ".mtx.gz",
        &[
            "csr",
            "csc",
            "coo",
            "mcoo",
            "hyb(3)",
            "bsr(4, 4)",
            "hash",
            "ell",
        ],
        300,
    );
}

#[test]
fn conversions_of_tensors() {
    convert_all(
        ".tns.gz",
        &["csf", "coo", "scoo", "mcoo", "alto", "hicoo(16)"],
        60,
    );
}

/// Converts each small file from each format to each; expects at least so many conversions.
fn convert_all(ending: &str, formats: &[&str], least: usize) {
    let Some(folder) = data() else { return };
    let session = Session::new(Options::from_env().backend(Backend::Cranelift));
    let (mut converted, mut wrong) = (0, Vec::new());
    for path in files(&folder, ending) {
        let read_as = read(&path, Format::coo);
        if read_as.n_stored() > LARGEST_CONVERTED {
            continue;
        }
        let order = read_as.extents().len();
        let formats: Vec<Format> = formats
            .iter()
            .map(|text| {
                let spec: FormatSpec = text.parse().expect(text);
                spec.resolve(order).expect(text)
            })
            .collect();
        for source in &formats {
            // A format that takes too much room for this file is refused.
            let Ok(given) = read_as.convert(source) else {
                continue;
            };
            for destination in &formats {
                let Ok(converter) = Converter::new(&given, destination) else {
                    continue;
                };
                let pair = format!("{} {source} -> {destination}", path.display());
                match (converter.run(&session, &given), given.convert(destination)) {
                    (Ok(found), Ok(expected)) if sorted(&found) == sorted(&expected) => {
                        converted += 1;
                    }
                    (Ok(_), Ok(_)) => wrong.push(pair),
                    (Err(_), Err(_)) => {}
                    (Err(error), Ok(_)) => wrong.push(format!("{pair}: {error}")),
                    (Ok(_), Err(error)) => wrong.push(format!("{pair}: packing: {error}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(converted >= least, "{converted} conversions");
}

fn sorted(tensor: &Tensor) -> Vec<(Vec<u64>, String)> {
    let entries = tensor.iter().map(|(at, value)| (at, value.to_string()));
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    entries
}
