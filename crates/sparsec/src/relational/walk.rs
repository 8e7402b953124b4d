//! Programs over tensors whose formats are relations.
//!
//! ```text
//! request, inputs in levels ──► Way of each relation ─┬─ all walked ──► computation ──► result
//!                                                     └─ else ────────► plan over levels
//! results in levels ──► relations, where the request says so
//! ```
//!
//! A plan is for levels: a relation takes part in its [nearest](RelationFormat::nearest)
//! format of levels. Where loops over the tuples of all such operands compute the same, those
//! are run in place of the plan ([`walk`](crate::walks::walk)): the program is one
//! sum of products whose other operands and whose result are dense, and nothing asks for the
//! order of the plan.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use sparsec_base::{ElementType, Result};
use sparsec_computation::Role as DataRole;
use sparsec_format::{RelationFormat, Storage};
use sparsec_index::TensorRole;
use sparsec_tensor::{Format, RelationTensor, Stored, Tensor, TensorRef};
use sparsec_walk::{Operands, Types};

use super::side::borrowed;
use crate::compiled::Compiled;
use crate::compute::{CompiledComputation, Given, compile_computation};
use crate::request::{Inputs, Request};
use crate::session::{Outcome, Repeats, Session, Timings};
use crate::walks::walk;

/// The types of values that loops over tuples add as plans do.
const WALKED: [ElementType; 3] = [ElementType::F32, ElementType::F64, ElementType::I64];

/// The relations of a request: operands and results.
#[derive(Clone, Debug, Default)]
struct Relations {
    operands: BTreeMap<String, Arc<RelationFormat>>,
    results: BTreeMap<String, Arc<RelationFormat>>,
}

impl Relations {
    fn of(request: &Request, compiled: &Compiled) -> Self {
        let mut relations = Self::default();
        for (name, spec) in &request.tensors {
            let Some(spec) = spec.format.as_ref().filter(|spec| spec.is_relation()) else {
                continue;
            };
            let all = compiled.program.tensors.iter();
            let of_name = all.filter(|(_, data)| data.source_name() == name);
            let of_name: Vec<_> = of_name.map(|(_, data)| data).collect();
            // The program was compiled, so a name has one order, which fits.
            let order = of_name.first().map_or(0, |data| data.order());
            let Ok(Some(format)) = spec.relation(order) else {
                continue;
            };
            let is_input = |data: &sparsec_index::TensorData| data.role == TensorRole::Input;
            let (mut inputs, mut results) = (0, 0);
            for data in of_name {
                match is_input(data) {
                    true => inputs += 1,
                    false => results += 1,
                }
            }
            if inputs > 0 {
                relations.operands.insert(name.clone(), Arc::clone(&format));
            }
            if results > 0 {
                relations.results.insert(name.clone(), format);
            }
        }
        relations
    }

    /// Sentences on how each takes part, where its operands are walked or, with the reason,
    /// are not.
    fn notes(&self, why_not: Option<&str>) -> Vec<String> {
        let operands = self.operands.iter().map(|(name, format)| {
            let short = format.name();
            match why_not {
                None => format!("`{name}` is walked as it is stored, in `{short}`"),
                Some(why) => format!(
                    "`{name}` is read in `{}`, the format of levels nearest to `{short}`: {why}",
                    format.nearest().short_name()
                ),
            }
        });
        let results = self.results.iter().map(|(name, format)| {
            format!(
                "`{name}` is computed in `{}` and converted to `{}`",
                format.nearest().short_name(),
                format.name()
            )
        });
        operands.chain(results).collect()
    }
}

/// How tensors whose formats are relations take part in a program, a sentence each: walked
/// as they are stored, or through a format of levels, and why.
///
/// ```
/// use sparsec::internals::{Inputs, Request, compile, relational};
/// use sparsec::Source;
/// let mut request = Request::new(Source::new("expression", "y(i) = A(i,j) * x(j)"));
/// request.set_format("A", "jds")?;
/// let compiled = compile(&request, &Inputs::new())?;
/// let ways = relational::ways(&request, &compiled);
/// assert_eq!(ways, ["`A` is walked as it is stored, in `jds`"]);
/// # Ok::<(), sparsec::Diagnostic>(())
/// ```
pub fn ways(request: &Request, compiled: &Compiled) -> Vec<String> {
    let relations = Relations::of(request, compiled);
    let made = walked(request, compiled, &relations, &Types::new());
    relations.notes(made.err().as_deref())
}

