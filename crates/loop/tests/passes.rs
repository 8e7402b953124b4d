//! What each pass makes of small kernels.

mod body;

use body::{check, parse};
use sparsec_loop::interpret::{ArgumentData, Entries, Options, Outcome, interpret};
use sparsec_loop::{Function, passes};

/// Simplifies one expression of type i64 in which `i`, `j` and `k` may be used.
fn simple(expr: &str, expect: &str) {
    check(
        passes::simplify,
        &format!("for i in 0..n {{ for j in 0..n {{ z[i] = {expr} }} }}"),
        &format!("for i in 0..n {{\n  for j in 0..n {{\n    z[i] = {expect}\n  }}\n}}"),
    );
}

/// Simplifies one expression of type f64.
fn simple_float(expr: &str, expect: &str) {
    check(
        passes::simplify,
        &format!("y[n] = {expr}"),
        &format!("y[n] = {expect}"),
    );
}

/// Simplifies one condition.
fn simple_condition(expr: &str, expect: &str) {
    check(
        passes::simplify,
        &format!("z[n] = i64({expr})"),
        &format!("z[n] = i64({expect})"),
    );
}

#[test]
fn integers_are_regrouped() {
    simple("0 + i", "i");
    simple("(i + 2) - 3 + 1", "i");
    simple("1 + i - 4", "i - 3");
    simple("i + -2", "i - 2");
    simple("(i + 3) - (i + 1)", "2");
    simple("i * 1 + 0 * j", "i");
    simple("i * 2 * 3", "i * 6");
    simple("i - -j", "i + j");
    simple("i // 1 + i % 1", "i");
    simple("-7 // 2 * (-7 % 4)", "-4");
    simple("9223372036854775807 + 1", "-9223372036854775808");
    simple("max(i, i) - abs(-(-5))", "i - 5");
}

#[test]
fn what_may_fail_stays() {
    simple("0 * (i // j)", "0 * (i // j)");
    simple("1 // 0", "1 // 0");
    simple("i64(nan)", "i64(nan)");
    simple_condition("n // n == 1 and false", "n // n == 1 and false");
}

#[test]
fn numbers_are_tried_before_the_loop() {
    let early = |body: &str, expect: &str| check(passes::fail_early, body, expect);
    early(
        "for i in 1..n { let v: i64 = i + 1 if v > 7 { fail cast_out_of_range } z[i] = v }",
        "if 1 < n and 7 < n {\n  fail cast_out_of_range\n}\nfor i in 1..n {\n  let v: i64 = i + 1\n  z[i] = v\n}",
    );
    // Of the loop variable, the last is one less than the bound.
    early(
        "for i in 0..n { if 7 < i { fail cast_out_of_range } z[i] = i }",
        "if 0 < n and 8 < n {\n  fail cast_out_of_range\n}\nfor i in 0..n {\n  z[i] = i\n}",
    );
    // What the inner loop does not change stays in the outer one.
    early(
        "for i in 0..n { for j in 0..i { if i > 7 { fail cast_out_of_range } z[j] = i } }",
        "for i in 0..n {\n  if 0 < i and 7 < i {\n    fail cast_out_of_range\n  }\n  for j in 0..i {\n    z[j] = i\n  }\n}",
    );
    // A sum that might wrap, an entry, and a test of some iterations stay.
    for stays in [
        "for i in 0..n {\n  let v: i64 = i + 2\n  if v > 7 {\n    fail cast_out_of_range\n  }\n  z[i] = v\n}",
        "for i in 0..n {\n  let v: i64 = z[i]\n  if v > 7 {\n    fail cast_out_of_range\n  }\n  z[i] = v\n}",
        "for i in 0..n {\n  if z[i] == 1 {\n    if i > 7 {\n      fail cast_out_of_range\n    }\n  }\n  z[i] = i\n}",
    ] {
        early(stays, stays);
    }
}

#[test]
fn floats_keep_their_bits() {
    simple_float("x[0] * 1.0 / 1.0 - 0.0 + -0.0", "x[0]");
    simple_float("x[0] + 0.0", "x[0] + 0.0");
    simple_float("0.0 * x[0]", "0.0 * x[0]");
    simple_float("x[0] - x[0]", "x[0] - x[0]");
    simple_float("x[0] + -x[1] + -0.5", "x[0] - x[1] - 0.5");
    simple_float("0.1 + 0.2", "0.30000000000000004");
    simple_float("0.0 / 0.0", "nan");
    simple_float("min(1.0, nan) + sqrt(4.0)", "nan");
    simple_float("f64(f32(0.1))", "0.10000000149011612");
    simple_float("exp(0.0)", "exp(0.0)");
}

