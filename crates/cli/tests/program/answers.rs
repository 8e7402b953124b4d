//! What each command answers.

use serde_json::Value;

use crate::place::{PRODUCT, Place, with_matrix};

#[test]
fn run_reads_computes_and_writes() {
    let place = with_matrix();
    for backend in ["c", "interp"] {
        let mut words = PRODUCT.to_vec();
        words[7] = backend;
        words.extend(["-f", "A=csr", "-o", "y=y.tns", "--check"]);
        let answer = place.call(&words).answer();
        assert_eq!(answer, "the reference evaluator agrees\n");
        assert_eq!(place.read("y.tns"), "1 3.0\n2 0.0\n3 2.0\n");
    }
}

#[test]
fn every_computed_tensor_can_be_written() {
    let place = with_matrix();
    let twice = "r(i) = A(i,j)\ns = r(i) * alpha";
    let mut words = vec![
        "run",
        twice,
        "-i",
        "A=a.mtx",
        "-g",
        "alpha=2",
        "--backend",
        "interp",
    ];
    words.extend(["-o", "r=r.tns", "-o", "s=s.tns.gz"]);
    assert_eq!(place.call(&words).answer(), "");
    assert_eq!(place.read("r.tns"), "1 3.0\n2 0.0\n3 2.0\n");
    assert_eq!(place.files(), ["a.mtx", "r.tns", "s.tns.gz"]);
}

#[test]
fn time_has_a_line_for_each_part() {
    let place = with_matrix();
    let mut words = PRODUCT.to_vec();
    words.extend(["-o", "y=y.tns", "--time", "--repeat", "3", "--time-passes"]);
    let answer = place.call(&words).answer();
    for part in [
        "read", "plan", "compile", "assemble", "compute", "write", "hoist",
    ] {
        assert!(
            answer.lines().any(|line| line.starts_with(part)),
            "{answer}"
        );
    }
    assert!(
        answer.contains("best of 3") && answer.contains("interpreted"),
        "{answer}"
    );
}

#[test]
fn extents_of_files_that_state_none_are_given() {
    let place = Place::new();
    place.write("b.tns", "1 2 3 1.5\n2 1 1 1\n");
    let expression = "y(i) = B(i,j,k) * x(k)";
    let words = [
        "run",
        expression,
        "-i",
        "B=b.tns",
        "-g",
        "x=dense:iota",
        "-d",
        "i=5",
    ];
    let answer = place
        .call(&[&words[..], &["--backend", "interp"]].concat())
        .answer();
    assert!(answer.starts_with("y: f64[5]"), "{answer}");
    let small = [&words[..7], &["i=1"]].concat();
    place
        .call(&small)
        .refused(1, &["error[E0401]", "b.tns:2:1"]);
}

#[test]
fn json_holds_results_and_diagnostics() {
    let place = with_matrix();
    let sum = [
        "run",
        "s = A(i,j)",
        "-i",
        "A=a.mtx",
        "--backend",
        "interp",
        "--json",
        "--time",
    ];
    let value: Value = serde_json::from_str(&place.call(&sum).answer()).expect("JSON");
    assert_eq!(value["results"]["s"]["value"], 5.0);
    assert!(value["time"]["compute"].as_f64().is_some());
    for words in [
        &["run", "s = A(i)", "-i", "A=a.mtx", "--json"][..],
        &["--json", "explain", "E9999"],
        &["rnu", "--json"],
    ] {
        let done = place.call(words);
        let value: Value = serde_json::from_str(&done.stderr).expect(&done.stderr);
        for key in ["code", "message", "labels", "notes", "help"] {
            assert!(value.get(key).is_some(), "{key} in {value}");
        }
        assert!(value["labels"][0]["column"].as_u64().is_some(), "{value}");
    }
}

