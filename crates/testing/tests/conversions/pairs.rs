//! Every ordered pair of formats that share an order, relations among them.

use std::collections::BTreeMap;

use sparsec::internals::conversion::Converter;
use sparsec::{Backend, Format, FormatSpec, Options, Scalar, Session, Storage, Stored, Tensor};

use super::alone::FORMATS;
use super::{REFUSED, entries};

/// Formats of three modes.
const OF_THREE: [&str; 14] = [
    "coo",
    "scoo",
    "(i, j, k) -> (k : compressed(nonunique), i : singleton(nonunique), j : singleton)",
    "csf",
    "(i, j, k) -> (k : compressed, j : compressed, i : compressed)",
    "(i, j, k) -> (j : dense, k : compressed, i : compressed)",
    "mcoo",
    "alto",
    "hicoo(2)",
    "hash",
    "bcsf(2)",
    "fcoo(0)",
    "fcoo(2)",
    "dense",
];

/// Extents, coordinates and values.
type Entries = (Vec<u64>, BTreeMap<Vec<u64>, f64>);

fn of(extents: &[u64], coordinates: &[u64], values: &[f64]) -> Entries {
    let tuples = coordinates.chunks(extents.len()).map(<[u64]>::to_vec);
    let all = tuples.zip(values.iter().copied()).collect();
    (extents.to_vec(), all)
}

/// Matrices with empty rows, without entries, with one, full, with a filled diagonal, and those
/// that mirror themselves.
fn matrices() -> Vec<Entries> {
    let random = |extents: &[u64], seed, n| {
        let (coordinates, values) = entries(extents, seed, n);
        of(extents, &coordinates, &values)
    };
    let (_, sparse) = random(&[6, 6], 5, 6);
    let mirrored = |sign: f64| {
        let mut all = BTreeMap::new();
        for (at, value) in sparse.iter().filter(|(at, _)| sign > 0.0 || at[0] != at[1]) {
            let (low, high) = (at[0].min(at[1]), at[0].max(at[1]));
            all.insert(vec![high, low], *value);
            all.insert(vec![low, high], sign * value);
            if low == high {
                all.insert(vec![low, low], *value);
            }
        }
        (vec![6, 6], all)
    };
    let band = (0..6u64).flat_map(|i| (i.saturating_sub(1)..=i).map(move |j| vec![i, j]));
    let band = band.zip(1..).map(|(at, value)| (at, f64::from(value)));
    vec![
        random(&[5, 7], 3, 12),
        random(&[4, 4], 2, 80),
        random(&[6, 6], 9, 1),
        random(&[3, 4], 1, 0),
        random(&[0, 3], 1, 0),
        (vec![6, 6], band.collect()),
        mirrored(1.0),
        mirrored(-1.0),
    ]
}

fn tensors_of_three() -> Vec<Entries> {
    [
        (vec![4, 3, 5], 20),
        (vec![2, 2, 3], 60),
        (vec![3, 1, 4], 1),
        (vec![2, 3, 2], 0),
        (vec![2, 0, 2], 0),
    ]
    .into_iter()
    .map(|(extents, n)| {
        let (coordinates, values) = entries(&extents, 4, n);
        of(&extents, &coordinates, &values)
    })
    .collect()
}

fn storage(text: &str, order: usize) -> Storage {
    let storage = text
        .parse::<FormatSpec>()
        .and_then(|spec| spec.storage(order));
    storage.unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The entries of a stored tensor that are not its fill.
fn found(session: &Session, stored: &Stored) -> BTreeMap<Vec<u64>, f64> {
    let levels = session.levels_of(stored).expect("levels");
    let entries = levels.iter().filter_map(|(at, value)| match value {
        Scalar::F64(value) if value != 0.0 => Some((at, value)),
        _ => None,
    });
    entries.collect()
}

/// How conversions between one pair ended.
#[derive(Default)]
struct Outcome {
    held: usize,
    refused: usize,
}

/// Converts each tensor that the source can hold. A destination takes it if packing says that it
/// can hold it, by the derived kernel too; a tensor that is given away becomes the same.
fn check(session: &Session, pair: [&str; 2], tensors: &[Entries]) -> Outcome {
    let mut outcome = Outcome::default();
    for (extents, expected) in tensors {
        let [source, destination] = pair.map(|text| storage(text, extents.len()));
        let coordinates: Vec<u64> = expected.keys().flatten().copied().collect();
        let values: Vec<f64> = expected.values().copied().collect();
        let list = Tensor::pack(&Format::scoo(extents.len()), extents, &coordinates, &values);
        let list = Stored::Levels(list.expect("a list"));
        let Ok(given) = session.convert_stored(&list, &source) else {
            continue;
        };
        let given = given.tensor;
        let packs = session.convert_stored(&list, &destination).is_ok();
        let converted = session.convert_stored(&given, &destination);
        let told = || format!("{} -> {} {extents:?}", pair[0], pair[1]);
        assert_eq!(converted.is_ok(), packs, "{}: {converted:?}", told());
        if let Ok(converted) = &converted {
            assert_eq!(converted.tensor.storage(), destination, "{}", told());
            assert_eq!(found(session, &converted.tensor), *expected, "{}", told());
        }
        if let (Stored::Levels(given), Storage::Levels(destination)) = (&given, &destination)
            && let Ok(converter) = Converter::new(given, destination)
        {
            let derived = converter.run(session, given);
            let owning = Converter::owning(given, destination).expect("as one that borrows");
            let owned = owning.run_owned(session, given.clone());
            match (derived, owned) {
                (Ok(derived), Ok(owned)) => {
                    assert!(packs, "{}: packing refuses it", told());
                    assert!(derived == owned, "{}: given away, it differs", told());
                    let derived = Stored::Levels(derived);
                    assert_eq!(found(session, &derived), *expected, "{}", told());
                }
                (Err(error), Err(refused)) => {
                    let (owned, back) = *refused;
                    assert!(
                        !packs && REFUSED.contains(&error.code()),
                        "{}: {error}",
                        told()
                    );
                    assert_eq!(error.code(), owned.code(), "{}", told());
                    assert!(back == *given, "{}: another tensor comes back", told());
                }
                (derived, owned) => panic!("{}: {derived:?}, but {owned:?}", told()),
            }
        }
        match packs {
            true => outcome.held += 1,
            false => outcome.refused += 1,
        }
    }
    outcome
}

/// All pairs with `SPARSEC_ALL_PAIRS`, else one in `every`.
fn check_all(formats: &[&str], tensors: &[Entries], every: usize) -> Outcome {
    let session = Session::new(Options::from_env().backend(Backend::Cranelift).threads(1));
    let all = std::env::var_os("SPARSEC_ALL_PAIRS").is_some();
    let mut outcome = Outcome::default();
    for (at, from) in formats.iter().enumerate() {
        for (into, to) in formats.iter().enumerate() {
            if all || (at + 3 * into) % every == 0 {
                let of_pair = check(&session, [*from, *to], tensors);
                outcome.held += of_pair.held;
                outcome.refused += of_pair.refused;
            }
        }
    }
    outcome
}

#[test]
fn pairs_of_formats_of_matrices_keep_the_entries() {
    let Outcome { held, refused } = check_all(&FORMATS, &matrices(), 16);
    assert!(held > 200 && refused > 20, "{held} held, {refused} refused");
}

#[test]
fn pairs_of_formats_of_three_modes_keep_the_entries() {
    let Outcome { held, .. } = check_all(&OF_THREE, &tensors_of_three(), 8);
    assert!(held > 80, "{held} held");
}
