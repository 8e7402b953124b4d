//! Random programs: expressions × formats × small integer data, on the
//! interpreter and on compiled C, against the dense oracle.
//!
//! Values are small integers, so that nearly every result is exact and the
//! comparison is of bits, patterns included. `SPARSEC_CASES=N` runs N programs
//! (one in [`C_EVERY`] also as C); the seed is fixed unless `SPARSEC_SEED` is set.
//!
//! A refusal of planning is an answer too, and none is given now, or the test
//! would show nothing.
//!
//! Plans are run once more with random commands on top: a schedule changes nothing.
//!
//! Length: one test, with all that it makes programs of and compares.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use sparsec::index::{Command, Program, WorkspaceKind, concretize};
use sparsec::{
    Array, Backend, Compiled, Complex, ElementType, Format, FormatSpec, Inputs, Options, Outcome,
    PackOptions, Request, Scalar, Session, Source, UserFunction, compile, generate, reference,
};
use sparsec_base::Kind;
use sparsec_testing::reschedule::{Step, reschedule};

#[path = "random/index.rs"]
mod index;

use index::Index;

/// Programs run without `SPARSEC_CASES`.
const CASES: u32 = 1500;
/// One program in so many runs as C too: a compile takes tens of milliseconds.
const C_EVERY: usize = 15;

/// The orders of the operands `A`, `B`, …: a program uses some of them.
const ORDERS: [usize; 6] = [2, 2, 1, 1, 3, 0];
const NAMES: [&str; 6] = ["A", "B", "c", "d", "T", "s"];
const VARS: [&str; 4] = ["i", "j", "k", "l"];

/// Types that every operation takes.
const REAL: [ElementType; 12] = [
    ElementType::I8,
    ElementType::I16,
    ElementType::I32,
    ElementType::I64,
    ElementType::U8,
    ElementType::U16,
    ElementType::U32,
    ElementType::U64,
    ElementType::F16,
    ElementType::Bf16,
    ElementType::F32,
    ElementType::F64,
];

/// Formats beside presets and maps of plain levels, with their order.
const OTHERS: [(usize, &str); 14] = [
    (1, "(i) -> (i : run_length)"),
    (1, "(i) -> (i : loose_compressed)"),
    (1, "(i) -> (i : range)"),
    (1, "(i) -> (i floordiv 3 : hashed, i mod 3 : bitmap)"),
    (1, "(i) -> (i : batch)"),
    (2, "bsr(3, 1), crd = 8"),
    (2, "(i, j) -> (j : hashed, i : compressed)"),
    (2, "(i, j) -> (i : dense, j : loose_compressed(nonordered))"),
    (2, "(i, j) -> (i + j : compressed, j : dense)"),
    (
        2,
        "(i, j) -> (i : compressed, j floordiv 4 : dense, j mod 4 : structured[4, 4])",
    ),
    (
        2,
        "(i, j) -> (j : compressed(pos = 16), i : run_length), crd = 32",
    ),
    (2, "csr, lower(i, j) | csc, crd = 16"),
    (
        3,
        "(i, j, k) -> (k : batch, #(i, k) : dense, i : dense, j : singleton)",
    ),
    (3, "(i, j, k) -> (morton(i, k) : compressed, j : range)"),
];

/// Functions of the user that every program may call.
const FUNCTIONS: [&str; 3] = [
    "gate(a, b) = select(b > 0, a, 0)",
    "gain(a, b) = a * b + a * a : annihilator 0 at a",
    "modsum(a, b) = (a + b) % 7 : associative, commutative, identity 0",
];

