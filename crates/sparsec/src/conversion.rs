//! Conversions that are synthesized from the descriptions of two formats.
//!
//! ```text
//! formats ──► descriptors ──► sparsec_convert ──► Computation ──► kernel ──► arrays of the destination
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code, suggest};
pub use sparsec_convert::{
    Case, CaseKind, Conversion, Piece, Types, Wanted, convert, convert_pieces,
};
use sparsec_format::{Holds, Level, LevelKind, Mirrored};
use sparsec_relation::Descriptor;
use sparsec_tensor::{Array, Format, Role, Tensor, TensorRef};

use crate::compute::{
    Checked, CompiledComputation, ComputeStage, Computed, Given, compile_computation,
};
use crate::session::{Backend, Session};
use crate::widths;

/// The kinds of levels whose fragments do not say where an entry goes.
const OPEN: [&str; 2] = ["run_length", "structured"];

/// What it takes to make a kernel of a conversion, in nanoseconds: to synthesize and to
/// lower it, and to generate its machine code. Source: 20 to 90 ms between `csr`, `csc`,
/// `scoo`, `dcsr`, `bsr(4, 4)` and `ell`.
const MAKING: f64 = 60e6;
/// How much longer an entry takes to be unpacked, sorted and packed, in nanoseconds.
/// Source: 2,000,000 entries between those formats, 30 to 50 ns beside 8 to 25.
const PACKING: f64 = 20.0;

/// The conversion of tensors of `element`s between formats of levels.
///
/// Index arrays have the types that `types` says for their names in the computation
/// (`A_pos1` of the source, `B_pos1` of the destination), or 64 bits.
///
/// # Errors
/// `E0830` where there is none; to formats of mirror images, for instance.
///
/// ```
/// use sparsec::{ElementType, Format, conversion};
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
    let wanted = Wanted {
        types: types.clone(),
        tables: tables(destination),
        ..wanted(source, element)
    };
    derive(source, destination, &wanted)
}

/// The conversion of tensors between formats of levels.
fn derive(source: &Format, destination: &Format, wanted: &Wanted) -> Result<Conversion> {
    let element = wanted.element;
    let (parts, destination) = (described(source, false)?, described(destination, true)?);
    convert_pieces(&pieces(source, &parts, element)?, &destination, wanted)
}

/// The arrays of a destination that hold the keys of hash tables, by their names in a
/// conversion.
pub fn tables(destination: &Format) -> BTreeSet<String> {
    let mut tables = BTreeSet::new();
    for (prefix, part) in sides(destination, "B") {
        for (number, level) in part.levels().iter().enumerate() {
            if level.kind == LevelKind::Hashed {
                tables.insert(format!("{prefix}_crd{number}"));
            }
        }
    }
    tables
}

/// The parts of a source, each with the mirror image that its entries stand for.
///
/// # Errors
/// `E0830` for images whose values are not those of the entries or their negatives.
///
/// ```
/// use sparsec::{ElementType, Format, conversion};
/// let format: Format = "(i, j) -> (i : dense, j : compressed), symmetric(i, j)".parse()?;
/// let parts = conversion::described(&format, false)?;
/// assert_eq!(conversion::pieces(&format, &parts, ElementType::F64)?.len(), 2);
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn pieces<'a>(
    format: &Format,
    parts: &'a [Descriptor],
    element: ElementType,
) -> Result<Vec<Piece<'a>>> {
    let mut pieces = Vec::new();
    for (part, descriptor) in std::iter::zip(format.parts(), parts) {
        pieces.push(Piece {
            descriptor,
            image: None,
            negates: false,
        });
        let Some(mirror) = part.mirror() else {
            continue;
        };
        let negates = mirror.of == Mirrored::Skew;
        let is_conjugate = mirror.of == Mirrored::Hermitian && element.is_complex();
        if is_conjugate || (negates && !is_added_up(element)) {
            let message = format!("no conversion computes the mirror images of `{element}`");
            return Err(Diagnostic::new(code::NO_CONVERSION, message)
                .help("convert a tensor of `f64`, `f32` or `i64`"));
        }
        pieces.push(Piece {
            descriptor,
            image: Some(mirror.modes),
            negates,
        });
    }
    Ok(pieces)
}

