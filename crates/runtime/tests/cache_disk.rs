//! File systems that are full, read-only, or do not allow executing files.
//!
//! Each test makes one of its own, in a name space where it is root (`unshare`),
//! and says that it skips where the system does not allow that. There it runs
//! this very program, with the test `process` alone.

use std::process::Command;

use scalar::{compile, compile_in, environment, run};
use sparsec_runtime::{Cache, Environment};
use tempfile::TempDir;

mod scalar;

const VALUE: f64 = 9.5;

/// What [`process`] is told to expect: where the kernel comes from, or the code
/// of an error; and whether kernels are kept.
const EXPECT: &str = "SPARSEC_TEST_EXPECT";

#[test]
#[ignore = "run by the other tests, as a process of its own"]
fn process() {
    let environment = Environment::of_process();
    let result = Cache::open(&environment).and_then(|cache| {
        let kernel = compile_in(&environment, &cache, VALUE)?;
        assert_eq!(run(&kernel), VALUE);
        // The library of a second kernel is not taken for that of the first.
        let other = compile_in(&environment, &cache, VALUE + 1.0)?;
        assert_eq!((run(&kernel), run(&other)), (VALUE, VALUE + 1.0));
        let keeps = cache.trouble().map_or("keeps", |_| "keeps nothing");
        Ok(format!("{:?}, {keeps}", kernel.build().origin))
    });
    let found = result.unwrap_or_else(|error| error.code().to_string());
    assert_eq!(found, std::env::var(EXPECT).unwrap());
}

/// Runs [`process`] after the commands `before` of the shell, in which `$cache`
/// and `$temporary` are the directories.
fn check(folder: &TempDir, before: &str, expect: &str) {
    let (cache, temporary) = (folder.path().join("cache"), folder.path().join("temporary"));
    for folder in [&cache, &temporary] {
        let _ = std::fs::create_dir(folder);
    }
    // The mounts may hide this program.
    let run = "exec /proc/self/fd/9 process --exact --ignored --nocapture";
    let script = format!("set -e\nexec 9<\"$0\"\n{before}\n{run}");
    let output = unshared(&script)
        .arg(std::env::current_exe().unwrap())
        .envs([("cache", &cache), ("SPARSEC_CACHE_DIR", &cache)])
        .envs([("temporary", &temporary), ("TMPDIR", &temporary)])
        .env(EXPECT, expect)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{before}: {}: {said}",
        output.status
    );
}

fn unshared(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    command
}

/// Whether this system lets one mount; says so if not.
#[expect(clippy::print_stderr, reason = "says why nothing is tested")]
fn can_mount() -> bool {
    let tried = unshared("mount -t tmpfs none /mnt").output();
    let can = tried.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("skipped: this system does not let users mount file systems");
    }
    can
}

const FULL_CACHE: &str = "mount -t tmpfs -o size=8k,mode=700 none $cache";
const FULL_TEMPORARY: &str = "mount -t tmpfs -o size=8k,mode=700 none $temporary";
const FULL_USUAL: &str = "mount -t tmpfs -o size=8k,mode=1777 none /tmp";
const FULL_MEMORY: &str = "mount -t tmpfs -o size=8k,mode=700 none /dev/shm";

#[test]
fn a_full_disk_is_no_obstacle() {
    if !can_mount() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let none = "Compiled, keeps nothing";
    check(&folder, FULL_CACHE, none);
    let filled = format!("{FULL_CACHE}\ncat /dev/zero > $cache/zeros || true");
    check(&folder, &filled, none);
    let disk = format!("{FULL_CACHE}\n{FULL_TEMPORARY}");
    check(&folder, &disk, none);
    check(&folder, &format!("{disk}\n{FULL_MEMORY}"), none);
    let all = format!("{disk}\n{FULL_MEMORY}\n{FULL_USUAL}");
    check(&folder, &all, "E0503");
}

#[test]
fn a_read_only_directory_is_read() {
    if !can_mount() {
        return;
    }
    let read_only = "mount --bind $cache $cache; mount -o remount,ro,bind $cache";
    let folder = TempDir::new().unwrap();
    check(&folder, read_only, "Compiled, keeps nothing");
    check(&folder, "", "Compiled, keeps");
    check(&folder, read_only, "Cached, keeps");
}

#[test]
fn a_directory_that_forbids_executing_will_do() {
    if !can_mount() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let forbidding = "mount -t tmpfs -o noexec,mode=700 none $cache";
    check(&folder, forbidding, "Compiled, keeps");
    let path = folder.path().join("cache");
    run(&compile(&environment(&path), VALUE));
    let bound = "mount --bind $cache $cache; mount -o remount,noexec,bind $cache";
    check(&folder, bound, "Cached, keeps");
}

#[test]
fn a_process_that_may_not_write_is_refused_and_not_ended() {
    if !can_mount() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let limits = [0, 4].map(|blocks| format!("ulimit -f {blocks}"));
    for limit in &limits {
        check(&folder, limit, "E0503");
    }
    // Kernels that are there are loaded without a file that is too long.
    check(&folder, "", "Compiled, keeps");
    for limit in &limits {
        check(&folder, limit, "Cached, keeps");
    }
}
