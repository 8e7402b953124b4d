//! Computations on every engine: loops visit the points of sets in order, and
//! products with matrices are what they are whichever descriptor they follow.
//!
//! A set is visited by a statement that folds the points into one number, in an order
//! that matters; the same fold goes over the points as they are enumerated.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sparsec::internals::relation::{Environment, Set};
use sparsec::internals::{Computation, Given, compile_computation};
use sparsec::{Backend, Code, Options, Session, Tensor, code};

const BASE: i64 = 1009;
const PRIME: i64 = 1_000_003;

/// Integers by name, and arrays of them.
#[derive(Clone, Default)]
struct World {
    constants: Vec<(&'static str, i64)>,
    arrays: Vec<(&'static str, &'static str, Vec<i32>)>,
    declarations: &'static str,
}

fn matrices() -> World {
    World {
        constants: vec![("N", 4), ("M", 5), ("NZ", 6), ("ND", 3), ("B", 2)],
        arrays: vec![
            ("pos", "N + 1", vec![0, 2, 2, 5, 6]),
            ("crd", "NZ", vec![1, 4, 0, 2, 3, 1]),
            ("off", "ND", vec![-2, 0, 3]),
            ("perm", "N", vec![2, 0, 3, 1]),
            ("fall", "ND", vec![5, 5, 1]),
        ],
        declarations: "
            assume 0 < B && pos(0) = 0 && pos(N) = NZ
            function pos : {[i] : 0 <= i <= N} -> {[k] : 0 <= k <= NZ} nondecreasing
            function crd : {[k] : 0 <= k < NZ} -> {[j] : 0 <= j < M}
            function off : {[d] : 0 <= d < ND} -> {[x] : -N < x < M} increasing
            function perm : {[t] : 0 <= t < N} -> {[i] : 0 <= i < N} injective
            function fall : {[d] : 0 <= d < ND} -> {[x]} nonincreasing
            forall i, a, b : pos(i) <= a < b < pos(i + 1) => crd(a) < crd(b)",
    }
}

fn small() -> World {
    World {
        constants: vec![("N", 2), ("M", 3)],
        arrays: vec![
            ("f", "M", vec![1, 0, 2]),
            ("up", "M + 1", vec![0, 1, 1, 3]),
            ("down", "M", vec![2, 1, -1]),
            ("perm", "M", vec![2, 0, 1]),
        ],
        declarations: "
            assume N <= M
            function f : {[i] : 0 <= i < M} -> {[x] : 0 <= x < M}
            function up : {[i] : 0 <= i <= M} -> {[x] : 0 <= x <= M} nondecreasing
            function down : {[i] : 0 <= i < M} -> {[x] : -1 <= x < M} decreasing
            function perm : {[i] : 0 <= i < M} -> {[x] : 0 <= x < M} injective",
    }
}

impl World {
    /// A computation that folds the points of a set.
    fn fold(&self, set: &Set) -> Computation {
        let names: Vec<&str> = self.constants.iter().map(|(name, _)| *name).collect();
        let given: Vec<String> = self
            .arrays
            .iter()
            .map(|(name, extent, _)| format!("{name} : i32[{extent}]"))
            .collect();
        let part = &set.parts()[0];
        let terms: Vec<String> = (1..)
            .zip(part.inputs())
            .map(|(factor, v)| format!(" + {} * {}", 7 * factor, part.name(v)))
            .collect();
        let text = format!(
            "computation fold {{
               parameters {}
               {}
               given {}
               out h : i64
               s0: h = (h * {BASE} + 11{}) mod {PRIME} over {set}
             }}",
            names.join(", "),
            self.declarations,
            given.join(", "),
            terms.concat(),
        );
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The fold of the points as they are enumerated.
    fn expected(&self, set: &Set) -> i64 {
        let mut known = Environment::new();
        for (name, value) in &self.constants {
            known = known.constant(*name, *value);
        }
        for (name, _, values) in &self.arrays {
            let values: Vec<i64> = values.iter().map(|&n| n.into()).collect();
            known = known.table(*name, values);
        }
        let points = set.enumerate(&known, -9..10).expect("small numbers");
        points.into_iter().fold(0, |h, point| {
            let terms = (1..).zip(&point).map(|(factor, n)| 7 * factor * n);
            (h * BASE + 11 + terms.sum::<i64>()).rem_euclid(PRIME)
        })
    }

