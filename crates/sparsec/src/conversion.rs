//! Conversions that are synthesized from the descriptions of two formats.
//!
//! ```text
//! formats ──► descriptors ──► sparsec_convert ──► Computation ──► kernel ──► arrays of the destination
//! ```

use sparsec_base::{Diagnostic, ElementType, Fill, Result, Scalar, code, suggest};
pub use sparsec_convert::{
    Assembled, Case, CaseKind, Certificate, Conversion, Lemma, Line, Obligation, Optimisation,
    Part, Places, Proof, Question, Types, Wanted, assembled, convert, convert_parts,
};
use sparsec_format::{Level, LevelKind};
use sparsec_relation::Descriptor;
use sparsec_tensor::Format;

use crate::compute::{ComputeStage, Computed};

mod converter;
mod converters;
pub(crate) mod costs;
mod lent;
mod refusals;
mod sessions;
mod sizes;
mod stages;

pub use converter::{Converter, Padding, PreparedConversion};
pub(crate) use converters::Converters;
pub use costs::bytes_moved;
pub use lent::Lent;
pub(crate) use lent::{fill_of_tensor, stored_mask};
pub(crate) use refusals::{keeps_fill, relation_keeps_fill};
pub(crate) use sizes::sizes_of;
pub use stages::Stages;

/// The conversion of tensors of `element`s between formats of levels.
///
/// Index arrays have the types that `types` says for their names in the computation
/// (`A_pos1` of the source, `B_pos1` of the destination), the widths that their format
/// declares, or 64 bits.
///
/// # Errors
/// `E0830` if none is derived; to a union with mirror images, for instance.
///
/// ```
/// use sparsec::internals::conversion;
/// use sparsec::{ElementType, Format};
/// let made = conversion::synthesized(&Format::csr(), &Format::csc(), ElementType::F64, &Default::default())?;
/// let text = made.computation.to_string();
/// assert!(text.contains("B_q1(q1) = B_pos1(j) + ordinal(j of N1)"), "{text}");
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn synthesized(
    source: &Format,
    destination: &Format,
    element: ElementType,
    types: &Types,
) -> Result<Conversion> {
    let mut wanted = wanted(source, element);
    wanted.types.extend(types.clone());
    derive(source, destination, &wanted)
}

/// The conversion of tensors between formats of levels.
fn derive(source: &Format, destination: &Format, wanted: &Wanted) -> Result<Conversion> {
    let wanted = into(destination, wanted.clone());
    convert_parts(
        &described(source, false)?,
        &described(destination, true)?,
        &wanted,
    )
}

/// A conversion to a format of levels: index arrays without a wanted type have the widths that
/// the format declares.
///
/// ```
/// use sparsec::internals::conversion;
/// use sparsec::{ElementType, Format};
/// let format: Format = "(i, j) -> (i : dense, j : compressed), crd = 32".parse()?;
/// let wanted = conversion::into(&format, conversion::Wanted::of(ElementType::F64));
/// assert_eq!(wanted.types["B_crd1"], ElementType::I32);
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn into(destination: &Format, wanted: Wanted) -> Wanted {
    let mut types = declared_types(destination, "B");
    types.extend(wanted.types);
    Wanted { types, ..wanted }
}

/// The types of the index arrays whose widths a format declares, by their names in a conversion
/// in which the format is the side `A` or `B`.
fn declared_types(format: &Format, side: &str) -> Types {
    let specs = format.arrays().into_iter();
    let widths = specs.zip(names(format, side)).filter_map(|(spec, name)| {
        let width = format.declared_width(spec.role)?;
        Some((name, width.element()))
    });
    widths.collect()
}

/// Whether computations add up values of a type as packing does.
pub(crate) fn is_added_up(element: ElementType) -> bool {
    use ElementType::{F32, F64, I64};
    [F32, F64, I64].contains(&element)
}

/// A conversion of `element`s from a format of levels: whether its places hold an entry each, and
/// the widths of its index arrays.
///
/// ```
/// use sparsec::internals::conversion;
/// use sparsec::{ElementType, Format};
/// let wanted = conversion::wanted(&Format::dense(2), ElementType::F64);
/// assert!(wanted.is_unique);
/// let narrow: Format = "(i, j) -> (i : dense, j : compressed), crd = 32".parse()?;
/// let wanted = conversion::wanted(&narrow, ElementType::F64);
/// assert_eq!(wanted.types["A_crd1"], ElementType::I32);
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn wanted(source: &Format, element: ElementType) -> Wanted {
    Wanted {
        types: declared_types(source, "A"),
        is_unique: source.is_unique(),
        adds: !source.is_unique() && is_added_up(element),
        places: match source.lists_entries() {
            true => Places::Full,
            false => Places::Some,
        },
        ..Wanted::of(element)
    }
}

/// The fill of tensors of `element`s in a format, which is 0 unless it declares another.
pub(crate) fn fill_of(format: &Format, element: ElementType) -> Scalar {
    let declared = format.fill().map(Fill);
    declared.map_or(element.zero(), |fill| fill.as_type(element))
}

/// What the parts of a format say of themselves to conversions from it or to it, if it can be
/// a source or a destination of those that are synthesized.
///
/// # Errors
/// `E0830` for destinations whose outermost level is `structured`, and so has a single block.
pub fn described(format: &Format, is_destination: bool) -> Result<Vec<Descriptor>> {
    let refused = |why: &str, help: &str| {
        let message = format!("`{format}` {why}");
        Err(Diagnostic::new(code::NO_CONVERSION, message).help(help))
    };
    let parts = format.parts();
    let is_block = |level: &Level| matches!(level.kind, LevelKind::Structured { .. });
    let is_first = |part: &Format| part.levels().first().is_some_and(is_block);
    if is_destination && parts.iter().any(is_first) {
        return refused(
            "has one block",
            "convert to a format with a level of blocks above the one that stores some of each",
        );
    }
    Ok(format.descriptors(match is_destination {
        true => "destination",
        false => "source",
    }))
}