/// The loops over the tuples of all operands that are relations.
///
/// # Errors
/// Why they do not take the place of the plan.
fn walked(
    request: &Request,
    compiled: &Compiled,
    relations: &Relations,
    types: &Types,
) -> std::result::Result<CompiledComputation, String> {
    let no = |why: &str| Err(why.to_owned());
    if relations.operands.is_empty() {
        return no("no operand is a relation");
    }
    if request.schedule.is_some() {
        return no("a schedule is for loops over levels");
    }
    if request.strict {
        return no("numbers are to be added in the order of the expression");
    }
    if !request.functions.is_empty() {
        return no("the expression calls functions");
    }
    let [statement] = &compiled.resolved.statements[..] else {
        return no("the program has several statements");
    };
    let result = compiled.resolved.tensors[statement.lhs.tensor].source_name();
    let mut elements = Types::new();
    for (id, data) in compiled.program.tensors.iter() {
        let name = data.source_name();
        let format = compiled.formats.of(id);
        let is_dense = format.arranges_like(&Format::dense(data.order()));
        if !relations.operands.contains_key(name) && !is_dense {
            return Err(format!("`{name}` is not dense, row by row"));
        }
        if relations.results.contains_key(name) {
            return Err(format!("`{name}` is not dense"));
        }
        if !WALKED.contains(&data.element) {
            return Err(format!("`{name}` is of {}", data.element));
        }
        if data.fill != data.element.zero() {
            return Err(format!("`{name}` has fill {}", data.fill));
        }
        if data.role == TensorRole::Input {
            elements.insert(name.to_owned(), data.element);
        }
    }
    elements.extend(types.clone());
    let operands = relations.operands.iter();
    let operands: Operands = operands
        .map(|(name, format)| (name.clone(), format.descriptor().clone()))
        .collect();
    let made = walk(&request.expression, &operands, &elements);
    let made = made.map_err(|error| error.message().to_owned())?;
    let space = made.space(result);
    let is_same = |(_, data): (_, &sparsec_index::TensorData)| {
        data.name != result || space.is_some_and(|space| space.element == data.element)
    };
    if !compiled.program.tensors.iter().all(is_same) {
        return Err(format!("`{result}` is given another type"));
    }
    // Loops are made only where no access may leave its array.
    compile_computation(&made).map_err(|error| error.message().to_owned())
}

/// What a run over relations gives.
#[derive(Debug)]
pub struct StoredOutcome {
    /// The results in levels, as of [`Session::run`].
    pub outcome: Outcome,
    /// The results whose formats are relations, stored so.
    pub stored: BTreeMap<String, RelationTensor>,
    /// Whether loops over the tuples of operands ran in place of the plan.
    pub is_walked: bool,
    /// How operands and results took part, a sentence each.
    pub notes: Vec<String>,
}

impl Session {
    /// As [`Session::run`] of a program that was compiled for a request some of whose tensors
    /// are relations. `inputs` has all operands in levels, and `stored` those that are at hand
    /// as relations.
    ///
    /// # Errors
    /// As [`Session::run`] and [`Session::convert_stored`].
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use sparsec::internals::{Inputs, Repeats, Request, compile};
    /// use sparsec::{Session, Source, Tensor};
    /// let mut request = Request::new(Source::new("expression", "y(i) = A(i,j) * x(j)"));
    /// request.set_format("A", "sell(2, 2)")?;
    /// let a = Tensor::builder("csr", &[2, 2])?.push([0, 1], 2.0).push([1, 0], 3.0).build()?;
    /// let x = Tensor::dense(&[2], [10.0, 1.0])?;
    /// let inputs = Inputs::from([("A".to_owned(), a), ("x".to_owned(), x)]);
    /// let compiled = compile(&request, &inputs)?;
    /// let session = Session::interpreter();
    /// let run = session.run_stored(&request, &compiled, (&inputs, &BTreeMap::new()), Repeats::default())?;
    /// assert_eq!(run.outcome.tensors["y"].values::<f64>(), Some(&[2.0, 30.0][..]));
    /// assert_eq!(run.notes, ["`A` is walked as it is stored, in `sell(2, 2)`"]);
    /// # Ok::<(), sparsec::Diagnostic>(())
    /// ```
    #[doc(hidden)]
    pub fn run_stored(
        &self,
        request: &Request,
        compiled: &Compiled,
        (inputs, stored): (&Inputs, &BTreeMap<String, RelationTensor>),
        repeats: Repeats,
    ) -> Result<StoredOutcome> {
        let relations = Relations::of(request, compiled);
        let mut notes = Vec::new();
        let known = extents(compiled, inputs, request);
        let walked = walked(request, compiled, &relations, &Types::new());
        let walked = walked.and_then(|made| {
            let is_known = |name: &&String| {
                let mut operands = relations.operands.keys();
                known.contains_key(*name) || operands.any(|it| name.starts_with(&format!("{it}_")))
            };
            let mut parameters = made.computation().parameters.iter();
            match parameters.find(|name| !is_known(name)) {
                Some(name) => Err(format!("no operand has the extent `{name}`")),
                None => Ok(()),
            }
        });
        let is_walked = walked.is_ok();
        let outcome = match walked {
            Ok(()) => {
                let (outcome, more) =
                    self.walk(request, compiled, &relations, (inputs, stored), repeats)?;
                notes.extend(relations.notes(None));
                notes.extend(more);
                outcome
            }
            Err(why) => {
                notes.extend(relations.notes(Some(&why)));
                self.run_timed(compiled, inputs, repeats)?
            }
        };
        let mut made = BTreeMap::new();
        for (name, format) in &relations.results {
            if let Some(result) = outcome.tensors.get(name) {
                let result = Stored::Levels(result.try_clone()?);
                let converted =
                    self.convert_stored(&result, &Storage::Relation(Arc::clone(format)))?;
                notes.extend(converted.notes);
                if let Stored::Relation(tensor) = converted.tensor {
                    made.insert(name.clone(), tensor);
                }
            }
        }
        Ok(StoredOutcome {
            outcome,
            stored: made,
            is_walked,
            notes,
        })
    }

