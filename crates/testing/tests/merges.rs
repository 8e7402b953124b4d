//! Merges with and without branches give the same bits on every engine, and plans choose
//! between them by where entries lie.

use sparsec::{
    Backend, ElementType, Format, Inputs, Options, Request, Session, Source, Tensor, compile,
    generate,
};
use sparsec_runtime::Environment;

/// A matrix whose values show what they were added to, the sign of a zero included.
fn matrix(step: u64) -> Tensor {
    let some = [-0.0, 0.0, 1.5, f64::INFINITY, -2.0, 1e-310, 0.1];
    let places = (0..600u64).filter(|place| place * step % 7 < 4);
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for place in places {
        coords.extend([place / 30, place % 30]);
        values.push(some[(place * step % 11) as usize % some.len()]);
    }
    Tensor::pack(&Format::csr(), &[20, 30], &coords, &values).expect("a matrix")
}

#[test]
fn choosing_gives_the_bits_of_branching() {
    let cache = tempfile::tempdir().expect("a scratch directory");
    let mut environment = Environment::of_process();
    environment.cache_dir = Some(cache.path().into());
    let sessions = [Backend::Interpreter, Backend::Cranelift, Backend::C].map(|backend| {
        Session::new(Options {
            backend,
            environment: environment.clone(),
            ..Options::default()
        })
    });
    for rhs in [
        "A(i,j) + B(i,j)",
        "A(i,j) - 2 * B(i,j)",
        "max(A(i,j), B(i,j))",
        "A(i,j) + B(i,j) + D(i,j)",
        "2 * A(i,j) + (B(i,j) + D(i,j) * 0.5)",
        "A(i,j) - B(i,j) + D(i,j)",
        "A(i,j) * B(i,j) + D(i,j)",
    ] {
        let operands = [("A", 1), ("B", 3), ("D", 5)].into_iter();
        let inputs: Inputs = operands
            .filter(|(name, _)| rhs.contains(name))
            .map(|(name, step)| (name.to_owned(), matrix(step)))
            .collect();
        let mut found = Vec::new();
        for strategy in ["TwoFinger", "Select"] {
            let program = format!("C(i,j) = {rhs}");
            let mut request = Request::new(Source::new("program", &program));
            let schedule = format!("mergeby(j, {strategy})");
            request.schedule = Some(Source::new("schedule", &schedule));
            let compiled = compile(&request, &inputs).unwrap_or_else(|error| panic!("{error}"));
            for session in &sessions {
                let outcome = session.run(&compiled, &inputs);
                let result = outcome.unwrap_or_else(|error| panic!("{error}"));
                let result = result.tensors["C"].clone();
                let values = result.values::<f64>().expect("doubles").iter();
                let bits: Vec<u64> = values.map(|value| value.to_bits()).collect();
                found.push((result.level(1).crd().iter().collect::<Vec<_>>(), bits));
            }
        }
        assert!(found[0].1.len() > 300);
        assert!(found.iter().all(|it| *it == found[0]), "{rhs}");
    }
}

#[test]
fn plans_choose_where_the_next_operand_is_hard_to_guess() {
    let schedule = |specs: [&str; 2]| {
        let made = specs.map(|spec| {
            let source = Source::new("generator", spec);
            let made = generate(&source, &[500, 500], Some(&Format::csr()), ElementType::F64);
            made.unwrap_or_else(|error| panic!("{error}"))
        });
        let [a, b] = made;
        let inputs = Inputs::from([("A".to_owned(), a), ("B".to_owned(), b)]);
        let request = Request::new(Source::new("program", "C(i,j) = A(i,j) + B(i,j)"));
        let compiled = compile(&request, &inputs).unwrap_or_else(|error| panic!("{error}"));
        compiled.statements()[0].plan.schedule.to_string()
    };
    let anywhere = ["random(nnz=5000, seed=1)", "random(nnz=4000, seed=2)"];
    assert!(schedule(anywhere).contains("mergeby(j, Select)"));
    for easy in [
        ["band(width=10, seed=1)", "band(width=8, seed=2)"],
        ["random(nnz=5000, seed=1)", "random(nnz=500, seed=2)"],
    ] {
        assert!(!schedule(easy).contains("mergeby"), "{easy:?}");
    }
}
