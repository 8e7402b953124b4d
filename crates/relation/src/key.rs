//! Keys that order tuples of coordinates: `LEX`, `MORTON`, `ALTO`.
//!
//! A format sorted along a curve stores entries by the key of their
//! coordinates. `MORTON` and `ALTO` keys are integers made of the coordinates'
//! bits, so they are functions like any other, only known ones:
//!
//! ```text
//! MORTON(i, j)          ALTO(i, 8, j, 2)         i in 0..8 has 3 bits, j in 0..2 has 1
//! … i1 j1 i0 j0         i2 i1 i0 j0              dealt from the low end, shortest mode
//!                                                first; a mode drops out when its bits are used
//! ```
//!
//! `UNMORTON(key, c, n)` is coordinate `c` of the `n` coordinates of a Morton key. `UNALTO(key, c,
//! 8, 2)` is coordinate `c` of an ALTO key with these extents. `c` counts from 0.
//!
//! `LEX(i, j)` is the tuple itself; it can only be compared with another tuple.
//! In declarations a name that an `order` or a `key` declares is a key as well; see
//! [`key_function`](crate::key_function).
//!
//! Sources: G. M. Morton, "A computer oriented geodetic data base", IBM 1966;
//! Helal et al., "ALTO", ICS 2021, <https://doi.org/10.1145/3447818.3461703>.

use crate::expression::Expression;

/// The key that compares tuples lexicographically.
pub(crate) const LEX: &str = "LEX";
/// The key that deals bits to the modes in turn, the last mode lowest.
pub(crate) const MORTON: &str = "MORTON";
/// As [`MORTON`], where each mode has as many bits as its extent needs.
pub(crate) const ALTO: &str = "ALTO";

/// A coordinate of a [`MORTON`] key.
pub(crate) const UNMORTON: &str = "UNMORTON";
/// A coordinate of an [`ALTO`] key.
pub(crate) const UNALTO: &str = "UNALTO";

/// Whether a function is predefined and takes any number of arguments.
pub(crate) fn is_variadic(name: &str) -> bool {
    [LEX, MORTON, ALTO, UNMORTON, UNALTO].contains(&name)
}

/// Whether equal keys on one curve have equal coordinates.
pub(crate) fn is_injective(name: &str) -> bool {
    [MORTON, ALTO].contains(&name)
}

/// Whether the values of a predefined function are integers, which are not negative.
pub(crate) fn is_number(name: &str) -> bool {
    is_variadic(name) && name != LEX
}

/// Whether an argument is an extent, which selects the curve, and not a coordinate.
pub(crate) fn is_extent(name: &str, at: usize) -> bool {
    name == ALTO && at % 2 == 1
}

/// One word of a `MORTON` key: these bits of all coordinates.
///
/// ```
/// use sparsec_relation::{MortonWord, Set};
/// let set: Set = "{[i, j] : 0 <= MORTON(i floordiv 8 mod 4, j floordiv 8 mod 4)}".parse()?;
/// let key = &set.parts()[0].constraints()[0].rest[0].1;
/// let word = MortonWord::of(key).expect("a word");
/// assert_eq!((word.coordinates.len(), word.shift, word.n_bits), (2, 3, Some(2)));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MortonWord<'e> {
    /// The coordinates.
    pub coordinates: Vec<&'e Expression>,
    /// How many bits of each coordinate lie below.
    pub shift: u32,
    /// How many bits of each coordinate the word has; all that are left if `None`.
    pub n_bits: Option<u32>,
}

impl<'e> MortonWord<'e> {
    /// The word that a key is, if it has the same bits of all coordinates.
    pub fn of(key: &'e Expression) -> Option<Self> {
        let Expression::Call(name, arguments) = key else {
            return None;
        };
        let parts: Vec<_> = arguments.iter().map(bits).collect();
        let (_, shift, n_bits) = *parts.first().filter(|_| name == MORTON)?;
        let is_alike = parts.iter().all(|part| (part.1, part.2) == (shift, n_bits));
        is_alike.then(|| Self {
            coordinates: parts.into_iter().map(|part| part.0).collect(),
            shift,
            n_bits,
        })
    }
}

/// `e`, `e floordiv 2^s`, `e mod 2^b` and `e floordiv 2^s mod 2^b` as `e`, `s` and `b`. Quotients of
/// quotients are one.
fn bits(e: &Expression) -> (&Expression, u32, Option<u32>) {
    let power = |n: &Expression| match n {
        Expression::Integer(n) if *n > 0 && n.count_ones() == 1 => Some(n.trailing_zeros()),
        _ => None,
    };
    let (mut e, n_bits) = match e {
        Expression::Modulo(inner, n) if power(n).is_some() => (&**inner, power(n)),
        _ => (e, None),
    };
    let mut shift = 0;
    while let Expression::FloorDivide(inner, n) = e
        && let Some(more) = power(n)
    {
        (e, shift) = (inner, shift + more);
    }
    (e, shift, n_bits)
}

/// The value of a key function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// The key.
    Value(i64),
    /// An argument is negative, or not below its extent.
    Outside,
    /// The key does not fit in 63 bits.
    TooLarge,
}

/// The value of the key function `name`; `None` if it is none, or `LEX`.
pub(crate) fn value(name: &str, arguments: &[i64]) -> Option<Key> {
    match name {
        MORTON => Some(morton(arguments)),
        ALTO => Some(alto(arguments)),
        UNMORTON => Some(match arguments {
            [key, c, n @ 1..=63] => coordinate(*key, *c, &vec![63 / *n as u32; *n as usize]),
            _ => Key::Outside,
        }),
        UNALTO => Some(match arguments {
            [key, c, extents @ ..] if extents.iter().all(|n| *n > 0) => {
                let widths = extents.iter().map(|n| n_bits(n - 1));
                coordinate(*key, *c, &widths.collect::<Vec<_>>())
            }
            _ => Key::Outside,
        }),
        _ => None,
    }
}

