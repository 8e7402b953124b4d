//! Descriptors of formats in the literature: each is a function, its inverse is
//! what it should be, and each pair composes and simplifies.

use sparsec_relation::{Answer, Declarations, Relation};

/// A name, the map from stored entries to coordinates, what is known, and
/// whether coordinates determine the entry.
const DESCRIPTORS: &[(&str, &str, &str, Answer)] = &[
    (
        "coo",
        "{[n] -> [i, j] : row#(n) = i && col#(n) = j && 0 <= n < NNZ}",
        "function row# : {[n] : 0 <= n < NNZ} -> {[i] : 0 <= i < NR}
         function col# : {[n] : 0 <= n < NNZ} -> {[j] : 0 <= j < NC}",
        Answer::Unknown,
    ),
    (
        "sorted coo",
        "{[n] -> [i, j] : row#(n) = i && col#(n) = j && 0 <= n < NNZ}",
        "function row# : {[n] : 0 <= n < NNZ} -> {[i] : 0 <= i < NR}
         function col# : {[n] : 0 <= n < NNZ} -> {[j] : 0 <= j < NC}
         forall a, b : a < b => LEX(row#(a), col#(a)) < LEX(row#(b), col#(b))",
        Answer::Yes,
    ),
    (
        "morton coo",
        "{[n] -> [i, j] : row#(n) = i && col#(n) = j && 0 <= n < NNZ}",
        "function row# : {[n] : 0 <= n < NNZ} -> {[i] : 0 <= i < NR}
         function col# : {[n] : 0 <= n < NNZ} -> {[j] : 0 <= j < NC}
         forall a, b : a < b => MORTON(row#(a), col#(a)) < MORTON(row#(b), col#(b))",
        Answer::Yes,
    ),
    (
        "csr",
        "{[q, k] -> [i, j] : q = i && ptr#(i) <= k < ptr#(i + 1) && crd#(k) = j}",
        "function ptr# : {[i] : 0 <= i <= NR} -> {[q] : 0 <= q <= NNZ} nondecreasing
         function crd# : {[k] : 0 <= k < NNZ} -> {[j] : 0 <= j < NC}
         forall i, a, b : ptr#(i) <= a < b < ptr#(i + 1) => crd#(a) < crd#(b)",
        Answer::Yes,
    ),
    (
        "csc",
        "{[q, k] -> [i, j] : q = j && ptr#(j) <= k < ptr#(j + 1) && crd#(k) = i}",
        "function ptr# : {[j] : 0 <= j <= NC} -> {[q] : 0 <= q <= NNZ} nondecreasing
         function crd# : {[k] : 0 <= k < NNZ} -> {[i] : 0 <= i < NR}
         forall j, a, b : ptr#(j) <= a < b < ptr#(j + 1) => crd#(a) < crd#(b)",
        Answer::Yes,
    ),
    (
        "dia",
        "{[r, d] -> [i, j] : i = r && j = r + off#(d) && 0 <= i < NR && 0 <= j < NC}",
        "function off# : {[d] : 0 <= d < ND} -> {[x] : -NR < x < NC} increasing",
        Answer::Yes,
    ),
    (
        "dcsr",
        "{[p, k] -> [i, j] : idx#(p) = i && ptr#(p) <= k < ptr#(p + 1) && crd#(k) = j}",
        "function idx# : {[p] : 0 <= p < NZR} -> {[i] : 0 <= i < NR} increasing
         function ptr# : {[p] : 0 <= p <= NZR} -> {[q] : 0 <= q <= NNZ} increasing
         function crd# : {[k] : 0 <= k < NNZ} -> {[j] : 0 <= j < NC}
         forall p, a, b : ptr#(p) <= a < b < ptr#(p + 1) => crd#(a) < crd#(b)",
        Answer::Yes,
    ),
    (
        "bsr",
        "{[p, k, r, c] -> [i, j] : ptr#(p) <= k < ptr#(p + 1) && 0 <= r < B && 0 <= c < B
            && i = B * p + r && j = B * crd#(k) + c}",
        "assume 0 < B
         function ptr# : {[p] : 0 <= p <= NBR} -> {[q] : 0 <= q <= NB} nondecreasing
         function crd# : {[k] : 0 <= k < NB} -> {[j] : 0 <= j < NBC}
         forall p, a, b : ptr#(p) <= a < b < ptr#(p + 1) => crd#(a) < crd#(b)",
        Answer::Yes,
    ),
    (
        "jds",
        "{[s, k] -> [i, j] : ptr#(s) <= k < ptr#(s + 1) && i = perm#(k - ptr#(s)) && j = crd#(k)}",
        "function ptr# : {[s] : 0 <= s <= NJD} -> {[q] : 0 <= q <= NNZ} nondecreasing
         function perm# : {[t] : 0 <= t < NR} -> {[i] : 0 <= i < NR} injective
         function crd# : {[k] : 0 <= k < NNZ} -> {[j] : 0 <= j < NC}",
        Answer::Unknown,
    ),
];

fn named(text: &str, suffix: &str) -> String {
    text.replace('#', suffix)
}

fn relation(text: &str, suffix: &str) -> Relation {
    let text = named(text, suffix);
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn declared(texts: &[String]) -> Declarations {
    let text = texts.concat();
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn maps_are_functions() {
    for (name, map, known, inverse) in DESCRIPTORS {
        let (map, known) = (relation(map, ""), declared(&[named(known, "")]));
        assert_eq!(map.is_function(&known), Answer::Yes, "{name}");
        assert_eq!(
            map.inverse().is_function(&known),
            *inverse,
            "inverse of {name}"
        );
        assert_eq!(map.is_empty(&known), Answer::Unknown, "{name}");
    }
}

#[test]
fn every_pair_composes() {
    for (from, source, known, _) in DESCRIPTORS {
        for (to, target, wanted, _) in DESCRIPTORS {
            let source = relation(source, "1");
            let target = relation(target, "2");
            let known = declared(&[named(known, "1"), "\n".to_owned(), named(wanted, "2")]);
            let convert = source
                .then(&target.inverse())
                .expect("both give coordinates");
            let simple = convert.simplified_under(&known);
            assert_eq!(simple.simplified_under(&known), simple, "{from} to {to}");
            let text = simple.to_string();
            assert!(!text.contains("exists"), "{from} to {to}: {text}");
            let again: Relation = text.parse().expect("printed text parses");
            assert_eq!(again, simple);
        }
    }
}
