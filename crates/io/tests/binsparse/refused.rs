//! Every fault in a Binsparse descriptor and its arrays is a diagnostic that shows
//! where it is.

use std::path::{Path, PathBuf};

use sparsec_base::{Code, Diagnostic, ElementType, code};
use sparsec_format::Format;
use sparsec_io::npz::ArchiveWriter;
use sparsec_io::{read_as, write};
use sparsec_tensor::{Array, Tensor};
use tempfile::TempDir;

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// The message without the path of the temporary directory.
fn shown(fault: &Diagnostic, folder: &Path) -> String {
    let text = fault.to_string();
    text.replace(&format!("{}/", folder.display()), "")
}

/// A descriptor that is right, one key a line.
pub(crate) const CSR: &str = r#"{"binsparse": {
  "version": "0.1.0",
  "format": "CSR",
  "shape": [4, 5],
  "number_of_stored_values": 3,
  "data_types": {"pointers_to_1": "int32", "indices_1": "int32", "values": "float64"}
}}"#;

const CUSTOM: &str = r#"{"binsparse": {
  "version": "0.1.0",
  "format": "custom",
  "custom": {
    "transpose": [1, 0],
    "level": {"level_desc": "dense", "rank": 1,
    "level": {"level_desc": "sparse", "rank": 1,
    "level": {"level_desc": "element"}}}
  },
  "shape": [5, 4],
  "number_of_stored_values": 3,
  "data_types": {"pointers_to_1": "int32", "indices_1": "int32", "values": "float64"}
}}"#;

fn arrays() -> Vec<(&'static str, Array)> {
    vec![
        ("pointers_to_1", Array::from_vec(vec![0, 1, 1, 3, 3])),
        ("indices_1", Array::from_vec(vec![1, 0, 4])),
        ("values", Array::from_vec(vec![2.0, 3.0, 5.0])),
    ]
}

fn file(folder: &TempDir, descriptor: &str, arrays: &[(&str, Array)]) -> PathBuf {
    let path = folder.path().join("a.bsp.npz");
    let mut archive = ArchiveWriter::new(Vec::new());
    for (name, array) in arrays {
        archive.list(name, array).unwrap();
    }
    archive.text("binsparse", descriptor).unwrap();
    std::fs::write(&path, archive.finish().unwrap()).unwrap();
    path
}

fn refused(descriptor: &str, arrays: &[(&str, Array)]) -> (Code, String) {
    let folder = folder();
    let path = file(&folder, descriptor, arrays);
    let fault = read_as(&path, None).expect_err(descriptor);
    (fault.code(), shown(&fault, folder.path()))
}

/// Replaces a part of a descriptor and compares the whole message.
fn check(part: &str, by: &str, code: Code, expect: &str) {
    assert!(CSR.contains(part), "{part}");
    let found = refused(&CSR.replace(part, by), &arrays());
    assert_eq!(found.1.trim(), expect.trim());
    assert_eq!(found.0, code);
}

/// Replaces a part of the descriptor of a tree and looks for a part of the message.
fn check_custom(part: &str, by: &str, code: Code, expect: &str) {
    assert!(CUSTOM.contains(part), "{part}");
    let found = refused(&CUSTOM.replace(part, by), &arrays());
    assert!(found.1.contains(expect), "`{expect}` is not in {}", found.1);
    assert_eq!(found.0, code);
}

/// Replaces an array and looks for a part of the message.
fn check_array(name: &str, by: Option<Array>, code: Code, expect: &str) {
    let mut arrays = arrays();
    let place = arrays.iter().position(|array| array.0 == name).unwrap();
    match by {
        Some(array) => arrays[place].1 = array,
        None => drop(arrays.remove(place)),
    }
    let found = refused(CSR, &arrays);
    assert!(found.1.contains(expect), "`{expect}` is not in {}", found.1);
    assert_eq!(found.0, code);
}

#[test]
fn the_files_of_these_tests_are_read_where_nothing_is_wrong() {
    for descriptor in [CSR, CUSTOM] {
        let folder = folder();
        read_as(&file(&folder, descriptor, &arrays()), None).unwrap();
    }
}

#[test]
fn what_is_no_json_is_shown() {
    check(
        "[4, 5]",
        "[4 5]",
        code::BAD_DESCRIPTOR,
        "\
error[E0461]: the descriptor is no JSON
 --> descriptor of a.bsp.npz:4:15
  |
4 |   \"shape\": [4 5],
  |               ^ expected `,` or `]`
  |
  = help: write the file again; `sparsec explain E0461` says what such a file holds",
    );
    let found = refused("{\"binsparse\": ", &arrays());
    assert_eq!(found.0, code::BAD_DESCRIPTOR);
}

