//! What is written reads back, bit for bit.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;
use sparsec_base::{Complex, ElementType, Scalar, bf16, f16};
use sparsec_format::Format;
use sparsec_io::{
    Content, Progress, ReadOptions, Structure, WriteOptions, read, read_as, stage, write,
};
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};

/// Random bits as entries of a type; one NaN of each sign stands for all, as text
/// has one.
fn values(element: ElementType, bits: &[u64]) -> Array {
    let single = |bits: u32| match f32::from_bits(bits) {
        value if value.is_nan() => f32::NAN.copysign(value),
        value => value,
    };
    let double = |bits: u64| match f64::from_bits(bits) {
        value if value.is_nan() => f64::NAN.copysign(value),
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
    fn tensors_read_back((tensor, compression) in (0..6usize).prop_flat_map(|n| (tensors(n), 0..3usize))) {
        let folder = tempfile::tempdir().unwrap();
        for ending in ["tns", "mtx"] {
            if ending == "mtx" && tensor.order() != 2 {
                continue;
            }
            let packed = ["", ".gz", ".zst"][compression];
            let path = folder.path().join(format!("a.{ending}{packed}"));
            write(&path, &tensor).unwrap();
            prop_assert_eq!(&read_back(&path, &tensor), &tensor);
            // The file says its type by itself, and its extents unless it is plain.
            let found = read_as(&path, None).unwrap_or_else(|fault| panic!("{fault}"));
            prop_assert_eq!(found.element(), tensor.element());
            let is_plain = ending == "tns" && tensor.element() == ElementType::F64;
            prop_assert_eq!(found.states_extents, !is_plain);
            if !is_plain {
                let back = found.into_tensor(tensor.format(), PackOptions::default()).unwrap();
                prop_assert_eq!(&back, &tensor);
            }
            // What the header says is enough, as far as there is one.
            let header = WriteOptions { states_extents: true, ..WriteOptions::default() };
            stage(&path, &tensor, &header).unwrap().commit().unwrap();
            let found = read_as(&path, Some(tensor.element())).unwrap();
            prop_assert!(tensor.order() == 0 || found.states_extents);
            let back = found.into_tensor(tensor.format(), PackOptions::default()).unwrap();
            prop_assert_eq!(&back, &tensor);
        }
    }

    #[test]
    fn structure_reads_back(
        half in prop::collection::btree_map((0..9u64, 0..9u64), any::<u64>(), 0..20),
        element in prop::sample::select(ElementType::ALL.to_vec()),
        which in 0..4usize,
        dense: bool,
    ) {
        let structure = Structure::ALL[which];
        let skew = structure == Structure::SkewSymmetric;
        prop_assume!(!skew || element.is_float() || element.is_complex());
        let half: Vec<_> = half
            .into_iter()
            .filter(|((row, column), _)| which == 0 || row > column || row == column && which == 1)
            .collect();
        let bits: Vec<u64> = half.iter().map(|(_, bits)| *bits).collect();
        let values = values(element, &bits);
        // The header of a whole matrix is not known to the test: it reads the
        // stated half and lets the reader complete it.
        let mut text = format!(
            "%%MatrixMarket matrix coordinate {} {structure}\n9 9 {}\n",
            if element.is_complex() { "complex" } else { "real" },
            half.len()
        );
        for (e, ((row, column), _)) in half.iter().enumerate() {
            let value = match values.get(e) {
                Scalar::Bool(value) => u8::from(value).to_string(),
                Scalar::C64(value) => format!("{:?} {:?}", value.re, value.im),
                Scalar::C128(value) => format!("{:?} {:?}", value.re, value.im),
                value => value.to_string(),
            };
            text += &format!("{} {} {value}\n", row + 1, column + 1);
        }
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("a.mtx"), folder.path().join("b.mtx"));
        std::fs::write(&first, text).unwrap();
        let format = if dense { Format::dense(2) } else { Format::csr() };
        let read = |path: &Path| {
            let found = read_as(path, Some(element)).unwrap_or_else(|fault| panic!("{fault}"));
            prop_assert_eq!(found.structure, structure);
            let n_stored = found.n_stored;
            Ok((found.into_tensor(&format, PackOptions::default()).unwrap(), n_stored))
        };
        let (whole, n_stored) = read(&first)?;
        prop_assert_eq!(n_stored, half.len() as u64);
        let options = WriteOptions { structure, ..WriteOptions::default() };
        // NaN differs from itself, so a matrix with one has no structure.
        let written = stage(&second, &whole, &options);
        let Ok(written) = written else {
            prop_assert!(which > 0 && text_has_nan(&first));
            return Ok(());
        };
        written.commit().unwrap();
        let (again, _) = read(&second)?;
        prop_assert_eq!(again, whole);
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

fn text_has_nan(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    text.to_ascii_lowercase().contains("nan")
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
    let special = entries("a.tns", "1 inf\n2 -Inf\n3 NaN\n4 -nan\n5 1.\n");
    assert_eq!(special.extents, [5]);
    let values = special.values.slice::<f64>();
    assert_eq!(values[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    assert!(values[2].is_nan() && values[2].is_sign_positive());
    assert!(values[3].is_nan() && values[3].is_sign_negative());
}

#[test]
fn arrays_are_dense_tensors() {
    let array = |kind: &str, body: &str| {
        entries(
            "a.mtx",
            &format!("%%MatrixMarket matrix array {kind}\n{body}"),
        )
    };
    let get = |entries: Entries| {
        let tensor = Tensor::pack_entries(&Format::dense(2), entries, PackOptions::default());
        tensor.unwrap().vals().clone()
    };
    let general = get(array(
        "real general",
        "% by columns\n2 3\n1\n2\n3\n4\n5\n6\n",
    ));
    assert_eq!(general, Array::from_vec(vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]));
    let symmetric = get(array("integer symmetric", "2 2\n1\n2\n3\n"));
    assert_eq!(symmetric, Array::from_vec(vec![1i64, 2, 2, 3]));
    let skew = get(array("real skew-symmetric", "2 2\n2\n"));
    assert_eq!(skew, Array::from_vec(vec![0.0, -2.0, 2.0, 0.0]));
    let hermitian = get(array("complex hermitian", "2 2\n1 0\n2 3\n4 0\n"));
    let c = Complex::new;
    let expected: Vec<Complex<f64>> = vec![c(1.0, 0.0), c(2.0, -3.0), c(2.0, 3.0), c(4.0, 0.0)];
    assert_eq!(hermitian, Array::from_vec(expected));
    let unsigned = array("unsigned-integer general", "1 1\n18446744073709551615\n");
    assert_eq!(unsigned.values, Array::from_vec(vec![u64::MAX]));
}

#[test]
fn structure_is_kept_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 3\n";
    std::fs::write(&path, text).unwrap();
    let options = ReadOptions {
        keep_structure: true,
        ..ReadOptions::default()
    };
    let found = read(&path, &options).unwrap();
    assert_eq!(found.structure, Structure::Symmetric);
    let kept = found.into_entries().unwrap();
    assert_eq!(kept.coords, [0, 0, 1, 0]);
    let found = read_as(&path, None).unwrap();
    assert!(matches!(&found.content, Content::Entries(entries) if entries.len() == 3));
    assert_eq!(found.n_stored, 2);
}

#[test]
fn extended_files_state_extents() {
    let extended = entries("a.tns", "3 2\n2 4 9\n1 1 3 2.5\n2 4 1 -1\n");
    assert_eq!(extended.extents, [2, 4, 9]);
    assert_eq!(extended.coords, [0, 0, 2, 1, 3, 0]);
    let vector = entries("a.tns", "1 1\n7\n2 2.5\n");
    assert_eq!(vector.extents, [7]);
    assert_eq!(vector.coords, [1]);
    let marked = entries("a.tns", "# extended FROSTT format\n2 0\n5 6\n");
    assert_eq!((&marked.extents[..], marked.len()), (&[5, 6][..], 0));
    let complex = entries("a.tns", "2 1\n5 6\n1 2 0.5 -1\n");
    assert_eq!(
        complex.values,
        Array::from_vec(vec![Complex::new(0.5, -1.0)])
    );
    // Without the mark these are the lines of a vector.
    let plain = entries("a.tns", "2 0\n5 6\n");
    assert_eq!((&plain.extents[..], plain.len()), (&[5][..], 2));
    let plain = entries("a.tns", "2 3\n3 4\n4 5\n");
    assert_eq!((&plain.extents[..], plain.len()), (&[4][..], 3));
}

#[test]
fn long_reads_tell_how_far_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tns");
    std::fs::write(&path, "1 2 2.5\n".repeat(300_000)).unwrap();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let list = std::sync::Arc::clone(&heard);
    let options = ReadOptions {
        progress: Some(Progress::new(move |done, total| {
            list.lock().unwrap().push((done, total));
        })),
        ..ReadOptions::default()
    };
    let start = std::time::Instant::now();
    let found = read(&path, &options).unwrap();
    let tenths = start.elapsed().as_millis() / 100;
    assert_eq!(found.n_stored, 300_000);
    let heard = heard.lock().unwrap();
    assert!(
        heard.len() as u128 <= tenths + 1,
        "a few times a second at most"
    );
    let total = 300_000 * 8;
    assert!(heard.iter().all(|&(done, all)| done <= all && all == total));
}

/// Text lists every entry of a tensor whose fill is not zero.
#[test]
fn fills_are_stated_entry_by_entry() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["csr, fill 1", "bsr(2, 2), fill 1", "csr, symmetric, fill 1"] {
        let spec: sparsec_format::FormatSpec = format.parse().unwrap();
        let format = spec.resolve(2).unwrap();
        let tensor = Tensor::pack(&format, &[3, 3], &[1, 2, 2, 1], &[5.0, 5.0]).unwrap();
        for name in ["a.tns", "a.mtx"] {
            let path = folder.path().join(name);
            sparsec_io::write(&path, &tensor).unwrap();
            let back = sparsec_io::read_as(&path, None).unwrap();
            let back = back
                .into_tensor(&Format::dense(2), PackOptions::default())
                .unwrap();
            let expect = [1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 1.0, 5.0, 1.0];
            assert_eq!(back.values::<f64>(), Some(&expect[..]), "{spec} in {name}");
        }
    }
}

