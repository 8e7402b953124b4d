//! Synthesized conversions between all pairs of formats of one part, beside the conversion
//! by unpacking and packing.

use sparsec::conversion::Converter;
use sparsec::{
    Array, Backend, Diagnostic, ElementType, Entries, Format, FormatSpec, Options, PackOptions,
    Scalar, Session, Tensor, code,
};

/// Entries of a small tensor: coordinates and values.
fn entries(extents: &[u64], seed: u64, n: usize) -> (Vec<u64>, Vec<f64>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut tuples = std::collections::BTreeSet::new();
    if extents.iter().all(|extent| *extent > 0) {
        for _ in 0..n {
            let tuple: Vec<u64> = extents.iter().map(|extent| random() % extent).collect();
            tuples.insert(tuple);
        }
    }
    let values = (1..=tuples.len()).map(|n| n as f64);
    (tuples.iter().flatten().copied().collect(), values.collect())
}

fn tensor(format: &Format, extents: &[u64], seed: u64, n: usize) -> Tensor {
    let (coordinates, values) = entries(extents, seed, n);
    let packed = Tensor::pack(format, extents, &coordinates, &values);
    packed.unwrap_or_else(|error| panic!("{format}: {error}"))
}

const SOURCES: &[&str] = &[
    "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))",
    "(i, j) -> (i : compressed(nonunique), j : singleton)",
    "csr",
    "csc",
    "dcsr",
    "dcsc",
    "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : dense, i mod 2 : compressed(nonunique), j mod 3 : singleton)",
    "(i, j) -> (j : compressed(nonunique), i : singleton)",
    "(i, j) -> (j : dense, i : compressed(nonordered))",
    "(i, j) -> (j - i : compressed, i : compressed)",
];

const DESTINATIONS: &[&str] = &[
    "(i, j) -> (i : dense, j : bitmap)",
    "(i, j) -> (i : batch, j : compressed)",
    "(i, j) -> (i : dense, j : dense)",
    "(i, j) -> (j : dense, i : dense)",
    "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
    "(i, j) -> (j floordiv 2 : compressed, i floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)",
    "dia",
    "ell",
    "(i, j) -> (i : dense, j : range)",
];

#[test]
fn conversions_of_lists_are_those_of_unpacking_and_packing() {
    check(&SOURCES[..5], DESTINATIONS, &MATRICES);
}

#[test]
fn conversions_of_other_orders_are_those_of_unpacking_and_packing() {
    check(&SOURCES[5..], DESTINATIONS, &MATRICES);
}

#[test]
fn conversions_of_places_without_entries_are_those_of_unpacking_and_packing() {
    let of = [
        "(i, j) -> (i : dense, j : dense)",
        "(i, j) -> (i : dense, j : bitmap)",
        "(i, j) -> (i : dense, j : hashed)",
        "(i, j) -> (i : dense, j : loose_compressed)",
        "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
        "(i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
        "dia",
        "ell",
        "(i, j) -> (i : dense, j : range)",
    ];
    check(&of, DESTINATIONS, &MATRICES[..1]);
    check(&of, DESTINATIONS, &MATRICES[2..]);
}

#[test]
fn conversions_along_curves_and_into_loose_segments_are_those_of_unpacking_and_packing() {
    let of = [SOURCES[0], SOURCES[3], SOURCES[6]];
    let into = [
        "mcoo",
        "hicoo(2)",
        "alto",
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered)), order alto(i, j)",
        "(i, j) -> (i : dense, j : loose_compressed)",
        "(i, j) -> (j : compressed, i : loose_compressed(nonordered))",
    ];
    check(&of, &into, &MATRICES);
    check(&into, &["csr", "csc"], &MATRICES);
}

