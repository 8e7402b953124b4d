//! Names: a relation's text holds the same pairs, whatever its variables,
//! constants and functions are called.
//!
//! Random relations are built from few names, so that variables have the names of
//! one another, of constants and of functions.

use std::collections::BTreeSet;
use std::ops::Range;

use proptest::prelude::*;
use sparsec_base::code;
use sparsec_relation::{
    Comparison, Conjunction, Constraint, Declarations, Environment, Expression, Pair, Relation,
    Rewrite, Set, Variable,
};

mod tally;

const NAMES: [&str; 7] = ["i", "i_1", "j", "N", "N_1", "f", "exists"];
const BOX: Range<i64> = -1..4;

/// Every name as a constant; `f` and `g` as functions too, which only values built by
/// hand tell apart from constants.
fn known() -> Environment<'static> {
    let constants = NAMES.iter().zip([2, 3, 1, 2, 3, 0, 1]);
    let known = constants.fold(Environment::new(), |known, (name, value)| {
        known.constant(*name, value)
    });
    known
        .table("f", vec![1, 0, 2])
        .table("g", vec![0, 2])
        .table("i", vec![2, 1, 0])
        .table("j", vec![1, 1, 3])
}

fn pairs(relation: &Relation) -> BTreeSet<Pair> {
    let pairs = relation.enumerate(&known(), BOX);
    let pairs = pairs.unwrap_or_else(|error| panic!("{error}"));
    tally::enumerated(pairs.len());
    pairs
}

