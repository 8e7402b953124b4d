//! What is known of the data of a program before it is compiled, as plain data.
//!
//! A front end that hands over a program says what it knows of each tensor. Nothing of it
//! changes what is computed, but for the order in which floating-point numbers are added:
//! planning chooses loops, workspaces, conversions and threads by it.
//!
//! ```
//! use sparsec::Tensor;
//! use sparsec::internals::facts::TensorFacts;
//! let a = Tensor::builder("csr", &[2, 3])?.push([0, 1], 2.0).push([1, 0], 3.0).build()?;
//! let facts = TensorFacts::of(&a);
//! assert_eq!((facts.n_stored, facts.extents), (Some(2), Some(vec![2, 3])));
//! # Ok::<(), sparsec::Error>(())
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use sparsec_format::Format;
use sparsec_index::{IndexVar, Program, TensorRole, TensorVar, extents};
use sparsec_network as network;
use sparsec_network::Projection;
use sparsec_plan::Merge;
use sparsec_tensor::Tensor;
use sparsec_tensor::statistics::Degrees;

use crate::figures;
use crate::request::{Inputs, Operands, Request};
use crate::widths;

/// What is known of the data of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Of tensors; of one that is missing, nothing is known.
    pub tensors: BTreeMap<TensorVar, TensorFacts>,
    /// Of merges of operands that the plan without facts has
    /// ([`merges`](sparsec_plan::merges)), which share of the steps a processor would guess
    /// wrong: from 0 to 1.
    pub mispredicted: Vec<(Merge, f64)>,
}

/// What is known of the data of one tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorFacts {
    /// How many entries it stores.
    pub n_stored: Option<u64>,
    /// How many entries it may have at most, places without one included: how wide index
    /// arrays of results are follows from it.
    pub most_entries: Option<u64>,
    /// About how far each mode reaches. Extents that are certain stand in the program.
    pub extents: Option<Vec<u64>>,
    /// Which share of the entries lies apart from the one stored before it: from 0 to 1.
    pub scatter: Option<f64>,
    /// Which share of the segments is as long as the one stored before it: from 0 to 1.
    pub evenness: Option<f64>,
    /// How many entries segments have on average.
    pub segment: Option<f64>,
    /// How many entries have each coordinate of a mode: the trees of products of three tensors
    /// and more are chosen by it.
    pub degrees: Option<Arc<Degrees>>,
}

impl TensorFacts {
    /// The facts of a tensor, in one pass over at most a sample of its entries; without
    /// [degrees](Tensor::degrees), which take longer.
    pub fn of(tensor: &Tensor) -> Self {
        Self {
            n_stored: Some(tensor.n_stored() as u64),
            most_entries: Some(tensor.most_entries()),
            extents: Some(tensor.extents().to_vec()),
            scatter: tensor.scatter(),
            evenness: tensor.evenness(),
            segment: tensor.segment(),
            degrees: None,
        }
    }
}

/// The formats of inputs at hand, with the widths of their arrays, and the facts of them,
/// for [`compile_program`](crate::compile::compile_program).
///
/// ```
/// use sparsec::internals::{Inputs, Request, compile, facts};
/// use sparsec::{Format, Source, Tensor};
/// let a = Tensor::builder("csr", &[2, 3])?.push([0, 1], 2.0).build()?;
/// let mut request = Request::new(Source::new("expression", "s = A(i,j)"));
/// request.set_format("A", "csr")?;
/// let program = compile(&request, &Inputs::new())?.resolved().clone();
/// let inputs = Inputs::from([("A".to_owned(), a)]);
/// let (formats, facts) = facts::of_inputs(&program, &inputs);
/// let tensor = program.tensors.named("A").unwrap();
/// assert_eq!(formats[&tensor].widths().crd, Some(sparsec::IndexWidth::W32));
/// assert_eq!(facts.tensors[&tensor].n_stored, Some(1));
/// # Ok::<(), sparsec::Error>(())
/// ```
pub fn of_inputs(program: &Program, inputs: &Inputs) -> (BTreeMap<TensorVar, Format>, Facts) {
    let (mut formats, mut facts) = (BTreeMap::new(), Facts::default());
    let counted = has_network(program);
    for (tensor, data) in program.tensors.iter() {
        let input = inputs.get(data.source_name());
        if let Some(input) = input.filter(|_| data.role == TensorRole::Input) {
            formats.insert(tensor, widths::of_input(input.format(), input));
            let degrees = counted.then(|| input.degrees(sample(input))).flatten();
            facts.tensors.insert(
                tensor,
                TensorFacts {
                    degrees,
                    ..TensorFacts::of(input)
                },
            );
        }
    }
    (formats, facts)
}

/// Whether a statement may be a product of three tensors or more, whose plan goes by degrees.
pub(crate) fn has_network(program: &Program) -> bool {
    let mut statements = program.statements.iter();
    statements.any(|statement| statement.rhs.accesses().len() > 2)
}

/// How many entries of a tensor degrees are taken from before its program is known to run
/// long: a run reads each entry at least, which takes a nanosecond, and a sample 60 for each.
pub(crate) fn sample(tensor: &Tensor) -> usize {
    (tensor.n_stored() / 1000).max(4096)
}

