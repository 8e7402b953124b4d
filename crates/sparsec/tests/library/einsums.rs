//! Einsums, whose texts come at run time.

use sparsec::{Scalar, Tensor, code, einsum};

use super::{a, interpreter, matrix, refuse, x};

#[test]
fn einsums_are_programs() {
    let session = interpreter();
    let (a, x) = (a(), x());
    let y = session.einsum("ij,j->i", &[&a, &x]).unwrap();
    assert_eq!(y.values::<f64>(), Some(&[201.0, 30.0][..]));
    let sum = session.einsum("ij->", &[&a]).unwrap();
    assert_eq!(sum.get(&[]), Scalar::F64(6.0));
    let transposed = session.einsum("ij->ji", &[&a]).unwrap();
    assert_eq!(transposed.extents(), [3, 2]);
    assert_eq!(transposed.get(&[2, 0]), Scalar::F64(2.0));
    let square = matrix(
        "csr",
        [2, 2],
        &[([0, 0], 1.0), ([0, 1], 7.0), ([1, 1], 4.0)],
    );
    let diagonal = session.einsum("ii->i", &[&square]).unwrap();
    assert_eq!(
        [diagonal.get(&[0]), diagonal.get(&[1])],
        [1.0, 4.0].map(Scalar::F64)
    );
    assert_eq!(
        session.einsum("ii", &[&square]).unwrap().get(&[]),
        Scalar::F64(5.0)
    );
    let two = Tensor::from(2.0);
    let scaled = session.einsum(",ij->ij", &[&two, &a]).unwrap();
    assert_eq!(scaled.get(&[1, 1]), Scalar::F64(6.0));
}

#[test]
fn einsums_that_are_none_are_refused() {
    let session = interpreter();
    let (a, x) = (a(), x());
    refuse(
        session.einsum("...ij->ij", &[&a]),
        code::EINSUM_SYNTAX,
        "...",
    );
    refuse(session.einsum("ij->iz", &[&a]), code::EINSUM_OUTPUT, "z");
    refuse(
        session.einsum("ij,j->i", &[&a]),
        code::EINSUM_OPERANDS,
        "2 here, 1 given",
    );
    refuse(
        session.einsum("ij,jk->i", &[&a, &x]),
        code::EINSUM_OPERANDS,
        "operand 1",
    );
    refuse(
        session.einsum("ij,i->i", &[&a, &x]),
        code::EXTENT_MISMATCH,
        "expression of `ij,i->i`",
    );
    // The run-time function and the macro are the same.
    refuse(einsum("ij,j->i", &[&a]), code::EINSUM_OPERANDS, "given");
}
