//! Formats described, and expressions over formats that are relations.

use serde_json::Value;

use crate::place::Place;

#[test]
fn expressions_over_relations_are_computations() {
    let place = Place::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
    for format in ["dia", "jds", "sell"] {
        let operand = format!("A={samples}/{format}.fmt");
        let words = ["compute", "y(i) = A(i,j) * x(j)", "-f", operand.as_str()];
        let text = place.call(&words).answer();
        assert!(
            text.contains("* x(j)\n") && text.contains("out y : f64[Ni]"),
            "{text}"
        );
        // What is printed is a file that can be read.
        place.write("made.spf", &text);
        assert_eq!(place.call(&["compute", "made.spf"]).answer(), text);
    }
    let operand = format!("B={samples}/dia.fmt");
    let wrong = ["compute", "y(i) = A(i,j) * x(j)", "-f", operand.as_str()];
    place
        .call(&wrong)
        .refused(2, &["E0207", "not in the expression"]);
    let wrong = ["compute", "y(i) = A(i,j) * x(j)", "-f", "A=csr"];
    place.call(&wrong).refused(2, &["E0004", "file.fmt"]);
    let result = ["compute", "B(i,j) = A(i,j)", "-f", &operand];
    place
        .call(&result)
        .refused(2, &["E0820", "format of levels"]);
    let product = "y(i) = B(i,j) * x(j)";
    let unknown = [
        "compute", product, "-f", &operand, "--run", "-d", "Ni=3", "-d", "Q=1",
    ];
    place.call(&unknown).refused(2, &["E0518", "^ given here"]);
}

#[test]
fn a_format_is_described() {
    let place = Place::new();
    let csr = place.call(&["formats", "csr"]).answer();
    assert!(csr.contains("pos1(q0) <= q1 < pos1(q0 + 1)"), "{csr}");
    assert!(csr.contains("1.pos        0     2  3        6  7"), "{csr}");
    let value = place.call(&[
        "formats", "csf", "--order", "3", "--emit", "relation", "--json",
    ]);
    let value: Value = serde_json::from_str(&value.answer()).expect("JSON");
    assert!(value["drawing"].is_null(), "{value}");
    // What is printed is a file that can be read.
    let relation = value["relation"].as_str().expect("a text").to_owned();
    place.write("tensor.fmt", &relation);
    let again = place.call(&["formats", "tensor.fmt"]).answer();
    assert_eq!(again, relation);
    // What levels cannot describe.
    let diagonals = "format dia\nextents NR, NC\n\
        map {[d, i] -> [i, j] : 0 <= d < ND && 0 <= i < NR && j = i + off(d) && 0 <= j < NC}\n\
        data {[d, i] -> [NR * d + i]}\nvalues {[p] : 0 <= p < ND * NR}\n";
    place.write("dia.fmt", diagonals);
    let refused = place.call(&["formats", "dia.fmt"]);
    refused.refused(1, &["E0720", "dia.fmt:3", "`off`"]);
}