#[test]
fn conversions_of_several_parts_are_those_of_unpacking_and_packing() {
    let unions = [
        "hyb(1)",
        "hyb(2)",
        "msr",
        "(i, j) -> (j : dense), diagonal(i, j) | (i, j) -> (#i < 1 : dense, i : dense, j : singleton) | (i, j) -> (i : compressed, j : compressed)",
    ];
    check(&[SOURCES[0], "csr"], &unions, &MATRICES);
    check(&unions, &["csc", "hyb(1)"], &MATRICES);
    let mirrored = [
        "(i, j) -> (i : dense, j : compressed), symmetric(i, j)",
        "(i, j) -> (i : compressed, j : compressed), skew(i, j)",
        "(i, j) -> (i : dense, j : range), symmetric(i, j)",
    ];
    let lower = &[
        ("csr", &[5u64, 5][..], vec![1, 0, 2, 2, 4, 1, 4, 3]),
        ("csr", &[3, 3], vec![]),
    ];
    let session = Session::new(Options {
        backend: Backend::Cranelift,
        ..Options::default()
    });
    for source in mirrored {
        for (_, extents, coordinates) in lower {
            let (is_skew, mut coordinates) = (source.contains("skew"), coordinates.clone());
            if is_skew && !coordinates.is_empty() {
                coordinates.drain(2..4);
            }
            let mut values: Vec<f64> = (1..=coordinates.len() / 2).map(|n| n as f64).collect();
            // Both images of each entry.
            let images: Vec<[u64; 2]> = coordinates.chunks(2).map(|at| [at[1], at[0]]).collect();
            for (at, image) in images.iter().enumerate() {
                if image[0] != image[1] {
                    coordinates.extend(image);
                    values.push(if is_skew { -values[at] } else { values[at] });
                }
            }
            let format: Format = source.parse().expect("a format");
            let given = Tensor::pack(&format, extents, &coordinates, &values).expect(source);
            for into in ["csr", "dcsc", "bsr(2, 2)", "hyb(1)"] {
                let into = into
                    .parse::<FormatSpec>()
                    .and_then(|it| it.resolve(2))
                    .expect("a format");
                let converter = Converter::new(&given, &into);
                let found = converter.and_then(|it| it.run(&session, &given));
                let found = found.unwrap_or_else(|error| panic!("{source} -> {into}: {error}"));
                let expected = given.convert(&into).expect("it converts");
                assert_eq!(sorted(&found), sorted(&expected), "{source} -> {into}");
            }
        }
    }
}

/// Converts a tensor, and compares with packing; both may refuse it.
fn compare(
    session: &Session,
    converter: &Result<Converter, Diagnostic>,
    given: &Tensor,
    destination: &Format,
) -> Result<bool, String> {
    let expected = given.convert(destination);
    let converter = converter.clone();
    let found = converter.and_then(|it| it.run(session, given));
    match (&found, &expected) {
        (Ok(found), Ok(expected)) if sorted(found) == sorted(expected) => {
            let (own, packed) = (found.entries(), expected.entries());
            let checked = Tensor::pack_entries(destination, own, PackOptions::default());
            assert_eq!(packed.len(), checked.expect("as packed").entries().len());
            Ok(true)
        }
        (Err(error), Err(_)) if REFUSED.contains(&error.code()) => Ok(false),
        _ => {
            let of = |tensor: &Result<Tensor, Diagnostic>| match tensor {
                Ok(tensor) => format!("{:?}", tensor.arrays()),
                Err(error) => format!("{error:?}"),
            };
            Err(format!(
                "{} -> {destination} {:?}: {} not {}",
                given.format(),
                given.extents(),
                of(&found),
                of(&expected)
            ))
        }
    }
}

/// What says that a destination cannot hold a tensor.
const REFUSED: [code::Code; 2] = [code::NOT_AS_DECLARED, code::NOT_MIRRORED];

/// Entries, of which those at exchanged coordinates of the first two modes are images; `None`
/// for the value at a coordinate without one.
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

const TRIANGLES: [&str; 9] = [
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

fn format_of(text: &str) -> Format {
    let spec = text.parse::<FormatSpec>();
    let format = spec.and_then(|spec| spec.resolve(spec.order().unwrap_or(2)));
    format.unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn machine() -> Session {
    Session::new(Options {
        backend: Backend::Cranelift,
        ..Options::default()
    })
}

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
    let (mut failed, mut held, mut refused) = (Vec::new(), 0, 0);
    {
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
                        let (at, values) = match extents[0] == extents[1] && (case < 2 || !is_plain)
                        {
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
                        match compare(&session, &converter, &given, &destination) {
                            Ok(true) => held += 1,
                            Ok(false) => refused += 1,
                            Err(why) => failed.push(why),
                        }
                    }
                }
            }
        }
    }
    println!("{held} held, {refused} refused");
    assert!(
        failed.is_empty(),
        "{} fail\n{}",
        failed.len(),
        failed[..failed.len().min(12)].join("\n")
    );
    assert!(
        held > 500 && refused > 100,
        "{held} held, {refused} refused"
    );
}

