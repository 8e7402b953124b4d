//! The text of declarations; it parses back to equal ones.

use std::fmt;

use super::{Declarations, Function, Quantifier};
use crate::conjunction::Conjunction;

impl fmt::Display for Declarations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.assumptions.is_empty() {
            let free = Conjunction::new::<String>([], []);
            writeln!(f, "assume {}", free.list_of(&self.assumptions))?;
        }
        for function in &self.functions {
            match self.tuple_of(&function.name) {
                Some((tuple, 0)) => writeln!(f, "{tuple}")?,
                Some(_) => {}
                None => writeln!(f, "{function}")?,
            }
        }
        for (name, order) in &self.orders {
            writeln!(f, "order {name} = {order}")?;
        }
        for key in &self.keys {
            writeln!(f, "{key}")?;
        }
        for quantifier in &self.quantifiers {
            writeln!(f, "{quantifier}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "function {} : {} -> {}",
            self.name, self.domain, self.range
        )?;
        if let Some(monotone) = self.monotone {
            write!(f, " {}", monotone.word())?;
        }
        if self.injective {
            f.write_str(" injective")?;
        }
        Ok(())
    }
}

impl fmt::Display for Quantifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let premises = &self.premises;
        let names: Vec<&str> = premises.inputs().map(|v| premises.name(v)).collect();
        match names[..] {
            [] => f.write_str("assume ")?,
            _ => write!(f, "forall {} : ", names.join(", "))?,
        }
        if !premises.constraints().is_empty() {
            write!(f, "{} => ", premises.list_of(premises.constraints()))?;
        }
        write!(f, "{}", premises.list_of(&self.conclusions))
    }
}
