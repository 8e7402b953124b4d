//! Computations over relations, run on arrays of every type.

use sparsec::internals::{Computation, Given, compile_computation};
use sparsec::{Array, Backend, ElementType, Format, Options, Scalar, Session, Tensor, code};
use sparsec_base::Kind;

use super::refuse;

/// The same integers as entries of a type.
fn integers(element: ElementType, values: &[i64]) -> Tensor {
    let mut array = Array::zeroed(element, values.len()).unwrap();
    for (at, value) in values.iter().enumerate() {
        array.set(at, Scalar::I64(*value).cast(element).unwrap());
    }
    let extents = vec![values.len() as u64];
    let format = Format::dense(1);
    Tensor::new(format, extents, element, element.zero(), vec![array]).unwrap()
}

/// Followed, searched, and written; a negative entry only where the type has a sign.
#[test]
fn arrays_hold_any_type_of_integers() {
    let x = Tensor::dense(&[5], [1.0, 10.0, 100.0, 1000.0, 10000.0]).unwrap();
    let a = Tensor::dense(&[6], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
    let types = ElementType::ALL.into_iter();
    for element in types.filter(|it| it.is_integer() && *it != ElementType::U64) {
        let text = format!(
            "computation coo {{
               parameters N, M, NZ
               function row : {{[n] : 0 <= n < NZ}} -> {{[i] : 0 <= i < N}} nondecreasing
               function crd : {{[n] : 0 <= n < NZ}} -> {{[j] : 0 <= j < M}}
               given row : {element}[NZ], crd : {element}[NZ], shift : {element}[NZ]
               given A : f64[NZ], x : f64[M]
               temporary moved : {element}[NZ]
               out y : f64[N]
               s0: moved(n) = crd(n) + shift(n) over {{[n] : 0 <= n < NZ}} at [0, n]
               s1: y(i) += A(n) * x(crd(n)) + f64(moved(n) - crd(n))
                 over {{[i, n] : 0 <= i < N && 0 <= n < NZ && row(n) = i}} at [1, i, n]
             }}"
        );
        let computation: Computation = text.parse().unwrap();
        let compiled = compile_computation(&computation).unwrap();
        let row = integers(element, &[0, 0, 2, 2, 2, 3]);
        let crd = integers(element, &[1, 4, 0, 2, 3, 1]);
        let least = match element.kind() {
            Kind::Signed => -1,
            _ => 0,
        };
        let expected = [30020.0 + least as f64, 0.0, 6504.0, 70.0];
        let shift = integers(element, &[least, 0, 0, 0, 0, 0]);
        let mut given = Given::new().data("row", &row).data("crd", &crd);
        given = given.data("shift", &shift).data("A", &a).data("x", &x);
        for (name, value) in [("N", 4), ("M", 5), ("NZ", 6)] {
            given = given.parameter(name, value);
        }
        for backend in [Backend::Interpreter, Backend::Cranelift, Backend::C] {
            let session = Session::new(Options::from_env().backend(backend));
            let results = session.compute(&compiled, &given).unwrap();
            let found = results["y"].values::<f64>();
            assert_eq!(found, Some(&expected[..]), "{element} by {backend:?}");
        }
    }
}

/// A list in an array with room behind it, whose first entry says where the list begins.
#[test]
fn parameters_follow_from_entries() {
    let text = "
computation run {
  parameters N, R, F, E
  assume first(0) = F && E = end(0)
  function first : {[p] : 0 <= p < 1} -> {[q] : 0 <= q <= R}
  function end : {[p] : 0 <= p < 1} -> {[q] : 0 <= q <= R}
  given first : i32[1], end : i32[1], a : f64[R]
  out s : f64
  s0: s += a(q) over {[q] : F <= q < E && 0 <= q < R}
}";
    let compiled = compile_computation(&text.parse::<Computation>().unwrap()).unwrap();
    let a = Tensor::dense(&[4], [1.0, 10.0, 100.0, 1000.0]).unwrap();
    let int = |value: i32| Tensor::dense(&[1], [value]).unwrap();
    let (first, end) = (int(1), int(3));
    let given = Given::new().data("a", &a).parameter("N", 0);
    let session = Session::interpreter();
    let with = |first, end| given.clone().data("first", first).data("end", end);
    let results = session.compute(&compiled, &with(&first, &end)).unwrap();
    assert_eq!(results["s"].values::<f64>(), Some(&[110.0][..]));
    // What is given all the same has to agree.
    let other = with(&first, &end).parameter("F", 2);
    refuse(
        session.compute(&compiled, &other),
        code::NOT_AS_DECLARED,
        "first(0)",
    );
    let none = Tensor::dense(&[0], [0i32; 0]).unwrap();
    let misfit = session.compute(&compiled, &with(&none, &end));
    refuse(misfit, code::GIVEN_MISFIT, "the parameter `F` has no value");
    let less = int(-1);
    let negative = session.compute(&compiled, &with(&less, &end));
    refuse(
        negative,
        code::GIVEN_MISFIT,
        "the parameter `F` has no value",
    );
}
