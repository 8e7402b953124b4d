//! Presets that are relations, as sources and destinations of conversions of each order.

use sparsec::{Backend, FormatSpec, Options, Session, Storage, Stored};

use super::{entries, sorted, tensor};

/// Extents of tensors of each order, and about how many entries they have.
const TENSORS: [&[(&[u64], usize)]; 3] = [
    &[(&[5, 7], 20), (&[6, 4], 60), (&[3, 0], 0), (&[2, 3], 0)],
    &[(&[4, 3, 5], 30), (&[1, 2, 9], 30), (&[2, 0, 2], 0)],
    &[(&[3, 2, 4, 5], 50), (&[2, 1, 2, 6], 60), (&[1, 1, 0, 1], 0)],
];

fn storage(text: &str, order: usize) -> Storage {
    let spec = text.parse::<FormatSpec>();
    let storage = spec.and_then(|spec| spec.storage(order));
    storage.unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn relations_of_each_order_keep_the_entries() {
    let session = Session::new(Options::from_env().backend(Backend::Interpreter).threads(1));
    for (order, tensors) in (2..).zip(TENSORS) {
        let last = format!("fcoo({})", order - 1);
        let relations = ["fcoo(0)", last.as_str(), "bcsf(2)", "bcsf(128)"];
        let levels = ["scoo", "dense", "csf", "hash", "alto"];
        let to = |from: &Stored, text: &str| {
            let converted = session.convert_stored(from, &storage(text, order));
            let converted = converted.unwrap_or_else(|error| panic!("{text}: {error}"));
            converted.tensor
        };
        for (extents, n) in tensors {
            let expected = entries(extents, *n as u64, *n);
            let has_entries = |stored: &Stored, path: &str| {
                let Stored::Levels(found) = to(stored, "scoo") else {
                    panic!("a list of levels");
                };
                let coordinates = sorted(&found).into_iter().flat_map(|(at, _)| at);
                assert!(
                    coordinates.eq(expected.0.iter().copied()),
                    "{path} {extents:?}"
                );
                let values = sorted(&found).into_iter().map(|(_, value)| value);
                let wanted = expected.1.iter().map(|value| {
                    let value = sparsec::Scalar::F64(*value);
                    value.to_string()
                });
                assert!(values.eq(wanted), "{path} {extents:?}");
            };
            for (number, relation) in relations.into_iter().enumerate() {
                // Each relation from some formats of levels, and back to them.
                for level in levels.into_iter().skip(number % 2).step_by(2) {
                    let Storage::Levels(format) = storage(level, order) else {
                        panic!("a format of levels");
                    };
                    let given = Stored::Levels(tensor(&format, extents, *n as u64, *n));
                    let related = to(&given, relation);
                    assert_eq!(related.storage(), storage(relation, order));
                    has_entries(&to(&related, level), &format!("{level} {relation} {level}"));
                }
                let list = Stored::Levels(tensor(
                    &sparsec::Format::scoo(order),
                    extents,
                    *n as u64,
                    *n,
                ));
                let related = to(&list, relation);
                let next = relations[(number + 1) % relations.len()];
                has_entries(&to(&related, next), &format!("{relation} {next}"));
            }
        }
    }
}
