//! Indices of random programs: variables, affine forms, windows, sets.

use proptest::prelude::*;

use super::expression::VARS;
use super::huge;

/// What stands at a mode.
#[derive(Clone, Debug)]
pub(crate) enum Index {
    Var(usize),
    /// `factor * i + j + offset`
    Affine(i64, usize, Option<usize>, i64),
    /// `last - factor * i + j`, from about the end of the mode backwards.
    Backwards(i64, usize, Option<usize>, i64),
    /// `i(from:to:step)`, as long as `i` runs.
    Window(usize, u64, u64),
    /// `i({…})`, as long as `i` runs, of coordinates below 4.
    Set(usize, u64),
    /// `i // by` or `i % by`
    Part(usize, &'static str, u64),
    Constant(u64),
}

pub(crate) fn any() -> impl Strategy<Value = Index> {
    prop_oneof![40 => (0..VARS.len()).prop_map(Index::Var), 7 => computed()]
}

/// Any index that is no variable alone.
pub(crate) fn computed() -> impl Strategy<Value = Index> {
    let var = || 0..VARS.len();
    let second = || prop::option::weighted(0.4, var());
    prop_oneof![
        3 => (prop::sample::select(vec![1, 1, 1, 2, 3, -1]), var(), second(), -2..3i64)
            .prop_map(|(factor, var, second, offset)| Index::Affine(factor, var, second, offset)),
        2 => (prop::sample::select(vec![1, 1, 2]), var(), second(), -2..3i64)
            .prop_map(|(factor, var, second, offset)| Index::Backwards(factor, var, second, offset)),
        1 => (var(), 0..3u64, 1..4u64).prop_map(|(var, from, step)| Index::Window(var, from, step)),
        1 => (var(), 0..1000u64).prop_map(|(var, seed)| Index::Set(var, seed)),
        1 => (var(), prop::sample::select(vec!["//", "%"]), 1..4u64)
            .prop_map(|(var, symbol, by)| Index::Part(var, symbol, by)),
        1 => (0..3u64).prop_map(Index::Constant),
    ]
}

impl Index {
    pub(crate) fn text(&self, extents: &[u64]) -> String {
        match self {
            Self::Var(var) => VARS[*var].to_owned(),
            Self::Affine(factor, var, second, offset) => {
                format!("{factor} * {}{} + {offset}", VARS[*var], plus(*second))
            }
            Self::Backwards(factor, var, second, offset) => {
                let last = extents[*var]
                    .saturating_sub(1)
                    .saturating_add_signed(*offset);
                format!("{last} - {factor} * {}{}", VARS[*var], plus(*second))
            }
            Self::Window(var, from, step) => {
                let n = extents[*var];
                let to = if n == 0 {
                    *from
                } else {
                    from + step * (n - 1) + 1
                };
                format!("{}({from}:{to}:{step})", VARS[*var])
            }
            // A list of them all would be as long.
            Self::Set(var, _) if extents[*var] >= huge::EXTENT => VARS[*var].to_owned(),
            Self::Set(var, seed) => {
                let n = extents[*var].max(1);
                let list: Vec<String> = (0..n)
                    .map(|at| (seed.rotate_right((2 * at % 64) as u32) % 4).to_string())
                    .collect();
                format!("{}({{{}}})", VARS[*var], list.join(", "))
            }
            Self::Part(var, symbol, by) => format!("{} {symbol} {by}", VARS[*var]),
            Self::Constant(value) => value.to_string(),
        }
    }

    /// The variables in it.
    pub(crate) fn vars(&self) -> Vec<usize> {
        match self {
            Self::Affine(_, var, second, _) | Self::Backwards(_, var, second, _) => {
                [*var].into_iter().chain(*second).collect()
            }
            Self::Var(var) | Self::Window(var, ..) | Self::Set(var, _) | Self::Part(var, ..) => {
                vec![*var]
            }
            Self::Constant(_) => Vec::new(),
        }
    }

    /// The extent of a mode that is first used so.
    pub(crate) fn extent(&self, extents: &[u64]) -> u64 {
        match self {
            Self::Var(var) | Self::Part(var, "%", _) => extents[*var],
            Self::Affine(_, var, _, offset) | Self::Backwards(_, var, _, offset) => {
                extents[*var].saturating_add_signed(*offset)
            }
            Self::Window(var, from, step) => from + step * extents[*var],
            Self::Set(var, _) if extents[*var] >= huge::EXTENT => extents[*var],
            Self::Set(..) => 4,
            Self::Part(var, _, by) => extents[*var] / by + 1,
            Self::Constant(value) => value + 1,
        }
    }
}

/// Another variable that is added, if there is one.
fn plus(second: Option<usize>) -> String {
    second.map_or(String::new(), |var| format!(" + {}", VARS[var]))
}