    /// Checks a set on these engines.
    fn check(&self, set: &Set, engines: &[Session]) {
        let compiled = compile_computation(&self.fold(set)).unwrap_or_else(|e| panic!("{e}"));
        let arrays: Vec<(&str, Tensor)> = self
            .arrays
            .iter()
            .map(|(name, _, values)| {
                let tensor = Tensor::dense(&[values.len() as u64], values.clone());
                (*name, tensor.expect("a vector"))
            })
            .collect();
        let mut given = Given::new();
        for (name, value) in &self.constants {
            given = given.parameter(*name, *value);
        }
        for (name, tensor) in &arrays {
            given = given.data(*name, tensor);
        }
        for engine in engines {
            let results = engine
                .compute(&compiled, &given)
                .unwrap_or_else(|e| panic!("{e}"));
            let found = results["h"].values::<i64>().map(|values| values[0]);
            assert_eq!(
                found,
                Some(self.expected(set)),
                "{set} with {:?}\n{}",
                engine.backend(),
                compiled.lowered()
            );
        }
    }
}

fn engines(backends: &[Backend]) -> Vec<Session> {
    let session =
        |backend: &Backend| Session::new(Options::from_env().backend(*backend).threads(1));
    backends.iter().map(session).collect()
}

#[test]
fn sets_are_visited_in_order_by_every_engine() {
    let all = engines(&[Backend::Interpreter, Backend::Cranelift, Backend::C]);
    let world = matrices();
    for text in [
        "{[i, k, j] : 0 <= i < N && pos(i) <= k < pos(i + 1) && j = crd(k)}",
        "{[i, j] : exists k : 0 <= i < N && pos(i) <= k < pos(i + 1) && j = crd(k)}",
        "{[k, i] : pos(i) <= k < pos(i + 1)}",
        "{[j, i] : exists k : pos(i) <= k < pos(i + 1) && j = crd(k)}",
        "{[d, i, j] : 0 <= i < N && j = i + off(d) && 0 <= j < M}",
        "{[i, j, d] : 0 <= i < N && 0 <= j < M && off(d) = j - i}",
        "{[i, t] : i = perm(t)}",
        "{[x, d] : 0 <= x < 7 && fall(d) = x}",
        "{[i, b, r] : 0 <= i < N && i = B * b + r && 0 <= r < B}",
        "{[t, i] : exists j : t = i + j && 0 <= i < N && 0 <= j < M}",
        "{[i] : exists k : 0 <= i < N && 0 <= k < NZ && crd(k) = i}",
        "{[i] : 0 <= i < 6} union {[i] : 3 <= i < 8}",
        "{[i, j] : 0 <= i < N && pos(i) <= j < pos(i + 1)} union {[i, j] : 1 <= i < N && j = 2}",
        "{[i] : 0 <= i < 4} union {[i] : exists k : 0 <= i < 9 && 0 <= k < NZ && crd(k) + 2 = i}",
    ] {
        let set: Set = text.parse().unwrap_or_else(|error| panic!("{error}"));
        world.check(&set, &all);
    }
}

fn expression() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["i", "j", "k"]).prop_map(String::from);
    let leaf = prop_oneof![
        (-2i64..4).prop_map(|n| n.to_string()),
        prop::sample::select(vec!["N", "M"]).prop_map(String::from),
        name(),
        name(),
        name(),
    ];
    leaf.prop_recursive(2, 4, 2, |e| {
        let operator = prop::sample::select(vec!["+", "-", "-", "+", "*"]);
        let function = prop::sample::select(vec!["f", "up", "down", "perm"]);
        let divide = prop::sample::select(vec!["floordiv", "mod"]);
        prop_oneof![
            3 => (e.clone(), operator, e.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
            3 => (function, e.clone()).prop_map(|(f, e)| format!("{f}({e})")),
            1 => (e, divide, 2..4).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
        ]
    })
}

fn conjunction(exists: bool) -> impl Strategy<Value = String> {
    let comparison = prop::sample::select(vec!["<", "<=", "=", "=", ">=", "!="]);
    let link = (expression(), comparison, expression());
    let link = link.prop_map(|(a, c, b)| format!(" && {a} {c} {b}"));
    prop::collection::vec(link, 0..4).prop_map(move |links| {
        let (tuple, exists) = match exists {
            true => ("i, j", "exists k : "),
            false => ("i, j, k", ""),
        };
        let tail = links.concat();
        format!("{{[{tuple}] : {exists}-1 <= i < 4 && -1 <= j < 4 && -1 <= k < 4{tail}}}")
    })
}

