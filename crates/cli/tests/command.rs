//! The program as users call it: exit codes, and what is printed.
//!
//! Every test runs the real binary in a folder of its own, with a cache of its
//! own where it compiles kernels.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder to call the program in.
struct Place {
    folder: TempDir,
}

/// What a call did.
struct Done {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).expect(name);
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect(name)
    }

    /// The names of files, hidden ones included, but for the cache.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder");
        let mut names: Vec<String> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .filter(|name| name != "cache")
            .collect();
        names.sort();
        names
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sparsec"));
        command
            .args(words)
            .current_dir(self.path())
            .env("SPARSEC_CACHE_DIR", self.path().join("cache"))
            .env_remove("NO_COLOR")
            .stdin(Stdio::null());
        command
    }

    fn call(&self, words: &[&str]) -> Done {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(words).output().expect("the program");
        Done {
            code: status.code(),
            stdout: String::from_utf8(stdout).expect("UTF-8"),
            stderr: String::from_utf8(stderr).expect("UTF-8"),
        }
    }
}

impl Done {
    /// The call went well; what it printed.
    #[track_caller]
    fn answer(self) -> String {
        assert_eq!(
            (self.code, self.stderr.as_str()),
            (Some(0), ""),
            "{}",
            self.stdout
        );
        self.stdout
    }

    /// The call failed with this exit code, and said all of this.
    #[track_caller]
    fn refused(self, code: i32, texts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}", self.stderr);
        for text in texts {
            assert!(
                self.stderr.contains(text),
                "`{text}` is not in\n{}",
                self.stderr
            );
        }
        assert_eq!(self.stdout, "");
    }
}

const MATRIX: &str = "\
%%MatrixMarket matrix coordinate real general
3 4 4
1 1 2
1 4 1
3 2 3
3 3 -1
";

/// A product of a file's matrix and ones, by the interpreter.
const PRODUCT: [&str; 8] = [
    "run",
    "y(i) = A(i,j) * x(j)",
    "-i",
    "A=a.mtx",
    "-g",
    "x=dense:ones",
    "--backend",
    "interp",
];

