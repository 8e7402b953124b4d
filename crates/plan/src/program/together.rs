//! Statements that walk the same operands, computed by the same loops.
//!
//! ```text
//! r(i) = A(i,j) * x(j)            r, c:
//! c(j) = A(i,j) * y(i)              reorder(i1, j1)      the rows of A for c as well
//!                                   loopfuse(i)          row i is read for r, then for c
//! ```
//!
//! | statements                                    | so that                                |
//! |-----------------------------------------------|----------------------------------------|
//! | have dense results                            | loops come to entries in any order     |
//! | read no result from that of the first one on  | all may run where the first one does   |
//! | have a value wherever their operands have     | none fails that the others would await |
//!
//! The loops of each statement are planned as if it was alone. Nests that begin with a walk over
//! one operand then become one: the second one finds a row in a cache. The plan is weighed
//! against kernels for each statement, on the threads that there are. Results have the same bits either
//! way, so that plans may depend on the number of threads: statements that are summed in other lanes or chunks
//! than alone stay apart.

use std::collections::BTreeSet;

use sparsec_base::mark::{Races, Unit};
use sparsec_base::{Diagnostic, Result, code};
use sparsec_graph::Formats;
use sparsec_index::concrete::{Clause, Placed};
use sparsec_index::{Concrete, Statement, TensorVar, concretize_together};
use sparsec_schedule::{Command, Name, Section};

use super::{State, finished};
use crate::cost::Cost;
use crate::draft::Draft;
use crate::joined::has_values;
use crate::search::{self, Plan};

impl State<'_> {
    /// Plans statements together: those that the schedule names together, and of others that it does not
    /// name those for which that costs less. Only results that are `written` in the program have
    /// names that a schedule can say.
    ///
    /// # Errors
    /// Why statements that the schedule names together cannot be.
    pub(super) fn plan_together(&mut self, written: &BTreeSet<TensorVar>) -> Result<()> {
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        let sections: Vec<&Section> = match self.asked.schedule {
            Some(schedule) => schedule.together().collect(),
            None => Vec::new(),
        };
        for section in sections {
            let numbers = self.numbers(section)?;
            taken.extend(&numbers);
            let plan = self.with_facts(|state, facts| {
                let naive = concretize_together(&state.program, &numbers);
                let naive = Draft::new(naive, &state.formats, facts);
                let plan = search::completed_together(&naive, &section.commands);
                plan.map_err(|error| error.diagnostic())
            })?;
            self.adopt(&numbers, plan);
        }
        let wanted = self.asked.facts.networks.wanted;
        if wanted.is_fixed() || wanted.memory.is_some() {
            return Ok(());
        }
        for first in 0..self.program.statements.len() {
            let mut numbers = vec![first];
            for number in first + 1..self.program.statements.len() {
                let is_open = |number: &usize| {
                    let result = self.program.statements[*number].lhs.tensor;
                    !taken.contains(number)
                        && written.contains(&result)
                        && self.wishes.commands(*number).is_none()
                };
                let all = || numbers.iter().copied().chain([number]);
                let all: Vec<usize> = all().filter(is_open).collect();
                if all.len() <= numbers.len() || !self.shares_operand(&numbers, number) {
                    continue;
                }
                if let Some(plan) = self.less_together(&numbers, &all) {
                    self.adopt(&all, plan);
                    numbers = all;
                }
            }
            if numbers.len() > 1 {
                taken.extend(numbers);
            }
        }
        Ok(())
    }

    /// The plan of statements together, if it costs less than the plans that there are; these are of
    /// all but the last together.
    fn less_together(&mut self, before: &[usize], all: &[usize]) -> Option<Plan> {
        self.fault(all).is_none().then_some(())?;
        let plan = self.with_facts(|state, facts| {
            let naive = concretize_together(&state.program, all);
            let naive = Draft::new(naive, &state.formats, facts);
            let plan = search::searched_together(&naive).ok()?;
            Some(finished(plan, facts))
        })?;
        let is_fused = |command: &Command| matches!(command, Command::LoopFuse { .. });
        let n_fused = plan.schedule.0.iter().filter(|it| is_fused(it)).count();
        let apart: Vec<&Plan> = [before[0], *all.last()?]
            .iter()
            .map(|number| &self.plans[*number])
            .collect();
        let sums = |plan: &Plan, unit| n_sums(&plan.concrete, unit);
        let has_sums_of_apart = [Unit::CpuVector, Unit::CpuThread].into_iter().all(|unit| {
            let n: usize = apart.iter().map(|plan| sums(plan, unit)).sum();
            n == sums(&plan, unit)
        });
        let has_chunks = sums(&plan, Unit::CpuThread) > 0;
        if n_fused + 1 < all.len() || !has_sums_of_apart || has_chunks {
            return None;
        }
        let threads = (self.asked.facts.threads)();
        let costs = apart.iter().map(|plan| on_threads(plan, threads));
        let cost_apart = costs.fold(Cost::default(), |all, one| all + one);
        let is_less = on_threads(&plan, threads).is_less_than(&cost_apart);
        is_less.then_some(plan)
    }

    /// The statements that a section names.
    fn numbers(&self, section: &Section) -> Result<Vec<usize>> {
        let mut numbers = Vec::new();
        for name in section.results() {
            let result = self.program.tensors.named(&name.word.text);
            let mut statements = self.program.statements.iter();
            let number = statements.position(|it| Some(it.lhs.tensor) == result);
            let number = number.ok_or_else(|| name.unknown_result(&self.program))?;
            let is_known = numbers.contains(&number) || self.wishes.commands(number).is_some();
            if is_known {
                let message = format!("commands for `{name}` are stated twice");
                return Err(refused(name, message).help("name each statement in one section"));
            }
            numbers.push(number);
        }
        numbers.sort_unstable();
        match self.fault(&numbers) {
            None => Ok(numbers),
            Some(fault) => {
                let mut names = section.results();
                let result = self.program.statements[fault.statement].lhs.tensor;
                let named = &self.program.tensors[result].name;
                let name = names.find(|name| name.word.text == *named);
                let name = name.expect("the section has its name");
                let message =
                    format!("`{name}` cannot be computed by the loops of another statement");
                Err(refused(name, message)
                    .note(format!("`{name}` {}", fault.why))
                    .help("give each statement a section of its own"))
            }
        }
    }

    /// Why statements cannot be computed by the same loops.
    fn fault(&self, numbers: &[usize]) -> Option<Fault> {
        let program = &self.program;
        let first = *numbers.first()?;
        let computed: Vec<TensorVar> = program.statements[first..]
            .iter()
            .map(|it| it.lhs.tensor)
            .collect();
        numbers.iter().find_map(|number| {
            let statement = &program.statements[*number];
            let reads = |tensor: TensorVar| {
                let mut accesses = statement.rhs.accesses().into_iter();
                accesses.any(|access| access.tensor == tensor)
            };
            let mut earlier = computed.iter().take(number - first);
            let why = if let Some(read) = earlier.find(|tensor| reads(**tensor)) {
                format!(
                    "reads `{}`, which is computed there or later",
                    program.tensors[*read].name
                )
            } else if !is_whole(statement) {
                "assigns a part of a tensor".to_owned()
            } else if !takes_any_order(statement, &self.formats, &self.plans[*number]) {
                "is not dense".to_owned()
            } else if !has_values(&statement.rhs, program)
                || statement
                    .rhs
                    .fill(&program.tensors, &program.vars)
                    .is_none()
            {
                "may have no value where its operands have one".to_owned()
            } else {
                return None;
            };
            let statement = *number;
            Some(Fault { statement, why })
        })
    }

    /// Whether a statement reads an operand of several modes, or a sparse one, that one of the others
    /// reads.
    fn shares_operand(&self, others: &[usize], number: usize) -> bool {
        let walked = |number: usize| {
            let accesses = self.program.statements[number].rhs.accesses().into_iter();
            let tensors = accesses.map(|access| access.tensor);
            let is_walked = |tensor: &TensorVar| {
                let format = self.formats.get(*tensor);
                format.is_some_and(|format| format.has_sparse() || format.order() > 1)
            };
            tensors.filter(is_walked).collect::<BTreeSet<TensorVar>>()
        };
        let own = walked(number);
        others.iter().any(|other| !own.is_disjoint(&walked(*other)))
    }

    /// Takes the plan of several statements for each of them; the loops run in place of those of
    /// the first.
    fn adopt(&mut self, numbers: &[usize], plan: Plan) {
        let result = |number: &usize| self.program.statements[*number].lhs.tensor;
        let results: Vec<TensorVar> = numbers.iter().map(result).collect();
        let first = results[0];
        for (number, result) in numbers.iter().zip(&results) {
            let mut own = plan.clone();
            own.concrete.result = *result;
            own.concrete.beside = results.iter().copied().filter(|it| it != result).collect();
            let alone = std::mem::take(&mut self.plans[*number].account);
            let considered = own.account.considered.drain(..);
            let considered = considered.take(if *result == first { usize::MAX } else { 0 });
            own.account = crate::Account {
                considered: considered.collect(),
                points: match *result == first {
                    true => alone.points,
                    false => 0.0,
                },
                together: own
                    .concrete
                    .beside
                    .iter()
                    .map(|it| self.program.tensors[*it].name.clone())
                    .collect(),
                ..alone
            };
            own.computed_with = (*result != first).then_some(first);
            self.plans[*number] = own;
        }
    }
}

