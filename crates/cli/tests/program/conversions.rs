//! `convert` between formats: of files, and as derivations.

use std::collections::BTreeSet;

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
        let back = ["convert", "b.npz", "back.tns", "--to", "scoo"];
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

/// Stored zeros stay entries in a format that lists entries, and are lost among padding.
#[test]
fn zeros_that_become_padding_are_noted() {
    let place = Place::new();
    let zeros =
        "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 2 0\n3 1 0\n3 3 2\n";
    place.write("zeros.mtx", zeros);
    let call = ["convert", "zeros.mtx", "b.npz", "--to", "csc"];
    assert_eq!(place.call(&call).answer(), "");
    let call = ["convert", "zeros.mtx", "b.npz", "--to", "dia"];
    let note = "note: 2 stored entries equal the fill, 0.0, and `dia` has such padding";
    place.call(&call).noted(note);
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/dia.fmt");
    let call = ["convert", "zeros.mtx", "own.npz", "--to", own];
    place.call(&call).noted(note);
    let call = ["convert", "b.npz", "back.tns", "--to", "scoo"];
    assert_eq!(place.call(&call).answer(), "");
    assert_eq!(place.read("back.tns"), "1 1 1.0\n3 3 2.0\n");
}

#[test]
fn lists_of_entries_have_no_padding() {
    let place = Place::new();
    place.write("a.mtx", MATRIX);
    for format in ["dia", "ell", "bsr(2, 2)", "sky", "csb(2)"] {
        let lower = "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 1 2\n3 1 3\n";
        place.write("lower.mtx", lower);
        for (file, entries) in [("a.mtx", 4), ("lower.mtx", 2)] {
            if (format, file) == ("sky", "a.mtx") {
                continue;
            }
            let call = ["convert", file, "list.mtx", "--to", format];
            place.call(&call).noted("does not keep the format");
            let list = place.read("list.mtx");
            // Behind a head and the extents.
            assert_eq!(
                list.lines().count(),
                2 + entries,
                "{file} in {format}: {list}"
            );
        }
    }
    // What is dense is dense on purpose.
    let call = ["convert", "a.mtx", "all.tns", "--to", "dense"];
    assert_eq!(place.call(&call).answer(), "");
    assert_eq!(place.read("all.tns").lines().count(), 12);
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
        ("loop", "fn scoo_to_csr("),
        ("c", "int32_t scoo_to_csr("),
        ("dot", "digraph"),
        ("svg", "<svg"),
    ] {
        let answer = derive(stage);
        assert!(answer.contains(part), "{stage}:\n{answer}");
    }
    let sweeps = |step: &str| {
        let call = [
            "convert",
            "--from",
            "coo",
            "--to",
            "csr",
            "--emit",
            "computation",
            "--opt",
        ];
        let answer = place.call(&[&call[..], &[step]].concat()).answer();
        let times = answer
            .lines()
            .filter_map(|line| line.trim().strip_prefix("at ["));
        let times = times.map(|time| time.split([',', ']']).next().map(str::to_owned));
        times.collect::<BTreeSet<_>>().len()
    };
    let steps = [
        "none",
        "redundant",
        "dce",
        "fuse-reads",
        "fuse-producers",
        "all",
    ];
    assert_eq!(steps.map(sweeps), [6, 6, 6, 4, 3, 3]);
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

/// Files keep tensors that are stored as relations say, and give them back.
#[test]
fn files_keep_relations() {
    let place = Place::new();
    place.write("a.mtx", MATRIX);
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
    let [dia, ellr] = ["dia", "ellr"].map(|name| format!("{samples}/{name}.fmt"));
    let entries = "1 1 2.0\n1 4 1.0\n3 2 3.0\n3 3 -1.0\n";
    for format in ["jds", "sell(2, 4)", &dia, &ellr] {
        let call = ["convert", "a.mtx", "b.npz", "--to", format];
        assert_eq!(place.call(&call).answer(), "");
        let info = place.call(&["info", "b.npz"]).answer();
        assert!(info.contains(", a relation\n"), "{info}");
        assert_eq!(place.call(&["convert", "b.npz", "back.tns"]).answer(), "");
        assert_eq!(place.read("back.tns"), entries, "{format}");
        let text = place.call(&["convert", "b.npz", "-"]).answer();
        assert!(
            text.ends_with("1 1 2.0\n1 4 1.0\n3 2 3.0\n3 3 -1.0\n"),
            "{text}"
        );
        // Between two relations.
        for other in ["jds", "sell(2, 4)", &dia] {
            let call = ["convert", "b.npz", "c.npz", "--to", other, "--json"];
            let answer = place.call(&call).answer();
            let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
            let notes = answer["notes"].as_array().expect("notes").len();
            assert_eq!(notes, 0, "{format} to {other}: {answer}");
            assert_eq!(place.call(&["convert", "c.npz", "back.tns"]).answer(), "");
            assert_eq!(place.read("back.tns"), entries, "{format} to {other}");
        }
    }
}

