//! Formats given as relations: their relation holds what was packed into them, each
//! entry with its value, and copying finds the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use sparsec::internals::Given;
use sparsec::internals::walk::{Copied, Operands, Types, copies};
use sparsec::{Array, RelationFormat, RelationTensor, Session, Source, Tensor};
use sparsec_relation::{Data, Descriptor, Environment};

use crate::packed::{Entries, FORMATS, Packed};

/// The tensor of some extents with entries where the bits of a number are set.
fn entries(extents: &[i64], bits: u32) -> Entries {
    let n_places: i64 = extents.iter().product();
    let set = (0..n_places).filter(|place| (bits >> place) & 1 == 1);
    let entry = |place: i64| {
        let mut at = Vec::new();
        let mut rest = place;
        for extent in extents.iter().rev() {
            at.insert(0, rest % extent);
            rest /= extent;
        }
        (at, place as f64 + 1.0)
    };
    set.map(entry).collect()
}

/// What the relations of a descriptor say is stored.
fn related(descriptor: &Descriptor, extents: &[i64], packed: &Packed) -> Entries {
    let mut known = Environment::new();
    let mut data = Data::new();
    let names = descriptor.extents().iter().map(String::as_str);
    let constants = names.zip(extents.iter().copied());
    for (name, value) in constants.chain(packed.constants.iter().copied()) {
        known = known.constant(name, value);
        data.constant(name, value);
    }
    for (name, values) in &packed.arrays {
        known = known.table(*name, values.clone());
        data.array(*name, vec![values.len() as i64], |at| values[at]);
    }
    let checked = descriptor.declarations().check(&data);
    assert_eq!(checked, Ok(()), "{descriptor}");
    let pairs = |relation: &sparsec_relation::Relation| {
        let pairs = relation.enumerate(&known, -2..20);
        pairs.unwrap_or_else(|error| panic!("{error}"))
    };
    let within = descriptor.data().restricted_to(&descriptor.map().domain());
    let within = within.unwrap_or_else(|error| panic!("{error}"));
    let mut places: BTreeMap<Vec<i64>, i64> = BTreeMap::new();
    for (tuple, place) in pairs(&within) {
        places.insert(tuple, place[0]);
    }
    let mut entries = Entries::new();
    for (tuple, coords) in pairs(descriptor.map()) {
        let value = packed.values[places[&tuple] as usize];
        let before = entries.insert(coords, value);
        assert_eq!(before, None, "{tuple:?} of {descriptor}");
    }
    entries
}

/// What copying finds.
fn copied(session: &Session, copied: &Copied, extents: &[i64], packed: &Packed) -> Entries {
    let tensor = |values: &[i64]| {
        let narrow = values.iter().map(|n| *n as i32).collect::<Vec<i32>>();
        Tensor::dense(&[narrow.len() as u64], narrow).expect("a vector")
    };
    let arrays = packed.arrays.iter();
    let arrays: Vec<(String, Tensor)> = arrays
        .map(|(name, values)| (format!("A_{name}"), tensor(values)))
        .collect();
    let values = Tensor::dense(&[packed.values.len() as u64], packed.values.clone());
    let values = values.expect("a vector");
    let mut given = Given::new().data("A", &values);
    for (name, tensor) in &arrays {
        given = given.data(name, tensor);
    }
    for (name, value) in &packed.constants {
        given = given.parameter(format!("A_{name}"), *value);
    }
    for (name, extent) in copied.extents.iter().zip(extents) {
        given = given.parameter(name, *extent);
    }
    let copy = session.copy(copied, &given);
    let copy = copy.unwrap_or_else(|error| panic!("{error}"));
    let mut entries = Entries::new();
    copy.for_each_stored(|coords, value| {
        let coords = coords.iter().map(|c| *c as i64).collect();
        let value = value.to_f64();
        assert_eq!(entries.insert(coords, value), None);
    });
    entries
}

/// What the stored tensor of these arrays holds.
fn stored(format: &Arc<RelationFormat>, extents: &[i64], packed: &Packed) -> Entries {
    let constants = packed.constants.iter();
    let arrays = packed.arrays.iter();
    let tensor = RelationTensor::new(
        Arc::clone(format),
        extents.iter().map(|n| *n as u64).collect(),
        constants
            .map(|(name, n)| ((*name).to_owned(), *n))
            .collect(),
        arrays
            .map(|(name, array)| ((*name).to_owned(), Array::from_vec(array.clone())))
            .collect(),
        Array::from_vec(packed.values.clone()),
    );
    let tensor = tensor.unwrap_or_else(|error| panic!("{error}"));
    let found = tensor.entries().unwrap_or_else(|error| panic!("{error}"));
    let mut entries = Entries::new();
    for e in 0..found.len() {
        let at = found.coords(e).iter().map(|c| c as i64).collect();
        assert_eq!(entries.insert(at, found.values.get(e).to_f64()), None);
    }
    entries
}

#[test]
fn formats_that_are_relations_hold_what_was_packed() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let mut seen = BTreeSet::new();
    for file in fs::read_dir(samples).expect("there are samples") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|it| it != "fmt") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("text");
        let format = RelationFormat::parse(&Source::new(path.display().to_string(), text));
        let format = Arc::new(format.unwrap_or_else(|error| panic!("{error}")));
        let descriptor = format.descriptor().clone();
        // Its relations speak of one triangle, and its tensors are of both.
        if descriptor.clauses().mirror.is_some() {
            continue;
        }
        let known = FORMATS.iter().find(|known| known.0 == descriptor.name());
        let (name, order, pack) = known.unwrap_or_else(|| panic!("nothing packs {path:?}"));
        seen.insert(*name);
        let (extents, text) = match order {
            2 => (&[3, 2][..], "B(i,j) = max(A(i,j), 0)"),
            _ => (&[3, 1, 2][..], "B(i,j,k) = max(A(i,j,k), 0)"),
        };
        let operands = Operands::from([("A".to_owned(), descriptor.clone())]);
        let made = copies(&Source::new("expression", text), &operands, &Types::new());
        let made = made.unwrap_or_else(|error| panic!("{error}"));
        let session = Session::interpreter();
        let n_places: i64 = extents.iter().product();
        for bits in 0..1u32 << n_places {
            let packed = pack(extents, &entries(extents, bits));
            let found = related(&descriptor, extents, &packed);
            assert_eq!(found, packed.stored, "{bits:b} in {descriptor}");
            let found = stored(&format, extents, &packed);
            let is_seen = |(_, value): &(&Vec<i64>, &f64)| {
                !format.descriptor().clauses().has_padding || **value != 0.0
            };
            let seen = packed.stored.iter().filter(is_seen);
            let seen: Entries = seen.map(|(at, value)| (at.clone(), *value)).collect();
            assert_eq!(found, seen, "{bits:b} in {descriptor}");
            // Loops are slower to make than relations are to follow.
            if bits % 5 == 0 {
                let found = copied(&session, &made[0], extents, &packed);
                assert_eq!(found, packed.stored, "{bits:b} in {descriptor}");
            }
        }
    }
    let known: BTreeSet<&str> = FORMATS.iter().map(|known| known.0).collect();
    assert_eq!(seen, known);
}
