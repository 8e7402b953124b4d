//! Loops along several modes: what the pass makes, and that it computes the same.

mod passed;

use sparsec_base::Source;
use sparsec_loop::interpret::{ArgumentData, Entries};
use sparsec_loop::{Function, passes};

use passed::{passed, result};

/// The product `V(m,j,n) += E(K,m) * T(K,j,n)` in the given loops, the outermost first, which end in
/// the statement `store`.
fn product(loops: &[&str], store: &str) -> Function {
    let head = r#"fn f(
  out V "(i, j, k) -> (i : dense, j : dense, k : dense)" {
    extent V.n0, extent V.n1, extent V.n2, write V.vals: f64 },
  in E "(i, j) -> (i : dense, j : dense)" { extent E.n0, extent E.n1, read E.vals: f64 },
  in T "(i, j, k) -> (i : dense, j : dense, k : dense)" {
    extent T.n0, extent T.n1, extent T.n2, read T.vals: f64 }) {
  fill V.vals[0..V.n0 * V.n1 * V.n2], 0.25
  "#;
    let begun: String = loops.iter().map(|it| format!("for {it} {{ ")).collect();
    let text = format!("{head}{begun}{store}{}", "}".repeat(loops.len() + 1));
    Function::parse(&Source::new("product", &text)).unwrap_or_else(|error| panic!("{error}"))
}

const LOOPS: [&str; 4] = [
    "j in 0..T.n1",
    "m in 0..E.n1",
    "K in 0..E.n0",
    "n in 0..T.n2",
];
const STORE: &str = "V.vals[(m * V.n1 + j) * V.n2 + n] += \
                     E.vals[K * E.n1 + m] * T.vals[(K * T.n1 + j) * T.n2 + n]";

/// As if all extents were 7.
fn collapsed(function: &Function) -> Function {
    passed(function, |changed| passes::collapse(changed, &|_| Some(7)))
}

fn tensor(extents: &[i64]) -> ArgumentData {
    let n: i64 = extents.iter().product();
    ArgumentData {
        extents: extents.to_vec(),
        buffers: vec![Entries::F64(
            (0..n).map(|at| at as f64 * 0.3 - 2.1).collect(),
        )],
    }
}

#[test]
fn one_loop_goes_along_two_modes() {
    let function = product(&LOOPS, STORE);
    let printed = collapsed(&function).to_string();
    for part in [
        "  let n_flat: bool = V.n2 == T.n2 and T.n1 <= V.n1\n",
        "  let j_left: i64 = select(n_flat, min(T.n1, 1), T.n1)\n",
        "  let n_all: i64 = select(n_flat, T.n1 * T.n2, T.n2)\n",
        "  for j in 0..j_left {\n    for m in 0..E.n1 {\n",
        "        for n in 0..n_all {\n          V.vals[(m * V.n1 + j) * V.n2 + n] += ",
    ] {
        assert!(printed.contains(part), "{part}\n{printed}");
    }
    assert_eq!(passes::collapsible(&function, &|_| Some(7)).len(), 1);
    // Columns fill tiles, and extents that are not known are no reason.
    assert!(passes::collapsible(&function, &|_| Some(24)).is_empty());
    assert!(passes::collapsible(&function, &|_| None).is_empty());
}

#[test]
fn loops_along_several_modes_give_the_same_bits() {
    let function = product(&LOOPS, STORE);
    let collapsed = collapsed(&function);
    for likely in [3, 7, 29] {
        let tiled = passed(&collapsed, |it| passes::tile(it, &|_| Some(likely)));
        assert!(tiled.to_string().contains("m_block"), "{tiled}");
        for [m, j, n, inner] in [
            [0, 2, 3, 2],
            [5, 0, 3, 2],
            [5, 2, 0, 2],
            [5, 2, 3, 0],
            [7, 1, 30, 2],
            [9, 4, 3, 2],
            [11, 7, 7, 3],
            [8, 3, 9, 1],
        ] {
            // The first has arrays that agree; rows and matrices of the others have a rest.
            for [more_j, more_n] in [[0, 0], [1, 0], [0, 1], [2, 3]] {
                let arguments = || {
                    let v = tensor(&[m, j + more_j, n + more_n]);
                    vec![v, tensor(&[inner, m]), tensor(&[inner, j, n])]
                };
                let expected = result(&function, arguments());
                for changed in [&collapsed, &tiled] {
                    assert_eq!(
                        result(changed, arguments()),
                        expected,
                        "{m} {j} {n}\n{changed}"
                    );
                }
            }
        }
    }
}

