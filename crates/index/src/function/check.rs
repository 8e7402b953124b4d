//! Declared properties tried on a sample of values.
//!
//! A property that does not hold makes wrong loops, so each one is tried: on small
//! numbers, whole and not, and on the declared constants. What holds of integers
//! need not hold of floats, so that is done in each type that arguments may be of,
//! as far as a call needs it:
//!
//! ```text
//! def mul_mod5(a, b) = (a * b) % 5 : associative, commutative, identity 1
//!
//! s = mul_mod5{i}(x(i))     x of i32: it holds of i64
//!                           x of f64: mul_mod5(mul_mod5(1, -1), 0.5) is another number
//! ```
//!
//! | arguments | are tried as |
//! |-----------|--------------|
//! | integers  | `i64` or `u64`, since what wraps around in a narrower type is no reason to refuse a function |
//! | floats    | `f64`        |
//! | complex   | `c128`       |
//! | `bool`    | `bool`       |
//!
//! A definition is refused if its properties hold of none. Floats may differ by
//! rounding; what is no number is passed over. Passing is no proof.

use std::sync::OnceLock;

use sparsec_base::{Complex, Diagnostic, ElementType, Kind, Result, Scalar, code};

use crate::expr::Expr;

use super::{Body, Definition, UserFunction, value_of};

/// The types that properties are tried in.
const TRIED: [ElementType; 5] = [
    ElementType::F64,
    ElementType::I64,
    ElementType::U64,
    ElementType::C128,
    ElementType::Bool,
];

/// Numbers that every function is tried on, as far as a type has them.
const SAMPLE: [f64; 11] = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 7.0, -5.0, 0.5, -1.25, 100.0];

/// Numbers that functions of complex numbers are tried on as well.
const COMPLEX: [Complex<f64>; 3] = [
    Complex::new(0.0, 1.0),
    Complex::new(2.0, -1.0),
    Complex::new(-1.0, 0.5),
];

/// What came of trying, for each type of [`TRIED`] that anybody asked for.
pub(super) type Trials = [OnceLock<Trial>; TRIED.len()];

/// What came of trying the properties in a type.
#[derive(Clone, Debug)]
pub(super) enum Trial {
    /// They hold of the sample.
    Holds,
    /// One does not.
    Fails(Counterexample),
    /// The function gives values of another type, of which they say nothing.
    SaysNothing,
    /// It does not take such arguments.
    NotTaken(Diagnostic),
}

/// What was found to be otherwise than declared.
#[derive(Clone, Debug)]
pub(crate) struct Counterexample {
    /// What is declared, as in "declared associative".
    pub(crate) property: String,
    /// The values that show it.
    pub(crate) found: String,
}

impl UserFunction {
    /// Tries the declared properties on a sample of values.
    ///
    /// # Errors
    /// `E0243` with a counterexample, if they hold in no type; the code of what is
    /// wrong with the body, if it has a meaning in none.
    pub fn check(&self) -> Result<()> {
        let (mut failed, mut not_taken, mut says_nothing) = (None, None, false);
        for element in TRIED {
            match self.tried(element) {
                Trial::Holds => return Ok(()),
                Trial::Fails(found) => failed = failed.or(Some(found)),
                Trial::SaysNothing => says_nothing = true,
                Trial::NotTaken(error) => not_taken = not_taken.or(Some(error)),
            }
        }
        let Definition { source, span, .. } = self.definition();
        match (failed, not_taken) {
            (Some(Counterexample { property, found }), _) => {
                let name = self.name();
                let message = format!("`{name}` is declared {property}, which does not hold");
                Err(Diagnostic::new(code::PROPERTY_FAILS, message)
                    .at(source, *span, found)
                    .help("leave the property out, or correct the function"))
            }
            (None, Some(error)) if !says_nothing => Err(error.clone()),
            _ => Ok(()),
        }
    }

