//! Presets that are relations, as sources and destinations of conversions of each order.

use sparsec::internals::conversion::{ConversionStage, Optimisation};
use sparsec::internals::relational;
use sparsec::{
    Backend, ElementType, Format, FormatSpec, Options, Scalar, Session, Storage, Stored,
};
use sparsec_computation::Given;

use super::{entries, sorted, tensor};

/// Extents of tensors of each order, and about how many entries they have.
const TENSORS: [&[(&[u64], usize)]; 3] = [
    &[(&[5, 7], 20), (&[6, 4], 60), (&[3, 0], 0), (&[2, 3], 0)],
    &[(&[4, 3, 5], 30), (&[1, 2, 9], 30), (&[2, 0, 2], 0)],
    &[(&[3, 2, 4, 5], 50), (&[2, 1, 2, 6], 60), (&[1, 1, 0, 1], 0)],
];

pub(super) fn storage(text: &str, order: usize) -> Storage {
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

/// The chain of a derived list and a stated assembly computes the arrays that the library stores, as
/// far as it is optimised; and every stage of it prints.
#[test]
fn chains_compute_what_is_stored() {
    let session = Session::new(Options::from_env().backend(Backend::Interpreter).threads(1));
    let extents = [5, 7];
    let integers = |values: &[Scalar]| -> Vec<String> {
        values
            .iter()
            .map(|value| match value.to_integer() {
                Some(integer) => integer.to_string(),
                None => value.to_string(),
            })
            .collect()
    };
    for (source, relation) in [
        (Format::csr(), "jds"),
        (Format::csc(), "jds"),
        (Format::csr(), "sell(2, 4)"),
        (Format::csc(), "fcoo(0)"),
        (Format::csr(), "fcoo(1)"),
        (Format::csr(), "bcsf(2)"),
    ] {
        let to = storage(relation, 2);
        let a = tensor(&source, &extents, 3, 20);
        let n = a.arrays()[a.arrays().len() - 1].len() as i64;
        let mut given = Given::default();
        for (name, array) in ["A_pos1", "A_crd1", "A"].into_iter().zip(a.arrays()) {
            let element = if name == "A" {
                ElementType::F64
            } else {
                ElementType::I64
            };
            let all = (0..array.len()).map(|at| array.get(at).cast(element).expect("it fits"));
            given.data.insert(name.to_owned(), all.collect());
        }
        for (name, value) in [("N0", 5), ("N1", 7), ("A_pos1_end", n)] {
            given.parameters.insert(name.to_owned(), value);
        }
        let stored = session.convert_stored(&Stored::Levels(a), &to);
        let Stored::Relation(stored) = stored.expect("a conversion").tensor else {
            panic!("a relation");
        };
        let from = Storage::Levels(source);
        let made = relational::conversion(&from, &to, ElementType::F64).expect("a conversion");
        for so_far in [None, Some(Optimisation::None), Some(Optimisation::All)] {
            let chain = made.computation(so_far).expect("a computation");
            let results = chain.evaluate(&given, -1..64).expect("it runs");
            for (name, array) in stored.arrays() {
                let all: Vec<Scalar> = (0..array.len()).map(|at| array.get(at)).collect();
                let found = &results[&format!("B_{name}")];
                assert_eq!(integers(found), integers(&all), "{relation}: {name}");
            }
            let values: Vec<Scalar> = (0..stored.values().len())
                .map(|at| stored.values().get(at))
                .collect();
            assert_eq!(integers(&results["B"]), integers(&values), "{relation}");
        }
        for (stage, name, _) in ConversionStage::ALL {
            let text = stage.emit(&*made, None);
            let text = text.unwrap_or_else(|error| panic!("{relation}, {name}: {error}"));
            assert!(!text.is_empty());
        }
    }
}
