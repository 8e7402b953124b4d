//! What makes a list of modes and levels a format.
//!
//! A checked format keeps these, and everything that reads formats relies on
//! them:
//!
//! 1. there are at most [`MAX_ORDER`](crate::MAX_ORDER) modes, and they have names of their own, each a name of the format language;
//! 2. every mode is stored by exactly one level;
//! 3. a level has only properties that its kind may have;
//! 4. the level above a `singleton` is nonunique;
//! 5. the level below a nonunique level, where there is one, is a `singleton`;
//! 6. a `singleton` below a nonordered level is nonordered.
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
use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::format::Level;
use crate::order::check_order;

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
}

/// Where the parts of a level stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct LevelPlace {
    pub(crate) mode: Span,
    /// The kind with its properties.
    pub(crate) kind: Span,
    pub(crate) properties: Vec<(Property, Span)>,
}

impl LevelPlace {
    fn property(&self, property: Property) -> Span {
        let found = self.properties.iter().find(|(p, _)| *p == property);
        found.map_or(self.kind, |(_, span)| *span)
    }
}

/// Refuses what is no format, with a caret into its text.
pub(crate) fn check(
    source: &Source,
    places: &Places,
    modes: &[String],
    levels: &[Level],
) -> Result<()> {
    let check = Check {
        source,
        places,
        modes,
        levels,
    };
    check_order(modes.len()).map_err(|error| error.at(source, places.head, "too many"))?;
    check.mode_names()?;
    check.modes_stored()?;
    check.properties()?;
    check.chains()
}

struct Check<'a> {
    source: &'a Source,
    places: &'a Places,
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
        let mut level_of: Vec<Option<usize>> = vec![None; self.modes.len()];
        for (number, level) in self.levels.iter().enumerate() {
            let place = self.places.levels[number].mode;
            let Some(slot) = level_of.get_mut(level.mode()) else {
                return Err(unknown_mode(
                    self.source,
                    place,
                    &level.mode().to_string(),
                    self.modes,
                ));
            };
            if let Some(first) = *slot {
                let name = &self.modes[level.mode()];
                let message = format!("mode `{name}` is stored by two levels");
                return Err(Diagnostic::new(code::MODE_STORED_TWICE, message)
                    .at(
                        self.source,
                        place,
                        format!("level {number} stores it again"),
                    )
                    .also(
                        self.source,
                        self.places.levels[first].mode,
                        format!("level {first} stores it"),
                    )
                    .help("store each mode in exactly one level"));
            }
            *slot = Some(number);
        }
        let Some(missing) = level_of.iter().position(Option::is_none) else {
            return Ok(());
        };
        let name = &self.modes[missing];
        let message = format!("no level stores mode `{name}`");
        Err(Diagnostic::new(code::MODE_NOT_STORED, message)
            .at(self.source, self.places.modes[missing], "has no level")
            .help(format!("add a level such as `{name} : compressed`")))
    }

    fn properties(&self) -> Result<()> {
        for (level, place) in self.levels.iter().zip(&self.places.levels) {
            for property in Property::ALL {
                if !property.of(level) || property.fits(level) {
                    continue;
                }
                let (kind, property_name) = (level.kind.spec().name, property.name());
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
            if single && parent.unique {
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
            error.help(format!("write `{}(nonunique)` above it", kind.spec().name))
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
