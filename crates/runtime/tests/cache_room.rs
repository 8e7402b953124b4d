//! The bound of the cache, and what a changed compiler finds.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use scalar::{compile, entries, environment, run, script};
use sparsec_runtime::{Cache, Environment, Origin};
use tempfile::TempDir;

mod scalar;

#[test]
fn what_was_not_used_for_longest_goes() {
    let folder = TempDir::new().unwrap();
    let mut environment = environment(folder.path());
    run(&compile(&environment, 0.0));
    let one = fs::metadata(&entries(folder.path())[0]).unwrap().size();
    let bound = one * 6;
    environment.cache_size = Some(bound.to_string().into());
    for number in 1..16 {
        let value = f64::from(number);
        assert_eq!(run(&compile(&environment, value)), value);
        let first = compile(&environment, 0.0);
        assert_eq!(
            first.build().origin,
            Origin::Cached,
            "it is used all the time"
        );
        let stat = Cache::open(&environment).unwrap().stat().unwrap();
        assert_eq!(stat.bound, bound);
        assert!(stat.bytes <= bound, "{stat:?}");
        assert!(stat.kernels >= 4.min(number as u64), "{stat:?}");
    }
    let origin = |value| compile(&environment, value).build().origin;
    assert_eq!(origin(15.0), Origin::Cached);
    assert_eq!(origin(1.0), Origin::Compiled, "it went");
}

#[test]
fn a_bound_that_is_too_small_for_anything_keeps_the_last() {
    let folder = TempDir::new().unwrap();
    let mut environment = environment(folder.path());
    environment.cache_size = Some("0".into());
    for value in [1.0, 2.0, 3.0] {
        assert_eq!(run(&compile(&environment, value)), value);
        assert_eq!(entries(folder.path()).len(), 1);
        assert_eq!(compile(&environment, value).build().origin, Origin::Cached);
    }
}

#[test]
fn a_changed_compiler_finds_no_kernel_of_the_old_one() {
    let folder = TempDir::new().unwrap();
    let compiler = folder.path().join("cc");
    let environment = Environment {
        sparsec_cc: Some(compiler.clone().into()),
        ..environment(&folder.path().join("cache"))
    };
    script(&compiler, "exec cc -DOF=1 \"$@\"");
    let before = fs::metadata(&compiler).unwrap();
    let origin = || compile(&environment, 1.0).build().origin;
    assert_eq!((origin(), origin()), (Origin::Compiled, Origin::Cached));
    // Of the same size, and said to be as old.
    script(&compiler, "exec cc -DOF=2 \"$@\"");
    let file = fs::File::open(&compiler).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let after = fs::metadata(&compiler).unwrap();
    assert_eq!(
        (before.size(), before.mtime_nsec()),
        (after.size(), after.mtime_nsec())
    );
    assert_eq!((origin(), origin()), (Origin::Compiled, Origin::Cached));
}

#[test]
fn a_script_may_run_another_compiler_than_before() {
    let folder = TempDir::new().unwrap();
    let compiler = folder.path().join("cc");
    let version = folder.path().join("version");
    let environment = Environment {
        sparsec_cc: Some(compiler.clone().into()),
        ..environment(&folder.path().join("cache"))
    };
    let text = "case \"$*\" in --version) exec cat VERSION;; esac\nexec cc \"$@\"";
    script(
        &compiler,
        &text.replace("VERSION", &version.display().to_string()),
    );
    fs::write(&version, "cc of today\n").unwrap();
    let origin = || compile(&environment, 1.0).build().origin;
    assert_eq!((origin(), origin()), (Origin::Compiled, Origin::Cached));
    fs::write(&version, "cc of tomorrow\n").unwrap();
    assert_eq!((origin(), origin()), (Origin::Compiled, Origin::Cached));
}
