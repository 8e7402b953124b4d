//! A format as a user writes it, before the tensor's order is known.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use sparsec_base::{Diagnostic, Result, Source, Span, check_order, code};

use crate::check::{LevelPlace, Places, check};
use crate::format::Format;
use crate::parse::Clauses;
use crate::preset::{Parameters, Preset, with_arguments};
use crate::relational::{RelationFormat, RelationPreset, Storage, nearest, no_levels};

/// A format as a user writes it: a preset, whose order the tensor decides, a
/// map, which has an order of its own, or a relation.
///
/// ```
/// use sparsec_format::{Format, FormatSpec};
/// let list: FormatSpec = "coo, crd = 32".parse()?;
/// assert_eq!(list.order(), None);
/// assert_eq!(
///     list.resolve(2)?.to_string(),
///     "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered)), crd = 32",
/// );
/// let rows: FormatSpec = "csr".parse()?;
/// assert_eq!(rows.order(), Some(2));
/// assert!(rows.resolve(3).unwrap_err().to_string().contains("E0115"));
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FormatSpec {
    pub(crate) source: Source,
    /// The parts of a union, or the one that there is.
    pub(crate) parts: Vec<SpecPart>,
}

/// One part of a union.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpecPart {
    /// The preset's name, or the modes of the map.
    pub(crate) place: Span,
    pub(crate) form: Form,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Preset {
        preset: &'static Preset,
        arguments: Vec<u64>,
        clauses: Clauses,
    },
    Map(Box<Format>),
    Relation(Arc<RelationFormat>),
    /// A preset for several orders.
    RelationOfOrder {
        preset: &'static RelationPreset,
        numbers: Vec<u64>,
    },
}

impl Form {
    fn is_relation(&self) -> bool {
        matches!(self, Self::Relation(_) | Self::RelationOfOrder { .. })
    }
}

impl SpecPart {
    fn order(&self) -> Option<usize> {
        match &self.form {
            Form::Preset {
                preset, arguments, ..
            } => match preset.parameters {
                Parameters::EachMode => Some(arguments.len()),
                _ => preset.order,
            },
            Form::Map(format) => Some(format.order()),
            Form::Relation(format) => Some(format.order()),
            Form::RelationOfOrder { preset, .. } => preset.order,
        }
    }

    /// The format, for an order that fits.
    fn build(&self, source: &Source, order: usize) -> Result<Format> {
        match &self.form {
            Form::Preset {
                preset,
                arguments,
                clauses,
            } => {
                let mut format = preset.build(order, arguments);
                clauses.add_to(&mut format, source)?;
                for part in &mut format.rest {
                    part.widths = format.widths;
                }
                // Only what clauses add can be wrong with a preset.
                if !clauses.is_plain() {
                    let places = Places {
                        head: self.place,
                        modes: vec![self.place; format.modes.len()],
                        levels: vec![LevelPlace::at(self.place); format.levels.len()],
                        clauses: clauses.place,
                    };
                    check(source, &places, &format)?;
                }
                Ok(format)
            }
            Form::Map(format) => Ok((**format).clone()),
            Form::Relation(format) => Err(no_levels(
                format.name(),
                &format.nearest(),
                source,
                self.place,
            )),
            Form::RelationOfOrder { preset, numbers } => {
                let name = with_arguments(preset.name, numbers);
                Err(no_levels(&name, &nearest(order), source, self.place))
            }
        }
    }
}

impl FormatSpec {
    /// A format of these parts, at least one.
    ///
    /// # Errors
    /// `E0115` for parts of several orders, `E0133` for what cannot be a part: relations are
    /// whole formats.
    pub(crate) fn new(source: Source, parts: Vec<SpecPart>) -> Result<Self> {
        let spec = Self { source, parts };
        if spec.is_relation() {
            return Ok(spec);
        }
        let is_relation = |part: &&SpecPart| part.form.is_relation();
        if let Some(part) = spec.parts.iter().find(is_relation) {
            let message = "a part of a union that is a relation";
            return Err(Diagnostic::new(code::UNION_PART, message)
                .at(&spec.source, part.place, "this part")
                .help("relations are whole formats: write the union in a `.fmt` file"));
        }
        let with_order = || {
            spec.parts
                .iter()
                .filter_map(|part| Some((part, part.order()?)))
        };
        if let Some((first, own)) = with_order().next()
            && let Some((part, other)) = with_order().find(|(_, other)| *other != own)
        {
            let message = format!("parts of a union for tensors of order {own} and of {other}");
            return Err(Diagnostic::new(code::FORMAT_ORDER, message)
                .at(&spec.source, part.place, format!("order {other}"))
                .also(&spec.source, first.place, format!("order {own}"))
                .help("give all parts as many modes"));
        }
        // Of a preset for every order, clauses may fit some and not others.
        if let Some(order) = spec.order() {
            spec.build(order)?;
        }
        Ok(spec)
    }

    /// The order of the tensors that it stores; `None` where it fits any.
    pub fn order(&self) -> Option<usize> {
        self.parts.iter().find_map(SpecPart::order)
    }

