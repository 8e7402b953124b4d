//! Reading formats.
//!
//! ```text
//! spec    := part { "|" part }
//! part    := form { "," clause }
//! form    := NAME [ "(" INTEGER { "," INTEGER } ")" ]       a preset, of levels or a relation
//!          | "(" [modes] ")" "->" "(" [levels] ")"          a map
//! modes   := NAME { "," NAME }
//! levels  := level { "," level }
//! level   := coordinate ":" kind [ "(" property { "," property } ")" ]
//! kind    := NAME [ "[" INTEGER "," INTEGER "]" ]
//! property:= "nonunique" | "nonordered" | "soa" | width
//! width   := ("pos" | "crd") "=" ("8" | "16" | "32" | "64")
//! clause  := width | "fill" number | "order" coordinate
//!          | ("symmetric" | "skew" | "hermitian" | "lower" | "upper" | "diagonal")
//!            [ "(" NAME "," NAME ")" ]
//! ```
//!
//! The modes of a clause may be left out where the format has two: `csr, lower`.
//! Coordinates are read in `parse/coordinate.rs`, clauses in `parse/clause.rs`. A text that
//! begins with `format NAME` is that of a `.fmt` file, a relation.

use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::check::{LevelPlace, Places, Property, check};
use crate::format::{Format, Level};
use crate::level::LevelKind;
use crate::relational::RelationFormat;
use crate::spec::{Form, FormatSpec, SpecPart};

mod clause;
mod coordinate;
mod preset;

pub(crate) use clause::Clauses;

impl FormatSpec {
    /// Reads a format from the whole of a source.
    ///
    /// # Errors
    /// `E0101` to `E0103` for text that is not of the language, `E0110` to
    /// `E0129` and `E0133` for a format that is wrong or not supported; of the text of a
    /// `.fmt` file, those of [`RelationFormat::parse`].
    pub fn parse(source: &Source) -> Result<Self> {
        if RelationFormat::is_text(source.text()) {
            return Ok(RelationFormat::parse(source)?.into());
        }
        let mut tokens = Tokens::new(source, &["->"])?;
        let spec = parse_spec(&mut tokens)?;
        tokens.expect_end().map_err(|error| {
            error.help(match spec.is_relation() {
                true => "nothing comes behind a format that a relation describes",
                false => {
                    "behind a format come clauses, as in `csr, fill 1`, and `|` and other parts"
                }
            })
        })?;
        Ok(spec)
    }
}

/// Reads a format that stands inside a larger text and ends where it cannot go
/// on; the rest is left in `tokens`, which know the symbol `->`.
///
/// # Errors
/// As [`FormatSpec::parse`].
pub fn parse_spec(tokens: &mut Tokens) -> Result<FormatSpec> {
    let mut parser = Parser {
        tokens: tokens.clone(),
        names: Vec::new(),
        is_map: false,
    };
    let mut parts = vec![parser.part()?];
    while parser.tokens.eat("|") {
        parts.push(parser.part()?);
    }
    let spec = FormatSpec::new(parser.source().clone(), parts)?;
    *tokens = parser.tokens;
    Ok(spec)
}

struct Parser {
    tokens: Tokens,
    /// The modes by name. Of a map those on its left; to them come names that
    /// clauses use, with their places, which have to be modes of the preset.
    names: Vec<(String, Span)>,
    /// Whether the part at hand is a map, which has names for its modes.
    is_map: bool,
}

impl Parser {
    fn source(&self) -> &Source {
        self.tokens.source()
    }

    fn part(&mut self) -> Result<SpecPart> {
        self.names.clear();
        self.is_map = self.tokens.at("(");
        match self.tokens.peek().kind {
            Kind::Name => self.preset(),
            _ if self.tokens.at("(") => self.map(),
            _ if self.tokens.at("{") => {
                let place = self.tokens.peek().span;
                Err(self.later(place, "a format given as a relation"))
            }
            _ => Err(self.tokens.unexpected("a format")),
        }
        .map_err(|error| {
            error.or_help(
                "a format is a preset or a map: `csr`, `(i, j) -> (i : dense, j : compressed)`",
            )
        })
    }

