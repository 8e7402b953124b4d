//! The numbers that a key function may come to: the proof that none is too large.
//!
//! A key has loops over constant ranges, so it runs through the same steps whatever its arguments
//! are. This goes through them once, with a range in place of each number:
//!
//! ```text
//! d = 0                            d in 0..=0
//! for b in 0..31 {                 b = 0        b = 1         …  b = 30
//!   d = d << 2 or (i >> b and 3)   d in 0..=3   d in 0..=15   …  d in 0..=2^62 - 1
//! }
//! ```
//!
//! A range holds all values that the number has there; it may hold others. Terms and variables
//! keep the ranges of all iterations together, from which kernels know which of them need more than
//! one word.

use sparsec_base::{Diagnostic, code};

use super::number::Number;
use super::{KeyFunction, KeyOperator, Local, MOST_BITS, Step, Term, TermKind, WORD_BITS};
use crate::expression::Comparison;
use sparsec_base::arena::Id;

/// Steps that one key may take.
pub(super) const MOST_STEPS: u64 = 10_000;

/// The way out where a number may be negative.
const POSITIVE: &str = "add what makes it positive, or take `max(e, 0)`";

/// The least and the largest value of a number; none where it is never computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range(Option<(Number, Number)>);

impl Range {
    fn of(least: Number, most: Number) -> Self {
        Self(Some((least, most)))
    }

    /// The numbers of so many bits.
    pub(super) fn of_bits(bits: u32) -> Self {
        let most = Number::of(u128::MAX >> (u128::BITS - bits));
        Self::of(Number::ZERO, most)
    }

    /// The largest value.
    pub fn most(self) -> Number {
        self.0.map_or(Number::ZERO, |(_, most)| most)
    }

    /// The only value.
    pub fn single(self) -> Option<Number> {
        let (least, most) = self.0?;
        (least == most).then_some(most)
    }

    /// Whether a value may be below 0.
    pub(super) fn may_be_negative(self) -> bool {
        is_negative(self)
    }

    /// How many words its values need; one for those that may be negative.
    pub fn n_words(self) -> usize {
        self.most().n_bits().div_ceil(WORD_BITS).max(1) as usize
    }

    /// Takes in the values of another. Kernels compute a number in one way in all iterations: in one
    /// word with a sign, or in several without.
    fn join(&mut self, other: Self) -> Result<(), Fault> {
        *self = match (self.0, other.0) {
            (None, one) | (one, None) => Self(one),
            (Some(a), Some(b)) => Self::of(a.0.min(b.0), a.1.max(b.1)),
        };
        self.checked()
    }

    fn checked(self) -> Result<(), Fault> {
        if !is_negative(self) || self.n_words() == 1 {
            return Ok(());
        }
        let message =
            format!("a number that may be negative, and may have more than {WORD_BITS} bits");
        Err(Fault::Number(message, POSITIVE))
    }
}

/// Why a key is refused.
#[derive(Debug)]
pub(super) enum Fault {
    /// It takes too many steps.
    Steps,
    /// A number is not one that the operation takes, or may be too large.
    Number(String, &'static str),
}

impl Fault {
    /// The fault as a diagnostic, without its place.
    pub(super) fn diagnostic(self, key: &str) -> Diagnostic {
        match self {
            Self::Steps => Diagnostic::new(
                code::KEY_STEPS,
                format!("`{key}` takes more than {MOST_STEPS} steps"),
            )
            .help("let loops run over the bits of the arguments"),
            Self::Number(message, help) => Diagnostic::new(code::KEY_RANGE, message).help(help),
        }
    }
}

/// Follows a key through all of its steps.
///
/// # Errors
/// The fault, and the number of the term or the loop that it is in, in the order of the text.
pub(super) fn follow(key: &mut KeyFunction) -> Result<(), (Fault, usize)> {
    let mut now: Vec<Range> = vec![Range::default(); key.locals.len()];
    for (argument, bits) in key.arguments.iter().enumerate() {
        now[argument] = Range::of_bits(*bits);
        key.locals[argument].range = now[argument];
    }
    let mut ranges: Vec<Range> = key.locals.iter().map(|local| local.range).collect();
    let mut body = std::mem::take(&mut key.body);
    let mut run = Run {
        now,
        ranges: &mut ranges,
        left: MOST_STEPS,
        at: 0,
    };
    let followed = run.steps(&mut body).and_then(|()| {
        let found = run.term(&mut key.result)?;
        if is_negative(found) {
            let message = "the key may be negative".to_owned();
            return Err(Fault::Number(message, POSITIVE));
        }
        let n_bits = found.most().n_bits();
        if n_bits > key.bits {
            let message = format!("the key may have {n_bits} bits, and states {}", key.bits);
            let help = "state more bits, or take those that it has: `e and 255` has 8";
            return Err(Fault::Number(message, help));
        }
        Ok(())
    });
    let at = run.at;
    key.body = body;
    for (local, range) in std::iter::zip(&mut key.locals, ranges) {
        local.range = range;
    }
    followed.map_err(|fault| (fault, at))
}

fn is_negative(range: Range) -> bool {
    range.0.is_some_and(|(least, _)| least.is_negative())
}

struct Run<'a> {
    now: Vec<Range>,
    ranges: &'a mut Vec<Range>,
    left: u64,
    /// The number of the term or loop at hand.
    at: usize,
}

