//! Costs that nobody asked for, each said once in one line.
//!
//! | cost                                        | said                                   |
//! |---------------------------------------------|----------------------------------------|
//! | an operand that a schedule has converted    | always: what, to which format, how much |
//! | one that the planner converts               | from [`WORTH_SAYING`] bytes on          |
//! | a dense result with few entries             | with a sparse format that has a plan    |
//! | a search for a plan that ended at its limit | with how far it went                    |
//!
//! Notes go to stderr, and with `--json` into the field `notes` of the answer.

use sparsec::account::{bytes, conversion_bytes};
use sparsec::index::schedule::Command;
use sparsec::index::{ProgramSchedule, TensorVar};
use sparsec::{Compiled, Inputs, Outcome, Request, Tensor, smaller_format};

use crate::table::duration;

/// Costs below so many bytes are nobody's concern.
const WORTH_SAYING: u64 = 1 << 20;

/// A result with fewer entries than one of so many coordinates is sparse.
const FEW: f64 = 10.0;

/// A finished run.
#[derive(Debug)]
pub(super) struct Ran<'a> {
    pub(super) request: &'a Request,
    pub(super) inputs: &'a Inputs,
    pub(super) compiled: &'a Compiled,
    pub(super) outcome: &'a Outcome,
}

/// A conversion of a plan.
#[derive(Clone, Debug, PartialEq)]
struct Converted {
    name: String,
    from: String,
    to: String,
    /// About how many bytes it moves.
    bytes: u64,
}

impl Ran<'_> {
    /// What the run cost that nobody asked for.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.extend(self.conversions());
        notes.extend(self.dense_results());
        for statement in self.compiled.statements() {
            let plan = &statement.plan;
            if plan.account.ran_out {
                let result = &plan.concrete.tensors[plan.concrete.result].name;
                notes.push(format!("the plan for `{result}`: {}", plan.account.limit()));
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
            true => sparsec::compile(&request, self.inputs).ok(),
            false => None,
        };
        let otherwise = unscheduled
            .map(|it| self.converted(&it))
            .unwrap_or_default();
        let is_caused = |it: &Converted| is_scheduled && !otherwise.contains(it);
        let n_caused = all.iter().filter(|it| is_caused(it)).count();
        if n_caused > 0 {
            all.retain(is_caused);
        } else if all.iter().map(|it| it.bytes).sum::<u64>() < WORTH_SAYING {
            return None;
        }
        let texts: Vec<String> = all.iter().map(Converted::text).collect();
        let moved = bytes(all.iter().map(|it| it.bytes).sum());
        let why = match n_caused {
            0 => "no cheaper plan reads it as it is",
            _ => "the schedule needs it in this order",
        };
        let time = duration(self.outcome.timings.convert);
        let texts = texts.join(", and ");
        Some(format!(
            "{texts}, since {why}: about {moved} moved in {time}"
        ))
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
        for statement in compiled.statements() {
            let plan = &statement.plan;
            let name = |tensor: TensorVar| &plan.concrete.tensors[tensor].name;
            let copies = plan.conversions.iter().filter(|it| it.view.is_none());
            for copy in copies {
                let name = name(copy.from);
                let tensor = self.inputs.get(name).or_else(|| self.outcome.value(name));
                all.push(Converted {
                    name: name.clone(),
                    from: plan.formats.of(copy.from).arrangement(),
                    to: copy.format.arrangement(),
                    bytes: conversion_bytes(tensor.map_or(0, Tensor::n_stored) as u64),
                });
            }
        }
        all
    }

    /// One line for each large dense result of which few entries are assigned, if a sparse
    /// format has a plan.
    fn dense_results(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (statement, name) in self
            .compiled
            .statements()
            .iter()
            .zip(self.compiled.results())
        {
            let account = &statement.plan.account;
            let Some(tensor) = self.outcome.tensors.get(name) else {
                continue;
            };
            let taken = tensor.bytes() as u64;
            let is_dense = tensor.format().is_all_dense() && tensor.order() > 0;
            let is_empty = account.entries * FEW < tensor.n_stored() as f64;
            if !is_dense || !account.is_counted || !is_empty || taken < WORTH_SAYING {
                continue;
            }
            let entries = account.entries.ceil() as u64;
            let smaller = smaller_format(
                tensor.format(),
                tensor.extents(),
                tensor.element(),
                Some(entries),
                u128::from(taken / 2),
            );
            let Some((format, would)) = smaller.fits.filter(|(format, _)| self.plans(name, format))
            else {
                continue;
            };
            notes.push(format!(
                "`{name}` takes {} as `dense` for about {entries} entries: `-f {name}={format}` \
                 takes about {}",
                bytes(taken),
                bytes(u64::try_from(would).unwrap_or(u64::MAX)),
            ));
        }
        notes
    }

    /// Whether the program has a plan with a result in another format, and converts no more
    /// for it.
    fn plans(&self, name: &str, format: &str) -> bool {
        let mut request = self.request.clone();
        let compiled = request
            .set_format(name, format)
            .and_then(|()| sparsec::compile(&request, self.inputs));
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
