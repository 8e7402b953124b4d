//! What is wrong with a file is said, with the array and a way out.

use std::io::Write as _;

use sparsec_base::{ElementType, code};
use sparsec_format::Format;
use sparsec_io::npz::Archive;
use sparsec_io::{Structure, WriteOptions, read_as, stage, write};
use sparsec_tensor::{Array, Tensor};

use crate::support::{archive, csr, list, npy, read, refused, shown, written};

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
    bad(b"PK", "is no `.npy` file");
    bad(b"\x93NU", "ends within its header");
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

/// An archive of ours of two entries, with a fill or without.
fn ours(format: &str, fill: Option<f64>, names: [&str; 2]) -> Vec<u8> {
    archive(|out| {
        let text = format!(
            r#"{{"version": 1, "format": "{format}", "extents": [2, 3], "element": "f64"}}"#
        );
        out.ascii("sparsec", &text)?;
        out.list(names[0], &list(&[0i32, 1, 2]))?;
        out.list(names[1], &list(&[2i32, 0]))?;
        out.list("vals", &list(&[1.0, 2.0]))?;
        match fill {
            Some(fill) => out.array("fill", &[], &list(&[fill])),
            None => Ok(()),
        }
    })
}

#[test]
fn fills_are_those_that_formats_declare() {
    let with_fill = "(i, j) -> (i : dense, j : compressed), fill 2";
    let names = ["1.pos", "1.crd"];
    read("a.npz", &ours(with_fill, Some(2.0), names)).expect("a tensor of fill 2");
    for (fill, text) in [
        (None, "the tensor has fill 0"),
        (Some(5.0), "the tensor has fill 5"),
    ] {
        refused(
            "a.npz",
            &ours(with_fill, fill, names),
            code::BAD_DESCRIPTION,
            text,
        );
    }
}

/// An array that the format needs itself is no misspelt one.
#[test]
fn needed_arrays_are_not_renamed() {
    let csr = "(i, j) -> (i : dense, j : compressed)";
    let missing = |names: [&str; 2]| {
        let fault = read("a.npz", &ours(csr, None, names)).expect_err("an array is missing");
        assert_eq!(fault.code(), code::MISSING_MEMBER, "{fault}");
        fault.help_text().map(str::to_owned)
    };
    assert_eq!(missing(["1.other", "1.crd"]), None);
    let help = missing(["1.poss", "1.crd"]).expect("a misspelt name");
    assert!(help.contains("`1.poss` to `1.pos`"), "{help}");
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
        "\"version\":3",
        wrong,
        "version 3 of the description",
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
fn arrays_have_as_many_modes_as_tensors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let dense = |order: usize| {
        let extents = vec![1; order];
        Tensor::pack(&Format::dense(order), &extents, &vec![0; order], &[5.0])
    };
    write(&path, &dense(64).unwrap()).unwrap();
    assert_eq!(read_as(&path, None).unwrap().order(), 64);
    let fault = dense(65).unwrap_err();
    assert_eq!(fault.code(), code::TOO_MANY_MODES, "{fault}");
}
