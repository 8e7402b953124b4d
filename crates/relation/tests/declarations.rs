//! The text of declarations: what reads as what, and what is refused.

use sparsec_base::{Code, code};
use sparsec_relation::{Data, Declarations};

/// Reads `text` and prints it again.
#[track_caller]
fn check(text: &str, expect: &str) {
    let declarations: Declarations = text.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(declarations.to_string(), expect);
    let again: Declarations = expect.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, declarations);
}

#[track_caller]
fn refuse(text: &str, expected: Code, under: &str) {
    let error = text.parse::<Declarations>().expect_err("refused");
    assert_eq!(error.code(), expected, "{error}");
    let label = &error.labels()[0];
    assert_eq!(label.source.slice(label.span), under, "{error}");
}

#[test]
fn functions_have_domains_and_ranges() {
    check(
        "function rowptr : {[i] : 0 <= i <= NR} -> {[x] : 0 <= x <= NNZ} nondecreasing",
        "function rowptr : {[i] : 0 <= i <= NR} -> {[x] : 0 <= x <= NNZ} nondecreasing\n",
    );
    check(
        "function P.0 : {[i, j]} -> {[n]} injective function f : {[i]}->{[j]} injective decreasing",
        "function P.0 : {[i, j]} -> {[n]} injective\n\
         function f : {[i]} -> {[j]} decreasing injective\n",
    );
}

#[test]
fn assumptions_come_together() {
    check(
        "assume 0 < N ; comment\nassume rowptr(0) = 0 and rowptr(N) = NNZ",
        "assume 0 < N && rowptr(0) = 0 && rowptr(N) = NNZ\n",
    );
}

#[test]
fn quantifiers_are_implications() {
    check(
        "forall n1, n2: n1 < n2 <=> MORTON(row(n1), col(n1)) < MORTON(row(n2), col(n2))",
        "forall n1, n2 : n1 < n2 => MORTON(row(n1), col(n1)) < MORTON(row(n2), col(n2))\n\
         forall n1, n2 : MORTON(row(n1), col(n1)) < MORTON(row(n2), col(n2)) => n1 < n2\n",
    );
    check(
        "order DIAGONAL = {[i, j] -> [k, l] : i + j < k + l}
         forall a, b : a < b => DIAGONAL(row(a), col(a)) < DIAGONAL(row(b), col(b))
         forall a, b : a < b && 0 <= a => [row(a), col(a)] < LEX(row(b), col(b))",
        "order DIAGONAL = {[i, j] -> [k, l] : i + j < k + l}\n\
         forall a, b : a < b => DIAGONAL(row(a), col(a)) < DIAGONAL(row(b), col(b))\n\
         forall a, b : a < b && 0 <= a => LEX(row(a), col(a)) < LEX(row(b), col(b))\n",
    );
}

#[test]
fn values_may_be_tuples() {
    check(
        "function P : {[n] : 0 <= n < NZ} -> {[i, j] : 0 <= i <= j < N} injective
         forall n : P(n)[0] <= P.1(n)",
        "function P : {[n] : 0 <= n < NZ} -> {[i, j] : 0 <= i <= j < N} injective\n\
         forall n : P.0(n) <= P.1(n)\n",
    );
    check(
        "function f : {[i] : 0 <= i < N} -> {[k] : 0 <= k < M} inverse g",
        "function f : {[i] : 0 <= i < N} -> {[k] : 0 <= k < M} injective\n\
         function g : {[k] : 0 <= k < M} -> {[i] : 0 <= i < N} injective\n\
         forall i : 0 <= i < N => g(f(i)) = i\n\
         forall k : 0 <= k < M => f(g(k)) = k\n",
    );
    // Which of the two is named first makes no difference.
    for text in [
        "function c : {[i, j] : 0 <= i < N && 0 <= j < M} -> {[k] : 0 <= k < N * M} inverse g",
        "function g : {[k] : 0 <= k < N * M} -> {[i, j] : 0 <= i < N && 0 <= j < M} inverse c",
    ] {
        let known: Declarations = text.parse().expect("declarations");
        assert_eq!(known.inverse_of("c"), Some("g"));
        assert_eq!(known.inverse_of("g"), Some("c"));
        let printed = known.to_string();
        assert_eq!(printed.parse::<Declarations>().expect("it parses"), known);
        for line in [
            "forall i, j : 0 <= i < N && 0 <= j < M => g.0(c(i, j)) = i && g.1(c(i, j)) = j\n",
            "forall k : 0 <= k < N * M => c(g.0(k), g.1(k)) = k\n",
        ] {
            assert!(printed.contains(line), "{printed}");
        }
    }
}

