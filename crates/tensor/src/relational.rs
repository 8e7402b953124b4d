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
//! that is declared holds (ranges, orders, injectivity, quantifiers, assumptions). Since the
//! descriptor is complete by proof, each tuple then has coordinates inside of the extents and
//! a place among the values.
//!
//! Values that are not stored are 0.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use sparsec_base::{Diagnostic, ElementType, Result, Source, Span, code};
use sparsec_format::{RelationFormat, Storage};
use sparsec_relation::{
    Conjunction, Data, Descriptor, Ended, Expression, Parser, Rewrite, Set, Values, Variable,
    fresh_name,
};

use crate::array::Array;
use crate::coords::Coords;
use crate::entries::Entries;
use crate::tensor::Tensor;

/// Steps that visiting the tuples of a tensor may take.
const MOST_STEPS: u64 = 1 << 40;

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
    /// Time: that of reading each array once, and of visiting the points of each quantifier.
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
        tensor.complete_constants()?;
        tensor.check_lengths()?;
        tensor.check_declared()?;
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
        let lengths = lengths(&function.domain, &self.constants_data());
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

    /// The stored entries in the order of the tuples, maybe several at one coordinate. Where
    /// the format [lists no entries](RelationFormat::lists_entries), values equal to 0 are
    /// padding and left out.
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
        let keeps_zeros = self.format.lists_entries();
        let zero = self.element().zero();
        let mut coords: Vec<u64> = Vec::new();
        let mut places: Vec<usize> = Vec::new();
        let ended = loops.run(&data, MOST_STEPS, &mut |_, point| {
            let place = point[n_inputs + order] as usize;
            if keeps_zeros || self.values.get(place) != zero {
                let at = &point[n_inputs..n_inputs + order];
                coords.extend(at.iter().map(|crd| *crd as u64));
                places.push(place);
            }
            ControlFlow::Continue(())
        });
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
        Ok(Entries {
            extents: self.extents.clone(),
            coords: Coords::from(coords),
            values,
        })
    }

    /// What tells the values of constants and functions.
    fn data(&self) -> Data<'_> {
        let mut data = self.constants_data();
        for function in self.format.descriptor().declarations().functions() {
            let lengths = lengths(&function.domain, &data).unwrap_or_default();
            let array = &self.arrays[&function.name];
            data.array(function.name.clone(), lengths, |at| array.index(at));
        }
        data
    }

    fn constants_data(&self) -> Data<'static> {
        let mut data = Data::new();
        let names = self.format.descriptor().extents().iter();
        for (name, extent) in names.zip(&self.extents) {
            data.constant(name.clone(), i64::try_from(*extent).unwrap_or(i64::MAX));
        }
        for (name, value) in &self.constants {
            data.constant(name.clone(), *value);
        }
        data
    }

    fn check_names(&self) -> Result<()> {
        let descriptor = self.format.descriptor();
        if descriptor.order() != self.extents.len() {
            let message = format!(
                "`{}` stores tensors of order {}, and there are {} extents",
                self.format.name(),
                descriptor.order(),
                self.extents.len()
            );
            return Err(
                Diagnostic::new(code::LENGTH_MISMATCH, message).help("give one extent a mode")
            );
        }
        for (name, extent) in descriptor.extents().iter().zip(&self.extents) {
            if i64::try_from(*extent).is_err() {
                return Err(self.misfit(
                    format!("the extent `{name}` is {extent}, beyond 2^63"),
                    name,
                ));
            }
        }
        let functions = descriptor.declarations().functions();
        for function in functions {
            match self.arrays.get(&function.name) {
                None => {
                    let message = format!("the array `{}` is missing", function.name);
                    return Err(self.misfit(message, &function.name));
                }
                Some(array) if !is_index(array.element()) => {
                    let message = format!(
                        "`{}` is an array of {}, not of integers",
                        function.name,
                        array.element()
                    );
                    return Err(self
                        .misfit(message, &function.name)
                        .help("index arrays are of i32, i64, u8 or u16"));
                }
                Some(_) => {}
            }
        }
        let is_known = |name: &&String| functions.iter().any(|it| it.name == **name);
        if let Some(name) = self.arrays.keys().find(|name| !is_known(name)) {
            let message = format!("`{}` has no array `{name}`", self.format.name());
            return Err(Diagnostic::new(code::ARRAY_MISMATCH, message).help("leave it out"));
        }
        let known = constants(descriptor);
        if let Some(name) = self.constants.keys().find(|name| !known.contains(*name)) {
            let message = format!("`{}` has no constant `{name}`", self.format.name());
            return Err(Diagnostic::new(code::ARRAY_MISMATCH, message).help("leave it out"));
        }
        match self.constants.iter().find(|(_, value)| **value < 0) {
            Some((name, value)) => {
                let message = format!("the constant `{name}` is {value}, which is negative");
                Err(self.misfit(message, name))
            }
            None => Ok(()),
        }
    }

    /// Gives values to the constants that lengths of arrays say.
    fn complete_constants(&mut self) -> Result<()> {
        let format = Arc::clone(&self.format);
        let descriptor = format.descriptor();
        let names = constants(descriptor);
        loop {
            let before = self.constants.len();
            let data = self.constants_data();
            let functions = descriptor.declarations().functions().iter();
            let arrays = functions.map(|function| (&function.domain, &self.arrays[&function.name]));
            let mut found = Vec::new();
            for (domain, array) in arrays.chain([(descriptor.values(), &self.values)]) {
                let sides = domain.as_box().unwrap_or_default();
                let [(_, end)] = &sides[..] else {
                    continue;
                };
                let length = i64::try_from(array.len()).unwrap_or(i64::MAX);
                found.extend(solved(end, length, &data));
            }
            for (name, value) in found {
                if value >= 0 && names.contains(&name) {
                    self.constants.entry(name).or_insert(value);
                }
            }
            if self.constants.len() == before {
                break;
            }
        }
        // Where a mode is empty, so are arrays as long as it, whatever else they are.
        if self.extents.contains(&0) {
            for name in &names {
                self.constants.entry(name.clone()).or_insert(0);
            }
        }
        match names
            .iter()
            .find(|name| !self.constants.contains_key(*name))
        {
            Some(name) => Err(self
                .misfit(format!("the constant `{name}` has no value"), name)
                .note("the lengths of the arrays do not say it")),
            None => Ok(()),
        }
    }

    fn check_lengths(&self) -> Result<()> {
        let data = self.constants_data();
        let descriptor = self.format.descriptor();
        let functions = descriptor.declarations().functions().iter();
        let arrays = functions.map(|function| {
            let name = function.name.as_str();
            (name, &function.domain, &self.arrays[name])
        });
        for (name, domain, array) in arrays.chain([("values", descriptor.values(), &self.values)]) {
            let length = lengths(domain, &data);
            let length = length.and_then(|sides| {
                let mut sides = sides.iter();
                sides.try_fold(1_i64, |n, side| n.checked_mul(*side))
            });
            let length = length.ok_or_else(|| {
                self.misfit(format!("how long `{name}` is cannot be counted"), name)
                    .help("state a length of constants, as in `{[p] : 0 <= p < NNZ}`")
            })?;
            if usize::try_from(length) != Ok(array.len()) {
                let message = format!(
                    "`{name}` has {} entries, and its format says {length}",
                    array.len()
                );
                return Err(self.misfit(message, name));
            }
        }
        Ok(())
    }

    fn check_declared(&self) -> Result<()> {
        let checked = self.format.descriptor().declarations().check(&self.data());
        checked.map_err(|broken| {
            let mut words = broken.declaration.split(' ').take(2);
            let name = match (words.next(), words.next()) {
                (Some("function"), Some(name)) => name.to_owned(),
                _ => String::new(),
            };
            let (source, place) = self.said(&name);
            let error = Diagnostic::new(code::NOT_AS_DECLARED, broken.why);
            match name.is_empty() {
                true => error.note(format!("`{}` says so", self.format.name())),
                false => error.at(&source, place, "declared here"),
            }
            .help("correct the arrays, or the format")
        })
    }

    fn misfit(&self, message: String, name: &str) -> Diagnostic {
        let (source, place) = self.said(name);
        Diagnostic::new(code::ARRAY_MISMATCH, message).at(&source, place, "by this format")
    }

    /// Where the text of the format declares a name; if it does not, where it first has it.
    fn said(&self, name: &str) -> (Source, Span) {
        let text = self.format.text();
        let declared = text.find(&format!("function {name} "));
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let first = || {
            let mut places = text.match_indices(name).map(|(at, _)| at);
            places.find(|at| {
                let before = text[..*at].chars().next_back();
                let after = text[at + name.len()..].chars().next();
                !before.is_some_and(is_name) && !after.is_some_and(is_name)
            })
        };
        let at = declared.map(|at| at + "function ".len());
        let span = match at.or_else(first) {
            Some(at) => Span::new(at, at + name.len()),
            None => Span::new(0, text.lines().next().map_or(0, str::len)),
        };
        (self.format.source().clone(), span)
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
                let packed = Tensor::pack_entries(&format, tensor.entries()?, Default::default());
                packed.map(Cow::Owned)
            }
        }
    }
}