#[derive(Clone, Debug)]
enum Node {
    Access(usize, Vec<Index>),
    Literal(i64),
    Infix(&'static str, Box<Node>, Box<Node>),
    Call(&'static str, Vec<Node>),
    Reduce(&'static str, usize, Box<Node>),
}

#[derive(Clone, Debug)]
struct Operand {
    format: String,
    element: ElementType,
    density: f64,
    seed: u64,
    /// What is not stored.
    fill: f64,
}

#[derive(Clone, Debug)]
struct Case {
    lhs: Vec<usize>,
    rhs: Node,
    /// A second statement computes this from the first one's result.
    second: Option<Node>,
    result: Option<String>,
    extents: Vec<u64>,
    operands: Vec<Operand>,
    /// Commands that the plan is changed by, in a second run.
    steps: Vec<Step>,
}

fn access() -> impl Strategy<Value = Node> {
    (0..ORDERS.len()).prop_flat_map(|slot| {
        prop::collection::vec(index::any(), ORDERS[slot])
            .prop_map(move |indices| Node::Access(slot, indices))
    })
}

fn node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![12 => access(), 1 => (-1i64..4).prop_map(Node::Literal)];
    leaf.prop_recursive(4, 12, 3, |inner| {
        let pair = |symbol: &'static str, inner: BoxedStrategy<Node>| {
            (inner.clone(), inner)
                .prop_map(move |(left, right)| Node::Infix(symbol, Box::new(left), Box::new(right)))
        };
        let inner = inner.boxed();
        prop_oneof![
            6 => pair("*", inner.clone()),
            4 => pair("+", inner.clone()),
            2 => pair("-", inner.clone()),
            1 => (prop::sample::select(vec!["max", "min", "gate", "gain"]), inner.clone(), inner.clone())
                .prop_map(|(name, left, right)| Node::Call(name, vec![left, right])),
            1 => (prop::sample::select(vec!["abs", "-", "relu", "sign", "conj", "real", "imag", "floor", "round", "trunc"]), inner.clone())
                .prop_map(|(name, arg)| Node::Call(name, vec![arg])),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| {
                let condition = Node::Infix(">", Box::new(a.clone()), Box::new(b));
                Node::Call("select", vec![condition, a, c])
            }),
            3 => (
                prop::sample::select(vec!["sum", "sum", "sum", "max", "min", "prod", "modsum"]),
                0..VARS.len(),
                inner,
            )
                .prop_map(|(name, var, body)| Node::Reduce(name, var, Box::new(body))),
        ]
    })
}

fn format(order: usize) -> BoxedStrategy<String> {
    // Formats that hold no upper triangle hold few of the tensors here.
    let presets: Vec<String> = sparsec::presets()
        .iter()
        .filter(|preset| preset.fits(order) && preset.name != "sky")
        .map(|preset| preset.text(order))
        .collect();
    let others: Vec<String> = OTHERS
        .iter()
        .filter(|(fits, _)| *fits == order)
        .map(|(_, text)| (*text).to_owned())
        .collect();
    let named = [presets, others].concat();
    let map = (
        Just((0..order).collect::<Vec<usize>>()).prop_shuffle(),
        prop::collection::vec(prop::sample::select(vec!["dense", "compressed"]), order),
    )
        .prop_map(|(modes, kinds)| {
            let names: Vec<&str> = VARS[..modes.len()].to_vec();
            let levels: Vec<String> = modes
                .iter()
                .zip(kinds)
                .map(|(mode, kind)| format!("{} : {kind}", VARS[*mode]))
                .collect();
            format!("({}) -> ({})", names.join(", "), levels.join(", "))
        });
    prop_oneof![2 => prop::sample::select(named), 1 => map].boxed()
}

