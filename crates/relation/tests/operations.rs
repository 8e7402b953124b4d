//! Operations and questions: what they give, and laws that hold for random
//! relations over declared functions.
//!
//! The functions of the random relations are as the declarations say, so that
//! what is derived from declarations is checked as well.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use sparsec_base::code;
use sparsec_relation::{
    Answer, Conjunction, Consequences, Declarations, Environment, Pair, Relation, Set,
};

mod tally;

const DECLARED: &str = "
    assume N = 2 && M = 3
    function pos : {[p] : 0 <= p <= 4} -> {[q] : 0 <= q <= 5} nondecreasing
    function up : {[p] : 0 <= p < 4} -> {[q] : -1 <= q} increasing
    function down : {[p] : 0 <= p <= 3} -> {[q] : q < 9} decreasing
    function perm : {[p] : 0 <= p < 4} -> {[q] : 0 <= q < 4} inverse back
    function g : {[p, q] : p >= q} -> {[r] : r >= 0}
    function c : {[p, q] : 0 <= p < 3 && 0 <= q < 3} -> {[r] : 0 <= r} injective
    forall a : 0 <= a < 4 => pos(a) <= up(a + 0) + 6
    forall a : 3 * c(a, 0) >= c(a, 1) - 4
    forall a, b : 0 <= a < b < 4 => LEX(perm(a) floordiv 2, perm(a)) > LEX(perm(b) floordiv 2, -8)
    forall a, b : 1 <= a < b => up(a) + 1 < up(b)
";

/// A way in which the declared functions may be.
#[derive(Clone, Debug)]
struct World {
    pos: Vec<i64>,
    up: Vec<i64>,
    down: Vec<i64>,
    perm: Vec<i64>,
}

/// `perm` is as the first quantifier says only if its halves descend.
fn world() -> impl Strategy<Value = World> {
    let steps = prop::collection::vec(0i64..3, 4);
    let perms = prop::sample::select(vec![vec![2, 3, 0, 1], vec![3, 2, 1, 0], vec![3, 2, 0, 1]]);
    (steps.clone(), steps.clone(), steps, perms).prop_map(|(a, b, c, perm)| {
        let mut pos = vec![0];
        for step in &a {
            pos.push((pos[pos.len() - 1] + step).min(5));
        }
        let mut up = vec![b[0] - 1];
        for step in &b[1..] {
            up.push(up[up.len() - 1] + step + 2);
        }
        let mut down = vec![8];
        for step in &c[1..] {
            down.push(down[down.len() - 1] - step - 1);
        }
        World {
            pos,
            up,
            down,
            perm,
        }
    })
}

/// The position of each number from 0 on in a permutation.
fn places(perm: &[i64]) -> Vec<i64> {
    let place = |n: usize| perm.iter().position(|v| *v == n as i64);
    let places = (0..perm.len()).map(|n| place(n).expect("a permutation") as i64);
    places.collect()
}

impl World {
    fn environment(&self) -> Environment<'static> {
        Environment::new()
            .constant("N", 2)
            .constant("M", 3)
            .table("pos", self.pos.clone())
            .table("up", self.up.clone())
            .table("down", self.down.clone())
            .table("perm", self.perm.clone())
            .table("back", places(&self.perm))
            .function("c", |a| {
                let is_inside = a.iter().all(|n| (0..3).contains(n));
                is_inside.then(|| a[0] + 3 * a[1])
            })
            .function("g", |a| (a[0] >= a[1]).then(|| a[0] - a[1]))
            .function("h", |a| (a[0] != 1).then(|| 2 - a[0]))
    }
}

const BOX: Range<i64> = -1..6;

fn expression(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let variable = || prop::sample::select(names).prop_map(String::from);
    prop_oneof![
        4 => variable(),
        1 => (-2i64..5).prop_map(|n| n.to_string()),
        1 => prop::sample::select(vec!["N", "M"]).prop_map(String::from),
        2 => (variable(), -2i64..3).prop_map(|(v, n)| format!("{v} + {n}")),
        1 => (variable(), variable()).prop_map(|(v, w)| format!("{v} - 2 * {w}")),
        1 => variable().prop_map(|v| format!("N * {v}")),
        1 => variable().prop_map(|v| format!("{v} floordiv 2")),
        1 => variable().prop_map(|v| format!("{v} mod M")),
        3 => (prop::sample::select(vec!["pos", "up", "down", "perm", "h"]), variable(), 0i64..2)
            .prop_map(|(f, v, n)| format!("{f}({v} + {n})")),
        1 => (variable(), variable()).prop_map(|(v, w)| format!("g({v}, {w})")),
        1 => (variable(), variable()).prop_map(|(v, w)| format!("c({v}, {w})")),
        1 => variable().prop_map(|v| format!("back({v})")),
    ]
}

