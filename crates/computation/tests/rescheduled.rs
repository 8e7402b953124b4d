//! Relations as transformations of schedules, and data that are substituted.

mod nests;

use std::collections::BTreeMap;

use sparsec_base::Scalar;
use sparsec_computation::{Computation, Given, Script};

use nests::{NEST, ROWS, WAVE, check, read, refuse};

#[test]
fn relations_reschedule() {
    check(NEST, "reschedule(s0, {[i, j] -> [j, i]})", "s0 [j, i]");
    check(NEST, "reschedule(s0, {[i, j] -> [i, -j]})", "s0 [i, -j]");
    check(
        WAVE,
        "reschedule(s0, {[t, u] -> [t, e, 0] : e - 2t = u})",
        "s0 [i, 2 * i + j, 0]",
    );
    // Elements that are bounded, not given, are further variables.
    check(
        NEST,
        "reschedule(s0, {[i, j] -> [q, i, j] : 8q <= j < 8q + 8})",
        "s0 [q, i, j]",
    );
    check(
        NEST,
        "reschedule(s0, {[i, j] -> [h, i, j] : exists r : j = 8h + r && 0 <= r < 8})",
        "s0 [h, i, j]",
    );
    check(
        NEST,
        "reschedule(s0, {[i, j] -> [i, j floordiv 2, j mod 2]})",
        "s0 [i, e, e_1]",
    );
    // Parts of a union are statements.
    check(
        NEST,
        "reschedule(s0, {[i, j] -> [0, i, j] : j < 5} union {[i, j] -> [1, i, j] : j >= 5})",
        "s0_0 [0, i, j]; s0_1 [1, i, j]",
    );
    check(
        NEST,
        "reschedule(s0, {[i, j] -> [i, j mod 2, j] : j mod 2 = 0}
           union {[i, j] -> [i, 1, j] : j mod 2 = 1})",
        "s0_0 [i, e, j]; s0_1 [i, 1, j]",
    );
    // A shorter schedule ends in zeros.
    check(
        ROWS,
        "reschedule([s0, s2], {[a, i, z] -> [a, z, i]})",
        "s0 [0, 0, i]; s1 [1, i, p]; s2 [2, 0, i]",
    );
    let refused = |map: &str, code: &str| refuse(NEST, &format!("reschedule(s0, {map})"), code);
    refuse(WAVE, "reschedule(s0, {[i, j] -> [j, i]})", "E0807");
    refused("{[i, j] -> [-i, j]}", "E0807");
    refused(
        "{[i, j] -> [0, i] : j < 3} union {[i, j] -> [0, N - i] : j >= 3}",
        "E0807",
    );
    refused("{[i, j] -> [i, j] : j < 5}", "E0809");
    refused("{[i, j] -> [i, k] : k <= j}", "E0809");
    refused(
        "{[i, j] -> [0, i, j] : j < 5} union {[i, j] -> [0, i, j] : j >= 4}",
        "E0809",
    );
    refused("{[i] -> [i]}", "E0809");
    refused("{[i, j] -> [i + K, j]}", "E0801");
    refused("{[i, j] -> [N(i), j]}", "E0801");
    refused("{[i, j] -> [x(i, j), j]}", "E0801");
    let windows = "computation w { parameters N out y : i64[N]
        s0: y(i) = ordinal() over {[i] : 0 <= i < N} at [i] }";
    refuse(
        windows,
        "reschedule(s0, {[i] -> [i] : i < 2} union {[i] -> [i] : i >= 2})",
        "E0809",
    );
}

/// A sorted list of coordinates in compressed rows, with its permutation.
const SORTED: &str = "computation csr { parameters N, NZ
    assume 0 <= NZ
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N} nondecreasing
    given row : i32[NZ], col : i32[NZ], A : f64[NZ]
    temporary P : i64[NZ]
    out pos : i64[N + 1], col2 : i32[NZ], B : f64[NZ]
    count: pos(row(n) + 1) += 1 over {[n] : 0 <= n < NZ}
    sum: pos(i + 1) += pos(i) over {[i] : 0 <= i < N}
    permute: P(n) = rank(row(n) of N) over {[n] : 0 <= n < NZ}
    place: col2(P(n)) = col(n) over {[n] : 0 <= n < NZ}
    copy: B(P(n)) = A(n) over {[n] : 0 <= n < NZ} }";