fn with_matrix() -> Place {
    let place = Place::new();
    place.write("a.mtx", MATRIX);
    place
}

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
fn results_without_a_file_are_printed() {
    let place = with_matrix();
    assert_eq!(
        place.call(&PRODUCT).answer(),
        "y: f64[3], dense, 3 stored\n"
    );
    let sum = ["run", "s = A(i,j)", "-i", "A=a.mtx", "--backend", "interp"];
    assert_eq!(place.call(&sum).answer(), "s = 5.0\n");
    let twice = "r(i) = A(i,j)\ns = r(i) * alpha";
    let words = [
        "run",
        twice,
        "-i",
        "A=a.mtx",
        "-g",
        "alpha=2",
        "--backend",
        "interp",
    ];
    assert_eq!(place.call(&words).answer(), "s = 10.0\n");
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
fn formats_explain_and_cache_answer() {
    let place = Place::new();
    let formats = place.call(&["formats"]).answer();
    assert!(
        formats.contains("csr") && formats.contains("singleton"),
        "{formats}"
    );
    let value: Value =
        serde_json::from_str(&place.call(&["formats", "--json"]).answer()).expect("JSON");
    assert_eq!(value["presets"][1]["name"], "csr");
    let explained = place.call(&["explain", "e0203"]).answer();
    assert!(explained.starts_with("E0203: "), "{explained}");
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
fn doctor_tries_every_backend() {
    let place = Place::new();
    let answer = place.call(&["doctor"]).answer();
    assert_eq!(answer.matches("works").count(), 2, "{answer}");
    let broken = place
        .command(&["doctor"])
        .env("SPARSEC_CC", "/no/such/cc")
        .output();
    let broken = broken.expect("the program");
    assert_eq!(broken.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&broken.stderr).contains("error[E0501]"));
}

#[test]
fn wrong_calls_end_with_2() {
    let place = with_matrix();
    let check = |words: &[&str], texts: &[&str]| place.call(words).refused(2, texts);
    check(&[], &["error[E0001]", "there is no command"]);
    check(&["rnu"], &["error[E0001]", "did you mean `run`?"]);
    check(&["run"], &["error[E0001]", "<EXPRESSION> is missing"]);
    check(
        &["run", "s = 1", "--foramt", "A=csr"],
        &["error[E0001]", "did you mean `--format`?"],
    );
    check(&["explain", "E0299"], &["error[E0007]", "E0299"]);
    let product = |more: &[&'static str]| [&PRODUCT[..6], more].concat();
    check(
        &product(&["-f", "csr"]),
        &["error[E0002]", "of which tensor?"],
    );
    check(
        &product(&["-g", "A=dense:ones"]),
        &["error[E0003]", "`-i` and `-g`"],
    );
    check(
        &product(&["-f", "A=csr", "-f", "A=csc"]),
        &["error[E0003]", "twice"],
    );
    check(
        &product(&["--backend", "cuda"]),
        &["error[E0004]", "one of auto, c, interp"],
    );
    check(
        &product(&["--threads", "0"]),
        &["error[E0004]", "--threads"],
    );
    check(
        &product(&["-t", "x=f46"]),
        &["error[E0004]", "did you mean `f64`?"],
    );
    check(
        &product(&["-d", "j=-1"]),
        &["error[E0004]", "`-1` is no extent"],
    );
    check(
        &product(&["-o", "x=x.tns"]),
        &["error[E0005]", "is not computed"],
    );
    check(
        &product(&["-i", "y=a.mtx"]),
        &["error[E0005]", "is computed"],
    );
    let sums = "r(i) = A(i,j); s(j) = A(i,j)";
    let twice = [
        "run", sums, "-i", "A=a.mtx", "-o", "r=o.tns", "-o", "s=o.tns",
    ];
    check(&twice, &["error[E0006]", "the same file"]);
    assert_eq!(place.files(), ["a.mtx"]);
}

#[test]
fn wrong_programs_and_data_end_with_1() {
    let place = with_matrix();
    place.write("cut.mtx", &MATRIX[..MATRIX.len() - 7]);
    place.write("word.mtx", &MATRIX.replace("3 2 3", "3 2 three"));
    place.write("far.mtx", &MATRIX.replace("3 2 3", "3 5 3"));
    place.write("cube.tns", "1 1 1 2\n");
    place.write("cut.mtx.gz", "not gzip at all");
    std::fs::create_dir(place.path().join("folder.tns")).expect("a folder");
    let check = |words: &[&str], texts: &[&str]| place.call(words).refused(1, texts);
    let file = |name: &'static str| {
        let mut words = PRODUCT.to_vec();
        words[3] = name;
        words
    };
    check(&file("A=none.mtx"), &["error[E0420]", "named here"]);
    check(&file("A=a.csv"), &["error[E0421]", "named here"]);
    check(&file("A=cut.mtx"), &["error[E0425]", "cut.mtx"]);
    check(&file("A=word.mtx"), &["error[E0424]", "word.mtx:5:5"]);
    check(&file("A=far.mtx"), &["error[E0401]", "far.mtx:5:3"]);
    check(&file("A=cut.mtx.gz"), &["error[E0426]"]);
    check(
        &file("A=cube.tns"),
        &["error[E0202]", "order 3", "cube.tns"],
    );
    check(&file("B=a.mtx"), &["error[E0207]", "no tensor `B`"]);
    let product = |more: &[&'static str]| [&PRODUCT[..], more].concat();
    check(
        &product(&["-f", "a=csr"]),
        &["error[E0207]", "did you mean `A`?"],
    );
    check(&product(&["-d", "k=3"]), &["error[E0207]", "one of i, j"]);
    check(&product(&["-f", "A=crs"]), &["error[E0110]", "-f A:1:1"]);
    check(
        &product(&["-f", "x=csr"]),
        &["error[E0115]", "has order 1 here"],
    );
    check(
        &product(&["-o", "y=no/such/y.tns"]),
        &["error[E0427]", "no folder"],
    );
    check(
        &product(&["-o", "y=folder.tns"]),
        &["error[E0427]", "is a directory"],
    );
    check(
        &["run", "y(i) = A(i,j) * x(j)", "-i", "A=a.mtx"],
        &["error[E0314]", "`x`"],
    );
    check(
        &["run", "y(i) = x(i)", "-g", "x=dense:ones"],
        &["error[E0313]", "-d i=100"],
    );
    check(
        &["run", "y(i) = foo(x(i))", "-d", "i=3", "-g", "x=1"],
        &["error[E0212]"],
    );
    check(
        &["run", "y(i) = = x(i)"],
        &["error[E0101]", "expression:1:8"],
    );
    let clash = [
        "run",
        "y(i) = A(i,j) * B(i,j)",
        "-i",
        "A=a.mtx",
        "-i",
        "B=b.mtx",
    ];
    place.write("b.mtx", &MATRIX.replace("3 4 4", "3 5 4"));
    check(&clash, &["error[E0203]", "`A`", "`B`"]);
}

#[test]
fn nothing_is_half_written() {
    let place = with_matrix();
    place.write("r.tns", "old\n");
    std::fs::create_dir(place.path().join("s.tns")).expect("a folder");
    let sums = "r(i) = A(i,j); s(j) = A(i,j)";
    let mut words = vec!["run", sums, "-i", "A=a.mtx", "--backend", "interp"];
    words.extend(["-o", "r=r.tns", "-o", "s=s.tns"]);
    place.call(&words).refused(1, &["error[E0427]"]);
    assert_eq!(place.read("r.tns"), "old\n");
    assert_eq!(place.files(), ["a.mtx", "r.tns", "s.tns"]);
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let place = Place::new();
    let mut child = place
        .command(&["formats"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
    if let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") {
        let output = place
            .command(&["formats"])
            .stdout(full)
            .output()
            .expect("the program");
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains("error[E0008]"));
    }
}