#[test]
fn conditions_are_decided() {
    simple_condition("true and n == 1 or false", "n == 1");
    simple_condition("not (n < 1)", "n >= 1");
    simple_condition("not (x[0] < 1.0)", "not x[0] < 1.0");
    simple_condition("not (x[0] == 1.0)", "x[0] != 1.0");
    simple_condition("1 < n", "n > 1");
    simple_condition("n <= n and x[0] == x[0]", "x[0] == x[0]");
    simple_condition("select(n == 1, false, true)", "n != 1");
}

#[test]
fn statements_that_never_run_go() {
    check(
        passes::simplify,
        "if 1 < 0 { z[0] = 1 } else { ; kept
           z[0] = 2 }
         if n == 1 { } else { z[0] = 3 }
         if n == 2 { ; nothing
         }
         for i in 3..2 { z[i] = 4 }
         for j in n..n { z[j] = 5 }
         while false { }
         fill z[1..1], 0
         if n == 3 { fail out_of_memory z[0] = 6 }",
        "
; kept
z[0] = 2
if n != 1 {
  z[0] = 3
}
if n == 3 {
  fail out_of_memory
}",
    );
}

#[test]
fn single_iterations_are_no_loops() {
    check(
        passes::simplify,
        "for i in 0..n { for p in i..i + 1 { z[p] = z[p] + 2 } }
         for q in n..n + 1 { z[q] = 3 * z[q] }",
        "
for i in 0..n {
  let p: i64 = i
  z[p] += 2
}
for q in n..n + 1 {
  z[q] *= 3
}",
    );
}

#[test]
fn names_that_only_rename_go() {
    check(
        passes::copy_propagation,
        "for i in 0..n {
           let k: i64 = i
           let p: i64 = k * n + 1
           let q: i64 = n * i
           var t: f64 = x[k]
           let c: i64 = crd[k]
           y[p] = t
           z[c] = c
           for j in 0..n { z[q + j] = q }
         }",
        "
for i in 0..n {
  let q: i64 = n * i
  let t: f64 = x[i]
  let c: i64 = crd[i]
  y[i * n + 1] = t
  z[c] = c
  for j in 0..n {
    z[q + j] = q
  }
}",
    );
}

#[test]
fn positions_stay_out_of_inner_loops() {
    let body = "
for i in 0..n {
  let q: i64 = n * i
  for j in 0..n {
    z[q + j] = 0
  }
}";
    check(passes::copy_propagation, body, body);
}

#[test]
fn loop_conditions_load_once() {
    check(
        passes::hoist,
        "for i in 0..n {
           var p: i64 = pos[i]
           while p < pos[i + 1] and crd[p] < crd[0] { p += 1 }
         }",
        "
for i in 0..n {
  var p: i64 = pos[i]
  let pos_2: i64 = pos[i + 1]
  while p < pos_2 and crd[p] < crd[0] {
    p += 1
  }
}",
    );
}

#[test]
fn loads_move_only_where_they_happen_anyway() {
    // The first loop may run no iteration, and `x[0]` may not exist; before the
    // second it was loaded.
    check(
        passes::hoist,
        "for i in 0..n { y[i] = x[0] }
         var t: f64 = x[0]
         for j in 0..n { y[j] = x[0] / f64(n) }",
        "
for i in 0..n {
  y[i] = x[0]
}
var t: f64 = x[0]
let x_2: f64 = x[0] / f64(n)
for j in 0..n {
  y[j] = x_2
}",
    );
}

#[test]
fn divisions_move_unless_they_may_fail() {
    check(
        passes::hoist,
        "for i in 0..n { for j in 0..n { z[j] = i // 4 + i // n + i * 3 } }",
        "
for i in 0..n {
  let fixed: i64 = i // 4
  for j in 0..n {
    z[j] = fixed + i // n + i * 3
  }
}",
    );
}

#[test]
fn what_nothing_needs_goes() {
    check(
        passes::dead_code,
        "alloc w: f64[n]
         ; the sum, which nothing reads
         var t: f64 = 0.0
         for i in 0..n { t += x[i] w[i] = t }
         ; a division that may fail
         let d: i64 = 1 // n
         fill y[0..n], 0.0",
        "
; a division that may fail
let d: i64 = 1 // n
fill y[0..n], 0.0",
    );
}

