//! Chains: computations whose later stages follow what earlier ones compute, on every
//! engine beside the evaluator.

use std::collections::BTreeMap;

use sparsec::internals::{Computation, Given, compile_computation};
use sparsec::{Backend, Code, Options, Scalar, Session, Tensor, code};

/// The inputs of a computation: parameters, and arrays of 32-bit integers or floats.
#[derive(Clone, Default)]
struct Case {
    parameters: Vec<(&'static str, i64)>,
    integers: Vec<(&'static str, Vec<i32>)>,
    floats: Vec<(&'static str, Vec<f64>)>,
}

fn engines() -> Vec<Session> {
    let backends = [Backend::Interpreter, Backend::Cranelift, Backend::C];
    let sessions =
        backends.map(|backend| Session::new(Options::from_env().backend(backend).threads(1)));
    sessions.into()
}

/// The results of one engine, or the code of its diagnostic.
type Results = Result<BTreeMap<String, Vec<f64>>, Code>;

impl Case {
    fn run(&self, text: &str, engine: &Session, grain: Option<u32>) -> Results {
        let computation: Computation = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let compiled = compile_computation(&computation).unwrap_or_else(|e| panic!("{e}"));
        let compiled = match grain {
            Some(grain) => compiled.in_shares(grain),
            None => compiled,
        };
        let mut tensors: Vec<(&str, Tensor)> = Vec::new();
        for (name, values) in &self.integers {
            let tensor = Tensor::dense(&[values.len() as u64], values.clone());
            tensors.push((name, tensor.expect("a vector")));
        }
        for (name, values) in &self.floats {
            let tensor = Tensor::dense(&[values.len() as u64], values.clone());
            tensors.push((name, tensor.expect("a vector")));
        }
        let mut given = Given::new();
        for (name, value) in &self.parameters {
            given = given.parameter(*name, *value);
        }
        for (name, tensor) in &tensors {
            given = given.data(*name, tensor);
        }
        let results = engine.compute(&compiled, &given).map_err(|e| e.code())?;
        let results = results.into_iter().map(|(name, tensor)| {
            let values = (0..tensor.vals().len()).map(|at| number(tensor.vals().get(at)));
            (name, values.collect())
        });
        Ok(results.collect())
    }

    fn evaluated(&self, text: &str, most: i64) -> BTreeMap<String, Vec<f64>> {
        let computation: Computation = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let mut given = sparsec::internals::computation::Given::default();
        for (name, value) in &self.parameters {
            given.parameters.insert((*name).to_owned(), *value);
        }
        for (name, values) in &self.integers {
            let values = values.iter().map(|value| Scalar::I32(*value));
            given.data.insert((*name).to_owned(), values.collect());
        }
        for (name, values) in &self.floats {
            let values = values.iter().map(|value| Scalar::F64(*value));
            given.data.insert((*name).to_owned(), values.collect());
        }
        let found = computation.evaluate(&given, -most..most);
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let results = found.into_iter();
        let results =
            results.map(|(name, values)| (name, values.into_iter().map(number).collect()));
        results.collect()
    }

    /// The results, which all engines and the evaluator agree on.
    fn check(&self, text: &str) -> BTreeMap<String, Vec<f64>> {
        let expected = self.evaluated(text, 16);
        for engine in engines() {
            for grain in [None, Some(1)] {
                let found = self.run(text, &engine, grain);
                assert_eq!(
                    found,
                    Ok(expected.clone()),
                    "{:?} in shares of {grain:?}",
                    engine.backend()
                );
            }
        }
        expected
    }
}

fn number(value: Scalar) -> f64 {
    match value {
        Scalar::I32(n) => n.into(),
        Scalar::I64(n) => n as f64,
        Scalar::F64(x) => x,
        other => panic!("{other}"),
    }
}

const TRANSPOSE: &str = "computation csr_to_csc {
  parameters N, M, NZ
  assume pos(0) = 0 && pos(N) = NZ
  function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
  function crd : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < M}
  function place : {[p] : 0 <= p < NZ} -> {[q] : 0 <= q < NZ}
  given pos : i32[N + 1], crd : i32[NZ], A : f64[NZ]
  temporary place : i64[NZ]
  out colptr : i32[M + 1], rows : i32[NZ], B : f64[NZ]

  count: colptr(crd(p) + 1) += 1 over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
  sum: colptr(j + 1) += colptr(j) over {[j] : 0 <= j < M}
  group: place(p) = rank(crd(p) of M) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
  row: rows(place(p)) = i over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
  copy: B(place(p)) = A(p) over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}
}";

