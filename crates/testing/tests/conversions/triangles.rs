//! Conversions to formats that store one triangle: of tensors whose other triangle mirrors it, and
//! of others, which are refused.

use sparsec::internals::conversion::Converter;
use sparsec::{Array, ElementType, Entries, Format, FormatSpec, PackOptions, Scalar, Tensor, code};

use super::{SOURCES, Tally, compare, entries, format_of, machine};

/// Random entries with their images at exchanged coordinates of the first two modes. An entry on
/// the diagonal is left out if it differs from its image.
fn mirrored(
    extents: &[u64],
    seed: u64,
    n: usize,
    image: impl Fn(Scalar) -> Scalar,
    value: impl Fn(usize) -> Scalar,
) -> (Vec<u64>, Vec<Scalar>) {
    let (coordinates, _) = entries(extents, seed, n);
    let mut all = std::collections::BTreeMap::new();
    for (number, at) in coordinates.chunks(extents.len()).enumerate() {
        let mut there = at.to_vec();
        there.swap(0, 1);
        let own = value(number);
        if at != there || image(own) == own {
            all.insert(there, image(own));
            all.insert(at.to_vec(), own);
        }
    }
    let coordinates = all.keys().flatten().copied().collect();
    (coordinates, all.into_values().collect())
}

fn pack(
    format: &Format,
    extents: &[u64],
    at: &[u64],
    values: &[Scalar],
    element: ElementType,
) -> Tensor {
    let mut listed = Array::filled(element.zero(), values.len()).expect("memory");
    values
        .iter()
        .enumerate()
        .for_each(|(n, value)| listed.set(n, *value));
    let entries = Entries {
        extents: extents.to_vec(),
        coords: at.to_vec().into(),
        values: listed,
    };
    Tensor::pack_entries(format, entries, PackOptions::default()).expect("a tensor")
}

const TRIANGLES: [&str; 11] = [
    "(i, j) -> (i : dense, j : run_length), symmetric(i, j)",
    "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4]), symmetric(i, j)",
    "csr, symmetric(i, j)",
    "csr, symmetric(i, j), upper(i, j)",
    "csc, symmetric(i, j)",
    "dcsr, symmetric(j, i), upper(j, i)",
    "coo, symmetric(i, j)",
    "bsr(2, 2), symmetric(i, j)",
    "(i, j) -> (i : dense, j : range), symmetric(i, j)",
    "(i, j) -> (i : dense, j : hashed), symmetric(i, j)",
    "(i, j) -> (i : dense, j : dense), symmetric(i, j), upper(i, j)",
];

#[test]
fn conversions_into_symmetric_triangles_are_those_of_unpacking_and_packing() {
    check_triangles("symmetric", "csr, symmetric(i, j)");
}

#[test]
fn conversions_into_skew_triangles_are_those_of_unpacking_and_packing() {
    check_triangles("skew", "csc, skew(i, j), upper(i, j)");
}

#[test]
fn conversions_into_hermitian_triangles_are_those_of_unpacking_and_packing() {
    check_triangles("hermitian", "dcsr, skew(i, j)");
}

