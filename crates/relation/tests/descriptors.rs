//! Descriptors of formats that levels cannot describe, and of what is none.

use sparsec_relation::Descriptor;

const JDS: &str = "
format jds
extents NR, NC
map {[s, k, t] -> [i, j] : 0 <= s < ND && ptr(s) <= k < ptr(s + 1) && t = k - ptr(s) && t < NR
     && i = perm(t) && 0 <= i < NR && j = col(k) && 0 <= j < NC}
data {[s, k, t] -> [k]}
values {[k] : 0 <= k < NNZ}
function perm : {[t] : 0 <= t < NR} -> {[i] : 0 <= i < NR} injective
function ptr : {[s] : 0 <= s <= ND} -> {[k] : 0 <= k <= NNZ} nondecreasing
function col : {[k] : 0 <= k < NNZ} -> {[j] : 0 <= j < NC}
forall s : 0 <= s && s + 2 <= ND => ptr(s + 2) - ptr(s + 1) <= ptr(s + 1) - ptr(s)
";

const SELL: &str = "
format sell
extents NR, NC
map {[c, s, r, k] -> [i, j] : 0 <= c < NCH && 0 <= r < C && 0 <= s && k = ptr(c) + C * s + r
     && ptr(c) <= k < ptr(c + 1) && i = perm(C * c + r) && 0 <= i < NR && j = col(k) && 0 <= j < NC}
data {[c, s, r, k] -> [k]}
values {[k] : 0 <= k < NNZ}
assume 1 <= C
function perm : {[t] : 0 <= t < C * NCH} -> {[i] : -1 <= i < NR}
function ptr : {[c] : 0 <= c <= NCH} -> {[k] : 0 <= k <= NNZ} nondecreasing
function col : {[k] : 0 <= k < NNZ} -> {[j] : -1 <= j < NC}
";

const FCOO: &str = "
format fcoo
extents NI, NJ, NK
map {[n] -> [i, j, k] : 0 <= n < NNZ && i = slice(ps(n)) && j = crd1(n) && k = crd2(n)}
data {[n] -> [n]}
values {[n] : 0 <= n < NNZ}
function bf : {[n] : 0 <= n < NNZ} -> {[b] : 0 <= b <= 1}
function ps : {[n] : 0 <= n < NNZ} -> {[s] : 0 <= s < NS} nondecreasing
function slice : {[s] : 0 <= s < NS} -> {[i] : 0 <= i < NI} increasing
function crd1 : {[n] : 0 <= n < NNZ} -> {[j] : 0 <= j < NJ}
function crd2 : {[n] : 0 <= n < NNZ} -> {[k] : 0 <= k < NK}
forall n : 1 <= n < NNZ => ps(n) = ps(n - 1) + bf(n)
";

#[test]
fn what_levels_cannot_describe() {
    for text in [JDS, SELL, FCOO] {
        let descriptor: Descriptor = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let printed = descriptor.to_string();
        let again = printed.parse::<Descriptor>();
        assert_eq!(again.unwrap_or_else(|error| panic!("{error}")), descriptor);
    }
}

/// Refused with this code, with a caret under this.
#[track_caller]
fn refused(text: &str, code: &str, under: &str) {
    let error = text.parse::<Descriptor>().expect_err("it is not complete");
    let label = &error.labels()[0];
    assert_eq!(
        (
            error.code().to_string().as_str(),
            label.source.slice(label.span)
        ),
        (code, under),
        "{error}"
    );
    assert!(error.help_text().is_some(), "{error}");
}

#[test]
fn what_is_not_complete() {
    let without = |line: &str| {
        let lines = JDS.lines().filter(|it| !it.contains(line));
        lines.collect::<Vec<_>>().join("\n")
    };
    let map = |text: &str| {
        let map = &text[text.find("map").expect("it has one")..];
        map[..map.find("data").expect("it has one")]
            .trim_end()
            .to_owned()
    };
    refused(&without("function col"), "E0720", "col");
    refused(
        &format!("{JDS}function row : {{[k] : 0 <= k < NNZ}} -> {{[i]}}"),
        "E0720",
        "row",
    );
    refused(
        &JDS.replace("{[t] : 0 <= t < NR}", "{[t] : 0 <= t}"),
        "E0722",
        "perm",
    );
    refused(&JDS.replace("[s, k, t]", "[s, k, t, w]"), "E0722", "w");
    refused(
        &JDS.replace("values {[k] : 0 <= k < NNZ}", "values {[k] : 0 <= k}"),
        "E0722",
        "values {[k] : 0 <= k}",
    );
    let any_column = JDS.replace("j = col(k) && 0", "0 <= col(k) && 0");
    refused(&any_column, "E0721", &map(&any_column));
    refused(
        &JDS.replace("0 <= j < NC}\ndata", "0 <= j}\ndata")
            .replace("{[j] : 0 <= j < NC}", "{[j] : -1 <= j <= NC}"),
        "E0723",
        "j",
    );
    refused(
        &JDS.replace("data {[s, k, t] -> [k]}", "data {[s, k, t] -> [k + 1]}"),
        "E0723",
        "data {[s, k, t] -> [k + 1]}",
    );
    refused(
        &JDS.replace("extents NR, NC", "extents NR, NC, NL"),
        "E0130",
        &map(JDS),
    );
}
