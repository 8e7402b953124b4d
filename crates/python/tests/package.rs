//! The tests of the Python package, run by the interpreter that `SPARSEC_PYTHON` names.
//!
//! ```text
//! python/sparsec/*.py  ──copied──► site/sparsec/*.py
//! lib_sparsec.so       ──copied──► site/sparsec/_sparsec.abi3.so     PYTHONPATH=site
//! ```
//!
//! The library is the one of this build, so that nothing is compiled twice: a debug build verifies
//! kernels after every pass. `.ci/full` builds and tests the wheel.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `python/` at the root of the workspace.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python")
}

/// The library that cargo built beside this test.
fn library() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let names = ["lib_sparsec.so", "lib_sparsec.dylib"];
    let folders = test.ancestors().skip(1).take(2);
    let mut found = folders.flat_map(|folder| names.map(|name| folder.join(name)));
    found.find(|path| path.exists())
}

#[test]
#[expect(clippy::print_stderr, reason = "says why nothing is tested")]
fn python_tests_and_examples_pass() -> Result<(), Box<dyn Error>> {
    let Some(python) = std::env::var_os("SPARSEC_PYTHON") else {
        eprintln!("SPARSEC_PYTHON names no interpreter: the Python package is not tested");
        return Ok(());
    };
    let site = tempfile::tempdir()?;
    let package = site.path().join("sparsec");
    copy_sources(&sources().join("sparsec"), &package)?;
    let library = library().ok_or("cargo builds the library beside this test")?;
    fs::copy(library, package.join("_sparsec.abi3.so"))?;

    let root = sources();
    let run = |arguments: &[&str]| -> Result<(), Box<dyn Error>> {
        let mut command = Command::new(&python);
        command
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
            .args(arguments)
            .current_dir(site.path())
            .env("PYTHONPATH", site.path())
            .env("PYTHONDONTWRITEBYTECODE", "1");
        match command.status()?.success() {
            true => Ok(()),
            false => Err(format!("pytest {} failed", arguments.join(" ")).into()),
        }
    };
    let (tests, readme) = (root.join("tests"), root.join("README.md"));
    run(&[&tests.display().to_string()])?;
    run(&["--doctest-glob=README.md", &readme.display().to_string()])?;
    // `sparsec.torch` is there where PyTorch is.
    run(&[
        "--doctest-modules",
        "--doctest-ignore-import-errors",
        "--pyargs",
        "sparsec",
    ])
}

/// Copies the Python files of a folder, and of those in it.
fn copy_sources(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        let end = path.extension().and_then(|end| end.to_str());
        if path.is_dir() && name != "__pycache__" {
            copy_sources(&path, &to.join(name))?;
        } else if let Some("py" | "pyi" | "typed") = end {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}
