//! Index maps: text, inverses and order, checked by enumeration.

use proptest::prelude::*;
use sparsec_base::code;
use sparsec_relation::{Answer, Declarations, Environment, IndexMap, Set};

fn map(text: &str) -> IndexMap {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Maps of two variables, each value an expression that formats and schedules
/// have.
fn maps() -> impl Strategy<Value = IndexMap> {
    let value = prop::sample::select(vec![
        "i",
        "j",
        "i + j",
        "j - i",
        "i floordiv 2",
        "i mod 2",
        "j floordiv 3",
        "j mod 3",
        "-i",
        "3 * i + j",
        "2 * j - i",
        "i + 1",
        "5",
        "MORTON(i, j)",
        "(i + j) floordiv 2",
        "(i + j) mod 2",
    ]);
    prop::collection::vec(value, 1..5)
        .prop_map(|values| map(&format!("(i, j) -> ({})", values.join(", "))))
}

fn small() -> impl Iterator<Item = [i64; 2]> {
    (0..5).flat_map(|i| (0..5).map(move |j| [i, j]))
}

fn value(map: &IndexMap, tuple: &[i64]) -> Vec<i64> {
    let value = map.value(tuple).unwrap_or_else(|error| panic!("{error}"));
    value.expect("total for coordinates")
}

proptest! {
    #[test]
    fn print_then_parse(map in maps()) {
        prop_assert_eq!(map.to_string().parse::<IndexMap>().expect("a map"), map);
    }

    #[test]
    fn inverse_gives_the_tuple_back(map in maps()) {
        match map.inverse(&Declarations::new()) {
            Ok(inverse) => for tuple in small() {
                prop_assert_eq!(value(&inverse, &value(&map, &tuple)), tuple);
            },
            Err(error) => prop_assert_eq!(error.code(), code::RELATION_NOT_SOLVED),
        }
    }

    #[test]
    fn increasing_maps_keep_the_order(map in maps()) {
        let within: Set = "{[i, j] : 0 <= i < 5 && 0 <= j < 5}".parse().expect("a set");
        let values: Vec<Vec<i64>> = small().map(|tuple| value(&map, &tuple)).collect();
        let ascends = values.windows(2).all(|pair| pair[0] < pair[1]);
        match map.is_increasing(&within, &Declarations::new()).expect("of two variables") {
            Answer::Yes => prop_assert!(ascends),
            Answer::No => prop_assert!(!ascends),
            Answer::Unknown | Answer::GaveUp(_) => {}
        }
        let image = map.image(&within).expect("of two variables");
        let image = image.enumerate(&Environment::new(), -40..80).expect("enumerates");
        prop_assert_eq!(image, values.into_iter().collect());
    }
}

#[test]
fn inverses_of_blocks_and_diagonals() {
    let check = |text: &str, expect: &str| {
        let inverse = map(text).inverse(&"assume 0 < B && 0 < C".parse().expect("declarations"));
        assert_eq!(
            inverse.unwrap_or_else(|e| panic!("{e}")).to_string(),
            expect
        );
    };
    check(
        "(i, j) -> (i floordiv B, j floordiv C, i mod B, j mod C)",
        "(y0, y1, y2, y3) -> (y0 * B + y2, y1 * C + y3)",
    );
    check("(i, j) -> (j - i, i)", "(y0, y1) -> (y1, y0 + y1)");
    check("() -> ()", "() -> ()");
}

#[test]
fn orders_of_blocks() {
    let ask = |text: &str, set: &str| {
        let known = "assume 0 < N && 0 < B".parse().expect("declarations");
        let set = set.parse().expect("a set");
        map(text)
            .is_increasing(&set, &known)
            .expect("of one length")
    };
    let vector = "{[i] : 0 <= i}";
    assert_eq!(ask("(i) -> (i floordiv 4, i mod 4)", vector), Answer::Yes);
    assert_eq!(ask("(i) -> (i mod 4, i floordiv 4)", vector), Answer::No);
    assert_eq!(ask("(i) -> (2 * i + 1)", vector), Answer::Yes);
    let matrix = "{[i, j] : 0 <= i && 0 <= j < N}";
    assert_eq!(ask("(i, j) -> (i * N + j)", matrix), Answer::Yes);
    assert_eq!(ask("(i, j) -> (j - i, i)", matrix), Answer::No);
}

#[test]
fn what_is_no_map_is_refused() {
    for (text, expected) in [
        ("(i, i) -> (i)", code::RELATION_NAME),
        ("(i) -> (i(2))", code::RELATION_NAME),
        ("(i) -> i", code::UNEXPECTED_TOKEN),
        ("(i j) -> (i)", code::UNEXPECTED_TOKEN),
        ("(mod) -> (1)", code::RELATION_NAME),
        ("(i) -> (i) + 1", code::UNEXPECTED_TOKEN),
    ] {
        let error = text.parse::<IndexMap>().expect_err("refused");
        assert_eq!(error.code(), expected, "{error}");
    }
    let two = "{[i, j]}".parse().expect("a set");
    let error = map("(i) -> (i)")
        .is_increasing(&two, &Declarations::new())
        .expect_err("refused");
    assert_eq!(error.code(), code::RELATION_ARITY);
}
