//! `ndarray`: dense arrays in every order of axes.

use ::ndarray::{Array1, Array2, Array3, ArrayD, ArrayViewD, ShapeBuilder, arr0, arr2, s};
use sparsec_tensor::{Format, Tensor};

use super::{matrix, refuse};

#[test]
fn arrays_are_taken_over_in_both_orders() {
    let rows = arr2(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let first = rows.as_ptr();
    let tensor = Tensor::try_from(rows.clone()).unwrap();
    assert_eq!(tensor.values::<f32>(), rows.as_slice());
    assert_eq!(
        ArrayD::<f32>::try_from(&tensor).unwrap(),
        rows.clone().into_dyn()
    );
    assert_eq!(
        Tensor::try_from(rows)
            .unwrap()
            .values::<f32>()
            .unwrap()
            .as_ptr(),
        first
    );

    let columns = Array3::from_shape_fn((2, 3, 4).f(), |(i, j, k)| (100 * i + 10 * j + k) as i16);
    let tensor = Tensor::try_from(columns.clone()).unwrap();
    assert_eq!(tensor.format().level_order(), [2, 1, 0]);
    assert_eq!(tensor.get(&[1, 2, 3]).to_string(), "123");
    assert_eq!(
        ArrayD::<i16>::try_from(&tensor).unwrap(),
        columns.into_dyn()
    );
}

#[test]
fn parts_and_other_orders_are_copied() {
    let whole = Array2::from_shape_fn((4, 6), |(i, j)| (10 * i + j) as i64);
    let part = whole.slice(s![1..3, ..;2]).to_owned();
    assert_eq!(
        Tensor::try_from(part).unwrap().values::<i64>(),
        Some(&[10, 12, 14, 20, 22, 24][..])
    );
    // Parts that keep the vector of the whole.
    let rows = whole.clone().slice_move(s![1..3, ..]);
    let tensor = Tensor::try_from(rows).unwrap();
    assert_eq!(
        (tensor.extents(), tensor.get(&[0, 0]).to_string()),
        (&[2, 6][..], "10".into())
    );
    let backwards = whole.slice_move(s![..;-1, ..]);
    assert_eq!(
        Tensor::try_from(backwards)
            .unwrap()
            .get(&[0, 1])
            .to_string(),
        "31"
    );
    let middle = Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as i64);
    let swapped = middle.permuted_axes([1, 0, 2]);
    let tensor = Tensor::try_from(swapped.clone()).unwrap();
    assert_eq!(
        ArrayD::<i64>::try_from(&tensor).unwrap(),
        swapped.into_dyn()
    );
}

#[test]
fn views_borrow_and_small_ones_are_right() {
    let format = Format::parse("(i, j, k) -> (j : dense, k : dense, i : dense)").unwrap();
    let dense = Tensor::builder(&format, &[2, 3, 4])
        .unwrap()
        .push([1, 2, 3], 7u8)
        .build()
        .unwrap();
    let view = ArrayViewD::<u8>::try_from(&dense).unwrap();
    assert_eq!(
        (view.shape(), view[[1, 2, 3]], view[[0, 2, 3]]),
        (&[2, 3, 4][..], 7, 0)
    );
    assert_eq!(view.as_ptr(), dense.values::<u8>().unwrap().as_ptr());

    let scalar = Tensor::try_from(arr0(2.5)).unwrap();
    assert_eq!(
        (scalar.order(), scalar.get(&[]).to_string()),
        (0, "2.5".to_owned())
    );
    assert_eq!(
        ArrayD::<f64>::try_from(&scalar).unwrap(),
        arr0(2.5).into_dyn()
    );
    let empty = Tensor::try_from(Array1::<f64>::zeros(0)).unwrap();
    assert_eq!(ArrayD::<f64>::try_from(&empty).unwrap().shape(), [0]);
    let hollow = Tensor::try_from(Array2::<f64>::zeros((3, 0))).unwrap();
    assert_eq!(ArrayD::<f64>::try_from(&hollow).unwrap().shape(), [3, 0]);
}

#[test]
fn what_an_array_does_not_hold_is_refused() {
    refuse(ArrayD::<f64>::try_from(&matrix("csr")), "dense");
    refuse(ArrayD::<f32>::try_from(&matrix("dense")), "f64");
}
