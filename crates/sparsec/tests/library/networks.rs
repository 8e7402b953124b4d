//! Contraction networks as callers see them: trees, degrees, refusals, solvers.

use sparsec::internals::network::{Network, Plan, Tree};
use sparsec::internals::{Inputs, Objective, Planner, Request, TensorSpec, compile};
use sparsec::{Format, FormatSpec, Session, Source, Stage, Tensor, code};

const INTEGRALS: &str = "E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)";

/// A tensor with about one entry in `every` places.
fn scattered(format: &str, extents: &[u64], every: u64) -> Tensor {
    let order = extents.len();
    let spec: FormatSpec = format.parse().expect("a format");
    let n: u64 = extents.iter().product();
    let (mut coords, mut values) = (Vec::new(), Vec::new());
    for place in 0..n {
        if place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 & 0xffff < 0x10000 / every {
            let mut rest = place;
            let mut tuple = vec![0; order];
            for mode in (0..order).rev() {
                tuple[mode] = rest % extents[mode];
                rest /= extents[mode];
            }
            coords.extend(tuple);
            values.push((place % 7 + 1) as f64);
        }
    }
    let format = spec.resolve(order).expect("it fits");
    Tensor::pack(&format, extents, &coords, &values).expect("packs")
}

fn operands() -> Inputs {
    Inputs::from([
        ("I".to_owned(), scattered("csf", &[40, 30, 30], 3)),
        ("C".to_owned(), scattered("csr", &[30, 10], 4)),
        ("P".to_owned(), scattered("csr", &[30, 30], 1)),
    ])
}

fn request(text: &str) -> Request {
    let mut request = Request::new(Source::new("expression", text));
    request.tensor("E").format = Some((&Format::dense(3)).into());
    request
}

fn emit(request: &Request, inputs: &Inputs, stage: &Stage) -> String {
    let compiled = compile(request, inputs).unwrap_or_else(|error| panic!("{error}"));
    compiled.emit(stage).expect("a stage of every program")
}

/// The statements of a tree without estimates.
fn statements(tree: &str) -> Vec<&str> {
    let lines = tree.lines();
    lines
        .map(|line| line.split("  ;").next().unwrap_or(line))
        .collect()
}

#[test]
fn stages_are_read_back() {
    let (request, inputs) = (request(INTEGRALS), operands());
    let network = emit(&request, &inputs, &Stage::Network);
    let read = Network::parse(&network).expect("a network");
    assert_eq!(read.to_string(), network);
    // Each mode of `I` and the prefix `K, a` are counted.
    let degrees = network.lines().filter(|line| line.starts_with("project I"));
    assert_eq!(degrees.count(), 4, "{network}");
    let tree = emit(&request, &inputs, &Stage::Tree);
    let parsed = Tree::parse(&read, &tree).expect("a tree");
    assert_eq!(
        parsed.print(&read).lines().collect::<Vec<_>>(),
        statements(&tree)
    );
    let plan = emit(&request, &inputs, &Stage::Fused);
    let parsed = Plan::parse(&read, &plan).expect("a plan");
    assert_eq!(parsed.print(&read), plan);
    let system = emit(&request, &inputs, &Stage::Smt2);
    assert!(system.contains("(check-sat)"), "{system}");
    let alone = Inputs::from([("I".to_owned(), inputs["I"].clone())]);
    let other = emit(
        &self::request("E(K,i,m) = I(K,i,m) * 2"),
        &alone,
        &Stage::Tree,
    );
    assert!(
        other.starts_with("; ") && other.contains("no product of three"),
        "{other}"
    );
}