    /// The fill that it declares.
    pub fn fill(&self) -> Option<f64> {
        self.parts.iter().find_map(|part| match &part.form {
            Form::Preset { clauses, .. } => clauses.fill.map(|fill| fill.0),
            Form::Map(format) => format.fill(),
            Form::Relation(format) => format.descriptor().clauses().fill.map(|fill| fill.0),
            Form::RelationOfOrder { .. } => None,
        })
    }

    /// Whether it is a relation, and no format of levels.
    pub fn is_relation(&self) -> bool {
        matches!(&self.parts[..], [part] if part.form.is_relation())
    }

    /// The relation that it is for tensors of `order`, if it is no format of levels.
    ///
    /// # Errors
    /// `E0115` if it is for another order, and `E0129` for numbers that do not fit the order.
    ///
    /// ```
    /// use sparsec_format::FormatSpec;
    /// let flagged: FormatSpec = "fcoo(2)".parse()?;
    /// assert_eq!(flagged.relation(4)?.map(|it| it.order()), Some(4));
    /// assert!(flagged.relation(2).is_err());
    /// assert!("csr".parse::<FormatSpec>()?.relation(2)?.is_none());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn relation(&self, order: usize) -> Result<Option<Arc<RelationFormat>>> {
        let [part] = &self.parts[..] else {
            return Ok(None);
        };
        match &part.form {
            Form::Relation(format) if format.order() == order => Ok(Some(Arc::clone(format))),
            Form::Relation(format) => Err(self.wrong_order(format.order(), order)),
            Form::RelationOfOrder { preset, numbers } => {
                let format = preset.build(order, numbers);
                let at = |error: Diagnostic| {
                    error.at(&self.source, part.place, format!("of order {order}"))
                };
                format.map(Some).map_err(at)
            }
            Form::Preset { .. } | Form::Map(_) => Ok(None),
        }
    }

    /// How tensors of `order` are stored.
    ///
    /// # Errors
    /// As [`FormatSpec::resolve`], but for relations.
    ///
    /// ```
    /// use sparsec_format::{FormatSpec, Storage};
    /// let chunks = "sell(8, 32)".parse::<FormatSpec>()?.storage(2)?;
    /// assert_eq!(chunks.short_name(), "sell(8, 32)");
    /// assert!(matches!(chunks, Storage::Relation(_)));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn storage(&self, order: usize) -> Result<Storage> {
        match self.relation(order)? {
            Some(format) => Ok(Storage::Relation(format)),
            None => self.resolve(order).map(Storage::Levels),
        }
    }

    /// The format of levels in which kernels read and write such tensors: of a relation the
    /// [nearest](RelationFormat::nearest) one, to and from which they are converted.
    ///
    /// # Errors
    /// As [`FormatSpec::storage`].
    pub fn levels(&self, order: usize) -> Result<Format> {
        Ok(match self.storage(order)? {
            Storage::Levels(format) => format,
            Storage::Relation(format) => format.nearest(),
        })
    }

    /// The text it was read from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The format for tensors of `order`.
    ///
    /// # Errors
    /// `E0115` where it is for another order, pointing at the part of the text
    /// that says so; `E0114` for a relation; `E0434` for more than [`MAX_ORDER`](sparsec_base::MAX_ORDER); `E0117` and `E0128` for clauses that do not fit a preset.
    pub fn resolve(&self, order: usize) -> Result<Format> {
        match self.order() {
            Some(own) if own != order => Err(self.wrong_order(own, order)),
            _ => {
                check_order(order).map_err(|error| {
                    error.at(
                        &self.source,
                        self.parts[0].place,
                        format!("of order {order}"),
                    )
                })?;
                self.build(order)
            }
        }
    }

    /// The format, for an order that fits.
    fn build(&self, order: usize) -> Result<Format> {
        let mut formats = Vec::new();
        for part in &self.parts {
            let format = part.build(&self.source, order)?;
            for one in format.parts() {
                formats.push((one, part.place));
            }
        }
        let n_parts = formats.len();
        let refused = formats.iter().enumerate().find_map(|(at, (part, place))| {
            let before = || formats[..at].iter().map(|(part, _)| part);
            let why = match part {
                _ if n_parts == 1 => return None,
                Format {
                    mirror: Some(_), ..
                } => (
                    "mirrors its entries",
                    "parts hold entries of their own: store all of them, or in one part such as `csr, symmetric(i, j)`",
                ),
                Format { fill: Some(_), .. } => (
                    "declares a fill",
                    "what no part stores is 0: leave the fill out, or use one part such as `csr, fill 1`",
                ),
                _ if before().any(|other| part.may_pad_in(other)) => (
                    "may pad where a part before it stores",
                    "end it with a level that lists entries, such as `compressed`, or write a part with a region first",
                ),
                _ => return None,
            };
            Some((why, *place))
        });
        if let Some(((why, way_out), place)) = refused {
            let message = format!("a part of a union that {why}");
            return Err(Diagnostic::new(code::UNION_PART, message)
                .at(&self.source, place, "this part")
                .help(way_out));
        }
        let mut formats = formats.into_iter().map(|(format, _)| format);
        let mut whole = formats.next().expect("a format has a part");
        whole.rest = formats
            .map(|part| Format {
                modes: whole.modes.clone(),
                ..part
            })
            .collect();
        Ok(whole)
    }

    fn wrong_order(&self, own: usize, order: usize) -> Diagnostic {
        let part = self.parts.iter().find(|part| part.order() == Some(own));
        let part = part.expect("some part says what the order is");
        let (message, help) = match &part.form {
            Form::Preset {
                preset, arguments, ..
            } => (
                format!(
                    "`{}` stores tensors of order {own}, not of order {order}",
                    with_arguments(preset.name, arguments)
                ),
                match (order, preset.parameters) {
                    (0, _) => "for order 0 use `dense`".to_owned(),
                    (_, Parameters::EachMode) => {
                        // The sizes that are written, and the last of them again.
                        let sizes = arguments.iter().chain(arguments.last().into_iter().cycle());
                        let sizes: Vec<u64> = sizes.copied().take(order).collect();
                        let text = with_arguments(preset.name, &sizes);
                        format!("for order {order} write `{text}`")
                    }
                    _ => format!("for order {order} use `csf`, `coo` or a map"),
                },
            ),
            Form::Relation(format) => (
                format!(
                    "`{}` stores tensors of order {own}, not of order {order}",
                    format.name()
                ),
                format!("for order {order} use `csf`, `coo` or a map"),
            ),
            Form::Map(_) | Form::RelationOfOrder { .. } => (
                format!("this format stores tensors of order {own}, not of order {order}"),
                format!("write a format with {order} modes, or a preset such as `csf`"),
            ),
        };
        Diagnostic::new(code::FORMAT_ORDER, message)
            .at(&self.source, part.place, format!("order {own}"))
            .help(help)
    }

    /// The format, where the text alone says what its order is.
    fn alone(&self) -> Result<Format> {
        if let Some(order) = self.order() {
            return self.build(order);
        }
        let place = self.parts[0].place;
        let message = format!(
            "`{}` fits tensors of every order, and nothing says which is meant",
            self.source.slice(place)
        );
        let error =
            Diagnostic::new(code::FORMAT_ORDER, message).at(&self.source, place, "of what order?");
        Err(error.help(format!("for order 2 write `{}`", self.build(2)?)))
    }
}

