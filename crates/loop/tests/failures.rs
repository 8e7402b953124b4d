//! Failures of temporaries, which wait until a result needs the value.

use sparsec_base::Source;
use sparsec_loop::{Function, passes, verify};

const HEAD: &str = r#"fn f(
  out y "(i) -> (i : dense)" { extent n, write y: f64, write z: i64 },
  in a "(i) -> (i : compressed)" { read pos: i64, read crd: i64, read x: f64 }) "#;

fn parse(text: &str) -> Function {
    Function::parse(&Source::new("test", text)).unwrap_or_else(|error| panic!("{error}"))
}

/// Defers the failures of `body` and compares the body that comes out with `expect`.
fn check(body: &str, expect: &str) {
    let mut function = parse(&format!("{HEAD}{{{body}}}"));
    passes::defer_failures(&mut function);
    verify(&function).unwrap_or_else(|error| panic!("{error}"));
    let printed = function.to_string();
    let head = parse(&format!("{HEAD}{{}}")).to_string();
    let n_head = head.lines().count() - 1;
    let lines: Vec<&str> = printed.lines().skip(n_head).collect();
    let body: Vec<&str> = lines[..lines.len() - 1]
        .iter()
        .map(|line| line.strip_prefix("  ").unwrap_or(line))
        .collect();
    assert_eq!(body.join("\n"), expect.trim_matches('\n'));
}

#[test]
fn failures_of_temporaries_wait_until_a_result_needs_them() {
    check(
        "for i in 0..n {
           var t: i64 = 0
           for p in pos[i]..pos[i + 1] { t += i64(x[p]) }
           if y[i] > 0.0 { z[i] = t }
         }",
        "
for i in 0..n {
  var t.failed: u8 = 0u8
  var t: i64 = 0
  for p in pos[i]..pos[i + 1] {
    var failure: u8 = 0u8
    let cast: f64 = x[p]
    if not (-9.223372036854776e18 <= cast and cast < 9.223372036854776e18) {
      failure = 2u8
    }
    if failure == 0u8 {
      t += i64(x[p])
    } else if t.failed == 0u8 {
      t.failed = failure
    }
  }
  if y[i] > 0.0 {
    if t.failed == 2u8 {
      fail cast_out_of_range
    }
    z[i] = t
  }
}",
    );
}

#[test]
fn failures_of_entries_are_kept_in_an_array() {
    check(
        "alloc w: i64[n]
         for p in 0..n { w[crd[p]] += 6 // z[p] }
         for i in 0..n { z[i] = select(y[i] > 0.0, w[i], 0) }",
        "
alloc w.failed: u8[n]
alloc w: i64[n]
for p in 0..n {
  var failure: u8 = 0u8
  if z[p] == 0 {
    failure = 1u8
  }
  if failure == 0u8 {
    w[crd[p]] += 6 // z[p]
  } else if w.failed[crd[p]] == 0u8 {
    w.failed[crd[p]] = failure
  }
}
for i in 0..n {
  var failure_2: u8 = 0u8
  if y[i] > 0.0 {
    failure_2 = w.failed[i]
  }
  if failure_2 == 1u8 {
    fail division_by_zero
  }
  z[i] = select(y[i] > 0.0, w[i], 0)
}",
    );
}

#[test]
fn places_fail_where_they_are_computed() {
    let unchanged = "
for i in 0..n {
  let q: i64 = i // pos[i]
  z[q] = crd[q]
}";
    check(unchanged, unchanged);
}

#[test]
fn iterations_that_run_at_once_keep_the_largest_failure() {
    check(
        "var t: i64 = 0
         for i in 0..n parallel(CPUThread, ParallelReduction) { t += 6 // crd[i] }
         z[0] = t",
        "
var t.failed: u8 = 0u8
var t: i64 = 0
for i in 0..n parallel(CPUThread, ParallelReduction) {
  var failure: u8 = 0u8
  if crd[i] == 0 {
    failure = 1u8
  }
  if failure == 0u8 {
    t += 6 // crd[i]
  } else {
    t.failed max= failure
  }
}
if t.failed == 1u8 {
  fail division_by_zero
}
z[0] = t",
    );
}
