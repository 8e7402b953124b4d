//! Key functions: their text, their values, and what is refused.

use sparsec_base::{Code, code};
use sparsec_relation::{Data, Declarations, Number};

fn read(text: &str) -> Declarations {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Reads a key, prints it, reads it again, and computes it.
#[track_caller]
fn check(text: &str, values: &[(&[i64], Option<u128>)]) {
    let known = read(text);
    let printed = known.to_string();
    assert_eq!(read(&printed), known, "{printed}");
    let [key] = known.keys() else {
        panic!("one key");
    };
    for (at, value) in values {
        assert_eq!(key.value(at), value.map(Number::of), "{at:?} of {printed}");
        for (word, function) in key.words().iter().enumerate() {
            let below = 62 * (key.n_words() - 1 - word);
            let word = value.map(|value| (value >> below) as i64 & ((1 << 62) - 1));
            let mut data = Data::new();
            data.keys(&known);
            let arguments = at.iter().map(|n| sparsec_relation::Expression::Integer(*n));
            let call =
                sparsec_relation::Expression::Call(function.name.clone(), arguments.collect());
            assert_eq!(data.value(&call), word, "{} of {at:?}", function.name);
        }
    }
}

#[track_caller]
fn refuse(text: &str, expected: Code, under: &str) {
    let error = text.parse::<Declarations>().expect_err("refused");
    assert_eq!(error.code(), expected, "{error}");
    let label = &error.labels()[0];
    assert_eq!(label.source.slice(label.span), under, "{error}");
    assert!(!error.to_string().is_empty());
}

#[test]
fn operations_are_those_of_integers() {
    let of = |term: &str, at: [i64; 2], value: u128| {
        let text = format!("key K(a : 20, b : 20) : 128 {{ return {term} }}");
        check(&text, &[(&at, Some(value))]);
    };
    of("a + b * 3", [5, 7], 26);
    of("max(a - b, 0)", [5, 7], 0);
    of("max(a - b, 0) + max(b - a, 0)", [5, 7], 2);
    of("(a - b) mod 16", [5, 7], 14);
    of("(a - b) floordiv 4 + 1048576", [5, 7], 1048575);
    of("a floordiv max(b, 1)", [23, 7], 3);
    of("a and b or 8", [5, 7], 13);
    of("a xor b", [5, 7], 2);
    of("a << 100", [5, 7], 5 << 100);
    of("(a << 100) >> 99", [5, 7], 10);
    of("a << min(b, 63)", [5, 7], 640);
    of("a >> min(b, 127)", [1 << 19, 17], 4);
    of("a < b", [5, 7], 1);
    of("a >= b", [5, 7], 0);
    of(
        "select(a = b, 1, select(a != b and b > 3, 2, 3))",
        [5, 7],
        2,
    );
    of("((a << 80) + b) * 5", [5, 7], (25 << 80) + 35);
    of("((a << 80) + b) mod 1048576", [5, 7], 7);
    of("((a << 80) + b) floordiv 1048576", [5, 7], 5 << 60);
    of("((a or 1) << 80) - b", [5, 7], (5 << 80) - 7);
    of("(a << 80) > (b << 70)", [5, 7], 1);
}

#[test]
fn variables_are_assigned_again_in_loops() {
    let morton = "key M(i : 31, j : 31) : 62 {
      d = 0
      for b in 0..31 {
        s = 30 - b
        d = d << 2 or (i >> s and 1) << 1 or j >> s and 1
      }
      return d
    }";
    let at: &[(&[i64], Option<u128>)] = &[
        (&[0b11, 0], Some(0b1010)),
        (&[0b01, 0b10], Some(0b0110)),
        (&[(1 << 31) - 1, (1 << 31) - 1], Some((1 << 62) - 1)),
        (&[1 << 31, 0], None),
        (&[0, -1], None),
        (&[1], None),
    ];
    check(morton, at);
    let nested = "key S(i : 8) : 12 {
      d = 0
      for a in 0..8 { for b in 2..5 { d = d + (i >> a and 1) * b } }
      return d
    }";
    check(nested, &[(&[255], Some(72)), (&[0], Some(0))]);
}

