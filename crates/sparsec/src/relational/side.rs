//! The source of a conversion: a tensor in either kind of format, by the names that its
//! arrays and constants have in a conversion.

use std::collections::BTreeMap;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_computation::Computation;
use sparsec_convert::{Places, Types, Wanted};
use sparsec_relation::Descriptor;
use sparsec_tensor::{Array, Format, RelationTensor, Role, Tensor, TensorRef};

use crate::compute::{Checked, CompiledComputation, Given};
use crate::conversion::{described, wanted};
use crate::session::Session;

use super::derived::wanted_of;

/// What a tensor in one format needs to become one in a relation.
pub(super) struct Side<'a> {
    /// The descriptor of the source.
    pub(super) descriptor: Descriptor,
    /// What is known of its places.
    pub(super) wanted: Wanted,
    /// Where its arrays are held against what a conversion relies on.
    pub(super) checked: Checked,
    /// The arrays by their names in a conversion.
    arrays: Vec<(String, TensorRef<'a>)>,
    /// Which places hold another value than 0, if others may be padding.
    mask: Option<Tensor>,
    parameters: Vec<(String, i64)>,
}

impl<'a> Side<'a> {
    /// # Errors
    /// `E0830` for tensors of several parts, with mirror images, padding or a fill.
    pub(super) fn of_levels(tensor: &'a Tensor) -> Result<Self> {
        let format = tensor.format();
        let wanted = wanted(format, tensor.element());
        let is_plain = format.parts().len() == 1
            && format.mirror().is_none()
            && wanted.is_unique
            && wanted.places == Places::Full
            && !wanted.has_padding
            && tensor.fill() == tensor.element().zero();
        if !is_plain {
            let message = format!("`{}` is no list of entries", format.arrangement());
            return Err(Diagnostic::new(code::NO_CONVERSION, message)
                .help("convert from a format that lists each entry once, as `scoo`"));
        }
        let descriptor = described(format, false)?.remove(0);
        let specs = format.arrays();
        let arrays = specs.iter().zip(tensor.arrays());
        let arrays = arrays.map(|(spec, array)| {
            let extents = vec![array.len() as u64];
            Ok((name("A", spec.role), borrowed(array, extents)?))
        });
        let known: Vec<Option<u64>> = tensor.extents().iter().copied().map(Some).collect();
        let levels = format.level_extents(&known).into_iter().enumerate();
        let parameters =
            levels.filter_map(|(level, extent)| Some((format!("A_L{level}"), extent? as i64)));
        Ok(Self {
            descriptor,
            wanted,
            checked: Checked::AsTensors,
            arrays: arrays.collect::<Result<_>>()?,
            mask: None,
            parameters: parameters.collect(),
        })
    }

    /// # Errors
    /// Those of [`TensorRef::new`].
    pub(super) fn of_relation(tensor: &'a RelationTensor) -> Result<Self> {
        let mut arrays = Vec::new();
        for (name, array) in tensor.arrays() {
            let array = borrowed(array, tensor.array_extents(name))?;
            arrays.push((format!("A_{name}"), array));
        }
        let values = tensor.values();
        arrays.push(("A".to_owned(), borrowed(values, vec![values.len() as u64])?));
        let constants = tensor.constants().iter();
        Ok(Self {
            descriptor: tensor.format().descriptor().clone(),
            wanted: wanted_of(tensor.format(), tensor.element()),
            // Lengths that are entries of arrays have names of their own, which were not checked.
            checked: Checked::Here,
            mask: match tensor.format().lists_entries() {
                true => None,
                false => Some(nonzero(values)?),
            },
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
        if let Some(mask) = side.mask.as_ref().filter(|_| is_given(MASK)) {
            given = given.data(MASK, mask);
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

/// The given array of a conversion that says which places hold an entry.
const MASK: &str = "A_stored";

/// A vector with a 1 for each value that is not 0, and a 0 for each that is.
fn nonzero(values: &Array) -> Result<Tensor> {
    let (zero, n) = (values.element().zero(), values.len());
    let length = vec![n as u64];
    let mask = (0..n).map(|place| u8::from(values.get(place) != zero));
    let mask: Vec<u8> = mask.collect();
    let none = ElementType::U8.zero();
    let arrays = vec![Array::from_vec(mask)];
    Tensor::new(Format::dense(1), length, ElementType::U8, none, arrays)
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

/// The name of an array of levels in a conversion.
pub(super) fn name(side: &str, role: Role) -> String {
    match role.in_descriptor() {
        Some(name) => format!("{side}_{name}"),
        None => side.to_owned(),
    }
}
