//! Failures of temporaries, which wait until a result needs the value.

mod body;

use body::check;
use sparsec_loop::passes;

#[test]
fn failures_of_temporaries_wait_until_a_result_needs_them() {
    check(
        passes::defer_failures,
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
        passes::defer_failures,
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
    check(passes::defer_failures, unchanged, unchanged);
}

#[test]
fn iterations_that_run_at_once_keep_the_largest_failure() {
    check(
        passes::defer_failures,
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
