//! Kernels that other C programs take in.

use std::path::Path;
use std::process::Command;

use crate::place::Place;

/// What a stranger's compiler is told; nothing may be printed.
const STRICT: [&str; 7] = [
    "-std=c11",
    "-O1",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-pedantic",
    "-fwrapv",
];

/// Options of the compiler that end a program at its first access outside an array, at
/// undefined behaviour, and if it leaks memory.
const SANITIZED: [&str; 3] = [
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// Builds `examples/embed-c` with `flags` and runs it.
fn build_and_run(flags: &str) {
    let place = Place::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/embed-c/build.sh");
    let built = Command::new(example)
        .current_dir(place.path())
        .env("SPARSEC", env!("CARGO_BIN_EXE_sparsec"))
        .env("CFLAGS", flags)
        .output()
        .expect("a shell");
    let printed = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success() && printed.is_empty(), "{printed}");
    let ran = Command::new(place.path().join("embed"))
        .output()
        .expect("the example");
    let printed = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{printed}");
    let answer = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(answer, "y(50000) = -2, C has 499994 entries\n");
}

#[test]
fn the_example_runs() {
    build_and_run("");
}

#[test]
fn the_example_runs_on_the_threads_of_openmp() {
    build_and_run("-fopenmp");
}

#[test]
fn the_example_breaks_no_rule_of_c() {
    build_and_run(&SANITIZED.join(" "));
}

/// Chunks of loops run on threads of the caller, `pool.c`, which synchronises them only
/// as the contract of a context requires.
#[test]
fn kernels_on_threads_of_the_caller_have_no_races() {
    let place = Place::new();
    place.write("pool.c", include_str!("pool.c"));
    let (rows, pieces) = (
        "parallelize(i, CPUThread, NoRaces)",
        "parallelize(i, CPUThread, Temporary)",
    );
    let kernels = [
        ("spmv", "y(i) = A(i,j) * x(j)", "A=csr", rows),
        ("dot", "s = x(i) * z(i)", "x=dense", pieces),
        ("spgemm", "C(i,j) = A(i,k) * B(k,j)", "A,B,C=csr", pieces),
        ("add", "C(i,j) = A(i,j) + B(i,j)", "A,B,C=csr", pieces),
    ];
    for (name, expression, formats, schedule) in kernels {
        let (tensors, format) = formats.split_once('=').expect("tensors and their format");
        let formats: Vec<String> = tensors
            .split(',')
            .map(|tensor| format!("{tensor}={format}"))
            .collect();
        let mut call = vec!["compile", expression, "--name", name, "-s", schedule];
        call.extend(formats.iter().flat_map(|format| ["-f", format.as_str()]));
        for (ending, stages) in [("h", &["header"][..]), ("c", &["c", "header"])] {
            let stages = stages.iter().flat_map(|stage| ["--emit", *stage]);
            let done = place.call(&call.iter().copied().chain(stages).collect::<Vec<_>>());
            assert_eq!(done.code, Some(0), "{}", done.stderr);
            place.write(&format!("{name}.{ending}"), &done.stdout);
        }
    }
    for flags in [&["-g", "-fsanitize=thread"][..], &SANITIZED] {
        let built = Command::new("gcc")
            .args(STRICT)
            .args(flags)
            .args(["pool.c", "spmv.c", "dot.c", "spgemm.c", "add.c"])
            .args(["-pthread", "-o", "pool"])
            .current_dir(place.path())
            .output();
        let printed = String::from_utf8_lossy(&built.expect("gcc").stderr).into_owned();
        assert!(printed.is_empty(), "{printed}");
        let ran = Command::new(place.path().join("pool")).output();
        let ran = ran.expect("the program");
        let printed = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{flags:?}: {printed}");
        assert_eq!(ran.stdout, b"the same on 4 threads\n");
    }
}

#[test]
fn kept_files_compile_without_a_word_and_link_together() {
    let place = Place::new();
    let programs: [(&str, &[&str]); 8] = [
        (
            "merge",
            &[
                "C(i,j) = A(i,j) + B(i,j)",
                "-f",
                "A=csr",
                "-f",
                "B=dcsr",
                "-f",
                "C=dcsr",
            ],
        ),
        (
            "coordinates",
            &["C(i,j) = A(i,j)", "-f", "A=coo", "-f", "C=coo"],
        ),
        (
            "bits",
            &["C(i,j) = A(i,j)", "-f", "A=csr", "-f", "C=bitmap"],
        ),
        (
            "hashed",
            &[
                "C(i,k,l) = A(i,j) * B(j,k,l)",
                "-f",
                "B=csf",
                "-f",
                "C=csf",
                "-d",
                "l=9000000000",
            ],
        ),
        (
            "scalar",
            &["s = sqrt(sum{i,j}(A(i,j) * A(i,j)))", "-f", "A=csr"],
        ),
        (
            "complex",
            &[
                "y(i) = A(i,j) * x(j)",
                "-f",
                "A=csr",
                "-t",
                "A=c64",
                "-t",
                "y=c64",
            ],
        ),
        (
            "halves",
            &[
                "y(i) = A(i,j) * x(j)",
                "-f",
                "A=csr",
                "-t",
                "A=f16",
                "-t",
                "y=f16",
            ],
        ),
        (
            "two",
            &[
                "r(i) = b(i) - A(i,j) * x(j)\nn = r(i) * r(i)",
                "-f",
                "A=csr",
            ],
        ),
    ];
    let mut link = Command::new("gcc");
    link.args(["-shared", "-fPIC", "-o", "all.so", "-lm"])
        .current_dir(place.path());
    for (name, words) in programs {
        let mut call = vec!["compile"];
        call.extend_from_slice(words);
        call.extend_from_slice(&["--name", name, "--emit", "c", "--emit", "header"]);
        let done = place.call(&call);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let file = format!("{name}.c");
        place.write(&file, &done.stdout);
        link.arg(file);
    }
    let output = link.args(STRICT).output().expect("gcc");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.is_empty(), "{printed}");
}

