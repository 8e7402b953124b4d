//! The same bits, and the same errors, at any number of threads and on every engine.

use sparsec::internals::parallel::with_threads;
use sparsec::internals::{Compiled, Inputs, Repeats, Request, compile};
use sparsec::{
    Array, Backend, ElementType, Format, Options, Scalar, Session, Source, Tensor, code,
};
use sparsec_format::FormatSpec;
use sparsec_loop::passes::Division;
use sparsec_runtime::Environment;

/// A matrix with some long rows and some empty ones.
fn matrix(rows: u64, columns: u64, step: u64, format: &Format) -> Tensor {
    let mut coords = Vec::new();
    let mut values = Vec::new();
    for i in 0..rows {
        let n = if i % 7 == 3 { columns } else { i % 4 };
        for n in 0..n {
            coords.extend([i, (n * step + i) % columns]);
            values.push(1.0 / (1 + i + n) as f64);
        }
    }
    Tensor::pack(format, &[rows, columns], &coords, &values).expect("a matrix")
}

fn vector(values: &[f64]) -> Tensor {
    let coords: Vec<u64> = (0..values.len() as u64).collect();
    Tensor::pack(&Format::dense(1), &[values.len() as u64], &coords, values).expect("a vector")
}

fn request(program: &str, schedule: &str) -> Request {
    let mut request = Request::new(Source::new("program", program));
    request.schedule = Some(Source::new("schedule", schedule));
    request.grain = 4;
    request
}

/// Of every engine: one that evaluates at once, and one that computes values twice once the
/// structure is assembled.
fn sessions() -> (tempfile::TempDir, Vec<(Session, Repeats)>) {
    let cache = tempfile::tempdir().expect("a scratch directory");
    let mut environment = Environment::of_process();
    environment.cache_dir = Some(cache.path().into());
    let session = |(backend, apart)| {
        let options = Options::new().environment(environment.clone());
        let times = if apart { 2 } else { 1 };
        (
            Session::new(options.backend(backend)),
            Repeats { times, apart },
        )
    };
    let backends = [Backend::Interpreter, Backend::Cranelift, Backend::C];
    let ways = backends
        .into_iter()
        .flat_map(|it| [(it, false), (it, true)]);
    (cache, ways.map(session).collect())
}

/// Of these tensors, those that a program reads.
fn read_by<const N: usize>(program: &str, tensors: [(&str, Tensor); N]) -> Inputs {
    let is_read = |(name, _): &(&str, Tensor)| program.contains(&format!("{name}("));
    let read = tensors.into_iter().filter(is_read);
    read.map(|(name, tensor)| (name.to_owned(), tensor))
        .collect()
}

fn compiled(request: &Request, inputs: &Inputs) -> Compiled {
    let compiled = compile(request, inputs);
    compiled.unwrap_or_else(|error| panic!("{}: {error}", request.expression.text()))
}

/// Runs a program everywhere; what it gives, which is the same each time.
fn run(compiled: &Compiled, inputs: &Inputs) -> Tensor {
    let (_cache, sessions) = sessions();
    let mut found: Option<Tensor> = None;
    for (session, repeats) in &sessions {
        for threads in [1, 2, 5] {
            let outcome = with_threads(threads, || session.run_timed(compiled, inputs, *repeats));
            let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
            let tensor = outcome.tensors["C"].clone();
            let found = found.get_or_insert_with(|| tensor.clone());
            assert_eq!(found.arrays(), tensor.arrays(), "at {threads} threads");
        }
    }
    let found = found.expect("there are engines");
    assert!(found.n_stored() > 0);
    found
}

/// A program, its schedule, and the formats of its tensors.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

fn check(program: &str, schedule: &str, formats: &[(&str, &str)]) {
    let mut request = request(program, schedule);
    for (name, format) in formats {
        request.set_format(name, format).expect("a format");
    }
    let csr = Format::csr();
    let inputs = [
        ("A", matrix(60, 40, 1, &csr)),
        ("B", matrix(60, 40, 3, &csr)),
        ("D", matrix(40, 30, 1, &csr)),
        ("x", vector(&[0.3; 40])),
        ("z", vector(&[0.7; 60])),
    ];
    let inputs = read_by(program, inputs);
    let used = compiled(&request, &inputs);
    let kernels = used.statements().iter();
    let is_divided = kernels
        .map(|it| it.function.to_string())
        .any(|text| text.contains(" chunks {"));
    assert!(is_divided, "`{schedule}` divides `{program}`");
    run(&used, &inputs);
}

