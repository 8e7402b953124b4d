//! `sprs`: matrices, views and vectors.

use ::sprs::{CsMat, CsMatI, CsMatViewI, CsVec, CsVecI, TriMat};
use sparsec_base::code;
use sparsec_tensor::{Format, Tensor};

use super::{matrix, refuse};

#[test]
fn matrices_go_there_and_back() {
    for format in [
        "csr",
        "csc",
        "csr, pos = 64, crd = 64",
        "csc, pos = 8, crd = 16",
    ] {
        let tensor = matrix(format);
        let by_usize = CsMat::<f64>::try_from(&tensor).unwrap();
        assert_eq!(by_usize.is_csr(), format.starts_with("csr"));
        assert_eq!(by_usize.get(0, 2), Some(&2.0));
        let by_i32 = CsMatI::<f64, i32>::try_from(&tensor).unwrap();
        for back in [Tensor::try_from(by_usize), Tensor::try_from(by_i32)] {
            assert_eq!(back.unwrap().entries(), tensor.entries(), "{format}");
        }
    }
}

#[test]
fn vectors_are_taken_over_and_views_borrow() {
    let mut triplets = TriMat::new((2, 3));
    triplets.add_triplet(1, 2, 5.0f32);
    triplets.add_triplet(0, 1, 4.0);
    let csc: CsMat<f32> = triplets.to_csc();
    let (values, rows) = (csc.data().as_ptr(), csc.indices().as_ptr());
    let tensor = Tensor::try_from(csc).unwrap();
    assert_eq!(tensor.format().levels(), Format::csc().levels());
    let taken = tensor.as_csc::<f32, usize>().unwrap();
    assert_eq!((taken.vals.as_ptr(), taken.rows.as_ptr()), (values, rows));

    let view = CsMatViewI::<f32, usize>::try_from(&tensor).unwrap();
    assert_eq!((view.data().as_ptr(), view.get(1, 2)), (values, Some(&5.0)));
    refuse(CsMatViewI::<f32, i32>::try_from(&tensor), "i64");
}

#[test]
fn parts_of_matrices_have_positions_of_their_own() {
    let whole = CsMat::<f64>::try_from(&matrix("csr")).unwrap();
    let part = whole.slice_outer(1..2).to_owned();
    let tensor = Tensor::try_from(part).unwrap();
    assert_eq!((tensor.extents(), tensor.n_stored()), (&[1, 3][..], 1));
    assert_eq!(tensor.get(&[0, 0]).to_string(), "3.0");
}

#[test]
fn sparse_vectors_go_there_and_back() {
    let vector = CsVec::new(5, vec![1, 4], vec![2i64, -3]);
    let tensor = Tensor::try_from(vector.clone()).unwrap();
    assert_eq!(tensor.format().to_string(), "(i) -> (i : compressed)");
    assert_eq!(CsVec::<i64>::try_from(&tensor).unwrap(), vector);
    assert_eq!(CsVecI::<i64, u16>::try_from(&tensor).unwrap().nnz(), 2);
}

#[test]
fn what_a_matrix_does_not_hold_is_refused() {
    refuse(CsMat::<f64>::try_from(&matrix("coo")), "coo");
    refuse(CsMat::<f32>::try_from(&matrix("csr")), "f64");
    let ones = Tensor::builder("csr", &[2, 2])
        .unwrap()
        .fill(1.0)
        .build()
        .unwrap();
    refuse(CsMat::<f64>::try_from(&ones), "1.0");
    let long = Tensor::builder("csr", &[1, 100_000]).unwrap();
    let long = long.push([0, 70_000], 1.0).build().unwrap();
    refuse(CsMatI::<f64, i16>::try_from(&long), "70000");
    // More columns than indices of 16 bits count, whatever is stored.
    let empty = Tensor::builder::<f64, _>("csr", &[1, 100_000])
        .unwrap()
        .build()
        .unwrap();
    let refused = CsMatI::<f64, i16>::try_from(&empty).unwrap_err();
    assert_eq!(refused.code(), code::NOT_TRANSFERABLE);
}
