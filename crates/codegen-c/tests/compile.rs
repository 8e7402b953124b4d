//! What is emitted compiles alone and without a warning, and reads as expected.
//!
//! The kernels of `tests/kernels` are one file each. `SPARSEC_BLESS=1` rewrites
//! the C beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sparsec_base::Source;
use sparsec_codegen_c::{Entry, Options, emit, emit_file, emit_unit};
use sparsec_loop::{Function, verify};

fn kernels() -> Vec<(PathBuf, Function)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "loop"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let source = Source::new("kernel", fs::read_to_string(&path).unwrap());
            let function = Function::parse(&source).unwrap_or_else(|error| panic!("{error}"));
            verify(&function).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, function)
        })
        .collect()
}

/// Compiles `text` as a stranger would who got the file; nothing may be printed.
fn compile(compiler: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernel.c");
    fs::write(&file, text).unwrap();
    let output = Command::new(compiler)
        .args([
            "-std=c11",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-c",
        ])
        .arg(&file)
        .arg("-o")
        .arg(folder.path().join("kernel.o"))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}\n{text}");
}

#[test]
fn every_kernel_compiles_alone() {
    for (_, function) in kernels() {
        compile("gcc", &emit(&function));
        compile("gcc", &emit_unit(&function));
    }
}

#[test]
fn several_kernels_share_a_file() {
    let kernels = kernels();
    let functions: Vec<&Function> = kernels.iter().map(|(_, function)| function).collect();
    let heading = vec!["y(i) = A(i,j) * x(j)".to_owned()];
    let options = Options {
        heading,
        entry: Entry::Launch,
    };
    compile("gcc", &emit_file(&functions, &options));
}

/// A program that takes several kernels in has one copy of nothing.
#[test]
fn files_link_together() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("gcc");
    command.args(["-std=c11", "-O1", "-shared", "-fPIC", "-o"]);
    command.arg(folder.path().join("all.so"));
    for (number, (_, function)) in kernels().iter().enumerate() {
        let file = folder.path().join(format!("{number}.c"));
        fs::write(&file, emit_unit(function)).unwrap();
        command.arg(file);
    }
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
}

#[test]
fn the_c_reads_as_expected() {
    for (path, function) in kernels() {
        let text = emit(&function);
        // The prelude is the same in every file.
        let (_, kernel) = text.split_once("#endif\n").unwrap();
        let expected = path.with_extension("c");
        if std::env::var_os("SPARSEC_BLESS").is_some() {
            fs::write(&expected, kernel.trim_start()).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        assert_eq!(kernel.trim_start(), wanted, "{}", expected.display());
    }
}
