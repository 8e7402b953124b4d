//! What makes a list of modes and levels a format.
//!
//! A checked format keeps these, and everything that reads formats relies on
//! them:
//!
//! 1. there are at most [`MAX_ORDER`](sparsec_base::MAX_ORDER) modes, and they have
//!    names of their own, each a name of the format language;
//! 2. the levels determine the coordinate of every mode, and none stores what
//!    another one stores;
//! 3. a level has only properties that its kind may have, and stands where its
//!    kind may stand (`kinds.rs`);
//! 4. the level above a `singleton` is nonunique, or the levels above it leave
//!    one entry: they store `#i` and determine `i`;
//! 5. the level below a nonunique level, where there is one, is a `singleton`;
//! 6. a `singleton` below a nonordered level is nonordered;
//! 7. what is mirrored is a triangle, and what is sorted along a curve is a
//!    list of coordinates.
//!
//! By 4 and 5 levels fall into **chains**: nonunique levels and the singletons
//! below them, which share one position for each entry. Above and below a
//! chain everything is unique.
//!
//! ```text
//! (i, j, k, l) -> (i : dense, j : compressed(nonunique), k : singleton, l : dense)
//!                  one level  └───────── a chain ─────────────────────┘ one level
//! ```

use sparsec_base::lex::{Kind, Tokens};
use sparsec_base::{Diagnostic, Result, Source, Span, check_order, code};

use crate::coordinate::Coordinate;
use crate::format::{Format, Level};
use crate::map::undetermined;

mod kinds;

/// A property that a level has beyond its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    Nonunique,
    Nonordered,
}

impl Property {
    pub(crate) const ALL: [Self; 2] = [Self::Nonunique, Self::Nonordered];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nonunique => "nonunique",
            Self::Nonordered => "nonordered",
        }
    }

    /// Whether `level` has this property.
    pub(crate) fn of(self, level: &Level) -> bool {
        match self {
            Self::Nonunique => !level.unique,
            Self::Nonordered => !level.ordered,
        }
    }

    fn fits(self, level: &Level) -> bool {
        let capabilities = level.kind.capabilities();
        match self {
            Self::Nonunique => capabilities.may_repeat,
            Self::Nonordered => capabilities.may_be_unordered,
        }
    }
}

/// Where the parts of a format stand in its text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// The modes with their parentheses.
    pub(crate) head: Span,
    pub(crate) modes: Vec<Span>,
    pub(crate) levels: Vec<LevelPlace>,
    /// The clauses that are not widths.
    pub(crate) clauses: Option<Span>,
}

/// Where the parts of a level stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct LevelPlace {
    pub(crate) coordinate: Span,
    /// The kind with its properties.
    pub(crate) kind: Span,
    pub(crate) properties: Vec<(Property, Span)>,
}

impl LevelPlace {
    /// The place of a level that has no text of its own.
    pub(crate) fn at(place: Span) -> Self {
        Self {
            coordinate: place,
            kind: place,
            properties: Vec::new(),
        }
    }

    fn property(&self, property: Property) -> Span {
        let found = self.properties.iter().find(|(p, _)| *p == property);
        found.map_or(self.kind, |(_, span)| *span)
    }
}

/// Refuses what is no format, with a caret into its text. The parts of a union
/// are checked one by one.
pub(crate) fn check(source: &Source, places: &Places, format: &Format) -> Result<()> {
    let check = Check {
        source,
        places,
        format,
        modes: &format.modes,
        levels: &format.levels,
    };
    check_order(format.modes.len()).map_err(|error| error.at(source, places.head, "too many"))?;
    check.mode_names()?;
    check.coordinates()?;
    check.modes_stored()?;
    check.properties()?;
    check.kinds()?;
    check.chains()?;
    check.clauses()
}

struct Check<'a> {
    source: &'a Source,
    places: &'a Places,
    format: &'a Format,
    modes: &'a [String],
    levels: &'a [Level],
}

