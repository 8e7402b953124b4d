//! What is written reads back bit for bit, and what the standard allows is read.

use std::path::Path;

use proptest::prelude::*;
use sparsec_base::{Complex, ElementType, Scalar, code};
use sparsec_format::{Format, Level, LevelKind, Widths};
use sparsec_io::npz::{Archive, ArchiveWriter};
use sparsec_io::{
    Content, FileTensor, ReadOptions, Structure, WriteOptions, read, read_as, stage, write,
};
use sparsec_parallel::Memory;
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};

/// Both containers.
const NAMES: [&str; 2] = ["a.bsp.npz", "a.bsp.h5"];

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

/// Formats of order 0 to 4: any sequence of dense levels, sparse levels and
/// lists of coordinates, over the modes in any order.
fn formats() -> impl Strategy<Value = Format> {
    // A nonunique level begins a list where a level follows; it ends one, too.
    let kinds = prop::collection::vec(0..3u8, 0..=4);
    let modes = |n| Just((0..n).collect::<Vec<usize>>()).prop_shuffle();
    kinds.prop_flat_map(move |kinds| {
        modes(kinds.len()).prop_map(move |modes| {
            let mut levels: Vec<Level> = Vec::new();
            for (&kind, &mode) in kinds.iter().zip(&modes) {
                let joins = levels.last().is_some_and(|above| !above.unique);
                let level = match (joins, kind) {
                    (true, _) => Level::new(mode, LevelKind::Singleton),
                    (false, 0) => Level::new(mode, LevelKind::Dense),
                    (false, _) => Level::new(mode, LevelKind::Compressed),
                };
                let is_last = levels.len() + 1 == kinds.len();
                let repeats = kind == 2 && !is_last && level.kind != LevelKind::Dense;
                levels.push(if repeats { level.nonunique() } else { level });
            }
            Format::from_levels(levels).unwrap()
        })
    })
}

