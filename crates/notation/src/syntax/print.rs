//! Notation as text, with as few parentheses as it takes to read back.

use std::fmt::{self, Write};

use sparsec_base::Scalar;
use sparsec_index::operator::assignment_symbol;
use sparsec_index::{Operator, UserFunction};

use super::{Assignment, Index, Node, NodeKind, Notation, Number, TensorUse};

impl Node {
    /// Writes the expression in a place that wants it to bind at least `least`.
    fn write(&self, out: &mut dyn Write, least: u8) -> fmt::Result {
        if self.binding() >= least {
            return self.bare(out);
        }
        out.write_char('(')?;
        self.bare(out)?;
        out.write_char(')')
    }

    /// Writes the expression without parentheses around it.
    fn bare(&self, out: &mut dyn Write) -> fmt::Result {
        match &self.kind {
            NodeKind::Number(number) => write!(out, "{number}"),
            NodeKind::Access(tensor) => write!(out, "{tensor}"),
            NodeKind::Index(index) => write!(out, "{index}"),
            NodeKind::Cast(element, body) => {
                write!(out, "{element}(")?;
                body.bare(out)?;
                out.write_char(')')
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
                write!(out, "{prefix}{name}{{{}}}(", vars.join(","))?;
                body.bare(out)?;
                out.write_char(')')
            }
            NodeKind::Apply { op, args, .. } => {
                let is_number = matches!(args[0].kind, NodeKind::Number(_));
                op.write_applied(out, args.len(), is_number, &mut |out, at, least| {
                    args[at].write(out, least)
                })
            }
        }
    }

    /// How tightly the expression binds.
    fn binding(&self) -> u8 {
        match &self.kind {
            NodeKind::Apply { op, .. } => op.binding(),
            _ => u8::MAX,
        }
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
        self.bare(f)
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
