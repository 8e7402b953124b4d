//! Reading the coordinate of a level.
//!
//! ```text
//! coordinate := "#" rank [ "<" INTEGER ] | sum
//! rank       := NAME | "(" NAME { "," NAME } ")"
//! sum        := product { ("+" | "-") product }
//! product    := atom { ("floordiv" | "mod") INTEGER }
//! atom       := NAME | INTEGER | "-" INTEGER | "(" sum ")"
//!             | ("morton" | "alto") "(" sum { "," sum } ")"
//! ```

use sparsec_base::lex::Kind;
use sparsec_base::{Diagnostic, Result, Span, code};

use super::Parser;
use crate::coordinate::Coordinate;

/// Parentheses inside one another in one coordinate; keeps recursion shallow.
const DEEPEST: usize = 32;
/// Operators in one coordinate, which nest as well.
const LONGEST: usize = 64;

impl Parser {
    pub(super) fn coordinate(&mut self) -> Result<(Coordinate, Span)> {
        let start = self.tokens.peek().span;
        let coordinate = match self.tokens.eat("#") {
            true => self.rank()?,
            false => self.sum(0)?,
        };
        let end = self.tokens.peek_before();
        Ok((coordinate, start.to(end)))
    }

    fn rank(&mut self) -> Result<Coordinate> {
        let mut of = Vec::new();
        if self.tokens.eat("(") {
            loop {
                of.push(self.mode()?);
                if !self.more(")")? {
                    break;
                }
            }
        } else {
            of.push(self.mode()?);
        }
        let below = match self.tokens.eat("<") {
            true => Some(self.tokens.integer("a number of entries")?.0),
            false => None,
        };
        Ok(Coordinate::Rank { of, below })
    }

    /// A mode, by its place among the names known so far.
    pub(super) fn mode(&mut self) -> Result<usize> {
        let (name, place) = self.tokens.name("a mode")?;
        Ok(self.named(name, place))
    }

    pub(super) fn named(&mut self, name: String, place: Span) -> usize {
        let known = self.names.iter().position(|(known, _)| *known == name);
        known.unwrap_or_else(|| {
            self.names.push((name, place));
            self.names.len() - 1
        })
    }

    fn sum(&mut self, depth: usize) -> Result<Coordinate> {
        let mut left = self.product(depth)?;
        for _ in 0..LONGEST {
            left = if self.tokens.eat("+") {
                Coordinate::Sum(Box::new(left), Box::new(self.product(depth)?))
            } else if self.tokens.eat("-") {
                Coordinate::Difference(Box::new(left), Box::new(self.product(depth)?))
            } else {
                return Ok(left);
            };
        }
        Err(self.too_large())
    }

    fn product(&mut self, depth: usize) -> Result<Coordinate> {
        let mut left = self.atom(depth)?;
        for _ in 0..LONGEST {
            let operator = self.tokens.peek();
            let has_number = self.tokens.peek_at(1).kind == Kind::Integer;
            let is_division = match self.tokens.text(operator) {
                "floordiv" if has_number => true,
                "mod" if has_number => false,
                _ => return Ok(left),
            };
            self.tokens.take();
            let (by, _) = self.tokens.integer("a size")?;
            left = match is_division {
                true => Coordinate::FloorDivide(Box::new(left), by),
                false => Coordinate::Modulo(Box::new(left), by),
            };
        }
        Err(self.too_large())
    }

    fn atom(&mut self, depth: usize) -> Result<Coordinate> {
        if depth == DEEPEST {
            return Err(self.too_large());
        }
        let is_negative = self.tokens.at("-") && self.tokens.peek_at(1).kind == Kind::Integer;
        if is_negative || self.tokens.peek().kind == Kind::Integer {
            if is_negative {
                self.tokens.take();
            }
            let (number, place) = self.tokens.integer("a number")?;
            let number = u32::try_from(number).map_err(|_| {
                let message = format!("`{number}` is too large here");
                Diagnostic::new(code::BAD_NUMBER, message).at(self.source(), place, "too large")
            })?;
            let number = i64::from(number);
            return Ok(Coordinate::Integer(if is_negative {
                -number
            } else {
                number
            }));
        }
        if self.tokens.eat("(") {
            let inner = self.sum(depth + 1)?;
            self.tokens.expect(")")?;
            return Ok(inner);
        }
        let (name, place) = self.tokens.name("a mode")?;
        if !self.tokens.at("(") || (name != "morton" && name != "alto") {
            return Ok(Coordinate::Mode(self.named(name, place)));
        }
        self.tokens.take();
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.sum(depth + 1)?);
            if !self.more(")")? {
                break;
            }
        }
        if name == "morton" {
            return Ok(Coordinate::Morton(arguments));
        }
        let modes: Option<Vec<usize>> = arguments.iter().map(Coordinate::mode).collect();
        modes.map(Coordinate::Alto).ok_or_else(|| {
            Diagnostic::new(
                code::BAD_LEVEL_EXPRESSION,
                "`alto` deals the bits of modes, whose extents say how many they have",
            )
            .at(self.source(), place, "not of modes")
            .help("use `morton` for other coordinates")
        })
    }

    fn too_large(&self) -> Diagnostic {
        Diagnostic::new(
            code::BAD_LEVEL_EXPRESSION,
            "the coordinate of a level is too large an expression",
        )
        .at(self.source(), self.tokens.peek().span, "too much")
        .help("a level stores a mode, a block, a place in one, a diagonal, or a curve")
    }
}
