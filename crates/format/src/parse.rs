//! Reading formats.
//!
//! ```text
//! spec    := form { "," clause }
//! form    := NAME                                           a preset
//!          | "(" [modes] ")" "->" "(" [levels] ")"          a map
//! modes   := NAME { "," NAME }
//! levels  := level { "," level }
//! level   := NAME ":" kind [ "(" property { "," property } ")" ]
//! kind    := "dense" | "compressed" | "singleton"
//! property:= "nonunique" | "nonordered"
//! clause  := ("pos" | "crd") "=" ("8" | "16" | "32" | "64")
//! ```
//!
//! The format language has more than this version stores. What belongs to it
//! is refused by name (`E0114`); anything else is a slip, and the diagnostic
//! says what is closest.

use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::suggest::closest;
use sparsec_base::{Diagnostic, IndexWidth, Result, Source, Span, code};

use crate::check::{LevelPlace, Places, Property, check, unknown_mode};
use crate::format::{Format, Level, Widths};
use crate::level::LevelKind;
use crate::preset::{Preset, presets};
use crate::spec::{Form, FormatSpec};

const LATER_KINDS: [&str; 7] = [
    "loose_compressed",
    "structured",
    "batch",
    "range",
    "bitmap",
    "hashed",
    "run_length",
];
const LATER_PRESETS: [&str; 13] = [
    "bsr", "dia", "ell", "sell", "jds", "hyb", "msr", "csb", "sky", "hash", "hicoo", "alto", "mcoo",
];
/// The clauses that declare the widths of index arrays.
const WIDTHS: [&str; 2] = ["pos", "crd"];
const LATER_PROPERTIES: [&str; 1] = ["soa"];
const LATER_CLAUSES: [&str; 7] = [
    "symmetric",
    "skew",
    "hermitian",
    "lower",
    "upper",
    "order",
    "fill",
];
const LATER_EXPRESSIONS: [&str; 6] = ["floordiv", "mod", "+", "-", "*", "/"];

impl FormatSpec {
    /// Reads a format from the whole of a source.
    ///
    /// # Errors
    /// `E0101` to `E0103` for text that is not of the language, `E0110` to
    /// `E0124` for a format that is wrong or not supported.
    pub fn parse(source: &Source) -> Result<Self> {
        let mut parser = Parser {
            tokens: Tokens::new(source, &["->"])?,
        };
        let spec = parser.spec()?;
        parser.tokens.expect_end()?;
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
    };
    let spec = parser.spec()?;
    *tokens = parser.tokens;
    Ok(spec)
}

struct Parser {
    tokens: Tokens,
}

impl Parser {
    fn source(&self) -> &Source {
        self.tokens.source()
    }

    fn spec(&mut self) -> Result<FormatSpec> {
        let (form, place) = match self.tokens.peek().kind {
            Kind::Name => self.preset()?,
            _ if self.tokens.at("(") => self.map()?,
            _ if self.tokens.at("{") => {
                let place = self.tokens.peek().span;
                return Err(self.later(place, "a format given as a relation"));
            }
            _ => return Err(self.tokens.unexpected("a format")),
        };
        let widths = self.clauses()?;
        if self.tokens.at("|") {
            let place = self.tokens.peek().span;
            return Err(self.later(place, "a union of formats"));
        }
        let form = match form {
            Form::Preset { preset, .. } => Form::Preset { preset, widths },
            Form::Map(format) => Form::Map(format.with_widths(widths)),
        };
        Ok(FormatSpec {
            source: self.source().clone(),
            place,
            form,
        })
    }

    fn preset(&mut self) -> Result<(Form, Span)> {
        let (name, place) = self.tokens.name("a format")?;
        if let Some(preset) = Preset::find(&name) {
            let widths = Widths::default();
            return Ok((Form::Preset { preset, widths }, place));
        }
        if LATER_PRESETS.contains(&name.as_str()) {
            return Err(self.later(place, &format!("the format `{name}`")));
        }
        let message = format!("no format is called `{name}`");
        let names: Vec<_> = presets().iter().map(|preset| preset.name).collect();
        let known = names.iter().chain(&LATER_PRESETS).copied();
        Err(Diagnostic::new(code::UNKNOWN_FORMAT, message)
            .at(self.source(), place, "no format has this name")
            .help(did_you_mean(&name, known).unwrap_or_else(|| {
                format!(
                    "use one of `{}`, or a map such as `(i, j) -> (i : dense, j : compressed)`",
                    names.join("`, `")
                )
            })))
    }