/// Operands and results in formats that are relations, in `run` and `compile`.
#[test]
fn programs_take_relations() {
    let place = Place::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
    place.write(
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 2\n1 4 1\n3 2 3\n3 3 -1\n",
    );
    let product = "y(i) = A(i,j) * x(j)";
    let [dia, ellr] = ["dia", "ellr"].map(|name| format!("A={samples}/{name}.fmt"));
    for format in ["A=jds", "A=sell(2, 2)", &dia, &ellr] {
        let run = [
            "run",
            product,
            "-f",
            format,
            "-i",
            "A=a.mtx",
            "-g",
            "x=dense:ones",
            "--check",
        ];
        let answer = place
            .call(&run)
            .noted("note: `A` is walked as it is stored, in `");
        assert!(answer.contains("[3.0 0.0 2.0]\n"), "{format}: {answer}");
        // What no loops over tuples compute is computed over levels.
        let largest = "y(i) = max{j}(A(i,j))";
        let run = ["run", largest, "-f", format, "-i", "A=a.mtx", "--check"];
        place
            .call(&run)
            .noted("note: `A` is read in `csr`, the format of levels");
        let shown = ["compile", product, "-f", format, "--emit", "concrete"];
        place.call(&shown).noted("is walked as it is stored");
    }
    // A vector that is read along both modes of a square matrix.
    place.write(
        "s.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 2\n3 3 1\n",
    );
    let twice = "s = A(i,j) * x(i) * x(j)";
    let run = [
        "run",
        twice,
        "-f",
        "A=jds",
        "-i",
        "A=s.mtx",
        "-g",
        "x=dense:ones",
        "--check",
    ];
    let answer = place.call(&run).noted("`A` is walked as it is stored");
    assert!(answer.contains("s = 3.0"), "{answer}");
    // A result that is a relation, and an operand that a file has as one.
    let run = [
        "run",
        "C(i,j) = A(i,j) * 2",
        "-f",
        "C=jds",
        "-i",
        "A=a.mtx",
        "-o",
        "C=c.npz",
    ];
    place
        .call(&run)
        .noted("`C` is computed in `csr` and converted to `jds`");
    let run = [
        "run",
        "y(i) = C(i,j) * x(j)",
        "-i",
        "C=c.npz",
        "-g",
        "x=dense:ones",
        "--json",
    ];
    let answer: Value = serde_json::from_str(&place.call(&run).answer()).expect("JSON");
    assert_eq!(
        answer["notes"][0],
        "`C` is walked as it is stored, in `jds`"
    );
    assert_eq!(
        answer["results"]["y"]["values"],
        serde_json::json!([6.0, 0.0, 4.0])
    );
    let run = [
        "run",
        "C(i,j) = A(i,j)",
        "-f",
        "C=jds",
        "-i",
        "A=a.mtx",
        "--json",
    ];
    let answer: Value = serde_json::from_str(&place.call(&run).answer()).expect("JSON");
    assert_eq!(answer["results"]["C"]["format"], "jds");
    let wrong = [
        "run",
        product,
        "-f",
        "A=fcoo(2)",
        "-i",
        "A=a.mtx",
        "-g",
        "x=dense:ones",
    ];
    place
        .call(&wrong)
        .refused(2, &["E0129", "modes 0 to 1", "has order 2 here"]);
    let wrong = [
        "run",
        product,
        "-f",
        "A=none.fmt",
        "-i",
        "A=a.mtx",
        "-g",
        "x=dense:ones",
    ];
    place.call(&wrong).refused(1, &["E0420", "none.fmt"]);
}

/// Writes a list as a NumPy file; `kind` is the type in its header.
fn write_list(place: &Place, name: &str, kind: &str, n: usize, bytes: impl Iterator<Item = u8>) {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({n},), }}");
    let padded = format!("{header:<117}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((padded.len() as u16).to_le_bytes());
    file.extend(padded.bytes().chain(bytes));
    std::fs::write(place.path().join(name), file).expect("a file");
}

fn write_integers(place: &Place, name: &str, values: &[i32]) {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    write_list(place, name, "<i4", values.len(), bytes);
}

fn write_numbers(place: &Place, name: &str, values: &[f64]) {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    write_list(place, name, "<f8", values.len(), bytes);
}

