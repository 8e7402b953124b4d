//! Every fault in a file is shown with its line and a caret.

use std::path::{Path, PathBuf};

use sparsec_base::{Code, Diagnostic, ElementType, Scalar, code};
use sparsec_format::Format;
use sparsec_io::{ReadOptions, Structure, read, read_as, write};
use sparsec_tensor::{Entries, PackOptions, Tensor};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn file(folder: &TempDir, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a file in it");
    path
}

/// The message without the path of the temporary directory.
fn shown(fault: &Diagnostic, folder: &Path) -> String {
    let text = fault.to_string();
    text.replace(&format!("{}/", folder.display()), "")
}

/// Reads a file with this content and compares the whole message.
fn check(name: &str, content: &str, code: Code, expect: &str) {
    let folder = folder();
    let path = file(&folder, name, content.as_bytes());
    let fault = read_as(&path, None).expect_err(expect);
    assert_eq!(fault.code(), code, "{fault}");
    assert!(fault.help_text().is_some(), "no way out: {fault}");
    assert_eq!(shown(&fault, folder.path()).trim(), expect.trim());
}

/// Reads a file and looks for a part of the message.
fn check_part(name: &str, content: &[u8], code: Code, part: &str) {
    let folder = folder();
    let path = file(&folder, name, content);
    let fault = read_as(&path, None).expect_err(part);
    assert_eq!(fault.code(), code, "{fault}");
    assert!(fault.help_text().is_some(), "no way out: {fault}");
    let text = shown(&fault, folder.path());
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

#[test]
fn a_bad_line_is_shown() {
    check(
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n% note\n3 3 2\n1 1 2.5\n3 x 1.5\n",
        code::BAD_ENTRY,
        "\
error[E0424]: a line that is not 2 coordinates and a value
 --> a.mtx:5:3
  |
5 | 3 x 1.5
  |   ^ expected the coordinate of mode 1
  |
  = help: write 2 coordinates and a value, separated by blanks; coordinates count from 1",
    );
}

#[test]
fn a_coordinate_outside_is_shown() {
    check(
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 2.5\n\n4 1 1.5\n",
        code::OUT_OF_BOUNDS,
        "\
error[E0401]: a coordinate outside mode 0, whose extent is 3
 --> a.mtx:5:1
  |
5 | 4 1 1.5
  | ^ expected 1 to 3
  |
  = help: correct the coordinate, or the extent",
    );
}

#[test]
fn lying_counts_are_shown() {
    check(
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 3 1000000000000000000\n1 1 2.5\n",
        code::WRONG_ENTRY_COUNT,
        "\
error[E0425]: the header promises 1000000000000000000 lines of entries, the file has 1
 --> a.mtx:2:5
  |
2 | 3 3 1000000000000000000
  |     ^^^^^^^^^^^^^^^^^^^ 1 follow
  |
  = help: copy the file again if it is cut off, or correct the number of entries",
    );
    check(
        "a.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 2.5\n% note\n2 2 7\n",
        code::WRONG_ENTRY_COUNT,
        "\
error[E0425]: the header promises 1 line of entries, the file has 2
 --> a.mtx:5:1
  |
5 | 2 2 7
  | ^^^^^ this one is too many
  |
 ::: a.mtx:2:5
  |
2 | 3 3 1
  |     - promised here
  |
  = help: correct the number of entries, or remove the lines beyond it",
    );
}

#[test]
fn headers_that_cannot_be_used() {
    let bad = code::BAD_HEADER;
    check_part("a.mtx", b"", bad, "expected `%%MatrixMarket`");
    check_part("a.mtx", b"1 1 2.5\n", bad, "expected `%%MatrixMarket`");
    check_part("a.mtx", b"%%MatrixMarket\n", bad, "expected `matrix`");
    check_part(
        "a.mtx",
        b"%%MatrixMarket matrix coordinat real general\n",
        bad,
        "did you mean `coordinate`?",
    );
    check_part(
        "a.mtx",
        b"%%MatrixMarket matrix coordinate real\n",
        bad,
        "expected `general` or `symmetric`",
    );
    let rest = |size: &str| format!("%%MatrixMarket matrix coordinate real general\n{size}");
    check_part(
        "a.mtx",
        rest("").as_bytes(),
        bad,
        "expected the number of rows",
    );
    check_part(
        "a.mtx",
        rest("3\n").as_bytes(),
        bad,
        "expected the number of columns",
    );
    check_part(
        "a.mtx",
        rest("3 3\n").as_bytes(),
        bad,
        "expected the number of entries",
    );
    check_part(
        "a.mtx",
        rest("3 -3 1\n").as_bytes(),
        bad,
        "expected the number of columns",
    );
    check_part(
        "a.mtx",
        rest("3 3 1 1\n").as_bytes(),
        bad,
        "more than three numbers",
    );
    check_part(
        "a.mtx",
        rest("99999999999999999999 3 1\n").as_bytes(),
        bad,
        "a number of rows that is too large",
    );
    check_part("a.tns", b"# nothing\n\n", bad, "has no entries");
    check_part(
        "a.tns",
        b"\x7fELF\x02\0\0 1 2 3\n",
        bad,
        "is not a text file",
    );
}

#[test]
fn kinds_of_files_that_are_not_read() {
    let part = "`vector` Matrix Market files are not supported in this version";
    let text = b"%%MatrixMarket vector coordinate real general\n3 0\n";
    check_part("a.mtx", text, code::UNSUPPORTED_FILE, part);
    // What contradicts itself is no kind of file.
    for header in [
        "matrix array pattern general",
        "matrix coordinate pattern skew-symmetric",
        "matrix coordinate pattern hermitian",
    ] {
        let text = format!("%%MatrixMarket {header}\n3 3 0\n");
        check_part("a.mtx", text.as_bytes(), code::BAD_HEADER, "expected `");
    }
}

#[test]
fn arrays_that_are_too_short_or_long() {
    let array = |kind: &str, body: &str| {
        format!("%%MatrixMarket matrix array real {kind}\n{body}").into_bytes()
    };
    let count = code::WRONG_ENTRY_COUNT;
    let check = |kind, body, part| check_part("a.mtx", &array(kind, body), count, part);
    check("general", "2 2\n1\n2\n3\n", "promises 4 lines");
    check("general", "2 2\n1\n2\n3\n4\n5\n", "too many");
    check("symmetric", "2 2\n1\n2\n", "promises 3 lines");
    check("skew-symmetric", "2 2\n1\n2\n", "promises 1 line of");
    let huge = "4294967296 4294967297\n1\n";
    check("general", huge, "promises more than 2^64 lines");
    let line = array("general", "1 1\n1 1 2.5\n");
    check_part(
        "a.mtx",
        &line,
        code::BAD_ENTRY,
        "expected the end of the line",
    );
    let sizes = array("general", "1 1 1\n2.5\n");
    check_part("a.mtx", &sizes, code::BAD_HEADER, "more than two numbers");
}

#[test]
fn entries_that_are_not_their_own_images() {
    let skew = b"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n1 1 0\n2 2 1\n";
    let part = "2 2 1\n  | ^^^^^ the diagonal is zero";
    check_part("a.mtx", skew, code::ASYMMETRIC_FILE, part);
    let hermitian = b"%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 2 3\n";
    let part = "the imaginary part is zero on the diagonal";
    check_part("a.mtx", hermitian, code::ASYMMETRIC_FILE, part);
    let unsigned =
        b"%%MatrixMarket matrix coordinate unsigned-integer skew-symmetric\n2 2 1\n2 1 3\n";
    check_part(
        "a.mtx",
        unsigned,
        code::ASYMMETRIC_FILE,
        "the negative of 3",
    );
}

#[test]
fn extended_files_that_lie() {
    let tns = |text: &str, code, part: &str| check_part("a.tns", text.as_bytes(), code, part);
    let count = code::WRONG_ENTRY_COUNT;
    tns("2 2\n3 3\n1 1 1.5\n", count, "the header promises 2 lines");
    tns(
        "2 1\n3 3\n1 1 1.5\n2 2 2.5\n",
        count,
        "this one is too many",
    );
    let bounds = code::OUT_OF_BOUNDS;
    tns("2 1\n3 3\n1 4 1.5\n", bounds, "whose extent is 3");
    let mark = "# extended FROSTT format\n";
    let bad = code::BAD_HEADER;
    tns(mark, bad, "expected an order and a number of entries");
    tns(
        &format!("{mark}2 0\n3 3 3\n"),
        bad,
        "an extended file without",
    );
    tns(&format!("{mark}2 x\n3 3\n"), bad, "2 x");
    tns(&format!("{mark}1000000000000000000 1\n3\n"), bad, "3");
}

#[test]
fn lines_that_are_no_entries() {
    let bad = code::BAD_ENTRY;
    let tns = |text: &str, part: &str| check_part("a.tns", text.as_bytes(), bad, part);
    tns("1 1 1.0\n1 1\n", "expected a number");
    tns("1 1 1.0\n1\n2 2 2.0\n", "expected the coordinate of mode 1");
    tns("1 1 1.0\n1 1", "the file ends in this line");
    tns("1 1 1.0\n1 1 1.0 7\n", "expected the end of the line");
    tns("1 1 1.0\n1 1 1,0\n", "expected a number");
    tns("1 1 1.0\n1 -1 1.0\n", "expected the coordinate of mode 1");
    tns("1 1 1.0\n1 1.5 1.0\n", "expected the coordinate of mode 1");
    tns("1.0\n2.0\n", "a second value");
    let bounds = code::OUT_OF_BOUNDS;
    check_part("a.tns", b"1 1 1.0\n1 0 1.0\n", bounds, "counted from 1");
    check_part(
        "a.tns",
        b"1 99999999999999999999 1.0\n",
        bounds,
        "in mode 1 that is larger than any extent",
    );
    check_part(
        "a.tns",
        b"1 \xFF\xFE 1.0\n",
        bad,
        "expected the coordinate of mode 1",
    );
    let long = format!("1 {} 1.0\n", "z".repeat(100_000));
    let folder = folder();
    let path = file(&folder, "a.tns", long.as_bytes());
    let fault = read_as(&path, None).unwrap_err();
    assert!(fault.to_string().len() < 2000, "long lines are cut");
}

#[test]
fn values_that_a_type_would_lose() {
    let folder = folder();
    let lossy = |name: &str, content: &str, element: Option<ElementType>, part: &str| {
        let path = file(&folder, name, content.as_bytes());
        let fault = read_as(&path, element).expect_err(part);
        assert_eq!(fault.code(), code::LOSSY_TYPE, "{fault}");
        assert!(fault.to_string().contains(part), "{fault}");
    };
    use ElementType::{Bool, F16, F32, F64, I32, I64, U8, U64};
    let integer = "expected an integer of at most 64 bits";
    lossy("a.tns", "1 2.5\n", Some(I64), integer);
    lossy("a.tns", "1 7\n2 1.5\n", Some(I32), "a.tns:2:3");
    lossy("a.tns", "1 300\n", Some(U8), "an integer from 0 to 255");
    lossy("a.tns", "1 -1\n", Some(U64), "without sign");
    lossy("a.tns", "1 2\n", Some(Bool), "a truth value");
    lossy("a.tns", "1 1e40\n", Some(F32), "within the range of f32");
    lossy("a.tns", "1 70000\n", Some(F16), "within the range of f16");
    let header = |field: &str| format!("%%MatrixMarket matrix coordinate {field} general\n1 1 1\n");
    let large = header("integer") + "1 1 99999999999999999999\n";
    lossy("a.mtx", &large, None, integer);
    let complex = header("complex") + "1 1 1 0\n";
    let part = "complex general\n  |                                  ^^^^^^^ each has two parts";
    lossy("a.mtx", &complex, Some(F64), part);
    let complex = "1 1\n3\n1 1 0\n";
    lossy("a.tns", complex, Some(F64), "the value has two parts");
}

#[test]
fn extents_that_are_given() {
    let folder = folder();
    let path = file(&folder, "a.tns", b"1 4 2.5\n2 5 1\n");
    let with = |extents: Vec<Option<u64>>| {
        let options = ReadOptions {
            extents: Some(extents),
            ..ReadOptions::default()
        };
        read(&path, &options)
    };
    assert_eq!(with(vec![None, Some(9)]).unwrap().extents(), [2, 9]);
    let fault = with(vec![None, Some(4)]).unwrap_err();
    assert_eq!(fault.code(), code::OUT_OF_BOUNDS);
    assert!(fault.to_string().contains("a.tns:2:3"), "{fault}");
    let fault = with(vec![None]).unwrap_err();
    assert_eq!(fault.code(), code::LENGTH_MISMATCH);
    let empty = file(&folder, "b.tns", b"# nothing\n");
    let options = ReadOptions {
        extents: Some(vec![Some(3), Some(4)]),
        ..ReadOptions::default()
    };
    let found = read(&empty, &options).unwrap().into_entries().unwrap();
    assert_eq!((found.extents.as_slice(), found.len()), (&[3, 4][..], 0));
}

#[test]
fn symmetric_files_state_one_triangle() {
    let text = |size: &str, lines: &str| {
        format!("%%MatrixMarket matrix coordinate real symmetric\n{size}\n{lines}")
    };
    check(
        "a.mtx",
        &text("3 3 3", "1 1 1\n2 1 5\n1 3 6\n"),
        code::ASYMMETRIC_FILE,
        "\
error[E0429]: a symmetric file that states entries on both sides of the diagonal
 --> a.mtx:5:1
  |
5 | 1 3 6
  | ^^^^^ above the diagonal
  |
 ::: a.mtx:4:1
  |
4 | 2 1 5
  | ----- below the diagonal
  |
  = help: remove the entries of one triangle, or declare the matrix `general`",
    );
    check_part(
        "a.mtx",
        text("3 4 0", "").as_bytes(),
        code::ASYMMETRIC_FILE,
        "not square",
    );
    let folder = folder();
    let path = file(&folder, "a.mtx", text("3 3 2", "1 1 1\n1 3 6\n").as_bytes());
    let found = read_as(&path, None).unwrap();
    assert_eq!(found.structure, Structure::Symmetric);
    assert_eq!(found.n_stored, 2);
    assert_eq!(found.into_entries().unwrap().coords, [0, 0, 0, 2, 2, 0]);
}

#[test]
fn files_that_cannot_be_opened() {
    let folder = folder();
    file(&folder, "poisson.mtx", b"");
    let missing = |name: &str| read_as(&folder.path().join(name), None).unwrap_err();
    let fault = missing("poison.mtx");
    assert_eq!(fault.code(), code::CANNOT_READ_FILE);
    assert!(fault.to_string().contains("poisson.mtx`?"), "{fault}");
    std::fs::create_dir(folder.path().join("d.mtx")).unwrap();
    let fault = missing("d.mtx");
    assert_eq!(fault.code(), code::CANNOT_READ_FILE);
    assert!(fault.to_string().contains("is a directory"));
    for (name, part) in [
        ("a.mxt", "did you mean `.mtx`?"),
        ("a", "files end in"),
        ("a.gz", "files end in"),
        ("a.csv.gz", "files end in"),
    ] {
        let fault = missing(name);
        assert_eq!(fault.code(), code::UNKNOWN_FILE_TYPE);
        assert!(fault.to_string().contains(part), "{fault}");
    }
}

#[test]
fn compressed_files_that_are_broken() {
    let folder = folder();
    let whole = folder.path().join("a.tns.gz");
    let list: Vec<f64> = (0..500).map(f64::from).collect();
    let coords: Vec<u64> = (0..500).collect();
    let tensor = Tensor::pack(&Format::csf(1), &[500], &coords, &list).unwrap();
    write(&whole, &tensor).unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    let mut flipped = bytes.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0xFF;
    let corrupt = code::CORRUPT_COMPRESSION;
    for broken in [&bytes[..bytes.len() / 2], &bytes[..5], &flipped] {
        check_part("b.tns.gz", broken, corrupt, "cannot be expanded");
    }
    check_part("b.tns.gz", b"1 2.5\n", corrupt, "it is no gzip data");
    let renamed = "if the file is not compressed, rename it without `.gz`";
    check_part("b.tns.gz", b"1 2.5\n", corrupt, renamed);
    let stem = "are not compressed further: use `b.npz`";
    check_part("b.npz.gz", b"", code::UNKNOWN_FILE_TYPE, stem);
    check_part("b.tns.gz", b"", corrupt, "it is no gzip data");
}

/// A library opens such a file again and reads it in any order.
#[test]
fn pipes_are_no_hdf5_files() {
    let folder = folder();
    let pipe = folder.path().join("pipe.h5");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo starts").success());
    let device = folder.path().join("device.h5");
    std::os::unix::fs::symlink("/dev/null", &device).expect("a link");
    for path in [pipe, device] {
        // Nobody writes to the pipe, and nobody waits.
        let fault = read_as(&path, None).expect_err("refused");
        assert_eq!(fault.code(), code::CANNOT_READ_FILE, "{fault}");
        assert!(fault.to_string().contains("is a pipe or a device"));
    }
}

#[test]
fn tensors_that_cannot_be_written() {
    let folder = folder();
    let vector = Tensor::pack(&Format::dense(1), &[2], &[0, 1], &[1.0, 2.0]).unwrap();
    let refused = |name: &str, tensor: &Tensor| {
        let path = folder.path().join(name);
        let fault = write(&path, tensor).unwrap_err();
        assert!(!path.is_file(), "nothing is left behind");
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        (fault.code(), left)
    };
    assert_eq!(
        refused("y.mtx", &vector),
        (code::NOT_EXPRESSIBLE_IN_FILE, 0)
    );
    assert_eq!(refused("y.txt", &vector), (code::UNKNOWN_FILE_TYPE, 0));
    assert_eq!(refused("no/y.tns", &vector), (code::CANNOT_WRITE_FILE, 0));
    let options = PackOptions {
        fill: Some(Scalar::F64(1.0)),
        ..PackOptions::default()
    };
    let far = Entries {
        extents: vec![1 << 40],
        ..vector.entries()
    };
    let filled = Tensor::pack_entries(&Format::csf(1), far, options).unwrap();
    assert_eq!(
        refused("y.tns", &filled),
        (code::NOT_EXPRESSIBLE_IN_FILE, 0)
    );
    // The advice works.
    let fault = write(&folder.path().join("y.tns"), &filled).unwrap_err();
    let advice = fault.help_text().unwrap().to_owned();
    let endings: Vec<&str> = advice.split('`').skip(1).step_by(2).collect();
    assert_eq!(endings, [".npz", ".bsp.npz", ".bsp.h5"]);
    let elsewhere = tempfile::tempdir().unwrap();
    for ending in endings {
        let path = elsewhere.path().join(format!("y{ending}"));
        write(&path, &filled).unwrap();
        let back = sparsec_io::read_as(&path, None).unwrap();
        let back = back.into_tensor(&Format::csf(1), PackOptions::default());
        assert_eq!(back.unwrap().fill(), Scalar::F64(1.0), "{ending}");
    }
    std::fs::create_dir(folder.path().join("d.tns")).unwrap();
    assert_eq!(refused("d.tns", &vector), (code::CANNOT_WRITE_FILE, 1));
}
