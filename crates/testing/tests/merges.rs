//! Merges with and without branches give the same bits on every engine, and plans choose
//! between them by where the entries of all operands lie.

use sparsec::internals::{Inputs, Request, compile, generate};
use sparsec::{Backend, ElementType, Format, Options, Program, Session, Source, Stage, Tensor};
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
        Session::new(
            Options::from_env()
                .backend(backend)
                .environment(environment.clone()),
        )
    });
    // With what is merged first, where there are more than two.
    for (rhs, first) in [
        ("A(i,j) + B(i,j)", None),
        ("A(i,j) - 2 * B(i,j)", None),
        ("max(A(i,j), B(i,j))", None),
        ("A(i,j) + B(i,j) + D(i,j)", Some("A(i,j) + B(i,j)")),
        (
            "2 * A(i,j) + (B(i,j) + D(i,j) * 0.5)",
            Some("B(i,j) + D(i,j) * 0.5"),
        ),
        ("A(i,j) - B(i,j) + D(i,j)", Some("A(i,j) - B(i,j)")),
        ("A(i,j) * B(i,j) + D(i,j)", Some("A(i,j) * B(i,j)")),
    ] {
        let operands = [("A", 1), ("B", 3), ("D", 5)].into_iter();
        let inputs: Inputs = operands
            .filter(|(name, _)| rhs.contains(name))
            .map(|(name, step)| (name.to_owned(), matrix(step)))
            .collect();
        let mut found = Vec::new();
        let apart = first.map(|part| format!("precompute({part}, {{j}}, w : appended);"));
        let ways = [String::new()].into_iter().chain(apart);
        let strategies = ["mergeby(j, TwoFinger)", "mergeby(j, Select)"];
        for schedule in ways.flat_map(|way| strategies.map(|it| format!("{way} {it}"))) {
            let program = format!("C(i,j) = {rhs}");
            let mut request = Request::new(Source::new("program", &program));
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

/// A matrix of a generator.
fn made(spec: &str, n: u64) -> Tensor {
    let source = Source::new("generator", spec);
    let made = generate(&source, &[n, n], Some(&Format::csr()), ElementType::F64);
    made.unwrap_or_else(|error| panic!("{error}"))
}

/// The same so many columns further on.
fn shifted(matrix: &Tensor, by: u64) -> Tensor {
    let columns = matrix.extents()[1];
    let entries = matrix.entries();
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for (at, _) in entries.iter() {
        let at = at.to_vec();
        coords.extend([at[0], (at[1] + by) % columns]);
        values.push(1.0);
    }
    Tensor::pack(matrix.format(), matrix.extents(), &coords, &values).expect("a matrix")
}

/// The same in another format.
fn stored_as(matrix: &Tensor, format: &str) -> Tensor {
    let format = Format::parse(format).expect("a format");
    matrix.convert(&format).expect("an equal matrix")
}

/// The plan of a sum of these.
fn plan_of_sum(operands: &[Tensor]) -> sparsec_plan::Plan {
    let names = ["A", "B", "D"].into_iter().map(str::to_owned);
    let inputs: Inputs = names.zip(operands.iter().cloned()).collect();
    let rhs: Vec<String> = inputs.keys().map(|name| format!("{name}(i,j)")).collect();
    let program = format!("C(i,j) = {}", rhs.join(" + "));
    let request = Request::new(Source::new("program", &program));
    let compiled = compile(&request, &inputs).unwrap_or_else(|error| panic!("{error}"));
    compiled.statements()[0].plan.clone()
}

#[test]
fn plans_choose_where_the_next_operand_is_hard_to_guess() {
    let chooses = |operands: &[Tensor]| {
        let schedule = plan_of_sum(operands).schedule.to_string();
        schedule.contains("mergeby(j, Select)")
    };
    let any = |nnz: u64, seed: u64| made(&format!("random(nnz={nnz}, seed={seed})"), 500);
    let (a, b) = (any(5000, 1), any(4000, 2));
    assert!(chooses(&[a.clone(), b.clone()]));
    let three = [a.clone(), b.clone(), any(4000, 3)];
    assert!(chooses(&three));
    let schedule = plan_of_sum(&three).schedule.to_string();
    assert_eq!(schedule.matches(" : appended)").count(), 1, "{schedule}");
    // Each of them lies anywhere; where the other is follows from it.
    assert!(!chooses(&[a.clone(), shifted(&a, 1)]));
    assert!(!chooses(&[a.clone(), shifted(&a, 1), shifted(&a, 2)]));
    assert!(!chooses(&[a.clone(), a.clone()]));
    assert!(!chooses(&[a.clone(), any(500, 2)]));
    let bands = ["band(width=10, seed=1)", "band(width=8, seed=2)"];
    assert!(!chooses(&bands.map(|spec| made(spec, 500))));
    for format in [
        "dcsr",
        "(i, j) -> (i : compressed(nonunique), j : singleton)",
        "(i, j) -> (i : dense, j : loose_compressed)",
        "(i, j) -> (i : compressed, j : bitmap)",
    ] {
        assert!(chooses(&[stored_as(&a, format), b.clone()]), "{format}");
        assert!(!chooses(&[a.clone(), stored_as(&shifted(&a, 1), format)]));
    }
    let explained = plan_of_sum(&[a, b]).account.to_string();
    assert!(
        explained.contains(" % of the steps of the merge over j wrong"),
        "{explained}"
    );
}

#[test]
fn kernels_choose_by_the_operands_that_are_bound() {
    let a = made("random(nnz=70000, seed=1)", 5000);
    let kernel = Program::parse("C(i,j) = A(i,j) + B(i,j)").expect("a program");
    let kernel = kernel.like("A", &a).and_then(|it| it.like("B", &a));
    let kernel = kernel.and_then(|it| it.plan()).expect("a plan");
    let chooses = |b: &Tensor| {
        let bound = kernel.bind("A", &a).and_then(|it| it.bind("B", b));
        let schedule = bound.and_then(|it| it.emit(&Stage::Schedule));
        schedule.expect("a schedule").contains("mergeby(j, Select)")
    };
    assert!(chooses(&made("random(nnz=70000, seed=2)", 5000)));
    assert!(!chooses(&shifted(&a, 1)));
}
