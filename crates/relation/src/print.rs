//! The text of relations; it parses back to an equal relation.

use std::fmt::{self, Write};

use crate::conjunction::Conjunction;
use crate::expression::{Constraint, Expression, Variable};
use crate::relation::Relation;

mod isl;

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, true)
    }
}

impl Relation {
    /// Writes the relation; without `pairs` as a set, of the first tuples.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, pairs: bool) -> fmt::Result {
        for (number, part) in self.parts().iter().enumerate() {
            if number > 0 {
                f.write_str(" union ")?;
            }
            part.write(f, pairs)?;
        }
        Ok(())
    }
}

impl fmt::Display for Conjunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, true)
    }
}

/// How tightly an expression binds: operands of a product must bind at least
/// as tightly as a product.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binding {
    Sum,
    Product,
    Sign,
}

impl Binding {
    /// The binding that a right operand needs to stand without parentheses. Operators associate to
    /// the left.
    fn tighter(self) -> Self {
        match self {
            Self::Sum => Self::Product,
            _ => Self::Sign,
        }
    }
}

impl Conjunction {
    fn write(&self, f: &mut fmt::Formatter<'_>, pairs: bool) -> fmt::Result {
        write!(f, "{{[{}]", self.list(self.inputs()))?;
        if pairs {
            write!(f, " -> [{}]", self.list(self.outputs()))?;
        }
        if self.exists().len() > 0 {
            write!(f, " : exists {}", self.list(self.exists()))?;
        }
        if !self.constraints().is_empty() {
            write!(f, " : {}", self.list_of(self.constraints()))?;
        }
        f.write_str("}")
    }

    /// Writes an expression of this conjunction's variables.
    pub(crate) fn write_expression(
        &self,
        f: &mut fmt::Formatter<'_>,
        e: &Expression,
    ) -> fmt::Result {
        self.expression(f, e, Binding::Sum)
    }

    /// The text of an expression of this conjunction's variables.
    pub fn text_of<'a>(&'a self, e: &'a Expression) -> impl fmt::Display + 'a {
        struct Text<'a>(&'a Conjunction, &'a Expression);
        impl fmt::Display for Text<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write_expression(f, self.1)
            }
        }
        Text(self, e)
    }

    /// The text of constraints on this conjunction's variables.
    pub fn list_of<'a>(&'a self, constraints: &'a [Constraint]) -> impl fmt::Display + 'a {
        struct List<'a>(&'a Conjunction, &'a [Constraint]);
        impl fmt::Display for List<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                for (number, constraint) in self.1.iter().enumerate() {
                    f.write_str(if number == 0 { "" } else { " && " })?;
                    self.0.constraint(f, constraint)?;
                }
                Ok(())
            }
        }
        List(self, constraints)
    }

    fn list(&self, variables: impl Iterator<Item = Variable>) -> String {
        let names: Vec<&str> = variables.map(|v| self.name(v)).collect();
        names.join(", ")
    }

    fn constraint(&self, f: &mut fmt::Formatter<'_>, constraint: &Constraint) -> fmt::Result {
        self.expression(f, &constraint.first, Binding::Sum)?;
        for (comparison, e) in &constraint.rest {
            write!(f, " {} ", comparison.symbol())?;
            self.expression(f, e, Binding::Sum)?;
        }
        Ok(())
    }

    fn expression(
        &self,
        f: &mut fmt::Formatter<'_>,
        e: &Expression,
        around: Binding,
    ) -> fmt::Result {
        let infix = |f: &mut fmt::Formatter<'_>, operation: Operation<'_>, own| {
            binary(f, operation, (own, around), |f, e, around| {
                self.expression(f, e, around)
            })
        };
        match e {
            Expression::Integer(n) => write!(f, "{n}"),
            Expression::Constant(name) => f.write_str(name),
            Expression::Variable(variable) => f.write_str(self.name(*variable)),
            Expression::Call(name, arguments) => {
                write!(f, "{name}(")?;
                for (number, argument) in arguments.iter().enumerate() {
                    if number > 0 {
                        f.write_str(", ")?;
                    }
                    self.expression(f, argument, Binding::Sum)?;
                }
                f.write_str(")")
            }
            Expression::Negate(a) => match **a {
                // `-3` is a number; its negation as an operation is `-(3)`.
                Expression::Integer(n) if n >= 0 => write!(f, "-({n})"),
                _ => {
                    f.write_str("-")?;
                    self.expression(f, a, Binding::Sign)
                }
            },
            Expression::Add(a, b) => infix(f, (a, "+", b), Binding::Sum),
            Expression::Subtract(a, b) => infix(f, (a, "-", b), Binding::Sum),
            Expression::Multiply(a, b) => infix(f, (a, "*", b), Binding::Product),
            Expression::FloorDivide(a, b) => infix(f, (a, "floordiv", b), Binding::Product),
            Expression::Modulo(a, b) => infix(f, (a, "mod", b), Binding::Product),
        }
    }
}

/// An operator between its operands.
type Operation<'a> = (&'a Expression, &'a str, &'a Expression);

/// Writes an operator and its operands, in parentheses inside of a tighter expression.
fn binary<W: Write>(
    f: &mut W,
    (a, operator, b): Operation<'_>,
    (own, around): (Binding, Binding),
    write: impl Fn(&mut W, &Expression, Binding) -> fmt::Result,
) -> fmt::Result {
    let parentheses = own < around;
    if parentheses {
        f.write_str("(")?;
    }
    write(f, a, own)?;
    write!(f, " {operator} ")?;
    write(f, b, own.tighter())?;
    if parentheses {
        f.write_str(")")?;
    }
    Ok(())
}
