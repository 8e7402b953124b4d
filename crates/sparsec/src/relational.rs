//! Conversions from and to formats that are relations.
//!
//! ```text
//! levels, relation ──► derived from both descriptors ─────────────────────────► relation
//!        └───────────► sorted list ──► what the format states of its assembly ──► relation
//!                                  └─► derived from the list's descriptor ──────► relation
//! relation ──► derived, where the tensor is large ──► levels
//!        └───► tuples visited one by one, packed ───► levels
//! ```
//!
//! A format that states its [assembly](RelationFormat::assembly) is assembled by it, from a
//! sorted list of entries. To others a conversion is derived from the source itself or, where
//! there is none, from a list of its entries. Whatever made them, the arrays are checked
//! against all that the format declares; those of a stated assembly are read back too, and
//! compared with the list.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, code};
use sparsec_computation::{Computation, Role as DataRole};
use sparsec_convert::{Wanted, convert_parts};
use sparsec_format::{RelationFormat, Storage};
use sparsec_relation::Descriptor;
use sparsec_tensor::{Array, Format, PackOptions, RelationTensor, Stored, Tensor};

use crate::compute::{Checked, CompiledComputation, compile_computation};
use crate::conversion::{
    described, into, keeps_fill, names, relation_keeps_fill, sizes_of, unequal_mirrored,
};
use crate::options::Backend;
use crate::session::Session;

mod constants;
mod derived;
mod held;
mod order;
mod side;
mod unheld;
mod walk;

pub use walk::{StoredOutcome, ways};

use constants::{computed_constant, given_constants, with_constants};
pub use derived::{conversion, derived, kernel_name, wanted_of};
use held::{Derived, are_same, first_other, holds_all, in_order, unmirrored, without};
use side::Side;

/// Entries from which a derived kernel reads a relation faster than visiting its tuples one
/// by one. Source: 60 ms to make a kernel, 0.3 µs for a visit.
const MANY: usize = 200_000;

/// A converted tensor, and how it was converted where that is worth a note.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The tensor in its new format.
    pub tensor: Stored,
    /// Sentences for the user, without an end.
    pub notes: Vec<String>,
}

/// The computation by which a format that is a relation says its arrays are assembled, for
/// values of a type.
///
/// # Errors
/// Those of the computation's text; `E0830` where it computes other arrays than the format
/// has.
///
/// ```
/// use sparsec::internals::relational;
/// use sparsec::{ElementType, FormatSpec};
/// let jagged: FormatSpec = "jds".parse()?;
/// let jds = jagged.relation(2)?.expect("a relation");
/// let text = relational::assembly(&jds, ElementType::F32)?.expect("it states one").to_string();
/// assert!(text.contains("B_perm(place(i)) = i"), "{text}");
/// assert!(text.contains("B : f32[NZ]"), "{text}");
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn assembly(format: &RelationFormat, element: ElementType) -> Result<Option<Computation>> {
    let Some(source) = format.assembly() else {
        return Ok(None);
    };
    let mut computation = Computation::parse(source)?;
    for space in &mut computation.spaces {
        if ["A", "B"].contains(&space.name.as_str()) {
            space.element = element;
        }
    }
    let functions = format.descriptor().declarations().functions().iter();
    let wanted = functions.map(|function| format!("B_{}", function.name));
    for wanted in wanted.chain(["B".to_owned()]) {
        let space = computation.space(&wanted);
        if !space.is_some_and(|space| space.role == DataRole::Out) {
            let message = format!("the assembly of `{}` has no `out {wanted}`", format.name());
            return Err(Diagnostic::new(code::NO_CONVERSION, message)
                .at(source, sparsec_base::Span::new(0, 0), "")
                .help(format!("compute it: `out {wanted} : i64[…]`")));
        }
    }
    computation.checked().map(Some)
}

