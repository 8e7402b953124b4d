//! Computations over relations.

use crate::place::Place;

#[test]
fn relations_transforms_a_computation() {
    let place = Place::new();
    let text =
        "computation chain { parameters N given x : f64[N] temporary t : f64[N] out y : f64[N]
        s0: t(i) = 2 * x(i) over {[i] : 0 <= i < N}
        s1: y(i) = t(i) + 1 over {[i] : 0 <= i < N} }";
    place.write("chain.spf", text);
    let script = "fuse(s0, s1, 2)\nshrink(t, 0)\n";
    let words = [
        "relations",
        "chain.spf",
        "--script",
        "auto",
        "--emit",
        "script",
    ];
    assert_eq!(place.call(&words).answer(), script);

    place.write("chain.script", script);
    let words = ["relations", "chain.spf", "--script", "@chain.script"];
    let replayed = place.call(&words).answer();
    assert!(replayed.contains("s1: y(i) = t + 1"), "{replayed}");
    place.write("after.spf", &replayed);
    assert_eq!(place.call(&["relations", "after.spf"]).answer(), replayed);

    // The computation is at fault, or the call.
    let words = ["relations", "chain.spf", "--script", "shrink(t, 0)"];
    place
        .call(&words)
        .refused(1, &["error[E0809]", "by this command"]);
    let words = ["relations", "chain.spf", "--script", "shrin(t, 0)"];
    place.call(&words).refused(2, &["did you mean `shrink`"]);
    let words = ["relations", "chain.spf", "--emit", "svgg"];
    place.call(&words).refused(2, &["did you mean `svg`"]);
}

#[test]
fn faults_of_computations_have_a_place_and_a_way_out() {
    let place = Place::new();
    place.write(
        "sized.spf",
        "computation sized {
        parameters N
        function a : {[i] : 0 <= i < N} -> {[x] : 0 <= x}
        given a : i64[N]
        temporary M : i64
        out y : i64[M]
        s0: M max= a(i) over {[i] : 0 <= i < N} at [0, i]
        s1: y(j) = 7 over {[j] : 0 <= j < M} at [1, j] }",
    );
    place.write("few.tns", "1 2\n2 1\n");
    place.write("many.tns", "1 9000000000000000000\n2 1\n");
    let run = |file: &str| place.call(&["relations", "sized.spf", "--run", "-i", file]);
    assert_eq!(
        run("a=few.tns").answer(),
        "y: i64[2], dense, 2 stored\n[7 7]\n"
    );
    let texts = [
        "error[E0514]",
        "computed by this",
        "give smaller parameters or data",
    ];
    run("a=many.tns").refused(1, &texts);

    place.write(
        "outside.spf",
        "computation outside { parameters N given a : i64[N] out y : f64[N]
        s0: y(a(i)) = 1 over {[i] : 0 <= i < N} }",
    );
    let texts = [
        "error[E0708]",
        "--> computation outside:6:3",
        "`0 <= a(i) < N`",
    ];
    place
        .call(&["relations", "outside.spf", "--emit", "loop"])
        .refused(1, &texts);
    place.write("words.spf", "a sum\n");
    let texts = [
        "error[E0101]",
        "words.spf:1:1",
        "a computation is written like",
    ];
    place.call(&["relations", "words.spf"]).refused(1, &texts);
}

#[test]
fn what_is_no_sum_is_computed_from_copies() {
    let place = Place::new();
    place.write(
        "coo.fmt",
        "format coo\n extents NR, NC
        map {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n)}
        data {[n] -> [n]}\n values {[n] : 0 <= n < NZ}
        function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
        function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < NC}",
    );
    place.write("row.tns", "2 0\n1 1\n");
    place.write("col.tns", "1 1\n2 0\n");
    place.write("vals.tns", "1 -5.0\n2 7.5\n");
    let max = "C(i,j) = max(A(i,j), 0)";
    let run = |expression: &str, more: &[&str]| {
        let words = ["relations", expression, "-f", "A=coo.fmt"];
        place.call(&[&words[..], more].concat())
    };
    let parameters = ["--run", "-d", "Ni=2", "-d", "Nj=2", "-d", "A_NZ=2"];
    let arrays = [
        "-i",
        "A_row=row.tns",
        "-i",
        "A_col=col.tns",
        "-i",
        "A=vals.tns",
    ];
    let all = [&parameters[..], &arrays, &["-o", "C=C.tns"]].concat();
    run(max, &all).answer();
    assert_eq!(place.read("C.tns"), "1 1 7.5\n2 2 0.0\n");
    let text = run(max, &[]).answer();
    assert!(text.starts_with("computation copy_A {"), "{text}");
    // Copies have no loops that a script would be about.
    run(max, &["--script", "auto"]).refused(2, &["error[E0820]", "without a script"]);
    run(max, &[&parameters[..], &["-i", "B=vals.tns"]].concat())
        .refused(2, &["error[E0005]", "unknown here"]);
    run("A(i,j) = 2 * B(i,j)", &[]).refused(2, &["error[E0820]", "a result"]);
    place
        .call(&["relations", "coo.fmt"])
        .refused(1, &["error[E0101]", "a format is for an operand"]);
}
