//! Kernels that answer at once and are compiled behind that: with a compiler,
//! without one, and with one that fails or hangs.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use scalar::{constant, environment, run, script};
use sparsec_base::code;
use sparsec_runtime::{Environment, Kernel, Origin, Session};
use tempfile::TempDir;

mod scalar;

/// Longer than any compile here takes.
const LONG: Duration = Duration::from_secs(60);

fn tiered(session: &Session, value: f64) -> Arc<Kernel> {
    let function = constant(value);
    let text = sparsec_codegen_c::emit_unit(&function);
    let entry = sparsec_codegen_c::launch_name(&function);
    let made = scalar::trusted::tiered_in(session, &function, &text, &entry);
    made.unwrap_or_else(|error| panic!("{error}")).0
}

fn with_compiler(folder: &Path, line: &str) -> Environment {
    let compiler = folder.join("stand-in");
    script(&compiler, line);
    Environment {
        sparsec_cc: Some(compiler.into()),
        ..environment(&folder.join("cache"))
    }
}

#[test]
fn the_first_result_comes_from_memory_and_later_ones_from_the_cache() {
    let folder = TempDir::new().unwrap();
    let environment = environment(folder.path());
    let session = Session::new(environment.clone());
    let kernel = tiered(&session, 1.5);
    assert_eq!(
        (kernel.build().origin, run(&kernel)),
        (Origin::Generated, 1.5)
    );
    assert!(Arc::ptr_eq(&kernel, &tiered(&session, 1.5)), "made once");
    assert!(session.settle(Duration::MAX), "any time may be given");
    assert_eq!(run(&kernel), 1.5, "compiled");
    assert!(session.compiler_trouble().is_none());
    assert_eq!(session.cache().unwrap().stat().unwrap().kernels, 1);
    drop(session);
    assert_eq!(run(&kernel), 1.5, "a kernel outlives its session");

    let session = Session::new(environment);
    let again = tiered(&session, 1.5);
    assert_eq!((again.build().origin, run(&again)), (Origin::Cached, 1.5));
}

#[test]
fn kernels_of_many_threads_are_swapped_while_they_run() {
    let folder = TempDir::new().unwrap();
    let session = Session::new(environment(folder.path()));
    let compiled = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (session, compiled) = (&session, &compiled);
            scope.spawn(move || {
                let value = f64::from(thread) + 0.5;
                let kernel = tiered(session, value);
                while !compiled.load(std::sync::atomic::Ordering::Acquire) {
                    assert_eq!(run(&kernel), value);
                }
                assert_eq!(run(&kernel), value);
            });
        }
        // What is asked for meanwhile is waited for by the drop below.
        std::thread::sleep(Duration::from_millis(20));
        assert!(session.settle(LONG));
        compiled.store(true, std::sync::atomic::Ordering::Release);
    });
}

#[test]
fn a_machine_without_a_compiler_is_fine() {
    let folder = TempDir::new().unwrap();
    let session = Session::new(Environment {
        path: Some("".into()),
        cc: None,
        sparsec_cc: None,
        ..environment(folder.path())
    });
    let kernel = tiered(&session, 2.5);
    assert_eq!(
        (kernel.build().origin, run(&kernel)),
        (Origin::Generated, 2.5)
    );
    assert!(session.settle(LONG));
    assert_eq!(run(&kernel), 2.5);
    assert!(session.compiler_trouble().is_none());
}

#[test]
fn a_compiler_that_is_named_and_not_there_is_reported() {
    let folder = TempDir::new().unwrap();
    let session = Session::new(Environment {
        sparsec_cc: Some("gccc".into()),
        ..environment(folder.path())
    });
    let kernel = tiered(&session, 6.5);
    assert!(session.settle(LONG));
    assert_eq!(run(&kernel), 6.5);
    let trouble = session.compiler_trouble().expect("a reason");
    assert_eq!(trouble.code(), code::NO_COMPILER);
    assert!(trouble.notes()[0].contains("SPARSEC_CC=gccc"), "{trouble}");
}

