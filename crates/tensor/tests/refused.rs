//! Every fault in the arrays, entries and generators of a tensor is named.

use sparsec_base::{Code, Diagnostic, ElementType, Scalar, Source, code};
use sparsec_format::{Format, FormatSpec, Widths};
use sparsec_tensor::{Array, Duplicates, Entries, PackOptions, Tensor, Window, generate};

fn check<T: std::fmt::Debug>(result: Result<T, Diagnostic>, code: Code, message: &str) {
    let fault = result.expect_err(message);
    assert_eq!(fault.code(), code, "{fault}");
    assert!(
        fault.to_string().contains(message),
        "`{message}` is not in: {fault}"
    );
}

/// A 4x5 `csr` matrix, or the like, from its arrays.
fn matrix(format: &str, arrays: Vec<Array>) -> Result<Tensor, Diagnostic> {
    let format: Format = format.parse()?;
    let extents = vec![4, 5];
    let zero = Scalar::F64(0.0);
    Tensor::new(format, extents, ElementType::F64, zero, arrays)
}

fn csr(pos: &[i32], crd: &[i32], vals: usize) -> Vec<Array> {
    vec![
        Array::from_vec(pos.to_vec()),
        Array::from_vec(crd.to_vec()),
        Array::from_vec(vec![1.0; vals]),
    ]
}

const CSR: &str = "(i, j) -> (i : dense, j : compressed)";

#[test]
fn good_arrays_pass() {
    let tensor = matrix(CSR, csr(&[0, 1, 1, 3, 3], &[1, 0, 4], 3)).unwrap();
    assert_eq!((tensor.n_stored(), tensor.n_positions(0)), (3, 4));
    assert_eq!(tensor.bytes(), 4 * 5 + 4 * 3 + 8 * 3);
    let unordered = "(i, j) -> (i : dense, j : compressed(nonordered))";
    matrix(unordered, csr(&[0, 3, 3, 3, 3], &[4, 0, 2], 3)).unwrap();
    let repeated = "(i, j) -> (i : dense, j : compressed(nonunique))";
    matrix(repeated, csr(&[0, 3, 3, 3, 3], &[0, 0, 2], 3)).unwrap();
}

#[test]
fn arrays_of_the_wrong_number_type_or_length() {
    let good = csr(&[0, 1, 1, 3, 3], &[1, 0, 4], 3);
    let fault = code::ARRAY_MISMATCH;
    check(matrix(CSR, good[..2].to_vec()), fault, "1.pos, 1.crd, vals");
    let mut arrays = good.clone();
    arrays[1] = Array::from_vec(vec![1.0, 0.0, 4.0]);
    check(matrix(CSR, arrays), fault, "`1.crd` is an array of f64");
    let mut arrays = good.clone();
    arrays[2] = Array::from_vec(vec![1, 2, 3]);
    check(
        matrix(CSR, arrays),
        fault,
        "`vals` is an array of i32, not of f64",
    );
    check(
        matrix(&format!("{CSR}, pos = 64"), good),
        fault,
        "`1.pos` is an array of i32, not of i64",
    );
    check(
        matrix(CSR, csr(&[0, 1, 3, 3], &[1, 0, 4], 3)),
        fault,
        "`1.pos` has 4 entries, not 5",
    );
    check(
        matrix(CSR, csr(&[0, 1, 1, 3, 3], &[1, 0], 3)),
        fault,
        "`1.crd` has 2 entries, not 3",
    );
    check(
        matrix(CSR, csr(&[0, 1, 1, 3, 3], &[1, 0, 4], 1)),
        fault,
        "`vals` has 1 entry, not 3",
    );
    let format = Format::dense(1);
    let fill = Scalar::F64(0.0);
    let bytes = sparsec_parallel::Memory::from(vec![0u8, 2]);
    let truth = vec![Array::new(ElementType::Bool, bytes)];
    check(
        Tensor::new(
            format.clone(),
            vec![2],
            ElementType::Bool,
            fill,
            truth.clone(),
        ),
        fault,
        "the fill `0.0` is f64",
    );
    let fill = Scalar::Bool(false);
    check(
        Tensor::new(format, vec![2], ElementType::Bool, fill, truth),
        fault,
        "`vals[1]` is 2",
    );
}

