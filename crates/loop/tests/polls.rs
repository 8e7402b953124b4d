//! Where kernels ask whether anybody still waits.

use sparsec_base::Source;
use sparsec_loop::interpret::{ArgumentData, Entries, Options, Outcome, interpret};
use sparsec_loop::{Failure, Function, passes};

fn parse(body: &str) -> Function {
    let text = format!(
        r#"fn f(
          out y "" {{ extent n, write y: f64 }},
          in x "" {{ read pos: i64, read crd: i64, read x: f64 }}) {{ {body} }}"#
    );
    Function::parse(&Source::new("test", &text)).unwrap_or_else(|error| panic!("{error}"))
}

/// What `polls` makes of a body, where `n` is known or not.
fn polled(body: &str, n: Option<u64>) -> Function {
    let mut function = parse(body);
    passes::polls(&mut function, &|_| n);
    function
}

#[track_caller]
fn check(n: Option<u64>, body: &str, expect: &str) {
    assert_eq!(polled(body, n).to_string(), parse(expect).to_string());
}

/// Nothing changes.
#[track_caller]
fn check_same(n: Option<u64>, body: &str) {
    check(n, body, body);
}

#[test]
fn loops_that_are_known_to_be_short_do_not_ask() {
    check_same(Some(1000), "for i in 0..n { y[i] = 1.0 }");
    check_same(None, "for i in 0..1000 { y[i] = 1.0 }");
    check_same(None, "for i in 0..n unroll 1 { y[i] = 1.0 }");
}

#[test]
fn a_long_loop_is_taken_in_strips() {
    let body = "for i in 2..n { y[i] = 1.0 }";
    let expect = "
      let i_strips: i64 = (n - 2 + 1048575) // 1048576
      for i_strip in 0..i_strips {
        poll
        let i_from: i64 = 2 + i_strip * 1048576
        let i_to: i64 = min(n, i_from + 1048576)
        for i in i_from..i_to { y[i] = 1.0 }
      }";
    check(None, body, expect);
    check(Some(1 << 40), body, expect);
}

/// A bound is evaluated before the loop, which may change what it depends on.
#[test]
fn bounds_are_evaluated_once() {
    check(
        None,
        "var t: i64 = n for i in 0..t { t = 1 y[i] = 1.0 }",
        "var t: i64 = n
         let i_end: i64 = t
         let i_strips: i64 = (i_end + 1048575) // 1048576
         for i_strip in 0..i_strips {
           poll
           let i_from: i64 = i_strip * 1048576
           let i_to: i64 = min(i_end, i_from + 1048576)
           for i in i_from..i_to { t = 1 y[i] = 1.0 }
         }",
    );
}

#[test]
fn loops_over_rows_ask_and_those_along_rows_do_not() {
    let ask = |poll: &str| {
        format!("for i in 0..n {{ {poll} for p in pos[i]..pos[i + 1] {{ y[i] += x[p] }} }}")
    };
    check(None, &ask(""), &ask("poll"));
    check(Some(1000), &ask(""), &ask("poll"));
}

/// A nest asks where its extents make it long, as outside as they let it.
#[test]
fn nests_ask_by_their_extents() {
    let nest = |outer: &str, inner: &str| {
        format!(
            "for i in 0..n {{ {outer} for j in 0..n {{ {inner} \
             for k in 0..n {{ y[i] += x[j] * x[k] }} }} }}"
        )
    };
    check(Some(1000), &nest("", ""), &nest("poll", ""));
    check(Some(2000), &nest("", ""), &nest("poll", "poll"));
}

/// What goes along with a variable of a loop around is bounded as that is.
#[test]
fn triangles_are_as_long_as_their_sides() {
    let triangle = |bounds: &str, poll: &str| {
        format!(
            "for i in 0..n {{ {poll} for j in {bounds} {{ for k in 0..1000 {{ y[i] += x[k] }} }} }}"
        )
    };
    for bounds in ["0..i + 1", "i..n", "0..n - i"] {
        for (n, inside) in [(1000, ""), (5000, "poll")] {
            let text = polled(&triangle(bounds, ""), Some(n)).to_string();
            assert_eq!(
                text.matches("poll").count(),
                1 + inside.len() / 4,
                "{bounds}, {n}"
            );
        }
    }
}