/// `C(i,j) = A(i,k) * B(k,j)`, all in compressed rows: a workspace with a list
/// that is sorted in the result itself.
const SPGEMM: &str = r#"fn spgemm(
  out C "(i, j) -> (i : dense, j : compressed)" {
    extent C.n0, extent C.n1, write C1.pos: i64 as i32, grow C1.crd: i64 as i32, grow C.vals: f64 },
  in A "(i, k) -> (i : dense, k : compressed)" {
    extent A.n0, extent A.n1, read A1.pos: i64, read A1.crd: i64, read A.vals: f64 }) {
  alloc w: f64[C.n1]
  alloc seen: bool[C.n1]
  var pC1: i64 = 0
  C1.pos[0] = 0
  for i in 0..C.n0 {
    let begin: i64 = pC1
    for pA in A1.pos[i]..A1.pos[i + 1] {
      let k: i64 = A1.crd[pA]
      for pB in A1.pos[k]..A1.pos[k + 1] {
        let j: i64 = A1.crd[pB]
        if not seen[j] {
          seen[j] = true
          w[j] = 0.0
          if pC1 >= 2147483647 { fail width_overflow }
          grow C1.crd, pC1 + 1
          C1.crd[pC1] = j
          pC1 += 1
        }
        ; add up
        w[j] += A.vals[pA] * A.vals[pB]
      }
    }
    sort C1.crd[begin..pC1]
    grow C.vals, pC1
    for p in begin..pC1 {
      let j_2: i64 = C1.crd[p]
      C.vals[p] = w[j_2]
      seen[j_2] = false
    }
    C1.pos[i + 1] = pC1
  }
  resize C1.crd, pC1
  resize C.vals, pC1
}"#;

fn matrix() -> Vec<ArgumentData> {
    vec![
        ArgumentData {
            extents: vec![3, 3],
            buffers: vec![
                Entries::I32(vec![-1; 4]),
                Entries::I32(vec![]),
                Entries::F64(vec![]),
            ],
        },
        ArgumentData {
            extents: vec![3, 3],
            buffers: vec![
                Entries::I64(vec![0, 2, 3, 5]),
                Entries::I64(vec![0, 2, 1, 0, 1]),
                Entries::F64(vec![1.0, 2.0, 3.0, 4.0, 5.0]),
            ],
        },
    ]
}

fn run(function: &Function, arguments: &mut [ArgumentData]) {
    let outcome = interpret(function, arguments, &Options::default());
    assert_eq!(outcome, Ok(Outcome::Done), "{function}");
}

#[test]
fn slices_of_a_matrix_product_make_the_whole() {
    for whole in [
        parse(SPGEMM),
        passes::optimize(parse(SPGEMM), &mut |_, _| {}),
    ] {
        let mut expected = matrix();
        run(&whole, &mut expected);
        assert_eq!(expected[0].buffers[0], Entries::I32(vec![0, 3, 4, 7]));
        assert_eq!(
            expected[0].buffers[2],
            Entries::F64(vec![9.0, 10.0, 2.0, 9.0, 4.0, 15.0, 8.0])
        );
        let assemble = passes::slice_structure(&whole);
        let compute = passes::slice_values(&whole).expect("the structure is final when read");
        let mut arguments = matrix();
        run(&assemble, &mut arguments);
        run(&compute, &mut arguments);
        assert_eq!(arguments, expected);
        let (assemble, compute) = (assemble.to_string(), compute.to_string());
        assert!(
            !assemble.contains("w[j]") && !assemble.contains("A.vals["),
            "{assemble}"
        );
        assert!(!assemble.contains("add up"), "{assemble}");
        assert!(
            !compute.contains("sort") && !compute.contains("grow") && !compute.contains("fail"),
            "{compute}"
        );
        assert!(compute.contains("read C1.crd") && compute.contains("write C.vals"));
    }
}

#[test]
fn slices_keep_no_loop_for_its_poll_alone() {
    let function = parse(
        r#"fn f(out y "" { extent n, grow y.vals: f64 }) {
          grow y.vals, n
          for i in 0..n { poll y.vals[i] = 1.0 }
          resize y.vals, n
        }"#,
    );
    let text = passes::slice_structure(&function).to_string();
    assert!(text.contains("grow") && !text.contains("for"), "{text}");
    let compute = passes::slice_values(&function).expect("a slice of values");
    assert!(compute.to_string().contains("poll"), "{compute}");
}

