//! Every operation on every special value, with and without `simplify`.

use sparsec_base::{Complex, ElementType, Kind, Scalar};
use sparsec_loop::interpret::{ArgumentData, Entries, Options, interpret};
use sparsec_loop::{
    Access, Argument, BinaryOp, Builder, Expr, Function, Role, UnaryOp, passes, verify,
};

const OPS: [BinaryOp; 21] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::FloorDiv,
    BinaryOp::Mod,
    BinaryOp::Min,
    BinaryOp::Max,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::BitAnd,
    BinaryOp::BitOr,
    BinaryOp::BitXor,
    BinaryOp::ShiftLeft,
    BinaryOp::ShiftRight,
];

/// Values at which rules break.
fn specials(element: ElementType) -> Vec<Scalar> {
    let floats = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, f64::INFINITY, f64::NAN];
    let integers = [0, 1, -1, 2, -7, i64::MIN, i64::MAX, i32::MIN.into(), 127];
    let complex = |parts: (f64, f64)| Scalar::C128(Complex::new(parts.0, parts.1));
    let values: Vec<Scalar> = match element.kind() {
        Kind::Bool => vec![Scalar::Bool(false), Scalar::Bool(true)],
        Kind::Signed | Kind::Unsigned => integers.map(Scalar::I64).into(),
        Kind::Float => floats.map(Scalar::F64).into(),
        Kind::Complex => [
            (0.0, -0.0),
            (1.0, 0.0),
            (-2.5, 0.5),
            (f64::INFINITY, f64::NAN),
        ]
        .map(complex)
        .into(),
    };
    let cast = |value: Scalar| value.cast(element).expect("of the same kind");
    values.into_iter().map(cast).collect()
}

/// An expression of the special values, each given by its number.
type Formula<'a> = dyn Fn(&dyn Fn(usize) -> Expr) -> Expr + 'a;

/// A function that stores `value(x)` at entry 0 of its result; `x` holds
/// the special values.
fn function(from: ElementType, value: &Formula) -> Function {
    let mut builder = Builder::new("f");
    let x = builder.buffer("x", from, from, Access::Read);
    let value = value(&|at| Expr::load(x, at as i64));
    let mut with_x = builder.function().clone();
    with_x.body.clear();
    let to = with_x.type_of(&value);
    let y = builder.buffer("y", to, to, Access::Write);
    for (name, role, buffer) in [("y", Role::Out, y), ("x", Role::In, x)] {
        builder.argument(Argument {
            name: name.into(),
            role,
            doc: "() -> ()".into(),
            extents: vec![],
            buffers: vec![buffer],
        });
    }
    builder.store(y, 0, value);
    builder.finish()
}

fn check(from: ElementType, value: &Formula) {
    let function = function(from, value);
    if verify(&function).is_err() {
        return;
    }
    let mut simpler = function.clone();
    passes::simplify(&mut simpler);
    let run = |function: &Function| {
        let to = function.buffers[function.arguments[0].buffers[0]].storage;
        let values = specials(from);
        let mut x = Entries::zeros(from, values.len());
        for (at, value) in values.into_iter().enumerate() {
            x.set(at, value);
        }
        let mut arguments = [Entries::zeros(to, 1), x].map(|entries| ArgumentData {
            extents: vec![],
            buffers: vec![entries],
        });
        let outcome = interpret(function, &mut arguments, &Options::default())
            .unwrap_or_else(|fault| panic!("{fault}\n{function}"));
        (outcome, arguments[0].buffers[0].get(0))
    };
    let ((outcome, result), (outcome_after, result_after)) = (run(&function), run(&simpler));
    assert_eq!(outcome, outcome_after, "{function}\n{simpler}");
    assert!(
        same(result, result_after),
        "{result} {result_after}\n{function}\n{simpler}"
    );
}

/// Whether two values are the same, of which any `NaN` is.
fn same(a: Scalar, b: Scalar) -> bool {
    let part = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let (x, y) = (a.to_c128(), b.to_c128());
    let floats = a.element().is_float() || a.element().is_complex();
    a == b || (floats && part(x.re, y.re) && part(x.im, y.im))
}

#[test]
fn simplify_is_exact_on_special_values() {
    for element in ElementType::ALL {
        let values = specials(element);
        for op in OPS {
            for (at, &left) in values.iter().enumerate() {
                check(element, &|x| x(at).binary(op, x(at)));
                for &right in &values {
                    check(element, &|_| Expr::from(left).binary(op, right));
                    check(element, &|x| x(at).binary(op, right));
                    check(element, &|x| Expr::from(right).binary(op, x(at)));
                    // A sum of sums, a product of products.
                    check(element, &|x| x(at).binary(op, right).binary(op, right));
                }
            }
        }
    }
}

#[test]
fn simplify_is_exact_under_unary_operations() {
    let unary = |op, value| Expr::Unary(op, Box::new(value));
    for element in ElementType::ALL {
        let values = specials(element);
        for (at, &constant) in values.iter().enumerate() {
            for outer in UnaryOp::ALL {
                check(element, &|_| unary(outer, constant.into()));
                for inner in UnaryOp::ALL {
                    check(element, &|x| unary(outer, unary(inner, x(at))));
                }
                for op in OPS {
                    let other = (at + 1) % values.len();
                    check(element, &|x| unary(outer, x(at).binary(op, x(other))));
                    check(element, &|x| x(at).binary(op, unary(outer, x(other))));
                    check(element, &|x| unary(outer, x(at)).binary(op, x(other)));
                }
            }
            for to in ElementType::ALL {
                check(element, &|_| Expr::Cast(to, Box::new(constant.into())));
                check(element, &|x| Expr::Cast(to, Box::new(x(at))));
            }
        }
    }
}