/// Converts tensors from formats of all kinds, and from one of mirror images, to all triangles.
fn check_triangles(kind: &str, like: &str) {
    let session = machine();
    let mut tally = Tally::default();
    for destination in TRIANGLES.map(|text| text.replace("symmetric", kind)) {
        let destination = format_of(&destination);
        for source in ["csr", SOURCES[0], "dense", "bsr(2, 3)", "hyb(1)", like] {
            let source = format_of(source);
            let is_plain = source.mirror().is_none();
            let like = Tensor::pack(&source, &[4, 4], &[], &[] as &[f64]).expect("empty");
            let converter = Converter::new(&like, &destination);
            for (extents, n) in [
                (&[5u64, 5][..], 9),
                (&[4, 4], 40),
                (&[6, 6], 1),
                (&[3, 3], 0),
                (&[1, 1], 1),
                (&[0, 0], 0),
                (&[4, 5], 3),
            ] {
                for case in 0..3 {
                    let value = |n: usize| match (case, n) {
                        (1, 0 | 2) => Scalar::F64(0.0),
                        _ => Scalar::F64(1.0 + n as f64),
                    };
                    let is_skew = match is_plain {
                        true => kind == "skew",
                        false => source.to_string().contains("skew"),
                    };
                    let image = |value: Scalar| match value {
                        Scalar::F64(x) if is_skew => Scalar::F64(-x),
                        value => value,
                    };
                    let (at, values) = match extents[0] == extents[1] && (case < 2 || !is_plain) {
                        true => mirrored(extents, 5 + n as u64, n, image, value),
                        false => {
                            let (at, values) = entries(extents, 5 + n as u64, n);
                            (at, values.into_iter().map(Scalar::F64).collect())
                        }
                    };
                    if !is_plain && extents[0] != extents[1] {
                        continue;
                    }
                    // Zeros on one side alone.
                    let mut kept: Vec<(Vec<u64>, Scalar)> =
                        std::iter::zip(at.chunks(2).map(<[u64]>::to_vec), values).collect();
                    if case == 1 {
                        kept.retain(|(at, value)| at[0] <= at[1] || value.to_f64() != 0.0);
                    }
                    let at: Vec<u64> = kept.iter().flat_map(|(at, _)| at.clone()).collect();
                    let values: Vec<Scalar> = kept.iter().map(|(_, value)| *value).collect();
                    let given = pack(&source, extents, &at, &values, ElementType::F64);
                    tally.count(compare(&session, &converter, &given, &destination));
                }
            }
        }
    }
    tally.finish(500, 100);
}

#[test]
fn triangles_hold_values_of_all_types() {
    use sparsec::Complex;
    let session = machine();
    let mut tally = Tally::default();
    let values: &[(ElementType, &dyn Fn(i64) -> Scalar)] = &[
        (ElementType::C128, &|n| {
            Scalar::C128(Complex::new(n as f64, 1.0 - n as f64))
        }),
        (ElementType::C64, &|n| {
            Scalar::C64(Complex::new(n as f32, 1.0))
        }),
        (ElementType::F32, &|n| Scalar::F32(n as f32)),
        (ElementType::I64, &|n| Scalar::I64(n)),
        (ElementType::I8, &|n| Scalar::I8(n as i8)),
        (ElementType::U64, &|n| Scalar::U64(n as u64)),
        (ElementType::Bool, &|_| Scalar::Bool(true)),
        (ElementType::F64, &|_| Scalar::F64(f64::NAN)),
    ];
    for (element, value) in values {
        for kind in ["symmetric", "skew", "hermitian"] {
            let conj = |value: Scalar| match (kind, value) {
                ("skew", Scalar::F64(x)) => Scalar::F64(-x),
                ("skew", Scalar::F32(x)) => Scalar::F32(-x),
                ("skew", Scalar::I64(x)) => Scalar::I64(-x),
                ("hermitian", Scalar::C64(z)) => Scalar::C64(z.conj()),
                ("hermitian", Scalar::C128(z)) => Scalar::C128(z.conj()),
                (_, value) => value,
            };
            for destination in ["csr", "csc"] {
                let destination = format_of(&format!("{destination}, {kind}(i, j)"));
                for source in ["csr"] {
                    let source = format_of(source);
                    for seed in 0..4 {
                        let value = |n: usize| value(n as i64 + 1);
                        let (at, mut values) = mirrored(&[5, 5], seed, 9, conj, value);
                        if seed == 3
                            && let Some(last) = values.last_mut()
                        {
                            *last = value(70);
                        }
                        let given = pack(&source, &[5, 5], &at, &values, *element);
                        let converter = Converter::new(&given, &destination);
                        if let Err(error) = &converter {
                            let is_added_up =
                                [ElementType::I64, ElementType::F32, ElementType::F64]
                                    .contains(element);
                            assert_eq!(error.code(), code::NO_CONVERSION, "{error}");
                            assert!(
                                kind == "skew" && !is_added_up,
                                "{element} {destination}: {error}"
                            );
                            continue;
                        }
                        tally.count(compare(&session, &converter, &given, &destination));
                    }
                }
            }
        }
    }
    tally.finish(100, 20);
}