#[test]
fn parentheses_state_a_tree_that_is_kept() {
    let inputs = operands();
    let session = Session::interpreter();
    let expected = session
        .run(&compile(&request(INTEGRALS), &inputs).unwrap(), &inputs)
        .unwrap();
    for (text, first) in [
        (
            "E(K,i,m) = (I(K,a,b) * C(a,i)) * P(b,m)",
            "t0(K,b,i) = I(K,a,b) * C(a,i)",
        ),
        (
            "E(K,i,m) = I(K,a,b) * (C(a,i) * P(b,m))",
            "t0(a,b,i,m) = C(a,i) * P(b,m)",
        ),
        ("E(K,i,m) = (P(b,m) * I(K,a,b)) * C(a,i)", "t0(m,K,a)"),
    ] {
        let mut request = request(text);
        request.networks.keep_tree = true;
        let tree = emit(&request, &inputs, &Stage::Tree);
        assert!(tree.starts_with(first), "{text}\n{tree}");
        let compiled = compile(&request, &inputs).unwrap();
        let outcome = session.run(&compiled, &inputs).unwrap();
        assert_eq!(outcome.tensors["E"].vals(), expected.tensors["E"].vals());
        // A tensor of its own has as many entries as are counted.
        let found = compiled
            .intermediates(&session, 0, &inputs, 1 << 30)
            .unwrap();
        let counted = found[0].counted.expect("small");
        assert!(counted > 0 && found[0].text.starts_with(first), "{found:?}");
        let near = found[0].estimated / counted as f64;
        assert!((0.5..2.0).contains(&near), "{found:?}");
        let none = compiled.intermediates(&session, 0, &inputs, 100).unwrap();
        assert_eq!(none[0].counted, None);
    }
}

/// The sum of `C` over `j` would overflow, and so no row of sums is kept.
#[test]
fn strict_products_are_multiplied_before_they_are_summed() {
    let matrix = |format: &str, entries: &[([u64; 2], f64)]| {
        let builder = Tensor::builder(format, &[30, 30]).unwrap();
        let entries = entries.iter();
        let filled = entries.fold(builder, |builder, (at, value)| builder.push(*at, *value));
        filled.build().unwrap()
    };
    let column: Vec<([u64; 2], f64)> = (0..30).map(|row| ([row, 1], 1e-10)).collect();
    let inputs = Inputs::from([
        (
            "C".to_owned(),
            matrix("csc", &[([1, 1], 1e308), ([1, 2], 1e308)]),
        ),
        ("M".to_owned(), matrix("csr", &column)),
    ]);
    let mut request = Request::new(Source::new("expression", "y(k) = C(i,j) * M(k,i)"));
    request.strict = true;
    let compiled = compile(&request, &inputs).unwrap();
    let session = Session::interpreter();
    let outcome = session.run(&compiled, &inputs).unwrap();
    session.check(&compiled, &inputs, &outcome).unwrap();
    assert_eq!(
        outcome.tensors["y"].get(&[0]).to_f64(),
        1e308 * 1e-10 + 1e308 * 1e-10
    );
}

/// Contractions of two tensors each are the tree, whatever order would cost less.
#[test]
fn statements_state_a_tree() {
    let inputs = operands();
    let session = Session::interpreter();
    let whole = request("E(K,i,m) = I(K,a,b) * C(a,i) * P(b,m)");
    let whole = compile(&whole, &inputs).unwrap();
    let expected = session.run(&whole, &inputs).unwrap();
    for (text, first) in [
        (
            "T(K,b,i) = I(K,a,b) * C(a,i); E(K,i,m) = P(b,m) * T(K,b,i)",
            "I(K,a,b) * C(a,i)",
        ),
        (
            "T(m,K,a) = I(K,a,b) * P(b,m); E(K,i,m) = C(a,i) * T(m,K,a)",
            "I(K,a,b) * P(b,m)",
        ),
    ] {
        let mut request = request(text);
        request.results = Some(std::collections::BTreeSet::from(["E".to_owned()]));
        request.networks.keep_tree = true;
        let compiled = compile(&request, &inputs).unwrap();
        assert_eq!(compiled.statements().len(), 1, "{text}");
        let tree = compiled.emit(&Stage::Tree).unwrap();
        let line = tree.lines().next().unwrap_or_default();
        assert!(line.contains(first), "{text}\n{tree}");
        let outcome = session.run(&compiled, &inputs).unwrap();
        assert_eq!(outcome.tensors["E"].vals(), expected.tensors["E"].vals());
        session.check(&compiled, &inputs, &outcome).unwrap();
    }
}

#[test]
fn a_tree_that_takes_too_much_memory_is_refused() {
    let inputs = operands();
    let mut request = request("E(K,i,m) = I(K,a,b) * (C(a,i) * P(b,m))");
    request.networks.keep_tree = true;
    request.networks.memory = Some(1000);
    let error = compile(&request, &inputs).unwrap_err();
    assert_eq!(error.code(), code::NETWORK_MEMORY, "{error}");
    assert!(
        error.message().contains("bytes") && !error.labels().is_empty(),
        "{error}"
    );
    // Without a tree, loops that need no memory are found.
    request.networks.keep_tree = false;
    assert!(compile(&request, &inputs).is_ok());
}

