//! Whether a computation is wrong: small tensors, run point by point.

use std::collections::BTreeMap;

use sparsec::{Array, ElementType, Format, PackOptions, Scalar, Tensor};
use sparsec_computation::{Computation, Given, Role};
use sparsec_convert::Conversion;
use sparsec_format::Mirrored;
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
    fill: String,
    /// The results of the computation that is right; `None` if it refuses the tensor, since the
    /// destination cannot hold it.
    pub(crate) right: Option<Results>,
}

/// The coordinates and the value of a tuple.
type Found = (Vec<i64>, String);

/// What a computation computes: arrays of the destination, and numbers.
pub(crate) type Results = BTreeMap<String, Vec<Scalar>>;

/// Extents, coordinates and values.
type Listed = (Vec<u64>, Vec<u64>, Vec<f64>);

/// The small tensors that a conversion converts, with its results, and those that it refuses.
/// Places without an entry hold the fill.
pub(crate) fn samples(
    made: &Conversion,
    ([source, destination], whole): ([&Format; 2], &[Descriptor]),
    fill: Option<f64>,
) -> Vec<Sample> {
    let mut all = Vec::new();
    for (extents, coordinates) in TENSORS {
        let is_held =
            |pair: &&[u64]| !destination.to_string().contains("i >= j") || pair[0] >= pair[1];
        let is_mirrored = [source, destination].map(|it| it.mirror().is_some());
        let pairs = coordinates.chunks(2);
        let pairs = pairs.filter(|pair| is_mirrored[1] || is_held(pair));
        let coordinates: Vec<u64> = pairs.flatten().copied().collect();
        // Where neighbours may share a place, some have one value.
        let n_alike = if destination.to_string().contains("run_length") {
            2
        } else {
            1
        };
        let n = coordinates.len() / 2;
        let values: Vec<f64> = (0..n).map(|n| (n / n_alike + 1) as f64).collect();
        let square = vec![extents.iter().copied().max().unwrap_or(0); 2];
        let mirrors = [destination, source].into_iter().find_map(Format::mirror);
        if let Some(mirror) = mirrors {
            let (coordinates, values) = mirrored(&coordinates, mirror.of == Mirrored::Skew);
            let listed = (square.clone(), coordinates, values);
            let formats = ([source, destination], whole);
            all.push(sample(made, formats, (&listed, fill), true));
        }
        if !is_mirrored[0] {
            // Values are distinct, so only entries on the diagonal are mirror images.
            let is_skew = mirrors.is_some_and(|mirror| mirror.of == Mirrored::Skew);
            let is_image = |pair: &[u64]| !is_skew && pair[0] == pair[1];
            let is_held = !is_mirrored[1] || coordinates.chunks(2).all(is_image);
            let extents = if is_mirrored[1] {
                square
            } else {
                extents.to_vec()
            };
            let listed = (extents, coordinates, values);
            let formats = ([source, destination], whole);
            all.push(sample(made, formats, (&listed, fill), is_held));
        }
    }
    all
}

/// A tensor, and the results of the right computation if the destination can hold it.
fn sample(
    made: &Conversion,
    ([source, destination], whole): ([&Format; 2], &[Descriptor]),
    ((extents, coordinates, values), fill): (&Listed, Option<f64>),
    is_held: bool,
) -> Sample {
    let mut entries: BTreeMap<Vec<i64>, f64> = BTreeMap::new();
    let tensor = match source.is_unique() {
        true => {
            let pairs = coordinates.chunks(2).zip(values);
            entries.extend(pairs.map(|(pair, value)| (integral(pair), *value)));
            packed(source, extents, (coordinates, values), fill)
        }
        false => {
            // Each other entry is given again as the last ones. The values of mirror images are
            // repeated with them.
            let pairs: Vec<(&[u64], f64)> =
                coordinates.chunks(2).zip(values.iter().copied()).collect();
            let is_mirrored = destination.mirror().is_some();
            let again = pairs.iter().filter(|_| is_mirrored);
            let some = pairs.iter().step_by(2).chain(pairs.iter().step_by(4));
            let again = again.chain(some.filter(|_| !is_mirrored));
            let pairs: Vec<(&[u64], f64)> = pairs.iter().chain(again).copied().collect();
            let values = pairs
                .iter()
                .enumerate()
                .map(|(n, (_, value))| match is_mirrored {
                    true => *value,
                    false => (1_u64 << n) as f64,
                });
            let values: Vec<f64> = values.collect();
            let pairs: Vec<&[u64]> = pairs.into_iter().map(|(pair, _)| pair).collect();
            for (pair, value) in pairs.iter().zip(&values) {
                *entries.entry(integral(pair)).or_default() += value;
            }
            repeated(source, extents, (&pairs, values))
        }
    };
    let given = given(&made.computation, (&tensor, fill), destination);
    let right = run(&made.computation, &given);
    assert_eq!(
        right.is_ok(),
        is_held,
        "{source} to {destination}: {right:?}"
    );
    let value = |value: f64| Scalar::F64(value).to_string();
    // A triangle stores one side.
    let is_stored = |at: &[i64]| destination.mirror().is_none() || at[0] >= at[1];
    let entries = entries.into_iter().filter(|(at, _)| is_stored(at));
    let entries = entries.map(|(at, entry)| (at, value(entry)));
    let entries: BTreeMap<Vec<i64>, String> = entries.collect();
    let sample = Sample {
        given,
        entries,
        fill: value(fill.unwrap_or(0.0)),
        right: right.ok(),
    };
    if let Some(right) = &sample.right {
        assert!(sample.holds(right, whole), "{source} to {destination}");
    }
    sample
}

