//! Short loops with constant bounds: what the pass makes, and that it computes the same.

mod passed;

use sparsec_base::Source;
use sparsec_loop::interpret::{ArgumentData, Entries};
use sparsec_loop::{Function, passes};

use passed::{passed, result};

/// Each entry of `t` times a row of `A` times a row of `B`, each with each, with what stands in
/// the loop over entries.
fn outer(body: &str) -> Function {
    let text = format!(
        r#"fn f(
          out M "(i, j, k) -> (i : dense, j : dense, k : dense)" {{
            extent m, extent M.n1, extent M.n2, write M.vals: f64 }},
          in t "(i) -> (i : compressed)" {{ extent t.n0, read pos: i64, read crd: i64, read t.vals: f64 }},
          in A "(i, j) -> (i : dense, j : dense)" {{ extent A.n0, extent A.n1, read A.vals: f64 }},
          in B "(i, j) -> (i : dense, j : dense)" {{ extent B.n0, extent B.n1, read B.vals: f64 }}) {{
          fill M.vals[0..m * M.n1 * M.n2], 0.5
          for p in pos[0]..pos[1] {{ {body} }}
        }}"#
    );
    Function::parse(&Source::new("outer", &text)).unwrap_or_else(|error| panic!("{error}"))
}

const BODY: &str = "let i: i64 = crd[p]
  for r in 0..A.n1 {
    let a: f64 = t.vals[p] * A.vals[i * A.n1 + r]
    for s in 0..B.n1 { M.vals[(i * M.n1 + r) * M.n2 + s] += a * B.vals[i * B.n1 + s] }
  }";

fn shortened(function: &Function, likely: u64) -> Function {
    passed(function, |changed| {
        passes::short(changed, &|_| Some(likely))
    })
}

/// Three entries in two rows, with `n` and `m` columns.
fn arguments(n: i64, m: i64) -> Vec<ArgumentData> {
    let numbers = |len: i64| Entries::F64((0..len).map(|at| at as f64 * 0.7 - 3.1).collect());
    let argument = |extents: &[i64], buffers| ArgumentData {
        extents: extents.to_vec(),
        buffers,
    };
    let lists = [vec![0, 3], vec![0, 1, 1]].map(Entries::I64);
    vec![
        argument(&[2, n, m], vec![numbers(2 * n * m)]),
        argument(&[2], lists.into_iter().chain([numbers(3)]).collect()),
        argument(&[2, n], vec![numbers(2 * n)]),
        argument(&[2, m], vec![numbers(2 * m)]),
    ]
}

#[test]
fn one_test_chooses_constant_bounds_for_a_nest() {
    let printed = shortened(&outer(BODY), 16).to_string();
    for part in [
        "let r_short: bool = M.n1 == 16 and M.n2 == 16 and A.n1 == 16 and B.n1 == 16\n",
        "if r_short {\n      for r_2 in 0..16 {",
        "for s_2 in 0..16 {\n          M.vals[(i * 16 + r_2) * 16 + s_2]",
        "} else {\n      for r in 0..A.n1 {",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
}

#[test]
fn other_extents_are_as_right() {
    let function = outer(BODY);
    for likely in [4, 5, 64] {
        let short = shortened(&function, likely);
        assert!(short.to_string().contains("r_short"), "{short}");
        for n in [0, 1, 4, 5, 6, 64] {
            for m in [0, 4, 5, 64] {
                let expected = result(&function, arguments(n, m));
                assert_eq!(
                    result(&short, arguments(n, m)),
                    expected,
                    "{n}, {m}\n{short}"
                );
            }
        }
    }
}

#[test]
fn other_loops_stay_as_they_are() {
    let chosen = |body: &str, likely| {
        let function = outer(body);
        let is_chosen = !passes::short_extents(&function, &|_| Some(likely)).is_empty();
        let changed = shortened(&function, likely) != function;
        assert_eq!(changed, is_chosen, "{function}");
        is_chosen
    };
    assert!(chosen(BODY, 16));
    // Loops of fewer than 4 iterations, or of more than 64, gain nothing.
    assert!(!chosen(BODY, 3) && !chosen(BODY, 65));
    // The bounds of a loop inside are not known before.
    let positions = BODY.replace("0..B.n1", "pos[0]..pos[1]");
    assert!(!chosen(&positions, 16));
    // A loop that no other loop is around runs once.
    let alone = "for r in 0..A.n1 { M.vals[r] = 1.0 }";
    let text = outer("")
        .to_string()
        .replace("for p in pos[0]..pos[1] {", alone);
    let text = text.replacen(&format!("{alone}\n  }}"), alone, 1);
    let function = Function::parse(&Source::new("alone", &text));
    let function = function.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(shortened(&function, 16), function);
}