#[test]
fn counting_in_place_has_no_slice_of_values() {
    let function = parse(
        r#"fn f(out y "" { extent n, write y1.pos: i64, write y.vals: f64 }) {
          fill y1.pos[0..n], 0
          for i in 0..n { y1.pos[i] += 1 y.vals[i] = f64(y1.pos[i]) }
        }"#,
    );
    assert_eq!(passes::slice_values(&function), None);
}

#[test]
fn the_sample_kernel_is_left_as_it_is() {
    let optimized = passes::optimize(parse(SPGEMM), &mut |_, _| {});
    let expect = parse(SPGEMM).to_string();
    assert_eq!(optimized.to_string(), expect);
}

#[test]
fn sums_get_lanes() {
    check(
        passes::lanes,
        "var t: f64 = 0.0
         for p in pos[0]..pos[1] parallel(CPUVector, ParallelReduction) {
           let j: i64 = crd[p]
           t += x[p] * y[j]
         }
         y[0] = t",
        "var t: f64 = 0.0
var t_lane: f64 = -0.0
var t_lane_2: f64 = -0.0
var t_lane_3: f64 = -0.0
var t_lane_4: f64 = -0.0
var t_lane_5: f64 = -0.0
var t_lane_6: f64 = -0.0
var t_lane_7: f64 = -0.0
var t_lane_8: f64 = -0.0
let p_blocks: i64 = max(pos[1] - pos[0], 0) // 8
for p_block in 0..p_blocks {
  let p_first: i64 = pos[0] + p_block * 8
  let j_2: i64 = crd[p_first]
  t_lane += x[p_first] * y[j_2]
  let j_3: i64 = crd[p_first + 1]
  t_lane_2 += x[p_first + 1] * y[j_3]
  let j_4: i64 = crd[p_first + 2]
  t_lane_3 += x[p_first + 2] * y[j_4]
  let j_5: i64 = crd[p_first + 3]
  t_lane_4 += x[p_first + 3] * y[j_5]
  let j_6: i64 = crd[p_first + 4]
  t_lane_5 += x[p_first + 4] * y[j_6]
  let j_7: i64 = crd[p_first + 5]
  t_lane_6 += x[p_first + 5] * y[j_7]
  let j_8: i64 = crd[p_first + 6]
  t_lane_7 += x[p_first + 6] * y[j_8]
  let j_9: i64 = crd[p_first + 7]
  t_lane_8 += x[p_first + 7] * y[j_9]
}
for p in pos[0] + p_blocks * 8..pos[1] unroll 1 {
  let j: i64 = crd[p]
  t += x[p] * y[j]
}
t += t_lane + t_lane_5 + (t_lane_3 + t_lane_7) + (t_lane_2 + t_lane_6 + (t_lane_4 + t_lane_8))
y[0] = t",
    );
}

/// Loops to which lanes have nothing to give, or whose body is more than a sum.
#[test]
fn other_loops_run_as_they_stand() {
    for body in [
        "var t: i64 = 0\nfor i in 0..n parallel(CPUVector, ParallelReduction) {\n  t += crd[i]\n}\nz[0] = t",
        "for i in 0..n parallel(CPUVector, NoRaces) {\n  y[i] = x[i]\n}",
        "for i in 0..n parallel(CPUVector, Atomics) {\n  y[0] += x[i]\n}",
        "var t: f64 = 0.0\nfor i in 0..n parallel(CPUThread, ParallelReduction) {\n  t += x[i]\n}\ny[0] = t",
    ] {
        check(passes::lanes, body, body);
    }
}

/// What iterations combine goes on to be combined where they may run at once: all that
/// is simplified there is what it is combined with.
#[test]
fn what_iterations_combine_goes_on_to_combine() {
    for mark in ["", " parallel(CPUThread, Atomics)"] {
        let (all, product) = match mark {
            "" => ("all = false", "product = 0"),
            _ => ("all and= false", "product *= 0"),
        };
        let body = |all: &str, product: &str, sum: &str| {
            format!(
                "var all: bool = true\nvar product: i64 = 1\nvar sum: i64 = 0\n\
                 for i in 0..n{mark} {{\n  {all}\n  {product}\n  {sum}\n}}\n\
                 z[0] = product + sum\nz[1] = i64(all)"
            )
        };
        check(
            passes::simplify,
            &body(
                "all and= i < 0 and false",
                "product *= i * 0",
                "sum += i * 1 + 0",
            ),
            &body(all, product, "sum += i"),
        );
    }
}
