//! Laws that hold of every function, tried on random ones.

mod generate;

use proptest::collection::vec;
use proptest::prelude::*;
use sparsec_base::Source;
use sparsec_loop::interpret::{ArgumentData, Entries, Options, Outcome, interpret};
use sparsec_loop::{Function, passes, verify};

fn parse(text: &str) -> Function {
    Function::parse(&Source::new("print", text)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn run(function: &Function) -> (Outcome, Vec<ArgumentData>) {
    run_on(function, generate::arguments())
}

fn run_on(function: &Function, mut arguments: Vec<ArgumentData>) -> (Outcome, Vec<ArgumentData>) {
    let options = Options {
        max_steps: Some(1_000_000),
        ..Options::default()
    };
    let outcome = interpret(function, &mut arguments, &options)
        .unwrap_or_else(|fault| panic!("{fault}\n{function}"));
    (outcome, arguments)
}

/// Whether all results have the same bits, except that any `NaN` is one.
fn same_results(left: &[ArgumentData], right: &[ArgumentData]) -> bool {
    let entries = |data: &[ArgumentData]| -> Vec<Entries> {
        data.iter()
            .flat_map(|argument| argument.buffers.clone())
            .collect()
    };
    let (left, right) = (entries(left), entries(right));
    left.iter().zip(&right).all(|(left, right)| {
        left.len() == right.len()
            && (0..left.len()).all(|at| {
                let (a, b) = (left.get(at), right.get(at));
                a == b || a.to_f64().is_nan() && b.to_f64().is_nan()
            })
    })
}

fn assert_same_meaning(what: &str, before: &Function, after: &Function) {
    let (outcome, results) = run(before);
    let (outcome_after, results_after) = run(after);
    // Which of several failures comes first may change.
    let fail = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
    assert!(
        outcome == outcome_after || fail(&outcome) && fail(&outcome_after),
        "{what}: {outcome:?} {outcome_after:?}\n{before}\n{after}"
    );
    assert!(
        outcome != Outcome::Done || same_results(&results, &results_after),
        "{what}: {results:?} {results_after:?}\n{before}\n{after}"
    );
}

fn assert_valid(what: &str, function: &Function) {
    verify(function).unwrap_or_else(|error| panic!("{what}\n{error}\n{function}"));
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn printing_and_parsing_are_inverse(tape in vec(any::<u32>(), 0..300)) {
        let function = generate::function(&tape);
        assert_valid("generated", &function);
        let printed = function.to_string();
        let parsed = parse(&printed);
        prop_assert_eq!(&parsed.to_string(), &printed);
        prop_assert_eq!(parse(&parsed.to_string()), parsed);
    }

    #[test]
    fn simplify_twice_is_once(tape in vec(any::<u32>(), 0..300)) {
        let mut once = generate::function(&tape);
        passes::simplify(&mut once);
        let mut twice = once.clone();
        passes::simplify(&mut twice);
        prop_assert_eq!(twice.to_string(), once.to_string());
    }

    #[test]
    fn passes_keep_the_meaning(tape in vec(any::<u32>(), 0..300)) {
        let function = generate::function(&tape);
        for pass in passes::PIPELINE {
            let mut changed = function.clone();
            (pass.run)(&mut changed);
            assert_valid(pass.name, &changed);
            assert_same_meaning(pass.name, &function, &changed);
        }
        let optimized = passes::optimize(function.clone(), &mut |_, _| {});
        assert_same_meaning("optimize", &function, &optimized);
        let mut polled = function.clone();
        passes::polls(&mut polled, &|_| None);
        assert_valid("polls", &polled);
        assert_same_meaning("polls", &function, &polled);
        if let Some(without) = passes::without_prefetch(&function, &|_, _| false) {
            assert_valid("without_prefetch", &without);
            assert_same_meaning("without_prefetch", &function, &without);
        }
    }

    #[test]
    fn slices_make_the_whole(tape in vec(any::<u32>(), 0..300)) {
        let whole = generate::function(&tape);
        let assemble = passes::slice_structure(&whole);
        // Some store values of entries that may not come.
        let Some(compute) = passes::slice_values(&whole) else {
            return Ok(());
        };
        assert_valid("slice_structure", &assemble);
        assert_valid("slice_values", &compute);
        let (outcome, results) = run(&whole);
        let (mut outcome_sliced, mut results_sliced) = run(&assemble);
        if outcome_sliced == Outcome::Done {
            (outcome_sliced, results_sliced) = run_on(&compute, results_sliced);
        }
        prop_assert_eq!(
            outcome == Outcome::Done,
            outcome_sliced == Outcome::Done,
            "{:?} {:?}\n{}\n{}\n{}", outcome, outcome_sliced, whole, assemble, compute
        );
        prop_assert!(
            outcome != Outcome::Done || same_results(&results, &results_sliced),
            "{:?}\n{:?}\n{}\n{}\n{}", results, results_sliced, whole, assemble, compute
        );
    }
}

/// The laws above say nothing if the functions are all alike.
#[test]
fn functions_are_various() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut n_done, mut n_sliced) = (0, 0);
    let mut n_changed = vec![0; passes::PIPELINE.len()];
    let n_functions = 300;
    for _ in 0..n_functions {
        let tape = vec(any::<u32>(), 100..600)
            .new_tree(&mut runner)
            .expect("any tape will do")
            .current();
        let mut function = generate::function(&tape);
        n_done += usize::from(run(&function).0 == Outcome::Done);
        n_sliced += usize::from(passes::slice_values(&function).is_some());
        for (pass, n_changed) in passes::PIPELINE.iter().zip(&mut n_changed) {
            let before = function.clone();
            (pass.run)(&mut function);
            *n_changed += usize::from(before != function);
        }
    }
    assert!(n_done > n_functions / 4 && n_done < n_functions, "{n_done}");
    assert!(n_sliced > n_functions / 2, "{n_sliced}");
    assert!(
        n_changed.iter().all(|&n| n > n_functions / 50),
        "{n_changed:?}"
    );
}
