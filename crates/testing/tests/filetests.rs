//! Runs every file in `filetests/`, each as a test of its own.
//!
//! `cargo test -p sparsec-testing --test filetests run/` runs those of a folder,
//! and `SPARSEC_BLESS=1` writes what was found to the files. One more test sees
//! to it that every diagnostic code is provoked somewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use sparsec::{Code, code};
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
    let codes = Trial::test("every code has a filetest or a named test", {
        let root = root.clone();
        move || every_code_is_provoked(&root).map_err(Failed::from)
    });
    let trials = trials.chain([codes]).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(engines);
    conclusion.exit_code()
}

/// Codes with their names, and the file of Rust that provokes them.
type Elsewhere = (&'static str, &'static [(Code, &'static str)]);

macro_rules! provoked {
    ($file:literal: $($name:ident),*) => {
        ($file, &[$((code::$name, stringify!($name))),*])
    };
}

/// Codes that need more than a program: a call, files, broken arrays, a broken
/// compiler, loop IR or relations as text.
const ELSEWHERE: &[Elsewhere] = &[
    provoked!("crates/cli/tests/program/refused.rs": BAD_CALL, NOT_A_PAIR, SAID_TWICE, BAD_OPTION_VALUE, DOES_NOT_APPLY, SAME_OUTPUT, UNKNOWN_CODE, CANNOT_PRINT, REPLACES_INPUT, MISSING_EXTENT),
    provoked!("crates/sparsec/tests/library/refused.rs": NOT_AN_OPERAND, NOT_AS_PLANNED, OTHER_STRUCTURE),
    provoked!("crates/sparsec/tests/library/memory.rs": TOO_LARGE_FOR_MEMORY, TOO_MUCH_WORK),
    provoked!("crates/sparsec/tests/library/einsums.rs": EINSUM_SYNTAX, EINSUM_OUTPUT, EINSUM_OPERANDS),
    provoked!("crates/testing/tests/conversions.rs": NO_CONVERSION),
    provoked!("crates/convert/tests/certificates.rs": CERTIFICATE, CERTIFICATE_TEXT),
    provoked!("crates/network/tests/refusals.rs": NETWORK_MODEL, NETWORK_MEMORY, NETWORK_ORDER),
    provoked!("crates/runtime/src/solver.rs": NETWORK_SOLVER),
    provoked!("crates/network/src/network/text.rs": NETWORK_RESULT, NETWORK_SIZE, NETWORK_FACT, NETWORK_REPEATED),
    provoked!("crates/network/src/plan/text.rs": NETWORK_TREE, NETWORK_PLAN),
    provoked!("crates/tensor/tests/interop/main.rs": NOT_TRANSFERABLE),
    provoked!("crates/schedule/tests/dependence.rs": SCHEDULE_DEPENDENCE),
    provoked!("crates/relation/tests/text.rs": RELATION_ARITY, RELATION_NAME, RELATION_TOO_LARGE),
    provoked!("crates/relation/tests/declarations.rs": BAD_DECLARATION, KEY_MISUSED),
    provoked!("crates/relation/tests/key_functions.rs": KEY_RANGE, KEY_STEPS, KEY_NAME),
    provoked!("crates/relation/tests/operations.rs": RELATION_NOT_EXACT),
    provoked!("crates/relation/tests/questions.rs": RELATION_NOT_SOLVED),
    provoked!("crates/relation/tests/scan.rs": SCAN_UNBOUNDED),
    provoked!("crates/relation/tests/scan.rs": SCAN_DOMAIN),
    provoked!("crates/testing/tests/computations.rs": MAY_BE_OUTSIDE),
    provoked!("crates/testing/tests/computations.rs": FOLLOWS_RESULT),
    provoked!("crates/testing/tests/computations.rs": GIVEN_MISFIT),
    provoked!("crates/testing/tests/computations.rs": NOT_AS_DECLARED),
    provoked!("crates/relation/tests/laws.rs": RELATION_UNBOUND),
    provoked!("crates/walk/tests/walks.rs": NO_WALK),
    provoked!("crates/sparsec/tests/library/relations.rs": VALUE_SHARED),
    provoked!("crates/relation/tests/descriptors.rs": DESCRIPTOR_FUNCTION, DESCRIPTOR_NO_FUNCTION),
    provoked!("crates/relation/tests/descriptors.rs": DESCRIPTOR_EMPTY, DESCRIPTOR_OUTSIDE, DESCRIPTOR_UNBOUNDED),
    provoked!("crates/computation/tests/text.rs": COMPUTATION_UNKNOWN, COMPUTATION_NAME, COMPUTATION_NOT_INTEGER, COMPUTATION_TYPES, COMPUTATION_GIVEN),
    provoked!("crates/computation/tests/transform.rs": COMPUTATION_UNSETTLED, DEPENDENCE_BROKEN, COMPUTATION_ENTRY, TRANSFORMATION),
    provoked!("crates/tensor/tests/refused.rs": OUT_OF_BOUNDS, LENGTH_MISMATCH, ARRAY_MISMATCH, BAD_SEGMENTS, BAD_COORDINATES, INDEX_WIDTH_OVERFLOW, TENSOR_TOO_LARGE, DUPLICATE_ENTRY, UNKNOWN_GENERATOR, BAD_GENERATOR_ARGUMENT, CANNOT_COMBINE, UNKNOWN_COMBINATION, BAD_SELECTION),
    provoked!("crates/tensor/tests/irregular.rs": NOT_MIRRORED, OUTSIDE_REGION, BLOCK_TOO_FULL),
    provoked!("crates/io/tests/refused.rs": CANNOT_READ_FILE, UNKNOWN_FILE_TYPE, BAD_HEADER, UNSUPPORTED_FILE, BAD_ENTRY, WRONG_ENTRY_COUNT, CORRUPT_COMPRESSION, CANNOT_WRITE_FILE, NOT_EXPRESSIBLE_IN_FILE, ASYMMETRIC_FILE),
    provoked!("crates/io/tests/rutherford_boeing.rs": BAD_FORTRAN_FORMAT),
    provoked!("crates/io/tests/numpy/refused.rs": BAD_NPY, UNSUPPORTED_NPY_TYPE, BAD_ARCHIVE, MISSING_MEMBER, UNKNOWN_ARCHIVE, BAD_SCIPY_FILE, BAD_DESCRIPTION, NOT_EXPRESSIBLE_IN_NPY),
    provoked!("crates/io/tests/binsparse/containers.rs": NO_BINSPARSE, BAD_HDF5),
    provoked!("crates/io/tests/binsparse/refused.rs": BAD_DESCRIPTOR, UNSUPPORTED_BINSPARSE, BINSPARSE_ARRAY, NOT_EXPRESSIBLE_IN_BINSPARSE),
    provoked!("crates/io/tests/binsparse/round_trips.rs": LOSSY_TYPE),
    provoked!("python/tests/test_errors.py": DENSE_RESULT),
    provoked!("python/tests/test_lazy.py": NOT_COMPUTED),
    provoked!("python/tests/test_dask.py": PARTS_MISMATCH),
    provoked!("python/tests/test_dask_faults.py": VERSIONS_DIFFER, SHARD_LOST, CLUSTER_LOST),
    provoked!("python/tests/test_dask_files.py": FILE_CHANGED),
    provoked!("python/tests/test_shards.py": NOT_SHARDABLE, SHARD_PLAN, SHARD_MEMORY),
    provoked!("crates/runtime/tests/cache.rs": NO_COMPILER, COMPILE_FAILED, LOAD_FAILED, CACHE_NOT_PRIVATE, CACHE_SIZE, CACHE_UNUSABLE, NO_LIBRARY, COMPILER_HANGS),
    provoked!("crates/runtime/tests/kernels.rs": KERNEL_OUT_OF_MEMORY),
    provoked!("crates/sparsec/tests/library/kernels.rs": CANCELLED),
    provoked!("crates/cli/tests/program/embed.rs": NOT_KEPT),
    provoked!("crates/codegen-cranelift/src/host.rs": NO_MACHINE_CODE),
    provoked!("crates/bench/src/peer.rs": PEER_FAILED),
    provoked!("crates/reference/tests/meaning.rs": TOO_MANY_POINTS),
    provoked!("crates/testing/src/run.rs": WRONG_RESULT),
    provoked!("crates/mlir/tests/encodings.rs": NO_ENCODING),
    provoked!("crates/loop/tests/verify.rs": LOOP_UNKNOWN_NAME, LOOP_DUPLICATE_NAME, LOOP_TYPE, LOOP_IMMUTABLE, LOOP_ACCESS, LOOP_SIGNATURE, LOOP_LIFETIME, LOOP_NAME),
];

fn every_code_is_provoked(root: &Path) -> Result<(), String> {
    let text = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for path in suite::files(&root.join("filetests")).map_err(|error| error.to_string())? {
        let text = text(&path)?;
        let expected = text
            .split("error[")
            .skip(1)
            .filter_map(|rest| rest.split_once(']'));
        seen.extend(expected.map(|(code, _)| code.to_owned()));
    }
    for (file, codes) in ELSEWHERE {
        let text = text(&root.join(file))?;
        for (code, name) in *codes {
            if !text.contains(name) && !text.contains(&code.to_string()) {
                return Err(format!("{file} does not provoke {name}, {code}"));
            }
            seen.insert(code.to_string());
        }
    }
    let missing: Vec<String> = code::all()
        .map(|entry| entry.code.to_string())
        .filter(|code| !seen.contains(code))
        .collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(format!("nothing provokes {}", missing.join(", "))),
    }
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
