//! Cases in which published compilers abort, crash or compute wrong numbers.
//!
//! Each is a program whose operands come in several formats, one a round, and its
//! result in each of several, sparse and dense. All of it runs on the interpreter
//! and as C, against the oracle that visits every point.
//!
//! ```text
//! C(i,j) = A(i,k) * B(k,j)      round 0   A csr   B csc    into csr, csc, coo, dense
//!                               round 1   A csc   B coo    into csr, csc, coo, dense
//!                               …                          (as C: into one of them)
//! ```

use std::collections::BTreeSet;

use sparsec::internals::{Inputs, Repeats, Request, compile, generate, reference};
use sparsec::io::ReadOptions;
use sparsec::{Backend, ElementType, FormatSpec, Options, PackOptions, Session, Source, Tensor};

/// How far index variables run: `p` as far as `i`, for transposes.
const EXTENTS: [(char, u64); 8] = [
    ('i', 6),
    ('j', 5),
    ('k', 7),
    ('l', 4),
    ('m', 3),
    ('n', 2),
    ('p', 6),
    ('q', 1),
];

/// Formats of operands, by order; the second operand begins with the second.
const OPERANDS: [&[&str]; 5] = [
    &["dense"],
    &["(i) -> (i : compressed)", "dense", "coo"],
    &["csr", "csc", "coo", "dcsr"],
    &[
        "csf",
        "coo",
        "(i, j, k) -> (k : compressed, i : dense, j : compressed)",
    ],
    &["csf", "coo", "scoo"],
];

/// Formats of results, by order.
const RESULTS: [&[&str]; 5] = [
    &["dense"],
    &["dense", "(i) -> (i : compressed)", "coo"],
    &["csr", "csc", "coo", "dense"],
    &[
        "csf",
        "coo",
        "(i, j, k) -> (i : dense, j : dense, k : compressed)",
        "dense",
    ],
    &["csf", "coo", "dense"],
];

/// As many points as the oracle visits one by one.
const MOST_POINTS: u64 = 1 << 16;

/// A matrix by rows, and by columns.
const DENSE: &[&str] = &["dense", "(i, j) -> (j : dense, i : dense)"];

/// The operands whose formats are others than those of [`OPERANDS`].
type Formats = &'static [(&'static str, &'static [&'static str])];

struct Engines {
    interpreter: Session,
    c: Session,
    _cache: tempfile::TempDir,
}

impl Engines {
    fn new() -> Self {
        let cache = tempfile::tempdir().expect("a scratch directory");
        let mut environment = sparsec::internals::runtime::Environment::of_process();
        environment.cache_dir = Some(cache.path().into());
        let session = |backend| {
            Session::new(
                Options::new()
                    .backend(backend)
                    .environment(environment.clone()),
            )
        };
        Self {
            interpreter: session(Backend::Interpreter),
            c: session(Backend::C),
            _cache: cache,
        }
    }

    /// Runs a program of one statement on every engine.
    fn check(&self, request: &Request, inputs: &Inputs, as_c: bool, said: &str) {
        let compiled = compile(request, inputs).unwrap_or_else(|error| panic!("{said}\n{error}"));
        let program = compiled.resolved();
        let points = program
            .vars
            .iter()
            .map(|(_, data)| data.extent.unwrap_or(1));
        let expected = match points.fold(1, u64::saturating_mul) {
            ..MOST_POINTS => reference::dense::evaluate(program, inputs),
            _ => reference::evaluate(program, inputs),
        };
        let expected = expected.expect(said);
        let c = as_c.then_some((&self.c, false));
        let engines = [(&self.interpreter, false), (&self.interpreter, true)];
        for (session, apart) in engines.into_iter().chain(c) {
            let ran = session.run_timed(&compiled, inputs, Repeats { apart, times: 1 });
            let outcome = ran.unwrap_or_else(|error| panic!("{said}\n{error}"));
            for (name, found) in &outcome.tensors {
                let difference = reference::compare_exact(&expected[name], found);
                assert!(difference.is_none(), "{said}\n{difference:?}");
                assert_distinct(found, said);
            }
        }
    }
}

/// Runs each program in every round.
fn check(programs: &[(&str, Formats)]) {
    let engines = Engines::new();
    for (program, formats) in programs {
        let order = |name: &str| access(program, name).len();
        let result = program.lines().last().expect("a statement");
        let result = &result[..1];
        let results = RESULTS[order(result)];
        for round in 0..results.len().max(3) {
            for (number, format) in results.iter().enumerate() {
                let as_c = number == round % results.len();
                check_round(program, formats, round, (result, format), as_c, &engines);
            }
        }
    }
}