/// Entries of the lower triangle and their images, in order.
fn mirrored(coordinates: &[u64], is_skew: bool) -> (Vec<u64>, Vec<f64>) {
    let mut all: BTreeMap<[u64; 2], f64> = BTreeMap::new();
    let lower = coordinates.chunks(2).filter(|pair| pair[0] >= pair[1]);
    for (value, pair) in (1_u32..).zip(lower) {
        let image = if is_skew {
            -f64::from(value)
        } else {
            f64::from(value)
        };
        // The diagonal of a skew matrix is 0.
        if is_skew && pair[0] == pair[1] {
            continue;
        }
        all.insert([pair[0], pair[1]], f64::from(value));
        all.insert([pair[1], pair[0]], image);
    }
    let coordinates = all.keys().flatten().copied().collect();
    (coordinates, all.into_values().collect())
}

fn integral(pair: &[u64]) -> Vec<i64> {
    pair.iter().map(|at| *at as i64).collect()
}

/// A tensor with this fill.
fn packed(
    format: &Format,
    extents: &[u64],
    (coordinates, values): (&[u64], &[f64]),
    fill: Option<f64>,
) -> Tensor {
    let listed = Tensor::pack(&Format::scoo(2), extents, coordinates, values);
    let options = PackOptions {
        fill: fill.map(Scalar::F64),
        ..PackOptions::default()
    };
    let listed = listed.expect("it packs").entries();
    Tensor::pack_entries(format, listed, options).expect("it packs")
}

/// A list of coordinates that may be repeated.
fn repeated(format: &Format, extents: &[u64], (pairs, values): (&[&[u64]], Vec<f64>)) -> Tensor {
    let n = i64::try_from(pairs.len()).expect("few");
    let mode = |mode: usize| -> Vec<i64> { pairs.iter().map(|pair| pair[mode] as i64).collect() };
    let arrays = vec![
        Array::from_vec(vec![0, n]),
        Array::from_vec(mode(0)),
        Array::from_vec(mode(1)),
        Array::from_vec(values),
    ];
    let zero = ElementType::F64.zero();
    let made = Tensor::new(
        format.clone(),
        extents.to_vec(),
        ElementType::F64,
        zero,
        arrays,
    );
    made.expect("a tensor with repeated entries")
}