/// Blocks of an extent are as long as any of them.
#[test]
fn blocks_of_chunks_are_as_long_as_the_first() {
    let blocks = |strips: &str| {
        format!(
            "var n_chunks: i64 = 1
             while n_chunks < 8 {{ n_chunks *= 2 }}
             for chunk in 0..n_chunks chunks {{
               for b in 8 * chunk // n_chunks..8 * (chunk + 1) // n_chunks {{
                 poll
                 {strips}
               }}
             }}
             for part in 0..n_chunks {{ y[part] = 1.0 }}"
        )
    };
    let plain = "for i in b * 8388608..(b + 1) * 8388608 { y[b] += x[i] }";
    let text = polled(&blocks(plain).replace("poll", ""), None).to_string();
    let strips = "
      let i_start: i64 = b * 8388608
      let i_end: i64 = (b + 1) * 8388608
      let i_strips: i64 = (i_end - i_start + 1048575) // 1048576
      for i_strip in 0..i_strips {
        poll
        let i_from: i64 = i_start + i_strip * 1048576
        let i_to: i64 = min(i_end, i_from + 1048576)
        for i in i_from..i_to { y[b] += x[i] }
      }";
    assert_eq!(text, parse(&blocks(strips)).to_string());
}

/// A merge that stands alone goes along each operand in strips.
#[test]
fn merges_are_taken_in_strips() {
    let head = "var p: i64 = pos[0] var q: i64 = pos[1] ";
    let turn = "y[crd[p]] = x[q] p += i64(crd[p] <= crd[q]) q += i64(crd[q] <= crd[p])";
    check(
        None,
        &format!("{head} while p < pos[1] and q < pos[2] {{ {turn} }}"),
        &format!(
            "{head} while p < pos[1] and q < pos[2] {{
               poll
               let p_to: i64 = min(pos[1], p + 1048576)
               let q_to: i64 = min(pos[2], q + 1048576)
               while p < p_to and q < q_to {{ {turn} }}
             }}"
        ),
    );
    // Where the bound moves, each turn asks.
    let moves = |poll: &str| {
        format!(
            "{head} var end: i64 = n while p < end {{ {poll} y[p] = 1.0 p += 1 end = end - 1 }}"
        )
    };
    check(None, &moves(""), &moves("poll"));
}

#[test]
fn long_fills_are_taken_in_strips() {
    check_same(Some(1 << 23), "fill y[0..n], 0.0");
    check(
        Some(1 << 30),
        "fill y[0..n], 0.0",
        "let y_strips: i64 = (n + 8388607) // 8388608
         for y_strip in 0..y_strips {
           poll
           let y_from: i64 = y_strip * 8388608
           let y_to: i64 = min(n, y_from + 8388608)
           fill y[y_from..y_to], 0.0
         }",
    );
}

/// More than a strip, and a strip that is not full.
#[test]
fn strips_compute_what_the_loop_does() {
    let body = "
      fill y[0..3], 0.0
      for i in 5..n { y[i % 3] += f64(i) }
      var p: i64 = 0
      while p < n { y[0] += 2.0 p += 1 }";
    let n = (1 << 20) + 77;
    let run = |function: &Function| {
        let mut arguments = [
            ArgumentData {
                extents: vec![n],
                buffers: vec![Entries::F64(vec![0.0; 3])],
            },
            ArgumentData {
                extents: vec![],
                buffers: vec![
                    Entries::I64(vec![]),
                    Entries::I64(vec![]),
                    Entries::F64(vec![]),
                ],
            },
        ];
        let outcome = interpret(function, &mut arguments, &Options::default());
        assert_eq!(outcome, Ok(Outcome::Done));
        arguments[0].buffers[0].clone()
    };
    let function = polled(body, None);
    assert_eq!(function.to_string().matches("poll").count(), 2);
    assert_eq!(run(&function), run(&parse(body)));
}

/// The interpreter asks wherever the function does.
#[test]
fn the_interpreter_asks_in_any_loop() {
    for body in [
        "for i in 0..n { y[0] = 1.0 }",
        "var p: i64 = 0 while p < n { p += 0 }",
        "for i in 0..n { if i < 0 { y[0] = 1.0 } }",
    ] {
        let asked = std::cell::Cell::new(0);
        let cancelled = || {
            asked.set(asked.get() + 1);
            asked.get() == 3
        };
        let options = Options {
            cancelled: Some(&cancelled),
            ..Options::default()
        };
        let mut arguments = [
            ArgumentData {
                extents: vec![1 << 60],
                buffers: vec![Entries::F64(vec![0.0; 1])],
            },
            ArgumentData {
                extents: vec![],
                buffers: vec![
                    Entries::I64(vec![]),
                    Entries::I64(vec![]),
                    Entries::F64(vec![]),
                ],
            },
        ];
        let outcome = interpret(&parse(body), &mut arguments, &options);
        assert_eq!(outcome, Ok(Outcome::Failed(Failure::Cancelled)), "{body}");
    }
}
