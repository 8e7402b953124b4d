//! Costs that nobody asked for, each said once in one line.
//!
//! | cost                                        | said                                   |
//! |---------------------------------------------|----------------------------------------|
//! | an operand that a schedule has converted    | always: its formats, and the bytes moved |
//! | one that the planner converts               | from [`WORTH_SAYING`] bytes on          |
//! | a dense result with few entries             | with a sparse format that has a plan    |
//! | a search for a plan that ended at its limit | with how far it went                    |
//! | a product whose factors fall apart          | with the factors that share no index    |
//! | a module whose caller has to convert        | `--emit mlir`: the formats              |
//!
//! `run` states measured costs, `compile` estimates. `compile` counts bytes only of operands
//! that are given. Notes go to stderr, and with `--json` into the field
//! `notes` of the answer.

use sparsec::Tensor;
use sparsec::internals::account::bytes;
use sparsec::internals::conversion::bytes_moved;
use sparsec::internals::index::TensorVar;
use sparsec::internals::network::Network;
use sparsec::internals::schedule::Command;
use sparsec::internals::schedule::ProgramSchedule;
use sparsec::internals::{
    Compiled, CompiledStatement, Inputs, KernelConversion, Outcome, Request, smaller_format,
};

use crate::screen::{Screen, complain};
use crate::table::duration;

/// Bytes below which a cost is not mentioned.
pub(crate) const WORTH_SAYING: u64 = 1 << 20;

/// A result is called sparse if it has fewer than one entry for this many coordinates.
const FEW: f64 = 10.0;

/// A program that is planned, and its results where it ran.
#[derive(Debug)]
pub(crate) struct Costs<'a> {
    pub(crate) request: &'a Request,
    pub(crate) inputs: &'a Inputs,
    pub(crate) compiled: &'a Compiled,
    pub(crate) outcome: Option<&'a Outcome>,
}

/// A conversion of a plan.
#[derive(Clone, Debug, PartialEq)]
struct Converted {
    name: String,
    from: String,
    to: String,
    /// About how many bytes it moves, where its entries are counted.
    bytes: Option<u64>,
}

/// The bytes of all conversions that are counted; `None` if none is.
fn bytes_of(all: &[Converted]) -> Option<u64> {
    all.iter().filter_map(|it| it.bytes).reduce(|a, b| a + b)
}

/// That some factors of a product share no index variable with others, which is rarely meant.
fn unconnected(network: &Network) -> Option<String> {
    let parts = network.parts();
    let names = parts.iter().map(|part| {
        let tensors = part.iter().map(|id| &network.tensor_of(id).name);
        let tensors: Vec<&str> = tensors.map(String::as_str).collect();
        format!("`{}`", tensors.join(" * "))
    });
    let names: Vec<String> = names.collect();
    let (last, others) = names.split_last()?;
    (!others.is_empty()).then(|| {
        let others = others.join(", ");
        format!("{others} and {last} share no index: each entry of one multiplies each of another")
    })
}

