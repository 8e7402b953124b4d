//! Rutherford–Boeing and Harwell–Boeing files, column for column.

use proptest::prelude::*;
use sparsec_base::{Code, Complex, ElementType, code};
use sparsec_io::{FileTensor, ReadOptions, Structure, read, read_as, write};
use sparsec_tensor::{Array, Entries, Tensor};

/// A file of these parts; `body` begins with the third line.
fn text(values: usize, body: &str) -> String {
    let title = format!("{:72}{:8}", "A title (with 1 2 3 in it)", "KEY");
    format!("{title}\n{:14} {:13} {:13} {values:13}\n{body}", 9, 1, 1)
}

fn read_text(
    text: &str,
    element: Option<ElementType>,
) -> Result<FileTensor, sparsec_base::Diagnostic> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.rb");
    std::fs::write(&path, text).unwrap();
    read_as(&path, element)
}

fn entries(text: &str) -> Entries {
    let found = read_text(text, None).unwrap_or_else(|fault| panic!("{fault}"));
    found.into_entries().unwrap()
}

const SYMMETRIC: &str = "\
rsa                        3             3             4             0
(16I3)          (3I2)           (1P,3E13.5)
  1  3  4  5
 1 2 2
 3
  2.50000E+00 -1.00000D+00  4.00000-103
      1000000
";

#[test]
fn columns_become_entries() {
    let found = entries(&text(1, SYMMETRIC));
    assert_eq!(found.extents, [3, 3]);
    assert_eq!(found.coords, [0, 0, 1, 0, 1, 1, 2, 2, 0, 1]);
    // The last value has neither point nor exponent: five decimals, scaled by 1P.
    assert_eq!(
        found.values,
        Array::from_vec(vec![2.5, -1.0, 4e-103, 1.0, -1.0])
    );
    let crlf = text(1, SYMMETRIC).replace('\n', "\r\n");
    assert_eq!(entries(&crlf), found);
    assert_eq!(entries(text(1, SYMMETRIC).trim_end()), found);
}

#[test]
fn numbers_may_touch() {
    let body = "\
IUA                        2             2             4             0
(3I1)           (4I1)           (2I3)
135
1212
100200
300-40
";
    let found = entries(&text(2, body));
    assert_eq!(found.coords, [0, 0, 1, 0, 0, 1, 1, 1]);
    assert_eq!(found.values, Array::from_vec(vec![100i64, 200, 300, -40]));
}

#[test]
fn patterns_are_ones() {
    let body = "\
pra                        3             2             2             0
(3I4)           (2I4)
   1   1   3
   1   3
";
    let found = entries(&text(0, body));
    assert_eq!(found.extents, [3, 2]);
    assert_eq!(found.coords, [0, 1, 2, 1]);
    assert_eq!(found.values, Array::from_vec(vec![1.0, 1.0]));
    // A real matrix without lines of values is a pattern too.
    assert_eq!(entries(&text(0, &body.replace("pra", "rra"))), found);
}

#[test]
fn complex_values_are_two_numbers() {
    let body = "\
cha                        2             2             2             0
(3I4)           (2I4)           (3F5.1)
   1   3   3
   1   2
  1.0  0.0  2.5
 -3.0
";
    let found = entries(&text(2, body));
    let c = Complex::<f64>::new;
    let values = vec![c(1.0, 0.0), c(2.5, -3.0), c(2.5, 3.0)];
    assert_eq!(found.values, Array::from_vec(values));
    let skew = entries(&text(
        2,
        &body
            .replace("cha", "cza")
            .replace("  1.0  0.0", "  0.0  0.0"),
    ));
    assert_eq!(skew.values.get(2).to_c128(), c(-2.5, 3.0));
    let fault = read_text(&text(2, body), Some(ElementType::F64)).unwrap_err();
    assert_eq!(fault.code(), code::LOSSY_TYPE);
}

#[test]
fn older_files_have_a_line_on_right_hand_sides() {
    let title = format!("{:72}{:8}", "An older file", "KEY");
    let counts = format!("{:14}{:14}{:14}{:14}{:14}", 5, 1, 1, 1, 1);
    let body = "\
RUA                        2             2             2             0
(3I4)           (2I4)           (2F5.1)             (2F5.1)
F                          1             0
   1   2   3
   1   2
  1.5  2.5
  9.0  9.0
";
    let found = entries(&format!("{title}\n{counts}\n{body}"));
    assert_eq!(found.values, Array::from_vec(vec![1.5, 2.5]));
}

