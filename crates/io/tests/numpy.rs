//! NumPy's files: what is written reads back bit for bit, what others write is
//! read, what is damaged is refused.

use std::fmt::Write as _;
use std::io::Write as _;

use proptest::prelude::*;
use sparsec_base::{Code, Diagnostic, ElementType, Scalar, code};
use sparsec_format::Format;
use sparsec_io::npy::NdArray;
use sparsec_io::npz::{Archive, ArchiveWriter};
use sparsec_io::{
    Content, FileTensor, Input, ReadOptions, Structure, WriteOptions, file_type, read_as, stage,
    write,
};
use sparsec_parallel::Memory;
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};

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

fn written(name: &str, tensor: &Tensor) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path, tensor).unwrap_or_else(|fault| panic!("{fault}"));
    std::fs::read(&path).unwrap()
}

fn read(name: &str, bytes: &[u8]) -> Result<FileTensor, Diagnostic> {
    let (file_type, _) = file_type(name.as_ref())?;
    let input = Input::from_bytes(name, bytes.to_vec());
    (file_type.read)(&input, &ReadOptions::default())
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

/// An archive of these arrays.
fn archive(build: impl FnOnce(&mut ArchiveWriter<Vec<u8>>) -> std::io::Result<()>) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    build(&mut writer).unwrap();
    writer.finish().unwrap()
}

fn list<T: sparsec_tensor::Element>(values: &[T]) -> Array {
    Array::from_vec(values.to_vec())
}

/// An archive of deflated members.
fn deflated(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = rawzip::ZipArchiveWriter::new(Vec::new());
    for (name, bytes) in members {
        let file = zip
            .new_file(*name)
            .compression_method(rawzip::CompressionMethod::DEFLATE);
        let (mut entry, config) = file.start().unwrap();
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
        let mut writer = config.wrap(encoder);
        writer.write_all(bytes).unwrap();
        let (encoder, end) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(end).unwrap();
    }
    zip.finish().unwrap()
}

/// A `.npy` file with this header.
fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((header.len() as u16).to_le_bytes()),
        _ => bytes.extend((header.len() as u32).to_le_bytes()),
    }
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// What a file holds, entry by entry, as `i j: v`.
fn shown(name: &str, bytes: &[u8]) -> String {
    let file = read(name, bytes).unwrap_or_else(|fault| panic!("{fault}"));
    let kind = match &file.content {
        Content::Entries(_) => "entries".to_owned(),
        Content::Tensor(tensor) => tensor.format().short_name(),
    };
    let mut text = format!("{kind} {:?}", file.extents());
    for (coords, value) in file.into_entries().unwrap().iter() {
        let coords: Vec<String> = coords.iter().map(u64::to_string).collect();
        let _ = write!(text, ", {}: {value}", coords.join(" "));
    }
    text
}

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