#[test]
fn segments_that_do_not_ascend() {
    let fault = code::BAD_SEGMENTS;
    check(
        matrix(CSR, csr(&[1, 1, 1, 3, 3], &[1, 0, 4], 3)),
        fault,
        "`1.pos[0]` is 1, not 0",
    );
    check(
        matrix(CSR, csr(&[0, 2, 1, 3, 3], &[1, 0, 4], 3)),
        fault,
        "`1.pos[2]` is 1, smaller than 2",
    );
    check(
        matrix(CSR, csr(&[0, 0, 0, 0, -1], &[], 0)),
        fault,
        "`1.pos[4]` is -1",
    );
}

#[test]
fn coordinates_outside_or_out_of_order() {
    check(
        matrix(CSR, csr(&[0, 1, 1, 3, 3], &[1, 0, 5], 3)),
        code::OUT_OF_BOUNDS,
        "`1.crd[2]` is 5, but mode 1 has extent 5",
    );
    check(
        matrix(CSR, csr(&[0, 1, 1, 3, 3], &[1, -1, 4], 3)),
        code::OUT_OF_BOUNDS,
        "`1.crd[1]` is -1",
    );
    let fault = code::BAD_COORDINATES;
    check(
        matrix(CSR, csr(&[0, 1, 1, 3, 3], &[1, 4, 0], 3)),
        fault,
        "`1.crd[2]`: coordinate 0 comes after 4",
    );
    check(
        matrix(CSR, csr(&[0, 1, 1, 3, 3], &[1, 4, 4], 3)),
        fault,
        "`1.crd[2]`: coordinate 4 stands twice",
    );
    let unordered = "(i, j) -> (i : dense, j : compressed(nonordered))";
    check(
        matrix(unordered, csr(&[0, 3, 3, 3, 3], &[4, 0, 4], 3)),
        fault,
        "`1.crd[2]`: coordinate 4 stands twice",
    );
}

#[test]
fn tuples_of_chains_are_checked_as_tuples() {
    let list = |format: &str, rows: [i32; 3], columns: [i32; 3]| {
        matrix(
            format,
            vec![
                Array::from_vec(vec![0, 3]),
                Array::from_vec(rows.to_vec()),
                Array::from_vec(columns.to_vec()),
                Array::from_vec(vec![1.0; 3]),
            ],
        )
    };
    let scoo = Format::scoo(2).to_string();
    let coo = Format::coo(2).to_string();
    list(&scoo, [0, 0, 2], [1, 3, 0]).unwrap();
    list(&coo, [2, 0, 2], [1, 3, 0]).unwrap();
    let fault = code::BAD_COORDINATES;
    check(
        list(&scoo, [0, 0, 2], [3, 1, 0]),
        fault,
        "`1.crd[1]`: coordinate (0, 1) comes after (0, 3)",
    );
    check(
        list(&scoo, [2, 0, 2], [1, 1, 1]),
        fault,
        "`0.crd[1]`: coordinate (0, 1) comes after (2, 1)",
    );
    check(
        list(&coo, [2, 0, 2], [1, 3, 1]),
        fault,
        "`1.crd[2]`: coordinate (2, 1) stands twice",
    );
}