fn tensors() -> impl Strategy<Value = Tensor> {
    let types = ElementType::ALL.into_iter();
    let types = types.filter(|ty| !matches!(ty, ElementType::F16 | ElementType::Bf16));
    let element = prop::sample::select(types.collect::<Vec<_>>());
    let bytes = prop::collection::vec(any::<u8>(), 1..64);
    let fill = prop::option::of(prop::collection::vec(any::<u8>(), 16));
    (formats(), element, bytes, fill).prop_flat_map(|(format, element, bytes, fill)| {
        let fill = match fill {
            Some(bytes) => values(element, 1, &bytes).get(0),
            None => element.zero(),
        };
        let extents = prop::collection::vec(0..7u64, format.order());
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

fn tensor_of(file: FileTensor) -> Tensor {
    match file.content {
        Content::Tensor(tensor) => tensor,
        Content::Entries(_) | Content::Relation(_) => panic!("a Binsparse file holds a tensor"),
    }
}

fn written_and_read(tensor: &Tensor, name: &str) -> FileTensor {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write(&path, tensor).unwrap_or_else(|error| panic!("{error}"));
    read_as(&path, None).unwrap_or_else(|error| panic!("{error}"))
}

proptest! {
    #[test]
    fn every_format_and_type_reads_back(tensor in tensors()) {
        for name in NAMES {
            let file = written_and_read(&tensor, name);
            prop_assert_eq!(file.n_stored, tensor.n_stored() as u64);
            prop_assert_eq!(file.structure, Structure::General);
            prop_assert!(file.states_extents);
            prop_assert_eq!(&tensor_of(file), &tensor, "{} {}", name, tensor.format());
        }
    }
}

fn preset(name: &str, order: usize) -> Format {
    sparsec_format::Preset::find(name)
        .unwrap()
        .format(order)
        .unwrap()
}

fn matrix(format: &str, coords: &[u64], vals: Array) -> Tensor {
    let entries = Entries {
        extents: vec![4, 5],
        coords: coords.to_vec().into(),
        values: vals,
    };
    Tensor::pack_entries(&preset(format, 2), entries, PackOptions::default()).unwrap()
}

#[test]
fn narrow_index_arrays_are_declared() {
    use sparsec_base::IndexWidth::{W8, W16};
    let coords = [0, 1, 2, 0, 2, 4];
    for (pos, crd) in [(W8, W16), (W16, W8)] {
        for format in ["csr", "dcsc", "scoo"] {
            let vals = Array::from_vec(vec![2.0, 3.0, 5.0]);
            let widths = Widths {
                pos: Some(pos),
                crd: Some(crd),
            };
            let wide = matrix(format, &coords, vals);
            let tensor = wide
                .convert(&wide.format().clone().with_widths(widths))
                .unwrap();
            let found = tensor_of(written_and_read(&tensor, NAMES[0]));
            let declared = found.format().widths();
            assert_eq!(declared.crd, Some(crd), "{format}");
            // The one `pos` array of a list is none of the file's.
            let stated = (format != "scoo").then_some(pos);
            assert_eq!(declared.pos, stated, "{format}");
        }
    }
}

/// The descriptor of a file that we wrote.
fn descriptor(tensor: &Tensor) -> serde_json::Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAMES[0]);
    write(&path, tensor).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let text = Archive::open("a", &bytes)
        .unwrap()
        .text("binsparse")
        .unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["binsparse"].clone()
}

#[test]
fn formats_have_the_names_of_the_standard() {
    let check = |format: &str, expect: &str| {
        let format: Format = format.parse().unwrap();
        let extents = vec![3; format.order()];
        let tensor = Tensor::pack(&format, &extents, &vec![1; format.order()], &[2.0]).unwrap();
        assert_eq!(descriptor(&tensor)["format"], expect, "{format}");
    };
    check("(i) -> (i : dense)", "DVEC");
    check("(i) -> (i : compressed)", "CVEC");
    check("(i, j) -> (i : dense, j : dense)", "DMAT");
    check("(i, j) -> (j : dense, i : dense)", "DMATC");
    check("csr", "CSR");
    check("csc", "CSC");
    check("dcsr", "DCSR");
    check("dcsc", "DCSC");
    check(
        "(i, j) -> (i : compressed(nonunique), j : singleton)",
        "COO",
    );
    check(
        "(i, j) -> (j : compressed(nonunique), i : singleton)",
        "COOC",
    );
    check(
        "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
        "custom",
    );
}

#[test]
fn custom_formats_are_trees() {
    let format = "(i, j, k) -> (k : dense, i : compressed(nonunique), j : singleton)";
    let format: Format = format.parse().unwrap();
    let tensor = Tensor::pack(&format, &[2, 3, 4], &[1, 2, 3], &[5.0]).unwrap();
    let found = descriptor(&tensor);
    let element = serde_json::json!({"level_desc": "element"});
    let pairs = serde_json::json!({"level_desc": "sparse", "rank": 2, "level": element});
    let root = serde_json::json!({"level_desc": "dense", "rank": 1, "level": pairs});
    assert_eq!(
        found["custom"],
        serde_json::json!({"level": root, "transpose": [2, 0, 1]})
    );
    let types = found["data_types"].as_object().unwrap();
    let names: Vec<&String> = types.keys().collect();
    assert_eq!(names, ["indices_1", "indices_2", "pointers_to_1", "values"]);
}

#[test]
fn equal_values_are_written_once() {
    let check = |vals: Array, expect: &str| {
        let tensor = matrix("csr", &[0, 1, 2, 0, 2, 4], vals);
        assert_eq!(descriptor(&tensor)["data_types"]["values"], expect);
        for name in NAMES {
            assert_eq!(tensor_of(written_and_read(&tensor, name)), tensor);
        }
    };
    check(Array::from_vec(vec![7.5, 7.5, 7.5]), "iso[float64]");
    check(
        Array::from_vec(vec![Complex::new(1.0f32, 2.0); 3]),
        "iso[complex[float32]]",
    );
    check(Array::filled(Scalar::Bool(true), 3).unwrap(), "iso[bint8]");
    check(Array::from_vec(vec![0.0, -0.0, 0.0]), "float64");
}

/// A file of these arrays with this descriptor.
fn file(path: &Path, descriptor: &str, arrays: &[(&str, Array)]) {
    let mut archive = ArchiveWriter::new(Vec::new());
    for (name, array) in arrays {
        archive.list(name, array).unwrap();
    }
    archive.text("binsparse", descriptor).unwrap();
    std::fs::write(path, archive.finish().unwrap()).unwrap();
}

/// The tensor of such a file.
fn read_file(
    header: &str,
    arrays: &[(&str, Array)],
    options: &ReadOptions,
) -> sparsec_base::Result<FileTensor> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAMES[0]);
    file(&path, &format!("{{\"binsparse\": {header}}}"), arrays);
    read(&path, options)
}

const CSR: &str = r#"{"version": "0.1", "format": "CSR", "shape": [4, 5],
    "number_of_stored_values": 3, "attributes": {"made": "elsewhere"},
    "data_types": {"pointers_to_1": "POS", "indices_1": "CRD", "values": "float64"}}"#;

