//! Many processes at one cache: starting together, killed, stopped, in the way
//! of each other.
//!
//! Each process is this very program, running the test `process` alone.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use scalar::{compile, compile_in, entries, environment, files, run, script};
use sparsec_base::code;
use sparsec_runtime::{Cache, Environment, Origin};
use tempfile::TempDir;

mod scalar;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(120);

/// What [`process`] is told: milliseconds to wait for others.
const PATIENCE: &str = "SPARSEC_TEST_PATIENCE";

/// What the processes compute.
const VALUE: f64 = 8.5;

#[test]
#[ignore = "run by the other tests, as a process of its own"]
fn process() {
    let environment = Environment::of_process();
    let patience = std::env::var(PATIENCE).unwrap().parse().unwrap();
    let cache = Cache::open(&environment)
        .unwrap()
        .with_patience(Duration::from_millis(patience));
    let kernel = compile_in(&environment, &cache, VALUE).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run(&kernel), VALUE);
    assert_eq!(cache.trouble(), None);
}

fn start(cache: &Path, compiler: &Path, patience: Duration) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["process", "--exact", "--ignored", "--nocapture"])
        .env("SPARSEC_CACHE_DIR", cache)
        .env("SPARSEC_CC", compiler)
        .env(PATIENCE, patience.as_millis().to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn check(output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", output.status);
}

fn wait_for(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < LONG, "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// One kernel, one description, nothing left over.
fn check_cache(cache: &Path) {
    assert_eq!(entries(cache).len(), 1);
    assert_eq!(files(&cache.join("compilers")).len(), 1);
    assert_eq!(files(&cache.join("work")), Vec::<std::path::PathBuf>::new());
}

#[test]
fn two_hundred_processes_compile_once() {
    let folder = TempDir::new().unwrap();
    let (cache, log) = (folder.path().join("cache"), folder.path().join("log"));
    let compiler = folder.path().join("cc");
    let text = format!("echo \"$@\" >> {}\nexec cc \"$@\"", log.display());
    script(&compiler, &text);
    let all: Vec<Child> = (0..200).map(|_| start(&cache, &compiler, LONG)).collect();
    for child in all {
        check(&child.wait_with_output().unwrap());
    }
    check_cache(&cache);
    let log = fs::read_to_string(log).unwrap();
    let made = log.lines().filter(|line| !line.contains("--version"));
    let (probes, kernels): (Vec<_>, Vec<_>) = made.partition(|line| line.contains("-Werror"));
    assert_eq!((probes.len(), kernels.len()), (1, 1), "{log}");
}

/// A compiler that hangs the first time that it compiles a kernel: it makes
/// `hanging`, which holds its number.
fn hanging_compiler(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("cc");
    let hanging = folder.join("hanging").display().to_string();
    script(
        &path,
        &format!(
            "case \"$*\" in *-Werror*|*--version*) exec cc \"$@\";; esac\n\
             if [ -e {hanging} ]; then exec cc \"$@\"; fi\n\
             echo $$ > {hanging}.new; mv {hanging}.new {hanging}\n\
             exec sleep 1000"
        ),
    );
    path
}

fn end_hanging(folder: &Path) {
    let number = fs::read_to_string(folder.join("hanging")).unwrap();
    signal("KILL", number.trim());
}

fn signal(name: &str, number: &str) {
    let status = Command::new("kill").args(["-s", name, number]).status();
    assert!(status.unwrap().success(), "kill -s {name} {number}");
}

#[test]
fn what_a_killed_process_held_is_free() {
    let folder = TempDir::new().unwrap();
    let cache = folder.path().join("cache");
    let compiler = hanging_compiler(folder.path());
    let mut killed = start(&cache, &compiler, LONG);
    wait_for(&folder.path().join("hanging"));
    let left = files(&cache.join("work"));
    assert!(!left.is_empty(), "it compiles");
    let started = Instant::now();
    let waiting = start(&cache, &compiler, LONG);
    std::thread::sleep(Duration::from_millis(100));
    killed.kill().unwrap();
    killed.wait().unwrap();
    check(&waiting.wait_with_output().unwrap());
    assert!(started.elapsed() < LONG);
    check_cache(&cache);
    end_hanging(folder.path());
}

#[test]
fn who_waits_too_long_compiles_alone() {
    let folder = TempDir::new().unwrap();
    let cache = folder.path().join("cache");
    let compiler = hanging_compiler(folder.path());
    let mut stopped = start(&cache, &compiler, LONG);
    wait_for(&folder.path().join("hanging"));
    let number = stopped.id().to_string();
    signal("STOP", &number);
    let other = start(&cache, &compiler, Duration::from_millis(200));
    check(&other.wait_with_output().unwrap());
    assert_eq!(entries(&cache).len(), 1);
    assert!(
        !files(&cache.join("work")).is_empty(),
        "what is in use stays, though its process is stopped"
    );
    stopped.kill().unwrap();
    stopped.wait().unwrap();
    end_hanging(folder.path());

    // The next to compile anything finds what was left.
    let environment = Environment {
        sparsec_cc: Some(compiler.into()),
        ..environment(&cache)
    };
    let kernel = compile(&environment, VALUE + 1.0);
    assert_eq!(
        (kernel.build().origin, run(&kernel)),
        (Origin::Compiled, VALUE + 1.0)
    );
    assert_eq!(files(&cache.join("work")).len(), 0);
}

#[test]
fn a_compiler_that_is_killed_is_asked_again() {
    let folder = TempDir::new().unwrap();
    let compiler = folder.path().join("cc");
    let once = folder.path().join("once");
    let text = |always: &str| {
        let once = once.display();
        format!(
            "case \"$*\" in *--version*) exec cc \"$@\";; esac\n\
             n=$(wc -l < {once} 2>/dev/null || echo 0); echo >> {once}\n\
             if [ $((n % 2)) = 0 {always} ]; then kill -KILL $$; fi\n\
             exec cc \"$@\""
        )
    };
    script(&compiler, &text(""));
    let environment = Environment {
        sparsec_cc: Some(compiler.clone().into()),
        ..environment(&folder.path().join("cache"))
    };
    let kernel = compile(&environment, 0.5);
    assert_eq!(run(&kernel), 0.5);
    let cache = Cache::open(&environment).unwrap();
    assert_eq!(fs::read_to_string(&once).unwrap().lines().count(), 4);
    assert_eq!(cache.trouble(), None);

    script(&compiler, &text("-o 1 = 1"));
    let error = compile_in(&environment, &cache, 1.5).unwrap_err();
    assert_eq!(error.code(), code::COMPILE_FAILED);
    assert!(error.to_string().contains("signal: 9"), "{error}");
    assert_eq!(files(&folder.path().join("cache/work")).len(), 0);
}

#[test]
fn clearing_disturbs_nobody() {
    let folder = TempDir::new().unwrap();
    let environment = environment(folder.path());
    run(&compile(&environment, 0.0));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|number| {
                let environment = &environment;
                scope.spawn(move || {
                    for round in 0..8 {
                        let value = f64::from(number * 100 + round);
                        assert_eq!(run(&compile(environment, value)), value);
                    }
                })
            })
            .collect();
        let cache = Cache::open(&environment).unwrap();
        while !threads.iter().all(|thread| thread.is_finished()) {
            cache.clear().unwrap_or_else(|error| panic!("{error}"));
        }
    });
    Cache::open(&environment).unwrap().clear().unwrap();
    assert_eq!(files(&folder.path().join("kernels")).len(), 0);
}