    fn map(&mut self) -> Result<SpecPart> {
        let mut places = Places::default();
        let (modes, head) = self.modes(&mut places)?;
        places.head = head;
        self.names = modes
            .iter()
            .cloned()
            .zip(places.modes.iter().copied())
            .collect();
        self.tokens.expect("->")?;
        self.tokens.expect("(")?;
        let mut levels = Vec::new();
        if !self.tokens.eat(")") {
            loop {
                let (level, place) = self.level()?;
                levels.push(level);
                places.levels.push(place);
                if !self.more(")")? {
                    break;
                }
            }
        }
        self.known_modes(&modes)?;
        let clauses = self.clauses(Some(modes.len()))?;
        self.known_modes(&modes)?;
        places.clauses = clauses.place;
        let mut format = Format::unchecked(modes, levels);
        let source = self.source().clone();
        clauses.add_to(&mut format, &source)?;
        check(&source, &places, &format)?;
        Ok(SpecPart {
            place: head,
            form: Form::Map(Box::new(format)),
        })
    }

    /// Refuses names that are no modes of the map.
    fn known_modes(&self, modes: &[String]) -> Result<()> {
        match self.names.get(modes.len()) {
            None => Ok(()),
            Some((name, place)) => Err(crate::check::unknown_mode(
                self.source(),
                *place,
                name,
                modes,
            )),
        }
    }

    fn modes(&mut self, places: &mut Places) -> Result<(Vec<String>, Span)> {
        let open = self.tokens.expect("(")?;
        let mut modes = Vec::new();
        let mut close = self.tokens.peek().span;
        if !self.tokens.eat(")") {
            loop {
                let (name, place) = self.tokens.name("a mode")?;
                modes.push(name);
                places.modes.push(place);
                close = self.tokens.peek().span;
                if !self.more(")")? {
                    break;
                }
            }
        }
        Ok((modes, open.to(close)))
    }

    fn level(&mut self) -> Result<(Level, LevelPlace)> {
        let (coordinate, coordinate_place) = self.coordinate()?;
        self.tokens.expect(":")?;
        let (kind, kind_place) = self.kind()?;
        let mut level = Level::new(coordinate, kind);
        let mut place = LevelPlace {
            coordinate: coordinate_place,
            kind: kind_place,
            properties: Vec::new(),
        };
        if self.tokens.eat("(") {
            loop {
                self.property(&mut level, &mut place)?;
                place.kind = kind_place.to(self.tokens.peek().span);
                if !self.more(")")? {
                    break;
                }
            }
        }
        Ok((level, place))
    }

    fn kind(&mut self) -> Result<(LevelKind, Span)> {
        let (name, mut place) = self.tokens.name("a level kind")?;
        let kinds = LevelKind::ALL.map(|kind| kind.spec().name);
        let Some(number) = kinds.iter().position(|kind| *kind == name) else {
            let message = format!("no level kind is called `{name}`");
            return Err(Diagnostic::new(code::UNKNOWN_LEVEL_KIND, message)
                .at(self.source(), place, "no kind has this name")
                .help(
                    did_you_mean(&name, kinds)
                        .unwrap_or_else(|| format!("use one of `{}`", kinds.join("`, `"))),
                ));
        };
        let mut kind = LevelKind::ALL[number];
        if let LevelKind::Structured { n, m } = &mut kind {
            self.tokens.expect("[")?;
            *n = self.count()?;
            self.tokens.expect(",")?;
            *m = self.count()?;
            place = place.to(self.tokens.expect("]")?);
        }
        Ok((kind, place))
    }

    fn count(&mut self) -> Result<u32> {
        let (count, place) = self.tokens.integer("a number of coordinates")?;
        u32::try_from(count).map_err(|_| {
            Diagnostic::new(code::BAD_NUMBER, format!("`{count}` is too large here"))
                .at(self.source(), place, "too large")
                .help("blocks have at most 2^31 coordinates")
        })
    }

    fn property(&mut self, level: &mut Level, place: &mut LevelPlace) -> Result<()> {
        let (name, span) = self.tokens.name("a property")?;
        if name == "pos" || name == "crd" {
            let twice = match name.as_str() {
                "pos" => level.widths.pos.is_some(),
                _ => level.widths.crd.is_some(),
            };
            if twice {
                return Err(self.width_twice(&name, span, None));
            }
            let width = Some(self.width()?);
            match name.as_str() {
                "pos" => level.widths.pos = width,
                _ => level.widths.crd = width,
            }
            return Ok(());
        }
        if name == "soa" {
            return self.soa(level, span);
        }
        let names = Property::ALL.map(Property::name);
        let Some(number) = names.iter().position(|known| *known == name) else {
            return Err(self.unknown_property(&name, span, &names));
        };
        let property = Property::ALL[number];
        let twice = place.properties.iter().find(|(p, _)| *p == property);
        if let Some((_, first)) = twice {
            return Err(Diagnostic::new(
                code::PROPERTY_MISFIT,
                format!("`{name}` is written twice"),
            )
            .at(self.source(), span, "the second")
            .also(self.source(), *first, "the first")
            .help("leave one out"));
        }
        place.properties.push((property, span));
        match property {
            Property::Nonunique => level.unique = false,
            Property::Nonordered => level.ordered = false,
        }
        Ok(())
    }

