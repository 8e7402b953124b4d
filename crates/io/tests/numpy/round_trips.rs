//! What is written reads back bit for bit, and damage never panics.

use proptest::prelude::*;
use sparsec_base::{ElementType, code};
use sparsec_format::Format;
use sparsec_io::write;
use sparsec_parallel::Memory;
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};

use crate::support::{bsr, deflated, read, refused, written};

/// Formats of all orders, kinds, widths and mode orders.
const FORMATS: [&str; 16] = [
    "(i, j) -> (i : dense, j : compressed)",
    "(i, j) -> (j : dense, i : compressed)",
    "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))",
    "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "(i, j) -> (i : compressed, j : compressed)",
    "(row, column) -> (row : dense, column : compressed), pos = 64, crd = 8",
    "(i, j) -> (i : dense, j : compressed(nonordered)), pos = 16, crd = 16",
    "(i, j) -> (i : dense, j : dense)",
    "(i, j) -> (j : dense, i : dense)",
    "(i, j) -> (i : compressed, j : dense)",
    "() -> ()",
    "(i) -> (i : compressed)",
    "(i) -> (i : dense)",
    "(i, j, k) -> (j : compressed, k : compressed, i : compressed)",
    "(i, j, k) -> (k : dense, i : dense, j : dense)",
    "(i, j, k, l) -> (i : dense, j : compressed(nonunique), k : singleton, l : dense)",
];

/// Numbers of a type from random bytes, which for `bool` are 0 or 1.
fn values(element: ElementType, n: usize, bytes: &[u8]) -> Array {
    let size = n * element.size();
    let pattern = bytes.iter().copied().cycle().take(size);
    let bytes: Vec<u8> = match element {
        ElementType::Bool => pattern.map(|byte| byte & 1).collect(),
        _ => pattern.collect(),
    };
    let mut memory = Memory::zeroed(size).unwrap();
    memory.as_mut_slice().copy_from_slice(&bytes);
    Array::new(element, memory)
}

fn tensors() -> impl Strategy<Value = Tensor> {
    let format = prop::sample::select(FORMATS.to_vec());
    let element = prop::sample::select(ElementType::ALL.to_vec());
    let bytes = prop::collection::vec(any::<u8>(), 1..64);
    let fill = prop::option::of(prop::collection::vec(any::<u8>(), 16));
    (format, element, bytes, fill).prop_flat_map(|(format, element, bytes, fill)| {
        let format: Format = format.parse().unwrap();
        let extents = prop::collection::vec(0..8u64, format.order());
        let fill = match fill {
            Some(bytes) => values(element, 1, &bytes).get(0),
            None => element.zero(),
        };
        extents.prop_flat_map(move |extents| {
            let (format, bytes) = (format.clone(), bytes.clone());
            let tuple: Vec<_> = extents.iter().map(|&extent| 0..extent.max(1)).collect();
            let most = if extents.contains(&0) { 0 } else { 20 };
            let list = prop::collection::btree_set(tuple, 0..=most);
            list.prop_map(move |list| {
                let entries = Entries {
                    extents: extents.clone(),
                    values: values(element, list.len(), &bytes),
                    coords: list.into_iter().flatten().collect(),
                };
                let options = PackOptions {
                    fill: Some(fill),
                    ..PackOptions::default()
                };
                Tensor::pack_entries(&format, entries, options).unwrap()
            })
        })
    })
}