fn is_index(element: ElementType) -> bool {
    matches!(
        element,
        ElementType::U8 | ElementType::U16 | ElementType::I32 | ElementType::I64
    )
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

/// The symbolic constants of a descriptor that are no extents.
fn constants(descriptor: &Descriptor) -> BTreeSet<String> {
    struct Names(RefCell<BTreeSet<String>>);
    impl Rewrite for Names {
        fn variable(&self, variable: Variable) -> Expression {
            Expression::Variable(variable)
        }
        fn constant(&self, name: &str) -> Expression {
            self.0.borrow_mut().insert(name.to_owned());
            Expression::Constant(name.to_owned())
        }
    }
    let names = Names(RefCell::default());
    // Nothing is renamed, so nothing can go wrong.
    let _ = descriptor.map().rewritten(&names);
    let _ = descriptor.data().rewritten(&names);
    let _ = descriptor.values().rewritten(&names);
    let _ = descriptor.declarations().rewritten(&names);
    let mut names = names.0.into_inner();
    names.retain(|name| !descriptor.extents().contains(name) && !Parser::is_key(name));
    names
}

/// How many entries an array has along each argument.
fn lengths(domain: &Set, data: &Data<'_>) -> Option<Vec<i64>> {
    let sides = domain.as_box()?;
    let ends = sides.iter().map(|(_, end)| Some(data.value(end)?.max(0)));
    ends.collect()
}

/// The constant that all of a length depends on, and its value where the length is `is`.
fn solved(length: &Expression, is: i64, data: &Data<'_>) -> Option<(String, i64)> {
    match length {
        Expression::Constant(name) if data.value(length).is_none() => Some((name.clone(), is)),
        Expression::Add(a, b) => match (data.value(a), data.value(b)) {
            (None, Some(b)) => solved(a, is.checked_sub(b)?, data),
            (Some(a), None) => solved(b, is.checked_sub(a)?, data),
            _ => None,
        },
        Expression::Subtract(a, b) => solved(a, is.checked_add(data.value(b)?)?, data),
        Expression::Multiply(a, b) => match (data.value(a), data.value(b)) {
            (None, Some(n)) if n > 0 && is % n == 0 => solved(a, is / n, data),
            (Some(n), None) if n > 0 && is % n == 0 => solved(b, is / n, data),
            _ => None,
        },
        _ => None,
    }
}