fn union() -> impl Strategy<Value = String> {
    let parts = |exists| prop::collection::vec(conjunction(exists), 1..3);
    prop_oneof![parts(true), parts(false)].prop_map(|parts| parts.join(" union "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_sets_are_visited_in_order(text in union()) {
        let engines = engines(&[Backend::Interpreter, Backend::Cranelift]);
        let set: Set = text.parse().unwrap_or_else(|error| panic!("{error}"));
        small().check(&set, &engines);
    }
}

/// A 4 by 5 matrix, by rows.
const DENSE: [[i64; 5]; 4] = [[0, 2, 0, 0, 3], [0; 5], [4, 0, 5, 6, 0], [0, 7, 0, 0, 0]];

fn vector<T: sparsec::Element>(values: &[T]) -> Tensor {
    Tensor::dense(&[values.len() as u64], values.to_vec()).expect("a vector")
}

/// Runs a product with the matrix on every engine.
fn product(text: &str, parameters: &[(&str, i64)], data: &[(&str, Tensor)]) {
    let computation: Computation = text.parse().unwrap_or_else(|error| panic!("{error}"));
    let compiled = compile_computation(&computation).unwrap_or_else(|error| panic!("{error}"));
    let x: Vec<f64> = vec![1.0, 10.0, 100.0, 1000.0, 10000.0];
    let expect: Vec<f64> = DENSE
        .iter()
        .map(|row| row.iter().zip(&x).map(|(a, x)| *a as f64 * x).sum())
        .collect();
    let x = vector(&x);
    let mut given = Given::new().data("x", &x);
    for (name, value) in parameters {
        given = given.parameter(*name, *value);
    }
    for (name, tensor) in data {
        given = given.data(*name, tensor);
    }
    for engine in engines(&[Backend::Interpreter, Backend::Cranelift, Backend::C]) {
        let results = engine
            .compute(&compiled, &given)
            .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            results["y"].values::<f64>(),
            Some(&expect[..]),
            "{}",
            compiled.lowered()
        );
    }
}

#[test]
fn products_follow_descriptors() {
    product(
        "computation dia {
           parameters N, M, ND
           function off : {[d] : 0 <= d < ND} -> {[o] : -N < o < M} increasing
           given off : i32[ND], A : f64[ND, N], x : f64[M]
           out y : f64[N]
           s0: y(i) += A(d, i) * x(i + off(d))
             over {[d, i] : 0 <= d < ND && 0 <= i < N && 0 <= i + off(d) < M} at [d, i]
         }",
        &[("N", 4), ("M", 5), ("ND", 4)],
        &[
            ("off", vector(&[-2i32, 0, 1, 4])),
            (
                "A",
                Tensor::dense(
                    &[4, 4],
                    [
                        0.0, 0.0, 4.0, 7.0, 0.0, 0.0, 5.0, 0.0, 2.0, 0.0, 6.0, 0.0, 3.0, 0.0, 0.0,
                        0.0,
                    ],
                )
                .expect("dense"),
            ),
        ],
    );
    product(
        "computation jds {
           parameters N, M, NJD, NZ
           function ptr : {[s] : 0 <= s <= NJD} -> {[k] : 0 <= k <= NZ} nondecreasing
           function perm : {[t] : 0 <= t < N} -> {[i] : 0 <= i < N} injective
           function crd : {[k] : 0 <= k < NZ} -> {[j] : 0 <= j < M}
           given ptr : i32[NJD + 1], perm : i32[N], crd : i32[NZ], A : f64[NZ], x : f64[M]
           out y : f64[N]
           s0: y(i) += A(k) * x(j)
             over {[s, k, i, j] : 0 <= s < NJD && ptr(s) <= k < ptr(s + 1)
               && i = perm(k - ptr(s)) && j = crd(k)}
         }",
        &[("N", 4), ("M", 5), ("NJD", 3), ("NZ", 6)],
        &[
            ("ptr", vector(&[0i32, 3, 5, 6])),
            ("perm", vector(&[2i32, 0, 3, 1])),
            ("crd", vector(&[0i32, 1, 1, 2, 4, 3])),
            ("A", vector(&[4.0, 2.0, 7.0, 5.0, 3.0, 6.0])),
        ],
    );
}

#[test]
fn what_may_go_wrong_is_refused() {
    let refused = |text: &str| -> (Code, String) {
        let computation: Computation = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let error = compile_computation(&computation).expect_err("refused");
        (error.code(), error.to_string())
    };
    let (code, text) = refused(
        "computation gather {
           parameters N, M
           given f : i32[N], x : f64[M]
           out y : f64[N]
           s0: y(i) = x(f(i)) over {[i] : 0 <= i < N}
         }",
    );
    assert_eq!(code, code::MAY_BE_OUTSIDE);
    assert!(
        text.contains("is `0 <= f(i) < M` at every point?"),
        "{text}"
    );
    let (code, _) = refused(
        "computation follow {
           parameters N
           function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p < N} nondecreasing
           temporary pos : i32[N + 1]
           out y : f64[N]
           s0: pos(i) = 0 over {[i] : 0 <= i < N} at [0, i]
           s1: y(p) += 1 over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} at [0, i, p]
         }",
    );
    assert_eq!(code, code::FOLLOWS_RESULT);
    let (code, text) = refused(
        "computation curve {
           parameters N
           out y : f64[N]
           s0: y(i) += 1 over {[i, j] : 0 <= i < N && 0 <= j < N && UNMORTON(j, i, 2) < j}
         }",
    );
    assert_eq!(code, code::MAY_BE_OUTSIDE);
    assert!(text.contains("say which coordinate of how many"), "{text}");
    // Points without a time would not be visited.
    let (code, text) = refused(
        "computation never {
           parameters N
           out y : f64[N]
           s0: y(i) = 1 over {[i] : 0 <= i < N} at [i mod (N - 3), i]
         }",
    );
    assert_eq!(code, code::MAY_BE_OUTSIDE);
    assert!(text.contains("what is `i mod (N - 3)` at each"), "{text}");
    let (code, text) = refused(
        "computation squares {
           parameters N
           out y : f64[N, N]
           s0: y(i, j) = 1 over {[i, j] : 0 <= i < N && 0 <= j < N} at [0, i]
           s1: y(i, j) += 1 over {[i, j] : 0 <= i < N && 0 <= j < N} at [1, i * j * j]
         }",
    );
    assert_eq!(code, code::SCAN_UNBOUNDED);
    assert!(text.contains("when these points are has no"), "{text}");
}