#[test]
fn the_order_of_intermediates_is_an_objective() {
    let inputs = operands();
    let mut request = request("E(K,i,m) = (I(K,a,b) * C(a,i)) * P(b,m)");
    request.networks.keep_tree = true;
    request.networks.objective = Objective::Order { at_most: None };
    let plan = emit(&request, &inputs, &Stage::Fused);
    // C is by rows `a`, so `i` is not fused: a workspace of one mode at most.
    assert!(plan.contains("workspace t0"), "{plan}");
    let compiled = compile(&request, &inputs).unwrap();
    let session = Session::interpreter();
    let ours = session.run(&compiled, &inputs).unwrap();
    request.networks = sparsec::internals::Wanted::default();
    let usual = session
        .run(&compile(&request, &inputs).unwrap(), &inputs)
        .unwrap();
    assert_eq!(ours.tensors["E"].vals(), usual.tensors["E"].vals());
}

#[test]
fn an_order_that_is_too_low_is_refused() {
    let inputs = Inputs::from([
        ("A".to_owned(), scattered("csf", &[6, 6, 6], 2)),
        ("B".to_owned(), scattered("csf", &[6, 6, 6], 2)),
        ("C".to_owned(), scattered("csf", &[6, 6, 6], 2)),
        ("D".to_owned(), scattered("csf", &[6, 6, 6], 2)),
    ]);
    let mut request = request("E(i,j,k) = ((A(i,p,q) * B(j,p,r)) * C(k,q,r)) * D(j,k,r)");
    request.networks.keep_tree = true;
    request.networks.objective = Objective::Order { at_most: Some(0) };
    let error = compile(&request, &inputs).unwrap_err();
    assert_eq!(error.code(), code::NETWORK_ORDER, "{error}");
    assert!(!error.labels().is_empty());
}

#[test]
#[allow(clippy::print_stderr, reason = "a test says that it was skipped")]
fn a_solver_finds_loops_of_the_same_order() {
    let inputs = operands();
    let mut request = request("E(K,i,m) = (I(K,a,b) * C(a,i)) * P(b,m)");
    request.networks.keep_tree = true;
    request.networks.planner = Planner::Z3;
    let compiled = match compile(&request, &inputs) {
        Err(error) if error.code() == code::NETWORK_SOLVER => {
            eprintln!("z3 is not installed: nothing was solved");
            return;
        }
        compiled => compiled.unwrap_or_else(|error| panic!("{error}")),
    };
    let order = |plan: &str| {
        let read = plan
            .split("t0[")
            .nth(1)
            .and_then(|rest| rest.split(']').next());
        read.map_or(0, |modes| modes.split(',').count())
    };
    let solved = compiled.emit(&Stage::Fused).unwrap();
    request.networks.planner = Planner::Search;
    request.networks.objective = Objective::Order { at_most: None };
    let searched = emit(&request, &inputs, &Stage::Fused);
    assert_eq!(order(&solved), order(&searched), "{solved}\n{searched}");
    let session = Session::interpreter();
    let ours = session.run(&compiled, &inputs).unwrap();
    let usual = compile(&self::request(INTEGRALS), &inputs).unwrap();
    let usual = session.run(&usual, &inputs).unwrap();
    assert_eq!(ours.tensors["E"].vals(), usual.tensors["E"].vals());
}

#[test]
fn long_programs_are_planned_to_their_end() {
    // The searches of these take all the time that those of a program may.
    let mut text = String::new();
    for n in 0..24 {
        text += &format!("R{n}(i,l) = A{n}(i,j) * B{n}(j,k) * C{n}(k,l); ");
    }
    text += "S(i,j) = A0(i,j) + A1(j,i); y(i) = D(i,j) * x(j)";
    let mut request = Request::new(Source::new("expression", text));
    let formats = [("D", "csc"), ("y", "dense")];
    for (name, format) in formats {
        let spec = TensorSpec {
            format: Some(format.parse().expect("a format")),
            ..TensorSpec::default()
        };
        request.tensors.insert(name.to_owned(), spec);
    }
    let compiled = compile(&request, &Inputs::new()).unwrap();
    let named = |name: &str| {
        let number = compiled.results().iter().position(|result| *result == name);
        &compiled.statements()[number.expect("it is computed")].plan
    };
    assert_eq!(named("S").conversions.len(), 1);
    assert!(named("y").conversions.is_empty());
}
