//! What plans choose by what operands hold, and that it computes the same.

use sparsec::internals::{Inputs, Request, compile, generate, reference};
use sparsec::{Backend, ElementType, Format, Options, Session, Source, Tensor};

/// A generated tensor with compressed levels: `random(nnz=10)`.
fn tensor(spec: &str, extents: &[u64]) -> Tensor {
    let format = match (spec.starts_with("dense"), extents.len()) {
        (true, order) => Format::dense(order),
        (false, 1) => "(i) -> (i : compressed)".parse().expect("a format"),
        (false, _) => Format::csr(),
    };
    let source = Source::new("generator", spec);
    generate(&source, extents, Some(&format), ElementType::F64).expect("a tensor")
}

/// The schedule of a program of one statement, after every engine has computed what
/// the reference does.
fn chosen(program: &str, operands: &[(&str, Tensor)]) -> String {
    chosen_for(Request::new(Source::new("program", program)), operands)
}

/// The same for a request that says more.
fn chosen_for(request: Request, operands: &[(&str, Tensor)]) -> String {
    let program = request.expression.text().to_owned();
    let named = |(name, tensor): &(&str, Tensor)| ((*name).to_owned(), tensor.clone());
    let inputs: Inputs = operands.iter().map(named).collect();
    let compiled = compile(&request, &inputs).unwrap_or_else(|error| panic!("{error}"));
    let expected = reference::evaluate(compiled.resolved(), &inputs).expect("a reference");
    for backend in [Backend::Interpreter, Backend::Cranelift, Backend::C] {
        let session = Session::new(Options::from_env().backend(backend));
        let outcome = session.run(&compiled, &inputs);
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        for (name, found) in &outcome.tensors {
            let difference = reference::compare(&expected[name.as_str()], found);
            assert!(
                difference.is_none(),
                "{name} of `{program}`: {difference:?}"
            );
        }
    }
    compiled.statements()[0].plan.schedule.to_string()
}

#[test]
fn intersections_leap_where_one_operand_has_much_more() {
    let few = || ("b", tensor("random(nnz=10, seed=1)", &[100_000]));
    let many = |nnz: u64| {
        (
            "c",
            tensor(&format!("random(nnz={nnz}, seed=2)"), &[100_000]),
        )
    };
    let schedule = chosen("s = b(i) * c(i)", &[few(), many(50_000)]);
    assert!(schedule.contains("mergeby(i, Gallop)"), "{schedule}");
    let alike = chosen("s = b(i) * c(i)", &[few(), many(30)]);
    assert!(!alike.contains("Gallop"), "{alike}");
    // All of both is visited.
    let sum = chosen("a(i) = b(i) + c(i)", &[few(), many(50_000)]);
    assert!(!sum.contains("Gallop"), "{sum}");
}

#[test]
fn long_sums_get_lanes() {
    let product = |nnz: u64| {
        let matrix = tensor(&format!("random(nnz={nnz}, seed=1)"), &[50, 1000]);
        let vector = tensor("dense:uniform(seed=2)", &[1000]);
        chosen("y(i) = A(i,j) * x(j)", &[("A", matrix), ("x", vector)])
    };
    let long = product(50 * 200);
    assert!(
        long.contains("parallelize(j, CPUVector, ParallelReduction)"),
        "{long}"
    );
    let short = product(50 * 5);
    assert!(!short.contains("CPUVector"), "{short}");
}

/// Few entries meet, but all are looked at.
#[test]
fn merges_are_work_where_little_meets() {
    let operand =
        |seed: u32, nnz: u32| tensor(&format!("random(nnz={nnz}, seed={seed})"), &[3000, 3000]);
    let program = "s = A(i,j) * B(i,j)";
    let many = [("A", operand(1, 200_000)), ("B", operand(2, 200_000))];
    let schedule = chosen(program, &many);
    assert!(schedule.contains("ParallelReduction"), "{schedule}");
    let few = [("A", operand(1, 20_000)), ("B", operand(2, 20_000))];
    let schedule = chosen(program, &few);
    assert!(!schedule.contains("ParallelReduction"), "{schedule}");
}