#[test]
fn entries_that_cannot_be_packed() {
    let csr = Format::csr();
    check(
        Tensor::pack(&csr, &[4, 5], &[0, 1, 3, 5], &[1.0, 2.0]),
        code::OUT_OF_BOUNDS,
        "entry 1 has coordinate 5 in mode 1, whose extent is 5",
    );
    check(
        Tensor::pack(&csr, &[4, 5], &[0, 1, 3], &[1.0, 2.0]),
        code::LENGTH_MISMATCH,
        "3 coordinates for 2 values of a tensor of order 2",
    );
    check(
        Tensor::pack(&csr, &[4, 5, 6], &[], &[]),
        code::LENGTH_MISMATCH,
        "3 extents for a format of order 2",
    );
    let narrow = csr.clone().with_widths(Widths {
        crd: Some(sparsec_base::IndexWidth::W32),
        pos: None,
    });
    check(
        Tensor::pack(&narrow, &[4, 1 << 40], &[], &[]),
        code::INDEX_WIDTH_OVERFLOW,
        "declare `crd = 64`",
    );
    check(
        Tensor::pack(&csr, &[4, 1 << 63], &[], &[]),
        code::INDEX_WIDTH_OVERFLOW,
        "mode 1 has extent",
    );
    let entries = Entries {
        extents: vec![4],
        coords: vec![3, 1, 3, 1].into(),
        values: Array::from_vec(vec![1, 2, 3, 4]),
    };
    let options = PackOptions {
        duplicates: Duplicates::Refuse,
        ..PackOptions::default()
    };
    check(
        Tensor::pack_entries(&Format::csf(1), entries.clone(), options),
        code::DUPLICATE_ENTRY,
        "entry 2 has the same coordinates as entry 0",
    );
    let options = PackOptions {
        fill: Some(Scalar::Bool(true)),
        ..options
    };
    check(
        Tensor::pack_entries(&Format::csf(1), entries, options),
        code::ARRAY_MISMATCH,
        "the fill `true` is bool",
    );
}

#[test]
fn sizes_beyond_memory_are_refused() {
    let dense = |extents: &[u64]| Tensor::pack(&Format::dense(extents.len()), extents, &[], &[]);
    check(
        dense(&[1 << 25, 1 << 25]),
        code::TENSOR_TOO_LARGE,
        "would take 9007.2 TB, and the limit is 1.1 GB",
    );
    check(
        dense(&[1 << 31, 1 << 31]),
        code::TENSOR_TOO_LARGE,
        "extents 2147483648 x 2147483648",
    );
    check(
        dense(&[1 << 40, 1 << 40]),
        code::TENSOR_TOO_LARGE,
        "than can be counted",
    );
    let csr = Tensor::pack(&Format::csr(), &[1 << 45, 3], &[], &[]);
    check(csr, code::TENSOR_TOO_LARGE, "would take 140.7 TB");
    let sparse = Tensor::pack(&Format::csf(2), &[1 << 62, 1 << 62], &[1 << 61, 5], &[1.0]);
    assert_eq!(sparse.unwrap().level(0).crd(), [1 << 61]);
}

fn generated(spec: &str, extents: &[u64], element: ElementType) -> Result<Tensor, Diagnostic> {
    generate(&Source::new("-g", spec), extents, None, element)
}