/// Presets with their clauses, and maps.
impl fmt::Display for FormatSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in self.parts.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { " | " })?;
            match &part.form {
                Form::Preset {
                    preset,
                    arguments,
                    clauses,
                } => write!(
                    f,
                    "{}{}",
                    with_arguments(preset.name, arguments),
                    clauses.text()
                )?,
                Form::Map(format) => write!(f, "{format}")?,
                // A preset, or the text of a file.
                Form::RelationOfOrder { preset, numbers } => {
                    f.write_str(&with_arguments(preset.name, numbers))?;
                }
                Form::Relation(format) if format.is_preset() => f.write_str(format.name())?,
                Form::Relation(format) => f.write_str(format.text())?,
            }
        }
        Ok(())
    }
}

impl FromStr for FormatSpec {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(&Source::new("format", text))
    }
}

/// Reads a format as [`str::parse`] does, for functions that take either a text
/// or a format.
impl TryFrom<&str> for FormatSpec {
    type Error = Diagnostic;

    fn try_from(text: &str) -> Result<Self> {
        text.parse()
    }
}

impl From<&Format> for FormatSpec {
    fn from(format: &Format) -> Self {
        format.clone().into()
    }
}

impl From<RelationFormat> for FormatSpec {
    fn from(format: RelationFormat) -> Self {
        Self::from(Arc::new(format))
    }
}

impl From<Arc<RelationFormat>> for FormatSpec {
    fn from(format: Arc<RelationFormat>) -> Self {
        let source = format.source().clone();
        Self {
            parts: vec![SpecPart {
                place: Span::new(0, source.text().len()),
                form: Form::Relation(format),
            }],
            source,
        }
    }
}

impl From<Format> for FormatSpec {
    fn from(format: Format) -> Self {
        let text = format.to_string();
        Self {
            parts: vec![SpecPart {
                place: Span::new(0, text.len()),
                form: Form::Map(Box::new(format)),
            }],
            source: Source::new("format", text),
        }
    }
}

impl Format {
    /// Reads a format whose text alone says what its order is: a map, or a
    /// preset for one order.
    ///
    /// # Errors
    /// As [`FormatSpec::parse`], and `E0115` for a preset that fits every
    /// order.
    ///
    /// ```
    /// use sparsec_format::Format;
    /// let by_columns = Format::parse("(i, j) -> (j : dense, i : compressed)")?;
    /// assert_eq!(by_columns, Format::csc());
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        text.parse()
    }
}

impl FromStr for Format {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self> {
        text.parse::<FormatSpec>()?.alone()
    }
}