fn check_round(
    program: &str,
    formats: Formats,
    round: usize,
    (result, format): (&str, &str),
    as_c: bool,
    engines: &Engines,
) {
    let mut request = Request::new(Source::new("program", program));
    let mut inputs = Inputs::new();
    let mut said = format!("{program}\n{result}: {format}");
    let names = request.names().expect(program);
    let operands = names.iter().filter(|name| name.read && !name.written);
    for (number, operand) in operands.enumerate() {
        let own = formats.iter().find(|(name, _)| *name == operand.name);
        let (list, at) = match own {
            Some((_, list)) => (*list, round),
            None => (OPERANDS[operand.order], round + number),
        };
        let format = list[at % list.len()];
        said += &format!("\n{}: {format}", operand.name);
        let tensor = tensor(number, format, &access(program, &operand.name));
        inputs.insert(operand.name.clone(), tensor);
    }
    for (var, extent) in EXTENTS {
        if access(program, result).contains(&var) {
            request.extents.insert(var.to_string(), extent);
        }
    }
    request.set_format(result, format).expect("a format");
    engines.check(&request, &inputs, as_c, &said);
}

/// The index variables of a tensor where it is accessed first.
fn access(program: &str, name: &str) -> Vec<char> {
    let opening = format!("{name}(");
    let Some(at) = program.find(&opening) else {
        return Vec::new();
    };
    let rest = &program[at + opening.len()..];
    let indices = rest.split(')').next().unwrap_or_default();
    indices.chars().filter(|it| it.is_alphabetic()).collect()
}

/// Small integers at a third of all places.
fn tensor(seed: usize, format: &str, vars: &[char]) -> Tensor {
    let extent = |var: &char| EXTENTS.iter().find(|(name, _)| name == var).map(|it| it.1);
    let extents: Vec<u64> = vars.iter().filter_map(extent).collect();
    let density = if vars.is_empty() { 1.0 } else { 0.35 };
    let spec = format!("random(density={density}, seed={seed}, values=int)");
    let format = FormatSpec::parse(&Source::new("format", format))
        .and_then(|spec| spec.resolve(extents.len()))
        .expect("a format");
    let source = Source::new("generator", spec);
    generate(&source, &extents, Some(&format), ElementType::F64).expect("a small tensor")
}

/// No two entries of a tensor have the same coordinates.
fn assert_distinct(tensor: &Tensor, said: &str) {
    let entries = tensor.entries();
    let mut seen = BTreeSet::new();
    for (coords, _) in entries.iter() {
        assert!(seen.insert(coords), "{said}\ntwo entries at {coords:?}");
    }
}

#[test]
fn transposes_have_sparse_results() {
    check(&[
        ("C(i,j) = A(i,j)", &[]),
        ("C(i,j) = A(j,i)", &[]),
        ("C(i,p) = A(i,p) + A(p,i)", &[]),
        ("C(i,p) = A(i,p) - 2 * A(p,i)", &[]),
        ("C(k,i,j) = A(i,j,k)", &[]),
    ]);
}

#[test]
fn diagonals_are_walked() {
    check(&[
        ("y(i) = A(i,i)", &[]),
        ("s = A(i,i)", &[]),
        ("C(i,p) = A(i,i) * B(i,p)", &[]),
        ("y(i) = T(i,i,i)", &[]),
    ]);
}

#[test]
fn products_have_sparse_results() {
    check(&[
        ("C(i,j) = A(i,k) * B(k,j)", &[]),
        (
            "C(i,j) = A(i,k) * B(k,j)",
            &[
                ("A", &["dcsr", "csc", "coo"]),
                ("B", &["dcsr", "csr", "coo"]),
            ],
        ),
        ("C(i,j) = A(i,k) * B(k,j)", &[("B", DENSE)]),
        ("C(i,p) = A(k,i) * A(k,p)", &[]),
        ("D(i,m) = A(i,j) * B(j,k) * C(k,m)", &[]),
        ("F(i,j) = A(i,k) * B(k,j) + C(i,l) * D(l,j)", &[]),
    ]);
}

#[test]
fn sampled_products_take_either_layout() {
    check(&[
        (
            "C(i,j) = S(i,j) * U(i,k) * V(k,j)",
            &[("U", &["dense"]), ("V", DENSE)],
        ),
        (
            "C(i,j) = S(i,j) * U(i,k) * V(j,k)",
            &[("U", DENSE), ("V", &["dense"])],
        ),
    ]);
}

#[test]
fn terms_without_a_summed_variable_count_once() {
    check(&[
        ("y(i) = A(i,j) * x(j) + z(i) + 0", &[]),
        ("y(i) = a * A(k,i) * x(k) + b * z(i)", &[]),
        ("y(i) = b(i) - A(i,j) * x(j)", &[]),
        ("s = A(i,j) * B(i,j)", &[]),
    ]);
}

#[test]
fn tensors_contract_in_any_order() {
    check(&[
        ("C(i,j,m) = A(i,j,k) * B(k,m)", &[("B", &["csc", "csr"])]),
        (
            "C(i,l) = A(i,j,k) * B(l,j,k)",
            &[("A", &["csf"]), ("B", &["csf"])],
        ),
        ("C(i,j,l) = A(i,k,j) * B(k,j,l)", &[]),
        ("C(i,j,k) = A(i,j,k) + B(k,i,j)", &[]),
        ("s = A(i,j,k) * B(i,j,k)", &[]),
        ("C(i,m) = A(i,j,k) * B(j,m) * D(k,m)", &[("D", DENSE)]),
    ]);
}