#[test]
fn triangles_of_three_modes_repeated_entries_and_other_fills() {
    let session = machine();
    // Three modes, of which two mirror one another.
    let mut tally = Tally::default();
    for destination in [
        "(i, j, k) -> (i : dense, j : compressed, k : compressed), symmetric(i, j)",
        "(i, j, k) -> (k : compressed, j : compressed, i : compressed), skew(i, j), upper(i, j)",
        "(i, j, k) -> (i : compressed, j : dense, k : dense), symmetric(i, j)",
    ] {
        let destination = format_of(destination);
        let is_skew = destination.to_string().contains("skew");
        for source in ["coo", "csf"] {
            let source = source
                .parse::<FormatSpec>()
                .and_then(|it| it.resolve(3))
                .expect("a format");
            for seed in 0..8 {
                let image = |value: Scalar| match value {
                    Scalar::F64(x) if is_skew => Scalar::F64(-x),
                    value => value,
                };
                let value = |n: usize| Scalar::F64(1.0 + n as f64);
                let (at, mut values) = mirrored(&[4, 4, 3], seed, 3 * seed as usize, image, value);
                if seed > 4 {
                    values[0] = Scalar::F64(0.5);
                }
                let given = pack(&source, &[4, 4, 3], &at, &values, ElementType::F64);
                let converter = Converter::new(&given, &destination);
                tally.count(compare(&session, &converter, &given, &destination));
            }
        }
    }
    tally.finish(20, 5);
    // Repeated entries are added up before they are compared.
    let source =
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))";
    for (values, is_mirrored) in [
        ([1.0, 2.0, 4.0, 3.0, 5.0], true),
        ([1.0, 2.0, 4.0, 4.0, 5.0], false),
    ] {
        let arrays = vec![
            Array::from_vec(vec![0, 5]),
            Array::from_vec(vec![1, 0, 1, 0, 2]),
            Array::from_vec(vec![0, 1, 0, 1, 2]),
            Array::from_vec(values.to_vec()),
        ];
        let zero = ElementType::F64.zero();
        let given = Tensor::new(
            format_of(source),
            vec![3, 3],
            ElementType::F64,
            zero,
            arrays,
        );
        let given = given.expect("a tensor with repeated entries");
        for destination in TRIANGLES {
            let destination = format_of(destination);
            let converter = Converter::new(&given, &destination);
            let is_held = compare(&session, &converter, &given, &destination);
            assert_eq!(is_held, Ok(is_mirrored), "{destination}");
        }
    }
    // Where nothing is stored there is the fill.
    for (fill, stored, is_mirrored) in [
        (2.0, 2.0, true),
        (2.0, 0.0, false),
        (f64::INFINITY, f64::INFINITY, true),
    ] {
        for destination in TRIANGLES {
            let destination = format_of(destination);
            let listed = Tensor::pack(
                &Format::scoo(2),
                &[3, 3],
                &[0, 1, 1, 1, 2, 0, 0, 2],
                &[stored, 4.0, 5.0, 5.0],
            );
            let options = PackOptions {
                fill: Some(Scalar::F64(fill)),
                ..PackOptions::default()
            };
            let listed = listed.expect("a tensor").entries();
            let given = Tensor::pack_entries(&Format::csr(), listed, options).expect("a tensor");
            let converter = Converter::new(&given, &destination);
            let is_held = compare(&session, &converter, &given, &destination);
            assert_eq!(is_held, Ok(is_mirrored), "{fill} {destination}");
        }
    }
}

/// Sums of 32-bit integers are not computed by conversions, so that repeated entries of them
/// have to be packed.
#[test]
fn repeated_entries_that_are_not_added_up_become_no_triangle() {
    let source = format_of("(i, j) -> (i : compressed(nonunique), j : singleton(nonunique))");
    let arrays = vec![
        Array::from_vec(vec![0, 4]),
        Array::from_vec(vec![0, 0, 1, 1]),
        Array::from_vec(vec![1, 1, 0, 0]),
        Array::from_vec(vec![2i32, 3, 2, 3]),
    ];
    let zero = ElementType::I32.zero();
    let given = Tensor::new(source, vec![2, 2], ElementType::I32, zero, arrays);
    let given = given.expect("a tensor with repeated entries");
    let triangle = format_of("csr, symmetric(i, j)");
    let refused = Converter::new(&given, &triangle).expect_err("the last entry would remain");
    assert_eq!(refused.code(), code::NO_CONVERSION);
    let packed = machine().convert(&given, &triangle).expect("5 mirrors 5");
    assert_eq!(packed.entries().values.get(0), Scalar::I32(5));
}
