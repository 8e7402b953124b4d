//! Runs every file in `filetests/`, each as a test of its own.
//!
//! `cargo test -p sparsec-testing --test filetests run/` runs those of a folder,
//! and `SPARSEC_BLESS=1` writes what was found to the files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use sparsec_runtime::Environment;
use sparsec_testing::run::Engines;
use sparsec_testing::suite;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let bless = std::env::var_os("SPARSEC_BLESS").is_some_and(|value| value == "1");
    let root = repository();
    let cache = tempfile::tempdir().expect("a folder for kernels can be made");
    let engines = Arc::new(Engines::new(Environment {
        cache_dir: Some(cache.path().to_owned()),
        ..Environment::of_process()
    }));
    let paths = suite::files(&root.join("filetests")).expect("the filetests can be read");
    let trials = paths.into_iter().map(|path| {
        let name = name_of(&root, &path);
        let engines = Arc::clone(&engines);
        Trial::test(name.clone(), move || {
            suite::check(&path, &name, &engines, bless).map_err(Failed::from)
        })
    });
    let trials = trials.collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(engines);
    conclusion.exit_code()
}

fn repository() -> PathBuf {
    let testing = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = testing.ancestors().nth(2);
    root.expect("the crate is two folders deep").to_owned()
}

/// The path inside the repository, with `/` on every system.
fn name_of(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = inside
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}
