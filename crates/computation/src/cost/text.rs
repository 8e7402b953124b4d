//! Costs as text.
//!
//! ```text
//! cost  := "cost" NAME "{" "arrays" ":" sum { names ":" work } "total" ":" work "}"
//! names := NAME { "," NAME }
//! work  := "steps" sum "," "streams" sum { "," "random" sum "of" INTEGER "in" sum }
//! ```
//!
//! The total is the sum of the sweeps; a text with another one is refused.

use std::fmt;
use std::str::FromStr;

use sparsec_base::lex::Tokens;
use sparsec_base::{Diagnostic, Result, Source};
use sparsec_relation::{Conjunction, Expression, Parser};

use super::{Cost, Random, Sweep, Work};

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "cost {} {{", self.name)?;
        writeln!(f, "  arrays: {}", text(&self.arrays))?;
        for Sweep { statements, work } in &self.sweeps {
            writeln!(f, "  {}: {work}", statements.join(", "))?;
        }
        writeln!(f, "  total: {}", self.total())?;
        writeln!(f, "}}")
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "steps {}", text(&self.steps))?;
        write!(f, ", streams {}", text(&self.streams))?;
        for Random {
            count,
            bytes,
            array,
        } in &self.random
        {
            write!(f, ", random {} of {bytes} in {}", text(count), text(array))?;
        }
        Ok(())
    }
}

/// The text of a formula.
fn text(e: &Expression) -> String {
    Conjunction::new([""; 0], []).text_of(e).to_string()
}

impl Cost {
    /// Reads a cost from the whole of a source.
    ///
    /// # Errors
    /// `E0101` to `E0103` for text that is no cost, and for a total that is not the sum of the
    /// sweeps.
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser::new(Tokens::new(source, &Parser::SYMBOLS)?);
        parser.tokens.expect("cost")?;
        let (name, _) = parser.tokens.name("the name of a computation")?;
        parser.tokens.expect("{")?;
        parser.tokens.expect("arrays")?;
        parser.tokens.expect(":")?;
        let arrays = parser.expression()?;
        let mut cost = Self {
            name,
            arrays,
            sweeps: Vec::new(),
        };
        loop {
            let place = parser.tokens.position();
            let mut statements = Vec::new();
            loop {
                statements.push(parser.tokens.name("a statement")?.0);
                if !parser.tokens.eat(",") {
                    break;
                }
            }
            parser.tokens.expect(":")?;
            let work = work(&mut parser)?;
            if !parser.tokens.eat("}") {
                cost.sweeps.push(Sweep { statements, work });
                continue;
            }
            if statements != ["total"] || work != cost.total() {
                parser.tokens.go_back(place);
                let total = format!("`total: {}`", cost.total());
                return Err(parser.tokens.unexpected(&total));
            }
            parser.tokens.expect_end()?;
            return Ok(cost);
        }
    }
}

fn work(parser: &mut Parser) -> Result<Work> {
    parser.tokens.expect("steps")?;
    let steps = parser.expression()?;
    parser.tokens.expect(",")?;
    parser.tokens.expect("streams")?;
    let streams = parser.expression()?;
    let mut random = Vec::new();
    while parser.tokens.eat(",") {
        parser.tokens.expect("random")?;
        let count = parser.expression()?;
        parser.tokens.expect("of")?;
        let bytes = parser.tokens.integer("bytes of an access")?.0;
        parser.tokens.expect("in")?;
        random.push(Random {
            count,
            bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
            array: parser.expression()?,
        });
    }
    Ok(Work {
        steps,
        streams,
        random,
    })
}

impl FromStr for Work {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        let source = Source::new("cost", text);
        let mut parser = Parser::new(Tokens::new(&source, &Parser::SYMBOLS)?);
        let work = work(&mut parser)?;
        parser.tokens.expect_end()?;
        Ok(work)
    }
}

impl FromStr for Cost {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("cost", text))
    }
}
