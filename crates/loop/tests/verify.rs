//! Functions that must be refused: at least one for each code.

use sparsec_base::{Code, ElementType, Source, code};
use sparsec_loop::{Access, Argument, Builder, Expr, Function, Role, Stmt, verify};

/// Parses `body` in a function with one of each kind of buffer; the error must
/// have this code, this message, and point at this text.
fn check(body: &str, expected: Code, message: &str, place: &str) {
    let text = format!(
        r#"fn f(
  out y "(i) -> (i : compressed)" {{ extent n, grow crd: i64 as i32, write vals: f64 }},
  in a "(i) -> (i : dense)" {{ read x: f64, read c: i32, read m: bool }}) {{
{body}
}}"#
    );
    let source = Source::new("test", text);
    let error = Function::parse(&source).expect_err("not valid");
    assert_eq!(error.code(), expected, "{error}");
    assert_eq!(error.message(), message);
    assert_eq!(source.slice(error.labels()[0].span), place, "{error}");
}

#[test]
fn unknown_names() {
    let code = code::LOOP_UNKNOWN_NAME;
    check("resize crd, p", code, "`p` is not declared here", "p");
    check(
        "for i in 0..n { let p: i64 = i }\n resize crd, p",
        code,
        "`p` is not declared here",
        "p",
    );
    check("let p: i64 = p", code, "`p` is not declared here", "p");
    check("let p: i64 = f(1)", code, "no function is called `f`", "f");
}

#[test]
fn parallel_loops_share_nothing_that_changes() {
    check(
        "var t: f64 = 0.0\nfor i in 0..n parallel(CPUThread, NoRaces) { t += x[i] }\nresize crd, 0",
        code::LOOP_IMMUTABLE,
        "`t` is shared by the iterations of a parallel loop",
        "t += x[i]",
    );
    check(
        "var t: f64 = 0.0\nfor i in 0..n parallel(CPUThread, Atomics) { t = x[i] / t }\nresize crd, 0",
        code::LOOP_IMMUTABLE,
        "`t` is shared by the iterations of a parallel loop",
        "t = x[i] / t",
    );
    check(
        "var t: f64 = 0.0\nfor i in 0..n parallel(CPUThread, Atomics) { t += x[i] vals[i] = t }",
        code::LOOP_IMMUTABLE,
        "iterations of a parallel loop combine into `t` and read it",
        "for",
    );
    check(
        "for i in 0..n parallel(CPUThread, NoRaces) { for k in 0..n { grow crd, k } }",
        code::LOOP_LIFETIME,
        "`crd` grows inside a parallel loop",
        "grow crd, k",
    );
    check(
        "for i in 0..n parallel(GPUBlock, NoRaces) { }",
        code::UNEXPECTED_TOKEN,
        "expected a unit, found `GPUBlock`",
        "GPUBlock",
    );
    check(
        "for i in 0..n unroll 0 { }",
        code::UNEXPECTED_TOKEN,
        "expected how often to unroll, found `0`",
        "0",
    );
}

