//! The disk cache and the compiler: what is kept, and what happens when
//! something is wrong with either.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use scalar::{compile, compile_in, constant, entries, environment, run};
use sparsec_base::code;
use sparsec_runtime::{Cache, Compiler, Environment, Kernel, Origin, Session};
use tempfile::TempDir;

mod scalar;

#[test]
fn the_second_program_finds_the_kernel() {
    let folder = TempDir::new().unwrap();
    let environment = environment(&folder.path().join("a/b"));
    let first = compile(&environment, 1.5);
    assert_eq!(first.build().origin, Origin::Compiled);
    let second = compile(&environment, 1.5);
    assert_eq!(second.build().origin, Origin::Cached);
    assert_eq!((run(&first), run(&second)), (1.5, 1.5));
    let other = compile(&environment, 2.5);
    assert_eq!((other.build().origin, run(&other)), (Origin::Compiled, 2.5));

    let cache = Cache::open(&environment).unwrap();
    assert_eq!(cache.trouble(), None);
    let mode = fs::metadata(cache.path().unwrap())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(cache.stat().unwrap().kernels, 2);
    cache.clear().unwrap();
    assert_eq!(cache.stat().unwrap().bytes, 0);
    assert_eq!(run(&first), 1.5, "a loaded kernel stays");
    assert_eq!(compile(&environment, 1.5).build().origin, Origin::Compiled);
}

#[test]
fn damaged_entries_are_made_again() {
    let folder = TempDir::new().unwrap();
    let environment = environment(folder.path());
    run(&compile(&environment, 3.5));
    let [entry] = entries(folder.path()).try_into().unwrap();
    let whole = fs::read(&entry).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damage in [&[][..], &whole[..whole.len() / 2], &flipped[..], b"text"] {
        // A new file, as the old one may still be loaded.
        fs::remove_file(&entry).unwrap();
        fs::write(&entry, damage).unwrap();
        let kernel = compile(&environment, 3.5);
        assert_eq!(
            (kernel.build().origin, run(&kernel)),
            (Origin::Compiled, 3.5)
        );
        assert_eq!(fs::read(&entry).unwrap().len(), whole.len());
    }
    fs::remove_file(&entry).unwrap();
    fs::create_dir_all(entry.join("folder")).unwrap();
    assert_eq!(run(&compile(&environment, 3.5)), 3.5);
    assert_eq!(fs::read(&entry).unwrap().len(), whole.len());

    // A whole kernel, under the name of another.
    run(&compile(&environment, 3.25));
    let other = entries(folder.path())
        .into_iter()
        .find(|path| *path != entry)
        .unwrap();
    fs::rename(&entry, &other).unwrap();
    let kernel = compile(&environment, 3.25);
    assert_eq!(
        (kernel.build().origin, run(&kernel)),
        (Origin::Compiled, 3.25)
    );
}

#[test]
fn whatever_is_in_the_way_of_the_cache_the_result_is_right() {
    for name in ["kernels", "compilers", "work", "lock", "written"] {
        for (kind, make) in [
            ("a file", write_nothing as fn(&Path)),
            ("a folder", |path| fs::create_dir(path).unwrap()),
            ("a link to nowhere", |path| {
                std::os::unix::fs::symlink("/nonexistent/nowhere", path).unwrap();
            }),
        ] {
            let folder = TempDir::new().unwrap();
            make(&folder.path().join(name));
            let environment = environment(folder.path());
            let kernel = compile(&environment, 1.5);
            assert_eq!(run(&kernel), 1.5, "`{name}` is {kind}");
        }
    }
}

fn write_nothing(path: &Path) {
    fs::write(path, "").unwrap();
}

#[test]
fn kernels_go_from_thread_to_thread() {
    fn check<T: Send + Sync>(value: T) -> T {
        value
    }
    let folder = TempDir::new().unwrap();
    let environment = environment(folder.path());
    let kernel = check(compile(&environment, 1.25));
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (kernel, environment) = (&kernel, &environment);
            scope.spawn(move || {
                for round in 0..200 {
                    assert_eq!(run(kernel), 1.25);
                    // Loaded and unloaded while others run the same.
                    if round % 8 == number {
                        assert_eq!(run(&compile(environment, 1.25)), 1.25);
                    }
                }
            });
        }
    });
    check(Session::new(environment));
}

#[test]
fn a_damaged_compiler_description_is_made_again() {
    let folder = TempDir::new().unwrap();
    let environment = environment(folder.path());
    run(&compile(&environment, 1.0));
    for text in [
        "",
        "gcc\n-O3\nend\n",
        "gcc\n-std=c11\n-fplugin=evil.so\nend\n",
    ] {
        for file in fs::read_dir(folder.path().join("compilers")).unwrap() {
            fs::write(file.unwrap().path(), text).unwrap();
        }
        let kernel = compile(&environment, 1.0);
        assert_eq!(
            kernel.build().origin,
            Origin::Cached,
            "the same flags are found"
        );
    }
}

