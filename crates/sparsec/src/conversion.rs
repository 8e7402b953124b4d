//! Conversions that are synthesized from the descriptions of two formats.
//!
//! ```text
//! formats ──► descriptors ──► sparsec_convert ──► Computation ──► kernel ──► arrays of the destination
//! ```

use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, code, suggest};
pub use sparsec_convert::{
    Case, CaseKind, Certificate, Conversion, Lemma, Line, Obligation, Proof, Question, Types,
    Wanted, convert,
};
use sparsec_format::Holds;
use sparsec_relation::Descriptor;
use sparsec_tensor::{Array, Format, Role, Tensor, TensorRef};

use crate::compute::{
    Checked, CompiledComputation, ComputeStage, Computed, Given, compile_computation,
};
use crate::session::{Backend, Session};
use crate::widths;

/// The kinds of levels whose fragments do not say where an entry goes.
const OPEN: [&str; 4] = ["hashed", "loose_compressed", "run_length", "structured"];

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
/// `E0830` where there is none; for formats of several parts, for instance.
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
    let (source, destination) = (described(source, false)?, described(destination, true)?);
    let wanted = Wanted {
        element,
        types: types.clone(),
        is_one_to_one: true,
    };
    convert(&source, &destination, &wanted)
}

/// What a format says of itself to conversions from it or to it, if it can be a source or a
/// destination of those that are synthesized.
///
/// # Errors
/// `E0830` for formats of several parts, for sources that may repeat entries or have places
/// without any, and for destinations of which the descriptor leaves open where an entry goes.
pub fn described(format: &Format, is_destination: bool) -> Result<Descriptor> {
    let refused = |why: &str, help: &str| {
        let message = format!("`{format}` {why}");
        Err(Diagnostic::new(code::NO_CONVERSION, message).help(help))
    };
    let levels = || format.levels().iter();
    let mut descriptors = format.descriptors(match is_destination {
        true => "destination",
        false => "source",
    });
    let first = descriptors.remove(0);
    if !descriptors.is_empty() || format.mirror().is_some() {
        return refused(
            "has several parts",
            "convert to or from a format of one part",
        );
    }
    if !is_destination && !format.is_unique() {
        return refused(
            "may hold entries several times",
            "convert from a format whose last level is not `nonunique`",
        );
    }
    if !is_destination && !format.lists_entries() {
        return refused(
            "may have places that hold no entry",
            "convert from a format whose last level lists entries",
        );
    }
    let open = levels().find(|level| OPEN.contains(&level.kind.spec().name));
    match open {
        Some(level) if is_destination => refused(
            &format!("leaves open where `{}` puts an entry", level.kind.text()),
            "convert to a format of other levels",
        ),
        _ => Ok(first),
    }
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
    /// A stage of the computation.
    Computed(ComputeStage),
}

impl ConversionStage {
    /// Every stage with its name and what it shows, as `--emit` takes it.
    pub const ALL: [(Self, &'static str, &'static str); 8] = [
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
    /// As [`compile_computation`] and [`Conversion::certificate`].
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
            Self::Relation => Ok(format!("{}\n", conversion.relation)),
            Self::Cases => Ok(conversion.table()),
            Self::Certificate => Ok(conversion.certificate()?.to_string()),
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
    compiled: CompiledComputation,
}

impl Converter {
    /// The conversion of tensors such as this one, with arrays of its types. Index arrays of
    /// the destination have the widths that it declares, or those that hold this tensor.
    ///
    /// # Errors
    /// As [`synthesized`], and `E0830` for tensors with a fill.
    pub fn new(like: &Tensor, destination: &Format) -> Result<Self> {
        let source = like.format();
        if like.fill() != like.element().zero() {
            let message = format!("the fill of the tensor is {}", like.fill());
            return Err(Diagnostic::new(code::NO_CONVERSION, message)
                .help("convert a tensor whose fill is 0"));
        }
        if source.order() != destination.order() {
            // It says which orders they have.
            synthesized(source, destination, like.element(), &Types::new())?;
        }
        let specs = source.arrays().into_iter();
        let mut types: Types = (specs.zip(like.arrays()))
            .map(|(spec, array)| (name("A", spec.role), array.element()))
            .collect();
        let widths = widths::of_copy(destination, like);
        for spec in destination.arrays() {
            let own = destination.declared_width(spec.role);
            let width = match spec.role.holds() {
                Holds::Positions => own.or(widths.pos),
                Holds::Coordinates => own.or(widths.crd),
                Holds::Bits => {
                    types.insert(name("B", spec.role), ElementType::U8);
                    continue;
                }
                Holds::Values => continue,
            };
            let width = width.expect("both widths are chosen");
            types.insert(name("B", spec.role), width.element());
        }
        let made = synthesized(source, destination, like.element(), &types)?;
        Ok(Self {
            source: Arc::new(source.clone()),
            destination: Arc::new(destination.clone()),
            compiled: compile_computation(&made.computation)?,
        })
    }

    /// The computation and its loops.
    pub fn compiled(&self) -> &CompiledComputation {
        &self.compiled
    }

    /// A tensor in the format of the destination. All stored entries stay stored.
    ///
    /// # Errors
    /// `E0518` for a tensor of another format or types; `E0519` for entries that the
    /// destination cannot hold; those of [`Tensor::new`], and of running.
    pub fn run(&self, session: &Session, tensor: &Tensor) -> Result<Tensor> {
        let specs = self.source.arrays();
        let arrays = specs.iter().zip(tensor.arrays());
        let arrays: Vec<(String, TensorRef<'_>)> = arrays
            .map(|(spec, array)| Ok((name("A", spec.role), list(array)?)))
            .collect::<Result<_>>()?;
        let mut given = Given::new();
        for (name, array) in &arrays {
            given = given.data(name, array);
        }
        let known: Vec<Option<u64>> = tensor.extents().iter().copied().map(Some).collect();
        for (format, prefix) in [(&self.source, "A"), (&self.destination, "B")] {
            for (level, extent) in format.level_extents(&known).into_iter().enumerate() {
                let name = format!("{prefix}_L{level}");
                if let Some(extent) = extent
                    && self.compiled.computation().parameters.contains(&name)
                {
                    given = given.parameter(name, extent as i64);
                }
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
        let made = self.destination.arrays().into_iter().map(|spec| {
            let result = results.remove(&name("B", spec.role));
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

/// The name of an array in a conversion.
fn name(side: &str, role: Role) -> String {
    match role.in_descriptor() {
        Some(name) => format!("{side}_{name}"),
        None => side.to_owned(),
    }
}

/// An array as a dense vector, used where it lies.
fn list(array: &Array) -> Result<TensorRef<'_>> {
    let (extents, zero) = (vec![array.len() as u64], array.element().zero());
    TensorRef::new(Format::dense(1), extents, zero, vec![array.into()])
}