#[test]
fn rows_are_computed_in_chunks() {
    let schedule = "parallelize(i, CPUThread, NoRaces)";
    check("C(i) = A(i,j) * x(j)", schedule, &[]);
    check(
        "C(i,j) = A(i,k) * D(k,j)",
        schedule,
        &[("C", "(i, j) -> (i : dense, j : dense)")],
    );
    let schedule = "assemble(C, Insert); parallelize(i, CPUThread, NoRaces)";
    check("C(i,j) = A(i,j) + B(i,j)", schedule, &[("C", "csr")]);
}

#[test]
fn values_are_combined_in_the_order_of_chunks() {
    let loops = [
        ("C = A(i,j) * x(j)", "ParallelReduction"),
        ("C = max{i,j}(A(i,j) - x(j))", "ParallelReduction"),
        ("C = 1 + bitxor{i,j}(i64(A(i,j) * 64))", "ParallelReduction"),
        ("C = bitor{i,j}(i64(A(i,j) * 64))", "ParallelReduction"),
        ("C(j) bitand= i64(A(i,j) * 64 + z(i))", "Temporary"),
        ("C(j) = A(i,j) * z(i)", "Temporary"),
        ("C(j) = A(i,j) * z(i)", "Atomics"),
        ("C(j) min= A(i,j) - z(i)", "Temporary"),
        ("C(k,j) = A(i,k) * B(i,j)", "Temporary"),
    ];
    for (program, races) in loops {
        let schedule = format!("parallelize(i, CPUThread, {races})");
        let formats: &[_] = match program.starts_with("C(") {
            true => &[("C", "dense")],
            false => &[],
        };
        check(program, &schedule, formats);
    }
}

/// Every row of a matrix stored, and every entry once, twice or not at all along a third
/// mode: segments of both levels are empty here and there.
fn with_empty_segments(matrix: &Tensor) -> Tensor {
    let [rows, columns] = *matrix.extents() else {
        panic!("a matrix");
    };
    let level = matrix.level(1);
    let (pos, crd): (Vec<i64>, Vec<i64>) =
        (level.pos().iter().collect(), level.crd().iter().collect());
    let n_below = |at: usize| at * 5 % 3;
    let mut ends = vec![0];
    let (mut third, mut values) = (Vec::new(), Vec::new());
    for at in 0..crd.len() {
        third.extend((0..n_below(at)).map(|k| k as i64));
        ends.push(third.len() as i64);
        values.extend((0..n_below(at)).map(|k| (at + k) as f64));
    }
    let rows_of = vec![
        vec![0, rows as i64],
        (0..rows as i64).collect(),
        pos,
        crd,
        ends,
        third,
    ];
    let mut arrays: Vec<Array> = rows_of.into_iter().map(Array::from_index_vec).collect();
    arrays.push(Array::from_vec(values));
    let zero = Scalar::F64(0.0);
    let extents = vec![rows, columns, 2];
    Tensor::new(Format::csf(3), extents, ElementType::F64, zero, arrays).expect("a tensor")
}

/// Entries that do not come leave no gaps between those of chunks.
#[test]
fn entries_that_do_not_come_leave_no_gaps() {
    let rows = "parallelize(i, CPUThread, Temporary)";
    let dense_rows = "(i, j, k) -> (i : compressed, j : compressed, k : dense)";
    let cases = [
        ("C(i,j) = T(i,j,k) * y(k)", "dcsr"),
        ("C(i,j) = T(i,j,k) * y(k)", "csr"),
        ("C(i,j,k) = 2 * T(i,j,k)", "csf"),
        ("C(i,j,k) = T(i,j,l) * M(l,k)", dense_rows),
    ];
    for (program, result) in cases {
        let request = |schedule: &str| {
            let mut request = request(program, schedule);
            request.set_format("C", result).expect("a format");
            request
        };
        let a = matrix(60, 40, 1, &Format::csr());
        let dense = Format::dense(2);
        let inputs = [
            ("T", with_empty_segments(&a)),
            ("y", vector(&[0.5, 3.0])),
            ("M", matrix(2, 5, 1, &dense)),
        ];
        let inputs = read_by(program, inputs);
        let compiled = |schedule: &str| compiled(&request(schedule), &inputs);
        let (divided, whole) = (compiled(rows), compiled(""));
        let text = divided.statements()[0].function.to_string();
        assert!(
            text.contains("_shift < 0") && !text.contains("_piece"),
            "{program}"
        );
        let (divided, whole) = (run(&divided, &inputs), run(&whole, &inputs));
        assert_eq!(divided.arrays(), whole.arrays(), "{program}");
    }
}

