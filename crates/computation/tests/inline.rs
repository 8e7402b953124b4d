//! Computations in computations: what a call becomes, and what is refused.

use std::collections::BTreeMap;

use sparsec_base::Scalar;
use sparsec_computation::{Computation, Given, Script};

fn read(text: &str) -> Computation {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

const DOT: &str = "computation dot {
    parameters N
    given a : f64[N], b : f64[N]
    out s : f64
    add: s += a(j) * b(j) over {[j] : 0 <= j < N}
}";

/// The statements of a caller of `dot` and others, each as `assignment at schedule`.
fn called(inner: &str, header: &str, statements: &str) -> Result<Vec<String>, String> {
    let text = format!("{inner} computation rows {{ parameters K, M {header} {statements} }}");
    let computation: Computation = text
        .parse()
        .map_err(|error: sparsec_base::Diagnostic| error.code().to_string())?;
    let again: Computation = read(&computation.to_string());
    assert_eq!(again, computation);
    let texts = computation.statements.iter().map(|statement| {
        let text = statement.to_string();
        let at = text.rsplit_once("at ").expect("a schedule").1.to_owned();
        format!("{}: {} at {at}", statement.name, statement.assignment())
    });
    Ok(texts.collect())
}

const MATRIX: &str = "given A : f64[K, M], x : f64[M] out y : f64[K]";

#[test]
fn a_call_for_each_row() {
    let statements = called(
        DOT,
        MATRIX,
        "call dot(N = M, a = A(i), b = x, s = y(i)) over {[i] : 0 <= i < K} at [i]",
    );
    let expect = ["dot_add: y(i) += A(i, j) * x(j) at [i, 1, 0, j]".to_owned()];
    assert_eq!(statements, Ok(expect.to_vec()));
    // Where the caller writes the data too, they are cleared first.
    let statements = called(
        DOT,
        MATRIX,
        "first: y(i) = 1 over {[i] : 0 <= i < K}
         call dot(N = M, a = A(i), b = x, s = y(i)) over {[i] : 0 <= i < K}",
    );
    let expect = [
        "first: y(i) = 1 at [0, i]",
        "dot_s_zero: y(i) = 0 at [1, i, 0]",
        "dot_add: y(i) += A(i, j) * x(j) at [1, i, 1, 0, j]",
    ];
    assert_eq!(statements, Ok(expect.map(str::to_owned).to_vec()));
}

#[test]
fn a_call_computes_what_its_runs_do() {
    let text = format!(
        "{DOT} computation scale {{
           parameters N
           given v : f64[N], c : f64
           temporary t : f64[N]
           out w : f64[N]
           t0: t(i) += c * v(i) over {{[i] : 0 <= i < N}}
           w0: w(i) = t(i) + 1 over {{[i] : 0 <= i < N}} }}
         computation both {{
           parameters K, M
           given A : f64[K, M], x : f64[M]
           temporary B : f64[K, M], y : f64[K]
           out z : f64[K]
           call dot(N = M, a = A(i), b = x, s = y(i)) over {{[i] : 0 <= i < K}} at [0, i]
           call scale(N = M, v = A(k), c = y(k), w = B(k)) over {{[k] : 0 <= k < K}} at [1, k]
           call dot(N = M, a = B(i), b = x, s = z(i)) over {{[i] : 0 <= i < K}} at [2, i] }}"
    );
    let computation = read(&text);
    // Each run of `scale` has a row of `t`.
    assert!(
        computation.to_string().contains("scale_t : f64[K, M]"),
        "{computation}"
    );
    let numbers = |values: &[f64]| values.iter().map(|v| Scalar::F64(*v)).collect::<Vec<_>>();
    let given = Given {
        parameters: [("K", 2), ("M", 3)].map(|(n, v)| (n.to_owned(), v)).into(),
        data: BTreeMap::from([
            ("A".to_owned(), numbers(&[1.0, 2.0, 0.0, 0.0, 3.0, 1.0])),
            ("x".to_owned(), numbers(&[1.0, -1.0, 2.0])),
        ]),
    };
    // y = (-1, -1); B = 1 - A; z = B x
    let found = computation.evaluate(&given, 0..4).expect("it runs");
    assert_eq!(found["z"], numbers(&[3.0, 3.0]));
    let (_, after) = computation.optimised().expect("it is optimised");
    assert_eq!(after.evaluate(&given, 0..4).expect("it runs"), found);
}

