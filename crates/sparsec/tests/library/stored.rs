//! Tensors in formats that are relations: each as source and as destination of conversions.

use std::collections::BTreeSet;
use std::sync::Arc;

use sparsec::internals::relational;
use sparsec::{
    ElementType, FormatSpec, RelationFormat, RelationTensor, Source, Storage, Stored, Tensor,
};

use super::interpreter;

pub(crate) const DIA: &str = include_str!("../../../../samples/dia.fmt");
pub(crate) const ELLR: &str = include_str!("../../../../samples/ellr.fmt");

/// Entries by antidiagonals, and how they come into that order.
pub(crate) const OWN: &str = "
    format antidiagonal
    extents NR, NC
    map {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n)}
    data {[n] -> [n]}
    values {[n] : 0 <= n < NZ}
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
    function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < NC}
    forall n, m : 0 <= n < m < NZ => LEX(row(n) + col(n), row(n)) < LEX(row(m) + col(m), row(m))
    computation assemble {
      parameters N0, N1, NZ
      function A_crd0 : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N0}
      function A_crd1 : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < N1}
      function to : {[n] : 0 <= n < NZ} -> {[p] : 0 <= p < NZ}
      given A_crd0 : i64[NZ], A_crd1 : i64[NZ], A : f64[NZ]
      temporary to : i64[NZ]
      out B_row : i64[NZ], B_col : i64[NZ], B : f64[NZ]
      sorted: to(n) = rank(A_crd0(n) + A_crd1(n) of N0 + N1, A_crd0(n) of N0) over {[n] : 0 <= n < NZ}
      rows: B_row(to(n)) = A_crd0(n) over {[n] : 0 <= n < NZ}
      columns: B_col(to(n)) = A_crd1(n) over {[n] : 0 <= n < NZ}
      values: B(to(n)) = A(n) over {[n] : 0 <= n < NZ}
    }";

fn spec(text: &str) -> FormatSpec {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn relation(text: &str) -> Arc<RelationFormat> {
    let spec = spec(text);
    let order = spec.order().unwrap_or(3);
    let relation = spec.relation(order).expect("it fits");
    relation.expect("a relation")
}

pub(crate) fn storage(text: &str, order: usize) -> Storage {
    spec(text)
        .storage(order)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Pseudo-random numbers, the same at every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n.max(1)
    }
}

/// Some entries of a tensor: so many at most.
pub(crate) fn tensor(extents: &[u64], n: usize, seed: u64) -> Tensor {
    let mut numbers = Numbers(seed);
    let all: u64 = extents.iter().product();
    let mut places = BTreeSet::new();
    for _ in 0..n {
        if all > 0 {
            places.insert(numbers.below(all));
        }
    }
    if n == usize::MAX >> 1 {
        places.extend(0..all);
    }
    from_places(extents, &places)
}

fn from_places(extents: &[u64], places: &BTreeSet<u64>) -> Tensor {
    let mut coords = Vec::new();
    let mut values = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let mut rest = *place;
        let mut at: Vec<u64> = Vec::new();
        for extent in extents.iter().rev() {
            at.insert(0, rest % extent);
            rest /= extent;
        }
        coords.extend(at);
        values.push(number as f64 + 1.5);
    }
    Tensor::pack(
        &sparsec::Format::scoo(extents.len()),
        extents,
        &coords,
        &values,
    )
    .expect("entries")
}

/// Tensors of an order: empty rows, no entries, one, all, extents of 0 and 1.
fn tensors(order: usize) -> Vec<Tensor> {
    let shapes: &[&[u64]] = match order {
        2 => &[&[7, 5], &[5, 9], &[1, 4], &[4, 1], &[0, 3], &[3, 0]],
        4 => &[&[3, 2, 4, 3], &[1, 2, 1, 7], &[2, 0, 2, 1]],
        _ => &[&[4, 3, 5], &[1, 6, 2], &[0, 2, 2], &[3, 2, 0]],
    };
    let mut all = Vec::new();
    for (seed, shape) in shapes.iter().enumerate() {
        let n: u64 = shape.iter().product();
        for n_entries in [0, 1, n as usize / 3, n as usize] {
            all.push(tensor(shape, n_entries, seed as u64 + 7 * n_entries as u64));
        }
        all.push(from_places(shape, &(0..n).collect()));
    }
    all
}

fn round_trips(format: &str, order: usize) {
    round_trips_of(format, order, tensors(order));
}

fn round_trips_of(format: &str, order: usize, tensors: Vec<Tensor>) {
    let session = interpreter();
    let to = storage(format, order);
    let back = storage("scoo", order);
    for tensor in tensors {
        let what = || format!("{} {:?} {tensor:?}", to.short_name(), tensor.extents());
        let stored = session.convert_stored(&Stored::Levels(tensor.clone()), &to);
        let stored = stored
            .unwrap_or_else(|error| panic!("{}: {error}", what()))
            .tensor;
        assert_eq!(stored.storage(), to);
        let again = session.convert_stored(&stored, &back);
        let again = again
            .unwrap_or_else(|error| panic!("{}: {error}", what()))
            .tensor;
        assert_eq!(again, Stored::Levels(tensor.clone()), "{}", what());
    }
}