fn read_back(name: &str, tensor: &Tensor) -> Tensor {
    let file = read(name, &written(name, tensor)).unwrap_or_else(|fault| panic!("{fault}"));
    assert_eq!(file.n_stored, tensor.n_stored() as u64);
    let options = PackOptions {
        fill: Some(tensor.fill()),
        ..PackOptions::default()
    };
    let back = file.into_tensor(tensor.format(), options);
    back.unwrap_or_else(|fault| panic!("{fault}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn archives_hold_every_format_and_type(tensor in tensors()) {
        prop_assert_eq!(&read_back("a.npz", &tensor), &tensor);
    }

    #[test]
    fn arrays_hold_every_dense_tensor(tensor in tensors()) {
        let states = tensor.format().is_all_dense() && tensor.element() != ElementType::Bf16;
        if states {
            // What is not stored in a dense tensor is nothing, so its fill is.
            let (format, extents, _, arrays) = tensor.into_parts();
            let element = arrays[0].element();
            let tensor = Tensor::new(format, extents, element, element.zero(), arrays).unwrap();
            prop_assert_eq!(&read_back("a.npy", &tensor), &tensor);
        } else {
            let folder = tempfile::tempdir().unwrap();
            let fault = write(&folder.path().join("a.npy"), &tensor).unwrap_err();
            prop_assert_eq!(fault.code(), code::NOT_EXPRESSIBLE_IN_NPY);
            prop_assert!(fault.to_string().contains("write a `.npz` file"));
        }
    }

    #[test]
    fn the_same_tensor_is_the_same_bytes(tensor in tensors()) {
        prop_assert_eq!(written("a.npz", &tensor), written("a.npz", &tensor));
    }
}

/// A matrix in each way in which archives hold one.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let coords = [0, 1, 2, 0, 2, 4];
    let pack = |format: &Format| Tensor::pack(format, &[4, 5], &coords, &[2.0, 3.0, 5.0]).unwrap();
    vec![
        ("a.npz", written("a.npz", &pack(&Format::csr()))),
        ("a.npz", written("a.npz", &pack(&Format::scoo(2)))),
        ("a.npz", written("a.npz", &pack(&Format::dcsr()))),
        ("a.npy", written("a.npy", &pack(&Format::dense(2)))),
        ("a.npz", bsr()),
        ("a.npz", deflated(&[("x", &b"not an array"[..])])),
    ]
}

/// Whether reading gives a tensor or a fault, and no panic.
fn survives(name: &str, bytes: &[u8]) {
    match read(name, bytes) {
        Ok(file) => drop(file.into_entries()),
        Err(fault) => assert!(!fault.to_string().is_empty()),
    }
}

#[test]
fn files_cut_off_anywhere_are_refused() {
    for (name, bytes) in samples() {
        for end in 0..bytes.len() {
            assert!(read(name, &bytes[..end]).is_err(), "{name} of {end} bytes");
        }
    }
}

#[test]
fn files_with_a_wrong_byte_never_panic() {
    for (name, bytes) in samples() {
        for at in 0..bytes.len() {
            for mask in [0x01, 0x80, 0xFF] {
                let mut bytes = bytes.clone();
                bytes[at] ^= mask;
                survives(name, &bytes);
            }
        }
    }
}

#[test]
fn a_wrong_byte_of_data_is_found() {
    let (name, bytes) = &samples()[0];
    let at = bytes
        .windows(8)
        .position(|eight| eight == 3f64.to_ne_bytes())
        .unwrap();
    let mut bytes = bytes.clone();
    bytes[at] ^= 1;
    refused(name, &bytes, code::BAD_ARCHIVE, "`a.npz: data` is damaged");
}

#[test]
fn widths_that_scipy_has_do_not_keep_a_matrix_from_it() {
    for (format, is_scipys) in [
        ("csr, pos = 32, crd = 32", true),
        ("csc, pos = 64", true),
        ("csr, crd = 16", false),
    ] {
        let format = Format::parse(format).unwrap();
        let tensor = Tensor::pack(&format, &[2, 3], &[0, 1, 1, 2], &[1.0, 2.0]).unwrap();
        let bytes = written("a.npz", &tensor);
        let archive = sparsec_io::npz::Archive::open("a.npz", &bytes).unwrap();
        assert_eq!(archive.has("indptr"), is_scipys, "{format}");
    }
}
