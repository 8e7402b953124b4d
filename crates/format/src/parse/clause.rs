//! Reading what stands after the levels of a format.

use sparsec_base::lex::Kind;
use sparsec_base::{Diagnostic, Fill, IndexWidth, Result, Source, Span, code};

use super::{Parser, did_you_mean};
use crate::check::unknown_mode;
use crate::coordinate::Coordinate;
use crate::format::{Format, Widths};
use crate::print;
use crate::region::{Mirror, Mirrored, Region, Side};

/// The clauses of a format. Modes are numbered as in `names`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Clauses {
    pub(crate) widths: Widths,
    region: Option<Region>,
    mirror: Option<Mirror>,
    order: Option<Coordinate>,
    pub(crate) fill: Option<Fill>,
    /// The first clause about two modes that does not name them: `lower`.
    unnamed: Option<Span>,
    /// The names of the modes, with a place for each.
    names: Vec<(String, Span)>,
    /// Where the clauses stand that are not widths.
    pub(crate) place: Option<Span>,
}

impl Clauses {
    /// Whether nothing but widths is said.
    pub(crate) fn is_plain(&self) -> bool {
        self.place.is_none()
    }

    /// Says of a format what the clauses say, which may name its modes in any
    /// order.
    pub(crate) fn add_to(&self, format: &mut Format, source: &Source) -> Result<()> {
        if let Some(place) = self.unnamed
            && format.modes.len() != 2
        {
            return Err(which_modes(source, place, format.modes.len()));
        }
        let mut modes = Vec::new();
        for (name, place) in &self.names {
            let mode = format.modes.iter().position(|mode| mode == name);
            match mode {
                Some(mode) => modes.push(mode),
                None => return Err(unknown_mode(source, *place, name, &format.modes)),
            }
        }
        let pair = |pair: [usize; 2]| pair.map(|name| modes[name]);
        format.widths = self.widths;
        if let Some(region) = self.region {
            format.region = Some(Region {
                modes: pair(region.modes),
                ..region
            });
        }
        if let Some(mirror) = self.mirror {
            let modes = pair(mirror.modes);
            format.mirror = Some(Mirror { modes, ..mirror });
            let lower = Region {
                side: Side::Lower,
                modes,
            };
            format.region.get_or_insert(lower);
        }
        if let Some(key) = &self.order {
            format.order = Some(key.with_modes(&|name| modes[name]));
        }
        if self.fill.is_some() {
            format.fill = self.fill;
        }
        Ok(())
    }

    /// The clauses as text, each after a comma.
    pub(crate) fn text(&self) -> String {
        let modes = self.names.iter().map(|(name, _)| name.clone()).collect();
        let mut format = Format::unchecked(modes, Vec::new());
        // The modes are the names themselves, however many.
        let named = Self {
            unnamed: None,
            ..self.clone()
        };
        let added = named.add_to(&mut format, &Source::new("format", ""));
        debug_assert!(added.is_ok());
        let clauses = print::clauses(&format).into_iter();
        let texts: String = clauses.map(|text| format!(", {text}")).collect();
        texts + &print::print_widths(self.widths)
    }
}

/// The error of a clause about two modes that names none, in a format of another order.
fn which_modes(source: &Source, place: Span, n_modes: usize) -> Diagnostic {
    let name = source.slice(place);
    let message = format!("`{name}` is about two modes, and the format has {n_modes}");
    let error = Diagnostic::new(code::BAD_CLAUSE, message).at(source, place, "which two?");
    match n_modes {
        0 | 1 => error.help("leave it out"),
        _ => error.help(format!("name them, as in `{name}(i, j)`")),
    }
}

