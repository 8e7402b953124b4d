//! Loops as text, for people.

use std::fmt;

use super::{Loops, Step};
use crate::conjunction::Conjunction;
use crate::expression::Expression;

impl fmt::Display for Loops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = Printer {
            names: &self.variables,
        };
        printer.block(f, &self.body, 0)
    }
}

struct Printer<'a> {
    names: &'a Conjunction,
}

impl Printer<'_> {
    fn named(&self, e: &Expression) -> String {
        self.names.text_of(e).to_string()
    }

    fn block(&self, f: &mut fmt::Formatter<'_>, steps: &[Step], depth: usize) -> fmt::Result {
        for step in steps {
            write!(f, "{:1$}", "", 2 * depth)?;
            match step {
                Step::Let { variable, value } => {
                    let name = self.names.name(*variable);
                    writeln!(f, "let {name} = {}", self.named(value))?;
                }
                Step::For {
                    variable,
                    lower,
                    upper,
                    body,
                } => {
                    let name = self.names.name(*variable);
                    let lower = self.bound(lower, "min", "max");
                    let upper = self.bound(upper, "max", "min");
                    writeln!(f, "for {name} in {lower}..{upper}")?;
                    self.block(f, body, depth + 1)?;
                }
                Step::If { conditions, body } => {
                    let conditions = conditions
                        .iter()
                        .map(|c| self.names.list_of(std::slice::from_ref(c)).to_string());
                    let conditions: Vec<String> = conditions.collect();
                    writeln!(f, "if {}", conditions.join(" and "))?;
                    self.block(f, body, depth + 1)?;
                }
                Step::Where {
                    search,
                    found,
                    body,
                } => {
                    writeln!(f, "search")?;
                    self.block(f, search, depth + 1)?;
                    let word = if *found { "found" } else { "not found" };
                    writeln!(f, "{:1$}if {word}", "", 2 * depth)?;
                    self.block(f, body, depth + 1)?;
                }
                Step::Found => writeln!(f, "found")?,
                Step::Visit { number, tuple } => {
                    let tuple: Vec<String> = tuple.iter().map(|e| self.named(e)).collect();
                    let number = match number {
                        0 => String::new(),
                        n => n.to_string(),
                    };
                    writeln!(f, "visit{number}({})", tuple.join(", "))?;
                }
            }
        }
        Ok(())
    }

    fn bound(&self, choices: &[Vec<Expression>], outer: &str, inner: &str) -> String {
        let list = |texts: Vec<String>, word: &str| match &texts[..] {
            [one] => one.clone(),
            all => format!("{word}({})", all.join(", ")),
        };
        let each = choices.iter().map(|members| {
            let members = members.iter().map(|e| self.named(e)).collect();
            list(members, inner)
        });
        list(each.collect(), outer)
    }
}