#[test]
fn chunks_share_nothing_that_changes() {
    check(
        "var t: f64 = 0.0\nfor i in 0..n chunks { t += x[i] }\nresize crd, 0",
        code::LOOP_IMMUTABLE,
        "`t` is shared by the iterations of a parallel loop",
        "t += x[i]",
    );
    check(
        "own w: f64[n]\nw[0] = 1.0\nresize crd, 0",
        code::LOOP_LIFETIME,
        "`w` is a unit's own, and used outside of chunks",
        "w[0] = 1.0",
    );
    check(
        "alloc w: f64[n]\nfor i in 0..n chunks { grow w, i }\nresize crd, 0",
        code::LOOP_LIFETIME,
        "`w` grows inside a parallel loop",
        "grow w, i",
    );
    for turn in [
        "for i in 0..n chunks { if x[i] > 0.0 { turn } }",
        "for i in 0..n chunks { turn turn }",
        "for i in 0..n chunks { turn pass pass }",
    ] {
        check(
            &format!("{turn}\nresize crd, 0"),
            code::LOOP_LIFETIME,
            "a chunk has one turn, and passes it on once",
            "for",
        );
    }
    check(
        "turn\nresize crd, 0",
        code::LOOP_LIFETIME,
        "chunks alone have their turn",
        "turn",
    );
    for pass in ["pass", "for i in 0..n chunks { pass turn }"] {
        check(
            &format!("{pass}\nresize crd, 0"),
            code::LOOP_LIFETIME,
            "no turn is passed on here",
            "pass",
        );
    }
    check(
        "for i in 0..n chunks { turn pass grow crd, i }\nresize crd, 0",
        code::LOOP_LIFETIME,
        "`crd` grows inside a parallel loop",
        "grow crd, i",
    );
    check(
        "for i in 0..n chunks { grow crd, i }\nresize crd, 0",
        code::LOOP_LIFETIME,
        "`crd` grows inside a parallel loop",
        "grow crd, i",
    );
    for chunks in [
        "for i in 1..n chunks { }",
        "for i in 0..n chunks { for j in 0..n chunks { } }",
    ] {
        check(
            &format!("{chunks}\nresize crd, 0"),
            code::LOOP_LIFETIME,
            "chunks are counted from 0, in a loop outside of all other chunks",
            "for",
        );
    }
}

#[test]
fn duplicate_names() {
    let code = code::LOOP_DUPLICATE_NAME;
    check(
        "for i in 0..n { } for i in 0..n { }",
        code,
        "`i` is declared twice",
        "i",
    );
    check("let x: i64 = 0", code, "`x` is declared twice", "x");
}

#[test]
fn types() {
    let cases = [
        ("let p: f64 = 1", "`1` is i64, where f64 is needed"),
        ("vals[0] = x[0] * 2", "`2` is i64, where f64 is needed"),
        ("vals[0i32] = 0.0", "`0i32` is i32, where i64 is needed"),
        ("while n { }", "`n` is i64, where bool is needed"),
        ("let p: i64 = n / 2", "`/` does not take i64, in `n / 2`"),
        (
            "let p: bool = m[0] + m[1]",
            "`+` does not take bool, in `m[0] + m[1]`",
        ),
        ("let p: bool = -m[0]", "`-` does not take bool, in `-m[0]`"),
        (
            "let p: i64 = sqrt(n)",
            "`sqrt` does not take i64, in `sqrt(n)`",
        ),
        ("let p: bool = not n", "`not` does not take i64, in `not n`"),
        (
            "let p: f64 = select(m[0], 1.0, 2)",
            "`2` is i64, where f64 is needed",
        ),
        ("vals[0] and= 1.0", "`and` does not combine f64 in `vals`"),
    ];
    for (body, message) in cases {
        let place = if body.ends_with('}') { "while" } else { body };
        check(body, code::LOOP_TYPE, message, place);
    }
    check(
        "n[0] = 1",
        code::LOOP_TYPE,
        "`n` is a variable, not a buffer",
        "n",
    );
    let message = "`min` takes 2 arguments, not 1";
    check("let p: i64 = min(1)", code::LOOP_TYPE, message, "min");
}

#[test]
fn assignments_to_what_never_changes() {
    let code = code::LOOP_IMMUTABLE;
    let message = |name: &str| format!("`{name}` never changes and is assigned");
    check("let p: i64 = 0 p += 1", code, &message("p"), "p += 1");
    check("for i in 0..n { i = 1 }", code, &message("i"), "i = 1");
    check("n = 1 ; behind", code, &message("n"), "n = 1");
}

