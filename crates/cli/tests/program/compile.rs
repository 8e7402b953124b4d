//! What `compile` shows.

use serde_json::Value;

use crate::place::{Place, with_matrix};

#[test]
fn compile_prints_stages() {
    let place = Place::new();
    let product = ["compile", "y(i) = A(i,j) * x(j)", "-f", "A=csr"];
    let c = place.call(&product).answer();
    assert!(c.contains("for (int64_t i = 0;"), "{c}");
    let words = [
        &product[..],
        &["--emit", "index", "--emit", "loop", "--time-passes"],
    ]
    .concat();
    let stages = place.call(&words).answer();
    assert!(stages.starts_with("---- index\ny(i) = "), "{stages}");
    assert!(stages.contains("\n---- loop\nfn compute_y("), "{stages}");
    assert!(stages.contains("\nsimplify "), "{stages}");
    let json = place.call(&[&words[..], &["--json"]].concat()).answer();
    let value: Value = serde_json::from_str(&json).expect("JSON");
    assert!(
        value["stages"]["loop"]
            .as_str()
            .is_some_and(|text| text.starts_with("fn "))
    );
    assert_eq!(value["passes"][0]["pass"], "simplify");
}

/// A statement is planned by the entries of its own operands: those of a later statement's
/// may be unknown.
#[test]
fn unknown_operands_of_other_statements_change_no_plan() {
    let place = Place::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/poisson2d.mtx");
    let schedule = |text: &str, format: &str| {
        let input = format!("A={sample}");
        let words = ["compile", text, "-i", &input, "-g", "x=1", "-f", format];
        place
            .call(&[&words[..], &["--emit", "schedule"]].concat())
            .answer()
    };
    let alone = schedule("y(i) = A(i,j) * x(j)", "A=csr");
    let beside = schedule("y(i) = A(i,j) * x(j)\nz(i) = B(i,j) * x(j)", "B=csr");
    assert!(alone.contains("unroll(j, 4)"), "{alone}");
    assert!(beside.contains("unroll(j, 4)"), "{beside}");
}

/// `compile` in place of `run`, with the same options, shows the kernel that `run` runs.
#[test]
fn compile_shows_the_kernel_that_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = with_matrix();
    place.write(
        "cc",
        "#!/bin/sh\nfor w in \"$@\"; do case $w in *.c) cp $w \"${0%/*}/seen.c\"; esac; done\nexec cc \"$@\"\n",
    );
    let cc = place.path().join("cc");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&cc, mode).expect("a script");
    let rest = "C(i,j) = f(A(i,k)) * B(k,j)";
    let rest = [
        rest,
        "-i",
        "A=a.mtx",
        "-g",
        "B=random(nnz=9)",
        "-d",
        "j=5",
        "-t",
        "B=f32",
    ];
    let options = [
        "--define",
        "f(x) = x * x",
        "-s",
        "reorder(i, k, j)",
        "-f",
        "C=csr",
        "-o",
        "C=c.mtx",
    ];
    let others = ["--backend", "c", "--check", "--threads", "1", "-q"];
    let call = |command: &str| {
        let mut words = vec![command];
        words.extend(rest.iter().chain(&options).chain(&others));
        let mut call = place.command(&words);
        let seen = place.path().join("seen.c");
        let done = call
            .env("SPARSEC_CC", &cc)
            .current_dir(place.path())
            .output()
            .expect("a call");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        (
            String::from_utf8_lossy(&done.stdout).into_owned(),
            std::fs::read_to_string(seen),
        )
    };
    let (_, ran) = call("run");
    let (shown, _) = call("compile");
    // The compiled file has one function more: the entry by which the kernel is launched.
    assert!(ran.expect("C").starts_with(&shown), "{shown}");
    assert!(shown.contains("float"), "{shown}");
}

#[test]
fn code_made_in_memory_is_shown() {
    let place = Place::new();
    let emit = |stage: &str| {
        let words = [
            "compile",
            "y(i) = A(i,j) * x(j)",
            "-f",
            "A=csr",
            "--emit",
            stage,
        ];
        place.call(&words).answer()
    };
    let clif = emit("clif");
    assert!(clif.contains("fmul") && clif.contains("brif"), "{clif}");
    assert!(emit("asm").contains("ret"));
}
