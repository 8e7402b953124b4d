//! Sources that list entries more than once: every destination holds their sums, or refuses them.

use std::collections::BTreeMap;

use sparsec::internals::conversion::Converter;
use sparsec::{
    Array, Backend, Code, ElementType, Options, Scalar, Session, Storage, Stored, Tensor, code,
};

use super::format_of;
use super::relations::storage;

/// Lists in which coordinates repeat: in any order, sorted, in rows, and in blocks.
const LISTS: [&str; 3] = [
    "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))",
    "(i, j) -> (i : compressed(nonunique), j : singleton(nonunique))",
    "(i, j) -> (i : dense, j : compressed(nonunique, nonordered))",
];

const LEVELS: [&str; 24] = [
    "csr",
    "csc",
    "dcsr",
    "coo",
    "scoo",
    "bsr(2, 2)",
    "dia",
    "ell",
    "hyb(1)",
    "msr",
    "csb(2)",
    "hicoo(2)",
    "mcoo",
    "alto",
    "hash",
    "dense",
    "sky",
    "csr, symmetric(i, j)",
    "csr, skew(i, j)",
    "csr, lower(i, j)",
    "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])",
    "(i, j) -> (i : dense, j : run_length)",
    "(i, j) -> (i : dense, j : loose_compressed)",
    "(i, j) -> (i : dense, j : bitmap)",
];

const RELATIONS: [&str; 9] = [
    "jds",
    "sell(2, 4)",
    "fcoo(0)",
    "bcsf(2)",
    include_str!("../../../../samples/dia.fmt"),
    include_str!("../../../../samples/ellr.fmt"),
    include_str!("../../../../samples/hilbert.fmt"),
    include_str!("../../../../samples/symmetric.fmt"),
    include_str!("../../../../samples/jds.fmt"),
];

/// What a format that cannot hold a tensor says.
const REFUSED: [Code; 6] = [
    code::NOT_MIRRORED,
    code::OUTSIDE_REGION,
    code::BLOCK_TOO_FULL,
    code::NOT_AS_DECLARED,
    code::DUPLICATE_ENTRY,
    code::NO_CONVERSION,
];

/// Entries with what they add up to: many at few coordinates, all of one row, those of a symmetric
/// matrix, and some that add up to 0.
fn entries() -> Vec<Vec<([u64; 2], i32)>> {
    let mut scattered = Vec::new();
    let mut state = 7_u64;
    for n in 0..40 {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let place = (state >> 33) % 12;
        scattered.push(([place % 5, place * 7 % 5], n % 9 - 3));
    }
    let symmetric = vec![
        ([1, 0], 2),
        ([0, 1], 1),
        ([2, 2], 4),
        ([1, 0], 1),
        ([0, 1], 2),
        ([2, 2], 1),
    ];
    let skew = vec![([1, 0], 2), ([0, 1], -1), ([1, 0], 1), ([0, 1], -2)];
    let lower = vec![
        ([3, 1], 2),
        ([3, 1], -2),
        ([4, 0], 1),
        ([3, 1], 5),
        ([0, 0], 1),
    ];
    let row = (0..9).map(|n| ([2, n * 3 % 5], 1 + n as i32)).collect();
    vec![scattered, symmetric, skew, lower, row]
}

/// The tensor in a list as it is written.
fn listed(list: &str, entries: &[([u64; 2], i32)], element: ElementType) -> Tensor {
    let mut entries = entries.to_vec();
    let format = format_of(list);
    let by_rows = format.levels()[0].is_full();
    if by_rows {
        entries.sort_by_key(|(at, _)| at[0]);
    } else if list == LISTS[1] {
        entries.sort_by_key(|(at, _)| *at);
    }
    let n = entries.len() as i32;
    let crd = |mode: usize| entries.iter().map(move |(at, _)| at[mode] as i32);
    let mut arrays = match by_rows {
        true => {
            let ends = (0..=5).map(|row| crd(0).filter(|it| *it < row).count() as i32);
            vec![Array::from_vec(ends.collect())]
        }
        false => vec![
            Array::from_vec(vec![0, n]),
            Array::from_vec(crd(0).collect::<Vec<_>>()),
        ],
    };
    arrays.push(Array::from_vec(crd(1).collect::<Vec<_>>()));
    let mut values = Array::zeroed(element, entries.len()).expect("memory");
    for (place, (_, value)) in entries.iter().enumerate() {
        values.set(
            place,
            Scalar::I32(*value).as_type(element).expect("it fits"),
        );
    }
    arrays.push(values);
    let made = Tensor::new(format, vec![5, 5], element, element.zero(), arrays);
    made.unwrap_or_else(|error| panic!("{list}: {error}"))
}