    /// What shows that a declared property does not hold of arguments of these types.
    pub(crate) fn fails_for(&self, types: &[ElementType]) -> Option<&Counterexample> {
        let mut open = std::iter::zip(self.parameter_types(), types);
        let open = open.find(|(stated, _)| stated.is_none());
        let wide = match open.map(|(_, element)| element.kind()) {
            Some(Kind::Signed) => ElementType::I64,
            Some(Kind::Unsigned) => ElementType::U64,
            Some(Kind::Complex) => ElementType::C128,
            Some(Kind::Bool) => ElementType::Bool,
            // Where all are stated, it is the same in each.
            Some(Kind::Float) | None => ElementType::F64,
        };
        match self.tried(wide) {
            Trial::Fails(found) => Some(found),
            _ => None,
        }
    }

    /// A type that the declared properties hold of.
    pub(crate) fn holds_for(&self) -> Option<ElementType> {
        let holds = |element: &ElementType| matches!(self.tried(*element), Trial::Holds);
        TRIED.into_iter().find(holds)
    }

    fn tried(&self, element: ElementType) -> &Trial {
        let at = TRIED.iter().position(|tried| *tried == element);
        self.trials[at.expect("one of these")].get_or_init(|| self.try_in(element))
    }

    fn try_in(&self, element: ElementType) -> Trial {
        let stated = self.parameter_types();
        let types = stated.map(|stated| stated.unwrap_or(element).computed());
        let types: Vec<ElementType> = types.collect();
        match self.body(&types) {
            Err(error) => Trial::NotTaken(error),
            Ok(body) if self.declares_of(&body, &types) => match self.counterexample(&body, &types)
            {
                Some(found) => Trial::Fails(found),
                None => Trial::Holds,
            },
            Ok(_) => Trial::SaysNothing,
        }
    }

    /// Whether what is declared says something of these types: an annihilator or an
    /// identity is a result as well as an argument.
    fn declares_of(&self, body: &Body, types: &[ElementType]) -> bool {
        self.definition().properties.is_empty() || types.contains(&body.element())
    }

    fn counterexample(&self, body: &Body, types: &[ElementType]) -> Option<Counterexample> {
        let samples: Vec<Vec<Scalar>> = types.iter().map(|element| self.sample(*element)).collect();
        if let Some(found) = self.annihilates(body, types, &samples) {
            return Some(found);
        }
        // The rest is of functions from two values of a type to a third.
        let [left, right] = types else { return None };
        if left != right || body.element() != *left {
            return None;
        }
        let values = &samples[0];
        let f = |a: Scalar, b: Scalar| body.evaluate(&[a, b], true);
        let rounding = rounding(body);
        let declared = &self.definition().properties;
        let name = self.name();
        for &a in values {
            for &b in values {
                let Some(ab) = f(a, b) else { continue };
                if declared.commutative && differ(Some(ab), f(b, a)) {
                    return Some(Counterexample {
                        property: "commutative".to_owned(),
                        found: format!(
                            "{name}({a}, {b}) is {ab}, {name}({b}, {a}) is {}",
                            shown(f(b, a))
                        ),
                    });
                }
                if declared.idempotent && differ(Some(ab), f(ab, ab)) {
                    return Some(Counterexample {
                        property: "idempotent".to_owned(),
                        found: format!("{name}({ab}, {ab}) is {}", shown(f(ab, ab))),
                    });
                }
                if let Some(identity) = self.identity(*left) {
                    for (x, y) in [(ab, identity), (identity, ab)] {
                        if differ(Some(ab), f(x, y)) {
                            return Some(Counterexample {
                                property: format!("to have the identity {identity}"),
                                found: format!("{name}({x}, {y}) is {}", shown(f(x, y))),
                            });
                        }
                    }
                }
                if !declared.associative {
                    continue;
                }
                for &c in values {
                    let (left, right) = (f(ab, c), f(b, c).and_then(|bc| f(a, bc)));
                    let on_the_way: &[Scalar] = match rounding > ROUNDING {
                        true => &[a, b, c],
                        false => &[],
                    };
                    if differ_beyond(rounding, on_the_way, left, right) {
                        return Some(Counterexample {
                            property: "associative".to_owned(),
                            found: format!(
                                "{name}({name}({a}, {b}), {c}) is {}, {name}({a}, {name}({b}, {c})) is {}",
                                shown(left),
                                shown(right)
                            ),
                        });
                    }
                }
            }
        }
        None
    }

