//! The value of a key function.

use super::number::Number;
use super::{KeyFunction, KeyOperator, Step, Term, TermKind, WORD_BITS};
use sparsec_base::arena::Id;

impl KeyFunction {
    /// The key of some coordinates; `None` for one that has not the bits of its argument, or the
    /// wrong number of them.
    ///
    /// ```
    /// use sparsec_relation::{Declarations, Number};
    /// let known: Declarations = "key GRAY(i : 8) : 8 { return i xor (i >> 1) }".parse()?;
    /// assert_eq!(known.keys()[0].value(&[5]), Some(Number::of(7)));
    /// assert_eq!(known.keys()[0].value(&[256]), None);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn value(&self, coordinates: &[i64]) -> Option<Number> {
        if coordinates.len() != self.arguments.len() {
            return None;
        }
        let mut locals = vec![Number::ZERO; self.locals.len()];
        let arguments = std::iter::zip(coordinates, &self.arguments);
        for (local, (coordinate, bits)) in std::iter::zip(&mut locals, arguments) {
            let magnitude = u128::try_from(*coordinate).ok()?;
            *local = Number::of(magnitude);
            if local.n_bits() > *bits {
                return None;
            }
        }
        run(&self.body, &mut locals);
        Some(value(&self.result, &locals))
    }

    /// A word of the key of some coordinates; `None` where they have no key.
    pub fn word(&self, word: usize, coordinates: &[i64]) -> Option<i64> {
        let below = (self.n_words() - 1 - word) as u32 * WORD_BITS;
        let key = self.value(coordinates)?.unsigned()?;
        i64::try_from((key >> below) & ((1 << WORD_BITS) - 1)).ok()
    }
}

fn run(steps: &[Step], locals: &mut [Number]) {
    for step in steps {
        match step {
            Step::Assign(local, term) => locals[local.index()] = value(term, locals),
            Step::For {
                variable,
                from,
                to,
                body,
            } => {
                for turn in *from..*to {
                    locals[variable.index()] = Number::of(turn.into());
                    run(body, locals);
                }
            }
        }
    }
}

fn value(term: &Term, locals: &[Number]) -> Number {
    let of = |term: &Term| value(term, locals);
    match &term.kind {
        TermKind::Number(n) => Number::of((*n).into()),
        TermKind::Local(local) => locals[local.index()],
        TermKind::Select(parts) => {
            let [condition, a, b] = &**parts;
            of(if of(condition) == Number::ZERO { b } else { a })
        }
        TermKind::Binary(operator, sides) => {
            let [a, b] = &**sides;
            let found = combined(*operator, of(a), of(b));
            found.expect("the ranges of a key were checked when it was read")
        }
    }
}

fn combined(operator: KeyOperator, a: Number, b: Number) -> Option<Number> {
    match operator {
        KeyOperator::Add => a.plus(b),
        KeyOperator::Subtract => a.minus(b),
        KeyOperator::Multiply => a.times(b),
        KeyOperator::FloorDivide => a.over(b),
        KeyOperator::Modulo => a.rest(b),
        KeyOperator::ShiftLeft => a.shifted_left(b),
        KeyOperator::ShiftRight => a.shifted_right(b),
        KeyOperator::And => a.bits(b, |a, b| a & b),
        KeyOperator::Xor => a.bits(b, |a, b| a ^ b),
        KeyOperator::Or => a.bits(b, |a, b| a | b),
        KeyOperator::Minimum => Some(a.min(b)),
        KeyOperator::Maximum => Some(a.max(b)),
        KeyOperator::Compare(comparison) => {
            let holds = comparison.holds(a.cmp(&b) as i64, 0);
            Some(if holds { Number::ONE } else { Number::ZERO })
        }
    }
}