fn matrix() -> Case {
    Case {
        parameters: vec![("N", 4), ("M", 5), ("NZ", 6)],
        integers: vec![
            ("pos", vec![0, 2, 2, 5, 6]),
            ("crd", vec![1, 4, 0, 1, 3, 1]),
        ],
        floats: vec![("A", vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
    }
}

#[test]
fn a_matrix_is_transposed() {
    let found = matrix().check(TRANSPOSE);
    assert_eq!(found["colptr"], [0.0, 1.0, 4.0, 4.0, 5.0, 6.0]);
    assert_eq!(found["rows"], [2.0, 0.0, 2.0, 3.0, 2.0, 0.0]);
    assert_eq!(found["B"], [3.0, 1.0, 4.0, 6.0, 5.0, 2.0]);
}

/// The number of stored diagonals is computed, and so are the extents that speak of it.
#[test]
fn diagonals_are_found_and_filled() {
    let text = "computation coo_to_dia {
  parameters N, M, NZ
  assume 0 <= ND
  function row : {[p] : 0 <= p < NZ} -> {[i] : 0 <= i < N}
  function col : {[p] : 0 <= p < NZ} -> {[j] : 0 <= j < M}
  function d : {[p] : 0 <= p < NZ} -> {[q] : 0 <= q < ND}
  given row : i32[NZ], col : i32[NZ], A : f64[NZ]
  temporary d : i64[NZ], ND : i64
  out off : i32[ND], B : f64[ND * N], n : i64

  find: d(p) = dense_rank(col(p) - row(p) + N of N + M) over {[p] : 0 <= p < NZ} at [0, p]
  most: ND max= d(p) + 1 over {[p] : 0 <= p < NZ} at [1, p]
  offset: off(d(p)) = col(p) - row(p) over {[p] : 0 <= p < NZ} at [2, p]
  copy: B(N * d(p) + row(p)) = A(p) over {[p] : 0 <= p < NZ} at [3, p]
  say: n = ND over {[]} at [4]
}";
    let case = Case {
        parameters: vec![("N", 3), ("M", 4), ("NZ", 5)],
        integers: vec![("row", vec![2, 0, 1, 0, 2]), ("col", vec![2, 1, 2, 0, 0])],
        floats: vec![("A", vec![1.0, 2.0, 3.0, 4.0, 5.0])],
    };
    let found = case.check(text);
    assert_eq!(found["n"], [3.0]);
    assert_eq!(found["off"], [-2.0, 0.0, 1.0]);
    assert_eq!(found["B"], [0.0, 0.0, 5.0, 4.0, 0.0, 1.0, 2.0, 3.0, 0.0]);
    let none = Case {
        parameters: vec![("N", 3), ("M", 4), ("NZ", 0)],
        integers: vec![("row", vec![]), ("col", vec![])],
        floats: vec![("A", vec![])],
    };
    assert_eq!(none.check(text)["n"], [0.0]);
}

#[test]
fn windows_are_the_same_on_every_engine() {
    let keys = [vec![3, 1, 3, 0, 3, 1, 2], vec![2, 0, 1, 0, 2, 0, 2]];
    for value in [
        "ordinal()",
        "rank()",
        "dense_rank()",
        "ordinal(k(n) of K)",
        "rank(k(n) of K)",
        "dense_rank(k(n) of K)",
        "rank(k(n) of K, l(n) of L)",
        "ordinal(k(n) of K, l(n) of L)",
        "dense_rank(l(n) of L, k(n) of K)",
        "10 * ordinal(k(n) of K) + rank(l(n) of L) * 100 + rank(n of N)",
    ] {
        for wide in [false, true] {
            // The second extents leave no room for two keys in one word.
            let (k, l) = match wide {
                false => (4, 3),
                true => (1 << 60, 1 << 40),
            };
            let counts = ["ordinal(k(n) of K)", "10"];
            if wide && counts.iter().any(|start| value.starts_with(start)) {
                continue;
            }
            let text = format!(
                "computation windows {{
                  parameters N, K, L
                  function k : {{[n] : 0 <= n < N}} -> {{[x] : 0 <= x < K}}
                  function l : {{[n] : 0 <= n < N}} -> {{[x] : 0 <= x < L}}
                  given k : i32[N], l : i32[N]
                  out y : i64[N]
                  s0: y(n) = {value} over {{[n] : 0 <= n < N}} at [0 - n]
                }}"
            );
            let case = Case {
                parameters: vec![("N", 7), ("K", k), ("L", l)],
                integers: vec![("k", keys[0].clone()), ("l", keys[1].clone())],
                floats: vec![],
            };
            case.check(&text);
        }
    }
}

