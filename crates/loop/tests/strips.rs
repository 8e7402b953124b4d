//! Loops over rows that fill slots a strip at a time: what the pass makes, and that it computes the same.

mod passed;

use sparsec_base::Source;
use sparsec_loop::interpret::{ArgumentData, Entries};
use sparsec_loop::{Function, passes};

use passed::{passed, result};

/// Rows of a list of segments, stored to slots of which there are `m`.
fn rows(length: &str, between: &str, store: &str) -> Function {
    let text = format!(
        r#"fn f(
          out B "(s, i) -> (s : dense, i : dense)" {{ extent m, extent n, write B.vals: f64 }},
          in A "(i, j) -> (i : dense, j : compressed)" {{
            extent A.n0, extent A.n1, read pos: i64, read crd: i64, read A.vals: f64 }}) {{
          let length: i64 = {length}
          fill B.vals[0..length], 0.5
          {between}
          for i in 0..n {{
            for q in pos[i]..pos[i + 1] {{ {store} }}
          }}
        }}"#
    );
    Function::parse(&Source::new("rows", &text)).unwrap_or_else(|error| panic!("{error}"))
}

const STORE: &str = "B.vals[(q - pos[i]) * n + i] = A.vals[q]";

fn arguments(n: i64, m: i64) -> Vec<ArgumentData> {
    let argument = |extents: &[i64], buffers| ArgumentData {
        extents: extents.to_vec(),
        buffers,
    };
    let ends: Vec<i64> = (0..=n).map(|i| i * (m - 1) - i / 3).collect();
    let n_stored = ends[n as usize];
    let numbers = |len: i64| Entries::F64((0..len).map(|at| at as f64 * 0.7 - 3.1).collect());
    let crd = Entries::I64((0..n_stored).collect());
    vec![
        argument(&[m, n], vec![numbers(m * n)]),
        argument(&[n, m], vec![Entries::I64(ends), crd, numbers(n_stored)]),
    ]
}

#[test]
fn a_loop_over_rows_fills_their_slots() {
    let function = rows("m * n", "", STORE);
    let changed = passed(&function, passes::strips);
    let printed = changed.to_string();
    for part in [
        "for strip in 0..(n + 1023) // 1024 {",
        "let end: i64 = min(begin + 1024, n)",
        "for slot in 0..m {\n      fill B.vals[slot * n + begin..slot * n + end], 0.5\n",
        "for i in begin..end {",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(!printed.contains("0..length]"), "{printed}");
    for n in [0, 1, 1023, 1024, 1025, 2500] {
        let given = || arguments(n, 4);
        assert_eq!(result(&function, given()), result(&changed, given()), "{n}");
    }
}

#[test]
fn one_value_may_be_stored_by_a_loop() {
    let loops = "for x in 0..m * n { B.vals[x] = 0.25 }";
    let function = rows("0", loops, STORE);
    let changed = passed(&function, passes::strips);
    let printed = changed.to_string();
    assert!(
        printed.contains("B.vals[slot * n + row] = 0.25"),
        "{printed}"
    );
    let given = || arguments(2500, 4);
    assert_eq!(result(&function, given()), result(&changed, given()));
}

#[test]
fn other_loops_stay() {
    let store = |index: &str| format!("B.vals[{index}] = A.vals[q]");
    let sum = "B.vals[(q - pos[i]) * n + i] += A.vals[q]";
    let read = "B.vals[(q - pos[i]) * n + i] = A.vals[q] + B.vals[i]";
    for function in [
        rows("n", "", STORE),
        rows("m * m", "", STORE),
        rows("m * n", "B.vals[0] = 1.0", STORE),
        rows("m * n", "", &store("q - pos[i] + i")),
        rows("m * n", "", &store("(q - pos[i]) * m + i")),
        rows("m * n", "", &store("i * n + q - pos[i]")),
        rows("m * n", "", sum),
        rows("m * n", "", read),
    ] {
        let changed = passed(&function, passes::strips);
        assert_eq!(changed.to_string(), function.to_string());
    }
}
