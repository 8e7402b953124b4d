//! Declared properties tried on a sample of values.
//!
//! A property that does not hold makes wrong loops, so each one is tried where
//! it is declared: on small integers and fractions, on the declared constants,
//! in the types that the function takes of `f64`, `i64` and `bool`. Floats may
//! differ by rounding; what overflows, or is no number, is passed over. Passing
//! is no proof.

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};

use super::{Body, Definition, UserFunction, value_of};

/// The types that functions of no declared types are tried in.
const TRIED: [ElementType; 3] = [ElementType::F64, ElementType::I64, ElementType::Bool];

/// Numbers that every function is tried on, as far as a type has them.
const SAMPLE: [f64; 11] = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 7.0, -5.0, 0.5, -1.25, 100.0];

/// What was found to be otherwise than declared.
struct Counterexample {
    property: String,
    found: String,
}

impl UserFunction {
    /// Tries the declared properties on a sample of values.
    ///
    /// # Errors
    /// `E0243` with a counterexample; the code of what is wrong with the body,
    /// if it has a meaning in none of the types.
    pub fn check(&self) -> Result<()> {
        let Definition {
            parameters,
            source,
            span,
            ..
        } = self.definition();
        let mut first_error = None;
        let mut tried = false;
        for element in TRIED {
            let types = parameters
                .iter()
                .map(|parameter| parameter.element.unwrap_or(element));
            let types: Vec<ElementType> = types.map(ElementType::computed).collect();
            let body = match self.body(&types) {
                Ok(body) => body,
                Err(error) => {
                    first_error.get_or_insert(error);
                    continue;
                }
            };
            tried = true;
            if let Some(Counterexample { property, found }) = self.counterexample(&body, &types) {
                let message = format!("`{}` is declared {property}, but is not", self.name());
                return Err(Diagnostic::new(code::PROPERTY_FAILS, message)
                    .at(source, *span, found)
                    .help("leave the property out, or correct the function"));
            }
        }
        match first_error {
            Some(error) if !tried => Err(error),
            _ => Ok(()),
        }
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
                    if differ(left, right) {
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

/// Whether two results are numbers that rounding does not explain.
fn differ(a: Option<Scalar>, b: Option<Scalar>) -> bool {
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
            !apart.is_finite() || apart > 1e-6 * size
        }
        _ => true,
    }
}
