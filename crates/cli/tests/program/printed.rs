//! What `run` prints of results, and where it goes.

use serde_json::Value;

use crate::place::{Done, PRODUCT, Place, with_matrix};

/// Calls `run` with the matrix `A` and the interpreter.
fn run(place: &Place, expression: &str, more: &[&str]) -> Done {
    let words = ["run", expression, "-i", "A=a.mtx", "--backend", "interp"];
    place.call(&[&words[..], more].concat())
}

#[test]
fn results_without_a_file_are_printed() {
    let place = with_matrix();
    let dense = "y: f64[3], dense, 3 stored\n[3.0 0.0 2.0]\n";
    assert_eq!(place.call(&PRODUCT).answer(), dense);
    let sparse = "B: f64[3, 4], csr, 4 stored\n  (0, 0)   4.0\n  (0, 3)   2.0\n  (2, 1)   6.0\n  (2, 2)  -2.0\n";
    assert_eq!(run(&place, "B(i,j) = 2 * A(i,j)", &[]).answer(), sparse);
    assert_eq!(run(&place, "s = A(i,j)", &[]).answer(), "s = 5.0\n");
    let both = run(&place, "r(i) = A(i,j)\ns = A(i,j)", &[]).answer();
    assert_eq!(both, "r: f64[3], dense, 3 stored\n[3.0 0.0 2.0]\ns = 5.0\n");
    let fill = run(&place, "B(i,j) = A(i,j) + 1", &["-f", "B=csr, fill 1"]).answer();
    assert!(
        fill.starts_with("B: f64[3, 4], csr, 4 stored, fill 1.0\n  (0, 0)  3.0\n"),
        "{fill}"
    );
    // Rows are as wide as the terminal says, or 80: another number does not fit.
    let words = ["run", "y(i) = x(i)", "-g", "x=dense:iota", "-d", "i=100"];
    let longest = |text: &str| text.lines().map(str::len).max();
    assert_eq!(longest(&place.call(&words).answer()), Some(75));
    let mut narrow = place.command(&words);
    let narrow = narrow.env("COLUMNS", "40").output().expect("the program");
    assert!(longest(&String::from_utf8_lossy(&narrow.stdout)) <= Some(40));
}

#[test]
fn tensors_are_printed_where_they_are_asked_for() {
    let place = with_matrix();
    let program = "r(i) = A(i,j)\ns = r(i) * r(i)";
    let written = ["-o", "s=s.tns"];
    assert_eq!(run(&place, program, &written).answer(), "");
    let all = run(&place, program, &[&written[..], &["--print"]].concat()).answer();
    assert_eq!(all, "r: f64[3], dense, 3 stored\n[3.0 0.0 2.0]\ns = 13.0\n");
    let quiet = run(&place, program, &["-q", "--check"]).answer();
    assert_eq!(quiet, "the reference evaluator agrees\n");
    let both = ["E0001", "exclude each other", "^^^^^^^ not both"];
    run(&place, program, &["-q", "--print"]).refused(2, &both);
}

/// A result that nobody asks for may be computed inside of the statement that reads it.
#[test]
fn tensors_on_the_way_are_computed_if_they_are_asked_for() {
    let place = with_matrix();
    let program = "B(i,j) = A(i,k) * A(j,k); t = A(i,l) * B(i,j) * A(j,l)";
    assert_eq!(
        run(&place, program, &["--check"]).answer().lines().count(),
        2
    );
    let explained = run(&place, program, &["--explain"]).answer();
    let said = "It computes B on the way, which nothing else reads.";
    assert!(explained.contains(said), "{explained}");
    let printed = run(&place, program, &["--print"]).answer();
    assert!(printed.starts_with("B: f64[3, 3]"), "{printed}");
    let written = run(&place, program, &["-o", "B=-"]).noted("t = ");
    assert!(written.starts_with("%%MatrixMarket"), "{written}");
}