/// The arrays and parameters of a tensor in a conversion.
fn given(
    computation: &Computation,
    (tensor, fill): (&Tensor, Option<f64>),
    destination: &Format,
) -> Given {
    let mut given = Given::default();
    let source = tensor.format();
    let is_list = source.to_string().contains("nonordered") && source.levels().len() == 2;
    let parts = source.parts();
    let mut names: Vec<String> = Vec::new();
    for (side, part) in sides("A", parts.len()).iter().zip(&parts) {
        let specs = part.arrays().into_iter();
        let own = specs.filter_map(|spec| spec.role.in_descriptor());
        names.extend(own.map(|name| format!("{side}_{name}")));
    }
    names.push("A".to_owned());
    for (name, array) in names.into_iter().zip(tensor.arrays()) {
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
    let fill = Scalar::F64(fill.unwrap_or(0.0));
    let stored = given.data["A"].iter().map(|value| {
        let is_entry = value.to_string() != fill.to_string();
        Scalar::U8(u8::from(is_entry))
    });
    let stored: Vec<Scalar> = stored.collect();
    for (name, values) in [("A_stored", stored), ("A_fill", vec![fill])] {
        if computation.space(name).is_some() {
            given.data.insert(name.to_owned(), values);
        }
    }
    if computation.parameters.iter().any(|name| name == "A_NZ") {
        let n = given.data["A"].len() as i64;
        given.parameters.insert("A_NZ".to_owned(), n);
    }
    let known: Vec<Option<u64>> = tensor.extents().iter().copied().map(Some).collect();
    for (mode, extent) in tensor.extents().iter().enumerate() {
        given.parameters.insert(format!("N{mode}"), *extent as i64);
    }
    let whole = destination.parts();
    let from = std::iter::zip(sides("A", parts.len()), &parts);
    let to = std::iter::zip(sides("B", whole.len()), &whole);
    for (side, format) in from.chain(to) {
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
        for (name, values) in given
            .data
            .iter()
            .filter(|(name, _)| name.starts_with('A') && *name != "A")
        {
            if name != "A_fill" {
                environment = environment.table(name.clone(), integers(values));
            }
        }
        let mut found = Vec::new();
        for link in computation
            .declarations
            .assumptions()
            .iter()
            .flat_map(Constraint::split)
        {
            if let [(Comparison::Equal, Expression::Constant(name))] = &link.rest[..]
                && name.starts_with('A')
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

/// What the names of the arrays of each part of a side begin with.
fn sides(side: &str, n_parts: usize) -> Vec<String> {
    match n_parts {
        1 => vec![side.to_owned()],
        n => (1..=n).map(|part| format!("{side}{part}")).collect(),
    }
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
    /// are as the destination says and hold the same entries; of a tensor that the destination
    /// cannot hold, whether it refuses that.
    pub(crate) fn is_right(&self, computation: &Computation, destination: &[Descriptor]) -> bool {
        let Ok(results) = run(computation, &self.given) else {
            return self.right.is_none();
        };
        let Some(right) = &self.right else {
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
        arrays(&results) == arrays(right) || self.holds(&results, destination)
    }

    /// Whether arrays are as the parts of a destination say, and hold the entries of this tensor: each
    /// entry in one part, and the fill everywhere else.
    fn holds(&self, results: &Results, destination: &[Descriptor]) -> bool {
        let values = &results["B"];
        let mut found: BTreeMap<Vec<i64>, String> = BTreeMap::new();
        let mut n_before = 0;
        for (side, part) in sides("B", destination.len()).iter().zip(destination) {
            let own = self.part(results, (side, part), n_before);
            let Some((n, tuples)) = own else { return false };
            n_before += n;
            for (coordinates, value) in tuples.into_iter().filter(|(_, it)| *it != self.fill) {
                if found.insert(coordinates, value).is_some() {
                    return false;
                }
            }
        }
        n_before == values.len() && found == self.entries
    }

    /// How many values a part has, and the coordinates and the value of each of its tuples; `None` if
    /// its arrays are not as it declares.
    fn part(
        &self,
        results: &Results,
        (side, part): (&str, &Descriptor),
        n_before: usize,
    ) -> Option<(usize, Vec<Found>)> {
        let mut environment = Environment::new();
        let mut data = Data::new();
        for (name, value) in &self.given.parameters {
            let name = match name.strip_prefix(&format!("{side}_")) {
                Some(own) => own.to_owned(),
                None => name.clone(),
            };
            environment = environment.constant(name.clone(), *value);
            data.constant(name, *value);
        }
        for (mode, name) in part.extents().iter().enumerate() {
            let extent = self.given.parameters[&format!("N{mode}")];
            environment = environment.constant(name.clone(), extent);
            data.constant(name.clone(), extent);
        }
        for (name, values) in results {
            // Numbers that the computation finds, such as how many places a row has.
            let own = name.strip_prefix(&format!("{side}_"));
            let is_array = |own: &str| part.declarations().function(own).is_some();
            if let (Some(own), [value]) = (own.filter(|own| !is_array(own)), &values[..])
                && let Some(value) = value.to_integer().and_then(|it| i64::try_from(it).ok())
            {
                environment = environment.constant(own.to_owned(), value);
                data.constant(own.to_owned(), value);
            }
        }
        for function in part.declarations().functions() {
            let values = integers(results.get(&format!("{side}_{}", function.name))?);
            environment = environment.table(function.name.clone(), values.clone());
            let n = vec![i64::try_from(values.len()).expect("it is small")];
            data.array(function.name.clone(), n, move |at| values[at]);
        }
        let declarations: &Declarations = part.declarations();
        declarations.check(&data).ok()?;
        let places = part.values().enumerate(&environment, WITHIN).ok()?;
        let place = part.data().solve(declarations).ok()?;
        let mut all = Vec::new();
        for (tuple, coordinates) in part.map().enumerate(&environment, WITHIN).ok()? {
            let at = usize::try_from(environment.value(&place[0][0], &tuple)?).ok()?;
            let at = (at < places.len()).then_some(n_before + at)?;
            all.push((coordinates, results["B"].get(at)?.to_string()));
        }
        Some((places.len(), all))
    }
}
