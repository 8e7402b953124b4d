//! The text of computations; it parses back to an equal computation.

use std::fmt::{self, Display};

use sparsec_relation::{Conjunction, Expression};

use crate::computation::{Computation, DataSpace, Role, Statement};
use crate::value::{Access, Key, Operator, Value};

impl Display for Computation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "computation {} {{", self.name)?;
        if !self.parameters.is_empty() {
            writeln!(f, "  parameters {}", self.parameters.join(", "))?;
        }
        for line in self.declarations.to_string().lines() {
            writeln!(f, "  {line}")?;
        }
        for role in Role::ALL {
            let of_role = self.spaces.iter().filter(|space| space.role == role);
            let spaces: Vec<String> = of_role.map(ToString::to_string).collect();
            if !spaces.is_empty() {
                writeln!(f, "  {} {}", role.word(), spaces.join(", "))?;
            }
        }
        for statement in &self.statements {
            writeln!(f, "\n{statement}")?;
        }
        f.write_str("}\n")
    }
}

impl Display for DataSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} : {}", self.name, self.element)?;
        let free = Conjunction::new::<String>([], []);
        match self.extents[..] {
            [] => Ok(()),
            _ => write!(f, "[{}]", list(&free, &self.extents)),
        }
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names();
        writeln!(f, "  {}: {}", self.name, self.assignment())?;
        writeln!(f, "    over {}", self.space)?;
        write!(f, "    at [{}]", list(names, &self.schedule))
    }
}

impl Statement {
    /// The assignment in text: `y(i) += A(p) * x(j)`.
    pub fn assignment(&self) -> impl Display + '_ {
        struct Assignment<'a>(&'a Statement);
        impl Display for Assignment<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (statement, names) = (self.0, self.0.names());
                write_access(f, names, &statement.target)?;
                write!(f, " {} ", statement.update.symbol())?;
                write_value(f, names, &statement.value, Binding::Sum)
            }
        }
        Assignment(self)
    }
}

/// How tightly a value binds; see the printer of relations.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binding {
    Sum,
    Product,
    Sign,
}

fn list(names: &Conjunction, expressions: &[Expression]) -> String {
    let texts = expressions.iter().map(|e| names.text_of(e).to_string());
    texts.collect::<Vec<_>>().join(", ")
}

fn write_access(f: &mut fmt::Formatter<'_>, names: &Conjunction, access: &Access) -> fmt::Result {
    match access.indices[..] {
        [] => f.write_str(&access.space),
        _ => write!(f, "{}({})", access.space, list(names, &access.indices)),
    }
}

fn write_value(
    f: &mut fmt::Formatter<'_>,
    names: &Conjunction,
    value: &Value,
    around: Binding,
) -> fmt::Result {
    match value {
        Value::Integer(n) => write!(f, "{n}"),
        // The shortest text that reads back, with a point or an exponent.
        Value::Float(x) => write!(f, "{x:?}"),
        Value::Variable(variable) => f.write_str(names.name(*variable)),
        Value::Parameter(name) => f.write_str(name),
        Value::Entry(access) => write_access(f, names, access),
        Value::Cast(ty, a) => {
            write!(f, "{ty}(")?;
            write_value(f, names, a, Binding::Sum)?;
            f.write_str(")")
        }
        Value::Window(window, keys) => {
            let free = Conjunction::new::<String>([], []);
            let key = |key: &Key| {
                let (value, extent) = (names.text_of(&key.value), free.text_of(&key.extent));
                format!("{value} of {extent}")
            };
            let keys: Vec<String> = keys.iter().map(key).collect();
            write!(f, "{}({})", window.word(), keys.join(", "))
        }
        Value::PowerOfTwo(a) => {
            f.write_str("power_of_two(")?;
            write_value(f, names, a, Binding::Sum)?;
            f.write_str(")")
        }
        Value::Conjugate(a) => {
            f.write_str("conj(")?;
            write_value(f, names, a, Binding::Sum)?;
            f.write_str(")")
        }
        Value::Differs(a, b) => {
            f.write_str("differs(")?;
            write_value(f, names, a, Binding::Sum)?;
            f.write_str(", ")?;
            write_value(f, names, b, Binding::Sum)?;
            f.write_str(")")
        }
        Value::Curve(name, coordinates) => write!(f, "{name}({})", list(names, coordinates)),
        Value::Negate(a) => match **a {
            // `-3` is a number; its negation as an operation is `-(3)`.
            Value::Integer(0..) | Value::Float(_) => {
                f.write_str("-(")?;
                write_value(f, names, a, Binding::Sum)?;
                f.write_str(")")
            }
            _ => {
                f.write_str("-")?;
                write_value(f, names, a, Binding::Sign)
            }
        },
        Value::Binary(operator @ (Operator::Minimum | Operator::Maximum), a, b) => {
            write!(f, "{}(", operator.symbol())?;
            write_value(f, names, a, Binding::Sum)?;
            f.write_str(", ")?;
            write_value(f, names, b, Binding::Sum)?;
            f.write_str(")")
        }
        Value::Binary(operator, a, b) => {
            let (own, tighter) = match operator {
                Operator::Add | Operator::Subtract => (Binding::Sum, Binding::Product),
                _ => (Binding::Product, Binding::Sign),
            };
            let parentheses = own < around;
            f.write_str(if parentheses { "(" } else { "" })?;
            write_value(f, names, a, own)?;
            write!(f, " {} ", operator.symbol())?;
            write_value(f, names, b, tighter)?;
            f.write_str(if parentheses { ")" } else { "" })
        }
    }
}