#[test]
fn a_call_alone_keeps_declarations() {
    let inner = "computation rows_of { parameters N, NZ
        function pos : {[i] : 0 <= i <= N} -> {[p] : 0 <= p <= NZ} nondecreasing
        given pos : i32[N + 1] out row : i32[NZ]
        s0: row(p) = i over {[i, p] : 0 <= i < N && pos(i) <= p < pos(i + 1)} }";
    let text = format!(
        "{inner} computation c {{ parameters M, MZ given ptr : i32[M + 1] out r : i32[MZ]
           call rows_of(N = M, NZ = MZ, pos = ptr, row = r) over {{[]}} at [] }}"
    );
    let text = read(&text).to_string();
    assert!(
        text.contains("function ptr : {[i] : 0 <= i <= M} -> {[p] : 0 <= p <= MZ} nondecreasing"),
        "{text}"
    );
    assert!(text.contains("ptr(i) <= p < ptr(i + 1)"), "{text}");
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    let refuse = |statements: &str, code: &str| {
        assert_eq!(
            called(DOT, MATRIX, statements),
            Err(code.to_owned()),
            "{statements}"
        );
    };
    let over = "over {[i] : 0 <= i < K} at [i]";
    refuse(&format!("call dto(N = M) {over}"), "E0801");
    refuse(
        &format!("call dot(N = M, a = A(i), b = x, c = x, s = y(i)) {over}"),
        "E0801",
    );
    refuse(
        &format!("call dot(N = M, a = B(i), b = x, s = y(i)) {over}"),
        "E0801",
    );
    refuse(
        &format!("call dot(N = M, a = A(i), s = y(i)) {over}"),
        "E0809",
    );
    refuse(
        &format!("call dot(N = M, N = M, a = A(i), b = x, s = y(i)) {over}"),
        "E0809",
    );
    refuse(
        &format!("call dot(N = M, a = A, b = x, s = y(i)) {over}"),
        "E0804",
    );
    refuse(
        &format!("call dot(N = M, a = A(i), b = x, s = x(0)) {over}"),
        "E0805",
    );
    // Extents, slices, and the times of runs.
    refuse(
        &format!("call dot(N = K, a = A(i), b = x, s = y(i)) {over}"),
        "E0809",
    );
    refuse(
        &format!("call dot(N = M, a = A(i), b = x, s = y(i + 1)) {over}"),
        "E0809",
    );
    refuse(
        "call dot(N = M, a = A(i), b = x, s = y(i)) over {[i] : 0 <= i < K} at [0]",
        "E0809",
    );
    // One name for what is written and what is read.
    let shift = "computation shift { parameters N given a : f64[N] out b : f64[N]
        s0: b(i) = a(i) over {[i] : 0 <= i < N} }";
    let twice = called(
        shift,
        "inout v : f64[K]",
        "call shift(N = K, a = v, b = v) over {[]} at []",
    );
    assert_eq!(twice, Err("E0809".to_owned()));
    // A window counts the points of all runs.
    let count = "computation count { parameters N out b : i64[N]
        s0: b(i) = ordinal() over {[i] : 0 <= i < N} }";
    let many = "call count(N = M, b = v(i)) over {[i] : 0 <= i < K} at [i]";
    assert_eq!(
        called(count, "out v : i64[K, M]", many),
        Err("E0809".to_owned())
    );
    let one = "call count(N = M, b = v) over {[]} at []";
    assert!(called(count, "out v : i64[M]", one).is_ok());
}

#[test]
fn what_is_cleared_may_go() {
    let fill = "computation fill { parameters N out b : f64[N]
        s0: b(i) = 2 over {[i] : 0 <= i < N} }";
    let text = format!(
        "{fill} computation c {{ parameters K inout v : f64[K]
           call fill(N = K, b = v) over {{[]}} at [0] }}"
    );
    let script: Script = "remove(fill_b_zero)".parse().expect("a script");
    let after = read(&text)
        .transformed(&script.commands[0])
        .expect("it goes");
    assert_eq!(after.statements.len(), 1);
}
