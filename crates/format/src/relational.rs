//! Formats that are relations: a descriptor, and how its arrays are assembled.
//!
//! Levels cannot say everything: `jds` permutes rows, `fcoo` keeps bits. Such a format is
//! a [`Descriptor`], the text of a `.fmt` file, and behind it may stand the computation that
//! assembles its arrays:
//!
//! ```text
//! format ellr                                          the descriptor
//! extents NR, NC
//! map {[s, r] -> [i, j] : …}
//! …
//! computation assemble {                               from a sorted list of entries
//!   given A_crd0 : i64[NZ], A_crd1 : i64[NZ], A : f64[NZ]
//!   out B_len : i64[N0], B_col : i64[B_W * N0], B : f64[B_W * N0]
//!   …
//! }
//! ```
//!
//! The computation has the names of conversions from `scoo`: `A_crd0`, `A_crd1`, … and `A`
//! are the coordinates and values of the entries, `N0`, `N1`, … the extents, `B_…` the
//! arrays of the descriptor and `B` its values. Without a computation the conversion is
//! derived from the descriptor, where it can be.
//!
//! Invariants: the descriptor is complete by proof. The computation is a text here; whoever
//! runs it parses it, and checks the arrays that it computes against the descriptor.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, Source, Span, code};
use sparsec_relation::Descriptor;

use crate::format::Format;

mod by_order;
mod presets;

pub use presets::{RelationParameter, RelationPreset, relation_presets};

/// The word that the computation of a `.fmt` file begins with.
const COMPUTATION: &str = "computation";
/// The word that every `.fmt` file begins with.
const FORMAT: &str = "format";

/// A format that is a relation; see the module's page.
///
/// ```
/// use sparsec_format::RelationFormat;
/// use sparsec_base::Source;
/// let text = "
///     format list
///     extents N
///     map {[n] -> [i] : 0 <= n < NZ && i = crd(n)}
///     data {[n] -> [n]}
///     values {[n] : 0 <= n < NZ}
///     function crd : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
/// ";
/// let list = RelationFormat::parse(&Source::new("list.fmt", text))?;
/// assert_eq!((list.name(), list.order()), ("list", 1));
/// assert!(list.assembly().is_none());
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone)]
pub struct RelationFormat {
    source: Source,
    /// The name of the format, with its numbers if it is a preset.
    name: String,
    descriptor: Descriptor,
    assembly: Option<Source>,
    /// Whether the name alone is the format.
    is_preset: bool,
}

/// The name alone: descriptors are long.
impl fmt::Debug for RelationFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelationFormat({})", self.name)
    }
}

/// Formats are the same if their texts are.
impl PartialEq for RelationFormat {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for RelationFormat {}

impl Hash for RelationFormat {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

impl RelationFormat {
    /// Reads the text of a `.fmt` file: a descriptor and, if there is one, the computation
    /// that assembles its arrays.
    ///
    /// # Errors
    /// As [`Descriptor::parse`].
    pub fn parse(source: &Source) -> Result<Self> {
        let text = source.text();
        let at = computation_at(text);
        let descriptor = Descriptor::parse(&match at {
            Some(at) => Source::new(source.name(), &text[..at]),
            None => source.clone(),
        })?;
        // Places in the computation are places in the file.
        let assembly = at.map(|at| {
            let before = text[..at].bytes().map(|byte| match byte {
                b'\n' => '\n',
                _ => ' ',
            });
            let blanked: String = before.collect();
            Source::new(source.name(), blanked + &text[at..])
        });
        Ok(Self {
            source: source.clone(),
            name: descriptor.name().to_owned(),
            descriptor,
            assembly,
            is_preset: false,
        })
    }

    /// Whether a text is that of a `.fmt` file, to judge by its first words.
    pub(crate) fn is_text(text: &str) -> bool {
        let lines = text.lines().map(|line| line.split(';').next());
        let words = lines.flat_map(|line| line.unwrap_or_default().split_whitespace());
        let mut words = words.take(3);
        words.next() == Some(FORMAT) && words.next().is_some()
    }

    /// The name of the format: `jds`, `sell(8, 32)`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the name alone is the format.
    pub(crate) fn is_preset(&self) -> bool {
        self.is_preset
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// The whole text, with its name.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The format as relations.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// The computation that assembles the arrays from a sorted list of entries, if the
    /// format states one.
    pub fn assembly(&self) -> Option<&Source> {
        self.assembly.as_ref()
    }

    /// The number of modes.
    pub fn order(&self) -> usize {
        self.descriptor.order()
    }

    /// The format of levels that takes its place where kernels need levels: the one that
    /// operands have of which nothing is said, and for vectors a list; with the declared fill.
    ///
    /// ```
    /// use sparsec_format::{Format, FormatSpec};
    /// let jds = "jds".parse::<FormatSpec>()?.relation(2)?;
    /// assert_eq!(jds.map(|jds| jds.nearest()), Some(Format::csr()));
    /// # Ok::<(), sparsec_base::Diagnostic>(())
    /// ```
    pub fn nearest(&self) -> Format {
        let nearest = nearest(self.order());
        match self.descriptor.clauses().fill {
            Some(fill) => nearest.with_fill(fill),
            None => nearest,
        }
    }

    /// The value of coordinates that no tuple has, of tensors of `element`s.
    pub fn fill(&self, element: ElementType) -> Scalar {
        let fill = self.descriptor.clauses().fill;
        fill.map_or(element.zero(), |fill| fill.as_type(element))
    }
}

/// Where the computation begins, if there is one: at a line of its own.
fn computation_at(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.split_whitespace().next() == Some(COMPUTATION) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// How a tensor is stored: in levels, or as a relation says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// A tree of levels, or several.
    Levels(Format),
    /// A relation.
    Relation(Arc<RelationFormat>),
}

impl Storage {
    /// The number of modes.
    pub fn order(&self) -> usize {
        match self {
            Self::Levels(format) => format.order(),
            Self::Relation(format) => format.order(),
        }
    }

    /// A short name: a preset where there is one, else the text of the levels or the name
    /// of the relation.
    pub fn short_name(&self) -> String {
        match self {
            Self::Levels(format) => format.short_name(),
            Self::Relation(format) => format.name().to_owned(),
        }
    }
}

/// The format of levels near to a relation of this order.
pub(crate) fn nearest(order: usize) -> Format {
    match order {
        2 => Format::csr(),
        order => Format::csf(order),
    }
}

/// That a relation stands where a format of levels is needed.
pub(crate) fn no_levels(name: &str, nearest: &Format, source: &Source, place: Span) -> Diagnostic {
    let message =
        format!("`{name}` is a format as a relation, and a format of levels is needed here");
    Diagnostic::new(code::FORMAT_UNSUPPORTED, message)
        .at(source, place, "has no levels")
        .help(format!(
            "write a format of levels near to it: `{}`",
            nearest.short_name()
        ))
}