/// Tensors may be called as what the writer itself names, and kernels apart in capitals alone.
#[test]
fn names_of_tensors_meet_no_others() {
    let place = Place::new();
    let kernels = [
        (
            "y",
            "y(i) = assemble_y(i,j) * compute_y(j)",
            "assemble_y=csr",
        ),
        (
            "Y",
            "y(i) = evaluate_Y_loops(i,j) * status(j)",
            "status=coo",
        ),
        ("new", "status(i,j) = scope(i,j) * class(i,j)", "scope=csr"),
    ];
    let mut main = String::new();
    for (name, expression, format) in kernels {
        for (ending, stages) in [("h", &["header"][..]), ("c", &["c", "header"])] {
            let mut call = vec!["compile", expression, "-f", format, "--name", name];
            call.extend(stages.iter().flat_map(|stage| ["--emit", *stage]));
            let done = place.call(&call);
            assert_eq!(done.code, Some(0), "{}", done.stderr);
            // A file system may not tell `y.c` from `Y.c`.
            let file = format!("kernel_{}.{ending}", main.lines().count());
            place.write(&file, &done.stdout);
        }
        let line = format!("#include \"kernel_{}.h\"\n", main.lines().count());
        main.push_str(&line);
    }
    for (name, ..) in kernels {
        main.push_str(&format!(
            "int32_t call_{name}(void) {{ return evaluate_{name}(0, 0, 0, 0); }}\n"
        ));
    }
    place.write("main.c", &main);
    let mut build = Command::new("gcc");
    let files = ["main.c", "kernel_0.c", "kernel_1.c", "kernel_2.c"];
    build
        .args(STRICT)
        .args(["-shared", "-fPIC", "-o", "all.so"]);
    let built = build.args(files).current_dir(place.path()).output();
    let printed = String::from_utf8_lossy(&built.expect("gcc").stderr).into_owned();
    assert!(printed.is_empty(), "{printed}");
}

/// Lists of every length to a few runs, with and without memory to merge them in.
#[test]
fn kept_sorts_sort() {
    let place = Place::new();
    let call = ["compile", "y(i) = x(i)", "--emit", "c", "--emit", "header"];
    place.write("kernel.c", &place.call(&call).stdout);
    place.write(
        "sorts.c",
        r#"
#include <stdlib.h>
#include <stdio.h>
#ifdef POOR
#define malloc(size) ((void)(size), NULL)
#endif
#include "kernel.c"
static int32_t narrow[700];
static int64_t wide[700], keys[700], along[700], seen[700];
int main(void) {
  uint64_t random = 12345;
  for (int64_t n = 0; n < 700; n++) {
    for (int64_t i = 0; i < n; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      keys[i] = (int64_t)(random >> 33) % (n / 2 + 1) - 5;
      narrow[i] = (int32_t)(wide[i] = keys[i]);
      along[i] = 1000 * i + keys[i];
      seen[i] = 0;
    }
    sparsec_sort_i32(NULL, narrow, n);
    sparsec_sort_i64(NULL, wide, n);
    sparsec_sort_pairs(NULL, keys, along, n);
    for (int64_t i = 0; i < n; i++) {
      const int64_t from = (along[i] - keys[i]) / 1000;
      if (from < 0 || from >= n || seen[from]++ || along[i] != 1000 * from + keys[i]) return 2;
      if (narrow[i] != keys[i] || wide[i] != keys[i]) return 3;
      if (i && (keys[i - 1] > keys[i] || (keys[i - 1] == keys[i] && along[i - 1] > along[i]))) return 4;
    }
  }
  return 0;
}
"#,
    );
    for poor in [None, Some("-DPOOR")] {
        let mut build = Command::new("gcc");
        build
            .args(STRICT)
            .args(SANITIZED)
            .args(poor)
            .args(["sorts.c", "-o", "sorts"]);
        let built = build.current_dir(place.path()).output().expect("gcc");
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        let ran = Command::new(place.path().join("sorts"))
            .status()
            .expect("the program");
        assert_eq!(ran.code(), Some(0), "{poor:?}");
    }
}

#[test]
fn names_that_c_has_not_are_refused() {
    let place = Place::new();
    let done = place.call(&["compile", "y(i) = x(i)", "--emit", "header", "--name", "2d"]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("E0610") && done.stderr.contains("^^"),
        "{}",
        done.stderr
    );
    let done = place.call(&["compile", "y(i) = x(i)", "--name", "axpy"]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("--emit header"), "{}", done.stderr);
}