#[test]
fn plans_are_explained() {
    let place = Place::new();
    let words = |json: &'static str| {
        let mut words = vec!["run", "C(i,j) = A(i,k) * B(k,j)", "--explain"];
        words.extend([
            "-f", "A=csr", "-f", "B=csc", "-d", "i=300", "-d", "j=300", "-d", "k=300",
        ]);
        words.extend(["-g", "A=random(nnz=3000)", "-g", "B=random(nnz=3000)"]);
        words.extend((!json.is_empty()).then_some(json));
        words
    };
    let text = place.call(&words("")).answer();
    for sentence in [
        "The planner chose the cheapest of ",
        " for conversions",
        "Rejected:\n",
        " more for conversions",
        "C has 90000 entries, where about ",
        "\nConverting took ",
    ] {
        assert!(text.contains(sentence), "`{sentence}` in {text}");
    }
    assert!(!text.contains("It assumes"), "everything is known: {text}");
    let value: Value = serde_json::from_str(&place.call(&words("--json")).answer()).expect("JSON");
    let statement = &value["explain"]["statements"][0];
    assert_eq!(statement["actual"]["entries"], 90000, "{value}");
    // Merging each row with each column would come to nothing almost always.
    let chosen = statement["considered"][0]["commands"]
        .as_str()
        .expect("commands");
    assert!(chosen.contains("convert("), "{chosen}");
    assert_eq!(statement["considered"][0]["rejected"], Value::Null);
    let against = statement["considered"][1]["rejected"].as_str();
    assert!(
        against.is_some_and(|text| text.contains(" against ")),
        "{value}"
    );
    // The chosen one is the cheapest.
    let considered = statement["considered"].as_array().expect("an array");
    assert!(considered.len() > 1, "{value}");
    let takes = |at: usize| considered[at]["nanoseconds"].as_f64().expect("a time");
    assert!(
        (1..considered.len()).all(|at| takes(0) <= takes(at)),
        "{value}"
    );
}

#[test]
fn formats_explain_and_cache_answer() {
    let place = Place::new();
    let formats = place.call(&["formats"]).answer();
    assert!(
        formats.contains("csr") && formats.contains("singleton"),
        "{formats}"
    );
    let wide = place.call(&["formats", "bsr(1, 1, 2, 721)", "--order", "4"]);
    assert!(
        wide.answer()
            .contains("not drawn: 7 entries take 10094 places")
    );
    let value: Value =
        serde_json::from_str(&place.call(&["formats", "--json"]).answer()).expect("JSON");
    let presets = value["presets"].as_array().expect("an array");
    let way = |name: &str, side: &str| {
        let preset = presets.iter().find(|preset| preset["name"] == name);
        preset.expect("a preset")[side].clone()
    };
    assert_eq!(way("csr", "operand"), "native");
    assert_eq!(way("bsr", "result"), "by its levels");
    assert_eq!(way("dia", "result"), "converted from dcsr");
    assert_eq!(way("alto", "operand"), "by its levels");
    assert_eq!(way("msr", "operand"), "by its pieces");
    let explained = place.call(&["explain", "e0203"]).answer();
    assert!(explained.starts_with("E0203: "), "{explained}");
    assert_eq!(place.call(&["explain", "203"]).answer(), explained);
    let path = place.call(&["cache", "path"]).answer();
    assert!(path.trim_end().ends_with("/cache"), "{path}");
    assert!(
        place
            .call(&["cache", "stat"])
            .answer()
            .starts_with("0 kernels")
    );
    assert!(
        place
            .call(&["cache", "clear"])
            .answer()
            .starts_with("removed 0 kernels")
    );
}

#[test]
fn bench_lists_what_it_measures() {
    let place = Place::new();
    let text = place.call(&["bench", "--list"]).answer();
    assert!(
        text.contains("\nspmv/band           y(i) = A(i,j) * x(j)\n"),
        "{text}"
    );
    let json = place.call(&["bench", "--list", "--json"]).answer();
    let value: Value = serde_json::from_str(&json).expect("JSON");
    let listed = value["benchmarks"].as_array().expect("an array");
    assert_eq!(listed.len(), text.lines().count());
    assert_eq!(listed[0]["name"], "kernels");
}

#[test]
fn bench_refuses_what_it_does_not_measure() {
    let place = Place::new();
    let refused = |words: &[&str], texts: &[&str]| place.call(words).refused(2, texts);
    refused(
        &["bench", "spvm"],
        &["error[E0004]", "did you mean `spmv`?", "command line:1:15"],
    );
    refused(
        &["bench", "kernel"],
        &["error[E0004]", "did you mean `kernels`?"],
    );
    refused(
        &["bench", "--size", "huge"],
        &["error[E0004]", "one of small, full"],
    );
    refused(
        &["bench", "--repeat", "0"],
        &["error[E0004]", "integer from 1"],
    );
}