#[test]
fn a_compiler_that_fails_or_writes_nothing_is_reported() {
    let failures = [
        ("echo nonsense >&2; exit 1", code::COMPILE_FAILED),
        ("echo nonsense; exit 0", code::NO_LIBRARY),
    ];
    for (line, expected) in failures {
        let folder = TempDir::new().unwrap();
        let session = Session::new(with_compiler(folder.path(), line));
        let kernel = tiered(&session, 3.5);
        assert_eq!(run(&kernel), 3.5, "{line}");
        assert!(session.settle(LONG));
        assert_eq!(run(&kernel), 3.5, "{line}");
        let trouble = session.compiler_trouble().map(|error| error.code());
        assert_eq!(trouble, Some(expected), "{line}");
    }
}

#[test]
fn a_compiler_that_hangs_holds_nobody_up() {
    let folder = TempDir::new().unwrap();
    let session = Session::new(with_compiler(folder.path(), "sleep 300"));
    let started = Instant::now();
    let kernels = [4.5, 5.5].map(|value| (value, tiered(&session, value)));
    for (value, kernel) in &kernels {
        assert_eq!(run(kernel), *value);
    }
    assert!(!session.settle(Duration::from_millis(50)), "it hangs");
    drop(session);
    assert!(started.elapsed() < Duration::from_secs(100), "it was ended");
    assert_eq!(run(&kernels[1].1), 5.5);
}

#[test]
fn a_session_that_waits_for_another_process_ends_at_once() {
    let folder = TempDir::new().unwrap();
    let environment = environment(&folder.path().join("cache"));
    // The compiler is known, so that the kernel alone is waited for.
    run(&scalar::compile(&environment, 1.0));
    let session = Session::new(environment);
    assert!(session.compiler().is_ok());
    // Somebody holds every lock there is, as of a process that was stopped.
    let mut holder = std::process::Command::new("python3");
    let lock = folder.path().join("cache/lock");
    holder.args(["-c", HOLD]).arg(lock);
    holder.stdout(std::process::Stdio::piped());
    let Ok(mut holder) = holder.spawn() else {
        return;
    };
    let mut ready = [0; 6];
    let mut said = holder.stdout.take().unwrap();
    std::io::Read::read_exact(&mut said, &mut ready).unwrap();
    let kernel = tiered(&session, 6.5);
    assert_eq!(run(&kernel), 6.5);
    assert!(!session.settle(Duration::from_millis(200)), "it waits");
    let started = Instant::now();
    drop(session);
    let took = started.elapsed();
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// Locks all bytes of a file, with a lock that belongs to the open file.
const HOLD: &str = "
import fcntl, struct, sys, time
file = open(sys.argv[1], 'r+')
F_OFD_SETLK = 37
fcntl.fcntl(file, F_OFD_SETLK, struct.pack('hhqqi', fcntl.F_WRLCK, 0, 0, 0, 0))
print('locked', flush=True)
time.sleep(60)
";

#[test]
fn a_failure_that_has_passed_is_not_remembered() {
    let folder = TempDir::new().unwrap();
    // Fails as long as the file is there.
    let full = folder.path().join("full");
    let line = format!(
        "if [ -e {0} ]; then echo no room >&2; exit 1; fi\nexec cc \"$@\"",
        full.display()
    );
    std::fs::write(&full, "").unwrap();
    let session = Session::new(with_compiler(folder.path(), &line));
    let function = constant(7.5);
    let text = sparsec_codegen_c::emit_unit(&function);
    let entry = sparsec_codegen_c::launch_name(&function);
    let compile = || scalar::trusted::compile_in(&session, &function, &text, &entry);
    assert_eq!(compile().unwrap_err().code(), code::COMPILE_FAILED);
    std::fs::remove_file(&full).unwrap();
    let (kernel, made) = compile().unwrap_or_else(|error| panic!("{error}"));
    assert!(made && run(&kernel) == 7.5);
    assert!(!compile().unwrap().1, "it is remembered once it is made");
}