#[test]
fn what_exceeds_the_cache_is_fetched_early() {
    let matrix = |spec: &str| tensor(spec, &[20_000, 20_000]);
    let uniform = || ("A", matrix("random(nnz=200000, seed=1)"));
    let vector = || ("x", tensor("dense:uniform(seed=2)", &[20_000]));
    let fetched = |nnz: u64, rows: u64| {
        let matrix = tensor(&format!("random(nnz={nnz}, seed=1)"), &[rows, 20_000]);
        chosen("y(i) = A(i,j) * x(j)", &[("A", matrix), vector()])
    };
    let stream = fetched(750_000, 75_000);
    assert!(stream.contains("prefetch(j, A, 512)"), "{stream}");
    assert!(!stream.contains("prefetch(j, x"), "{stream}");
    // What caches hold, and rows of several lines.
    for (nnz, rows) in [(200_000, 20_000), (750_000, 30_000)] {
        let near = fetched(nnz, rows);
        assert!(!near.contains("prefetch"), "{near}");
    }
    let few = ("A", matrix("random(nnz=20000, seed=1)"));
    let small = chosen("y(i) = A(i,j) * x(j)", &[few, vector()]);
    assert!(!small.contains("prefetch"), "{small}");

    let product = "C(i,k) = A(i,j) * B(j,k)";
    let rows = || ("B", tensor("dense:uniform(seed=2)", &[20_000, 16]));
    let apart = chosen(product, &[uniform(), rows()]);
    assert!(apart.contains("prefetch(j, B, 32)"), "{apart}");
    let band = ("A", matrix("band(width=4, seed=1)"));
    let beside = chosen(product, &[band, rows()]);
    assert!(!beside.contains("prefetch(j, B"), "{beside}");
}

#[test]
fn what_descends_is_copied_where_searching_it_costs_more() {
    let t = |extent| ("t", tensor("random(nnz=1000, seed=1)", &[extent]));
    let u = |nnz: u64, extent| {
        (
            "u",
            tensor(&format!("random(nnz={nnz}, seed=2)"), &[extent]),
        )
    };
    let sum = chosen(
        "z(i) = t(i) + u(99999 - i)",
        &[t(100_000), u(1000, 100_000)],
    );
    assert!(
        sum.contains("convert(u(-i + 99999), (i) -> (0 - i : compressed)"),
        "{sum}"
    );
    // Where one has few entries, those of the other are searched; in a small tensor,
    // launching a conversion costs more than going everywhere.
    let product = chosen(
        "z(i) = t(i) * u(99999 - i)",
        &[t(100_000), u(1000, 100_000)],
    );
    assert!(!product.contains("convert"), "{product}");
    let t = |extent| ("t", tensor("random(nnz=50, seed=1)", &[extent]));
    let small = chosen("z(i) = t(i) + u(99 - i)", &[t(100), u(95, 100)]);
    assert!(!small.contains("convert"), "{small}");
}

#[test]
fn rows_are_not_merged_where_most_steps_meet_nothing() {
    let operands = |nnz: u64, n: u64| {
        let fill = |seed: u64| tensor(&format!("random(nnz={nnz}, seed={seed})"), &[n, n]);
        [("A", fill(1)), ("B", fill(2))]
    };
    let program = "C(i,k) = A(i,j) * B(k,j)";
    // A third of all coordinates: five steps in vain for each product.
    let some = chosen(program, &operands(1200, 60));
    assert!(some.contains("convert("), "{some}");
    // Launching a conversion costs more.
    let small = chosen(program, &operands(50, 10));
    assert!(!small.contains("convert"), "{small}");
}

#[test]
fn results_are_assembled_as_the_loops_find_them() {
    let into_csr = |program: &str| {
        let mut request = Request::new(Source::new("program", program));
        request.set_format("C", "csr").expect("a preset");
        let matrix = tensor("random(nnz=1000, seed=1)", &[3000, 3000]);
        chosen_for(request, &[("A", matrix)])
    };
    // For each row of the result, every column: nine million steps for a thousand entries.
    let shifted = into_csr("C(i,j) = A(i + j,j)");
    assert!(shifted.contains("convert(C,"), "{shifted}");
    assert!(shifted.contains("reorder(j, i)"), "{shifted}");
    let same = into_csr("C(i,j) = A(i,j)");
    assert!(!same.contains("convert"), "{same}");
}

#[test]
fn rows_of_one_length_are_unrolled() {
    let product = |spec: &str| {
        let matrix = tensor(spec, &[20_000, 20_000]);
        let vector = tensor("dense:uniform(seed=2)", &[20_000]);
        chosen("y(i) = A(i,j) * x(j)", &[("A", matrix), ("x", vector)])
    };
    let even = product("band(width=10, seed=1)");
    assert!(even.contains("unroll(j, 4)"), "{even}");
    let uneven = product("random(nnz=200000, seed=1)");
    assert!(!uneven.contains("unroll"), "{uneven}");
    // Lanes are many turns at once already.
    let long = product("band(width=40, seed=1)");
    assert!(!long.contains("unroll"), "{long}");
}
