//! Laws that hold for random relations, checked by enumeration.

use std::collections::BTreeSet;
use std::ops::Range;

use proptest::prelude::*;
use sparsec_base::code;
use sparsec_relation::{Comparison, Conjunction, Environment, Expression, Pair, Relation};

mod tally;

/// What the functions and constants of random relations are.
fn known() -> Environment<'static> {
    Environment::new()
        .constant("N", 2)
        .constant("M", 3)
        .table("f", vec![1, 0, 2])
        .function("g", |a| Some(a[0] - a[1]))
}

const BOX: Range<i64> = -1..4;

fn expression(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (-3i64..4).prop_map(|n| n.to_string()),
        prop::sample::select(vec!["N", "M"]).prop_map(String::from),
        prop::sample::select(names).prop_map(String::from),
        prop::sample::select(names).prop_map(String::from),
    ];
    leaf.prop_recursive(3, 8, 2, |e| {
        prop_oneof![
            (
                e.clone(),
                prop::sample::select(vec!["+", "-", "*", "floordiv", "mod"]),
                e.clone()
            )
                .prop_map(|(a, operator, b)| format!("({a} {operator} {b})")),
            e.clone().prop_map(|a| format!("-({a})")),
            e.clone().prop_map(|a| format!("f({a})")),
            (e.clone(), e).prop_map(|(a, b)| format!("g({a}, {b})")),
        ]
    })
}

fn constraint(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let comparison =
        prop::sample::select(Comparison::ALL.to_vec()).prop_map(|comparison| comparison.symbol());
    let link = (comparison, expression(names)).prop_map(|(c, e)| format!(" {c} {e}"));
    (expression(names), prop::collection::vec(link, 1..3))
        .prop_map(|(first, rest)| first + &rest.concat())
}

fn part() -> impl Strategy<Value = String> {
    let constraints = |names| prop::collection::vec(constraint(names), 0..4);
    let body = |cs: Vec<String>| match cs.is_empty() {
        true => String::new(),
        false => format!(" : {}", cs.join(" && ")),
    };
    prop_oneof![
        constraints(&["i", "j"]).prop_map(move |cs| format!("{{[i] -> [j]{}}}", body(cs))),
        constraints(&["i", "j", "k"])
            .prop_map(move |cs| format!("{{[i] -> [j] : exists k{}}}", body(cs))),
    ]
}

fn relation() -> impl Strategy<Value = Relation> {
    prop::collection::vec(part(), 1..3).prop_map(|parts| {
        let text = parts.join(" union ");
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    })
}

fn pairs(relation: &Relation) -> BTreeSet<Pair> {
    let pairs = relation.enumerate(&known(), BOX);
    let pairs = pairs.unwrap_or_else(|error| panic!("{error}"));
    tally::enumerated(pairs.len());
    pairs
}

/// Tries every value of every variable.
fn pairs_by_trying(relation: &Relation) -> BTreeSet<Pair> {
    let mut found = BTreeSet::new();
    for part in relation.parts() {
        let mut tuples = vec![Vec::new()];
        for _ in 0..part.n_variables() {
            let longer = |tuple: &Vec<i64>| {
                let tuple = tuple.clone();
                BOX.map(move |value| [&tuple[..], &[value]].concat())
            };
            tuples = tuples.iter().flat_map(longer).collect();
        }
        let holds = |values: &&Vec<i64>| {
            part.constraints()
                .iter()
                .flat_map(|c| c.links())
                .all(
                    |(a, c, b)| match (value(part, a, values), value(part, b, values)) {
                        (Some(a), Some(b)) => c.holds(a, b),
                        _ => false,
                    },
                )
        };
        found.extend(
            tuples
                .iter()
                .filter(holds)
                .map(|values| (vec![values[0]], vec![values[1]])),
        );
    }
    found
}

