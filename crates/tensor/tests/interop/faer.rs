//! `faer`: sparse matrices by columns and rows, and dense ones.

use ::faer::Mat;
use ::faer::sparse::{SparseColMat, SparseRowMat, SymbolicSparseColMat, Triplet};
use sparsec_base::code;
use sparsec_tensor::{Format, Tensor};

use super::{matrix, refuse};

#[test]
fn sparse_matrices_go_there_and_back() {
    let entries = [
        Triplet::new(1, 0, 3.0),
        Triplet::new(0, 2, 2.0),
        Triplet::new(0, 0, 1.0),
    ];
    let columns = SparseColMat::<usize, f64>::try_new_from_triplets(2, 3, &entries).unwrap();
    let values = columns.val().as_ptr();
    let tensor = Tensor::try_from(columns).unwrap();
    assert_eq!(tensor.entries(), matrix("csc").entries());
    assert_eq!(tensor.as_csc::<f64, usize>().unwrap().vals.as_ptr(), values);
    let back = SparseColMat::<u32, f64>::try_from(&tensor).unwrap();
    assert_eq!(back.get(0, 2), Some(&2.0));

    let rows = SparseRowMat::<u64, f64>::try_from(&matrix("csr")).unwrap();
    assert_eq!(rows.get(1, 0), Some(&3.0));
    assert_eq!(
        Tensor::try_from(rows).unwrap().entries(),
        matrix("csr").entries()
    );
}

#[test]
fn room_between_columns_is_left_out() {
    let symbolic = SymbolicSparseColMat::<u32>::new_checked(
        2,
        3,
        vec![0, 3, 3, 5],
        Some(vec![2, 0, 1]),
        vec![0, 1, 9, 0, 9],
    );
    let loose = SparseColMat::new(symbolic, vec![1.0, 3.0, f64::NAN, 2.0, f64::NAN]);
    let tensor = Tensor::try_from(loose).unwrap();
    assert_eq!(tensor.entries(), matrix("csc").entries());
}

#[test]
fn unsorted_columns_are_refused() {
    let symbolic =
        SymbolicSparseColMat::<u32>::new_unsorted_checked(2, 1, vec![0, 2], None, vec![1, 0]);
    let refused = Tensor::try_from(SparseColMat::new(symbolic, vec![1.0, 2.0]));
    assert_eq!(refused.unwrap_err().code(), code::BAD_COORDINATES);
}

#[test]
fn dense_matrices_go_there_and_back() {
    let dense = Mat::from_fn(2, 3, |i, j| (10 * i + j) as f64);
    let tensor = Tensor::try_from(&dense).unwrap();
    assert_eq!(tensor.get(&[1, 2]).to_string(), "12.0");
    assert_eq!(Mat::<f64>::try_from(&tensor).unwrap(), dense);
    let by_rows = tensor.convert(&Format::dense(2)).unwrap();
    assert_eq!(Mat::<f64>::try_from(&by_rows).unwrap(), dense);
}

#[test]
fn what_a_matrix_does_not_hold_is_refused() {
    refuse(
        SparseColMat::<usize, f64>::try_from(&matrix("csr")),
        "convert",
    );
    refuse(SparseRowMat::<usize, f32>::try_from(&matrix("csr")), "f64");
    let long = Tensor::builder::<f64, _>("coo", &[1])
        .unwrap()
        .build()
        .unwrap();
    refuse(SparseColMat::<usize, f64>::try_from(&long), "order 2");
    let wide = Tensor::builder::<f64, _>("csr", &[1, 3 << 30])
        .unwrap()
        .build()
        .unwrap();
    refuse(SparseRowMat::<u32, f64>::try_from(&wide), "32 bits");
    refuse(Mat::<f64>::try_from(&matrix("csc")), "dense");
}