#[test]
fn help_and_version_answer_in_json_too() {
    let place = Place::new();
    let value = |words: &[&str]| -> Value {
        serde_json::from_str(&place.call(words).answer()).expect("JSON")
    };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(value(&["--version", "--json"])["version"], version);
    for words in [&["--help", "--json"][..], &["--json", "help", "run"]] {
        let help = &value(words)["help"];
        assert!(help.as_str().is_some_and(|text| text.contains("--json")));
    }
    assert!(place.call(&["--version"]).answer().contains(version));
}

#[test]
fn numbers_generate_constants() {
    let place = Place::new();
    for (number, expect) in [
        (".5", "s = 1.5"),
        ("+2", "s = 6.0"),
        ("-1e3", "s = -3000.0"),
        ("inf", "s = inf"),
        ("-inf", "s = -inf"),
        ("nan", "s = NaN"),
    ] {
        let given = format!("x={number}");
        let words = ["run", "s = x(i)", "-d", "i=3", "-g", &given];
        let answer = place
            .call(&[&words[..], &["--backend", "interp"]].concat())
            .answer();
        assert_eq!(answer.to_lowercase(), format!("{expect}\n").to_lowercase());
    }
}
#[test]
fn index_arrays_may_be_narrow() {
    let place = with_matrix();
    for backend in ["interp", "c"] {
        let words = [
            "run",
            "B(i,j) = A(i,j) * 2",
            "-i",
            "A=a.mtx",
            "-f",
            "A=csr, pos = 8, crd = 16",
            "-f",
            "B=dcsr, pos = 16, crd = 8",
            "--check",
            "-o",
            "B=b.mtx",
            "--backend",
            backend,
        ];
        place.call(&words).answer();
        assert!(place.read("b.mtx").contains("3 2 6"), "{backend}");
    }
}

#[test]
fn huge_extents_are_checked() {
    let place = Place::new();
    place.write(
        "x.tns",
        "1 2.0\n8 3.0\n549755813888 7.0\n1099511627776 5.0\n",
    );
    for program in [
        "y(i) = x(i+1) - x(i)",
        "y(i) = x(i(1:549755813888:2))",
        "Y(i,j) = x(i) * x(j)",
    ] {
        let words = ["run", program, "-i", "x=x.tns", "-f", "x=csf", "--check"];
        let answer = place.call(&[&words[..], &["--backend", "interp"]].concat());
        let answer = answer.answer();
        assert!(
            answer.contains("the reference evaluator agrees"),
            "{answer}"
        );
    }
}

/// On any machine, no number of threads stands in the way of an answer.
#[test]
fn more_threads_than_processors_are_noted() {
    let place = with_matrix();
    let words = [
        "run",
        "s = A(i,j)",
        "-i",
        "A=a.mtx",
        "--backend",
        "interp",
        "--threads",
    ];
    place.call(&[&words[..], &["1"]].concat()).answer();
    place
        .call(&[&words[..], &["1024"]].concat())
        .noted("1024 threads are asked for");
    let json = place.call(&[&words[..], &["1024", "--json"]].concat());
    let note: Value = serde_json::from_str(json.stderr.trim()).expect(&json.stderr);
    assert_eq!(note["severity"], "note", "{note}");
}

/// Functions, those of the language and those of the call, on sparse operands.
#[test]
fn functions_are_called_in_the_call() {
    let place = with_matrix();
    for (expression, format) in [
        ("C(i,j) = abs(A(i,j)) + max(A(i,j), -A(i,j))", "csr"),
        ("C(i,j) = select(A(i,j) > 1, relu(A(i,j) - 1), 0)", "csc"),
        ("C(i,j) = soft(A(i,j)) * sqrt(abs(A(i,j)))", "coo"),
    ] {
        for backend in ["interp", "c"] {
            let result = format!("C={format}");
            let answer = place.call(&[
                "run",
                expression,
                "--define",
                "soft(x) = x / (1 + abs(x))",
                "-i",
                "A=a.mtx",
                "-f",
                &result,
                "--check",
                "--backend",
                backend,
            ]);
            assert!(answer.answer().contains("agrees"), "{expression}");
        }
    }
}

#[test]
fn a_cache_that_cannot_be_kept_is_noted_once() {
    let place = with_matrix();
    // A file where the cache should have its folder.
    place.write("cache", "");
    let words: Vec<&str> = PRODUCT.iter().copied().take(6).collect();
    let done = place.call(&words);
    let notes = done
        .stderr
        .matches("kernels are not kept for later runs")
        .count();
    assert_eq!(notes, 1, "{}", done.stderr);
    done.noted("note: ");
}