#[test]
fn results_go_to_standard_output_as_text() {
    let place = with_matrix();
    let twice = "B(i,j) = 2 * A(i,j)";
    let matrix = "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 4.0\n1 4 2.0\n3 2 6.0\n3 3 -2.0\n";
    for output in ["-", "B=-"] {
        assert_eq!(run(&place, twice, &["-o", output]).answer(), matrix);
    }
    assert_eq!(
        run(&place, "y(i) = A(i,j)", &["-o", "-"]).answer(),
        "1 3.0\n2 0.0\n3 2.0\n"
    );
    // All else goes elsewhere.
    let program = "r(i) = A(i,j)\ns = A(i,j)";
    let done = run(&place, program, &["-o", "s=-", "--check"]);
    assert_eq!(done.stdout, "5.0\n");
    done.noted("r: f64[3], dense, 3 stored\n[3.0 0.0 2.0]\nthe reference evaluator agrees\n");
    // A sparse result states its extents, which its entries may not reach.
    let text = "\"$0\" run 'y(j) = A(1,j) + A(2,j)' -i A=a.mtx -f y=csf -o - | \"$0\" run 'z(j) = y(j)' -i y=- -f z=csf";
    assert_eq!(
        place.shell(text).answer(),
        "z: f64[4], csf, 2 stored\n  (1)   3.0\n  (2)  -1.0\n"
    );
    let early =
        place.shell("\"$0\" run 'y(i) = x(i)' -g x=dense:iota -d i=100000 -o - | head -n 1");
    assert_eq!(early.answer(), "1 0.0\n");
}

#[test]
fn standard_output_has_room_for_one() {
    let place = with_matrix();
    let program = "r(i) = A(i,j)\ns = A(i,j)";
    run(&place, program, &["-o", "-"]).refused(2, &["E0004", "`r`, `s`?", "`-o r=-`"]);
    run(&place, program, &["-o", "r=-", "-o", "s=-"]).refused(2, &["E0006", "standard output"]);
    run(&place, program, &["-o", "r=-", "--json"]).refused(2, &["E0005", "10000 values"]);
}

#[test]
fn json_has_values_up_to_a_limit() {
    let place = with_matrix();
    let value = |done: Done| -> Value { serde_json::from_str(&done.answer()).expect("JSON") };
    let program = "B(i,j) = 2 * A(i,j)\ny(i) = A(i,j)";
    let both = value(run(&place, program, &["--json"]));
    assert_eq!(
        both["results"]["y"]["values"],
        serde_json::json!([3.0, 0.0, 2.0])
    );
    let sparse = &both["results"]["B"];
    assert_eq!(sparse["coordinates"][3], serde_json::json!([2, 2]));
    assert_eq!(sparse["values"][3], -2.0);
    assert_eq!(sparse["fill"], 0.0);
    let quiet = value(run(&place, program, &["--json", "--quiet"]));
    assert_eq!(quiet["results"]["y"].get("values"), None);
    let words = [
        "run",
        "y(i) = x(i)",
        "-g",
        "x=dense:iota",
        "-d",
        "i=10001",
        "--json",
    ];
    let large = value(place.call(&words));
    assert_eq!(large["values_limit"], 10_000);
    assert_eq!(large["results"]["y"].get("values"), None);
    let why = large["results"]["y"]["values_left_out"].as_str();
    assert!(
        why.is_some_and(|why| why.contains("`-o y=FILE`")),
        "{large}"
    );
}

/// A result with 10^12 coordinates and few stored entries is printed at once.
#[test]
fn huge_results_are_cut() {
    let place = Place::new();
    let words = [
        "run",
        "y(i) = x(i) + 1",
        "-g",
        "x=random(nnz=100)",
        "-d",
        "i=1000000000000",
        "-f",
        "x=csf",
        "-f",
        "y=csf, fill 1",
    ];
    let answer = place.call(&words).answer();
    assert_eq!(answer.lines().count(), 12, "{answer}");
    assert!(
        answer.starts_with("y: f64[1000000000000], csf, 100 stored, fill 1.0\n"),
        "{answer}"
    );
    // A text file would list 10^12 ones; the file types that the advice names need not.
    let output = |file: &'static str| [&words[..], &["-o", file]].concat();
    place
        .call(&output("y=y.tns"))
        .refused(1, &["E0428", "`.npz` `.bsp.npz` `.bsp.h5`"]);
    place.call(&output("y=y.bsp.h5")).answer();
}

#[test]
fn fills_are_written_entry_by_entry() {
    let place = with_matrix();
    let words = ["-f", "B=csr, fill 1", "-o", "B=b.tns"];
    run(&place, "B(i,j) = A(i,j) + 1", &words).answer();
    let text = place.read("b.tns");
    assert_eq!(text.lines().count(), 12);
    assert!(text.starts_with("1 1 3.0\n1 2 1.0\n"), "{text}");
}

#[test]
fn a_call_of_nothing_prints_help() {
    let place = Place::new();
    let help = place.call(&["--help"]).answer();
    assert_eq!(place.call(&[]).answer(), help);
    let value: Value = serde_json::from_str(&place.call(&["--json"]).answer()).expect("JSON");
    assert_eq!(value["help"], help.as_str());
}
