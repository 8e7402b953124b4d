//! What text files declare in comments: the type of their values, and extents.

use sparsec_base::{Code, Complex, ElementType, Result, code};
use sparsec_format::Format;
use sparsec_io::{FileTensor, WriteOptions, read_as, stage};
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};

/// Reads text as a file of this name.
fn read_text(name: &str, text: &str, element: Option<ElementType>) -> Result<FileTensor> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    read_as(&path, element)
}

fn entries(name: &str, text: &str) -> Entries {
    let found = read_text(name, text, None).unwrap_or_else(|fault| panic!("{fault}"));
    found.into_entries().unwrap()
}

fn refused(name: &str, text: &str, code: Code, part: &str) {
    let fault = read_text(name, text, None).expect_err(part);
    assert_eq!(fault.code(), code, "{fault}");
    assert!(fault.help_text().is_some(), "no way out: {fault}");
    let text = fault.to_string();
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

#[test]
fn comments_declare_what_lines_leave_open() {
    let text = "# by hand\n# sparsec: c64[3, 9]\n1 1 0.5 -1\n";
    let complex = entries("a.tns", text);
    assert_eq!(complex.extents, [3, 9]);
    let expected = vec![Complex::<f32>::new(0.5, -1.0)];
    assert_eq!(complex.values, Array::from_vec(expected));
    let typed = entries("a.tns", "#sparsec:  bool\r\n2 1\n");
    assert_eq!(typed.extents, [2]);
    assert_eq!(typed.values.element(), ElementType::Bool);
    let matrix = "%%MatrixMarket matrix coordinate integer general\n% sparsec: u8\n1 1 1\n1 1 7\n";
    assert_eq!(entries("a.mtx", matrix).values, Array::from_vec(vec![7u8]));
    // Only comments above the first entry declare.
    let late = entries("a.tns", "1 1\n# sparsec: bool[9]\n2 1\n");
    assert_eq!(late.values, Array::from_vec(vec![1.0, 1.0]));
}

#[test]
fn tensors_without_entries_read_back() {
    let folder = tempfile::tempdir().unwrap();
    for extents in [&[3, 4][..], &[0, 4], &[0], &[5, 6, 7]] {
        for element in [ElementType::F64, ElementType::C128, ElementType::Bool] {
            let entries = Entries::empty(extents, element);
            let format = Format::scoo(extents.len());
            let tensor = Tensor::pack_entries(&format, entries, PackOptions::default()).unwrap();
            for (name, states_extents) in [("a.tns", false), ("a.tns.gz", true), ("a.mtx", false)] {
                let path = folder.path().join(name);
                let options = WriteOptions {
                    states_extents,
                    ..WriteOptions::default()
                };
                if name == "a.mtx" && extents.len() != 2 {
                    continue;
                }
                stage(&path, &tensor, &options).unwrap().commit().unwrap();
                let found = read_as(&path, None).unwrap_or_else(|fault| panic!("{fault}"));
                assert!(found.states_extents);
                let back = found.into_tensor(&format, PackOptions::default()).unwrap();
                assert_eq!(back, tensor, "{name}");
            }
        }
    }
}

#[test]
fn extents_are_lost_where_plain_lines_do_not_reach_them() {
    let loses = |format: &Format, coords: &[u64], states_extents| {
        let values = vec![1.0; coords.len() / 2];
        let tensor = Tensor::pack(format, &[3, 4], coords, &values).unwrap();
        let options = WriteOptions {
            states_extents,
            ..WriteOptions::default()
        };
        sparsec_io::tns::loses_extents(&tensor, &options).unwrap()
    };
    let csr = Format::csr();
    assert!(loses(&csr, &[0, 0, 2, 2], false));
    assert!(!loses(&csr, &[0, 0, 2, 2], true));
    assert!(!loses(&csr, &[0, 3, 2, 0], false));
    // A comment states the extents of a tensor without entries.
    assert!(!loses(&csr, &[], false));
    assert!(!loses(&Format::dense(2), &[0, 0], false));
}

#[test]
fn declarations_are_held_against_the_file() {
    let bad = code::BAD_HEADER;
    let tns = |text: &str, code, part: &str| refused("a.tns", text, code, part);
    tns("# sparsec: f65[3]\n1 1\n", bad, "without a type");
    tns(
        "# sparsec: f64[3\n1 1\n",
        bad,
        "expected a type and extents",
    );
    tns("# sparsec: f64[3, -1]\n1 1 1\n", bad, "remove it");
    tns(
        "# sparsec: f64[9223372036854775808]\n1 1\n",
        bad,
        "without a type",
    );
    tns(
        "# sparsec: f64[3, 4]\n1 1\n",
        bad,
        "2 extents above lines of 1",
    );
    let other = "# sparsec: f64[3]\n1 1\n4\n1 1\n";
    tns(other, bad, "the header [4]");
    let bounds = code::OUT_OF_BOUNDS;
    tns("# sparsec: f64[3]\n4 1\n", bounds, "whose extent is 3");
    let lossy = code::LOSSY_TYPE;
    tns("# sparsec: u8[3]\n1 300\n", lossy, "none of type u8");
    let complex = "# sparsec: c128[3]\n1 2 5\n";
    let fault = read_text("a.tns", complex, Some(ElementType::F64)).unwrap_err();
    assert_eq!(fault.code(), lossy, "{fault}");
    let matrix = "%%MatrixMarket matrix coordinate real general\n% sparsec: f32[2, 2]\n3 2 0\n";
    refused("a.mtx", matrix, bad, "the header [3, 2]");
}