#[test]
fn the_text_has_few_parentheses() {
    let text = "key K(a : 8, b : 8) : 40 {
      d = ((a) + (b)) << ((2)) or (((a and b) xor b) and (a << 1))
      for s in 0..3 { e = (a - (b - 3)) * 2 d = d + select((a < b) = (b < 9), max(e, 0), s) }
      return (d)
    }";
    let printed = "key K(a : 8, b : 8) : 40 {
  d = a + b << 2 or (a and b xor b) and a << 1
  for s in 0..3 {
    e = (a - (b - 3)) * 2
    d = d + select((a < b) = (b < 9), max(e, 0), s)
  }
  return d
}
";
    let known = read(text);
    assert_eq!(known.to_string(), printed);
    assert_eq!(read(printed), known);
}

#[test]
fn numbers_that_may_be_too_large_are_refused() {
    let of = |body: &str, under: &str| {
        let text = format!("key K(a : 31, b : 31) : 62 {{ {body} }}");
        refuse(&text, code::KEY_RANGE, under);
    };
    of("return a << 32", "a << 32");
    of("return a - b", "a - b");
    of("return (a << 100) >> 90", "a << 100");
    of("return (a << 90 << 20) >> 90", "a << 90 << 20");
    of("return a floordiv b", "a floordiv b");
    of("return a mod (b - 1)", "a mod (b - 1)");
    of("return a << b", "a << b");
    of("return a and b - 1", "a and b - 1");
    of("return (a << 90) mod 3", "(a << 90) mod 3");
    of("return min((a << 90) + (a - b), 5)", "(a << 90) + (a - b)");
    of(
        "d = a for x in 0..100 { d = d * 2 } return d and 1",
        "d * 2",
    );
    of(
        "d = 0 for x in 0..70 { d = d - a * b } return d and 1",
        "d - a * b",
    );
    // One operation of a kernel serves all iterations.
    of(
        "d = 1 for x in 0..9 { e = (a << 10 * x) floordiv (1 << x) } return a",
        "(a << 10 * x) floordiv (1 << x)",
    );
    of(
        "for x in 0..2 { e = a * x - 1 f = e + (b << 40 * x) } return a",
        "e + (b << 40 * x)",
    );
}

#[test]
fn keys_of_too_many_steps_are_refused() {
    let of = |body: &str, under: &str| {
        refuse(
            &format!("key K(a : 31) : 62 {{ d = 0 {body} return d }}"),
            code::KEY_STEPS,
            under,
        );
    };
    of("for x in 0..20000 { d = a }", "for x in 0..20000");
    of("for x in 3..3 { d = a }", "for x in 3..3");
    of(
        "for x in 9223372036854775808..9223372036854775809 { d = a }",
        "for x in 9223372036854775808..9223372036854775809",
    );
    of(
        "for x in 0..200 { for y in 0..200 { d = a } }",
        "for y in 0..200",
    );
    let deep = "for x IN 0..2 { ".repeat(12);
    let deep = (0..12).fold(deep, |text, n| {
        text.replacen("x IN", &format!("x{n} in"), 1)
    });
    of(&format!("{deep} d = a {}", "}".repeat(12)), "for");
    of(&"d = a ".repeat(600), "d");
}

#[test]
fn names_are_known_where_they_stand() {
    let of = |body: &str, under: &str| {
        refuse(
            &format!("key K(abc : 31) : 62 {{ {body} }}"),
            code::KEY_NAME,
            under,
        );
    };
    of("return abd", "abd");
    of("for b in 0..31 { x = abc } return x", "x");
    of("d = d + 1 return d", "d");
    of("for b in 0..31 { b = 1 } return 0", "b");
    of("for abc in 0..31 { } return 0", "abc");
    of("select = 1 return 0", "select");
    of("return sqrt(abc)", "sqrt");
    of("return NR", "NR");
    refuse("key K(a : 3, a : 3) : 62 { return a }", code::KEY_NAME, "a");
}

