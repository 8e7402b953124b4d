//! Programs that are built compile and run as those of the same text.

use std::collections::BTreeMap;

use sparsec::ElementType::{F32, F64, I32};
use sparsec::internals::facts::{self, Facts};
use sparsec::internals::index::Operator::{Add, Exp, Gt, Max, Mul, Neg, Select, Sqrt, Sub};
use sparsec::internals::index::build::Value;
use sparsec::internals::index::function::Properties;
use sparsec::internals::index::{IndexExpr, IndexVar, Operator, Program as Built, ProgramBuilder};
use sparsec::internals::{Compiled, Inputs, Policy, Request, compile, compile_program};
use sparsec::{
    Format, FormatSpec, Program, Result, Scalar, Source, Stage, Tensor, UserFunction, code,
};

use super::{interpreter, matrix, x};

/// A matrix that may be multiplied with itself.
fn a() -> Tensor {
    let entries = [([0, 0], 1.0), ([0, 2], 2.0), ([1, 1], 3.0), ([2, 0], 4.0)];
    matrix("csr", [3, 3], &entries)
}

/// A program of text, the formats that are stated, and the same program built.
struct Same {
    text: &'static str,
    formats: &'static [(&'static str, &'static str)],
    build: fn(&mut ProgramBuilder) -> Result<()>,
}

/// `access(t, …)` of two tensors, multiplied.
fn product(
    program: &ProgramBuilder,
    [left, right]: [(sparsec::internals::index::TensorVar, &[IndexVar]); 2],
) -> Result<Value> {
    let access = |(tensor, vars): (_, &[IndexVar])| program.access(tensor, vars.iter().copied());
    program.apply(&Mul, [access(left)?, access(right)?])
}

pub(super) fn spmv(program: &mut ProgramBuilder) -> Result<()> {
    let y = program.result("y", 1)?;
    let a = program.input("A", F64, &[None, None])?;
    let x = program.input("x", F64, &[None])?;
    let [i, j] = ["i", "j"].map(|name| program.var(name));
    let sum = product(program, [(a, &[i, j]), (x, &[j])])?;
    let sum = program.reduce(&Add, [j], sum)?;
    program.assign(y, [i], sum)
}

fn square(program: &mut ProgramBuilder) -> Result<()> {
    let c = program.result("C", 2)?;
    let a = program.input("A", F64, &[None, None])?;
    let [i, k, j] = ["i", "k", "j"].map(|name| program.var(name));
    let sum = product(program, [(a, &[i, k]), (a, &[k, j])])?;
    let sum = program.reduce(&Add, [k], sum)?;
    program.assign(c, [i, j], sum)
}

fn masked(program: &mut ProgramBuilder) -> Result<()> {
    let c = program.result("C", 2)?;
    let a = program.input("A", F64, &[None, None])?;
    let b = program.input("B", F64, &[None, None])?;
    let [i, j, k] = ["i", "j", "k"].map(|name| program.var(name));
    let inner = product(program, [(b, &[i, k]), (b, &[k, j])])?;
    let inner = program.reduce(&Add, [k], inner)?;
    let masked = program.apply(&Mul, [program.access(a, [i, j])?, inner])?;
    program.assign(c, [i, j], masked)
}

/// Each statement has variables of its own, which have one name.
fn two_statements(program: &mut ProgramBuilder) -> Result<()> {
    let t = program.result("t", 1)?;
    let a = program.input("A", F64, &[None, None])?;
    let y = program.result("y", 1)?;
    let x = program.input("x", F64, &[None])?;
    let [i, j] = ["i", "j"].map(|name| program.var(name));
    let largest = program.reduce(&Max, [j], program.access(a, [i, j])?)?;
    program.assign(t, [i], largest)?;
    let sum = program.apply(&Add, [program.access(t, [i])?, program.access(x, [i])?])?;
    program.assign(y, [i], sum)
}

fn several_types(program: &mut ProgramBuilder) -> Result<()> {
    let y = program.result("y", 1)?;
    let a = program.input("a", F32, &[None])?;
    let n = program.input("n", I32, &[None])?;
    let i = program.var("i");
    program.set_element(y, F32)?;
    let a = program.access(a, [i])?;
    let twice = program.apply(&Mul, [a.clone(), program.number(Scalar::F64(2.0))])?;
    let root = program.apply(&Sqrt, [program.access(n, [i])?])?;
    let positive = program.apply(&Gt, [a, program.number(Scalar::I64(0))])?;
    let chosen = program.apply(&Select, [positive, twice, root])?;
    program.assign(y, [i], chosen)
}

fn of_index(program: &mut ProgramBuilder) -> Result<()> {
    let y = program.result("y", 1)?;
    let x = program.input("x", F64, &[None])?;
    let k = program.input("k", F64, &[Some(2)])?;
    let [i, r] = ["i", "r"].map(|name| program.var(name));
    program.set_extent(i, 2)?;
    let shifted = IndexExpr::from(i)
        .plus(&IndexExpr::from(r))
        .expect("no overflow");
    let read = program.access(x, [shifted])?;
    let product = program.apply(&Mul, [read, program.access(k, [r])?])?;
    let sum = program.reduce(&Add, [r], product)?;
    let scaled = program.apply(&Mul, [sum, program.index(i)?])?;
    program.assign(y, [i], scaled)
}