impl Session {
    /// A tensor in another format, of levels or a relation. Stored entries stay stored, but
    /// for padding of the source; entries at equal coordinates are added up.
    ///
    /// # Errors
    /// As [`Session::convert`]; `E0830` where there is no conversion to the relation, `E0519`
    /// for a tensor that it cannot hold.
    ///
    /// ```
    /// use sparsec::{FormatSpec, Session, Stored, Tensor};
    /// let a = Tensor::builder("csr", &[2, 3])?.push([1, 0], 5.0).push([1, 2], 7.0).build()?;
    /// let jagged = "jds".parse::<FormatSpec>()?.storage(2)?;
    /// let session = Session::interpreter();
    /// let stored = session.convert_stored(&Stored::Levels(a), &jagged)?.tensor;
    /// let Stored::Relation(jds) = &stored else { panic!("a relation") };
    /// assert_eq!(jds.arrays()["perm"].as_slice(), Some(&[1, 0][..]));
    /// let rows = "csr".parse::<FormatSpec>()?.storage(2)?;
    /// let Stored::Levels(back) = session.convert_stored(&stored, &rows)?.tensor else { panic!() };
    /// assert_eq!(back.values::<f64>(), Some(&[5.0, 7.0][..]));
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn convert_stored(&self, tensor: &Stored, storage: &Storage) -> Result<Converted> {
        let (order, own) = (storage.order(), tensor.extents().len());
        if order != own {
            let message = format!("a tensor of {own} modes has no format of {order}");
            return Err(
                Diagnostic::new(code::NO_CONVERSION, message).help("name a format of its order")
            );
        }
        let levels = |tensor| Converted {
            tensor: Stored::Levels(tensor),
            notes: Vec::new(),
        };
        match (tensor, storage) {
            (Stored::Levels(tensor), Storage::Levels(format)) => {
                self.convert(tensor, format).map(levels)
            }
            (Stored::Relation(tensor), Storage::Levels(format)) => {
                keeps_fill(format.fill(), tensor.fill())?;
                self.watched(|| self.unstored(tensor, format)).map(levels)
            }
            (Stored::Relation(own), Storage::Relation(format)) if own.format() == format => {
                Ok(Converted {
                    tensor: tensor.clone(),
                    notes: Vec::new(),
                })
            }
            (tensor, Storage::Relation(format)) => self.watched(|| self.stored(tensor, format)),
        }
    }

    /// As [`convert_stored`](Self::convert_stored), of a tensor that the caller gives away: arrays
    /// that both formats have are not copied.
    ///
    /// # Errors
    /// As [`convert_stored`](Self::convert_stored).
    ///
    /// ```
    /// use sparsec::{FormatSpec, Session, Stored, Tensor};
    /// let a = Tensor::builder("csr", &[2, 3])?.push([1, 0], 5.0).build()?;
    /// let list = "coo".parse::<FormatSpec>()?.storage(2)?;
    /// let stored = Session::interpreter().convert_stored_owned(Stored::Levels(a), &list)?.tensor;
    /// assert_eq!(stored.storage(), list);
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    pub fn convert_stored_owned(&self, tensor: Stored, storage: &Storage) -> Result<Converted> {
        match (tensor, storage) {
            (Stored::Levels(tensor), Storage::Levels(format))
                if tensor.order() == format.order() =>
            {
                let converted = self.convert_owned(tensor, format)?;
                Ok(Converted {
                    tensor: Stored::Levels(converted),
                    notes: Vec::new(),
                })
            }
            (tensor, storage) => self.convert_stored(&tensor, storage),
        }
    }

    /// A tensor in a relation, in levels.
    fn unstored(&self, tensor: &RelationTensor, format: &Format) -> Result<Tensor> {
        let is_large = tensor.values().len() > MANY;
        if is_large && self.backend() != Backend::Interpreter {
            match self.derived_levels(tensor, format) {
                Ok(Some(made)) => return Ok(made),
                Err(error) if error.code() == code::CANCELLED => return Err(error),
                Ok(None) | Err(_) => {}
            }
        }
        let options = PackOptions {
            fill: Some(tensor.fill()),
            memory: self.memory(),
            ..PackOptions::default()
        };
        Tensor::pack_entries(format, tensor.entries()?, options)
    }

    /// As [`unstored`](Self::unstored) by a derived conversion, if there is one.
    fn derived_levels(&self, tensor: &RelationTensor, format: &Format) -> Result<Option<Tensor>> {
        let side = Side::of_relation(tensor)?;
        let destination = described(format, true)?;
        if unequal_mirrored(format, tensor.extents()).is_some() {
            return Ok(None);
        }
        let wanted = Wanted {
            types: side.types(),
            ..side.wanted.clone()
        };
        let made = convert_parts(&side.parts, &destination, &into(format, wanted))?;
        let compiled = compile_computation(&made.computation)?;
        let more: Vec<(String, i64)> = sizes_of(format, "B", tensor.extents()).collect();
        let mut results = self.launched(&compiled, &side, tensor.extents(), &more, side.checked)?;
        let mut arrays = Vec::new();
        for name in names(format, "B") {
            let Some(result) = results.remove(&name) else {
                return Ok(None);
            };
            arrays.push(only_array(result));
        }
        let made = Tensor::new(
            format.clone(),
            tensor.extents().to_vec(),
            tensor.element(),
            tensor.fill(),
            arrays,
        );
        made.map(Some)
    }