    fn map(&mut self) -> Result<(Form, Span)> {
        let mut places = Places::default();
        let (modes, head) = self.modes(&mut places)?;
        self.tokens.expect("->")?;
        self.tokens.expect("(")?;
        let mut levels = Vec::new();
        if !self.tokens.eat(")") {
            loop {
                let (level, place) = self.level(&modes)?;
                levels.push(level);
                places.levels.push(place);
                if !self.more(")")? {
                    break;
                }
            }
        }
        check(self.source(), &places, &modes, &levels)?;
        let widths = Widths::default();
        let format = Format {
            modes,
            levels,
            widths,
        };
        Ok((Form::Map(format), head))
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

    fn level(&mut self, modes: &[String]) -> Result<(Level, LevelPlace)> {
        let (mode, mode_place) = self.level_expression(modes)?;
        self.tokens.expect(":")?;
        let (kind, kind_place) = self.kind()?;
        let mut level = Level::new(mode, kind);
        let mut place = LevelPlace {
            mode: mode_place,
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

    /// What a level stores: a mode, in this version.
    fn level_expression(&mut self, modes: &[String]) -> Result<(usize, Span)> {
        let token = self.tokens.peek();
        if self.tokens.at("#") {
            return Err(self.later(token.span, "the rank of an entry"));
        }
        let call = self.tokens.at_nth(1, "(");
        if call && (self.tokens.at("morton") || self.tokens.at("alto")) {
            return Err(self.later(token.span, "a level of several modes"));
        }
        let (name, place) = self.tokens.name("a mode")?;
        let next = self.tokens.peek();
        if LATER_EXPRESSIONS.contains(&self.tokens.text(next)) {
            return Err(self.later(place.to(next.span), "a level of a computed coordinate"));
        }
        match modes.iter().position(|mode| *mode == name) {
            Some(mode) => Ok((mode, place)),
            None => Err(unknown_mode(self.source(), place, &name, modes)),
        }
    }

    fn kind(&mut self) -> Result<(LevelKind, Span)> {
        let (name, place) = self.tokens.name("a level kind")?;
        let kinds = LevelKind::ALL.map(|kind| kind.spec().name);
        if let Some(number) = kinds.iter().position(|kind| *kind == name) {
            return Ok((LevelKind::ALL[number], place));
        }
        if LATER_KINDS.contains(&name.as_str()) {
            return Err(self.later(place, &format!("the level kind `{name}`")));
        }
        let message = format!("no level kind is called `{name}`");
        Err(Diagnostic::new(code::UNKNOWN_LEVEL_KIND, message)
            .at(self.source(), place, "no kind has this name")
            .help(
                did_you_mean(&name, kinds.into_iter().chain(LATER_KINDS))
                    .unwrap_or_else(|| format!("use one of `{}`", kinds.join("`, `"))),
            ))
    }

    fn property(&mut self, level: &mut Level, place: &mut LevelPlace) -> Result<()> {
        let (name, span) = self.tokens.name("a property")?;
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

    fn unknown_property(&self, name: &str, span: Span, names: &[&'static str]) -> Diagnostic {
        if LATER_PROPERTIES.contains(&name) {
            return self.later(span, &format!("the property `{name}`"));
        }
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
        if WIDTHS.contains(&name) {
            return error.help(format!(
                "widths are those of all levels and stand after the map: `(…) -> (…), {name} = 32`"
            ));
        }
        let known = names.iter().copied().chain(LATER_PROPERTIES);
        error.help(
            did_you_mean(name, known)
                .unwrap_or_else(|| format!("use one of `{}`", names.join("`, `"))),
        )
    }

    fn clauses(&mut self) -> Result<Widths> {
        let mut widths = Widths::default();
        let mut seen: Vec<(String, Span)> = Vec::new();
        // A comma that no clause follows belongs to the text around the format.
        while self.tokens.at(",") && self.tokens.peek_at(1).kind == Kind::Name {
            self.tokens.take();
            let (name, place) = self.tokens.name("a clause")?;
            if !WIDTHS.contains(&name.as_str()) {
                return Err(self.unknown_clause(&name, place));
            }
            if let Some((_, first)) = seen.iter().find(|(other, _)| *other == name) {
                return Err(Diagnostic::new(
                    code::BAD_WIDTH,
                    format!("`{name}` is declared twice"),
                )
                .at(self.source(), place, "the second")
                .also(self.source(), *first, "the first")
                .help("leave one out"));
            }
            let width = Some(self.width()?);
            match name.as_str() {
                "pos" => widths.pos = width,
                _ => widths.crd = width,
            }
            seen.push((name, place));
        }
        Ok(widths)
    }

    fn width(&mut self) -> Result<IndexWidth> {
        self.tokens.expect("=")?;
        let (bits, place) = self.tokens.integer("a width in bits")?;
        IndexWidth::parse(bits).ok_or_else(|| {
            Diagnostic::new(
                code::BAD_WIDTH,
                format!("index arrays cannot have {bits} bits"),
            )
            .at(self.source(), place, "not a width")
            .help("write 8, 16, 32 or 64")
        })
    }

    fn unknown_clause(&self, name: &str, place: Span) -> Diagnostic {
        if LATER_CLAUSES.contains(&name) {
            return self.later(place, &format!("the clause `{name}`"));
        }
        let known = WIDTHS.into_iter().chain(LATER_CLAUSES);
        Diagnostic::new(
            code::UNKNOWN_CLAUSE,
            format!("no clause of a format begins with `{name}`"),
        )
        .at(self.source(), place, "no clause begins like this")
        .help(
            did_you_mean(name, known)
                .unwrap_or_else(|| "declare widths with `pos = 32` and `crd = 32`".to_owned()),
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
        .help(
            "supported are `dense`, `compressed` and `singleton` levels of the modes themselves; \
             see `sparsec formats`",
        )
    }
}

fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    closest(word, known).map(|name| format!("did you mean `{name}`?"))
}