#[test]
fn conversions_of_runs_are_those_of_unpacking_and_packing() {
    let runs = [
        "(i, j) -> (i : dense, j : run_length)",
        "(i, j) -> (j : compressed, i : run_length)",
        "(i, j) -> (j : dense, i : run_length)",
    ];
    check(&runs, DESTINATIONS, &MATRICES);
    check(&SOURCES[..5], &runs, &MATRICES);
    check(
        &["dia", "hyb(1)", "(i, j) -> (i : dense, j : hashed)"],
        &runs,
        &MATRICES,
    );
}

/// Neighbours of one value share a run, and nothing else does: zeros have signs.
#[test]
fn runs_are_those_of_packing() {
    let session = machine();
    let formats = [
        "(i, j) -> (i : dense, j : run_length)",
        "(i, j) -> (j : compressed, i : run_length)",
    ];
    let (mut n_equal, mut failed) = (0, Vec::new());
    for source in ["csr", SOURCES[0], "csc", "dia", formats[0], formats[1]] {
        let source = format_of(source);
        for destination in formats {
            let destination = format_of(destination);
            for fill in [0.0, 2.0, -0.0] {
                for seed in 0..6 {
                    let (at, values) = entries(&[4, 9], seed, 30);
                    let of = [2.0, 0.0, -0.0, 2.0, 3.0, f64::INFINITY];
                    let values = values
                        .iter()
                        .map(|n| of[(n * 7.0) as usize % (3 + seed as usize % 4).min(6)]);
                    let values: Vec<f64> = values.collect();
                    let listed = Tensor::pack(&Format::scoo(2), &[4, 9], &at, &values);
                    let listed = listed.expect("a tensor").entries();
                    let options = PackOptions {
                        fill: Some(Scalar::F64(fill)),
                        ..PackOptions::default()
                    };
                    let given = Tensor::pack_entries(&source, listed, options).expect("a tensor");
                    let expected = given.convert(&destination).expect("it converts");
                    let converter = Converter::new(&given, &destination);
                    let found = converter.and_then(|it| it.run(&session, &given));
                    let found = found.unwrap_or_else(|e| panic!("{source} -> {destination}: {e}"));
                    let [found, expected] =
                        [found, expected].map(|it| format!("{:?}", it.arrays()));
                    match found == expected {
                        true => n_equal += 1,
                        false => failed.push(format!(
                            "{source} -> {destination} {fill}: {found} not {expected}"
                        )),
                    }
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} fail\n{}",
        failed.len(),
        failed[..failed.len().min(8)].join("\n")
    );
    assert_eq!(n_equal, 216);
}

#[test]
fn triangles_hold_values_of_all_types() {
    use sparsec::Complex;
    let session = machine();
    let (mut failed, mut held, mut refused) = (Vec::new(), 0, 0);
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
                        match compare(&session, &converter, &given, &destination) {
                            Ok(true) => held += 1,
                            Ok(false) => refused += 1,
                            Err(why) => failed.push(why),
                        }
                    }
                }
            }
        }
    }
    println!("{held} held, {refused} refused");
    assert!(
        failed.is_empty(),
        "{} fail\n{}",
        failed.len(),
        failed[..failed.len().min(12)].join("\n")
    );
    assert!(held > 100 && refused > 20, "{held} held, {refused} refused");
}

#[test]
fn triangles_of_three_modes_repeated_entries_and_other_fills() {
    let session = machine();
    // Three modes, of which two mirror one another.
    let (mut held, mut refused) = (0, 0);
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
                match compare(&session, &converter, &given, &destination) {
                    Ok(true) => held += 1,
                    Ok(false) => refused += 1,
                    Err(why) => panic!("{why}"),
                }
            }
        }
    }
    println!("{held} held, {refused} refused");
    assert!(held > 20 && refused > 5, "{held} held, {refused} refused");
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

#[test]
fn conversions_into_structured_blocks_are_those_of_unpacking_and_packing() {
    let blocks = [
        "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
        "(i, j) -> (i floordiv 2 : compressed, j : compressed, i mod 2 : structured[1, 2])",
        "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[4, 4])",
    ];
    let matrices: [(&[u64], usize); 6] = [
        (&[5, 7], 6),
        (&[6, 8], 8),
        (&[4, 4], 1),
        (&[3, 3], 0),
        (&[0, 3], 0),
        (&[6, 8], 60),
    ];
    let session = machine();
    let (mut failed, mut held, mut refused) = (Vec::new(), 0, 0);
    for source in SOURCES.iter().chain(DESTINATIONS) {
        let source = format_of(source);
        for destination in blocks.map(format_of) {
            let converter = Converter::new(&tensor(&source, &[5, 7], 1, 3), &destination);
            for (extents, n) in matrices {
                for seed in 1..4 {
                    let given = tensor(&source, extents, seed, n);
                    match compare(&session, &converter, &given, &destination) {
                        Ok(true) => held += 1,
                        Ok(false) => refused += 1,
                        Err(why) => failed.push(why),
                    }
                }
            }
        }
    }
    println!("{held} held, {refused} refused");
    assert!(
        failed.is_empty(),
        "{} fail\n{}",
        failed.len(),
        failed[..failed.len().min(12)].join("\n")
    );
    assert!(held > 200 && refused > 50, "{held} held, {refused} refused");
}

