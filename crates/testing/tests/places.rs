//! Places on curves and in hash tables, which computations compute: on every engine, beside
//! the evaluator.

use sparsec::{Backend, Computation, Given, Options, Session, code, compile_computation};

#[test]
fn places_on_curves_and_in_tables_are_those_of_the_evaluator() {
    let text = "computation curves {
      parameters N, M, L
      function begin : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= end} nondecreasing
      assume 0 <= end
      temporary end : i64
      out begin : i64[N + 1], slots : i64[N, M], m : i64[N, M], a : i64[N, M], j0 : i64[N, M], l1 : i64[N, M], s : i64
      s0: m(i, j) = MORTON(i, j, 3) over {[i, j] : 0 <= i < N && 0 <= j < M}
      s1: a(i, j) = ALTO(i, N, j, M, i mod 3, 3) over {[i, j] : 0 <= i < N && 0 <= j < M}
      s2: j0(i, j) = UNMORTON(i * M + j, 0, 2) over {[i, j] : 0 <= i < N && 0 <= j < M}
      s3: l1(i, j) = UNALTO(i * M + j, 1, N, M, L) over {[i, j] : 0 <= i < N && 0 <= j < M}
      s4: s += i over {[i, j] : 0 <= i < N && 0 <= j < M && MORTON(i, j) < ALTO(i, N, j, M)}
      s5: begin(i + 1) = begin(i) + power_of_two(M + i) over {[i] : 0 <= i < N} at [3, i]
      s7: end = begin(N) over {[]} at [4]
      s6: slots(i, j) = slot(j * 7 mod 5 of 5, begin(i) of end + 1, begin(i + 1) of end + 1)
        over {[i, j] : 0 <= i < N && 0 <= j < M} at [6, j, i]
    }";
    let computation: Computation = text.parse().expect("it is well formed");
    assert_eq!(
        computation
            .to_string()
            .parse::<Computation>()
            .expect("it reads back"),
        computation
    );
    let compiled = compile_computation(&computation).expect("loops compute curves");
    for (n, m, l) in [(5, 9, 2), (1, 33, 3), (17, 4, 1), (0, 3, 1)] {
        let mut given = Given::new();
        let mut evaluated = sparsec::computation::Given::default();
        for (name, value) in [("N", n), ("M", m), ("L", l)] {
            given = given.parameter(name, value);
            evaluated.parameters.insert(name.to_owned(), value);
        }
        let expected = computation
            .evaluate(&evaluated, 0..40)
            .expect("small numbers");
        for backend in [Backend::Interpreter, Backend::Cranelift, Backend::C] {
            let session = Session::new(Options {
                backend,
                ..Options::default()
            });
            let found = session.compute(&compiled, &given).expect("it runs");
            for (name, expected) in &expected {
                let found = found[name].entries().values;
                let found: Vec<_> = (0..found.len()).map(|at| found.get(at)).collect();
                assert_eq!(found, *expected, "{name} {n} {m} {l}");
            }
        }
    }
    let negative: Computation = "computation outside {
      out y : i64
      s0: y = MORTON(i, 1) over {[i] : i = -1}
    }"
    .parse()
    .expect("it is well formed");
    let compiled = compile_computation(&negative).expect("loops compute it");
    let error = Session::interpreter().compute(&compiled, &Given::new());
    assert_eq!(
        error.expect_err("no such place").code(),
        code::NOT_AS_DECLARED
    );
}
