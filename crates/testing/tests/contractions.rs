//! Products of several tensors, which planning contracts in fused parts.
//!
//! Random networks of two to five tensors in random formats give what the reference
//! evaluator says, sums inside of products and statements that nobody else reads included, and
//! most of their plans contract some factors apart.

use std::collections::BTreeSet;

use sparsec::internals::{Inputs, Request, compile, reference};
use sparsec::{FormatSpec, Session, Source, Stage, Tensor};

const VARS: [&str; 6] = ["i", "j", "k", "l", "m", "n"];
const EXTENTS: [u64; 6] = [7, 9, 8, 6, 10, 5];

/// Numbers that follow from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

fn tensor(numbers: &mut Numbers, modes: &[usize], format: &str) -> Tensor {
    let spec = FormatSpec::parse(&Source::new("format", format));
    let format = spec.and_then(|spec| spec.resolve(modes.len()));
    let extents: Vec<u64> = modes.iter().map(|mode| EXTENTS[*mode]).collect();
    let share = numbers.pick(&[2, 5, 9]);
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    let all: u64 = extents.iter().product();
    for mut place in 0..all {
        if numbers.below(10) >= share {
            continue;
        }
        let mut entry: Vec<u64> = Vec::new();
        for extent in extents.iter().rev() {
            entry.push(place % extent);
            place /= extent;
        }
        coords.extend(entry.into_iter().rev());
        // Sums of small integers are exact in any order.
        values.push(numbers.below(5) as f64 - 2.0);
    }
    let tensor = Tensor::pack(&format.expect("a preset"), &extents, &coords, &values);
    tensor.expect("entries within the extents")
}

/// A product of tensors, with its operands and the format of its result.
fn network(seed: u64) -> (String, Inputs, &'static str) {
    let mut numbers = Numbers(seed);
    let n = 2 + numbers.below(4) as usize;
    let mut inputs = Inputs::new();
    let mut factors = Vec::new();
    let mut used: Vec<usize> = Vec::new();
    for number in 0..n {
        let order = 1 + numbers.below(3) as usize;
        let mut modes: Vec<usize> = Vec::new();
        // Most tensors share a variable with those before.
        let is_joined = !used.is_empty() && numbers.below(5) > 0;
        if let Some(shared) = is_joined.then(|| numbers.pick(&used)) {
            modes.push(shared);
        }
        while modes.len() < order {
            let mode = numbers.below(VARS.len() as u64) as usize;
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        used.extend(
            modes
                .iter()
                .filter(|mode| !used.contains(mode))
                .copied()
                .collect::<Vec<_>>(),
        );
        let format = match order {
            1 => numbers.pick(&["dense", "csf"]),
            2 => numbers.pick(&["dense", "csr", "csc", "dcsr", "scoo"]),
            _ => numbers.pick(&["dense", "csf"]),
        };
        let name = format!("A{number}");
        let indices: Vec<&str> = modes.iter().map(|mode| VARS[*mode]).collect();
        factors.push(format!("{name}({})", indices.join(",")));
        inputs.insert(name, tensor(&mut numbers, &modes, format));
    }
    let mut kept: Vec<usize> = used
        .iter()
        .filter(|_| numbers.below(2) == 0)
        .copied()
        .collect();
    kept.truncate(3);
    let kept: Vec<&str> = kept.into_iter().map(|mode| VARS[mode]).collect();
    let format = match kept.len() {
        0 | 1 => "dense",
        2 => numbers.pick(&["dense", "csr"]),
        _ => numbers.pick(&["dense", "csf"]),
    };
    let lhs = match kept.is_empty() {
        true => "R".to_owned(),
        false => format!("R({})", kept.join(",")),
    };
    let program = match numbers.below(5) {
        2 if n > 2 => {
            // Two sums that have all factors but one in common.
            let name = "B".to_owned();
            let last = factors[n - 1].replace(&format!("A{}", n - 1), &name);
            let other = &inputs[&format!("A{}", n - 1)];
            inputs.insert(name, other.try_clone().expect("memory for a copy"));
            let shared = factors[..n - 1].join(" * ");
            format!("{lhs} = {shared} * {} + {shared} * {last}", factors[n - 1])
        }
        0 if n > 2 => format!("{lhs} = {}", nested(&factors, &used, &kept)),
        1 if n > 2 => in_statements(&lhs, &factors, &used, &kept),
        _ => format!("{lhs} = {}", factors.join(" * ")),
    };
    (program, inputs, format)
}

/// A product whose last factors are multiplied by a statement of their own.
fn in_statements(lhs: &str, factors: &[String], used: &[usize], kept: &[&str]) -> String {
    let (outside, inside) = factors.split_at(factors.len() - 2);
    let has = |factors: &[String], var: &str| factors.iter().any(|factor| factor.contains(var));
    let names = used.iter().map(|mode| VARS[*mode]);
    let shared = names.filter(|var| has(inside, var) && (has(outside, var) || kept.contains(var)));
    let shared: Vec<&str> = shared.collect();
    let part = match shared.is_empty() {
        true => "T".to_owned(),
        false => format!("T({})", shared.join(",")),
    };
    let rest = outside.join(" * ");
    format!("{part} = {}; {lhs} = {rest} * {part}", inside.join(" * "))
}

/// A product whose last factors are a sum inside of it, over the variables that they alone have.
fn nested(factors: &[String], used: &[usize], kept: &[&str]) -> String {
    let (outside, inside) = factors.split_at(factors.len() - 2);
    let has = |factors: &[String], var: &str| factors.iter().any(|factor| factor.contains(var));
    let names = used.iter().map(|mode| VARS[*mode]);
    let own = names.filter(|var| !has(outside, var) && !kept.contains(var));
    let own: Vec<&str> = own.collect();
    match own.is_empty() {
        true => factors.join(" * "),
        false => format!(
            "{} * sum{{{}}}({})",
            outside.join(" * "),
            own.join(","),
            inside.join(" * ")
        ),
    }
}

#[test]
fn random_networks_are_what_the_reference_says() {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|it| it.parse().ok());
    let session = Session::interpreter();
    let (mut n_contracted, mut n_shared, n) = (0, 0, cases.unwrap_or(60));
    for seed in 0..n {
        let (program, inputs, format) = network(seed);
        let mut request = Request::new(Source::new("program", program.as_str()));
        request.results = Some(BTreeSet::from(["R".to_owned()]));
        if program.contains("R(") {
            request.set_format("R", format).expect("a format");
        }
        let case = format!("seed {seed}: {program} into {format}");
        let compiled = compile(&request, &inputs).unwrap_or_else(|e| panic!("{case}: {e:?}"));
        let found = session.run(&compiled, &inputs);
        let found = found.unwrap_or_else(|e| panic!("{case}: {e:?}"));
        let expected = reference::evaluate(compiled.resolved(), &inputs);
        let expected = expected.unwrap_or_else(|e| panic!("{case}: {e:?}"));
        let difference = reference::compare_exact(&expected["R"], &found.tensors["R"]);
        let schedule = compiled.emit(&Stage::Schedule).expect("a stage");
        assert!(difference.is_none(), "{case}: {difference:?}\n{schedule}");
        // The schedule that is printed is that of the plan, whoever gives it.
        request.schedule = Some(Source::new("schedule", schedule.as_str()));
        let again = compile(&request, &inputs).unwrap_or_else(|e| panic!("{case}: {e:?}"));
        let replayed = again.emit(&Stage::Schedule).expect("a stage");
        assert_eq!(replayed, schedule, "{case}");
        n_contracted += u64::from(schedule.contains("precompute("));
        n_shared += u64::from(schedule.contains("common1:"));
    }
    assert!(n_shared * 40 > n, "{n_shared} of {n} share a product");
    assert!(
        n_contracted * 4 > n,
        "{n_contracted} of {n} are contracted in parts"
    );
}