#[test]
fn generators_that_cannot_be_used() {
    let f64 = ElementType::F64;
    let matrix = |spec: &str| generated(spec, &[4, 4], f64);
    let unknown = code::UNKNOWN_GENERATOR;
    check(matrix("ones"), unknown, "did you mean `dense:ones`?");
    check(matrix("dense:iotta"), unknown, "did you mean `dense:iota`?");
    check(matrix("wavelet"), unknown, "the generators are dense:zeros");
    check(
        matrix("rand"),
        unknown,
        "did you mean `random(density=0.01)`?",
    );
    check(matrix("rand(nnz=3)"), unknown, "did you mean `random`?");
    // What each example says works.
    let bad_argument = "generator `dense:uniform` cannot be used like this";
    let error = matrix("dense:uniform(seed=)").expect_err(bad_argument);
    let help = error.help_text().unwrap_or_default();
    assert_eq!(
        help,
        "write for example `dense:uniform(seed=7, values=int)`"
    );
    matrix("dense:uniform(seed=7, values=int)").expect("the example");
    let bad = code::BAD_GENERATOR_ARGUMENT;
    check(matrix("random"), bad, "needs a density");
    check(matrix("random(density=1.5)"), bad, "lies between 0 and 1");
    check(matrix("random(density=-1)"), bad, "lies between 0 and 1");
    check(matrix("random(density=x)"), bad, "a number between 0 and 1");
    check(matrix("random(nnz=17)"), bad, "16 entries in all");
    check(matrix("random(nnz=1, density=0.5)"), bad, "one is enough");
    check(matrix("random(nnz=1, nnz=2)"), bad, "given twice");
    check(matrix("random(nnz=1, sede=2)"), bad, "did you mean `seed`?");
    check(matrix("band"), bad, "needs a width");
    check(matrix("band(width=0)"), bad, "is at least 1");
    check(generated("band(width=3)", &[4], f64), bad, "order 1");
    check(matrix("identity(seed=1)"), bad, "it takes no arguments");
    check(matrix("dense:constant"), bad, "needs a value");
    check(
        matrix("dense:uniform(values=itn)"),
        bad,
        "did you mean `int`?",
    );
    check(matrix("dense:constant(1e999)"), bad, "beyond it is `inf`");
    check(
        generated("dense:constant(1e300)", &[3], ElementType::F32),
        bad,
        "is no value of type f32",
    );
    check(
        generated("dense:constant(2.5)", &[3], ElementType::I32),
        bad,
        "is no value of type i32",
    );
    check(
        generated("dense:uniform(values=uniform)", &[3], ElementType::I64),
        bad,
        "use `values=int`",
    );
    check(
        matrix("random(nnz=1"),
        code::UNEXPECTED_TOKEN,
        "expected `,`",
    );
    check(
        matrix("dense:ones extra"),
        code::UNEXPECTED_TOKEN,
        "the end of the generator",
    );
    check(
        generated("dense:zeros", &[1 << 40, 1 << 40], f64),
        code::TENSOR_TOO_LARGE,
        "too many entries to count",
    );
    check(
        generated("random(density=0.5)", &[1 << 40, 1 << 40], f64),
        code::TENSOR_TOO_LARGE,
        "extents 1099511627776 x 1099511627776",
    );
}