fn operand(order: usize) -> impl Strategy<Value = Operand> {
    // Most programs have one or two types, so that few are refused for mixing an
    // order with complex numbers.
    let element = prop_oneof![
        8 => Just(ElementType::F64),
        2 => Just(ElementType::I64),
        5 => prop::sample::select(REAL.to_vec()),
        1 => prop::sample::select(vec![ElementType::C64, ElementType::C128]),
    ];
    let density = prop::sample::select(vec![0.0, 0.1, 0.4, 0.8, 1.0]);
    let fill = prop::sample::select(vec![0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let all = (format(order), element, density, 0..1000u64, fill);
    all.prop_map(|(format, element, density, seed, fill)| Operand {
        format,
        element,
        density,
        seed,
        fill,
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((0..11usize, 0..8usize, 0..6usize), 1..6)
}

fn case() -> impl Strategy<Value = Case> {
    let lhs = (Just(vec![0, 1, 2, 3]).prop_shuffle(), 0..4usize).prop_map(|(mut vars, order)| {
        vars.truncate(order);
        vars
    });
    let extents = prop_oneof![
        3 => (1..5u64).prop_map(|extent| vec![extent; VARS.len()]),
        1 => Just(vec![0; VARS.len()]),
        4 => prop::collection::vec(1..6u64, VARS.len()),
    ];
    lhs.prop_flat_map(move |lhs| {
        let operands: Vec<_> = ORDERS.iter().map(|order| operand(*order)).collect();
        (
            Just(lhs.clone()),
            node(),
            prop::option::weighted(0.2, node()),
            prop::option::weighted(0.6, format(lhs.len())),
            extents.clone(),
            operands,
            steps(),
        )
            .prop_map(
                |(lhs, rhs, second, result, extents, operands, steps)| Case {
                    lhs,
                    rhs,
                    second,
                    result,
                    extents,
                    operands,
                    steps,
                },
            )
    })
}

fn left(vars: &[usize]) -> String {
    let names: Vec<&str> = vars.iter().map(|var| VARS[*var]).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("({})", names.join(","))
    }
}

fn text(node: &Node, extents: &[u64]) -> String {
    let text = |node: &Node| text(node, extents);
    match node {
        Node::Access(slot, indices) => {
            let indices: Vec<String> = indices.iter().map(|it| it.text(extents)).collect();
            match indices.is_empty() {
                true => NAMES[*slot].to_owned(),
                false => format!("{}({})", NAMES[*slot], indices.join(", ")),
            }
        }
        Node::Literal(value) => value.to_string(),
        Node::Infix(symbol, left, right) => format!("({} {symbol} {})", text(left), text(right)),
        Node::Call("-", args) => format!("(-({}))", text(&args[0])),
        Node::Call(name, args) => {
            let args: Vec<String> = args.iter().map(text).collect();
            format!("{name}({})", args.join(", "))
        }
        // Remainders of sums that wrap would depend on the order.
        Node::Reduce("modsum", var, body) => {
            format!("modsum{{{}}}(i64({}))", VARS[*var], text(body))
        }
        Node::Reduce(name, var, body) => format!("{name}{{{}}}({})", VARS[*var], text(body)),
    }
}

/// The extents of every operand, from where it is first used.
fn shapes(node: &Node, extents: &[u64], shapes: &mut BTreeMap<usize, Vec<u64>>) {
    match node {
        Node::Literal(_) => {}
        Node::Access(slot, indices) => {
            let extents = || indices.iter().map(|index| index.extent(extents));
            shapes.entry(*slot).or_insert_with(|| extents().collect());
        }
        Node::Infix(_, left, right) => {
            self::shapes(left, extents, shapes);
            self::shapes(right, extents, shapes);
        }
        Node::Call(_, args) => args
            .iter()
            .for_each(|arg| self::shapes(arg, extents, shapes)),
        Node::Reduce(_, _, body) => self::shapes(body, extents, shapes),
    }
}

/// What became of the programs so far.
#[derive(Debug, Default)]
struct Tally {
    agreed: usize,
    refused: Vec<String>,
    /// Programs that ran with hashed workspaces too.
    hashed: usize,
    /// Programs that mean nothing, which the generator does not avoid.
    meaningless: usize,
    /// Changed plans that agreed, and that were refused.
    rescheduled: usize,
    unscheduled: usize,
}

struct Engines {
    functions: Vec<UserFunction>,
    interpreter: Session,
    c: Session,
    _cache: tempfile::TempDir,
}

fn engines() -> Engines {
    let cache = tempfile::tempdir().expect("a scratch directory");
    let mut environment = sparsec::runtime::Environment::of_process();
    environment.cache_dir = Some(cache.path().into());
    let functions = FUNCTIONS.map(|text| UserFunction::parse(text).expect(text));
    Engines {
        functions: functions.to_vec(),
        interpreter: Session::interpreter(),
        c: Session::new(Options {
            backend: Backend::C,
            environment,
            ..Options::default()
        }),
        _cache: cache,
    }
}

fn request(case: &Case, functions: &[UserFunction]) -> (Request, Inputs) {
    let mut program = format!("Z{} = {}", left(&case.lhs), text(&case.rhs, &case.extents));
    let mut used = BTreeMap::new();
    shapes(&case.rhs, &case.extents, &mut used);
    if let Some(second) = &case.second {
        let read = format!("Z{}", left(&case.lhs));
        let _ = write!(
            program,
            "\nY{} = {read} + {}",
            left(&case.lhs),
            text(second, &case.extents)
        );
        shapes(second, &case.extents, &mut used);
    }
    let mut request = Request::new(Source::new("program", program));
    request.functions = functions.to_vec();
    for (var, extent) in case.lhs.iter().map(|var| (VARS[*var], case.extents[*var])) {
        request.extents.insert(var.to_owned(), extent);
    }
    if let Some(format) = &case.result {
        request
            .set_format("Z", format)
            .expect("the strategy writes formats");
    }
    let mut inputs = Inputs::new();
    for (slot, shape) in used {
        let operand = &case.operands[slot];
        let format = FormatSpec::parse(&Source::new("format", operand.format.as_str()))
            .and_then(|spec| spec.resolve(ORDERS[slot]))
            .expect("the strategy writes formats");
        let name = NAMES[slot].to_owned();
        let tensor = generated(operand, operand.fill, &shape, &format);
        request.tensor(&name).element = Some(operand.element);
        inputs.insert(name, tensor);
    }
    (request, inputs)
}

/// Small integers; of unsigned types without a sign, of complex ones with an
/// imaginary part.
fn generated(operand: &Operand, fill: f64, shape: &[u64], format: &Format) -> sparsec::Tensor {
    let spec = format!(
        "random(density={:?}, seed={}, values=int)",
        operand.density, operand.seed
    );
    let source = Source::new("generator", spec);
    let whole = generate(&source, shape, None, ElementType::I64).expect("small tensors");
    let mut entries = whole.entries();
    let mut values = Array::zeroed(operand.element, entries.values.len()).expect("small tensors");
    for at in 0..values.len() {
        let value = entries.values.get(at).to_f64();
        let value = match operand.element.kind() {
            Kind::Complex => Scalar::C128(Complex::new(value, (value * 7.0) % 5.0)),
            Kind::Unsigned => Scalar::F64(value.abs()),
            _ => Scalar::F64(value),
        };
        values.set(at, value.cast(operand.element).expect("small numbers"));
    }
    entries.values = values;
    let fill = Scalar::F64(fill).cast(operand.element);
    let options = PackOptions {
        fill: Some(fill.unwrap_or(operand.element.zero())),
        ..PackOptions::default()
    };
    sparsec::Tensor::pack_entries(format, entries, options).expect("small tensors")
}

/// Runs one program everywhere.
fn check(case: &Case, engines: &Engines, tally: &mut Tally) -> Result<(), TestCaseError> {
    let (request, inputs) = request(case, &engines.functions);
    let compiled = match compile(&request, &inputs) {
        Ok(compiled) => compiled,
        Err(error) if error.code().as_str().starts_with("E03") => {
            let program = request.expression.text();
            tally.refused.push(format!("{program}\n{error}"));
            return Ok(());
        }
        Err(error) if error.code().as_str().starts_with("E02") => {
            tally.meaningless += 1;
            return Ok(());
        }
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    let as_c = tally.agreed.is_multiple_of(C_EVERY);
    let sessions = [Some(&engines.interpreter), as_c.then_some(&engines.c)];
    let hashed = with_hashed_workspaces(&request, &inputs, &compiled);
    tally.hashed += usize::from(hashed.is_some());
    for compiled in [Some(&compiled), hashed.as_ref()].into_iter().flatten() {
        for session in sessions.into_iter().flatten() {
            let ran = session.run(compiled, &inputs);
            agrees(compiled, &inputs, ran).map_err(|why| {
                let schedules = compiled.statements().iter();
                let schedules: Vec<String> =
                    schedules.map(|it| it.plan.schedule.to_string()).collect();
                let program = request.expression.text();
                TestCaseError::fail(format!("{program}\n{}\n{why}", schedules.join("\n")))
            })?;
        }
    }
    tally.agreed += 1;
    check_rescheduled(case, &compiled, engines, tally)
}

/// Runs a program of one statement once more, by a plan that is changed.
fn check_rescheduled(
    case: &Case,
    planned: &Compiled,
    engines: &Engines,
    tally: &mut Tally,
) -> Result<(), TestCaseError> {
    let ([statement], 1) = (planned.statements(), planned.resolved().statements.len()) else {
        return Ok(());
    };
    let plan = &statement.plan;
    let naive = concretize(planned.program(), 0);
    let Some(start) = plan.schedule.apply(&naive).ok() else {
        return Err(TestCaseError::fail("the plan does not replay"));
    };
    let Some(schedule) = reschedule(&plan.schedule, &start, &case.steps) else {
        return Ok(());
    };
    let (mut request, inputs) = request(case, &engines.functions);
    request.schedule = Some(Source::new("schedule", schedule.as_str()));
    let fail = |why: String| {
        let text = request.expression.text();
        TestCaseError::fail(format!("{text}\nscheduled by\n{schedule}\n{why}"))
    };
    let compiled = match compile(&request, &inputs) {
        Ok(compiled) => compiled,
        Err(error) if error.code().as_str().starts_with("E03") => {
            tally.unscheduled += 1;
            return Ok(());
        }
        Err(error) => return Err(fail(error.to_string())),
    };
    let as_c = tally.rescheduled.is_multiple_of(C_EVERY);
    let sessions = [Some(&engines.interpreter), as_c.then_some(&engines.c)];
    for session in sessions.into_iter().flatten() {
        let ran = session.run(&compiled, &inputs);
        agrees(&compiled, &inputs, ran).map_err(fail)?;
    }
    tally.rescheduled += 1;
    Ok(())
}

/// The same program with the plan that it got, but for workspaces, which are
/// hashed wherever they can be.
fn with_hashed_workspaces(
    request: &Request,
    inputs: &Inputs,
    compiled: &Compiled,
) -> Option<Compiled> {
    let [statement] = compiled.statements() else {
        return None;
    };
    let mut schedule = statement.plan.schedule.clone();
    let mut any = false;
    for command in &mut schedule.0 {
        if let Command::Precompute { vars, kind, .. } = command
            && !vars.is_empty()
        {
            *kind = Some(WorkspaceKind::Hashed);
            any = true;
        }
    }
    let mut request = request.clone();
    request.schedule = Some(Source::new("schedule", schedule.to_string()));
    any.then(|| compile(&request, inputs).ok()).flatten()
}

/// Compares a run with the oracle, statement by statement: a temporary is read
/// as it was stored, padding included.
fn agrees(
    compiled: &Compiled,
    inputs: &Inputs,
    ran: sparsec::Result<Outcome>,
) -> Result<(), String> {
    let program = compiled.resolved();
    let mut known = inputs.clone();
    for (number, statement) in program.statements.iter().enumerate() {
        let name = &program.tensors[statement.lhs.tensor].name;
        let expected = reference::dense::evaluate_statement(program, number, &known);
        let tensor = match (&ran, expected) {
            (Ok(outcome), Ok(expected)) => {
                let tensor = &outcome.tensors[name];
                let difference = match is_exact(program) {
                    true => reference::compare_exact(&expected, tensor),
                    false => reference::compare(&expected, tensor),
                };
                if let Some(difference) = difference {
                    return Err(format!("{name}: {difference}"));
                }
                tensor
            }
            (Err(found), Err(wanted)) if found.code() == wanted.code() => return Ok(()),
            (Ok(_), Err(wanted)) => return Err(format!("ran, but the oracle says\n{wanted}")),
            // A later statement may be what failed.
            (Err(_), Ok(_)) if number + 1 < program.statements.len() => return Ok(()),
            (Err(found), _) => return Err(found.to_string()),
        };
        known.insert(name.clone(), tensor.clone());
    }
    Ok(())
}

/// Whether no engine rounds, so that all have the same bits: not where integers
/// that wrapped below zero become large floats.
fn is_exact(program: &Program) -> bool {
    let elements = || program.tensors.iter().map(|(_, data)| data.element.kind());
    elements().all(|kind| kind != Kind::Unsigned) || elements().all(|kind| kind == Kind::Unsigned)
}

#[test]
fn random_programs_agree_with_the_oracle() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let cases = number("SPARSEC_CASES").unwrap_or(CASES);
    let mut seed = [7; 32];
    if let Some(given) = number("SPARSEC_SEED") {
        seed[..4].copy_from_slice(&given.to_le_bytes());
    }
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 4000,
        ..Config::default()
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let engines = engines();
    let tally = RefCell::new(Tally::default());
    let result = runner.run(&case(), |case| {
        check(&case, &engines, &mut tally.borrow_mut())
    });
    let tally = tally.into_inner();
    if let Err(error) = result {
        panic!("{error}\n{tally:?}");
    }
    let meant = tally.agreed + tally.refused.len();
    assert!(
        meant * 2 > cases as usize,
        "most programs mean something: {} agreed",
        tally.agreed
    );
    assert!(
        tally.refused.is_empty(),
        "no program is refused: {}",
        tally.refused.join("\n")
    );
    assert!(
        tally.rescheduled > tally.unscheduled,
        "most changed plans run: {tally:?}"
    );
}
