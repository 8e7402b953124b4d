//! Tensors in formats that are relations, refused: wrong arrays, wrong assemblies, and formats
//! to which there is no way.

use std::collections::BTreeMap;
use std::sync::Arc;

use sparsec::{Array, RelationTensor, Storage, Stored, Tensor, code};

use super::stored::{OWN, relation, storage, tensor};
use super::{interpreter, refuse};

fn ints(entries: &[i32]) -> Array {
    Array::from_vec(entries.to_vec())
}

/// The arrays `perm`, `ptr` and `col`, the number of values, and what is said of them.
type Wrong<'a> = (
    &'a [i32],
    &'a [i32],
    &'a [i32],
    usize,
    sparsec::Code,
    &'a str,
);

#[test]
fn wrong_arrays_are_refused_at_the_first_entry() {
    let jds = relation("jds");
    let new = |perm: &[i32], ptr: &[i32], col: &[i32], n: usize| {
        let arrays = [("perm", perm), ("ptr", ptr), ("col", col)];
        let arrays = arrays.map(|(name, array)| (name.to_owned(), ints(array)));
        let values = Array::from_vec(vec![1.0; n]);
        RelationTensor::new(
            Arc::clone(&jds),
            vec![3, 4],
            BTreeMap::new(),
            arrays.into(),
            values,
        )
    };
    new(&[1, 0, 2], &[0, 2, 3], &[0, 3, 1], 3).expect("right arrays");
    let cases: [Wrong; 9] = [
        (
            &[1, 0, 2],
            &[0, 2, 3],
            &[3, 0, 3],
            3,
            code::NOT_AS_DECLARED,
            "entry 2 has the same coordinates as entry 0",
        ),
        (
            &[1, 0],
            &[0, 2, 3],
            &[0, 3, 1],
            3,
            code::ARRAY_MISMATCH,
            "`perm` has 2 entries, and its format says 3",
        ),
        (
            &[1, 0, 1],
            &[0, 2, 3],
            &[0, 3, 1],
            3,
            code::NOT_AS_DECLARED,
            "perm(2) = 1 was there before",
        ),
        (
            &[1, 0, 3],
            &[0, 2, 3],
            &[0, 3, 1],
            3,
            code::NOT_AS_DECLARED,
            "perm(2) = 3 is not in",
        ),
        (
            &[1, 0, 2],
            &[0, 3, 2],
            &[0, 3, 1],
            3,
            code::NOT_AS_DECLARED,
            "ptr(1) = 3 and ptr(2) = 2",
        ),
        (
            &[1, 0, 2],
            &[0, 2, 9],
            &[0, 3, 1],
            3,
            code::NOT_AS_DECLARED,
            "ptr(2) = 9 is not in",
        ),
        (
            &[1, 0, 2],
            &[0, 1, 3],
            &[0, 3, 1],
            3,
            code::NOT_AS_DECLARED,
            "does not hold for s = 0",
        ),
        (
            &[1, 0, 2],
            &[0, 2, 3],
            &[0, 4, 1],
            3,
            code::NOT_AS_DECLARED,
            "col(1) = 4 is not in",
        ),
        (
            &[1, 0, 2],
            &[0, 2, 3],
            &[0, 3, 1],
            2,
            code::ARRAY_MISMATCH,
            "entries, and its format says",
        ),
    ];
    for (perm, ptr, col, n, code, says) in cases {
        refuse(new(perm, ptr, col, n), code, says);
    }
    let of = |names: &[&str], constants: &[(&str, i64)]| {
        let arrays = names.iter().map(|name| ((*name).to_owned(), ints(&[0])));
        let constants = constants.iter().map(|(name, n)| ((*name).to_owned(), *n));
        RelationTensor::new(
            Arc::clone(&jds),
            vec![1, 1],
            constants.collect(),
            arrays.collect(),
            Array::from_vec(vec![1.0]),
        )
    };
    refuse(
        of(&["perm", "ptr"], &[]),
        code::ARRAY_MISMATCH,
        "the array `col` is missing",
    );
    refuse(
        of(&["perm", "ptr", "col", "row"], &[]),
        code::ARRAY_MISMATCH,
        "no array `row`",
    );
    refuse(
        of(&["perm", "ptr", "col"], &[("X", 1)]),
        code::ARRAY_MISMATCH,
        "no constant `X`",
    );
    refuse(
        of(&["perm", "ptr", "col"], &[("ND", -1)]),
        code::ARRAY_MISMATCH,
        "`ND` is -1",
    );
    let short = RelationTensor::new(
        Arc::clone(&jds),
        vec![1],
        BTreeMap::new(),
        BTreeMap::new(),
        ints(&[]),
    );
    refuse(short, code::LENGTH_MISMATCH, "stores tensors of order 2");
}

/// An assembly that is wrong gives no tensor.
#[test]
fn a_wrong_assembly_is_refused() {
    let session = interpreter();
    let a = || Stored::Levels(tensor(&[4, 4], 6, 1));
    let convert = |text: &str| session.convert_stored(&a(), &storage(text, 2));
    let swapped = OWN.replace(
        "rows: B_row(to(n)) = A_crd0(n)",
        "rows: B_row(to(n)) = A_crd1(n)",
    );
    refuse(
        convert(&swapped),
        code::NOT_AS_DECLARED,
        "does not hold for",
    );
    let unsorted = OWN.replace(
        "of N0 + N1, A_crd0(n) of N0)",
        "of N0 + N1, A_crd1(n) of N1)",
    );
    refuse(
        convert(&unsorted),
        code::NOT_AS_DECLARED,
        "does not hold for",
    );
    let doubled = OWN.replace("B(to(n)) = A(n)", "B(to(n)) = 2 * A(n)");
    refuse(
        convert(&doubled),
        code::NOT_AS_DECLARED,
        "stores other entries than it is given",
    );
    let missing = OWN.replace("B_row", "B_rows");
    refuse(convert(&missing), code::NO_CONVERSION, "has no `out B_row`");
    let unknown = OWN.replace("A_crd0(n) over", "A_crd7(n) over");
    assert!(convert(&unknown).is_err());
}

#[test]
fn a_format_without_a_way_to_it_says_how_to_state_one() {
    let session = interpreter();
    // The description does not say in which order rows of one length are.
    let text = include_str!("../../../../samples/jds.fmt");
    let a = Stored::Levels(tensor(&[4, 4], 6, 1));
    let error = session.convert_stored(&a, &storage(text, 2)).unwrap_err();
    assert_eq!(error.code(), code::NO_CONVERSION);
    assert!(
        error.to_string().contains("computation assemble"),
        "{error}"
    );
    let filled = Tensor::builder("csr, fill 1", &[2, 2])
        .unwrap()
        .push([0, 0], 5.0)
        .build()
        .unwrap();
    refuse(
        session.convert_stored(&Stored::Levels(filled), &storage("jds", 2)),
        code::FILL_MISMATCH,
        "a tensor in `jds` has fill 0.0, but the tensor has fill 1.0",
    );
    refuse(
        session.convert_stored(&a, &Storage::Relation(relation("fcoo(0)"))),
        code::NO_CONVERSION,
        "2 modes",
    );
}
