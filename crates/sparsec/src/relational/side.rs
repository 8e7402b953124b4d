//! The source of a conversion: a tensor in either kind of format, by the names that its
//! arrays and constants have in a conversion.

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, Result, Scalar, code};
use sparsec_computation::Computation;
use sparsec_convert::{Types, Wanted};
use sparsec_relation::Descriptor;
use sparsec_tensor::{Array, Format, RelationTensor, Tensor, TensorRef};

use crate::compute::{Checked, CompiledComputation, Given};
use crate::conversion::{described, fill_of_tensor, names, sizes_of, stored_mask, wanted};
use crate::session::Session;

use super::derived::wanted_of;

/// What a tensor in one format needs to become one in a relation.
pub(super) struct Side<'a> {
    /// The descriptors of the parts of the source.
    pub(super) parts: Vec<Descriptor>,
    /// What is known of its places.
    pub(super) wanted: Wanted,
    /// Where its arrays are held against what a conversion relies on.
    pub(super) checked: Checked,
    /// The arrays by their names in a conversion.
    arrays: Vec<(String, TensorRef<'a>)>,
    /// The mask of padding, if there may be some, and the fill, if it is not 0.
    own: Vec<(&'static str, Tensor)>,
    parameters: Vec<(String, i64)>,
}

impl<'a> Side<'a> {
    /// # Errors
    /// Those of [`TensorRef::new`], and of allocating a mask.
    pub(super) fn of_levels(tensor: &'a Tensor) -> Result<Self> {
        let format = tensor.format();
        let parts = described(format, false)?;
        let arrays = names(format, "A").into_iter().zip(tensor.arrays());
        let arrays = arrays.map(|(name, array)| {
            let extents = vec![array.len() as u64];
            Ok((name, borrowed(array, extents)?))
        });
        let mut own = Vec::new();
        if parts.iter().any(|part| part.clauses().has_padding) {
            own.push(stored_mask(tensor.nonfill_mask()?)?);
        }
        own.extend(fill_of_tensor(tensor.fill())?);
        Ok(Self {
            wanted: Wanted {
                has_fill: Some(tensor.fill() != tensor.element().zero()),
                ..wanted(format, tensor.element())
            },
            checked: Checked::AsTensors,
            arrays: arrays.collect::<Result<_>>()?,
            own,
            parameters: sizes_of(format, "A", tensor.extents()).collect(),
            parts,
        })
    }

    /// # Errors
    /// As [`of_levels`](Self::of_levels).
    pub(super) fn of_relation(tensor: &'a RelationTensor) -> Result<Self> {
        let mut arrays = Vec::new();
        for (name, array) in tensor.arrays() {
            let array = borrowed(array, tensor.array_extents(name))?;
            arrays.push((format!("A_{name}"), array));
        }
        let values = tensor.values();
        arrays.push(("A".to_owned(), borrowed(values, vec![values.len() as u64])?));
        let constants = tensor.constants().iter();
        let descriptor = tensor.format().descriptor();
        let mut own = Vec::new();
        if descriptor.clauses().has_padding {
            own.push(stored_mask(nonfill(values, tensor.fill()))?);
        }
        own.extend(fill_of_tensor(tensor.fill())?);
        Ok(Self {
            parts: vec![descriptor.clone()],
            wanted: wanted_of(tensor.format(), tensor.element()),
            // Lengths that are entries of arrays have names of their own, which were not checked.
            checked: Checked::Here,
            own,
            arrays,
            parameters: constants
                .map(|(name, value)| (format!("A_{name}"), *value))
                .collect(),
        })
    }

    /// The types of the index arrays.
    pub(super) fn types(&self) -> Types {
        let arrays = self.arrays.iter();
        arrays
            .map(|(name, array)| (name.clone(), array.element()))
            .collect()
    }
}

impl Session {
    /// Runs a conversion.
    pub(super) fn launched(
        &self,
        compiled: &CompiledComputation,
        side: &Side<'_>,
        extents: &[u64],
        more: &[(String, i64)],
        checked: Checked,
    ) -> Result<BTreeMap<String, Tensor>> {
        let bytes = side.arrays.iter().map(|(_, array)| array.bytes() as u64);
        let limit = self.memory().growing_from(bytes.sum());
        let mut given = Given::new().within(limit);
        let computation = compiled.computation();
        let is_given = |name: &str| {
            let space = computation.space(name);
            space.is_some_and(|space| space.role.is_given())
        };
        for (name, array) in side.arrays.iter().filter(|(name, _)| is_given(name)) {
            given = given.data(name, array);
        }
        for (name, array) in side.own.iter().filter(|(name, _)| is_given(name)) {
            given = given.data(*name, array);
        }
        let of_modes = extents.iter().enumerate();
        let of_modes = of_modes.map(|(mode, extent)| (format!("N{mode}"), *extent as i64));
        let all = of_modes.chain(side.parameters.iter().cloned());
        for (name, value) in all.chain(more.iter().cloned()) {
            if computation.parameters.contains(&name) {
                given = given.parameter(name, value);
            }
        }
        let launched = || {
            let mut prepared = self.prepare_as(compiled, &given, checked)?;
            prepared.launch()?;
            prepared.finish()
        };
        launched().map_err(|error| in_names_of_format(error, computation))
    }
}

/// The diagnostic of an array that is too large, which it names as the format does.
fn in_names_of_format(error: Diagnostic, computation: &Computation) -> Diagnostic {
    if error.code() != code::KERNEL_OUT_OF_MEMORY {
        return error;
    }
    let names = computation.spaces.iter().map(|space| &space.name);
    let texts = [error.message()]
        .into_iter()
        .chain(error.notes().iter().map(String::as_str));
    let texts = texts.map(|text| {
        names.clone().fold(text.to_owned(), |text, name| {
            let own = match name.strip_prefix("B_") {
                Some(own) => own,
                None if name == "B" => "values",
                None => return text,
            };
            text.replace(&format!("`{name}.vals`"), &format!("`{own}`"))
        })
    });
    let mut texts = texts.collect::<Vec<_>>().into_iter();
    let message = texts.next().expect("a message");
    texts.fold(Diagnostic::new(error.code(), message), Diagnostic::note).help(
        "store it as `coo` or `csf`, which store entries alone, or allow more with `Options::memory`",
    )
}

/// A 1 for each value that is not the fill, and a 0 for each that is.
fn nonfill(values: &Array, fill: Scalar) -> Array {
    let mask = (0..values.len()).map(|place| u8::from(values.get(place) != fill));
    Array::from_vec(mask.collect::<Vec<u8>>())
}

/// An array as a dense tensor, used where it lies.
pub(super) fn borrowed(array: &Array, extents: Vec<u64>) -> Result<TensorRef<'_>> {
    let zero = array.element().zero();
    TensorRef::new(
        Format::dense(extents.len()),
        extents,
        zero,
        vec![array.into()],
    )
}
