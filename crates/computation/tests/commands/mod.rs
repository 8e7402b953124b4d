//! Random transformations of random computations; some apply, and some must not.

use proptest::prelude::*;
use sparsec_computation::{Command, Computation};

/// A command for statements that the computation has.
pub(crate) fn command(computation: &Computation, dice: &[usize; 4]) -> Command {
    let name = |k: usize| {
        let statement = &computation.statements[k % computation.statements.len()];
        statement.name.clone()
    };
    let [kind, a, b, c] = *dice;
    let which = match a % 3 {
        0 => vec![name(a), name(b)],
        _ => vec![name(a)],
    };
    let number = i64::try_from(c % 5).expect("a digit") - 2;
    let map = |text: &str| {
        let n = number.to_string();
        let text = text
            .replace("$n", &n)
            .replace("$m", &(number.abs() + 1).to_string());
        text.parse().expect("a relation")
    };
    match kind % 11 {
        0 => Command::Interchange(which, b % 3, c % 3),
        1 => Command::Skew(which, b % 3, c % 3, number),
        2 => Command::Shift(which, b % 3, number),
        3 => Command::StripMine(which, b % 3, number.abs() + 1),
        4 => Command::Unroll(which, b % 3, number.abs() + 1),
        5 => Command::Fuse(name(a), name(b), c % 3),
        6 => Command::Remove(name(a)),
        10 => Command::Substitute(["t", "u"][a % 2].to_owned()),
        8 => Command::Reschedule(
            which,
            map([
                "{[a, b, c, d] -> [a, c, b + $n * c, d]}",
                "{[a, b, c, d] -> [a, q, $n - b, c, d] : $m * q <= b < $m * q + $m}",
                "{[a, b, c, d] -> [b, a, c, d - $n]}",
            ][b % 3]),
        ),
        9 => Command::Reschedule(
            which,
            map([
                "{[a, b, c, d] -> [a, b, 0, c, d] : c < $n} union {[a, b, c, d] -> [a, b, 1, c, d] : c >= $n}",
                "{[a, b, c, d] -> [a, r, b, c, d] : r = b mod 2 && r = 0} union {[a, b, c, d] -> [a, r, b, c, d] : r = b mod 2 && r != 0}",
                "{[a, b, c, d] -> [a, h, b - $m * h, c, d] : exists r : b = $m * h + r && 0 <= r < $m}",
            ][b % 3]),
        ),
        _ => Command::Shrink(["t", "u"][a % 2].to_owned(), 0),
    }
}

/// Numbers that a command is made of.
pub(crate) fn dice() -> impl Strategy<Value = [usize; 4]> {
    [0usize..48, 0usize..48, 0usize..48, 0usize..48]
}
