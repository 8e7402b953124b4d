//! Where memory ends: a diagnostic, whatever ran out of it and whenever.

use crate::place::{Place, with_matrix};

/// A product with many more entries than its operands.
const SQUARE: [&str; 18] = [
    "run",
    "C(i,j) = A(i,k) * B(k,j)",
    "-g",
    "A=random(nnz=15000, values=ones)",
    "-g",
    "B=random(nnz=15000, values=ones)",
    "-f",
    "C=csr",
    "-d",
    "i=2000",
    "-d",
    "j=2000",
    "-d",
    "k=200",
    "-o",
    "C=c.npz",
    "--threads",
    "1",
];

fn square(backend: &'static str) -> Vec<&'static str> {
    [&SQUARE[..], &["--backend", backend]].concat()
}

/// At some bounds a kernel fails to grow its result, at others reading, checking
/// or writing fails; at none does the process abort.
#[test]
fn running_out_of_addresses_is_a_diagnostic() {
    let place = Place::new();
    // The kernel is compiled where there is memory.
    place.call(&square("c")).answer();
    std::fs::remove_file(place.path().join("c.npz")).expect("the result");
    // Below this there is no room for the program itself, and what it takes beside
    // tensors is a few megabytes more.
    let is_enough = |megabytes: &u32| {
        let smallest = ["run", "s = 1 + 2", "--backend", "c", "--threads", "1"];
        place.call_with_addresses(megabytes * 1024, &smallest).code == Some(0)
    };
    place.call(&["run", "s = 1 + 2", "--backend", "c"]).answer();
    let starts = (16..256).step_by(4).find(is_enough);
    let least = starts.expect("it starts") + 8;
    for backend in ["c", "cranelift", "interp"] {
        let mut grew = false;
        for megabytes in (least..least + 50).step_by(8) {
            let done = place.call_with_addresses(megabytes * 1024, &square(backend));
            let said = format!("{backend}, {megabytes} MB: {:?} {}", done.code, done.stderr);
            match done.code {
                Some(0) => std::fs::remove_file(place.path().join("c.npz")).expect(&said),
                Some(1) => assert!(done.stderr.contains("error[E"), "{said}"),
                _ => panic!("{said}"),
            }
            grew |= done
                .stderr
                .contains("error[E0514]: there is no memory for the result");
            assert_eq!(place.files(), [""; 0], "{said}");
        }
        assert!(grew, "{backend}: no bound is met while the result grows");
    }
}

/// Debug builds have the largest frames.
#[test]
fn the_deepest_expression_needs_no_large_stack() {
    let numbers: Vec<String> = (0..500).map(|n| n.to_string()).collect();
    let text = format!("s = {} - x(i)", numbers.join(" - "));
    let words = [
        "run",
        &text,
        "-g",
        "x=1",
        "-d",
        "i=1",
        "--backend",
        "interp",
    ];
    let answer = Place::new().call_with_stack(2048, &words).answer();
    assert_eq!(answer, "s = -124751.0\n");
}

/// With operands that take most of the memory, the result gets advice for the memory that the
/// system has, and none about a limit that nobody set.
#[test]
fn a_limit_is_named_only_where_one_was_given() {
    let place = Place::new();
    let words = ["run", "y(i) = A(i,j) * x(j)", "-g", "A=random(nnz=1000)"];
    let sizes = [
        "-g",
        "x=1",
        "-d",
        "i=200000000",
        "-d",
        "j=1000",
        "-f",
        "A=csr",
    ];
    let words = [&words[..], &sizes].concat();
    let texts = ["error[E0508]: `y` would take 1.6 GB"];
    let free = place.call_with_addresses(1_500_000, &words);
    free.refused(1, &[texts[0], "run it where more memory is free"]);
    let limited = place.call(&[&words[..], &["--memory", "1G"]].concat());
    limited.refused(1, &[texts[0], "allow more with `--memory`"]);
}

/// Where the system gives less than it says, a format is proposed only if it is smaller than
/// the one that was too large.
#[test]
fn no_larger_format_is_proposed() {
    let place = Place::new();
    let refused = |format: &str, megabytes: u32| {
        let words = ["run", "s = A(i,j)", "-g", "A=random(nnz=500000)"];
        let extents = ["-d", "i=50000", "-d", "j=50000"];
        let how = ["-f", format, "--backend", "interp", "--threads", "1"];
        let words = [&words[..], &extents, &how].concat();
        let done = place.call_with_addresses(megabytes * 1024, &words);
        let is_refused = done.stderr.contains("error[E0407]");
        (done.code != Some(0)).then(|| is_refused.then_some(done.stderr))
    };
    let none = "none of 7 other formats is smaller: give fewer entries, or run it where";
    let coo = ["`-f A=csr`", "none of 7 other formats fits"];
    for (format, texts) in [("A=csr", &[none][..]), ("A=coo", &coo)] {
        // As far as it works; below that are bounds at which the program does not start.
        let messages = (16..400)
            .step_by(4)
            .map_while(|megabytes| refused(format, megabytes));
        let messages: Vec<String> = messages.flatten().collect();
        for message in &messages {
            let is_true = texts.iter().any(|text| message.contains(text));
            assert!(is_true, "{message}");
        }
        assert!(
            !messages.is_empty(),
            "no bound is met while `{format}` is packed"
        );
    }
}

#[test]
fn what_is_too_large_is_estimated_first() {
    let place = with_matrix();
    let run = |more: &[&'static str]| {
        let words = [
            "run",
            "C(i,j) = A(i,k) * A(j,k)",
            "-i",
            "A=a.mtx",
            "-o",
            "C=c.tns",
        ];
        place.call(&[&words[..], more].concat())
    };
    run(&["-f", "C=dense", "--memory", "135"]).refused(
        1,
        &[
            "error[E0508]: `C` would take 72 bytes, and 71 bytes are left",
            "1 | C(i,j) = A(i,k) * A(j,k)\n  | ^ too large for memory",
            "--memory",
        ],
    );
    run(&["--memory", "lots"]).refused(2, &["error[E0004]", "`64G`"]);
    let huge = [
        "run",
        "C(i,j) = x(i) * y(j)",
        "-g",
        "x=1",
        "-g",
        "y=1",
        "-o",
        "C=c.tns",
    ];
    let extents = ["-d", "i=10000000", "-d", "j=10000000"];
    place
        .call(&[&huge[..], &extents].concat())
        .refused(1, &["error[E0508]: `C` would take 800.0 TB"]);
    assert_eq!(place.files(), ["a.mtx"]);
    run(&["-f", "C=dense", "--memory", "1M", "--backend", "interp"]).answer();
    assert_eq!(place.files(), ["a.mtx", "c.tns"]);
}

#[test]
fn operands_are_estimated_before_they_are_packed() {
    let place = with_matrix();
    let run = |more: &[&'static str]| {
        let words = [
            "run",
            "s = A(i,j) * 2",
            "-d",
            "i=5000000000",
            "-d",
            "j=7",
            "--memory",
            "1G",
        ];
        place.call(&[&words[..], more].concat())
    };
    run(&["-g", "A=random(nnz=50)"]).refused(
        1,
        &[
            "error[E0508]: `A` would take at least 20.0 GB, and 1.0 GB are left",
            "-f A=dcsr",
        ],
    );
    run(&["-g", "A=2"]).refused(1, &["error[E0508]: `A` would take 280.0 GB"]);
    run(&["-g", "A=random(nnz=50)", "-f", "A=bsr(2, 7)"]).refused(1, &["error[E0508]"]);
    let bits = "A=(i, j) -> (j : bitmap, i : bitmap)";
    run(&["-g", "A=random(nnz=50)", "-f", bits])
        .refused(1, &["error[E0508]: `A` would take 315.0 GB"]);
    // Entries are counted before they are made, and slots of rows before they are packed.
    let most = [
        "run",
        "y(i) = A(i,j)",
        "-d",
        "i=1099511627776",
        "-d",
        "j=1099511627776",
    ];
    for format in ["dcsr", "dia"].map(|name| format!("A={name}")) {
        for spec in ["A=band(width=3)", "A=identity", "A=random(density=0.5)"] {
            let words = [&most[..], &["-g", spec, "-f", &format]].concat();
            let help = "generate fewer entries, `-g 'A=random(nnz=1000)'`, or run it where";
            place
                .call(&words)
                .refused(1, &["error[E0508]: `A` would take", help]);
        }
    }
    let matrix = ["run", "y(i) = A(i,j)", "-i", "A=a.mtx", "--memory", "10M"];
    let padded = [&matrix[..], &["-f", "A=hyb(10000000)"]].concat();
    place
        .call(&padded)
        .refused(1, &["error[E0508]: `A` would take", "`-f A=csr`"]);
    // How far apart they are is known once they are sorted.
    run(&[
        "-g",
        "A=random(nnz=50)",
        "-f",
        "A=(i, j) -> (j : compressed, i : range)",
    ])
    .refused(1, &["error[E0407]", "`-f A=dcsr`"]);
    // A run takes as much memory, however long it is.
    let expression = "s = a(i) * 2 * b(i)";
    let formats = ["-f", "a=(i) -> (i : run_length)", "-f", "b=coo"];
    let filled = ["-g", "a=random(nnz=3)", "-g", "b=random(nnz=4)"];
    let bounds = [
        "-d",
        "i=5000000000",
        "--memory",
        "1M",
        "--backend",
        "interp",
    ];
    let words = [&["run", expression][..], &formats, &filled, &bounds];
    place.call(&words.concat()).answer();
    run(&["-g", "A=random(nnz=50)", "-f", "A=dcsr"]).answer();
    // What operands take is not there for results.
    let twice = [
        "run",
        "C(i,j) = 2 * A(i,j)",
        "-i",
        "A=a.mtx",
        "-f",
        "A=dense",
        "-f",
        "C=dense",
    ];
    for (memory, code) in [("71", 1), ("143", 1), ("1M", 0)] {
        let done = place.call(&[&twice[..], &["--memory", memory]].concat());
        assert_eq!(done.code, Some(code), "{memory}: {}", done.stderr);
    }
}

/// Nothing is packed for a minute before what stands beside it is refused.
#[test]
fn operands_and_results_are_compared_together() {
    let place = with_matrix();
    let run = |expression: &'static str, more: &[&'static str]| {
        let words = ["run", expression, "-d", "i=150000000", "-d", "j=7"];
        let limit = ["-g", "A=random(nnz=50)", "--memory", "1G"];
        place.call(&[&words[..], &limit, more].concat())
    };
    run("s = A(i,j) * B(i,j)", &["-g", "B=random(nnz=50)"]).refused(
        1,
        &[
            "would take at least 600.0 MB, and 1.0 GB are left",
            "all operands together take 1.2 GB",
        ],
    );
    run("y(i) = A(i,j) * x(j)", &["-g", "x=dense:ones"])
        .refused(1, &["error[E0508]: `y` would take 1.2 GB, and 400.0 MB"]);
}

/// A device has no end, and says so to nobody.
#[test]
fn what_has_no_end_is_read_as_far_as_memory_goes() {
    let place = Place::new();
    let call = ["run", "s = A(i,j)", "-i", "A=/dev/zero", "--memory", "1M"];
    place.call(&call).refused(
        1,
        &[
            "error[E0407]: `/dev/zero` gives more than the 1000000 bytes that it may take",
            "help: write it to a file",
        ],
    );
}
