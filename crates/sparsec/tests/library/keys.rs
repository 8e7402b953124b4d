//! Lists in orders that a user's key functions compute.

use std::collections::BTreeMap;

use sparsec::{
    Array, Backend, ElementType, Format, Options, RelationTensor, Session, Storage, Stored, Tensor,
    code,
};

use super::interpreter;
use super::stored::{storage, tensor};

const HILBERT: &str = include_str!("../../../../samples/hilbert.fmt");

/// A list of three modes along a Hilbert curve. Source of the key: J. Skilling, "Programming the
/// Hilbert curve", AIP Conference Proceedings 707, 2004, <https://doi.org/10.1063/1.1751381>.
const CUBE: &str = "
    format cube
    extents N0, N1, N2
    map {[n] -> [i, j, k] : 0 <= n < NZ && i = x(n) && j = y(n) && k = z(n)}
    data {[n] -> [n]}
    values {[n] : 0 <= n < NZ}
    function x : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N0}
    function y : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < N1}
    function z : {[n] : 0 <= n < NZ} -> {[k] : 0 <= k < N2}
    key HILBERT(x : 31, y : 31, z : 31) : 93 {
      for b in 0..30 {
        p = (1 << 30 - b) - 1
        x = select(x >> 30 - b and 1, x xor p, x)
        t = (x xor y) and p
        turn = y >> 30 - b and 1
        y = select(turn, y, y xor t)
        x = select(turn, x xor p, x xor t)
        t = (x xor z) and p
        turn = z >> 30 - b and 1
        z = select(turn, z, z xor t)
        x = select(turn, x xor p, x xor t)
      }
      y = y xor x
      z = z xor y
      t = 0
      for b in 0..30 {
        t = select(z >> 30 - b and 1, t xor (1 << 30 - b) - 1, t)
      }
      x = x xor t
      y = y xor t
      z = z xor t
      d = 0
      for b in 0..31 {
        d = d << 3 or (x >> 30 - b and 1) << 2 or (y >> 30 - b and 1) << 1 or z >> 30 - b and 1
      }
      return d
    }
    forall n, m : 0 <= n < m < NZ => HILBERT(x(n), y(n), z(n)) < HILBERT(x(m), y(m), z(m))";

/// A list by antidiagonals, with a key of 128 bits.
const WIDE: &str = "
    format antidiagonal
    extents NR, NC
    map {[n] -> [i, j] : 0 <= n < NZ && i = row(n) && j = col(n)}
    data {[n] -> [n]}
    values {[n] : 0 <= n < NZ}
    function row : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < NR}
    function col : {[n] : 0 <= n < NZ} -> {[j] : 0 <= j < NC}
    key SUM(i : 60, j : 60) : 128 {
      return i + j << 66 or i
    }
    forall n, m : 0 <= n < m < NZ => SUM(row(n), col(n)) < SUM(row(m), col(m))";

/// The cells of a square of `2^k` rows along a Hilbert curve, by recursion: four smaller ones, of
/// which the first and the last are turned.
fn along_square(k: u32) -> Vec<[u64; 2]> {
    if k == 0 {
        return vec![[0, 0]];
    }
    let (part, half) = (along_square(k - 1), 1 << (k - 1));
    let first = part.iter().map(|[i, j]| [*j, *i]);
    let second = part.iter().map(|[i, j]| [*i, j + half]);
    let third = part.iter().map(|[i, j]| [i + half, j + half]);
    let last = part.iter().map(|[i, j]| [2 * half - 1 - j, half - 1 - i]);
    first.chain(second).chain(third).chain(last).collect()
}

/// The place of each cell of the square of 16 rows at the corner of one of `2^31`.
fn square_places() -> BTreeMap<Vec<u64>, usize> {
    let cells = along_square(4).into_iter().enumerate();
    // Each of the 27 levels above has turned it.
    let turned = cells.map(|(place, [i, j])| (vec![j, i], place));
    turned.collect()
}

/// The coordinates of a relation's list, one after the other.
fn listed(tensor: &Stored) -> Vec<Vec<u64>> {
    let Stored::Relation(tensor) = tensor else {
        panic!("a relation");
    };
    let entries = tensor.entries().expect("it is checked");
    let all = 0..entries.len();
    all.map(|e| entries.coords(e).iter().collect()).collect()
}

fn sessions() -> Vec<Session> {
    let backends = [Backend::Interpreter, Backend::Cranelift, Backend::C];
    let with = |backend| Session::new(Options::from_env().backend(backend));
    backends.map(with).into()
}

/// Random tensors: without entries, with one, some and all.
fn some(extents: &[u64]) -> Vec<Tensor> {
    let n: u64 = extents.iter().product();
    let some = [0, 1, n as usize / 3].map(|n| tensor(extents, n, 3 + n as u64));
    [&some[..], &[full(extents)]].concat()
}

