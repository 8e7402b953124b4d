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
        ([0, 3], 0),
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
fn lists_with_one_monotone_array_are_sorted_by_it() {
    let any = list("i = row(n) && j = col(n)", "");
    for order in ["nondecreasing", "nonincreasing"] {
        for range in ["{[i] : 0 <= i < N}", "{[j] : 0 <= j < M}"] {
            let ordered = any.replace(range, &format!("{range} {order}"));
            assert_ne!(ordered, any);
            there_and_back(&ordered);
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
    for preset in ["bsr(2, 3)", "dia", "csb(4)", "alto", "hicoo(2)"] {
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

#[test]
fn extents_that_a_format_does_not_take_are_named() {
    let a = Stored::Levels(tensor(&[9, 7], 5, 1));
    let square = storage(&list("i = row(n) && j = col(n)", "assume N = M"), 2);
    refuse(
        interpreter().convert_stored(&a, &square),
        code::NOT_AS_DECLARED,
        "`list` stores tensors with `N = M`, and this one has extents 9 x 7",
    );
}

/// Lists of entries for each block of 4 x 4, whose array of positions has the product of two numbers of
/// blocks as its length.
const COUNTED: &str = "format counted
    extents N, M
    map {[b, c, k] -> [i, j] : 0 <= b < NB && 0 <= c < MB && pos(b * MB + c) <= k < pos(b * MB + c + 1)
         && b = i floordiv 4 && c = j floordiv 4 && row(k) = i mod 4 && col(k) = j mod 4
         && 0 <= i < N && 0 <= j < M}
    data {[b, c, k] -> [k]}
    values {[k] : 0 <= k < pos(NB * MB)}
    unique
    assume 0 <= NB && 0 <= MB && N <= 4 * NB && M <= 4 * MB && pos(0) = 0
    function pos : {[p] : 0 <= p <= NB * MB} -> {[k] : 0 <= k <= pos(NB * MB)} nondecreasing
    function row : {[k] : 0 <= k < pos(NB * MB)} -> {[i] : 0 <= i < 4}
    function col : {[k] : 0 <= k < pos(NB * MB)} -> {[j] : 0 <= j < 4}";

#[test]
fn blocks_are_counted_along_both_modes() {
    there_and_back(COUNTED);
    let digits = COUNTED.replace(
        "&& b = i floordiv 4 && c = j floordiv 4 && row(k) = i mod 4 && col(k) = j mod 4",
        "&& i = 4 * b + row(k) && j = 4 * c + col(k)",
    );
    assert_ne!(digits, COUNTED);
    there_and_back(&digits);
}

/// Rows whose segments are given by two arrays.
fn rows(end: &str, more: &str) -> String {
    format!(
        "format rows
         extents N, M
         map {{[r, k] -> [i, j] : 0 <= r < N && i = r && begin(r) <= k < {end} && j = col(k) && 0 <= j < M}}
         data {{[r, k] -> [k]}}
         values {{[k] : 0 <= k < NZ}}
         unique
         function begin : {{[r] : 0 <= r < N}} -> {{[k] : 0 <= k <= NZ}}
         {more}
         function col : {{[k] : 0 <= k < NZ}} -> {{[j] : 0 <= j < M}}"
    )
}

#[test]
fn segments_have_beginnings_and_ends() {
    there_and_back(&rows(
        "end(r)",
        "function end : {[r] : 0 <= r < N} -> {[k] : 0 <= k <= NZ}
         forall r : 0 <= r < N => begin(r) <= end(r)
         forall r, k, l : 0 <= r < N && begin(r) <= k < l < end(r) => col(k) < col(l)",
    ));
    there_and_back(&rows(
        "begin(r) + len(r)",
        "function len : {[r] : 0 <= r < N} -> {[n] : 0 <= n <= NZ}
         forall r : 0 <= r < N => begin(r) + len(r) <= NZ",
    ));
}

/// The packed lower triangle of a symmetric matrix: a declaration defines where each row begins.
#[test]
fn arrays_are_computed_as_declarations_define_them() {
    let packed = "format packed
        extents N, M
        map {[r, c] -> [i, j] : 0 <= c <= r < N && i = r && j = c && 0 <= j < M}
        data {[r, c] -> [tri(r) + c]}
        values {[p] : 0 <= p < tri(N)}
        padding
        mirror {[i, j] -> [j, i]} same
        assume N = M && tri(0) = 0
        function tri : {[r] : 0 <= r <= N} -> {[p] : 0 <= p} nondecreasing
        forall r : 0 <= r < N => tri(r + 1) = tri(r) + r + 1";
    let session = interpreter();
    let mut a = Tensor::builder("csr", &[4, 4]).expect("a builder");
    a.extend([([0, 0], 1.0), ([3, 1], 2.0), ([1, 3], 2.0), ([3, 3], 4.0)]);
    let a = Stored::Levels(a.build().expect("a matrix"));
    let made = session.convert_stored(&a, &storage(packed, 2));
    let made = made.unwrap_or_else(|error| panic!("{error}")).tensor;
    let Stored::Relation(triangle) = &made else {
        panic!("a relation");
    };
    assert_eq!(
        triangle.arrays()["tri"].as_slice(),
        Some(&[0, 1, 3, 6, 10][..])
    );
    assert_eq!(triangle.values().get(7), sparsec::Scalar::F64(2.0));
    let again = session.convert_stored(&made, &storage("csr", 2));
    assert_eq!(again.expect("it reads back").tensor, a);
}

#[test]
fn constants_without_a_value_are_named() {
    let wide = list("i = row(n) && j = col(n) && n < K", "assume K <= NZ");
    refuse(
        interpreter().convert_stored(&Stored::Levels(tensor(&[9, 7], 20, 1)), &storage(&wide, 2)),
        code::NO_CONVERSION,
        "the constant `K`",
    );
}

/// Each row from the diagonal to its last entry, or from its first entry to the diagonal.
fn skyline(column: &str) -> String {
    format!(
        "format skyline
        extents N, M
        map {{[r, k] -> [i, j] : i = r && 0 <= r < N && begin(r) <= k < begin(r + 1) && {column} && 0 <= j < M}}
        data {{[r, k] -> [k]}}
        values {{[k] : 0 <= k < begin(N)}}
        unique
        padding
        function begin : {{[r] : 0 <= r <= N}} -> {{[k] : 0 <= k <= begin(N)}} nondecreasing"
    )
}

#[test]
fn skylines_on_either_side_are_solved() {
    let session = interpreter();
    let is_above = |i: u64, j: u64| i <= j;
    for (column, is_upper) in [
        ("j = r + k - begin(r)", true),
        ("k + r = begin(r) + j", true),
        ("j = r - (begin(r + 1) - 1 - k)", false),
        ("begin(r + 1) - k = r - j + 1", false),
    ] {
        let format = storage(&skyline(column), 2);
        for (extents, n) in [([9, 9], 40), ([9, 12], 40), ([9, 9], 0), ([0, 3], 0)] {
            let all = tensor(&extents, n, 3);
            let mut side = Tensor::builder("csr", &extents).expect("a builder");
            let mut outside = None;
            for (at, (place, _)) in all.entries().iter().enumerate() {
                let [i, j] = [place.at(0), place.at(1)];
                match is_above(i, j) == is_upper || i == j {
                    true => side.extend([([i, j], 1.0 + at as f64)]),
                    false => outside = outside.or(Some([i, j])),
                }
            }
            let side = Stored::Levels(side.build().expect("a triangle"));
            let made = session.convert_stored(&side, &format);
            let made = made.unwrap_or_else(|error| panic!("{column} {extents:?}: {error}"));
            let again = session
                .convert_stored(&made.tensor, &storage("csr", 2))
                .expect("it reads back");
            assert_eq!(again.tensor, side, "{column} {extents:?}");
            if outside.is_some() {
                refuse(
                    session.convert_stored(&Stored::Levels(all), &format),
                    code::NOT_AS_DECLARED,
                    "has no place for the entry at",
                );
            }
        }
    }
}

/// Slots of a row, of which there is a fixed number.
#[test]
fn rows_with_more_entries_than_slots_are_refused() {
    let slots = |n: u64| {
        format!(
            "format slots
            extents N, M
            map {{[r, s] -> [i, j] : i = r && 0 <= r < N && 0 <= s < {n} && j = col({n} * r + s) && 0 <= j < M}}
            data {{[r, s] -> [{n} * r + s]}}
            values {{[p] : 0 <= p < {n} * N}}
            function col : {{[p] : 0 <= p < {n} * N}} -> {{[j] : -1 <= j < M}}"
        )
    };
    let counted = |n: u64| {
        format!(
            "format counted
            extents N, M
            map {{[s, r] -> [i, j] : i = r && 0 <= r < N && 0 <= s < len(r) && j = col(N * s + r) && 0 <= j < M}}
            data {{[s, r] -> [N * s + r]}}
            values {{[p] : 0 <= p < {n} * N}}
            unique
            function len : {{[r] : 0 <= r < N}} -> {{[n] : 0 <= n <= {n}}}
            function col : {{[p] : 0 <= p < {n} * N}} -> {{[j] : 0 <= j < M}}"
        )
    };
    there_and_back(&slots(7));
    there_and_back(&counted(7));
    let mut a = Tensor::builder("csr", &[9, 7]).expect("a builder");
    a.extend((0..4).map(|j| ([3, j], 1.0)));
    let a = Stored::Levels(a.build().expect("a matrix"));
    for few in [slots(3), counted(3)] {
        refuse(
            interpreter().convert_stored(&a, &storage(&few, 2)),
            code::NOT_AS_DECLARED,
            "has no place for the entry at [3, 3]",
        );
    }
}

/// Blocks along a curve whose coordinates have no declared bounds: the extents bound them.
#[test]
fn blocks_on_curves_are_bounded_by_extents() {
    there_and_back(
        "format blocks
        extents N, M
        map {[b, n] -> [i, j] : 0 <= b < NB && begin(b) <= n < begin(b + 1)
             && i = 4 * row(b) + y(n) && j = 4 * col(b) + x(n) && 0 <= i < N && 0 <= j < M}
        data {[b, n] -> [n]}
        values {[n] : 0 <= n < begin(NB)}
        assume 0 <= NB
        function begin : {[b] : 0 <= b <= NB} -> {[n] : 0 <= n} increasing
        function row : {[b] : 0 <= b < NB} -> {[i] : 0 <= i}
        function col : {[b] : 0 <= b < NB} -> {[i] : 0 <= i}
        function y : {[n] : 0 <= n < begin(NB)} -> {[i] : 0 <= i < 4}
        function x : {[n] : 0 <= n < begin(NB)} -> {[i] : 0 <= i < 4}
        forall a, b : 0 <= a < b < NB => MORTON(row(a), col(a)) < MORTON(row(b), col(b))
        forall b, n, m : 0 <= b < NB && begin(b) <= n < m < begin(b + 1) => MORTON(y(n), x(n)) < MORTON(y(m), x(m))",
    );
}
