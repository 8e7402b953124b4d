//! What is wrong with a call, a program or its data: exit code, text, and that
//! nothing is left behind.

use std::process::Stdio;

use crate::place::{MATRIX, PRODUCT, Place, with_matrix};

#[test]
fn wrong_calls_end_with_2() {
    let place = with_matrix();
    let check = |words: &[&str], texts: &[&str]| place.call(words).refused(2, texts);
    check(&["rnu"], &["error[E0001]", "did you mean `run`?"]);
    check(
        &["run"],
        &[
            "error[E0001]",
            "EXPRESSION (index notation, such as",
            "`sparsec help run`",
        ],
    );
    check(
        &["convert", "a.mtx"],
        &[
            "OUT (the file to write) is missing",
            "`sparsec help convert`",
        ],
    );
    check(
        &["cache"],
        &["`sparsec cache` takes one of path, stat, clear"],
    );
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
        &["error[E0004]", "one of auto, c, cranelift, interp"],
    );
    check(
        &product(&["--threads", "0"]),
        &["error[E0004]", "--threads"],
    );
    check(
        &product(&["-t", "x=f644"]),
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
    assert_eq!(place.files(), ["a.mtx"]);
}

/// The exit code follows from the place of the error: here it is the text of
/// an option, in whatever language that is.
#[test]
fn wrong_options_are_wrong_calls() {
    let place = with_matrix();
    let product = |more: &[&'static str]| [&PRODUCT[..6], more].concat();
    let check = |more: &[&'static str], texts: &[&str]| {
        place.call(&product(more)).refused(2, texts);
    };
    let ones = |more: &[&'static str], texts: &[&str]| {
        let words = [&["run", "s = x(i)", "-d", "i=3"], more].concat();
        place.call(&words).refused(2, texts);
    };
    check(&["-i", "B=a.mtx"], &["error[E0207]", "no tensor `B`"]);
    check(&["-f", "a=csr"], &["error[E0207]", "did you mean `A`?"]);
    check(&["-d", "k=3"], &["error[E0207]", "one of i, j"]);
    check(&["-d", "j"], &["error[E0002]", "of which index variable?"]);
    check(&["-f", "A=crs"], &["error[E0110]", "format of A:1:1"]);
    check(
        &["-f", "A=csr, pos = 9"],
        &["error[E0124]", "format of A:1:12"],
    );
    ones(&["-g", "x=dense:one"], &["error[E0409]", "`dense:ones`"]);
    ones(
        &["-g", "x=random(nnz=-1)"],
        &["error[E0410]", "generator of x:1:12"],
    );
    check(&["-s", "reorder(i, k)"], &["error[E0310]", "schedule:1:12"]);
    check(&["-o", "y=y.csv"], &["error[E0421]", "named here"]);
    check(&["-o", "y=y.rb"], &["error[E0428]", "read only"]);
    ones(&["-f", "x=csr"], &["error[E0115]", "has order 1 here"]);
    place
        .call(&["run", "s = A(i,j)", "-i", "A=a.mtxx"])
        .refused(2, &["error[E0421]", "did you mean `.mtx`?"]);
    place
        .call(&["run", "y(i) = x(i)", "-g", "x=dense:ones"])
        .refused(2, &["error[E0313]", "-d i=100"]);
    place
        .call(&["compile", "y(i) = x(i)", "--emit", "loop-after=hoits"])
        .refused(2, &["error[E0315]", "did you mean `hoist`?"]);
    assert_eq!(place.files(), ["a.mtx"]);
}

#[test]
fn results_replace_neither_each_other_nor_operands() {
    let place = with_matrix();
    std::fs::create_dir(place.path().join("d")).expect("a folder");
    std::fs::hard_link(place.path().join("a.mtx"), place.path().join("hard.mtx")).expect("a link");
    std::os::unix::fs::symlink("a.mtx", place.path().join("soft.mtx")).expect("a link");
    let sums = "r(i) = A(i,j); s(j) = A(i,j)";
    for other in ["s=o.tns", "s=./o.tns", "s=d/../o.tns"] {
        let words = ["run", sums, "-i", "A=a.mtx", "-o", "r=o.tns", "-o", other];
        place
            .call(&words)
            .refused(2, &["error[E0006]", "`r` and `s` go to the same file"]);
    }
    for same in ["B=a.mtx", "B=d/../a.mtx", "B=hard.mtx", "B=soft.mtx"] {
        let words = ["run", "B(i,j) = 2 * A(i,j)", "-i", "A=a.mtx", "-o", same];
        place
            .call(&words)
            .refused(2, &["error[E0009]", "that `A` is read from"]);
    }
    assert_eq!(place.read("a.mtx"), MATRIX);
}

#[test]
fn an_unusable_cache_is_an_error() {
    let place = with_matrix();
    for what in ["path", "stat", "clear"] {
        let output = place
            .command(&["cache", what])
            .env("SPARSEC_CACHE_DIR", place.path().join("a.mtx"))
            .output()
            .expect("the program");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(output.stdout.is_empty());
        for part in ["error[E0503]", "a.mtx", "SPARSEC_CACHE_DIR"] {
            assert!(text.contains(part), "{text}");
        }
    }
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
    check(
        &["compute", "none.spf"],
        &["error[E0420]", "command line:1:17"],
    );
    check(&["formats", "none.fmt"], &["error[E0420]", "named here"]);
    check(&file("A=cut.mtx"), &["error[E0425]", "cut.mtx"]);
    check(&file("A=word.mtx"), &["error[E0424]", "word.mtx:5:5"]);
    check(&file("A=far.mtx"), &["error[E0401]", "far.mtx:5:3"]);
    check(&file("A=cut.mtx.gz"), &["error[E0426]"]);
    check(
        &file("A=cube.tns"),
        &["error[E0202]", "order 3", "cube.tns"],
    );
    let given = [&file("A=cube.tns")[..], &["-d", "i=4"]].concat();
    check(&given, &["error[E0202]", "used with 2 indices", "cube.tns"]);
    let product = |more: &[&'static str]| [&PRODUCT[..], more].concat();
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

#[test]
fn a_limit_on_file_sizes_is_an_error() {
    let place = Place::new();
    let lines = (1..=20_000).map(|i| format!("{i} {i}.5\n"));
    place.write("x.tns", &lines.collect::<String>());
    for output in ["y.npz", "y.tns.gz", "y.h5"] {
        let done = place.call_limited(8, &["convert", "x.tns", output]);
        // In our words alone, whatever libraries say.
        assert!(done.stderr.starts_with("error[E0427]"), "{}", done.stderr);
        done.refused(1, &["error[E0427]: cannot write", "File too large"]);
    }
    assert_eq!(place.files(), ["x.tns"]);
}