fn functions(program: &mut ProgramBuilder) -> Result<()> {
    let gauss = UserFunction::build("gauss", &[("x", F64)], Properties::default(), |f, x| {
        let negative = f.apply(&Neg, [x[0].clone()])?;
        f.apply(&Exp, [f.apply(&Mul, [negative, x[0].clone()])?])
    })?;
    let y = program.result("y", 1)?;
    let x = program.input("x", F64, &[None])?;
    let i = program.var("i");
    let call = program.apply(&Operator::Defined(gauss), [program.access(x, [i])?])?;
    program.assign(y, [i], call)
}

const SAME: &[Same] = &[
    Same {
        text: "y(i) = A(i,j) * x(j)",
        formats: &[("A", "csr"), ("y", "dense")],
        build: spmv,
    },
    Same {
        text: "y(i) = A(i,j) * x(j)",
        formats: &[("A", "csc")],
        build: spmv,
    },
    Same {
        text: "C(i,j) = A(i,k) * A(k,j)",
        formats: &[("A", "csr"), ("C", "csr")],
        build: square,
    },
    Same {
        text: "C(i,j) = A(i,j) * sum{k}(B(i,k) * B(k,j))",
        formats: &[("A", "csr"), ("B", "csr"), ("C", "csr")],
        build: masked,
    },
    Same {
        text: "t(i) = max{j}(A(i,j)); y(i) = t(i) + x(i)",
        formats: &[("A", "csr")],
        build: two_statements,
    },
    Same {
        text: "y(i) = select(a(i) > 0, a(i) * 2.0, sqrt(n(i)))",
        formats: &[("a", "dense"), ("n", "dense")],
        build: several_types,
    },
    Same {
        text: "y(i) = sum{r}(x(i + r) * k(r)) * i",
        formats: &[],
        build: of_index,
    },
    Same {
        text: "def gauss(x: f64) = exp(-x * x)\ny(i) = gauss(x(i))",
        formats: &[("x", "(i) -> (i : compressed)")],
        build: functions,
    },
];

pub(super) fn built(build: fn(&mut ProgramBuilder) -> Result<()>) -> Built {
    let mut program = ProgramBuilder::new();
    build(&mut program)
        .and_then(|()| program.finish())
        .unwrap_or_else(|error| panic!("{error}"))
}

impl Same {
    /// The request of the text; types are those of the program that is built.
    fn request(&self, program: &Built) -> Request {
        let mut request = Request::new(Source::new("expression", self.text));
        for (name, format) in self.formats {
            request.set_format(name, format).unwrap();
        }
        for (_, data) in program.tensors.iter() {
            let spec = request.tensor(&data.name);
            spec.element = Some(data.element);
            let extents = data.extents.iter().copied().collect::<Option<Vec<u64>>>();
            if data.role == sparsec::internals::index::TensorRole::Input {
                spec.extents = extents;
            }
        }
        for (_, data) in program.vars.iter().filter(|(_, data)| data.name == "i") {
            if let Some(extent) = data.extent {
                request.extents.insert(data.name.clone(), extent);
            }
        }
        request
    }

    fn compiled(&self, program: &Built) -> Compiled {
        let formats = self.formats.iter().map(|(name, format)| {
            let tensor = program.tensors.named(name).unwrap();
            let spec: FormatSpec = format.parse().unwrap();
            let order = program.tensors[tensor].order();
            (tensor, spec.levels(order).unwrap())
        });
        let formats: BTreeMap<_, Format> = formats.collect();
        compile_program(program, &formats, &Facts::default(), &Policy::default())
            .unwrap_or_else(|error| panic!("{}: {error}", self.text))
    }
}

fn emitted(compiled: &Compiled) -> Vec<String> {
    let stages = [Stage::Schedule, Stage::Loop, Stage::C];
    let stages = stages.iter().map(|stage| compiled.emit(stage).unwrap());
    stages.collect()
}

#[test]
fn built_programs_have_the_kernels_of_their_text() {
    for same in SAME {
        let program = built(same.build);
        let of_text = compile(&same.request(&program), &Inputs::new());
        let of_text = of_text.unwrap_or_else(|error| panic!("{}: {error}", same.text));
        assert_eq!(
            emitted(&same.compiled(&program)),
            emitted(&of_text),
            "{}",
            same.text
        );
        // A program that is resolved from text goes through the same door.
        assert_eq!(
            emitted(&same.compiled(of_text.resolved())),
            emitted(&of_text)
        );
    }
}

