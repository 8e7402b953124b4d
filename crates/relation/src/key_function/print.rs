//! The text of key functions; it parses back to an equal one.

use std::fmt;

use super::{KeyFunction, KeyOperator, Local, Step, Term, TermKind};
use crate::expression::Comparison;
use sparsec_base::arena::Id;

/// How tightly an operator binds; a larger number is tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    Or,
    Xor,
    And,
    Comparison,
    Shift,
    Sum,
    Product,
    Atom,
}

impl Binding {
    /// The next tighter one.
    pub(super) fn tighter(self) -> Self {
        match self {
            Self::Or => Self::Xor,
            Self::Xor => Self::And,
            Self::And => Self::Comparison,
            Self::Comparison => Self::Shift,
            Self::Shift => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product | Self::Atom => Self::Atom,
        }
    }
}

impl KeyOperator {
    /// Those between their sides.
    pub(super) const INFIX: [Self; 16] = [
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::FloorDivide,
        Self::Modulo,
        Self::ShiftLeft,
        Self::ShiftRight,
        Self::And,
        Self::Xor,
        Self::Or,
        Self::Compare(Comparison::Less),
        Self::Compare(Comparison::LessEqual),
        Self::Compare(Comparison::Equal),
        Self::Compare(Comparison::NotEqual),
        Self::Compare(Comparison::Greater),
        Self::Compare(Comparison::GreaterEqual),
    ];

    /// The symbol or word in text.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::FloorDivide => "floordiv",
            Self::Modulo => "mod",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::And => "and",
            Self::Xor => "xor",
            Self::Or => "or",
            Self::Minimum => "min",
            Self::Maximum => "max",
            Self::Compare(comparison) => comparison.symbol(),
        }
    }

    /// How tightly it binds; `None` for `min` and `max`, which are called.
    pub(super) fn binding(self) -> Option<Binding> {
        Some(match self {
            Self::Add | Self::Subtract => Binding::Sum,
            Self::Multiply | Self::FloorDivide | Self::Modulo => Binding::Product,
            Self::ShiftLeft | Self::ShiftRight => Binding::Shift,
            Self::And => Binding::And,
            Self::Xor => Binding::Xor,
            Self::Or => Binding::Or,
            Self::Compare(_) => Binding::Comparison,
            Self::Minimum | Self::Maximum => return None,
        })
    }
}

impl KeyFunction {
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = std::iter::zip(&self.locals, &self.arguments);
        let arguments = arguments.map(|(local, bits)| format!("{} : {bits}", local.name));
        let arguments: Vec<String> = arguments.collect();
        let (name, bits) = (&self.name, self.bits);
        writeln!(f, "key {name}({}) : {bits} {{", arguments.join(", "))?;
        self.write_steps(f, &self.body, 1)?;
        f.write_str("  return ")?;
        self.write_term(f, &self.result, Binding::Or)?;
        f.write_str("\n}")
    }

    fn name_of(&self, local: Local) -> &str {
        &self.locals[local.index()].name
    }

    fn write_steps(&self, f: &mut fmt::Formatter<'_>, steps: &[Step], depth: usize) -> fmt::Result {
        for step in steps {
            write!(f, "{:1$}", "", 2 * depth)?;
            match step {
                Step::Assign(local, term) => {
                    write!(f, "{} = ", self.name_of(*local))?;
                    self.write_term(f, term, Binding::Or)?;
                    f.write_str("\n")?;
                }
                Step::For {
                    variable,
                    from,
                    to,
                    body,
                } => {
                    writeln!(f, "for {} in {from}..{to} {{", self.name_of(*variable))?;
                    self.write_steps(f, body, depth + 1)?;
                    writeln!(f, "{:1$}}}", "", 2 * depth)?;
                }
            }
        }
        Ok(())
    }

    fn write_term(&self, f: &mut fmt::Formatter<'_>, term: &Term, least: Binding) -> fmt::Result {
        match &term.kind {
            TermKind::Number(n) => write!(f, "{n}"),
            TermKind::Local(local) => f.write_str(self.name_of(*local)),
            TermKind::Select(parts) => self.write_call(f, "select", &**parts),
            TermKind::Binary(operator, sides) => {
                let Some(binding) = operator.binding() else {
                    return self.write_call(f, operator.symbol(), &**sides);
                };
                let [a, b] = &**sides;
                let left = match binding {
                    Binding::Comparison => binding.tighter(),
                    _ => binding,
                };
                if binding < least {
                    f.write_str("(")?;
                }
                self.write_term(f, a, left)?;
                write!(f, " {} ", operator.symbol())?;
                self.write_term(f, b, binding.tighter())?;
                if binding < least {
                    f.write_str(")")?;
                }
                Ok(())
            }
        }
    }

    fn write_call(&self, f: &mut fmt::Formatter<'_>, name: &str, parts: &[Term]) -> fmt::Result {
        write!(f, "{name}(")?;
        for (number, part) in parts.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { ", " })?;
            self.write_term(f, part, Binding::Or)?;
        }
        f.write_str(")")
    }
}