#[test]
fn many_threads_make_one_kernel() {
    let folder = TempDir::new().unwrap();
    let environment = environment(folder.path());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(run(&compile(&environment, 4.5)), 4.5));
        }
    });
    assert_eq!(entries(folder.path()).len(), 1);

    let session = Session::new(environment);
    let function = constant(5.5);
    let text = sparsec_codegen_c::emit_unit(&function);
    let entry = sparsec_codegen_c::launch_name(&function);
    let made: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let (kernel, made) =
                        scalar::trusted::compile_in(&session, &function, &text, &entry).unwrap();
                    assert_eq!(run(&kernel), 5.5);
                    usize::from(made)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(
        made, 1,
        "one thread makes the kernel, the others wait for it"
    );
}

#[test]
fn an_unusable_directory_is_replaced_by_a_temporary_one() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    // `/proc` refuses even the superuser.
    for path in [file.join("cache"), open, PathBuf::from("/proc/sparsec")] {
        let environment = environment(&path);
        let cache = Cache::open(&environment).unwrap();
        assert!(cache.trouble().is_some(), "{}", path.display());
        let temporary = cache.path().unwrap();
        assert_ne!(temporary, path);
        drop(cache);
        assert!(!temporary.exists());
        assert_eq!(run(&compile(&environment, 6.5)), 6.5);
    }
}

#[test]
fn who_asks_for_the_own_directory_gets_no_other() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cache");
    let cache = Cache::open_own(&environment(&path)).unwrap();
    assert_eq!(cache.path().unwrap(), path.canonicalize().unwrap());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    let error = Cache::open_own(&environment(&path)).unwrap_err();
    assert_eq!(error.code(), code::CACHE_NOT_PRIVATE);
    assert!(error.to_string().contains("(mode 777)"), "{error}");
    let error = Cache::open_own(&environment(Path::new("/proc/sparsec"))).unwrap_err();
    assert_eq!(error.code(), code::CACHE_UNUSABLE);
    let error = Cache::open_own(&Environment::default()).unwrap_err();
    assert!(error.to_string().contains("SPARSEC_CACHE_DIR"), "{error}");
}

#[test]
fn a_size_that_is_none_is_an_error() {
    let folder = TempDir::new().unwrap();
    let mut environment = environment(folder.path());
    environment.cache_size = Some("plenty".into());
    let error = Cache::open(&environment).unwrap_err();
    assert_eq!(error.code(), code::CACHE_SIZE);
    assert!(error.to_string().contains("`plenty`"), "{error}");
}

#[test]
fn a_program_that_compiles_nothing_is_an_error() {
    let folder = TempDir::new().unwrap();
    let mut environment = environment(folder.path());
    for program in ["/bin/true", "/bin/echo"] {
        environment.sparsec_cc = Some(program.into());
        let cache = Cache::open(&environment).unwrap();
        let error = Compiler::detect(&environment, &cache).unwrap_err();
        assert_eq!(error.code(), code::NO_LIBRARY);
        assert!(error.to_string().contains(program), "{error}");
    }
}

#[test]
fn a_program_that_does_not_end_is_waited_for_once() {
    let folder = TempDir::new().unwrap();
    let mut environment = environment(folder.path());
    let program = folder.path().join("sleeper");
    let text =
        "#!/bin/sh\ncase $1 in --version) echo 1.0;; *) echo >> $0.calls; sleep 300;; esac\n";
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    environment.sparsec_cc = Some(program.clone().into());
    let cache = Cache::open(&environment).unwrap();
    let error = Compiler::detect(&environment, &cache).unwrap_err();
    assert_eq!(error.code(), code::COMPILER_HANGS);
    assert!(error.to_string().contains("after 10s"), "{error}");
    let calls = fs::read_to_string(program.with_extension("calls")).unwrap();
    assert_eq!(calls.lines().count(), 1);
}

#[test]
fn no_compiler_is_an_error_with_a_way_out() {
    let folder = TempDir::new().unwrap();
    let mut environment = environment(folder.path());
    environment.sparsec_cc = Some("/nonexistent".into());
    let cache = Cache::open(&environment).unwrap();
    let error = Compiler::detect(&environment, &cache).unwrap_err();
    assert_eq!(error.code(), code::NO_COMPILER);
    let text = error.to_string();
    assert!(
        text.contains("Backend::Cranelift") && text.contains("SPARSEC_CC=/nonexistent"),
        "{text}"
    );

    environment.sparsec_cc = None;
    environment.cc = Some("nonexistent-cc".into());
    environment.path = Some(folder.path().into());
    let error = Compiler::detect(&environment, &cache).unwrap_err();
    assert_eq!(error.code(), code::NO_COMPILER);
    assert!(
        error
            .to_string()
            .contains("CC=nonexistent-cc, cc, gcc, clang in PATH")
    );
}

