//! Rows kept in tiles: what the pass makes, and that it computes the same.

mod passed;

use sparsec_base::{ElementType, Source};
use sparsec_loop::interpret::{ArgumentData, Entries};
use sparsec_loop::{Function, passes};

use passed::{passed, result};

/// `C = A B`, with what stands in the loop over rows.
fn product(body: &str) -> Function {
    let text = format!(
        r#"fn f(
          out C "(i, j) -> (i : dense, j : dense)" {{ extent m, extent n, write C.vals: f64 }},
          in A "(i, j) -> (i : dense, j : compressed)" {{
            extent A.n0, extent A.n1, read pos: i64, read crd: i64, read A.vals: f64 }},
          in B "(i, j) -> (i : dense, j : dense)" {{
            extent B.n0, extent B.n1, read B.vals: f64 }}) {{
          for i in 0..m {{ {body} }}
        }}"#
    );
    Function::parse(&Source::new("product", &text)).unwrap_or_else(|error| panic!("{error}"))
}

const FILLED: &str = "fill C.vals[i * n..(i + 1) * n], 0.0
  for p in pos[i]..pos[i + 1] {
    let j: i64 = crd[p]
    for k in 0..B.n1 { C.vals[i * n + k] += A.vals[p] * B.vals[j * B.n1 + k] }
  }";

/// As where rows that hold something already are added to, in nests of their own.
const NESTED: &str = "fill C.vals[i * n..(i + 1) * n], 1.0
  if i > 0 {
    for o in 0..2 {
      for p in pos[i]..pos[i + 1] {
        if crd[p] > o {
          for k in 0..B.n1 { C.vals[i * n + k] max= A.vals[p] * B.vals[crd[p] * B.n1 + k] }
        } else {
          for k_2 in 0..B.n1 { C.vals[i * n + k_2] max= f64(k_2) }
        }
      }
    }
  }";

fn tiled(function: &Function, likely: u64) -> Function {
    passed(function, |changed| passes::tile(changed, &|_| Some(likely)))
}

fn check(body: &str, expect: &str) {
    let printed = tiled(&product(body), 8).to_string();
    let head = product("").to_string().lines().count() - 3;
    let lines: Vec<&str> = printed.lines().skip(head).collect();
    let lines = lines[..lines.len() - 1].iter();
    let body: Vec<&str> = lines.map(|line| line.strip_prefix("  ").unwrap()).collect();
    assert_eq!(body.join("\n"), expect.trim_matches('\n'));
}

/// Three rows of `A` times rows of `n` entries.
fn arguments(n: i64) -> Vec<ArgumentData> {
    let argument = |extents: &[i64], buffers| ArgumentData {
        extents: extents.to_vec(),
        buffers,
    };
    let numbers = |len: i64| Entries::F64((0..len).map(|at| at as f64 * 0.75 - 3.0).collect());
    vec![
        argument(&[3, n], vec![numbers(3 * n)]),
        argument(
            &[3, 2],
            vec![
                Entries::I64(vec![0, 2, 2, 4]),
                Entries::I64(vec![0, 1, 0, 1]),
                numbers(4),
            ],
        ),
        argument(&[2, n], vec![numbers(2 * n)]),
    ]
}

#[test]
fn a_row_that_was_filled_begins_in_its_tile() {
    check(
        FILLED,
        "
alloc C.tile: f64[8]
let k_strips: i64 = min(B.n1, n) // 8
let k_rest: i64 = k_strips * 8
for i in 0..m {
  for k_strip in 0..k_strips {
    let k_first: i64 = k_strip * 8
    fill C.tile[0..8], 0.0
    for p in pos[i]..pos[i + 1] {
      let j: i64 = crd[p]
      for k_lane in 0..8 {
        C.tile[k_lane] += A.vals[p] * B.vals[j * B.n1 + k_first + k_lane]
      }
    }
    for k_lane_2 in 0..8 {
      C.vals[i * n + k_first + k_lane_2] = C.tile[k_lane_2]
    }
  }
  fill C.vals[i * n + k_rest..(i + 1) * n], 0.0
  if k_rest < B.n1 or k_rest == 0 {
    for p_2 in pos[i]..pos[i + 1] {
      let j_2: i64 = crd[p_2]
      for k_2 in k_rest..B.n1 {
        C.vals[i * n + k_2] += A.vals[p_2] * B.vals[j_2 * B.n1 + k_2]
      }
    }
  }
}
",
    );
}

