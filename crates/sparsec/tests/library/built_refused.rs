//! Programs that are built with faults are refused, with codes and places.

use std::collections::BTreeMap;

use sparsec::ElementType::{Bool, C128, F64};
use sparsec::internals::facts::Facts;
use sparsec::internals::index::Operator::{Add, And, Not, Sqrt, Sub};
use sparsec::internals::index::{Expr, IndexVar, Program as Built, ProgramBuilder};
use sparsec::internals::{Policy, compile_program};
use sparsec::{Code, Format, Result, Scalar, code};

use super::built::{built, spmv};

#[track_caller]
fn refused(build: impl FnOnce(&mut ProgramBuilder) -> Result<()>, code: Code, expect: &[&str]) {
    let mut program = ProgramBuilder::new();
    let error = match build(&mut program).and_then(|()| program.finish()) {
        Ok(program) => panic!("it is built:\n{program}"),
        Err(error) => error,
    };
    assert_eq!(error.code(), code, "{error}");
    let text = error.to_string();
    for part in expect {
        assert!(text.contains(part), "`{part}` in:\n{text}");
    }
}

#[test]
fn faults_of_built_programs_have_codes_and_places() {
    refused(
        |program| program.input("not", F64, &[]).map(drop),
        code::INVALID_NAME,
        &["`not`"],
    );
    refused(
        |program| {
            let a = program.input("A", F64, &[None, None])?;
            let i = program.var("i");
            program.access(a, [i]).map(drop)
        },
        code::WRONG_ORDER,
        &["`A` has order 2, but is used with 1 indices"],
    );
    refused(
        |program| {
            let b = program.input("b", Bool, &[None])?;
            let x = program.input("x", F64, &[None])?;
            let i = program.var("i");
            let sum = program.apply(
                &Add,
                [program.access(x, [i])?, program.number(Scalar::F64(1.0))],
            )?;
            let args = [program.access(b, [i])?, sum];
            program.apply(&And, args).map(drop)
        },
        code::TYPE_MISMATCH,
        &[
            "b(i) and x(i) + 1.0",
            "takes `bool`",
            "compare it: `x(i) + 1.0 != 0`",
        ],
    );
    refused(
        |program| {
            let z = program.input("z", C128, &[])?;
            let value = program.access(z, Vec::<IndexVar>::new())?;
            program.cast(F64, value).map(drop)
        },
        code::COMPLEX_AS_REAL,
        &["take a part of it: `real(z)`"],
    );
    refused(
        |program| program.apply(&Not, []).map(drop),
        code::ARGUMENT_COUNT,
        &["1 arguments, not 0"],
    );
    refused(
        |program| {
            let (y, x) = (program.result("y", 1)?, program.input("x", F64, &[None])?);
            let [i, j] = ["i", "j"].map(|name| program.var(name));
            let value = program.access(x, [j])?;
            program.assign(y, [i], value)
        },
        code::UNBOUND_INDEX,
        &["nothing says how far `j` runs", "x(j)"],
    );
    refused(
        |program| {
            let (y, x) = (
                program.result("y", 1)?,
                program.input("x", F64, &[Some(3)])?,
            );
            let z = program.input("z", F64, &[Some(4)])?;
            let i = program.var("i");
            let sum = program.apply(&Sub, [program.access(x, [i])?, program.access(z, [i])?])?;
            program.assign(y, [i], sum)
        },
        code::EXTENT_MISMATCH,
        &[
            "`i` has two extents, 3 and 4",
            "y(i) = x(i) - z(i)",
            "^^^^ the second extent",
        ],
    );
    refused(
        |program| {
            let y = program.result("y", 0)?;
            let x = program.input("x", F64, &[])?;
            let mut value = program.access(x, Vec::<IndexVar>::new())?;
            for _ in 0..100_000 {
                value = program.apply(&Sqrt, [value])?;
            }
            program.assign(y, [], value)
        },
        code::STATEMENT_TOO_LARGE,
        &["more than 500 operators"],
    );
    refused(
        |program| {
            let (y, t) = (program.result("y", 1)?, program.result("t", 1)?);
            let i = program.var("i");
            let value = program.access(t, [i])?;
            program.assign(y, [i], value)
        },
        code::READ_BEFORE_ASSIGNED,
        &["`t` is read before it has a value"],
    );
}

/// A program whose parts are changed by hand is checked where it is handed over.
#[test]
fn programs_are_checked_at_the_door() {
    let refused = |change: fn(&mut Built), code: Code, expect: &str| {
        let mut program = built(spmv);
        change(&mut program);
        let compiled = compile_program(
            &program,
            &BTreeMap::new(),
            &Facts::default(),
            &Policy::default(),
        );
        let error = compiled.map(drop).expect_err(expect);
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(expect), "{error}");
    };
    fn rhs(program: &mut Built) -> &mut Expr {
        &mut program.statements[0].rhs
    }
    refused(
        |program| program.statements[0].lhs.indices.clear(),
        code::WRONG_ORDER,
        "statement 1: `y` has order 1, but is used with 0 indices",
    );
    refused(
        |program| *rhs(program) = Expr::Literal(Scalar::F32(1.0)),
        code::TYPE_MISMATCH,
        "`y` is of f64, and what it is assigned of f32",
    );
    refused(
        |program| {
            if let Expr::Reduce { vars, .. } = rhs(program) {
                vars.clear();
            }
        },
        code::UNBOUND_INDEX,
        "nothing says how far `j` runs",
    );
    refused(
        |program| {
            let again = program.statements[0].clone();
            program.statements.push(again);
        },
        code::NOT_AN_OPERAND,
        "`y` has a value already",
    );
    refused(
        |program| {
            let vars = program.statements[0].lhs.vars();
            program.same_extent.push((vars[0], foreign(7)));
        },
        code::UNBOUND_INDEX,
        "no index variable of the program",
    );
    refused(
        |program| {
            let deep = |body| Expr::Apply {
                op: Sqrt,
                args: vec![body],
            };
            let mut value = rhs(program).clone();
            for _ in 0..1000 {
                value = deep(value);
            }
            *rhs(program) = value;
        },
        code::STATEMENT_TOO_LARGE,
        "statement 1: more than 500 operators",
    );
}

/// A variable that no program made.
fn foreign(number: usize) -> IndexVar {
    let mut program = ProgramBuilder::new();
    let vars: Vec<IndexVar> = (0..=number).map(|_| program.var("i")).collect();
    vars[number]
}

#[test]
fn formats_are_of_the_tensors_of_the_program() {
    let program = built(spmv);
    let tensor = program.tensors.named("A").unwrap();
    let compiled = |format| {
        let formats = BTreeMap::from([(tensor, format)]);
        compile_program(&program, &formats, &Facts::default(), &Policy::default())
    };
    let error = compiled(Format::dense(1)).map(drop).unwrap_err();
    assert_eq!(error.code(), code::WRONG_ORDER);
    assert!(error.to_string().contains("^ of order 2"), "{error}");
    assert!(compiled(Format::csr()).is_ok());
}