impl Check<'_> {
    fn mode_names(&self) -> Result<()> {
        for (number, name) in self.modes.iter().enumerate() {
            if !is_name(name) {
                let message = format!("`{}` cannot name a mode", name.escape_debug());
                return Err(Diagnostic::new(code::UNEXPECTED_TOKEN, message)
                    .at(self.source, self.places.modes[number], "not a name")
                    .help("a name is letters, digits and `_`, and begins with a letter or `_`"));
            }
            let first = self.modes.iter().position(|other| other == name);
            if let Some(first) = first.filter(|&first| first < number) {
                let message = format!("two modes are called `{name}`");
                return Err(Diagnostic::new(code::DUPLICATE_MODE, message)
                    .at(self.source, self.places.modes[number], "the second")
                    .also(self.source, self.places.modes[first], "the first")
                    .help("give every mode a name of its own"));
            }
        }
        Ok(())
    }

    fn modes_stored(&self) -> Result<()> {
        for (number, level) in self.levels.iter().enumerate() {
            let same = |other: &Level| other.coordinate == level.coordinate;
            let Some(first) = self.levels[..number].iter().position(same) else {
                continue;
            };
            let name = level.coordinate.text(self.modes);
            let what = match level.coordinate {
                Coordinate::Mode(_) => "mode ",
                _ => "",
            };
            let message = format!("{what}`{name}` is stored by two levels");
            return Err(Diagnostic::new(code::MODE_STORED_TWICE, message)
                .at(
                    self.source,
                    self.places.levels[number].coordinate,
                    format!("level {number} stores it again"),
                )
                .also(
                    self.source,
                    self.places.levels[first].coordinate,
                    format!("level {first} stores it"),
                )
                .help("store each mode in exactly one level"));
        }
        let Some(&missing) = undetermined(self.format).first() else {
            return Ok(());
        };
        let name = &self.modes[missing];
        let mut levels = self.levels.iter();
        let is_in = |level: &Level| {
            let mut found = false;
            level
                .coordinate
                .for_each_mode(&mut |mode| found |= mode == missing);
            found
        };
        let Some(number) = levels.position(is_in) else {
            let message = format!("no level stores mode `{name}`");
            return Err(Diagnostic::new(code::MODE_NOT_STORED, message)
                .at(self.source, self.places.modes[missing], "has no level")
                .help(format!("add a level such as `{name} : compressed`")));
        };
        let message = format!("the levels do not tell the coordinate of `{name}`");
        let error = Diagnostic::new(code::NOT_DETERMINED, message).at(
            self.source,
            self.places.levels[number].coordinate,
            format!("several `{name}` have the same coordinate here"),
        );
        Err(match &self.levels[number].coordinate {
            Coordinate::FloorDivide(a, by) if a.mode() == Some(missing) => {
                error.help(format!("add a level such as `{name} mod {by} : dense`"))
            }
            Coordinate::Modulo(a, by) if a.mode() == Some(missing) => error.help(format!(
                "add a level such as `{name} floordiv {by} : dense`"
            )),
            _ => error.help(format!("add a level of `{name}`")),
        })
    }

    fn properties(&self) -> Result<()> {
        for (level, place) in self.levels.iter().zip(&self.places.levels) {
            for property in Property::ALL {
                if !property.of(level) || property.fits(level) {
                    continue;
                }
                let (kind, property_name) = (level.kind.text(), property.name());
                let message = format!("a `{kind}` level cannot be `{property_name}`");
                return Err(Diagnostic::new(code::PROPERTY_MISFIT, message)
                    .at(
                        self.source,
                        place.property(property),
                        format!("not for `{kind}`"),
                    )
                    .help(format!(
                        "leave `{property_name}` out, or make the level `compressed`"
                    )));
            }
        }
        Ok(())
    }

    fn chains(&self) -> Result<()> {
        for (number, level) in self.levels.iter().enumerate() {
            let single = level.kind.capabilities().single;
            let place = &self.places.levels[number];
            let Some(above) = number.checked_sub(1) else {
                if single {
                    return Err(self.singleton_parent(place, None));
                }
                continue;
            };
            let (parent, parent_place) = (&self.levels[above], &self.places.levels[above]);
            if single && parent.unique && !self.leaves_one(number) {
                return Err(self.singleton_parent(place, Some(above)));
            }
            if !single && !parent.unique {
                return Err(self.nonunique_parent(place, parent_place));
            }
            if single && level.ordered && !parent.ordered {
                return Err(Diagnostic::new(
                    code::ORDER_BELOW_NONORDERED,
                    "an ordered `singleton` below a `nonordered` level",
                )
                .at(self.source, place.kind, "cannot be ordered")
                .also(
                    self.source,
                    parent_place.property(Property::Nonordered),
                    "equal coordinates do not stand together here",
                )
                .help("make it `nonordered` too"));
            }
        }
        Ok(())
    }

    /// Whether the levels above `number` leave one entry below each position.
    fn leaves_one(&self, number: usize) -> bool {
        self.levels[..number]
            .iter()
            .any(|level| match &level.coordinate {
                Coordinate::Rank { of, .. } => self.format.determines(number, of),
                _ => false,
            })
    }

    fn singleton_parent(&self, place: &LevelPlace, above: Option<usize>) -> Diagnostic {
        let error = Diagnostic::new(
            code::SINGLETON_PARENT,
            "a `singleton` level that is not below a `nonunique` level",
        );
        let Some(above) = above else {
            return error
                .at(self.source, place.kind, "has no level above it")
                .help("make the first level `compressed`");
        };
        let kind = self.levels[above].kind;
        let error = error
            .at(self.source, place.kind, "one entry for each parent")
            .also(
                self.source,
                self.places.levels[above].kind,
                "holds each coordinate once",
            );
        if kind.capabilities().may_repeat {
            error.help(format!("write `{}(nonunique)` above it", kind.text()))
        } else {
            error.help("make this level `compressed`")
        }
    }

    fn nonunique_parent(&self, place: &LevelPlace, parent: &LevelPlace) -> Diagnostic {
        Diagnostic::new(
            code::NONUNIQUE_PARENT,
            "a `nonunique` level with a level below it that is no `singleton`",
        )
        .at(
            self.source,
            parent.property(Property::Nonunique),
            "coordinates repeat here",
        )
        .also(self.source, place.kind, "no `singleton`")
        .help("leave `nonunique` out, or make the level below a `singleton`")
    }
}

/// A level stores something that is no mode.
pub(crate) fn unknown_mode(
    source: &Source,
    place: Span,
    name: &str,
    modes: &[String],
) -> Diagnostic {
    let error = Diagnostic::new(
        code::UNKNOWN_MODE,
        format!("the format has no mode `{name}`"),
    );
    match modes {
        [] => error
            .at(source, place, "this format has no modes")
            .help("the format of a scalar is `() -> ()`"),
        _ => error
            .at(source, place, "not one of its modes")
            .help(format!("its modes are `{}`", modes.join("`, `"))),
    }
}

/// Whether the format language reads `text` as one name.
fn is_name(text: &str) -> bool {
    let Ok(tokens) = Tokens::new(&Source::new("name", text), &[]) else {
        return false;
    };
    let first = tokens.peek();
    first.kind == Kind::Name && first.span.range() == (0..text.len())
}