#[test]
fn arrays_are_checked_against_what_ties_them() {
    let known: Declarations = "
        function P : {[n] : 0 <= n < 3} -> {[i, j] : 0 <= i <= j < 4} injective
        function f : {[i] : 0 <= i < 3} -> {[k] : 0 <= k < 3} inverse g"
        .parse()
        .expect("declarations");
    let check = |first: [i64; 3], second: [i64; 3], f: [i64; 3], g: [i64; 3]| {
        let mut data = Data::new();
        for (name, values) in [("P.0", first), ("P.1", second), ("f", f), ("g", g)] {
            data.array(name, vec![3], move |at| values[at]);
        }
        known.check(&data).map_err(|broken| broken.why)
    };
    let why = |text: &str| Err(text.to_owned());
    assert_eq!(check([0, 1, 0], [1, 1, 3], [1, 2, 0], [2, 0, 1]), Ok(()));
    assert_eq!(
        check([0, 2, 0], [1, 1, 3], [1, 2, 0], [2, 0, 1]),
        why("P(1) = [2, 1] is not in {[i, j] : 0 <= i <= j < 4}")
    );
    assert_eq!(
        check([0, 1, 0], [1, 1, 1], [1, 2, 0], [2, 0, 1]),
        why("`P` is not injective: P(2) = [0, 1] was there before")
    );
    assert_eq!(
        check([0, 1, 0], [1, 1, 3], [1, 2, 0], [2, 1, 0]),
        why("`forall i : 0 <= i < 3 => g(f(i)) = i` does not hold for i = 0")
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let bad = code::BAD_DECLARATION;
    refuse(
        "function f : {[i]} -> {[j]} function f : {[i]} -> {[j]}",
        bad,
        "f",
    );
    refuse(
        "function f : {[i, j]} -> {[k]} increasing",
        bad,
        "increasing",
    );
    refuse(
        "function f : {[i]} -> {[k]} increasing decreasing",
        bad,
        "decreasing",
    );
    refuse("function f : {[i]} -> {[]}", bad, "{");
    refuse(
        "function f : {[i]} -> {[k, l]} increasing",
        bad,
        "increasing",
    );
    refuse(
        "function f.0 : {[i]} -> {[k]} function f : {[i]} -> {[k, l]}",
        bad,
        "f",
    );
    refuse("function f : {[]} -> {[k]} inverse g", bad, "inverse");
    refuse(
        "function f : {[i]} -> {[k]} inverse g inverse h",
        bad,
        "inverse",
    );
    refuse("function f : {[i]} -> {[k, l]} inverse f", bad, "f");
    refuse(
        "function g.0 : {[i]} -> {[k]} function f : {[i, j]} -> {[k]} inverse g",
        bad,
        "g",
    );
    refuse("function f : {[i]} -> {[k]} inverse f", bad, "f");
    refuse(
        "function f : {[i]} -> {[k]} inverse g function g : {[i]} -> {[k]}",
        bad,
        "g",
    );
    refuse("order O = {[i] -> [j, k] : i < j}", bad, "O");
    refuse("define f", code::UNEXPECTED_TOKEN, "define");
    refuse("forall i, i : i < 0 => i < 1", code::RELATION_NAME, "i");
    refuse("forall i : i < 0 => => i < 1", code::UNEXPECTED_TOKEN, "=>");
    refuse(
        "function f : {[i]} -> {[j]} forall a : 0 < a => f(a, a) < 1",
        code::RELATION_ARITY,
        "f",
    );
}

#[test]
fn keys_compare_with_keys() {
    let misused = code::KEY_MISUSED;
    refuse("forall n : 0 <= n => LEX(row(n)) < 5", misused, "LEX");
    refuse("forall n : 0 <= n => LEX(n, n) < LEX(n)", misused, "LEX");
    refuse("forall n : f(n) < LEX(n) => 0 <= n", misused, "f");
    let domain = "function f : {[i] : [i] < N} -> {[k] : 0 <= k < N} inverse g";
    refuse(domain, misused, "{");
    let order = "order O = {[i] -> [j] : i < j} forall n : 0 <= n =>";
    refuse(&format!("{order} O(n) <= O(n + 1)"), misused, "O");
    refuse(&format!("{order} O(n) + 1 < O(n + 1)"), misused, "O");
}
