//! Files of other writers and other machines are read.

use sparsec_base::{ElementType, Scalar, code};
use sparsec_format::Format;
use sparsec_io::npy::NdArray;
use sparsec_io::npz::Archive;
use sparsec_io::{read_as, write};
use sparsec_tensor::{PackOptions, Tensor};

use crate::support::{archive, bsr, csr, deflated, list, npy, read, shown};

#[test]
fn arrays_of_other_machines_are_read() {
    let big: Vec<u8> = [1.5f64, 2.5, 3.5]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    let header = "{'descr': '>f8', 'fortran_order': False, 'shape': (3,), }\n";
    for version in [1, 2, 3] {
        let file = npy(version, header, &big);
        assert_eq!(shown("a.npy", &file), "dense [3], 0: 1.5, 1: 2.5, 2: 3.5");
    }
    let parts: Vec<u8> = [1f32, -2.0].iter().flat_map(|v| v.to_be_bytes()).collect();
    let header = "{'descr': '>c8', 'fortran_order': False, 'shape': ()}";
    assert_eq!(
        shown("a.npy", &npy(1, header, &parts)),
        format!(
            "dense [], : {}",
            Scalar::C64(sparsec_base::Complex::new(1.0, -2.0))
        )
    );
}

#[test]
fn column_major_arrays_keep_their_order() {
    let header = "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3)}";
    let file = npy(1, header, &[1, 2, 3, 4, 5, 6]);
    let found = shown("a.npy", &file);
    assert_eq!(
        found,
        "(i, j) -> (j : dense, i : dense) [2, 3], \
         0 0: 1, 1 0: 2, 0 1: 3, 1 1: 4, 0 2: 5, 1 2: 6"
    );
}

#[test]
fn values_are_read_in_the_type_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let formats = [
        ("a.npy", Format::dense(2)),
        ("a.npz", Format::csr()),
        ("b.npz", Format::dcsr()),
    ];
    for (name, format) in formats {
        let path = folder.path().join(name);
        let a = Tensor::pack(&format, &[1, 2], &[0, 0, 0, 1], &[1.0, 300.0]).unwrap();
        write(&path, &a).unwrap();
        let file = read_as(&path, Some(ElementType::I16)).unwrap();
        assert_eq!(file.element(), ElementType::I16);
        let fault = read_as(&path, Some(ElementType::U8)).unwrap_err();
        assert_eq!(fault.code(), code::LOSSY_TYPE, "{fault}");
    }
}

#[test]
fn a_file_of_numpy_may_be_read_alone() {
    let bytes = npy(
        1,
        "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2)}",
        &[1, 2, 3, 4],
    );
    let array = NdArray::from_bytes("a.npy", &bytes).unwrap();
    assert_eq!((array.shape, array.column_major), (vec![2, 2], true));
    assert_eq!(array.values, list(&[1u8, 2, 3, 4]));
}

#[test]
fn blocks_and_diagonals_become_entries() {
    let found = shown("a.npz", &bsr());
    assert!(
        found.starts_with("entries [4, 6], 0 3: 0, 0 4: 1, 0 5: 2, 1 3: 3"),
        "{found}"
    );
    assert!(
        found.contains("1 5: 5, 2 0: 6, 2 1: 7") && found.ends_with("3 2: 11"),
        "{found}"
    );
    let dia = |offsets: &[i32], width: u64, data: &[i64]| {
        archive(|out| {
            out.text("format", "dia")?;
            out.list("shape", &list(&[3i64, 4]))?;
            out.list("offsets", &list(offsets))?;
            out.array("data", &[offsets.len() as u64, width], &list(data))
        })
    };
    // What lies outside the matrix (9) is no entry; a zero within it is one.
    assert_eq!(
        shown("a.npz", &dia(&[-1, 2], 4, &[1, 2, 9, 9, 9, 9, 0, 4])),
        "entries [3, 4], 1 0: 1, 2 1: 2, 0 2: 0, 1 3: 4"
    );
    // Diagonals may be shorter or longer than the matrix is wide, or miss it.
    assert_eq!(
        shown("a.npz", &dia(&[0, 7, -9], 2, &[1, 2, 9, 9, 9, 9])),
        "entries [3, 4], 0 0: 1, 1 1: 2"
    );
    assert_eq!(
        shown("a.npz", &dia(&[3], 6, &[9, 9, 9, 1, 9, 9])),
        "entries [3, 4], 0 3: 1"
    );
}