/// Blocks of 2 x 3 at (0, 3) and (2, 0) of a matrix of 4 x 6.
fn bsr() -> Vec<u8> {
    archive(|out| {
        out.ascii("format", "bsr")?;
        out.list("shape", &list(&[4i64, 6]))?;
        out.list("indptr", &list(&[0i32, 1, 2]))?;
        out.list("indices", &list(&[1i32, 0]))?;
        let values: Vec<i16> = (0..12).collect();
        out.array("data", &[2, 2, 3], &list(&values))
    })
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

fn csr(shape: &[i64], indptr: &[i64], indices: &[i32], data: &[f32]) -> Vec<u8> {
    archive(|out| {
        out.ascii("format", "csr")?;
        out.list("shape", &list(shape))?;
        out.list("indptr", &list(indptr))?;
        out.list("indices", &list(indices))?;
        out.list("data", &list(data))
    })
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

/// Reads a damaged file and looks for the code and a part of the message.
fn refused(name: &str, bytes: &[u8], code: Code, part: &str) {
    let fault = read(name, bytes).expect_err(part);
    let text = fault.to_string();
    assert_eq!(fault.code(), code, "{text}");
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

#[test]
fn headers_that_lie_are_refused() {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
    let bad = |bytes: &[u8], part| refused("a.npy", bytes, code::BAD_NPY, part);
    bad(&npy(1, header, &[0; 47]), "has 47 bytes of data, not 48");
    bad(&npy(1, header, &[0; 49]), "has 49 bytes of data, not 48");
    let huge = header.replace("(2, 3)", "(2000000000000000000,)");
    bad(
        &npy(1, &huge, &[0; 48]),
        "a shape of more bytes than can be counted",
    );
    let large = header.replace("(2, 3)", "(100000000000000000,)");
    bad(&npy(1, &large, &[0; 48]), "not 800000000000000000");
    bad(&npy(4, header, &[0; 48]), "version 4.0");
    bad(b"PK", "ends within its header");
    bad(b"%%MatrixMarket matrix", "is no `.npy` file");
    let text = read("a.npy", &npy(1, "{'descr': '<f8', 'shape': (2, x)}", &[])).unwrap_err();
    let text = text.to_string();
    assert!(
        text.contains("--> a.npy:1:31") && text.contains("^ expected an extent"),
        "{text}"
    );
}

#[test]
fn items_without_a_type_are_refused() {
    for (descr, part) in [
        ("'|O'", "never run"),
        ("'<M8[s]'", "dates"),
        ("'<U3'", "is text"),
    ] {
        let header = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}");
        refused(
            "a.npy",
            &npy(1, &header, &[]),
            code::UNSUPPORTED_NPY_TYPE,
            part,
        );
    }
}

#[test]
fn archives_that_are_none_or_damaged_are_refused() {
    let bad = |bytes: &[u8], part| refused("a.npz", bytes, code::BAD_ARCHIVE, part);
    bad(b"not a zip file", "is no zip archive, or is cut off");
    bad(b"", "is no zip archive, or is cut off");
    let twice = archive(|out| {
        out.text("format", "csr")?;
        out.text("format", "csc")
    });
    bad(&twice, "two members called `format`");
    let mut zip = rawzip::ZipArchiveWriter::new(Vec::new());
    let file = zip
        .new_file("format")
        .compression_method(rawzip::CompressionMethod::BZIP2);
    let (entry, _) = file.start().unwrap();
    entry
        .finish(rawzip::DataDescriptorOutput::new(0, 0))
        .unwrap();
    bad(&zip.finish().unwrap(), "is compressed as");
}

#[test]
fn members_that_claim_to_expand_beyond_all_measure_are_refused() {
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000,), }";
    let mut zip = rawzip::ZipArchiveWriter::new(Vec::new());
    let file = zip
        .new_file("format.npy")
        .compression_method(rawzip::CompressionMethod::DEFLATE);
    let (mut entry, _) = file.start().unwrap();
    let mut encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::best());
    encoder.write_all(&npy(1, header, &[0; 100_000])).unwrap();
    encoder.finish().unwrap();
    let claim = 10 + header.len() as u64 + 1_000_000_000_000;
    entry
        .finish(rawzip::DataDescriptorOutput::new(0, claim))
        .unwrap();
    let bytes = zip.finish().unwrap();
    refused("a.npz", &bytes, code::BAD_ARCHIVE, "which it cannot");
    // A member that expands to more than it claims is cut there and refused.
    let mut zip = rawzip::ZipArchiveWriter::new(Vec::new());
    let file = zip
        .new_file("x.npy")
        .compression_method(rawzip::CompressionMethod::DEFLATE);
    let (mut entry, _) = file.start().unwrap();
    let mut encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::best());
    let small = header.replace("1000000000000", "10");
    let whole = npy(1, &small, &[0; 100_000]);
    encoder.write_all(&whole).unwrap();
    encoder.finish().unwrap();
    let claim = whole.len() as u64 - 100_000 + 10;
    entry
        .finish(rawzip::DataDescriptorOutput::new(0, claim))
        .unwrap();
    let bytes = zip.finish().unwrap();
    let fault = Archive::open("a.npz", &bytes)
        .unwrap()
        .array("x")
        .unwrap_err();
    assert_eq!(fault.code(), code::BAD_ARCHIVE, "{fault}");
}