/// The product of a chain of random matrices, whose plan is made without its data.
fn chain(n: usize) -> (Request, Inputs) {
    let factors: Vec<String> = (0..n).map(|k| format!("A{k}(i{k},i{})", k + 1)).collect();
    let program = format!("R(i0,i{n}) = {}", factors.join(" * "));
    let mut request = Request::new(Source::new("program", program.as_str()));
    request.set_format("R", "dense").expect("a format");
    let mut inputs = Inputs::new();
    let (mut numbers, extent) = (Numbers(n as u64), 40);
    for k in 0..n {
        let mut coords = Vec::new();
        for row in 0..extent {
            let first = numbers.below(extent - 3);
            for column in [first, first + 1 + numbers.below(2)] {
                coords.extend([row, column]);
            }
        }
        let values: Vec<f64> = (0..2 * extent)
            .map(|_| numbers.below(3) as f64 - 1.0)
            .collect();
        let format = FormatSpec::parse(&Source::new("format", "csr"));
        let format = format.and_then(|spec| spec.resolve(2)).expect("a preset");
        let matrix = Tensor::pack(&format, &[extent; 2], &coords, &values);
        inputs.insert(format!("A{k}"), matrix.expect("entries within the extents"));
    }
    (request, inputs)
}

/// One nest over a chain takes time exponential in its length, and so does looking at all of
/// its plans.
#[test]
fn long_chains_are_contracted_and_planned_in_bounded_work() {
    let session = Session::interpreter();
    for n in [16, 24, 60] {
        let (request, inputs) = chain(n);
        let compiled = compile(&request, &inputs).expect("a plan");
        let schedule = compiled.emit(&Stage::Schedule).expect("a stage");
        let n_apart = schedule.matches("precompute(").count();
        assert!(n_apart * 4 >= n, "{n}: {schedule}");
        let n_looked: usize = compiled
            .statements()
            .iter()
            .map(|it| it.plan.account.n_looked)
            .sum();
        assert!(n_looked <= 600, "{n}: {n_looked} candidates");
        let found = session.run(&compiled, &inputs).expect("a run");
        let expected = step_by_step(&inputs, n, &session);
        let difference = reference::compare_exact(&expected, &found.tensors["R"]);
        assert!(difference.is_none(), "{n}: {difference:?}");
    }
}

/// The product of a chain, one matrix after the other.
fn step_by_step(chain: &Inputs, n: usize, session: &Session) -> reference::CoordinateMap {
    let mut step = Request::new(Source::new("program", "C(i,j) = A(i,k) * B(k,j)"));
    step.set_format("C", "csr").expect("a format");
    let of = |k: usize| chain.get(&format!("A{k}")).expect("an input").clone();
    let mut both = Inputs::new();
    both.insert("A".to_owned(), of(0));
    for k in 1..n - 1 {
        both.insert("B".to_owned(), of(k));
        let compiled = compile(&step, &both).expect("a plan");
        let results = session.run(&compiled, &both).expect("a run");
        both.insert("A".to_owned(), results.tensors["C"].clone());
    }
    both.insert("B".to_owned(), of(n - 1));
    let compiled = compile(&step, &both).expect("a plan");
    let mut last = reference::evaluate(compiled.resolved(), &both).expect("a small product");
    last.remove("C").expect("the result")
}
