//! Operators as text, with as few parentheses as it takes to read back.

use std::fmt::{self, Write};

use super::{Operator, Style};

impl Operator {
    /// How tightly an application of the operator binds; calls are closed in themselves.
    pub fn binding(&self) -> u8 {
        match self.style() {
            Style::Infix(binds) | Style::Prefix(binds) => binds,
            Style::Call => u8::MAX,
        }
    }

    /// Writes the operator with `n_args` arguments, of which `arg` writes one where it
    /// has to bind at least so tightly. `is_number` tells that the only argument is
    /// one number.
    ///
    /// # Errors
    /// Those of `out` and `arg`.
    pub fn write_applied(
        &self,
        out: &mut dyn Write,
        n_args: usize,
        is_number: bool,
        arg: &mut dyn FnMut(&mut dyn Write, usize, u8) -> fmt::Result,
    ) -> fmt::Result {
        let symbol = self.symbol();
        match (self.style(), n_args) {
            (Style::Infix(binds), 2) => {
                // Operators of one level group to the left; comparisons do not
                // group at all.
                let own = if self.is_comparison() {
                    binds + 1
                } else {
                    binds
                };
                arg(out, 0, own)?;
                write!(out, " {symbol} ")?;
                arg(out, 1, binds + 1)
            }
            (Style::Prefix(binds), 1) => {
                out.write_str(symbol)?;
                if *self == Self::Not {
                    out.write_char(' ')?;
                }
                // A minus before a number would become part of it.
                if *self == Self::Neg && is_number {
                    out.write_char('(')?;
                    arg(out, 0, 0)?;
                    return out.write_char(')');
                }
                arg(out, 0, binds)
            }
            _ => {
                write!(out, "{symbol}(")?;
                for at in 0..n_args {
                    if at > 0 {
                        out.write_str(", ")?;
                    }
                    arg(out, at, 0)?;
                }
                out.write_char(')')
            }
        }
    }
}
