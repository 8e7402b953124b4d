//! Results in the caller's memory, and work that ends when nobody waits.

use sparsec::{
    Backend, Cancel, ElementType, Format, Options, PackOptions, Program, Scalar, Session, Tensor,
    code,
};

use super::{a as matrix, interpreter, x};

fn vector(values: &[f64]) -> Tensor {
    Tensor::dense(&[values.len() as u64], values).unwrap()
}

#[test]
fn dense_results_are_written_where_the_caller_has_room() {
    let (a, x) = (matrix(), x());
    for backend in [Backend::Interpreter, Backend::Cranelift] {
        let session = Session::new(Options::new().backend(backend));
        let program = Program::parse("t(i) = A(i,j) * x(j); y(i) = 2 * t(i) + t(i)").unwrap();
        let kernel = session.plan(&program.like("A", &a).unwrap()).unwrap();
        let bound = kernel.bind("A", &a).unwrap().bind("x", &x).unwrap();
        let expected = bound.evaluate().unwrap();
        let garbage = vec![f64::NAN; expected.vals().len()];
        let mut y = Tensor::dense(expected.extents(), garbage).unwrap();
        let memory = y.vals().as_ptr();
        for _ in 0..3 {
            bound.evaluate_into(&mut y).unwrap();
            assert_eq!((y.arrays(), y.vals().as_ptr()), (expected.arrays(), memory));
        }
    }
}

#[test]
fn a_dense_result_takes_no_other_place() {
    let a = vector(&[1.0, 2.0, 3.0]);
    let kernel = interpreter()
        .plan(&Program::parse("y(i) = a(i) + a(i)").unwrap())
        .unwrap();
    let bound = kernel.bind("a", &a).unwrap();
    let filled = PackOptions {
        fill: Some(Scalar::F64(1.0)),
        ..PackOptions::default()
    };
    let empty = sparsec::Entries::empty(&[3], ElementType::F64);
    let wrong = [
        (vector(&[0.0; 4]), "extents"),
        (Tensor::dense(&[3], [0.0f32; 3]).unwrap(), "type"),
        (
            Tensor::pack(&Format::csf(1), &[3], &[], &[0.0; 0]).unwrap(),
            "format",
        ),
        (
            Tensor::pack_entries(&Format::dense(1), empty, filled).unwrap(),
            "fill",
        ),
    ];
    for (mut place, what) in wrong {
        let before = place.clone();
        let refused = bound.evaluate_into(&mut place).unwrap_err();
        assert_eq!(refused.code(), code::NOT_AS_PLANNED);
        assert!(refused.message().contains(what), "{refused}");
        assert_eq!(place, before);
    }
}

#[test]
fn sparse_results_take_the_place_of_another() {
    let a = matrix();
    let program = Program::parse("B(i,j) = A(i,j) + A(i,j)").unwrap();
    let program = program.like("A", &a).unwrap().format("B", "csr").unwrap();
    let kernel = interpreter().plan(&program).unwrap();
    let bound = kernel.bind("A", &a).unwrap();
    let mut b = vector(&[1.0]);
    bound.evaluate_into(&mut b).unwrap();
    assert_eq!(b, bound.evaluate().unwrap());
}

#[test]
fn cancelled_sessions_neither_convert_nor_compile() {
    let cancel = Cancel::default();
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new(
        Options::from_env()
            .backend(Backend::C)
            .cache_dir(folder.path()),
    );
    let until = session.until(&cancel);
    let a = matrix();
    let program = Program::parse("s = A(i,j)").unwrap().like("A", &a).unwrap();
    let kernel = until.plan(&program).unwrap();
    cancel.set();
    let refused = until.convert(&a, &Format::csc()).unwrap_err();
    assert_eq!(refused.code(), code::CANCELLED);
    let refused = kernel.bind("A", &a).unwrap().evaluate().unwrap_err();
    assert_eq!(refused.code(), code::CANCELLED);
    // The session itself goes on, and so does the kernel once somebody waits again.
    assert!(session.convert(&a, &Format::csc()).is_ok());
    cancel.clear();
    assert!(kernel.bind("A", &a).unwrap().evaluate().is_ok());
}
