//! Tensors stored as a relation says: named index arrays, constants and values.
//!
//! A [`RelationFormat`] declares its arrays as functions. A tensor in it has an array for
//! each of them, a value for each symbolic constant, and values at the places that the
//! descriptor says:
//!
//! ```text
//! format list                                                  extents  3
//! map {[n] -> [i] : 0 <= n < NZ && i = crd(n)}                 NZ       2     constant
//! data {[n] -> [n]}                                            crd      0 2   index array
//! values {[n] : 0 <= n < NZ}                                   values   5 7
//! function crd : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
//! ```
//!
//! Invariants, checked when the tensor is made: there is an array for each function and no
//! other; each is as long as its domain, and the values as many as their places; everything
//! that is declared holds (ranges, orders, injectivity, quantifiers, assumptions, `unique`). Since the
//! descriptor is complete by proof, each tuple then has coordinates inside of the extents and
//! a place among the values.
//!
//! Values that are not stored are the fill that the format declares, or 0. If entries have mirror
//! images, the tensor has these too.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Scalar, code};
use sparsec_format::{RelationFormat, Storage};
use sparsec_parallel::MemoryLimit;
use sparsec_relation::{
    Conjunction, Data, Descriptor, Ended, Expression, Image, Mirror, Set, Values, fresh_name,
};

use crate::array::{Array, Element};
use crate::coords::Coords;
use crate::entries::Entries;
use crate::irregular::image;
use crate::pack::PackOptions;
use crate::tensor::Tensor;
use crate::with_element;

mod check;

use check::{is_all_of, lengths};

/// Steps that visiting the tuples of a tensor may take.
const MOST_STEPS: u64 = 1 << 40;

/// Entries from which on it is asked now and then whether there is room for twice as many.
const MANY: usize = 1 << 20;

/// A tensor in a format that is a relation; see the module's page.
///
/// ```
/// use std::{collections::BTreeMap, sync::Arc};
/// use sparsec_base::Source;
/// use sparsec_format::RelationFormat;
/// use sparsec_tensor::{Array, RelationTensor};
/// let list = RelationFormat::parse(&Source::new("list.fmt", "
///     format list
///     extents N
///     map {[n] -> [i] : 0 <= n < NZ && i = crd(n)}
///     data {[n] -> [n]}
///     values {[n] : 0 <= n < NZ}
///     function crd : {[n] : 0 <= n < NZ} -> {[i] : 0 <= i < N}
/// "))?;
/// let list = Arc::new(list);
/// let stored = |crd: [i32; 2]| {
///     let arrays = BTreeMap::from([("crd".to_owned(), Array::from_vec(crd.to_vec()))]);
///     let values = Array::from_vec(vec![5.0, 7.0]);
///     RelationTensor::new(Arc::clone(&list), vec![3], BTreeMap::new(), arrays, values)
/// };
/// let a = stored([0, 2])?;
/// assert_eq!(a.constants()["NZ"], 2);
/// assert_eq!(a.entries()?.coords(1).to_vec(), [2]);
/// let error = stored([0, 3]).unwrap_err();
/// assert!(error.to_string().contains("crd(1) = 3 is not in"), "{error}");
/// # Ok::<(), sparsec_base::Diagnostic>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RelationTensor {
    format: Arc<RelationFormat>,
    extents: Vec<u64>,
    constants: BTreeMap<String, i64>,
    /// The index arrays by the names of their functions.
    arrays: BTreeMap<String, Array>,
    values: Array,
}

impl RelationTensor {
    /// A tensor of these arrays, one for each function that the format declares, the last
    /// argument running fastest. Constants may be left out that the lengths of arrays say.
    ///
    /// Time: that of reading each array once, and of visiting the points of each quantifier; where the
    /// format is `unique`, also that of listing the entries and sorting them.
    ///
    /// # Errors
    /// * `E0402` where `extents` has another length than the format's order;
    /// * `E0403` for an array or a constant that is missing or left over, of the wrong type
    ///   or length;
    /// * `E0519` for the first declaration that does not hold, with the entries that show it.
    pub fn new(
        format: Arc<RelationFormat>,
        extents: Vec<u64>,
        constants: BTreeMap<String, i64>,
        arrays: BTreeMap<String, Array>,
        values: Array,
    ) -> Result<Self> {
        let mut tensor = Self {
            format,
            extents,
            constants,
            arrays,
            values,
        };
        tensor.check_names()?;
        tensor.check_extents()?;
        tensor.complete_constants()?;
        tensor.check_lengths()?;
        tensor.check_declared()?;
        tensor.check_unique()?;
        tensor.check_side()?;
        Ok(tensor)
    }

    /// How the tensor is stored.
    pub fn format(&self) -> &Arc<RelationFormat> {
        &self.format
    }