    /// An annihilator has to annihilate whatever the other arguments are.
    fn annihilates(
        &self,
        body: &Body,
        types: &[ElementType],
        samples: &[Vec<Scalar>],
    ) -> Option<Counterexample> {
        for (at, element) in types.iter().enumerate() {
            let Some(value) = self.annihilator(at, *element) else {
                continue;
            };
            // As many rounds as the longest sample has values.
            for round in 0..samples.iter().map(Vec::len).max()? {
                let pick = |(other, sample): (usize, &Vec<Scalar>)| match other == at {
                    true => value,
                    false => sample[round % sample.len()],
                };
                let args: Vec<Scalar> = samples.iter().enumerate().map(pick).collect();
                let Some(found) = body.evaluate(&args, false) else {
                    continue;
                };
                if differ(Some(found), value.cast(found.element())) {
                    let shown: Vec<String> = args.iter().map(ToString::to_string).collect();
                    return Some(Counterexample {
                        property: format!("to have the annihilator {value}"),
                        found: format!("{}({}) is {found}", self.name(), shown.join(", ")),
                    });
                }
            }
        }
        None
    }

    fn sample(&self, element: ElementType) -> Vec<Scalar> {
        let properties = &self.definition().properties;
        let annihilators = properties.annihilators.iter().map(|(value, _)| *value);
        let constants = properties.identity.into_iter().chain(annihilators);
        let mut values: Vec<Scalar> = constants
            .filter_map(|value| value_of(value, element))
            .collect();
        if element.is_complex() {
            values.extend(
                COMPLEX
                    .map(|value| Scalar::C128(value).cast(element))
                    .iter()
                    .flatten(),
            );
        }
        for number in SAMPLE {
            let value = Scalar::F64(number)
                .cast(element)
                .filter(|there| there.cast(ElementType::F64) == Some(Scalar::F64(number)));
            values.extend(value);
        }
        values
    }
}

fn shown(value: Option<Scalar>) -> String {
    value.map_or("an error".to_owned(), |value| value.to_string())
}

/// The rounding of numbers of 32 bits and more.
const ROUNDING: f64 = 1e-6;

/// How far apart rounding takes two results, as a share of the numbers on the way.
fn rounding(body: &Body) -> f64 {
    let mut most = ROUNDING;
    let _ = body.expr.map_parts(&mut |part| {
        if let Expr::Cast(element, _) = part {
            // A few units in the last place.
            most = most.max(match element {
                ElementType::F16 => 4.0 / f64::from(1 << 10),
                ElementType::Bf16 => 4.0 / f64::from(1 << 7),
                _ => 0.0,
            });
        }
        None
    });
    most
}

/// Whether two results are numbers that rounding does not explain.
fn differ(a: Option<Scalar>, b: Option<Scalar>) -> bool {
    differ_beyond(ROUNDING, &[], a, b)
}

/// As [`differ`], with a share of rounding, and numbers on the way beside the results.
fn differ_beyond(
    rounding: f64,
    on_the_way: &[Scalar],
    a: Option<Scalar>,
    b: Option<Scalar>,
) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return false;
    };
    let (x, y) = (a.to_c128(), b.to_c128());
    if a == b || x.is_nan() || y.is_nan() {
        return false;
    }
    match a.element().kind() {
        sparsec_base::Kind::Float | sparsec_base::Kind::Complex => {
            // Of an infinity and a number, or another infinity, this is no number.
            let (apart, size) = ((x - y).norm(), x.norm().max(y.norm()));
            let on_the_way = on_the_way.iter().map(|it| it.to_c128().norm());
            let size = on_the_way.fold(size, f64::max);
            !apart.is_finite() || apart > rounding * size
        }
        _ => true,
    }
}