#[test]
fn what_may_be_negative_is_data() {
    let text = |of: &str| {
        format!(
            "computation above {{ {of} out y : i64[4] s0: y(i) = i over {{[i] : 0 <= i < 4 && i > n + 4}} }}"
        )
    };
    let compiled = |of: &str| {
        let computation: Computation = text(of).parse().unwrap_or_else(|e| panic!("{e}"));
        compile_computation(&computation).unwrap_or_else(|e| panic!("{e}"))
    };
    let session = Session::interpreter();
    let given = Given::new().parameter("n", -2);
    let error = session.compute(&compiled("parameters n"), &given);
    let error = error.expect_err("refused");
    assert_eq!(error.code(), code::GIVEN_MISFIT);
    assert!(error.to_string().contains("`given n : i64`"), "{error}");

    let n = Tensor::dense(&[], [-2i64]).expect("a number");
    let results = session.compute(&compiled("given n : i64"), &Given::new().data("n", &n));
    let results = results.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(results["y"].values::<i64>(), Some(&[0, 0, 0, 3][..]));
}

#[test]
fn what_is_given_is_checked() {
    let text = "computation rows {
        parameters N, NZ
        function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
        function perm : {[i] : 0 <= i < N} -> {[p] : 0 <= p < N} injective
        forall i, a, b : pos(i) <= a < b < pos(i + 1) => crd(a) < crd(b)
        given pos : i32[N + 1], perm : i32[N], crd : i32[NZ]
        out y : i64[N]
        s0: y(i) += p over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
        s1: y(perm(i)) += crd(p) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
    }";
    let compiled = compile_computation(&text.parse().expect("a computation")).expect("bounded");
    let session = Session::interpreter();
    let run = |pos: &[i32], perm: &[i32], crd: &[i32]| {
        let all: BTreeMap<&str, Tensor> = [
            ("pos", vector(pos)),
            ("perm", vector(perm)),
            ("crd", vector(crd)),
        ]
        .into();
        let mut given = Given::new().parameter("N", 2).parameter("NZ", 3);
        for (name, tensor) in &all {
            given = given.data(*name, tensor);
        }
        session.compute(&compiled, &given)
    };
    let done = run(&[0, 2, 3], &[1, 0], &[0, 5, 2]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(done["y"].values::<i64>(), Some(&[3, 7][..]));
    for (pos, perm, crd, why) in [
        (
            &[0, 3, 2][..],
            &[1, 0][..],
            &[0, 5, 7][..],
            "pos(1) = 3 and pos(2) = 2",
        ),
        (&[0, 2, 4], &[1, 0], &[0, 5, 2], "pos(2) = 4 is not in"),
        (&[-1, 2, 3], &[1, 0], &[0, 5, 2], "pos(0) = -1 is not in"),
        (&[0, 2, 3], &[1, 1], &[0, 5, 2], "`perm` is not injective"),
        (
            &[0, 2, 3],
            &[1, 0],
            &[5, 5, 2],
            "does not hold for i = 0, a = 0, b = 1",
        ),
    ] {
        let error = run(pos, perm, crd).expect_err("not as declared");
        assert_eq!(error.code(), code::NOT_AS_DECLARED);
        let error = error.to_string();
        assert!(error.contains(why), "{error}");
        assert!(error.contains("^ declared here"), "{error}");
    }
    let error = run(&[0, 2], &[1, 0], &[0, 5, 2]).expect_err("too short");
    assert_eq!(error.code(), code::GIVEN_MISFIT);
    let error = session
        .compute(&compiled, &Given::new().parameter("K", 3))
        .expect_err("unknown");
    assert_eq!(error.code(), code::GIVEN_MISFIT);
}
