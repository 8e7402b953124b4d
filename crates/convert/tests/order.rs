//! The order in which elements of the destination's tuple are found: by what they need, wherever they
//! stand in the tuple.

use sparsec_base::ElementType;
use sparsec_convert::{Conversion, Wanted, convert};
use sparsec_relation::Descriptor;

const LIST: &str = "
    format list
    extents NR, NC
    map {[n] -> [i, j] : 0 <= n < NZ && row(n) = i && col(n) = j && 0 <= i < NR && 0 <= j < NC}
    data {[n] -> [n]}
    values {[n] : 0 <= n < NZ}
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
    function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < NC}
    forall n, m : 0 <= n < m < NZ => LEX(row(n), col(n)) != LEX(row(m), col(m))
";

/// Columns with entries, and the rows of each, as a tuple of these elements.
fn columns(tuple: &str) -> String {
    format!(
        "
    format columns
    extents N, M
    map {{[{tuple}] -> [i, j] : f(q) <= p < f(q + 1) && 0 <= q < NQ && a(p) = i && b(q) = j && 0 <= i < N && 0 <= j < M}}
    data {{[{tuple}] -> [p]}}
    values {{[p] : 0 <= p < NP}}
    function f : {{[q] : 0 <= q <= NQ}} -> {{[p] : 0 <= p <= NP}} nondecreasing
    function a : {{[p] : 0 <= p < NP}} -> {{[i] : 0 <= i < N}}
    function b : {{[q] : 0 <= q < NQ}} -> {{[j] : 0 <= j < M}} increasing
    forall q, x, y : 0 <= q < NQ && f(q) <= x < y < f(q + 1) => a(x) < a(y)
    assume f(0) = 0
"
    )
}

fn conversion(destination: &str) -> sparsec_base::Result<Conversion> {
    let of = |text: &str| -> Descriptor { text.parse().unwrap_or_else(|e| panic!("{text}: {e}")) };
    convert(&of(LIST), &of(destination), &Wanted::of(ElementType::F64))
}

#[test]
fn segments_are_found_before_what_lies_in_them() {
    let [first, last] = ["q, p", "p, q"].map(|tuple| conversion(&columns(tuple)).unwrap());
    assert_eq!(first.computation.to_string(), last.computation.to_string());
}

#[test]
fn elements_that_wait_for_one_another_are_refused() {
    let error = conversion(
        "
    format cycle
    extents N, M
    map {[p, q] -> [i, j] : f(q) <= p < f(q + 1) && g(p) <= q < g(p + 1) && a(p) = i && b(q) = j && 0 <= i < N && 0 <= j < M && 0 <= p < NP && 0 <= q < NQ}
    data {[p, q] -> [p]}
    values {[p] : 0 <= p < NP}
    function f : {[q] : 0 <= q <= NQ} -> {[p] : 0 <= p <= NP} nondecreasing
    function g : {[p] : 0 <= p <= NP} -> {[q] : 0 <= q <= NQ} nondecreasing
    function a : {[p] : 0 <= p < NP} -> {[i] : 0 <= i < N}
    function b : {[q] : 0 <= q < NQ} -> {[j] : 0 <= j < M}
",
    );
    let text = error.unwrap_err().to_string();
    let parts = [
        "error[E0830]: the elements `p` and `q` wait for one another",
        "`p` lies in segment `q` of `f`",
        "`q` lies in segment `p` of `g`",
    ];
    for part in parts {
        assert!(text.contains(part), "{text}");
    }
}
