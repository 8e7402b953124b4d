//! Kernels that give one number: as little of a kernel as there can be, for tests
//! of where kernels come from.

#![allow(dead_code)] // Each test uses some.

#[path = "../trusted/mod.rs"]
pub(crate) mod trusted;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sparsec_base::{Result, Scalar, Source};
use sparsec_loop::Function;
use sparsec_runtime::{Cache, Compiler, Environment, Kernel, KernelArgument, OutputTensor};
use sparsec_tensor::Format;

/// A kernel that gives `value`.
pub(crate) fn constant(value: f64) -> Function {
    let text = format!(
        r#"fn constant(out s "() -> ()" {{ write s.vals: f64 }}) {{ s.vals[0] = {value:?} }}"#
    );
    Function::parse(&Source::new("kernel", text)).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn environment(cache: &Path) -> Environment {
    Environment {
        cache_dir: Some(cache.to_owned()),
        ..Environment::of_process()
    }
}

/// Compiles as a program of its own would: nothing in memory yet.
pub(crate) fn compile(environment: &Environment, value: f64) -> Kernel {
    let cache = Cache::open(environment).unwrap_or_else(|error| panic!("{error}"));
    compile_in(environment, &cache, value).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn compile_in(environment: &Environment, cache: &Cache, value: f64) -> Result<Kernel> {
    let function = constant(value);
    let compiler = Compiler::detect(environment, cache)?;
    let text = sparsec_codegen_c::emit_unit(&function);
    let entry = sparsec_codegen_c::launch_name(&function);
    trusted::compile_c(&function, &text, &entry, &compiler, cache)
}

pub(crate) fn run(kernel: &Kernel) -> f64 {
    let function = kernel.function();
    let fill = Scalar::F64(0.0);
    let mut output = OutputTensor::new(
        function,
        &function.arguments[0],
        Format::dense(0),
        vec![],
        fill,
    )
    .unwrap();
    trusted::launch(kernel, &mut [KernelArgument::Out(&mut output)]).unwrap();
    output.finish().unwrap().values::<f64>().unwrap()[0]
}

pub(crate) fn entries(cache: &Path) -> Vec<PathBuf> {
    let mut found = files(&cache.join("kernels"));
    found.retain(|path| path.extension().is_some_and(|ext| ext == "so"));
    found
}

/// Every file below `folder`.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(folder) else {
        return Vec::new();
    };
    found
        .flat_map(|entry| match entry.unwrap().path() {
            path if path.is_dir() => [files(&path), vec![path]].concat(),
            path => vec![path],
        })
        .collect()
}

/// A program of the shell at `path`, to stand in for a compiler.
pub(crate) fn script(path: &Path, text: &str) {
    // A file that is still open for writing cannot be run, and a thread that
    // starts a process meanwhile has a copy of it open; a shell has not.
    let status = std::process::Command::new("/bin/sh")
        .args(["-c", r#"printf '#!/bin/sh\n%s\n' "$1" > "$2""#, "sh", text])
        .arg(path)
        .status();
    assert!(status.unwrap().success());
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
