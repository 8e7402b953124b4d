//! Every operation on every special value, with and without `simplify`.

use sparsec_base::{ElementType, Scalar};
use sparsec_loop::interpret::{ArgumentData, Entries, Options, interpret};
use sparsec_loop::{
    Access, Argument, BinaryOp, Builder, Expr, Function, Role, UnaryOp, passes, verify,
};

const OPS: [BinaryOp; 16] = [
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
];

/// Values at which rules break.
fn specials(element: ElementType) -> Vec<Scalar> {
    let floats = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, f64::INFINITY, f64::NAN];
    match element {
        ElementType::Bool => vec![Scalar::Bool(false), Scalar::Bool(true)],
        ElementType::I32 => [0, 1, -1, 2, -7, i32::MIN, i32::MAX]
            .map(Scalar::I32)
            .into(),
        ElementType::I64 => [0, 1, -1, 2, -7, i64::MIN, i64::MAX]
            .map(Scalar::I64)
            .into(),
        ElementType::F32 => floats.map(|v| Scalar::F32(v as f32)).into(),
        ElementType::F64 => floats.map(Scalar::F64).into(),
        other => vec![other.zero(), other.one()],
    }
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
    let both_nan = result.to_f64().is_nan() && result_after.to_f64().is_nan();
    assert!(
        result == result_after || both_nan,
        "{result} {result_after}\n{function}\n{simpler}"
    );
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
            for outer in [UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Not] {
                check(element, &|_| unary(outer, constant.into()));
                for inner in [UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Not] {
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
