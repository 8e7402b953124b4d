//! What is written reads back, bit for bit.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;
use sparsec_base::{Complex, ElementType, Scalar, bf16, f16};
use sparsec_format::Format;
use sparsec_io::{ReadOptions, read, read_as, write};
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};

/// Random bits as entries of a type; one NaN stands for all, as text has one.
fn values(element: ElementType, bits: &[u64]) -> Array {
    let single = |bits: u32| match f32::from_bits(bits) {
        value if value.is_nan() => f32::NAN,
        value => value,
    };
    let double = |bits: u64| match f64::from_bits(bits) {
        value if value.is_nan() => f64::NAN,
        value => value,
    };
    let mut values = Array::zeroed(element, bits.len()).unwrap();
    for (i, &bits) in bits.iter().enumerate() {
        let value = match element {
            ElementType::F16 => Scalar::F16(f16::from_f32(single((bits as u32) & !0 << 13))),
            ElementType::Bf16 => Scalar::Bf16(bf16::from_f32(single((bits as u32) & !0 << 16))),
            ElementType::F32 => Scalar::F32(single(bits as u32)),
            ElementType::F64 => Scalar::F64(double(bits)),
            ElementType::C64 => Scalar::C64(Complex::new(
                single(bits as u32),
                single((bits >> 32) as u32),
            )),
            ElementType::C128 => {
                Scalar::C128(Complex::new(double(bits), double(bits.rotate_left(17))))
            }
            integer => Scalar::U64(bits).cast(integer).unwrap(),
        };
        values.set(i, value);
    }
    values
}

fn tensors(order: usize) -> impl Strategy<Value = Tensor> {
    let extents = prop::collection::vec(1..1_000_000u64, order);
    let element = prop::sample::select(ElementType::ALL.to_vec());
    (extents, element).prop_flat_map(|(extents, element)| {
        let tuple: Vec<_> = extents.iter().map(|&extent| 0..extent).collect();
        // Distinct coordinates, so that no sums are formed.
        let list = prop::collection::btree_map(tuple, any::<u64>(), 1..30);
        list.prop_map(move |list| {
            let bits: Vec<u64> = list.values().copied().collect();
            let entries = Entries {
                extents: extents.clone(),
                coords: list.into_keys().flatten().collect(),
                values: values(element, &bits),
            };
            let format = Format::scoo(extents.len());
            Tensor::pack_entries(&format, entries, PackOptions::default()).unwrap()
        })
    })
}

fn read_back(path: &Path, tensor: &Tensor) -> Tensor {
    let options = ReadOptions {
        element: Some(tensor.element()),
        extents: Some(tensor.extents().iter().copied().map(Some).collect()),
        ..ReadOptions::default()
    };
    let found = read(path, &options).unwrap_or_else(|fault| panic!("{fault}"));
    found
        .into_tensor(tensor.format(), PackOptions::default())
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn tensors_read_back((tensor, compressed) in (0..6usize).prop_flat_map(|n| (tensors(n), any::<bool>()))) {
        let folder = tempfile::tempdir().unwrap();
        for ending in ["tns", "mtx"] {
            if ending == "mtx" && tensor.order() != 2 {
                continue;
            }
            let gz = if compressed { ".gz" } else { "" };
            let path = folder.path().join(format!("a.{ending}{gz}"));
            write(&path, &tensor).unwrap();
            prop_assert_eq!(&read_back(&path, &tensor), &tensor);
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), ending in 0..4usize) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(["a.mtx", "a.tns", "a.mtx.gz", "a.tns.gz"][ending]);
        std::fs::write(&path, bytes).unwrap();
        if let Err(fault) = read_as(&path, None) {
            prop_assert!(!fault.to_string().is_empty());
        }
    }

    #[test]
    fn almost_files_never_panic(body in "[-0-9 .eE%#\\r\\nxa\\t]{0,200}", symmetric: bool) {
        let folder = tempfile::tempdir().unwrap();
        let kind = if symmetric { "symmetric" } else { "general" };
        let text = format!("%%MatrixMarket matrix coordinate real {kind}\n{body}");
        for (name, text) in [("a.mtx", &text), ("a.tns", &body)] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            if let Err(fault) = read_as(&path, None) {
                prop_assert!(!fault.to_string().is_empty());
            }
        }
    }
}

