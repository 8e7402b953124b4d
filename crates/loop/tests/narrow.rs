//! Passes on functions over arrays of 32 bits: tests that types decide, workspaces of one
//! entry.

use sparsec_base::Source;
use sparsec_loop::{Function, passes, verify};

/// A function over arrays of 32 bits.
const NARROW: &str = r#"fn f(
  in a "(i) -> (i : dense)" { extent n, read crd: i64 as i32, read wide: i64 },
  out y "(i) -> (i : dense)" { extent m, write y: i64 as i32 }) "#;

fn parse(text: &str) -> Function {
    Function::parse(&Source::new("test", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a pass on `body` over arrays of 32 bits; its statements must be `expect`.
fn check_narrow(pass: fn(&mut Function), body: &str, expect: &str) {
    let [mut function, mut expect] =
        [body, expect].map(|body| parse(&format!("{NARROW}{{{body}}}")));
    pass(&mut function);
    verify(&function).unwrap_or_else(|error| panic!("{error}"));
    // Comparisons have one spelling then, and branches that never run are gone.
    passes::simplify(&mut function);
    passes::simplify(&mut expect);
    assert_eq!(function.to_string(), expect.to_string());
}

#[test]
fn what_was_loaded_from_32_bits_fits_into_them() {
    let stored = |from: &str, test: &str| {
        format!("for p in 0..n {{ let j: i64 = {from}[p] {test} y[p] = j }}")
    };
    let test = "if j < -2147483648 or 2147483647 < j { fail cast_out_of_range }";
    check_narrow(passes::ranges, &stored("crd", test), &stored("crd", ""));
    check_narrow(passes::ranges, &stored("wide", test), &stored("wide", test));
}

#[test]
fn intervals_follow_loops_and_sums() {
    let looped = |test: &str| format!("for p in 0..n {{ if {test} {{ y[p] = 1 }} }}");
    let always = "for p in 0..n { y[p] = 1 }";
    check_narrow(passes::ranges, &looped("p >= 0"), always);
    check_narrow(passes::ranges, &looped("crd[p] + 1 > -2147483648"), always);
    // One less may be below, and a sum of wide integers wraps.
    for open in [
        "crd[p] - 1 >= -2147483648",
        "wide[p] + 1 > wide[p]",
        "p < 2147483647",
    ] {
        check_narrow(passes::ranges, &looped(open), &looped(open));
    }
}

#[test]
fn workspaces_of_one_entry_are_variables() {
    check_narrow(
        passes::scalars,
        "alloc t: i64[1] for p in 0..n { t[0] max= wide[p] } y[0] = t[0]",
        "var t_2: i64 = 0 for p in 0..n { t_2 = max(t_2, wide[p]) } y[0] = t_2",
    );
    for kept in [
        "alloc t: i64[2] for p in 0..n { t[0] max= wide[p] } y[0] = t[0]",
        "alloc t: i64[1] for p in 0..n { t[p] = wide[p] } y[0] = t[0]",
        "alloc t: i64[1] grow t, n t[0] = 1 y[0] = t[0]",
    ] {
        check_narrow(passes::scalars, kept, kept);
    }
}
