//! The reference package of Binsparse and h5py read the files that we write, and
//! we read theirs.
//!
//! Needs a Python with `numpy`, `scipy`, `h5py` and `binsparse`, whose path
//! `SPARSEC_PYTHON` gives; without it there is nothing to run, which is said. The
//! Python side is `python_binsparse.py`.

// What is skipped is said where the test runner shows it.
#![allow(clippy::print_stdout)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use sparsec::io::{self, Content, read_as};
use sparsec::{ElementType, Format, PackOptions, Tensor};
use sparsec_base::Scalar;
use sparsec_tensor::{Array, Entries};

/// What the script exits with where a package is missing.
const MISSING: i32 = 77;

/// Runs a task of `python_binsparse.py` on a folder; gives what it prints, or
/// nothing where there is no Python with the packages.
fn run(task: &str, folder: &Path) -> Option<String> {
    let Some(python) = std::env::var_os("SPARSEC_PYTHON") else {
        println!("SPARSEC_PYTHON is not set: nothing to run");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python_binsparse.py");
    let mut command = Command::new(&python);
    let output = command.arg(script).arg(task).arg(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", python.display()));
    if output.status.code() == Some(MISSING) {
        println!(
            "{} has no h5py or no binsparse: nothing to run",
            python.display()
        );
        return None;
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{task}: {errors}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn read(path: &Path) -> Tensor {
    let file = read_as(path, None).unwrap_or_else(|error| panic!("{error}"));
    match file.content {
        Content::Tensor(tensor) => tensor,
        Content::Entries(_) | Content::Relation(_) => panic!("{} holds a tensor", path.display()),
    }
}

fn dense(tensor: &Tensor) -> Tensor {
    let order = tensor.order();
    let dense = tensor.convert(&Format::dense(order));
    dense.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn files_of_python_are_read() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    if run("make", folder.path()).is_none() {
        return;
    }
    let mut n_files = 0;
    let mut formats = BTreeSet::new();
    for entry in std::fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("its files").path();
        if path.extension().is_some_and(|ending| ending == "npy") {
            continue;
        }
        let tensor = read(&path);
        let expect = read(&path.with_extension("npy"));
        assert_eq!(tensor.element(), expect.element(), "{}", path.display());
        let found = dense(&tensor);
        assert_eq!(found.vals(), expect.vals(), "{}", path.display());
        formats.insert(tensor.format().to_string());
        n_files += 1;
    }
    // 13 types, 13 formats, 6 files each; and one matrix in 13 ways.
    assert_eq!(n_files, 13 * 13 * 6 + 13);
    assert_eq!(formats.len(), 11, "{formats:?}");
}

/// Small distinct values of a type.
fn values(element: ElementType, n: usize) -> Array {
    let mut values = Array::zeroed(element, n).expect("a few bytes");
    for i in 0..n {
        let value = Scalar::from_i64(ElementType::I64, i as i64 + 1);
        values.set(i, value.cast(element).expect("small numbers fit"));
    }
    values
}

/// Formats with the names under which the package knows them.
const FORMATS: [(&str, &str); 13] = [
    ("DVEC", "(i) -> (i : dense)"),
    ("CVEC", "(i) -> (i : compressed)"),
    ("DMAT", "(i, j) -> (i : dense, j : dense)"),
    ("DMATC", "(i, j) -> (j : dense, i : dense)"),
    ("CSR", "(i, j) -> (i : dense, j : compressed)"),
    ("CSC", "(i, j) -> (j : dense, i : compressed)"),
    ("DCSR", "(i, j) -> (i : compressed, j : compressed)"),
    ("DCSC", "(i, j) -> (j : compressed, i : compressed)"),
    (
        "COO",
        "(i, j) -> (i : compressed(nonunique), j : singleton)",
    ),
    (
        "COOC",
        "(i, j) -> (j : compressed(nonunique), i : singleton)",
    ),
    ("custom", "(i, j) -> (i : compressed, j : dense)"),
    (
        "custom",
        "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
    ),
    (
        "custom",
        "(i, j, k) -> (k : dense, i : compressed(nonunique), j : singleton)",
    ),
];

#[test]
fn python_reads_what_we_write() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut expected = Vec::new();
    for element in ElementType::ALL {
        if matches!(element, ElementType::F16 | ElementType::Bf16) {
            continue;
        }
        for (number, (name, format)) in FORMATS.iter().enumerate() {
            let format: Format = format.parse().unwrap_or_else(|error| panic!("{error}"));
            let order = format.order();
            let tuples = [[0, 1, 2], [2, 0, 0], [3, 3, 3]];
            let fills = [element.zero(), element.one()];
            for (fill, n) in [(fills[0], 3), (fills[1], 3), (fills[0], 0)] {
                let entries = Entries {
                    extents: vec![4, 5, 6][..order].to_vec(),
                    coords: tuples[..n]
                        .iter()
                        .flat_map(|tuple| tuple[..order].to_vec())
                        .collect(),
                    values: values(element, n),
                };
                let options = PackOptions {
                    fill: Some(fill),
                    ..PackOptions::default()
                };
                let tensor = Tensor::pack_entries(&format, entries, options);
                let tensor = tensor.unwrap_or_else(|error| panic!("{error}"));
                let stem = format!("{number}_{element}_{fill}_{n}").replace('.', "");
                let write = |ending: &str, tensor: &Tensor| {
                    let path = folder.path().join(format!("{stem}.{ending}"));
                    io::write(&path, tensor).unwrap_or_else(|error| panic!("{error}"));
                };
                write("bsp.h5", &tensor);
                write("bsp.npz", &tensor);
                write("npy", &dense(&tensor));
                if n > 0 {
                    expected.push(format!("{name} {stem}.bsp.h5"));
                    expected.push(format!("{name} {stem}.bsp.npz"));
                }
            }
        }
    }
    let Some(printed) = run("check", folder.path()) else {
        return;
    };
    let printed: BTreeSet<&str> = printed.lines().collect();
    let renamed = expected
        .iter()
        .map(|line| line.replace("DMAT ", "DMATR ").replace("COO ", "COOR "));
    let missing: Vec<String> = renamed
        .filter(|line| !printed.contains(&line[..]))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}