impl Costs<'_> {
    /// The notes, printed on stderr unless the answer in JSON has them.
    pub(crate) fn show(&self, screen: &Screen) -> Vec<String> {
        let notes = self.notes();
        for note in notes.iter().filter(|_| !screen.is_json()) {
            complain(&format!("note: {note}"));
        }
        notes
    }

    /// The tensors that the kernels of a module have in another format than the program.
    pub(crate) fn formats_of_module(&self) -> Vec<String> {
        let conversions = self.compiled.kernel_conversions().into_iter();
        let note = |it: KernelConversion| {
            let (kernels, program) = match it.is_result {
                true => (&it.from, &it.to),
                false => (&it.to, &it.from),
            };
            let module = match &it.function {
                Ok(_) => format!("`@{}` is the conversion", it.name),
                Err(_) => {
                    "the module has no conversion, as no kernel converts these formats".to_owned()
                }
            };
            let name = it.tensor;
            let have = match it.is_result {
                true => "give",
                false => "have",
            };
            format!("the kernels {have} `{name}` as `{kernels}`, not as `{program}`: {module}")
        };
        conversions.map(note).collect()
    }

    /// The costs that nobody asked for.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.conversions());
        notes.extend(self.dense_results());
        for statement in self.compiled.statements() {
            let plan = &statement.plan;
            if plan.account.ran_out {
                let result = &plan.concrete.tensors[plan.concrete.result].name;
                let limit = plan.account.limit();
                notes.push(format!(
                    "the plan for `{result}` may not be the best. {limit}"
                ));
            }
            if let Some(network) = &plan.network {
                notes.extend(unconnected(network));
            }
        }
        notes
    }

    /// One line on all conversions.
    fn conversions(&self) -> Option<String> {
        let asked = self.asked();
        let all = self.converted(self.compiled).into_iter();
        let mut all: Vec<Converted> = all.filter(|it| !asked.contains(&it.name)).collect();
        if all.is_empty() {
            return None;
        }
        let mut request = self.request.clone();
        let is_scheduled = request.schedule.take().is_some();
        let unscheduled = match is_scheduled {
            true => sparsec::internals::compile(&request, self.inputs).ok(),
            false => None,
        };
        let otherwise = unscheduled
            .map(|it| self.converted(&it))
            .unwrap_or_default();
        let is_caused = |it: &Converted| is_scheduled && !otherwise.contains(it);
        let n_caused = all.iter().filter(|it| is_caused(it)).count();
        if n_caused > 0 {
            all.retain(is_caused);
        } else if bytes_of(&all).unwrap_or(0) < WORTH_SAYING {
            return None;
        }
        let mut texts: Vec<String> = Vec::new();
        for text in all.iter().map(Converted::text) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let why = match n_caused {
            0 => "no cheaper plan reads it as it is",
            _ => "the schedule needs it in this order",
        };
        let moved = bytes_of(&all).map(bytes);
        let cost = match (moved, self.outcome) {
            (None, _) => String::new(),
            (Some(moved), None) => format!(": this moves about {moved}"),
            (Some(moved), Some(outcome)) => {
                let time = duration(outcome.timings.convert);
                format!(": about {moved} moved in {time}")
            }
        };
        Some(format!("{}, since {why}{cost}", texts.join(", and ")))
    }

    /// The tensors that the user's own commands convert.
    fn asked(&self) -> Vec<String> {
        let Some(text) = &self.request.schedule else {
            return Vec::new();
        };
        let functions = self.request.notation().map(|it| it.functions());
        let schedule = ProgramSchedule::parse_with(text, &functions.unwrap_or_default());
        let schedule = schedule.unwrap_or_default();
        let commands = schedule.placed().into_iter();
        let named = commands.filter_map(|(command, _)| match command {
            Command::Convert { tensor, .. } => Some(tensor.word.text.clone()),
            _ => None,
        });
        named.collect()
    }

    /// The operands and results that are converted.
    fn converted(&self, compiled: &Compiled) -> Vec<Converted> {
        let mut all = Vec::new();
        for number in compiled.kernels() {
            let plan = &compiled.statements()[number].plan;
            let name = |tensor: TensorVar| &plan.concrete.tensors[tensor].name;
            let copies = plan.conversions.iter().filter(|it| it.view.is_none());
            for copy in copies {
                let name = name(copy.from);
                let computed = || self.outcome?.value(name);
                let tensor = self.inputs.get(name).or_else(computed);
                let from = plan.formats.of(copy.from);
                let moved = |tensor: &Tensor| {
                    let extents: Vec<_> = tensor.extents().iter().copied().map(Some).collect();
                    bytes_moved(from, &copy.format, &extents, tensor.n_stored() as f64) as u64
                };
                all.push(Converted {
                    name: name.clone(),
                    from: from.arrangement(),
                    to: copy.format.arrangement(),
                    bytes: tensor.map(moved),
                });
            }
        }
        all
    }

    /// One line for each large dense result of which few entries are assigned, if a sparse
    /// format has a plan.
    fn dense_results(&self) -> Vec<String> {
        let statements = self.compiled.statements().iter();
        let named = statements.zip(self.compiled.results());
        let notes = named.filter_map(|(statement, name)| self.dense_result(statement, name));
        notes.collect()
    }

    fn dense_result(&self, statement: &CompiledStatement, name: &str) -> Option<String> {
        // A temporary has a name that the source does not have.
        let tensors = &self.compiled.resolved().tensors;
        let tensor = &tensors[tensors.named(name)?];
        if tensor.earlier_of.is_some() {
            return None;
        }
        let extents: Option<Vec<u64>> = tensor.extents.iter().copied().collect();
        let (extents, format) = (extents?, self.compiled.format(name)?);
        let values = extents
            .iter()
            .try_fold(1, |all: u64, n| all.checked_mul(*n))?;
        let taken = values.checked_mul(tensor.element.size() as u64)?;
        let account = &statement.plan.account;
        let is_dense = format.is_all_dense() && format.order() > 0;
        let is_empty = account.entries * FEW < values as f64;
        if !is_dense || !account.is_counted || !is_empty || taken < WORTH_SAYING {
            return None;
        }
        let entries = account.entries.ceil() as u64;
        let room = u128::from(taken / 2);
        let smaller = smaller_format(format, &extents, tensor.element, Some(entries), room);
        let (format, would) = smaller
            .fits
            .filter(|(format, _)| self.plans(name, format))?;
        Some(format!(
            "`{name}` takes {} as `dense` for about {entries} entries: `-f {name}={format}` takes \
             about {}",
            bytes(taken),
            bytes(u64::try_from(would).unwrap_or(u64::MAX)),
        ))
    }

    /// Whether the program has a plan with a result in another format, and converts no more
    /// for it.
    fn plans(&self, name: &str, format: &str) -> bool {
        let mut request = self.request.clone();
        let compiled = request
            .set_format(name, format)
            .and_then(|()| sparsec::internals::compile(&request, self.inputs));
        let n_converted = |compiled: &Compiled| {
            let statements = compiled.statements().iter();
            let results = statements.filter(|it| it.plan.converts_result.is_some());
            self.converted(compiled).len() + results.count()
        };
        compiled.is_ok_and(|other| n_converted(&other) <= n_converted(self.compiled))
    }
}

impl Converted {
    fn text(&self) -> String {
        let Self { name, from, to, .. } = self;
        format!("`{name}` is converted from `{from}` to `{to}`")
    }
}