fn tuples(set: &Set) -> BTreeSet<Vec<i64>> {
    set.enumerate(&known(), BOX)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// An expression: a variable by its place, or a name.
#[derive(Clone, Debug)]
enum Word {
    Number(i64),
    Place(usize),
    Constant(&'static str),
    Call(&'static str, usize),
}

/// One part: the names of its variables, `[i] -> [j] : exists …`, and comparisons.
#[derive(Clone, Debug)]
struct Draft {
    names: Vec<&'static str>,
    comparisons: Vec<(Word, Comparison, Word)>,
}

impl Draft {
    fn part(&self) -> Conjunction {
        let mut part = Conjunction::new([self.names[0]], [self.names[1]]);
        let word = |word: &Word| {
            let variables = || part.inputs().chain(part.outputs()).chain(part.exists());
            let at = |at: usize| -> Variable {
                let all: Vec<Variable> = variables().collect();
                all[at % all.len()]
            };
            match word {
                Word::Number(n) => Expression::Integer(*n),
                Word::Place(place) => Expression::Variable(at(*place)),
                Word::Constant(name) => Expression::Constant((*name).to_owned()),
                Word::Call(name, place) => {
                    Expression::Call((*name).to_owned(), vec![Expression::Variable(at(*place))])
                }
            }
        };
        // Half of the constraints come before the variables that only have to exist.
        let constraint = |(a, comparison, b): &(Word, Comparison, Word)| {
            Constraint::new(word(a), *comparison, word(b))
        };
        let (before, after) = self.comparisons.split_at(self.comparisons.len() / 2);
        let before: Vec<Constraint> = before.iter().map(constraint).collect();
        let after: Vec<Constraint> = after.iter().map(constraint).collect();
        before.into_iter().for_each(|c| part.add(c));
        for name in &self.names[2..] {
            let variable = part.add_exists(*name);
            let pair = part.inputs().next().expect("one element");
            part.add(Constraint::new(
                Expression::Variable(variable),
                Comparison::LessEqual,
                Expression::Variable(pair),
            ));
        }
        after.into_iter().for_each(|c| part.add(c));
        part
    }
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        1 => (-1i64..4).prop_map(Word::Number),
        4 => (0usize..3).prop_map(Word::Place),
        2 => prop::sample::select(vec!["i", "i_1", "j", "N", "N_1"]).prop_map(Word::Constant),
        2 => (prop::sample::select(vec!["f", "g", "i", "j"]), 0usize..3)
            .prop_map(|(f, at)| Word::Call(f, at)),
    ]
}

fn draft() -> impl Strategy<Value = Draft> {
    let comparison = prop::sample::select(vec![
        Comparison::Less,
        Comparison::LessEqual,
        Comparison::Equal,
        Comparison::NotEqual,
    ]);
    let names = prop::collection::vec(prop::sample::select(NAMES.to_vec()), 2..4);
    let comparisons = prop::collection::vec((word(), comparison, word()), 0..4);
    (names, comparisons).prop_map(|(names, comparisons)| Draft { names, comparisons })
}

/// Relations whose names have one role each; their text would not be read otherwise.
fn relation() -> impl Strategy<Value = Relation> {
    let parts = prop::collection::vec(draft(), 1..3);
    parts.prop_filter_map("a name in two roles", |drafts| {
        Relation::new(drafts.iter().map(Draft::part).collect()).ok()
    })
}

/// What can be read holds the same pairs and prints as the same text.
fn reads_back(relation: &Relation) -> Result<(), TestCaseError> {
    let text = relation.to_string();
    let again: Relation = match text.parse() {
        Ok(again) => again,
        Err(error) => return Err(TestCaseError::fail(format!("{error}"))),
    };
    prop_assert_eq!(&again.to_string(), &text);
    prop_assert_eq!(pairs(&again), pairs(relation), "{}", text);
    Ok(())
}

/// Other names for constants and functions, that variables may have.
struct Other;

impl Rewrite for Other {
    fn constant(&self, name: &str) -> Expression {
        let other = match name {
            "N" => "i",
            "i" => "i_1",
            name => name,
        };
        Expression::Constant(other.to_owned())
    }

    fn function(&self, name: &str) -> String {
        match name {
            "f" => "j".to_owned(),
            name => name.to_owned(),
        }
    }
}

/// Declarations whose sets speak of constants that variables are named after.
fn declared() -> Declarations {
    let text = "
        function g : {[x] : 0 <= x < i} -> {[x] : 0 <= x <= N}
        function f : {[i] : 0 <= i < N_1} -> {[f_1] : 0 <= f_1 < i_1} injective
    ";
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

proptest! {
    fn print_then_parse(relation in relation()) {
        reads_back(&relation)?;
    }

    fn operations_keep_names_apart(first in relation(), second in relation()) {
        reads_back(&first.inverse())?;
        reads_back(&first.simplified())?;
        reads_back(&first.without_inputs(&[0]))?;
        reads_back(&first.without_outputs(&[0]))?;
        reads_back(first.domain().as_relation())?;
        reads_back(first.range().as_relation())?;
        let all = [
            first.then(&second),
            first.union(&second),
            first.intersect(&second),
            first.minus(&second, &Declarations::new()),
            first.restricted_to(&second.domain()),
            first.range_restricted_to(&second.domain()),
            first.apply(&second.domain()).map(|set| set.as_relation().clone()),
            first.rewritten(&Other),
        ];
        for relation in all {
            match relation {
                Ok(relation) => reads_back(&relation)?,
                Err(error) => prop_assert!(
                    [code::RELATION_NAME, code::RELATION_NOT_EXACT].contains(&error.code()),
                    "{}", error
                ),
            }
        }
    }

    fn proofs_keep_names_apart(relation in relation()) {
        for known in [Declarations::new(), declared()] {
            let simple = relation.simplified_under(&known);
            reads_back(&simple)?;
            prop_assert_eq!(&simple.simplified_under(&known), &simple);
            let closed = relation.closed_under(&known);
            reads_back(&closed)?;
            if let Ok(solved) = relation.solved(&known) {
                let text = solved.to_string();
                prop_assert_eq!(text.parse::<Relation>().expect("reads").to_string(), text);
            }
        }
        let simple = relation.simplified_under(&Declarations::new());
        prop_assert_eq!(pairs(&simple), pairs(&relation));
    }

    fn rewriting_renames_constants_alone(relation in relation()) {
        let Ok(rewritten) = relation.rewritten(&Other) else { return Ok(()) };
        // The environment in which each old name is what the new one is here.
        let before = Environment::new()
            .constant("N", 2).constant("i", 3).constant("i_1", 3)
            .constant("j", 1).constant("N_1", 3)
            .table("f", vec![1, 1, 3]).table("j", vec![1, 1, 3])
            .table("g", vec![0, 2]).table("i", vec![2, 1, 0]);
        let expect = relation.enumerate(&before, BOX).expect("enumerates");
        prop_assert_eq!(pairs(&rewritten), expect, "{} was {}", rewritten, relation);
    }

    fn projections_are_of_values(relation in relation()) {
        let all = pairs(&relation);
        let first: BTreeSet<Vec<i64>> = all.iter().map(|(a, _)| a.clone()).collect();
        let domain: Set = relation.domain().to_string().parse().expect("reads");
        prop_assert_eq!(tuples(&domain), first);
    }
}

/// `cargo test -p sparsec-relation laws -- --nocapture` shows on how much.
#[test]
fn laws_hold() {
    tally::check(&[
        ("print then parse", print_then_parse),
        ("operations keep names apart", operations_keep_names_apart),
        ("proofs keep names apart", proofs_keep_names_apart),
        (
            "rewriting renames constants alone",
            rewriting_renames_constants_alone,
        ),
        ("projections are of values", projections_are_of_values),
    ]);
}

#[test]
fn derived_facts_capture_no_variable() {
    let known: Declarations = "function f : {[i] : 0 <= i < m} -> {[x]}"
        .parse()
        .expect("declarations");
    let relation: Relation = "{[m] -> [j] : f(m) = j}".parse().expect("a relation");
    let closed = relation.closed_under(&known);
    assert_eq!(
        closed.to_string(),
        "{[m_1] -> [j] : f(m_1) = j && 0 <= m_1 && m_1 < m}"
    );
    let values = Environment::new()
        .constant("m", 3)
        .table("f", vec![2, 0, 1]);
    let again: Relation = closed.to_string().parse().expect("reads");
    let pairs = again.enumerate(&values, 0..5).expect("enumerates");
    assert_eq!(pairs, closed.enumerate(&values, 0..5).expect("enumerates"));
    assert_eq!(pairs.len(), 3);
}

/// Declarations know a function `N`; the relation has a constant of that name.
#[test]
fn derived_facts_give_no_name_a_second_role() {
    let known: Declarations = "function g : {[i]} -> {[x] : x < N(0)}"
        .parse()
        .expect("declarations");
    let relation: Relation = "{[i] -> [j] : g(i) = N + j}".parse().expect("a relation");
    let closed = relation.closed_under(&known);
    assert_eq!(closed.to_string().parse::<Relation>().as_ref(), Ok(&closed));
}

#[test]
fn rewriting_sets_captures_no_variable() {
    struct Named(&'static str);
    impl Rewrite for Named {
        fn constant(&self, _: &str) -> Expression {
            Expression::Constant(self.0.to_owned())
        }
    }
    let below: Set = "{[i] : 0 <= i < N}".parse().expect("a set");
    let renamed = below.rewritten(&Named("i")).expect("one role");
    assert_eq!(renamed.to_string(), "{[i_1] : 0 <= i_1 < i}");
    let known: Declarations = "forall a, b : a < b && b < N => f(a) < f(b)"
        .parse()
        .expect("declarations");
    let renamed = known.rewritten(&Named("a")).expect("one role");
    assert_eq!(
        renamed.to_string(),
        "forall a_1, b : a_1 < b && b < a => f(a_1) < f(b)\n"
    );
    let calls: Set = "{[i] : f(i) < N}".parse().expect("a set");
    let error = calls.rewritten(&Named("f")).expect_err("two roles");
    assert_eq!(error.code(), code::RELATION_NAME);
}

#[test]
fn loops_have_names_of_their_own() {
    let set: Set = "{[i] : 0 <= i < i_1} union {[i] : i_1 <= i < M}"
        .parse()
        .expect("a set");
    let loops = set.scan(&Declarations::new()).expect("bounded");
    let text = loops.to_string();
    let expect = "for i in 0..i_1\n  visit(i)\nfor i_2 in i_1..M\n  visit(i_2)\n";
    assert_eq!(text, expect);
}
