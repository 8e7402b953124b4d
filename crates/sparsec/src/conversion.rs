//! Conversions that are synthesized from the descriptions of two formats.
//!
//! ```text
//! formats ──► descriptors ──► sparsec_convert ──► Computation ──► kernel ──► arrays of the destination
//! ```

use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, code};
pub use sparsec_convert::{Conversion, Types};
use sparsec_format::Holds;
use sparsec_tensor::{Array, Format, Role, Tensor, TensorRef};

use crate::compute::{Checked, CompiledComputation, Given, compile_computation};
use crate::session::Session;
use crate::widths;

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
    let mut sides = Vec::new();
    for (format, name) in [(source, "source"), (destination, "destination")] {
        let mut descriptors = format.descriptors(name);
        let first = descriptors.remove(0);
        if !descriptors.is_empty() || format.mirror().is_some() {
            let message = format!("`{format}` has several parts");
            return Err(
                sparsec_base::Diagnostic::new(sparsec_base::code::NO_CONVERSION, message)
                    .help("convert to or from a format of one part"),
            );
        }
        sides.push(first);
    }
    sparsec_convert::convert(&sides[0], &sides[1], element, types)
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
    /// As [`synthesized`], and `E0830` for tensors with padding, whose entries no map tells
    /// from others.
    pub fn new(like: &Tensor, destination: &Format) -> Result<Self> {
        let source = like.format();
        if like.has_padding() || like.fill() != like.element().zero() {
            let message = format!("a tensor in `{source}` has padding, or a fill");
            return Err(Diagnostic::new(code::NO_CONVERSION, message)
                .help("convert to a format without padding first"));
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
                Holds::Bits | Holds::Values => continue,
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