    /// Runs loops over the tuples of operands.
    fn walk(
        &self,
        request: &Request,
        compiled: &Compiled,
        relations: &Relations,
        (inputs, stored): (&Inputs, &BTreeMap<String, RelationTensor>),
        repeats: Repeats,
    ) -> Result<(Outcome, Vec<String>)> {
        let mut timings = Timings::default();
        let mut notes = Vec::new();
        let started = Instant::now();
        let mut operands: BTreeMap<&String, RelationTensor> = BTreeMap::new();
        for (name, format) in &relations.operands {
            let tensor = match stored.get(name).filter(|tensor| tensor.format() == format) {
                Some(tensor) => tensor.clone(),
                None => {
                    let levels = Stored::Levels(inputs[name].try_clone()?);
                    let storage = Storage::Relation(Arc::clone(format));
                    let converted = self.convert_stored(&levels, &storage)?;
                    timings.n_converted += 1;
                    notes.extend(converted.notes);
                    match converted.tensor {
                        Stored::Relation(tensor) => tensor,
                        Stored::Levels(_) => unreachable!("it was converted to a relation"),
                    }
                }
            };
            operands.insert(name, tensor);
        }
        timings.convert = started.elapsed();

        let started = Instant::now();
        let arrays = operands.iter().flat_map(|(name, tensor)| {
            let arrays = tensor.arrays().iter();
            arrays.map(move |(array, data)| (format!("{name}_{array}"), data.element()))
        });
        let types: Types = arrays.collect();
        let made = walked(request, compiled, relations, &types);
        let kernel = made.expect("it was made with other widths");
        let made = kernel.computation();
        timings.compile = started.elapsed();

        let mut lent: Vec<(String, TensorRef<'_>)> = Vec::new();
        let mut given = Given::new();
        for (name, tensor) in &operands {
            for (array, data) in tensor.arrays() {
                let extents = tensor.array_extents(array);
                lent.push((format!("{name}_{array}"), borrowed(data, extents)?));
            }
            let values = tensor.values();
            let extents = vec![values.len() as u64];
            lent.push(((*name).clone(), borrowed(values, extents)?));
            for (constant, value) in tensor.constants() {
                given = given.parameter(format!("{name}_{constant}"), *value);
            }
        }
        for (name, array) in &lent {
            given = given.data(name, array);
        }
        for (name, tensor) in inputs
            .iter()
            .filter(|(name, _)| !operands.contains_key(name))
        {
            given = given.data(name, tensor);
        }
        for (name, extent) in extents(compiled, inputs, request) {
            given = given.parameter(name, extent as i64);
        }
        let given = given.for_computation(made);
        let mut prepared = self.prepare(&kernel, &given)?;
        for _ in 0..repeats.times.max(1) {
            let started = Instant::now();
            prepared.launch()?;
            timings.compute.push(started.elapsed());
        }
        let results = prepared.finish()?;
        let is_result = |name: &String| {
            let space = made.space(name);
            space.is_some_and(|space| space.role == DataRole::Out)
        };
        let tensors: BTreeMap<String, Tensor> = results
            .into_iter()
            .filter(|(name, _)| is_result(name))
            .collect();
        let outcome = Outcome {
            tensors,
            earlier: BTreeMap::new(),
            timings,
        };
        Ok((outcome, notes))
    }
}

/// The extents of index variables as computations name them, `Ni` for `i`.
fn extents(compiled: &Compiled, inputs: &Inputs, request: &Request) -> BTreeMap<String, u64> {
    let stated = request.extents.iter();
    let mut all: BTreeMap<String, u64> = stated
        .map(|(name, extent)| (format!("N{name}"), *extent))
        .collect();
    let program = &compiled.resolved;
    for access in program.statements.iter().flat_map(|it| it.rhs.accesses()) {
        let Some(tensor) = inputs.get(program.tensors[access.tensor].source_name()) else {
            continue;
        };
        for (index, extent) in access.indices.iter().zip(tensor.extents()) {
            if let Some(var) = index.as_var() {
                all.insert(format!("N{}", program.vars[var].name), *extent);
            }
        }
    }
    all
}