    /// One extent a mode.
    pub fn extents(&self) -> &[u64] {
        &self.extents
    }

    /// The number of modes.
    pub fn order(&self) -> usize {
        self.extents.len()
    }

    /// The type of the values.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// The value of all coordinates without an entry.
    pub fn fill(&self) -> Scalar {
        self.format.fill(self.element())
    }

    /// The values of symbolic constants that are no extents.
    pub fn constants(&self) -> &BTreeMap<String, i64> {
        &self.constants
    }

    /// The index arrays, by the names of their functions.
    pub fn arrays(&self) -> &BTreeMap<String, Array> {
        &self.arrays
    }

    /// How many entries an index array has along each argument of its function.
    ///
    /// # Panics
    /// If there is no such array.
    pub fn array_extents(&self, name: &str) -> Vec<u64> {
        let declarations = self.format.descriptor().declarations();
        let function = declarations.function(name).expect("the format declares it");
        let lengths = lengths(&function.domain, &self.data());
        let lengths = lengths.expect("it was counted when the tensor was made");
        lengths.into_iter().map(|n| n as u64).collect()
    }

    /// The values, padding included.
    pub fn values(&self) -> &Array {
        &self.values
    }

    /// How many bytes the arrays take.
    pub fn bytes(&self) -> usize {
        let arrays = self.arrays.values().map(Array::bytes);
        arrays.sum::<usize>() + self.values.bytes()
    }

    /// The entries in the order of the tuples, maybe several at one coordinate, each with its mirror
    /// image behind it. If the format has padding, values equal to the fill are left out.
    ///
    /// Time linear in the tuples, some hundred nanoseconds each.
    ///
    /// # Errors
    /// `E0407` when memory is out; `E0706` where no loops visit the tuples.
    pub fn entries(&self) -> Result<Entries> {
        let descriptor = self.format.descriptor();
        let (order, n_inputs) = (self.order(), descriptor.map().n_inputs());
        let loops = tuples(descriptor)?.scan(descriptor.declarations())?;
        let data = self.data();
        let clauses = descriptor.clauses();
        let fill = self.fill();
        // A value whose mirror image is not the fill is no padding.
        let mirrored = |of: Image| {
            with_element!(self.element(), T => {
                T::from_scalar(fill).map_or(fill, |value| image(of, value).scalar())
            })
        };
        // Zeros of either sign are one fill.
        let differs = |a: Scalar, b: Scalar| a != b && a.to_c128() != b.to_c128();
        let keeps_fill = !clauses.has_padding
            || clauses
                .mirror
                .is_some_and(|it| differs(mirrored(it.image), fill));
        let mut coords: Vec<u64> = Vec::new();
        let mut places: Vec<usize> = Vec::new();
        // The entries that are mirror images, by their numbers.
        let mut images: Vec<usize> = Vec::new();
        let mut refused = None;
        let ended = loops.run(&data, MOST_STEPS, &mut |_, point| {
            let place = point[n_inputs + order] as usize;
            if keeps_fill || self.values.get(place) != fill {
                let at = &point[n_inputs..n_inputs + order];
                let at = at.iter().map(|crd| *crd as u64);
                coords.extend(at.clone());
                places.push(place);
                if let Some(Mirror { modes: [a, b], .. }) = clauses.mirror {
                    let start = coords.len();
                    coords.extend(at);
                    coords.swap(start + a, start + b);
                    match coords[start + a] == coords[start + b] {
                        true => coords.truncate(start),
                        false => {
                            images.push(places.len());
                            places.push(place);
                        }
                    }
                }
            }
            // One value may be many entries, more than there is room for.
            let n = places.len();
            if n >= MANY && n.is_power_of_two() {
                let bytes = 16 * (n as u64).saturating_mul(order as u64 + 2);
                if let Err(error) = MemoryLimit::Available.ask(bytes) {
                    refused = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        if let Some(error) = refused {
            return Err(error.into());
        }
        if ended != Ended::Done {
            let message = format!(
                "the tuples of a tensor in `{}` cannot be visited",
                self.format.name()
            );
            return Err(Diagnostic::new(code::GIVEN_MISFIT, message)
                .help("bound each element of the tuple by constants or index arrays"));
        }
        let mut values = Array::zeroed(self.element(), places.len())?;
        for (to, from) in places.into_iter().enumerate() {
            values.set(to, self.values.get(from));
        }
        if let Some(mirror) = clauses.mirror {
            with_element!(self.element(), T => {
                let values = values.slice_mut::<T>();
                for at in images {
                    values[at] = image(mirror.image, values[at]);
                }
            });
        }
        Ok(Entries {
            extents: self.extents.clone(),
            coords: Coords::from(coords),
            values,
        })
    }

    /// What tells the values of constants and functions.
    fn data(&self) -> Data<'_> {
        let mut data = self.constants_data();
        // The length of one array may be an entry of another: `0 <= q < pos(N)`.
        let mut rest: Vec<_> = self
            .format
            .descriptor()
            .declarations()
            .functions()
            .iter()
            .collect();
        loop {
            let before = rest.len();
            rest.retain(|function| {
                let array = &self.arrays[&function.name];
                let known =
                    lengths(&function.domain, &data).filter(|sides| is_all_of(sides, array));
                let Some(sides) = known else { return true };
                data.array(function.name.clone(), sides, |at| array.index(at));
                false
            });
            if rest.len() == before {
                return data;
            }
        }
    }

    fn constants_data(&self) -> Data<'static> {
        let mut data = Data::new();
        data.keys(self.format.descriptor().declarations());
        let names = self.format.descriptor().extents().iter();
        for (name, extent) in names.zip(&self.extents) {
            data.constant(name.clone(), i64::try_from(*extent).unwrap_or(i64::MAX));
        }
        for (name, value) in &self.constants {
            data.constant(name.clone(), *value);
        }
        data
    }
}

/// A tensor in either kind of format.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// In a format of levels.
    Levels(Tensor),
    /// As a relation says.
    Relation(RelationTensor),
}

impl Stored {
    /// How it is stored.
    pub fn storage(&self) -> Storage {
        match self {
            Self::Levels(tensor) => Storage::Levels(tensor.format().clone()),
            Self::Relation(tensor) => Storage::Relation(Arc::clone(tensor.format())),
        }
    }