#[test]
fn what_a_file_does_not_state_is_the_fill_of_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let far = Format::parse("csr, fill inf").unwrap();
    let pack = |name: &str, format: &Format| {
        let file = read(&folder.path().join(name), &ReadOptions::default()).unwrap();
        file.into_tensor(format, PackOptions::default())
    };
    let write = |name: &str, tensor: &Tensor| {
        write(&folder.path().join(name), tensor).unwrap();
    };
    let stored = |format: &Format| Tensor::pack(format, &[2, 2], &[0, 1], &[5.0]).unwrap();
    // Text, SciPy's arrays, Binsparse and our own say the same of the same matrix.
    for (name, format) in [
        ("a.mtx", Format::csr()),
        ("csr.npz", Format::csr()),
        ("csc.npz", Format::csc()),
        ("coo.npz", Format::coo(2)),
        ("dcsr.npz", Format::csf(2)),
        ("dcsr.bsp.npz", Format::csf(2)),
    ] {
        write(name, &stored(&format));
        let tensor = pack(name, &far).unwrap();
        let at = |i, j| tensor.get(&[i, j]).to_f64();
        assert_eq!([at(0, 0), at(0, 1)], [f64::INFINITY, 5.0], "{name}");
    }
    // A dense array states all entries, zeros too.
    write("dense.npy", &stored(&Format::dense(2)));
    let dense = pack("dense.npy", &far).unwrap();
    assert_eq!((dense.n_stored(), dense.get(&[0, 0]).to_f64()), (4, 0.0));
    assert_eq!(dense.fill(), Scalar::F64(f64::INFINITY));
    // A fill that is stated is no other.
    write("far.bsp.npz", &stored(&far));
    assert_eq!(pack("far.bsp.npz", &far).unwrap(), stored(&far));
    assert_eq!(
        pack("far.bsp.npz", &Format::csc()).unwrap().fill(),
        Scalar::F64(f64::INFINITY)
    );
    let one = Format::parse("csr, fill 1").unwrap();
    let fault = pack("far.bsp.npz", &one).unwrap_err();
    assert_eq!(fault.code(), sparsec_base::code::ARRAY_MISMATCH, "{fault}");
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