/// A tensor with entries everywhere.
fn full(extents: &[u64]) -> Tensor {
    let mut places: Vec<Vec<u64>> = vec![Vec::new()];
    for extent in extents {
        let with = |at: &Vec<u64>| {
            let at = at.clone();
            (0..*extent).map(move |c| [&at[..], &[c]].concat())
        };
        places = places.iter().flat_map(with).collect();
    }
    let values: Vec<f64> = (1_u32..).take(places.len()).map(f64::from).collect();
    let scoo = Format::scoo(extents.len());
    Tensor::pack(&scoo, extents, &places.concat(), &values).expect("entries")
}

/// Converts tensors to a list of a user's order and back, from and to other formats, and compares
/// the order with that of `place`. Compiled kernels convert the last tensor alone.
fn round_trips(format: &str, others: &[&str], tensors: &[Tensor], place: &dyn Fn(&[u64]) -> u128) {
    let last = tensors.last().map(std::slice::from_ref);
    for (number, session) in sessions().iter().enumerate() {
        let (tensors, others) = match number {
            0 => (tensors, others),
            _ => (last.unwrap_or_default(), &others[..1]),
        };
        for (tensor, name) in tensors
            .iter()
            .flat_map(|t| others.iter().map(move |o| (t, o)))
        {
            let order = tensor.extents().len();
            let (to, other) = (storage(format, order), storage(name, order));
            let what = || format!("{} {:?}", other.short_name(), tensor.extents());
            let source = Stored::Levels(tensor.clone());
            let source = session.convert_stored(&source, &other).expect("known");
            let made = session.convert_stored(&source.tensor, &to);
            let made = made.unwrap_or_else(|error| panic!("{}: {error}", what()));
            assert_eq!(made.notes, [""; 0], "{}", what());
            let found = listed(&made.tensor);
            assert_eq!(found.len(), tensor.n_stored(), "{}", what());
            let places: Vec<u128> = found.iter().map(|at| place(at)).collect();
            assert!(places.is_sorted_by(|a, b| a < b), "{}: {found:?}", what());
            let back = session.convert_stored(&made.tensor, &other);
            let back = back.unwrap_or_else(|error| panic!("{}: {error}", what()));
            assert_eq!(back.tensor, source.tensor, "{}", what());
        }
    }
}

#[test]
fn lists_along_a_hilbert_curve_there_and_back() {
    let places = square_places();
    let place = |at: &[u64]| places[at] as u128;
    let mut tensors = some(&[11, 16]);
    tensors.push(tensor(&[0, 3], 0, 1));
    tensors.push(tensor(&[9, 13], 40, 2));
    round_trips(HILBERT, &["csc", "csr", "coo"], &tensors, &place);
    round_trips(HILBERT, &["bsr(2, 2)", "alto"], &tensors[3..4], &place);
    // A dense matrix has entries everywhere.
    round_trips(HILBERT, &["dense"], &some(&[4, 6])[3..], &place);
}

/// The curve as the literature defines it: each step goes to a neighbour, and each aligned cube is
/// walked through at once.
#[test]
fn a_cube_is_walked_through_by_neighbours() {
    let session = interpreter();
    let full = Stored::Levels(full(&[4, 4, 4]));
    let made = session.convert_stored(&full, &storage(CUBE, 3));
    let cells = listed(&made.expect("a list").tensor);
    assert_eq!(cells.len(), 64);
    for pair in cells.windows(2) {
        let apart = std::iter::zip(&pair[0], &pair[1]).map(|(a, b)| a.abs_diff(*b));
        assert_eq!(apart.sum::<u64>(), 1, "{pair:?}");
    }
    for cube in cells.chunks(8) {
        let of = |at: &Vec<u64>| at.iter().map(|c| c / 2).collect::<Vec<_>>();
        assert!(cube.iter().all(|at| of(at) == of(&cube[0])));
    }
}

/// Skilling's transform on arrays of coordinates.
fn cube_place(at: &[u64]) -> u128 {
    let mut x: Vec<u64> = at.to_vec();
    let n = x.len();
    let bits = (1..31).rev();
    for bit in bits.clone() {
        let below = (1 << bit) - 1;
        for i in 0..n {
            if x[i] >> bit & 1 == 1 {
                x[0] ^= below;
            } else {
                let differ = (x[0] ^ x[i]) & below;
                x[0] ^= differ;
                x[i] ^= differ;
            }
        }
    }
    for i in 1..n {
        x[i] ^= x[i - 1];
    }
    let turned = bits.filter(|bit| x[n - 1] >> bit & 1 == 1);
    let turned = turned.fold(0, |turned, bit| turned ^ ((1 << bit) - 1));
    let mut place = 0;
    for bit in (0..31).rev() {
        for x in &x {
            place = place << 1 | u128::from((x ^ turned) >> bit & 1);
        }
    }
    place
}

