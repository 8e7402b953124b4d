//! What operators do to values that are stored or not.

use std::sync::Arc;

use sparsec_base::arena::Id;
use sparsec_base::{ElementType, Kind, Scalar};
use sparsec_index::function::Body;
use sparsec_index::{Expr, Operator};

use crate::decided::decided;
use crate::rounding::{magnitude, slack, slack_of_cast, unit};

/// Why an entry has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    DivisionByZero,
    CastOutOfRange,
    NegativePower,
    /// An index is never unstored, so there is nothing that it is then.
    NeverUnstored,
}

/// A value, or why there is none. Nothing fails until a result needs the value.
pub(crate) type Value = Result<Scalar, Failure>;

/// What a part of an expression is at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    pub(crate) stored: bool,
    /// How far another right evaluation may be from the value: see
    /// [`rounding`](crate::rounding).
    pub(crate) slack: f64,
}

impl Entry {
    /// An entry that is there.
    pub(crate) fn stored(value: Scalar) -> Self {
        Self {
            stored: true,
            ..Self::unstored(Ok(value))
        }
    }

    /// A literal, or what an access reads where nothing is stored.
    pub(crate) fn unstored(value: Value) -> Self {
        Self {
            value,
            stored: false,
            slack: 0.0,
        }
    }

    /// The entry as another type.
    pub(crate) fn cast(self, element: ElementType) -> Self {
        let cast = |value: Scalar| value.cast(element).ok_or(Failure::CastOutOfRange);
        let value = self.value.and_then(cast);
        Self {
            value,
            slack: slack_of_cast(self, value),
            ..self
        }
    }
}

/// An operator with what is known of its arguments wherever they are read.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    pub(crate) op: Operator,
    /// The body, for arguments of their types, if it is a function of the user.
    pub(crate) body: Option<Arc<Body>>,
    /// What each argument is where it is not stored.
    pub(crate) fills: Vec<Value>,
}

impl Applied {
    /// The operator applied to as many arguments as it takes.
    pub(crate) fn to(&self, args: &[Entry]) -> Entry {
        if let Some(value) = decided(&self.op, &self.fills, args) {
            return Entry::unstored(Ok(value));
        }
        match &self.body {
            Some(body) => call(&body.expr, &self.fills, args),
            None => apply(&self.op, args),
        }
    }

    /// Whether argument `at` alone decides the result where it is not stored.
    pub(crate) fn is_decided_by(&self, at: usize) -> bool {
        let args = self.fills.iter().enumerate().map(|(n, fill)| Entry {
            stored: n != at,
            ..Entry::unstored(*fill)
        });
        decided(&self.op, &self.fills, &args.collect::<Vec<_>>()).is_some()
    }

    /// The value where no argument is stored.
    pub(crate) fn unstored(&self) -> Value {
        let args = self.fills.iter().map(|fill| Entry::unstored(*fill));
        self.to(&args.collect::<Vec<_>>()).value
    }
}

/// An operator of the language, which no argument decides.
pub(crate) fn apply(op: &Operator, args: &[Entry]) -> Entry {
    let stored = args.iter().any(|arg| arg.stored);
    let value = match args {
        [_] if *op == Operator::IsStored => Ok(Scalar::Bool(stored)),
        [arg] => arg.value.and_then(|arg| evaluate(op, &[arg], stored)),
        [left, right] => match unchanged(op, left, right) {
            Some(entry) => entry.value,
            None => binary(op, left.value, right.value, stored),
        },
        [a, b, c] if *op == Operator::Fma => {
            (|| evaluate(op, &[a.value?, b.value?, c.value?], stored))()
        }
        [condition, then, otherwise] => match condition.value {
            Ok(Scalar::Bool(true)) => then.value,
            Ok(_) => otherwise.value,
            failure => failure,
        },
        _ => unreachable!("operators take one to three arguments"),
    };
    Entry {
        value,
        stored,
        slack: slack(op, args, value),
    }
}

/// The argument that stays as it is, the other being an identity that is not
/// stored: `A(i) * 1` is `A(i)` even where computing with complex infinities
/// would not give it back.
fn unchanged<'e>(op: &Operator, left: &'e Entry, right: &'e Entry) -> Option<&'e Entry> {
    let is_unstored = |entry: &Entry, identity: fn(&Operator, ElementType) -> Option<Scalar>| {
        let value = entry.value.ok().filter(|_| !entry.stored);
        value.is_some_and(|value| identity(op, value.element()) == Some(value))
    };
    if is_unstored(right, Operator::right_identity) {
        return Some(left);
    }
    is_unstored(left, Operator::left_identity).then_some(right)
}