fn constraint(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    let comparison = prop::sample::select(vec!["<", "<=", "=", "=", "!=", ">", ">="]);
    (expression(names), comparison, expression(names)).prop_map(|(a, c, b)| format!("{a} {c} {b}"))
}

fn relation() -> impl Strategy<Value = Relation> {
    relation_of(1..5)
}

/// Relations with so many comparisons in each part.
fn relation_of(n: Range<usize>) -> impl Strategy<Value = Relation> {
    let part = prop_oneof![
        3 => prop::collection::vec(constraint(&["i", "j"]), n.clone())
            .prop_map(|all| format!("{{[i] -> [j] : {}}}", all.join(" && "))),
        1 => prop::collection::vec(constraint(&["i", "j", "k"]), n).prop_map(|all| format!(
            "{{[i] -> [j] : exists k : -1 <= k < 6 && {}}}",
            all.join(" && ")
        )),
    ];
    prop::collection::vec(part, 1..3).prop_map(|parts| {
        let text = parts.join(" union ");
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    })
}

fn declared() -> Declarations {
    DECLARED.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn pairs(relation: &Relation, world: &World) -> BTreeSet<Pair> {
    let pairs = relation.enumerate(&world.environment(), BOX);
    let pairs = pairs.unwrap_or_else(|error| panic!("{error}"));
    tally::enumerated(pairs.len());
    pairs
}

fn tuples(set: &Set, world: &World) -> BTreeSet<Vec<i64>> {
    let tuples = set.enumerate(&world.environment(), BOX);
    let tuples = tuples.unwrap_or_else(|error| panic!("{error}"));
    tally::enumerated(tuples.len());
    tuples
}

proptest! {
    fn simplified_under_holds_the_same(relation in relation(), world in world()) {
        for known in [Declarations::new(), declared()] {
            let simple = relation.simplified_under(&known);
            prop_assert_eq!(pairs(&simple, &world), pairs(&relation, &world), "{}", simple);
            prop_assert_eq!(&simple.simplified_under(&known), &simple);
        }
    }

    fn simplifying_twice_is_once(relation in relation_of(4..10)) {
        for known in [Declarations::new(), declared()] {
            let simple = relation.simplified_under(&known);
            prop_assert_eq!(&simple.simplified_under(&known), &simple);
        }
    }

    fn closed_under_holds_the_same(relation in relation(), world in world()) {
        let closed = relation.closed_under(&declared());
        prop_assert_eq!(pairs(&closed, &world), pairs(&relation, &world), "{}", closed);
    }

    fn intersect_and_minus_are_those_of_sets(
        first in relation(), second in relation(), world in world()
    ) {
        let both = first.intersect(&second).expect("of one shape");
        let (a, b) = (pairs(&first, &world), pairs(&second, &world));
        let meet: BTreeSet<Pair> = a.intersection(&b).cloned().collect();
        prop_assert_eq!(pairs(&both, &world), meet);
        match first.minus(&second, &declared()) {
            Ok(rest) => {
                let expect: BTreeSet<Pair> = a.difference(&b).cloned().collect();
                prop_assert_eq!(pairs(&rest, &world), expect, "{}", rest);
            }
            Err(error) => prop_assert_eq!(error.code(), code::RELATION_NOT_EXACT),
        }
    }

    fn projection_is_the_shadow(relation in relation(), world in world()) {
        let all = pairs(&relation, &world);
        let first: BTreeSet<Vec<i64>> = all.iter().map(|(a, _)| a.clone()).collect();
        let second: BTreeSet<Vec<i64>> = all.iter().map(|(_, b)| b.clone()).collect();
        prop_assert_eq!(tuples(&relation.domain(), &world), first);
        prop_assert_eq!(tuples(&relation.range(), &world), second.clone());
        let shadow: BTreeSet<Pair> = second.into_iter().map(|b| (Vec::new(), b)).collect();
        prop_assert_eq!(pairs(&relation.without_inputs(&[0]), &world), shadow);
    }

    fn composition_is_associative(
        a in relation(), b in relation(), c in relation(), world in world()
    ) {
        let compose = |x: &Relation, y: &Relation| x.then(y).expect("composes");
        let (left, right) = (compose(&compose(&a, &b), &c), compose(&a, &compose(&b, &c)));
        prop_assert_eq!(pairs(&left, &world), pairs(&right, &world));
    }

    fn apply_and_restrict(relation in relation(), other in relation(), world in world()) {
        let set = other.domain();
        let within = tuples(&set, &world);
        let all = pairs(&relation, &world);
        let image: BTreeSet<Vec<i64>> =
            all.iter().filter(|(a, _)| within.contains(a)).map(|(_, b)| b.clone()).collect();
        prop_assert_eq!(tuples(&relation.apply(&set).expect("applies"), &world), image);
        let kept: BTreeSet<Pair> =
            all.iter().filter(|(a, _)| within.contains(a)).cloned().collect();
        prop_assert_eq!(pairs(&relation.restricted_to(&set).expect("restricts"), &world), kept);
        let kept: BTreeSet<Pair> =
            all.iter().filter(|(_, b)| within.contains(b)).cloned().collect();
        let restricted = relation.range_restricted_to(&set).expect("restricts");
        prop_assert_eq!(pairs(&restricted, &world), kept);
    }

    fn answers_are_right(relation in relation(), world in world()) {
        let known = declared();
        let all = pairs(&relation, &world);
        let mut values: BTreeSet<&Vec<i64>> = BTreeSet::new();
        let one_each = all.iter().all(|(a, _)| values.insert(a));
        if relation.is_empty(&known) == Answer::Yes {
            prop_assert!(all.is_empty());
        }
        if relation.is_function(&known) == Answer::Yes {
            prop_assert!(one_each, "{:?}", all);
        }
    }

    fn consequences_are_right(
        relation in relation(), other in relation(), third in relation(), world in world()
    ) {
        let known = declared();
        let of_pairs = Consequences::of_pairs(&relation, &known);
        let meets = |relation: &Relation, part: &Conjunction| {
            let part = Relation::new(vec![part.clone()]).expect("a part of a relation");
            relation.intersect(&part).expect("of one shape")
        };
        let is_plain = |part: &&Conjunction| part.exists().len() == 0;
        for part in other.parts().iter().filter(is_plain) {
            let both = meets(&relation, part);
            if of_pairs.exclude(part.constraints()) {
                prop_assert!(pairs(&both, &world).is_empty(), "{}", both);
            }
            for constraint in part.constraints() {
                let mut alone = Conjunction::new(["i"], ["j"]);
                alone.add(constraint.clone());
                if of_pairs.implies(constraint) {
                    let within = meets(&relation, &alone);
                    prop_assert_eq!(pairs(&within, &world), pairs(&relation, &world));
                }
            }
            let of_both = of_pairs.under(part.constraints());
            for last in third.parts().iter().filter(is_plain) {
                if of_both.exclude(last.constraints()) {
                    let all = meets(&both, last);
                    prop_assert!(pairs(&all, &world).is_empty(), "{}", all);
                }
            }
        }
    }

    fn subsets_are_those_of_sets(relation in relation(), other in relation(), world in world()) {
        let known = declared();
        let (all, others) = (pairs(&relation, &world), pairs(&other, &world));
        if relation.is_subset(&other, &known).expect("of one shape") == Answer::Yes {
            prop_assert!(all.is_subset(&others), "{} in {}", relation, other);
        }
        let both = relation.intersect(&other).expect("of one shape");
        prop_assert_ne!(both.is_subset(&relation, &known).expect("of one shape"), Answer::No);
        let simple = relation.simplified_under(&known);
        if simple.is_equal(&other, &known).expect("of one shape") == Answer::Yes {
            prop_assert_eq!(all, others);
        }
    }

    fn solutions_are_values(relation in relation(), world in world()) {
        let Ok(solved) = relation.solved(&declared()) else { return Ok(()) };
        let inverse = |of: &Vec<i64>| {
            let of = of.clone();
            move |a: &[i64]| Some(of.iter().position(|v| *v == a[0])? as i64)
        };
        let environment = world
            .environment()
            .function("up.inverse", inverse(&world.up))
            .function("c.inverse.0", |a| (0..9).contains(&a[0]).then(|| a[0] % 3))
            .function("c.inverse.1", |a| (0..9).contains(&a[0]).then(|| a[0] / 3))
            .function("down.inverse", inverse(&world.down));
        let holds = |part: usize, pair: &Pair| {
            let text = solved.parts()[part].to_string();
            let solution: Relation = text.parse().expect("a relation");
            let pairs = solution.enumerate(&environment, BOX).expect("enumerates");
            pairs.contains(pair)
        };
        for part in 0..relation.parts().len() {
            let text = relation.parts()[part].to_string();
            let one: Relation = text.parse().expect("a relation");
            for pair in pairs(&one, &world) {
                prop_assert!(holds(part, &pair), "{:?} not in {}", pair, solved);
            }
        }
    }
}

#[test]
fn simplification_reaches_a_fixed_point() {
    simplifying_twice_is_once();
}

/// `cargo test -p sparsec-relation laws -- --nocapture` shows on how much.
#[test]
fn laws_hold() {
    tally::check(&[
        (
            "simplified under holds the same",
            simplified_under_holds_the_same,
        ),
        ("closed under holds the same", closed_under_holds_the_same),
        (
            "intersect and minus are those of sets",
            intersect_and_minus_are_those_of_sets,
        ),
        ("projection is the shadow", projection_is_the_shadow),
        ("composition is associative", composition_is_associative),
        ("apply and restrict", apply_and_restrict),
        ("answers are right", answers_are_right),
        ("consequences are right", consequences_are_right),
        ("subsets are those of sets", subsets_are_those_of_sets),
        ("solutions are values", solutions_are_values),
    ]);
}

/// Proofs that give up on everything would keep every law above.
#[test]
fn proofs_find_something() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let [empty, functions, fewer, subsets, excluded] = [const { Cell::new(0) }; 5];
    for _ in 0..150 {
        let relation = relation().new_tree(&mut runner).expect("a tree").current();
        let known = declared();
        let count =
            |counter: &Cell<i32>, found: bool| counter.set(counter.get() + i32::from(found));
        count(&empty, relation.is_empty(&known) == Answer::Yes);
        count(&functions, relation.is_function(&known) == Answer::Yes);
        let of_all: Relation = "{[i] -> [j]}".parse().expect("a relation");
        let of_all = Consequences::of_pairs(&of_all, &known);
        let is_excluded =
            |part: &Conjunction| part.exists().len() == 0 && of_all.exclude(part.constraints());
        count(&excluded, relation.parts().iter().any(is_excluded));
        let simple = relation.simplified_under(&known);
        let subset = simple.is_subset(&relation, &known).expect("of one shape");
        count(&subsets, subset == Answer::Yes);
        count(
            &fewer,
            simple.to_string().len() < relation.to_string().len(),
        );
    }
    assert!(empty.get() > 15, "{} found empty", empty.get());
    assert!(excluded.get() > 15, "{} excluded", excluded.get());
    assert!(functions.get() > 30, "{} functions", functions.get());
    assert!(fewer.get() > 60, "{} simplified", fewer.get());
    assert!(subsets.get() > 100, "{} subsets", subsets.get());
}