    /// A tensor in a relation that is not its own.
    fn stored(&self, tensor: &Stored, format: &Arc<RelationFormat>) -> Result<Converted> {
        relation_keeps_fill(format, tensor.fill())?;
        let mut notes = Vec::new();
        if format.assembly().is_none() {
            match self.stored_directly(tensor, format) {
                Ok(made) => {
                    let tensor = Stored::Relation(made);
                    return Ok(Converted { tensor, notes });
                }
                Err(error) if error.code() == code::CANCELLED => return Err(error),
                Err(why) => {
                    let from = match tensor {
                        Stored::Levels(tensor) => tensor.format().arrangement(),
                        Stored::Relation(tensor) => tensor.format().name().to_owned(),
                    };
                    if from != "scoo" {
                        let why = why.message().to_owned();
                        notes.push(format!(
                            "from `{from}` to `{}` by way of `scoo`, a list of entries: {why}",
                            format.name()
                        ));
                    }
                }
            }
        }
        let list = self.listed(tensor)?;
        let assembly = assembly(format, tensor.element())?;
        let is_derived = assembly.is_none();
        let made = match assembly {
            Some(assembly) => self.assembled(&list, format, assembly),
            None => self.stored_from_list(list.try_clone()?, format),
        };
        let made = made.map_err(|error| {
            let mirror = format.descriptor().clauses().mirror;
            let mirror = mirror.filter(|_| error.code() == code::NOT_AS_DECLARED);
            match mirror.and_then(|mirror| unmirrored(tensor, mirror, format.name())) {
                Some(unmirrored) => unmirrored,
                None if is_derived => self.why_unheld(error, &list, format),
                None => error,
            }
        })?;
        let tensor = Stored::Relation(made);
        Ok(Converted { tensor, notes })
    }

    /// The entries as a list in lexicographic order, each once.
    fn listed(&self, tensor: &Stored) -> Result<Tensor> {
        let format = Format::scoo(tensor.extents().len());
        match tensor {
            Stored::Levels(tensor) if tensor.format().stores_like(&format) => tensor.try_clone(),
            Stored::Levels(tensor) => self.convert(tensor, &format),
            Stored::Relation(tensor) => self.unstored(tensor, &format),
        }
    }

    /// A tensor in a relation by a conversion that is derived.
    fn stored_directly(
        &self,
        tensor: &Stored,
        format: &Arc<RelationFormat>,
    ) -> Result<RelationTensor> {
        let side = match tensor {
            Stored::Levels(tensor) => Side::of_levels(tensor)?,
            Stored::Relation(tensor) => Side::of_relation(tensor)?,
        };
        let made = self.derived_relation(&side, tensor.extents(), format, format.descriptor())?;
        holds_all(made, || tensor.entries())
    }

    /// As [`stored_directly`](Self::stored_directly), by a conversion to a descriptor which
    /// says no more than that of the format.
    fn derived_relation(
        &self,
        side: &Side<'_>,
        extents: &[u64],
        format: &Arc<RelationFormat>,
        descriptor: &Descriptor,
    ) -> Result<Derived> {
        let wanted = Wanted {
            types: side.types(),
            ..side.wanted.clone()
        };
        let made = convert_parts(&side.parts, std::slice::from_ref(descriptor), &wanted)?;
        let compiled = compile_computation(&with_constants(&made.computation, descriptor))?;
        let tensor = self.relation_of(&compiled, side, extents, format, side.checked)?;
        // Reading a small tensor back takes less time than a proof.
        let is_small = tensor.values().len() <= MANY;
        let certificate = || made.certificate().ok();
        let is_proved = !is_small && certificate().is_some_and(|it| it.unproved().next().is_none());
        Ok(Derived { tensor, is_proved })
    }

    /// A tensor in a relation by a conversion that is derived from a list; in the order that
    /// the format declares, if it is no other.
    fn stored_from_list(
        &self,
        list: Tensor,
        format: &Arc<RelationFormat>,
    ) -> Result<RelationTensor> {
        let side = Side::of_levels(&list)?;
        let made = self.derived_relation(&side, list.extents(), format, format.descriptor());
        let error = match made {
            Ok(made) => return holds_all(made, || Ok(list.entries())),
            Err(error) => error,
        };
        let unordered = [
            code::NOT_AS_DECLARED,
            code::NO_CONVERSION,
            code::MAY_BE_OUTSIDE,
        ];
        if !unordered.contains(&error.code()) {
            return Err(error);
        }
        match order::ordered(format.descriptor(), &list) {
            Some(ordered) => {
                let (list, unordered) = ordered?;
                let side = Side::of_levels(&list)?;
                let made = self.derived_relation(&side, list.extents(), format, &unordered)?;
                holds_all(made, || Ok(list.entries()))
            }
            None => Err(error),
        }
    }