#[test]
fn blocks_that_are_not_there_may_have_any_size() {
    let huge = 1u64 << 40;
    let none = archive(|out| {
        out.ascii("format", "bsr")?;
        out.list("shape", &list(&[huge, huge]))?;
        out.list("indptr", &list(&[0i32, 0]))?;
        out.list("indices", &list::<i32>(&[]))?;
        out.array("data", &[0, huge, huge], &list::<f64>(&[]))
    });
    assert_eq!(shown("a.npz", &none), format!("entries [{huge}, {huge}]"));
}

#[test]
fn rows_are_used_as_they_are_or_packed() {
    assert_eq!(
        shown(
            "a.npz",
            &csr(&[2, 3], &[0, 1, 3], &[2, 0, 1], &[1., 2., 3.])
        ),
        "csr [2, 3], 0 2: 1.0, 1 0: 2.0, 1 1: 3.0"
    );
    // Out of order, and twice: SciPy adds up.
    let unsorted = csr(&[2, 3], &[0, 1, 4], &[2, 1, 0, 1], &[1., 2., 3., 4.]);
    assert_eq!(
        shown("a.npz", &unsorted),
        "entries [2, 3], 0 2: 1.0, 1 1: 2.0, 1 0: 3.0, 1 1: 4.0"
    );
    let packed = read("a.npz", &unsorted)
        .unwrap()
        .into_tensor(&Format::csr(), PackOptions::default());
    assert_eq!(packed.unwrap().values(), Some(&[1f32, 3., 6.][..]));
    // Room for more entries, and a single row without a mode for rows.
    assert_eq!(
        shown(
            "a.npz",
            &csr(&[2, 3], &[0, 1, 1], &[2, 9, 9], &[1., 2., 3.])
        ),
        "csr [2, 3], 0 2: 1.0"
    );
    assert_eq!(
        shown("a.npz", &csr(&[3], &[0, 2], &[0, 2], &[1., 2.])),
        "csf [3], 0: 1.0, 2: 2.0"
    );
}

#[test]
fn coordinate_lists_of_any_order_are_read() {
    let coo = |coords: &[u16], data: &[u8]| {
        archive(|out| {
            out.ascii("format", "coo")?;
            out.list("shape", &list(&[3i64, 4, 5]))?;
            out.array("coords", &[3, data.len() as u64], &list(coords))?;
            out.list("data", &list(data))
        })
    };
    assert_eq!(
        shown("a.npz", &coo(&[0, 2, 1, 0, 4, 3], &[7, 8])),
        "scoo [3, 4, 5], 0 1 4: 7, 2 0 3: 8"
    );
    assert_eq!(
        shown("a.npz", &coo(&[2, 0, 0, 1, 3, 4], &[8, 7])),
        "entries [3, 4, 5], 2 0 3: 8, 0 1 4: 7"
    );
    // One column-major list of coordinates, and 64 bits beside 32.
    let mixed = archive(|out| {
        out.ascii("format", "coo")?;
        out.list("shape", &list(&[3u64, 4]))?;
        out.list("row", &list(&[0i32, 2]))?;
        out.list("col", &list(&[1u64, 3]))?;
        out.list("data", &list(&[true, false].map(sparsec_base::Bool8::from)))
    });
    assert_eq!(shown("a.npz", &mixed), "scoo [3, 4], 0 1: true, 2 3: false");
}

#[test]
fn every_byte_but_zero_is_true() {
    let header = "{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }";
    assert_eq!(
        shown("a.npy", &npy(1, header, &[0, 1, 2, 255])),
        "dense [4], 0: false, 1: true, 2: true, 3: true"
    );
}

#[test]
fn members_may_be_deflated() {
    let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    let bytes: Vec<u8> = [7i32, 8].iter().flat_map(|v| v.to_le_bytes()).collect();
    let bytes = deflated(&[
        ("x.npy", &npy(1, header, &bytes)),
        ("y", &npy(1, header, &bytes)),
    ]);
    let archive = Archive::open("a.npz", &bytes).unwrap();
    for array in archive.arrays(["x", "y"]).unwrap() {
        assert_eq!(array.values, list(&[7i32, 8]));
    }
}