#[test]
fn differences_that_are_not_exact_are_refused() {
    let all: Relation = "{[i] -> [j]}".parse().expect("a relation");
    for text in [
        "{[i] -> [j] : exists k : i = 2 * k}",
        "{[i] -> [j] : f(i) = j}",
    ] {
        let some: Relation = text.parse().expect("a relation");
        let error = all.minus(&some, &Declarations::new()).expect_err("refused");
        assert_eq!(error.code(), code::RELATION_NOT_EXACT, "{error}");
    }
    let known: Declarations = "function f : {[i]} -> {[j]}".parse().expect("declarations");
    let some: Relation = "{[i] -> [j] : f(i) = j}".parse().expect("a relation");
    let rest = all.minus(&some, &known).expect("exact");
    assert_eq!(rest.to_string(), "{[i] -> [j] : f(i) != j}");
}

#[test]
fn shapes_have_to_agree() {
    let one: Relation = "{[i] -> [j]}".parse().expect("a relation");
    let two: Relation = "{[i, k] -> [j]}".parse().expect("a relation");
    let pairs: Set = "{[i, j]}".parse().expect("a set");
    let refused = [
        one.intersect(&two).map(|_| ()),
        one.minus(&two, &Declarations::new()).map(|_| ()),
        one.restricted_to(&pairs).map(|_| ()),
        one.apply(&pairs).map(|_| ()),
    ];
    for result in refused {
        assert_eq!(result.unwrap_err().code(), code::RELATION_ARITY);
    }
}