#[test]
fn jagged_diagonals_there_and_back() {
    round_trips("jds", 2);
}

#[test]
fn sorted_chunks_there_and_back() {
    round_trips("sell(2, 4)", 2);
    round_trips("sell(4, 1)", 2);
}

#[test]
fn slices_with_bits_there_and_back() {
    for (format, order) in [
        ("fcoo(0)", 2),
        ("fcoo(1)", 2),
        ("fcoo(0)", 3),
        ("fcoo(2)", 3),
    ] {
        round_trips(format, order);
    }
    round_trips("fcoo(1)", 4);
    round_trips("fcoo(3)", 4);
}

#[test]
fn split_fibers_there_and_back() {
    for order in 2..=4 {
        round_trips("bcsf(2)", order);
        round_trips("bcsf(128)", order);
    }
}

#[test]
fn diagonals_of_a_file_there_and_back() {
    round_trips(DIA, 2);
}

#[test]
fn a_stated_assembly_there_and_back() {
    round_trips(ELLR, 2);
    round_trips(OWN, 2);
}

/// Lists in an order of a user's own: by a key of the coordinates.
#[test]
fn lists_in_an_order_of_ones_own_there_and_back() {
    let without = &OWN[..OWN.find("computation").unwrap()];
    let some = || {
        vec![
            tensor(&[7, 5], 0, 1),
            tensor(&[7, 5], 18, 2),
            tensor(&[3, 9], 11, 3),
        ]
    };
    round_trips_of(without, 2, some());
    let key = "LEX(row(n) + col(n), row(n)) < LEX(row(m) + col(m), row(m))";
    for own in [
        "LEX(col(n), row(n)) < LEX(col(m), row(m))",
        "MORTON(row(n), col(n)) < MORTON(row(m), col(m))",
        "LEX(row(n) floordiv 2, col(n) mod 3) <= LEX(row(m) floordiv 2, col(m) mod 3)",
        "0 - row(n) <= 0 - row(m)",
        "LEX(row(n), col(n)) > LEX(row(m), col(m))",
        "row(m) <= row(n)",
        "MORTON(row(n), col(n)) > MORTON(row(m), col(m))",
        "LEX(row(n) floordiv 2, col(n) mod 3) >= LEX(row(m) floordiv 2, col(m) mod 3)",
    ] {
        assert!(without.contains(key));
        round_trips_of(&without.replace(key, own), 2, some());
    }
}

/// Diagonals from the last to the first.
#[test]
fn arrays_that_descend_there_and_back() {
    let falling = DIA.replace("increasing", "decreasing");
    assert_ne!(falling, DIA);
    round_trips(&falling, 2);
}

/// Formats of levels, given as relations: what `sparsec formats csr` prints.
#[test]
fn formats_of_levels_are_relations_too() {
    for (name, order) in [("csr", 2), ("csc", 2), ("dcsr", 2), ("scoo", 2), ("csf", 3)] {
        let levels = spec(name).resolve(order).expect("levels");
        let text = levels.descriptors("mine").remove(0).to_string();
        let extents: &[u64] = &[4, 3, 5][..order];
        round_trips_of(
            &text,
            order,
            vec![tensor(extents, 0, 1), tensor(extents, 9, 2)],
        );
    }
}

/// Each relation of matrices to each other, directly or by way of a list.
#[test]
fn relations_become_each_other() {
    let session = interpreter();
    let texts = ["jds", "sell(2, 4)", DIA, ELLR, OWN];
    let a = tensor(&[6, 8], 17, 3);
    for from in texts {
        let from = storage(from, 2);
        let source = session
            .convert_stored(&Stored::Levels(a.clone()), &from)
            .expect("from a list");
        for to in texts {
            let to = storage(to, 2);
            let made = session.convert_stored(&source.tensor, &to);
            let made = made.unwrap_or_else(|error| {
                panic!("{} to {}: {error}", from.short_name(), to.short_name())
            });
            assert_eq!(made.tensor.storage(), to);
            let back = session
                .convert_stored(&made.tensor, &storage("scoo", 2))
                .expect("a list");
            assert_eq!(back.tensor, Stored::Levels(a.clone()));
        }
    }
}

#[test]
fn the_arrays_are_those_of_the_literature() {
    let session = interpreter();
    let a = Tensor::builder("csr", &[4, 4])
        .unwrap()
        .push([0, 1], 1.0)
        .push([2, 0], 2.0)
        .push([2, 2], 3.0)
        .push([2, 3], 4.0)
        .push([3, 1], 5.0)
        .push([3, 2], 6.0)
        .build()
        .unwrap();
    let stored = |text: &str| {
        let made = session.convert_stored(&Stored::Levels(a.clone()), &storage(text, 2));
        match made.expect("a tensor").tensor {
            Stored::Relation(tensor) => tensor,
            Stored::Levels(_) => panic!("{text} is a relation"),
        }
    };
    let index = |tensor: &RelationTensor, name: &str| -> Vec<i32> {
        tensor.arrays()[name].as_slice().expect("32 bits").to_vec()
    };
    let jds = stored("jds");
    assert_eq!(index(&jds, "perm"), [2, 3, 0, 1]);
    assert_eq!(index(&jds, "ptr"), [0, 3, 5, 6]);
    assert_eq!(index(&jds, "col"), [0, 1, 1, 2, 2, 3]);
    assert_eq!(
        jds.values().as_slice(),
        Some(&[2.0, 5.0, 1.0, 3.0, 6.0, 4.0][..])
    );
    let sell = stored("sell(2, 4)");
    assert_eq!(index(&sell, "ptr"), [0, 6, 8]);
    assert_eq!(index(&sell, "col"), [0, 1, 2, 2, 3, -1, 1, -1]);
    assert_eq!(sell.constants()["NCH"], 2);
}

