//! Reading descriptors.
//!
//! ```text
//! descriptor := "format" NAME  "extents" [ NAME { "," NAME } ]  "map" relation
//!               "data" relation  "values" set  { clause }  declarations
//! clause     := "unique"  |  "padding"  |  "fill" number  |  "mirror" relation image
//!             | "table" NAME  |  "block" NAME
//! image      := "same"  |  "negative"  |  "conjugate"
//! ```

use std::str::FromStr;

use sparsec_base::lex::Tokens;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use super::Descriptor;
use crate::declarations::Declarations;
use crate::parse::{Parser, SYMBOLS};

/// The word that a line of a descriptor begins with.
fn line(parser: &mut Parser, word: &str) -> Result<Span> {
    parser.tokens.expect(word).map_err(|error| {
        error.help("a description has the lines `format`, `extents`, `map`, `data` and `values`, in this order")
    })
}

/// Where the lines of a descriptor stand.
pub(super) struct Places {
    pub(super) extents: Span,
    pub(super) map: Span,
    pub(super) data: Span,
    pub(super) values: Span,
}

impl Descriptor {
    /// Reads a descriptor from the whole of a source, and checks that it is
    /// complete.
    ///
    /// # Errors
    /// As [`Declarations::parse`], and `E0720` for a function that is called and not declared, or
    /// declared and not called, `E0721` for a tuple without one coordinate in each mode or without
    /// one place, `E0722` for a space without bounds, `E0723` for a coordinate that may be outside
    /// of the extents, or a place outside of the values.
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser::new(Tokens::new(source, &SYMBOLS)?);
        line(&mut parser, "format")?;
        let (name, place) = parser.tokens.name("the name of the format")?;
        parser.check_without_primes(&name, place)?;

        let start = line(&mut parser, "extents")?;
        let mut extents: Vec<String> = Vec::new();
        while !parser.tokens.at("map") {
            let (extent, place) = parser.tokens.name("the extent of a mode")?;
            parser.check_reserved(&extent, place)?;
            if extents.contains(&extent) {
                let message = format!("`{extent}` is the extent of two modes");
                return Err(Diagnostic::new(code::RELATION_NAME, message)
                    .at(source, place, "here again")
                    .help(
                        "give each mode an extent of its own, and `assume` that they are equal",
                    ));
            }
            parser.check_role(extent.clone(), None, place)?;
            extents.push(extent);
            if !parser.tokens.eat(",") {
                break;
            }
        }
        let extents_place = start.to(parser.tokens.peek_before());

        let start = line(&mut parser, "map")?;
        let map = parser.relation()?;
        let map_place = start.to(parser.tokens.peek_before());
        let start = line(&mut parser, "data")?;
        let data = parser.relation()?;
        let data_place = start.to(parser.tokens.peek_before());
        let start = line(&mut parser, "values")?;
        let values = parser.set()?;
        let values_place = start.to(parser.tokens.peek_before());
        let (clauses, of_clauses) = parser.clauses()?;

        let mut declarations = Declarations::new();
        while !parser.tokens.at_end() {
            let read = parser.declaration(&mut declarations);
            read.map_err(|error| match (error.code() == code::UNEXPECTED_TOKEN, error.help_text()) {
                (true, None) => error.help(
                    "behind `values` stand `unique`, `padding`, `fill`, `mirror`, `table` and `block`, then declarations",
                ),
                _ => error,
            })?;
        }
        for (name, _, place) in parser.free_names() {
            parser.check_without_primes(name, place)?;
        }
        let descriptor = Self {
            name,
            extents,
            map,
            data,
            values,
            clauses,
            declarations,
        };
        let places = Places {
            extents: extents_place,
            map: map_place,
            data: data_place,
            values: values_place,
        };
        descriptor.check(&parser, &places)?;
        descriptor.check_clauses(source, &of_clauses)?;
        Ok(descriptor)
    }
}

impl FromStr for Descriptor {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("descriptor", text))
    }
}