#[test]
fn conversions_into_tables_are_those_of_unpacking_and_packing() {
    let tables = ["hash", "(i, j) -> (j : compressed, i : hashed)"];
    check(&[SOURCES[0], "csr", "dia"], &tables, &MATRICES);
}

#[test]
fn fills_are_kept() {
    let session = Session::new(Options {
        backend: Backend::Cranelift,
        ..Options::default()
    });
    for fill in [f64::INFINITY, -0.0] {
        for source in ["csr", "bsr(2, 2)", "scoo"] {
            for destination in ["csc", "dense", "dia", "bsr(2, 3)", "ell"] {
                let [source, destination] = [source, destination].map(|text| {
                    let spec = text.parse::<FormatSpec>();
                    spec.and_then(|it| it.resolve(2)).expect("a format")
                });
                let (coordinates, values) = entries(&[5, 7], 3, 9);
                let options = PackOptions {
                    fill: Some(Scalar::F64(fill)),
                    ..PackOptions::default()
                };
                let listed = Tensor::pack(&Format::scoo(2), &[5, 7], &coordinates, &values);
                let listed = listed.expect("a tensor").entries();
                let given = Tensor::pack_entries(&source, listed, options).expect("a tensor");
                let found =
                    Converter::new(&given, &destination).and_then(|it| it.run(&session, &given));
                let found =
                    found.unwrap_or_else(|error| panic!("{source} -> {destination}: {error}"));
                let expected = given.convert(&destination).expect("it converts");
                assert_eq!(found.fill(), given.fill());
                assert_eq!(
                    sorted(&found),
                    sorted(&expected),
                    "{source} -> {destination}"
                );
            }
        }
    }
}

#[test]
fn repeated_entries_are_added_up() {
    let of = [
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))",
        "(i, j) -> (i : dense, j : compressed(nonunique))",
    ];
    let formats = [
        SOURCES[1],
        "csr",
        "dcsc",
        "bsr(2, 2)",
        "dense",
        "dia",
        "mcoo",
    ];
    let session = Session::new(Options {
        backend: Backend::Cranelift,
        ..Options::default()
    });
    for source in of {
        let source: Format = source.parse().expect("a format");
        let (pos, row) = (
            Array::from_vec(vec![0, 5]),
            Array::from_vec(vec![1, 0, 1, 3, 1]),
        );
        let col = Array::from_vec(vec![2, 0, 2, 3, 2]);
        let values = Array::from_vec(vec![1.0, 2.0, 4.0, 8.0, 16.0]);
        let arrays = match source.levels()[0].kind.text().as_str() {
            "dense" => {
                let pos = Array::from_vec(vec![0, 1, 4, 4, 5]);
                let col = Array::from_vec(vec![0, 2, 2, 2, 3]);
                let values = Array::from_vec(vec![2.0, 1.0, 4.0, 16.0, 8.0]);
                vec![pos, col, values]
            }
            _ => vec![pos, row, col, values],
        };
        let zero = ElementType::F64.zero();
        let given = Tensor::new(source, vec![4, 5], ElementType::F64, zero, arrays);
        let given = given.expect("a tensor with repeated entries");
        for format in formats {
            let format: Format = format
                .parse::<FormatSpec>()
                .and_then(|it| it.resolve(2))
                .expect("a format");
            let converter = Converter::new(&given, &format);
            let found = converter.and_then(|it| it.run(&session, &given));
            let found = found.unwrap_or_else(|error| panic!("{format}: {error}"));
            let expected = given.convert(&format).expect("it converts");
            assert_eq!(found.get(&[1, 2]).to_string(), "21.0", "{format}");
            assert_eq!(sorted(&found), sorted(&expected), "{format}");
        }
    }
}