/// Reads text as a file of this name.
fn entries(name: &str, text: &str) -> Entries {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let found = read_as(&path, None).unwrap_or_else(|fault| panic!("{fault}"));
    found.into_entries().unwrap()
}

#[test]
fn line_ends_marks_blanks_and_comments_make_no_difference() {
    let plain = "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 2.5\n2 3 -1e3\n";
    let expected = entries("a.mtx", plain);
    assert_eq!(expected.coords, [0, 1, 1, 2]);
    assert_eq!(expected.values, Array::from_vec(vec![2.5, -1000.0]));
    assert_eq!(entries("a.mtx", &plain.replace('\n', "\r\n")), expected);
    assert_eq!(entries("a.mtx", &format!("\u{FEFF}{plain}")), expected);
    assert_eq!(entries("a.mtx", plain.trim_end()), expected);
    assert_eq!(entries("A.MTX", &plain.to_uppercase()), expected);
    let loose = "%%MatrixMarket  matrix coordinate\treal general \n%\n\n% x\n 2 3\t2 \n\n\
                 1  2   2.5 \n% 9 9 9\n\t2 3 -1e3\n\n";
    assert_eq!(entries("a.mtx", loose), expected);
}

#[test]
fn fields_say_the_type() {
    let integer = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9007199254740993\n";
    let found = entries("a.mtx", integer);
    assert_eq!(
        found.values,
        Array::from_vec(vec![9_007_199_254_740_993i64])
    );
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n";
    let found = entries("a.mtx", pattern);
    assert_eq!(found.coords, [0, 0, 1, 0, 0, 1]);
    assert_eq!(found.values, Array::from_vec(vec![1.0, 1.0, 1.0]));
    let special = entries("a.tns", "1 inf\n2 -Inf\n3 NaN\n4 1.\n");
    assert_eq!(special.extents, [4]);
    let values = special.values.slice::<f64>();
    assert_eq!(values[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!(values[2].is_nan());
}

#[test]
fn a_scalar_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.tns");
    write(&path, &Tensor::scalar(Scalar::F64(0.1))).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "0.1\n");
    let found = read_as(&path, None).unwrap().into_entries().unwrap();
    assert_eq!((found.order(), found.len()), (0, 1));
}

#[test]
fn large_files_are_parsed_in_parallel() {
    let n = 120_000u64;
    let coords: Vec<u64> = (0..n).flat_map(|e| [e * 7919 % 1000, e]).collect();
    let values: Vec<f64> = (0..n).map(|e| e as f64 / 3.0).collect();
    let tensor = Tensor::pack(&Format::csr(), &[1000, n], &coords, &values).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    write(&path, &tensor).unwrap();
    for threads in [1, 4] {
        let back = sparsec_parallel::with_threads(threads, || read_back(&path, &tensor));
        assert_eq!(back, tensor);
    }
    // Comments and blank lines anywhere leave gaps that are closed up.
    let text = std::fs::read_to_string(&path).unwrap();
    let mut gappy = String::new();
    for (number, line) in text.lines().enumerate() {
        gappy += line;
        gappy += if number % 97 == 5 {
            "\n\n% note\n"
        } else {
            "\n"
        };
    }
    std::fs::write(&path, &gappy).unwrap();
    assert_eq!(read_back(&path, &tensor), tensor);
    // The line number of a fault counts all of them.
    let line = gappy.lines().count() + 1;
    std::fs::write(&path, gappy + "1 x 1\n").unwrap();
    let fault = read_as(&path, None).unwrap_err();
    assert!(
        fault.to_string().contains(&format!("a.mtx:{line}:3")),
        "{fault}"
    );
}

#[test]
fn an_older_file_is_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("y.tns");
    let tensor = |value| Tensor::pack(&Format::csf(1), &[1], &[0], &[value]).unwrap();
    write(&path, &tensor(1.0)).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("link.tns");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    write(&link, &tensor(2.0)).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "1 2.0\n");
    assert!(link.is_symlink());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}