#[test]
fn built_programs_compute_what_their_text_does() {
    let vector = |values: &[f64]| Tensor::dense(&[values.len() as u64], values.to_vec()).unwrap();
    let small = |values: &[f32]| Tensor::dense(&[values.len() as u64], values.to_vec()).unwrap();
    let whole = |values: &[i32]| Tensor::dense(&[values.len() as u64], values.to_vec()).unwrap();
    let inputs = Inputs::from([
        ("A".to_owned(), a()),
        ("B".to_owned(), a()),
        ("x".to_owned(), x()),
        ("k".to_owned(), vector(&[3.0, 5.0])),
        ("a".to_owned(), small(&[1.5, -2.0])),
        ("n".to_owned(), whole(&[4, 9])),
    ]);
    for same in SAME {
        let mut program = built(same.build);
        let names = program.tensors.iter().map(|(_, data)| data.name.clone());
        let names: Vec<String> = names.collect();
        let used = inputs.iter().filter(|(name, _)| names.contains(name));
        let used: Inputs = used.map(|(name, it)| (name.clone(), it.clone())).collect();
        let session = interpreter();
        let run = |compiled: &Compiled| {
            let outcome = session.run(compiled, &used);
            outcome
                .unwrap_or_else(|error| panic!("{}: {error}", same.text))
                .tensors
        };
        let of_text = run(&compile(&same.request(&program), &used).unwrap());
        for tensor in program.tensors.ids() {
            if let Some(given) = used.get(&program.tensors[tensor].name) {
                program.tensors[tensor].extents =
                    given.extents().iter().copied().map(Some).collect();
            }
        }
        let of_program = run(&same.compiled(&program));
        assert_eq!(of_program.len(), of_text.len(), "{}", same.text);
        for (name, tensor) in &of_text {
            let difference = of_program[name].equal_within(tensor, 0.0);
            assert!(difference.is_none(), "{}: {name}", same.text);
        }
    }
}

#[test]
fn facts_are_what_inputs_say() {
    let inputs = Inputs::from([("A".to_owned(), a()), ("x".to_owned(), x())]);
    let of_text = Request::new(Source::new("expression", "y(i) = A(i,j) * x(j)"));
    let of_text = compile(&of_text, &inputs).unwrap();
    let (formats, facts) = facts::of_inputs(of_text.resolved(), &inputs);
    let again = compile_program(of_text.resolved(), &formats, &facts, &Policy::default());
    assert_eq!(emitted(&again.unwrap()), emitted(&of_text));
}

#[test]
fn kernels_are_planned_of_built_programs() {
    let program = Program::built(&built(spmv))
        .unwrap()
        .format("A", "csr")
        .unwrap();
    let session = interpreter();
    let kernel = session.plan(&program).unwrap();
    let evaluate = |a: &Tensor, x: &Tensor| kernel.bind("A", a)?.bind("x", x)?.evaluate();
    let expected = Tensor::dense(&[3], [201.0, 30.0, 4.0]).unwrap();
    let y = evaluate(&a(), &x()).unwrap();
    assert!(y.equal_within(&expected, 0.0).is_none());
    // Other extents, and extents that do not fit together.
    let wide = matrix("csr", [1, 5], &[([0, 4], 2.0)]);
    let ones = Tensor::dense(&[5], [1.0; 5]).unwrap();
    assert_eq!(evaluate(&wide, &ones).unwrap().n_stored(), 1);
    let error = evaluate(&wide, &x()).unwrap_err();
    assert_eq!(error.code(), code::EXTENT_MISMATCH);
    assert!(
        error.to_string().contains("y(i) = sum{j}(A(i,j) * x(j))"),
        "{error}"
    );
    // The same program is the same plan; what is said otherwise is refused.
    let again = Program::built(&built(spmv))
        .unwrap()
        .format("A", "csr")
        .unwrap();
    assert!(session.plan(&again).is_ok());
    let other = program.clone().element("A", F32).unwrap();
    assert_eq!(
        session.plan(&other).unwrap_err().code(),
        code::NOT_AS_PLANNED
    );
    assert_eq!(
        program.format("B", "csr").unwrap_err().code(),
        code::UNUSED_NAME
    );
    let scheduled = Program::built(&built(spmv))
        .unwrap()
        .schedule("split(i, i0, i1, 4)");
    let scheduled = session
        .plan(&scheduled.unwrap().format("A", "csr").unwrap())
        .unwrap();
    let schedule = scheduled.emit(&Stage::Schedule).unwrap();
    assert!(schedule.contains("split(i, i0, i1, 4)"), "{schedule}");
}

#[test]
fn properties_of_built_functions_are_tried() {
    let less = |commutative| {
        let properties = Properties {
            commutative,
            ..Properties::default()
        };
        UserFunction::build("less", &[("a", F64), ("b", F64)], properties, |f, x| {
            f.apply(&Sub, [x[0].clone(), x[1].clone()])
        })
    };
    assert!(less(false).is_ok());
    let error = less(true).unwrap_err();
    assert_eq!(error.code(), code::PROPERTY_FAILS);
    assert!(
        error.to_string().contains("`less` is declared commutative"),
        "{error}"
    );
}
