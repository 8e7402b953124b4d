//! Operations with injected faults of the system, at every place that may meet them.
//!
//! | operation                   | faults                                                 |
//! |-----------------------------|--------------------------------------------------------|
//! | compile into the cache      | no memory, full disk, short writes, signals, a killed compiler, a clock that jumps |
//! | load from the cache         | the same                                               |
//! | run a kernel on threads     | no memory, a panic in a sort                           |
//! | pack a tensor               | no memory                                              |
//!
//! The operation ends right or with a code, leaves nothing half done, and succeeds the next
//! time.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use scalar::{compile, compile_in, entries, environment, files, run, script, trusted};
use sparsec_base::{Result, Scalar, Source, code};
use sparsec_loop::Function;
use sparsec_parallel::fault::{Fault, Strikes, inject};
use sparsec_parallel::with_threads;
use sparsec_runtime::{Cache, Environment, Kernel, KernelArgument, Origin, OutputTensor};
use sparsec_tensor::{Format, Tensor};
use tempfile::TempDir;

mod scalar;

/// Faults strike the whole process, so one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// More places than any operation here has.
const MANY: usize = 2000;

/// Runs `operation` with the fault at its first place, then at its second, and so on.
/// After each run, calls `check` without faults. Returns the number of places.
fn walk<T>(
    fault: Fault,
    how: Strikes,
    mut operation: impl FnMut() -> T,
    mut check: impl FnMut(T),
) -> usize {
    for at in 0..MANY {
        let injected = inject(fault, at, how);
        let ended = operation();
        let struck = injected.struck();
        drop(injected);
        check(ended);
        if !struck {
            return at;
        }
    }
    panic!("{fault:?} strikes at more than {MANY} places");
}

const VALUE: f64 = 3.25;

/// A stand-in for the compiler that copies the library which the real one made before.
fn stand_in(folder: &Path) -> PathBuf {
    let cache = folder.join("real");
    run(&compile(&environment(&cache), VALUE));
    let library = entries(&cache).pop().expect("it is kept");
    let compiler = folder.join("cc");
    script(
        &compiler,
        &format!(
            "case \"$*\" in --version) echo stand-in 1; exit;; esac\n\
             while [ $# -gt 0 ]; do if [ $1 = -o ]; then out=$2; fi; shift; done\n\
             exec cp {} $out",
            library.display()
        ),
    );
    compiler
}

/// Compiles or loads, as a program of its own.
fn make(environment: &Environment) -> Result<(Origin, f64)> {
    let cache = Cache::open(environment)?;
    let kernel = compile_in(environment, &cache, VALUE)?;
    let (function, fill) = (kernel.function(), Scalar::F64(0.0));
    let argument = &function.arguments[0];
    let mut output = OutputTensor::new(function, argument, Format::dense(0), vec![], fill)?;
    trusted::launch(&kernel, &mut [KernelArgument::Out(&mut output)])?;
    let value = output
        .finish()?
        .values::<f64>()
        .map_or(f64::NAN, |all| all[0]);
    Ok((kernel.build().origin, value))
}

/// Checks that the result is the right kernel, or one of these errors.
fn is_as_it_should_be(made: &Result<(Origin, f64)>, fault: Fault) {
    match made {
        Ok((_, value)) => assert_eq!(*value, VALUE, "{fault:?}"),
        Err(error) => {
            let codes = [
                code::CACHE_UNUSABLE,
                code::COMPILE_FAILED,
                code::COMPILER_HANGS,
                code::LOAD_FAILED,
                code::NO_LIBRARY,
                code::KERNEL_OUT_OF_MEMORY,
                code::TENSOR_TOO_LARGE,
            ];
            assert!(codes.contains(&error.code()), "{fault:?}: {error}");
            let patient = [Fault::ShortWrite, Fault::Signal];
            assert!(!patient.contains(&fault), "{fault:?}: {error}");
        }
    }
}

const WAYS: [(Fault, Strikes); 10] = [
    (Fault::Memory, Strikes::Once),
    (Fault::Memory, Strikes::FromThenOn),
    (Fault::Disk, Strikes::Once),
    (Fault::Disk, Strikes::FromThenOn),
    (Fault::ShortWrite, Strikes::Once),
    (Fault::ShortWrite, Strikes::FromThenOn),
    // A signal at every call would let no call end.
    (Fault::Signal, Strikes::Once),
    (Fault::Killed, Strikes::Once),
    (Fault::Killed, Strikes::FromThenOn),
    (Fault::Clock, Strikes::Once),
];

/// The environment for one attempt: a cache and a place for temporary directories.
fn place(folder: &Path, compiler: &Path) -> Environment {
    let _ = fs::remove_dir_all(folder.join("cache"));
    let temporary = folder.join("temporary");
    fs::create_dir_all(&temporary).unwrap();
    Environment {
        sparsec_cc: Some(compiler.into()),
        temporary: Some(temporary),
        ..environment(&folder.join("cache"))
    }
}

