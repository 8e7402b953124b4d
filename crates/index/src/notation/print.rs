//! Notation as text, with as few parentheses as it takes to read back.

use std::fmt::{self, Write};

use sparsec_base::Scalar;

use super::{Assignment, Index, Node, NodeKind, Notation, Number, TensorUse};
use crate::function::UserFunction;
use crate::operator::{Operator, Style, assignment_symbol};

/// Writes expressions; shared by everything that prints them.
pub(crate) struct Printer<'a, W: Write> {
    out: &'a mut W,
}

/// How tightly what stands alone binds: names, numbers, calls.
const ATOM: u8 = 7;

impl<'a, W: Write> Printer<'a, W> {
    pub(crate) fn new(out: &'a mut W) -> Self {
        Self { out }
    }

    /// An expression in a place that wants it to bind at least `least`.
    fn node(&mut self, node: &Node, least: u8) -> fmt::Result {
        if binding(node) >= least {
            return self.bare(node);
        }
        self.out.write_char('(')?;
        self.bare(node)?;
        self.out.write_char(')')
    }

    /// An expression without parentheses around it.
    pub(crate) fn bare(&mut self, node: &Node) -> fmt::Result {
        match &node.kind {
            NodeKind::Number(number) => write!(self.out, "{number}"),
            NodeKind::Access(tensor) => write!(self.out, "{tensor}"),
            NodeKind::Index(index) => write!(self.out, "{index}"),
            NodeKind::Cast(element, body) => {
                write!(self.out, "{element}(")?;
                self.bare(body)?;
                self.out.write_char(')')
            }
            NodeKind::Reduce {
                op,
                stored,
                vars,
                body,
            } => {
                let vars: Vec<&str> = vars.iter().map(|var| var.text.as_str()).collect();
                let name = op.reduction_name().unwrap_or_default();
                let prefix = if *stored { Operator::STORED } else { "" };
                write!(self.out, "{prefix}{name}{{{}}}(", vars.join(","))?;
                self.bare(body)?;
                self.out.write_char(')')
            }
            NodeKind::Apply { op, args, .. } => self.apply(op, args),
        }
    }

    fn apply(&mut self, op: &Operator, args: &[Node]) -> fmt::Result {
        let symbol = op.symbol();
        match (op.style(), args) {
            (Style::Infix(binds), [left, right]) => {
                // Operators of one level group to the left; comparisons do not
                // group at all.
                let own = if op.is_comparison() { binds + 1 } else { binds };
                self.node(left, own)?;
                write!(self.out, " {symbol} ")?;
                self.node(right, binds + 1)
            }
            (Style::Prefix(binds), [arg]) => {
                self.out.write_str(symbol)?;
                if *op == Operator::Not {
                    self.out.write_char(' ')?;
                }
                // A minus before a number would become part of it.
                let number = *op == Operator::Neg && matches!(arg.kind, NodeKind::Number(_));
                self.node(arg, if number { u8::MAX } else { binds })
            }
            _ => {
                write!(self.out, "{symbol}(")?;
                for (at, arg) in args.iter().enumerate() {
                    if at > 0 {
                        self.out.write_str(", ")?;
                    }
                    self.bare(arg)?;
                }
                self.out.write_char(')')
            }
        }
    }
}

fn binding(node: &Node) -> u8 {
    match &node.kind {
        NodeKind::Apply { op, .. } => match op.style() {
            Style::Infix(binds) | Style::Prefix(binds) => binds,
            Style::Call => ATOM,
        },
        _ => ATOM,
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{}", Scalar::F64(value)),
            Self::Imaginary(value) => write!(f, "{}j", Scalar::F64(value)),
        }
    }
}

impl fmt::Display for TensorUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.text)?;
        if self.indices.is_empty() {
            return Ok(());
        }
        let indices: Vec<String> = self.indices.iter().map(Index::to_string).collect();
        write!(f, "({})", indices.join(","))
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printer::new(f).bare(self)
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symbol = self
            .op
            .as_ref()
            .map_or_else(|| "=".to_owned(), assignment_symbol);
        write!(f, "{} {symbol} {}", self.lhs, self.rhs)
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&UserFunction::definitions(&self.functions()))?;
        for (number, statement) in self.statements.iter().enumerate() {
            if number > 0 {
                f.write_char('\n')?;
            }
            write!(f, "{statement}")?;
        }
        Ok(())
    }
}
