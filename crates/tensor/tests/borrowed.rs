//! Arrays of somebody else: used where they lie, checked, and never written.

use std::sync::Arc;

use sparsec_base::{ElementType, Scalar, code};
use sparsec_format::Format;
use sparsec_tensor::{Array, ArrayRef, Tensor, TensorRef};

const ROW_PTR: [usize; 4] = [0, 2, 2, 3];
const COLUMNS: [usize; 3] = [0, 3, 1];
const VALUES: [f64; 3] = [1.0, 2.0, 3.0];

fn csr<'a>(
    pos: ArrayRef<'a>,
    crd: ArrayRef<'a>,
    vals: &'a [f64],
) -> sparsec_base::Result<TensorRef<'a>> {
    let arrays = vec![pos, crd, ArrayRef::from(vals)];
    TensorRef::new(Format::csr(), vec![3, 4], Scalar::F64(0.0), arrays)
}

#[test]
fn slices_are_used_where_they_lie() {
    let values = VALUES.to_vec();
    let a = csr(
        ArrayRef::index(&ROW_PTR),
        ArrayRef::index(&COLUMNS),
        &values,
    )
    .unwrap();
    assert_eq!(a.arrays()[0].as_ptr().cast(), ROW_PTR.as_ptr());
    assert_eq!(a.vals().as_ptr().cast(), values.as_ptr());
    assert_eq!(a.get(&[0, 3]), Scalar::F64(2.0));
    // What a kernel writes, or a user, is a copy.
    let mut own: Tensor = a.clone();
    own.values_mut::<f64>().expect("f64")[1] = 9.0;
    let mut another = a.to_tensor().unwrap();
    another.values_mut::<f64>().expect("f64")[1] = 8.0;
    drop(a);
    assert_eq!(values, VALUES);
    assert_eq!(
        (own.get(&[0, 3]), another.get(&[0, 3])),
        (Scalar::F64(9.0), Scalar::F64(8.0))
    );
}

#[test]
fn every_width_of_integers_goes_in() {
    macro_rules! check {
        ($($ty:ty)*) => {$(
            let pos = ROW_PTR.map(|p| p as $ty);
            let crd = COLUMNS.map(|c| c as $ty);
            let a = csr(ArrayRef::index(&pos), ArrayRef::index(&crd), &VALUES).unwrap();
            assert_eq!(a.level(1).pos(), [0, 2, 2, 3]);
            assert_eq!(a.level(1).crd(), [0, 3, 1]);
            assert_eq!(a.convert(&Format::csc()).unwrap().same_entries(&a), true);
        )*};
    }
    check!(u8 u16 i32 u32 i64 u64 isize usize);
}

#[test]
fn borrowed_arrays_are_checked() {
    let fault = |pos: &[usize], crd: &[u32], vals: &[f64]| {
        let refused = csr(ArrayRef::index(pos), ArrayRef::index(crd), vals);
        refused.expect_err("a fault").code()
    };
    assert_eq!(fault(&ROW_PTR, &[3, 0, 1], &VALUES), code::BAD_COORDINATES);
    assert_eq!(fault(&ROW_PTR, &[0, 4, 1], &VALUES), code::OUT_OF_BOUNDS);
    assert_eq!(
        fault(&ROW_PTR, &[0, u32::MAX, 1], &VALUES),
        code::OUT_OF_BOUNDS
    );
    assert_eq!(
        fault(&[0, 2, 1, 3], &[0, 3, 1], &VALUES),
        code::BAD_SEGMENTS
    );
    assert_eq!(
        fault(&[0, 2, usize::MAX, 3], &[0, 3, 1], &VALUES),
        code::BAD_SEGMENTS
    );
    assert_eq!(
        fault(&ROW_PTR, &[0, 3, 1], &VALUES[..2]),
        code::ARRAY_MISMATCH
    );
    assert_eq!(fault(&[], &[], &[]), code::ARRAY_MISMATCH);
}

#[test]
fn numbers_beyond_a_sign_are_shown_without() {
    let crd = [0, u64::MAX, 1];
    let fault = csr(ArrayRef::index(&ROW_PTR), ArrayRef::index(&crd), &VALUES);
    let fault = fault.expect_err("out of bounds").to_string();
    assert!(fault.contains("18446744073709551615"), "{fault}");
    let crd = [0, u32::MAX, 1];
    let fault = csr(ArrayRef::index(&ROW_PTR), ArrayRef::index(&crd), &VALUES);
    let fault = fault.expect_err("out of bounds").to_string();
    assert!(fault.contains("that is 4294967295"), "{fault}");
}

#[test]
fn shared_arrays_live_as_long_as_the_tensor() {
    let values = Arc::new(VALUES.to_vec());
    let arrays = vec![
        Array::shared_index::<usize, _>(Arc::new(ROW_PTR.to_vec())),
        Array::from_index_vec(COLUMNS.to_vec()),
        Array::shared::<f64, _>(Arc::clone(&values)),
    ];
    let zero = Scalar::F64(0.0);
    let mut a = Tensor::new(Format::csr(), vec![3, 4], ElementType::F64, zero, arrays).unwrap();
    assert_eq!(a.vals().as_ptr().cast(), values.as_ptr());
    let clone = a.clone();
    assert_eq!(Arc::strong_count(&values), 3, "clones share the owner");
    a.values_mut::<f64>().expect("f64")[0] = 7.0;
    assert_eq!(
        (a.get(&[0, 0]), clone.get(&[0, 0])),
        (Scalar::F64(7.0), Scalar::F64(1.0))
    );
    assert_eq!(values[0], 1.0);
    drop(clone);
    assert_eq!(Arc::strong_count(&values), 1);
}

#[test]
fn a_tensor_is_seen_without_a_copy() {
    let a = Tensor::pack(&Format::csr(), &[2, 2], &[1, 0], &[5.0]).unwrap();
    let view = TensorRef::from(&a);
    assert_eq!(view.vals().as_ptr(), a.vals().as_ptr());
    assert_eq!(*view, a);
    assert_eq!(TensorRef::from(a.clone()).get(&[1, 0]), Scalar::F64(5.0));
}