#[test]
fn structure_is_kept_if_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.rsa.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, text(1, SYMMETRIC).as_bytes()).unwrap();
    std::fs::write(&path, encoder.finish().unwrap()).unwrap();
    let options = ReadOptions {
        keep_structure: true,
        ..ReadOptions::default()
    };
    let found = read(&path, &options).unwrap();
    assert_eq!((found.structure, found.n_stored), (Structure::Symmetric, 4));
    assert_eq!(found.into_entries().unwrap().len(), 4);
    let tensor = Tensor::scalar(sparsec_base::Scalar::F64(1.0));
    let fault = write(&path, &tensor).unwrap_err();
    assert_eq!(fault.code(), code::NOT_EXPRESSIBLE_IN_FILE);
}

/// Replaces a part of the symmetric file and looks for a part of the message.
fn check(from: &str, to: &str, code: Code, part: &str) {
    assert!(SYMMETRIC.contains(from), "{from}");
    let text = text(1, &SYMMETRIC.replacen(from, to, 1));
    let fault = read_text(&text, None).expect_err(part);
    assert_eq!(fault.code(), code, "{fault}");
    assert!(
        fault.to_string().contains(part),
        "`{part}` is not in: {fault}"
    );
}

#[test]
fn faults_are_shown() {
    let header = code::BAD_HEADER;
    check("rsa", "abc", header, "such as `rua`");
    check("rsa", "rsx", header, "such as `rua`");
    check("rsa", "rse", code::UNSUPPORTED_FILE, "elemental");
    check(
        "             4 ",
        "             x ",
        header,
        "the number of entries",
    );
    check(
        "   3             3 ",
        "   3             4 ",
        code::ASYMMETRIC_FILE,
        "not square",
    );
    let format = code::BAD_FORTRAN_FORMAT;
    check("(16I3)", "(16A3)", format, "format of the pointers");
    check("(3I2) ", "(3I2  ", format, "format of the rows");
    check("(1P,3E13.5)", "", format, "format of the values");
    let pointers = code::BAD_SEGMENTS;
    check("  1  3", "  2  3", pointers, "expected 1");
    check("  3  4  5", "  3  2  5", pointers, "expected 3 to 5");
    check("  3  4  5", "  3  4  6", pointers, "expected 5");
    check("  3  4  5", "  3  x  5", pointers, "expected 3 to 5");
    check(" 1 2 2", " 1 2 7", code::OUT_OF_BOUNDS, "expected 1 to 3");
    check(" 1 2 2", " 1 x 2", code::BAD_ENTRY, "expected a row");
    check(" 1 2 2", " 1 2", code::BAD_ENTRY, "a line with 2 rows");
    check(
        " 1 2 2",
        " 1 2 1",
        code::ASYMMETRIC_FILE,
        "- ^ above the diagonal",
    );
    check(
        "4.00000-103",
        "4.00x00-103",
        code::BAD_ENTRY,
        "expected a number",
    );
    check(
        "4.00000-103",
        "4.00000+999",
        code::BAD_ENTRY,
        "range of f64",
    );
    check(
        "      1000000\n",
        "",
        code::WRONG_ENTRY_COUNT,
        "promises 4 values, the file has 3",
    );
    let many = "999999999999999999             4 ";
    let huge = SYMMETRIC
        .replace("rsa", "rra")
        .replace("            3             4 ", many);
    let fault = read_text(&text(1, &huge), None).unwrap_err();
    assert_eq!(fault.code(), code::WRONG_ENTRY_COUNT, "{fault}");
    assert_eq!(read_text("", None).unwrap_err().code(), header);
}

proptest! {
    #[test]
    fn damaged_files_never_panic(at in 0..500usize, byte: u8, cut in 0..600usize) {
        let mut bytes = text(1, SYMMETRIC).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(cut.max(1));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rsa");
        std::fs::write(&path, bytes).unwrap();
        if let Err(fault) = read_as(&path, None) {
            prop_assert!(!fault.to_string().is_empty());
        }
    }
}