/// What chunks append is what one loop would have appended.
#[test]
fn entries_are_appended_in_turn() {
    let rows = "parallelize(i, CPUThread, Temporary)";
    let blocks = "divide(i, i0, i1, 7); parallelize(i0, CPUThread, Temporary)";
    let product = "reorder(i, k, j); precompute(A(i,k) * D(k,j), {j}, w)
        parallelize(i, CPUThread, Temporary)";
    let dense_rows = "(i, j, k) -> (i : compressed, j : compressed, k : dense)";
    let appended: [Case<'_>; 9] = [
        ("C(i,j) = A(i,j) + B(i,j)", rows, &[("C", "csr")]),
        ("C(i,j) = A(i,k) * D(k,j)", product, &[("C", "csr")]),
        (
            "C(i,j) = A(i,j) * sum{k}(E(i,k) * F(j,k))",
            rows,
            &[("C", "csr")],
        ),
        // Parents are appended as well, and kept where they have children.
        ("C(i,j) = 2 * A(i,j)", rows, &[("A", "dcsr"), ("C", "dcsr")]),
        (
            "C(i,j) = A(i,j) + B(i,j)",
            blocks,
            &[("A", "dcsr"), ("B", "dcsr"), ("C", "dcsr")],
        ),
        (
            "C(i,j) = A(i,j) * B(i,j)",
            blocks,
            &[("A", "dcsr"), ("B", "dcsr"), ("C", "dcsr")],
        ),
        (
            "C(i,j) = A(i,j) * x(j)",
            blocks,
            &[("A", "scoo"), ("C", "scoo")],
        ),
        (
            "C(i,j,k) = A(i,j) * x(k)",
            rows,
            &[("A", "dcsr"), ("C", dense_rows)],
        ),
        // Rows that no iteration comes to stay empty.
        (
            "C(i,j) = A(i,j) * z(i)",
            rows,
            &[("A", "dcsr"), ("C", "csr")],
        ),
    ];
    let mut n_in_pieces = 0;
    for (program, schedule, formats) in appended {
        let request = |schedule: &str| {
            let mut request = request(program, schedule);
            for (name, format) in formats {
                request.set_format(name, format).expect("a format");
            }
            request
        };
        let format = |name: &str| {
            let given = formats.iter().find(|(known, _)| *known == name);
            given.map_or(Format::csr(), |(_, text)| {
                let spec: FormatSpec = text.parse().expect("a format");
                spec.resolve(2).expect("a format of matrices")
            })
        };
        let inputs = [
            ("A", matrix(60, 40, 1, &format("A"))),
            ("B", matrix(60, 40, 3, &format("B"))),
            ("D", matrix(40, 30, 1, &format("D"))),
            ("E", matrix(60, 8, 1, &Format::dense(2))),
            ("F", matrix(40, 8, 1, &Format::dense(2))),
            ("x", vector(&[0.3; 40])),
            ("z", vector(&[0.7; 60])),
        ];
        let inputs = read_by(program, inputs);
        let compiled = |schedule: &str| compiled(&request(schedule), &inputs);
        let (start, _) = schedule.split_once("parallelize").expect("it is marked");
        let (divided, whole) = (compiled(schedule), compiled(start));
        let text = divided.statements()[0].function.to_string();
        assert!(text.contains(" turn\n"), "{program}");
        n_in_pieces += usize::from(text.contains(" pass\n"));
        let (divided, whole) = (run(&divided, &inputs), run(&whole, &inputs));
        assert_eq!(divided.arrays(), whole.arrays(), "{program}");
    }
    assert_eq!(
        n_in_pieces, 5,
        "where operands do not say how many there are"
    );
}

/// A chunk that cannot end well leaves nobody waiting for its end.
#[test]
fn a_chunk_that_fails_before_its_turn_ends_the_others() {
    let mut request = request(
        "C(i,j) = A(i,j) * f64(6 // i64(A(i,j)))",
        "parallelize(i, CPUThread, Temporary)",
    );
    request.set_format("C", "csr").expect("a format");
    let coords: Vec<u64> = (0..400).flat_map(|at| [at / 4, at % 4]).collect();
    let mut values = vec![3.0; 400];
    values[210] = 0.0;
    let a = Tensor::pack(&Format::csr(), &[100, 4], &coords, &values).expect("a matrix");
    let inputs = Inputs::from([("A".to_owned(), a)]);
    let compiled = compile(&request, &inputs).unwrap_or_else(|error| panic!("{error}"));
    let (_cache, sessions) = sessions();
    for session in &sessions {
        for threads in [1, 2, 5] {
            let outcome = with_threads(threads, || session.0.run(&compiled, &inputs));
            let code = outcome.err().map(|error| error.code());
            assert_eq!(code, Some(code::DIVISION_BY_ZERO));
        }
    }
}