#[test]
fn a_broken_compiler_is_an_error_with_what_it_printed() {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("broken-cc");
    fs::write(&script, "#!/bin/sh\necho 'out of ideas' >&2\nexit 3\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut environment = environment(&folder.path().join("cache"));
    environment.sparsec_cc = Some(script.into());
    let cache = Cache::open(&environment).unwrap();
    let error = Compiler::detect(&environment, &cache).unwrap_err();
    assert_eq!(error.code(), code::COMPILE_FAILED);
    assert!(error.to_string().contains("out of ideas"), "{error}");
}

#[test]
fn c_that_does_not_compile_is_an_error() {
    let folder = TempDir::new().unwrap();
    let environment = environment(folder.path());
    let cache = Cache::open(&environment).unwrap();
    let compiler = Compiler::detect(&environment, &cache).unwrap();
    let function = constant(1.0);
    let error =
        scalar::trusted::compile_c(&function, "int 1;", "f_launch", &compiler, &cache).unwrap_err();
    assert_eq!(error.code(), code::COMPILE_FAILED);
    let error =
        scalar::trusted::compile_c(&function, "int f;", "f_launch", &compiler, &cache).unwrap_err();
    assert_eq!(error.code(), code::LOAD_FAILED);
    assert!(
        error.to_string().contains("undefined symbol: f_launch"),
        "what the loader says: {error}"
    );
    assert_eq!(cache.stat().unwrap().kernels, 0, "it is not kept");
}

#[test]
fn a_compiler_may_come_with_arguments() {
    let folder = TempDir::new().unwrap();
    let mut environment = environment(folder.path());
    environment.sparsec_cc = Some("gcc -DWITH_ARGUMENTS".into());
    assert_eq!(run(&compile(&environment, 7.5)), 7.5);
    environment.sparsec_cc = Some("gcc".into());
    let plain = compile(&environment, 7.5);
    assert_eq!(
        plain.build().origin,
        Origin::Compiled,
        "another command, another kernel"
    );
    let cache = Cache::open(&environment).unwrap();
    let compiler = Compiler::detect(&environment, &cache).unwrap();
    assert!(compiler.version().contains("gcc"), "{}", compiler.version());
    assert!(compiler.flags().iter().any(|flag| flag == "-fwrapv"));
}

#[test]
fn what_is_no_file_of_ours_is_no_entry() {
    let folder = TempDir::new().unwrap();
    let environment = environment(&folder.path().join("cache"));
    run(&compile(&environment, 8.5));
    let [entry] = entries(&folder.path().join("cache")).try_into().unwrap();
    let whole = folder.path().join("whole.so");
    fs::copy(&entry, &whole).unwrap();
    let fifo = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    };
    let link = |path: &Path| std::os::unix::fs::symlink(&whole, path).unwrap();
    let open = |path: &Path| {
        fs::copy(&whole, path).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap();
    };
    let put: [&dyn Fn(&Path); 3] = [&link, &fifo, &open];
    for put in put {
        fs::remove_file(&entry).unwrap();
        put(&entry);
        let origin = || compile(&environment, 8.5).build().origin;
        assert_eq!((origin(), origin()), (Origin::Compiled, Origin::Cached));
        let made = fs::symlink_metadata(&entry).unwrap();
        assert!(made.is_file() && made.permissions().mode() & 0o022 == 0);
    }
    assert!(whole.exists());
}

#[test]
fn kernels_of_an_older_version_go_when_one_is_made() {
    let folder = TempDir::new().unwrap();
    let environment = environment(folder.path());
    let stale = folder.path().join("kernels/3f/3f00.so");
    fs::create_dir_all(stale.parent().unwrap()).unwrap();
    fs::write(&stale, "of a version without folders").unwrap();
    run(&compile(&environment, 9.25));
    assert!(!stale.exists());
    assert_eq!(entries(folder.path()).len(), 1);
}

#[test]
fn a_directory_that_can_be_used_again_is_used_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cache");
    let environment = environment(&path);
    let open = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
    open(0o777);
    let cache = Cache::open(&environment).unwrap();
    assert_eq!(run(&compile_in(&environment, &cache, 1.75).unwrap()), 1.75);
    let trouble = cache.trouble().expect("others may rename it");
    assert!(
        trouble.contains("other users may rename what is in"),
        "{trouble}"
    );
    assert_ne!(cache.path().unwrap(), path);
    open(0o700);
    assert_eq!(run(&compile_in(&environment, &cache, 2.75).unwrap()), 2.75);
    assert_eq!((cache.trouble(), entries(&path).len()), (None, 1));
    // Nor does a session need the directory to stay.
    fs::remove_dir_all(&path).unwrap();
    assert_eq!(run(&compile_in(&environment, &cache, 3.75).unwrap()), 3.75);
    assert_eq!((cache.trouble(), entries(&path).len()), (None, 1));
}

#[test]
fn more_kernels_than_descriptors_are_loaded() {
    let folder = TempDir::new().unwrap();
    let environment = environment(folder.path());
    let cache = Cache::open(&environment).unwrap();
    let open = || fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let make = |value| compile_in(&environment, &cache, value).unwrap();
    let first = make(0.5);
    let before = open();
    let kernels: Vec<Kernel> = (0..40).map(|_| make(0.5)).collect();
    // Other tests open some meanwhile.
    assert!(open() < before + 30, "{before}, then {}", open());
    assert!(
        kernels
            .iter()
            .chain([&first])
            .all(|kernel| run(kernel) == 0.5)
    );
}