/// Keys that ascend are numbered without a sort.
#[test]
fn points_in_groups_are_numbered_as_they_come() {
    for (value, expected) in [
        ("dense_rank(i of N)", [0.0, 0.0, 1.0, 1.0, 1.0, 2.0]),
        ("ordinal(i of N)", [0.0, 1.0, 0.0, 1.0, 2.0, 0.0]),
        ("rank(i of N)", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        (
            "dense_rank(i floordiv 3 of N)",
            [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        ),
        (
            "ordinal(i of N, p floordiv 2 of NZ)",
            [0.0, 1.0, 0.0, 1.0, 0.0, 0.0],
        ),
    ] {
        let text = format!(
            "computation rows {{
              parameters N, NZ
              assume pos(0) = 0 && pos(N) = NZ
              function pos : {{[i] : 0 <= i <= N}} -> {{[p] : 0 <= p <= NZ}} nondecreasing
              given pos : i32[N + 1]
              out y : i64[NZ]
              s0: y(p) = {value} over {{[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)}}
            }}"
        );
        let case = Case {
            parameters: vec![("N", 4), ("NZ", 6)],
            integers: vec![("pos", vec![0, 2, 2, 5, 6])],
            floats: vec![],
        };
        assert_eq!(case.check(&text)["y"], expected, "{value}");
        let compiled = compile_computation(&text.parse().expect("it reads")).expect("it compiles");
        assert!(!compiled.lowered().to_string().contains("sort"), "{value}");
    }
}

/// A computed array may break its declaration; loops that rely on it do not begin then.
#[test]
fn data_that_are_not_as_declared_end_the_computation() {
    let text = |value: &str, declared: &str| {
        format!(
            "computation trusting {{
              parameters N
              function f : {{[n] : 0 <= n < N}} -> {{[x] : 0 <= x < N}} {declared}
              given a : i32[N]
              temporary f : i64[N]
              out y : i64[N]
              s0: f(n) = {value} over {{[n] : 0 <= n < N}}
              s1: y(f(n)) += 1 over {{[n] : 0 <= n < N}}
            }}"
        )
    };
    let case = |a: [i32; 3]| Case {
        parameters: vec![("N", 3)],
        integers: vec![("a", a.to_vec())],
        floats: vec![],
    };
    for (a, declared, holds) in [
        ([0, 2, 1], "", true),
        ([0, 3, 1], "", false),
        ([0, -1, 1], "", false),
        ([0, 1, 1], "nondecreasing", true),
        ([0, 2, 1], "nondecreasing", false),
        ([0, 1, 2], "increasing", true),
        ([0, 1, 1], "increasing", false),
        ([2, 1, 1], "nonincreasing", true),
        ([2, 1, 2], "nonincreasing", false),
        ([2, 1, 0], "decreasing", true),
        ([2, 2, 0], "decreasing", false),
    ] {
        let text = text("a(n)", declared);
        for engine in engines() {
            let found = case(a).run(&text, &engine, None);
            match holds {
                true => assert_eq!(found, Ok(case(a).evaluated(&text, 8)), "{a:?} {declared}"),
                false => assert_eq!(found, Err(code::NOT_AS_DECLARED), "{a:?} {declared}"),
            }
        }
    }
    // Without a declared range, nothing says that the index lies inside.
    let free = text("a(n)", "").replace(" -> {[x] : 0 <= x < N}", " -> {[x]}");
    let computation: Computation = free.parse().expect("it reads");
    let refused = compile_computation(&computation).expect_err("refused");
    assert_eq!(refused.code(), code::MAY_BE_OUTSIDE, "{refused}");
}

/// A computed length that cannot be counted ends the computation, and none is negative.
#[test]
fn computed_lengths_are_counted() {
    let text = "computation lengths {
      parameters N
      given a : i64
      temporary n : i64
      out y : f64[n * n]
      s0: n = a over {[]} at [0]
      s1: y(0) = 1 over {[] : 0 < n * n && n = 2} at [1]
    }";
    for (a, code) in [
        (2, None),
        (-1, Some(code::NOT_AS_DECLARED)),
        (1 << 31, Some(code::KERNEL_OUT_OF_MEMORY)),
        (1 << 62, Some(code::KERNEL_OUT_OF_MEMORY)),
        (i64::MIN, Some(code::KERNEL_OUT_OF_MEMORY)),
    ] {
        let given = Tensor::dense(&[], [a]).expect("a number");
        let computation: Computation = text.parse().expect("it reads");
        let compiled = compile_computation(&computation).unwrap_or_else(|e| panic!("{e}"));
        for engine in engines() {
            let given = Given::new().parameter("N", 1).data("a", &given);
            let found = engine.compute(&compiled, &given);
            match found {
                Ok(found) => {
                    assert_eq!(code, None);
                    assert_eq!(found["y"].values::<f64>(), Some(&[1.0, 0.0, 0.0, 0.0][..]));
                }
                Err(error) => assert_eq!(Some(error.code()), code, "{a}: {error}"),
            }
        }
    }
}
