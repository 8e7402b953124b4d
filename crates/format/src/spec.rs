//! A format as a user writes it, before the tensor's order is known.

use std::fmt;
use std::str::FromStr;

use sparsec_base::{Diagnostic, Result, Source, Span, code};

use crate::format::{Format, Widths};
use crate::order::check_order;
use crate::preset::Preset;
use crate::print::print_widths;

/// A format as a user writes it: a preset, whose order the tensor decides, or
/// a map, which has an order of its own.
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
#[derive(Clone, Debug)]
pub struct FormatSpec {
    pub(crate) source: Source,
    /// The preset's name, or the modes of the map.
    pub(crate) place: Span,
    pub(crate) form: Form,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    Preset {
        preset: &'static Preset,
        widths: Widths,
    },
    Map(Format),
}

impl FormatSpec {
    /// The order of the tensors that it stores; `None` where it fits any.
    pub fn order(&self) -> Option<usize> {
        match &self.form {
            Form::Preset { preset, .. } => preset.order,
            Form::Map(format) => Some(format.order()),
        }
    }

    /// The text it was read from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The format for tensors of `order`.
    ///
    /// # Errors
    /// `E0115` where it is for another order, pointing at the part of the text
    /// that says so; `E0434` for more than [`MAX_ORDER`](crate::MAX_ORDER).
    pub fn resolve(&self, order: usize) -> Result<Format> {
        match self.order() {
            Some(own) if own != order => Err(self.wrong_order(own, order)),
            _ => check_order(order)
                .map(|()| self.build(order))
                .map_err(|error| error.at(&self.source, self.place, format!("of order {order}"))),
        }
    }

    /// The format, for an order that fits.
    fn build(&self, order: usize) -> Format {
        match &self.form {
            Form::Preset { preset, widths } => preset.build(order).with_widths(*widths),
            Form::Map(format) => format.clone(),
        }
    }

    fn wrong_order(&self, own: usize, order: usize) -> Diagnostic {
        let (message, help) = match &self.form {
            Form::Preset { preset, .. } => (
                format!(
                    "`{}` stores tensors of order {own}, not of order {order}",
                    preset.name
                ),
                format!(
                    "for order {order} use {}",
                    if order == 0 {
                        "`dense`"
                    } else {
                        "`csf`, `coo` or a map"
                    }
                ),
            ),
            Form::Map(_) => (
                format!("this format stores tensors of order {own}, not of order {order}"),
                format!("write a format with {order} modes, or a preset such as `csf`"),
            ),
        };
        Diagnostic::new(code::FORMAT_ORDER, message)
            .at(&self.source, self.place, format!("order {own}"))
            .help(help)
    }

    /// The format, where the text alone says what its order is.
    fn alone(&self) -> Result<Format> {
        if let Some(order) = self.order() {
            return Ok(self.build(order));
        }
        let message = format!(
            "`{}` fits tensors of every order, and nothing says which is meant",
            self.source.slice(self.place)
        );
        Err(Diagnostic::new(code::FORMAT_ORDER, message)
            .at(&self.source, self.place, "of what order?")
            .help(format!("for order 2 write `{}`", self.build(2))))
    }
}

/// The preset's name and widths, or the map.
impl fmt::Display for FormatSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.form {
            Form::Preset { preset, widths } => {
                write!(f, "{}{}", preset.name, print_widths(*widths))
            }
            Form::Map(format) => format.fmt(f),
        }
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

impl From<Format> for FormatSpec {
    fn from(format: Format) -> Self {
        let text = format.to_string();
        Self {
            place: Span::new(0, text.len()),
            source: Source::new("format", text),
            form: Form::Map(format),
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