fn csr_arrays(pos: Array, crd: Array) -> Vec<(&'static str, Array)> {
    vec![
        ("pointers_to_1", pos),
        ("indices_1", crd),
        ("values", Array::from_vec(vec![2.0, 3.0, 5.0])),
    ]
}

#[test]
fn index_arrays_of_every_type_are_read() {
    let expect = matrix(
        "csr",
        &[0, 1, 2, 0, 2, 4],
        Array::from_vec(vec![2.0, 3.0, 5.0]),
    );
    let check = |pos: Array, crd: Array, types: (&str, &str), stored: ElementType| {
        let header = CSR.replace("POS", types.0).replace("CRD", types.1);
        let file = read_file(&header, &csr_arrays(pos, crd), &ReadOptions::default()).unwrap();
        let tensor = tensor_of(file);
        assert_eq!(tensor.arrays()[0].element(), stored, "{types:?}");
        assert!(tensor.same_entries(&expect), "{types:?}");
    };
    macro_rules! of {
        ($ty:ty) => {
            (
                Array::from_vec::<$ty>(vec![0, 1, 1, 3, 3]),
                Array::from_vec::<$ty>(vec![1, 0, 4]),
            )
        };
    }
    let all = [
        (of!(u64), "uint64", ElementType::I64),
        (of!(i64), "int64", ElementType::I64),
        (of!(u32), "uint32", ElementType::I32),
        (of!(i32), "int32", ElementType::I32),
        (of!(i16), "int16", ElementType::I32),
        (of!(i8), "int8", ElementType::I32),
        (of!(u16), "uint16", ElementType::U16),
        (of!(u8), "uint8", ElementType::U8),
    ];
    for ((pos, crd), name, stored) in all {
        check(pos, crd, (name, name), stored);
    }
    let (pos, crd) = (of!(u8).0, of!(u64).1);
    check(pos, crd, ("uint8", "uint64"), ElementType::U8);
    // What `data_types` says counts where the array has another type of integers.
    let (pos, crd) = of!(i32);
    check(pos, crd, ("uint64", "int64"), ElementType::I64);
}

#[test]
fn coordinates_in_any_order_are_sorted() {
    let header = CSR.replace("POS", "int32").replace("CRD", "int32");
    let arrays = csr_arrays(
        Array::from_vec(vec![0, 1, 1, 3, 3]),
        Array::from_vec(vec![1, 4, 0]),
    );
    let tensor = tensor_of(read_file(&header, &arrays, &ReadOptions::default()).unwrap());
    let expect = matrix(
        "csr",
        &[0, 1, 2, 4, 2, 0],
        Array::from_vec(vec![2.0, 3.0, 5.0]),
    );
    assert_eq!(tensor, expect);
}

#[test]
fn repeated_coordinates_are_refused() {
    let header = CSR.replace("POS", "int32").replace("CRD", "int32");
    for crd in [vec![1, 4, 4], vec![1, 0, 0]] {
        let arrays = csr_arrays(Array::from_vec(vec![0, 1, 1, 3, 3]), Array::from_vec(crd));
        let error = read_file(&header, &arrays, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.code(), code::BAD_COORDINATES);
        assert!(
            error.to_string().contains("`1.crd` is `indices_1`"),
            "{error}"
        );
    }
}

#[test]
fn values_are_read_in_the_type_asked_for() {
    let header = CSR.replace("POS", "int32").replace("CRD", "int32");
    let (pos, crd) = (
        Array::from_vec(vec![0, 1, 1, 3, 3]),
        Array::from_vec(vec![1, 0, 4]),
    );
    let mut arrays = csr_arrays(pos, crd);
    let options = ReadOptions {
        element: Some(ElementType::I16),
        ..ReadOptions::default()
    };
    let tensor = tensor_of(read_file(&header, &arrays, &options).unwrap());
    assert_eq!(tensor.values::<i16>(), Some(&[2, 3, 5][..]));

    arrays[2].1 = Array::from_vec(vec![2.0, 3.5, 5.0]);
    let error = read_file(&header, &arrays, &options).unwrap_err();
    assert_eq!(error.code(), code::LOSSY_TYPE);
    assert_eq!(error.message(), "`values[1]` is 3.5, which i16 cannot hold");
}

#[test]
fn truth_values_may_be_any_byte() {
    let header = r#"{"version": "0.1.0", "format": "DVEC", "shape": [3], "fill": false,
        "number_of_stored_values": 3, "data_types": {"values": "bint8"}}"#;
    for vals in [
        Array::from_vec(vec![0u8, 1, 7]),
        Array::from_vec(vec![0i8, 1, -1]),
    ] {
        let file = read_file(header, &[("values", vals)], &ReadOptions::default()).unwrap();
        let expect = [false, true, true].map(Scalar::Bool);
        let tensor = tensor_of(file);
        assert_eq!([0, 1, 2].map(|i| tensor.get(&[i])), expect);
    }
}

