//! Whether a computation is wrong: small tensors, run point by point.

use std::collections::BTreeMap;

use sparsec::{Format, Tensor};
use sparsec_base::Scalar;
use sparsec_computation::{Computation, Given, Role};
use sparsec_convert::Conversion;
use sparsec_relation::{
    Comparison, Constraint, Data, Declarations, Descriptor, Environment, Expression,
};

/// Extents and coordinates: rows without entries, one entry, all of them, some, none.
const TENSORS: [(&[u64], &[u64]); 6] = [
    (&[4, 5], &[0, 1, 0, 4, 2, 0, 2, 1, 2, 3, 3, 3, 3, 4]),
    (
        &[3, 3],
        &[0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2, 2, 0, 2, 1, 2, 2],
    ),
    (&[4, 3], &[3, 0]),
    (&[5, 4], &[0, 0, 1, 0, 1, 1, 3, 2, 3, 3, 4, 1]),
    (&[2, 2], &[]),
    (&[1, 1], &[0, 0]),
];

/// Variables of spaces have values here.
const WITHIN: std::ops::Range<i64> = -1..32;

/// A small tensor in the source's format.
pub(crate) struct Sample {
    given: Given,
    entries: BTreeMap<Vec<i64>, String>,
    /// The results of the computation that is right.
    pub(crate) right: Results,
}

/// What a computation computes: arrays of the destination, and numbers.
pub(crate) type Results = BTreeMap<String, Vec<Scalar>>;

/// The small tensors that a conversion converts, with its results.
pub(crate) fn samples(made: &Conversion, source: &Format, destination: &Format) -> Vec<Sample> {
    let mut all = Vec::new();
    for (extents, coordinates) in TENSORS {
        let triangle: Vec<u64>;
        let coordinates = match destination.to_string().contains("i >= j") {
            true => {
                let pairs = coordinates.chunks(2).filter(|pair| pair[0] >= pair[1]);
                triangle = pairs.flatten().copied().collect();
                &triangle[..]
            }
            false => coordinates,
        };
        let values: Vec<f64> = (1..=coordinates.len() / 2).map(|n| n as f64).collect();
        let tensor = Tensor::pack(source, extents, coordinates, &values).expect("it packs");
        let given = given(&made.computation, &tensor, destination);
        let right = run(&made.computation, &given).expect("the conversion runs");
        let pairs = coordinates
            .chunks(2)
            .map(|pair| pair.iter().map(|at| *at as i64).collect());
        let values = values.iter().map(|value| Scalar::F64(*value).to_string());
        all.push(Sample {
            given,
            entries: pairs.zip(values).collect(),
            right,
        });
    }
    all
}

/// The arrays and parameters of a tensor in a conversion.
fn given(computation: &Computation, tensor: &Tensor, destination: &Format) -> Given {
    let mut given = Given::default();
    let source = tensor.format();
    let is_list = source.to_string().contains("nonordered") && source.levels().len() == 2;
    for (spec, array) in source.arrays().iter().zip(tensor.arrays()) {
        let name = match spec.role.in_descriptor() {
            Some(name) => format!("A_{name}"),
            None => "A".to_owned(),
        };
        let Some(space) = computation.space(&name) else {
            continue;
        };
        let all = (0..array.len()).map(|at| array.get(at).cast(space.element).expect("it fits"));
        let mut all: Vec<Scalar> = all.collect();
        // Where any order will do, it is not the best one.
        if is_list && source.to_string().contains("singleton") && !name.contains("pos") {
            all.reverse();
        }
        given.data.insert(name, all);
    }
    let known: Vec<Option<u64>> = tensor.extents().iter().copied().map(Some).collect();
    for (mode, extent) in tensor.extents().iter().enumerate() {
        given.parameters.insert(format!("N{mode}"), *extent as i64);
    }
    for (format, side) in [(source, "A"), (destination, "B")] {
        for (level, extent) in format.level_extents(&known).into_iter().enumerate() {
            let extent = extent.map(|extent| extent as i64);
            given
                .parameters
                .extend(extent.map(|extent| (format!("{side}_L{level}"), extent)));
        }
    }
    // `A_pos1_end` is an entry, of which an assumption says which.
    for _ in 0..4 {
        let mut environment = Environment::new();
        for (name, value) in &given.parameters {
            environment = environment.constant(name.clone(), *value);
        }
        for (name, values) in given.data.iter().filter(|(name, _)| *name != "A") {
            environment = environment.table(name.clone(), integers(values));
        }
        let mut found = Vec::new();
        for link in computation
            .declarations
            .assumptions()
            .iter()
            .flat_map(Constraint::split)
        {
            if let [(Comparison::Equal, Expression::Constant(name))] = &link.rest[..]
                && name.starts_with("A_")
            {
                let value = environment.value(&link.first, &[]);
                found.extend(value.map(|value| (name.clone(), value)));
            }
        }
        drop(environment);
        given.parameters.extend(found);
    }
    given
}