#[test]
fn accesses() {
    let code = code::LOOP_ACCESS;
    check(
        "x[0] = 1.0",
        code,
        "`x` is only read, and changed here",
        "x[0] = 1.0",
    );
    check(
        "fill x[0..1], 1.0",
        code,
        "`x` is only read, and changed here",
        "fill x[0..1], 1.0",
    );
    check(
        "grow vals, 1",
        code,
        "`vals` does not grow, and is given a length",
        "grow vals, 1",
    );
    check(
        "sort vals[0..1]",
        code,
        "`vals` is not stored as i32 or i64, and is sorted",
        "sort vals[0..1]",
    );
}

#[test]
fn lifetimes() {
    let code = code::LOOP_LIFETIME;
    let never = "`crd` is not resized on every path that returns";
    check("", code, never, "fn f");
    check(
        "resize crd, 1 resize crd, 1",
        code,
        "`crd` is resized twice",
        "resize crd, 1",
    );
    check(
        "for i in 0..n { resize crd, i }",
        code,
        "`crd` is resized inside a loop",
        "resize crd, i",
    );
    check(
        "if n == 0 { resize crd, 0 }",
        code,
        "only one side of this resizes a result",
        "if",
    );
    check(
        "for i in 0..n { alloc w: f64[n] }",
        code,
        "`w` is allocated inside a loop",
        "alloc w: f64[n]",
    );
    let text = "fn f() { if true { alloc w: f64[1] } w[0] = 1.0 }";
    let error = Function::parse(&Source::new("test", text)).expect_err("not valid");
    assert_eq!(error.code(), code::LOOP_UNKNOWN_NAME);
    // A path that leaves with an error need not resize.
    let text = r#"fn f(out y "" { grow crd: i64 }) {
      if true { fail out_of_memory } else { resize crd, 0 }
    }"#;
    assert!(Function::parse(&Source::new("test", text)).is_ok());
}

#[test]
fn names() {
    check(
        "let min: i64 = 0",
        code::LOOP_NAME,
        "`min` cannot be a name",
        "min",
    );
    let mut builder = Builder::new("f");
    assert_eq!(builder.function().vars.len(), 0);
    let var = builder.let_("min", 0);
    assert_eq!(builder.function().vars[var].name, "min_1");
    builder.let_("a b", 0);
    let error = verify(&builder.finish()).expect_err("not valid");
    assert_eq!(error.code(), code::LOOP_NAME);
}

#[test]
fn signatures() {
    let texts = [
        r#"in x "" { write vals: f64 }"#,
        r#"in x "" { read vals: i32 as i64 }"#,
        r#"in x "" { read vals: f64 }, in x "" { read crd: i64 }"#,
    ];
    for text in texts {
        let source = Source::new("test", format!("fn f({text}) {{ }}"));
        let error = Function::parse(&source).expect_err("not valid");
        assert_eq!(error.code(), code::LOOP_SIGNATURE, "{error}");
    }
    let mut builder = Builder::new("f");
    builder.buffer("x", ElementType::F64, ElementType::F64, Access::Read);
    let error = verify(&builder.finish()).expect_err("not valid");
    assert_eq!(error.message(), "the buffer `x` belongs to no argument");
}

#[test]
fn errors_of_built_functions_show_the_statement() {
    let mut builder = Builder::new("f");
    let w = builder.buffer("w", ElementType::F64, ElementType::F64, Access::Workspace);
    let i = builder.fixed("i", ElementType::I64);
    let n = builder.fixed("n", ElementType::I64);
    builder.argument(Argument {
        name: "x".into(),
        role: Role::In,
        doc: "(i) -> (i : dense)".into(),
        extents: vec![n],
        buffers: vec![],
    });
    builder.for_loop(i, 0, n, |b| b.store(w, i, Expr::int(1)));
    builder.push(Stmt::Comment("behind".into()));
    let error = verify(&builder.finish()).expect_err("not valid");
    assert_eq!(error.code(), code::LOOP_LIFETIME);
    assert_eq!(error.labels()[0].source.text(), "w[i] = 1");
}
