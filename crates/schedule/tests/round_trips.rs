//! What is printed reads back as the same, for random programs; and what is
//! simplified twice is simplified once.

use proptest::prelude::*;
use sparsec_base::{ElementType, Scalar, Source};
use sparsec_index::{Expr, Operator, Program, TensorVar, concretize};
use sparsec_notation::{Assignment, Node, NodeKind, Notation, Number, Place, TensorUse, Word};
use sparsec_notation::{Declaration, Declarations};
use sparsec_schedule::{ProgramSchedule, Schedule, parse_concrete};

fn word(text: &str) -> Word {
    Word {
        text: text.to_owned(),
        span: Default::default(),
    }
}

fn node(kind: NodeKind) -> Node {
    Node {
        kind,
        span: Default::default(),
    }
}

fn access(name: &str, indices: &[&str]) -> Node {
    node(NodeKind::Access(TensorUse {
        name: word(name),
        indices: indices.iter().map(|index| word(index).into()).collect(),
        span: Default::default(),
    }))
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<bool>().prop_map(Number::Bool),
        any::<i64>().prop_map(|n| Number::Integer(n.into())),
        any::<u64>().prop_map(|n| Number::Integer(n.into())),
        (-9_i128..10).prop_map(Number::Integer),
        (-9_i32..10).prop_map(|n| Number::Imaginary(f64::from(n) / 4.0)),
        (-99_i32..100).prop_map(|n| Number::Float(f64::from(n) / 8.0)),
        any::<f64>().prop_filter_map("one NaN", |value| {
            (!value.is_nan()).then_some(Number::Float(value))
        }),
        Just(Number::Float(f64::NAN)),
        prop::sample::select(vec![f64::INFINITY, -f64::INFINITY, f64::NAN])
            .prop_map(Number::Imaginary),
    ]
}

/// A matrix, vectors of every type, a scalar.
fn leaf() -> impl Strategy<Value = Node> {
    prop_oneof![
        1 => number().prop_map(|number| node(NodeKind::Number(number))),
        4 => prop::sample::select(vec![
            access("A", &["i", "j"]),
            access("A", &["j", "k"]),
            access("x", &["i"]),
            access("x", &["j"]),
            access("f", &["k"]),
            access("n", &["i"]),
            access("l", &["j"]),
            access("b", &["j"]),
            access("b", &["i"]),
            access("s", &[]),
        ]),
    ]
}

fn expression() -> impl Strategy<Value = Node> {
    leaf().prop_recursive(6, 40, 3, |inner| {
        let op = prop::sample::select(Operator::ALL.to_vec());
        let apply = (op, prop::collection::vec(inner.clone(), 3)).prop_map(|(op, mut args)| {
            args.truncate(op.arity());
            node(NodeKind::Apply {
                op,
                op_span: Place(Default::default()),
                args,
            })
        });
        let cast = (
            prop::sample::select(ElementType::ALL.to_vec()),
            inner.clone(),
        )
            .prop_map(|(element, body)| node(NodeKind::Cast(element, Box::new(body))));
        let op = prop::sample::select(Operator::REDUCTIONS.to_vec());
        let vars = prop::sample::subsequence(vec!["i", "j", "k"], 1..=2);
        let reduce = (op, any::<bool>(), vars, inner).prop_map(|(op, stored, vars, body)| {
            node(NodeKind::Reduce {
                op,
                stored,
                vars: vars.into_iter().map(word).collect(),
                body: Box::new(body),
            })
        });
        prop_oneof![6 => apply, 1 => cast, 1 => reduce]
    })
}

fn assignment() -> impl Strategy<Value = Assignment> {
    let lhs = prop::sample::subsequence(vec!["i", "j", "k"], 0..=2);
    let op = prop::option::weighted(0.3, prop::sample::select(Operator::REDUCTIONS.to_vec()));
    (lhs, op, expression()).prop_map(|(indices, op, rhs)| Assignment {
        lhs: TensorUse {
            name: word("y"),
            indices: indices.into_iter().map(|name| word(name).into()).collect(),
            span: Default::default(),
        },
        op,
        rhs,
        span: Default::default(),
    })
}

fn declarations(notation: &Notation) -> Declarations {
    let mut declarations = Declarations::new();
    for tensor in notation.tensor_names() {
        let element = match tensor.name.as_str() {
            "f" => ElementType::F32,
            "n" => ElementType::I32,
            "l" => ElementType::I64,
            "b" => ElementType::Bool,
            _ => ElementType::F64,
        };
        if !tensor.written {
            let extents = vec![4; tensor.order];
            declarations.declare(tensor.name, Declaration::with_extents(&extents).of(element));
        }
    }
    declarations
}

fn parse(text: &str) -> Notation {
    let parsed = Notation::parse(&Source::new("printed", text));
    parsed.unwrap_or_else(|error| panic!("{error}"))
}

/// The program, unless the random expression has no meaning.
fn resolve(notation: &Notation) -> Option<Program> {
    let mut declarations = declarations(notation);
    for var in ["i", "j", "k"] {
        let text = notation.to_string();
        if [format!("({var},"), format!(",{var})"), format!("({var})")]
            .iter()
            .any(|part| text.contains(part))
        {
            declarations.set_extent(var, 4);
        }
    }
    notation.resolve(&declarations).ok()
}

