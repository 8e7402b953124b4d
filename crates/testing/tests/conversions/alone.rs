//! The C of conversions as other programs take it in: each file compiles alone and without a
//! warning, has no variable outside of its functions, and links beside the others.

use std::fs;
use std::path::Path;
use std::process::Command;

use sparsec::internals::compute::ComputeStage;
use sparsec::internals::conversion::ConversionStage;
use sparsec::internals::relational;
use sparsec::{Diagnostic, ElementType, FormatSpec, code};

/// Every kind of format of matrices, and of the presets some with other numbers.
pub(super) const FORMATS: [&str; 33] = [
    "coo",
    "scoo",
    "(i, j) -> (j : compressed(nonunique), i : singleton)",
    "mcoo",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "bsr(2, 3)",
    "dia",
    "ell",
    "jds",
    "sell(2, 4)",
    "hyb(2)",
    "msr",
    "csb(4)",
    "sky",
    "hash",
    "(i, j) -> (i : dense, j : bitmap)",
    "(i, j) -> (i : dense, j : run_length)",
    "csr, symmetric(i, j)",
    "csr, skew(i, j)",
    "csr, hermitian(i, j)",
    "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
    "hicoo(2)",
    "alto",
    "bcsf(3)",
    "fcoo(0)",
    "fcoo(1)",
    "(i, j) -> (i : batch, j : compressed)",
    "(i, j) -> (i : dense, j : loose_compressed)",
    "(i, j) -> (j - i : compressed, i : compressed)",
    "dense",
];

/// The C of a conversion, as `sparsec convert --emit c` prints it.
fn emitted(from: &str, to: &str) -> Result<String, Diagnostic> {
    let storage = |text: &str| text.parse::<FormatSpec>()?.storage(2);
    let (source, destination) = (storage(from)?, storage(to)?);
    let made = relational::conversion(&source, &destination, ElementType::F64)?;
    ConversionStage::Computed(ComputeStage::C).emit(&*made, None)
}

fn gcc(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("gcc")
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("gcc");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && printed.is_empty(),
        "gcc {}\n{printed}",
        arguments.join(" ")
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Each format as a source and as a destination; all pairs with `SPARSEC_ALL_PAIRS`.
#[test]
fn emitted_conversions_compile_alone_and_link() {
    let n = FORMATS.len();
    let all = std::env::var_os("SPARSEC_ALL_PAIRS").is_some();
    let steps = if all { 1..n } else { 5..6 };
    let folder = tempfile::tempdir().expect("a folder");
    let (mut objects, mut refused) = (Vec::new(), Vec::new());
    let mut names = std::collections::BTreeSet::new();
    for (at, step) in (0..n).flat_map(|at| steps.clone().map(move |step| (at, step))) {
        let (from, to) = (FORMATS[at], FORMATS[(at + step) % n]);
        let text = match emitted(from, to) {
            Ok(text) => text,
            Err(error) => {
                assert_eq!(error.code(), code::NO_CONVERSION, "{from} to {to}: {error}");
                refused.push((from, to));
                continue;
            }
        };
        let (_, name) = text.rsplit_once("\nint32_t ").expect("a kernel");
        let name = name.split('(').next().expect("a name").to_owned();
        assert!(names.insert(name.clone()), "two kernels `{name}`");
        let [file, object] = ["c", "o"].map(|ending| format!("{name}.{ending}"));
        fs::write(folder.path().join(&file), text).expect("a file");
        let flags = [
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-fwrapv",
        ];
        let flags: Vec<&str> = flags.into_iter().chain(["-fPIC", "-c", &file]).collect();
        gcc(folder.path(), &flags);
        objects.push(object);
    }
    // No data, and no symbol of one file is one of another.
    let link: Vec<&str> = ["-shared", "-o", "all.so"]
        .into_iter()
        .chain(objects.iter().map(String::as_str))
        .collect();
    gcc(folder.path(), &link);
    let symbols = Command::new("nm")
        .current_dir(folder.path())
        .args(&objects)
        .output()
        .expect("nm");
    for line in String::from_utf8_lossy(&symbols.stdout).lines() {
        let kind = line.split_whitespace().rev().nth(1);
        assert!(
            !matches!(kind, Some("b" | "B" | "d" | "D" | "C")),
            "a variable outside of functions: {line}"
        );
    }
    // Runs of one value may lie on both sides of the diagonal.
    let is_of_runs =
        |(from, to): &(&str, &str)| from.contains("run_length") && to.starts_with("csr, ");
    assert!(refused.iter().all(is_of_runs), "{refused:?}");
}