/// Why a statement is not computed by the loops of others.
struct Fault {
    statement: usize,
    why: String,
}

fn refused(name: &Name, message: String) -> Diagnostic {
    Diagnostic::new(code::ILLEGAL_COMMAND, message).at(&name.source, name.word.span, "named here")
}

/// Whether a statement assigns each entry of its result.
fn is_whole(statement: &Statement) -> bool {
    statement.before.is_none() && statement.reduce.is_none() && !statement.is_partial()
}

/// Whether loops may come to the entries of a result in any order, and write them where they are
/// stored.
fn takes_any_order(statement: &Statement, formats: &Formats, plan: &Plan) -> bool {
    let format = formats.get(statement.lhs.tensor);
    format.is_some_and(|format| format.is_all_dense() && format.is_assembled())
        && plan.converts_result.is_none()
        && plan.levels_of_result.is_none()
}

/// How many loops of a statement are summed in other orders than they are written in.
fn n_sums(concrete: &Concrete, wanted: Unit) -> usize {
    let is_sum = |placed: &&Placed| {
        matches!(
            placed.clause,
            Clause::Parallelize { unit, races: Races::ParallelReduction, .. } if unit == wanted
        )
    };
    concrete.clauses.iter().filter(is_sum).count()
}

/// The cost of a plan whose outermost loops run on so many threads if it says so. Threads compute
/// beside one another, and share the memory.
fn on_threads(plan: &Plan, threads: usize) -> Cost {
    let is_parallel = plan.concrete.clauses.iter().any(|placed| {
        matches!(
            placed.clause,
            Clause::Parallelize {
                unit: Unit::CpuThread,
                ..
            }
        )
    });
    let cost = plan.cost();
    let threads = if is_parallel { threads.max(1) } else { 1 };
    Cost {
        steps: cost.steps / threads as f64,
        ..cost
    }
}