/// The modes in the order in which they get bits: the shortest gets the lowest bit. Among equal
/// widths the last mode comes first.
fn dealt(widths: &[u32]) -> Vec<usize> {
    let mut modes: Vec<usize> = (0..widths.len()).rev().collect();
    modes.sort_by_key(|mode| widths[*mode]);
    modes
}

/// A coordinate of a key whose modes have these widths in bits.
fn coordinate(key: i64, mode: i64, widths: &[u32]) -> Key {
    let mode = usize::try_from(mode)
        .ok()
        .filter(|mode| *mode < widths.len());
    let (Some(mode), 0..) = (mode, key) else {
        return Key::Outside;
    };
    let order = dealt(widths);
    let (mut value, mut at) = (0, 0);
    for bit in 0..widths.iter().copied().max().unwrap_or(0) {
        for other in order.iter().filter(|other| bit < widths[**other]) {
            if *other == mode && at < 63 {
                value |= (key >> at & 1) << bit;
            }
            at += 1;
        }
    }
    Key::Value(value)
}

fn morton(coordinates: &[i64]) -> Key {
    if coordinates.iter().any(|&c| c < 0) {
        return Key::Outside;
    }
    let n_bits = coordinates.iter().map(|&c| n_bits(c)).max().unwrap_or(0);
    interleave(coordinates, &vec![n_bits; coordinates.len()])
}

fn alto(arguments: &[i64]) -> Key {
    let modes = arguments.chunks(2);
    if modes
        .clone()
        .any(|m| m.len() != 2 || m[0] < 0 || m[0] >= m[1])
    {
        return Key::Outside;
    }
    let (widths, coordinates): (Vec<u32>, Vec<i64>) =
        modes.map(|m| (n_bits(m[1] - 1), m[0])).unzip();
    let order = dealt(&widths).into_iter().rev();
    let of: Vec<(i64, u32)> = order
        .map(|mode| (coordinates[mode], widths[mode]))
        .collect();
    let (coordinates, widths): (Vec<i64>, Vec<u32>) = of.into_iter().unzip();
    interleave(&coordinates, &widths)
}

fn n_bits(value: i64) -> u32 {
    i64::BITS - value.leading_zeros()
}

/// Deals bits from the low end, the last coordinate first.
fn interleave(coordinates: &[i64], n_bits: &[u32]) -> Key {
    let mut key = 0;
    let mut at = 0;
    for bit in 0..n_bits.iter().copied().max().unwrap_or(0) {
        for (&coordinate, &n_bits) in coordinates.iter().zip(n_bits).rev() {
            if bit >= n_bits {
                continue;
            }
            let set = coordinate >> bit & 1;
            if set == 1 && at >= 63 {
                return Key::TooLarge;
            }
            if at < 63 {
                key |= set << at;
            }
            at += 1;
        }
    }
    Key::Value(key)
}

#[cfg(test)]
mod tests {
    use super::{Key, value};

    #[test]
    fn bits_are_dealt() {
        assert_eq!(value("MORTON", &[0b11, 0b00]), Some(Key::Value(0b1010)));
        assert_eq!(value("MORTON", &[0b01, 0b10]), Some(Key::Value(0b0110)));
        assert_eq!(value("ALTO", &[0b101, 8, 1, 2]), Some(Key::Value(0b1011)));
        assert_eq!(value("ALTO", &[1, 2, 0b101, 8]), Some(Key::Value(0b1011)));
        assert_eq!(value("ALTO", &[8, 8, 1, 2]), Some(Key::Outside));
        assert_eq!(value("MORTON", &[-1]), Some(Key::Outside));
        assert_eq!(value("MORTON", &[1 << 40, 0]), Some(Key::TooLarge));
        assert_eq!(value("LEX", &[1]), None);
    }

    #[test]
    fn keys_give_coordinates_back() {
        for (i, j, k) in
            (0..5).flat_map(|i| (0..9).flat_map(move |j| (0..2).map(move |k| (i, j, k))))
        {
            let of = |name: &str, arguments: &[i64]| match value(name, arguments) {
                Some(Key::Value(key)) => key,
                other => panic!("{name}{arguments:?} is {other:?}"),
            };
            let (morton, alto) = (of("MORTON", &[i, j, k]), of("ALTO", &[i, 5, j, 9, k, 2]));
            for (c, coordinate) in [i, j, k].into_iter().enumerate() {
                assert_eq!(of("UNMORTON", &[morton, c as i64, 3]), coordinate);
                assert_eq!(of("UNALTO", &[alto, c as i64, 5, 9, 2]), coordinate);
            }
        }
        assert_eq!(value("UNMORTON", &[-1, 0, 2]), Some(Key::Outside));
        assert_eq!(value("UNMORTON", &[1, 2, 2]), Some(Key::Outside));
        assert_eq!(value("UNALTO", &[1, 0, 0, 2]), Some(Key::Outside));
    }

    #[test]
    fn keys_tell_coordinates_apart() {
        let mut seen = std::collections::BTreeSet::new();
        for (i, j, k) in
            (0..5).flat_map(|i| (0..9).flat_map(move |j| (0..2).map(move |k| (i, j, k))))
        {
            let Some(Key::Value(key)) = value("ALTO", &[i, 5, j, 9, k, 2]) else {
                panic!("a key");
            };
            assert!(seen.insert(key));
        }
    }
}