#[test]
fn jagged_diagonals_are_multiplied_through_their_description() {
    // 1 . 2 .
    // . 3 . 4
    // 5 . 6 .
    let place = Place::new();
    write_integers(&place, "perm.npy", &[1, 0, 2]);
    write_integers(&place, "ptr.npy", &[0, 3, 6]);
    write_integers(&place, "col.npy", &[1, 0, 0, 3, 2, 2]);
    write_numbers(&place, "A.npy", &[3.0, 1.0, 5.0, 4.0, 2.0, 6.0]);
    write_numbers(&place, "x.npy", &[1.0, 10.0, 100.0, 1000.0]);
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples");
    let operand = format!("A={samples}/jds.fmt");
    let words = |perm: &'static str| {
        let mut words = vec!["compute", "y(i) = A(i,j) * x(j)", "-f", "OPERAND", "--run"];
        words.extend(["-i", perm, "-i", "A_ptr=ptr.npy", "-i", "A_col=col.npy"]);
        words.extend(["-i", "A=A.npy", "-i", "x=x.npy", "-o", "y=y.tns"]);
        words
    };
    let call = |perm: &'static str| {
        let mut words = words(perm);
        words[3] = &operand;
        place.call(&words)
    };
    call("A_perm=perm.npy").answer();
    let y = place.read("y.tns");
    assert_eq!(y, "1 201.0\n2 4030.0\n3 605.0\n");
    // In index arrays as wide as asked for, and of no others.
    let typed = |of: &'static str| {
        let mut words = words("A_perm=perm.npy");
        words[3] = &operand;
        words.extend(["-t", "A_col=i64", "-t", of, "--emit", "computation"]);
        place.call(&words)
    };
    let text = typed("A_ptr=i64").answer();
    assert!(
        text.contains("A_perm : i32[Ni], A_ptr : i64[A_ND + 1], A_col : i64"),
        "{text}"
    );
    assert_eq!(place.read("y.tns"), y);
    typed("A_prt=i64").refused(2, &["E0207", "A_prt", "did you mean `A_ptr`?"]);
    // The extents of arrays say the parameters; what is said has to agree with them.
    let mut other = words("A_perm=perm.npy");
    other[3] = &operand;
    other.extend(["-d", "A_ND=3"]);
    place
        .call(&other)
        .refused(1, &["E0518", "`A_ptr` is i32[4] here"]);
    let bare = ["compute", "y(i) = A(i,j) * x(j)", "-f", &operand, "--run"];
    // Data come first, since their extents say the parameters.
    let all = "say `-i A_perm=FILE -i A_ptr=FILE -i A_col=FILE -i A=FILE -i x=FILE`";
    place.call(&bare).refused(1, &["E0518", all]);
    // No permutation: what loops trust is checked.
    write_integers(&place, "wrong.npy", &[1, 0, 1]);
    call("A_perm=wrong.npy").refused(1, &["A_perm", "injective"]);
}

#[test]
fn arrays_as_long_as_they_say_of_themselves_are_refused() {
    let place = Place::new();
    let csr = place
        .call(&["formats", "csr", "--emit", "relation"])
        .answer();
    // `function crd1 : {[q] : 0 <= q < pos1(size0)} -> …`
    let (before, crd) = csr.split_once("function crd1 :").expect("an array");
    let (domain, range) = crd.split_once("->").expect("a function");
    let (_, of) = domain.split_once('[').expect("a tuple");
    let (variable, _) = of.split_once(']').expect("a tuple");
    let own = format!("{{[{variable}] : 0 <= {variable} < pos1({variable})}}");
    place.write(
        "own.fmt",
        &format!("{before}function crd1 : {own} ->{range}"),
    );
    let call = [
        "convert", "--from", "csr", "--to", "own.fmt", "--emit", "cases",
    ];
    place.call(&call).refused(1, &["error["]);
}

#[test]
fn formats_with_other_fills_are_a_fault_of_the_call() {
    let place = Place::new();
    let hilbert = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/hilbert.fmt");
    let call = [
        "convert",
        "--from",
        "csr, fill 1",
        "--to",
        hilbert,
        "--emit",
        "cases",
    ];
    place
        .call(&call)
        .refused(2, &["error[E0218]", "named here"]);
}

/// Some entries are written by one statement, the others by another: no certificate names the tuple of each.
#[test]
fn assemblies_may_write_values_in_parts() {
    let place = Place::new();
    let sell = place.call(&["formats", "sell(2, 4)"]).answer();
    let at = sell.find("  values: B(").expect("the last statement");
    let values = &sell[at..];
    let domain = "{[n] : 0 <= n < NZ}";
    assert!(values.contains(domain), "{values}");
    let first = values.replace(domain, "{[n] : 0 <= n < NZ && n < 1}");
    let first = first.trim_end().trim_end_matches('}').trim_end();
    let others = values.replace(domain, "{[n] : 1 <= n < NZ}");
    let others = others
        .replace("values:", "others:")
        .replace("at [13, n]", "at [14, n]");
    place.write("parts.fmt", &format!("{}{first}\n\n{others}", &sell[..at]));
    for stage in ["cases", "certificate", "loop"] {
        let call = [
            "convert",
            "--from",
            "csr",
            "--to",
            "parts.fmt",
            "--emit",
            stage,
        ];
        assert!(!place.call(&call).answer().is_empty());
    }
}