#[test]
fn every_mode_may_be_sparse() {
    check(&[
        (
            "D(i,j,k,l) = A(i,j,k,l) * 2",
            &[("A", &["hicoo(2)", "csf", "alto"])],
        ),
        ("D(i,k,m,n) = A(i,j,k,l) * B(j,l,m,n)", &[]),
        ("D(l,k,j,i) = A(i,j,k,l) + B(l,k,j,i)", &[]),
    ]);
}

#[test]
fn operands_are_broadcast_into_sparse_results() {
    check(&[
        ("C(i,j) = x(i)", &[]),
        ("C(i,j) = x(i) * y(j)", &[]),
        ("C(i,j) = A(i,j) + x(j)", &[]),
        ("C(i,j,k) = A(i,k)", &[]),
    ]);
}

#[test]
fn functions_are_called() {
    check(&[
        ("C(i,j) = abs(A(i,j))", &[]),
        ("C(i,j) = max(A(i,j), B(i,j))", &[]),
        ("C(i,j) = select(A(i,j) > 1, B(i,j), 0)", &[]),
        ("y(i) = sum{j}(relu(A(i,j)) * x(j))", &[]),
        ("C(i,p) = min(A(i,p), 3 * A(p,i))", &[]),
    ]);
}

#[test]
fn extents_may_exceed_32_bits() {
    const EXTENT: u64 = (1 << 33) + 5;
    let coords: Vec<u64> = (0..60u64)
        .map(|n| (n * n % 7) * (EXTENT / 7) + n % 3)
        .collect();
    let values: Vec<f64> = (1..=30u8).map(f64::from).collect();
    let engines = Engines::new();
    let programs = [
        "C(i,j) = A(j,i)",
        "C(i,j) = A(i,j) + A(j,i)",
        "C(i,j) = A(i,k) * A(k,j)",
    ];
    for program in programs {
        for (a, c) in [("dcsr", "scoo"), ("coo", "dcsc"), ("dcsc", "coo")] {
            let mut request = Request::new(Source::new("program", program));
            request.set_format("C", c).expect("a format");
            let format = a.parse::<FormatSpec>().and_then(|spec| spec.resolve(2));
            let tensor = Tensor::pack(&format.expect(a), &[EXTENT; 2], &coords, &values);
            let inputs = Inputs::from([("A".to_owned(), tensor.expect("entries within"))]);
            engines.check(&request, &inputs, true, &format!("{program}: {a} into {c}"));
        }
    }
}

#[test]
fn files_of_integers_and_patterns_are_operands() {
    let engines = Engines::new();
    let folder = tempfile::tempdir().expect("a scratch directory");
    let files = [
        ("integer", "1 2 -4\n3 1 7\n3 3 2", ElementType::I64),
        ("pattern", "1 2\n3 1\n3 3", ElementType::F64),
    ];
    for (field, lines, element) in files {
        let path = folder.path().join(format!("{field}.mtx"));
        let text = format!("%%MatrixMarket matrix coordinate {field} general\n3 3 3\n{lines}\n");
        std::fs::write(&path, text).expect("a scratch file");
        for (number, format) in OPERANDS[2].iter().enumerate() {
            let file = sparsec::io::read(&path, &ReadOptions::default()).expect(field);
            assert_eq!(file.element(), element, "{field}");
            let spec = format
                .parse::<FormatSpec>()
                .and_then(|spec| spec.resolve(2));
            let tensor = file.into_tensor(&spec.expect(format), PackOptions::default());
            let inputs = Inputs::from([("A".to_owned(), tensor.expect(field))]);
            let mut request = Request::new(Source::new("program", "C(i,j) = A(j,i) * 2"));
            let result = RESULTS[2][(number + 1) % RESULTS[2].len()];
            request.set_format("C", result).expect("a format");
            engines.check(
                &request,
                &inputs,
                true,
                &format!("{field}: {format} into {result}"),
            );
        }
    }
}

#[test]
fn kernels_take_their_arguments_in_the_order_of_the_source() {
    for (program, order) in [
        ("y(i) = b * z(i) + A(i,k) * x(k) * a", "y b z A x a"),
        ("C(i,j) = B(k,j) * A(i,k)", "C B A"),
    ] {
        let request = Request::new(Source::new("program", program));
        let compiled = compile(&request, &Inputs::new()).expect(program);
        let [statement] = compiled.statements() else {
            panic!("{program} has one statement");
        };
        let arguments = statement.function.arguments.iter();
        let names: Vec<&str> = arguments.map(|argument| argument.name.as_str()).collect();
        assert_eq!(names.join(" "), order, "{program}");
    }
}
