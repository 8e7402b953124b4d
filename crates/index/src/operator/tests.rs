use sparsec_base::{Complex, ElementType, Scalar};

use super::properties::{greatest, least};
use super::*;

/// A few values of each type, special ones of floats among them.
fn values(element: ElementType) -> Vec<Scalar> {
    let integers = [-3, -1, 0, 1, 2, 7];
    let mut values: Vec<Scalar> = match element {
        ElementType::Bool => [0, 1].map(|v| Scalar::from_i64(element, v)).to_vec(),
        _ => integers.map(|v| Scalar::from_i64(element, v)).to_vec(),
    };
    let complex = |re: f64, im: f64| Scalar::C128(Complex::new(re, im)).cast(element);
    values.extend(complex(1.0, -2.0).into_iter().chain(complex(0.0, 1.0)));
    values.extend([least(element), greatest(element)].into_iter().flatten());
    values
}

fn op(op: &Operator, a: Scalar, b: Scalar) -> Option<Scalar> {
    op.evaluate(&[a, b])
}

#[test]
fn names_are_distinct_and_read_back() {
    for op in Operator::ALL {
        match op.style() {
            Style::Infix(_) => assert_eq!(Operator::infix(op.symbol()), Some(op)),
            Style::Call => assert_eq!(Operator::function(op.symbol()), Some(op)),
            Style::Prefix(_) => assert_eq!(op.arity(), 1),
        }
    }
    for op in Operator::REDUCTIONS {
        let name = op.reduction_name().expect("it reduces");
        assert_eq!(Operator::reduction(name), Some(op));
    }
}

#[test]
fn declared_properties_hold() {
    for element in ElementType::ALL {
        for o in Operator::ALL
            .into_iter()
            .filter(|op| op.arity() == 2 && op.takes(element))
        {
            for a in values(element) {
                check_one(&o, a);
                for b in values(element) {
                    if o.is_commutative() {
                        assert_eq!(op(&o, a, b), op(&o, b, a), "{o:?} of {a} and {b}");
                    }
                    for c in values(element).into_iter().filter(|_| o.is_associative()) {
                        let left = op(&o, a, b).and_then(|ab| op(&o, ab, c));
                        let right = op(&o, b, c).and_then(|bc| op(&o, a, bc));
                        // Infinities of both signs and zeros do not associate.
                        let finite = [a, b, c].iter().all(|v| v.to_f64().is_finite());
                        let near = left.map(Scalar::to_c128) == right.map(Scalar::to_c128);
                        let same = left == right || (element.is_complex() && near);
                        assert!(same || !finite, "{o:?} of {a}, {b} and {c}");
                    }
                }
            }
        }
    }
}

fn check_one(o: &Operator, a: Scalar) {
    let element = a.element();
    // A zero part of a complex product may change its sign.
    let kept = |found: Option<Scalar>| match element.is_complex() {
        true => found.map(Scalar::to_c128) == Some(a.to_c128()),
        false => found == Some(a),
    };
    if let Some(identity) = o.identity(element) {
        assert!(kept(op(o, identity, a)), "{o:?} of {identity} and {a}");
    }
    if let Some(identity) = o.right_identity(element) {
        assert!(kept(op(o, a, identity)), "{o:?} of {a} and {identity}");
    }
    if o.is_idempotent(element) {
        assert_eq!(op(o, a, a), Some(a));
    }
    for at in 0..2 {
        if let Some(annihilator) = o.annihilator(at, element) {
            let mut args = [a, a];
            args[at] = annihilator;
            assert_eq!(o.evaluate_unstored(&args), Some(annihilator));
        }
    }
}

#[test]
fn repeating_is_reducing() {
    for element in ElementType::ALL {
        for o in Operator::REDUCTIONS
            .into_iter()
            .filter(|op| op.takes(element))
        {
            for value in values(element) {
                let mut reduced = o.identity(element).expect("it reduces");
                for n in 0..6 {
                    let repeated = o.repeat(value, n).expect("it reduces");
                    assert_eq!(repeated.to_c128(), reduced.to_c128(), "{n} times {value}");
                    reduced = op(&o, reduced, value).expect("reductions do not fail");
                }
            }
        }
    }
}

#[test]
fn corners() {
    let f = Scalar::F64;
    let i = Scalar::I32;
    assert_eq!(op(&Operator::FloorDiv, i(-7), i(2)), Some(i(-4)));
    assert_eq!(op(&Operator::Mod, i(-7), i(2)), Some(i(1)));
    assert_eq!(op(&Operator::Mod, i(1), i(0)), None);
    assert_eq!(
        op(&Operator::FloorDiv, i(i32::MIN), i(-1)),
        Some(i(i32::MIN))
    );
    assert_eq!(op(&Operator::Mod, f(-7.0), f(2.0)), Some(f(1.0)));
    assert_eq!(op(&Operator::Min, f(1.0), f(f64::NAN)), Some(f(f64::NAN)));
    assert_eq!(op(&Operator::Max, f(f64::NAN), f(1.0)), Some(f(f64::NAN)));
    assert_eq!(Operator::Neg.evaluate(&[f(0.0)]), Some(f(-0.0)));
    assert_eq!(Operator::Neg.evaluate_unstored(&[f(0.0)]), Some(f(0.0)));
    assert_eq!(Operator::Relu.evaluate(&[f(-2.0)]), Some(f(0.0)));
    assert_eq!(Operator::Sign.evaluate(&[i(-5)]), Some(i(-1)));
    assert_eq!(
        op(&Operator::FloorDiv, Scalar::U64(u64::MAX), Scalar::U64(2)),
        Some(Scalar::U64(u64::MAX / 2))
    );
    assert_eq!(
        op(&Operator::Add, Scalar::U8(200), Scalar::U8(100)),
        Some(Scalar::U8(44))
    );
    let z = Scalar::C64(Complex::new(3.0, -4.0));
    assert_eq!(Operator::Abs.evaluate(&[z]), Some(Scalar::F32(5.0)));
    assert_eq!(Operator::Imag.evaluate(&[z]), Some(Scalar::F32(-4.0)));
    assert_eq!(op(&Operator::Eq, z, z), Some(Scalar::Bool(true)));
    let args = [Scalar::Bool(false), i(1), i(2)];
    assert_eq!(Operator::Select.evaluate(&args), Some(i(2)));
}
