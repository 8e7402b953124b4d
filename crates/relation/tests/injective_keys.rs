//! Keys that tell all coordinates apart, by proof.

use std::collections::BTreeSet;

use sparsec_relation::Declarations;

/// Whether a key is proved to tell coordinates apart, and whether it does so for all of them.
fn both(key: &str) -> (bool, bool) {
    let known: Declarations = key.parse().unwrap_or_else(|error| panic!("{error}"));
    let key = &known.keys()[0];
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for bits in key.arguments() {
        let with = |before: &Vec<i64>| {
            let before = before.clone();
            (0..1 << bits).map(move |next| [&before[..], &[next]].concat())
        };
        all = all.iter().flat_map(with).collect();
    }
    let values: BTreeSet<String> = (all.iter())
        .map(|at| key.value(at).expect("it has a key").to_string())
        .collect();
    (key.is_injective(), values.len() == all.len())
}

#[test]
fn keys_that_tell_coordinates_apart_are_proved_to_do_so() {
    for key in [
        "key ROWS(i : 4, j : 3) : 7 { return i << 3 or j }",
        "key SUM(i : 4, j : 3) : 8 { return (i + j) * 8 + j }",
        "key GRAY(i : 6) : 6 { return i xor (i >> 1) }",
        "key TURNED(i : 5) : 5 { return 31 - i }",
        "key SWAPPED(i : 3, j : 3) : 7 {
            c = i and 1
            a = select(c = 1, i >> 1, j)
            b = select(c = 1, j, i >> 1)
            return a << 4 or b << 1 or c
        }",
        "key HILBERT(i : 4, j : 4) : 8 {
            d = 0
            for b in 0..4 {
                x = i >> 3 - b and 1
                y = j >> 3 - b and 1
                d = d << 2 or 3 * x xor y
                turned = select(y = 1, i, select(x = 1, 15 - j, j))
                j = select(y = 1, j, select(x = 1, 15 - i, i))
                i = turned
            }
            return d
        }",
    ] {
        assert_eq!(both(key), (true, true), "{key}");
    }
}

#[test]
fn keys_that_repeat_are_not_proved() {
    for key in [
        "key LOW(i : 4, j : 3) : 6 { return (i and 7) << 3 or j }",
        "key SUM(i : 3, j : 3) : 4 { return i + j }",
        "key HALF(i : 5) : 5 { return i floordiv 2 }",
        "key LESS(i : 3, j : 3) : 3 { return min(i, j) }",
        "key EITHER(i : 3, j : 3) : 4 { return select(i < j, i, j) << 1 or (i < j) }",
        "key PARITY(i : 3, j : 3) : 4 { return (i xor j) << 1 or (i and 1) }",
        "key TWICE(i : 3) : 3 { return select(i = 7, 6, i) }",
        "key TURNED(i : 3, j : 3) : 6 {
            y = j and 1
            a = select(y = 1, i, j)
            b = select(y = 1, j, j)
            return a << 3 or b
        }",
    ] {
        let (is_proved, is_injective) = both(key);
        assert!(!is_proved && !is_injective, "{key}");
    }
}