impl Parser {
    /// Reads the clauses of a format of `n_modes` modes, if their number is known.
    pub(super) fn clauses(&mut self, n_modes: Option<usize>) -> Result<Clauses> {
        let mut clauses = Clauses::default();
        let mut seen: Vec<(String, Span)> = Vec::new();
        // A comma that no clause follows belongs to the text around the format.
        while self.tokens.at(",") && self.tokens.peek_at(1).kind == Kind::Name {
            self.tokens.take();
            let (name, place) = self.tokens.name("a clause")?;
            let known = ["pos", "crd", "fill", "order"].contains(&name.as_str());
            let side = Side::ALL.into_iter().find(|side| side.name() == name);
            let mirrored = Mirrored::ALL.into_iter().find(|it| it.name() == name);
            if !known && side.is_none() && mirrored.is_none() {
                return Err(self.unknown_clause(&name, place));
            }
            // There is one region, and one thing that it stands for.
            let group = match (side, mirrored) {
                (Some(_), _) => "region",
                (_, Some(_)) => "mirror",
                _ => name.as_str(),
            };
            if let Some((_, first)) = seen.iter().find(|(other, _)| other == group) {
                return Err(match group {
                    "pos" | "crd" => self.width_twice(&name, place, Some(*first)),
                    _ => Diagnostic::new(
                        code::BAD_CLAUSE,
                        format!("`{name}` says a second time what a clause before it says"),
                    )
                    .at(self.source(), place, "the second")
                    .also(self.source(), *first, "the first")
                    .help("leave one out"),
                });
            }
            seen.push((group.to_owned(), place));
            match name.as_str() {
                "pos" => clauses.widths.pos = Some(self.width()?),
                "crd" => clauses.widths.crd = Some(self.width()?),
                "fill" => clauses.fill = Some(Fill::read(&mut self.tokens)?),
                "order" => clauses.order = Some(self.coordinate()?.0),
                _ => {
                    let modes = match self.tokens.at("(") {
                        true => self.pair()?,
                        false => {
                            if let Some(n_modes) = n_modes.filter(|&n| n != 2) {
                                return Err(which_modes(self.source(), place, n_modes));
                            }
                            clauses.unnamed.get_or_insert(place);
                            self.modes_of_matrix(place)
                        }
                    };
                    clauses.region =
                        side.map_or(clauses.region, |side| Some(Region { side, modes }));
                    clauses.mirror =
                        mirrored.map_or(clauses.mirror, |of| Some(Mirror { of, modes }));
                }
            }
            if name != "pos" && name != "crd" {
                let whole = place.to(self.tokens.peek_before());
                clauses.place = Some(clauses.place.map_or(whole, |all| all.to(whole)));
            }
        }
        clauses.names = self.names.clone();
        Ok(clauses)
    }

    fn pair(&mut self) -> Result<[usize; 2]> {
        self.tokens.expect("(")?;
        let first = self.mode()?;
        self.tokens.expect(",")?;
        let second = self.mode()?;
        self.tokens.expect(")")?;
        Ok([first, second])
    }

    /// The modes of a format of order 2: those of the map, or as presets call them.
    fn modes_of_matrix(&mut self, place: Span) -> [usize; 2] {
        match self.is_map {
            true => [0, 1],
            false => ["i", "j"].map(|name| self.named(name.to_owned(), place)),
        }
    }

    pub(super) fn width(&mut self) -> Result<IndexWidth> {
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

    pub(super) fn width_twice(&self, name: &str, place: Span, first: Option<Span>) -> Diagnostic {
        let error = Diagnostic::new(code::BAD_WIDTH, format!("`{name}` is declared twice"));
        let error = error.at(self.source(), place, "the second");
        match first {
            Some(first) => error.also(self.source(), first, "the first"),
            None => error,
        }
        .help("leave one out")
    }

    fn unknown_clause(&self, name: &str, place: Span) -> Diagnostic {
        let sides = Side::ALL.map(Side::name).into_iter();
        let mirrored = Mirrored::ALL.map(Mirrored::name);
        let known = ["pos", "crd", "order", "fill"].into_iter();
        Diagnostic::new(
            code::UNKNOWN_CLAUSE,
            format!("no clause of a format begins with `{name}`"),
        )
        .at(self.source(), place, "no clause begins like this")
        .help(match name {
            "inf" | "infinity" | "nan" => format!("say what is not stored with `fill {name}`"),
            name => did_you_mean(name, known.chain(sides).chain(mirrored))
                .unwrap_or_else(|| "declare widths with `pos = 32` and `crd = 32`".to_owned()),
        })
    }
}
