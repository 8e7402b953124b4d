//! Tensors in formats whose positions are not their entries: packing, checks,
//! unpacking and printing of every kind of level.

mod support;

use proptest::prelude::*;
use sparsec_base::{Code, Scalar, code};
use sparsec_format::{Format, FormatSpec, presets};
use sparsec_tensor::{Array, Entries, PackOptions, Tensor};
use support::{Meaning, entries, formats, meaning, packed, without_zeros};

/// Converting goes over what is stored: a run of the fill is no work, however long.
#[test]
fn runs_of_the_fill_are_left_out_at_once() {
    let runs = Format::parse("(i, j) -> (i : dense, j : run_length)").expect("a format");
    let (far, coords) = (1u64 << 40, [0, 3, 0, 4, 2, (1 << 40) - 1]);
    let given = Tensor::pack(&runs, &[4, far], &coords, &[2.0, 2.0, -1.0]).expect("packs");
    let csr = given.convert(&Format::csr()).expect("converts");
    assert_eq!(csr.level(1).crd(), [3, 4, far as i64 - 1]);
    assert_eq!(csr.values::<f64>(), Some(&[2.0, 2.0, -1.0][..]));
    assert_eq!(csr.convert(&runs).expect("converts").vals(), given.vals());
}

/// Formats of an order that hold every entry.
fn texts(order: usize) -> Vec<String> {
    let fitting = presets().iter().filter(|preset| preset.fits(order));
    let partial = ["sky"];
    let named = fitting.filter(|preset| !partial.contains(&preset.name));
    let mut texts: Vec<String> = named.map(|preset| preset.text(order)).collect();
    let more: &[&str] = match order {
        1 => &[
            "(i) -> (i : run_length)",
            "(i) -> (i : loose_compressed)",
            "(i) -> (i : range), crd = 16",
            "(i) -> (i floordiv 4 : compressed, i mod 4 : bitmap)",
            "(i) -> (i floordiv 4 : hashed, i mod 4 : compressed)",
            "(i) -> (i + 3 : hashed)",
            "(i) -> (i : batch)",
        ],
        2 => &[
            "bsr(2, 3)",
            "bsr(1, 4), pos = 16, crd = 8",
            "hyb(1)",
            "csb(3)",
            "hicoo(4)",
            "(i, j) -> (j : dense, i : run_length)",
            "(i, j) -> (i : hashed, j : run_length)",
            "(i, j) -> (i : hashed, j : hashed)",
            "(i, j) -> (i : hashed, j : compressed)",
            "(i, j) -> (i : range, j : bitmap)",
            "(i, j) -> (i : bitmap, j : range)",
            "(i, j) -> (j : loose_compressed(nonunique), i : singleton)",
            "(i, j) -> (i : dense, j : loose_compressed(nonordered)), crd = 16",
            "(i, j) -> (i - j : dense, j : dense)",
            "(i, j) -> (i + j : compressed, i : compressed)",
            "(i, j) -> (i : dense, #i : dense, j : singleton(crd = 8))",
            "(i, j) -> (#j < 2 : dense, j : dense, i : singleton) | csf",
            "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[4, 4])",
            "(i, j) -> (i : batch, j : compressed(crd = 16))",
            "(i, j) -> (morton(i, j) : bitmap)",
            "(i, j) -> (i floordiv 4 : dense, j : compressed, i mod 4 floordiv 2 : dense, i mod 4 mod 2 : compressed)",
            "csr, upper(i, j) | dcsc",
            "(i, j) -> (i : dense), diagonal(i, j) | coo, order morton(j, i)",
            "coo, order alto(i, j)",
        ],
        3 => &[
            "(i, j, k) -> (#(i, j) : dense, i : dense, j : dense, k : singleton)",
            "(i, j, k) -> (#i : dense, i : dense, j : singleton, k : singleton)",
            "(i, j, k) -> (k - i : compressed, i : range, j : hashed)",
            "(i, j, k) -> (morton(i, k) : compressed, j : run_length)",
            "(i, j, k) -> (i : hashed, j : dense, k : compressed)",
            "(i, j, k) -> (i : dense, j : loose_compressed, k : loose_compressed)",
            "csf, diagonal(j, k) | scoo",
        ],
        _ => &[],
    };
    texts.extend(more.iter().map(|text| (*text).to_owned()));
    texts
}