#[test]
fn bits_and_names_of_keys_are_checked() {
    let refuse = |text: &str, under: &str| refuse(text, code::BAD_DECLARATION, under);
    refuse("key K(a : 63) : 62 { return a }", "63");
    refuse("key K(a : 0) : 62 { return a }", "0");
    refuse("key K(a : 8) : 129 { return a }", "129");
    refuse("key MORTON(a : 8) : 8 { return a }", "MORTON");
    refuse(
        "function K : {[i]} -> {[j]} key K(a : 8) : 8 { return a }",
        "K",
    );
    refuse(
        "key K(a : 8) : 8 { return a } key K(a : 8) : 8 { return a }",
        "K",
    );
    refuse(
        "forall n : 0 <= n => K(n) < K(n + 1) key K(a : 8) : 93 { return a }",
        "K",
    );
}

/// A key of several words compares as a tuple of them.
#[test]
fn wide_keys_are_tuples_of_words() {
    let wide = "key WIDE(a : 31, b : 31) : 93 {\n  return a << 62 or b\n}\n";
    let text = format!("{wide}forall n, m : n < m => WIDE(f(n), g(n)) <= WIDE(f(m), g(m))");
    let known = read(&text);
    let printed = format!(
        "{wide}forall n, m : n < m => LEX(WIDE.0(f(n), g(n)), WIDE.1(f(n), g(n))) <= \
         LEX(WIDE.0(f(m), g(m)), WIDE.1(f(m), g(m)))\n"
    );
    assert_eq!(known.to_string(), printed);
    assert_eq!(read(&printed), known);
    check(
        wide,
        &[(&[5, 7], Some((5 << 62) + 7)), (&[1 << 31, 0], None)],
    );
    refuse(
        &format!("{wide} forall n : 0 <= n => WIDE(n, n) < 5"),
        code::KEY_MISUSED,
        "WIDE",
    );
    refuse(
        &format!("{wide} forall n : 0 <= n => WIDE(n, n) + 1 < WIDE(n, n)"),
        code::KEY_MISUSED,
        "WIDE",
    );
    refuse(
        &format!("{wide} forall n : 0 <= n => WIDE.0(n) < 5"),
        code::RELATION_ARITY,
        "WIDE.0",
    );
}

#[test]
fn lists_are_checked_by_their_keys() {
    let known = read(
        "key SUM(a : 4, b : 4) : 5 { return a + b }
         function f : {[n] : 0 <= n < N} -> {[i] : 0 <= i}
         function g : {[n] : 0 <= n < N} -> {[i] : 0 <= i}
         forall n, m : 0 <= n < m < N => SUM(f(n), g(n)) < SUM(f(m), g(m))",
    );
    let found = |f: [i64; 3], g: [i64; 3]| {
        let mut data = Data::new();
        data.keys(&known);
        data.constant("N", 3);
        data.array("f", vec![3], move |at| f[at]);
        data.array("g", vec![3], move |at| g[at]);
        known.check(&data).map_err(|broken| broken.why)
    };
    assert_eq!(found([0, 3, 2], [1, 0, 2]), Ok(()));
    let quantifier = "`forall n, m : 0 <= n < m < N => SUM(f(n), g(n)) < SUM(f(m), g(m))`";
    assert_eq!(
        found([0, 3, 2], [1, 0, 1]),
        Err(format!("{quantifier} does not hold for n = 1, m = 2"))
    );
    assert_eq!(
        found([0, 3, 16], [1, 0, 1]),
        Err(format!(
            "{quantifier} does not hold: `SUM(16, 1)` has no value, for arguments of 4 and 4 bits"
        ))
    );
}