#[test]
fn a_permutation_of_what_is_sorted_disappears() {
    let after = |text: &str, script: &str| {
        let mut computation = read(text);
        for command in &script.parse::<Script>().expect("a script").commands {
            computation = computation.transformed(command)?;
        }
        Ok::<Computation, sparsec_base::Diagnostic>(computation)
    };
    let plain = after(SORTED, "substitute(P)").expect("it goes");
    let text = plain.to_string();
    assert!(!text.contains('P'), "{text}");
    assert!(text.contains("place: col2(n) = col(n)"), "{text}");
    assert!(text.contains("copy: B(n) = A(n)"), "{text}");
    let (script, best) = read(SORTED).optimised().expect("it is optimised");
    assert!(
        script.to_string().starts_with("substitute(P)\n"),
        "{script}"
    );
    assert!(!best.to_string().contains('P'), "{best}");
    let integers = |values: &[i32]| values.iter().map(|v| Scalar::I32(*v)).collect::<Vec<_>>();
    let given = Given {
        parameters: [("N", 3), ("NZ", 4)].map(|(n, v)| (n.to_owned(), v)).into(),
        data: BTreeMap::from([
            ("row".to_owned(), integers(&[0, 2, 2, 2])),
            ("col".to_owned(), integers(&[1, 0, 3, 1])),
            (
                "A".to_owned(),
                [1.0, 2.0, 3.0, 4.0].map(Scalar::F64).to_vec(),
            ),
        ]),
    };
    let run = |computation: &Computation| computation.evaluate(&given, 0..5).expect("it runs");
    assert_eq!(run(&plain), run(&read(SORTED)));
    assert_eq!(run(&best), run(&plain));
    // Not so where nothing says that rows ascend.
    let unsorted = SORTED.replace(" nondecreasing", "");
    assert_eq!(
        after(&unsorted, "substitute(P)")
            .expect_err("kept")
            .code()
            .to_string(),
        "E0809"
    );
    // Nor from the last to the first.
    let back = SORTED.replace(
        "permute: P(n) = rank(row(n) of N) over {[n] : 0 <= n < NZ}",
        "permute: P(n) = ordinal() over {[n] : 0 <= n < NZ} at [2, -n]",
    );
    assert!(after(&back, "substitute(P)").is_err());
}

#[test]
fn substitutes_temporaries() {
    let text = |statements: &str| {
        format!(
            "computation c {{ parameters N
               function f : {{[i] : 0 <= i < N}} -> {{[j] : 0 <= j < N}}
               given x : f64[N], f : i32[N]
               temporary t : f64[N + 1], k : i32[N], s : f32[N] out y : f64[N] {statements} }}"
        )
    };
    let over = "over {[i] : 0 <= i < N}";
    let value = |statements: &str, name: &str| {
        let command: Script = format!("substitute({name})").parse().expect("a script");
        let after = read(&text(statements)).transformed(&command.commands[0]);
        let after = after.map_err(|error| error.code().to_string())?;
        let last = after.statements.last().expect("one is left");
        Ok::<String, String>(last.assignment().to_string())
    };
    let check = |statements: &str, name: &str, expect: &str| {
        assert_eq!(
            value(statements, name).as_deref(),
            Ok(expect),
            "{statements}"
        );
    };
    let refuse = |statements: &str, name: &str| {
        assert_eq!(
            value(statements, name),
            Err("E0809".to_owned()),
            "{statements}"
        );
    };
    check(
        &format!("s0: t(i + 1) = 2 * x(i) {over} s1: y(i) = t(f(i) + 1) + 1 {over}"),
        "t",
        "y(i) = 2 * x(f(i) + 1 - 1) + 1",
    );
    check(
        &format!("s0: k(i) = N - 1 - i {over} s1: y(k(i)) = x(f(k(i))) {over}"),
        "k",
        "y(N - 1 - i) = x(f(N - 1 - i))",
    );
    check(
        &format!("s0: k(i) = f(i) {over} s1: y(i) = f64(k(k(i))) {over}")
            .replace("k(k(i))", "k(i)"),
        "k",
        "y(i) = f64(f(i))",
    );
    // A number alone takes its type from where it stands.
    refuse(
        &format!("s0: s(i) = 0.1 {over} s1: y(i) = f64(s(i)) {over}"),
        "s",
    );
    check(
        &format!("s0: s(i) = f32(0.1) {over} s1: y(i) = f64(s(i)) {over}"),
        "s",
        "y(i) = f64(f32(0.1))",
    );
    // The first entry is zero, not written; a later write is not seen before.
    refuse(
        &format!("s0: t(i + 1) = x(i) {over} s1: y(i) = t(i) {over}"),
        "t",
    );
    refuse(
        &format!("s1: y(i) = t(i) {over} s0: t(i) = x(i) {over}"),
        "t",
    );
    // What it reads changes; it is written twice; it adds up; another variable tells.
    refuse(
        &format!("s0: t(i) = y(i) {over} s1: y(i) = t(i) + 1 {over}"),
        "t",
    );
    refuse(
        &format!("s0: t(i) = x(i) {over} s1: t(i) = 2 * x(i) {over} s2: y(i) = t(i) {over}"),
        "t",
    );
    refuse(
        &format!("s0: t(i) += x(i) {over} s1: y(i) = t(i) {over}"),
        "t",
    );
    refuse(
        "s0: t(i) = x(j) over {[i, j] : 0 <= i < N && 0 <= j < N} s1: y(i) = t(i) over {[i] : 0 <= i < N}",
        "t",
    );
    refuse(
        &format!(
            "s0: k(i) = f(i) {over} s1: y(i) = 1 over {{[i] : 0 <= i < N && k(i) = i}} at [1, i]"
        ),
        "k",
    );
    refuse(&format!("s0: y(i) = x(i) {over}"), "y");
}