/// Whether computations add up values of a type as packing does.
fn is_added_up(element: ElementType) -> bool {
    use ElementType::{F32, F64, I64};
    [F32, F64, I64].contains(&element)
}

/// A conversion of `element`s from a format of levels, with what the format says of its places.
///
/// ```
/// use sparsec::{ElementType, Format, conversion};
/// let wanted = conversion::wanted(&Format::dense(2), ElementType::F64);
/// assert!(wanted.is_unique && wanted.has_padding);
/// ```
pub fn wanted(source: &Format, element: ElementType) -> Wanted {
    Wanted {
        is_unique: source.is_unique(),
        adds: !source.is_unique() && is_added_up(element),
        is_full: source.lists_entries(),
        has_padding: (source.parts().iter())
            .any(|part| part.levels().last().is_none_or(Level::may_pad)),
        ..Wanted::of(element)
    }
}

/// What the parts of a format say of themselves to conversions from it or to it, if it can be
/// a source or a destination of those that are synthesized.
///
/// # Errors
/// `E0830` for sources that hold several entries at one place, and for destinations of which
/// the descriptor leaves open where an entry goes.
pub fn described(format: &Format, is_destination: bool) -> Result<Vec<Descriptor>> {
    let refused = |why: &str, help: &str| {
        let message = format!("`{format}` {why}");
        Err(Diagnostic::new(code::NO_CONVERSION, message).help(help))
    };
    let parts = format.parts();
    let levels = || parts.iter().flat_map(Format::levels);
    if is_destination && parts.iter().any(|part| part.mirror().is_some()) {
        return refused(
            "holds entries that stand for others",
            "convert to a format without mirror images",
        );
    }
    if !is_destination && levels().any(|level| level.kind == LevelKind::RunLength) {
        return refused(
            "holds several entries at one place",
            "convert from a format whose places hold an entry each",
        );
    }
    let open = levels().find(|level| OPEN.contains(&level.kind.spec().name));
    if let Some(level) = open.filter(|_| is_destination) {
        return refused(
            &format!("leaves open where `{}` puts an entry", level.kind.text()),
            "convert to a format of other levels",
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
    /// A stage of the computation.
    Computed(ComputeStage),
}

impl ConversionStage {
    /// Every stage with its name and what it shows, as `--emit` takes it.
    pub const ALL: [(Self, &'static str, &'static str); 7] = [
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
            Self::Computed(ComputeStage::Computation),
            "computation",
            "the statements that compute the new arrays",
        ),
        (Self::Computed(ComputeStage::Loop), "loop", "its loops"),
        (Self::Computed(ComputeStage::C), "c", "the loops as C"),
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

    /// The stage as text.
    ///
    /// # Errors
    /// As [`compile_computation`].
    ///
    /// ```
    /// use sparsec::{ElementType, Format, conversion};
    /// use sparsec::conversion::ConversionStage;
    /// let made = conversion::synthesized(&Format::csr(), &Format::csc(), ElementType::F64, &Default::default())?;
    /// let cases = ConversionStage::parse("cases")?.emit(&made)?;
    /// assert!(cases.contains("B_crd1       keys of a list             B_crd1(B_q1(q1)) = i\n"), "{cases}");
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn emit(self, conversion: &Conversion) -> Result<String> {
        match self {
            Self::Relation => {
                let relations = conversion.relations.iter();
                Ok(relations.map(|relation| format!("{relation}\n")).collect())
            }
            Self::Cases => Ok(conversion.table()),
            Self::Computed(stage) => {
                let computed = Computed {
                    computation: conversion.computation.clone(),
                    script: Default::default(),
                };
                computed.emit(stage)
            }
        }
    }
}

/// A conversion with its kernel.
///
/// ```
/// use sparsec::{Format, Session, Tensor, conversion::Converter};
/// let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 2, 1, 0], &[7.0, 5.0])?;
/// let to_columns = Converter::new(&a, &Format::csc())?;
/// let converted = to_columns.run(&Session::interpreter(), &a)?;
/// assert_eq!(converted.level(1).pos(), [0, 1, 1, 2]);
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
#[derive(Clone, Debug)]
pub struct Converter {
    source: Arc<Format>,
    destination: Arc<Format>,
    /// Whether places of the source may hold the fill as padding, which is left behind.
    has_padding: bool,
    /// The fill of the tensors, where it is not 0.
    fill: Option<Scalar>,
    compiled: CompiledComputation,
}

impl Converter {
    /// The conversion of tensors such as this one, with arrays of its types. Index arrays of
    /// the destination have the widths that it declares, or those that hold this tensor.
    ///
    /// # Errors
    /// As [`synthesized`].
    pub fn new(like: &Tensor, destination: &Format) -> Result<Self> {
        let source = like.format();
        if source.order() != destination.order() {
            // It says which orders they have.
            synthesized(source, destination, like.element(), &Types::new())?;
        }
        let mut types: Types = (names(source, "A").into_iter().zip(like.arrays()))
            .map(|(name, array)| (name, array.element()))
            .collect();
        let widths = widths::of_copy(destination, like);
        for (spec, name) in destination
            .arrays()
            .into_iter()
            .zip(names(destination, "B"))
        {
            let own = destination.declared_width(spec.role);
            let width = match spec.role.holds() {
                Holds::Positions => own.or(widths.pos),
                Holds::Coordinates => own.or(widths.crd),
                Holds::Bits => {
                    types.insert(name, ElementType::U8);
                    continue;
                }
                Holds::Values => continue,
            };
            let width = width.expect("both widths are chosen");
            types.insert(name, width.element());
        }
        let wanted = Wanted {
            types,
            tables: tables(destination),
            has_fill: like.fill() != like.element().zero(),
            ..wanted(source, like.element())
        };
        let made = derive(source, destination, &wanted)?;
        Ok(Self {
            has_padding: wanted.has_padding,
            fill: wanted.has_fill.then(|| like.fill()),
            source: Arc::new(source.clone()),
            destination: Arc::new(destination.clone()),
            compiled: compile_computation(&made.computation)?,
        })
    }

    /// The computation and its loops.
    pub fn compiled(&self) -> &CompiledComputation {
        &self.compiled
    }

    /// A tensor in the format of the destination. All stored entries but padding stay stored.
    ///
    /// # Errors
    /// `E0518` for a tensor of another format, types or fill; `E0519` for entries that the
    /// destination cannot hold; those of [`Tensor::new`], and of running.
    pub fn run(&self, session: &Session, tensor: &Tensor) -> Result<Tensor> {
        let arrays = names(&self.source, "A").into_iter().zip(tensor.arrays());
        let arrays: Vec<(String, TensorRef<'_>)> = arrays
            .map(|(name, array)| Ok((name, list(array)?)))
            .collect::<Result<_>>()?;
        let mut given = Given::new();
        for (name, array) in &arrays {
            given = given.data(name, array);
        }
        let mask = match self.has_padding {
            true => Some(tensor.nonfill_mask()?),
            false => None,
        };
        let mask = mask.as_ref().map(list).transpose()?;
        if let Some(mask) = &mask {
            given = given.data("A_stored", mask);
        }
        if self.fill.unwrap_or_else(|| tensor.element().zero()) != tensor.fill() {
            let message = format!("the fill of the tensor is {}", tensor.fill());
            return Err(Diagnostic::new(code::GIVEN_MISFIT, message)
                .help("make a converter for a tensor of this fill"));
        }
        let fill = Array::filled(tensor.fill(), 1)?;
        let fill = TensorRef::new(
            Format::dense(0),
            Vec::new(),
            tensor.element().zero(),
            vec![(&fill).into()],
        )?;
        if self.fill.is_some() {
            given = given.data("A_fill", &fill);
        }
        let known: Vec<Option<u64>> = tensor.extents().iter().copied().map(Some).collect();
        for (format, side) in [(&self.source, "A"), (&self.destination, "B")] {
            for (prefix, part) in sides(format, side) {
                for (level, extent) in part.level_extents(&known).into_iter().enumerate() {
                    let name = format!("{prefix}_L{level}");
                    if let Some(extent) = extent
                        && self.compiled.computation().parameters.contains(&name)
                    {
                        given = given.parameter(name, extent as i64);
                    }
                }
            }
        }
        let sizes = std::iter::zip(self.source.arrays(), tensor.arrays());
        for ((spec, array), name) in sizes.zip(names(&self.source, "A")) {
            if let Role::Size(_) = spec.role {
                given = given.parameter(format!("{name}_end"), array.index(0));
            }
        }
        for (mode, extent) in tensor.extents().iter().enumerate() {
            given = given.parameter(format!("N{mode}"), *extent as i64);
        }
        // What is declared of the source's arrays is what its format says of them, which
        // was checked when the tensor was made.
        let mut prepared = session.prepare_as(&self.compiled, &given, Checked::AsTensors)?;
        prepared.launch()?;
        let mut results = prepared.finish()?;
        let made = names(&self.destination, "B").into_iter().map(|name| {
            let result = results.remove(&name);
            let result = result.expect("the conversion computes each array");
            let (_, _, _, mut arrays) = result.into_parts();
            arrays.pop().expect("a dense tensor has its values")
        });
        Tensor::new(
            Arc::clone(&self.destination),
            tensor.extents().to_vec(),
            tensor.element(),
            tensor.fill(),
            made.collect(),
        )
    }
}

impl Session {
    /// A tensor in another format of its order; all stored entries but padding stay stored.
    ///
    /// Large tensors are converted by a [`Converter`], if there is one between the two
    /// formats; others by [`Tensor::convert`], which needs no kernel.
    ///
    /// # Errors
    /// As [`Tensor::convert`].
    ///
    /// ```
    /// use sparsec::{Format, Session, Tensor};
    /// let a = Tensor::pack(&Format::csr(), &[2, 3], &[0, 2, 1, 0], &[7.0, 5.0])?;
    /// let by_columns = Session::interpreter().convert(&a, &Format::csc())?;
    /// assert_eq!(by_columns.level(1).pos(), [0, 1, 1, 2]);
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn convert(&self, tensor: &Tensor, destination: &Format) -> Result<Tensor> {
        let derived = self.derived(tensor, destination);
        derived.unwrap_or_else(|| tensor.convert(destination))
    }

    /// A tensor in another format by a conversion that is derived, if there is one, and the
    /// tensor is so large that making its kernel takes less time than it saves. Each stored
    /// entry stays stored.
    pub(crate) fn derived(&self, tensor: &Tensor, destination: &Format) -> Option<Result<Tensor>> {
        let is_large = tensor.most_entries() as f64 * PACKING > MAKING;
        if !is_large || self.options().backend == Backend::Interpreter {
            return None;
        }
        let converter = Converter::new(tensor, destination).ok()?;
        match converter.run(self, tensor) {
            // Packing says which entry the destination cannot hold.
            Err(error) if error.code() == code::NOT_AS_DECLARED => None,
            converted => Some(converted),
        }
    }
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
fn names(format: &Format, side: &str) -> Vec<String> {
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

/// An array as a dense vector, used where it lies.
fn list(array: &Array) -> Result<TensorRef<'_>> {
    let (extents, zero) = (vec![array.len() as u64], array.element().zero());
    TensorRef::new(Format::dense(1), extents, zero, vec![array.into()])
}