const HALF: &str = r#"{"version": "0.1.0", "format": "COO", "shape": [3, 3],
    "number_of_stored_values": 2, "structure": "STRUCTURE",
    "data_types": {"indices_0": "int32", "indices_1": "int32", "values": "complex[float64]"}}"#;

#[test]
fn halves_are_completed_or_kept() {
    let two = Complex::new(2.0, 1.0);
    let arrays = |lower: bool| {
        let (near, far) = (Array::from_vec(vec![0, 1]), Array::from_vec(vec![0, 2]));
        let (rows, columns) = if lower { (far, near) } else { (near, far) };
        vec![
            ("indices_0", rows),
            ("indices_1", columns),
            ("values", Array::from_vec(vec![1.0, 0.0, 2.0, 1.0])),
        ]
    };
    let check = |name: &str, structure: Structure, lower: bool, image: Complex<f64>| {
        let header = HALF.replace("STRUCTURE", name);
        let file = read_file(&header, &arrays(lower), &ReadOptions::default()).unwrap();
        assert_eq!((file.structure, file.n_stored), (structure, 2));
        let whole = tensor_of(file);
        let (row, column) = if lower { (2, 1) } else { (1, 2) };
        assert_eq!(whole.n_stored(), 3);
        assert_eq!(whole.get(&[row, column]), Scalar::C128(two));
        assert_eq!(whole.get(&[column, row]), Scalar::C128(image));

        let options = ReadOptions {
            keep_structure: true,
            ..ReadOptions::default()
        };
        let file = read_file(&header, &arrays(lower), &options).unwrap();
        assert_eq!(file.structure, structure);
        assert_eq!(tensor_of(file).n_stored(), 2);

        let wrong = read_file(&header, &arrays(!lower), &ReadOptions::default());
        assert_eq!(wrong.unwrap_err().code(), code::ASYMMETRIC_FILE);
    };
    for (side, lower) in [("lower", true), ("upper", false)] {
        let check = |name: &str, structure, image| {
            check(&format!("{name}_{side}"), structure, lower, image);
        };
        check("symmetric", Structure::Symmetric, two);
        check("hermitian", Structure::Hermitian, two.conj());
        check("skew_symmetric", Structure::SkewSymmetric, -two);
    }
}

#[test]
fn a_structure_is_stated_where_asked_for() {
    let entries = Entries {
        extents: vec![3, 3],
        coords: vec![0, 0, 1, 2, 2, 1].into(),
        values: Array::from_vec(vec![1.0, 4.0, 4.0]),
    };
    let formats = [
        Format::csr(),
        Format::dcsc(),
        Format::scoo(2),
        Format::dense(2),
    ];
    for format in formats {
        let options = PackOptions::default();
        let tensor = Tensor::pack_entries(&format, entries.clone(), options).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for name in NAMES {
            let path = folder.path().join(name);
            let options = WriteOptions {
                structure: Structure::Symmetric,
                ..WriteOptions::default()
            };
            stage(&path, &tensor, &options).unwrap().commit().unwrap();
            let file = read_as(&path, None).unwrap();
            assert_eq!(file.structure, Structure::Symmetric);
            assert_eq!(tensor_of(file), tensor, "{format}");
        }
        let options = WriteOptions {
            structure: Structure::SkewSymmetric,
            ..WriteOptions::default()
        };
        let refused = stage(&folder.path().join(NAMES[0]), &tensor, &options);
        assert_eq!(refused.unwrap_err().code(), code::ASYMMETRIC_FILE);
    }
}

#[test]
fn an_archive_is_known_by_its_members() {
    let tensor = matrix("csr", &[0, 1], Array::from_vec(vec![2.0]));
    let folder = tempfile::tempdir().unwrap();
    let (bsp, npz) = (folder.path().join("a.bsp.npz"), folder.path().join("a.npz"));
    write(&bsp, &tensor).unwrap();
    std::fs::rename(&bsp, &npz).unwrap();
    assert_eq!(tensor_of(read_as(&npz, None).unwrap()), tensor);
}

#[test]
fn the_same_tensor_is_the_same_bytes() {
    let tensor = matrix("csc", &[0, 1, 3, 2], Array::from_vec(vec![2.0, 3.0]));
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let path = folder.path().join(name);
        let bytes = || {
            write(&path, &tensor).unwrap();
            std::fs::read(&path).unwrap()
        };
        assert_eq!(bytes(), bytes());
    }
}