#[test]
fn assemblies_are_shown_and_checked() {
    let place = Place::new();
    place.write("a.mtx", MATRIX);
    let call = [
        "convert",
        "--from",
        "scoo",
        "--to",
        "jds",
        "--emit",
        "computation",
    ];
    let computation = place.call(&call).answer();
    assert!(
        computation.contains("B_perm(place(i)) = i\n"),
        "{computation}"
    );
    // From other formats, the list is made on the way.
    let call = [
        "convert",
        "--from",
        "csc",
        "--to",
        "jds",
        "--emit",
        "computation",
    ];
    let chain = place.call(&call).answer();
    assert!(
        chain.contains("S_crd0(S_n(q1)) = i\n") && chain.contains("B_perm(place(i)) = i\n"),
        "{chain}"
    );
    let jds = place.call(&["formats", "jds"]).answer();
    assert!(jds.ends_with(&computation), "{jds}");
    // What is printed is a format of one's own.
    place.write("mine.fmt", &jds);
    assert_eq!(place.call(&["formats", "mine.fmt"]).answer(), jds);
    let to_mine = ["convert", "a.mtx", "b.npz", "--to", "mine.fmt"];
    assert_eq!(place.call(&to_mine).answer(), "");
    let wrong = jds.replace("B_perm(place(i)) = i", "B_perm(place(i)) = 0");
    place.write("mine.fmt", &wrong);
    place.call(&to_mine).refused(
        1,
        &["error[E0519]", "`perm` is not injective", "declared here"],
    );
    let wrong = jds.replace("slot(n) = ordinal", "slit(n) = ordinal");
    place.write("mine.fmt", &wrong);
    place
        .call(&to_mine)
        .refused(1, &["error[E0801]", "mine.fmt:", "slit"]);
    let wrong = jds.replace("out B_perm", "temporary B_perm");
    place.write("mine.fmt", &wrong);
    assert_ne!(place.call(&to_mine).code, Some(0));
    let wrong = jds.replace("injective", "injectve");
    place.write("mine.fmt", &wrong);
    place
        .call(&to_mine)
        .refused(1, &["error[E0", "mine.fmt:", "injectve"]);
    let without = &jds[..jds.find("computation").expect("one")];
    place.write("mine.fmt", without);
    place
        .call(&to_mine)
        .refused(1, &["error[E0830]", "computation assemble"]);
}

