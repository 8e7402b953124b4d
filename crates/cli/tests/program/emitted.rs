//! Stages of conversions keep the fill, and files of C tell callers which arrays to allocate.

use crate::place::Place;

#[test]
fn stages_keep_the_fill() {
    let place = Place::new();
    let emit = |from: &str, to: &str, stage: &str| {
        place.call(&["convert", "--from", from, "--to", to, "--emit", stage])
    };
    for to in ["dense, fill 1", "bsr(2, 2), fill 1", "dense"] {
        let answer = emit("csr, fill 1", to, "loop");
        assert_eq!(answer.code, Some(0), "{to}: {}", answer.stderr);
        let fills = answer.stdout.contains("= A_fill.vals[0]");
        assert!(fills, "{to}: {}", answer.stdout);
    }
    emit("csr", "dense, fill inf", "c").refused(2, &["error[E0218]", "fill inf"]);
    emit("csr, fill 1", "dense, fill 2", "loop").refused(2, &["error[E0218]"]);
    emit("csr, fill 1", "jds", "certificate").refused(2, &["error[E0218]", "fill"]);
}

/// The comment of a kernel says which arrays are the caller's, and how long they are.
#[test]
fn files_of_c_say_what_the_caller_allocates() {
    let place = Place::new();
    let answer = place.call(&["convert", "--from", "csr", "--to", "csc", "--emit", "c"]);
    assert!(
        answer.stdout.contains(" *     B_pos1 : i64[N1 + 1]\n"),
        "{}",
        answer.stdout
    );
}