#[test]
fn conversions_of_three_modes_are_those_of_unpacking_and_packing() {
    let (of, into) = (
        [
            "(i, j, k) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered), k : singleton(nonordered))",
            "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
            "(i, j, k) -> (k : dense, i : compressed, j : compressed)",
        ],
        [
            "(i, j, k) -> (k : dense, j : dense, i : dense)",
            "(i, j, k) -> (j : dense, i floordiv 2 : compressed, k : compressed, i mod 2 : dense)",
        ],
    );
    check(
        &of,
        &into,
        &[
            (&[3, 4, 5], 20),
            (&[2, 2, 2], 8),
            (&[3, 0, 2], 0),
            (&[4, 1, 3], 0),
        ],
    );
}

#[test]
fn conversions_into_tables_of_three_modes_are_those_of_unpacking_and_packing() {
    let of = [
        "(i, j, k) -> (i : compressed, j : compressed, k : compressed)",
        "(i, j, k) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered), k : singleton(nonordered))",
    ];
    let into = [
        "(i, j, k) -> (i : dense, j : dense, k : hashed)",
        "(i, j, k) -> (k : compressed, j : dense, i : hashed)",
    ];
    check(
        &of,
        &into,
        &[(&[3, 4, 5], 20), (&[2, 2, 2], 8), (&[3, 0, 2], 0)],
    );
}

#[test]
fn formats_that_say_too_little_are_refused() {
    let csr = tensor(&Format::csr(), &[4, 4], 1, 3);
    let refused = |given: &Tensor, destination: &str| {
        let destination = destination.parse::<FormatSpec>().expect("a format");
        let destination = destination.resolve(destination.order().unwrap_or(2));
        let destination = destination.expect("a format of two modes");
        let error = Converter::new(given, &destination).expect_err("it is refused");
        assert_eq!(error.code(), code::NO_CONVERSION, "{error}");
        assert!(error.help_text().is_some(), "{error}");
    };
    refused(&csr, "(i, j) -> (i : hashed, j : compressed)");
    refused(
        &csr,
        "(i, j, k) -> (i : dense, j : compressed, k : compressed)",
    );
}

const MATRICES: [(&[u64], usize); 6] = [
    (&[5, 7], 12),
    (&[6, 4], 40),
    (&[4, 4], 1),
    (&[3, 3], 0),
    (&[0, 3], 0),
    (&[1, 1], 1),
];

/// The stored entries of a tensor in the order of their coordinates.
fn sorted(tensor: &Tensor) -> Vec<(Vec<u64>, String)> {
    let entries = tensor.iter().map(|(at, value)| (at, value.to_string()));
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    entries
}

/// Converts tensors of these extents and numbers of entries from each source to each other
/// source and to each destination.
fn check(sources: &[&str], destinations: &[&str], tensors: &[(&[u64], usize)]) {
    let session = Session::new(Options {
        backend: Backend::Cranelift,
        ..Options::default()
    });
    let format = |text: &&str| {
        let spec = text.parse::<FormatSpec>();
        let format = spec.and_then(|spec| spec.resolve(spec.order().unwrap_or(2)));
        format.unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    let texts = sources.to_vec();
    let sources: Vec<Format> = sources.iter().map(format).collect();
    let all = match destinations == DESTINATIONS {
        true => SOURCES,
        false => &texts[..],
    };
    let destinations: Vec<Format> = all.iter().chain(destinations).map(format).collect();
    let mut failed = Vec::new();
    for source in &sources {
        for destination in &destinations {
            let (extents, n) = tensors[0];
            let like = tensor(source, extents, 1, n / 4);
            let converter = Converter::new(&like, destination);
            for (extents, n) in tensors {
                let given = tensor(source, extents, 7 + *n as u64, *n);
                let expected = given.convert(destination);
                let found = converter
                    .clone()
                    .and_then(|converter| converter.run(&session, &given));
                let is_right = match (&found, &expected) {
                    (Ok(found), Ok(expected)) => sorted(found) == sorted(expected),
                    // The destination cannot hold these entries.
                    (Err(error), Err(_)) => error.code() == code::NOT_AS_DECLARED,
                    _ => false,
                };
                if !is_right {
                    let of = |tensor: Result<Tensor, Diagnostic>| match tensor {
                        Ok(tensor) => format!("{:?}", tensor.arrays()),
                        Err(error) => error.to_string(),
                    };
                    let why = format!("{} not {}", of(found), of(expected));
                    failed.push(format!("{source} -> {destination} {extents:?}: {why}"));
                    break;
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} fail\n{}",
        failed.len(),
        sources.len() * destinations.len(),
        failed.join("\n")
    );
}
