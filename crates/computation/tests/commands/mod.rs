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
    match kind % 8 {
        0 => Command::Interchange(which, b % 3, c % 3),
        1 => Command::Skew(which, b % 3, c % 3, number),
        2 => Command::Shift(which, b % 3, number),
        3 => Command::StripMine(which, b % 3, number.abs() + 1),
        4 => Command::Unroll(which, b % 3, number.abs() + 1),
        5 => Command::Fuse(name(a), name(b), c % 3),
        6 => Command::Remove(name(a)),
        _ => Command::Shrink(["t", "u"][a % 2].to_owned(), 0),
    }
}

/// Numbers that a command is made of.
pub(crate) fn dice() -> impl Strategy<Value = [usize; 4]> {
    [0usize..48, 0usize..48, 0usize..48, 0usize..48]
}