    /// A level of its own array says nothing new: all our levels have arrays of
    /// their own.
    fn soa(&self, level: &Level, span: Span) -> Result<()> {
        if level.kind == LevelKind::Singleton {
            return Ok(());
        }
        let message = format!("a `{}` level cannot be `soa`", level.kind.text());
        Err(Diagnostic::new(code::PROPERTY_MISFIT, message)
            .at(self.source(), span, "for `singleton` only")
            .help("leave `soa` out: every level keeps arrays of its own"))
    }

    fn unknown_property(&self, name: &str, span: Span, names: &[&'static str]) -> Diagnostic {
        let error = Diagnostic::new(
            code::UNKNOWN_PROPERTY,
            format!("no property is called `{name}`"),
        )
        .at(self.source(), span, "no property has this name");
        // What is closest would be the opposite.
        if let Some(opposite) = names
            .iter()
            .find(|known| known.strip_prefix("non") == Some(name))
        {
            return error.help(format!(
                "leave it out: a level is {name} where nothing says `{opposite}`"
            ));
        }
        let known = names.iter().copied().chain(["soa", "pos", "crd"]);
        error.help(
            did_you_mean(name, known)
                .unwrap_or_else(|| format!("use one of `{}`", names.join("`, `"))),
        )
    }

    /// Takes a comma, and says that the list goes on, or what closes it.
    fn more(&mut self, close: &str) -> Result<bool> {
        if self.tokens.eat(",") {
            return Ok(true);
        }
        if self.tokens.eat(close) {
            return Ok(false);
        }
        Err(self.tokens.unexpected(&format!("`,` or `{close}`")))
    }

    fn later(&self, place: Span, what: &str) -> Diagnostic {
        Diagnostic::new(
            code::FORMAT_UNSUPPORTED,
            format!("this version does not support {what}"),
        )
        .at(self.source(), place, "not supported in this version")
        .help("write the relation in a `.fmt` file and name that")
    }
}

fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, known).map(|name| format!("did you mean `{name}`?"))
}

/// What is meant by the name of no format.
fn meant<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    match name {
        "sparse" => Some(
            "`csf` stores the entries of a tensor of any order; `csr` has a list for each row"
                .to_owned(),
        ),
        _ => did_you_mean(name, known),
    }
}

/// A map with a level of this kind.
fn map_with(kind: LevelKind) -> &'static str {
    match kind {
        LevelKind::Dense => "(i, j) -> (i : dense, j : dense)",
        LevelKind::Batch => "(i, j) -> (i : batch, j : compressed)",
        LevelKind::Compressed => "(i, j) -> (i : dense, j : compressed)",
        LevelKind::LooseCompressed => "(i, j) -> (i : dense, j : loose_compressed)",
        LevelKind::Singleton => "(i, j) -> (i : compressed(nonunique), j : singleton)",
        LevelKind::Structured { .. } => {
            "(i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])"
        }
        LevelKind::Range => "(i, j) -> (i : dense, j : range)",
        LevelKind::Bitmap => "(i, j) -> (i : dense, j : bitmap)",
        LevelKind::Hashed => "(i, j) -> (i : dense, j : hashed)",
        LevelKind::RunLength => "(i, j) -> (i : dense, j : run_length)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_kind_of_level_is_a_format() {
        for kind in LevelKind::ALL {
            let name = kind.spec().name;
            let error = FormatSpec::parse(&Source::new("format", name)).err();
            let map = map_with(kind);
            match error {
                Some(error) => assert!(error.to_string().contains("E0110"), "{name}"),
                // Formats with this name beside.
                None => assert!(["dense", "bitmap"].contains(&name), "{name}"),
            }
            let format = FormatSpec::parse(&Source::new("format", map)).expect(map);
            let format = format.resolve(2).expect(map);
            let of_kind = |level: &Level| level.kind.spec().name == name;
            assert!(format.levels().iter().any(of_kind), "{map}");
        }
    }
}