#[test]
fn compiling_ends_right_or_with_a_code() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = TempDir::new().unwrap();
    let compiler = stand_in(folder.path());
    for (fault, how) in WAYS {
        let attempt = || {
            let environment = place(folder.path(), &compiler);
            let made = make(&environment);
            (environment, made)
        };
        let n_places = walk(fault, how, attempt, |(environment, made)| {
            is_as_it_should_be(&made, fault);
            // Files that are there are whole: nothing is compiled for an entry.
            let cache = folder.path().join("cache");
            let kept = match cache.join("kernels").exists() {
                true => entries(&cache).len(),
                false => 0,
            };
            let (origin, value) = make(&environment).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                (value, origin == Origin::Cached),
                (VALUE, kept == 1),
                "{fault:?}"
            );
            assert_eq!(
                files(&cache.join("work")),
                Vec::<PathBuf>::new(),
                "{fault:?}"
            );
            assert_eq!(make(&environment).unwrap().0, Origin::Cached, "{fault:?}");
            assert_eq!(
                files(&folder.path().join("temporary")),
                Vec::<PathBuf>::new()
            );
        });
        assert!(n_places >= 2, "{fault:?} struck {n_places} times");
    }
}

#[test]
fn loading_ends_right_whatever_happens() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = TempDir::new().unwrap();
    let compiler = stand_in(folder.path());
    let environment = place(folder.path(), &compiler);
    make(&environment).unwrap_or_else(|error| panic!("{error}"));
    for (fault, how) in WAYS {
        let attempt = || make(&environment);
        walk(fault, how, attempt, |made| {
            is_as_it_should_be(&made, fault);
            let again = make(&environment).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again, (Origin::Cached, VALUE), "{fault:?}");
        });
    }
}

/// A matrix with this many entries in each row, at columns that do not ascend by row.
fn matrix(n: u64, each: u64) -> Tensor {
    let coords = (0..n * each).flat_map(|e| [e / each, (e * 7919 + e / each) % n]);
    let values: Vec<f64> = (0..n * each).map(|e| (e % 7) as f64 + 1.0).collect();
    let coords: Vec<u64> = coords.collect();
    Tensor::pack(&Format::csr(), &[n, n], &coords, &values).unwrap()
}

#[test]
fn running_ends_right_or_with_a_code_and_panics_come_through() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen-c/tests/kernels");
    let text = fs::read_to_string(kernels.join("spgemm.loop")).unwrap();
    let function = Function::parse(&Source::new("spgemm", text)).unwrap();
    let kernel = Kernel::generate(&function).unwrap();
    let a = matrix(300, 12);
    let multiply = || -> Result<Tensor> {
        with_threads(4, || {
            let fill = Scalar::F64(0.0);
            let argument = &function.arguments[0];
            let mut output =
                OutputTensor::new(&function, argument, Format::csr(), vec![300, 300], fill)?;
            let mut arguments = [
                KernelArgument::Out(&mut output),
                KernelArgument::In(&a),
                KernelArgument::In(&a),
            ];
            trusted::launch(&kernel, &mut arguments)?;
            output.finish()
        })
    };
    let expect = multiply().unwrap();
    for how in [Strikes::Once, Strikes::FromThenOn] {
        let n_places = walk(Fault::Memory, how, multiply, |ended| {
            match ended {
                Ok(result) => assert_eq!(result, expect),
                Err(error) => {
                    let codes = [code::KERNEL_OUT_OF_MEMORY, code::TENSOR_TOO_LARGE];
                    assert!(codes.contains(&error.code()), "{error}");
                }
            }
            assert_eq!(multiply().unwrap(), expect);
        });
        assert!(n_places >= 5, "{n_places}");
    }
    let mut n_panics = 0;
    let attempt = || catch_unwind(AssertUnwindSafe(multiply));
    let injected = inject(Fault::Panic, 40, Strikes::Once);
    let ended = attempt();
    drop(injected);
    if let Err(panic) = ended {
        assert_eq!(panic.downcast_ref(), Some(&"a sort panics"));
        n_panics += 1;
    }
    assert_eq!((n_panics, multiply().unwrap()), (1, expect));
}

#[test]
fn packing_ends_right_or_with_a_code() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    const N: u64 = 3000;
    let coords: Vec<u64> = (0..N)
        .flat_map(|e| [e * 7919 % 100, e * 104_729 % 1000])
        .collect();
    let values: Vec<f64> = (0..N).map(|e| e as f64).collect();
    for format in [
        Format::csr(),
        Format::csc(),
        Format::coo(2),
        Format::dense(2),
    ] {
        let pack = || Tensor::pack(&format, &[100, 1000], &coords, &values);
        let expect = pack().unwrap();
        for how in [Strikes::Once, Strikes::FromThenOn] {
            walk(Fault::Memory, how, pack, |packed| {
                match packed {
                    Ok(tensor) => assert_eq!(tensor, expect),
                    Err(error) => assert_eq!(error.code(), code::TENSOR_TOO_LARGE, "{error}"),
                }
                assert_eq!(pack().unwrap(), expect);
            });
        }
    }
}