/// Zeros that are stored stay stored where the format lists its entries.
#[test]
fn stored_zeros_stay_where_entries_are_listed() {
    let session = interpreter();
    let a = Tensor::pack(
        &sparsec::Format::scoo(2),
        &[3, 3],
        &[0, 0, 1, 2],
        &[0.0, 5.0],
    )
    .unwrap();
    for (text, n) in [("jds", 2), ("sell(2, 2)", 2), (ELLR, 2), (DIA, 1)] {
        let stored = session
            .convert_stored(&Stored::Levels(a.clone()), &storage(text, 2))
            .unwrap();
        let back = session
            .convert_stored(&stored.tensor, &storage("scoo", 2))
            .unwrap();
        assert_eq!(back.tensor.n_stored(), n, "{text}");
    }
}

#[test]
fn other_types_are_stored_too() {
    let session = interpreter();
    let a = Tensor::builder("csr", &[2, 3])
        .unwrap()
        .push([0, 2], 7_i32)
        .push([1, 0], -5);
    let a = a.build().unwrap();
    for text in ["jds", "sell(2, 2)", DIA, ELLR] {
        let stored = session
            .convert_stored(&Stored::Levels(a.clone()), &storage(text, 2))
            .unwrap();
        assert_eq!(stored.tensor.element(), ElementType::I32);
        let back = session
            .convert_stored(&stored.tensor, &storage("csr", 2))
            .unwrap();
        assert_eq!(back.tensor, Stored::Levels(a.clone()));
    }
}

/// The notes say by way of what a tensor came.
#[test]
fn ways_by_a_list_are_noted() {
    let session = interpreter();
    let a = Stored::Levels(tensor(&[6, 6], 12, 5));
    let jds = session.convert_stored(&a, &storage("jds", 2)).unwrap();
    assert_eq!(jds.notes, [""; 0]);
    let dia = session
        .convert_stored(&jds.tensor, &storage(DIA, 2))
        .unwrap();
    assert_eq!(dia.notes, [""; 0]);
    let ellr = session.convert_stored(&a, &storage(ELLR, 2)).unwrap();
    let dia = session
        .convert_stored(&ellr.tensor, &storage(DIA, 2))
        .unwrap();
    assert_eq!(dia.notes, [""; 0]);
    // Places hold runs of entries.
    let runs = "(i, j) -> (i : dense, j : run_length)".parse().unwrap();
    let runs = session.convert_stored(&a, &Storage::Levels(runs)).unwrap();
    let dia = session
        .convert_stored(&runs.tensor, &storage(DIA, 2))
        .unwrap();
    assert_eq!(dia.notes, [""; 0]);
    // Entries of one coordinate, which kernels of this type do not add up.
    let several = "(i, j) -> (i : compressed(nonunique), j : singleton(nonunique))";
    let several = Tensor::builder(several, &[6, 6])
        .unwrap()
        .push([1, 2], 3_i32)
        .build()
        .unwrap();
    let dia = session
        .convert_stored(&Stored::Levels(several), &storage(DIA, 2))
        .unwrap();
    assert_eq!(dia.notes.len(), 1, "{:?}", dia.notes);
    assert!(
        dia.notes[0].contains(" to `dia` by way of `scoo`"),
        "{:?}",
        dia.notes
    );
}

/// Every preset parses, says how it is assembled, and prints as it was written.
#[test]
fn presets_state_their_assembly() {
    for preset in sparsec::relation_presets() {
        let spec = spec(&preset.text());
        assert_eq!(spec.to_string(), preset.text());
        for order in preset.order.map_or(2..5, |order| order..order + 1) {
            let format = spec.relation(order).expect("it fits");
            let format = format.expect("a relation");
            let clauses = format.descriptor().clauses();
            assert!(!clauses.has_padding, "{}", preset.name);
            let made = relational::assembly(&format, ElementType::F64)
                .unwrap_or_else(|error| panic!("{error}"));
            assert!(made.is_some(), "{}", preset.name);
        }
    }
    let text = relation(ELLR).text().to_owned();
    let read = RelationFormat::parse(&Source::new("ellr.fmt", text)).unwrap();
    assert_eq!(
        spec(&spec(ELLR).to_string())
            .relation(2)
            .unwrap()
            .as_deref(),
        Some(&read)
    );
}
