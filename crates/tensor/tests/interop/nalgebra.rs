//! `nalgebra-sparse`: compressed matrices, lists of entries, and dense ones.

use nalgebra::DMatrix;
use nalgebra_sparse::{CooMatrix, CscMatrix, CsrMatrix};
use sparsec_tensor::{Format, Tensor};

use super::{matrix, refuse};

#[test]
fn compressed_matrices_go_there_and_back() {
    let csr = CsrMatrix::<f64>::try_from(&matrix("csr")).unwrap();
    assert_eq!(
        csr.get_entry(0, 2).map(|entry| entry.into_value()),
        Some(2.0)
    );
    let (values, columns) = (csr.values().as_ptr(), csr.col_indices().as_ptr());
    let back = Tensor::try_from(csr).unwrap();
    assert_eq!(back.entries(), matrix("csr").entries());
    let taken = back.as_csr::<f64, usize>().unwrap();
    assert_eq!(
        (taken.vals.as_ptr(), taken.cols.as_ptr()),
        (values, columns)
    );

    let csc = CscMatrix::<f64>::try_from(&matrix("csc")).unwrap();
    assert_eq!(csc.col_offsets(), [0, 2, 2, 3]);
    assert_eq!(
        Tensor::try_from(csc).unwrap().entries(),
        matrix("csc").entries()
    );
}

#[test]
fn lists_of_entries_are_packed() {
    let mut list = CooMatrix::new(2, 3);
    for (i, j, value) in [(1, 0, 3.0), (0, 2, 1.5), (0, 2, 0.5), (0, 0, 1.0)] {
        list.push(i, j, value);
    }
    let tensor = Tensor::try_from(list).unwrap();
    assert_eq!(tensor.format().levels(), Format::coo(2).levels());
    assert_eq!(tensor.entries(), matrix("coo").entries());
    let back = CooMatrix::<f64>::try_from(&tensor).unwrap();
    assert_eq!(
        (back.row_indices(), back.col_indices()),
        (&[0, 0, 1][..], &[0, 2, 0][..])
    );
    assert_eq!(CooMatrix::<f64>::try_from(&matrix("scoo")).unwrap(), back);
}

#[test]
fn dense_matrices_go_there_and_back() {
    let dense = DMatrix::from_row_slice(2, 3, &[1, 2, 3, 4, 5, 6]);
    let tensor = Tensor::try_from(dense.clone()).unwrap();
    assert_eq!(tensor.get(&[1, 0]).to_string(), "4");
    assert_eq!(DMatrix::<i32>::try_from(&tensor).unwrap(), dense);
    let by_rows = tensor.convert(&Format::dense(2)).unwrap();
    assert_eq!(DMatrix::<i32>::try_from(&by_rows).unwrap(), dense);
}

#[test]
fn what_a_matrix_does_not_hold_is_refused() {
    refuse(CsrMatrix::<f64>::try_from(&matrix("csc")), "convert");
    refuse(CscMatrix::<i64>::try_from(&matrix("csc")), "f64");
    refuse(CooMatrix::<f64>::try_from(&matrix("csr")), "coo");
    refuse(DMatrix::<f64>::try_from(&matrix("csr")), "dense");
}