#[test]
fn the_first_entry_loads_any_other_row() {
    let (_, unfilled) = FILLED.split_once(", 0.0").expect("rows are filled");
    let printed = tiled(&product(unfilled), 8).to_string();
    for part in [
        "var C_tile_loaded: bool = false",
        "C.tile[k_lane_2] = C.vals[i * n + k_first + k_lane_2] + A.vals[p]",
        "if C_tile_loaded {\n        for k_lane_3 in 0..8 {\n          C.vals[",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
}

#[test]
fn rows_of_any_length_are_the_same() {
    for body in [FILLED, NESTED] {
        let function = product(body);
        for likely in 4..10 {
            let tiled = tiled(&function, likely);
            assert!(tiled.to_string().contains("C.tile"), "{tiled}");
            for n in 0..=20 {
                let expected = result(&function, arguments(n));
                assert_eq!(result(&tiled, arguments(n)), expected, "{n}\n{tiled}");
            }
        }
    }
}

#[test]
fn a_row_that_no_entry_adds_to_need_not_be_there() {
    // The second row of `A` is empty, and that of `C` would be far away.
    let function = product(
        "fill C.vals[i * n..(i + 1) * n], 0.0
         let at: i64 = select(i == 1, 1000000, i)
         let base: i64 = at * n
         for p in pos[i]..pos[i + 1] {
           for k in 0..B.n1 { C.vals[base + k] += A.vals[p] * B.vals[crd[p] * B.n1 + k] }
         }",
    );
    let expected = result(&function, arguments(8));
    let tiled = tiled(&function, 8);
    assert!(tiled.to_string().contains("loaded"), "{tiled}");
    assert_eq!(result(&tiled, arguments(8)), expected);
}

#[test]
fn what_a_nest_must_not_repeat_is_left_alone() {
    let changed = |body: &str| {
        let function = product(body);
        !passes::tile_shapes(&function, &|_| Some(8)).is_empty()
    };
    assert!(changed(FILLED));
    let inside = |stmt: &str| {
        FILLED.replace(
            "let j: i64 = crd[p]",
            &format!("let j: i64 = crd[p] {stmt}"),
        )
    };
    assert!(changed(&inside("let twice: i64 = 2 * j")));
    // Reads or writes the row, stores elsewhere, fails.
    assert!(!changed(&inside("let old: f64 = C.vals[i * n]")));
    assert!(!changed(&inside("C.vals[i * n] = 0.0")));
    assert!(!changed(&inside("fail division_by_zero")));
    // Counts; notes that there was something; and that it had noted it.
    let outside = |stmt: &str| format!("var seen: i64 = 0 {}", inside(stmt));
    assert!(!changed(&outside("seen += 1")));
    assert!(changed(&outside("seen = 1")));
    assert!(!changed(&outside("if seen == 0 { seen = 1 }")));
    // Another row for each entry, one that does not begin where it is, a scan.
    assert!(!changed(
        &FILLED.replace("C.vals[i * n + k]", "C.vals[j * n + k]")
    ));
    assert!(!changed(&FILLED.replace("for k in 0", "for k in 1")));
    assert!(!changed(&FILLED.replace("+= A.vals[p]", "= A.vals[p]")));
}

#[test]
fn tiles_are_as_many_bytes_whatever_they_hold() {
    for element in ElementType::ALL {
        let width = passes::tile_width(1 << 40, element).expect("a long row has a tile");
        assert_eq!(width as usize * element.size(), passes::MOST_BYTES);
        assert_eq!(passes::tile_width(5, element), Some(5));
    }
}

#[test]
fn notes_are_made_once_a_strip() {
    let noted = FILLED.replace("for k in 0..B.n1 {", "for k in 0..B.n1 { seen = 1");
    let function = product(&format!(
        "var seen: i64 = 0 {noted} C.vals[i * n] += f64(seen)"
    ));
    let tiled = tiled(&function, 8);
    let printed = tiled.to_string();
    assert!(
        printed.contains("+ k_lane]\n        }\n        seen = 1"),
        "{printed}"
    );
    for n in 1..20 {
        let expected = result(&function, arguments(n));
        assert_eq!(result(&tiled, arguments(n)), expected, "{n}");
    }
}

/// A product of dense matrices, with what stands in the loop over rows.
fn dense_product(body: &str) -> Function {
    let matrix = |name: &str, access: &str| {
        format!(
            r#"{access} {name} "(i, j) -> (i : dense, j : dense)" {{
              extent {name}.n0, extent {name}.n1, {} {name}.vals: f64 }}"#,
            if access == "out" { "write" } else { "read" },
        )
    };
    let text = format!(
        "fn f({}, {}, {}) {{ fill C.vals[0..C.n0 * C.n1], 0.25 for i in 0..C.n0 {{ {body} }} }}",
        matrix("C", "out"),
        matrix("A", "in"),
        matrix("B", "in"),
    );
    Function::parse(&Source::new("product", &text)).unwrap_or_else(|error| panic!("{error}"))
}

const DENSE: &str = "for k in 0..A.n1 {
    let a: f64 = A.vals[i * A.n1 + k]
    for j in 0..B.n1 { C.vals[i * C.n1 + j] += a * B.vals[k * B.n1 + j] }
  }";

/// A matrix of `rows` by `inner` numbers and one of `inner` by `columns`.
fn dense_arguments(rows: i64, inner: i64, columns: i64) -> Vec<ArgumentData> {
    let matrix = |n: i64, m: i64| ArgumentData {
        extents: vec![n, m],
        buffers: vec![Entries::F64(
            (0..n * m).map(|at| at as f64 * 0.7 - 3.1).collect(),
        )],
    };
    vec![
        matrix(rows, columns),
        matrix(rows, inner),
        matrix(inner, columns),
    ]
}

