//! Relations that are functions of index variables: inverses and images, checked by enumeration.

use proptest::prelude::*;
use sparsec_base::code;
use sparsec_relation::{Declarations, Environment, Relation, Set};

/// The relation of pairs `(i, j)` to these values of them.
fn map(values: &[&str]) -> Relation {
    let names: Vec<String> = (0..values.len()).map(|k| format!("y{k}")).collect();
    let equal = names.iter().zip(values);
    let equal: Vec<String> = equal
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    let text = format!(
        "{{[i, j] -> [{}] : {}}}",
        names.join(", "),
        equal.join(" && ")
    );
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// Maps of two variables, each value an expression that formats and schedules
/// have.
fn maps() -> impl Strategy<Value = Relation> {
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
    prop::collection::vec(value, 1..5).prop_map(|values| map(&values))
}

fn small() -> impl Iterator<Item = [i64; 2]> {
    (0..5).flat_map(|i| (0..5).map(move |j| [i, j]))
}

/// The one value of a tuple.
fn value(map: &Relation, tuple: &[i64]) -> Vec<i64> {
    let at = map
        .restricted_to(&Set::point(tuple))
        .expect("of one length");
    let pairs = at.enumerate(&Environment::new(), i64::MIN..i64::MAX);
    let mut pairs = pairs.unwrap_or_else(|error| panic!("{error}")).into_iter();
    let (_, value) = pairs.next().expect("total for coordinates");
    assert_eq!(pairs.next(), None, "a function");
    value
}

proptest! {
    #[test]
    fn inverse_gives_the_tuple_back(map in maps()) {
        match map.inverse().solved(&Declarations::new()) {
            Ok(inverse) => for tuple in small() {
                prop_assert_eq!(value(&inverse, &value(&map, &tuple)), tuple);
            },
            Err(error) => prop_assert_eq!(error.code(), code::RELATION_NOT_SOLVED),
        }
    }

    #[test]
    fn the_image_has_the_values(map in maps()) {
        let within: Set = "{[i, j] : 0 <= i < 5 && 0 <= j < 5}".parse().expect("a set");
        let image = map.apply(&within).expect("of two variables");
        let image = image.enumerate(&Environment::new(), -40..80).expect("enumerates");
        prop_assert_eq!(image, small().map(|tuple| value(&map, &tuple)).collect());
    }
}

#[test]
fn inverses_of_blocks_and_diagonals() {
    let check = |values: &[&str], expect: &str| {
        let known = "assume 0 < B && 0 < C".parse().expect("declarations");
        let inverse = map(values).inverse().solved(&known);
        assert_eq!(
            inverse.unwrap_or_else(|e| panic!("{e}")).to_string(),
            expect
        );
    };
    check(
        &["i floordiv B", "j floordiv C", "i mod B", "j mod C"],
        "{[y0, y1, y2, y3] -> [i, j] : i = y0 * B + y2 && j = y1 * C + y3}",
    );
    check(
        &["j - i", "i"],
        "{[y0, y1] -> [i, j] : i = y1 && j = y0 + y1}",
    );
}