impl Run<'_> {
    fn steps(&mut self, steps: &mut [Step]) -> Result<(), Fault> {
        for step in steps {
            match step {
                Step::Assign(local, term) => {
                    let range = self.term(term)?;
                    self.assign(*local, range)?;
                }
                Step::For {
                    variable,
                    from,
                    to,
                    body,
                } => {
                    self.at += 1;
                    let begin = self.at;
                    for turn in *from..*to {
                        self.at = begin;
                        let turn = Number::of(turn.into());
                        self.assign(*variable, Range::of(turn, turn))?;
                        self.steps(body)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn assign(&mut self, local: Local, range: Range) -> Result<(), Fault> {
        self.left = self.left.checked_sub(1).ok_or(Fault::Steps)?;
        self.now[local.index()] = range;
        self.ranges[local.index()].join(range)
    }

    /// The range of a term, whose number in the text is that after all in it.
    fn term(&mut self, term: &mut Term) -> Result<Range, Fault> {
        let range = match &mut term.kind {
            TermKind::Number(n) => {
                self.at += 1;
                let n = Number::of((*n).into());
                Range::of(n, n)
            }
            TermKind::Local(local) => {
                self.at += 1;
                self.now[local.index()]
            }
            TermKind::Binary(operator, sides) => {
                let [a, b] = &mut **sides;
                let here = (self.term(a)?, self.term(b)?);
                self.at += 1;
                let range = combined(*operator, here.0, here.1)?;
                // One operation of kernels serves all iterations.
                let mut all = term.range;
                for other in [range, a.range, b.range] {
                    all.join(other)?;
                }
                let divides = [KeyOperator::FloorDivide, KeyOperator::Modulo].contains(operator);
                if divides && a.range.n_words() > 1 && !is_power(b.range) {
                    return Err(too_wide(*operator));
                }
                range
            }
            TermKind::Select(parts) => {
                let [condition, a, b] = &mut **parts;
                let condition = self.term(condition)?;
                let (mut range, other) = (self.term(a)?, self.term(b)?);
                self.at += 1;
                match condition.single() {
                    Some(Number::ZERO) => range = other,
                    None if condition.contains(Number::ZERO) => range.join(other)?,
                    _ => {}
                }
                range
            }
        };
        term.range.join(range)?;
        Ok(range)
    }
}

impl Range {
    fn contains(self, n: Number) -> bool {
        self.0.is_some_and(|(least, most)| least <= n && n <= most)
    }
}

/// Whether a number is one power of two in all iterations.
fn is_power(range: Range) -> bool {
    let single = range.single().and_then(Number::unsigned);
    single.is_some_and(u128::is_power_of_two)
}

fn too_wide(operator: KeyOperator) -> Fault {
    let sign = operator.symbol();
    Fault::Number(
        format!("`{sign}` of numbers of more than {WORD_BITS} bits"),
        "shift, and take bits with `and`; only a power of two divides numbers of any size",
    )
}

/// The numbers that an operation may give.
fn combined(operator: KeyOperator, a: Range, b: Range) -> Result<Range, Fault> {
    let (Some((a, a_most)), Some((b, b_most))) = (a.0, b.0) else {
        return Ok(Range::default());
    };
    let sign = operator.symbol();
    let refuse = |what: String, help| Err(Fault::Number(what, help));
    let negative = a.is_negative() || b.is_negative();
    let is_wide = |n: Number| n.n_bits() > WORD_BITS;
    match operator {
        KeyOperator::FloorDivide | KeyOperator::Modulo => {
            if b <= Number::ZERO {
                return refuse(
                    format!("`{sign}` by a number that may be {b}"),
                    "divide by a number above 0: `max(e, 1)`",
                );
            }
            if is_wide(b_most) {
                return Err(too_wide(operator));
            }
        }
        KeyOperator::ShiftLeft | KeyOperator::ShiftRight
            if negative || b_most > Number::of(127) =>
        {
            return refuse(
                match negative {
                    true => format!("`{sign}` of a number that may be negative"),
                    false => format!("`{sign}` by up to {b_most} bits"),
                },
                "shift numbers from 0 on, by 0 to 127 bits",
            );
        }
        KeyOperator::And | KeyOperator::Xor | KeyOperator::Or if negative => {
            return refuse(
                format!("`{sign}` of the bits of a number that may be negative"),
                POSITIVE,
            );
        }
        _ => {}
    }
    // Each operation is monotone in each of its sides where the other is fixed.
    let corners = |of: fn(Number, Number) -> Option<Number>| -> Option<(Number, Number)> {
        let mut all = Vec::new();
        for (a, b) in [(a, b), (a, b_most), (a_most, b), (a_most, b_most)] {
            all.push(of(a, b)?);
        }
        all.iter().min().copied().zip(all.iter().max().copied())
    };
    let ones = |bits: u32| Number::of(u128::MAX.checked_shr(u128::BITS - bits).unwrap_or(0));
    let all_bits = ones(a_most.n_bits().max(b_most.n_bits()));
    let found = match operator {
        KeyOperator::Add => corners(Number::plus),
        KeyOperator::Subtract => corners(Number::minus),
        KeyOperator::Multiply => corners(Number::times),
        KeyOperator::FloorDivide => corners(Number::over),
        KeyOperator::Modulo => Some(match b == b_most && a.over(b) == a_most.over(b) {
            true => (
                a.rest(b).unwrap_or(Number::ZERO),
                a_most.rest(b).unwrap_or(b),
            ),
            false => (Number::ZERO, b_most.minus(Number::ONE).unwrap_or(b_most)),
        }),
        KeyOperator::ShiftLeft => corners(Number::shifted_left),
        KeyOperator::ShiftRight => corners(Number::shifted_right),
        KeyOperator::And if a == a_most && b == b_most => corners(|a, b| a.bits(b, |a, b| a & b)),
        KeyOperator::And => Some((Number::ZERO, a_most.min(b_most))),
        KeyOperator::Xor if a == a_most && b == b_most => corners(|a, b| a.bits(b, |a, b| a ^ b)),
        KeyOperator::Xor => Some((Number::ZERO, all_bits)),
        KeyOperator::Or if a == a_most && b == b_most => corners(|a, b| a.bits(b, |a, b| a | b)),
        KeyOperator::Or => Some((a.max(b), all_bits)),
        KeyOperator::Minimum => Some((a.min(b), a_most.min(b_most))),
        KeyOperator::Maximum => Some((a.max(b), a_most.max(b_most))),
        KeyOperator::Compare(comparison) => {
            let is_always = |comparison: Comparison| match comparison {
                Comparison::Less => a_most < b,
                Comparison::LessEqual => a_most <= b,
                Comparison::Greater => a > b_most,
                Comparison::GreaterEqual => a >= b_most,
                Comparison::Equal => a == a_most && b == b_most && a == b,
                Comparison::NotEqual => a_most < b || b_most < a,
            };
            Some(if is_always(comparison) {
                (Number::ONE, Number::ONE)
            } else if is_always(comparison.negated()) {
                (Number::ZERO, Number::ZERO)
            } else {
                (Number::ZERO, Number::ONE)
            })
        }
    };
    let least = Number::power(WORD_BITS).map_or(Number::ZERO, Number::negated);
    match found {
        Some((from, most)) if from >= least => Ok(Range::of(from, most)),
        Some((from, _)) => refuse(
            format!("`{sign}` may give {from}, which is less than -2^{WORD_BITS}"),
            "compute with smaller numbers",
        ),
        None => refuse(
            format!("`{sign}` may give a number of more than {MOST_BITS} bits"),
            "take the bits that matter before: `e and 255` has 8",
        ),
    }
}