    /// One extent a mode.
    pub fn extents(&self) -> &[u64] {
        match self {
            Self::Levels(tensor) => tensor.extents(),
            Self::Relation(tensor) => tensor.extents(),
        }
    }

    /// The value of all coordinates without an entry.
    pub fn fill(&self) -> Scalar {
        match self {
            Self::Levels(tensor) => tensor.fill(),
            Self::Relation(tensor) => tensor.fill(),
        }
    }

    /// All entries, padding of levels included.
    ///
    /// # Errors
    /// As [`RelationTensor::entries`].
    pub fn entries(&self) -> Result<Entries> {
        match self {
            Self::Levels(tensor) => Ok(tensor.entries()),
            Self::Relation(tensor) => tensor.entries(),
        }
    }

    /// The type of the values.
    pub fn element(&self) -> ElementType {
        match self {
            Self::Levels(tensor) => tensor.element(),
            Self::Relation(tensor) => tensor.element(),
        }
    }

    /// How many values are stored, padding of relations included.
    pub fn n_stored(&self) -> usize {
        match self {
            Self::Levels(tensor) => tensor.n_filled(),
            Self::Relation(tensor) => tensor.values().len(),
        }
    }

    /// The tensor in levels: itself, or packed into the [nearest](RelationFormat::nearest)
    /// format of levels, entries at equal coordinates added up.
    ///
    /// # Errors
    /// As [`RelationTensor::entries`] and [`Tensor::pack_entries`].
    pub fn as_levels(&self) -> Result<Cow<'_, Tensor>> {
        match self {
            Self::Levels(tensor) => Ok(Cow::Borrowed(tensor)),
            Self::Relation(tensor) => {
                let format = tensor.format().nearest();
                let options = PackOptions {
                    fill: Some(tensor.fill()),
                    ..PackOptions::default()
                };
                let packed = Tensor::pack_entries(&format, tensor.entries()?, options);
                packed.map(Cow::Owned)
            }
        }
    }
}

/// The tuples of a descriptor with their coordinates and the places of their values:
/// elements of the sparse space, one coordinate a mode, and the place.
fn tuples(descriptor: &Descriptor) -> Result<Set> {
    let mut parts = Vec::new();
    for of_map in descriptor.map().parts() {
        for of_data in descriptor.data().parts() {
            let mut names: Vec<String> = Vec::new();
            let variables = of_map.inputs().chain(of_map.outputs());
            let variables = variables.map(|v| of_map.name(v)).chain(["place"]);
            for name in variables {
                names.push(fresh_name(name, |it| names.iter().any(|known| known == it)));
            }
            let n = names.len();
            let n_inputs = of_map.inputs().len();
            let mut part = Conjunction::new(names, []);
            let all: Vec<Expression> = part.inputs().map(Expression::Variable).collect();
            let mut add = |relation: &Conjunction, tuple: Vec<Expression>| {
                let mut values = tuple;
                for exists in relation.exists() {
                    let name = relation.name(exists).to_owned();
                    values.push(Expression::Variable(part.add_exists(name)));
                }
                part.conjoin(relation, &Values(&values));
            };
            add(of_map, all[..n - 1].to_vec());
            add(of_data, [&all[..n_inputs], &all[n - 1..]].concat());
            parts.push(part);
        }
    }
    Set::new(parts)
}