#[test]
fn rows_that_share_their_nest_are_in_one_tile() {
    let filled = format!("fill C.vals[i * C.n1..(i + 1) * C.n1], 0.5 {DENSE}");
    for body in [DENSE, &filled] {
        let function = dense_product(body);
        // Each is a guess that others are run with.
        for likely in [4, 5, 11, 29] {
            let tiled = tiled(&function, likely);
            let text = tiled.to_string();
            assert!(text.contains("i_block"), "{text}");
            for rows in [0, 1, 2, 5, 6, 11] {
                for columns in [0, 1, 3, 4, 12, 27, 30] {
                    for inner in [0, 1, 4] {
                        let arguments = || dense_arguments(rows, inner, columns);
                        let expected = result(&function, arguments());
                        let size = (rows, inner, columns);
                        assert_eq!(result(&tiled, arguments()), expected, "{size:?}\n{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_block_of_rows_goes_through_the_nest_once() {
    let printed = tiled(&dense_product(DENSE), 6).to_string();
    for part in [
        "alloc C.tile: f64[24]",
        "let i_blocks: i64 = select(B.n1 <= C.n1 and A.n1 > 0, C.n0 // 6, 0)",
        "for k_2 in 0..A.n1 {\n        for j_lane_7_2 in 0..4 {",
        "C.tile[j_lane_7_2] += a_2_2 * B.vals[k_2 * B.n1 + j_first + j_lane_7_2]",
        "if j_rest_2 < B.n1 {",
        "for i in i_rest..C.n0 {",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
}

/// `V(m,j,n) += E(K,m) * T(K,j,n)`: rows `m` of `V` lie a matrix apart.
const APART: &str = r#"fn f(
  out V "(i, j, k) -> (i : dense, j : dense, k : dense)" {
    extent V.n0, extent V.n1, extent V.n2, write V.vals: f64 },
  in E "(i, j) -> (i : dense, j : dense)" { extent E.n0, extent E.n1, read E.vals: f64 },
  in T "(i, j, k) -> (i : dense, j : dense, k : dense)" {
    extent T.n0, extent T.n1, extent T.n2, read T.vals: f64 }) {
  fill V.vals[0..V.n0 * V.n1 * V.n2], 0.0
  for j in 0..T.n1 {
    for m in 0..E.n1 {
      for K in 0..E.n0 {
        for n in 0..T.n2 {
          V.vals[(m * V.n1 + j) * V.n2 + n] += E.vals[K * E.n1 + m] * T.vals[(K * T.n1 + j) * T.n2 + n]
        }
      }
    }
  }
}"#;

#[test]
fn rows_that_lie_apart_are_in_one_tile() {
    let function = Function::parse(&Source::new("apart", APART));
    let function = function.unwrap_or_else(|error| panic!("{error}"));
    let tiled = tiled(&function, 8);
    assert!(tiled.to_string().contains("m_block"), "{tiled}");
    let tensor = |extents: &[i64]| ArgumentData {
        extents: extents.to_vec(),
        buffers: vec![Entries::F64(
            (0..extents.iter().product())
                .map(|at: i64| at as f64 * 0.3 - 2.0)
                .collect(),
        )],
    };
    for [m, j, n, inner] in [
        [0, 2, 3, 2],
        [1, 1, 1, 1],
        [9, 0, 9, 2],
        [9, 3, 13, 2],
        [16, 2, 8, 0],
        [17, 4, 30, 5],
    ] {
        let arguments = || {
            vec![
                tensor(&[m, j, n]),
                tensor(&[inner, m]),
                tensor(&[inner, j, n]),
            ]
        };
        let expected = result(&function, arguments());
        assert_eq!(result(&tiled, arguments()), expected, "{m} {j} {n} {inner}");
    }
}

#[test]
fn rows_are_apart_and_share_their_nest_or_have_tiles_of_their_own() {
    let has_block = |body: &str| {
        let tiled = tiled(&dense_product(body), 8).to_string();
        tiled.contains("i_block")
    };
    assert!(has_block(DENSE));
    // Rows that overlap, the same row again, a nest that depends on the row.
    assert!(!has_block(&DENSE.replace("i * C.n1 + j", "i * 2 + j")));
    assert!(!has_block(
        &DENSE.replace("C.vals[i * C.n1 + j]", "C.vals[j]")
    ));
    assert!(!has_block(&DENSE.replace("0..A.n1", "0..i")));
    assert!(!has_block(&DENSE.replace("0..A.n1", "i..A.n1")));
    // A condition, which is that of one row; something else in the loop over rows.
    let conditional = DENSE.replace("for j", "if a > 0.0 { for j") + "}";
    assert!(!has_block(&conditional));
    assert!(!has_block(&format!("{DENSE} C.vals[0] = 1.0")));
    assert!(!has_block(&format!("C.vals[0] = 1.0 {DENSE}")));
}