#[test]
fn keys_of_two_words_sort_three_modes() {
    let mut tensors = some(&[3, 4, 2]);
    // Coordinates that differ in their upper bits.
    let far = [
        0,
        1 << 30,
        5,
        1 << 29,
        7,
        (1 << 31) - 1,
        3,
        3,
        3,
        9,
        1 << 30,
        0,
    ];
    let extents = [1 << 31; 3];
    let values = [1.0, 2.0, 3.0, 4.0];
    tensors.push(Tensor::pack(&Format::scoo(3), &extents, &far, &values).expect("entries"));
    round_trips(CUBE, &["coo"], &tensors, &cube_place);
    round_trips(CUBE, &["csf", "dense"], &tensors[3..4], &cube_place);
}

#[test]
fn keys_of_three_words_sort_too() {
    let place = |at: &[u64]| u128::from(at[0] + at[1]) << 66 | u128::from(at[0]);
    round_trips(WIDE, &["csr", "csc"], &some(&[6, 9])[2..], &place);
}

/// Lists of two users become each other.
#[test]
fn orders_of_two_users_become_each_other() {
    for session in sessions() {
        let a = tensor(&[9, 13], 40, 5);
        let [first, second] = [HILBERT, WIDE].map(|format| storage(format, 2));
        let source = Stored::Levels(a.clone());
        let one = session.convert_stored(&source, &first).expect("a list");
        let other = session.convert_stored(&one.tensor, &second);
        let other = other.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(other.notes, [""; 0]);
        let again = session.convert_stored(&other.tensor, &first);
        assert_eq!(again.expect("a list").tensor, one.tensor);
        let sums: Vec<u64> = listed(&other.tensor)
            .iter()
            .map(|at| at[0] + at[1])
            .collect();
        assert!(sums.is_sorted());
    }
}

/// Repeated entries are added up.
#[test]
fn repeated_entries_are_one() {
    let arrays = vec![
        Array::from_vec(vec![0_i64, 5]),
        Array::from_vec(vec![3_i64, 0, 3, 0, 2]),
        Array::from_vec(vec![1_i64, 2, 1, 2, 2]),
        Array::from_vec(vec![1.0, 2.0, 4.0, 8.0, 16.0]),
    ];
    let list =
        "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered))";
    let Storage::Levels(coo) = storage(list, 2) else {
        panic!("levels");
    };
    let element = ElementType::F64;
    let given = Tensor::new(coo, vec![4, 4], element, element.zero(), arrays).expect("a list");
    for session in sessions() {
        let made = session.convert_stored(&Stored::Levels(given.clone()), &storage(HILBERT, 2));
        let made = made.unwrap_or_else(|error| panic!("{error}")).tensor;
        assert_eq!(made.n_stored(), 3);
        let back = session
            .convert_stored(&made, &storage("scoo", 2))
            .expect("a list");
        let Stored::Levels(back) = back.tensor else {
            panic!("levels");
        };
        assert_eq!(back.values::<f64>(), Some(&[10.0, 16.0, 5.0][..]));
    }
}

/// Arrays that are not in their order are refused, with the first entry that is not.
#[test]
fn lists_out_of_order_are_refused() {
    let session = interpreter();
    let a = tensor(&[9, 13], 40, 5);
    let made = session.convert_stored(&Stored::Levels(a), &storage(HILBERT, 2));
    let Stored::Relation(list) = made.expect("a list").tensor else {
        panic!("a relation");
    };
    let mut arrays = list.arrays().clone();
    for name in ["row", "col"] {
        let mut values = arrays[name].as_slice::<i32>().expect("32 bits").to_vec();
        values.swap(7, 8);
        arrays.insert(name.to_owned(), Array::from_vec(values));
    }
    let (format, extents) = (list.format().clone(), list.extents().to_vec());
    let values = list.values().clone();
    let error = RelationTensor::new(format, extents, BTreeMap::new(), arrays, values);
    let error = error.expect_err("two entries are exchanged");
    assert_eq!(error.code(), code::NOT_AS_DECLARED);
    assert!(
        error.message().ends_with("does not hold for n = 7, m = 8"),
        "{error}"
    );
}

/// An entry without a key is refused, and named.
#[test]
fn coordinates_without_a_key_are_refused() {
    for session in sessions() {
        let extents = [1 << 33, 5];
        let scoo = Format::scoo(2);
        let near = Tensor::pack(&scoo, &extents, &[1, 2, (1 << 31) - 1, 4], &[1.0, 2.0]);
        let near = Stored::Levels(near.expect("entries"));
        let made = session.convert_stored(&near, &storage(HILBERT, 2));
        assert_eq!(made.expect("31 bits are enough").tensor.n_stored(), 2);
        let far = Tensor::pack(&scoo, &extents, &[1, 2, 1 << 31, 4], &[1.0, 2.0]);
        let far = Stored::Levels(far.expect("entries"));
        let error = session.convert_stored(&far, &storage(HILBERT, 2));
        let error = error.expect_err("a row of 32 bits");
        assert_eq!(error.code(), code::NOT_AS_DECLARED);
        assert!(
            error.message().contains("the entry at [2147483648, 4]"),
            "{error}"
        );
    }
}
