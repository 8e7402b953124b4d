//! What operators do to values that are stored or not.

use sparsec_base::{ElementType, Kind, Scalar};
use sparsec_index::Operator;

/// Why an entry has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    DivisionByZero,
    CastOutOfRange,
}

/// A value, or why there is none. Nothing fails until a result needs the value.
pub(crate) type Value = Result<Scalar, Failure>;

/// What a part of an expression is at one point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    pub(crate) stored: bool,
    /// The value as it would be if nothing cancelled: what the rounding errors
    /// of a float are relative to. Zero for other types.
    pub(crate) magnitude: f64,
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
            magnitude: value.map_or(0.0, magnitude),
        }
    }

    /// The entry as another type.
    pub(crate) fn cast(self, element: ElementType) -> Self {
        let cast = |value: Scalar| value.cast(element).ok_or(Failure::CastOutOfRange);
        let value = self.value.and_then(cast);
        let magnitude = match is_rounded(element) {
            true => self.magnitude.max(value.map_or(0.0, magnitude)),
            false => 0.0,
        };
        Self {
            value,
            magnitude,
            ..self
        }
    }
}

/// `op` applied to as many arguments as it takes.
pub(crate) fn apply(op: Operator, args: &[Entry]) -> Entry {
    for (at, arg) in args.iter().enumerate() {
        if let (false, Ok(value)) = (arg.stored, arg.value)
            && op.annihilator(at, value.element()) == Some(value)
        {
            return Entry::unstored(Ok(value));
        }
    }
    let stored = args.iter().any(|arg| arg.stored);
    let value = match args {
        [arg] => arg.value.and_then(|arg| evaluate(op, &[arg], stored)),
        [left, right] => binary(op, left.value, right.value, stored),
        [condition, then, otherwise] => match condition.value {
            Ok(Scalar::Bool(true)) => then.value,
            Ok(_) => otherwise.value,
            failure => failure,
        },
        _ => unreachable!("operators take one to three arguments"),
    };
    let magnitude = match value {
        Ok(value) if is_rounded(value.element()) => cancelled(op, args).max(magnitude(value)),
        _ => 0.0,
    };
    Entry {
        value,
        stored,
        magnitude,
    }
}

/// `left op right`; the right side is not needed where the left one is a truth
/// value that decides.
pub(crate) fn binary(op: Operator, left: Value, right: Value, stored: bool) -> Value {
    let left = left?;
    if left.element() == ElementType::Bool && op.annihilator(0, ElementType::Bool) == Some(left) {
        return Ok(left);
    }
    evaluate(op, &[left, right?], stored)
}

fn evaluate(op: Operator, args: &[Scalar], stored: bool) -> Value {
    let value = match stored {
        true => op.evaluate(args),
        false => op.evaluate_unstored(args),
    };
    value.ok_or(Failure::DivisionByZero)
}

/// What `op` gives where nothing cancels.
fn cancelled(op: Operator, args: &[Entry]) -> f64 {
    let of = |at: usize| args[at].magnitude;
    match op {
        Operator::Add | Operator::Sub => of(0) + of(1),
        Operator::Mul => of(0) * of(1),
        Operator::Div => of(0) / args[1].value.map_or(1.0, magnitude),
        Operator::Neg | Operator::Abs | Operator::Relu => of(0),
        Operator::Conj | Operator::Real | Operator::Imag => of(0),
        Operator::Min | Operator::Max => of(0).max(of(1)),
        Operator::Select => of(1).max(of(2)),
        _ => 0.0,
    }
}

/// Whether results of this type are rounded.
fn is_rounded(element: ElementType) -> bool {
    matches!(element.kind(), Kind::Float | Kind::Complex)
}

pub(crate) fn magnitude(value: Scalar) -> f64 {
    match is_rounded(value.element()) {
        true => value.to_c128().norm(),
        false => 0.0,
    }
}

/// Values reduced one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    op: Operator,
    value: Value,
    magnitude: f64,
    /// How many stored entries were added.
    n_stored: u64,
}

impl Fold {
    pub(crate) fn new(op: Operator, element: ElementType) -> Self {
        let identity = op.identity(element).expect("only such operators reduce");
        Self {
            op,
            value: Ok(identity),
            magnitude: 0.0,
            n_stored: 0,
        }
    }

    pub(crate) fn add(&mut self, entry: Entry) {
        self.value = binary(self.op, self.value, entry.value, true);
        self.magnitude = match self.op {
            Operator::Add => self.magnitude + entry.magnitude,
            Operator::Mul => magnitude(self.value.unwrap_or(Scalar::Bool(false))),
            _ => self.magnitude.max(entry.magnitude),
        };
        self.n_stored += u64::from(entry.stored);
    }

    /// Adds what another fold with the same operator has.
    pub(crate) fn merge(&mut self, other: &Self) {
        let n_stored = self.n_stored + other.n_stored;
        self.add(other.entry());
        self.n_stored = n_stored;
    }

    /// Adds entries that are not stored until there are `n` in all.
    pub(crate) fn fill_up(&mut self, unstored: Value, n: u64) {
        let missing = n.saturating_sub(self.n_stored);
        if missing > 0 {
            let n_stored = self.n_stored;
            self.add(repeated(self.op, unstored, missing));
            self.n_stored = n_stored;
        }
    }

    pub(crate) fn entry(&self) -> Entry {
        Entry {
            value: self.value,
            stored: self.n_stored > 0,
            magnitude: self.magnitude,
        }
    }
}

/// A value that is not stored, reduced `n` times, which is at least once.
pub(crate) fn repeated(op: Operator, unstored: Value, n: u64) -> Entry {
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