/// What a part of the body of a function says of its arguments.
fn call(part: &Expr, fills: &[Value], args: &[Entry]) -> Entry {
    match part {
        Expr::Literal(value) => Entry::unstored(Ok(*value)),
        Expr::Access(access) => args[access.tensor.index()],
        Expr::Cast(element, body) => call(body, fills, args).cast(*element),
        Expr::Apply { op, args: parts } => {
            let unstored: Vec<Entry> = fills.iter().map(|fill| Entry::unstored(*fill)).collect();
            let of = |args: &[Entry]| {
                let parts = parts.iter().map(|part| call(part, fills, args));
                parts.collect::<Vec<Entry>>()
            };
            let applied = Applied {
                op: op.clone(),
                body: None,
                fills: of(&unstored).iter().map(|entry| entry.value).collect(),
            };
            applied.to(&of(args))
        }
        _ => unreachable!("a body has no index variables"),
    }
}

/// `left op right`; the right side is not needed where the left one is a truth
/// value that decides.
pub(crate) fn binary(op: &Operator, left: Value, right: Value, stored: bool) -> Value {
    let left = left?;
    if left.element() == ElementType::Bool && op.annihilator(0, ElementType::Bool) == Some(left) {
        return Ok(left);
    }
    evaluate(op, &[left, right?], stored)
}

pub(crate) fn evaluate(op: &Operator, args: &[Scalar], stored: bool) -> Value {
    let value = match stored {
        true => op.evaluate(args),
        false => op.evaluate_unstored(args),
    };
    value.ok_or(match op {
        Operator::Pow => Failure::NegativePower,
        _ => Failure::DivisionByZero,
    })
}

/// Whether results of this type are rounded.
fn is_rounded(element: ElementType) -> bool {
    matches!(element.kind(), Kind::Float | Kind::Complex)
}

/// Values reduced one after the other, with one operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    value: Value,
    slack: f64,
    /// How many stored entries were added.
    n_stored: u64,
}

impl Fold {
    pub(crate) fn new(op: &Operator, element: ElementType) -> Self {
        let identity = op.identity(element).expect("only such operators reduce");
        Self {
            value: Ok(identity),
            slack: 0.0,
            n_stored: 0,
        }
    }

    pub(crate) fn add(&mut self, op: &Operator, entry: Entry) {
        if let Operator::Defined(function) = op {
            self.n_stored += u64::from(entry.stored);
            let (value, added) = (self.value, entry.value);
            match value.and(added).map(|added| [added.element(); 2]) {
                Ok(types) => {
                    let body = function.body(&types).expect("calls are typed");
                    let stored = |entry: Entry| Entry {
                        stored: true,
                        ..entry
                    };
                    let args = [stored(self.entry()), stored(entry)];
                    let reduced = call(&body.expr, &args.map(|arg| arg.value), &args);
                    (self.value, self.slack) = (reduced.value, reduced.slack);
                }
                Err(failure) => self.value = Err(failure),
            }
            return;
        }
        // All values are needed, whatever those before decide.
        let value = match entry.value {
            Ok(_) => binary(op, self.value, entry.value, true),
            Err(failure) => self.value.and(Err(failure)),
        };
        self.slack = match (op, entry.value) {
            // A sum in any order is as far off as its terms are large.
            (Operator::Add, Ok(term)) if term.element() != ElementType::Bool => {
                self.slack + entry.slack + unit(term.element()) * magnitude(term)
            }
            _ => slack(op, &[self.entry(), entry], value),
        };
        self.value = value;
        self.n_stored += u64::from(entry.stored);
    }

    /// Adds what another fold with the same operator has.
    pub(crate) fn merge(&mut self, op: &Operator, other: &Self) {
        let n_stored = self.n_stored + other.n_stored;
        self.add(op, other.entry());
        self.n_stored = n_stored;
    }

    /// Adds entries that are not stored until there are `n` in all.
    pub(crate) fn fill_up(&mut self, op: &Operator, unstored: Value, n: u128) {
        let missing = n.saturating_sub(self.n_stored.into());
        if missing > 0 {
            let n_stored = self.n_stored;
            self.add(op, repeated(op, unstored, missing));
            self.n_stored = n_stored;
        }
    }

    pub(crate) fn entry(&self) -> Entry {
        Entry {
            value: self.value,
            stored: self.n_stored > 0,
            slack: self.slack,
        }
    }
}

/// A value that is not stored, reduced `n` times, which is at least once.
pub(crate) fn repeated(op: &Operator, unstored: Value, n: u128) -> Entry {
    Entry::unstored(unstored.map(|value| op.repeat(value, n).expect("the operator reduces")))
}

/// Whether two values are one to a reader: zeros of either sign are, and `NaN`s;
/// a complex number is one if either part is.
pub(crate) fn same(a: Scalar, b: Scalar) -> bool {
    if a == b {
        return true;
    }
    let (x, y) = (a.to_c128(), b.to_c128());
    a.element() == b.element() && is_rounded(a.element()) && (x == y || (x.is_nan() && y.is_nan()))
}
