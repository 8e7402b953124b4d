//! NumPy and SciPy read the files that we write, and we read theirs.
//!
//! Needs a Python with both, whose path `SPARSEC_PYTHON` gives, and for the
//! matrices of `SPARSEC_DATA` that folder; without them there is nothing to
//! run, which is said. The Python side is `python_files.py`.

// What is skipped is said where the test runner shows it.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::Command;

use sparsec::io::{self, read_as};
use sparsec::{ElementType, Format, PackOptions, Tensor};
use sparsec_base::Scalar;
use sparsec_tensor::{Array, Entries};

/// Matrices of larger files are left out: SciPy deflates them slowly.
const LARGEST_FILE: u64 = 400_000;

fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).map(PathBuf::from);
    if value.is_none() {
        println!("{name} is not set: nothing to run");
    }
    value
}

/// Runs a task of `python_files.py` on a folder; gives what it prints.
fn run(python: &Path, task: &str, folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python_files.py");
    let mut command = Command::new(python);
    let output = command.arg(script).arg(task).arg(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", python.display()));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{task}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn write(path: &Path, tensor: &Tensor) {
    io::write(path, tensor).unwrap_or_else(|error| panic!("{error}"));
}

fn read(path: &Path, format: &Format) -> Tensor {
    let file = read_as(path, None).unwrap_or_else(|error| panic!("{error}"));
    let tensor = file.into_tensor(format, PackOptions::default());
    tensor.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Small distinct values of a type, the last a NaN with a payload if it has one.
fn values(element: ElementType, n: usize) -> Array {
    let mut values = Array::zeroed(element, n).expect("a few bytes");
    for i in 0..n {
        let value = Scalar::from_i64(ElementType::I64, i as i64 + 1);
        values.set(i, value.cast(element).expect("small numbers fit"));
    }
    match element {
        ElementType::F32 => values.set(n - 1, Scalar::F32(f32::from_bits(0x7FC0_1234))),
        ElementType::F64 => values.set(n - 1, Scalar::F64(f64::from_bits(0x7FF8_0000_0000_1234))),
        _ => {}
    }
    values
}

fn pack(format: &Format, element: ElementType) -> Tensor {
    let entries = match format.order() {
        2 => Entries {
            extents: vec![4, 5],
            coords: vec![0, 1, 2, 0, 2, 4, 3, 3].into(),
            values: values(element, 4),
        },
        _ => Entries {
            extents: vec![2, 3, 4],
            coords: vec![0, 1, 2, 0, 2, 0, 1, 0, 3].into(),
            values: values(element, 3),
        },
    };
    let packed = Tensor::pack_entries(format, entries, PackOptions::default());
    packed.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn scipy_loads_what_we_write_and_saves_the_same() {
    let Some(python) = variable("SPARSEC_PYTHON") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut written = Vec::new();
    for format in ["csr", "csc", "coo", "scoo"] {
        for element in ElementType::ALL {
            // SciPy has no matrices of halves.
            if matches!(element, ElementType::F16 | ElementType::Bf16) {
                continue;
            }
            let tensor = pack(&format_of(format, 2), element);
            let name = format!("{format}-{element}");
            write(&folder.path().join(format!("{name}.npz")), &tensor);
            written.push((name, tensor));
        }
    }
    run(&python, "resave", folder.path());
    for (name, tensor) in written {
        let path = folder.path().join(format!("{name}.out.npz"));
        assert_eq!(read(&path, tensor.format()), tensor, "{name}");
    }
}

fn format_of(name: &str, order: usize) -> Format {
    let preset = sparsec::Preset::find(name).and_then(|preset| preset.format(order));
    preset.expect("a preset for this order")
}

#[test]
fn matrices_go_through_scipy_unchanged() {
    let Some(python) = variable("SPARSEC_PYTHON") else {
        return;
    };
    let Some(data) = variable("SPARSEC_DATA") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut written = Vec::new();
    for entry in std::fs::read_dir(data).expect("SPARSEC_DATA names a folder") {
        let entry = entry.expect("a file of it");
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_small = entry
            .metadata()
            .is_ok_and(|data| data.len() <= LARGEST_FILE);
        if !name.ends_with(".mtx.gz") || !is_small {
            continue;
        }
        for format in [Format::csr(), Format::csc(), Format::scoo(2)] {
            let tensor = read(&entry.path(), &format);
            let name = format!("{name}-{}", format.short_name());
            write(&folder.path().join(format!("{name}.npz")), &tensor);
            written.push((name, tensor));
        }
    }
    assert!(!written.is_empty(), "SPARSEC_DATA has small matrices");
    run(&python, "resave", folder.path());
    for (name, tensor) in written {
        let path = folder.path().join(format!("{name}.out.npz"));
        assert_eq!(read(&path, tensor.format()), tensor, "{name}");
    }
}

#[test]
fn what_scipy_saves_is_read() {
    let Some(python) = variable("SPARSEC_PYTHON") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    print!("{}", run(&python, "make", folder.path()));
    let mut n_read = 0;
    for entry in std::fs::read_dir(folder.path()).expect("the folder is there") {
        let path = entry.expect("a file of it").path();
        if path.extension().is_none_or(|ending| ending != "npz") {
            continue;
        }
        let file = read_as(&path, None).unwrap_or_else(|error| panic!("{error}"));
        let dense = Format::dense(file.order());
        let found = read(&path, &dense);
        let expect = read(&path.with_extension("npy"), &dense);
        assert_eq!(found, expect, "{}", path.display());
        n_read += 1;
    }
    assert!(n_read > 70, "{n_read} files are read");
}

#[test]
fn numpy_loads_dense_tensors_of_any_mode_order() {
    let Some(python) = variable("SPARSEC_PYTHON") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut written = Vec::new();
    let formats = [
        "(i, j) -> (i : dense, j : dense)",
        "(i, j) -> (j : dense, i : dense)",
        "(i, j, k) -> (i : dense, j : dense, k : dense)",
        "(i, j, k) -> (k : dense, j : dense, i : dense)",
        "(i, j, k) -> (j : dense, i : dense, k : dense)",
    ];
    for (number, format) in formats.into_iter().enumerate() {
        let format: Format = format.parse().unwrap_or_else(|error| panic!("{error}"));
        for element in ElementType::ALL {
            if element == ElementType::Bf16 {
                continue;
            }
            let name = format!("{number}-{element}");
            let tensor = pack(&format, element);
            write(&folder.path().join(format!("{name}.npy")), &tensor);
            written.push((name, tensor));
        }
    }
    run(&python, "arrays", folder.path());
    for (name, tensor) in written {
        let path = folder.path().join(format!("{name}.out.npy"));
        assert_eq!(read(&path, tensor.format()), tensor, "{name}");
    }
}

#[test]
fn numpy_sees_the_arrays_of_every_tensor() {
    let Some(python) = variable("SPARSEC_PYTHON") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let tensor = pack(&Format::dcsr(), ElementType::Bf16);
    write(&folder.path().join("tensor.npz"), &tensor);
    let found = run(&python, "members", folder.path());
    let expect = "\
sparsec 1 (i, j) -> (i : compressed, j : compressed) [4, 5] bf16
0.pos int32 [0, 3]
0.crd int32 [0, 2, 3]
1.pos int32 [0, 1, 3, 4]
1.crd int32 [1, 0, 4, 3]
vals uint16 [16256, 16384, 16448, 16512]
";
    assert_eq!(found, expect);
}
