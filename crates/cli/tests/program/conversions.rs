//! `convert` between formats: of files, and as derivations.

use crate::place::Place;

const MATRIX: &str = "%%MatrixMarket matrix coordinate real general\n\
    3 4 4\n1 1 2\n1 4 1\n3 2 3\n3 3 -1\n";

#[test]
fn files_change_their_format() {
    let place = Place::new();
    place.write("a.mtx", MATRIX);
    for format in ["csc", "dia", "bsr(2, 2)", "msr", "mcoo"] {
        let call = ["convert", "a.mtx", "b.npz", "--to", format];
        assert_eq!(place.call(&call).answer(), "");
        let back = ["convert", "b.npz", "back.tns", "--to", "csr"];
        assert_eq!(place.call(&back).answer(), "");
        assert_eq!(
            place.read("back.tns"),
            "1 1 2.0\n1 4 1.0\n3 2 3.0\n3 3 -1.0\n",
            "{format}"
        );
    }
    let call = [
        "convert", "a.mtx", "c.npz", "--from", "coo", "--to", "csc", "--json",
    ];
    let answer = place.call(&call).answer();
    assert!(answer.contains("\"n_stored\":4"), "{answer}");
}

#[test]
fn derivations_print_at_every_stage() {
    let place = Place::new();
    let derive = |stage: &str| {
        let call = ["convert", "--from", "scoo", "--to", "csr", "--emit", stage];
        place.call(&call).answer()
    };
    for (stage, part) in [
        ("relation", "{[q0, q1] -> [q0_1, q1_1] : "),
        (
            "cases",
            "B_crd1       keys of a list             B_crd1(q1) = j\n",
        ),
        (
            "certificate",
            "B_pos1 is nondecreasing, since a running maximum is nondecreasing",
        ),
        ("computation", ": B_crd1(q1) = j\n    over {[q1, i, j] : "),
        ("loop", "fn convert("),
        ("c", "convert("),
        ("dot", "digraph"),
        ("svg", "<svg"),
    ] {
        let answer = derive(stage);
        assert!(answer.contains(part), "{stage}:\n{answer}");
    }
    let call = [
        "convert", "--from", "csr", "--to", "csc", "--emit", "cases", "--json",
    ];
    let answer = place.call(&call).answer();
    assert!(answer.contains("\"cases\":\"q0 "), "{answer}");
}

#[test]
fn formats_of_users_are_sides_of_derivations() {
    let place = Place::new();
    let csr = place
        .call(&["formats", "csr", "--emit", "relation"])
        .answer();
    place.write("mine.fmt", &csr);
    let call = [
        "convert",
        "--from",
        "mine.fmt",
        "--to",
        "csc",
        "--emit",
        "computation",
    ];
    let answer = place.call(&call).answer();
    // Nothing is known of the tensors of a user's format, so that places are counted.
    assert!(answer.contains(": A_entries += 1\n"), "{answer}");
    assert!(answer.contains("A_entries = A_pos1_end"), "{answer}");
    let call = [
        "convert",
        "--from",
        "mine.fmt",
        "--to",
        "csc",
        "--emit",
        "certificate",
    ];
    let answer = place.call(&call).answer();
    let counted = "A_entries has its values, since what is counted is what is assumed (s0)\n";
    assert!(answer.contains(counted), "{answer}");
    assert!(!answer.contains("not proved"), "{answer}");
    let call = [
        "convert", "--from", "csc", "--to", "mine.fmt", "--emit", "cases",
    ];
    let answer = place.call(&call).answer();
    assert!(answer.contains("B_pos1(i + 1) += 1\n"), "{answer}");
}

#[test]
fn calls_that_make_no_sense_are_refused() {
    let place = Place::new();
    place.write("a.mtx", MATRIX);
    let refused = |words: &[&str], parts: &[&str]| {
        let words: Vec<&str> = ["convert"].iter().chain(words).copied().collect();
        place.call(&words).refused(2, parts);
    };
    refused(
        &["--from", "csr", "--emit", "cases"],
        &[
            "error[E0001]",
            "`--emit` needs the format `--to`",
            "--to csc",
        ],
    );
    refused(
        &["--from", "csr", "--to", "csx", "--emit", "cases"],
        &["error[E0110]", "did you mean `csr`?"],
    );
    refused(
        &["--from", "csr", "--to", "csc", "--emit", "case"],
        &["error[E0004]", "did you mean `cases`?", "^^^^ unknown"],
    );
    refused(
        &["a.mtx", "b.npz", "--to", "mine.fmt"],
        &["error[E0005]", "a relation, in which no file is stored"],
    );
    refused(
        &["--from", "msr", "--to", "csc", "--emit", "cases"],
        &["error[E0830]", "^^^ named here", "help: convert"],
    );
    refused(
        &[
            "--from",
            "csr",
            "--to",
            "(i, j, k) -> (i : dense, j : dense, k : dense)",
            "--emit",
            "c",
        ],
        &["error[E0115]", "order 3, not of order 2"],
    );
}
