//! Relations in the syntax of ISL.
//!
//! ```text
//! {[i] -> [h] : exists k : i = N * k && h = i floordiv 2} union {[i] -> [h] : i != h}
//!
//! [N] -> { [i] -> [h] : exists (k : i = N * k and h = floor(i/2)); [i] -> [h] : i != h }
//! ```
//!
//! The text parses back to the relation. ISL itself has no calls, no products of unknowns and no
//! quotients by unknowns, so it reads only texts without them. IEGenLib prints calls like this.
//!
//! Source: Verdoolaege, "isl: An Integer Set Library for the Polyhedral Model", ICMS
//! 2010, <https://doi.org/10.1007/978-3-642-15582-6_49>.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use super::{Binding, Operation, binary};
use crate::conjunction::Conjunction;
use crate::expression::{Constraint, Expression, Variable};
use crate::relation::Relation;
use crate::set::Set;

impl Relation {
    /// The relation in the syntax of ISL; see the module's page.
    ///
    /// ```
    /// use sparsec_relation::Relation;
    /// let rows: Relation = "{[p] -> [i] : pos(i) <= p < pos(i + 1) && i < N}".parse()?;
    /// let text = rows.to_isl();
    /// assert_eq!(text, "[N] -> { [p] -> [i] : pos(i) <= p < pos(i + 1) and i < N }");
    /// assert_eq!(text.parse::<Relation>()?, rows);
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn to_isl(&self) -> String {
        text(self, true)
    }
}

impl Set {
    /// The set in the syntax of ISL, as [`Relation::to_isl`].
    ///
    /// ```
    /// let even: sparsec_relation::Set = "{[i] : exists h : i = 2 * h && i < N}".parse()?;
    /// assert_eq!(even.to_isl(), "[N] -> { [i] : exists (h : i = 2 * h and i < N) }");
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn to_isl(&self) -> String {
        text(self.as_relation(), false)
    }
}

fn text(relation: &Relation, pairs: bool) -> String {
    let mut constants = BTreeSet::new();
    for part in relation.parts() {
        constants.extend(part.uses().constants);
    }
    let constants: Vec<&str> = constants.into_iter().collect();
    let parts = relation.parts().iter();
    let parts: Vec<String> = parts.map(|part| Isl(part).pairs(pairs)).collect();
    format!("[{}] -> {{ {} }}", constants.join(", "), parts.join("; "))
}

/// The expressions of one part of a union.
struct Isl<'a>(&'a Conjunction);

impl Isl<'_> {
    fn pairs(&self, pairs: bool) -> String {
        let part = self.0;
        let list = |variables: &mut dyn Iterator<Item = Variable>| {
            let names: Vec<&str> = variables.map(|v| part.name(v)).collect();
            names.join(", ")
        };
        let mut text = format!("[{}]", list(&mut part.inputs()));
        if pairs {
            text += &format!(" -> [{}]", list(&mut part.outputs()));
        }
        let constraints = part.constraints().iter().map(|c| self.constraint(c));
        let constraints = constraints.collect::<Vec<_>>().join(" and ");
        let exists = list(&mut part.exists());
        let body = match (exists.is_empty(), constraints.is_empty()) {
            (true, true) => return text,
            (true, false) => constraints,
            (false, true) => format!("exists ({exists})"),
            (false, false) => format!("exists ({exists} : {constraints})"),
        };
        text + " : " + &body
    }

    fn constraint(&self, constraint: &Constraint) -> String {
        let mut text = self.expression(&constraint.first);
        for (comparison, e) in &constraint.rest {
            text += &format!(" {} {}", comparison.symbol(), self.expression(e));
        }
        text
    }

    fn expression(&self, e: &Expression) -> String {
        let mut text = String::new();
        self.write(&mut text, e, Binding::Sum)
            .expect("a string takes all");
        text
    }

    fn write(&self, f: &mut String, e: &Expression, around: Binding) -> fmt::Result {
        let infix = |f: &mut String, operation: Operation<'_>, own| {
            binary(f, operation, (own, around), |f, e, around| {
                self.write(f, e, around)
            })
        };
        match e {
            Expression::Call(name, arguments) => {
                let arguments = arguments.iter().map(|e| self.expression(e));
                let arguments = arguments.collect::<Vec<_>>().join(", ");
                let element = name.rsplit_once('.');
                match element.filter(|(_, k)| k.parse::<u64>().is_ok_and(|n| n.to_string() == **k))
                {
                    Some((tuple, k)) => write!(f, "{tuple}({arguments})[{k}]"),
                    None => write!(f, "{name}({arguments})"),
                }
            }
            Expression::FloorDivide(a, b) => {
                write!(f, "floor({}/", self.expression(a))?;
                self.write(f, b, Binding::Sign)?;
                f.write_char(')')
            }
            Expression::Negate(a) if !matches!(**a, Expression::Integer(n) if n >= 0) => {
                f.write_char('-')?;
                self.write(f, a, Binding::Sign)
            }
            Expression::Add(a, b) => infix(f, (a, "+", b), Binding::Sum),
            Expression::Subtract(a, b) => infix(f, (a, "-", b), Binding::Sum),
            Expression::Multiply(a, b) => infix(f, (a, "*", b), Binding::Product),
            Expression::Modulo(a, b) => infix(f, (a, "mod", b), Binding::Product),
            Expression::Negate(_)
            | Expression::Integer(_)
            | Expression::Constant(_)
            | Expression::Variable(_) => {
                write!(f, "{}", self.0.text_of(e))
            }
        }
    }
}