/// One stage of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversionStage {
    /// Which tuples of both sides have the same coordinates.
    Relation,
    /// How each unknown of the destination is found.
    Cases,
    /// Its obligations, each with a lemma and statements.
    Certificate,
    /// The steps and bytes of its sweeps, as formulas.
    Cost,
    /// A stage of the computation.
    Computed(ComputeStage),
}

impl ConversionStage {
    /// Every stage with its name and what it shows, as `--emit` takes it.
    pub const ALL: [(Self, &'static str, &'static str); 11] = [
        (
            Self::Relation,
            "relation",
            "which tuples of both formats have the same coordinates",
        ),
        (
            Self::Cases,
            "cases",
            "how each unknown of the new format is found",
        ),
        (
            Self::Certificate,
            "certificate",
            "what the new format asks, and which lemma and statements establish it",
        ),
        (
            Self::Cost,
            "cost",
            "steps and bytes, as formulas of entries and extents",
        ),
        (
            Self::Computed(ComputeStage::Computation),
            "computation",
            "the statements that compute the new arrays",
        ),
        (Self::Computed(ComputeStage::Loop), "loop", "its loops"),
        (
            Self::Computed(ComputeStage::Shares),
            "shares",
            "its loops for several threads",
        ),
        (Self::Computed(ComputeStage::C), "c", "the loops as C"),
        (
            Self::Computed(ComputeStage::Mlir),
            "mlir",
            "the loops as a module of MLIR",
        ),
        (
            Self::Computed(ComputeStage::Dot),
            "dot",
            "the dataflow graph, for Graphviz",
        ),
        (
            Self::Computed(ComputeStage::Svg),
            "svg",
            "the dataflow graph, drawn",
        ),
    ];

    /// The stage of a name.
    ///
    /// # Errors
    /// `E0004` for a name that no stage has.
    pub fn parse(name: &str) -> Result<Self> {
        let mut stages = Self::ALL.iter();
        let found = stages.find(|(_, known, _)| *known == name);
        found.map(|(stage, ..)| *stage).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name, _)| name);
            let message = format!("there is no stage `{name}` of a conversion");
            let help = match suggest::closest(name, names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("stages are {}", names.join(", ")),
            };
            Diagnostic::new(code::BAD_OPTION_VALUE, message).help(help)
        })
    }

    /// The stage as text. Stages of the computation are optimised up to `so_far`; without it, loops
    /// up to [`Optimisation::All`], and others are as the certificate speaks of them.
    ///
    /// # Errors
    /// As [`compile_computation`] and [`Conversion::certificate`].
    ///
    /// ```
    /// use sparsec::internals::conversion;
    /// use sparsec::{ElementType, Format};
    /// use sparsec::internals::conversion::ConversionStage;
    /// let made = conversion::synthesized(&Format::csr(), &Format::csc(), ElementType::F64, &Default::default())?;
    /// let cases = ConversionStage::parse("cases")?.emit(&made, None)?;
    /// assert!(cases.contains("B_crd1       keys of a list             B_crd1(B_q1(q1)) = i\n"), "{cases}");
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn emit(self, made: &dyn Stages, so_far: Option<Optimisation>) -> Result<String> {
        match self {
            Self::Relation => {
                let relations = made.relations().iter();
                Ok(relations.map(|relation| format!("{relation}\n")).collect())
            }
            Self::Cases => Ok(made.cases()),
            Self::Certificate => made.certificate(),
            Self::Cost => made.cost(so_far.unwrap_or(Optimisation::All)),
            Self::Computed(stage) => {
                let loops = [
                    ComputeStage::Loop,
                    ComputeStage::Shares,
                    ComputeStage::C,
                    ComputeStage::Mlir,
                ];
                let is_of_loops = loops.contains(&stage);
                let computed = Computed {
                    computation: made
                        .computation(so_far.or(is_of_loops.then_some(Optimisation::All)))?,
                    script: Default::default(),
                };
                computed.emit(stage)
            }
        }
    }
}

/// The extents of two modes that a format has mirror each other, if they differ.
pub(crate) fn unequal_mirrored(format: &Format, extents: &[u64]) -> Option<[u64; 2]> {
    let [a, b] = format.mirror()?.modes.map(|mode| extents[mode]);
    (a != b).then_some([a, b])
}

/// The parts of a format with the names of their sides in a conversion: `B`, or `B1` and so on
/// where there are several.
fn sides(format: &Format, side: &str) -> Vec<(String, Format)> {
    let parts = format.parts();
    let is_one = parts.len() == 1;
    let named = (1..).zip(parts).map(|(number, part)| match is_one {
        true => (side.to_owned(), part),
        false => (format!("{side}{number}"), part),
    });
    named.collect()
}

/// The names of a format's arrays in a conversion, in their order.
pub(crate) fn names(format: &Format, side: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (prefix, part) in sides(format, side) {
        let arrays = part.arrays().into_iter();
        names.extend(
            arrays.filter_map(|spec| Some(format!("{prefix}_{}", spec.role.in_descriptor()?))),
        );
    }
    names.push(side.to_owned());
    names
}
