//! The text form: one check a feature.

use sparsec_base::Source;
use sparsec_loop::Function;

/// Parses `body` in a function with one of each kind of buffer, and compares
/// what is printed with `expect`; the print must read back as the same.
fn check(body: &str, expect: &str) {
    let text = format!("{HEAD}{body}{TAIL}");
    let function = Function::parse(&Source::new("test", text)).unwrap_or_else(|e| panic!("{e}"));
    let printed = function.to_string();
    let head = Function::parse(&Source::new("head", format!("{HEAD}{TAIL}")))
        .unwrap_or_else(|e| panic!("{e}"))
        .to_string();
    let n_head = head.lines().count() - 3;
    let lines: Vec<&str> = printed.lines().collect();
    let body: Vec<&str> = lines[n_head..lines.len() - 3]
        .iter()
        .map(|line| line.strip_prefix("  ").unwrap_or(line))
        .collect();
    assert_eq!(body.join("\n"), expect.trim_matches('\n'));
    let again = Function::parse(&Source::new("print", &*printed)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again, function);
}

const HEAD: &str = r#"fn f(
  out y "(i) -> (i : compressed)" { extent n, grow crd: i64 as i32, grow vals: f64 },
  in a "(i) -> (i : dense)" { read x: f64, read s: f32, read c: i32, read m: bool }) {
"#;

const TAIL: &str = "
  resize crd, 0
  resize vals, 0
}";

#[test]
fn signatures() {
    let text = r#"fn spmv(
  out y "(i) -> (i : dense)" { extent y.n0, write y.vals: f64 },
  in A "(i, j) -> (i : dense, j : compressed)" {
    extent A.n0,
    extent A.n1,
    read A1.pos: i64 as i32,
    read A1.crd: i64 as i32,
    read A.vals: f64 },
  in x "(j) -> (j : dense)" { extent x.n0, read x.vals: f64 }) {
  for i in 0..A.n0 {
    var t: f64 = 0.0
    for pA1 in A1.pos[i]..A1.pos[i + 1] {
      let j: i64 = A1.crd[pA1]
      t += A.vals[pA1] * x.vals[j]
    }
    y.vals[i] = t
  }
}
"#;
    let function = Function::parse(&Source::new("spmv", text)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(function.to_string(), text);
}

#[test]
fn parentheses_are_minimal() {
    check(
        "let p: i64 = (n + (2 * n)) - ((n - 1) - n) * -(n + 1)
         let q: i64 = n - (n - 1) + -n * 2 // (n % 3)
         let r: bool = not (n == 1 and not n < 2 or n > 3) or not not (1 < 2)
         let t: bool = (n < 1) == (n < 2) and (true and false)",
        "
let p: i64 = n + 2 * n - (n - 1 - n) * -(n + 1)
let q: i64 = n - (n - 1) + -n * 2 // (n % 3)
let r: bool = not (n == 1 and not n < 2 or n > 3) or not not 1 < 2
let t: bool = (n < 1) == (n < 2) and (true and false)",
    );
}

#[test]
fn constants_show_their_types() {
    check(
        "let p: i64 = -5 - -(5) - -9223372036854775808
         let q: i32 = 5i32 + -2147483648i32 * c[0]
         let r: f64 = 0.1 + 1e300 * -0.0 + -inf + nan
         let t: f32 = 0.1f32 - 1.0e-30f32 + inff32 * -nanf32 + s[0]",
        "
let p: i64 = -5 - -(5) - -9223372036854775808
let q: i32 = 5i32 + -2147483648i32 * c[0]
let r: f64 = 0.1 + 1e300 * -0.0 + -inf + nan
let t: f32 = 0.1f32 - 1e-30f32 + inff32 * nanf32 + s[0]",
    );
}

#[test]
fn what_is_fetched_ahead_is_a_stretch_of_an_array() {
    check(
        "for i in 0..n { prefetch c[i + 4..i+5] let j: i64 = i64(c[i]) prefetch c[j*n..(j+1)*n] }",
        "
for i in 0..n {
  prefetch c[i + 4..i + 5]
  let j: i64 = i64(c[i])
  prefetch c[j * n..(j + 1) * n]
}",
    );
}

#[test]
fn loops_keep_their_marks() {
    check(
        "for i in 0..n unroll 4 { for k in 0..n parallel(CPUVector, Atomics) { } }
         for j in 0..n unroll 2 parallel(CPUThread, NoRaces) { }
         own w: f64[n]
         for p in 0..n chunks { w[p] = 1.0 turn w[p] = 2.0 }",
        "
for i in 0..n unroll 4 {
  for k in 0..n parallel(CPUVector, Atomics) {
  }
}
for j in 0..n unroll 2 parallel(CPUThread, NoRaces) {
}
own w: f64[n]
for p in 0..n chunks {
  w[p] = 1.0
  turn
  w[p] = 2.0
}",
    );
}

#[test]
fn functions_and_casts() {
    check(
        "let p: f64 = min(max(x[0], abs(x[1])), select(m[0], sqrt(f64(n)), pow(2.0, f64(s[0]))))",
        "let p: f64 = min(max(x[0], abs(x[1])), select(m[0], sqrt(f64(n)), pow(2.0, f64(s[0]))))",
    );
}

#[test]
fn statements() {
    check(
        "var p: i64 = 0
         alloc w: f64[n] alloc list: i64[2 * n] as i32
         fill w[0..n], 1.0
         while p < n { p = p + 1 p min= n p *= 2 w[p] max= x[p] w[p] = w[p] + 1.0 }
         if p == 0 { fail division_by_zero } else if p == 1 { sort list[0..p] } else { }
         if p == 2 { } else { if p == 3 { p //= 2 } p %= 3 }
         grow crd, p + 1",
        "
var p: i64 = 0
alloc w: f64[n]
alloc list: i64[2 * n] as i32
fill w[0..n], 1.0
while p < n {
  p += 1
  p min= n
  p *= 2
  w[p] max= x[p]
  w[p] = w[p] + 1.0
}
if p == 0 {
  fail division_by_zero
} else if p == 1 {
  sort list[0..p]
}
if p == 2 {
} else {
  if p == 3 {
    p //= 2
  }
  p %= 3
}
grow crd, p + 1",
    );
}

#[test]
fn comments_are_statements() {
    check(
        "; first: \"quotes, ünïcode; and more
         let p: i64 = 1 ; behind
         ;
         for i in 0..p {
           ;   indented
         }",
        "
; first: \"quotes, ünïcode; and more
let p: i64 = 1
; behind
;
for i in 0..p {
  ;   indented
}",
    );
}

#[test]
fn deep_text_is_refused() {
    for text in [
        "(".repeat(100_000),
        "if true { ".repeat(100_000),
        "--".repeat(100_000),
    ] {
        let text = format!("fn f() {{ let p: i64 = {text}");
        assert!(Function::parse(&Source::new("deep", text)).is_err());
        let text = format!("fn f() {{ {}", "if true { ".repeat(100_000));
        assert!(Function::parse(&Source::new("deep", text)).is_err());
    }
}