/// Nothing says which of the four places of a row an entry has, nor what the others hold.
#[test]
fn places_of_blocks_are_not_guessed() {
    let place = Place::new();
    for more in ["", "0 <= s && "] {
        let four = format!(
            "format four
            extents NR, NC
            map {{[r, s] -> [i, j] : r = i && 0 <= i < NR && {more}4 * i <= s < 4 * i + 4 && col(s) = j && 0 <= j < NC}}
            data {{[r, s] -> [s]}}
            values {{[s] : 0 <= s < 4 * NR}}
            function col : {{[s] : 0 <= s < 4 * NR}} -> {{[j] : 0 <= j <= NC}}
            forall i, s, t : 4 * i <= s < t < 4 * i + 4 => col(s) != col(t)"
        );
        place.write("four.fmt", &four);
        let words = [
            "convert", "--from", "csr", "--to", "four.fmt", "--emit", "cases",
        ];
        place
            .call(&words)
            .refused(1, &["error[E0830]", "places of a block"]);
    }
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
        &[
            "--from", "csr", "--to", "csc", "--emit", "c", "--opt", "dec",
        ],
        &["error[E0004]", "did you mean `dce`?", "^^^ unknown"],
    );
    refused(
        &["a.mtx", "b.npz", "--opt", "all"],
        &["error[E0001]", "`--opt` and `[IN]` exclude each other"],
    );
    refused(
        &["a.mtx", "b.npz", "--to", "csc", "--emit", "cases"],
        &[
            "error[E0001]",
            "stages are of two formats, and of no file",
            "`sparsec convert --from csr --to csc --emit cases`",
        ],
    );
    let missing = ["convert", "a.mtx", "b.npz", "--to", "mine.fmt"];
    let says = [
        "error[E0420]",
        "cannot read `mine.fmt`",
        "-------- named here",
    ];
    place.call(&missing).refused(1, &says);
    refused(
        &["a.mtx", "b.npz", "--to", "fcoo(2)"],
        &["error[E0129]", "there are modes 0 to 1", "`fcoo(0)`"],
    );
    refused(
        &[
            "--from",
            "csr",
            "--to",
            "(i, j) -> (i : hashed, j : compressed)",
            "--emit",
            "cases",
        ],
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

/// A matrix with as many entries in each row, where `column` says.
fn matrix(n: u64, each: u64, column: impl Fn(u64, u64) -> u64) -> String {
    let mut text = format!(
        "%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n",
        n * each
    );
    for row in 0..n {
        for k in 0..each {
            text += &format!("{} {} 1.5\n", row + 1, column(row, k) % n + 1);
        }
    }
    text
}

/// Text lists entries, which take no room for the rows that there are.
#[test]
fn relations_of_large_extents_are_written_as_text() {
    let place = Place::new();
    place.write("a.tns", "1 1 2.5\n8589934597 1099511627776 1\n");
    for format in ["fcoo(0)", "fcoo(1)", "bcsf(4)"] {
        for words in [
            ["a.tns", "a.npz", "--to", format],
            ["a.npz", "b.tns", "--from", format],
        ] {
            let words: Vec<&str> = ["convert"].iter().chain(&words).copied().collect();
            let answer = place.call(&words);
            assert_eq!(answer.code, Some(0), "{format}: {}", answer.stderr);
        }
        let text = place.read("b.tns");
        assert!(
            text.contains("8589934597 1099511627776 1.0"),
            "{format}: {text}"
        );
    }
}

#[test]
fn tensors_that_a_format_blows_up_are_refused() {
    let place = Place::new();
    place.write(
        "scattered.mtx",
        &matrix(500, 4, |row, k| row * row * 7 + k * 131),
    );
    place.write("banded.mtx", &matrix(500, 4, |row, k| row + k));
    place.write("row.mtx", &matrix(500, 2, |row, k| row * k));
    let convert = |file: &str, format: &str, memory: &str| {
        let call = ["convert", file, "b.npz", "--to", format, "--memory", memory];
        place.call(&call)
    };
    place.write("b.npz", "as it was");
    for (file, format, bytes) in [
        ("scattered.mtx", "dia", None),
        ("scattered.mtx", "dense", Some("2.0 MB")),
        ("scattered.mtx", "bitmap", Some("2.0 MB")),
        ("scattered.mtx", "bsr(20, 20)", None),
        (
            "scattered.mtx",
            "(i, j) -> (i : bitmap, j : bitmap)",
            Some("2.0 MB"),
        ),
        ("scattered.mtx", "(i, j) -> (i : dense, j : range)", None),
        (
            "row.mtx",
            "(i, j) -> (j : dense, #j : dense, i : singleton)",
            None,
        ),
    ] {
        let message = bytes.map_or(String::new(), |bytes| format!("would take {bytes}"));
        convert(file, format, "200K").refused(1, &["error[E0407]", &message, "--memory"]);
        assert_eq!(place.read("b.npz"), "as it was", "{format}");
    }
    for (file, format) in [
        ("scattered.mtx", "dia"),
        ("scattered.mtx", "dense"),
        ("scattered.mtx", "bitmap"),
        ("scattered.mtx", "bsr(20, 20)"),
        (
            "row.mtx",
            "(i, j) -> (j : dense, #j : dense, i : singleton)",
        ),
    ] {
        convert(file, format, "8M").answer();
    }
    // Formats that suit the entries stay far below the limit.
    for format in ["dia", "ell", "bsr(4, 4)", "csc", "hash"] {
        convert("banded.mtx", format, "200K").answer();
    }
}

/// Without `--memory`, the limit follows from the entries.
#[test]
fn limits_follow_from_the_entries() {
    let place = Place::new();
    place.write("row.mtx", &matrix(40_000, 1, |_, _| 0));
    let refused = [
        "an array of the tensor would take 12.8 GB, and the limit is 1.1 GB",
        "1 GiB, or 16 times the bytes of the entries if that is more",
        "--memory",
    ];
    for format in ["dense", "(i, j) -> (#j : dense, j : dense, i : singleton)"] {
        let call = ["convert", "row.mtx", "b.npz", "--to", format];
        let texts = [&refused[..], &["- named here"]].concat();
        place.call(&call).refused(1, &texts);
        let operand = format!("A={format}");
        let call = ["run", "y(i) = A(i,j)", "-i", "A=row.mtx", "-f", &operand];
        place.call(&call).refused(1, &refused);
    }
    let call = ["convert", "row.mtx", "b.npz", "--to", "dia"];
    place.call(&call).answer();
}
