//! Places on curves and in hash tables, comparisons and conjugates, which computations compute: on every engine, beside
//! the evaluator.

use sparsec::internals::{Computation, Given, compile_computation};
use sparsec::{Array, Backend, Complex, Format, Options, Scalar, Session, Tensor, code};

#[test]
fn comparisons_and_conjugates_are_those_of_the_evaluator() {
    let text = "computation compare {
      parameters N
      given x : f64[N], k : i32[N], z : c128[N], b : bool[N]
      out d : i64[N, N], s : i64[N, N], e : i64[N, N], c : i64[N, N], t : i64[N, N], w : c128[N], n : i64
      s0: d(i, j) = differs(x(i), x(j)) over {[i, j] : 0 <= i < N && 0 <= j < N}
      s1: s(i, j) = max(differs(x(i), x(j)), differs(1 / x(i), 1 / x(j)))
        over {[i, j] : 0 <= i < N && 0 <= j < N}
      s2: e(i, j) = differs(k(i), k(j)) + differs(k(i), 3) over {[i, j] : 0 <= i < N && 0 <= j < N}
      s3: c(i, j) = differs(z(i), conj(z(j))) over {[i, j] : 0 <= i < N && 0 <= j < N}
      s4: t(i, j) = differs(b(i), b(j)) over {[i, j] : 0 <= i < N && 0 <= j < N}
      s5: w(i) = conj(z(i)) over {[i] : 0 <= i < N}
      s6: n += differs(x(i), 0) over {[i] : 0 <= i < N}
    }";
    let computation: Computation = text.parse().expect("it is well formed");
    let printed: Computation = computation.to_string().parse().expect("it reads back");
    assert_eq!(printed, computation);
    let compiled = compile_computation(&computation).expect("loops compare");
    let x = [0.0, -0.0, f64::NAN, 1.0, f64::INFINITY].map(Scalar::F64);
    let k = [3, -3, 3, 0, 7].map(Scalar::I32);
    let z = [
        (1.0, 2.0),
        (1.0, -2.0),
        (0.0, -0.0),
        (f64::NAN, 1.0),
        (0.0, 0.0),
    ];
    let z = z.map(|(re, im)| Scalar::C128(Complex::new(re, im)));
    let b = [true, false, true, true, false].map(Scalar::Bool);
    let mut evaluated = sparsec::internals::computation::Given::default();
    evaluated.parameters.insert("N".to_owned(), 5);
    let mut tensors = Vec::new();
    for (name, values) in [("x", x), ("k", k), ("z", z), ("b", b)] {
        evaluated.data.insert(name.to_owned(), values.to_vec());
        let mut array = Array::filled(values[0], 5).expect("memory");
        (0..5).for_each(|at| array.set(at, values[at]));
        let (element, zero) = (array.element(), array.element().zero());
        let tensor = Tensor::new(Format::dense(1), vec![5], element, zero, vec![array]);
        tensors.push((name, tensor.expect("a vector")));
    }
    let expected = computation
        .evaluate(&evaluated, 0..5)
        .expect("it has values");
    let d = &expected["d"];
    let of = |i: usize, j: usize| d[5 * i + j];
    assert_eq!([of(0, 1), of(2, 2), of(3, 4)], [0, 1, 1].map(Scalar::I64));
    assert_eq!(expected["s"][1], Scalar::I64(1));
    for backend in [Backend::Interpreter, Backend::Cranelift, Backend::C] {
        let session = Session::new(Options::from_env().backend(backend).threads(1));
        let mut given = Given::new().parameter("N", 5);
        for (name, tensor) in &tensors {
            given = given.data(*name, tensor);
        }
        let found = session.compute(&compiled, &given).expect("it runs");
        for (name, expected) in &expected {
            let found = found[name].entries().values;
            let found: Vec<_> = (0..found.len()).map(|at| found.get(at)).collect();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{name}");
        }
    }
    for (line, code) in [
        ("w(i) = conj(x(i))", code::COMPUTATION_TYPES),
        ("n = differs(x(i), z(i))", code::COMPUTATION_TYPES),
        ("n = differs(b(i), 1)", code::COMPUTATION_TYPES),
    ] {
        let text = text.replace("n += differs(x(i), 0)", line);
        let error = text.parse::<Computation>().expect_err(line);
        assert_eq!(error.code(), code, "{error}");
    }
}

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
        let mut evaluated = sparsec::internals::computation::Given::default();
        for (name, value) in [("N", n), ("M", m), ("L", l)] {
            given = given.parameter(name, value);
            evaluated.parameters.insert(name.to_owned(), value);
        }
        let expected = computation
            .evaluate(&evaluated, 0..40)
            .expect("small numbers");
        for backend in [Backend::Interpreter, Backend::Cranelift, Backend::C] {
            let session = Session::new(Options::from_env().backend(backend).threads(1));
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