#[test]
fn a_missing_key_is_named() {
    check(
        "\"shape\"",
        "\"shap\"",
        code::BAD_DESCRIPTOR,
        "\
error[E0461]: the descriptor has no `shape`
 --> descriptor of a.bsp.npz:1:15
  |
1 | {\"binsparse\": {
  |               ^ this object needs a `shape`
  |
  = help: rename `shap` to `shape` if it is that member",
    );
    let keys = [
        "binsparse",
        "version",
        "format",
        "number_of_stored_values",
        "data_types",
    ];
    for key in keys {
        let found = refused(
            &CSR.replace(&format!("\"{key}\""), "\"another\""),
            &arrays(),
        );
        assert_eq!(found.0, code::BAD_DESCRIPTOR);
        assert!(
            found.1.contains(&format!("the descriptor has no `{key}`")),
            "{}",
            found.1
        );
    }
}

#[test]
fn a_key_of_another_kind_is_shown() {
    check(
        "[4, 5]",
        "[4, -5]",
        code::BAD_DESCRIPTOR,
        "\
error[E0461]: `shape` of the descriptor is not a count
 --> descriptor of a.bsp.npz:4:16
  |
4 |   \"shape\": [4, -5],
  |                ^^ expected a count
  |
  = help: write the file again; `sparsec explain E0461` says what such a file holds",
    );
    for (part, by, expect) in [
        ("[4, 5]", "{}", "`shape` of the descriptor is not a list"),
        (
            "\"0.1.0\"",
            "[]",
            "`version` of the descriptor is not a text",
        ),
        (
            ": 3,",
            ": 3.5,",
            "`number_of_stored_values` of the descriptor is not a count",
        ),
        (
            ": 3,",
            ": 3, \"fill\": 1,",
            "`fill` of the descriptor is not `true` or `false`",
        ),
        (
            "\"float64\"",
            "8",
            "`values` of the descriptor is not a text",
        ),
        (
            "[4, 5]",
            "[4, 5, 6]",
            "the shape has 3 extents, the format 2 modes",
        ),
    ] {
        let found = refused(&CSR.replace(part, by), &arrays());
        assert_eq!(found.0, code::BAD_DESCRIPTOR);
        assert!(found.1.contains(expect), "{}", found.1);
    }
}

#[test]
fn unknown_names_are_shown() {
    check(
        "\"CSR\"",
        "\"CRS\"",
        code::UNSUPPORTED_BINSPARSE,
        "\
error[E0462]: `CRS` is no Binsparse format
 --> descriptor of a.bsp.npz:3:13
  |
3 |   \"format\": \"CRS\",
  |             ^^^^^ unknown format
  |
  = help: did you mean `CSR`?",
    );
    for (part, by, expect) in [
        (
            "0.1.0",
            "0.2.0",
            "version `0.2.0` of Binsparse is not known",
        ),
        ("0.1.0", "0.10", "version `0.10` of Binsparse is not known"),
        ("float64", "float16", "`float16` is no Binsparse type"),
        (
            ": 3,",
            ": 3, \"structure\": \"symmetric\",",
            "`symmetric` is no Binsparse structure",
        ),
    ] {
        let found = refused(&CSR.replace(part, by), &arrays());
        assert_eq!(found.0, code::UNSUPPORTED_BINSPARSE);
        assert!(found.1.contains(expect), "{}", found.1);
    }
}

#[test]
fn structures_are_for_square_matrices() {
    check(
        ": 3,",
        ": 3,\n  \"structure\": \"symmetric_lower\",",
        code::BAD_DESCRIPTOR,
        "\
error[E0461]: only square matrices have a structure
 --> descriptor of a.bsp.npz:6:16
  |
6 |   \"structure\": \"symmetric_lower\",
  |                ^^^^^^^^^^^^^^^^^ the shape is [4, 5]
  |
  = help: write the file again; `sparsec explain E0461` says what such a file holds",
    );
}

#[test]
fn trees_that_make_no_sense_are_shown() {
    let bad = code::BAD_DESCRIPTOR;
    check_custom(
        "[1, 0]",
        "[1, 1]",
        bad,
        "`transpose` is no permutation of the modes",
    );
    check_custom("[1, 0]", "[0]", bad, "each of 0 to 1 once");
    check_custom(
        "\"rank\": 1",
        "\"rank\": 0",
        bad,
        "a level takes at least one mode",
    );
    check_custom(
        "\"rank\": 1",
        "\"rank\": 18446744073709551615",
        bad,
        "more than 64 modes",
    );
    check_custom("\"rank\": 1,", "", bad, "the descriptor has no `rank`");
    check_custom(
        "\"custom\": {",
        "\"custom\": 3, \"a\": {",
        bad,
        "`custom` of the descriptor",
    );
    check_custom(
        "\"element\"",
        "\"run\"",
        code::UNSUPPORTED_BINSPARSE,
        "`run` is no Binsparse level",
    );
    check_custom(
        "{\"level_desc\": \"element\"}",
        "7",
        bad,
        "`level` of the descriptor is not an object",
    );
}

#[test]
fn deep_trees_end_early() {
    let level = "{\"level_desc\": \"dense\", \"rank\": 1, \"level\": ";
    let deep = format!("{}7{}", level.repeat(20_000), "}".repeat(20_000));
    let found = refused(
        &CUSTOM.replace("{\"level_desc\": \"element\"}", &deep),
        &arrays(),
    );
    assert_eq!(found.0, code::BAD_DESCRIPTOR);
    assert!(found.1.len() < 1000, "{}", found.1.len());
}

#[test]
fn arrays_that_do_not_fit_are_named() {
    let misfit = code::BINSPARSE_ARRAY;
    check_array("values", None, misfit, "there is no array `values`");
    check_array(
        "values",
        Some(Array::from_vec(vec![1.0, 2.0])),
        misfit,
        "`values` has 2 entries, not 3",
    );
    check_array(
        "values",
        Some(Array::from_vec(vec![1.0f32, 2.0, 3.0])),
        misfit,
        "`values` holds numbers of type f32, not f64 as its type `float64` says",
    );
    check_array(
        "pointers_to_1",
        Some(Array::from_vec(vec![0, 1, 3])),
        misfit,
        "`pointers_to_1` has 3 entries, not 5",
    );
    check_array(
        "indices_1",
        Some(Array::from_vec(vec![0, 1, 2, 3])),
        misfit,
        "3 stored values are promised, but the last level has 4 positions",
    );
    check_array(
        "pointers_to_1",
        Some(Array::from_vec(vec![0, 2, 1, 3, 3])),
        code::BAD_SEGMENTS,
        "`1.pos` is `pointers_to_1`",
    );
    check_array(
        "indices_1",
        Some(Array::from_vec(vec![1, 0, 5])),
        code::OUT_OF_BOUNDS,
        "`1.crd[2]` is 5, but mode 1 has extent 5",
    );
    check_array(
        "indices_1",
        Some(Array::from_vec(vec![1, 0, -1])),
        code::OUT_OF_BOUNDS,
        "`1.crd[2]` is -1",
    );
}

#[test]
fn types_have_to_make_sense() {
    let misfit = code::BINSPARSE_ARRAY;
    let check = |part: &str, by: &str, name: &str, array: Array, expect: &str| {
        let mut arrays = arrays();
        let place = arrays.iter().position(|array| array.0 == name).unwrap();
        arrays[place].1 = array;
        let found = refused(&CSR.replace(part, by), &arrays);
        assert!(found.1.contains(expect), "`{expect}` is not in {}", found.1);
        assert_eq!(found.0, misfit);
    };
    let floats = || Array::from_vec(vec![1.0, 2.0, 3.0]);
    let index = "\"indices_1\": \"int32\"";
    let as_index = |ty: &str| format!("\"indices_1\": \"{ty}\"");
    check(
        index,
        &as_index("float64"),
        "indices_1",
        floats(),
        "`indices_1` has the type `float64`",
    );
    let one = Array::from_vec(vec![1]);
    check(
        index,
        &as_index("iso[int32]"),
        "indices_1",
        one,
        "the type `iso[int32]`",
    );
    let large = Array::from_vec(vec![1, 0, u64::MAX]);
    check(
        index,
        &as_index("uint64"),
        "indices_1",
        large,
        "beyond 2^63 - 1",
    );
    check(
        "float64",
        "complex[float64]",
        "values",
        floats(),
        "3 parts of complex numbers",
    );
    check(
        "float64",
        "iso[float64]",
        "values",
        floats(),
        "`values` has 3 entries, not 1",
    );
    let fill = ": 3, \"fill\": true,";
    let found = refused(&CSR.replace(": 3,", fill), &arrays());
    assert_eq!(found.0, code::BAD_DESCRIPTOR);
    assert!(
        found.1.contains("the descriptor has no `fill_value`"),
        "{}",
        found.1
    );
}

#[test]
fn tensors_without_a_form_are_refused() {
    let folder = folder();
    let check = |format: &str, element: ElementType, expect: &str| {
        let format: Format = format.parse().unwrap();
        let tensor = Tensor::pack(&format, &[2, 2], &[0, 1], &[1.0]).unwrap();
        let entries = tensor.entries();
        let entries = sparsec_tensor::Entries {
            values: entries.values.cast(element).unwrap().unwrap(),
            ..entries
        };
        let tensor = Tensor::pack_entries(&format, entries, Default::default()).unwrap();
        for name in ["a.bsp.npz", "a.h5"] {
            let fault = write(&folder.path().join(name), &tensor).unwrap_err();
            assert_eq!(fault.code(), code::NOT_EXPRESSIBLE_IN_BINSPARSE);
            let text = fault.to_string();
            assert!(text.contains(expect), "{text}");
            assert!(text.contains("`.npz`"), "{text}");
        }
    };
    let coo = "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))";
    check(coo, ElementType::F64, "has coordinates in any order");
    let loose = "(i, j) -> (i : dense, j : compressed(nonordered))";
    check(loose, ElementType::F64, "level 1 of");
    let repeating = "(i, j) -> (i : dense, j : compressed(nonunique))";
    check(
        repeating,
        ElementType::F64,
        "may have coordinates more than once",
    );
    let csr = "(i, j) -> (i : dense, j : compressed)";
    check(csr, ElementType::Bf16, "no type for values of bf16");
    check(csr, ElementType::F16, "no type for values of f16");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
