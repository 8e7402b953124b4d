//! Conversions to relations that say of coordinates what levels do: digits, differences, and
//! numbers of blocks that extents bound. Entries without a place are named.

use sparsec::{Format, Storage, Stored, Tensor, code};

use super::stored::{storage, tensor};
use super::{interpreter, refuse};

/// A list of entries with this map and these further lines.
fn list(map: &str, more: &str) -> String {
    format!(
        "format list
         extents N, M
         map {{[n] -> [i, j] : 0 <= n < NZ && {map}}}
         data {{[n] -> [n]}}
         values {{[n] : 0 <= n < NZ}}
         unique
         {more}
         function row : {{[n] : 0 <= n < NZ}} -> {{[i] : 0 <= i < N}}
         function col : {{[n] : 0 <= n < NZ}} -> {{[j] : 0 <= j < M}}"
    )
}

/// Rows of blocks of 3 x 2 entries, stored column by column.
const BLOCKS: &str = "format blocks
    extents N, M
    map {[r, k, a, b] -> [i, j] : 0 <= r < NB && pos(r) <= k < pos(r + 1) && 0 <= a < 3 && 0 <= b < 2
         && i = 3 * r + a && j = 2 * col(k) + b && 0 <= i < N && 0 <= j < M}
    data {[r, k, a, b] -> [6 * k + 3 * b + a]}
    values {[p] : 0 <= p < 6 * pos(NB)}
    unique
    padding
    assume 0 <= NB && N <= 3 * NB
    function pos : {[r] : 0 <= r <= NB} -> {[k] : 0 <= k} nondecreasing
    function col : {[k] : 0 <= k < pos(NB)} -> {[j] : 0 <= j < M}";

/// Converts tensors to a format and back, and compares the entries.
fn there_and_back(text: &str) {
    let session = interpreter();
    let format = storage(text, 2);
    for (extents, n) in [
        ([9, 7], 20),
        ([9, 7], 1),
        ([9, 7], 0),
        ([1, 1], 1),
        ([16, 3], 9),
    ] {
        let a = tensor(&extents, n, 7 + n as u64);
        let rows = a.convert(&Format::csr()).expect("rows");
        for from in [&a, &rows] {
            let made = session.convert_stored(&Stored::Levels(from.clone()), &format);
            let made = made.unwrap_or_else(|error| panic!("{text} {extents:?} {n}: {error}"));
            let again = session
                .convert_stored(&made.tensor, &storage("csr", 2))
                .expect("it reads back");
            assert_eq!(again.tensor, Stored::Levels(rows.clone()), "{text}");
        }
    }
}

#[test]
fn digits_and_differences_of_coordinates_are_solved() {
    there_and_back(BLOCKS);
    there_and_back(&list("i = row(n) && j = M - 1 - col(n) && 0 <= j < M", ""));
    there_and_back(&list("i = N - 1 - row(n) && 0 <= i < N && j = col(n)", ""));
}

/// The printed descriptions of formats of levels are formats of their own.
#[test]
fn numbers_of_blocks_follow_from_extents() {
    for preset in ["bsr(2, 3)", "dia", "csb(4)"] {
        let Storage::Levels(format) = storage(preset, 2) else {
            panic!("{preset} has levels");
        };
        there_and_back(&format.descriptors("own").remove(0).to_string());
    }
}

#[test]
fn the_first_entry_without_a_place_is_named() {
    let session = interpreter();
    let mut a = Tensor::builder("csr", &[9, 7]).expect("a builder");
    a.extend([
        ([0, 1], 1.0),
        ([2, 2], 2.0),
        ([4, 1], 3.0),
        ([5, 6], 4.0),
        ([8, 0], 5.0),
    ]);
    let a = Stored::Levels(a.build().expect("a matrix"));
    let band = "format band
        extents N, M
        map {[i, d] -> [i, j] : 0 <= i < N && 0 <= d < 3 && j = i + d - 1 && 0 <= j < M}
        data {[i, d] -> [3 * i + d]}
        values {[p] : 0 <= p < 3 * N}
        padding";
    for (text, at) in [
        (list("i = row(n) && j = col(n) && i <= j", ""), "[4, 1]"),
        (list("i = row(n) && j = col(n)", "assume NZ <= 3"), "[5, 6]"),
        (list("i = row(n) && j = col(n) && i < 8", ""), "[8, 0]"),
        (band.to_owned(), "[4, 1]"),
    ] {
        refuse(
            session.convert_stored(&a, &storage(&text, 2)),
            code::NOT_AS_DECLARED,
            &format!("has no place for the entry at {at}"),
        );
    }
}