fn format(text: &str, order: usize) -> Format {
    let spec: FormatSpec = text.parse().unwrap_or_else(|error| panic!("{error}"));
    spec.resolve(order)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn cases() -> impl Strategy<Value = (Entries, Format, Format)> {
    (0..5usize).prop_flat_map(|order| {
        let text = prop::sample::select(texts(order));
        let chosen = text.prop_map(move |text| format(&text, order));
        (entries(order), chosen, formats(order))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn unpacking_undoes_packing((entries, format, plain) in cases()) {
        let tensor = packed(&format, &entries);
        let expected = meaning(&entries);
        prop_assert_eq!(
            without_zeros(meaning(&tensor.nonfill())), without_zeros(expected.clone()), "{}", format
        );
        let stored = meaning(&tensor.entries());
        prop_assert_eq!(stored.len(), tensor.entries().len());
        prop_assert!(expected.keys().all(|coords| stored.contains_key(coords)), "{}", format);
        if !tensor.has_padding() {
            prop_assert_eq!(&stored, &expected, "{}", format);
        }
        prop_assert_eq!(tensor.iter().collect::<Meaning2>(), stored.into_iter().collect::<Meaning2>());
        for (coords, &value) in &expected {
            prop_assert_eq!(tensor.get(coords), Scalar::I64(value));
        }
        // There and back again.
        let converted = tensor.convert(&plain).unwrap();
        prop_assert_eq!(converted.equal_within(&tensor, 0.0), None);
        let back = converted.convert(&format).unwrap();
        prop_assert_eq!(back.equal_within(&tensor, 0.0), None);
        let tree = format!("{tensor:#}");
        prop_assert!(tree.lines().count() > 1);
        prop_assert_eq!(tensor.prune(0.0).unwrap().equal_within(&tensor, 0.0), None);
        let modes: Vec<usize> = (0..format.order()).rev().collect();
        let turned = tensor.permute(&modes).unwrap();
        prop_assert_eq!(turned.permute(&modes).unwrap().equal_within(&tensor, 0.0), None);
        let statistics = tensor.statistics();
        prop_assert!(statistics.is_ok());
    }
}

/// Entries as a map, of tensors and lists alike.
#[derive(Debug, PartialEq)]
struct Meaning2(std::collections::BTreeMap<Vec<u64>, i64>);

impl FromIterator<(Vec<u64>, Scalar)> for Meaning2 {
    fn from_iter<I: IntoIterator<Item = (Vec<u64>, Scalar)>>(iter: I) -> Self {
        let integer = |value: Scalar| value.to_integer().unwrap_or_default() as i64;
        Self(
            iter.into_iter()
                .map(|(coords, value)| (coords, integer(value)))
                .collect(),
        )
    }
}

impl FromIterator<(Vec<u64>, i64)> for Meaning2 {
    fn from_iter<I: IntoIterator<Item = (Vec<u64>, i64)>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

/// Symmetric, skew and hermitian matrices store one triangle.
#[test]
fn mirrored_matrices_are_stored_by_half() {
    let (a, b) = (Scalar::F64(2.0), Scalar::F64(-3.0));
    let entries = |upper: f64| Entries {
        extents: vec![3, 3],
        coords: vec![0, 1, 1, 0, 2, 2].into(),
        values: Array::from_vec(vec![2.0, upper, -3.0]),
    };
    let pack = |text: &str, entries| {
        Tensor::pack_entries(&format(text, 2), entries, PackOptions::default())
    };
    for text in [
        "csr, symmetric(i, j)",
        "coo, symmetric(j, i), upper(j, i)",
        "bsr(2, 2), hermitian(i, j)",
    ] {
        let tensor = pack(text, entries(2.0)).unwrap();
        let meaning: Meaning = [(vec![0, 1], 2), (vec![1, 0], 2), (vec![2, 2], -3)].into();
        let nonfill = tensor.nonfill();
        let found: Meaning = nonfill
            .iter()
            .map(|(c, v)| (c.to_vec(), v.to_f64() as i64))
            .collect();
        assert_eq!(found, meaning, "{text}");
        assert_eq!(
            [
                tensor.get(&[0, 1]),
                tensor.get(&[1, 0]),
                tensor.get(&[2, 2])
            ],
            [a, a, b]
        );
        let error = pack(text, entries(5.0)).unwrap_err();
        assert_eq!(error.code(), code::NOT_MIRRORED);
    }
    let csr = pack("csr, symmetric(i, j)", entries(2.0)).unwrap();
    assert_eq!((csr.n_stored(), csr.entries().len()), (2, 3));
    let skew = Entries {
        extents: vec![2, 2],
        coords: vec![0, 1, 1, 0].into(),
        values: Array::from_vec(vec![2.0, -2.0]),
    };
    let skew = pack("csr, skew(i, j)", skew).unwrap();
    assert_eq!(
        [skew.get(&[0, 1]), skew.get(&[1, 0])],
        [a, Scalar::F64(-2.0)]
    );
    // A diagonal that is its own negative is zero; half a matrix is not symmetric.
    assert_eq!(
        pack("csr, skew(i, j)", entries(-2.0)).unwrap_err().code(),
        code::NOT_MIRRORED
    );
    let half = Tensor::pack(&format("csr, symmetric(i, j)", 2), &[2, 2], &[1, 0], &[1.0]);
    assert_eq!(half.unwrap_err().code(), code::NOT_MIRRORED);
    let wide = Tensor::pack(&format("csr, symmetric(i, j)", 2), &[2, 3], &[0, 0], &[1.0]);
    assert_eq!(wide.unwrap_err().code(), code::NOT_MIRRORED);
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |text: &str, coords: &[u64], expected: Code| {
        let values = vec![1.0; coords.len() / 2];
        let error = Tensor::pack(&format(text, 2), &[4, 4], coords, &values).unwrap_err();
        assert_eq!(error.code(), expected, "{error}");
        let last = format!(
            "entry at [{}, {}]",
            coords[coords.len() - 2],
            coords[coords.len() - 1]
        );
        assert!(error.to_string().contains(&last), "{error}");
    };
    refused("csr, lower(i, j)", &[0, 1], code::OUTSIDE_REGION);
    refused(
        "(i, j) -> (i : dense), diagonal(i, j)",
        &[0, 1],
        code::OUTSIDE_REGION,
    );
    refused("sky", &[0, 1], code::OUTSIDE_REGION);
    let short = "(i, j) -> (#i < 1 : dense, i : dense, j : singleton)";
    refused(short, &[0, 1, 0, 2], code::OUTSIDE_REGION);
    let structured = "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])";
    refused(structured, &[0, 0, 0, 1, 0, 3], code::BLOCK_TOO_FULL);
    let huge = Tensor::pack(&format("alto", 2), &[1 << 40, 1 << 40], &[1, 1], &[1.0]);
    assert_eq!(huge.unwrap_err().code(), code::INDEX_WIDTH_OVERFLOW);
    let narrow = Tensor::pack(&format("hash, crd = 8", 1), &[256], &[1], &[1.0]);
    assert_eq!(narrow.unwrap_err().code(), code::INDEX_WIDTH_OVERFLOW);
}

/// A declared fill is the fill of what is packed.
#[test]
fn formats_declare_fills() {
    let tensor = Tensor::pack(&format("csr, fill -1", 2), &[2, 2], &[0, 1], &[4.0]).unwrap();
    assert_eq!(
        [tensor.get(&[0, 0]), tensor.get(&[0, 1])],
        [Scalar::F64(-1.0), Scalar::F64(4.0)]
    );
}

#[test]
fn diagonals_print_as_what_they_are() {
    let tensor = Tensor::pack(
        &format("dia", 2),
        &[3, 3],
        &[0, 0, 2, 2, 2, 0],
        &[1.0, 3.0, 5.0],
    );
    assert_eq!(
        format!("{:#}", tensor.unwrap()),
        "f64[3, 3], (i, j) -> (j - i : compressed, i : range), 4 stored
├ j - i = -2
│ └ i = 2: 5.0
└ j - i = 0
  ├ i = 0: 1.0
  ├ i = 1: 0.0
  └ i = 2: 3.0
0.pos   i32[2]  0 2
0.crd   i32[2]  0 2
1.pos   i32[3]  0 1 4
1.first i32[2]  2 0
vals    f64[4]  5.0 1.0 0.0 3.0
"
    );
}

/// Arrays from anywhere are checked before they are a tensor.
#[test]
fn broken_arrays_are_refused() {
    let check = |text: &str, extents: &[u64], arrays: Vec<Array>, expected: Option<Code>| {
        let format = format(text, extents.len());
        let fill = Scalar::F64(0.0);
        let tensor = Tensor::new(format, extents.to_vec(), fill.element(), fill, arrays);
        assert_eq!(
            tensor.as_ref().err().map(|error| error.code()),
            expected,
            "{tensor:?}"
        );
    };
    let ints = |entries: &[i32]| Array::from_index_vec(entries.to_vec());
    let vals = |n: usize| Array::from_vec(vec![1.0; n]);
    let bits = |bits: &[u8]| Array::from_vec(bits.to_vec());
    let bitmap = "(i) -> (i : bitmap)";
    check(bitmap, &[3], vec![bits(&[1, 1, 1]), vals(3)], None);
    check(
        bitmap,
        &[3],
        vec![bits(&[1, 2, 0]), vals(3)],
        Some(code::OUT_OF_BOUNDS),
    );
    check(
        bitmap,
        &[3],
        vec![bits(&[1, 0]), vals(2)],
        Some(code::ARRAY_MISMATCH),
    );
    check(
        bitmap,
        &[3],
        vec![ints(&[1, 0, 0]), vals(3)],
        Some(code::ARRAY_MISMATCH),
    );
    let loose = "(i) -> (i : loose_compressed)";
    let segment = |end: i32, crd: &[i32]| vec![ints(&[0, 3]), ints(&[end]), ints(crd), vals(3)];
    check(loose, &[9], segment(2, &[1, 4, -7]), None);
    check(
        loose,
        &[9],
        segment(4, &[1, 4, 5]),
        Some(code::BAD_SEGMENTS),
    );
    check(
        loose,
        &[9],
        segment(2, &[4, 1, 5]),
        Some(code::BAD_COORDINATES),
    );
    check(
        loose,
        &[9],
        segment(2, &[4, 9, 5]),
        Some(code::OUT_OF_BOUNDS),
    );
    let range = "(i) -> (i : range)";
    check(range, &[4], vec![ints(&[0, 2]), ints(&[2]), vals(2)], None);
    check(
        range,
        &[4],
        vec![ints(&[0, 2]), ints(&[3]), vals(2)],
        Some(code::BAD_COORDINATES),
    );
    let runs = "(i) -> (i : run_length)";
    check(
        runs,
        &[4],
        vec![ints(&[0, 2]), ints(&[0, 3, 4]), vals(2)],
        None,
    );
    check(
        runs,
        &[4],
        vec![ints(&[0, 2]), ints(&[0, 3, 5]), vals(2)],
        Some(code::BAD_SEGMENTS),
    );
    check(
        runs,
        &[4],
        vec![ints(&[0, 2]), ints(&[0, 4]), vals(2)],
        Some(code::ARRAY_MISMATCH),
    );
    let hash = "(i) -> (i : hashed)";
    check(
        hash,
        &[4],
        vec![ints(&[0, 3]), ints(&[4, 4, 4]), vals(3)],
        Some(code::BAD_COORDINATES),
    );
    check(
        hash,
        &[4],
        vec![ints(&[0, 1]), ints(&[0]), vals(1)],
        Some(code::BAD_COORDINATES),
    );
    check(
        hash,
        &[4],
        vec![ints(&[1, 1]), ints(&[]), vals(0)],
        Some(code::BAD_SEGMENTS),
    );
    // What is stored beyond the extent is no entry, and so has to be the fill.
    let blocks = "bsr(2)";
    check(blocks, &[3], vec![ints(&[0, 1]), ints(&[0]), vals(2)], None);
    check(
        blocks,
        &[3],
        vec![ints(&[0, 1]), ints(&[1]), vals(2)],
        Some(code::OUTSIDE_REGION),
    );
    // A list could have left out what is outside of the region, and a dense row not.
    check(
        "csr, lower(i, j)",
        &[2, 2],
        vec![ints(&[0, 1, 1]), ints(&[1]), vals(1)],
        Some(code::OUTSIDE_REGION),
    );
    check(
        "csr, lower(i, j)",
        &[2, 2],
        vec![ints(&[0, 0, 1]), ints(&[0]), vals(1)],
        None,
    );
    // One entry in two parts.
    let twice = vec![
        ints(&[0, 1]),
        ints(&[2]),
        ints(&[0, 1]),
        ints(&[2]),
        vals(2),
    ];
    check(
        "(i) -> (i : compressed) | csf",
        &[4],
        twice,
        Some(code::BAD_COORDINATES),
    );
    let curve = |rows: &[i32]| vec![ints(&[0, 2]), ints(rows), ints(&[0, 0]), vals(2)];
    check("mcoo", &[4, 4], curve(&[1, 2]), None);
    check("mcoo", &[4, 4], curve(&[2, 1]), Some(code::BAD_COORDINATES));
    // Place 5 is that of row 3, which there is not; place 12 is row 2, column 2.
    let place = |at: i32| vec![ints(&[0, 1]), ints(&[at]), vals(1)];
    let places = "(i, j) -> (morton(i, j) : compressed)";
    check(places, &[3, 3], place(12), None);
    check(places, &[3, 3], place(5), Some(code::BAD_COORDINATES));
    // Nor is row 3 listed in a block.
    let block = |row: i32| {
        vec![
            ints(&[0, 1]),
            ints(&[1]),
            ints(&[0, 1]),
            ints(&[row]),
            vals(1),
        ]
    };
    let listed = "(i) -> (i floordiv 2 : compressed, i mod 2 : compressed)";
    check(listed, &[3], block(0), None);
    check(listed, &[3], block(1), Some(code::BAD_COORDINATES));
}

/// As many steps as the extent would not end.
#[test]
fn a_run_is_packed_and_checked_at_once_however_long() {
    let format = format("(i, j) -> (i : compressed, j : run_length)", 2);
    let coords = [3, 0, 3, 1 << 50, 9, 7];
    let extents = [1 << 40, 1 << 60];
    let a = Tensor::pack(&format, &extents, &coords, &[1.0, 2.0, 3.0]).unwrap();
    assert_eq!(a.n_stored(), 7);
    assert_eq!(a.level(1).pos(), [0, 4, 7]);
}