fn value(part: &Conjunction, e: &Expression, values: &[i64]) -> Option<i64> {
    let value = |e| value(part, e, values);
    match e {
        Expression::Integer(n) => Some(*n),
        Expression::Constant(name) => Some(if name == "N" { 2 } else { 3 }),
        Expression::Variable(variable) => {
            let all = part.inputs().chain(part.outputs()).chain(part.exists());
            let at = all.into_iter().position(|v| v == *variable)?;
            Some(values[at])
        }
        Expression::Call(name, arguments) if name == "f" => [1, 0, 2]
            .get(usize::try_from(value(&arguments[0])?).ok()?)
            .copied(),
        Expression::Call(_, arguments) => Some(value(&arguments[0])? - value(&arguments[1])?),
        Expression::Negate(a) => Some(-value(a)?),
        Expression::Add(a, b) => Some(value(a)? + value(b)?),
        Expression::Subtract(a, b) => Some(value(a)? - value(b)?),
        Expression::Multiply(a, b) => Some(value(a)? * value(b)?),
        Expression::FloorDivide(a, b) => quotient(value(a)?, value(b)?),
        Expression::Modulo(a, b) => {
            let (a, b) = (value(a)?, value(b)?);
            Some(a - b * quotient(a, b)?)
        }
    }
}

fn quotient(a: i64, b: i64) -> Option<i64> {
    (b != 0).then(|| (a as f64 / b as f64).floor() as i64)
}

proptest! {
    fn print_then_parse(relation in relation()) {
        let again: Relation = relation.to_string().parse().expect("printed text parses");
        prop_assert_eq!(pairs(&again), pairs(&relation));
        prop_assert_eq!(again, relation);
    }

    fn enumerate_finds_what_trying_finds(relation in relation()) {
        prop_assert_eq!(pairs(&relation), pairs_by_trying(&relation));
    }

    fn inverse_of_inverse(relation in relation()) {
        prop_assert_eq!(&relation.inverse().inverse(), &relation);
        let swapped: BTreeSet<Pair> =
            pairs(&relation).into_iter().map(|(a, b)| (b, a)).collect();
        prop_assert_eq!(pairs(&relation.inverse()), swapped);
    }

    fn then_joins_pairs(first in relation(), second in relation()) {
        let composed = first.then(&second).expect("composes");
        let mut joined = BTreeSet::new();
        for (a, b) in pairs(&first) {
            for (c, d) in pairs(&second) {
                if b == c {
                    joined.insert((a.clone(), d));
                }
            }
        }
        prop_assert_eq!(pairs(&composed), joined);
    }

    fn union_holds_both(first in relation(), second in relation()) {
        let both = first.union(&second).expect("of one shape");
        let expect: BTreeSet<Pair> = pairs(&first).union(&pairs(&second)).cloned().collect();
        prop_assert_eq!(pairs(&both), expect);
    }

    fn simplified_holds_the_same(relation in relation()) {
        let simple = relation.simplified();
        prop_assert_eq!(pairs(&simple), pairs(&relation));
        prop_assert_eq!(&simple.simplified(), &simple);
    }
}

/// `cargo test -p sparsec-relation laws -- --nocapture` shows on how much.
#[test]
fn laws_hold() {
    tally::check(&[
        ("print then parse", print_then_parse),
        (
            "enumerate finds what trying finds",
            enumerate_finds_what_trying_finds,
        ),
        ("inverse of inverse", inverse_of_inverse),
        ("then joins pairs", then_joins_pairs),
        ("union holds both", union_holds_both),
        ("simplified holds the same", simplified_holds_the_same),
    ]);
}

#[test]
fn what_has_no_value_is_named() {
    let relation: Relation = "{[i] -> [j] : f(i) = N * j}".parse().expect("a relation");
    let nothing = Environment::new();
    let constant = Environment::new().constant("N", 1);
    let large = Environment::new()
        .constant("N", i64::MAX)
        .function("f", |_| Some(0));
    for (environment, what) in [
        (&nothing, "the symbolic constant `N` has no value"),
        (&constant, "the function `f` has no values"),
        (&large, "a number that does not fit in 64 bits"),
    ] {
        let error = relation.enumerate(environment, 0..4).expect_err("refused");
        assert_eq!(error.code(), code::RELATION_UNBOUND);
        assert_eq!(error.message(), what);
    }
}