#[test]
fn generators_make_what_they_say() {
    let f64 = ElementType::F64;
    let values = |spec: &str, extents: &[u64]| -> Vec<f64> {
        let tensor = generated(spec, extents, f64).unwrap();
        tensor.values::<f64>().unwrap().to_vec()
    };
    assert_eq!(values("dense:ones", &[2, 2]), [1.0; 4]);
    assert_eq!(values("dense:constant(-2.5)", &[2]), [-2.5; 2]);
    assert_eq!(values("dense:constant(value=3)", &[]), [3.0]);
    assert_eq!(values("dense:iota", &[2, 2]), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(values("identity", &[2, 3]), [1.0; 2]);
    let uniform = values("dense:uniform(seed=7)", &[100]);
    assert_eq!(uniform, values("dense:uniform(seed=7)", &[10, 10]));
    assert_ne!(uniform, values("dense:uniform(seed=8)", &[100]));
    assert!(uniform.iter().all(|value| (0.0..1.0).contains(value)));

    for (extents, n) in [
        (vec![50, 50], 25),
        (vec![50, 50], 2000),
        (vec![1 << 40; 3], 5000),
    ] {
        let tensor = generated(&format!("random(nnz={n}, seed=3)"), &extents, f64).unwrap();
        assert_eq!(tensor.n_stored(), n);
    }
    assert_eq!(
        generated("random(density=1)", &[7, 3], f64)
            .unwrap()
            .n_stored(),
        21
    );
    assert_eq!(
        generated("random(density=0)", &[7, 3], f64)
            .unwrap()
            .n_stored(),
        0
    );
    let ints = generated("random(nnz=200)", &[40, 40, 40], ElementType::I32).unwrap();
    let ints = ints.values::<i32>().unwrap().to_vec();
    assert!(ints.iter().all(|&v| v != 0 && v.abs() <= 4));
    assert!(ints.contains(&-4) && ints.contains(&4));

    // The format makes no difference to what is drawn.
    let spec = Source::new("-g", "random(density=0.3, seed=5)");
    let rows = generate(&spec, &[9, 9], Some(&Format::csr()), f64).unwrap();
    let columns = generate(&spec, &[9, 9], Some(&Format::csc()), f64).unwrap();
    assert_eq!(rows.equal_within(&columns, 0.0), None);
}

#[test]
fn duplicates_that_cannot_be_combined() {
    let combine = |rule: &str, element: ElementType| {
        let entries = Entries {
            extents: vec![2],
            coords: vec![1, 1].into(),
            values: Array::filled(element.one(), 2)?,
        };
        let options = PackOptions {
            duplicates: rule.parse()?,
            ..PackOptions::default()
        };
        Tensor::pack_entries(&Format::csf(1), entries, options)
    };
    let fault = code::CANNOT_COMBINE;
    check(combine("min", ElementType::C128), fault, "no `min`");
    check(combine("max", ElementType::C64), fault, "no order");
    check(combine("or", ElementType::F64), fault, "only `bool` has it");
    check(
        combine("plus", ElementType::F64),
        code::UNKNOWN_COMBINATION,
        "write one of `+`, `*`, `min`",
    );
    check(
        combine("error", ElementType::F64),
        code::DUPLICATE_ENTRY,
        "entry 1 has the same coordinates as entry 0",
    );
}

#[test]
fn selections_that_the_tensor_does_not_have() {
    let matrix = matrix(CSR, csr(&[0, 1, 1, 3, 3], &[1, 0, 4], 3)).unwrap();
    let fault = code::BAD_SELECTION;
    let rows = |window: Window| matrix.slice(&[window, Window::from(..)]);
    check(matrix.slice(&[Window::from(..)]), fault, "1 window for");
    check(rows((0..5).into()), fault, "no coordinates 0..5");
    let backwards = Window {
        end: Some(2),
        ..Window::from(3..)
    };
    check(rows(backwards), fault, "no coordinates 3..2");
    check(rows((5..).into()), fault, "no coordinates 5..4");
    check(rows(Window::from(..).every(0)), fault, "stride 0");
    assert_eq!(rows((4..4).into()).unwrap().n_stored(), 0);
    for modes in [&[0][..], &[1, 1], &[0, 2], &[0, 1, 0], &[]] {
        check(matrix.permute(modes), fault, "does not name each mode");
    }
}

#[test]
fn a_fill_that_the_type_has_not_is_refused() {
    let pack = |format: &str, value: Array| {
        let entries = Entries {
            extents: vec![3],
            coords: vec![1].into(),
            values: value,
        };
        let format: FormatSpec = format.parse().unwrap();
        Tensor::pack_entries(&format.resolve(1).unwrap(), entries, PackOptions::default())
    };
    for fill in ["inf", "nan", "1.5", "300", "-129"] {
        let format = format!("(i) -> (i : compressed), fill {fill}");
        let fault = pack(&format, Array::from_vec(vec![7i8])).unwrap_err();
        assert_eq!(fault.code(), code::ARRAY_MISMATCH, "{fault}");
        assert!(pack(&format, Array::from_vec(vec![7.0])).is_ok(), "{fill}");
    }
    let kept = pack(
        "(i) -> (i : compressed), fill -128",
        Array::from_vec(vec![7i8]),
    )
    .unwrap();
    assert_eq!(kept.fill(), Scalar::I8(-128));
}