    /// A tensor in a relation by the computation that it states.
    fn assembled(
        &self,
        list: &Tensor,
        format: &Arc<RelationFormat>,
        mut computation: Computation,
    ) -> Result<RelationTensor> {
        let side = Side::of_levels(list)?;
        let types = side.types();
        for space in &mut computation.spaces {
            if let Some(element) = types.get(&space.name) {
                space.element = *element;
            }
        }
        let computation = with_constants(&computation.checked()?, format.descriptor());
        let compiled = compile_computation(&computation)?;
        let made = self.relation_of(&compiled, &side, list.extents(), format, Checked::Here)?;
        // The text is a user's: right or refused.
        let has_padding = format.descriptor().clauses().has_padding;
        let is_padding = |value| has_padding && value == list.fill();
        let entries = [without(list.entries(), is_padding)?, made.entries()?];
        let [wanted, found] = entries.map(|entries| in_order(entries, list.order()));
        let (wanted, found) = (wanted?, found?);
        if are_same(&wanted, &found) {
            return Ok(made);
        }
        let message = format!(
            "the assembly of `{}` stores other entries than it is given: {} of {}, and the first that \
             differs is at {:?}",
            format.name(),
            found.n_stored(),
            wanted.n_stored(),
            first_other(&wanted, &found)
        );
        Err(Diagnostic::new(code::NOT_AS_DECLARED, message).help(
            "correct the computation: each entry needs one tuple with its coordinates and value",
        ))
    }

    /// The tensor that a computation makes, whose arrays have the names of a conversion.
    fn relation_of(
        &self,
        compiled: &CompiledComputation,
        side: &Side<'_>,
        extents: &[u64],
        format: &Arc<RelationFormat>,
        checked: Checked,
    ) -> Result<RelationTensor> {
        let mut constants = given_constants(compiled.computation(), format, extents)?;
        let given: Vec<_> = constants
            .iter()
            .map(|(name, n)| (format!("B_{name}"), *n))
            .collect();
        let mut results = self.launched(compiled, side, extents, &given, checked)?;
        for name in format.descriptor().constants() {
            if let Some(result) = results.remove(&computed_constant(&name)) {
                let value = only_array(result).get(0).to_integer();
                let value = value.and_then(|value| i64::try_from(value).ok());
                constants.extend(value.map(|value| (name, value)));
            }
        }
        let mut arrays = BTreeMap::new();
        for function in format.descriptor().declarations().functions() {
            let name = &function.name;
            if let Some(result) = results.remove(&format!("B_{name}")) {
                arrays.insert(name.clone(), narrowed(only_array(result)));
            }
        }
        let values = results.remove("B").map(only_array);
        let values = values.ok_or_else(|| {
            let message = format!("the conversion to `{}` computes no values", format.name());
            Diagnostic::new(code::NO_CONVERSION, message).help("compute `out B`")
        })?;
        let (format, extents) = (Arc::clone(format), extents.to_vec());
        RelationTensor::new(format, extents, constants, arrays, values)
    }
}

fn only_array(tensor: Tensor) -> Array {
    let (_, _, _, mut arrays) = tensor.into_parts();
    arrays.pop().expect("a dense tensor has its values")
}

/// Integers in 32 bits, if all fit.
fn narrowed(array: Array) -> Array {
    let Some(wide) = array.as_slice::<i64>() else {
        return array;
    };
    let narrow: Option<Vec<i32>> = wide.iter().map(|n| i32::try_from(*n).ok()).collect();
    narrow.map_or(array, Array::from_vec)
}

impl Session {
    /// A tensor in the format of levels in which kernels read it: itself, or a copy of one
    /// that is stored as a relation says.
    ///
    /// # Errors
    /// As [`Session::convert_stored`].
    pub fn levels_of<'t>(&self, tensor: &'t Stored) -> Result<Cow<'t, Tensor>> {
        match tensor {
            Stored::Levels(tensor) => Ok(Cow::Borrowed(tensor)),
            Stored::Relation(tensor) => {
                let format = tensor.format().nearest();
                self.watched(|| self.unstored(tensor, &format))
                    .map(Cow::Owned)
            }
        }
    }
}