#[test]
fn archives_without_a_tensor_say_what_they_have() {
    let plain = archive(|out| out.list("x", &list(&[1.0])));
    refused("a.npz", &plain, code::UNKNOWN_ARCHIVE, "it has `x`");
    let partial = archive(|out| {
        out.ascii("format", "csr")?;
        out.list("shape", &list(&[2i64, 3]))?;
        out.list("index_ptr", &list(&[0i64, 0, 0]))?;
        out.list("data", &list(&[1.0]))?;
        out.list("indices", &list(&[1i32]))
    });
    refused(
        "a.npz",
        &partial,
        code::MISSING_MEMBER,
        "has no array `indptr`",
    );
}

#[test]
fn arrays_that_do_not_fit_together_are_refused() {
    let bad = |bytes: &[u8], code, part| refused("a.npz", bytes, code, part);
    let scipy = code::BAD_SCIPY_FILE;
    bad(
        &csr(&[2, 3, 4], &[0, 0, 0], &[], &[]),
        scipy,
        "`csr` stores matrices",
    );
    bad(
        &csr(&[2, -3], &[0, 0, 0], &[], &[]),
        scipy,
        "negative extent",
    );
    let shape = "`1.pos` is `indptr`, `1.crd` is `indices`, `vals` is `data`";
    bad(
        &csr(&[2, 3], &[0, 1], &[0], &[1.]),
        code::ARRAY_MISMATCH,
        shape,
    );
    bad(
        &csr(&[2, 3], &[0, 2, 1], &[0, 1], &[1., 2.]),
        code::BAD_SEGMENTS,
        shape,
    );
    bad(
        &csr(&[2, 3], &[0, 1, 2], &[0, 3], &[1., 2.]),
        code::OUT_OF_BOUNDS,
        shape,
    );
    bad(
        &csr(&[2, 3], &[0, 1, 2], &[0, -1], &[1., 2.]),
        code::OUT_OF_BOUNDS,
        shape,
    );
    bad(
        &csr(&[2, 3], &[0, i64::MAX, 2], &[0, 1], &[1., 2.]),
        code::BAD_SEGMENTS,
        shape,
    );
    bad(&csr(&[2, 3], &[], &[], &[]), code::ARRAY_MISMATCH, shape);
    let build = |format: &str, arrays: &[(&str, &[u64], Array)]| {
        archive(|out| {
            out.ascii("format", format)?;
            out.list("shape", &list(&[2i64, 3]))?;
            for (name, shape, array) in arrays {
                out.array(name, shape, array)?;
            }
            Ok(())
        })
    };
    bad(&build("lil", &[]), scipy, "in format `lil`");
    let data = ("data", &[2u64][..], list(&[1.0, 2.0]));
    let coo = |row: Array, col: Array| {
        let n = [row.len() as u64];
        build(
            "coo",
            &[data.clone(), ("row", &n[..], row), ("col", &[2], col)],
        )
    };
    bad(
        &coo(list(&[0i32]), list(&[0i32, 1])),
        scipy,
        "1 entries in `row`, but 2",
    );
    bad(
        &coo(list(&[0.0, 1.0]), list(&[0i32, 1])),
        scipy,
        "not of integers",
    );
    bad(
        &coo(list(&[0i32, 2]), list(&[0i32, 1])),
        code::OUT_OF_BOUNDS,
        "a.npz",
    );
    bad(
        &coo(list(&[0i32, -1]), list(&[0i32, 1])),
        code::OUT_OF_BOUNDS,
        "coordinate -1",
    );
    let blocks = |shape: &'static [u64]| {
        let n = shape.iter().product::<u64>() as usize;
        let values = Array::zeroed(ElementType::F64, n).unwrap();
        let segments = ("indptr", &[3u64][..], list(&[0i32, 0, 1]));
        build(
            "bsr",
            &[
                ("data", shape, values),
                segments,
                ("indices", &[1], list(&[0i32])),
            ],
        )
    };
    bad(
        &blocks(&[1, 2, 2]),
        scipy,
        "blocks of 2 x 2, which do not fill (2, 3)",
    );
    bad(&blocks(&[1, 0, 3]), scipy, "blocks of 0 x 3");
    bad(&blocks(&[2, 2]), scipy, "not of three modes");
    bad(&blocks(&[3, 1, 3]), code::ARRAY_MISMATCH, "`1.crd`");
    let dia = build("dia", &[data.clone(), ("offsets", &[1], list(&[0i32]))]);
    bad(&dia, scipy, "`data` of shape (2,) for 1 diagonals");
}

