//! Constant parts of expressions are worked out.

use sparsec_base::{ElementType, Source};
use sparsec_notation::{Declaration, Declarations, Notation};

/// `from` is the right side of a statement over vectors of `f64`, and of
/// `bool` behind `b`. Numbers stand beside an access, or typing would work
/// them out.
fn check(from: &str, to: &str) {
    let text = format!("y(i) = {from}");
    let notation = Notation::parse(&Source::new("expression", text)).expect("parses");
    let mut declarations = Declarations::new();
    for tensor in notation
        .tensor_names()
        .into_iter()
        .filter(|tensor| !tensor.written)
    {
        let element = match tensor.name.starts_with('b') {
            true => ElementType::Bool,
            false => ElementType::F64,
        };
        declarations.declare(
            tensor.name,
            Declaration::with_order(tensor.order).of(element),
        );
    }
    let mut program = notation.resolve(&declarations).expect("resolves");
    let rhs = &mut program.statements[0].rhs;
    *rhs = rhs.simplify();
    assert_eq!(
        program.statement_text(0),
        format!("y(i) = {to}"),
        "for `{from}`"
    );
}

#[test]
fn identities_and_annihilators() {
    check("x(i) + 0", "x(i)");
    check("0 + x(i)", "x(i)");
    check("x(i) - 0", "x(i)");
    check("0 - x(i)", "0.0 - x(i)");
    check("x(i) * 1", "x(i)");
    check("1 * x(i)", "x(i)");
    check("x(i) / 1", "x(i)");
    check("x(i) * 0 + z(i)", "z(i)");
    check("min(x(i), inf)", "x(i)");
    check("max(x(i), inf)", "inf");
    check("b(i) or false", "b(i)");
    check("b(i) and false", "false");
    check("b(i) or true", "true");
}

#[test]
fn the_rest() {
    check("-(-x(i))", "x(i)");
    check("not not b(i)", "b(i)");
    check("select(true, x(i), 2)", "x(i)");
    check("select(true, x(i), z(i))", "x(i)");
    check("select(x(i) > 0, 1.0, 1.0)", "1.0");
    check("pow(x(i), 0)", "1.0");
    check("select(x(i) < -inf, 1, z(i))", "z(i)");
    check("select(false or 0 * x(i) != 0, 2, z(i))", "z(i)");
    check("sqrt(x(i) * 0 + 4)", "2.0");
    check("x(i) + sum{j}(0 * z(j))", "x(i)");
    check("f32(0 * x(i))", "0.0");
    check("x(i) // 0", "x(i) // 0.0");
}
