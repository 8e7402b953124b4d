//! Left sides of random programs that assign part of a tensor.
//!
//! Every index stays inside of the mode that it stands at, where that has an extent
//! already, so that most of these programs mean something.

use proptest::prelude::*;

use super::expression::VARS;

/// What stands at a mode of a left side.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    form: Form,
    /// A variable of any extent.
    other: usize,
    /// Picks among offsets, factors and orders.
    pick: u64,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    /// The variable that the mode has in whole statements.
    Var,
    /// The same from the end.
    Reversed,
    /// Another variable behind an offset.
    Shifted,
    /// Every second or third coordinate.
    Strided,
    /// A window as long as the variable runs.
    Window,
    /// A set in any order.
    Set,
    /// `i // 2` or `i // 3`
    Quotient,
    /// `i % 2` or `i % 3`
    Remainder,
    /// A sum of two variables.
    Sum,
    Constant,
}

/// What stands at so many modes.
pub(crate) fn any(order: usize) -> impl Strategy<Value = Vec<Left>> {
    use Form::*;
    let forms = vec![
        Var, Var, Var, Reversed, Shifted, Shifted, Strided, Window, Window, Set, Quotient,
        Remainder, Sum, Constant,
    ];
    let one = (prop::sample::select(forms), 0..VARS.len(), 0..60u64);
    let one = one.prop_map(|(form, other, pick)| Left { form, other, pick });
    prop::collection::vec(one, order)
}

impl Left {
    /// A variable that may stand there beside that of the mode.
    pub(crate) fn var(&self) -> usize {
        self.other
    }

    /// The index for the mode of `var`, inside of `extent` if the mode has one.
    pub(crate) fn text(&self, var: usize, extent: Option<u64>, extents: &[u64]) -> String {
        let (name, other) = (VARS[var], VARS[self.other]);
        let (n, m) = (extents[var], extents[self.other]);
        let bound = extent.unwrap_or(u64::MAX);
        let step = self.pick % 3 + 1;
        let last = |factor: u64, n: u64| factor * n.saturating_sub(1);
        let reach = last(step, m);
        // What is left of the mode.
        let room = |reach: u64| match extent {
            Some(extent) => extent.saturating_sub(reach).max(1),
            None => 3,
        };
        let fits = |reach: u64| reach < bound;
        match self.form {
            Form::Reversed if n > 0 => format!("{} - {name}", n - 1),
            Form::Shifted if fits(last(1, m)) => {
                format!("{other} + {}", self.pick % room(last(1, m)))
            }
            Form::Strided if fits(reach) => {
                format!("{step} * {other} + {}", self.pick % room(reach))
            }
            Form::Window if m > 0 && fits(reach) => {
                let from = self.pick % room(reach);
                format!("{other}({from}:{}:{step})", from + reach + 1)
            }
            Form::Set if m > 0 && fits(m - 1) => {
                let list = (0..m).map(|at| ((at + self.pick) % m).to_string());
                format!("{other}({{{}}})", list.collect::<Vec<_>>().join(", "))
            }
            Form::Quotient if fits(m / (step + 1)) => format!("{other} // {}", step + 1),
            Form::Remainder if fits(step) => format!("{other} % {}", step + 1),
            Form::Sum if fits(last(1, n) + reach) => format!("{name} + {step} * {other}"),
            Form::Constant if bound > 0 => (self.pick % bound.min(4)).to_string(),
            _ => name.to_owned(),
        }
    }
}