#[test]
fn descriptions_that_are_wrong_are_refused() {
    let a = Tensor::pack(&Format::dcsr(), &[2, 3], &[1, 2], &[5.0]).unwrap();
    let whole = written("a.npz", &a);
    let whole = Archive::open("a.npz", &whole).unwrap();
    let text = whole.text("sparsec").unwrap();
    let build = |text: &str, vals: &Array| {
        archive(|out| {
            out.text("sparsec", text)?;
            for name in ["0.pos", "0.crd", "1.pos", "1.crd"] {
                out.list(name, &whole.array(name).unwrap().values)?;
            }
            out.list("vals", vals)
        })
    };
    let vals = list(&[5.0]);
    assert_eq!(
        shown("a.npz", &build(&text, &vals)),
        "dcsr [2, 3], 1 2: 5.0"
    );
    let bad = |from: &str, to: &str, code, part| {
        assert!(text.contains(from), "{text}");
        refused("a.npz", &build(&text.replace(from, to), &vals), code, part);
    };
    let wrong = code::BAD_DESCRIPTION;
    bad(
        "\"version\":1",
        "\"version\":2",
        wrong,
        "version 2 of the description",
    );
    bad(
        "\"version\":1",
        "\"version\":\"x\"",
        wrong,
        "`version` of the description is not a number",
    );
    bad("\"extents\"", "\"shape\"", wrong, "lacks `extents`");
    bad("[2,3]", "[2,-3]", wrong, "no list of counts");
    bad("f64", "f128", wrong, "no element type `f128`");
    bad(
        "f64",
        "f32",
        wrong,
        "`a.npz: vals` is an array of f64, not of f32",
    );
    bad("{", "{{", wrong, "is no JSON");
    bad(
        "(i, j)",
        "(i, i)",
        code::UNKNOWN_MODE,
        "the format of `a.npz: sparsec`",
    );
    bad("[2,3]", "[2,2]", code::OUT_OF_BOUNDS, "in `a.npz`");
    bad("[2,3]", "[2]", code::LENGTH_MISMATCH, "in `a.npz`");
    refused(
        "a.npz",
        &build(&text, &list(&[5f32])),
        wrong,
        "f32, not of f64",
    );
}

#[test]
fn structures_are_not_stated() {
    let folder = tempfile::tempdir().unwrap();
    let a = Tensor::pack(&Format::dense(2), &[1, 1], &[0, 0], &[5.0]).unwrap();
    let options = WriteOptions {
        structure: Structure::Symmetric,
        ..WriteOptions::default()
    };
    for name in ["a.npy", "a.npz"] {
        let fault = stage(&folder.path().join(name), &a, &options).unwrap_err();
        assert_eq!(fault.code(), code::NOT_EXPRESSIBLE_IN_NPY, "{fault}");
    }
}

#[test]
fn arrays_have_no_more_modes_than_numpy_allows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let dense = |order: usize| {
        let extents = vec![1; order];
        Tensor::pack(&Format::dense(order), &extents, &vec![0; order], &[5.0]).unwrap()
    };
    write(&path, &dense(64)).unwrap();
    assert_eq!(read_as(&path, None).unwrap().order(), 64);
    let fault = write(&path, &dense(65)).unwrap_err();
    assert_eq!(fault.code(), code::NOT_EXPRESSIBLE_IN_NPY, "{fault}");
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