/// The value where every access has the value of its tensor in `values`.
fn value(expr: &Expr, values: &dyn Fn(TensorVar) -> Scalar) -> Option<Scalar> {
    match expr {
        Expr::Literal(value) => Some(*value),
        Expr::Access(access) => Some(values(access.tensor)),
        Expr::Index(_) => Some(Scalar::I64(2)),
        Expr::Cast(element, body) => value(body, values)?.cast(*element),
        Expr::Apply { op, args } => {
            let args: Option<Vec<Scalar>> = args.iter().map(|arg| value(arg, values)).collect();
            op.evaluate(&args?)
        }
        Expr::Reduce { op, vars, body } => {
            op.repeat(value(body, values)?, 4_u128.pow(vars.len() as u32))
        }
    }
}

/// Pieces of every language of this crate.
const WORDS: &[&str] = &[
    "y",
    "A",
    "x",
    "i",
    "j",
    "(",
    "(",
    ")",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ";",
    "\n",
    " ",
    "=",
    "=",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "<",
    "==",
    "!",
    "->",
    ".",
    "1",
    "2.5",
    "1e9",
    "inf",
    "nan",
    "not ",
    " and ",
    " or ",
    "sum",
    "max",
    "sqrt",
    "select",
    "i32",
    "forall ",
    "where",
    "sequence",
    "reorder",
    "precompute",
    "convert",
    "csr",
    "y(i) = ",
    "A(i,j)",
    "x(j)",
    "sum{j}(",
    "\u{e9}",
    "\"",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn notation(statements in prop::collection::vec(assignment(), 1..3)) {
        let notation = Notation { source: Source::new("made", ""), statements };
        let text = notation.to_string();
        prop_assert_eq!(parse(&text), notation, "{}", text);
    }

    #[test]
    fn programs(statement in assignment()) {
        let notation = Notation { source: Source::new("made", ""), statements: vec![statement] };
        let notation = parse(&notation.to_string());
        if let Some(program) = resolve(&notation) {
            let text = program.to_string();
            let again = resolve(&parse(&text)).unwrap_or_else(|| panic!("`{notation}`: `{text}`"));
            prop_assert_eq!(again.to_string(), text.clone());
            // What is resolved is a program, and one without text gets places in its own.
            let mut built = Program { source: Source::new("program", ""), ..program };
            built.settle().unwrap_or_else(|error| panic!("`{notation}`: {error}"));
            prop_assert_eq!(built.to_string(), text);
            for access in built.statements[0].rhs.accesses() {
                let name = &built.tensors[access.tensor].name;
                let there = built.source.slice(access.span);
                prop_assert!(there.starts_with(name.as_str()), "{} at {}", name, there);
            }
        }
    }

    #[test]
    fn concrete_notation(statement in assignment()) {
        let notation = Notation { source: Source::new("made", ""), statements: vec![statement] };
        let notation = parse(&notation.to_string());
        if let Some(program) = resolve(&notation) {
            let concrete = concretize(&program, 0);
            let text = concrete.to_string();
            let again = parse_concrete(&Source::new("printed", text.as_str()), &program.tensors);
            let again = again.unwrap_or_else(|error| panic!("{error}"));
            prop_assert_eq!(again.to_string(), text);
        }
    }

    /// A literal zero annihilates infinities too, so these are left out; and what it
    /// annihilates is not stored, so what asks for that is.
    #[test]
    fn simplified_expressions(statement in assignment(), numbers in prop::array::uniform8(1_i64..4)) {
        let notation = Notation { source: Source::new("made", ""), statements: vec![statement] };
        let notation = parse(&notation.to_string());
        if let Some(program) = resolve(&notation) {
            let rhs = &program.statements[0].rhs;
            let simple = rhs.simplify();
            prop_assert_eq!(&simple.simplify(), &simple);
            let values = |tensor: TensorVar| {
                let place = program.tensors.ids().position(|id| id == tensor).unwrap_or(0);
                Scalar::from_i64(program.tensors[tensor].element, numbers[place % 8])
            };
            let asks_what_is_stored = program.statement_text(0).contains("stored");
            if let (false, Some(a), Some(b)) =
                (asks_what_is_stored, value(rhs, &values), value(&simple, &values))
            {
                let (a, b) = (a.to_f64(), b.to_f64());
                prop_assert!(a == b || !a.is_finite(), "{} and {}", a, b);
            }
        }
    }

    /// Whatever the text, there is a value or a diagnostic that can be shown.
    #[test]
    fn any_text(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..30)) {
        let text = words.join("");
        let source = Source::new("text", text.as_str());
        let shown = |error: sparsec_base::Diagnostic| error.to_string();
        let program = Notation::parse(&source)
            .and_then(|notation| notation.resolve(&declarations(&notation)))
            .map_err(shown);
        if let Ok(program) = program {
            let _ = concretize(&program, 0).to_string();
        }
        let _ = Schedule::parse(&source).map_err(shown);
        let _ = ProgramSchedule::parse(&source).map_err(shown);
        let tensors = parse("y(i) = A(i,j)");
        let tensors = tensors.resolve(&declarations(&tensors)).expect("resolves").tensors;
        let _ = parse_concrete(&source, &tensors).map_err(shown);
    }
}
