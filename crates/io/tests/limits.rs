//! Numbers and orders at the edge of what is read.

use std::path::PathBuf;

use sparsec_base::{Code, ElementType, code};
use sparsec_io::{ReadOptions, read, read_as};
use sparsec_parallel::MemoryLimit;
use sparsec_tensor::{Array, Entries};
use tempfile::TempDir;

fn file(name: &str, content: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

/// The entries of a file, as a type if one is asked for.
fn entries(name: &str, content: &str, element: Option<ElementType>) -> Entries {
    let (_folder, path) = file(name, content);
    let found = read_as(&path, element).unwrap_or_else(|fault| panic!("{fault}"));
    found.into_entries().unwrap()
}

/// Reads a file and looks for a part of the message.
fn check(name: &str, content: &str, code: Code, part: &str) {
    let (folder, path) = file(name, content);
    let fault = read_as(&path, None).expect_err(part);
    assert_eq!(fault.code(), code, "{fault}");
    let text = fault.to_string();
    let text = text.replace(&format!("{}/", folder.path().display()), "");
    assert!(text.contains(part), "`{part}` is not in: {text}");
}

#[test]
fn integers_that_doubles_have_are_read_as_doubles() {
    for (text, value) in [
        ("9007199254740992", 9_007_199_254_740_992.0),
        ("-9007199254740994", -9_007_199_254_740_994.0),
        ("1152921504606846976", 1_152_921_504_606_846_976.0),
        // Beyond 64 bits no integer type has them.
        ("36893488147419103233", 36_893_488_147_419_103_232.0),
        // Not written as an integer, so that nothing promises one.
        ("9007199254740993.0", 9_007_199_254_740_992.0),
    ] {
        let found = entries("a.tns", &format!("1 {text}\n"), None);
        assert_eq!(found.values, Array::from_vec(vec![value]), "{text}");
    }
    let text = "1 9007199254740993\n";
    let exact = entries("a.tns", text, Some(ElementType::I64));
    let wide = Array::from_vec(vec![9_007_199_254_740_993i64]);
    assert_eq!(exact.values, wide);
    let rounded = entries("a.tns", text, Some(ElementType::F64));
    let near = Array::from_vec(vec![9_007_199_254_740_992.0]);
    assert_eq!(rounded.values, near);
}

#[test]
fn integers_that_would_be_rounded_unasked_are_shown() {
    let help = "read the values as i64 or u64, which hold it, or as f64, which rounds it";
    check(
        "a.tns",
        "1 1 2.5\n1 2 -9007199254740993\n",
        code::LOSSY_TYPE,
        &format!(
            "\
error[E0466]: an integer beyond 2^53 that f64 does not have
 --> a.tns:2:5
  |
2 | 1 2 -9007199254740993
  |     ^^^^^^^^^^^^^^^^^ it would be rounded
  |
  = help: {help}"
        ),
    );
    let real = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 18446744073709551615\n";
    check("a.mtx", real, code::LOSSY_TYPE, help);
    let array = "%%MatrixMarket matrix array real general\n1 1\n9007199254740993\n";
    check("a.mtx", array, code::LOSSY_TYPE, help);
    let complex = array
        .replace("real", "complex")
        .replace("\n900", "\n1.5 900");
    let help = "read the values as c128";
    check("a.mtx", &complex, code::LOSSY_TYPE, help);
}

#[test]
fn a_line_of_many_words_is_no_tensor_of_as_many_modes() {
    let line = "1 ".repeat(200_000);
    let long = format!("{line}2.5\n");
    let message = "a tensor of order 200000; there are at most 64 modes";
    check("a.tns", &long, code::TOO_MANY_MODES, message);
    let header = format!("# extended FROSTT format\n200000 1\n{line}\n{long}");
    check("a.tns", &header, code::TOO_MANY_MODES, message);
    let most = format!("{}2.5\n", "1 ".repeat(64));
    assert_eq!(entries("a.tns", &most, None).order(), 64);
}

#[test]
fn numbers_beyond_floats_are_told_from_words() {
    let matrix =
        |word: &str| format!("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 {word}\n");
    check(
        "a.mtx",
        &matrix("1e400"),
        code::BAD_ENTRY,
        "help: scale the values",
    );
    check(
        "a.mtx",
        &matrix("one"),
        code::BAD_ENTRY,
        "help: write a decimal number",
    );
}

#[test]
fn compressed_files_have_to_be_named_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx");
    for (magic, ending) in [
        (&[0x1F, 0x8B, 8][..], ".gz"),
        (&[0x28, 0xB5, 0x2F, 0xFD], ".zst"),
    ] {
        std::fs::write(&path, magic).unwrap();
        let fault = read_as(&path, None).expect_err("it is compressed");
        assert_eq!(fault.code(), code::CORRUPT_COMPRESSION, "{fault}");
        assert!(
            fault.to_string().contains(&format!("end in `{ending}`")),
            "{fault}"
        );
    }
}

/// A device that gives zeros without end is left where the caller says.
#[test]
fn what_is_not_mapped_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let endless = folder.path().join("a.mtx");
    std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
    let mut options = ReadOptions {
        memory: MemoryLimit::Bytes(1 << 20),
        ..ReadOptions::default()
    };
    let fault = read(&endless, &options).expect_err("it has no end");
    assert_eq!(fault.code(), code::TENSOR_TOO_LARGE, "{fault}");
    let said = fault.to_string();
    assert!(
        said.contains("gives more than the 1048576 bytes that it may take"),
        "{said}"
    );

    let mut text = String::from("%%MatrixMarket matrix coordinate real general\n9 9 1\n");
    text += &"%\n".repeat(1000);
    let path = folder.path().join("b.mtx.zst");
    std::fs::write(
        &path,
        zstd::encode_all((text + "1 1 1\n").as_bytes(), 3).unwrap(),
    )
    .unwrap();
    assert_eq!(read(&path, &options).map(|file| file.n_stored), Ok(1));
    options.memory = MemoryLimit::Bytes(1000);
    let fault = read(&path, &options).expect_err("it is larger");
    assert_eq!(fault.code(), code::TENSOR_TOO_LARGE, "{fault}");
}