/// A sum that is much work is added up in chunks, at every number of threads.
#[test]
fn plans_of_sums_do_not_depend_on_threads() {
    let csr = Format::csr();
    let inputs = Inputs::from([("A".to_owned(), matrix(60, 40, 1, &csr))]);
    let mut request = Request::new(Source::new("program", "C = A(i,j) * A(i,j)"));
    request.grain = 4;
    let plan = |request: &Request, threads| {
        let compiled = with_threads(threads, || compile(request, &inputs));
        let compiled = compiled.unwrap_or_else(|error| panic!("{error}"));
        compiled.statements()[0].plan.schedule.to_string()
    };
    let alone = plan(&request, 1);
    assert!(alone.contains("ParallelReduction"), "{alone}");
    assert_eq!(alone, plan(&request, 4));
    request.strict = true;
    assert!(!plan(&request, 4).contains("parallelize"));
}

/// Planning for threads chooses loops whose results are those of one thread.
#[test]
fn plans_for_threads_give_the_bits_of_one() {
    let csr = Format::csr();
    let inputs = Inputs::from([
        ("A".to_owned(), matrix(60, 40, 1, &csr)),
        ("D".to_owned(), matrix(40, 30, 1, &csr)),
    ]);
    let mut request = Request::new(Source::new("program", "C(i,j) = A(i,k) * D(k,j)"));
    request.grain = 4;
    request.set_format("C", "csr").expect("a format");
    let plan = |threads| {
        let compiled = with_threads(threads, || compile(&request, &inputs));
        compiled.unwrap_or_else(|error| panic!("{error}"))
    };
    let (alone, together) = (plan(1), plan(4));
    let schedule = |compiled: &Compiled| compiled.statements()[0].plan.schedule.to_string();
    assert!(!schedule(&alone).contains("parallelize"));
    let marks = "parallelize(i, CPUThread, Temporary)";
    assert!(
        schedule(&together).ends_with(marks),
        "{}",
        schedule(&together)
    );
    let (alone, together) = (run(&alone, &inputs), run(&together, &inputs));
    assert_eq!(alone.arrays(), together.arrays());
    // What is not worth it is left on one thread.
    request.grain = Division::default().grain;
    let small = with_threads(4, || compile(&request, &inputs));
    assert!(!schedule(&small.expect("a plan")).contains("parallelize"));
}

/// In the order of the source there is one sum, and it is the reference's.
#[test]
fn strict_sums_are_not_divided() {
    for unit in ["CPUThread", "CPUVector"] {
        let schedule = format!("parallelize(i, {unit}, ParallelReduction)");
        is_in_order_where_strict(request("C = x(i)", &schedule));
    }
}

fn is_in_order_where_strict(mut request: Request) {
    let values: Vec<f64> = (0..100).map(|i| 1.0 / f64::from(1 + i * i)).collect();
    let inputs = Inputs::from([("x".to_owned(), vector(&values))]);
    let bits = |request: &Request| {
        let compiled = compile(request, &inputs).unwrap_or_else(|error| panic!("{error}"));
        let values = run(&compiled, &inputs);
        values.values::<f64>().expect("doubles")[0].to_bits()
    };
    let in_order = values.iter().fold(0.0, |sum, value| sum + value);
    assert_ne!(bits(&request), f64::to_bits(in_order));
    request.strict = true;
    assert_eq!(bits(&request), f64::to_bits(in_order));
}

#[test]
fn units_have_workspaces_of_their_own() {
    for kind in ["listed", "hashed"] {
        let schedule = format!(
            "reorder(i, k, j); precompute(A(i,k) * D(k,j), {{j}}, w : {kind})
             assemble(C, Insert); parallelize(i, CPUThread, NoRaces)"
        );
        check("C(i,j) = A(i,k) * D(k,j)", &schedule, &[("C", "csr")]);
    }
}

/// Of several chunks that fail, the first one says why.
#[test]
fn the_first_chunk_that_fails_gives_the_error() {
    let mut request = request(
        "C(i) = i64(x(i)) // i64(b(i))",
        "parallelize(i, CPUThread, NoRaces)",
    );
    request.grain = 1;
    let (_cache, sessions) = sessions();
    let fails = |zero: usize, large: usize| {
        let mut x = vec![1.0; 100];
        let mut b = vec![1.0; 100];
        x[large] = 1e300;
        b[zero] = 0.0;
        let inputs = Inputs::from([("x".to_owned(), vector(&x)), ("b".to_owned(), vector(&b))]);
        let compiled = compile(&request, &inputs).unwrap_or_else(|error| panic!("{error}"));
        let mut found = Vec::new();
        for session in &sessions {
            for threads in [1, 2, 5] {
                let outcome = with_threads(threads, || session.0.run(&compiled, &inputs));
                found.push(outcome.err().map(|error| error.code()));
            }
        }
        found
    };
    for _ in 0..20 {
        assert_eq!(fails(20, 80), [Some(code::DIVISION_BY_ZERO); 18]);
        assert_eq!(fails(80, 20), [Some(code::CAST_OUT_OF_RANGE); 18]);
    }
}