/// The values of a tensor that are not 0.
fn sums(tensor: &Stored) -> BTreeMap<Vec<u64>, String> {
    let entries = tensor.entries().expect("entries");
    let mut sums = BTreeMap::new();
    for e in 0..entries.len() {
        let value = entries.values.get(e);
        if value != value.element().zero() {
            let at = entries.coords(e).to_vec();
            let before = sums.insert(at, value.to_string());
            assert_eq!(
                before,
                None,
                "an entry stands twice in {:?}",
                tensor.storage()
            );
        }
    }
    sums
}

#[test]
fn repeated_entries_are_added_up_or_refused() {
    let session =
        |backend, threads| Session::new(Options::from_env().backend(backend).threads(threads));
    let sessions = [
        session(Backend::Interpreter, 1),
        session(Backend::Cranelift, 1),
        session(Backend::Cranelift, 2),
    ];
    use ElementType::{F64, I32, I64};
    let (mut n_held, mut n_refused, mut n_derived) = (0, 0, 0);
    let mut failed = Vec::new();
    for (case, entries) in entries().iter().enumerate() {
        for list in LISTS {
            for element in [F64, I64, I32] {
                let given = listed(list, entries, element);
                let mut wanted: BTreeMap<Vec<u64>, i32> = BTreeMap::new();
                for (at, value) in entries {
                    *wanted.entry(at.to_vec()).or_default() += value;
                }
                wanted.retain(|_, value| *value != 0);
                let text = |value: &i32| {
                    Scalar::I32(*value)
                        .as_type(element)
                        .expect("it fits")
                        .to_string()
                };
                let wanted: BTreeMap<Vec<u64>, String> = wanted
                    .iter()
                    .map(|(at, value)| (at.clone(), text(value)))
                    .collect();
                for (number, to) in LEVELS.iter().chain(&RELATIONS).enumerate() {
                    let to = storage(to, 2);
                    let what =
                        || format!("case {case}: {list} of {element} to {}", to.short_name());
                    let mut check =
                        |found: Result<Stored, sparsec::Diagnostic>, how: &str| match found {
                            Ok(found) if sums(&found) == wanted => n_held += 1,
                            Err(error) if REFUSED.contains(&error.code()) => n_refused += 1,
                            Ok(found) => failed.push(format!(
                                "{} {how}: {:?} not {wanted:?}",
                                what(),
                                sums(&found)
                            )),
                            Err(error) => failed.push(format!("{} {how}: {error}", what())),
                        };
                    let session = &sessions[(number + case) % sessions.len()];
                    let stored = Stored::Levels(given.clone());
                    check(
                        session.convert_stored(&stored, &to).map(|it| it.tensor),
                        "stored",
                    );
                    let (Storage::Levels(format), true) = (&to, element != I32) else {
                        continue;
                    };
                    let Ok(converter) = Converter::new(&given, format) else {
                        continue;
                    };
                    n_derived += 1;
                    check(
                        converter.run(session, &given).map(Stored::Levels),
                        "by a kernel",
                    );
                    let shared = converter.in_shares(1);
                    let found = shared.run(&sessions[2], &given).map(Stored::Levels);
                    check(found, "in shares");
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} fail\n{}",
        failed.len(),
        failed[..failed.len().min(20)].join("\n")
    );
    assert!(
        n_held > 1500 && n_refused > 100 && n_derived > 300,
        "{n_held} {n_refused} {n_derived}"
    );
}