#[test]
fn three_modes_are_one_loop() {
    let text = r#"fn f(
  out V "(i, j, k, l) -> (i : dense, j : dense, k : dense, l : dense)" {
    extent V.n0, extent V.n1, extent V.n2, extent V.n3, write V.vals: f32 },
  in E "(i, j) -> (i : dense, j : dense)" { extent E.n0, extent E.n1, read E.vals: f32 },
  in T "(i, j, k, l) -> (i : dense, j : dense, k : dense, l : dense)" {
    extent T.n0, extent T.n1, extent T.n2, extent T.n3, read T.vals: f32 }) {
  fill V.vals[0..V.n0 * V.n1 * V.n2 * V.n3], 0.5f32
  for o in 0..T.n2 { for j in 0..T.n1 { for m in 0..E.n1 { for K in 0..E.n0 { for n in 0..T.n3 {
    V.vals[((m * V.n1 + j) * V.n2 + o) * V.n3 + n] +=
      E.vals[K * E.n1 + m] * T.vals[((K * T.n1 + j) * T.n2 + o) * T.n3 + n]
  } } } } } }"#;
    // The loop over `o` is outside of that over `j`, so two modes are one at first.
    let parse = |text: &str| {
        Function::parse(&Source::new("modes", text)).unwrap_or_else(|error| panic!("{error}"))
    };
    let printed = collapsed(&parse(text)).to_string();
    assert!(
        printed.contains("n_all: i64 = select(n_flat, T.n2 * T.n3, T.n3)"),
        "{printed}"
    );
    let text = text.replace(
        "for o in 0..T.n2 { for j in 0..T.n1 {",
        "for j in 0..T.n1 { for o in 0..T.n2 {",
    );
    let function = parse(&text);
    let collapsed = collapsed(&function);
    let printed = collapsed.to_string();
    assert!(
        printed.contains("select(n_flat, T.n1 * T.n2 * T.n3, T.n3)"),
        "{printed}"
    );
    let tiled = passed(&collapsed, |it| passes::tile(it, &|_| Some(6)));
    let values = |extents: &[i64]| ArgumentData {
        buffers: vec![Entries::F32(
            (0..extents.iter().product::<i64>())
                .map(|at| at as f32 * 0.3 - 2.1)
                .collect(),
        )],
        ..tensor(extents)
    };
    for [m, j, o, n] in [[6, 2, 3, 5], [9, 1, 4, 3], [5, 4, 0, 2], [7, 3, 2, 7]] {
        for more in [0, 1] {
            let arguments = || {
                let v = values(&[m, j, o + more, n]);
                vec![v, values(&[3, m]), values(&[3, j, o, n])]
            };
            let expected = result(&function, arguments());
            assert_eq!(result(&collapsed, arguments()), expected, "{collapsed}");
            assert_eq!(result(&tiled, arguments()), expected, "{tiled}");
        }
    }
}

#[test]
fn loops_stay_that_one_loop_would_not_be() {
    let mut kept: Vec<(&str, Function)> = Vec::new();
    let with_store = |store: &str| product(&LOOPS, store);
    for (why, from, to) in [
        (
            "T lies the other way",
            "(K * T.n1 + j) * T.n2 + n",
            "(K * T.n1 + n) * T.n2 + j",
        ),
        (
            "the place of a row is a number",
            "* T.vals",
            "* f64(j) * T.vals",
        ),
        ("the column is a number", "* T.vals", "* f64(n) * T.vals"),
        (
            "one row of T is read",
            "(K * T.n1 + j) * T.n2 + n",
            "(K * T.n1 + j) * T.n2",
        ),
        ("rows of several m meet", "(m * V.n1 + j)", "(m + j)"),
        ("V is read", "* T.vals[", "* V.vals[0] * T.vals["),
    ] {
        assert!(STORE.contains(from), "{from}");
        kept.push((why, with_store(&STORE.replace(from, to))));
    }
    let [j, m, inner, n] = LOOPS;
    kept.push((
        "j goes over a part",
        product(&["j in 1..T.n1", m, inner, n], STORE),
    ));
    kept.push((
        "K depends on j",
        product(&[j, m, "K in 0..min(j, E.n0)", n], STORE),
    ));
    kept.push((
        "j is taken in lanes",
        product(
            &["j in 0..T.n1 parallel(CPUVector, NoRaces)", m, inner, n],
            STORE,
        ),
    ));
    kept.push((
        "something else is done for each j",
        product(&LOOPS[..1], &format!("for x in 0..2 {{ V.vals[x] = 1.0 }} for {m} {{ for {inner} {{ for {n} {{ {STORE} }} }} }}")),
    ));
    for (why, function) in kept {
        assert!(
            passes::collapsible(&function, &|_| Some(7)).is_empty(),
            "{why}\n{function}"
        );
        assert_eq!(collapsed(&function), function, "{why}");
    }
    assert!(!passes::collapsible(&with_store(STORE), &|_| Some(7)).is_empty());
}