/// Counted degrees as the facts of a network.
fn statistics(degrees: &Degrees) -> network::Statistics {
    let counted = degrees.degrees.iter();
    network::Statistics::new(counted.map(|degree| Projection {
        modes: degree.modes.clone(),
        tuples: degree.tuples,
        largest: degree.largest,
        squares: degree.squares,
    }))
}

/// What planning may ask of operands, by their names in the source.
pub(crate) trait Statistics {
    /// How many entries an operand stores.
    fn n_stored(&self, name: &str) -> Option<u64>;
    /// Which share of the entries lies apart.
    fn scatter(&self, name: &str) -> Option<f64>;
    /// Which share of the segments is as long as the one before.
    fn evenness(&self, name: &str) -> Option<f64>;
    /// How many entries segments have on average.
    fn segment(&self, name: &str) -> Option<f64>;
    /// Which share of the steps of a merge is guessed wrong.
    fn mispredicted(&self, merge: &Merge) -> Option<f64>;
    /// About how far the index variable of a name runs.
    fn extent(&self, var: &str) -> Option<u64>;
    /// The degrees of an operand, from at most so many entries.
    fn degrees(&self, name: &str, most: usize) -> Option<network::Statistics>;
}

/// Operands at hand, and what a request states of others: what planning asks is looked up
/// when it asks.
pub(crate) struct Stated<'a> {
    pub(crate) request: &'a Request,
    pub(crate) inputs: &'a Operands<'a>,
}

impl Statistics for Stated<'_> {
    fn n_stored(&self, name: &str) -> Option<u64> {
        let given = self.inputs.get(name);
        let stated = || self.request.tensors.get(name)?.n_stored;
        given.map(|tensor| tensor.n_stored() as u64).or_else(stated)
    }

    fn scatter(&self, name: &str) -> Option<f64> {
        self.inputs.get(name)?.scatter()
    }

    fn evenness(&self, name: &str) -> Option<f64> {
        self.inputs.get(name)?.evenness()
    }

    fn segment(&self, name: &str) -> Option<f64> {
        self.inputs.get(name)?.segment()
    }

    fn mispredicted(&self, merge: &Merge) -> Option<f64> {
        figures::mispredicted(merge, self.inputs)
    }

    fn degrees(&self, name: &str, most: usize) -> Option<network::Statistics> {
        let degrees = self.inputs.get(name)?.degrees(most)?;
        Some(statistics(&degrees))
    }

    fn extent(&self, _: &str) -> Option<u64> {
        None
    }
}

/// Facts by the names that a program has.
pub(crate) struct Named<'a> {
    facts: &'a Facts,
    program: &'a Program,
    /// About how far each index variable runs.
    extents: BTreeMap<IndexVar, u64>,
}

impl<'a> Named<'a> {
    /// The facts of tensors, all of which are of the program. Extents that do not fit together tell
    /// nothing.
    pub(crate) fn new(program: &'a Program, facts: &'a Facts) -> Self {
        let mut tensors = extents::of_tensors(program);
        for (tensor, known) in &facts.tensors {
            let guessed = known.extents.iter().flatten();
            for (mode, extent) in tensors[*tensor].iter_mut().zip(guessed) {
                *mode = mode.or(Some(*extent));
            }
        }
        let spread = extents::spread(program, tensors);
        let vars = spread.iter().flat_map(|it| it.vars.iter());
        Self {
            facts,
            program,
            extents: vars
                .filter_map(|(var, extent)| Some((var, (*extent)?)))
                .collect(),
        }
    }

    fn of(&self, name: &str) -> Option<&'a TensorFacts> {
        let mut tensors = self.program.tensors.iter();
        let is_named = |(_, data): &(TensorVar, &sparsec_index::TensorData)| {
            data.role == TensorRole::Input && data.source_name() == name
        };
        let (tensor, _) = tensors.find(is_named)?;
        self.facts.tensors.get(&tensor)
    }
}

impl Named<'_> {
    /// How many entries an operand may have at most.
    pub(crate) fn most_entries(&self, name: &str) -> Option<u64> {
        self.of(name)?.most_entries
    }
}

impl Statistics for Named<'_> {
    fn n_stored(&self, name: &str) -> Option<u64> {
        self.of(name)?.n_stored
    }

    fn scatter(&self, name: &str) -> Option<f64> {
        self.of(name)?.scatter
    }

    fn evenness(&self, name: &str) -> Option<f64> {
        self.of(name)?.evenness
    }

    fn segment(&self, name: &str) -> Option<f64> {
        self.of(name)?.segment
    }

    fn degrees(&self, name: &str, _: usize) -> Option<network::Statistics> {
        Some(statistics(self.of(name)?.degrees.as_deref()?))
    }

    fn mispredicted(&self, merge: &Merge) -> Option<f64> {
        let mut merges = self.facts.mispredicted.iter();
        let (_, share) = merges.find(|(known, _)| known == merge)?;
        Some(*share)
    }

    fn extent(&self, var: &str) -> Option<u64> {
        let var = self.program.vars.named(var)?;
        self.extents.get(&var).copied()
    }
}