fn integers(values: &[Scalar]) -> Vec<i64> {
    let values = values.iter().map(|value| value.to_integer().unwrap_or(0));
    values
        .map(|value| i64::try_from(value).expect("it fits"))
        .collect()
}

/// Runs a computation; numbers are results too. An error where it does not run, or where one
/// of its numbers is not as it assumes.
fn run(computation: &Computation, given: &Given) -> Result<Results, String> {
    let mut computation = computation.clone();
    for space in computation.spaces.iter_mut() {
        if space.extents.is_empty() && space.role == Role::Temporary {
            space.role = Role::Out;
        }
    }
    let results = computation
        .evaluate(given, WITHIN)
        .map_err(|error| error.to_string())?;
    let mut data = Data::new();
    for (name, value) in &given.parameters {
        data.constant(name.clone(), *value);
    }
    for (name, values) in &results {
        if computation
            .space(name)
            .is_some_and(|space| space.extents.is_empty())
        {
            data.constant(name.clone(), integers(values)[0]);
        }
    }
    let assumed = computation.declarations.assumptions().iter();
    for link in assumed.flat_map(Constraint::split) {
        if data.holds(&link, &[]) == Some(false) {
            return Err("a number is not as assumed".to_owned());
        }
    }
    Ok(results)
}

impl Sample {
    /// Whether a computation converts this tensor, to the same arrays or to other ones that
    /// are as the destination says and hold the same entries.
    pub(crate) fn is_right(&self, computation: &Computation, destination: &Descriptor) -> bool {
        let Ok(results) = run(computation, &self.given) else {
            return false;
        };
        let arrays = |results: &Results| -> Results {
            let named = results.iter().filter(|(name, _)| {
                let space = computation.space(name);
                space.is_some_and(|space| !space.extents.is_empty())
            });
            named
                .map(|(name, values)| (name.clone(), values.clone()))
                .collect()
        };
        arrays(&results) == arrays(&self.right) || self.holds(&results, destination)
    }

    /// Whether arrays are as a descriptor says, and hold the entries of this tensor.
    fn holds(&self, results: &Results, destination: &Descriptor) -> bool {
        let mut environment = Environment::new();
        let mut data = Data::new();
        for (name, value) in &self.given.parameters {
            let name = match name.strip_prefix("B_") {
                Some(own) => own.to_owned(),
                None => name.clone(),
            };
            environment = environment.constant(name.clone(), *value);
            data.constant(name, *value);
        }
        for function in destination.declarations().functions() {
            let Some(values) = results.get(&format!("B_{}", function.name)) else {
                return false;
            };
            let values = integers(values);
            environment = environment.table(function.name.clone(), values.clone());
            let n = vec![i64::try_from(values.len()).expect("it is small")];
            data.array(function.name.clone(), n, move |at| values[at]);
        }
        let declarations: &Declarations = destination.declarations();
        let values = &results["B"];
        let places = destination.values().enumerate(&environment, WITHIN);
        if declarations.check(&data).is_err() || places.is_ok_and(|it| it.len() != values.len()) {
            return false;
        }
        let Ok(place) = destination.data().solve(declarations) else {
            return false;
        };
        let Ok(tuples) = destination.map().enumerate(&environment, WITHIN) else {
            return false;
        };
        let mut found: BTreeMap<Vec<i64>, String> = BTreeMap::new();
        for (tuple, coordinates) in tuples {
            let at = environment.value(&place[0][0], &tuple);
            let value = at.and_then(|at| values.get(usize::try_from(at).ok()?));
            let Some(value) = value else { return false };
            let is_entry = self.entries.contains_key(&coordinates);
            if !is_entry && !value.is_zero() {
                return false;
            }
            if is_entry && found.insert(coordinates, value.to_string()).is_some() {
                return false;
            }
        }
        found == self.entries
    }
}
