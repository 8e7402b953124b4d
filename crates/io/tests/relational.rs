//! Tensors in formats that are relations: `.npz` files round-trip, and faulty files are refused.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use sparsec_base::code;
use sparsec_format::{FormatSpec, RelationFormat};
use sparsec_io::npz::{Archive, ArchiveWriter};
use sparsec_io::{Content, ReadOptions, WriteOptions, read, stage_relation};
use sparsec_tensor::{Array, RelationTensor};

fn jds() -> RelationTensor {
    let spec: FormatSpec = "jds".parse().expect("a format");
    let format = spec.relation(2).expect("it fits").expect("a relation");
    let arrays = [
        ("perm", vec![1, 0, 2]),
        ("ptr", vec![0, 2, 3]),
        ("col", vec![0, 3, 1]),
    ];
    let arrays = arrays.map(|(name, array)| (name.to_owned(), Array::from_vec::<i32>(array)));
    let values = Array::from_vec(vec![1.0, 2.0, 3.0]);
    RelationTensor::new(format, vec![3, 4], BTreeMap::new(), arrays.into(), values).expect("jds")
}

fn back(path: &Path) -> RelationTensor {
    match read(path, &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
        .content
    {
        Content::Relation(tensor) => tensor,
        _ => panic!("a relation"),
    }
}

#[test]
fn relations_are_written_and_read_without_conversion() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let tensor = jds();
    stage_relation(&path, &tensor, &WriteOptions::default())
        .unwrap()
        .commit()
        .unwrap();
    let read_back = back(&path);
    assert_eq!(read_back, tensor);
    assert_eq!(read_back.format().name(), "jds");
    // A user's own text comes with the file.
    let own = tensor.format().text().replace("format jds", "format mine");
    let own = RelationFormat::parse(&sparsec_base::Source::new("mine.fmt", own)).unwrap();
    let mine = RelationTensor::new(
        Arc::new(own),
        vec![3, 4],
        BTreeMap::new(),
        tensor.arrays().clone(),
        tensor.values().clone(),
    );
    let mine = mine.unwrap();
    stage_relation(&path, &mine, &WriteOptions::default())
        .unwrap()
        .commit()
        .unwrap();
    assert_eq!(back(&path), mine);
    // Text files list the entries.
    let path = folder.path().join("a.mtx");
    stage_relation(&path, &tensor, &WriteOptions::default())
        .unwrap()
        .commit()
        .unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("1 4 2.0\n2 1 1.0\n2 2 3.0\n"), "{text}");
}

/// The fault of a file whose arrays and description are changed.
fn refused(
    change: impl Fn(&str, Array) -> Option<Array>,
    text: impl Fn(String) -> String,
) -> sparsec_base::Diagnostic {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    stage_relation(&path, &jds(), &WriteOptions::default())
        .unwrap()
        .commit()
        .unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let archive = Archive::open("a.npz", &bytes).unwrap();
    let mut changed = ArchiveWriter::new(Vec::new());
    changed
        .text("sparsec", &text(archive.text("sparsec").unwrap()))
        .unwrap();
    for name in ["array.perm", "array.ptr", "array.col", "vals"] {
        let array = archive.array(name).unwrap().values;
        if let Some(array) = change(name, array) {
            changed.list(name, &array).unwrap();
        }
    }
    std::fs::write(&path, changed.finish().unwrap()).unwrap();
    read(&path, &ReadOptions::default()).expect_err("a fault")
}

/// The fault of a file with another array.
fn with_array(wanted: &str, values: &[i32]) -> sparsec_base::Diagnostic {
    let change = |name: &str, array| {
        let is_wanted = name == wanted;
        Some(if is_wanted {
            Array::from_vec(values.to_vec())
        } else {
            array
        })
    };
    refused(change, |text| text)
}

/// The fault of a file whose description has another text in place of `from`.
fn with_text(from: &str, to: &str) -> sparsec_base::Diagnostic {
    refused(|_, array| Some(array), |text| text.replace(from, to))
}

#[test]
fn nothing_in_a_file_is_trusted() {
    let cases = [
        (
            with_array("array.perm", &[1, 1, 2]),
            code::NOT_AS_DECLARED,
            "not injective",
        ),
        (
            with_array("array.col", &[0, 4, 1]),
            code::NOT_AS_DECLARED,
            "col(1) = 4",
        ),
        (
            with_array("array.ptr", &[0, -1, 3]),
            code::NOT_AS_DECLARED,
            "ptr(1) = -1",
        ),
        (
            with_array("array.ptr", &[0, 2, 3, 3]),
            code::ARRAY_MISMATCH,
            "`ptr` has 4 entries",
        ),
        (
            with_array("vals", &[1, 2, 3]),
            code::BAD_DESCRIPTION,
            "not of f64",
        ),
        (
            with_text("\"NNZ\":3", "\"NNZ\":7"),
            code::ARRAY_MISMATCH,
            "says 7",
        ),
        (
            with_text("\"NNZ\":3", "\"NNZ\":0.5"),
            code::BAD_DESCRIPTION,
            "`NNZ`",
        ),
        (
            with_text("\"NNZ\":3", "\"X\":3"),
            code::ARRAY_MISMATCH,
            "no constant `X`",
        ),
        (
            with_text("injective", "injectve"),
            code::UNEXPECTED_TOKEN,
            "injectve",
        ),
        (
            with_text("\"relation\"", "\"relatio\""),
            code::BAD_DESCRIPTION,
            "`relation`",
        ),
        (with_text("[3,4]", "[3]"), code::LENGTH_MISMATCH, "order 2"),
        (
            with_text("\"version\":2", "\"version\":3"),
            code::BAD_DESCRIPTION,
            "version 3",
        ),
    ];
    for (error, code, says) in cases {
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(says), "{says}: {error}");
    }
    let error = refused(
        |name, array| (name != "array.col").then_some(array),
        |text| text,
    );
    assert!(error.to_string().contains("array.col"), "{error}");
}
